//! Paid leave: the setting, the balance of an employee, and the pay for unused days.

use crate::api::business::reports::reports;
use crate::api::prelude::*;
use crate::model::business::paid_leave::{PaidLeave, pay_of};
use crate::model::business::{LeaveRequest, LeaveStatus, LeaveType, PayLine, PayrollRun};
use crate::model::calendar::Calendar;
use crate::model::payroll;

pub(crate) const OPERATIONS: &[Operation] = &Domain::Business.table([Operation {
    path: "/api/business/employees/{employee_id}/leave-balance",
    summary: "Read an employee's balance of paid leave",
    description: "Returns the accrued, taken and remaining days of paid leave at the end of a day. \
        A twelfth of `days_per_year` accrues with each whole month. Approved `annual` leave \
        reduces the balance by its business days. The run that pays the last days of an employment \
        also pays the remaining days.",
    example: r#"{"employee_id":"@employee:1","as_of":"2026-01-31"}"#,
    ..operation!(read get_leave_balance)
}]);

#[derive(Deserialize, JsonSchema)]
pub(crate) struct GetLeaveBalance {
    /// The employee.
    employee_id: Id<Employee>,
    /// The day of the balance, which is calculated at the end of the day. Default: today. A day
    /// after the employment ends is replaced by the last day of work.
    as_of: Option<Date>,
}

/// An employee's balance of paid leave. All days are in hundredths of a day.
#[derive(Serialize, JsonSchema)]
pub(crate) struct LeaveBalance {
    /// The employee.
    employee_id: Id<Employee>,
    /// The employer.
    company_id: Id<Company>,
    /// The day of the balance, which is calculated at the end of the day.
    as_of: Date,
    /// Working days a year; 0 without a setting.
    days_per_year: i64,
    /// The first day of the accrual; null without a setting.
    accrues_from: Option<Date>,
    /// Days on that first day.
    opening_hundredths: i64,
    /// Days that have accrued since.
    accrued_hundredths: i64,
    /// Business days of approved `annual` leave since.
    taken_hundredths: i64,
    /// Days that are left; negative if more was taken than had accrued.
    balance_hundredths: i64,
    /// Business days of approved `annual` leave after `as_of`.
    planned_hundredths: i64,
}

reports!(LeaveBalance);

fn get_leave_balance(world: &World, input: GetLeaveBalance) -> Result<Data<LeaveBalance>> {
    let employee = world.get(input.employee_id)?;
    let day = input.as_of.unwrap_or(world.today());
    Ok(Data(balance(world, &employee, day)?))
}

fn balance(world: &World, employee: &Employee, day: Date) -> Result<LeaveBalance> {
    let company = world.get(employee.company_id)?;
    let day = employee.end_date.map_or(day, |end| end.min(day));
    let plan = PaidLeave::of(&company, employee);
    let (mut accrued, mut taken, mut planned) = (0, 0, 0);
    if let Some(plan) = plan {
        accrued = plan.accrued(day);
        taken = annual_leave(world, employee, plan.accrues_from, day);
        let last = employee.end_date.unwrap_or(Timestamp::MAX.date());
        planned = annual_leave(world, employee, plan.accrues_from.max(day.plus_days(1)), last);
    }
    let opening = plan.map_or(0, |plan| plan.opening_hundredths);
    Ok(LeaveBalance {
        employee_id: employee.id,
        company_id: employee.company_id,
        as_of: day,
        days_per_year: plan.map_or(0, |plan| plan.days_per_year),
        accrues_from: plan.map(|plan| plan.accrues_from),
        opening_hundredths: opening,
        accrued_hundredths: accrued,
        taken_hundredths: taken,
        balance_hundredths: opening + accrued - taken,
        planned_hundredths: planned,
    })
}

/// Business days of approved annual leave in a range of days, in hundredths of a day.
fn annual_leave(world: &World, employee: &Employee, from: Date, to: Date) -> i64 {
    let calendar = Calendar::of(&employee.country);
    let requests = world.children::<LeaveRequest>(employee.id.bits());
    let requests = requests.filter_map(|id| world.find(id)).filter(|request| {
        request.status == LeaveStatus::Approved && request.kind == LeaveType::Annual
    });
    let days = requests.filter_map(|request| request.within(from, to)).map(|(first, last)| {
        let days = (0..=last.days_since(first)).map(|day| first.plus_days(day));
        days.filter(|day| calendar.is_business_day(*day)).count()
    });
    i64::try_from(days.sum::<usize>()).unwrap_or(i64::MAX) * 100
}

/// The id of the earning that pays unused leave.
pub(crate) const UNUSED_LEAVE: &str = "unused_leave";

/// The pay for unused leave, in a run that pays the last days of the employment.
pub(crate) fn unused_leave(
    world: &World,
    run: &PayrollRun,
    employee: &Employee,
) -> Option<PayLine> {
    let last = employee.end_date.filter(|day| *day <= run.span().end)?;
    let left = balance(world, employee, last).ok()?.balance_hundredths;
    let amount = pay_of(employee.terms_on(last)?, left);
    if left <= 0 || amount <= 0 {
        return None;
    }
    let pack = payroll::library().in_force(employee.payroll_country(), run.pay_date.civil()).pack;
    let kind = pack.earning_types.iter().find(|kind| kind.pays_unused_leave);
    let label = format!("Unused leave ({}.{:02} days)", left / 100, left % 100);
    Some(PayLine {
        kind: kind.map(|kind| kind.id.clone()),
        ..PayLine::plain(UNUSED_LEAVE.to_owned(), label, amount)
    })
}
