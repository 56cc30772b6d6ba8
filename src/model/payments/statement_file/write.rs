//! Writes a statement as a bank's file, in any format that can be parsed. Parsing the file gives the same lines.
//!
//! Text is adapted to the format: control characters become spaces, and spaces at both ends are removed. MT940 breaks
//! lines at 65 characters, and a code word between slashes ends its description. A BAI2 reference has spaces for
//! commas.

mod bai2;
mod camt053;
mod csv;
mod mt940;
mod ofx;
mod outgoing;

pub(crate) use self::outgoing::Outgoing;
use crate::model::payments::StatementFormat;

/// The statement as a file. The mapping of a CSV file is the default, with the heads `date`, `amount`, `description` and `reference`.
pub(crate) fn write(format: StatementFormat, statement: &Outgoing<'_>) -> String {
    match format {
        StatementFormat::Camt053 => camt053::write(statement),
        StatementFormat::Mt940 => mt940::write(statement),
        StatementFormat::Ofx => ofx::write(statement),
        StatementFormat::Bai2 => bai2::write(statement),
        StatementFormat::Csv => csv::write(statement),
    }
}
