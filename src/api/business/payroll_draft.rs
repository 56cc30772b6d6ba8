//! Drafts of payroll runs: create, edit, calculate. A draft has no journal entries.

use std::collections::BTreeSet;

use crate::api::business::earning_types::{EarningInput, earnings};
use crate::api::business::pay_lines::{AllowanceInput, DeductionInput, allowances, deductions};
use crate::api::business::pay_periods::{NewRun, extra_pay_period, first_day_to_pay};
use crate::api::business::payroll::{CALCULATION, new_run};
use crate::api::business::payroll_people::{MOST_EMPLOYEES, Wanted};
use crate::api::business::worked_hours::{HoursInput, worked_hours};
use crate::api::prelude::*;
use crate::model::business::{Allowance, PayLine, PayrollRun, RunInput, RunStatus, RunType};

pub(crate) const OPERATIONS: &[Operation] = &Domain::Business.table([
    Operation {
        path: "/api/business/payroll-runs",
        summary: "Draft a payroll run",
        description: "Creates a draft run. `regular` pays the salary of its employees, once per pay \
            period. `off_cycle` and `correction` pay only the amounts set with `updatePayrollRun`. \
            `termination` pays employees who leave the amount that no other run of the month has \
            paid. Without `employee_ids`, a regular run includes all payable employees, and the \
            other types start empty. Then calculate, check and approve the run.",
        example: r#"{"company_id":"@company:2","period":"2026-01","type":"off_cycle","employee_ids":["@employee:27"],"notes":"Bonuses of the year"}"#,
        success: 201,
        errors: &[
            ErrorCode::EmployeeNotPayable,
            ErrorCode::PayrollPeriodAlreadyRun,
            ErrorCode::CutoffPassed,
        ],
        emits: &["payroll_run.created"],
        long: true,
        ..operation!(write create_payroll_run)
    },
    Operation {
        method: Method::Patch,
        path: "/api/business/payroll-runs/{payroll_run_id}",
        summary: "Edit a drafted payroll run",
        description: "Replaces the given members. `items` sets additional pay and deductions of \
            single employees. Each entry replaces the previous entry of that employee, and adds \
            the employee to the run if necessary. A calculated run becomes a draft again, without \
            totals.",
        example: r#"{"items":[{"employee_id":"@employee:27","earnings":[{"label":"Bonus","amount":5000000}]}]}"#,
        errors: &[
            ErrorCode::InvalidStateTransition,
            ErrorCode::EmployeeNotPayable,
            ErrorCode::PayrollPeriodAlreadyRun,
            ErrorCode::CutoffPassed,
        ],
        emits: &["payroll_run.updated"],
        long: true,
        ..operation!(write update_payroll_run)
    },
    Operation {
        path: "/api/business/payroll-runs/{payroll_run_id}/calculate",
        summary: "Calculate a drafted payroll run",
        description: "Calculates net pay from gross pay for all employees of the run, within two \
            seconds. The results are the totals, the items and `warnings`. If the cut-off of the \
            pay date has passed, the pay date becomes the next possible day. No journal entry is \
            posted. If an employee can no longer be paid, the item becomes `blocked`, and approval \
            excludes the employee.",
        success: 202,
        errors: &[ErrorCode::InvalidStateTransition],
        emits: &["payroll_run.updated"],
        starts: &[TaskKind::PreviewRun],
        long: true,
        ..operation!(write calculate_payroll_run)
    },
]);

/// A new draft.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct CreatePayrollRun {
    /// The company that pays.
    company_id: Id<Company>,
    /// The month of the pay.
    period: Period,
    /// The type of run. Default: `regular`.
    #[serde(rename = "type")]
    kind: Option<RunType>,
    /// The day on which wages are due; its cut-off must be in the future. Default: the company's pay day.
    pay_date: Option<Date>,
    /// The employees to pay.
    #[schemars(length(min = 1, max = MOST_EMPLOYEES), extend("uniqueItems" = true))]
    employee_ids: Option<Vec<Id<Employee>>>,
    /// Notes on the run.
    notes: Option<Text<1000>>,
}

fn create_payroll_run(world: &mut World, input: CreatePayrollRun) -> Result<Single<PayrollRun>> {
    let company = existing(world, input.company_id, "/company_id")?;
    let new = NewRun {
        company: &company,
        month: input.period,
        kind: input.kind.unwrap_or(RunType::Regular),
        member: "employee_ids",
        named: input.employee_ids.is_some(),
        pay_date: input.pay_date,
    };
    let (wanted, employees) = new.with_employees(world, |wanted| match &input.employee_ids {
        Some(ids) => wanted.payable(&wanted.found(world, ids)?),
        None if wanted.kind == RunType::Regular => wanted.everyone(world),
        None => Ok(Vec::new()),
    })?;
    may_pay_on(world, &company, input.pay_date)?;
    let mut run = new_run(world, &wanted, employees);
    run.pay_date = input.pay_date.unwrap_or(run.pay_date);
    run.notes = input.notes.map(Text::into_string);
    Ok(Data(Shown(world.record("payroll_run.created", run))))
}

