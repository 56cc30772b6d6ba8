//! Due diligence: cases and their requests. Answers and reviews are in `due_diligence_answers`.

use crate::api::prelude::*;
use crate::model::capital::due_diligence_case::{Progress, findings};
use crate::model::capital::{
    CaseStatus, Category, Deal, DealStatus, DueDiligenceCase, DueDiligenceRequest, RequestStatus,
    Template,
};

pub(crate) const OPERATIONS: &[Operation] = &Domain::Capital.table([
    Operation {
        path: "/api/capital/due-diligence-cases",
        summary: "Open a due diligence case",
        description: "Opens a case with a checklist: `lite`, `standard` or `credit`. Each item of \
            the checklist is a request with a due date. A deal can have one case; `advanceDeal` \
            opens it if there is none.",
        example: r#"{"company_id":"@company:1","template":"lite"}"#,
        success: 201,
        errors: &[ErrorCode::InvalidStateTransition, ErrorCode::DuplicateReference],
        emits: OPENS,
        starts: &[TaskKind::MissRequest],
        ..operation!(write open_due_diligence_case)
    },
    Operation {
        path: "/api/capital/due-diligence-cases/{due_diligence_case_id}",
        summary: "Read a due diligence case",
        description: "Returns a case with its `requests`, its `progress` and its `findings`.",
        ..operation!(read get_due_diligence_case)
    },
    Operation {
        path: "/api/capital/due-diligence-cases/{due_diligence_case_id}/requests",
        summary: "Add a due diligence request",
        description: "Adds a request to an open case, in addition to its checklist. A case can \
            have at most 50 requests. The case stays open until all mandatory requests are \
            accepted or waived. After `due_on`, an unanswered request is `overdue`.",
        example: r#"{"category":"financial","title":"Forecast of the next twelve months","mandatory":false}"#,
        success: 201,
        errors: &[ErrorCode::InvalidStateTransition],
        emits: &["due_diligence_request.created"],
        starts: &[TaskKind::MissRequest],
        ..operation!(write create_due_diligence_request)
    },
]);

/// The events of opening a case.
pub(super) const OPENS: &[&str] = &["due_diligence_case.opened", "due_diligence_request.created"];

/// Default number of days to answer.
const DAYS_TO_ANSWER: i32 = 7;
/// Maximum number of days until a due date.
const MOST_DAYS: i32 = 3_650;
/// Maximum number of requests of a case, because it is read as a whole.
const MOST_REQUESTS: usize = 50;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct OpenDueDiligenceCase {
    /// The company to review.
    company_id: Id<Company>,
    /// The company's open deal that the case belongs to.
    deal_id: Option<Id<Deal>>,
    /// The checklist. Default: `standard`.
    template: Option<Template>,
    /// The due date of the checklist's requests, not in the past. Default: in seven days.
    due_on: Option<Date>,
    /// Key-value pairs set by the caller.
    metadata: Option<Metadata>,
}

/// A case with its requests.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "DueDiligenceCaseWithRequests")]
pub(crate) struct CaseWithRequests {
    #[serde(flatten)]
    case: DueDiligenceCase,
    /// The requests, in creation order.
    requests: Vec<Shown<DueDiligenceRequest>>,
}

impl Identified for CaseWithRequests {
    fn id_text(&self) -> Option<String> {
        Some(self.case.id.to_string())
    }
}

fn with_requests(world: &World, case: &DueDiligenceCase) -> CaseWithRequests {
    let requests = requests_of(world, case.id);
    CaseWithRequests { case: case.clone(), requests: requests.into_iter().map(Shown).collect() }
}

/// The requests of a case.
pub(crate) fn requests_of(
    world: &World,
    case: Id<DueDiligenceCase>,
) -> Vec<Arc<DueDiligenceRequest>> {
    let requests = world.children(case.bits());
    requests.filter_map(|id| world.find(id)).collect()
}

