//! Payroll runs: the published call (specification, §4.1), lists, one run, its items.

use crate::api::business::pay_periods::{NewRun, due_on, first_day_to_pay};
use crate::api::business::payroll_people::{MOST_EMPLOYEES, Wanted, found, may_pay};
use crate::api::pay_history::pays;
use crate::api::prelude::*;
use crate::model::business::{
    ItemStatus, PaySpan, PayrollItem, PayrollRun, RunStatus, RunType, Settlement,
};
use crate::model::decision::RUN_CALCULATE;
use crate::world::pay_calendar::Payers;

/// From the call to the calculated run.
pub(crate) const CALCULATION: Span = Span::seconds(2);
/// The duration of a delayed calculation.
const LATE_CALCULATION: Span = Span::seconds(10 * 60);

pub(crate) const OPERATIONS: &[Operation] = &Domain::Business.table([
    Operation {
        path: "/v1/payroll/run",
        contract: Contract::Published,
        summary: "Run payroll",
        description: "Creates, calculates, approves and submits one regular run. Without \
            `employees` it includes all payable employees. An employee can be in at most one \
            regular run per pay period. A run pays at most 100,000 employees. The path, method, \
            headers and members are as specified; the response is assumed. The response shows the \
            accepted run. The later steps happen when the clock moves.",
        example: r#"{"company_id":"@company:1","period":"2026-01"}"#,
        success: 201,
        errors: &[
            ErrorCode::EmployeeNotPayable,
            ErrorCode::PayrollPeriodAlreadyRun,
            ErrorCode::ComplianceBlocked,
            ErrorCode::CompanySuspended,
        ],
        emits: &["payroll_run.created"],
        starts: &[TaskKind::CalculateRun],
        long: true,
        ..operation!(write run_payroll)
    },
    Operation {
        path: "/api/business/payroll-runs",
        summary: "List payroll runs",
        description: "Lists runs, newest first, including those of the twelve months before the \
            world's start.",
        ..operation!(read list_payroll_runs)
    },
    Operation {
        path: "/api/business/payroll-runs/{payroll_run_id}",
        summary: "Read a payroll run",
        description: "Returns a run with its totals, funding, blockers, warnings and status \
            history. `expand=items` adds its items.",
        long: true,
        ..operation!(read get_payroll_run)
    },
    Operation {
        path: "/api/business/payroll-runs/{payroll_run_id}/items",
        summary: "List a run's items",
        description: "Lists one item per employee, with its payout and the reason for a failure.",
        long: true,
        ..operation!(read list_payroll_items)
    },
]);

/// The members of a run in the specification (§4.1).
#[derive(Deserialize, JsonSchema)]
pub(crate) struct RunPayroll {
    /// Company whose payroll is run.
    company_id: Id<Company>,
    /// Payroll period, year and month.
    period: Period,
    /// Identifiers of the employees included. Default: all payable employees.
    // Null is not the same as absent: an empty variable in a client must not pay the whole company.
    #[serde(default)]
    #[schemars(
        with = "Vec<Id<Employee>>",
        length(min = 1, max = MOST_EMPLOYEES),
        extend("uniqueItems" = true)
    )]
    employees: Option<Vec<Id<Employee>>>,
}

fn run_payroll(world: &mut World, input: RunPayroll) -> Result<Single<PayrollRun>> {
    let company = existing(world, input.company_id, "/company_id")?;
    let chosen = input.employees.as_deref();
    let chosen = chosen.map(|ids| found(world, "employees", ids)).transpose()?;
    may_pay(world, &company)?;
    let new = NewRun {
        company: &company,
        month: input.period,
        kind: RunType::Regular,
        member: "employees",
        named: chosen.is_some(),
        pay_date: None,
    };
    let (wanted, employees) = new.with_employees(world, |wanted| match &chosen {
        Some(employees) => wanted.payable(employees),
        None => wanted.everyone(world),
    })?;
    Ok(Data(Shown(submit(world, &wanted, employees))))
}

/// A run without further calls: it is calculated, approved if no approval is required, funded and paid.
pub(crate) fn submit(
    world: &mut World,
    wanted: &Wanted<'_>,
    employees: Vec<Id<Employee>>,
) -> Arc<PayrollRun> {
    let run = PayrollRun {
        status: RunStatus::Calculating,
        status_history: [StatusChange::plain(RunStatus::Calculating, world.now())].into(),
        ..new_run(world, wanted, employees)
    };
    let run = world.stage(run);
    let answer = world.decide(&RUN_CALCULATE, AnyId::of(run.id), None);
    let late = (answer.choice == "delayed").then(|| answer.after.unwrap_or(LATE_CALCULATION));
    world.settle_when(CALCULATION, late, Task::CalculateRun(run.id));
    world.emit("payroll_run.created", &run);
    run
}

/// A draft run for these employees.
pub(crate) fn new_run(
    world: &World,
    wanted: &Wanted<'_>,
    employees: Vec<Id<Employee>>,
) -> PayrollRun {
    let (company, now) = (wanted.company, world.now());
    PayrollRun {
        id: world.next_id(company.id.bits()),
        object: Object::NAME,
        company_id: company.id,
        period: wanted.span.period(),
        pay_period: wanted.span.beside_its_month(),
        kind: wanted.kind,
        status: RunStatus::Draft,
        employee_count: employees.len() as u64,
        employees: Arc::new(employees),
        pay_date: pay_date(world, company, wanted.span),
        currency: company.currency,
        totals: None,
        funding: None,
        settlement: Settlement::default(),
        blockers: Vec::new(),
        warnings: Arc::default(),
        inputs: Arc::default(),
        notes: None,
        reverses: None,
        reversed_by: Vec::new(),
        created_at: now,
        updated_at: now,
        metadata: Metadata::default(),
        status_history: [StatusChange::plain(RunStatus::Draft, now)].into(),
    }
}

