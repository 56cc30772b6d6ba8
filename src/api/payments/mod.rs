//! The Payments domain's operations.

pub(crate) mod beneficiaries;
pub(crate) mod payout_rail;
pub(crate) mod payouts;
pub(crate) mod wallets;
