//! Payroll runs: the published call (specification, §4.1), lists, one run, its items.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::api::business::companies::{blockers, named};
use crate::api::crud::{Candidates, Paging, Sort, SortKey, Sortable, is, show};
use crate::api::operation::{Contract, Domain, Method, Operation, operation};
use crate::api::reply::{Data, List, Shown};
use crate::model::business::company::{Company, CompanyStatus};
use crate::model::business::employee::Employee;
use crate::model::business::payroll_item::{ItemStatus, PayrollItem};
use crate::model::business::payroll_run::{PayrollRun, RunStatus, RunType, Settlement};
use crate::model::decision::RUN_CALCULATE;
use crate::model::growth::workforce::{Selection, standings};
use crate::model::lifecycle::{State, StatusChange};
use crate::model::task::Task;
use crate::model::{AnyId, Kind, Object};
use crate::value::error::{ApiError, ErrorCode, Violation};
use crate::value::id::Id;
use crate::value::text::Metadata;
use crate::value::time::{Date, Period, Span};
use crate::world::World;

/// From the call to the calculated run.
const CALCULATION: Span = Span::seconds(2);
/// The same, where the outside world takes its time.
const LATE_CALCULATION: Span = Span::seconds(10 * 60);
/// Employees that one run may hold: beyond it a run would keep its world busy for longer than a call may take.
const MOST_EMPLOYEES: usize = 100_000;

pub(crate) const OPERATIONS: &[Operation] = &[
    Operation {
        method: Method::Post,
        path: "/v1/payroll/run",
        domain: Domain::Business,
        contract: Contract::Published,
        summary: "Run payroll",
        description: "Creates, calculates, approves and submits one regular run. Without `employees` it includes everyone payable; an \
            employee is in at most one regular run a period. Path, method, headers and members are those of the specification; the \
            answer is assumed. It shows the accepted state: what follows comes with the clock.",
        example: r#"{"company_id":"@company:1","period":"2026-01"}"#,
        success: 201,
        errors: &[
            ErrorCode::EmployeeNotPayable,
            ErrorCode::PayrollPeriodAlreadyRun,
            ErrorCode::ComplianceBlocked,
            ErrorCode::CompanySuspended,
        ],
        emits: &["payroll_run.created"],
        starts: &["calculate_run"],
        ..operation!(write run_payroll)
    },
    Operation {
        method: Method::Get,
        path: "/api/business/payroll-runs",
        domain: Domain::Business,
        contract: Contract::Assumed,
        summary: "List payroll runs",
        description: "In creation order; the first are the twelve months before the world's start.",
        ..operation!(read list_payroll_runs)
    },
    Operation {
        method: Method::Get,
        path: "/api/business/payroll-runs/{payroll_run_id}",
        domain: Domain::Business,
        contract: Contract::Assumed,
        summary: "Read a payroll run",
        description: "Totals, funding, blockers and every status it had.",
        ..operation!(read get_payroll_run)
    },
    Operation {
        method: Method::Get,
        path: "/api/business/payroll-runs/{payroll_run_id}/items",
        domain: Domain::Business,
        contract: Contract::Assumed,
        summary: "List a run's items",
        description: "One line an employee, with its payout and, where it failed, why.",
        ..operation!(read list_payroll_items)
    },
];

/// What the specification shows of a run (§4.1).
#[derive(Deserialize, JsonSchema)]
pub(crate) struct RunPayroll {
    /// Company whose payroll is run.
    company_id: Id<Company>,
    /// Payroll period, year and month.
    period: Period,
    /// Identifiers of the employees included; everyone payable if absent.
    // Null is not leaving out: a client's empty variable is not to pay the whole company.
    #[serde(default)]
    #[schemars(
        with = "Vec<Id<Employee>>",
        length(min = 1, max = MOST_EMPLOYEES),
        extend("uniqueItems" = true)
    )]
    employees: Option<Vec<Id<Employee>>>,
}

fn run_payroll(world: &mut World, input: RunPayroll) -> Result<Data<Shown<PayrollRun>>, ApiError> {
    let company = named(world, input.company_id)?;
    let chosen = input
        .employees
        .as_deref()
        .map(|ids| found(world, ids))
        .transpose()?;
    may_pay(world, &company)?;
    let named = chosen.is_some();
    let employees = match chosen {
        Some(employees) => payable(&company, employees)?,
        None => everyone_payable(world, &company)?,
    };
    not_yet_run(world, &company, input.period, &employees, named)?;
    let now = world.now();
    let run = Arc::new(PayrollRun {
        id: world.next_id(company.id.bits()),
        object: Object::NAME,
        company_id: company.id,
        period: input.period,
        kind: RunType::Regular,
        status: RunStatus::Calculating,
        employee_count: employees.len() as u64,
        employees,
        pay_date: pay_date(world, &company, input.period),
        currency: company.currency,
        totals: None,
        funding: None,
        settlement: Settlement::default(),
        blockers: Vec::new(),
        created_at: now,
        updated_at: now,
        metadata: Metadata::default(),
        status_history: vec![StatusChange::plain(RunStatus::Calculating, now)],
    });
    world.put(&run);
    let answer = world.decide(&RUN_CALCULATE, AnyId::of(run.id), None);
    let late = (answer.choice == "delayed").then(|| answer.after.unwrap_or(LATE_CALCULATION));
    world.settle_when(CALCULATION, late, Task::CalculateRun(run.id));
    world.emit("payroll_run.created", &run);
    Ok(Data(Shown(run)))
}

