//! The matcher: lines of a bank against transactions of a wallet. Pure, and near n log n: everything is found by key or by
//! neighbourhood in a sorted list, and nothing is compared with everything.
//!
//! One line fits one transaction (`pairs`) or several that the bank booked together (`groups`); what is left is explained
//! (`leftovers`). A confidence is a sum of points for what agrees, in hundredths.

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

/// Days between a transaction and its line within which they are looked for: two business days, and a long weekend.
pub(crate) const WINDOW: i32 = 7;
/// Calendar days that two business days take at most where no holiday is.
const TWO_BUSINESS_DAYS: i32 = 4;
/// Less than this is no suggestion.
const LEAST: i32 = 60;

/// A transaction of the wallet.
#[derive(Clone, Debug)]
pub(crate) struct Booked<'a> {
    pub(crate) date: Date,
    pub(crate) amount: i64,
    pub(crate) direction: TransactionType,
    pub(crate) description: &'a str,
    /// What a line may know it by.
    pub(crate) references: Vec<String>,
    /// Matched with a line of an earlier statement.
    pub(crate) taken: bool,
}

/// What a line is found to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Finding {
    /// It fits these transactions, by their places.
    Fits { transactions: Vec<usize>, confidence: u8, reasons: Vec<Reason> },
    /// It fits none that is free.
    Exception {
        kind: ExceptionKind,
        /// What it is about, where that is known.
        transactions: Vec<usize>,
        reasons: Vec<Reason>,
    },
}

/// What every line is found to be, in their order. Transactions are in the order in which they were booked.
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

/// What is compared, with what is looked up often.
struct Board<'a> {
    lines: &'a [&'a StatementLine],
    booked: &'a [Booked<'a>],
    words: Vec<LineWords>,
    keys: Keys,
    /// Words of the transactions' descriptions.
    descriptions: Vec<String>,
    /// Days as numbers, which are cheaper to subtract.
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

    /// Whether a line has a transaction's description, or as much of it as banks leave.
    fn describes(&self, line: usize, booked: usize) -> bool {
        words::same_words(&self.words[line].description, &self.descriptions[booked])
    }
}

/// A day as a number.
fn number_of(day: Date) -> i32 {
    day.days_since(Date::from(jiff::civil::date(1970, 1, 1)))
}

/// What is decided so far.
struct State {
    found: Vec<Option<Finding>>,
    /// Transactions that no line has.
    free: Vec<bool>,
}

impl State {
    /// A line takes its transactions.
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

/// Points for the days between.
fn points_of_days(days: i32) -> (i32, Option<Reason>) {
    match days {
        0 => (8, Some(Reason::SameDay)),
        days if days <= TWO_BUSINESS_DAYS => (4, Some(Reason::DaysApart)),
        days if days <= WINDOW => (1, Some(Reason::WeekApart)),
        _ => (0, None),
    }
}
