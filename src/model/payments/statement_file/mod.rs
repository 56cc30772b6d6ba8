//! Parses statement files from banks. A file is read completely, or refused with line, column and cause.
//!
//! Pure: text in, entries out. Deliberately absent: repair. A file with wrong sums is refused as a whole, unless the caller turns the
//! check of balances off.

mod assemble;
mod bai2;
mod camt053;
mod csv;
mod encoding;
mod entries;
mod mt940;
mod ofx;
#[cfg(test)]
mod tests;
mod write;
mod xml;

use crate::model::payments::StatementFormat;
use crate::value::Currency;

pub(crate) use self::assemble::StatementFile;
use self::assemble::{Wanted, assemble};
pub(crate) use self::csv::CsvMapping;
pub(crate) use self::encoding::decode;
pub(crate) use self::entries::{Mistake, mistake};
pub(crate) use self::write::{Outgoing, write};

/// The caller's description of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'a> {
    pub(crate) format: StatementFormat,
    pub(crate) text: &'a str,
    /// The wallet's currency.
    pub(crate) currency: Currency,
    /// The account whose statements are read; required if the file has several.
    pub(crate) account: Option<&'a str>,
    /// Whether balances must agree with the entries.
    pub(crate) check: bool,
    /// The columns of a CSV file.
    pub(crate) csv: Option<&'a CsvMapping>,
}

/// Reads the statements of one account, or returns the first mistake.
pub(crate) fn read(source: &Source<'_>) -> Result<StatementFile, Mistake> {
    let text = source.text;
    let statements = match source.format {
        StatementFormat::Camt053 => camt053::read(text),
        StatementFormat::Mt940 => mt940::read(text),
        StatementFormat::Ofx => ofx::read(text),
        StatementFormat::Bai2 => bai2::read(text, source.currency),
        StatementFormat::Csv => csv::read(text, source.currency, source.csv),
    };
    let wanted = Wanted { currency: source.currency, account: source.account, check: source.check };
    statements
        .and_then(|statements| assemble(statements, wanted, text.len()))
        .map_err(|wrong| mistake(text, wrong.place, wrong.expected))
}

/// The format of a file by its first characters. CSV has no marks, so it is never detected.
pub(crate) fn detect(text: &str) -> Option<StatementFormat> {
    let start = text.trim_start_matches(|one: char| {
        one == '\u{feff}' || one.is_whitespace() || one.is_control()
    });
    let head: String = start.chars().take(2_000).collect();
    if head.starts_with("OFXHEADER") || head.contains("<OFX>") || head.contains("<?OFX") {
        return Some(StatementFormat::Ofx);
    }
    if head.starts_with('<') {
        return Some(StatementFormat::Camt053);
    }
    if head.starts_with("01,") {
        return Some(StatementFormat::Bai2);
    }
    let field = |line: &str| line.starts_with(":20:") || line.contains("{4:");
    head.lines().any(field).then_some(StatementFormat::Mt940)
}
