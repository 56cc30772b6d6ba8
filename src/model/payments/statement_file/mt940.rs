//! SWIFT MT940 as banks export it: one or more messages, with or without the network's envelope and a bank's own
//! header lines.
//!
//! Each message is a statement or a page of one: `:60M:` continues from the balance in `:62M:`. Banks differ in the
//! end of a message (`-}`, `-`, or none), so the balances show whether a message is complete. Deliberately absent:
//! MT942, which has no balances.

mod envelope;
mod information;
mod movement;
mod rest;

use self::envelope::{Field, Message, Mt940Line, messages};
use self::information::Information;
use self::movement::movement;
use self::rest::Rest;
use super::entries::{Bound, Entry, Said, Statement, Wrong, balance, currency_of, room};
use crate::model::prelude::*;

pub(super) fn read(text: &str) -> Result<Vec<Statement>, Wrong> {
    let clean = without_controls(text);
    let mut statements = Vec::new();
    let mut count = 0;
    for message in messages(&clean)? {
        let statement = statement(&message, count)?;
        count += statement.entries.len();
        statements.push(statement);
    }
    Ok(statements)
}

/// Replaces control characters with spaces. All positions stay the same.
fn without_controls(text: &str) -> Cow<'_, str> {
    let disturbs = |one: char| one == '\u{feff}' || one.is_control() && !matches!(one, '\n' | '\r');
    if !text.contains(disturbs) {
        return Cow::Borrowed(text);
    }
    let mut clean = String::with_capacity(text.len());
    for one in text.chars() {
        if disturbs(one) {
            clean.extend(core::iter::repeat_n(' ', one.len_utf8()));
        } else {
            clean.push(one);
        }
    }
    Cow::Owned(clean)
}

fn statement(message: &Message<'_>, before: usize) -> Result<Statement, Wrong> {
    let mut fields = Fields { all: message.fields.as_slice(), end: message.end };
    fields.one(&["20"], "the statement's reference, :20:")?;
    fields.maybe(&["21"]);
    let account = fields.one(&["25", "25P"], "the account, :25:")?;
    let account = Said { value: account.value.text.trim().to_owned(), place: account.value.place };
    let number = fields.one(&["28C", "28"], "the statement's number, :28C:")?;
    check_number(number)?;
    fields.skip_additional();
    let opening = fields.one(&["60F", "60M"], "the opening balance, :60F:")?;
    let (currency, currency_at, opening) = bound(opening)?;
    let mut entries = Vec::new();
    fields.skip_additional();
    while let Some(line) = fields.maybe(&["61"]) {
        room(before + entries.len(), line.place)?;
        entries.push(entry(line, &mut fields, currency)?);
    }
    let what = "an entry, :61:, or the closing balance, :62F:";
    let closing = fields.one(&["62F", "62M"], what)?;
    let (other, other_at, closing) = bound(closing)?;
    if other != currency {
        let detail =
            format!("expected {currency}, the currency of the opening balance, but found {other}");
        return Err(Wrong::at(other_at, detail));
    }
    if closing.day < opening.day {
        let day = opening.day.map(|day| day.value.to_string()).unwrap_or_default();
        let detail = format!("expected a day on or after that of the opening balance, {day}");
        let place = closing.day.map_or(other_at, |day| day.place);
        return Err(Wrong::at(place, detail));
    }
    while let Some(balance) = fields.maybe(&["64", "65"]) {
        bound(balance)?;
    }
    while fields.maybe(&["86", "NS"]).is_some() {}
    match fields.all.first() {
        None => {}
        Some(field) => {
            let detail = format!("expected the end of the statement, but found :{}:", field.tag);
            return Err(Wrong::at(field.place, detail));
        }
    }
    Ok(Statement {
        account: Some(account),
        currency: Some(Said { value: currency, place: currency_at }),
        opening: Some(opening),
        closing: Some(closing),
        entries,
        exact: true,
    })
}

