//! Answers to due diligence requests: submitted by the company, reviewed, or overdue.

use crate::api::capital::due_diligence::record_request;
use crate::api::prelude::*;
use crate::model::capital::due_diligence_request::{Report, ReportReference};
use crate::model::capital::{
    CaseStatus, DealStatus, DueDiligenceCase, DueDiligenceRequest, Evidence, RequestStatus,
};
use crate::model::identity::{Document, DocumentStatus};

pub(crate) const OPERATIONS: &[Operation] = &Domain::Capital.table([
    Operation {
        path: "/api/capital/due-diligence-requests/{due_diligence_request_id}/submit",
        summary: "Answer a due diligence request",
        description: "Submits an `answer`, documents of the company's subjects, a reference to a \
            ledger report, or several of these. It replaces the previous answer. A reviewer \
            starts a minute later (`in_review`). A rejected request can be answered again.",
        example: r#"{"answer":"See the report","report_ref":{"report":"balance-sheet","as_of":"2025-12-31"}}"#,
        errors: &[ErrorCode::InvalidStateTransition],
        emits: &["due_diligence_request.submitted"],
        starts: &[TaskKind::TakeUpRequest],
        ..operation!(write submit_due_diligence_request)
    },
    Operation {
        path: "/api/capital/due-diligence-requests/{due_diligence_request_id}/review",
        summary: "Review an answer",
        description: "Decides about a request: `accept` or `reject` a submitted answer, or `waive` \
            a request in any status. When every mandatory request is accepted or waived, the case \
            is `completed`.",
        example: r#"{"decision":"waive","note":"Known from an earlier round"}"#,
        errors: &[ErrorCode::InvalidStateTransition],
        emits: REVIEWS,
        ..operation!(write review_due_diligence_request)
    },
]);

/// The events of a review.
pub(crate) const REVIEWS: &[&str] = &[
    "due_diligence_request.accepted",
    "due_diligence_request.rejected",
    "due_diligence_request.waived",
    "due_diligence_request.overdue",
    "due_diligence_case.completed",
];

/// From the answer to the reviewer.
const QUEUE: Span = Span::seconds(60);

#[derive(Deserialize, JsonSchema)]
pub(crate) struct SubmitDueDiligenceRequest {
    /// The request.
    due_diligence_request_id: Id<DueDiligenceRequest>,
    /// Documents of the company's subjects; none may be rejected.
    #[schemars(length(max = 20))]
    document_ids: Option<Vec<Id<Document>>>,
    /// The answer, as free text.
    answer: Option<Text<2000>>,
    /// A report of the company's ledger.
    report_ref: Option<ReportReferenceInput>,
}

/// A ledger report: a `balance-sheet` or `trial-balance` as of a day, or a `profit-and-loss` or `cash-flow` of a range of days. No day may
/// be in the future.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct ReportReferenceInput {
    /// The name of the report.
    report: Report,
    /// The day, for a balance sheet or a trial balance.
    as_of: Option<Date>,
    /// The first day, for a profit and loss report or a cash flow report.
    from: Option<Date>,
    /// The last day, for a profit and loss report or a cash flow report.
    to: Option<Date>,
}

fn submit_due_diligence_request(
    world: &mut World,
    input: SubmitDueDiligenceRequest,
) -> Result<Single<DueDiligenceRequest>> {
    let mut request = (*world.get(input.due_diligence_request_id)?).clone();
    let documents = input.document_ids.unwrap_or_default();
    let mut wrong = documents_faults(world, &request, &documents)?;
    if let Some(report) = &input.report_ref {
        wrong.extend(report.faults(world.today()));
    }
    if documents.is_empty() && input.answer.is_none() && input.report_ref.is_none() {
        let detail = "expected at least one of document_ids, answer and report_ref";
        wrong.push(Violation::new("", "at_least_one", detail));
    }
    ApiError::if_any(wrong)?;
    let status = step("submit", "the request", request.id, request.status)?;
    request.answer = input.answer.map(Text::into_string);
    request.document_ids = documents;
    let company = request.company_id.to_string();
    request.report_ref = input.report_ref.map(|report| report.kept(company));
    request.enter(status, world.now());
    let request = record_request(world, "due_diligence_request.submitted", request);
    world.settle_after(QUEUE, Task::TakeUpRequest(request.id));
    Ok(Data(Shown(request)))
}

/// Documents that do not exist are a 404. Documents of others and rejected ones are violations.
fn documents_faults(
    world: &World,
    request: &DueDiligenceRequest,
    documents: &[Id<Document>],
) -> Result<Vec<Violation>> {
    let (mut missing, mut wrong) = (Vec::new(), Vec::new());
    for (place, id) in documents.iter().enumerate() {
        let pointer = format!("/document_ids/{place}");
        let Some(document) = world.find(*id) else {
            let detail = "no document with this id exists in this key's world";
            missing.push(Violation::new(pointer, "not_found", detail));
            continue;
        };
        if documents[..place].contains(id) {
            let detail = "this document is given twice";
            wrong.push(Violation::new(pointer, "duplicate", detail));
        } else if document.company_id != Some(request.company_id) {
            let detail = format!("{id} is not a document of a subject of {}", request.company_id);
            wrong.push(Violation::new(pointer, "foreign_document", detail));
        } else if document.status == DocumentStatus::Rejected {
            let detail = format!("{id} was rejected");
            wrong.push(Violation::new(pointer, "rejected_document", detail));
        }
    }
    if missing.is_empty() {
        Ok(wrong)
    } else {
        Err(ApiError::not_found("document").with_errors(missing))
    }
}

