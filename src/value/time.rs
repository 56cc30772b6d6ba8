//! Virtual time: instants in milliseconds, dates, payroll periods and business days.
//!
//! Nothing here reads a clock: instants come from the world.

#![expect(
    clippy::cast_possible_truncation,
    reason = "months, days and years of the Gregorian calendar"
)]

mod epoch_day;

use core::cell::Cell;
use core::fmt;
use core::str::FromStr;
use std::borrow::Cow;

use jiff::civil;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::value::short::Short;
use crate::value::wire::{number_parts, text_on_the_wire};

pub(super) const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

/// An instant of virtual time, in whole milliseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// 1970-01-01T00:00:00Z.
    pub const EPOCH: Self = Self(0);
    /// The last instant of a world, in the year 2199. Later dates would exceed the calendar's range.
    pub const MAX: Self = Self(7_258_118_399_999);

    /// That many milliseconds after the epoch.
    #[must_use]
    pub const fn from_millis(ms: i64) -> Self {
        Self(ms)
    }

    /// Milliseconds since the epoch.
    #[must_use]
    pub const fn millis(self) -> i64 {
        self.0
    }

    /// The date in UTC.
    ///
    /// # Panics
    ///
    /// After the calendar's last day, which no world reaches.
    #[must_use]
    pub fn date(self) -> Date {
        Date::of_epoch_day(self.0.div_euclid(DAY_MS)).expect("an instant lies within the calendar")
    }

    /// Milliseconds since midnight UTC.
    #[must_use]
    pub const fn millis_of_day(self) -> i64 {
        self.0.rem_euclid(DAY_MS)
    }

    /// Always three decimals: a varying width breaks simple parsers.
    fn text(self) -> Short {
        // Most members of a resource, and most events of a step, have the same instant.
        thread_local! {
            static LAST: Cell<Option<(Timestamp, Short)>> = const { Cell::new(None) };
        }
        if let Some((last, text)) = LAST.get()
            && last == self
        {
            return text;
        }
        let text = self.near_text().unwrap_or_else(|| self.far_text());
        LAST.set(Some((self, text)));
        text
    }

    /// The text of any instant.
    fn far_text(self) -> Short {
        let mut text = self.date().text();
        let ms = self.millis_of_day().unsigned_abs() as u32;
        for (before, number) in
            [(b'T', ms / 3_600_000), (b':', ms / 60_000 % 60), (b':', ms / 1_000 % 60)]
        {
            text.push(before);
            text.push_pair(number);
        }
        text.push(b'.');
        text.push(b'0' + (ms / 100 % 10) as u8);
        text.push_pair(ms % 100);
        text.push(b'Z');
        text
    }

    /// The instant that many milliseconds later, or earlier if negative; never beyond [`Timestamp::MAX`].
    #[must_use]
    pub fn plus_millis(self, ms: i64) -> Self {
        Self(self.0.saturating_add(ms)).min(Self::MAX)
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Timestamp {
    type Err = &'static str;

    /// Parses RFC 3339 with a zone; finer digits than milliseconds are cut off.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const EXPECTED: &str =
            "expected an instant such as 2026-01-31T09:00:00Z, between 1970 and 2199";
        let strict = text.len() >= 20
            && text.as_bytes()[4] == b'-'
            && matches!(text.as_bytes()[10], b'T' | b't');
        let instant: jiff::Timestamp =
            strict.then(|| text.parse().ok()).flatten().ok_or(EXPECTED)?;
        let instant = Self(instant.as_millisecond());
        (Self::EPOCH..=Self::MAX).contains(&instant).then_some(instant).ok_or(EXPECTED)
    }
}

/// A day of the Gregorian calendar, `YYYY-MM-DD`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date(civil::Date);

impl Date {
    /// Before every day that a caller can send.
    pub const FIRST: Self = Self(civil::Date::MIN);

    /// The day, if it exists in the calendar.
    #[must_use]
    pub fn new(year: i16, month: i8, day: i8) -> Option<Self> {
        civil::Date::new(year, month, day).ok().map(Self)
    }

    /// The calendar's own type, for the payroll packs.
    #[must_use]
    pub const fn civil(self) -> civil::Date {
        self.0
    }

