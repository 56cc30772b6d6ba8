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

resource! {
    /// A transfer between two wallets of a company in different currencies.
    FxTransfer: FxTransferStatus {
        /// The company that owns both wallets.
        company_id: Id<Company>,
        /// The quote that the transfer uses.
        fx_quote_id: Id<FxQuote>,
        /// The wallet that is debited.
        source_wallet_id: Id<Wallet>,
        /// The wallet that is credited.
        target_wallet_id: Id<Wallet>,
        /// Current status.
        status: FxTransferStatus,
        /// Amount debited, in minor units, when the transfer is created.
        source_amount: i64,
        /// Currency that is sold.
        source_currency: Currency,
        /// Amount credited, in minor units, when the transfer is completed.
        target_amount: i64,
        /// Currency that is bought.
        target_currency: Currency,
        /// Units of the target currency for one unit of the source currency, after the spread.
        rate: Rate,
        /// The part of the source amount that is booked as a fee, in minor units.
        fee_amount: i64,
        /// Why the transfer failed.
        failure: Option<Failure>,
    }
}
