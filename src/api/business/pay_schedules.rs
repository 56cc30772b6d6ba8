//! Pay schedules: create, list, read, end; their pay periods; and the runs that the clock drafts for them.

use crate::api::business::pay_periods::{NewRun, active, due_by, due_on, paid_until, schedules};
use crate::api::business::payroll::new_run;
use crate::api::business::payroll_clock::get;
use crate::api::prelude::*;
use crate::model::business::{
    NextDraft, PaySchedule, PaySpan, PayrollRun, RunStatus, RunType, ScheduleStatus,
};
use crate::model::payroll::{self, PayPeriod};
use crate::world::pay_calendar::PAY_DAYS_AFTER;

pub(crate) const OPERATIONS: &[Operation] = &Domain::Business.table([
    Operation {
        path: "/api/business/pay-schedules",
        summary: "List pay schedules",
        description: "Lists pay schedules in creation order, starting with those that companies \
            had before the world's start. A company without a \
            schedule pays whole months.",
        ..operation!(read list_pay_schedules)
    },
    Operation {
        path: "/api/business/pay-schedules",
        summary: "Create a pay schedule",
        description: "Sets how often a company pays, from `first_day` on. A regular run then pays \
            one pay period: the first unpaid pay period that ends in the month of the run. Monthly \
            amounts of pay terms, allowances and deductions are multiplied by 12 and divided by \
            the number of pay periods in a year. Days that no schedule covers are paid monthly. If \
            the company already has an active schedule, that schedule ends with its last pay \
            period before `first_day`. With `draft_days_before`, the clock drafts each run for all \
            payable employees.",
        example: r#"{"company_id":"@company:3","frequency":"monthly","first_day":"2026-02-01","pay_days_after":0,"draft_days_before":5}"#,
        success: 201,
        emits: &["pay_schedule.created", "pay_schedule.ended"],
        starts: &[TaskKind::DraftScheduledRun],
        ..operation!(write create_pay_schedule)
    },
    Operation {
        path: "/api/business/pay-schedules/{pay_schedule_id}",
        summary: "Read a pay schedule",
        description: "Returns a pay schedule with the run that the clock drafts next.",
        ..operation!(get get_pay_schedule: PaySchedule)
    },
    Operation {
        path: "/api/business/pay-schedules/{pay_schedule_id}/periods",
        summary: "List the pay periods of a schedule",
        description: "Returns pay periods in order, each with its pay date, the last moment to \
            approve its run, and the regular runs that pay it.",
        ..operation!(read list_pay_periods)
    },
    Operation {
        path: "/api/business/pay-schedules/{pay_schedule_id}/end",
        summary: "End a pay schedule",
        description: "Ends a schedule after its current pay period, or after the pay period that \
            contains `last_day`. Payroll can still be run for the pay periods until then. Later \
            days are paid monthly, or by another schedule.",
        errors: &[ErrorCode::InvalidStateTransition],
        emits: &["pay_schedule.ended"],
        ..operation!(write end_pay_schedule)
    },
]);

list! {
    fn list_pay_schedules(ListPaySchedules) -> PaySchedule,
        from |world, input| candidates(world, input.company_id), of company_id;
    filter
        company_id: Id<Company>,
        status: ScheduleStatus,
        frequency: PayPeriod;
    sort created_at, first_day;
}

/// The schedules of grown companies that do not pay monthly, then those created since.
fn candidates(world: &World, company: Option<Id<Company>>) -> Candidates<'_, PaySchedule> {
    let base = world.base();
    let companies = match company {
        None => 0..base.shape().companies,
        Some(company) => base.index_of(company).map_or(0..0, |index| index..index + 1),
    };
    let payers = base.payers(|frequency| !frequency.is_month(), companies);
    let grown = payers.count;
    let find = move |rank| payers.at(rank);
    match company {
        Some(company) => Candidates::new(grown, find, world.children(company.bits())),
        None => Candidates::new(grown, find, world.created()),
    }
}