fn open_due_diligence_case(
    world: &mut World,
    input: OpenDueDiligenceCase,
) -> Result<Data<CaseWithRequests>> {
    let company = existing(world, input.company_id, "/company_id")?;
    let deal = input.deal_id.map(|id| existing(world, id, "/deal_id")).transpose()?;
    let mut wrong = Vec::new();
    if let Some(deal) = deal.as_ref().filter(|deal| deal.company_id != company.id) {
        let detail = format!("{} is a deal of {}, not of {}", deal.id, deal.company_id, company.id);
        wrong.push(Violation::new("/deal_id", "foreign_deal", detail));
    }
    let due_on = due_day(world, input.due_on, &mut wrong);
    ApiError::if_any(wrong)?;
    if let Some(deal) = &deal {
        without_case(deal)?;
    }
    let mut case = drawn_up(world, company.id, input.template.unwrap_or_default(), due_on);
    case.metadata = input.metadata.unwrap_or_default();
    if let Some(deal) = deal {
        let mut deal = (*deal).clone();
        case.deal_id = Some(deal.id);
        deal.due_diligence_case_id = Some(case.id);
        deal.updated_at = world.now();
        world.stage(deal);
    }
    let case = open(world, case);
    Ok(Data(with_requests(world, &case)))
}

/// A deal that has ended, or that has a case, gets no case.
fn without_case(deal: &Deal) -> Result<()> {
    if deal.status != DealStatus::Open {
        let detail = "the deal must be open".to_owned();
        return Err(refused(deal.id, deal.status, detail));
    }
    let Some(case) = deal.due_diligence_case_id else { return Ok(()) };
    let detail = format!("{} already has a case: {case}", deal.id);
    Err(ApiError::new(ErrorCode::DuplicateReference, detail).about(case).at("/deal_id", "has_case"))
}

/// The due date: the given one, which must not be in the past, or by default one week from today.
fn due_day(world: &World, named: Option<Date>, wrong: &mut Vec<Violation>) -> Date {
    let today = world.today();
    let (usual, latest) = (today.plus_days(DAYS_TO_ANSWER), today.plus_days(MOST_DAYS));
    let day = named.unwrap_or(usual);
    if day < today {
        let detail = format!("{day} is in the past: today is {today}");
        wrong.push(Violation::new("/due_on", "in_the_past", detail));
    } else if day > latest {
        let detail = format!("must be on or before {latest}");
        wrong.push(Violation::new("/due_on", "range", detail));
    }
    day
}

/// A case with the due dates of its checklist, before it is opened.
pub(super) fn drawn_up_for(
    world: &World,
    company: Id<Company>,
    template: Template,
) -> DueDiligenceCase {
    let due_on = world.today().plus_days(DAYS_TO_ANSWER);
    drawn_up(world, company, template, due_on)
}

fn drawn_up(
    world: &World,
    company: Id<Company>,
    template: Template,
    due_on: Date,
) -> DueDiligenceCase {
    let now = world.now();
    DueDiligenceCase {
        id: world.next_id(company.bits()),
        object: Object::NAME,
        company_id: company,
        deal_id: None,
        status: CaseStatus::Open,
        template,
        due_on,
        progress: Progress::fresh(template.items()),
        findings: Vec::new(),
        created_at: now,
        updated_at: now,
        metadata: Metadata::default(),
        status_history: [StatusChange::plain(CaseStatus::Open, now)].into(),
    }
}

/// Opens the case and its checklist's requests.
pub(super) fn open(world: &mut World, case: DueDiligenceCase) -> Arc<DueDiligenceCase> {
    let case = world.record("due_diligence_case.opened", case);
    for item in case.template.items() {
        let asked = Asked {
            category: item.category,
            title: item.title.clone(),
            mandatory: item.mandatory,
            due_on: case.due_on,
            metadata: Metadata::default(),
        };
        let request = asked.of(world, &case);
        let request = world.record("due_diligence_request.created", request);
        watch(world, &request);
    }
    case
}

