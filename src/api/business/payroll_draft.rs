//! Drafts of payroll runs: made, edited, calculated. Nothing of a draft is in the books.

use std::collections::BTreeSet;

use crate::api::business::companies::named;
use crate::api::business::pay_terms::{AllowanceInput, DeductionInput, allowances, deductions};
use crate::api::business::payroll::{CALCULATION, first_day_to_pay, new_run};
use crate::api::business::payroll_people::{MOST_EMPLOYEES, Wanted};
use crate::api::prelude::*;
use crate::model::business::{
    Allowance, Employee, PayLine, PayrollRun, RunInput, RunStatus, RunType,
};
use crate::model::{refused, step};

pub(crate) const OPERATIONS: &[Operation] = &[
    Operation {
        method: Method::Post,
        path: "/api/business/payroll-runs",
        domain: Domain::Business,
        contract: Contract::Assumed,
        summary: "Draft a payroll run",
        description: "`regular` pays everybody's terms, once a period; `off_cycle` and `correction` pay only what `updatePayrollRun` \
            says beside them; `termination` pays those who leave what no other run of the month has paid. Nobody named: everyone \
            payable in a regular run, nobody yet in the others. Calculate it, look, then approve it.",
        example: r#"{"company_id":"@company:2","period":"2026-01","type":"off_cycle","employee_ids":["@employee:27"],"notes":"Bonuses of the year"}"#,
        success: 201,
        errors: &[
            ErrorCode::EmployeeNotPayable,
            ErrorCode::PayrollPeriodAlreadyRun,
            ErrorCode::CutoffPassed,
        ],
        emits: &["payroll_run.created"],
        ..operation!(write create_payroll_run)
    },
    Operation {
        method: Method::Patch,
        path: "/api/business/payroll-runs/{payroll_run_id}",
        domain: Domain::Business,
        contract: Contract::Assumed,
        summary: "Edit a drafted payroll run",
        description: "What is sent is replaced. `items` says what single employees are paid or not paid beside their terms, each entry \
            in the place of the one before; one who is not in the run yet joins it. A calculated run is a draft again, without \
            totals.",
        example: r#"{"items":[{"employee_id":"@employee:27","earnings":[{"label":"Bonus","amount":5000000}]}]}"#,
        errors: &[
            ErrorCode::InvalidStateTransition,
            ErrorCode::EmployeeNotPayable,
            ErrorCode::PayrollPeriodAlreadyRun,
            ErrorCode::CutoffPassed,
        ],
        emits: &["payroll_run.updated"],
        ..operation!(write update_payroll_run)
    },
    Operation {
        method: Method::Post,
        path: "/api/business/payroll-runs/{payroll_run_id}/calculate",
        domain: Domain::Business,
        contract: Contract::Assumed,
        summary: "Calculate a drafted payroll run",
        description: "Gross to net of everybody in it, two seconds later: totals, items and `warnings`. Nothing is posted. Whoever can \
            no longer be paid is `blocked`, and left out when the run is approved.",
        success: 202,
        errors: &[ErrorCode::InvalidStateTransition],
        emits: &["payroll_run.updated"],
        starts: &["preview_run"],
        ..operation!(write calculate_payroll_run)
    },
];

/// What a caller may say about a new draft.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct CreatePayrollRun {
    /// Who pays.
    company_id: Id<Company>,
    /// The month that is paid.
    period: Period,
    /// What kind of run it is; `regular` if absent.
    #[serde(rename = "type")]
    kind: Option<RunType>,
    /// The day on which wages are due, whose cut-off has not passed; the company's pay day if absent.
    pay_date: Option<Date>,
    /// Whom it pays.
    #[schemars(length(min = 1, max = MOST_EMPLOYEES), extend("uniqueItems" = true))]
    employee_ids: Option<Vec<Id<Employee>>>,
    /// What it is for.
    notes: Option<Text<1000>>,
}

fn create_payroll_run(
    world: &mut World,
    input: CreatePayrollRun,
) -> Result<Data<Shown<PayrollRun>>, ApiError> {
    let company = named(world, input.company_id)?;
    let wanted = Wanted {
        company: &company,
        period: input.period,
        kind: input.kind.unwrap_or(RunType::Regular),
        member: "employee_ids",
    };
    let employees = match &input.employee_ids {
        Some(ids) => wanted.payable(&wanted.found(world, ids)?)?,
        None if wanted.kind == RunType::Regular => wanted.everyone(world)?,
        None => Vec::new(),
    };
    wanted.not_yet_run(world, &employees, input.employee_ids.is_some(), None)?;
    may_pay_on(world, &company, input.pay_date)?;
    let mut run = new_run(world, &wanted, employees);
    run.pay_date = input.pay_date.unwrap_or(run.pay_date);
    run.notes = input.notes.map(Text::into_string);
    Ok(Data(Shown(world.record("payroll_run.created", run))))
}

/// Refuses a pay date that no money can meet any more, or that no bank works on.
fn may_pay_on(world: &World, company: &Company, day: Option<Date>) -> Result<(), ApiError> {
    let Some(day) = day else {
        return Ok(());
    };
    let first = first_day_to_pay(world, company);
    if day < first {
        let detail =
            format!("the cut-off of {day} has passed: the first day that can be met is {first}");
        let violation = Violation::new("/pay_date", "cutoff_passed", detail.clone());
        return Err(ApiError::new(ErrorCode::CutoffPassed, detail).with_errors(vec![violation]));
    }
    if !world.calendar_of(company.id).is_business_day(day) {
        let detail = format!("banks do not work on {day}");
        return Err(ApiError::of_member("/pay_date", "no_business_day", detail));
    }
    Ok(())
}

