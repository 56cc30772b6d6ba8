//! The Capital domain's operations.

pub(crate) mod applications;
pub(crate) mod conduct;
pub(crate) mod credit_scores;
pub(crate) mod deal_verbs;
pub(crate) mod deals;
pub(crate) mod due_diligence;
pub(crate) mod due_diligence_answers;
pub(crate) mod insurance;
pub(crate) mod loan_clock;
pub(crate) mod loans;
pub(crate) mod measures;
pub(crate) mod offers;
pub(crate) mod readiness;
pub(crate) mod repayments;
pub(crate) mod underwriting;
