//! An event on demand: not a made-up one, but the real state changes that cause it.

use serde_json::{Map, Value, json};

use crate::api::check::suggestion;
use crate::api::control::recipes::Act::{Answered, Call, Move, Payroll, Transfer};
use crate::api::control::recipes::{Act, LAST, PAYABLE, recipe};
use crate::api::control::{hand_move, inbound, transitions};
use crate::api::prelude::*;
use crate::api::reply::Reply;
use crate::api::{control, product, system};
use crate::model::business::{
    CompanyStatus, ComplianceRequirement, EmployeeStatus, ItemStatus, LiabilityStatus, PayrollItem,
    RequirementStatus, TaxLiability,
};
use crate::model::capital::{Loan, Offer};
use crate::model::identity::{AmlAlert, Subject};
use crate::model::payments::{
    Beneficiary, BeneficiaryStatus, Dispute, DisputeStatus, MatchStatus, ReconciliationMatch,
};
use crate::value::id::{encode_to_string, parse};
use crate::world::script::{OutcomeRule, Selector, Wanted, When};
use crate::world::{EventShape, RequestRef};

pub(crate) const OPERATIONS: &[Operation] = &Domain::Sandbox.table([
Operation {
    path: "/_sandbox/trigger",
    summary: "Trigger an event",
    description: "Makes the real calls, and lets the clock's work on them happen now, until an event of that type has happened. \
        `override` replaces members of the call's input. A type that no recipe causes yet is a 422 that names the call to make.",
    example: r#"{"type":"payroll_run.paid"}"#,
    errors: &[
        ErrorCode::ResourceNotFound,
        ErrorCode::EmployeeNotPayable,
        ErrorCode::PayrollPeriodAlreadyRun,
        ErrorCode::InvalidStateTransition,
    ],
    ..operation!(drive trigger_event)
}]);

#[derive(Deserialize, JsonSchema)]
pub(crate) struct TriggerEvent {
    /// The event's type: `payout.returned`.
    r#type: Text<64>,
    /// Members that replace those of the call that is made.
    #[serde(default)]
    r#override: Map<String, Value>,
}

/// What was made to happen.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Triggered {
    /// The event that was asked for: the first of its type.
    event: EventShape,
    /// Everything that happened on the way to it, in order.
    events: Vec<EventShape>,
}

/// What a recipe did before one of its calls was refused is taken back with the rest: the world goes on as it was.
fn trigger_event(world: &mut World, input: TriggerEvent) -> Result<Plain<Triggered>, ApiError> {
    let before = world.clone();
    let done = follow_recipe(world, input);
    if done.is_err() {
        *world = before;
    }
    done
}

