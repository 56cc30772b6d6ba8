//! An application for capital, and the underwriter's decision.

use crate::model::capital::{CreditScore, Offer, Product};
use crate::model::prelude::*;

states! {
    /// Status of an application.
    ApplicationStatus {
        Submitted "submitted", UnderReview "under_review", InformationRequested "information_requested",
        Approved "approved", Rejected "rejected", Withdrawn "withdrawn",
    }
    "review": Submitted | InformationRequested => UnderReview;
    "request_information": UnderReview => InformationRequested;
    "approve": UnderReview => Approved;
    "reject": UnderReview => Rejected;
    "withdraw": InformationRequested => Withdrawn;
}

/// The underwriter's decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "UnderwritingOutcome")]
pub(crate) enum ApplicationOutcome {
    Approved,
    Rejected,
    InformationRequested,
}

/// A reason for the underwriter's decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "UnderwritingReason")]
pub(crate) struct Reason {
    /// The kind of reason.
    pub(crate) code: ReasonCode,
    /// Description of the reason in one sentence.
    pub(crate) detail: String,
}

/// Reason codes of an underwriter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "UnderwritingReasonCode")]
pub(crate) enum ReasonCode {
    /// Score and capacity are sufficient for the loan.
    ScoreSufficient,
    /// The capacity is lower than the amount requested, so the offer is smaller.
    AmountReduced,
    /// The score is below the minimum for lending.
    ScoreTooLow,
    /// There is not enough data for a score.
    InsufficientData,
    /// The company was suspended or closed in the meantime.
    CompanyNotActive,
    /// The company has a loan in default.
    LoanDefaulted,
    /// The company has a late loan.
    LoanLate,
    /// A tax payment or filing is overdue.
    OverdueFilings,
    /// The company's debt has reached its capacity.
    NoCapacity,
    /// The underwriter decided, independent of the score.
    UnderwriterDecision,
    /// The underwriter requires a newer credit score.
    FreshScoreNeeded,
}

/// A decision and its reasons.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct UnderwritingDecision {
    /// The underwriter's latest decision.
    pub(crate) outcome: ApplicationOutcome,
    /// The reasons for the decision.
    pub(crate) reasons: Vec<Reason>,
    /// The credit score used for the decision, newly calculated.
    pub(crate) credit_score_id: Option<Id<CreditScore>>,
    /// When the decision was made, in virtual time.
    pub(crate) decided_at: Timestamp,
}

resource! {
    /// A company's application for capital.
    Application: ApplicationStatus {
        /// The company that applies.
        company_id: Id<Company>,
        /// Current status.
        status: ApplicationStatus,
        /// The product applied for.
        product: Product,
        /// Amount requested, in minor units.
        amount: i64,
        /// Currency of the amount.
        currency: Currency,
        /// The repayment term in months.
        term_months: u32,
        /// The purpose, as free text.
        purpose: Option<String>,
        /// The underwriter's latest decision and its reasons; null until there is one.
        decision: Option<UnderwritingDecision>,
        /// The offer; null until the application is approved.
        offer_id: Option<Id<Offer>>,
        /// The information that the underwriter requested. Without it, the application is withdrawn at `information_due_by`.
        information_requested: Vec<String>,
        /// The deadline for the requested information. After it, the application is withdrawn.
        information_due_by: Option<Timestamp>,
    }
}
