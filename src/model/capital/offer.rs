//! An offer for an application: the terms of a loan, valid for two weeks.

use crate::model::capital::{Application, Loan, Product};
use crate::model::prelude::*;

states! {
    /// Status of an offer.
    OfferStatus { Pending "pending", Accepted "accepted", Declined "declined", Expired "expired" }
    "accept": Pending => Accepted;
    "decline": Pending => Declined;
    "expire": Pending => Expired;
}

/// An offer of a loan.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Offer {
    /// The offer's id.
    pub(crate) id: Id<Offer>,
    /// Always `offer`.
    pub(crate) object: Object<Offer>,
    /// The company that receives the offer.
    pub(crate) company_id: Id<Company>,
    /// The application for the loan.
    pub(crate) application_id: Id<Application>,
    /// Current status.
    pub(crate) status: OfferStatus,
    /// The product of the offer.
    pub(crate) product: Product,
    /// Amount offered, in minor units: the amount requested, or less.
    pub(crate) amount: i64,
    /// Currency of the amount.
    pub(crate) currency: Currency,
    /// The yearly rate in basis points. One twelfth of it is charged per month.
    pub(crate) rate_bp: i64,
    /// The repayment term in months.
    pub(crate) term_months: u32,
    /// Monthly payment in minor units. The last instalment takes the remainder.
    pub(crate) instalment: i64,
    /// Sum of all instalments, principal and interest, in minor units.
    pub(crate) total_repayable: i64,
    /// When the offer expires if it is not answered.
    pub(crate) expires_at: Timestamp,
    /// The loan; null until the offer is accepted.
    pub(crate) loan_id: Option<Id<Loan>>,
    /// When it was created, in virtual time.
    pub(crate) created_at: Timestamp,
    /// When it last changed, in virtual time.
    pub(crate) updated_at: Timestamp,
    /// Key-value pairs set by the caller.
    pub(crate) metadata: Metadata,
    /// Every status the resource has had, oldest first.
    pub(crate) status_history: Vec<StatusChange<OfferStatus>>,
}

stateful!(Offer: OfferStatus);
