//! Leave requests: create, list, decide. Timers of approved leave are in `leave_clock`.

use crate::api::business::leave_clock;
use crate::api::prelude::*;
use crate::model::business::{EmployeeStatus, LeaveRequest, LeaveStatus, LeaveType};

pub(crate) const OPERATIONS: &[Operation] = &Domain::Business.table([
    Operation {
        path: "/api/business/leave-requests",
        summary: "List leave requests",
        description: "Lists leave requests in creation order. Leave that began before the world's \
            start has no request.",
        ..operation!(read list_leave_requests)
    },
    Operation {
        path: "/api/business/leave-requests",
        summary: "Request leave",
        description: "Creates a leave request for whole days within the employment. The days must \
            not overlap with another pending or approved request. Past days are accepted, for \
            example for sick leave.",
        example: r#"{"employee_id":"@employee:3","type":"annual","start_date":"2026-02-09","end_date":"2026-02-13","reason":"Family visit"}"#,
        success: 201,
        errors: &[ErrorCode::InvalidStateTransition],
        emits: &["leave_request.created"],
        ..operation!(write create_leave_request)
    },
    Operation {
        path: "/api/business/leave-requests/{leave_request_id}",
        summary: "Read a leave request",
        description: "Returns a leave request with the decision and the actual days of leave.",
        ..operation!(get get_leave_request: LeaveRequest)
    },
    Operation {
        path: "/api/business/leave-requests/{leave_request_id}/decide",
        summary: "Approve or decline a leave request",
        description: "Decides a leave request. Approved leave sets an active employee to \
            `on_leave` on the first day and back to `active` on the day after the last. Leave that \
            has already started takes effect at once. Leave in the past does not change the \
            status, but its unpaid days reduce the pay of runs that are calculated afterwards.",
        example: r#"{"decision":"approve","note":"Enjoy it"}"#,
        errors: &[ErrorCode::InvalidStateTransition],
        emits: &["leave_request.decided", "employee.leave_started"],
        starts: &[TaskKind::BeginLeave, TaskKind::EndLeave],
        ..operation!(write decide_leave_request)
    },
]);

list! {
    fn list_leave_requests(ListLeaveRequests) -> LeaveRequest, of employee_id;
    filter
        employee_id: Id<Employee>,
        company_id: Id<Company>,
        status: LeaveStatus,
        /// Filter by type of leave.
        kind as "type": LeaveType;
    sort created_at, start_date, end_date;
}

/// A new leave request.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct CreateLeaveRequest {
    /// The employee on leave.
    employee_id: Id<Employee>,
    /// The type of leave. Only `unpaid` leave changes the pay.
    #[serde(rename = "type")]
    kind: LeaveType,
    /// The first day of leave, not before the first day of work.
    start_date: Date,
    /// The last day of leave; not before the first, and not after the last day of work if known.
    end_date: Date,
    /// The employee's reason.
    reason: Option<Text<500>>,
    /// Key-value pairs set by the caller.
    metadata: Option<Metadata>,
}

fn create_leave_request(
    world: &mut World,
    input: CreateLeaveRequest,
) -> Result<Single<LeaveRequest>> {
    let employee = existing(world, input.employee_id, "/employee_id")?;
    still_employed(&employee)?;
    let wrong = faults(world, &employee, &input);
    ApiError::if_any(wrong)?;
    let now = world.now();
    let request = LeaveRequest {
        id: world.next_id(employee.id.bits()),
        object: Object::NAME,
        company_id: employee.company_id,
        employee_id: employee.id,
        kind: input.kind,
        status: LeaveStatus::Pending,
        start_date: input.start_date,
        end_date: input.end_date,
        reason: input.reason.map(Text::into_string),
        note: None,
        started_at: None,
        ended_at: None,
        returned_on: None,
        created_at: now,
        updated_at: now,
        metadata: input.metadata.unwrap_or_default(),
        status_history: [StatusChange::plain(LeaveStatus::Pending, now)].into(),
    };
    Ok(Data(Shown(world.record("leave_request.created", request))))
}

