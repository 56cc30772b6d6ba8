//! A transfer between two wallets of a company in different currencies, at a quote.

use crate::model::fx_quoting::Rate;
use crate::model::payments::{Failure, FxQuote, Wallet};
use crate::model::prelude::*;

states! {
    /// Status of a transfer.
    FxTransferStatus { Processing "processing", Completed "completed", Failed "failed" }
    "complete": Processing => Completed;
    "fail": Processing => Failed;
}

/// A transfer between two wallets of a company in different currencies.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct FxTransfer {
    /// The transfer's id.
    pub(crate) id: Id<FxTransfer>,
    /// Always `fx_transfer`.
    pub(crate) object: Object<FxTransfer>,
    /// The company that owns both wallets.
    pub(crate) company_id: Id<Company>,
    /// The quote that it uses.
    pub(crate) fx_quote_id: Id<FxQuote>,
    /// The wallet that is debited.
    pub(crate) source_wallet_id: Id<Wallet>,
    /// The wallet that is credited.
    pub(crate) target_wallet_id: Id<Wallet>,
    /// Current status.
    pub(crate) status: FxTransferStatus,
    /// Amount debited, in minor units, when the transfer is created.
    pub(crate) source_amount: i64,
    /// Currency that is sold.
    pub(crate) source_currency: Currency,
    /// Amount credited, in minor units, when the transfer is completed.
    pub(crate) target_amount: i64,
    /// Currency that is bought.
    pub(crate) target_currency: Currency,
    /// Units of the target currency for one unit of the source currency, after the spread.
    pub(crate) rate: Rate,
    /// The part of the source amount that is booked as a fee.
    pub(crate) fee_amount: i64,
    /// Why it failed.
    pub(crate) failure: Option<Failure>,
    /// When it was created, in virtual time.
    pub(crate) created_at: Timestamp,
    /// When it last changed, in virtual time.
    pub(crate) updated_at: Timestamp,
    /// Key-value pairs set by the caller.
    pub(crate) metadata: Metadata,
    /// Every status the resource has had, oldest first.
    pub(crate) status_history: Vec<StatusChange<FxTransferStatus>>,
}

stateful!(FxTransfer: FxTransferStatus);
