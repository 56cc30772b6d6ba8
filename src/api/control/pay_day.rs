//! The next pay day of a world: to advance the clock to it.

use crate::api::business::pay_periods::{due_by, schedules};
use crate::api::prelude::*;
use crate::model::business::pay_schedule::ending_in;
use crate::model::business::{CompanyStatus, PayrollRun};
use crate::value::long_work;

/// The hour of the pay day to which the clock advances, in UTC.
const NOON: i64 = 12;
/// The months after the current one whose pay periods are read: a pay period is paid at most one month after its end.
const MONTHS: i32 = 2;

/// Noon of the next pay day: of an open run, or of a pay period of an active company.
pub(crate) fn next(world: &World) -> Result<Timestamp> {
    let companies = Candidates::<Company>::all(world);
    may_scan(
        world.base().count(Kind::Company) + world.created::<Company>().len() as u64,
        "/until",
    )?;
    let found = long_work::run(|| {
        let of_companies = companies.every(world).into_iter();
        let of_companies = of_companies.filter_map(|company| of_company(world, &company));
        of_companies.chain(of_runs(world)).min()
    });
    found.ok_or_else(|| {
        let detail = "no active company has a pay day: create a company, or advance by a duration";
        ApiError::of_member("/until", "no_pay_day", detail)
    })
}

fn is_ahead(world: &World, day: Date) -> Option<Timestamp> {
    Some(day.at_hour(NOON)).filter(|noon| *noon > world.now())
}

/// The next pay day of a company's calendar.
fn of_company(world: &World, company: &Company) -> Option<Timestamp> {
    if company.status != CompanyStatus::Active {
        return None;
    }
    let (schedules, calendar) = (schedules(world, company.id), world.calendar_of(company.id));
    let month = world.today().period();
    let spans =
        (-1..=MONTHS).flat_map(|later| ending_in(&schedules, calendar, month.plus_months(later)));
    let days = spans.map(|span| due_by(&schedules, calendar, company, span));
    days.filter_map(|day| is_ahead(world, day)).min()
}

/// The pay days of runs that were created since the start and are not void: a caller may have chosen another day.
fn of_runs(world: &World) -> impl Iterator<Item = Timestamp> {
    let runs = world.created::<PayrollRun>().filter_map(|id| world.find(id));
    let open = runs.filter(|run| !run.is_void());
    open.filter_map(|run| is_ahead(world, run.pay_date))
}
