//! CSV: a row for each entry, with the columns that the caller declares.
//!
//! The format has no balances, so the sums are not checked. This module splits the rows itself. The usual crates
//! accept an unclosed quote, and report the position of a record but not of a field.

mod fields;
mod rows;

use self::fields::{day, signed};
use self::rows::{Row, rows};
use super::entries::{Entry, MOST_DESCRIPTION, MOST_REFERENCE, Statement, Wrong, kept, room};
use crate::model::TransactionType;
use crate::model::prelude::*;
use crate::value::Text;

/// The columns of a CSV file. A column is given by its name in the header row, or by its number from 1 if the file has no header row.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct CsvMapping {
    /// The character between two fields.
    #[serde(default)]
    pub(crate) delimiter: Delimiter,
    /// The character before the decimals. Groups of three digits may be separated by a space, an apostrophe, or the other of comma and point,
    /// such as `1,234,567.89`.
    #[serde(default)]
    pub(crate) decimal_mark: DecimalMark,
    /// The format of a day: `YYYY` or `YY`, `MM` and `DD` with separators, such as `DD.MM.YYYY`. A time may follow after a space or `T`.
    #[serde(default = "iso_days")]
    pub(crate) date_format: DateFormat,
    /// Number of lines before the header row, or before the first row if there is no header row.
    #[serde(default)]
    #[schemars(range(max = 100))]
    pub(crate) skip_lines: u32,
    /// Whether the first row is a header row with the names of the columns.
    #[serde(default = "yes")]
    pub(crate) has_heads: bool,
    /// The columns that are read. Others are ignored.
    pub(crate) columns: CsvColumns,
}

/// The columns that are read: `date`, and either `amount` or both `debit` and `credit`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct CsvColumns {
    /// The booking day.
    pub(crate) date: Text<100>,
    /// The amount with its sign: above zero for incoming money.
    pub(crate) amount: Option<Text<100>>,
    /// The amount of outgoing money; its sign is ignored.
    pub(crate) debit: Option<Text<100>>,
    /// The amount of incoming money.
    pub(crate) credit: Option<Text<100>>,
    /// The bank's description.
    pub(crate) description: Option<Text<100>>,
    /// The payment reference known to payer and payee.
    pub(crate) reference: Option<Text<100>>,
}

/// The character between two fields of a CSV file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Delimiter {
    /// `,`
    #[default]
    Comma,
    /// `;`
    Semicolon,
    /// A tab.
    Tab,
    /// `|`
    Pipe,
}

/// The character before the decimals of an amount.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DecimalMark {
    /// `1234.56`
    #[default]
    Point,
    /// `1234,56`
    Comma,
}

/// How days are written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct DateFormat(String);

impl JsonSchema for DateFormat {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "DateFormat".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "minLength": 6, "maxLength": 10, "default": "YYYY-MM-DD",
            "pattern": "^(((YY)?YY[-./ ]?MM[-./ ]?DD)|(DD[-./ ]?MM[-./ ]?(YY)?YY)|(MM[-./ ]?DD[-./ ]?(YY)?YY))$" })
    }
}

fn iso_days() -> DateFormat {
    DateFormat("YYYY-MM-DD".to_owned())
}

const fn yes() -> bool {
    true
}

impl CsvMapping {
    /// What is wrong with the mapping itself: a member of `columns`, and the cause.
    pub(crate) fn mistakes(&self) -> Vec<(&'static str, &'static str, &'static str)> {
        let columns = &self.columns;
        match (&columns.amount, &columns.debit, &columns.credit) {
            (Some(_), None, None) | (None, Some(_), Some(_)) => Vec::new(),
            (Some(_), Some(_), _) => {
                vec![("debit", "conflict", "debit must be absent if amount is given")]
            }
            (Some(_), None, Some(_)) => {
                vec![("credit", "conflict", "credit must be absent if amount is given")]
            }
            (None, Some(_), None) => {
                vec![("credit", "required", "credit is required if debit is given")]
            }
            (None, None, Some(_)) => {
                vec![("debit", "required", "debit is required if credit is given")]
            }
            (None, None, None) => {
                vec![("amount", "required", "amount is required, or debit and credit")]
            }
        }
    }
}

