//! Amounts and days in the fields of a CSV file.

use super::rows::Cell;
use super::{DateFormat, DecimalMark};
use crate::model::payments::statement_file::entries::{Wrong, minor};
use crate::model::prelude::*;

/// An amount with its sign before or after it, or in brackets. An empty field is zero.
pub(super) fn signed(cell: &Cell, mark: DecimalMark, currency: Currency) -> Result<i64, Wrong> {
    let text = cell.text.trim();
    if text.is_empty() {
        return Ok(0);
    }
    let (separator, thousands) = match mark {
        DecimalMark::Point => ('.', ','),
        DecimalMark::Comma => (',', '.'),
    };
    let (number, negative) = without_sign(text);
    let (whole, part) =
        number.split_once(separator).map_or((number, None), |(whole, part)| (whole, Some(part)));
    let wrong = || {
        let detail =
            format!("expected an amount such as 1234{separator}56 or 1{thousands}234{separator}56");
        Wrong::at(cell.place, detail)
    };
    let mut digits = without_thousands(whole, thousands).ok_or_else(wrong)?;
    if digits.is_empty() || !part.is_none_or(all_digits) {
        return Err(wrong());
    }
    // The number of removed characters (sign and separators), so that an error in the decimals has the correct
    // column.
    let before = cell.text.find(number).unwrap_or_default() + whole.len() - digits.len();
    if let Some(part) = part {
        digits.push(separator);
        digits.push_str(part);
    }
    let amount = minor(&digits, separator, currency, cell.place, Amount::MAX).map_err(|wrong| {
        let inside = wrong.place > cell.place;
        Wrong { place: wrong.place + if inside { before } else { 0 }, ..wrong }
    })?;
    Ok(if negative { -amount } else { amount })
}

/// The number, and whether it is negative.
fn without_sign(text: &str) -> (&str, bool) {
    let minus = ['-', '\u{2212}'];
    let bracketed = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
    let negative =
        bracketed.or_else(|| text.strip_prefix(minus).or_else(|| text.strip_suffix(minus)));
    let positive = || text.strip_prefix('+').or_else(|| text.strip_suffix('+')).unwrap_or(text);
    (negative.unwrap_or_else(positive).trim(), negative.is_some())
}

/// The digits before the decimal mark. One kind of separator is allowed between groups of three digits, after a first
/// group of one to three digits.
fn without_thousands(whole: &str, thousands: char) -> Option<String> {
    let separates = |one: &char| {
        *one == thousands || matches!(one, ' ' | '\'' | '\u{a0}' | '\u{2019}' | '\u{202f}')
    };
    let Some(separator) = whole.chars().find(separates) else {
        return all_digits(whole).then(|| whole.to_owned());
    };
    let (first, rest) = whole.split_once(separator)?;
    // `0,125` is a fraction with another mark.
    let begins = (1..=3).contains(&first.len()) && all_digits(first) && !first.starts_with('0');
    let groups = || rest.split(separator);
    let grouped = begins && groups().all(|group| group.len() == 3 && all_digits(group));
    grouped.then(|| core::iter::once(first).chain(groups()).collect())
}

fn all_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// A day. A time may follow, and is ignored.
pub(super) fn day(cell: &Cell, format: &DateFormat) -> Result<Date, Wrong> {
    let text = cell.text.trim();
    let wrong = || Wrong::at(cell.place, format!("expected a valid calendar day as {}", format.0));
    let (text, rest) = text.split_at_checked(format.0.len()).ok_or_else(wrong)?;
    if !(rest.is_empty() || rest.strip_prefix([' ', 'T']).is_some_and(is_time)) {
        return Err(wrong());
    }
    let (mut year, mut month, mut day) = (0_i16, 0_i16, 0_i16);
    let years = format.0.matches('Y').count();
    for (one, form) in text.chars().zip(format.0.chars()) {
        let digit = one.to_digit(10).and_then(|digit| i16::try_from(digit).ok());
        match (form, digit) {
            ('Y', Some(digit)) => year = year * 10 + digit,
            ('M', Some(digit)) => month = month * 10 + digit,
            ('D', Some(digit)) => day = day * 10 + digit,
            (form, None) if form == one => {}
            _ => return Err(wrong()),
        }
    }
    if years == 2 {
        year += if year < 70 { 2_000 } else { 1_900 };
    }
    let narrow = |part: i16| i8::try_from(part).ok();
    let date = narrow(month).zip(narrow(day)).and_then(|(month, day)| Date::new(year, month, day));
    date.ok_or_else(wrong)
}

