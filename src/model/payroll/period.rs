//! Pay periods, their number per year, and the period of the tax year that contains a date.

use std::fmt;
use std::str::FromStr;

use jiff::civil::Date;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How often an employee is paid.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[schemars(rename = "PayFrequency")]
#[serde(rename_all = "lowercase")]
pub enum PayPeriod {
    /// 12 a year.
    #[default]
    Monthly,
    /// 24 a year.
    Semimonthly,
    /// 26 a year, rarely 27.
    Biweekly,
    /// 13 a year, rarely 14.
    Fourweekly,
    /// 52 a year, rarely 53.
    Weekly,
}

impl PayPeriod {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Monthly, Self::Semimonthly, Self::Biweekly, Self::Fourweekly, Self::Weekly];

    /// P: the number of periods in a year.
    #[must_use]
    pub const fn per_year(self) -> u32 {
        match self {
            Self::Monthly => 12,
            Self::Semimonthly => 24,
            Self::Biweekly => 26,
            Self::Fourweekly => 13,
            Self::Weekly => 52,
        }
    }

    /// The largest period number in a tax year. A year of 366 days has 53 weekly pay days, and the UK numbers the extra pay day of a
    /// fortnight 54 and of four weeks 56.
    #[must_use]
    pub const fn last_number(self) -> u32 {
        match self {
            Self::Monthly => 12,
            Self::Semimonthly => 24,
            Self::Biweekly => 27,
            Self::Fourweekly => 14,
            Self::Weekly => 56,
        }
    }

    /// Whether it is a month.
    #[must_use]
    pub const fn is_month(&self) -> bool {
        matches!(self, Self::Monthly)
    }

    /// Its name in packs and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Monthly => "monthly",
            Self::Semimonthly => "semimonthly",
            Self::Biweekly => "biweekly",
            Self::Fourweekly => "fourweekly",
            Self::Weekly => "weekly",
        }
    }
}

impl fmt::Display for PayPeriod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for PayPeriod {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|period| period.name() == text);
        found.ok_or_else(|| {
            format!(
                "`{text}` is not a pay period: expected monthly, semimonthly, biweekly, \
                 fourweekly or weekly"
            )
        })
    }
}

/// The day on which pay counts for taxes if its regular day is no business day, and it is paid before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CountsOn {
    /// The day of the payment.
    #[default]
    PayDate,
    /// The day on which it would have been paid.
    RegularDay,
}

/// k: the number, from 1, of the tax period that contains `pay_date`, for a tax year that starts on the month and day of `year_start`.
///
/// `year_start` may be years away: a nearest pack counts from the last anniversary on or before the pay date. Tax months start on the day
/// of the month on which the year starts (in the UK from the 6th to the 5th). Half months are their first fifteen days and the rest. Weeks
/// and fortnights are counted from the start.
///
/// ```
/// # use jiff::civil::date;
/// # use sandbox::model::payroll::{PayPeriod, period_number};
/// assert_eq!(period_number(date(2026, 4, 6), PayPeriod::Monthly, date(2026, 6, 30)), 3);
/// assert_eq!(period_number(date(2026, 4, 6), PayPeriod::Weekly, date(2027, 4, 5)), 53);
/// ```
#[must_use]
pub fn period_number(year_start: Date, period: PayPeriod, pay_date: Date) -> u32 {
    let start = anniversary(year_start, pay_date);
    let days = whole_days(start, pay_date);
    match period {
        PayPeriod::Weekly => days / 7 + 1,
        PayPeriod::Biweekly => days / 14 + 1,
        PayPeriod::Fourweekly => days / 28 + 1,
        PayPeriod::Monthly => months_between(start, pay_date) + 1,
        PayPeriod::Semimonthly => {
            let months = months_between(start, pay_date);
            let second_half = whole_days(later_by_months(start, months), pay_date) >= 15;
            months * 2 + 1 + u32::from(second_half)
        }
    }
}

