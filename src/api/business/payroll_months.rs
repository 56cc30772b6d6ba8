//! The months of a run's cost: the months in which its employees worked (IAS 19, paragraph 11), by working days.

use std::collections::BTreeMap;

use crate::api::business::accounting_periods::{is_open, start_of_books};
use crate::api::prelude::*;
use crate::model::JournalEntry;
use crate::model::business::{PayrollItem, PayrollRun};
use crate::model::posting::{self, Posting, RunCost};

/// Accrues the cost of an approved run: one entry for each month of its pay period, in order.
pub(crate) fn accrue(
    world: &mut World,
    run: &PayrollRun,
    items: &[Arc<PayrollItem>],
) -> Vec<Arc<JournalEntry>> {
    let parts = by_month(&months(world, run), items, &[]);
    let posted = parts.into_iter().filter_map(|(month, part)| {
        let posting = posting::run_approved(AnyId::of(run.id), run.currency, &part);
        let day = day_in(world, run.company_id, month);
        world.post_on(run.company_id, posting, day)
    });
    posted.collect()
}

/// Posts the opposite of the accrual, dated as the accrual, so that no month has wages of a run that was never paid.
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

/// Takes back the cost of reversed items in the months in which it was accrued. `rest` are the items that are not
/// reversed.
pub(crate) fn take_back(
    world: &mut World,
    (run, reversal): (&PayrollRun, &PayrollRun),
    items: &[Arc<PayrollItem>],
    rest: &[Arc<PayrollItem>],
) -> Vec<Arc<JournalEntry>> {
    let accrued = accruals(world, run);
    let accrued: Vec<Period> = accrued.iter().map(|entry| entry.effective_on.period()).collect();
    let parts = by_month(&months(world, run), items, rest);
    let posted = parts.into_iter().filter_map(|(month, part)| {
        const MEMO: &str = "Payroll reversed";
        let posting = posting::run_mirrored(MEMO, AnyId::of(reversal.id), run.currency, &part);
        // The cost of a closed month was accrued in a later month.
        let month = accrued.iter().find(|accrued| **accrued >= month).copied().unwrap_or(month);
        let day = day_in(world, run.company_id, month);
        world.post_on(run.company_id, posting, day)
    });
    posted.collect()
}

/// The cost of items in each month. Pay for a whole pay period is divided by the working days of the months; pay for
/// a part, by its own paid days. `rest` are the run's other items.
fn by_month(
    months: &[(Period, u32)],
    items: &[Arc<PayrollItem>],
    rest: &[Arc<PayrollItem>],
) -> Vec<(Period, RunCost)> {
    let mut alike: BTreeMap<Option<Vec<u32>>, (RunCost, RunCost)> = BTreeMap::new();
    for item in items {
        alike.entry(own_days(item, months)).or_default().0.add_item(item);
    }
    for item in rest {
        if let Some((_, rest)) = alike.get_mut(&own_days(item, months)) {
            rest.add_item(item);
        }
    }
    let mut sums: Vec<_> = months.iter().map(|(month, _)| (*month, RunCost::default())).collect();
    for (days, (cost, rest)) in alike {
        let mut months = months.to_vec();
        for ((_, of_month), days) in months.iter_mut().zip(days.into_iter().flatten()) {
            *of_month = days;
        }
        for ((_, sum), (_, part)) in sums.iter_mut().zip(cost.by_month(&months, &rest)) {
            sum.add_cost(part);
        }
    }
    sums
}

/// The days of each month that an item pays, if it pays only a part of the pay period.
fn own_days(item: &PayrollItem, months: &[(Period, u32)]) -> Option<Vec<u32>> {
    let paid = &item.calculation.extras()?.paid_months;
    let of =
        |month: &Period| paid.iter().find(|(paid, _)| paid == month).map_or(0, |(_, days)| *days);
    let days: Vec<u32> = months.iter().map(|(month, _)| of(month)).collect();
    days.iter().any(|days| *days > 0).then_some(days)
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

/// Today if it is in that month, or else the nearest day of the month. If the month is closed, a day in the next
/// open month. Never before the start of the books, which can be within the pay period.
fn day_in(world: &World, company: Id<Company>, month: Period) -> Date {
    let today = world.today();
    let begin = world.find(company).map(|company| start_of_books(world, &company));
    let begin = begin.unwrap_or(month.first_day());
    let months = (0..).map(|later| month.plus_months(later));
    let days = months.map(|month| today.clamp(month.first_day(), month.last_day()));
    let mut days = days.map(|day| day.max(begin));
    let open = days.find(|day| is_open(world, company, *day));
    open.expect("the current month is open")
}
