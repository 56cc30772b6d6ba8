//! The inputs of the matcher, its decisions so far, and the maximum distance of two days.

use crate::model::ledger::TransactionType;
use crate::model::payments::bank_statement::StatementLine;
use crate::model::payments::reconciliation_match::{ExceptionKind, Reason};
use crate::value::time::Date;

use super::words::{self, Keys, LineWords};

/// Maximum number of days between a transaction and its line: two business days and a long weekend.
pub(crate) const WINDOW: i32 = 7;
/// Maximum number of calendar days in two business days without a holiday.
pub(super) const TWO_BUSINESS_DAYS: i32 = 4;
/// The minimum score for a suggestion.
pub(super) const LEAST: i32 = 60;

/// A transaction of the wallet.
#[derive(Clone, Debug)]
pub(crate) struct Booked<'a> {
    pub(crate) date: Date,
    pub(crate) amount: i64,
    pub(crate) direction: TransactionType,
    pub(crate) description: &'a str,
    /// References of it that a bank line can contain.
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

/// The inputs, with precomputed lookups.
pub(super) struct Board<'a> {
    pub(super) lines: &'a [&'a StatementLine],
    pub(super) booked: &'a [Booked<'a>],
    pub(super) words: Vec<LineWords>,
    pub(super) keys: Keys,
    /// Words of the transactions' descriptions.
    pub(super) descriptions: Vec<String>,
    /// Days as numbers, which are faster to subtract.
    pub(super) line_days: Vec<i32>,
    pub(super) booked_days: Vec<i32>,
}

impl<'a> Board<'a> {
    pub(super) fn new(lines: &'a [&'a StatementLine], booked: &'a [Booked<'a>]) -> Self {
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
    pub(super) fn apart(&self, line: usize, booked: usize) -> i32 {
        (self.line_days[line] - self.booked_days[booked]).abs()
    }

    /// Whether a line contains a transaction's description, or its start as banks shorten it.
    pub(super) fn describes(&self, line: usize, booked: usize) -> bool {
        words::same_words(&self.words[line].description, &self.descriptions[booked])
    }
}

pub(super) fn number_of(day: Date) -> i32 {
    day.days_since(Date::from(jiff::civil::date(1970, 1, 1)))
}

/// The decisions so far.
pub(super) struct State {
    pub(super) found: Vec<Option<Finding>>,
    /// Whether each transaction is unmatched.
    pub(super) free: Vec<bool>,
}

impl State {
    /// Matches a line with transactions.
    pub(super) fn take(
        &mut self,
        line: usize,
        transactions: Vec<usize>,
        points: i32,
        reasons: Vec<Reason>,
    ) {
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
pub(super) fn points_of_days(days: i32) -> (i32, Option<Reason>) {
    match days {
        0 => (8, Some(Reason::SameDay)),
        days if days <= TWO_BUSINESS_DAYS => (4, Some(Reason::DaysApart)),
        days if days <= WINDOW => (1, Some(Reason::WeekApart)),
        _ => (0, None),
    }
}