/// Whether it is a time such as `9:05`, `09:05:30.250`, `09:05 PM`, `09:05:30Z` or `09:05:30+01:00`.
fn is_time(text: &str) -> bool {
    let text = text.trim_start();
    let end = text.find(|one: char| !(one.is_ascii_digit() || ":.,".contains(one)));
    let (clock, zone) = text.split_at(end.unwrap_or(text.len()));
    let (clock, fraction) = clock.split_once(['.', ',']).unwrap_or((clock, "0"));
    let parts: Vec<&str> = clock.split(':').collect();
    let below = |part: &&str, most: u8| {
        (1..=2).contains(&part.len())
            && all_digits(part)
            && part.parse::<u8>().is_ok_and(|part| part <= most)
    };
    let is_clock = match parts.as_slice() {
        [hour, rest @ ..] if (1..=2).contains(&rest.len()) => {
            below(hour, 24) && rest.iter().all(|part| part.len() == 2 && below(part, 60))
        }
        _ => false,
    };
    let offset = |zone: &str| {
        let digits = zone.strip_prefix(['+', '-']).map(|zone| zone.replacen(':', "", 1));
        digits.is_some_and(|digits| matches!(digits.len(), 2 | 4) && all_digits(&digits))
    };
    let zone = zone.trim_start();
    let is_zone =
        ["", "Z", "UTC", "GMT", "AM", "PM"].iter().any(|it| it.eq_ignore_ascii_case(zone));
    is_clock && !fraction.is_empty() && all_digits(fraction) && (is_zone || offset(zone))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(text: &str) -> Cell {
        Cell { text: text.to_owned(), place: 100 }
    }

    fn amount(text: &str, mark: DecimalMark) -> Result<i64, usize> {
        signed(&cell(text), mark, Currency::new("EUR").unwrap()).map_err(|wrong| wrong.place)
    }

    #[test]
    fn thousands_are_separated_in_groups_of_three_by_one_kind_of_separator() {
        for (text, minor) in [
            ("1234.56", 123_456),
            ("1,234.56", 123_456),
            ("-1,234,567.8", -123_456_780),
            ("12 345 678.90", 1_234_567_890),
            ("1'234'567.00", 123_456_700),
            ("1\u{a0}234.5", 123_450),
            ("(999,999)", -99_999_900),
            ("12.50-", -1_250),
            ("- 12.50", -1_250),
            ("007", 700),
            ("", 0),
        ] {
            assert_eq!(amount(text, DecimalMark::Point), Ok(minor), "{text}");
            let swapped = text.replace(',', ";").replace('.', ",").replace(';', ".");
            assert_eq!(amount(&swapped, DecimalMark::Comma), Ok(minor), "{swapped}");
        }
    }

    #[test]
    fn a_separator_elsewhere_is_refused() {
        for text in [
            "-12,50",
            "0,5",
            "0,125",
            "12.3,4",
            "1,,,2.50",
            "1,2345",
            ",5",
            ".5",
            "1 2 3",
            "1''''2",
            "1234,567",
            "1,234,56",
            "1,234 567",
            "1,234.567,8",
            "1,234,",
            ",",
            "1.5 0",
            "1.2.3",
            "-",
            "- -5",
            "(-5)",
        ] {
            assert_eq!(amount(text, DecimalMark::Point), Err(100), "{text}");
            let swapped = text.replace(',', ";").replace('.', ",").replace(';', ".");
            assert_eq!(amount(&swapped, DecimalMark::Comma), Err(100), "{swapped}");
        }
        // The error for too many decimals is at the first excess digit.
        assert_eq!(amount("1.234", DecimalMark::Point), Err(102));
        assert_eq!(amount("- 1,234.567", DecimalMark::Point), Err(108));
    }

    #[test]
    fn only_a_time_may_follow_a_day() {
        let read = |text: &str, format: &str| day(&cell(text), &DateFormat(format.to_owned()));
        for time in [
            "",
            " 9:05",
            "T09:05:30",
            "T09:05:30.250Z",
            " 09:05:30+01:00",
            " 09:05:30 +0100",
            " 9:05 pm",
            " 24:00",
        ] {
            let text = format!("2025-11-04{time}");
            let read = read(&text, "YYYY-MM-DD").unwrap_or_else(|_| panic!("{text}"));
            assert_eq!(read, Date::new(2025, 11, 4).unwrap());
        }
        for (text, format) in [
            ("2025-11-04xyz", "YYYY-MM-DD"),
            ("2025-11-030", "YYYY-MM-DD"),
            ("03.11.2025", "DD.MM.YY"),
            ("2025-11-04 xyz", "YYYY-MM-DD"),
            ("2025-11-04 ,", "YYYY-MM-DD"),
            ("2025-11-04T", "YYYY-MM-DD"),
            ("2025-11-04 12", "YYYY-MM-DD"),
            ("2025-11-04 25:00", "YYYY-MM-DD"),
            ("2025-11-04 12:00 noon", "YYYY-MM-DD"),
            ("2025-11-0\u{e4}", "YYYY-MM-DD"),
        ] {
            let wrong = read(text, format).expect_err(text);
            assert_eq!(wrong.expected, format!("expected a valid calendar day as {format}"));
        }
    }
}