/// The last anniversary of `start` on or before `date`.
fn anniversary(start: Date, date: Date) -> Date {
    let in_year = |year: i16| clamped(year, start.month(), start.day());
    let this_year = in_year(date.year());
    // Year −9999 has no year before it; its first days then count as period 1.
    if this_year > date && date.year() > Date::MIN.year() {
        in_year(date.year() - 1)
    } else {
        this_year
    }
}

/// Whole months from `start` to `date`, which must be less than a year later.
fn months_between(start: Date, date: Date) -> u32 {
    let [of_start, of_date] =
        [start, date].map(|day| i32::from(day.year()) * 12 + i32::from(day.month()));
    let months = u32::try_from(of_date - of_start).unwrap_or_default().min(11);
    if later_by_months(start, months) <= date { months } else { months.saturating_sub(1) }
}

fn later_by_months(start: Date, months: u32) -> Date {
    let index = i32::from(start.year()) * 12 + i32::from(start.month()) - 1 + months.cast_signed();
    let year = i16::try_from(index.div_euclid(12)).unwrap_or(i16::MAX);
    let month = i8::try_from(index.rem_euclid(12) + 1).expect("1 to 12 fits");
    clamped(year, month, start.day())
}

/// The date, or the last day of a shorter month.
pub(super) fn clamped(year: i16, month: i8, day: i8) -> Date {
    let year = year.clamp(Date::MIN.year(), Date::MAX.year());
    let first = Date::new(year, month, 1).expect("every month from -9999 to 9999 has a first day");
    let day = day.clamp(1, first.days_in_month());
    Date::new(year, month, day).expect("the day was clamped to its month")
}

fn whole_days(from: Date, to: Date) -> u32 {
    u32::try_from(from.duration_until(to).as_hours() / 24).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::{PayPeriod, period_number};

    #[test]
    fn tax_months_run_from_the_day_the_year_starts_on() {
        let start = date(2026, 4, 6);
        let rows = [
            (date(2026, 4, 6), 1),
            (date(2026, 5, 5), 1),
            (date(2026, 5, 6), 2),
            (date(2026, 12, 31), 9),
            (date(2027, 1, 6), 10),
            (date(2027, 4, 5), 12),
        ];
        for (pay_date, number) in rows {
            assert_eq!(period_number(start, PayPeriod::Monthly, pay_date), number, "{pay_date}");
        }
    }

    #[test]
    fn a_date_outside_the_year_counts_from_its_own_anniversary() {
        let start = date(2026, 2, 1);
        assert_eq!(period_number(start, PayPeriod::Monthly, date(2024, 1, 31)), 12);
        assert_eq!(period_number(start, PayPeriod::Monthly, date(2030, 2, 1)), 1);
        assert_eq!(period_number(date(2024, 2, 29), PayPeriod::Monthly, date(2025, 2, 28)), 1);
    }

    #[test]
    fn every_day_of_four_years_has_a_number_of_its_period() {
        let mut day = date(2024, 1, 1);
        while day < date(2028, 1, 1) {
            for start in [date(2026, 1, 1), date(2026, 4, 6), date(2026, 3, 1)] {
                for period in PayPeriod::ALL {
                    let number = period_number(start, period, day);
                    assert!(
                        (1..=period.last_number()).contains(&number),
                        "{start} {period} {day}: {number}"
                    );
                }
            }
            day = day.tomorrow().unwrap();
        }
    }

    #[test]
    fn halves_of_a_month_split_after_fifteen_days() {
        let start = date(2026, 1, 1);
        let number = |day| period_number(start, PayPeriod::Semimonthly, day);
        assert_eq!(number(date(2026, 1, 15)), 1);
        assert_eq!(number(date(2026, 1, 16)), 2);
        assert_eq!(number(date(2026, 2, 1)), 3);
        assert_eq!(number(date(2026, 12, 31)), 24);
    }
}
