//! SWIFT MT940: fields `:20:` to `:86:` in order, one statement per file, up to the final `-`.
//!
//! The envelope of the network (`{1:…}{4:` … `-}`) is optional. Deliberately absent: intermediate balances (`:60M:`), because a single page
//! is not a complete statement.

mod rest;

use self::rest::Rest;
use super::entries::{
    Entry, MOST_DESCRIPTION, MOST_REFERENCE, StatementFile, Wrong, adds_up, amount, balance, kept,
    room,
};
use crate::model::TransactionType;
use crate::model::prelude::*;

/// Maximum number of lines in an `:86:` field. Banks write more than the standard's six.
const MOST_INFORMATION: usize = 20;

/// One line of the file, without its line end.
#[derive(Clone, Copy)]
struct Mt940Line<'a> {
    text: &'a str,
    place: usize,
}

/// One field: a tag such as `:61:` and its contents, up to the next field.
struct Field<'a> {
    tag: &'a str,
    /// Position of the tag.
    place: usize,
    /// The text after the tag.
    value: Mt940Line<'a>,
    /// The following lines.
    more: Vec<Mt940Line<'a>>,
}

pub(super) fn read(text: &str, currency: Currency) -> Result<StatementFile, Wrong> {
    let fields = fields(text)?;
    let mut fields = Fields { all: fields.as_slice(), end: text.len() };
    fields.one("20", "the statement's reference, :20:")?;
    fields.maybe("21");
    fields.one_of(&["25", "25P"], "the account, :25:")?;
    let number = fields.one("28C", "the statement's number, :28C:")?;
    check_number(number)?;
    if let Some(page) = fields.peek().filter(|field| field.tag == "60M") {
        let detail = "expected the first opening balance, :60F:, of a whole statement, not an \
            intermediate one";
        return Err(Wrong::at(page.place, detail));
    }
    let opening = fields.one("60F", "the opening balance, :60F:")?;
    let (opened_on, opening, _) = balance_of(opening, currency)?;
    let mut entries = Vec::new();
    while let Some(line) = fields.maybe("61") {
        room(&entries, line.place)?;
        let mut entry = entry(line, currency)?;
        if let Some(information) = fields.maybe("86") {
            entry.description = described(information, MOST_INFORMATION)?.or(entry.description);
        }
        entries.push(entry);
    }
    let closing = fields.one("62F", "an entry, :61:, or the closing balance, :62F:")?;
    let (closed_on, closing, at) = balance_of(closing, currency)?;
    if closed_on < opened_on {
        let detail = format!("expected a day on or after that of the opening balance, {opened_on}");
        return Err(Wrong::at(at.0, detail));
    }
    adds_up(opening, closing, &entries, currency, at.1)?;
    if let Some(available) = fields.maybe("64") {
        balance_of(available, currency)?;
    }
    while let Some(forward) = fields.maybe("65") {
        balance_of(forward, currency)?;
    }
    if let Some(information) = fields.maybe("86") {
        described(information, MOST_INFORMATION)?;
    }
    match fields.all.first() {
        None => Ok(StatementFile { opening, closing, entries }),
        Some(field) if field.tag == "20" => {
            let detail = "expected the end of the file: send each statement separately";
            Err(Wrong::at(field.place, detail))
        }
        Some(field) => Err(Wrong::at(
            field.place,
            format!("expected the end of the statement, but found :{}:", field.tag),
        )),
    }
}

/// The remaining fields.
struct Fields<'a, 'b> {
    all: &'b [Field<'a>],
    end: usize,
}

impl<'a, 'b> Fields<'a, 'b> {
    fn peek(&self) -> Option<&'b Field<'a>> {
        self.all.first()
    }

    /// The next field, if it has that tag.
    fn maybe(&mut self, tag: &str) -> Option<&'b Field<'a>> {
        let (first, rest) = self.all.split_first()?;
        if first.tag != tag {
            return None;
        }
        self.all = rest;
        Some(first)
    }

    /// The next field; it must have that tag.
    fn one(&mut self, tag: &str, what: &str) -> Result<&'b Field<'a>, Wrong> {
        self.one_of(&[tag], what)
    }

    fn one_of(&mut self, tags: &[&str], what: &str) -> Result<&'b Field<'a>, Wrong> {
        let Some(next) = self.peek() else {
            return Err(Wrong::at(self.end, format!("expected {what}")));
        };
        let found = tags.iter().find_map(|tag| self.maybe(tag));
        let found = found.ok_or_else(|| {
            Wrong::at(next.place, format!("expected {what}, but found :{}:", next.tag))
        })?;
        let one_line = !matches!(found.tag, "61" | "86");
        if let Some(line) = found.more.first().filter(|_| one_line) {
            return Err(Wrong::at(line.place, "expected a field such as :61:"));
        }
        if found.value.text.trim().is_empty() {
            let detail = format!("expected a value after :{}:", found.tag);
            return Err(Wrong::at(found.value.place, detail));
        }
        Ok(found)
    }
}