/// Refuses a pay date whose cut-off has passed, or that is not a business day.
fn may_pay_on(world: &World, company: &Company, day: Option<Date>) -> Result<()> {
    let Some(day) = day else { return Ok(()) };
    let first = first_day_to_pay(world, company);
    if day < first {
        let detail = format!("the cut-off of {day} has passed: choose {first} or later");
        return Err(ApiError::new(ErrorCode::CutoffPassed, detail).at("/pay_date", "cutoff_passed"));
    }
    if !world.calendar_of(company.id).is_business_day(day) {
        let detail = format!("{day} is not a business day");
        return Err(ApiError::of_member("/pay_date", "no_business_day", detail));
    }
    Ok(())
}

/// Changes to a draft.
#[derive(Deserialize, JsonSchema)]
#[schemars(transform = changes)]
pub(crate) struct UpdatePayrollRun {
    /// The run.
    payroll_run_id: Id<PayrollRun>,
    /// The day on which wages are due.
    pay_date: Option<Date>,
    /// The employees to pay. `items` of other employees are removed.
    #[schemars(length(min = 1, max = MOST_EMPLOYEES), extend("uniqueItems" = true))]
    employee_ids: Option<Vec<Id<Employee>>>,
    /// Amounts for single employees in addition to their terms.
    #[schemars(length(max = 1000))]
    items: Option<Vec<ItemInput>>,
}

/// Amounts for one employee in addition to the pay terms. An entry without amounts removes the earlier amounts of the employee.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct ItemInput {
    /// The employee concerned.
    employee_id: Id<Employee>,
    /// Taxable additions such as bonus, overtime and commission.
    #[serde(default)]
    #[schemars(length(max = 20))]
    earnings: Vec<EarningInput>,
    /// Hours worked: `regular` ones instead of the pay by hourly terms, and others, such as `overtime`, in addition.
    #[serde(default)]
    #[schemars(length(max = 10))]
    hours: Vec<HoursInput>,
    /// Amounts to deduct.
    #[serde(default)]
    #[schemars(length(max = 20))]
    deductions: Vec<DeductionInput>,
    /// Reimbursed expenses, not part of gross pay.
    #[serde(default)]
    #[schemars(length(max = 20))]
    reimbursements: Vec<AllowanceInput>,
}

fn update_payroll_run(world: &mut World, input: UpdatePayrollRun) -> Result<Single<PayrollRun>> {
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
    if let Some(day) = input.pay_date {
        run.pay_date = day;
        if matches!(run.kind, RunType::OffCycle | RunType::Correction) {
            let span = extra_pay_period(world, &company, (run.period, run.kind), Some(day));
            run.pay_period = span.beside_its_month();
        }
    }
    let wanted = |member| Wanted { company: &company, span: run.span(), kind: run.kind, member };
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
                let detail = "an employee can have only one entry".to_owned();
                return Err(ApiError::of_member(at, "duplicate", detail));
            }
            if !known.contains(&id) {
                employees.push(id);
            }
            inputs.retain(|input| input.employee_id != id);
            let employee = world.get(id)?;
            inputs.extend(run_input(&employee, &run, item, &format!("/items/{place}"))?);
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

/// The amounts for one employee; none if there are no lines.
fn run_input(
    employee: &Employee,
    run: &PayrollRun,
    item: ItemInput,
    at: &str,
) -> Result<Option<RunInput>> {
    let (country, day) = (employee.payroll_country(), run.pay_date);
    let lines = |list: Vec<AllowanceInput>, member| {
        let lines = allowances(list, &format!("{at}/{member}"))?;
        Ok::<_, ApiError>(lines.into_iter().map(line).collect::<Vec<_>>())
    };
    let input = RunInput {
        employee_id: item.employee_id,
        earnings: earnings((country, day), item.earnings, &format!("{at}/earnings"))?,
        hours: worked_hours(employee, run, item.hours, &format!("{at}/hours"))?,
        deductions: deductions(country, day, item.deductions, &format!("{at}/deductions"))?,
        reimbursements: lines(item.reimbursements, "reimbursements")?,
    };
    let nothing = input.earnings.is_empty()
        && input.hours.is_empty()
        && input.deductions.is_empty()
        && input.reimbursements.is_empty();
    Ok((!nothing).then_some(input))
}

fn line(allowance: Allowance) -> PayLine {
    PayLine::plain(allowance.id, allowance.label, allowance.amount)
}

fn calculate_payroll_run(world: &mut World, input: One<PayrollRun>) -> Result<Single<PayrollRun>> {
    let mut run = (*world.get(input.id)?).clone();
    let status = step("calculate", "the run", run.id, run.status)?;
    if run.employees.is_empty() {
        let detail =
            "the run has no employees: add some with updatePayrollRun (employee_ids or items)"
                .to_owned();
        return Err(refused(run.id, run.status, detail));
    }
    let company = world.get(run.company_id)?;
    run.pay_date = run.pay_date.max(first_day_to_pay(world, &company));
    run.enter(status, world.now());
    let run = world.record("payroll_run.updated", run);
    world.settle_after(CALCULATION, Task::PreviewRun(run.id));
    Ok(Data(Shown(run)))
}