fn follow_recipe(world: &mut World, input: TriggerEvent) -> Result<Plain<Triggered>, ApiError> {
    let name = input.r#type.as_str();
    let recipe = recipe(name);
    let (_, acts) = recipe.ok_or_else(|| no_recipe(name))?;
    let logged = world.log_length();
    let mut last = String::new();
    // What is only to be paid is not to be late, too.
    let by_deadline = system::is_by_deadline(name);
    for (place, act) in (1..).zip(*acts) {
        let own = if place == acts.len() { input.r#override.clone() } else { Map::new() };
        let origin = origin(world, logged, place as u64);
        last = perform(world, act, &last, own, &origin)?;
        // … nor over before the last call is made.
        let deadlines = by_deadline && place == acts.len();
        while !happened(world, logged, name) && system::run_caused(world, &origin.id, deadlines) {}
    }
    let events: Vec<EventShape> =
        system::events_since(world, logged).map(|event| EventShape::of(event)).collect();
    let event = system::events_since(world, logged).find(|event| event.name == name);
    let event = event.ok_or_else(|| {
        let detail = format!(
            "the calls were made, and {name} did not happen: the override or a rule kept it from it"
        );
        ApiError::invalid(vec![Violation::new("/type", "not_caused", detail)])
    })?;
    Ok(Plain(Triggered { event: EventShape::of(event), events }))
}

fn happened(world: &World, logged: u64, name: &str) -> bool {
    system::events_since(world, logged).any(|event| event.name == name)
}

fn origin(world: &World, logged: u64, place: u64) -> Arc<RequestRef> {
    let key = world.base().key().with("trigger").at(logged).at(place);
    Arc::new(RequestRef {
        id: format!("{}_{}", Kind::Request.prefix(), encode_to_string(key.hash())),
        operation: "trigger_event".into(),
        idempotency_key: None,
    })
}

/// Does one thing, and says which resource came of it.
fn perform(
    world: &mut World,
    act: &Act,
    last: &str,
    own: Map<String, Value>,
    origin: &Arc<RequestRef>,
) -> Result<String, ApiError> {
    match act {
        Call(name, input) | Answered(name, input, _) => {
            let input = prepared(world, &input.replace(LAST, last), own)?;
            let outcomes = match act {
                Answered(_, _, outcomes) => *outcomes,
                _ => &[],
            };
            let outcomes = outcomes.iter().map(|&(on, then)| outcome(on, then, &[], 0));
            call(world, name, input, outcomes.collect(), origin)
        }
        Payroll(outcomes) => payroll(world, outcomes, last, own, origin),
        Transfer => {
            let input = prepared(world, r#"{"company_id":"@company:1","amount":1000000}"#, own)?;
            let mut whole = input.clone();
            whole["kind"] = "bank_transfer".into();
            inbound::OPERATIONS[0].check(&whole)?;
            let row = inbound::row("bank_transfer")?;
            let received = in_transaction(world, origin, |world| (row.receive)(world, input))?;
            Ok(received.id.unwrap_or_default())
        }
        Move(what, to) => {
            let id = match (*what, chosen(own)?) {
                (LAST, None) => last.to_owned(),
                (_, Some(id)) => id,
                _ => payable(world, 1, None)?.1[0].to_string(),
            };
            let wanted = hand_move::Wanted { reason: None, code: None };
            in_transaction(world, origin, |world| transitions::go(world, &id, to, wanted))?;
            Ok(id)
        }
    }
}

/// The resource that is to be moved, where the caller names one.
fn chosen(own: Map<String, Value>) -> Result<Option<String>, ApiError> {
    let mut id = None;
    let mut wrong = Vec::new();
    for (name, value) in own {
        match (name.as_str(), value) {
            ("employee_id" | "company_id" | "resource_id", Value::String(text)) => id = Some(text),
            ("employee_id" | "company_id" | "resource_id", _) => {
                let pointer = format!("/override/{name}");
                wrong.push(Violation::new(pointer, "type", "expected an id"));
            }
            _ => {
                let detail =
                    "the resource alone can be chosen here: employee_id, company_id or resource_id";
                let name = name.replace('~', "~0").replace('/', "~1");
                wrong.push(Violation::new(format!("/override/{name}"), "unknown", detail));
            }
        }
    }
    if wrong.is_empty() { Ok(id) } else { Err(ApiError::invalid(wrong)) }
}

fn in_transaction<T>(
    world: &mut World,
    origin: &Arc<RequestRef>,
    step: impl FnOnce(&mut World) -> Result<T, ApiError>,
) -> Result<T, ApiError> {
    world.begin(Some(Arc::clone(origin)));
    let done = step(world);
    match &done {
        Ok(_) => world.commit(),
        Err(_) => world.roll_back(),
    }
    done
}

/// The recipe's input with the caller's members in their place, and everything that it stands for.
fn prepared(world: &World, input: &str, own: Map<String, Value>) -> Result<Value, ApiError> {
    let mut input: Value = serde_json::from_str(input).expect("a recipe is JSON");
    if let Some(members) = input.as_object_mut() {
        members.extend(own);
    }
    fill_in(world, &mut input)?;
    let resolved = world.resolve(&mut input);
    resolved.map_err(|detail| ApiError::new(ErrorCode::ResourceNotFound, detail))?;
    Ok(input)
}

/// The newest part of a run that stands there.
fn newest_item(world: &World, status: ItemStatus) -> Option<Arc<PayrollItem>> {
    let items = world.created::<PayrollItem>().rev();
    let mut items = items.filter_map(|id| world.find(id));
    items.find(|item| item.status == status)
}

fn fill_in(world: &World, value: &mut Value) -> Result<(), ApiError> {
    match value {
        Value::String(text) if text.contains("-@count") => {
            *text = text.replace("@count", &world.log_length().to_string());
        }
        Value::String(text) => {
            if let Some(found) = stands_for(world, text)? {
                *value = found;
            }
        }
        Value::Object(members) => {
            for member in members.values_mut() {
                fill_in(world, member)?;
            }
        }
        Value::Array(items) => {
            for item in items {
                fill_in(world, item)?;
            }
        }
        _ => {}
    }
    Ok(())
}

/// What a name of a recipe stands for in this world; none for text that is no name.
fn stands_for(world: &World, name: &str) -> Result<Option<Value>, ApiError> {
    let first = || world.at::<Company>(0);
    let found = match name {
        "@count" => world.log_length().to_string(),
        "@currency" => first().map_or_else(String::new, |company| company.currency.to_string()),
        "@available" => {
            let balance = first().map(|it| world.balances(it.id, it.currency).available);
            return Ok(Some(balance.into()));
        }
        "@other_currency" => {
            let euro = first().is_some_and(|company| company.currency.code() == "EUR");
            if euro { "USD" } else { "EUR" }.to_owned()
        }
        "@today" => world.today().to_string(),
        "@day" => free_day(world).to_string(),
        "@month" => world.today().period().to_string(),
        "@paying_company" => payable(world, 2, None)?.0.to_string(),
        PAYABLE => payable(world, 1, None)?.1[0].to_string(),
        "@payable_currency" => {
            let company = world.get(payable(world, 1, None)?.0)?;
            company.currency.to_string()
        }
        "@payee" => newest(world, |one: &Beneficiary| one.status == BeneficiaryStatus::Verified),
        "@open_requirement" => {
            newest(world, |one: &ComplianceRequirement| one.status != RequirementStatus::Resolved)
        }
        "@open_match" => {
            newest(world, |one: &ReconciliationMatch| one.status == MatchStatus::Exception)
        }
        "@newest_offer" => newest(world, |_: &Offer| true),
        "@newest_loan" => newest(world, |_: &Loan| true),
        "@settlement" => {
            let mut loans = world.created::<Loan>().rev();
            let newest = loans.find_map(|id| world.find(id));
            let settlement = newest.map(|loan| loan.settlement(world.today()));
            return Ok(Some(settlement.into()));
        }
        "@disputed" => newest(world, |one: &Dispute| one.status == DisputeStatus::NeedsResponse),
        "@newest_subject" => newest(world, |_: &Subject| true),
        "@newest_alert" => newest(world, |_: &AmlAlert| true),
        other => return Ok(part_of(world, other).map(Value::String)),
    };
    Ok(Some(Value::String(found)))
}

/// A part of something that a payroll left behind.
fn part_of(world: &World, name: &str) -> Option<String> {
    let paid = || newest_item(world, ItemStatus::Paid);
    let unpaid = || newest_item(world, ItemStatus::Failed);
    let owed = || newest_owed(world);
    match name {
        "@paid_company" => paid().map(|item| item.company_id.to_string()),
        "@paid_period" => paid().map(|item| item.period.to_string()),
        "@paid_employee" => paid().map(|item| item.employee_id.to_string()),
        "@unpaid_run" => unpaid().map(|item| item.payroll_run_id.to_string()),
        "@unpaid_item" => unpaid().map(|item| item.id.to_string()),
        "@owing_company" => owed().map(|owed| owed.company_id.to_string()),
        "@owed_authority" => owed().map(|owed| owed.authority.clone()),
        "@owed_period" => owed().map(|owed| owed.period.to_string()),
        "@owed_country" => owed().map(|owed| owed.jurisdiction.clone()),
        _ => None,
    }
}

/// The id of the newest resource that is so; no id where none is.
fn newest<T: Grow>(world: &World, is_so: impl Fn(&T) -> bool) -> String {
    let mut all = world.created::<T>().rev();
    let found = all.find(|id| world.find(*id).is_some_and(|one| is_so(&one)));
    found.map_or_else(String::new, |id| id.to_string())
}

/// The newest liability that no return holds.
fn newest_owed(world: &World) -> Option<Arc<TaxLiability>> {
    let mut liabilities = world.created::<TaxLiability>().rev();
    liabilities.find_map(|id| {
        world.find(id).filter(|liability| {
            let over = matches!(liability.status, LiabilityStatus::Paid | LiabilityStatus::Void);
            !over && liability.tax_filing_id.is_none()
        })
    })
}

/// Days to come among which one is chosen.
const DAYS: u64 = 10_000;

/// A day to come that no earlier trigger has taken, as far as the log is shorter than that many events.
fn free_day(world: &World) -> Date {
    let ahead = i32::try_from(world.log_length() % DAYS + 1).unwrap_or(1);
    world.today().plus_days(ahead)
}

fn call(
    world: &mut World,
    name: &str,
    input: Value,
    outcomes: Vec<OutcomeRule>,
    origin: &Arc<RequestRef>,
) -> Result<String, ApiError> {
    let row = product().find(|row| row.name == name);
    let row = row.expect("a recipe calls a row of the table");
    row.check(&input)?;
    let reply: Reply = system::perform(world, row, Arc::clone(origin), outcomes, input)?;
    Ok(reply.id.unwrap_or_default())
}

/// Periods that are tried for a run: a year and a half beyond the world's date.
const PERIODS: u64 = 18;

fn payroll(
    world: &mut World,
    outcomes: &[(&'static str, &'static str)],
    last: &str,
    own: Map<String, Value>,
    origin: &Arc<RequestRef>,
) -> Result<String, ApiError> {
    let prepared = parse(Kind::Company.prefix(), last).map(Id::from_bits);
    let (company, employees) = payable(world, 2, prepared)?;
    let outcomes: Vec<OutcomeRule> = (0..)
        .zip(outcomes)
        .map(|(place, &(on, then))| outcome(on, then, &employees, place))
        .collect();
    let mut period = world.today().period();
    for _ in 0..PERIODS {
        let mut input = json!({
            "company_id": company,
            "period": period,
            "employees": employees,
        });
        if let Some(members) = input.as_object_mut() {
            members.extend(own.clone());
        }
        let made = call(world, "run_payroll", input, outcomes.clone(), origin);
        match made {
            Err(error)
                if error.code == ErrorCode::PayrollPeriodAlreadyRun
                    && !own.contains_key("period") =>
            {
                period = period.plus_months(1);
            }
            made => return made,
        }
    }
    let detail = format!(
        "{company} has runs for the next {PERIODS} months: advance the clock, or name a period"
    );
    Err(ApiError::new(ErrorCode::PayrollPeriodAlreadyRun, detail))
}

/// About a payout it is about that of one employee; about a run it is about the run.
fn outcome(
    on: &'static str,
    then: &'static str,
    employees: &[Id<Employee>],
    place: usize,
) -> OutcomeRule {
    let select = (on == "payout.settle").then(|| Selector {
        field: Kind::Employee.name().to_owned(),
        wanted: Wanted::Is(employees[place].to_string().into()),
    });
    OutcomeRule {
        on: on.into(),
        when: When { select: select.into_iter().collect(), ..When::default() },
        then: then.into(),
        code: None,
        after: None,
        source: "trigger".to_owned(),
    }
}

/// People looked at in each company: of its first ones some can always be paid, unless a test has used them up.
const LOOKED_AT: u64 = 100;

/// A company that may pay without asking anyone, or that very one, and so many of its employees who can be paid.
fn payable(
    world: &World,
    people: usize,
    prepared: Option<Id<Company>>,
) -> Result<(Id<Company>, Vec<Id<Employee>>), ApiError> {
    let size = world.base().shape().employees_per_company;
    for index in 0..world.base().shape().companies.min(LOOKED_AT) {
        let active = world.at::<Company>(index).filter(|company| {
            company.status == CompanyStatus::Active
                && prepared
                    .map_or(!company.payroll_settings.approval_required, |id| id == company.id)
        });
        let Some(company) = active else { continue };
        let employees: Vec<Id<Employee>> = (0..size.min(LOOKED_AT))
            .filter_map(|number| world.at::<Employee>(index * size + number))
            .filter(|employee| {
                employee.status == EmployeeStatus::Active && employee.not_payable().is_none()
            })
            .map(|employee| employee.id)
            .take(people)
            .collect();
        if employees.len() == people {
            return Ok((company.id, employees));
        }
    }
    let detail =
        "no company of this world has people enough who can be paid: reset it, or verify some";
    Err(ApiError::new(ErrorCode::EmployeeNotPayable, detail))
}

/// The refusal that says which call to make, or which types there are.
fn no_recipe(name: &str) -> ApiError {
    let rows = || product().chain(control());
    let causes: Vec<String> = rows()
        .filter(|row| system::events_of(row).contains(&name))
        .map(|row| format!("{} ({} {})", row.operation_id(), row.method.name(), row.path))
        .collect();
    let detail = if causes.is_empty() {
        let known = system::event_types();
        let near = suggestion(name, known.iter().copied());
        format!("no event has the type {name:?}{near}; there are {}", known.join(", "))
    } else {
        format!("{name} needs something of yours: call {}", causes.join(" or "))
    };
    ApiError::invalid(vec![Violation::new("/type", "no_recipe", detail)])
}
