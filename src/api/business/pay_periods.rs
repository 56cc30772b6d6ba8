//! The pay periods of a company, and the pay period of a new run.
//!
//! Schedules are in `pay_schedules`. A company without one pays whole months.

use crate::api::business::accounting_periods::start_of_books;
use crate::api::business::payroll_people::Wanted;
use crate::api::prelude::*;
use crate::model::business::pay_schedule::ending_in;
use crate::model::business::{PaySchedule, PaySpan, PayrollRun, RunType, ScheduleStatus};
use crate::model::calendar::Calendar;
use crate::model::payroll::PayPeriod;

/// The company's schedules in order of their days.
pub(crate) fn schedules(world: &World, company: Id<Company>) -> Vec<Arc<PaySchedule>> {
    let base = world.base();
    let grown = base.index_of(company).and_then(|index| world.at(index));
    let ids = world.children::<PaySchedule>(company.bits());
    grown.into_iter().chain(ids.filter_map(|id| world.find(id))).collect()
}

/// The company's active schedule.
pub(crate) fn active(world: &World, company: Id<Company>) -> Option<Arc<PaySchedule>> {
    let mut all = schedules(world, company).into_iter();
    all.find(|schedule| schedule.status == ScheduleStatus::Active)
}

/// The company's pay periods that end in a month.
pub(crate) fn ending(world: &World, company: Id<Company>, month: Period) -> Vec<PaySpan> {
    ending_in(&schedules(world, company), world.calendar_of(company), month)
}

/// The pay period that contains a day, or the next one if none does.
pub(crate) fn containing(world: &World, company: Id<Company>, day: Date) -> PaySpan {
    let months = [day.period(), day.period().plus_months(1)];
    let mut spans = months.into_iter().flat_map(|month| ending(world, company, month));
    let found = spans.find(|span| span.end >= day);
    found.unwrap_or_else(|| PaySpan::month(day.period()))
}

/// The day on which the wages of a pay period are due.
pub(crate) fn due_on(world: &World, company: &Company, span: PaySpan) -> Date {
    due_by(&schedules(world, company.id), world.calendar_of(company.id), company, span)
}

/// The due date of a pay period, from given schedules and calendar.
pub(crate) fn due_by(
    schedules: &[Arc<PaySchedule>],
    calendar: &Calendar,
    company: &Company,
    span: PaySpan,
) -> Date {
    calendar.or_business_day_before(falls_on(schedules, company, span))
}

/// The next day whose cut-off is in the future.
pub(crate) fn first_day_to_pay(world: &World, company: &Company) -> Date {
    world.calendar_of(company.id).open_day(world.now())
}

/// The pay date of a pay period before its adjustment to a business day.
fn falls_on(schedules: &[Arc<PaySchedule>], company: &Company, span: PaySpan) -> Date {
    let mut schedules = schedules.iter();
    match schedules.find(|schedule| schedule.containing(span.end) == Some(span)) {
        Some(schedule) => span.end.plus_days(i32::from(schedule.pay_days_after)),
        None => span.period().day(company.payroll_settings.pay_day),
    }
}

/// The day that determines the number of a run's tax period: its pay date before the adjustment to a business day.
pub(crate) fn regular_day(world: &World, run: &PayrollRun) -> Date {
    let Some(company) = world.find(run.company_id) else { return run.pay_date };
    let day = falls_on(&schedules(world, company.id), &company, run.span());
    let moved = world.calendar_of(company.id).or_business_day_before(day);
    if moved == run.pay_date { day } else { run.pay_date }
}

/// The last day that a regular run pays, with the months before the world's start.
pub(crate) fn paid_until(world: &World, company: &Company) -> Option<Date> {
    let base = world.base();
    let pays = base.index_of(company.id).map(|index| base.plan(index).pays.pays());
    let history = pays.map(|pays| base.pay(pays.end - 1).span.end);
    let ids = world.children::<PayrollRun>(company.id.bits());
    let runs = ids.filter_map(|id| world.find(id));
    let regular = runs.filter(|run| run.kind == RunType::Regular && !run.is_void());
    regular.map(|run| run.span().end).chain(history).max()
}

/// The pay period of an `off_cycle` or `correction` run, among those that end in its month. A correction belongs to
/// the pay period that was reversed last. Other extra pay belongs to the first pay period whose wages are due on or
/// after its pay date. The default pay date is the earliest possible day.
pub(crate) fn extra_pay_period(
    world: &World,
    company: &Company,
    (month, kind): (Period, RunType),
    pay_date: Option<Date>,
) -> PaySpan {
    let spans = ending(world, company.id, month);
    if let Some(span) =
        reversed_last(world, company, &spans).filter(|_| kind == RunType::Correction)
    {
        return span;
    }
    let day = pay_date.unwrap_or_else(|| first_day_to_pay(world, company));
    // The days of a month before its first pay period are no pay period of the schedule.
    let whole = |span: &&PaySpan| span.frequency != PayPeriod::Monthly || span.is_month();
    let found = spans.iter().filter(whole).find(|span| due_on(world, company, **span) >= day);
    *found.or(spans.last()).expect("a pay period ends in every month")
}

