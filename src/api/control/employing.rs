//! Employees, companies, leave, payroll runs and tax filings moved by hand.

use crate::api::business::employee_pay::{cancel_check, finish_as, verify};
use crate::api::business::employee_verbs::{
    activate, close_payroll, enter_payroll, suspend, terminate_on, verify_payroll,
};
use crate::api::business::leave::{self, LeaveDecision};
use crate::api::business::{compliance, leave_clock, pay_schedules};
use crate::api::control::hand_move::{
    Wanted, cannot_become, reachable, refused, run_now, run_waiting, take, target, waits,
};
use crate::api::prelude::*;
use crate::model::State;
use crate::model::business::payroll_verification::CheckName;
use crate::model::business::{
    CompanyStatus, Employee, EmployeeStatus, FilingStatus, LeaveRequest, LeaveStatus, PaySchedule,
    PayrollRun, PayrollStatus, PayrollVerification, RunStatus, ScheduleStatus, TaxFiling,
};

/// Two machines in one resource: a name that both have is the employment's.
pub(super) fn employee(
    world: &mut World,
    id: Id<Employee>,
    to: &str,
    wanted: Wanted,
) -> Result<()> {
    let employee = world.get(id)?;
    let (current, payroll) = (employee.status, employee.payroll_status);
    if let Some((status, _)) = reachable(current).find(|(_, name)| *name == to) {
        return employment(world, &employee, status, wanted.reason);
    }
    // A check that runs already is not started again.
    let of_payroll = || reachable(payroll).filter(|(status, _)| *status != payroll);
    if let Some((status, _)) = of_payroll().find(|(_, name)| *name == to) {
        return pay_status(world, &employee, status);
    }
    let names = reachable(current).map(|(_, name)| name);
    let allowed = names.chain(of_payroll().map(|(_, name)| name)).collect();
    let (of, status, payroll) = (AnyId::of(id), current.name(), payroll.name());
    let detail = format!(
        "{of} has the status {status} and the payroll_status {payroll}; it cannot become {to:?}"
    );
    Err(refused(of, status, allowed, detail))
}

fn employment(
    world: &mut World,
    employee: &Arc<Employee>,
    to: EmployeeStatus,
    reason: Option<String>,
) -> Result<()> {
    let id = employee.id;
    match to {
        EmployeeStatus::Active => {
            activate(world, (**employee).clone(), None, reason)?;
        }
        EmployeeStatus::Suspended => {
            suspend(world, (**employee).clone(), reason)?;
        }
        EmployeeStatus::OnLeave => match leave_to_begin(world, id) {
            Some(leave) => run_now(world, Task::BeginLeave(leave)),
            None => leave_clock::leave_without_request(world, (**employee).clone(), reason),
        },
        EmployeeStatus::Terminated if waits(world, TaskKind::EndEmployment, AnyId::of(id)) => {
            run_now(world, Task::EndEmployment(id));
        }
        EmployeeStatus::Terminated => {
            let today = world.today();
            terminate_on(world, (**employee).clone(), today, reason);
        }
        EmployeeStatus::Pending => unreachable!("no transition leads to the first state"),
    }
    Ok(())
}

/// The employee's next approved leave: the one that waits for the earliest first day.
fn leave_to_begin(world: &World, id: Id<Employee>) -> Option<Id<LeaveRequest>> {
    let of_employee = world.children::<LeaveRequest>(id.bits());
    let waiting = of_employee.filter(|leave| waits(world, TaskKind::BeginLeave, AnyId::of(*leave)));
    waiting.min_by_key(|leave| world.find(*leave).map(|leave| leave.start_date))
}

fn pay_status(world: &mut World, employee: &Arc<Employee>, to: PayrollStatus) -> Result<()> {
    match to {
        PayrollStatus::Pending => {
            verify(world, employee, &CheckName::ALL)?;
        }
        PayrollStatus::Verified | PayrollStatus::Failed => {
            let mut checks = world.children::<PayrollVerification>(employee.id.bits());
            let check =
                checks.find(|id| waits(world, TaskKind::FinishVerification, AnyId::of(*id)));
            drop(checks);
            match check.filter(|_| employee.payroll_status == PayrollStatus::Pending) {
                Some(check) => {
                    take(world, Task::FinishVerification(check));
                    finish_as(world, check, to == PayrollStatus::Verified);
                }
                None if to == PayrollStatus::Verified => {
                    verify_payroll(world, employee);
                }
                None => {
                    enter_payroll(world, employee, to, None);
                }
            }
        }
        PayrollStatus::OnHold => {
            enter_payroll(world, employee, to, None);
        }
        PayrollStatus::Closed => {
            cancel_check(world, employee.id);
            close_payroll(world, employee);
        }
        PayrollStatus::NotEnrolled => unreachable!("no transition leads to the first state"),
    }
    Ok(())
}

