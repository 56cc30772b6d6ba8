//! Decisions of the outside world: one table of decisions, their choices, and what each choice may include.
//!
//! The simulator's own state is never a decision: an insufficient balance is a fact. Handlers get a decision only through `world.decide`.

mod business;
mod capital;
mod choice;
mod identity;
mod payments;

pub(crate) use self::business::{
    BANK_ACCOUNT_CHECK, REGULATOR, RUN_CALCULATE, RUN_FUND, TAX_OFFICE,
};
pub(crate) use self::capital::{INVESTOR, UNDERWRITER};
pub(crate) use self::choice::{Choice, Decision};
pub(crate) use self::identity::{ACCOUNT_RESOLVE, BUREAU_REPLY, WATCHLIST_REPLY};
pub(crate) use self::payments::{
    BENEFICIARY_CHECK, COLLECTION_PAY, COLLECTION_RETURN, COLLECTION_SETTLE, DISPUTE_VERDICT,
    FX_TRANSFER_SETTLE, MANDATE_REPLY, PAYOUT_SETTLE, REFUND_SETTLE, STATEMENT_NOISE,
};

impl Decision {
    /// The decision with that name.
    pub(crate) fn find(name: &str) -> Option<&'static Self> {
        DECISIONS.iter().copied().find(|decision| decision.name == name)
    }
}

/// Every decision, in the order in which a payroll needs them.
pub(crate) static DECISIONS: &[&Decision] = &[
    &BANK_ACCOUNT_CHECK,
    &RUN_CALCULATE,
    &RUN_FUND,
    &PAYOUT_SETTLE,
    &TAX_OFFICE,
    &REGULATOR,
    &FX_TRANSFER_SETTLE,
    &BENEFICIARY_CHECK,
    &MANDATE_REPLY,
    &COLLECTION_PAY,
    &COLLECTION_RETURN,
    &COLLECTION_SETTLE,
    &REFUND_SETTLE,
    &DISPUTE_VERDICT,
    &UNDERWRITER,
    &INVESTOR,
    &BUREAU_REPLY,
    &WATCHLIST_REPLY,
    &ACCOUNT_RESOLVE,
    &STATEMENT_NOISE,
];