/// Of these pay periods, the one whose run was reversed last.
fn reversed_last(world: &World, company: &Company, spans: &[PaySpan]) -> Option<PaySpan> {
    let runs = world.children::<PayrollRun>(company.id.bits()).rev();
    let reversals = runs.filter_map(|id| world.find(id)?.reverses);
    let mut reversed = reversals.filter_map(|id| Some(world.find(id)?.span()));
    reversed.find(|span| spans.contains(span))
}

/// A run requested by a caller.
pub(crate) struct NewRun<'a> {
    pub(crate) company: &'a Company,
    pub(crate) month: Period,
    pub(crate) kind: RunType,
    /// The member of the body that names the employees.
    pub(crate) member: &'static str,
    /// Whether the body names the employees.
    pub(crate) named: bool,
    /// The pay date of the body.
    pub(crate) pay_date: Option<Date>,
}

impl<'a> NewRun<'a> {
    pub(crate) fn of(&self, span: PaySpan) -> Wanted<'a> {
        Wanted { company: self.company, span, kind: self.kind, member: self.member }
    }

    /// The run with its pay period and its employees. A regular run pays the first pay period that ends in the month and that is not paid
    /// yet.
    pub(crate) fn with_employees(
        &self,
        world: &World,
        employees: impl Fn(&Wanted<'_>) -> Result<Vec<Id<Employee>>>,
    ) -> Result<(Wanted<'a>, Vec<Id<Employee>>)> {
        self.in_the_books(world)?;
        let spans = || ending(world, self.company.id, self.month);
        match self.kind {
            RunType::Termination => return self.final_pay(world, &spans(), employees),
            RunType::OffCycle | RunType::Correction => {
                let wanted = self.of(extra_pay_period(
                    world,
                    self.company,
                    (self.month, self.kind),
                    self.pay_date,
                ));
                let employees = employees(&wanted)?;
                return Ok((wanted, employees));
            }
            RunType::Regular => {}
        }
        let mut refusal = None;
        for span in spans() {
            let wanted = self.of(span);
            let employees = match employees(&wanted) {
                Ok(employees) => employees,
                Err(error) => {
                    refusal.get_or_insert(error);
                    continue;
                }
            };
            match wanted.not_yet_run(world, &employees, self.named, None) {
                Ok(()) => return Ok((wanted, employees)),
                Err(error) if wanted.all_have_run(world, &employees) => refusal = Some(error),
                Err(error) => return Err(error),
            }
        }
        Err(refusal.expect("a pay period ends in every month"))
    }

    /// Refuses a month that ended before the books of a company with a history: its wages would be in no balance sheet. A created
    /// company can run earlier months, with entries on the first day of its books.
    fn in_the_books(&self, world: &World) -> Result<()> {
        let begin = start_of_books(world, self.company);
        let has_history = world.base().history(self.company.id).is_some();
        if has_history && self.month.last_day() < begin {
            let detail = format!("the books start on {begin}");
            return Err(ApiError::of_member("/period", "range", detail));
        }
        Ok(())
    }

    /// Final pay is for the pay period with the last day of work.
    fn final_pay(
        &self,
        world: &World,
        spans: &[PaySpan],
        employees: impl Fn(&Wanted<'_>) -> Result<Vec<Id<Employee>>>,
    ) -> Result<(Wanted<'a>, Vec<Id<Employee>>)> {
        let last = *spans.last().expect("a pay period ends in every month");
        let all = PaySpan { start: spans[0].start.min(self.month.first_day()), ..last };
        let employees = employees(&self.of(all))?;
        let ends = employees.iter().filter_map(|id| world.find(*id)?.end_date);
        let Some(end) = ends.max().filter(|end| *end > last.end) else {
            let ends = employees.iter().filter_map(|id| world.find(*id)?.end_date);
            let end = ends.max().unwrap_or(last.end);
            let span = spans.iter().find(|span| span.end >= end).copied().unwrap_or(last);
            return Ok((self.of(span), employees));
        };
        let span = containing(world, self.company.id, end);
        if span.is_month() {
            return Ok((self.of(last), employees)); // the days of this month are paid now
        }
        let detail = format!(
            "the employment ends on {end}, in the pay period {span}: run it in {}",
            span.period()
        );
        Err(ApiError::of_member("/period", "other_pay_period", detail))
    }
}

/// Months that are tried for a run.
const MONTHS: u32 = 18;

/// The first month from the current one in which none of these employees has a regular run.
pub(crate) fn first_free_month(
    world: &World,
    company: &Company,
    employees: &[Id<Employee>],
) -> Result<Period, ApiError> {
    let mut month = world.today().period();
    for _ in 0..MONTHS {
        let run = NewRun {
            company,
            month,
            kind: RunType::Regular,
            member: "",
            named: true,
            pay_date: None,
        };
        let mut spans = ending(world, company.id, month).into_iter();
        if spans.any(|span| run.of(span).not_yet_run(world, employees, true, None).is_ok()) {
            return Ok(month);
        }
        month = month.plus_months(1);
    }
    let detail = format!(
        "{} has runs for the next {MONTHS} months: advance the clock, or name a period",
        company.id
    );
    Err(ApiError::new(ErrorCode::PayrollPeriodAlreadyRun, detail))
}
