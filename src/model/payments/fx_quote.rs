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

/// An exchange rate that is valid for half an hour, and the amounts at that rate.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct FxQuote {
    /// The quote's id.
    pub(crate) id: Id<FxQuote>,
    /// Always `fx_quote`.
    pub(crate) object: Object<FxQuote>,
    /// The company that the quote was given to.
    pub(crate) company_id: Id<Company>,
    /// Current status.
    pub(crate) status: QuoteStatus,
    /// The currency to sell.
    pub(crate) source_currency: Currency,
    /// The currency to buy.
    pub(crate) target_currency: Currency,
    /// The amount to sell, in minor units.
    pub(crate) source_amount: i64,
    /// The amount to buy, in minor units.
    pub(crate) target_amount: i64,
    /// Reference rate: units of the target currency for one unit of the source currency.
    pub(crate) mid_rate: Rate,
    /// The spread that is deducted from the reference rate, in basis points.
    pub(crate) spread_bp: u32,
    /// The reference rate less the spread. The amounts are calculated with this rate.
    pub(crate) rate: Rate,
    /// The cost of the spread: the part of the source amount that is booked as a fee.
    pub(crate) fee_amount: i64,
    /// The day of the reference rate.
    pub(crate) as_of: Date,
    /// When it expires, in virtual time.
    pub(crate) expires_at: Timestamp,
    /// The transfer that used it.
    pub(crate) fx_transfer_id: Option<Id<FxTransfer>>,
    /// When it was created, in virtual time.
    pub(crate) created_at: Timestamp,
    /// When it last changed, in virtual time.
    pub(crate) updated_at: Timestamp,
    /// Key-value pairs set by the caller.
    pub(crate) metadata: Metadata,
    /// Every status the resource has had, oldest first.
    pub(crate) status_history: Vec<StatusChange<QuoteStatus>>,
}

stateful!(FxQuote: QuoteStatus);
