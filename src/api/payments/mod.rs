//! The Payments domain's operations.

pub(crate) mod bank_statements;
pub(crate) mod beneficiaries;
pub(crate) mod dispute_clock;
pub(crate) mod disputes;
pub(crate) mod fx_quotes;
pub(crate) mod fx_rates;
pub(crate) mod fx_transfers;
pub(crate) mod payout_rail;
pub(crate) mod payouts;
pub(crate) mod platform_fee;
pub(crate) mod reconciliation;
pub(crate) mod statement_clock;
pub(crate) mod statement_line;
pub(crate) mod wallets;