impl ReportReferenceInput {
    /// Its days by name, and whether the report uses each.
    fn days(&self) -> [(&'static str, Option<Date>, bool); 3] {
        let period = self.report.is_of_a_period();
        [("as_of", self.as_of, !period), ("from", self.from, period), ("to", self.to, period)]
    }

    fn faults(&self, today: Date) -> Vec<Violation> {
        let mut wrong = Vec::new();
        for (name, day, is_taken) in self.days() {
            let mut fault = |code, detail: String| {
                wrong.push(Violation::new(format!("/report_ref/{name}"), code, detail));
            };
            match day {
                None if is_taken => {
                    fault("required", "this report requires this member".to_owned());
                }
                Some(_) if !is_taken => {
                    fault("not_taken", "this report does not use this member".to_owned());
                }
                Some(day) if day > today => {
                    fault("in_the_future", format!("{day} is in the future: today is {today}"));
                }
                _ => {}
            }
        }
        if let Some((from, to)) = self.from.zip(self.to)
            && wrong.is_empty()
            && to < from
        {
            let detail = format!("must be on or after the first day, {from}");
            wrong.push(Violation::new("/report_ref/to", "before_from", detail));
        }
        wrong
    }

    fn kept(self, company: String) -> ReportReference {
        let days = self.days();
        let named = days.into_iter().filter_map(|(name, day, _)| {
            let day = day?.to_string();
            Some((name.to_owned(), day))
        });
        let mut params: BTreeMap<String, String> = named.collect();
        params.insert("company_id".to_owned(), company);
        ReportReference {
            report: self.report,
            as_of: self.as_of,
            from: self.from,
            to: self.to,
            shown_by: Evidence {
                operation: self.report.operation().to_owned(),
                params,
                resources: Vec::new(),
            },
        }
    }
}

/// The reviewer's decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "DueDiligenceDecision")]
pub(crate) enum Decision {
    Accept,
    Reject,
    Waive,
}

impl Decision {
    const fn verb(self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::Reject => "reject",
            Self::Waive => "waive",
        }
    }
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct ReviewDueDiligenceRequest {
    /// The request.
    due_diligence_request_id: Id<DueDiligenceRequest>,
    /// Whether to accept or reject the answer, or to waive the request.
    decision: Decision,
    /// A note, shown in the findings of the case.
    note: Option<Text<500>>,
}

fn review_due_diligence_request(
    world: &mut World,
    input: ReviewDueDiligenceRequest,
) -> Result<Single<DueDiligenceRequest>> {
    let request = world.get(input.due_diligence_request_id)?;
    let verb = input.decision.verb();
    let status = step(verb, "the request", request.id, request.status)?;
    conclude(world, request.id, status, input.note.map(Text::into_string));
    Ok(Data(Shown(world.get(request.id)?)))
}

/// Applies the reviewer's decision, which the lifecycle allows.
pub(crate) fn conclude(
    world: &mut World,
    id: Id<DueDiligenceRequest>,
    status: RequestStatus,
    note: Option<String>,
) {
    let request = world.find(id).expect("the caller has read it");
    let mut request = (*request).clone();
    request.enter_because(status, world.now(), note);
    let event = match status {
        RequestStatus::Accepted => "due_diligence_request.accepted",
        RequestStatus::Waived => "due_diligence_request.waived",
        _ => "due_diligence_request.rejected",
    };
    world.drop_timers(Task::TakeUpRequest(id));
    let request = record_request(world, event, request);
    if status.is_settled() {
        world.forget_timers(AnyId::of(id));
    } else if request.over_at() <= world.now() {
        miss(world, id); // there is no time for another answer
    }
}

/// A reviewer starts the review.
pub(crate) fn take_up(world: &mut World, id: Id<DueDiligenceRequest>) {
    let open = world.find(id);
    let Some(request) = open.filter(|it| it.status == RequestStatus::Submitted) else { return };
    let mut request = (*request).clone();
    request.enter(RequestStatus::InReview, world.now());
    record_request(world, "due_diligence_request.in_review", request);
}

/// The due date has passed. If the request is finished, nothing happens.
pub(crate) fn miss(world: &mut World, id: Id<DueDiligenceRequest>) {
    let open = world.find(id);
    let late = |it: &DueDiligenceRequest| it.status.is_unanswered() && !it.overdue;
    let Some(request) = open.filter(|it| late(it) && is_waited_for(world, it)) else { return };
    let mut request = (*request).clone();
    request.overdue = true;
    request.updated_at = world.now();
    record_request(world, "due_diligence_request.overdue", request);
}

/// Whether its case is open, and so is the deal of the case.
fn is_waited_for(world: &World, request: &DueDiligenceRequest) -> bool {
    let open = |case: &DueDiligenceCase| {
        let deal = case.deal_id.and_then(|id| world.find(id));
        case.status == CaseStatus::Open && deal.is_none_or(|deal| deal.status == DealStatus::Open)
    };
    let case = world.find(request.due_diligence_case_id);
    case.is_some_and(|case| open(&case))
}
