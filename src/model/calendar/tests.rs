//! The tables against days published by governments, and the calculation against known calendars.

use super::rule::{Sheet, easter};
use super::*;
use std::collections::BTreeSet;

use crate::model::growth::countries;
use crate::model::payroll;

fn date(text: &str) -> Date {
    text.parse().expect("a date")
}

/// The days off of a year from Monday to Friday, as `MM-DD`.
fn days_off(calendar: &Calendar, year: i16) -> String {
    let first = Date::new(year, 1, 1).expect("a date");
    let days = (0..366).map(|days| first.plus_days(days));
    let days = days.filter(|day| day.civil().year() == year && !calendar.is_weekend(*day));
    let off = days.filter(|&day| !calendar.is_business_day(day));
    let off: Vec<String> = off.map(|day| day.to_string()[5..].to_owned()).collect();
    off.join(" ")
}

fn written(rows: &str) -> Result<Calendar, String> {
    toml::from_str(&format!("code = \"XX\"\n{rows}")).map_err(|error| error.to_string())
}

#[test]
fn every_country_that_grows_has_a_calendar_and_so_has_every_authority_of_a_filing() {
    let grown: Vec<&str> = countries::codes().collect();
    let tables: Vec<&str> = CALENDARS.ids().collect();
    let (of_countries, of_authorities) = tables.split_at(grown.len());
    assert_eq!(of_countries, grown);
    let filings = payroll::library().packs().flat_map(|pack| &pack.filings);
    let named: BTreeSet<&str> = filings.filter_map(|filing| filing.calendar.as_deref()).collect();
    assert_eq!(of_authorities.iter().copied().collect::<BTreeSet<_>>(), named);
    for code in tables {
        let calendar = Calendar::of(code);
        for year in [2025, 2026, 2027, 2199] {
            let off = days_off(calendar, year).split(' ').count();
            assert!((2..40).contains(&off), "{code} {year}: {off} days off");
        }
    }
}

#[test]
#[rustfmt::skip] // a table
fn the_days_off_of_the_countries_with_packs_are_those_published() {
    let rows = [
        ("NG", 2025, "01-01 03-31 04-01 04-18 04-21 05-01 06-06 06-09 06-12 07-15 09-05 10-01 12-25 12-26"),
        ("NG", 2026, "01-01 03-19 03-20 04-03 04-06 05-01 05-28 05-29 06-12 08-26 10-01 12-25 12-28"),
        ("NG", 2027, "01-01 03-10 03-11 03-26 03-29 05-03 05-17 05-18 06-14 08-16 10-01 12-27 12-28"),
        ("GB", 2025, "01-01 04-18 04-21 05-05 05-26 08-25 12-25 12-26"),
        ("GB", 2026, "01-01 04-03 04-06 05-04 05-25 08-31 12-25 12-28"),
        ("GB", 2027, "01-01 03-26 03-29 05-03 05-31 08-30 12-27 12-28"),
        ("US", 2025, "01-01 01-20 02-17 05-26 06-19 07-04 09-01 10-13 11-11 11-27 12-25"),
        ("US", 2026, "01-01 01-19 02-16 05-25 06-19 07-03 09-07 10-12 11-11 11-26 12-25"),
        ("US", 2027, "01-01 01-18 02-15 05-31 06-18 07-05 09-06 10-11 11-11 11-25 12-24 12-31"),
        ("KE", 2025, "01-01 03-31 04-18 04-21 05-01 06-02 10-10 10-17 10-20 12-12 12-25 12-26"),
        ("KE", 2026, "01-01 03-20 04-03 04-06 05-01 06-01 10-20 12-25"),
        ("KE", 2027, "01-01 03-09 03-26 03-29 06-01 10-11 10-20 12-13 12-27"),
        ("ZA", 2025, "01-01 03-21 04-18 04-21 04-28 05-01 06-16 09-24 12-16 12-25 12-26"),
        ("ZA", 2026, "01-01 04-03 04-06 04-27 05-01 06-16 08-10 09-24 11-04 12-16 12-25"),
        ("ZA", 2027, "01-01 03-22 03-26 03-29 04-27 06-16 08-09 09-24 12-16 12-27"),
        ("CA", 2025, "01-01 02-17 04-18 05-19 07-01 09-01 09-30 10-13 11-11 12-25 12-26"),
        ("CA", 2026, "01-01 02-16 04-03 05-18 07-01 09-07 09-30 10-12 11-11 12-25 12-28"),
        ("CA", 2027, "01-01 02-15 03-26 05-24 07-01 09-06 09-30 10-11 11-11 12-27 12-28"),
    ];
    for (country, year, expected) in rows {
        assert_eq!(days_off(Calendar::of(country), year), expected, "{country} {year}");
    }
}

#[test]
fn easter_falls_on_the_known_sundays() {
    let known = "04-12 04-04 04-17 04-09 03-31 04-20 04-05 03-28 04-16 04-01 04-21 04-13 03-28 04-17 \
                 04-09 03-25";
    for (year, day) in (2020..=2035).zip(known.split(' ')) {
        assert_eq!(easter(year), Some(date(&format!("{year}-{day}"))));
    }
}

