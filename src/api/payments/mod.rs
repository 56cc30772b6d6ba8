//! The Payments domain's operations.

pub(crate) mod beneficiaries;
pub(crate) mod dispute_clock;
pub(crate) mod disputes;
pub(crate) mod escrow_clock;
pub(crate) mod escrow_verbs;
pub(crate) mod escrows;
pub(crate) mod fx_quotes;
pub(crate) mod fx_rates;
pub(crate) mod fx_transfers;
pub(crate) mod named;
pub(crate) mod payout_create;
pub(crate) mod payout_rail;
pub(crate) mod payout_verbs;
pub(crate) mod payouts;
pub(crate) mod platform_fee;
pub(crate) mod wallet_level;
pub(crate) mod wallets;
