//! Due diligence: a case and what it asks for. How its requests are answered and reviewed is in `due_diligence_answers`.

use crate::api::business::companies::named;
use crate::api::prelude::*;
use crate::model::capital::due_diligence_case::{Progress, findings};
use crate::model::capital::{
    CaseStatus, Category, Deal, DealStatus, DueDiligenceCase, DueDiligenceRequest, RequestStatus,
    Template,
};
use crate::model::{Object, refused};

pub(crate) const OPERATIONS: &[Operation] = &[
    Operation {
        method: Method::Post,
        path: "/api/capital/due-diligence-cases",
        domain: Domain::Capital,
        contract: Contract::Assumed,
        summary: "Open a due diligence case",
        description: "With a checklist: `lite`, `standard` or `credit`. What it asks for are `requests` of the case, each with a last day to \
            answer. A deal has one case; `advanceDeal` opens it where nobody has.",
        example: r#"{"company_id":"@company:1","template":"lite"}"#,
        success: 201,
        errors: &[ErrorCode::InvalidStateTransition, ErrorCode::DuplicateReference],
        emits: OPENS,
        starts: &["miss_request"],
        ..operation!(write open_due_diligence_case)
    },
    Operation {
        method: Method::Get,
        path: "/api/capital/due-diligence-cases/{due_diligence_case_id}",
        domain: Domain::Capital,
        contract: Contract::Assumed,
        summary: "Read a due diligence case",
        description: "With its requests and what came of them (`requests`), how far it is (`progress`) and what a reader should know \
            (`findings`).",
        ..operation!(read get_due_diligence_case)
    },
    Operation {
        method: Method::Post,
        path: "/api/capital/due-diligence-cases/{due_diligence_case_id}/requests",
        domain: Domain::Capital,
        contract: Contract::Assumed,
        summary: "Ask for a document or an answer",
        description: "Of a case that is open, beside its checklist. A mandatory request keeps the case open until it is accepted or waived. \
            The day after `due_on` it is `overdue` unless an answer was sent.",
        example: r#"{"category":"financial","title":"Forecast of the next twelve months","mandatory":false}"#,
        success: 201,
        errors: &[ErrorCode::InvalidStateTransition],
        emits: &["due_diligence_request.created"],
        starts: &["miss_request"],
        ..operation!(write create_due_diligence_request)
    },
];

/// What opening a case causes.
pub(super) const OPENS: &[&str] = &["due_diligence_case.opened", "due_diligence_request.created"];

/// Days to answer where nobody names a day.
const DAYS_TO_ANSWER: i32 = 7;
/// The farthest day that is taken.
const MOST_DAYS: i32 = 3_650;
/// Requests that a case has at most: it is read and told of as a whole.
const MOST_REQUESTS: usize = 50;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct OpenDueDiligenceCase {
    /// Who is to be looked at.
    company_id: Id<Company>,
    /// The open deal of the company that it is for.
    deal_id: Option<Id<Deal>>,
    /// The checklist; `standard` if absent.
    template: Option<Template>,
    /// The last day for what the checklist asks for, today or later; in seven days if absent.
    due_on: Option<Date>,
    /// The caller's own pairs.
    metadata: Option<Metadata>,
}