    /// The month that contains it.
    #[must_use]
    pub fn period(self) -> Period {
        Period { year: self.0.year(), month: self.0.month() }
    }

    /// The start of the day, UTC.
    #[must_use]
    pub fn midnight(self) -> Timestamp {
        Timestamp(self.epoch_day() * DAY_MS)
    }

    /// That time of the day, UTC.
    #[must_use]
    pub fn at_hour(self, hour: i64) -> Timestamp {
        self.midnight().plus_millis(hour * 60 * 60 * 1_000)
    }

    pub(super) fn text(self) -> Short {
        let mut text = self.period().text();
        text.push(b'-');
        text.push_pair(self.0.day().unsigned_abs().into());
        text
    }

    /// That many days later, or earlier if negative.
    #[must_use]
    pub fn plus_days(self, days: i32) -> Self {
        let day = Self::of_epoch_day(self.epoch_day() + i64::from(days));
        let last = if days < 0 { civil::Date::MIN } else { civil::Date::MAX };
        day.unwrap_or(Self(last))
    }

    /// The same day that many years later, or earlier if negative; 28 February for a leap day that the year lacks.
    #[must_use]
    pub fn plus_years(self, years: i16) -> Self {
        let (year, month) = (self.0.year().saturating_add(years), self.0.month());
        let last = if years < 0 { civil::Date::MIN } else { civil::Date::MAX };
        let leap_day = || civil::Date::new(year, month, 28);
        Self(civil::Date::new(year, month, self.0.day()).or_else(|_| leap_day()).unwrap_or(last))
    }

    /// Days from `earlier` to this one; negative if it is later.
    #[must_use]
    pub fn days_since(self, earlier: Self) -> i32 {
        (self.epoch_day() - earlier.epoch_day()) as i32
    }

    /// Whether it is neither Saturday nor Sunday. Holidays and other weekends belong to a country: `model::calendar`.
    #[must_use]
    pub fn is_business_day(self) -> bool {
        !matches!(self.0.weekday(), civil::Weekday::Saturday | civil::Weekday::Sunday)
    }

    /// This day, or the nearest business day before it.
    #[must_use]
    pub fn or_business_day_before(self) -> Self {
        let mut day = self;
        while !day.is_business_day() {
            day = day.plus_days(-1);
        }
        day
    }

    /// This day, or the nearest business day after it.
    #[must_use]
    pub fn or_business_day_after(self) -> Self {
        let mut day = self;
        while !day.is_business_day() {
            day = day.plus_days(1);
        }
        day
    }

    /// That many business days later.
    #[must_use]
    pub fn plus_business_days(self, days: u32) -> Self {
        (0..days).fold(self, |day, _| day.plus_days(1).or_business_day_after())
    }

    /// That many business days earlier.
    #[must_use]
    pub fn minus_business_days(self, days: u32) -> Self {
        (0..days).fold(self, |day, _| day.plus_days(-1).or_business_day_before())
    }
}

impl From<civil::Date> for Date {
    fn from(date: civil::Date) -> Self {
        Self(date)
    }
}

impl fmt::Debug for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Date {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const EXPECTED: &str = "expected a calendar day such as 2026-01-31, between 1970 and 2199";
        let [year, month, day] = number_parts(text, [4, 2, 2]).ok_or(EXPECTED)?;
        let in_range = (1970..=2199).contains(&year);
        let date = in_range.then(|| civil::Date::new(year, month as i8, day as i8).ok()).flatten();
        date.map(Self).ok_or(EXPECTED)
    }
}

/// A month of payroll, `YYYY-MM`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Period {
    year: i16,
    month: i8,
}

impl Period {
    /// The year.
    #[must_use]
    pub const fn year(self) -> i16 {
        self.year
    }

    /// The first day of the month.
    #[must_use]
    pub fn first_day(self) -> Date {
        Date(civil::date(self.year, self.month, 1))
    }

    /// The last day of the month.
    #[must_use]
    pub fn last_day(self) -> Date {
        Date(self.first_day().0.last_of_month())
    }

