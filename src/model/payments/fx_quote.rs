//! A quote: a rate between two currencies, held for half an hour.

use crate::model::fx_quoting::Rate;
use crate::model::payments::FxTransfer;
use crate::model::prelude::*;

states! {
    /// Where a quote stands.
    QuoteStatus { Open "open", Used "used", Expired "expired" }
    "use": Open => Used;
    "expire": Open => Expired;
}

/// A rate between two currencies, held for half an hour, and what it makes of an amount.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct FxQuote {
    /// The quote's id.
    pub(crate) id: Id<FxQuote>,
    /// Always `fx_quote`.
    pub(crate) object: Object<FxQuote>,
    /// Whom it was given to.
    pub(crate) company_id: Id<Company>,
    /// Where it stands.
    pub(crate) status: QuoteStatus,
    /// The currency that is given.
    pub(crate) source_currency: Currency,
    /// The currency that is got.
    pub(crate) target_currency: Currency,
    /// What is given, in minor units.
    pub(crate) source_amount: i64,
    /// What is got, in minor units.
    pub(crate) target_amount: i64,
    /// Units of the target currency for one of the source currency: the reference rate.
    pub(crate) mid_rate: Rate,
    /// What is taken off it, in hundredths of a percent.
    pub(crate) spread_bp: u32,
    /// The same rate less the spread: what the amounts are reckoned by.
    pub(crate) rate: Rate,
    /// What the spread comes to: the part of the source amount that is booked as a fee.
    pub(crate) fee_amount: i64,
    /// The day whose reference rate it is.
    pub(crate) as_of: Date,
    /// From when on it can no longer be used, in virtual time.
    pub(crate) expires_at: Timestamp,
    /// The transfer that used it.
    pub(crate) fx_transfer_id: Option<Id<FxTransfer>>,
    /// When it was created, in virtual time.
    pub(crate) created_at: Timestamp,
    /// When it last changed, in virtual time.
    pub(crate) updated_at: Timestamp,
    /// The caller's own pairs.
    pub(crate) metadata: Metadata,
    /// Every status it had.
    pub(crate) status_history: Vec<StatusChange<QuoteStatus>>,
}

impl FxQuote {
    pub(crate) const fn parent_bits(&self) -> u64 {
        self.company_id.bits()
    }

    pub(crate) const fn company_of(&self) -> Id<Company> {
        self.company_id
    }
}

stateful!(FxQuote: QuoteStatus);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_of_a_quote_can_be_reached() {
        crate::model::lifecycle::assert_sound(QuoteStatus::Open);
    }
}
