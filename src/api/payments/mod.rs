//! The Payments domain's operations.

pub(crate) mod dispute_clock;
pub(crate) mod disputes;
pub(crate) mod payouts;
pub(crate) mod platform_fee;
pub(crate) mod wallets;
