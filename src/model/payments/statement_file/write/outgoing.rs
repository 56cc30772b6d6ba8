//! A statement to write, and how its values are written in several formats.

use crate::model::TransactionType;
use crate::model::payments::StatementLine;
use crate::model::prelude::*;

/// A statement to write.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outgoing<'a> {
    /// The statement's id.
    pub(crate) id: &'a str,
    /// The account as the bank writes it.
    pub(crate) account: &'a str,
    pub(crate) currency: Currency,
    pub(crate) from: Date,
    pub(crate) to: Date,
    /// Balances in minor units.
    pub(crate) opening: i64,
    pub(crate) closing: i64,
    pub(crate) lines: &'a [Arc<StatementLine>],
}

/// Text without control characters.
pub(super) fn plain(text: Option<&String>) -> String {
    text.map(|text| text.replace(char::is_control, " ").trim().to_owned()).unwrap_or_default()
}

/// Text of XML and SGML.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// `1234.56` without a sign.
pub(super) fn decimal(minor: i64, currency: Currency, mark: char) -> String {
    let unit = currency.minor_per_major().unsigned_abs();
    let (whole, part) = (minor.unsigned_abs() / unit, minor.unsigned_abs() % unit);
    match currency.exponent() as usize {
        0 => whole.to_string(),
        places => format!("{whole}{mark}{part:0places$}"),
    }
}

/// The amount, with a minus for outgoing money.
pub(super) fn with_sign(line: &StatementLine, currency: Currency) -> String {
    let sign = if line.direction == TransactionType::Debit { "-" } else { "" };
    format!("{sign}{}", decimal(line.amount, currency, '.'))
}

/// `YYYYMMDD`.
pub(super) fn compact(day: Date) -> String {
    day.to_string().replace('-', "")
}
