//! Errors in a pack (for the operator) and in one pay (for the caller).

use std::fmt;

use super::period::PayPeriod;

/// Why a pack was refused: which pack, which line of it, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackError {
    /// Code of the pack, `GB-2025`.
    pub pack: String,
    /// The `id` of the wrong `[[line]]`, if the error is in one.
    pub line: Option<String>,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for PackError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pack {}", self.pack)?;
        if let Some(line) = &self.line {
            write!(f, ", line `{line}`")?;
        }
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for PackError {}

/// Why one pay could not be calculated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PayError {
    /// There is no pack with this code.
    UnknownPack(String),
    /// The pack has no attribute, input or total with this name.
    UnknownName {
        /// `attribute`, `input` or `year-to-date total`.
        what: &'static str,
        /// The given name.
        name: String,
        /// The names in the pack.
        known: Vec<String>,
    },
    /// The attribute cannot have this value.
    UnknownValue {
        /// The attribute.
        attribute: String,
        /// The given name.
        value: String,
        /// Its values.
        known: Vec<String>,
    },
    /// A number of the employee is not a whole number within its limits.
    NotANumber {
        /// The input.
        name: String,
        /// The given value.
        value: String,
        /// The smallest one.
        least: i64,
        /// The largest one.
        most: i64,
    },
    /// The attributes belong to another pack.
    ForeignAttributes,
    /// The pack has no tables for this pay period.
    UnsupportedPeriod {
        /// The pay period.
        period: PayPeriod,
        /// The pay periods of the pack.
        known: Vec<PayPeriod>,
    },
    /// The number is not a period of the year.
    PeriodNumber {
        /// The given name.
        number: u32,
        /// The last one accepted.
        last: u32,
    },
    /// A component of earnings is negative.
    NegativeEarnings(i64),
    /// An amount is too large for an exact calculation.
    Overflow {
        /// The line, or what else was being calculated.
        at: String,
    },
    /// A role line without rounding resulted in a fraction of a minor unit.
    Fraction {
        /// The line.
        line: String,
    },
}

impl fmt::Display for PayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownPack(code) => write!(f, "no pack `{code}`"),
            Self::UnknownName { what, name, known } => {
                write!(f, "no {what} `{name}` in this pack: {}", listed(known))
            }
            Self::UnknownValue { attribute, value, known } => {
                write!(f, "`{value}` is not a value of `{attribute}`: {}", listed(known))
            }
            Self::NotANumber { name, value, least, most } => {
                write!(
                    f,
                    "`{value}` is not a value of `{name}`: a whole number from {least} to {most}"
                )
            }
            Self::ForeignAttributes => f.write_str("the attributes belong to another pack"),
            Self::UnsupportedPeriod { period, known } => {
                let known: Vec<String> = known.iter().map(ToString::to_string).collect();
                write!(f, "this pack is not for {period} pay: {}", listed(&known))
            }
            Self::PeriodNumber { number, last } => {
                write!(f, "there is no pay period {number}: they are numbered 1 to {last}")
            }
            Self::NegativeEarnings(amount) => {
                write!(f, "earnings must be zero or more minor units, not {amount}")
            }
            Self::Overflow { at } => write!(f, "an amount is too large to compute exactly ({at})"),
            Self::Fraction { line } => {
                write!(f, "`{line}` is a fraction of a minor unit, and the pack does not round it")
            }
        }
    }
}

impl std::error::Error for PayError {}

fn listed(known: &[String]) -> String {
    if known.is_empty() { "it has none".to_owned() } else { format!("it has {}", known.join(", ")) }
}
