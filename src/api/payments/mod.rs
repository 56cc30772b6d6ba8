//! The Payments domain's operations.

pub(crate) mod payouts;
pub(crate) mod wallets;
