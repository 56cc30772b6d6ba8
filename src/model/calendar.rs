//! Business days: weekends, public holidays and the daily cut-off of a country. Data only: `fixtures/calendars.toml`.
//!
//! May import `value` and the reader of embedded tables. Deliberately absent: half days and regional holidays. Code without a country (a
//! span of the clock, the history of a grown world) knows weekends only: [`Date`].

mod rule;

#[cfg(test)]
mod tests;

use std::sync::{LazyLock, OnceLock};

use self::rule::{Holiday, Moved, Sheet, Weekday};
use crate::model::growth::Sections;
use crate::model::payroll::Roll;
use crate::model::prelude::*;

/// Years with known holidays: all years that a date in a world can have, and a margin.
const YEARS: core::ops::Range<i16> = 1970..2210;

/// The business days of one country.
#[derive(Debug, Deserialize)]
#[serde(try_from = "Sheet")]
pub(crate) struct Calendar {
    weekend: Vec<Weekday>,
    cut_off_ms: i64,
    holidays: Vec<(Holiday, Moved)>,
    /// Days off by year, each calculated when it is first needed.
    days_off: Vec<OnceLock<Box<[Date]>>>,
}

impl Calendar {
    /// The calendar of that country, or of an authority with its own. Without a table: weekends on Saturday and Sunday, no holidays, the usual cut-off.
    pub(crate) fn of(country: &str) -> &'static Self {
        CALENDARS.find(country).unwrap_or(&PLAIN)
    }

    /// Whether the day is neither a weekend nor a holiday.
    pub(crate) fn is_business_day(&self, day: Date) -> bool {
        !self.is_weekend(day) && !self.is_day_off(day)
    }

    /// This day, or the nearest business day before it.
    pub(crate) fn or_business_day_before(&self, day: Date) -> Date {
        let mut day = day;
        while !self.is_business_day(day) {
            day = day.plus_days(-1);
        }
        day
    }

    /// This day, or the nearest business day after it.
    pub(crate) fn or_business_day_after(&self, day: Date) -> Date {
        let mut day = day;
        while !self.is_business_day(day) {
            day = day.plus_days(1);
        }
        day
    }

    /// The due date after the rule for weekends and holidays, for a date set by law.
    pub(crate) fn rolled(&self, day: Date, roll: Option<Roll>) -> Date {
        match roll {
            None => day,
            Some(Roll::PreviousBusinessDay) => self.or_business_day_before(day),
            Some(Roll::NextBusinessDay) => self.or_business_day_after(day),
        }
    }

    /// That many business days later.
    pub(crate) fn plus_business_days(&self, day: Date, days: u32) -> Date {
        (0..days).fold(day, |day, _| self.or_business_day_after(day.plus_days(1)))
    }

    /// That many business days earlier.
    pub(crate) fn minus_business_days(&self, day: Date, days: u32) -> Date {
        (0..days).fold(day, |day, _| self.or_business_day_before(day.plus_days(-1)))
    }

    /// The instant on that day after which business counts for the next day.
    pub(crate) fn cut_off(&self, day: Date) -> Timestamp {
        day.midnight().plus_millis(self.cut_off_ms)
    }

    /// The first business day whose cut-off is in the future.
    pub(crate) fn open_day(&self, now: Timestamp) -> Date {
        let late = now >= self.cut_off(now.date());
        self.or_business_day_after(now.date().plus_days(i32::from(late)))
    }

    /// The instant one span later; business days keep the time of day.
    pub(crate) fn after(&self, instant: Timestamp, span: Span) -> Timestamp {
        match span {
            Span::Millis(ms) => instant.plus_millis(ms),
            Span::BusinessDays(days) => self
                .plus_business_days(instant.date(), days)
                .midnight()
                .plus_millis(instant.millis_of_day())
                .min(Timestamp::MAX),
        }
    }

    /// Days between two dates, both included, without weekends; holidays count. 0 if the second is before the first.
    pub(crate) fn working_days(&self, from: Date, to: Date) -> u32 {
        let days = u32::try_from(to.days_since(from) + 1).unwrap_or(0);
        let of_week = u32::try_from(7 - self.weekend.len()).unwrap_or(0);
        let rest = (days / 7 * 7..days).map(|day| from.plus_days(day.cast_signed()));
        days / 7 * of_week + rest.map(|day| u32::from(!self.is_weekend(day))).sum::<u32>()
    }

    fn is_weekend(&self, day: Date) -> bool {
        self.weekend.contains(&Weekday::of(day))
    }

    fn is_day_off(&self, day: Date) -> bool {
        let year = day.civil().year();
        let place = usize::try_from(year - YEARS.start).ok();
        let days = place.and_then(|place| self.days_off.get(place));
        days.is_some_and(|days| {
            let days = days.get_or_init(|| self.days_off_in(year));
            days.binary_search(&day).is_ok()
        })
    }

    /// All days off of a year, ascending, including weekend holidays and their substitutes. The adjacent years are included because a
    /// substitute can fall in another year.
    fn days_off_in(&self, year: i16) -> Box<[Date]> {
        let mut off: Vec<Date> = Vec::new();
        let mut lost: Vec<(Date, Moved)> = Vec::new();
        for year in year - 1..=year + 1 {
            for (holiday, moved) in &self.holidays {
                let days = holiday.days(year);
                lost.extend(days.iter().map(|&day| (day, *moved)));
                off.extend(days);
            }
        }
        lost.retain(|(day, _)| self.is_weekend(*day));
        lost.sort_unstable_by_key(|(day, _)| *day);
        for (day, moved) in lost {
            let taken = |day: Date| self.is_weekend(day) || off.contains(&day);
            off.extend(moved.instead_of(day, taken));
        }
        off.retain(|day| day.civil().year() == year);
        off.sort_unstable();
        off.dedup();
        off.into()
    }
}

impl TryFrom<Sheet> for Calendar {
    type Error = String;

    fn try_from(sheet: Sheet) -> Result<Self, String> {
        let country = sheet.code.clone();
        let (weekend, cut_off_ms, holidays) =
            sheet.read().map_err(|error| format!("{country}: {error}"))?;
        Ok(Self {
            weekend,
            cut_off_ms,
            holidays,
            days_off: YEARS.map(|_| OnceLock::new()).collect(),
        })
    }
}

/// The calendar of a country without a table.
static PLAIN: LazyLock<Calendar> = LazyLock::new(|| {
    Calendar::try_from(Sheet::default()).expect("an empty table says nothing that is wrong")
});

static CALENDARS: LazyLock<Sections<Calendar>> = LazyLock::new(|| {
    Sections::of("calendars.toml", include!(concat!(env!("OUT_DIR"), "/calendars.rs")))
});