/// A new pay schedule.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct CreatePaySchedule {
    /// The company that pays.
    company_id: Id<Company>,
    /// How often employees are paid. The payroll pack of the company's country must have tables for it.
    frequency: PayPeriod,
    /// The first day of the first pay period: the first of a month if `monthly`, the first or the 16th if `semimonthly`.
    first_day: Date,
    /// Days from the last day of a pay period to its pay date. Default: 5.
    #[schemars(range(min = 0, max = 31))]
    pay_days_after: Option<u16>,
    /// How many days before its pay date the clock drafts a run. Default: the clock drafts none.
    #[schemars(range(min = 1, max = 31))]
    draft_days_before: Option<u16>,
    /// Key-value pairs set by the caller.
    metadata: Option<Metadata>,
}

fn create_pay_schedule(world: &mut World, input: CreatePaySchedule) -> Result<Single<PaySchedule>> {
    let company = existing(world, input.company_id, "/company_id")?;
    ApiError::if_any(faults(world, &company, &input))?;
    if let Some(active) = active(world, company.id) {
        let before = input.first_day.plus_days(-1);
        let last = match active.containing(before) {
            Some(span) if span.end == before => before,
            Some(span) => span.start.plus_days(-1),
            None => active.first_day.plus_days(-1),
        };
        end_after(world, (*active).clone(), last);
    }
    let now = world.now();
    let mut schedule = PaySchedule {
        id: world.next_id(company.id.bits()),
        object: Object::NAME,
        company_id: company.id,
        frequency: input.frequency,
        first_day: input.first_day,
        last_day: None,
        pay_days_after: input.pay_days_after.unwrap_or(PAY_DAYS_AFTER),
        draft_days_before: input.draft_days_before,
        next_draft: None,
        status: ScheduleStatus::Active,
        created_at: now,
        updated_at: now,
        metadata: input.metadata.unwrap_or_default(),
        status_history: [StatusChange::plain(ScheduleStatus::Active, now)].into(),
    };
    plan_draft(world, &company, &mut schedule, input.first_day);
    Ok(Data(Shown(world.record("pay_schedule.created", schedule))))
}

/// The mistakes in a new schedule.
fn faults(world: &World, company: &Company, input: &CreatePaySchedule) -> Vec<Violation> {
    let (frequency, first) = (input.frequency, input.first_day);
    let mut wrong = Vec::new();
    let pack = payroll::library().in_force(&company.country, first.civil()).pack;
    if !pack.periods.contains(&frequency) {
        let known: Vec<&str> = pack.periods.iter().map(|known| known.name()).collect();
        let detail = format!(
            "the payroll pack {} has no {frequency} tables; expected one of {}",
            pack.code,
            known.join(", ")
        );
        wrong.push(Violation::new("/frequency", "unknown_frequency", detail));
    }
    let mut fault = |code, detail| wrong.push(Violation::new("/first_day", code, detail));
    if !PaySchedule::may_begin(frequency, first) {
        let days = match frequency {
            PayPeriod::Semimonthly => "the first or the 16th",
            _ => "the first",
        };
        fault("not_a_first_day", format!("a {frequency} pay period begins on {days} of a month"));
    }
    if first.period() >= Timestamp::MAX.date().period() {
        fault("range", "must be before the last month of virtual time".to_owned());
    }
    let before = schedules(world, company.id).into_iter().filter_map(|known| known.last_day);
    if let Some(last) = before.max().filter(|last| first <= *last) {
        fault("overlaps", format!("must be after {last}, the last day of the earlier schedule"));
    }
    if let Some(last) = paid_until(world, company).filter(|last| first <= *last) {
        fault("already_run", format!("must be after {last}, the last day that a regular run pays"));
    }
    wrong
}

/// The pay periods of a schedule to return.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct ListPayPeriods {
    /// The schedule.
    pay_schedule_id: Id<PaySchedule>,
    /// A day in the first pay period to return. Default: today.
    from: Option<Date>,
    /// Maximum number of pay periods. Default: 10.
    #[schemars(range(min = 1, max = 60))]
    limit: Option<usize>,
}

