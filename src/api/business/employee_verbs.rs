//! Changes of an employment: start, resumption, suspension, end.
//!
//! A call changes the status of today. Future dates are handled by timers: a first day of work, a last one.

use crate::api::business::employee_pay::cancel_check;
use crate::api::business::pay_periods::containing;
use crate::api::business::payroll_clock::get;
use crate::api::business::payroll_people::Wanted;
use crate::api::business::{leave_clock, payroll};
use crate::api::identity::alert_facts;
use crate::api::prelude::*;
use crate::model::business::employee::FinalPay;
use crate::model::business::{EmployeeStatus, HoldReason, PayrollStatus, RunType};

pub(crate) const OPERATIONS: &[Operation] = &Domain::Business.table([
    Operation {
        path: "/api/business/employees/{employee_id}/suspend",
        summary: "Suspend an employee",
        description: "Suspends an employee. Runs exclude the employee until `activateEmployee` is \
            called. A `verified` payroll status becomes `on_hold`. A run that already includes the \
            employee still pays the employee, unless the run is a draft that is calculated or \
            approved later.",
        example: r#"{"reason":"Investigation of expense claims"}"#,
        errors: &[ErrorCode::InvalidStateTransition],
        emits: &["employee.suspended", "employee.payroll_status_changed"],
        ..operation!(write suspend_employee)
    },
    Operation {
        path: "/api/business/employees/{employee_id}/activate",
        summary: "Activate an employee",
        description: "Starts the employment, or resumes work after leave or a suspension. If the \
            suspension set the payroll status to `on_hold`, the payroll status becomes `verified` \
            again, unless an alert about the employee is confirmed. Runs pay employees who are \
            `active` or `on_leave`, and `verified` for payroll.",
        example: "{}",
        errors: &[ErrorCode::InvalidStateTransition],
        emits: &["employee.activated", "employee.payroll_status_changed"],
        ..operation!(write activate_employee)
    },
    Operation {
        path: "/api/business/employees/{employee_id}/terminate",
        summary: "Terminate an employment",
        description: "Ends an employment permanently. `final_pay` sets how the last days are paid. \
            `off_cycle` pays them in a separate run as soon as the employment ends. `next_run` \
            pays them in the regular run of the month in which the employment ends. The payroll \
            status becomes `closed` after the final pay. Without final pay, the payroll status \
            becomes `closed` at once, and later runs exclude the employee. A run that already \
            includes the employee still pays the employee, unless the run is a draft that is \
            calculated or approved later.",
        example: r#"{"reason":"Resignation","last_working_day":"2025-12-31"}"#,
        errors: &[ErrorCode::InvalidStateTransition],
        emits: &[
            "employee.updated",
            "employee.terminated",
            "employee.payroll_status_changed",
            "payroll_run.created",
        ],
        starts: &[TaskKind::EndEmployment, TaskKind::CalculateRun],
        ..operation!(write terminate_employee)
    },
]);

#[derive(Deserialize, JsonSchema)]
pub(crate) struct SuspendEmployee {
    /// The employee.
    employee_id: Id<Employee>,
    /// The reason, for the status history.
    reason: Text<500>,
}

fn suspend_employee(world: &mut World, input: SuspendEmployee) -> Result<Single<Employee>> {
    let employee = (*world.get(input.employee_id)?).clone();
    Ok(Data(Shown(suspend(world, employee, Some(input.reason.into_string()))?)))
}

