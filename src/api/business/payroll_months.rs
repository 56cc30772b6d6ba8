//! The months in which the cost of a run counts: those in which its employees worked (IAS 19, paragraph 11), by working days.

use crate::api::business::accounting_periods::is_open;
use crate::api::prelude::*;
use crate::model::JournalEntry;
use crate::model::business::PayrollRun;
use crate::model::posting::{self, Posting, RunCost};

/// Accrues the cost of an approved run: one entry for each month of its pay period, in order.
pub(crate) fn accrue(
    world: &mut World,
    run: &PayrollRun,
    cost: &RunCost,
) -> Vec<Arc<JournalEntry>> {
    let parts = cost.by_month(&months(world, run), &RunCost::default());
    let posted = parts.into_iter().filter_map(|(month, part)| {
        let posting = posting::run_approved(AnyId::of(run.id), run.currency, &part);
        let day = day_in(world, run.company_id, month);
        world.post_on(run.company_id, posting, day)
    });
    posted.collect()
}

/// Posts the mirrors of the accrual on its own days, so that no month has wages of a run that was never paid.
pub(crate) fn unaccrue(
    world: &mut World,
    run: &PayrollRun,
    memo: &'static str,
) -> Vec<Arc<JournalEntry>> {
    let mirrored = accruals(world, run).into_iter().filter_map(|entry| {
        let posting = Posting::mirror(&entry, memo.into(), entry.source);
        let (company, day) = (entry.company_id, entry.effective_on);
        let day =
            if is_open(world, company, day) { day } else { day_in(world, company, day.period()) };
        world.post_on(company, posting, day)
    });
    mirrored.collect()
}

/// Takes back the cost of reversed items in the months in which it was accrued. `rest` is the cost of the items that stay.
pub(crate) fn take_back(
    world: &mut World,
    (run, reversal): (&PayrollRun, &PayrollRun),
    cost: &RunCost,
    rest: &RunCost,
) -> Vec<Arc<JournalEntry>> {
    let accrued = accruals(world, run);
    let accrued: Vec<Period> = accrued.iter().map(|entry| entry.effective_on.period()).collect();
    let parts = cost.by_month(&months(world, run), rest);
    let posted = parts.into_iter().filter_map(|(month, part)| {
        const MEMO: &str = "Payroll reversed";
        let posting = posting::run_mirrored(MEMO, AnyId::of(reversal.id), run.currency, &part);
        // A part of a month that was closed had been accrued in a later one.
        let month = accrued.iter().find(|accrued| **accrued >= month).copied().unwrap_or(month);
        let day = day_in(world, run.company_id, month);
        world.post_on(run.company_id, posting, day)
    });
    posted.collect()
}

/// The working days of each month of the run's pay period.
fn months(world: &World, run: &PayrollRun) -> Vec<(Period, u32)> {
    run.span().working_days_by_month(world.calendar_of(run.company_id))
}

/// The entries of the run's accrual, in order.
fn accruals(world: &World, run: &PayrollRun) -> Vec<Arc<JournalEntry>> {
    let source = AnyId::of(run.id);
    let entries = world.book(run.company_id).into_iter().flat_map(|book| &book.entries);
    let own =
        entries.filter(|entry| entry.source == source && entry.memo == posting::PAYROLL_APPROVED);
    own.cloned().collect()
}

/// Today, but in that month; if it is closed, in the first open month after it.
fn day_in(world: &World, company: Id<Company>, month: Period) -> Date {
    let today = world.today();
    let months = (0..).map(|later| month.plus_months(later));
    let mut days = months.map(|month| today.clamp(month.first_day(), month.last_day()));
    let open = days.find(|day| is_open(world, company, *day));
    open.expect("the current month is open")
}
