//! Parses statement files from banks. A file is read completely, or refused with line, column and cause.
//!
//! Pure: text in, entries out. Deliberately absent: repair. A file with wrong sums is refused as a whole.

mod camt053;
mod entries;
mod mt940;
#[cfg(test)]
mod tests;

use crate::model::payments::StatementFormat;
use crate::value::Currency;

pub(crate) use self::entries::{Mistake, StatementFile, mistake};

/// Reads a statement in that currency, or returns the first mistake.
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
