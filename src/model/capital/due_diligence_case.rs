//! A due diligence case: a checklist, its progress, and its findings. Checklists are data (`fixtures/due_diligence.toml`).

use std::sync::LazyLock;

use crate::model::capital::{Category, Deal, DueDiligenceRequest, RequestStatus};
use crate::model::prelude::*;

states! {
    /// Status of a due diligence case.
    #[schemars(rename = "DueDiligenceCaseStatus")]
    CaseStatus { Open "open", Completed "completed" }
    "complete": Open => Completed;
}

/// A checklist.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "DueDiligenceTemplate")]
pub(crate) enum Template {
    /// For a first review.
    Lite,
    /// For equity investors.
    #[default]
    Standard,
    /// For lenders.
    Credit,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChecklistItem {
    pub(crate) category: Category,
    pub(crate) title: String,
    #[serde(default = "yes")]
    pub(crate) mandatory: bool,
}

const fn yes() -> bool {
    true
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Checklist {
    template: Template,
    request: Vec<ChecklistItem>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Checklists {
    template: Vec<Checklist>,
}

static CHECKLISTS: LazyLock<Checklists> = LazyLock::new(|| {
    toml::from_str(include_str!("../../../fixtures/due_diligence.toml"))
        .expect("the embedded checklists are whole: a test reads them")
});

impl Template {
    pub(crate) fn items(self) -> &'static [ChecklistItem] {
        let mut lists = CHECKLISTS.template.iter();
        let list = lists.find(|list| list.template == self);
        &list.expect("the file has a list for every template").request
    }
}

/// Progress of a case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "DueDiligenceProgress")]
pub(crate) struct Progress {
    /// Number of requests in the case.
    pub(crate) total: u32,
    /// Number of mandatory requests. All of them must be accepted or waived before the case is completed.
    pub(crate) mandatory: u32,
    /// Number of mandatory requests that are accepted or waived.
    pub(crate) mandatory_settled: u32,
    /// Percentage of mandatory requests that are accepted or waived, rounded down.
    pub(crate) percent: u32,
    /// Number of requests that wait for an answer, or for a new one after a rejection.
    pub(crate) unanswered: u32,
    /// Number of requests that wait for a review.
    pub(crate) to_review: u32,
    /// Number of accepted requests.
    pub(crate) accepted: u32,
    /// Number of waived requests.
    pub(crate) waived: u32,
    /// Number of unanswered requests after their due date.
    pub(crate) overdue: u32,
}

impl Progress {
    /// The progress of these requests.
    pub(crate) fn of(requests: &[Arc<DueDiligenceRequest>]) -> Self {
        let count = |is_so: &dyn Fn(&DueDiligenceRequest) -> bool| {
            let so = requests.iter().filter(|request| is_so(request)).count();
            u32::try_from(so).unwrap_or(u32::MAX)
        };
        let at = |status| count(&|request| request.status == status);
        let mandatory = count(&|request| request.mandatory);
        let mandatory_settled = count(&|request| request.mandatory && request.status.is_settled());
        Self {
            total: count(&|_| true),
            mandatory,
            mandatory_settled,
            percent: (mandatory_settled * 100).checked_div(mandatory).unwrap_or(100),
            unanswered: count(&|request| request.status.is_unanswered()),
            to_review: at(RequestStatus::Submitted) + at(RequestStatus::InReview),
            accepted: at(RequestStatus::Accepted),
            waived: at(RequestStatus::Waived),
            overdue: count(&|request| request.overdue && request.status.is_unanswered()),
        }
    }

    /// The progress of a new checklist.
    pub(crate) fn fresh(items: &[ChecklistItem]) -> Self {
        let count = |some: usize| u32::try_from(some).unwrap_or(u32::MAX);
        Self {
            total: count(items.len()),
            mandatory: count(items.iter().filter(|item| item.mandatory).count()),
            unanswered: count(items.len()),
            ..Self::default()
        }
    }

    /// Whether no mandatory request is open.
    pub(crate) const fn is_done(&self) -> bool {
        self.mandatory_settled == self.mandatory
    }
}

/// The type of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "DueDiligenceFindingType")]
pub(crate) enum FindingType {
    /// An answer was rejected.
    Rejected,
    /// The reviewer waived the request.
    Waived,
    /// No acceptable answer arrived in time.
    Overdue,
}

/// A finding of the case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "DueDiligenceFinding")]
pub(crate) struct Finding {
    /// Why the request is a finding: it was rejected or waived, or it is overdue.
    #[serde(rename = "type")]
    pub(crate) kind: FindingType,
    /// The request concerned.
    pub(crate) due_diligence_request_id: Id<DueDiligenceRequest>,
    /// The title of the finding.
    pub(crate) title: String,
    /// When this last happened, in virtual time. For an overdue request: when its due date ended.
    pub(crate) at: Timestamp,
    /// The reviewer's note, if any.
    pub(crate) note: Option<String>,
}

/// The findings by request, at most one of each type.
pub(crate) fn findings(requests: &[Arc<DueDiligenceRequest>]) -> Vec<Finding> {
    let mut found = Vec::new();
    for request in requests {
        let mut add = |kind, at, note| {
            found.push(Finding {
                kind,
                due_diligence_request_id: request.id,
                title: request.title.clone(),
                at,
                note,
            });
        };
        let noted = [
            (FindingType::Rejected, RequestStatus::Rejected),
            (FindingType::Waived, RequestStatus::Waived),
        ];
        for (kind, status) in noted {
            if let Some(change) = request.last(status) {
                let note = change.reason.as_deref().cloned();
                add(kind, change.at, note);
            }
        }
        if request.overdue {
            add(FindingType::Overdue, request.over_at(), None);
        }
    }
    found
}

/// A due diligence checklist for a company.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct DueDiligenceCase {
    /// The case's id.
    pub(crate) id: Id<DueDiligenceCase>,
    /// Always `due_diligence_case`.
    pub(crate) object: Object<DueDiligenceCase>,
    /// The company under review.
    pub(crate) company_id: Id<Company>,
    /// The deal that the case belongs to; null if there is none.
    pub(crate) deal_id: Option<Id<Deal>>,
    /// Current status.
    pub(crate) status: CaseStatus,
    /// The checklist template.
    pub(crate) template: Template,
    /// The due date of the checklist's requests.
    pub(crate) due_on: Date,
    /// Progress of the case.
    pub(crate) progress: Progress,
    /// Rejections, waivers and overdue requests, in the order of the requests.
    pub(crate) findings: Vec<Finding>,
    /// When it was opened, in virtual time.
    pub(crate) created_at: Timestamp,
    /// When it or one of its requests last changed, in virtual time.
    pub(crate) updated_at: Timestamp,
    /// Key-value pairs set by the caller.
    pub(crate) metadata: Metadata,
    /// Every status the resource has had, oldest first.
    pub(crate) status_history: StatusHistory<CaseStatus>,
}

stateful!(DueDiligenceCase: CaseStatus);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_template_asks_for_something_that_is_mandatory() {
        for template in [Template::Lite, Template::Standard, Template::Credit] {
            let items = template.items();
            assert!(items.iter().any(|item| item.mandatory), "{template:?}");
            let mut titles: Vec<&str> = items.iter().map(|item| item.title.as_str()).collect();
            titles.dedup();
            assert_eq!(titles.len(), items.len(), "{template:?}");
            assert!(!Progress::fresh(items).is_done());
        }
        assert_eq!(CHECKLISTS.template.len(), 3);
    }
}