fn still_employed(employee: &Employee) -> Result<()> {
    if employee.status != EmployeeStatus::Terminated {
        return Ok(());
    }
    let detail = "the employment has ended, so leave is not possible".to_owned();
    Err(refused(employee.id, employee.status, detail))
}

/// The mistakes in the requested days.
fn faults(world: &World, employee: &Employee, asked: &CreateLeaveRequest) -> Vec<Violation> {
    let (first, last) = (asked.start_date, asked.end_date);
    let mut wrong = Vec::new();
    let mut fault = |pointer: &'static str, code, detail: String| {
        wrong.push(Violation::new(pointer, code, detail));
    };
    if last < first {
        let detail = format!("must be on or after the first day of leave, {first}");
        fault("/end_date", "before_start", detail);
    }
    if first < employee.start_date {
        let detail = format!("must be on or after the first day of work, {}", employee.start_date);
        fault("/start_date", "before_employment", detail);
    }
    if let Some(end) = employee.end_date.filter(|end| last > *end) {
        let detail = format!("must be on or before the last day of work, {end}");
        fault("/end_date", "after_employment", detail);
    }
    if last >= Timestamp::MAX.date() {
        let detail = "must be before the end of virtual time".to_owned();
        fault("/end_date", "range", detail);
    }
    if let Some(other) = overlapping(world, employee.id, first, last) {
        let detail = format!(
            "the days overlap with {}, from {} to {}, which is {}",
            other.id,
            other.start_date,
            other.last_day(),
            other.status.name()
        );
        fault("/start_date", "overlap", detail);
    }
    wrong
}

/// A pending or approved request of the employee that contains one of those days.
fn overlapping(
    world: &World,
    employee: Id<Employee>,
    first: Date,
    last: Date,
) -> Option<Arc<LeaveRequest>> {
    let requests = world.children::<LeaveRequest>(employee.bits()).filter_map(|id| world.find(id));
    let mut standing = requests.filter(|request| request.status != LeaveStatus::Declined);
    standing.find(|request| request.within(first, last).is_some())
}

/// Refuses a request whose days became those of other leave, which a tester has begun before its planned day.
fn still_free(world: &World, request: &LeaveRequest) -> Result<()> {
    let all = world.children::<LeaveRequest>(request.employee_id.bits());
    let mut others = all.filter(|id| *id != request.id).filter_map(|id| world.find(id));
    let taken = others.find(|other| {
        let within = other.within(request.start_date, request.end_date);
        other.status == LeaveStatus::Approved && within.is_some()
    });
    let Some(other) = taken else { return Ok(()) };
    let detail = format!(
        "{} is leave from {} to {}: decline the request",
        other.id,
        other.start_date,
        other.last_day()
    );
    Err(refused(request.id, request.status, detail))
}

/// The decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum LeaveDecision {
    Approve,
    Decline,
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct DecideLeaveRequest {
    /// The request.
    leave_request_id: Id<LeaveRequest>,
    /// Whether to approve or decline the leave.
    decision: LeaveDecision,
    /// The reason, for the status history.
    note: Option<Text<500>>,
}

fn decide_leave_request(
    world: &mut World,
    input: DecideLeaveRequest,
) -> Result<Single<LeaveRequest>> {
    let note = input.note.map(Text::into_string);
    decide(world, input.leave_request_id, input.decision, note)?;
    show(world, input.leave_request_id)
}

/// Decides a request, and sets the timers of approved leave.
pub(crate) fn decide(
    world: &mut World,
    id: Id<LeaveRequest>,
    decision: LeaveDecision,
    note: Option<String>,
) -> Result<()> {
    let mut request = (*world.get(id)?).clone();
    let verb = match decision {
        LeaveDecision::Approve => "approve",
        LeaveDecision::Decline => "decline",
    };
    let status = step(verb, "the leave request", request.id, request.status)?;
    if decision == LeaveDecision::Approve {
        still_employed(&*world.get(request.employee_id)?)?;
        still_free(world, &request)?;
    }
    request.note.clone_from(&note);
    request.enter_because(status, world.now(), note);
    let request = world.record("leave_request.decided", request);
    if decision == LeaveDecision::Approve {
        leave_clock::follow(world, &request);
    }
    Ok(())
}