pub(super) fn read(
    text: &str,
    currency: Currency,
    mapping: Option<&CsvMapping>,
) -> Result<Vec<Statement>, Wrong> {
    let mapping = mapping.ok_or_else(|| Wrong::at(0, "expected a mapping of the columns"))?;
    let delimiter = match mapping.delimiter {
        Delimiter::Comma => ',',
        Delimiter::Semicolon => ';',
        Delimiter::Tab => '\t',
        Delimiter::Pipe => '|',
    };
    let skipped = usize::try_from(mapping.skip_lines).unwrap_or(usize::MAX);
    let rows = rows(text, delimiter, skipped)?;
    let Some((first, rest)) = rows.split_first() else {
        return Err(Wrong::at(text.len(), "expected a row"));
    };
    let columns = Columns::find(mapping, first)?;
    let rows = if mapping.has_heads { rest } else { rows.as_slice() };
    let mut entries = Vec::new();
    for row in rows {
        room(entries.len(), row.place)?;
        if row.cells.len() != first.cells.len() {
            let detail = format!(
                "expected {} fields as in the first row, but found {}",
                first.cells.len(),
                row.cells.len()
            );
            return Err(Wrong::at(row.place, detail));
        }
        entries.push(columns.entry(row, mapping, currency)?);
    }
    let none = Statement {
        account: None,
        currency: None,
        opening: None,
        closing: None,
        entries,
        exact: false,
    };
    Ok(vec![none])
}

/// The places of the columns in a row.
struct Columns {
    date: usize,
    amount: Option<usize>,
    debit: Option<usize>,
    credit: Option<usize>,
    description: Option<usize>,
    reference: Option<usize>,
}

impl Columns {
    fn find(mapping: &CsvMapping, first: &Row) -> Result<Self, Wrong> {
        let place = |name: &Text<100>| -> Result<usize, Wrong> {
            let name = name.as_str().trim();
            let found = if mapping.has_heads {
                first.cells.iter().position(|cell| cell.text.trim() == name)
            } else {
                let number = name.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
                number.filter(|number| *number < first.cells.len())
            };
            found.ok_or_else(|| {
                let detail = if mapping.has_heads {
                    format!("expected the column {name} in the header row")
                } else {
                    format!("expected a column {name}: the row has {} fields", first.cells.len())
                };
                Wrong::at(first.place, detail)
            })
        };
        let maybe = |name: &Option<Text<100>>| name.as_ref().map(place).transpose();
        let columns = &mapping.columns;
        Ok(Self {
            date: place(&columns.date)?,
            amount: maybe(&columns.amount)?,
            debit: maybe(&columns.debit)?,
            credit: maybe(&columns.credit)?,
            description: maybe(&columns.description)?,
            reference: maybe(&columns.reference)?,
        })
    }

    fn entry(&self, row: &Row, mapping: &CsvMapping, currency: Currency) -> Result<Entry, Wrong> {
        let date = &row.cells[self.date];
        let said = |place: Option<usize>, most: usize| {
            let text = row.cells[place?].text.replace(char::is_control, " ");
            kept(&text, most)
        };
        let amount = |place: usize| signed(&row.cells[place], mapping.decimal_mark, currency);
        let (minor, place) = match (self.amount, self.debit, self.credit) {
            (Some(place), ..) => (amount(place)?, place),
            (None, Some(debit), Some(credit)) => {
                let (out, into) = (amount(debit)?, amount(credit)?);
                if out != 0 && into != 0 {
                    let detail = "expected an amount in one of the columns of debit and credit";
                    return Err(Wrong::at(row.cells[credit].place, detail));
                }
                if into < 0 {
                    return Err(Wrong::at(
                        row.cells[credit].place,
                        "expected an amount above zero",
                    ));
                }
                if out == 0 { (into, credit) } else { (-out.abs(), debit) }
            }
            _ => return Err(Wrong::at(row.place, "expected a column of the amount")),
        };
        if minor == 0 {
            let detail = "expected an amount that is not zero";
            return Err(Wrong::at(row.cells[place].place, detail));
        }
        Ok(Entry {
            date: day(date, &mapping.date_format)?,
            amount: minor.abs(),
            direction: if minor < 0 { TransactionType::Debit } else { TransactionType::Credit },
            description: said(self.description, MOST_DESCRIPTION),
            reference: said(self.reference, MOST_REFERENCE),
            place: date.place,
        })
    }
}
