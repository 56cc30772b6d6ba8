//! An offer on an application: the terms of a loan, for two weeks.

use crate::model::capital::{Application, Loan, Product};
use crate::model::prelude::*;

states! {
    /// Where an offer stands.
    OfferStatus { Pending "pending", Accepted "accepted", Declined "declined", Expired "expired" }
    "accept": Pending => Accepted;
    "decline": Pending => Declined;
    "expire": Pending => Expired;
}

/// The terms of a loan.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Offer {
    /// The offer's id.
    pub(crate) id: Id<Offer>,
    /// Always `offer`.
    pub(crate) object: Object<Offer>,
    /// To whom it is made.
    pub(crate) company_id: Id<Company>,
    /// The application that it answers.
    pub(crate) application_id: Id<Application>,
    /// Where it stands.
    pub(crate) status: OfferStatus,
    /// What was asked for.
    pub(crate) product: Product,
    /// Minor units that are lent: what was asked for, or less.
    pub(crate) amount: i64,
    /// Their currency.
    pub(crate) currency: Currency,
    /// The yearly rate in basis points; a twelfth of it is a month's.
    pub(crate) rate_bp: i64,
    /// Months over which it is paid back.
    pub(crate) term_months: u32,
    /// What is paid a month, in minor units; the last instalment takes the rest.
    pub(crate) instalment: i64,
    /// Principal and interest of all instalments.
    pub(crate) total_repayable: i64,
    /// Without an answer by then it is expired.
    pub(crate) expires_at: Timestamp,
    /// The loan, once it is accepted.
    pub(crate) loan_id: Option<Id<Loan>>,
    /// When it was made, in virtual time.
    pub(crate) created_at: Timestamp,
    /// When it last changed, in virtual time.
    pub(crate) updated_at: Timestamp,
    /// The caller's own pairs.
    pub(crate) metadata: Metadata,
    /// Every status it had.
    pub(crate) status_history: Vec<StatusChange<OfferStatus>>,
}

impl Offer {
    pub(crate) const fn parent_bits(&self) -> u64 {
        self.application_id.bits()
    }

    pub(crate) const fn company_of(&self) -> Id<Company> {
        self.company_id
    }
}

stateful!(Offer: OfferStatus);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_of_an_offer_can_be_reached() {
        crate::model::lifecycle::assert_sound(OfferStatus::Pending);
    }
}
