//! The Payments domain's operations.

pub(crate) mod asking;
pub(crate) mod beneficiaries;
pub(crate) mod collection_clock;
pub(crate) mod collections;
pub(crate) mod dispute_clock;
pub(crate) mod disputes;
pub(crate) mod fx_quotes;
pub(crate) mod fx_rates;
pub(crate) mod fx_transfers;
pub(crate) mod invoice_clock;
pub(crate) mod invoice_paper;
pub(crate) mod invoices;
pub(crate) mod named;
pub(crate) mod payout_create;
pub(crate) mod payout_rail;
pub(crate) mod payout_verbs;
pub(crate) mod payouts;
pub(crate) mod platform_fee;
pub(crate) mod refunds;
pub(crate) mod wallet_level;
pub(crate) mod wallets;
