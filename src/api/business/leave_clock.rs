//! What leave does to an employment: away on its first day, back on the day after its last one, or when work resumes before.

use crate::model::AnyId;
use crate::model::business::employee::{Employee, EmployeeStatus};
use crate::model::business::leave_request::{LeaveRequest, LeaveStatus, LeaveType};
use crate::model::lifecycle::Stateful;
use crate::model::task::Task;
use crate::value::id::Id;
use crate::value::time::Date;
use crate::world::World;

/// The parts of an employee's approved unpaid leave between two days, both included: ascending, none within another. A leave
/// that was ended early counts up to its end, and none beyond the last day of work.
#[allow(dead_code, reason = "the calculation of pay reads it")]
pub(crate) fn unpaid_leave(
    world: &World,
    employee: Id<Employee>,
    from: Date,
    to: Date,
) -> Vec<(Date, Date)> {
    let last = world.find(employee).and_then(|employee| employee.end_date);
    let to = last.map_or(to, |last| to.min(last));
    let mut parts: Vec<(Date, Date)> = approved(world, employee)
        .filter(|request| request.kind == LeaveType::Unpaid)
        .filter_map(|request| request.within(from, to))
        .collect();
    parts.sort_unstable();
    parts
}

/// An employee's approved requests, in the order in which they were made.
fn approved(world: &World, employee: Id<Employee>) -> impl Iterator<Item = LeaveRequest> + '_ {
    world
        .children::<LeaveRequest>(employee.bits())
        .filter_map(|id| world.find(id))
        .filter(|request| request.status == LeaveStatus::Approved)
        .map(|request| (*request).clone())
}

/// Sets what the clock does on the days of a request that was just approved. Leave that has begun begins now; of leave that is
/// over nothing is left to do but to count it.
pub(crate) fn follow(world: &mut World, request: &LeaveRequest) {
    let today = world.today();
    if request.last_day() < today {
        return;
    }
    let over = request.end_date.plus_days(1).midnight();
    if request.start_date > today {
        world.remind_at(request.start_date.midnight(), Task::BeginLeave(request.id));
    } else {
        begin_leave(world, request.id);
    }
    world.remind_at(over, Task::EndLeave(request.id));
}

/// The first day of an approved leave has come. Who is not at work then (suspended, not begun, gone) does not go on leave.
pub(crate) fn begin_leave(world: &mut World, id: Id<LeaveRequest>) {
    let Some(request) = world.find(id) else {
        return;
    };
    // Leave that ended yesterday may wait for a timer that was set after this one.
    let today = world.today();
    let over: Vec<Id<LeaveRequest>> = approved(world, request.employee_id)
        .filter(|other| other.is_running() && other.last_day() < today)
        .map(|other| other.id)
        .collect();
    for other in over {
        end_leave(world, other);
    }
    let Some(employee) = world.find(request.employee_id) else {
        return;
    };
    let begins = request.started_at.is_none() && request.returned_on.is_none();
    if !begins || employee.status != EmployeeStatus::Active {
        return;
    }
    let (now, mut request, mut employee) = (world.now(), (*request).clone(), (*employee).clone());
    request.started_at = Some(now);
    request.updated_at = now;
    let why = request.kind.in_words().to_owned();
    world.keep(request);
    employee.enter_because(EmployeeStatus::OnLeave, now, Some(why));
    world.record("employee.leave_started", employee);
}

/// The day after the last one has come.
pub(crate) fn end_leave(world: &mut World, id: Id<LeaveRequest>) {
    let Some(request) = world.find(id).filter(|request| request.is_running()) else {
        return;
    };
    let employee = world.find(request.employee_id);
    let Some(employee) = employee.filter(|one| one.status == EmployeeStatus::OnLeave) else {
        return;
    };
    let (now, today) = (world.now(), world.today());
    let (mut request, mut employee) = ((*request).clone(), (*employee).clone());
    if request.last_day() >= today {
        request.returned_on = Some(today); // somebody did not wait for the clock
    }
    request.ended_at = Some(now);
    request.updated_at = now;
    let why = format!("{} is over", request.kind.in_words());
    world.keep(request);
    employee.enter_because(EmployeeStatus::Active, now, Some(why));
    world.record("employee.leave_ended", employee);
}

/// Stages what work on that day makes of the employee's leave: what covers it ended the day before. The event of whoever calls
/// seals it.
pub(crate) fn return_to_work(world: &mut World, employee: Id<Employee>, day: Date) {
    let (now, today) = (world.now(), world.today());
    let covering: Vec<LeaveRequest> = approved(world, employee)
        .filter(|leave| leave.start_date <= today && leave.last_day() >= day.min(today))
        .filter(|leave| leave.ended_at.is_none())
        .collect();
    for mut leave in covering {
        world.forget_timers(AnyId::of(leave.id));
        leave.returned_on = Some(day.max(leave.start_date));
        leave.ended_at = leave.started_at.map(|_| now);
        leave.updated_at = now;
        world.keep(leave);
    }
}

/// Stages the end of the employee's leave with the employment. The event of whoever calls seals it.
pub(crate) fn end_with_employment(world: &mut World, employee: Id<Employee>) {
    let now = world.now();
    let all: Vec<LeaveRequest> = approved(world, employee).collect();
    for mut leave in all {
        world.forget_timers(AnyId::of(leave.id));
        if leave.is_running() {
            leave.ended_at = Some(now);
            leave.updated_at = now;
            world.keep(leave);
        }
    }
}