/// A case with what it asks for.
#[derive(Serialize, JsonSchema)]
pub(crate) struct CaseWithRequests {
    #[serde(flatten)]
    case: DueDiligenceCase,
    /// What it asks for, in the order in which it was asked.
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

/// What a case asks for.
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
) -> Result<Data<CaseWithRequests>, ApiError> {
    let company = named(world, input.company_id)?;
    let deal = input.deal_id.map(|id| deal_named(world, id)).transpose()?;
    let mut wrong = Vec::new();
    if let Some(deal) = deal.as_ref().filter(|deal| deal.company_id != company.id) {
        let detail = format!("{} is a deal of {}", deal.id, deal.company_id);
        wrong.push(Violation::new("/deal_id", "foreign_deal", detail));
    }
    let due_on = due_day(world, input.due_on, &mut wrong);
    if !wrong.is_empty() {
        return Err(ApiError::invalid(wrong));
    }
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

/// The deal that a body names, which must exist.
fn deal_named(world: &World, id: Id<Deal>) -> Result<Arc<Deal>, ApiError> {
    world.get(id).map_err(|error| {
        let detail = "no deal of this key's world has this id";
        error.with_errors(vec![Violation::new("/deal_id", "not_found", detail)])
    })
}

/// A deal that is over needs no case, and one that has a case no other.
fn without_case(deal: &Deal) -> Result<(), ApiError> {
    if deal.status != DealStatus::Open {
        let detail = "a case is opened for a deal that is open".to_owned();
        return Err(refused(deal.id, deal.status, detail));
    }
    let Some(case) = deal.due_diligence_case_id else {
        return Ok(());
    };
    let detail = format!("{} has a case: {case}", deal.id);
    let wrong = Violation::new("/deal_id", "has_case", detail.clone());
    let error = ApiError::new(ErrorCode::DuplicateReference, detail).about(case);
    Err(error.with_errors(vec![wrong]))
}

/// The last day to answer: the one that was named, if it is a day to come, or in a week.
fn due_day(world: &World, named: Option<Date>, wrong: &mut Vec<Violation>) -> Date {
    let today = world.today();
    let (usual, latest) = (today.plus_days(DAYS_TO_ANSWER), today.plus_days(MOST_DAYS));
    let day = named.unwrap_or(usual);
    if day < today {
        let detail = format!("{day} is past: today is {today}");
        wrong.push(Violation::new("/due_on", "in_the_past", detail));
    } else if day > latest {
        let detail = format!("nobody waits longer than until {latest}");
        wrong.push(Violation::new("/due_on", "range", detail));
    }
    day
}

/// A case with the days that a checklist gives where nobody names one, before it is opened.
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
        status_history: vec![StatusChange::plain(CaseStatus::Open, now)],
    }
}

/// Opens it, and asks for what is on its checklist.
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

/// What is to be asked for.
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
            status_history: vec![StatusChange::plain(RequestStatus::Requested, now)],
        }
    }
}

/// Sets the clock on its answer.
fn watch(world: &mut World, request: &DueDiligenceRequest) {
    world.remind_at(request.over_at(), Task::MissRequest(request.id));
}

/// Keeps a request that has changed, brings its case up to date, and tells of both.
pub(super) fn told(
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
    let case = world.stage(case);
    world.emit(event, &request);
    if case.status == CaseStatus::Open && case.progress.is_done() {
        let mut case = (*case).clone();
        case.enter(CaseStatus::Completed, world.now());
        world.record("due_diligence_case.completed", case);
    }
    request
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct OneDueDiligenceCase {
    /// The case.
    due_diligence_case_id: Id<DueDiligenceCase>,
}

fn get_due_diligence_case(
    world: &World,
    input: OneDueDiligenceCase,
) -> Result<Data<CaseWithRequests>, ApiError> {
    let case = world.get(input.due_diligence_case_id)?;
    Ok(Data(with_requests(world, &case)))
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct CreateDueDiligenceRequest {
    /// The case.
    due_diligence_case_id: Id<DueDiligenceCase>,
    /// What it is about.
    category: Category,
    /// What is asked for.
    title: Text<200>,
    /// The last day to answer, today or later; in seven days if absent.
    due_on: Option<Date>,
    /// Whether the case waits for it; it does if absent.
    mandatory: Option<bool>,
    /// The caller's own pairs.
    metadata: Option<Metadata>,
}

fn create_due_diligence_request(
    world: &mut World,
    input: CreateDueDiligenceRequest,
) -> Result<Data<Shown<DueDiligenceRequest>>, ApiError> {
    let case = world.get(input.due_diligence_case_id)?;
    let mut wrong = Vec::new();
    let due_on = due_day(world, input.due_on, &mut wrong);
    if requests_of(world, case.id).len() >= MOST_REQUESTS {
        let detail = format!("a case has {MOST_REQUESTS} requests at most");
        wrong.push(Violation::new("", "too_many", detail));
    }
    if !wrong.is_empty() {
        return Err(ApiError::invalid(wrong));
    }
    if case.status != CaseStatus::Open {
        let detail = "the case is completed: another one can be opened".to_owned();
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
    let request = told(world, "due_diligence_request.created", request);
    watch(world, &request);
    Ok(Data(Shown(request)))
}