/// A request to add.
struct Asked {
    category: Category,
    title: String,
    mandatory: bool,
    due_on: Date,
    metadata: Metadata,
}

impl Asked {
    fn of(self, world: &World, case: &DueDiligenceCase) -> DueDiligenceRequest {
        let now = world.now();
        DueDiligenceRequest {
            id: world.next_id(case.id.bits()),
            object: Object::NAME,
            company_id: case.company_id,
            due_diligence_case_id: case.id,
            status: RequestStatus::Requested,
            category: self.category,
            title: self.title,
            mandatory: self.mandatory,
            due_on: self.due_on,
            overdue: false,
            answer: None,
            document_ids: Vec::new(),
            report_ref: None,
            created_at: now,
            updated_at: now,
            metadata: self.metadata,
            status_history: [StatusChange::plain(RequestStatus::Requested, now)].into(),
        }
    }
}

/// Sets the timer for its due date.
fn watch(world: &mut World, request: &DueDiligenceRequest) {
    world.remind_at(request.over_at(), Task::MissRequest(request.id));
}

/// Stores a changed request, updates its case, and emits the events of both. If the request completes the case, a
/// second event has the completed case.
pub(super) fn record_request(
    world: &mut World,
    event: &'static str,
    request: DueDiligenceRequest,
) -> Arc<DueDiligenceRequest> {
    let request = world.stage(request);
    let case = world.find(request.due_diligence_case_id);
    let case = case.expect("a request is a case's, and nothing is deleted");
    let mut case = (*case).clone();
    let requests = requests_of(world, case.id);
    case.progress = Progress::of(&requests);
    case.findings = findings(&requests);
    case.updated_at = world.now();
    if case.status == CaseStatus::Open && case.progress.is_done() {
        world.emit(event, &request);
        case.enter(CaseStatus::Completed, world.now());
        world.record("due_diligence_case.completed", case);
    } else {
        world.stage(case);
        world.emit(event, &request);
    }
    request
}

fn get_due_diligence_case(
    world: &World,
    input: One<DueDiligenceCase>,
) -> Result<Data<CaseWithRequests>> {
    let case = world.get(input.id)?;
    Ok(Data(with_requests(world, &case)))
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct CreateDueDiligenceRequest {
    /// The case.
    due_diligence_case_id: Id<DueDiligenceCase>,
    /// The category of the request.
    category: Category,
    /// What the company must provide.
    title: Text<200>,
    /// The due date, not in the past. Default: in seven days.
    due_on: Option<Date>,
    /// Whether the request must be accepted or waived before the case is completed. Default: true.
    mandatory: Option<bool>,
    /// Key-value pairs set by the caller.
    metadata: Option<Metadata>,
}

fn create_due_diligence_request(
    world: &mut World,
    input: CreateDueDiligenceRequest,
) -> Result<Single<DueDiligenceRequest>> {
    let case = world.get(input.due_diligence_case_id)?;
    let mut wrong = Vec::new();
    let due_on = due_day(world, input.due_on, &mut wrong);
    if requests_of(world, case.id).len() >= MOST_REQUESTS {
        let detail = format!("a case can have at most {MOST_REQUESTS} requests");
        wrong.push(Violation::new("", "too_many", detail));
    }
    ApiError::if_any(wrong)?;
    if case.status != CaseStatus::Open {
        let detail = "the case is completed: open another one".to_owned();
        return Err(refused(case.id, case.status, detail));
    }
    let asked = Asked {
        category: input.category,
        title: input.title.into_string(),
        mandatory: input.mandatory.unwrap_or(true),
        due_on,
        metadata: input.metadata.unwrap_or_default(),
    };
    let request = asked.of(world, &case);
    let request = record_request(world, "due_diligence_request.created", request);
    watch(world, &request);
    Ok(Data(Shown(request)))
}
