//! A refund: collected money on its way back to the payer.

use crate::model::payments::{Collection, Failure};
use crate::model::prelude::*;

states! {
    /// Where a refund stands.
    RefundStatus { Pending "pending", Succeeded "succeeded", Failed "failed" }
    "succeed": Pending => Succeeded;
    "fail": Pending => Failed;
}

/// Collected money on its way back.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Refund {
    /// The refund's id.
    pub(crate) id: Id<Refund>,
    /// Always `refund`.
    pub(crate) object: Object<Refund>,
    /// The company that gives the money back.
    pub(crate) company_id: Id<Company>,
    /// What it was collected by.
    pub(crate) collection_id: Id<Collection>,
    /// Where it stands.
    pub(crate) status: RefundStatus,
    /// Minor units.
    pub(crate) amount: i64,
    /// Their currency.
    pub(crate) currency: Currency,
    /// Why, in the company's words.
    pub(crate) reason: String,
    /// Why it did not arrive.
    pub(crate) failure: Option<Failure>,
    /// When it was created, in virtual time.
    pub(crate) created_at: Timestamp,
    /// When it last changed, in virtual time.
    pub(crate) updated_at: Timestamp,
    /// The caller's own pairs.
    pub(crate) metadata: Metadata,
    /// Every status it had.
    pub(crate) status_history: Vec<StatusChange<RefundStatus>>,
}

impl Refund {
    pub(crate) const fn parent_bits(&self) -> u64 {
        self.collection_id.bits()
    }

    pub(crate) const fn company_of(&self) -> Id<Company> {
        self.company_id
    }
}

stateful!(Refund: RefundStatus);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_of_a_refund_can_be_reached() {
        crate::model::lifecycle::assert_sound(RefundStatus::Pending);
    }
}