/// What a caller may change of a draft.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct UpdatePayrollRun {
    /// The run.
    payroll_run_id: Id<PayrollRun>,
    /// The day on which wages are due.
    pay_date: Option<Date>,
    /// Whom it pays. What `items` said of others is dropped.
    #[schemars(length(min = 1, max = MOST_EMPLOYEES), extend("uniqueItems" = true))]
    employee_ids: Option<Vec<Id<Employee>>>,
    /// What single employees are paid beside their terms.
    #[schemars(length(max = 1000))]
    items: Option<Vec<ItemInput>>,
}

/// What one employee is paid beside the terms. Without lines: nothing.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct ItemInput {
    /// Whom it is about.
    employee_id: Id<Employee>,
    /// Paid on top, and taxed: bonus, overtime, commission.
    #[serde(default)]
    #[schemars(length(max = 20))]
    earnings: Vec<AllowanceInput>,
    /// Kept back.
    #[serde(default)]
    #[schemars(length(max = 20))]
    deductions: Vec<DeductionInput>,
    /// Expenses paid back, outside gross pay.
    #[serde(default)]
    #[schemars(length(max = 20))]
    reimbursements: Vec<AllowanceInput>,
}

fn update_payroll_run(
    world: &mut World,
    input: UpdatePayrollRun,
) -> Result<Data<Shown<PayrollRun>>, ApiError> {
    let mut run = (*world.get(input.payroll_run_id)?).clone();
    let company = world.get(run.company_id)?;
    if !matches!(run.status, RunStatus::Draft | RunStatus::Calculated) {
        let detail = "only a draft or a calculated run can be edited".to_owned();
        return Err(refused(run.id, run.status, detail));
    }
    if input.pay_date.is_none() && input.employee_ids.is_none() && input.items.is_none() {
        return Ok(Data(Shown(world.get(run.id)?)));
    }
    may_pay_on(world, &company, input.pay_date)?;
    run.pay_date = input.pay_date.unwrap_or(run.pay_date);
    let wanted = |member| Wanted { company: &company, period: run.period, kind: run.kind, member };
    let mut employees = (*run.employees).clone();
    let mut inputs = (*run.inputs).clone();
    if let Some(ids) = &input.employee_ids {
        let wanted = wanted("employee_ids");
        employees = wanted.payable(&wanted.found(world, ids)?)?;
        wanted.not_yet_run(world, &employees, true, Some(run.id))?;
        let stay: BTreeSet<_> = employees.iter().collect();
        inputs.retain(|input| stay.contains(&input.employee_id));
    }
    if let Some(items) = input.items {
        let wanted = wanted("items");
        let ids: Vec<_> = items.iter().map(|item| item.employee_id).collect();
        wanted.payable(&wanted.found(world, &ids)?)?;
        wanted.not_yet_run(world, &ids, true, Some(run.id))?;
        let known: BTreeSet<_> = employees.iter().copied().collect();
        let mut seen = BTreeSet::new();
        for (place, item) in items.into_iter().enumerate() {
            let id = item.employee_id;
            if !seen.insert(id) {
                let at = format!("/items/{place}/employee_id");
                let detail = "an employee has one entry at most".to_owned();
                return Err(ApiError::of_member(at, "duplicate", detail));
            }
            if !known.contains(&id) {
                employees.push(id);
            }
            inputs.retain(|input| input.employee_id != id);
            inputs.extend(run_input(item, &format!("/items/{place}"))?);
        }
    }
    run.employee_count = employees.len() as u64;
    run.employees = Arc::new(employees);
    run.inputs = Arc::new(inputs);
    run.totals = None;
    run.warnings = Arc::default();
    run.blockers.clear();
    run.updated_at = world.now();
    if run.status == RunStatus::Calculated {
        run.settlement.pending = 0;
        run.enter(RunStatus::Draft, world.now());
    }
    Ok(Data(Shown(world.record("payroll_run.updated", run))))
}

/// What was sent about one employee; nothing, if it holds nothing.
fn run_input(item: ItemInput, at: &str) -> Result<Option<RunInput>, ApiError> {
    let lines = |list: Vec<AllowanceInput>, member| {
        let lines = allowances(list, &format!("{at}/{member}"))?;
        Ok::<_, ApiError>(lines.into_iter().map(line).collect::<Vec<_>>())
    };
    let input = RunInput {
        employee_id: item.employee_id,
        earnings: lines(item.earnings, "earnings")?,
        deductions: deductions(item.deductions, &format!("{at}/deductions"))?,
        reimbursements: lines(item.reimbursements, "reimbursements")?,
    };
    let nothing =
        input.earnings.is_empty() && input.deductions.is_empty() && input.reimbursements.is_empty();
    Ok((!nothing).then_some(input))
}

fn line(allowance: Allowance) -> PayLine {
    PayLine { id: allowance.id, label: allowance.label, amount: allowance.amount }
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct CalculatePayrollRun {
    /// The run.
    payroll_run_id: Id<PayrollRun>,
}

fn calculate_payroll_run(
    world: &mut World,
    input: CalculatePayrollRun,
) -> Result<Data<Shown<PayrollRun>>, ApiError> {
    let mut run = (*world.get(input.payroll_run_id)?).clone();
    let status = step("calculate", "the run", run.id, run.status)?;
    if run.employees.is_empty() {
        let detail =
            "nobody is in the run: updatePayrollRun takes employee_ids or items".to_owned();
        return Err(refused(run.id, run.status, detail));
    }
    run.enter(status, world.now());
    let run = world.record("payroll_run.updated", run);
    world.settle_after(CALCULATION, Task::PreviewRun(run.id));
    Ok(Data(Shown(run)))
}
