//! Files in which banks send statements, read whole or refused with the line and column of what is wrong.
//!
//! Pure: text in, entries out. Deliberately absent: repairing. A file that does not add up is not half a statement.

mod camt053;
mod mt940;
#[cfg(test)]
mod tests;

use core::fmt;

use crate::model::TransactionType;
use crate::model::payments::{MOST_LINES, StatementFormat};
use crate::model::prelude::*;

/// Characters of a description that are kept.
const MOST_DESCRIPTION: usize = 500;
/// Characters of a reference that are kept.
const MOST_REFERENCE: usize = 100;

/// A statement as a file has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StatementFile {
    /// Before the first entry, in minor units.
    pub(crate) opening: i64,
    /// After the last one.
    pub(crate) closing: i64,
    /// What was booked, in the file's order.
    pub(crate) entries: Vec<Entry>,
}

/// One booking of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The day on which the bank booked it.
    pub(crate) date: Date,
    /// Minor units, from 1.
    pub(crate) amount: i64,
    pub(crate) direction: TransactionType,
    pub(crate) description: Option<String>,
    pub(crate) reference: Option<String>,
    /// Where its day stands: a byte of the file.
    pub(crate) place: usize,
}

impl Entry {
    fn signed(&self) -> i128 {
        match self.direction {
            TransactionType::Credit => i128::from(self.amount),
            TransactionType::Debit => -i128::from(self.amount),
        }
    }
}

/// What is wrong with a file: where, and what was expected there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mistake {
    /// From 1.
    pub(crate) line: usize,
    /// Characters, from 1.
    pub(crate) column: usize,
    /// A lower-case sentence without a full stop.
    pub(crate) expected: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.expected)
    }
}

/// The same while the file is read: a byte instead of a line.
#[derive(Clone, Debug)]
struct Wrong {
    place: usize,
    expected: String,
}

impl Wrong {
    fn at(place: usize, expected: impl Into<String>) -> Self {
        Self { place, expected: expected.into() }
    }
}

/// Reads a statement in that currency, or says what is wrong with it first.
pub(crate) fn read(
    format: StatementFormat,
    text: &str,
    currency: Currency,
) -> Result<StatementFile, Mistake> {
    let read = match format {
        StatementFormat::Camt053 => camt053::read(text, currency),
        StatementFormat::Mt940 => mt940::read(text, currency),
    };
    read.map_err(|wrong| mistake(text, wrong.place, wrong.expected))
}

/// What is wrong at that byte of the file.
pub(crate) fn mistake(text: &str, place: usize, expected: impl Into<String>) -> Mistake {
    let mut place = place.min(text.len());
    while !text.is_char_boundary(place) {
        place -= 1;
    }
    let before = &text[..place];
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    Mistake {
        line: before.matches('\n').count() + 1,
        column: before[start..].chars().count() + 1,
        expected: expected.into(),
    }
}

/// A decimal with that separator in minor units: digits, and no more decimals than the currency has.
fn minor(
    text: &str,
    separator: char,
    currency: Currency,
    place: usize,
    most: i64,
) -> Result<i64, Wrong> {
    let (whole, part) = text.split_once(separator).unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(part) {
        let detail = format!("expected an amount such as 1234{separator}56");
        return Err(Wrong::at(place, detail));
    }
    let places = currency.exponent() as usize;
    if part.len() > places {
        let detail = format!("expected at most {places} decimals, which is what {currency} has");
        return Err(Wrong::at(place + whole.len() + 1, detail));
    }
    let mut amount: i64 = 0;
    for digit in whole.bytes().chain(format!("{part:0<places$}").bytes()) {
        let next = amount.checked_mul(10);
        let next = next.and_then(|amount| amount.checked_add(i64::from(digit - b'0')));
        let next = next.filter(|amount| *amount <= most);
        amount = next.ok_or_else(|| {
            Wrong::at(place, format!("expected at most {most} minor units of {currency}"))
        })?;
    }
    Ok(amount)
}

/// The amount of an entry: of nothing there is none.
fn amount(text: &str, separator: char, currency: Currency, place: usize) -> Result<i64, Wrong> {
    match minor(text, separator, currency, place, Amount::MAX)? {
        0 => Err(Wrong::at(place, "expected an amount above zero")),
        amount => Ok(amount),
    }
}

/// A balance: what 64 bits hold with room to spare.
fn balance(text: &str, separator: char, currency: Currency, place: usize) -> Result<i64, Wrong> {
    minor(text, separator, currency, place, i64::MAX / 1_000)
}

/// Refuses one entry too many.
fn room(entries: &[Entry], place: usize) -> Result<(), Wrong> {
    if entries.len() < MOST_LINES {
        return Ok(());
    }
    let detail = format!("expected at most {MOST_LINES} entries: split the statement");
    Err(Wrong::at(place, detail))
}

/// Refuses a file whose closing balance is not the opening one and the entries.
fn adds_up(
    opening: i64,
    closing: i64,
    entries: &[Entry],
    currency: Currency,
    place: usize,
) -> Result<(), Wrong> {
    let sum = entries.iter().fold(i128::from(opening), |sum, entry| sum + entry.signed());
    if sum == i128::from(closing) {
        return Ok(());
    }
    let shown = |minor: i128| {
        i64::try_from(minor).map_or_else(|_| minor.to_string(), |minor| currency.display(minor))
    };
    let detail = format!(
        "expected {}, which is what the opening balance and the entries come to, and not {}",
        shown(sum),
        currency.display(closing)
    );
    Err(Wrong::at(place, detail))
}

/// Text of a file as it is kept: without white space around, none if nothing is left, and cut where it is too long.
fn kept(text: &str, most: usize) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.chars().take(most).collect())
}
