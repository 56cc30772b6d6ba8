//! A due diligence request: a document, an answer, or a ledger report that a company must provide.

use crate::model::capital::{DueDiligenceCase, Evidence};
use crate::model::identity::Document;
use crate::model::prelude::*;

states! {
    /// Status of a due diligence request.
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
    /// Whether the company must still answer.
    pub(crate) const fn is_unanswered(self) -> bool {
        matches!(self, Self::Requested | Self::Rejected)
    }

    /// Whether the request is finished.
    pub(crate) const fn is_settled(self) -> bool {
        matches!(self, Self::Accepted | Self::Waived)
    }
}

/// The category of a request.
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

/// A ledger report, named as in its path.
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
    /// The operation that returns it.
    pub(crate) const fn operation(self) -> &'static str {
        match self {
            Self::ProfitAndLoss => "getProfitAndLoss",
            Self::BalanceSheet => "getBalanceSheet",
            Self::CashFlow => "getCashFlow",
            Self::TrialBalance => "getTrialBalance",
        }
    }

    /// Whether the report covers a period instead of a single day.
    pub(crate) const fn is_of_a_period(self) -> bool {
        matches!(self, Self::ProfitAndLoss | Self::CashFlow)
    }
}

/// A ledger report that answers a request. It contains the call to read the report, not the figures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ReportReference {
    /// The name of the report.
    pub(crate) report: Report,
    /// The day, for a balance sheet or a trial balance.
    pub(crate) as_of: Option<Date>,
    /// The first day, for a profit and loss report or a cash flow report.
    pub(crate) from: Option<Date>,
    /// The last day, for a profit and loss report or a cash flow report.
    pub(crate) to: Option<Date>,
    /// The call that returns the report.
    pub(crate) shown_by: Evidence,
}

/// Something that a company must provide for due diligence.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct DueDiligenceRequest {
    /// The request's id.
    pub(crate) id: Id<DueDiligenceRequest>,
    /// Always `due_diligence_request`.
    pub(crate) object: Object<DueDiligenceRequest>,
    /// The company under due diligence.
    pub(crate) company_id: Id<Company>,
    /// The case that the request belongs to.
    pub(crate) due_diligence_case_id: Id<DueDiligenceCase>,
    /// Current status.
    pub(crate) status: RequestStatus,
    /// The category of the request.
    pub(crate) category: Category,
    /// What the company must provide.
    pub(crate) title: String,
    /// Whether the request must be accepted or waived before the case is completed.
    pub(crate) mandatory: bool,
    /// The last day to answer the request.
    pub(crate) due_on: Date,
    /// Whether the due date passed without an answer, or with a rejected one. It stays true afterwards.
    pub(crate) overdue: bool,
    /// The company's latest answer.
    pub(crate) answer: Option<String>,
    /// The documents of the company's subjects in the latest answer.
    pub(crate) document_ids: Vec<Id<Document>>,
    /// The report in the latest answer.
    pub(crate) report_ref: Option<ReportReference>,
    /// When it was created, in virtual time.
    pub(crate) created_at: Timestamp,
    /// When it last changed, in virtual time.
    pub(crate) updated_at: Timestamp,
    /// Key-value pairs set by the caller.
    pub(crate) metadata: Metadata,
    /// Every status of the request, oldest first; `reason` is the reviewer's note.
    pub(crate) status_history: StatusHistory<RequestStatus>,
}

impl DueDiligenceRequest {
    /// The time from which an answer is late.
    pub(crate) fn over_at(&self) -> Timestamp {
        self.due_on.plus_days(1).at_hour(0)
    }

    /// When and why it last entered that status.
    pub(crate) fn last(&self, status: RequestStatus) -> Option<&StatusChange<RequestStatus>> {
        let mut history = self.status_history.iter().rev();
        history.find(|change| change.status == status)
    }
}

stateful!(DueDiligenceRequest: RequestStatus);
