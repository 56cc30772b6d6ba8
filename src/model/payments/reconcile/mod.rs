//! The matcher: matches bank lines with wallet transactions. Pure, and close to n log n: it looks up candidates by key or in a sorted list,
//! and never compares all pairs.
//!
//! A line matches one transaction (`pairs`) or several that the bank merged (`groups`). The remaining lines are explained (`leftovers`). A
//! confidence is a sum of points, in hundredths.

mod groups;
mod leftovers;
mod pairs;
#[cfg(test)]
mod tests;
mod words;

use crate::model::TransactionType;
use crate::model::payments::{ExceptionKind, Reason, StatementLine};
use crate::value::Date;

use self::words::{Keys, LineWords};

/// Maximum number of days between a transaction and its line: two business days and a long weekend.
pub(crate) const WINDOW: i32 = 7;
/// Maximum number of calendar days in two business days without a holiday.
const TWO_BUSINESS_DAYS: i32 = 4;
/// The minimum score for a suggestion.
const LEAST: i32 = 60;

/// A transaction of the wallet.
#[derive(Clone, Debug)]
pub(crate) struct Booked<'a> {
    pub(crate) date: Date,
    pub(crate) amount: i64,
    pub(crate) direction: TransactionType,
    pub(crate) description: &'a str,
    /// References by which a line may name it.
    pub(crate) references: Vec<String>,
    /// Already matched with a line of an earlier statement.
    pub(crate) taken: bool,
}

/// The result for a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Finding {
    /// The line matches these transactions, given by position.
    Fits { transactions: Vec<usize>, confidence: u8, reasons: Vec<Reason> },
    /// The line matches no free transaction.
    Exception {
        kind: ExceptionKind,
        /// The transactions concerned, if known.
        transactions: Vec<usize>,
        reasons: Vec<Reason>,
    },
}

/// The result for every line, in order. Transactions must be in booking order.
pub(crate) fn reconcile(lines: &[&StatementLine], booked: &[Booked<'_>]) -> Vec<Finding> {
    let board = Board::new(lines, booked);
    let mut state = State {
        found: vec![None; lines.len()],
        free: booked.iter().map(|one| !one.taken).collect(),
    };
    pairs::find(&board, &mut state);
    groups::find(&board, &mut state);
    leftovers::explain(&board, state)
}

/// The inputs, with precomputed lookups.
struct Board<'a> {
    lines: &'a [&'a StatementLine],
    booked: &'a [Booked<'a>],
    words: Vec<LineWords>,
    keys: Keys,
    /// Words of the transactions' descriptions.
    descriptions: Vec<String>,
    /// Days as numbers, which are faster to subtract.
    line_days: Vec<i32>,
    booked_days: Vec<i32>,
}

impl<'a> Board<'a> {
    fn new(lines: &'a [&'a StatementLine], booked: &'a [Booked<'a>]) -> Self {
        Self {
            lines,
            booked,
            words: lines.iter().map(|line| LineWords::of(line)).collect(),
            keys: Keys::of(booked),
            descriptions: booked.iter().map(|one| words::letters(one.description)).collect(),
            line_days: lines.iter().map(|line| number_of(line.date)).collect(),
            booked_days: booked.iter().map(|one| number_of(one.date)).collect(),
        }
    }

    /// Days between a line and a transaction.
    fn apart(&self, line: usize, booked: usize) -> i32 {
        (self.line_days[line] - self.booked_days[booked]).abs()
    }

    /// Whether a line contains a transaction's description, or its start as banks shorten it.
    fn describes(&self, line: usize, booked: usize) -> bool {
        words::same_words(&self.words[line].description, &self.descriptions[booked])
    }
}

/// A day as a number.
fn number_of(day: Date) -> i32 {
    day.days_since(Date::from(jiff::civil::date(1970, 1, 1)))
}

/// The decisions so far.
struct State {
    found: Vec<Option<Finding>>,
    /// Whether each transaction is unmatched.
    free: Vec<bool>,
}

impl State {
    /// Matches a line with transactions.
    fn take(&mut self, line: usize, transactions: Vec<usize>, points: i32, reasons: Vec<Reason>) {
        for &one in &transactions {
            self.free[one] = false;
        }
        self.found[line] = Some(Finding::Fits {
            transactions,
            confidence: u8::try_from(points.clamp(0, 100)).unwrap_or(100),
            reasons,
        });
    }
}

/// Points for the number of days between.
fn points_of_days(days: i32) -> (i32, Option<Reason>) {
    match days {
        0 => (8, Some(Reason::SameDay)),
        days if days <= TWO_BUSINESS_DAYS => (4, Some(Reason::DaysApart)),
        days if days <= WINDOW => (1, Some(Reason::WeekApart)),
        _ => (0, None),
    }
}
