//! The rest of a field, while it is read from left to right.

use crate::model::payments::statement_file::entries::Wrong;
use crate::value::Date;

/// Maximum length of an amount. The standard has 15; banks fill up with zeros.
const MOST_DIGITS: usize = 24;

/// The unread part of a line.
pub(super) struct Rest<'a> {
    pub(super) text: &'a str,
    pub(super) place: usize,
}

impl<'a> Rest<'a> {
    /// The next `n` bytes, if all are of that kind.
    pub(super) fn take(
        &mut self,
        count: usize,
        sort: impl Fn(u8) -> bool,
        what: &str,
    ) -> Result<&'a str, Wrong> {
        let taken = self.text.as_bytes().get(..count);
        if !taken.is_some_and(|taken| taken.iter().all(|byte| sort(*byte))) {
            return Err(Wrong::at(self.place, format!("expected {what}")));
        }
        Ok(self.skip(count))
    }

    /// The next bytes of that kind, any number.
    pub(super) fn run(&mut self, sort: impl Fn(u8) -> bool) -> &'a str {
        let count = self.text.bytes().take_while(|byte| sort(*byte)).count();
        self.skip(count)
    }

    pub(super) fn skip(&mut self, count: usize) -> &'a str {
        let (taken, rest) = self.text.split_at(count);
        self.text = rest;
        self.place += count;
        taken
    }

    pub(super) fn day(&mut self) -> Result<Date, Wrong> {
        self.calendar_day(false)
    }

    /// Reads a value date. 30 February means the last day of February.
    pub(super) fn value_day(&mut self) -> Result<Date, Wrong> {
        self.calendar_day(true)
    }

    fn calendar_day(&mut self, clamped: bool) -> Result<Date, Wrong> {
        let place = self.place;
        let what = "a day such as 260131";
        let digits = self.take(6, |byte| byte.is_ascii_digit(), what)?;
        let part =
            |range: core::ops::Range<usize>| digits[range].parse::<i16>().unwrap_or_default();
        // Two-digit years: archives of banks go back to 1970.
        let year = part(0..2) + if part(0..2) < 70 { 2_000 } else { 1_900 };
        let (month, day) = (narrow(part(2..4)), narrow(part(4..6)));
        let day = Date::new(year, month, day).or_else(|| {
            // Interest of banks runs for 30 days in each month, so February has a 30th.
            let clamped = clamped && month == 2 && matches!(day, 29 | 30);
            Date::new(year, month, 28).filter(|_| clamped).map(|day| day.period().last_day())
        });
        day.ok_or_else(|| Wrong::at(place, "expected a valid calendar day, such as 260131"))
    }

    /// Digits with a comma; some banks leave the comma of a whole number out.
    pub(super) fn decimal(&mut self) -> Result<&'a str, Wrong> {
        let place = self.place;
        let digits = self.run(|byte| byte.is_ascii_digit() || byte == b',');
        let commas = digits.bytes().filter(|byte| *byte == b',').count();
        if !(1..=MOST_DIGITS).contains(&digits.len()) || commas > 1 || digits.starts_with(',') {
            let detail =
                "expected an amount of up to 24 characters with a decimal comma, such as 1234,56";
            return Err(Wrong::at(place, detail));
        }
        if self.text.starts_with('.') {
            return Err(Wrong::at(self.place, "expected a decimal comma, such as 1234,56"));
        }
        Ok(digits)
    }
}

/// Two digits.
fn narrow(part: i16) -> i8 {
    i8::try_from(part).unwrap_or_default()
}