/// Every employee that the body names, or the 404 that lists those nobody has.
fn found(world: &World, ids: &[Id<Employee>]) -> Result<Vec<Arc<Employee>>, ApiError> {
    let (mut employees, mut missing) = (Vec::with_capacity(ids.len()), Vec::new());
    for (place, id) in ids.iter().enumerate() {
        match world.find(*id) {
            Some(employee) => employees.push(employee),
            None => missing.push(Violation::new(
                pointer(place),
                "not_found",
                "no employee of this key's world has this id",
            )),
        }
    }
    if missing.is_empty() {
        return Ok(employees);
    }
    let detail = format!(
        "{} of the {} employees do not exist",
        missing.len(),
        ids.len()
    );
    Err(ApiError::new(ErrorCode::ResourceNotFound, detail).with_errors(missing))
}

fn pointer(place: usize) -> String {
    format!("/employees/{place}")
}

/// Only an active company without blocking requirements pays anyone.
pub(crate) fn may_pay(world: &World, company: &Company) -> Result<(), ApiError> {
    let refusal = |code, detail: String| Err(ApiError::new(code, detail).about(company.id));
    match company.status {
        CompanyStatus::Active => {}
        CompanyStatus::Suspended => {
            return refusal(
                ErrorCode::CompanySuspended,
                "the company is suspended".to_owned(),
            );
        }
        status => {
            let open: Vec<String> = blockers(world, company.id)
                .map(|blocker| blocker.description.clone())
                .collect();
            let what = if open.is_empty() {
                "it must be active".to_owned()
            } else {
                open.join("; ")
            };
            return refusal(
                ErrorCode::ComplianceBlocked,
                format!("the company is {}: {what}", status.name()),
            );
        }
    }
    let open: Vec<String> = blockers(world, company.id)
        .map(|blocker| blocker.description.clone())
        .collect();
    if open.is_empty() {
        return Ok(());
    }
    refusal(
        ErrorCode::ComplianceBlocked,
        format!("open requirements: {}", open.join("; ")),
    )
}

/// The named employees, all of this company and payable. Foreign ones are named before those not payable: they are a
/// mistake of the request and not of the world.
fn payable(
    company: &Company,
    employees: Vec<Arc<Employee>>,
) -> Result<Vec<Id<Employee>>, ApiError> {
    let places = || (0..).zip(&employees);
    let foreign = places()
        .filter(|(_, employee)| employee.company_id != company.id)
        .map(|(place, employee)| {
            let detail = format!(
                "{} is employed by {}, not by {}",
                employee.id, employee.company_id, company.id
            );
            Violation::new(pointer(place), "foreign_employee", detail)
        });
    let foreign: Vec<Violation> = foreign.collect();
    if !foreign.is_empty() {
        return Err(ApiError::invalid(foreign));
    }
    let refused: Vec<Violation> = places()
        .filter_map(|(place, employee)| {
            let why = employee.not_payable()?;
            Some(Violation::new(
                pointer(place),
                "not_payable",
                format!("{}: {why}", employee.id),
            ))
        })
        .collect();
    if refused.is_empty() {
        return Ok(employees.iter().map(|employee| employee.id).collect());
    }
    let detail = format!(
        "{} of the {} employees cannot be paid",
        refused.len(),
        employees.len()
    );
    Err(ApiError::new(ErrorCode::EmployeeNotPayable, detail).with_errors(refused))
}

