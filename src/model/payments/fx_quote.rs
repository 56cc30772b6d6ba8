//! A quote: an exchange rate that is valid for half an hour.

use crate::model::fx_quoting::Rate;
use crate::model::payments::FxTransfer;
use crate::model::prelude::*;

states! {
    /// Status of a quote.
    QuoteStatus { Open "open", Used "used", Expired "expired" }
    "use": Open => Used;
    "expire": Open => Expired;
}

resource! {
    /// An exchange rate that is valid for half an hour, and the amounts at that rate.
    FxQuote: QuoteStatus {
        /// The company that the quote was given to.
        company_id: Id<Company>,
        /// Current status.
        status: QuoteStatus,
        /// The currency to sell.
        source_currency: Currency,
        /// The currency to buy.
        target_currency: Currency,
        /// The amount to sell, in minor units.
        source_amount: i64,
        /// The amount to buy, in minor units.
        target_amount: i64,
        /// Reference rate: units of the target currency for one unit of the source currency.
        mid_rate: Rate,
        /// The spread that is deducted from the reference rate, in basis points.
        spread_bp: u32,
        /// The reference rate less the spread. The amounts are calculated with this rate.
        rate: Rate,
        /// The cost of the spread: the part of the source amount that is booked as a fee, in minor units.
        fee_amount: i64,
        /// The day of the reference rate.
        as_of: Date,
        /// When the quote expires, in virtual time.
        expires_at: Timestamp,
        /// The transfer that used the quote.
        fx_transfer_id: Option<Id<FxTransfer>>,
    }
}
