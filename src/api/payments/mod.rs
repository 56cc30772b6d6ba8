//! The Payments domain's operations.

pub(crate) mod payouts;
pub(crate) mod platform_fee;
pub(crate) mod wallets;