/// Everyone of the company who can be paid, in creation order.
fn everyone_payable(world: &World, company: &Company) -> Result<Vec<Id<Employee>>, ApiError> {
    let mut payable: Vec<Id<Employee>> = Vec::new();
    if let Some(index) = world.base().index_of(company.id) {
        let (base, plan) = (world.base(), world.base().plan(index));
        let size = base.shape().employees_per_company;
        let verified = |status, payroll| {
            use crate::model::business::employee::{EmployeeStatus, PayrollStatus};
            matches!(status, EmployeeStatus::Active | EmployeeStatus::OnLeave)
                && payroll == PayrollStatus::Verified
        };
        let selection = Selection {
            standings: standings(verified),
            ..Selection::ALL
        };
        if plan.workforce.count(selection) > MOST_EMPLOYEES as u64 {
            return Err(too_many());
        }
        let changed: Vec<u64> = world.changed::<Employee>().collect();
        for number in 0..size {
            let person = index * size + number;
            let can_be_paid = match changed.binary_search(&person) {
                Ok(_) => world
                    .at::<Employee>(person)
                    .is_some_and(|employee| employee.not_payable().is_none()),
                Err(_) => plan.workforce.chooses(selection, number),
            };
            if can_be_paid {
                payable.push(base.id_at(person));
            }
        }
    }
    let created = world
        .children::<Employee>(company.id.bits())
        .filter_map(|id| world.find(id));
    payable.extend(
        created
            .filter(|employee| employee.not_payable().is_none())
            .map(|employee| employee.id),
    );
    match payable.len() {
        0 => Err(ApiError::new(
            ErrorCode::EmployeeNotPayable,
            "no employee of the company can be paid",
        )
        .about(company.id)),
        1..=MOST_EMPLOYEES => Ok(payable),
        _ => Err(too_many()),
    }
}

fn too_many() -> ApiError {
    let detail =
        format!("more than {MOST_EMPLOYEES} employees would be paid: name those of this run");
    ApiError::invalid(vec![Violation::new("/employees", "too_many", detail)])
}

/// An employee is in at most one regular run a period; a cancelled or failed one does not count.
fn not_yet_run(
    world: &World,
    company: &Company,
    period: Period,
    employees: &[Id<Employee>],
    named: bool,
) -> Result<(), ApiError> {
    // Nobody was named in a body without `employees`: what is wrong there is the period.
    let at = |place| {
        if named {
            pointer(place)
        } else {
            "/period".to_owned()
        }
    };
    let earlier = EarlierRuns::of(world, company.id, period);
    let again: Vec<Violation> = (0..)
        .zip(employees)
        .filter_map(|(place, id)| {
            let run = earlier.run_with(world, *id)?;
            Some(Violation::new(
                at(place),
                "already_run",
                format!("{id} is in run {run} of {period}"),
            ))
        })
        .collect();
    if again.is_empty() {
        return Ok(());
    }
    let detail = format!(
        "{} of the {} employees already have a regular run in {period}",
        again.len(),
        employees.len()
    );
    let run = employees
        .iter()
        .find_map(|id| earlier.run_with(world, *id))
        .expect("some employee is in one");
    let error = ApiError::new(ErrorCode::PayrollPeriodAlreadyRun, detail);
    Err(error.with_errors(again).about(run))
}

fn counts(run: &PayrollRun) -> bool {
    run.kind == RunType::Regular
        && !matches!(
            run.status,
            RunStatus::Cancelled | RunStatus::Failed | RunStatus::Reversed
        )
}

/// Who of a company already has a regular run in a period.
struct EarlierRuns {
    /// The run of the months before the world's start, which names nobody if it is large: who was in it is arithmetic.
    grown: Option<(Id<PayrollRun>, u64)>,
    since: BTreeMap<Id<Employee>, Id<PayrollRun>>,
}

impl EarlierRuns {
    fn of(world: &World, company: Id<Company>, period: Period) -> Self {
        let base = world.base();
        let place = base.month_of(period).zip(base.index_of(company));
        let grown = place.and_then(|(month, company)| {
            let run: Arc<PayrollRun> = world.at(base.run(month, company))?;
            counts(&run).then_some((run.id, company))
        });
        let runs = world
            .children::<PayrollRun>(company.bits())
            .filter_map(|id| world.find(id));
        let mut since = BTreeMap::new();
        for run in runs.filter(|run| run.period == period && counts(run)) {
            since.extend(run.employees.iter().map(|id| (*id, run.id)));
        }
        Self { grown, since }
    }

    /// The run that the employee is in.
    fn run_with(&self, world: &World, employee: Id<Employee>) -> Option<Id<PayrollRun>> {
        let base = world.base();
        let in_history = || {
            let (run, company) = self.grown?;
            let index = base.index_of(employee)?;
            let number = index.checked_sub(company * base.shape().employees_per_company)?;
            let workforce = base.plan(company).workforce;
            workforce
                .chooses(Selection::PAID_IN_HISTORY, number)
                .then_some(run)
        };
        self.since.get(&employee).copied().or_else(in_history)
    }
}

