//! Resources of the Capital domain, and the calculations for scores and loans.

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
mod natural;
pub(crate) mod offer;
pub(crate) mod readiness_assessment;
pub(crate) mod scorecard;

pub(crate) use self::application::{Application, ApplicationStatus};
pub(crate) use self::credit_score::{Band, CreditScore, ScoreStatus};
pub(crate) use self::deal::{Deal, DealStage, DealStatus};
pub(crate) use self::due_diligence_case::{CaseStatus, DueDiligenceCase, Template};
pub(crate) use self::due_diligence_request::{Category, DueDiligenceRequest, RequestStatus};
pub(crate) use self::insurance_risk_score::{InsuranceRiskScore, RiskScoreStatus};
pub(crate) use self::lending::Product;
pub(crate) use self::loan::{Loan, LoanStatus};
pub(crate) use self::loan_repayment::{LoanRepayment, RepaymentStatus};
pub(crate) use self::offer::{Offer, OfferStatus};
pub(crate) use self::readiness_assessment::{AssessmentStatus, ReadinessAssessment};
pub(crate) use self::scorecard::{Evidence, Factor, Measured, Scorecard};
