//! The Payments domain's resources.

pub(crate) mod account_rules;
pub(crate) mod bank_statement;
pub(crate) mod beneficiary;
pub(crate) mod collection;
pub(crate) mod dispute;
pub(crate) mod escrow;
pub(crate) mod fx_quote;
pub(crate) mod fx_transfer;
pub(crate) mod holder_name;
pub(crate) mod invoice;
pub(crate) mod payout;
pub(crate) mod platform_fee;
pub(crate) mod reconcile;
pub(crate) mod reconciliation_match;
pub(crate) mod refund;
pub(crate) mod return_code;
pub(crate) mod statement_file;
pub(crate) mod statement_noise;
pub(crate) mod vat;
pub(crate) mod wallet;