/// One pay period of a schedule.
#[derive(Serialize, JsonSchema)]
pub(crate) struct PayPeriodOfSchedule {
    #[serde(flatten)]
    days: PaySpan,
    /// The month that is the `period` of a run for this pay period.
    period: Period,
    /// The day on which wages are due.
    pay_date: Date,
    /// The last moment to approve the run for that pay date.
    approval_deadline: Timestamp,
    /// The regular runs of this pay period that were not cancelled, failed or reversed.
    payroll_run_ids: Vec<Id<PayrollRun>>,
}

/// Pay periods in order.
#[derive(Serialize, JsonSchema)]
pub(crate) struct PayPeriods {
    /// The schedule.
    pay_schedule_id: Id<PaySchedule>,
    /// The pay periods, in order.
    periods: Vec<PayPeriodOfSchedule>,
}

impl Identified for PayPeriods {
    fn id_text(&self) -> Option<String> {
        None
    }
}

fn list_pay_periods(world: &World, input: ListPayPeriods) -> Result<Data<PayPeriods>> {
    let schedule = world.get(input.pay_schedule_id)?;
    let company = world.get(schedule.company_id)?;
    let from = input.from.unwrap_or(world.today());
    let spans = schedule.from(from).take(input.limit.unwrap_or(10));
    let periods = spans.map(|span| {
        let pay_date = due_on(world, &company, span);
        PayPeriodOfSchedule {
            days: span,
            period: span.period(),
            pay_date,
            approval_deadline: world.calendar_of(company.id).cut_off(pay_date),
            payroll_run_ids: runs_of(world, company.id, span).map(|run| run.id).collect(),
        }
    });
    Ok(Data(PayPeriods { pay_schedule_id: schedule.id, periods: periods.collect() }))
}

fn runs_of(
    world: &World,
    company: Id<Company>,
    span: PaySpan,
) -> impl Iterator<Item = Arc<PayrollRun>> + '_ {
    let runs = world.children::<PayrollRun>(company.bits()).filter_map(|id| world.find(id));
    runs.filter(move |run| run.kind == RunType::Regular && run.span() == span && !run.is_void())
}

/// How a schedule ends.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct EndPaySchedule {
    /// The schedule.
    pay_schedule_id: Id<PaySchedule>,
    /// A day in its last pay period; not before today. Default: today.
    last_day: Option<Date>,
}

fn end_pay_schedule(world: &mut World, input: EndPaySchedule) -> Result<Single<PaySchedule>> {
    Ok(Data(Shown(end(world, input.pay_schedule_id, input.last_day)?)))
}

/// Ends a schedule after the pay period that contains the day: today, unless the caller names another.
pub(crate) fn end(
    world: &mut World,
    id: Id<PaySchedule>,
    last_day: Option<Date>,
) -> Result<Arc<PaySchedule>> {
    let schedule = (*world.get(id)?).clone();
    step("end", "the schedule", schedule.id, schedule.status)?;
    let day = last_day.unwrap_or(world.today());
    if day < world.today() {
        let detail = format!("must be on or after today, {}", world.today());
        return Err(ApiError::of_member("/last_day", "in_the_past", detail));
    }
    let last = schedule.containing(day).map_or(schedule.first_day.plus_days(-1), |span| span.end);
    if let Some(paid) = last_run(world, &schedule).filter(|paid| *paid > last) {
        let detail = format!("must be on or after {paid}, the last day that a regular run pays");
        return Err(ApiError::of_member("/last_day", "already_run", detail));
    }
    Ok(end_after(world, schedule, last))
}

fn end_after(world: &mut World, mut schedule: PaySchedule, last: Date) -> Arc<PaySchedule> {
    schedule.last_day = Some(last);
    schedule.enter(ScheduleStatus::Ended, world.now());
    if schedule.next_draft.is_some_and(|draft| draft.pay_period.end > last) {
        schedule.next_draft = None;
        world.drop_timers(Task::DraftScheduledRun(schedule.id));
    }
    world.record("pay_schedule.ended", schedule)
}

