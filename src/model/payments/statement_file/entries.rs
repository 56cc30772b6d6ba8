//! A statement as it was read, and the checks that both formats share.

use core::fmt;

use crate::model::TransactionType;
use crate::model::payments::MOST_LINES;
use crate::model::prelude::*;

/// Maximum stored length of a description.
pub(super) const MOST_DESCRIPTION: usize = 500;
/// Maximum stored length of a reference.
pub(super) const MOST_REFERENCE: usize = 100;

/// A value in a file, with its byte position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Said<T> {
    pub(super) value: T,
    pub(super) place: usize,
}

/// A balance at the start or the end of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bound {
    /// Minor units; below zero if the account is overdrawn.
    pub(super) amount: i64,
    /// Byte position of the amount.
    pub(super) place: usize,
    pub(super) day: Option<Said<Date>>,
    /// Whether it is only the balance at the start or the end of a page.
    pub(super) page: bool,
}

/// One statement of a file, or one page of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Statement {
    /// The account as the bank writes it, if the format has it.
    pub(super) account: Option<Said<String>>,
    /// None if the format does not state one: the amounts are in the wallet's currency.
    pub(super) currency: Option<Said<Currency>>,
    pub(super) opening: Option<Bound>,
    pub(super) closing: Option<Bound>,
    /// The booked entries, in the order of the file.
    pub(super) entries: Vec<Entry>,
    /// Whether the format guarantees that the opening balance plus the entries is the closing balance.
    pub(super) exact: bool,
}

/// One booking in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The bank's booking day.
    pub(crate) date: Date,
    /// Minor units, from 1.
    pub(crate) amount: i64,
    pub(crate) direction: TransactionType,
    pub(crate) description: Option<String>,
    pub(crate) reference: Option<String>,
    /// Byte position of its day.
    pub(crate) place: usize,
}

impl Entry {
    pub(super) fn signed(&self) -> i128 {
        match self.direction {
            TransactionType::Credit => i128::from(self.amount),
            TransactionType::Debit => -i128::from(self.amount),
        }
    }
}

/// A mistake in a file: its position, and the expected text.
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

/// A mistake while parsing, with a byte position instead of a line.
#[derive(Clone, Debug)]
pub(super) struct Wrong {
    pub(super) place: usize,
    pub(super) expected: String,
}

impl Wrong {
    pub(super) fn at(place: usize, expected: impl Into<String>) -> Self {
        Self { place, expected: expected.into() }
    }
}

/// The mistake at that byte position.
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

/// Parses a decimal with that separator into minor units: only digits, and at most the decimals of the currency.
pub(super) fn minor(
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
    // Zeros beyond the currency's decimals change nothing.
    let part = if part.len() > places && part[places..].bytes().all(|byte| byte == b'0') {
        &part[..places]
    } else {
        part
    };
    if part.len() > places {
        let detail = format!("expected at most {places} decimals for {currency}");
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

/// The amount of an entry; it must be above zero.
pub(super) fn amount(
    text: &str,
    separator: char,
    currency: Currency,
    place: usize,
) -> Result<i64, Wrong> {
    match minor(text, separator, currency, place, Amount::MAX)? {
        0 => Err(Wrong::at(place, "expected an amount above zero")),
        amount => Ok(amount),
    }
}

/// A balance; it fits into 64 bits.
pub(super) fn balance(
    text: &str,
    separator: char,
    currency: Currency,
    place: usize,
) -> Result<i64, Wrong> {
    minor(text, separator, currency, place, i64::MAX / 1_000)
}

/// The currency with that code.
pub(super) fn currency_of(code: &str, place: usize) -> Result<Currency, Wrong> {
    Currency::new(code).ok_or_else(|| {
        let shown: String = code.chars().take(8).collect();
        Wrong::at(place, format!("expected a currency of ISO 4217, but found {shown}"))
    })
}

/// Refuses the entry after the maximum.
pub(super) fn room(before: usize, place: usize) -> Result<(), Wrong> {
    if before < MOST_LINES {
        return Ok(());
    }
    let detail = format!("expected at most {MOST_LINES} entries: split the statement");
    Err(Wrong::at(place, detail))
}

/// Text as it is stored: trimmed and cut to the maximum length; none if empty.
pub(super) fn kept(text: &str, most: usize) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.chars().take(most).collect())
}