/// Splits the file into fields, from the inside of the envelope to the final `-`.
fn fields(text: &str) -> Result<Vec<Field<'_>>, Wrong> {
    let mut lines = lines(text)?.into_iter().peekable();
    while lines.next_if(|line| line.text.trim().is_empty()).is_some() {}
    let mut end_mark = "-";
    if let Some(head) = lines.next_if(|line| line.text.starts_with('{')) {
        if !head.text.trim_end().ends_with("{4:") {
            let detail = "expected the envelope's head, {1:…}{2:…}{4:, on one line";
            return Err(Wrong::at(head.place, detail));
        }
        end_mark = "-}";
    }
    let mut fields: Vec<Field<'_>> = Vec::new();
    while let Some(line) = lines.next() {
        if ends(line.text, end_mark) {
            let rest = lines.find(|line| !line.text.trim().is_empty());
            return match rest {
                None => Ok(fields),
                Some(rest) => Err(Wrong::at(
                    rest.place,
                    "expected the end of the file: send each statement separately",
                )),
            };
        }
        match (tag(line), fields.last_mut()) {
            (Some(field), _) => fields.push(field),
            (None, Some(field)) => field.more.push(line),
            (None, None) => {
                return Err(Wrong::at(line.place, "expected the statement's reference, :20:"));
            }
        }
    }
    let detail = format!("expected a field such as :61:, or the end of the statement, {end_mark}");
    Err(Wrong::at(text.len(), detail))
}

/// Whether a line ends the statement. A trailer may follow the end of an envelope.
fn ends(line: &str, mark: &str) -> bool {
    match mark {
        "-" => line.trim_end() == "-",
        envelope => line
            .strip_prefix(envelope)
            .is_some_and(|rest| rest.trim().is_empty() || rest.starts_with("{5:")),
    }
}

fn lines(text: &str) -> Result<Vec<Mt940Line<'_>>, Wrong> {
    let mut place = 0;
    let mut lines = Vec::new();
    for whole in text.split_inclusive('\n') {
        let line = whole.trim_end_matches(['\n', '\r']);
        if let Some(at) = line.find(char::is_control) {
            let detail = "expected text without control characters";
            return Err(Wrong::at(place + at, detail));
        }
        lines.push(Mt940Line { text: line, place });
        place += whole.len();
    }
    Ok(lines)
}

