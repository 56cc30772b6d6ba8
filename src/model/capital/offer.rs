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

resource! {
    /// An offer of a loan.
    Offer: OfferStatus {
        /// The company that receives the offer.
        company_id: Id<Company>,
        /// The application for the loan.
        application_id: Id<Application>,
        /// Current status.
        status: OfferStatus,
        /// The product of the offer.
        product: Product,
        /// Amount offered, in minor units: the amount requested, or less.
        amount: i64,
        /// Currency of the amount.
        currency: Currency,
        /// The yearly rate in basis points. One twelfth of it is charged per month.
        rate_bp: i64,
        /// The repayment term in months.
        term_months: u32,
        /// Monthly payment in minor units. The last instalment takes the remainder.
        instalment: i64,
        /// Sum of all instalments, principal and interest, in minor units.
        total_repayable: i64,
        /// When the offer expires if it is not answered.
        expires_at: Timestamp,
        /// The loan; null until the offer is accepted.
        loan_id: Option<Id<Loan>>,
    }
}
