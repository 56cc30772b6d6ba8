//! The result of a calculation on the command line, and the form of its arguments.

use std::{fmt, io};

use crate::model::payroll::PayError;

/// The exit code of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CasesOutcome {
    /// Every case has a result: 0.
    Computed,
    /// Some cases were refused; each has the reason on its own line: 1.
    SomeRefused,
}

/// The reason why there is no result.
#[derive(Debug)]
pub enum Error {
    /// The arguments or the content of a named file are wrong: exit code 2.
    Usage(String),
    /// Reading or writing failed: exit code 1.
    Io(io::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(message) => f.write_str(message),
            Self::Io(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<PayError> for Error {
    fn from(error: PayError) -> Self {
        Self::Usage(error.to_string())
    }
}

pub(super) fn split(pair: &str) -> Result<(&str, &str), Error> {
    match pair.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name, value)),
        _ => Err(Error::Usage(format!("`{pair}` must be NAME=VALUE"))),
    }
}