/// A movement with the information that follows it.
fn entry(
    line: &Field<'_>,
    fields: &mut Fields<'_, '_>,
    currency: Currency,
) -> Result<Entry, Wrong> {
    let mut movement = movement(line, currency)?;
    let mut information = Information::default();
    while let Some(field) = fields.maybe(&["86", "NS"]) {
        information.add(field);
    }
    movement.describe(information);
    Ok(movement.entry)
}

/// The remaining fields.
struct Fields<'a, 'b> {
    all: &'b [Field<'a>],
    end: usize,
}

impl<'a, 'b> Fields<'a, 'b> {
    /// The next field, if it has one of the tags.
    fn maybe(&mut self, tags: &[&str]) -> Option<&'b Field<'a>> {
        let (first, rest) = self.all.split_first()?;
        if !tags.contains(&first.tag) {
            return None;
        }
        self.all = rest;
        Some(first)
    }

    /// Banks add fields that the standard does not have, such as `:NS:` and `:13D:`.
    fn skip_additional(&mut self) {
        while self.maybe(&["NS", "13", "13D"]).is_some() {}
    }

    /// The next field; it must have one of the tags and a value.
    fn one(&mut self, tags: &[&str], what: &str) -> Result<&'b Field<'a>, Wrong> {
        let Some(next) = self.all.first() else {
            return Err(Wrong::at(self.end, format!("expected {what}")));
        };
        let found = self.maybe(tags).ok_or_else(|| {
            Wrong::at(next.place, format!("expected {what}, but found :{}:", next.tag))
        })?;
        if let Some(line) = found.more.first() {
            check_bic(line)?;
        }
        if found.value.text.trim().is_empty() {
            let detail = format!("expected a value after :{}:", found.tag);
            return Err(Wrong::at(found.value.place, detail));
        }
        Ok(found)
    }
}

/// The second line of `:25P:`, the bank of the account.
fn check_bic(line: &Mt940Line<'_>) -> Result<(), Wrong> {
    let text = line.text.trim_end();
    let is_bic = matches!(text.len(), 8 | 11)
        && text.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
    let detail = "expected a field such as :61:, or the BIC of the account's bank";
    is_bic.then_some(()).ok_or_else(|| Wrong::at(line.place, detail))
}

/// `5n[/5n]`; banks write more digits.
fn check_number(field: &Field<'_>) -> Result<(), Wrong> {
    let number = |text: &str| {
        (1..=16).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    let text = field.value.text.trim_end();
    let good = match text.split_once('/') {
        Some((number_of, page)) => number(number_of) && number(page),
        None => number(text),
    };
    let detail = "expected a number, such as 42 or 42/1";
    good.then_some(()).ok_or_else(|| Wrong::at(field.value.place, detail))
}

/// A balance, `1!a6!n3!a15d`, with its currency and the position of that.
fn bound(field: &Field<'_>) -> Result<(Currency, usize, Bound), Wrong> {
    if let Some(line) = field.more.first() {
        return Err(Wrong::at(line.place, "expected a field such as :61:"));
    }
    let mut rest = Rest { text: field.value.text.trim_end(), place: field.value.place };
    let mark = rest.take(1, |byte| matches!(byte, b'C' | b'D'), "C or D")?;
    let day_at = rest.place;
    let day = rest.day()?;
    let currency_at = rest.place;
    let code = rest.take(3, |byte| byte.is_ascii_uppercase(), "a currency")?;
    let currency = currency_of(code, currency_at)?;
    let place = rest.place;
    let digits = rest.decimal()?;
    if !rest.text.trim().is_empty() {
        return Err(Wrong::at(rest.place, "expected the end of the line"));
    }
    let amount = balance(digits, ',', currency, place)?;
    let bound = Bound {
        amount: if mark == "D" { -amount } else { amount },
        place,
        day: Some(Said { value: day, place: day_at }),
        page: field.tag.ends_with('M'),
    };
    Ok((currency, currency_at, bound))
}
