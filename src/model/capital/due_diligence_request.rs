//! One thing that due diligence asks for: a document, an answer, or a report of the ledger.

use crate::model::capital::{DueDiligenceCase, Evidence};
use crate::model::identity::Document;
use crate::model::prelude::*;

states! {
    /// Where a request of due diligence stands.
    RequestStatus {
        Requested "requested", Submitted "submitted", InReview "in_review",
        Accepted "accepted", Rejected "rejected", Waived "waived",
    }
    "submit": Requested | Rejected => Submitted;
    "take_up": Submitted => InReview;
    "accept": Submitted | InReview => Accepted;
    "reject": Submitted | InReview => Rejected;
    "waive": Requested | Submitted | InReview | Rejected => Waived;
}

impl RequestStatus {
    /// Whether the company's answer is waited for.
    pub(crate) const fn is_unanswered(self) -> bool {
        matches!(self, Self::Requested | Self::Rejected)
    }

    /// Whether nothing is waited for any more.
    pub(crate) const fn is_settled(self) -> bool {
        matches!(self, Self::Accepted | Self::Waived)
    }
}

/// What a request is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "DueDiligenceCategory")]
pub(crate) enum Category {
    Corporate,
    Financial,
    Tax,
    Legal,
    Commercial,
    People,
    Compliance,
    Technology,
    Other,
}

/// A report of the ledger, as its path names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "LedgerReport")]
pub(crate) enum Report {
    ProfitAndLoss,
    BalanceSheet,
    CashFlow,
    TrialBalance,
}

impl Report {
    /// The operation that shows it.
    pub(crate) const fn operation(self) -> &'static str {
        match self {
            Self::ProfitAndLoss => "getProfitAndLoss",
            Self::BalanceSheet => "getBalanceSheet",
            Self::CashFlow => "getCashFlow",
            Self::TrialBalance => "getTrialBalance",
        }
    }

    /// Whether it is of some days, and not as of one.
    pub(crate) const fn is_of_a_period(self) -> bool {
        matches!(self, Self::ProfitAndLoss | Self::CashFlow)
    }
}

/// A report that answers a request: not its figures, but where they are read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ReportReference {
    /// Which report.
    pub(crate) report: Report,
    /// Its day, of a balance sheet or a trial balance.
    pub(crate) as_of: Option<Date>,
    /// Its first day, of the others.
    pub(crate) from: Option<Date>,
    /// Its last day, of the others.
    pub(crate) to: Option<Date>,
    /// The call that shows it.
    pub(crate) shown_by: Evidence,
}

/// Something that due diligence asks for.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct DueDiligenceRequest {
    /// The request's id.
    pub(crate) id: Id<DueDiligenceRequest>,
    /// Always `due_diligence_request`.
    pub(crate) object: Object<DueDiligenceRequest>,
    /// Who is asked.
    pub(crate) company_id: Id<Company>,
    /// The case that it belongs to.
    pub(crate) due_diligence_case_id: Id<DueDiligenceCase>,
    /// Where it stands.
    pub(crate) status: RequestStatus,
    /// What it is about.
    pub(crate) category: Category,
    /// What is asked for.
    pub(crate) title: String,
    /// Whether the case waits for it.
    pub(crate) mandatory: bool,
    /// The last day to answer.
    pub(crate) due_on: Date,
    /// Whether that day passed without an answer, or with one that was rejected; it stays so.
    pub(crate) overdue: bool,
    /// What the company said last.
    pub(crate) answer: Option<String>,
    /// Documents of the company's subjects that it sent last.
    pub(crate) document_ids: Vec<Id<Document>>,
    /// The report that it named last.
    pub(crate) report_ref: Option<ReportReference>,
    /// When it was asked, in virtual time.
    pub(crate) created_at: Timestamp,
    /// When it last changed, in virtual time.
    pub(crate) updated_at: Timestamp,
    /// The caller's own pairs.
    pub(crate) metadata: Metadata,
    /// Every status it had; `reason` is the reviewer's note.
    pub(crate) status_history: Vec<StatusChange<RequestStatus>>,
}

impl DueDiligenceRequest {
    pub(crate) const fn parent_bits(&self) -> u64 {
        self.due_diligence_case_id.bits()
    }

    pub(crate) const fn company_of(&self) -> Id<Company> {
        self.company_id
    }

    /// The first moment at which no answer is late.
    pub(crate) fn over_at(&self) -> Timestamp {
        self.due_on.plus_days(1).at_hour(0)
    }

    /// When it entered that state last, and why.
    pub(crate) fn last(&self, status: RequestStatus) -> Option<&StatusChange<RequestStatus>> {
        let mut history = self.status_history.iter().rev();
        history.find(|change| change.status == status)
    }
}

stateful!(DueDiligenceRequest: RequestStatus);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_of_a_request_can_be_reached() {
        crate::model::lifecycle::assert_sound(RequestStatus::Requested);
    }
}
