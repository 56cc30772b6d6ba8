//! Effects of leave on an employment: it begins on its first day, and ends after its last day or when work resumes.

use crate::api::prelude::*;
use crate::model::business::{EmployeeStatus, LeaveRequest, LeaveStatus, LeaveType};

/// An employee's approved unpaid leave in a range of days, both ends included, ascending and without overlap. Leave that ended early counts
/// up to its end, and never beyond the last day of work.
pub(crate) fn unpaid_leave(
    world: &World,
    employee: Id<Employee>,
    from: Date,
    to: Date,
) -> Vec<(Date, Date)> {
    let taken: Vec<LeaveRequest> =
        approved(world, employee).filter(|request| request.kind == LeaveType::Unpaid).collect();
    if taken.is_empty() {
        return Vec::new(); // a run calls this for every employee, and a look-up would generate each of them
    }
    let last = world.find(employee).and_then(|employee| employee.end_date);
    let to = last.map_or(to, |last| to.min(last));
    let days = taken.iter().filter_map(|request| request.within(from, to));
    let mut parts: Vec<(Date, Date)> = days.collect();
    parts.sort_unstable();
    parts
}

/// An employee's approved requests, in creation order.
fn approved(world: &World, employee: Id<Employee>) -> impl Iterator<Item = LeaveRequest> + '_ {
    world
        .children::<LeaveRequest>(employee.bits())
        .filter_map(|id| world.find(id))
        .filter(|request| request.status == LeaveStatus::Approved)
        .map(|request| (*request).clone())
}

/// Sets the timers of a newly approved request. Leave that has started takes effect now; past leave only counts in
/// pay and balances.
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

/// The first day of approved leave has arrived. An employee who is not working (suspended, pending, terminated) does not go on leave.
pub(crate) fn begin_leave(world: &mut World, id: Id<LeaveRequest>) {
    let Some(request) = world.find(id) else { return };
    // Leave that ended yesterday may still be open, because its timer can be later in the queue than this one.
    let today = world.today();
    let over: Vec<Id<LeaveRequest>> = approved(world, request.employee_id)
        .filter(|other| other.is_running() && other.last_day() < today)
        .map(|other| other.id)
        .collect();
    for other in over {
        end_leave(world, other);
    }
    let Some(employee) = world.find(request.employee_id) else { return };
    let begins = request.started_at.is_none() && request.returned_on.is_none();
    if !begins || employee.status != EmployeeStatus::Active {
        return;
    }
    let (now, mut request, mut employee) = (world.now(), (*request).clone(), (*employee).clone());
    request.start_date = request.start_date.min(today); // begun before the planned day
    request.started_at = Some(now);
    request.updated_at = now;
    let why = request.kind.in_words().to_owned();
    world.stage(request);
    employee.enter_because(EmployeeStatus::OnLeave, now, Some(why));
    world.record("employee.leave_started", employee);
}

/// Sends an employee on leave without a leave request: a tester's move.
pub(crate) fn leave_without_request(
    world: &mut World,
    mut employee: Employee,
    reason: Option<String>,
) {
    employee.enter_because(EmployeeStatus::OnLeave, world.now(), reason);
    world.record("employee.leave_started", employee);
}

/// The day after the last day of leave has arrived.
pub(crate) fn end_leave(world: &mut World, id: Id<LeaveRequest>) {
    let Some(request) = world.find(id).filter(|request| request.is_running()) else { return };
    let employee = world.find(request.employee_id);
    let Some(employee) = employee.filter(|one| one.status == EmployeeStatus::OnLeave) else {
        return;
    };
    let (now, today) = (world.now(), world.today());
    let (mut request, mut employee) = ((*request).clone(), (*employee).clone());
    if request.last_day() >= today {
        request.returned_on = Some(today); // ended before the planned day
    }
    request.ended_at = Some(now);
    request.updated_at = now;
    let why = format!("{} has ended", request.kind.in_words());
    world.stage(request);
    employee.enter_because(EmployeeStatus::Active, now, Some(why));
    world.record("employee.leave_ended", employee);
}

/// Stages the effect of work on that day: leave that covers it ended the day before. The caller's event seals it.
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
        world.stage(leave);
    }
}

