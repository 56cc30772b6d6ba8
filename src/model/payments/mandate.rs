//! A mandate: a payer's authorisation to collect from an account by direct debit.

use crate::model::payments::{CollectionPayer, RailId};
use crate::model::prelude::*;

states! {
    /// Status of a mandate. Only an `active` one allows collections.
    MandateStatus { Pending "pending", Active "active", Revoked "revoked", Expired "expired" }
    "confirm": Pending => Active;
    "revoke": Pending | Active => Revoked;
    "expire": Pending | Active => Expired;
}

impl MandateStatus {
    /// Whether it is neither revoked nor expired.
    pub(crate) const fn is_open(self) -> bool {
        matches!(self, Self::Pending | Self::Active)
    }
}

resource! {
    /// A payer's authorisation to collect from an account by direct debit.
    Mandate: MandateStatus {
        /// The company that collects.
        company_id: Id<Company>,
        /// Current status.
        status: MandateStatus,
        /// The payer.
        payer: CollectionPayer,
        /// The payment rail of its collections. It follows from the company's country and the currency.
        payment_rail: RailId,
        /// The currency of its collections.
        currency: Currency,
        /// The company's reference of the mandate. It is unique among the company's pending and active mandates.
        reference: String,
        /// The day at whose end it expires. Null if it does not expire by itself.
        expires_on: Option<Date>,
        /// The number of months after the latest collection in which it must be used again: by the rule of the rail, each collection moves
        /// `expires_on`. Null if the rail has no such rule, or the caller set the day.
        unused_months: Option<i32>,
    }
}
