//! The Capital domain's resources, and the arithmetic of its scores and loans.

pub(crate) mod amortisation;
pub(crate) mod application;
pub(crate) mod credit_score;
pub(crate) mod deal;
pub(crate) mod due_diligence_case;
pub(crate) mod due_diligence_request;
pub(crate) mod insurance_risk_score;
pub(crate) mod lending;
pub(crate) mod loan;
pub(crate) mod loan_repayment;
pub(crate) mod offer;
pub(crate) mod readiness_assessment;
pub(crate) mod scorecard;