pub(super) fn company(world: &mut World, id: Id<Company>, to: &str, wanted: Wanted) -> Result<()> {
    let mut company = (*world.get(id)?).clone();
    let status: CompanyStatus = target(AnyId::of(id), company.status, to, |_| true)?;
    if company.status == CompanyStatus::Pending && status == CompanyStatus::Active {
        compliance::admit(world, id, None, wanted.reason);
        return Ok(());
    }
    company.enter_because(status, world.now(), wanted.reason);
    world.record("company.status_changed", company);
    Ok(())
}

/// The decision is made now.
pub(super) fn leave_request(
    world: &mut World,
    id: Id<LeaveRequest>,
    to: &str,
    wanted: Wanted,
) -> Result<()> {
    let request = world.get(id)?;
    let decision = match target(AnyId::of(id), request.status, to, |_| true)? {
        LeaveStatus::Declined => LeaveDecision::Decline,
        LeaveStatus::Approved => LeaveDecision::Approve,
        LeaveStatus::Pending => unreachable!("no transition leads to the first state"),
    };
    leave::decide(world, id, decision, wanted.reason)
}

/// The schedule ends after its current pay period.
pub(super) fn pay_schedule(world: &mut World, id: Id<PaySchedule>, to: &str) -> Result<()> {
    let schedule = world.get(id)?;
    match target(AnyId::of(id), schedule.status, to, |_| true)? {
        ScheduleStatus::Ended => pay_schedules::end(world, id, None).map(drop),
        ScheduleStatus::Active => unreachable!("no transition leads to the first state"),
    }
}

/// The states in which funding leaves a run. A run without pay to send ends at once.
const FUNDED: &[RunStatus] =
    &[RunStatus::Processing, RunStatus::FundingFailed, RunStatus::Paid, RunStatus::PartiallyPaid];

/// The timer of the run runs now. The target is the state in which it leaves the run, not one that the run passes.
pub(super) fn run(world: &mut World, id: Id<PayrollRun>, to: &str) -> Result<()> {
    let run = world.get(id)?;
    let company = world.get(run.company_id)?;
    let (task, ends): (_, &[RunStatus]) = match run.status {
        RunStatus::Calculating if waits(world, TaskKind::PreviewRun, AnyId::of(id)) => {
            (Some(Task::PreviewRun(id)), &[RunStatus::Calculated])
        }
        RunStatus::Calculating if company.payroll_settings.approval_required => {
            (Some(Task::CalculateRun(id)), &[RunStatus::PendingApproval])
        }
        RunStatus::Calculating => (Some(Task::CalculateRun(id)), &[RunStatus::Approved]),
        RunStatus::Approved if waits(world, TaskKind::FundRunLate, AnyId::of(id)) => {
            (Some(Task::FundRunLate(id)), FUNDED)
        }
        RunStatus::Approved => (Some(Task::FundRun(id)), FUNDED),
        RunStatus::Draft
        | RunStatus::Calculated
        | RunStatus::PendingApproval
        | RunStatus::Funding
        | RunStatus::FundingFailed
        | RunStatus::Processing
        | RunStatus::Paid
        | RunStatus::PartiallyPaid
        | RunStatus::Failed
        | RunStatus::Cancelled
        | RunStatus::Reversed => (None, &[]),
    };
    let Some(task) = task.filter(|_| ends.iter().any(|end| end.name() == to)) else {
        let allowed = ends.iter().map(|end| end.name()).collect();
        let current = ("status", run.status.name());
        return Err(cannot_become(AnyId::of(id), current, to, allowed));
    };
    run_now(world, task);
    Ok(())
}

/// The tax office answers now, and confirms first that it has the return.
pub(super) fn filing(world: &mut World, id: Id<TaxFiling>, to: &str) -> Result<()> {
    let filing = world.get(id)?;
    let answer = |to| match to {
        FilingStatus::Filed => Some(Task::AcceptFiling(id)),
        FilingStatus::Rejected => Some(Task::RejectFiling(id)),
        FilingStatus::Pending
        | FilingStatus::Blocked
        | FilingStatus::Submitted
        | FilingStatus::Amended => None,
    };
    let to = target(AnyId::of(id), filing.status, to, |state| answer(state).is_some())?;
    run_waiting(world, TaskKind::AcknowledgeFiling, AnyId::of(id));
    run_now(world, answer(to).expect("the target has a timer"));
    Ok(())
}