/// Suspends an employee, and holds pay that was `verified`.
pub(crate) fn suspend(
    world: &mut World,
    mut employee: Employee,
    reason: Option<String>,
) -> Result<Arc<Employee>> {
    let status = next(&employee, "suspend")?;
    employee.enter_because(status, world.now(), reason);
    let employee = world.record("employee.suspended", employee);
    if employee.payroll_status != PayrollStatus::Verified {
        return Ok(employee);
    }
    let hold = Some(HoldReason::Suspension);
    Ok(enter_payroll(world, &employee, PayrollStatus::OnHold, hold))
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct ActivateEmployee {
    /// The employee.
    employee_id: Id<Employee>,
    /// The day on which work started or resumed; not in the future. Default: today. For a `pending` employee, this day becomes the first day
    /// of work. If the member is absent, a first day of work in the past does not change.
    effective_on: Option<Date>,
}

fn activate_employee(world: &mut World, input: ActivateEmployee) -> Result<Single<Employee>> {
    let employee = (*world.get(input.employee_id)?).clone();
    if let Some(day) = input.effective_on {
        not_ahead(world, "/effective_on", day)?;
    }
    Ok(Data(Shown(activate(world, employee, input.effective_on, None)?)))
}

/// Starts or resumes work on the given day or today, and releases pay that was on hold because of a suspension.
pub(crate) fn activate(
    world: &mut World,
    mut employee: Employee,
    since: Option<Date>,
    reason: Option<String>,
) -> Result<Arc<Employee>> {
    let status = next(&employee, "activate")?;
    let released = employee.status == EmployeeStatus::Suspended && employee.held_by_suspension();
    if employee.status == EmployeeStatus::Pending {
        let first = employee.start_date.min(world.today());
        employee.start_date = since.unwrap_or(first);
    }
    leave_clock::return_to_work(world, employee.id, since.unwrap_or(world.today()));
    world.drop_timers(Task::BeginEmployment(employee.id));
    employee.enter_because(status, world.now(), reason);
    let employee = world.record("employee.activated", employee);
    if !released {
        return Ok(employee);
    }
    Ok(verify_payroll(world, &employee))
}

/// The first day of work has arrived.
pub(crate) fn begin_employment(world: &mut World, id: Id<Employee>) {
    let pending = |employee: &Arc<Employee>| employee.status == EmployeeStatus::Pending;
    let Some(employee) = world.find(id).filter(pending) else { return };
    let mut employee = (*employee).clone();
    employee.start_date = employee.start_date.min(world.today()); // started before the planned day
    employee.enter(EmployeeStatus::Active, world.now());
    world.record("employee.activated", employee);
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct TerminateEmployee {
    /// The employee.
    employee_id: Id<Employee>,
    /// The reason, for the status history.
    reason: Text<500>,
    /// The last day of work, not before the first day of work. The employment ends at the end of this day, which may be in the future.
    last_working_day: Date,
    /// How the final pay is paid.
    final_pay: Option<FinalPayInput>,
}

/// How the final pay of an employment is paid. Default: not at all.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct FinalPayInput {
    /// `off_cycle`, `next_run` or `none`.
    mode: FinalPay,
}

fn terminate_employee(world: &mut World, input: TerminateEmployee) -> Result<Single<Employee>> {
    let mut employee = (*world.get(input.employee_id)?).clone();
    let began = employee.status != EmployeeStatus::Pending;
    if began && input.last_working_day < employee.start_date {
        let detail = format!("must be on or after the first day of work, {}", employee.start_date);
        return Err(ApiError::of_member("/last_working_day", "before_start", detail));
    }
    if input.last_working_day >= Timestamp::MAX.date() {
        let detail = "must be before the end of virtual time".to_owned();
        return Err(ApiError::of_member("/last_working_day", "range", detail));
    }
    next(&employee, "terminate")?;
    employee.end_date = Some(input.last_working_day);
    let mode = input.final_pay.map(|wanted| wanted.mode);
    employee.final_pay = mode.filter(|mode| *mode != FinalPay::None);
    let reason = input.reason.into_string();
    if input.last_working_day <= world.today() {
        return Ok(Data(Shown(terminate(world, employee, Some(reason)))));
    }
    employee.end_reason = Some(reason);
    employee.updated_at = world.now();
    let end = Task::EndEmployment(employee.id);
    world.drop_timers(end);
    world.remind_at(input.last_working_day.plus_days(1).midnight(), end);
    Ok(Data(Shown(world.record("employee.updated", employee))))
}

/// The day after the last day of work has arrived.
pub(crate) fn end_employment(world: &mut World, id: Id<Employee>) {
    let Some(employee) = world.find(id) else { return };
    if next(&employee, "terminate").is_ok() {
        let (mut employee, today) = ((*employee).clone(), world.today());
        // A manual transition can end the employment before its last day.
        employee.end_date = employee.end_date.map(|day| day.min(today));
        let reason = employee.end_reason.take();
        terminate(world, employee, reason);
    }
}

/// Ends an employment on that day, without final pay.
pub(crate) fn terminate_on(
    world: &mut World,
    mut employee: Employee,
    last: Date,
    reason: Option<String>,
) -> Arc<Employee> {
    employee.end_date = Some(last);
    employee.final_pay = None;
    terminate(world, employee, reason)
}

fn terminate(world: &mut World, mut employee: Employee, reason: Option<String>) -> Arc<Employee> {
    employee.enter_because(EmployeeStatus::Terminated, world.now(), reason);
    employee.end_reason = None;
    cancel_check(world, employee.id);
    leave_clock::end_with_employment(world, employee.id);
    world.forget_timers(AnyId::of(employee.id));
    let employee = world.record("employee.terminated", employee);
    if begin_final_pay(world, &employee) {
        return employee;
    }
    close_payroll(world, &employee)
}

/// Arranges the final pay. Returns whether there is any; then payroll closes with that payslip.
fn begin_final_pay(world: &mut World, employee: &Employee) -> bool {
    let payable = employee.payroll_status == PayrollStatus::Verified
        && employee.compensation.is_some()
        && employee.payment_method.is_some();
    let Some((mode, last)) = employee.final_pay.filter(|_| payable).zip(employee.end_date) else {
        return false;
    };
    if mode == FinalPay::OffCycle {
        let company = get(world, employee.company_id);
        let wanted = Wanted {
            company: &company,
            span: containing(world, company.id, last),
            kind: RunType::Termination,
            member: "",
        };
        payroll::submit(world, &wanted, vec![employee.id]);
    }
    true
}

/// Closes payroll of an employee who has left.
pub(crate) fn close_payroll(world: &mut World, employee: &Employee) -> Arc<Employee> {
    let mut employee = employee.clone();
    employee.final_pay = None;
    enter_payroll(world, &employee, PayrollStatus::Closed, None)
}

/// The final pay has settled, or there was none: payroll of the employee closes.
pub(crate) fn end_final_pay(world: &mut World, id: Id<Employee>) {
    let Some(employee) = world.touched(id) else { return };
    let left = employee.status == EmployeeStatus::Terminated && employee.final_pay.is_some();
    if left && employee.payroll_status.may_become(PayrollStatus::Closed) {
        close_payroll(world, &employee);
    }
}

fn next(employee: &Employee, verb: &str) -> Result<EmployeeStatus> {
    step(verb, "the employee", employee.id, employee.status)
}

/// A call can only report the past; timers handle future dates.
pub(crate) fn not_ahead(world: &World, pointer: &str, day: Date) -> Result<()> {
    let today = world.today();
    if day <= today {
        return Ok(());
    }
    let detail = format!("must not be in the future (today is {today})");
    Err(ApiError::of_member(pointer, "in_the_future", detail))
}

/// The employee is verified for payroll. A confirmed alert about the employee puts pay on hold at once.
pub(crate) fn verify_payroll(world: &mut World, employee: &Employee) -> Arc<Employee> {
    let employee = enter_payroll(world, employee, PayrollStatus::Verified, None);
    if alert_facts::holding_pay(world, &employee).is_none() {
        return employee;
    }
    enter_payroll(world, &employee, PayrollStatus::OnHold, Some(HoldReason::AmlAlert))
}

/// The employee with another payroll status, which the lifecycle allows, and the event about it.
pub(crate) fn enter_payroll(
    world: &mut World,
    employee: &Employee,
    status: PayrollStatus,
    hold: Option<HoldReason>,
) -> Arc<Employee> {
    let mut employee = employee.clone();
    employee.enter_payroll(status, world.now(), hold);
    world.record("employee.payroll_status_changed", employee)
}
