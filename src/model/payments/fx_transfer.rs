//! A transfer between two wallets of a company in different currencies, at a quote.

use crate::model::fx_quoting::Rate;
use crate::model::payments::{Failure, FxQuote, Wallet};
use crate::model::prelude::*;

states! {
    /// Where a conversion stands.
    FxTransferStatus { Processing "processing", Completed "completed", Failed "failed" }
    "complete": Processing => Completed;
    "fail": Processing => Failed;
}

/// Money of one wallet on its way into another of another currency.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct FxTransfer {
    /// The transfer's id.
    pub(crate) id: Id<FxTransfer>,
    /// Always `fx_transfer`.
    pub(crate) object: Object<FxTransfer>,
    /// Whose money it is.
    pub(crate) company_id: Id<Company>,
    /// The quote that it uses.
    pub(crate) fx_quote_id: Id<FxQuote>,
    /// The wallet that gives.
    pub(crate) source_wallet_id: Id<Wallet>,
    /// The wallet that gets.
    pub(crate) target_wallet_id: Id<Wallet>,
    /// Where it stands.
    pub(crate) status: FxTransferStatus,
    /// What is given, in minor units: debited when the transfer is made.
    pub(crate) source_amount: i64,
    /// Their currency.
    pub(crate) source_currency: Currency,
    /// What is got, in minor units: credited when the transfer is completed.
    pub(crate) target_amount: i64,
    /// Their currency.
    pub(crate) target_currency: Currency,
    /// Units of the target currency for one of the source currency, after the spread.
    pub(crate) rate: Rate,
    /// The part of the source amount that is booked as a fee.
    pub(crate) fee_amount: i64,
    /// Why it failed.
    pub(crate) failure: Option<Failure>,
    /// When it was created, in virtual time.
    pub(crate) created_at: Timestamp,
    /// When it last changed, in virtual time.
    pub(crate) updated_at: Timestamp,
    /// The caller's own pairs.
    pub(crate) metadata: Metadata,
    /// Every status it had.
    pub(crate) status_history: Vec<StatusChange<FxTransferStatus>>,
}

impl FxTransfer {
    pub(crate) const fn parent_bits(&self) -> u64 {
        self.company_id.bits()
    }

    pub(crate) const fn company_of(&self) -> Id<Company> {
        self.company_id
    }
}

stateful!(FxTransfer: FxTransferStatus);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_of_a_transfer_can_be_reached() {
        crate::model::lifecycle::assert_sound(FxTransferStatus::Processing);
    }
}