    /// That day of the month, or the last day of a shorter month.
    #[must_use]
    pub fn day(self, day: i8) -> Date {
        Date(civil::date(self.year, self.month, day.clamp(1, self.last_day().0.day())))
    }

    /// The month that many later, or earlier if negative.
    #[must_use]
    pub fn plus_months(self, months: i32) -> Self {
        let count = i32::from(self.year) * 12 + i32::from(self.month) - 1 + months;
        Self { year: count.div_euclid(12) as i16, month: count.rem_euclid(12) as i8 + 1 }
    }

    fn text(self) -> Short {
        let mut text = Short::new();
        if self.year < 0 {
            text.push(b'-'); // only a day before all that a caller can send
        }
        let year = u32::from(self.year.unsigned_abs());
        text.push_pair(year / 100);
        text.push_pair(year % 100);
        text.push(b'-');
        text.push_pair(self.month.unsigned_abs().into());
        text
    }

    /// Whole months from `earlier` to this one; negative if it is later.
    #[must_use]
    pub fn months_since(self, earlier: Self) -> i32 {
        (i32::from(self.year) - i32::from(earlier.year)) * 12 + i32::from(self.month)
            - i32::from(earlier.month)
    }
}

impl fmt::Debug for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Period {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const EXPECTED: &str = "expected a month such as 2026-01, between 2000 and 2099";
        let [year, month] = number_parts(text, [4, 2]).ok_or(EXPECTED)?;
        let known = (2000..=2099).contains(&year) && (1..=12).contains(&month);
        known.then_some(Self { year, month: month as i8 }).ok_or(EXPECTED)
    }
}

text_on_the_wire!(Timestamp, "Timestamp", {
    "type": "string", "format": "date-time", "examples": ["2026-01-31T09:00:00.000Z"]
});
text_on_the_wire!(Date, "Date", {
    "type": "string", "format": "date", "examples": ["2026-01-31"]
});
text_on_the_wire!(Period, "Period", {
    "type": "string", "format": "period", "pattern": "^[0-9]{4}-[0-9]{2}$", "examples": ["2026-01"]
});

#[cfg(test)]
mod tests {
    use super::*;

    fn date(text: &str) -> Date {
        text.parse().expect("a date")
    }

    #[test]
    fn instants_read_back_and_keep_three_decimals() {
        let instant: Timestamp = "2026-01-31T09:00:00Z".parse().expect("an instant");
        assert_eq!(instant.to_string(), "2026-01-31T09:00:00.000Z");
        assert_eq!(instant.date(), date("2026-01-31"));
        assert_eq!(instant.date().at_hour(9), instant);
        for text in [
            "",
            "2026-01-31",
            "20260131T090000Z",
            "2026-01-31T09:00:00",
            "1969-12-31T00:00:00Z",
            "9999-01-01T00:00:00Z",
        ] {
            assert!(text.parse::<Timestamp>().is_err(), "{text}");
        }
    }

    #[test]
    fn dates_and_periods_take_one_spelling() {
        for text in
            ["2026-02-29", "2026-13-01", "2026-1-1", "20260101", "2026-01-01 ", "+026-01-01", ""]
        {
            assert!(text.parse::<Date>().is_err(), "{text}");
        }
        for text in ["2026-13", "2026-00", "2026-1", "1999-12", "2100-01", "2026", "2026-01-01"] {
            assert!(text.parse::<Period>().is_err(), "{text}");
        }
        assert_eq!("2024-02".parse::<Period>().map(Period::last_day), Ok(date("2024-02-29")));
    }

    #[test]
    fn business_days_skip_the_weekend() {
        assert_eq!(date("2026-01-02").plus_business_days(1), date("2026-01-05"));
        assert_eq!(date("2026-01-03").or_business_day_before(), date("2026-01-02"));
        assert_eq!(date("2026-01-05").minus_business_days(1), date("2026-01-02"));
    }

    #[test]
    fn periods_count_across_years() {
        let january: Period = "2026-01".parse().expect("a period");
        assert_eq!(january.plus_months(-1).to_string(), "2025-12");
        assert_eq!(january.plus_months(13).to_string(), "2027-02");
        assert_eq!(january.plus_months(-1).months_since(january), -1);
    }
}
