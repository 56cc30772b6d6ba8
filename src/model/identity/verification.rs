//! A verification: one case in which it is found out who a subject is.

use crate::model::identity::{CaseCheckName, Document, Level, Subject, VerificationType};
use crate::model::prelude::*;

states! {
    /// Where a case stands.
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
    /// Whether something is still to come of it.
    pub(crate) const fn is_open(self) -> bool {
        matches!(
            self,
            Self::Created | Self::Processing | Self::InReview | Self::ResubmissionRequested
        )
    }
}

/// How one check of a case came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CaseCheckStatus {
    Pending,
    Passed,
    Failed,
    /// Somebody has to look.
    Review,
}

/// One check of a case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct CaseCheck {
    /// What is checked.
    pub(crate) name: CaseCheckName,
    /// How it came out.
    pub(crate) status: CaseCheckStatus,
}

/// Why somebody was not approved.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RejectLabel {
    /// The register has other data.
    DataMismatch,
    /// A document cannot be read.
    DocumentUnreadable,
    /// A document is no longer valid.
    DocumentExpired,
    /// A document is not genuine.
    DocumentForged,
    /// A list has them, and it is they.
    WatchlistMatch,
    /// Whoever reviewed it was not convinced.
    ManualDecline,
}

/// Whether trying again can help.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RejectType {
    /// Submit again, with what was asked for.
    Retry,
    /// Not in this case.
    Final,
}

/// What a case came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CaseResult {
    Approved,
    Declined,
}

/// One case in which it is found out who a subject is.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Verification {
    /// The case's id.
    pub(crate) id: Id<Verification>,
    /// Always `verification`.
    pub(crate) object: Object<Verification>,
    /// The subject's company; null where it has none.
    pub(crate) company_id: Option<Id<Company>>,
    /// Who is verified.
    pub(crate) subject_id: Id<Subject>,
    /// Of a person or of a business.
    #[serde(rename = "type")]
    pub(crate) kind: VerificationType,
    /// How thorough it is.
    pub(crate) level: Level,
    /// Where it stands.
    pub(crate) status: CaseStatus,
    /// Each check, and how it came out.
    pub(crate) checks: Vec<CaseCheck>,
    /// The documents of the last submission.
    pub(crate) document_ids: Vec<Id<Document>>,
    /// What it came to; null until it is over.
    pub(crate) result: Option<CaseResult>,
    /// Why not; empty unless it was declined, is reviewed or is to be submitted again.
    pub(crate) reject_labels: Vec<RejectLabel>,
    /// Whether trying again can help; null unless it was declined or is to be submitted again.
    pub(crate) reject_type: Option<RejectType>,
    /// What whoever reviewed it said.
    pub(crate) note: Option<String>,
    /// How often it was submitted.
    pub(crate) submissions: u32,
    /// Until when it waits for a submission or, where the bureau does not answer, for that.
    pub(crate) expires_at: Option<Timestamp>,
    /// When it was last submitted, in virtual time.
    pub(crate) submitted_at: Option<Timestamp>,
    /// When it was created, in virtual time.
    pub(crate) created_at: Timestamp,
    /// When it last changed, in virtual time.
    pub(crate) updated_at: Timestamp,
    /// The caller's own pairs.
    pub(crate) metadata: Metadata,
    /// Every status it had.
    pub(crate) status_history: Vec<StatusChange<CaseStatus>>,
}

impl Verification {
    pub(crate) const fn parent_bits(&self) -> u64 {
        self.subject_id.bits()
    }

    pub(crate) fn company_of(&self) -> Id<Company> {
        self.company_id.unwrap_or(Id::UNKNOWN)
    }

    /// Whether it makes that check.
    pub(crate) fn makes(&self, name: CaseCheckName) -> bool {
        self.checks.iter().any(|check| check.name == name)
    }

    /// Every check came out like that.
    pub(crate) fn check_all(&mut self, status: CaseCheckStatus) {
        for check in &mut self.checks {
            check.status = status;
        }
    }

    /// One check came out like that, if the case makes it.
    pub(crate) fn check(&mut self, name: CaseCheckName, status: CaseCheckStatus) {
        for check in &mut self.checks {
            if check.name == name {
                check.status = status;
            }
        }
    }
}

stateful!(Verification: CaseStatus);

/// What the bureau makes of a submission; decided when it is asked, known when it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum BureauAnswer {
    Approved,
    Declined,
    InReview,
    ResubmissionRequested,
}

impl BureauAnswer {
    /// The answer that a choice of `bureau.reply` comes to.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_of_a_case_can_be_reached() {
        crate::model::lifecycle::assert_sound(CaseStatus::Created);
    }
}