#[test]
fn a_holiday_on_the_weekend_is_given_back_as_the_country_does_it() {
    let rows = [
        ("GB", "2022-12-25", "2022-12-27", "Sunday, and Monday is Boxing Day"),
        ("GB", "2027-12-26", "2027-12-28", "Sunday, and Monday stands for Christmas Day"),
        ("US", "2026-07-04", "2026-07-03", "the Friday before"),
        ("US", "2027-07-04", "2027-07-05", "the Monday after"),
        ("US", "2028-01-01", "2027-12-31", "across New Year"),
        ("ZA", "2026-08-09", "2026-08-10", "Sunday"),
        ("KE", "2027-12-12", "2027-12-13", "Sunday"),
        ("JP", "2026-05-03", "2026-05-06", "Sunday, and two holidays follow"),
    ];
    for (country, holiday, instead, why) in rows {
        let calendar = Calendar::of(country);
        assert!(!calendar.is_business_day(date(holiday)), "{country} {holiday}");
        assert!(!calendar.is_business_day(date(instead)), "{country}: {why}");
    }
    for (country, weekday, why) in [
        ("ZA", "2025-08-11", "a Saturday is lost"),
        ("KE", "2026-12-28", "a Saturday is lost"),
        ("DE", "2026-12-28", "nothing is given back"),
        ("US", "2020-06-19", "the holiday is younger"),
    ] {
        let calendar = Calendar::of(country);
        assert!(calendar.is_business_day(date(weekday)), "{country}: {why}");
    }
}

#[test]
fn weekends_are_those_of_the_country() {
    let (friday, sunday) = (date("2026-02-06"), date("2026-02-08"));
    let (egypt, britain) = (Calendar::of("EG"), Calendar::of("GB"));
    assert!(!egypt.is_business_day(friday) && egypt.is_business_day(sunday));
    assert!(britain.is_business_day(friday) && !britain.is_business_day(sunday));
    let nowhere = Calendar::of("XX");
    assert!(nowhere.is_business_day(date("2026-12-25")), "no table, no holidays");
    assert!(!nowhere.is_business_day(sunday));
}

#[test]
fn business_days_are_counted_over_weekends_and_holidays() {
    let calendar = Calendar::of("GB");
    let (thursday, tuesday) = (date("2026-04-02"), date("2026-04-07"));
    assert_eq!(calendar.plus_business_days(thursday, 1), tuesday);
    assert_eq!(calendar.minus_business_days(tuesday, 1), thursday);
    assert_eq!(calendar.or_business_day_after(date("2026-04-03")), tuesday);
    assert_eq!(calendar.or_business_day_before(date("2026-04-06")), thursday);
    assert_eq!(calendar.plus_business_days(thursday, 0), thursday);
    let after = calendar.after(thursday.at_hour(17), Span::BusinessDays(1));
    assert_eq!(after, tuesday.at_hour(17));
    let after = calendar.after(thursday.at_hour(17), Span::seconds(60));
    assert_eq!(after, thursday.at_hour(17).plus_millis(60_000));
    let end = calendar.after(Timestamp::MAX, Span::BusinessDays(26_000));
    assert_eq!(end, Timestamp::MAX);
}

#[test]
fn after_the_cut_off_the_next_business_day_counts() {
    let calendar = Calendar::of("GB");
    let thursday = date("2026-04-02");
    assert_eq!(calendar.cut_off(thursday), thursday.at_hour(16));
    assert_eq!(calendar.open_day(thursday.at_hour(16).plus_millis(-1)), thursday);
    assert_eq!(calendar.open_day(thursday.at_hour(16)), date("2026-04-07"));
    assert_eq!(Calendar::of("US").cut_off(thursday), thursday.at_hour(21));
    assert_eq!(Calendar::of("IN").cut_off(thursday), thursday.midnight().plus_millis(37_800_000));
}

#[test]
fn an_invalid_calendar_table_is_refused() {
    for (rows, because) in [
        ("lunch = \"12:00\"", "unknown field"),
        ("cut_off = \"4pm\"", "expected a time of day"),
        ("weekend = [\"sat\", \"someday\"]", "unknown variant"),
        (
            "weekend = [\"mon\",\"tue\",\"wed\",\"thu\",\"fri\",\"sat\",\"sun\"]",
            "needs a business day",
        ),
        ("moved = \"away\"", "unknown variant"),
        ("holidays = [{ name = \"A\" }]", "A: expected one of"),
        ("holidays = [{ name = \"A\", day = \"12-25\", easter = 1 }]", "A: expected one of"),
        ("holidays = [{ name = \"A\", day = \"12-32\" }]", "A: expected a day of the year"),
        ("holidays = [{ name = \"A\", weekday = \"mon\", nth = 6, month = 1 }]", "A: expected nth"),
        (
            "holidays = [{ name = \"A\", weekday = \"mon\", nth = 1, month = 13 }]",
            "A: expected nth",
        ),
        ("holidays = [{ name = \"A\", dates = [\"2026-02-30\"] }]", "expected a calendar day"),
        (
            "holidays = [{ name = \"A\", dates = [\"2026-02-03\", \"2026-02-02\"] }]",
            "A: expected dates",
        ),
        (
            "holidays = [{ name = \"A\", dates = [\"2026-02-03\"], moved = \"lost\" }]",
            "A: expected one of",
        ),
        ("holidays = [{ name = \"A\", day = \"12-25\", where = \"B\" }]", "unknown field"),
        (
            "weekend = [\"fri\", \"sat\"]\nholidays = [{ name = \"A\", day = \"12-25\", moved = \"nearest_weekday\" }]",
            "is of Saturdays",
        ),
    ] {
        let error = written(rows).expect_err(rows);
        assert!(error.contains(because), "{rows}: expected {because:?}, got {error}");
    }
    assert!(Sheet::default().read().is_ok());
}

#[test]
fn working_days_leave_weekends_out_and_count_holidays() {
    let calendar = Calendar::of("NG");
    let days = |from: &str, to: &str| calendar.working_days(date(from), date(to));
    assert_eq!(days("2026-01-01", "2026-01-31"), 22);
    assert_eq!(days("2026-02-01", "2026-02-28"), 20);
    assert_eq!(days("2026-01-03", "2026-01-04"), 0);
    assert_eq!(days("2026-01-05", "2026-01-04"), 0);
}
