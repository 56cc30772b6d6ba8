//! A verification: one case that establishes the identity of a subject.

use crate::model::identity::{CaseCheckName, Document, Level, Subject, VerificationType};
use crate::model::prelude::*;

states! {
    /// Status of a case.
    CaseStatus {
        Created "created", Processing "processing", InReview "in_review",
        ResubmissionRequested "resubmission_requested", Approved "approved", Declined "declined", Expired "expired",
        Cancelled "cancelled",
    }
    "submit": Created | ResubmissionRequested => Processing;
    "approve": Processing | InReview => Approved;
    "decline": Processing | InReview => Declined;
    "review": Processing => InReview;
    "request_resubmission": Processing | InReview => ResubmissionRequested;
    "expire": Created | Processing | ResubmissionRequested => Expired;
    "cancel": Created | ResubmissionRequested | InReview => Cancelled;
}

impl CaseStatus {
    /// Whether the case has not ended yet.
    pub(crate) const fn is_open(self) -> bool {
        matches!(
            self,
            Self::Created | Self::Processing | Self::InReview | Self::ResubmissionRequested
        )
    }
}

/// The result of one check of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CaseCheckStatus {
    Pending,
    Passed,
    Failed,
    /// A manual review is required.
    Review,
}

/// One check of a case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct CaseCheck {
    /// The name of the check.
    pub(crate) name: CaseCheckName,
    /// The result of the check.
    pub(crate) status: CaseCheckStatus,
}

/// Why a subject was not approved.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RejectLabel {
    /// The register contains different data.
    DataMismatch,
    /// A document cannot be read.
    DocumentUnreadable,
    /// A document is no longer valid.
    DocumentExpired,
    /// A document is not genuine.
    DocumentForged,
    /// The subject is on a watchlist.
    WatchlistMatch,
    /// A reviewer declined the subject.
    ManualDecline,
}

/// Whether another submission can succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RejectType {
    /// Submit again with the required data.
    Retry,
    /// Not possible in this case.
    Final,
}

/// The result of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CaseResult {
    Approved,
    Declined,
}

resource! {
    /// One case that establishes the identity of a subject.
    Verification: CaseStatus {
        /// The subject's company, or null if it has none.
        company_id: Option<Id<Company>>,
        /// The subject that is verified.
        subject_id: Id<Subject>,
        /// Verification of a person or of a business.
        #[serde(rename = "type")]
        kind: VerificationType,
        /// The verification level.
        level: Level,
        /// Current status.
        status: CaseStatus,
        /// Each check and its result.
        checks: Vec<CaseCheck>,
        /// The documents of the last submission.
        document_ids: Vec<Id<Document>>,
        /// The result; null until the case has ended.
        result: Option<CaseResult>,
        /// Why the subject is not approved. Empty unless the case is declined, in review, or must be submitted again.
        reject_labels: Vec<RejectLabel>,
        /// Whether another submission can succeed. Null unless the case is declined or must be submitted again.
        reject_type: Option<RejectType>,
        /// The reviewer's note.
        note: Option<String>,
        /// How often the case was submitted.
        submissions: u32,
        /// When the case expires while it waits for a submission, or for a bureau that does not answer.
        expires_at: Option<Timestamp>,
        /// When it was last submitted, in virtual time.
        submitted_at: Option<Timestamp>,
    }
}

impl Verification {
    pub(crate) const fn parent_bits(&self) -> u64 {
        self.subject_id.bits()
    }

    pub(crate) fn company_of(&self) -> Id<Company> {
        self.company_id.unwrap_or(Id::UNKNOWN)
    }

    /// Whether the case includes that check.
    pub(crate) fn makes(&self, name: CaseCheckName) -> bool {
        self.checks.iter().any(|check| check.name == name)
    }

    /// Sets the result of every check.
    pub(crate) fn check_all(&mut self, status: CaseCheckStatus) {
        for check in &mut self.checks {
            check.status = status;
        }
    }

    /// Sets the result of one check, if the case includes it.
    pub(crate) fn check(&mut self, name: CaseCheckName, status: CaseCheckStatus) {
        for check in &mut self.checks {
            if check.name == name {
                check.status = status;
            }
        }
    }
}

/// The bureau's answer to a submission. It is decided when the submission is sent, and known when the bureau answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum BureauAnswer {
    Approved,
    Declined,
    InReview,
    ResubmissionRequested,
}

impl BureauAnswer {
    /// The answer for a choice of `bureau.reply`.
    pub(crate) fn of(choice: &str) -> Self {
        match choice {
            "approved" | "offline" => Self::Approved,
            "declined" => Self::Declined,
            "in_review" => Self::InReview,
            "resubmission_requested" => Self::ResubmissionRequested,
            other => unreachable!("bureau.reply has no answer {other}"),
        }
    }
}