/// The company's pay day of the period or, if that has passed, the next day whose cut-off is in the future.
fn pay_date(world: &World, company: &Company, span: PaySpan) -> Date {
    due_on(world, company, span).max(first_day_to_pay(world, company))
}

list! {
    fn list_payroll_runs(ListPayrollRuns) -> PayrollRun,
        from |world, input| runs(world, input.company_id, input.period), of company_id;
    filter
        company_id: Id<Company>,
        /// Filter by month.
        period: Period,
        status: RunStatus,
        kind as "type": RunType;
    sort created_at, period, pay_date;
    newest first;
}

/// Runs of companies and months before the world's start, then those created since.
fn runs(
    world: &World,
    company: Option<Id<Company>>,
    period: Option<Period>,
) -> Candidates<'_, PayrollRun> {
    let base = world.base();
    let companies = match company {
        None => 0..base.shape().companies,
        Some(company) => base.index_of(company).map_or(0..0, |index| index..index + 1),
    };
    let pays = if base.count(Kind::PayrollRun) == 0 {
        Vec::new()
    } else {
        pays(world, period, |times| times.created)
    };
    let payers: Vec<(u64, Payers)> = pays
        .into_iter()
        .map(|pay| {
            let frequency = base.pay(pay).span.frequency;
            (pay, base.payers(|it| it == frequency, companies.clone()))
        })
        .collect();
    let grown = payers.iter().map(|(_, payers)| payers.count).sum();
    let find = move |rank| {
        let mut rank = rank;
        for (pay, payers) in &payers {
            match payers.at(rank) {
                Some(company) => return Some(base.run(*pay, company)),
                None => rank -= payers.count,
            }
        }
        None
    };
    match company {
        Some(company) => Candidates::new(grown, find, world.children(company.bits())),
        None => Candidates::new(grown, find, world.created()),
    }
}

/// The runs before the world's start of a grown company, in order.
pub(crate) fn grown_runs(
    world: &World,
    company: Id<Company>,
) -> impl Iterator<Item = Arc<PayrollRun>> + '_ {
    let base = world.base();
    let index = base.index_of(company);
    let runs = index
        .into_iter()
        .flat_map(move |index| base.plan(index).pays.pays().map(move |pay| base.run(pay, index)));
    runs.filter_map(|run| world.at::<PayrollRun>(run))
}

/// Months of history that a filter by period selects.
#[derive(Clone, Copy)]
pub(crate) struct Months {
    pub(crate) first: u64,
    pub(crate) end: u64,
}

impl Months {
    pub(crate) fn of(world: &World, period: Option<Period>) -> Self {
        match period.map(|period| world.base().month_of(period)) {
            None => Self { first: 0, end: crate::world::HISTORY_MONTHS },
            Some(Some(month)) => Self { first: month, end: month + 1 },
            Some(None) => Self { first: 0, end: 0 },
        }
    }
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct GetPayrollRun {
    /// The run.
    payroll_run_id: Id<PayrollRun>,
    /// Related data to include.
    expand: Option<Expand>,
}

/// Related data that can be included with a run.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "ExpandPayrollRun")]
enum Expand {
    /// The items, for a run of at most 1,000 employees.
    Items,
}

/// A run, with its items if requested.
#[derive(Serialize, JsonSchema)]
pub(crate) struct RunWithItems {
    #[serde(flatten)]
    run: PayrollRun,
    /// One item per employee, with `expand=items`.
    #[serde(skip_serializing_if = "Option::is_none")]
    items: Option<Vec<Shown<PayrollItem>>>,
}

impl Identified for RunWithItems {
    fn id_text(&self) -> Option<String> {
        Some(self.run.id.to_string())
    }
}

/// Maximum number of employees of a run that is shown with its items.
const MOST_EXPANDED: u64 = 1_000;

fn get_payroll_run(world: &World, input: GetPayrollRun) -> Result<Data<RunWithItems>> {
    let run = (*world.get(input.payroll_run_id)?).clone();
    if input.expand.is_some() && run.employee_count > MOST_EXPANDED {
        let detail = format!(
            "the run has {} items, and expand=items supports at most {MOST_EXPANDED}: use \
                listPayrollItems",
            run.employee_count
        );
        return Err(ApiError::of_member("/expand", "too_many", detail));
    }
    let items = input.expand.map(|Expand::Items| {
        let items = items_of(world, run.id).every(world);
        items.into_iter().map(Shown).collect()
    });
    Ok(Data(RunWithItems { run, items }))
}

/// The items of a run: grown items, found by calculation, and created ones.
pub(crate) fn items_of(world: &World, run: Id<PayrollRun>) -> Candidates<'_, PayrollItem> {
    let base = world.base();
    let created = world.children::<PayrollItem>(run.bits());
    match base.index_of(run) {
        None => Candidates::new(0, |_| None, created),
        Some(run) => {
            let (pay, company) = base.run_place(run);
            let paid = base.plan(company).paid_in(pay);
            let find = move |rank| Some(base.item(run, paid.find(rank)?));
            Candidates::new(paid.count(), find, created)
        }
    }
}

list! {
    struct ListPayrollItems of PayrollItem;
    in
        /// The run.
        payroll_run_id: Id<PayrollRun>;
    filter status: ItemStatus, employee_id: Id<Employee>;
    sort created_at, employee_name, net = calculation.net;
}

fn list_payroll_items(world: &World, input: ListPayrollItems) -> Result<List<Shown<PayrollItem>>> {
    world.get(input.payroll_run_id)?;
    select(world, &input, items_of(world, input.payroll_run_id))
}
