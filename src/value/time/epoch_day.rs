//! Days counted from 1970-01-01.
//!
//! Years are counted from March, so that the leap day is the last day and the start of every month follows from a
//! formula. 400 years have 146,097 days.

#![expect(clippy::cast_possible_truncation, reason = "months and days of the Gregorian calendar")]

use jiff::civil;

use super::{DAY_MS, Date, Timestamp};
use crate::value::short::Short;

impl Date {
    pub(super) fn epoch_day(self) -> i64 {
        let (year, month) = (i64::from(self.0.year()), i64::from(self.0.month()));
        let year = year - i64::from(month <= 2);
        let of_year = (153 * ((month + 9) % 12) + 2) / 5 + i64::from(self.0.day()) - 1;
        let of_era = year.rem_euclid(400);
        let of_era = of_era * 365 + of_era / 4 - of_era / 100 + of_year;
        year.div_euclid(400) * 146_097 + of_era - 719_468
    }

    pub(super) fn of_epoch_day(day: i64) -> Option<Self> {
        if let Some([year, month, day]) = near_date(day) {
            return civil::Date::new(year as i16, month as i8, day as i8).ok().map(Self);
        }
        let day = day.checked_add(719_468)?;
        let (era, of_era) = (day.div_euclid(146_097), day.rem_euclid(146_097));
        let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year + year / 4 - year / 100);
        let place = (5 * of_year + 2) / 153;
        let day = of_year - (153 * place + 2) / 5 + 1;
        let month = (place + 2) % 12 + 1;
        let year = era.checked_mul(400)? + year + i64::from(month <= 2);
        civil::Date::new(i16::try_from(year).ok()?, month as i8, day as i8).ok().map(Self)
    }
}

impl Timestamp {
    /// The text of an instant from 1970 to 2199, with few instructions: a reply or a hash has many of them.
    pub(super) fn near_text(self) -> Option<Short> {
        let [year, month, day] = near_date(self.0.div_euclid(DAY_MS))?;
        let ms = u32::try_from(self.millis_of_day()).ok()?;
        // The decimals are three digits, which are two pairs with a common digit.
        let pairs = [
            (0, year / 100),
            (2, year % 100),
            (5, month),
            (8, day),
            (11, ms / 3_600_000),
            (14, ms / 60_000 % 60),
            (17, ms / 1_000 % 60),
            (20, ms / 10 % 100),
            (21, ms % 100),
        ];
        Some(Short::filled(b"0000-00-00T00:00:00.000Z", pairs))
    }
}

/// Year, month and day of a day from 1970 to 2199.
///
/// The algorithm of Neri and Schneider, which multiplies and shifts instead of dividing.
fn near_date(day: i64) -> Option<[u32; 3]> {
    let day = u32::try_from(day).ok().filter(|day| *day <= LAST_NEAR)?;
    let quarters = 4 * (day + 719_468) + 3;
    let (century, rest) = (quarters / 146_097, (quarters % 146_097) | 3);
    let product = 2_939_745 * u64::from(rest);
    let (year, of_year) = ((product >> 32) as u32, product as u32 / 2_939_745 / 4);
    let place = 2_141 * of_year + 197_913;
    let (month, day) = (place >> 16, (place & 0xffff) / 2_141 + 1);
    let year = 100 * century + year;
    // The year is counted from March.
    Some(if of_year < 306 { [year, month, day] } else { [year + 1, month - 12, day] })
}

/// 2199-12-31.
const LAST_NEAR: u32 = 84_005;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_of_four_centuries_has_its_number() {
        let mut day = civil::date(1899, 12, 25);
        for number in -25_574..=120_523 {
            assert_eq!(Date(day).epoch_day(), number, "{day}");
            assert_eq!(Date::of_epoch_day(number), Some(Date(day)), "{day}");
            if let Some([year, month, of_month]) = near_date(number) {
                let near = format!("{year:04}-{month:02}-{of_month:02}");
                assert_eq!(near, day.to_string());
            }
            day = day.tomorrow().expect("a day");
        }
        for day in [civil::Date::MIN, civil::Date::MAX, civil::date(0, 2, 29)] {
            assert_eq!(Date::of_epoch_day(Date(day).epoch_day()), Some(Date(day)));
        }
        assert!(near_date(0).is_some() && near_date(84_005).is_some());
        assert!(near_date(-1).is_none() && near_date(84_006).is_none());
        for outside in [i64::MIN, i64::MAX, Date(civil::Date::MAX).epoch_day() + 1] {
            assert_eq!(Date::of_epoch_day(outside), None);
        }
        assert_eq!(Date::FIRST.plus_days(-1), Date::FIRST);
        assert_eq!(Date(civil::date(2024, 2, 29)).plus_years(1).to_string(), "2025-02-28");
    }

    #[test]
    fn instants_and_days_are_written_as_rfc_3339_says() {
        for step in 0..100_000 {
            let instant = Timestamp::from_millis(step * 72_581_183);
            if instant > Timestamp::MAX {
                break;
            }
            let expected = jiff::Timestamp::from_millisecond(instant.millis()).expect("an instant");
            assert_eq!(instant.to_string(), format!("{expected:.3}"));
            assert_eq!(instant.date().to_string(), expected.to_string()[..10]);
            assert_eq!(instant.date().midnight().date(), instant.date());
        }
        assert_eq!(Timestamp::from_millis(-1).to_string(), "1969-12-31T23:59:59.999Z");
        assert_eq!(Timestamp::MAX.to_string(), "2199-12-31T23:59:59.999Z");
    }
}
