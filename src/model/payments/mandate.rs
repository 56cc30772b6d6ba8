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
        /// The payment rail of its collections. The company's country and the currency determine the rail.
        payment_rail: RailId,
        /// The currency of the collections of the mandate.
        currency: Currency,
        /// The company's reference of the mandate. It is unique among the company's pending and active mandates.
        reference: String,
        /// The last day on which the mandate is valid. Null if it does not expire by itself.
        expires_on: Option<Date>,
        /// By the rule of the rail, the mandate expires if it is not used for this number of months. Each collection moves `expires_on`. Null
        /// if the rail has no such rule, or if the caller set `expires_on`.
        unused_months: Option<i32>,
    }
}