/// Stages the end of the employee's leave with the employment. The caller's event seals it.
pub(crate) fn end_with_employment(world: &mut World, employee: Id<Employee>) {
    let now = world.now();
    let all: Vec<LeaveRequest> = approved(world, employee).collect();
    for mut leave in all {
        world.forget_timers(AnyId::of(leave.id));
        if leave.is_running() {
            leave.ended_at = Some(now);
            leave.updated_at = now;
            world.stage(leave);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::{Value, json};

    use super::*;
    use crate::api::{self, system};
    use crate::value::Timestamp;
    use crate::world::{Base, ClockMode, RequestRef, Shape};

    fn call(world: &mut World, name: &str, input: Value) -> Value {
        let row = api::product().find(|row| row.name == name).expect("a row");
        let origin = Arc::new(RequestRef {
            id: Id::from_bits(1),
            operation: "test".into(),
            idempotency_key: None,
            trace: None,
        });
        let reply = system::perform(world, row, origin, Vec::new(), input);
        let reply = reply.unwrap_or_else(|error| panic!("{name}: {error:?}"));
        let body: Value = serde_json::from_slice(&reply.into_bytes()).expect("JSON");
        body["data"].clone()
    }

    fn take(world: &mut World, employee: Id<Employee>, kind: &str, days: [&str; 2], say: &str) {
        let asked = json!({
            "employee_id": employee, "type": kind, "start_date": days[0], "end_date": days[1],
        });
        let asked = call(world, "create_leave_request", asked);
        let decision = json!({"leave_request_id": asked["id"], "decision": say});
        call(world, "decide_leave_request", decision);
    }

    fn day(text: &str) -> Date {
        text.parse().expect("a day")
    }

    fn unpaid(world: &World, employee: Id<Employee>, days: [&str; 2]) -> Vec<String> {
        let parts = unpaid_leave(world, employee, day(days[0]), day(days[1]));
        let shown = parts.iter().map(|(from, to)| format!("{from}..{to}"));
        shown.collect()
    }

    #[test]
    fn unpaid_days_are_those_of_approved_unpaid_leave_that_was_taken() {
        let base = Arc::new(Base::new(42, Shape::default()));
        let mut world = World::new(base, ClockMode::Manual);
        let active = |index: &u64| {
            let employee = world.at::<Employee>(*index).expect("it is grown");
            employee.status == EmployeeStatus::Active && employee.not_payable().is_none()
        };
        let index = (0..25).find(active).expect("an active employee");
        let ada = world.base().id_at::<Employee>(index);
        take(&mut world, ada, "unpaid", ["2026-01-28", "2026-02-03"], "approve");
        take(&mut world, ada, "unpaid", ["2025-12-30", "2026-01-02"], "approve");
        take(&mut world, ada, "annual", ["2026-01-12", "2026-01-13"], "approve");
        take(&mut world, ada, "unpaid", ["2026-01-19", "2026-01-20"], "decline");
        let january = ["2026-01-01", "2026-01-31"];
        let february = ["2026-02-01", "2026-02-28"];
        assert_eq!(
            unpaid(&world, ada, january),
            ["2026-01-01..2026-01-02", "2026-01-28..2026-01-31"]
        );
        assert_eq!(unpaid(&world, ada, february), ["2026-02-01..2026-02-03"]);
        assert_eq!(unpaid(&world, ada, ["2026-01-05", "2026-01-27"]), [""; 0]);
        system::advance(&mut world, day("2026-02-03").midnight());
        let back = json!({"employee_id": ada, "effective_on": "2026-01-30"});
        call(&mut world, "activate_employee", back);
        assert_eq!(
            unpaid(&world, ada, january),
            ["2026-01-01..2026-01-02", "2026-01-28..2026-01-29"]
        );
        assert_eq!(unpaid(&world, ada, february), [""; 0]);
        let end = json!({
            "employee_id": ada, "reason": "Resignation", "last_working_day": "2026-01-01",
        });
        call(&mut world, "terminate_employee", end);
        assert_eq!(unpaid(&world, ada, january), ["2026-01-01..2026-01-01"]);
        system::advance(&mut world, Timestamp::MAX);
        assert!(world.audit().findings.is_empty());
    }
}