/// The last day that a regular run of the schedule pays.
fn last_run(world: &World, schedule: &PaySchedule) -> Option<Date> {
    let runs = world.children::<PayrollRun>(schedule.company_id.bits());
    let runs = runs.filter_map(|id| world.find(id));
    let regular = runs.filter(|run| run.kind == RunType::Regular && !run.is_void());
    let spans = regular.map(|run| run.span());
    spans.filter(|span| schedule.containing(span.end) == Some(*span)).map(|span| span.end).max()
}

/// Sets the timer for the next draft: of the first pay period from `day` on whose draft day is in the future.
fn plan_draft(world: &mut World, company: &Company, schedule: &mut PaySchedule, day: Date) {
    let Some(days) = schedule.draft_days_before else { return };
    let calendar = world.calendar_of(company.id);
    let own = [Arc::new(schedule.clone())];
    let drafts = schedule.from(day).map(|pay_period| NextDraft {
        on: due_by(&own, calendar, company, pay_period).plus_days(-i32::from(days)),
        pay_period,
    });
    let today = world.today();
    let next = drafts.take(PERIODS_AHEAD).find(|draft| draft.on > today);
    schedule.next_draft = next;
    if let Some(draft) = next {
        world.remind_at(draft.on.midnight(), Task::DraftScheduledRun(schedule.id));
    }
}

/// The number of pay periods searched for the next draft. It is enough for a schedule that started some years ago.
const PERIODS_AHEAD: usize = 1_000;

/// Drafts the run of the planned pay period, if no run pays it yet and an employee can be paid.
pub(crate) fn draft_scheduled_run(world: &mut World, id: Id<PaySchedule>) {
    let mut schedule = (*get(world, id)).clone();
    let company = get(world, schedule.company_id);
    let Some(NextDraft { pay_period, .. }) = schedule.next_draft else { return };
    draft(world, &company, pay_period);
    plan_draft(world, &company, &mut schedule, pay_period.end.plus_days(1));
    schedule.updated_at = world.now();
    world.record("pay_schedule.updated", schedule);
}

fn draft(world: &mut World, company: &Company, span: PaySpan) {
    let new = NewRun {
        company,
        month: span.period(),
        kind: RunType::Regular,
        member: "",
        named: false,
        pay_date: None,
    };
    let wanted = new.of(span);
    let Ok(employees) = wanted.everyone(world) else { return };
    if wanted.not_yet_run(world, &employees, false, None).is_err() {
        return;
    }
    let run = new_run(world, &wanted, employees);
    let run = world.record("payroll_run.created", run);
    let calendar = world.calendar_of(company.id);
    let deadline = calendar.cut_off(run.pay_date);
    let reminder = calendar.cut_off(calendar.or_business_day_before(run.pay_date.plus_days(-1)));
    for (at, task) in
        [(reminder, Task::RemindOfApproval(run.id)), (deadline, Task::MissApproval(run.id))]
    {
        if at > world.now() {
            world.remind_at(at, task);
        }
    }
}

/// Whether the run still waits for its approval.
fn waits(run: &PayrollRun) -> bool {
    matches!(
        run.status,
        RunStatus::Draft
            | RunStatus::Calculating
            | RunStatus::Calculated
            | RunStatus::PendingApproval
    )
}

/// One business day is left to approve the run.
pub(crate) fn remind_of_approval(world: &mut World, id: Id<PayrollRun>) {
    let run = get(world, id);
    if waits(&run) {
        world.emit("payroll_run.approval_due", &run);
    }
}

/// The run can no longer be paid on its pay date.
pub(crate) fn miss_approval(world: &mut World, id: Id<PayrollRun>) {
    let run = get(world, id);
    if waits(&run) {
        world.emit("payroll_run.approval_overdue", &run);
    }
}