/// The field that starts on that line, if any.
fn tag(line: Mt940Line<'_>) -> Option<Field<'_>> {
    let (tag, value) = line.text.strip_prefix(':')?.split_once(':')?;
    let known = matches!(tag.len(), 2 | 3)
        && tag.bytes().take(2).all(|byte| byte.is_ascii_digit())
        && tag.bytes().skip(2).all(|byte| byte.is_ascii_uppercase());
    known.then(|| Field {
        tag,
        place: line.place,
        value: Mt940Line { text: value, place: line.place + tag.len() + 2 },
        more: Vec::new(),
    })
}

/// `5n[/5n]`.
fn check_number(field: &Field<'_>) -> Result<(), Wrong> {
    let number = |text: &str| {
        (1..=5).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    let text = field.value.text.trim_end();
    let good = match text.split_once('/') {
        Some((number_of, page)) => number(number_of) && number(page),
        None => number(text),
    };
    let detail = "expected a number of up to five digits, such as 42 or 42/1";
    good.then_some(()).ok_or_else(|| Wrong::at(field.value.place, detail))
}

/// The day of a balance, its amount in minor units, and the positions of both.
fn balance_of(field: &Field<'_>, currency: Currency) -> Result<(Date, i64, (usize, usize)), Wrong> {
    if let Some(line) = field.more.first() {
        return Err(Wrong::at(line.place, "expected a field such as :61:"));
    }
    let mut rest = Rest { text: field.value.text.trim_end(), place: field.value.place };
    let mark = rest.take(1, |byte| matches!(byte, b'C' | b'D'), "C or D")?;
    let day_at = rest.place;
    let day = rest.day()?;
    let place = rest.place;
    let code = rest.take(3, |byte| byte.is_ascii_uppercase(), "a currency")?;
    if code != currency.code() {
        let detail = format!("expected {currency}, the wallet's currency, but found {code}");
        return Err(Wrong::at(place, detail));
    }
    let amount_at = rest.place;
    let digits = rest.decimal()?;
    nothing_more(&rest)?;
    let amount = balance(digits, ',', currency, amount_at)?;
    let signed = if mark == "D" { -amount } else { amount };
    Ok((day, signed, (day_at, amount_at)))
}

fn nothing_more(rest: &Rest<'_>) -> Result<(), Wrong> {
    if rest.text.is_empty() {
        return Ok(());
    }
    Err(Wrong::at(rest.place, "expected the end of the line"))
}

/// `6!n[4!n]2a[1!a]15d1!a3!c16x[//16x]` and, on a line of its own, `34x`.
fn entry(field: &Field<'_>, currency: Currency) -> Result<Entry, Wrong> {
    let mut rest = Rest { text: field.value.text.trim_end(), place: field.value.place };
    let mut date_at = rest.place;
    let value_date = rest.day()?;
    let mut date = value_date;
    if rest.text.starts_with(|first: char| first.is_ascii_digit()) {
        date_at = rest.place;
        date = booked_on(&mut rest, value_date)?;
    }
    let direction = mark(&mut rest)?;
    // The third letter of the currency, which some banks write.
    if rest.text.starts_with(|first: char| first.is_ascii_uppercase()) {
        let place = rest.place;
        let letter = rest.skip(1);
        if !currency.code().ends_with(letter) {
            let detail = format!("expected the last letter of {currency}, or an amount");
            return Err(Wrong::at(place, detail));
        }
    }
    let amount_at = rest.place;
    let digits = rest.decimal()?;
    let amount = amount(digits, ',', currency, amount_at)?;
    let kind = "a transaction type such as NTRF";
    rest.take(1, |byte| matches!(byte, b'S' | b'N' | b'F'), kind)?;
    rest.take(3, |byte| byte.is_ascii_uppercase() || byte.is_ascii_digit(), kind)?;
    let (own, banks) = rest.text.split_once("//").unwrap_or((rest.text, ""));
    if own.trim().is_empty() {
        let detail = "expected a reference, or NONREF";
        return Err(Wrong::at(rest.place, detail));
    }
    let reference = kept(own, MOST_REFERENCE).filter(|own| own != "NONREF");
    let details = match field.more.as_slice() {
        [] => None,
        [one] => kept(one.text, MOST_DESCRIPTION),
        [_, other, ..] => {
            return Err(Wrong::at(other.place, "expected a field such as :86:"));
        }
    };
    Ok(Entry {
        date,
        amount,
        direction,
        description: details,
        reference: reference.or_else(|| kept(banks, MOST_REFERENCE)),
        place: date_at,
    })
}

/// The booking day: month and day, in the year that is nearest to the value date.
fn booked_on(rest: &mut Rest<'_>, value_date: Date) -> Result<Date, Wrong> {
    let place = rest.place;
    let what = "a day such as 0131";
    let digits = rest.take(4, |byte| byte.is_ascii_digit(), what)?;
    let part = |range: core::ops::Range<usize>| digits[range].parse::<i8>().unwrap_or_default();
    let year = value_date.period().year();
    let days = [year - 1, year, year + 1]
        .into_iter()
        .filter_map(|year| Date::new(year, part(0..2), part(2..4)));
    let nearest = days.min_by_key(|day| day.days_since(value_date).abs());
    nearest.ok_or_else(|| Wrong::at(place, "expected a valid calendar day, such as 0131"))
}

/// `C`, `D` and the reversals. Reversing a credit moves money out.
fn mark(rest: &mut Rest<'_>) -> Result<TransactionType, Wrong> {
    let marks = [
        ("RC", TransactionType::Debit),
        ("RD", TransactionType::Credit),
        ("C", TransactionType::Credit),
        ("D", TransactionType::Debit),
    ];
    let found = marks.iter().find(|(mark, _)| rest.text.starts_with(mark));
    let Some((mark, direction)) = found else {
        return Err(Wrong::at(rest.place, "expected C, D, RC or RD"));
    };
    rest.skip(mark.len());
    Ok(*direction)
}

/// The lines of an `:86:` field as one text.
fn described(field: &Field<'_>, most: usize) -> Result<Option<String>, Wrong> {
    if let Some(line) = field.more.get(most - 1) {
        let detail = format!("expected a field such as :61:, after {most} lines of information");
        return Err(Wrong::at(line.place, detail));
    }
    let mut text = field.value.text.trim().to_owned();
    for line in &field.more {
        text.push(' ');
        text.push_str(line.text.trim());
    }
    Ok(kept(&text, MOST_DESCRIPTION))
}