/// The company's pay day of the period, or, where that has passed, the next day on which the cut-off can be met.
fn pay_date(world: &World, company: &Company, period: Period) -> Date {
    let calendar = world.calendar_of(company.id);
    let due = period.day(company.payroll_settings.pay_day);
    let due = calendar.or_business_day_before(due);
    due.max(calendar.open_day(world.now()))
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct ListPayrollRuns {
    #[serde(flatten)]
    paging: Paging,
    sort: Option<Sort<PayrollRun>>,
    /// Only those of that company.
    company_id: Option<Id<Company>>,
    /// Only those of that month.
    period: Option<Period>,
    /// Only those that stand there.
    status: Option<RunStatus>,
    /// Only those of that kind.
    #[serde(rename = "type")]
    kind: Option<RunType>,
}

impl Sortable for PayrollRun {
    const KEYS: &'static [(&'static str, fn(&Self) -> SortKey)] = &[
        ("created_at", |run| SortKey::Number(run.created_at.millis())),
        ("period", |run| SortKey::Text(run.period.to_string())),
        ("pay_date", |run| SortKey::Text(run.pay_date.to_string())),
    ];
}

fn list_payroll_runs(
    world: &World,
    input: ListPayrollRuns,
) -> Result<List<Shown<PayrollRun>>, ApiError> {
    let base = world.base();
    let months = Months::of(world, input.period);
    let candidates = if let Some(company) = input.company_id {
        let index = base.index_of(company);
        let grown = if index.is_some() {
            months.count().min(base.count(Kind::PayrollRun))
        } else {
            0
        };
        let find = move |rank| Some(base.run(months.first + rank, index?));
        Candidates::new(grown, find, world.children(company.bits()))
    } else {
        let companies = base.shape().companies;
        let find = move |rank| Some(months.first * companies + rank);
        let grown = (months.count() * companies).min(base.count(Kind::PayrollRun));
        Candidates::new(grown, find, world.created())
    };
    if input.period.is_none() && input.status.is_none() && input.kind.is_none() {
        return candidates.page(world, input.paging, input.sort.as_ref());
    }
    let keep = |run: &PayrollRun| {
        is(input.period.as_ref(), &run.period)
            && is(input.status.as_ref(), &run.status)
            && is(input.kind.as_ref(), &run.kind)
    };
    candidates.page_where(world, input.paging, input.sort.as_ref(), keep)
}

/// Months of history that a filter by period leaves.
#[derive(Clone, Copy)]
pub(crate) struct Months {
    pub(crate) first: u64,
    pub(crate) end: u64,
}

impl Months {
    pub(crate) fn of(world: &World, period: Option<Period>) -> Self {
        match period.map(|period| world.base().month_of(period)) {
            None => Self {
                first: 0,
                end: crate::world::base::HISTORY_MONTHS,
            },
            Some(Some(month)) => Self {
                first: month,
                end: month + 1,
            },
            Some(None) => Self { first: 0, end: 0 },
        }
    }

    pub(crate) const fn count(self) -> u64 {
        self.end - self.first
    }
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct OnePayrollRun {
    /// The run.
    payroll_run_id: Id<PayrollRun>,
}

fn get_payroll_run(
    world: &World,
    input: OnePayrollRun,
) -> Result<Data<Shown<PayrollRun>>, ApiError> {
    show(world, input.payroll_run_id)
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct ListPayrollItems {
    #[serde(flatten)]
    paging: Paging,
    sort: Option<Sort<PayrollItem>>,
    /// The run.
    payroll_run_id: Id<PayrollRun>,
    /// Only those that stand there.
    status: Option<ItemStatus>,
    /// Only that employee's.
    employee_id: Option<Id<Employee>>,
}

impl Sortable for PayrollItem {
    const KEYS: &'static [(&'static str, fn(&Self) -> SortKey)] = &[
        ("created_at", |item| {
            SortKey::Number(item.created_at.millis())
        }),
        ("employee_name", |item| {
            SortKey::Text(item.employee_name.to_string())
        }),
        ("net", |item| SortKey::Number(item.calculation.net)),
    ];
}

fn list_payroll_items(
    world: &World,
    input: ListPayrollItems,
) -> Result<List<Shown<PayrollItem>>, ApiError> {
    world.get(input.payroll_run_id)?;
    let base = world.base();
    let created = world.children::<PayrollItem>(input.payroll_run_id.bits());
    let candidates = match base.index_of(input.payroll_run_id) {
        None => Candidates::new(0, |_| None, created),
        Some(run) => {
            let workforce = base.plan(base.run_place(run).1).workforce;
            let find =
                move |rank| Some(base.item(run, workforce.find(Selection::PAID_IN_HISTORY, rank)?));
            Candidates::new(workforce.count(Selection::PAID_IN_HISTORY), find, created)
        }
    };
    if input.status.is_none() && input.employee_id.is_none() {
        return candidates.page(world, input.paging, input.sort.as_ref());
    }
    let keep = |item: &PayrollItem| {
        is(input.status.as_ref(), &item.status) && is(input.employee_id.as_ref(), &item.employee_id)
    };
    candidates.page_where(world, input.paging, input.sort.as_ref(), keep)
}
