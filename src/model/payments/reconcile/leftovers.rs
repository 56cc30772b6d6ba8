//! Lines that match no free transaction, and the reason.

use std::collections::{BTreeMap, BTreeSet};

use super::board::{Board, Finding, State, TWO_BUSINESS_DAYS, WINDOW, number_of};
use super::words::Likeness;
use crate::model::ledger::TransactionType;
use crate::model::payments::bank_statement::StatementLine;
use crate::model::payments::reconciliation_match::{ExceptionKind, Reason};

/// Words that banks use for their fees.
const FEE_WORDS: &[&str] = &[
    "FEE",
    "FEES",
    "CHARGE",
    "CHARGES",
    "COMMISSION",
    "LEVY",
    "STAMP",
    "DUTY",
    "MAINTENANCE",
    "EMTL",
    "COT",
];
/// Number of transactions that a line is compared with.
const NEIGHBOURS: usize = 8;

/// The finding for every line, with an explanation for lines without a match.
pub(super) fn explain(board: &Board<'_>, state: State) -> Vec<Finding> {
    let taken = Taken::of(board, &state);
    let mut seen: BTreeSet<Written<'_>> = BTreeSet::new();
    let mut findings = Vec::with_capacity(board.lines.len());
    for (place, found) in state.found.iter().enumerate() {
        let written = written(board.lines[place]);
        let finding = found.clone().unwrap_or_else(|| {
            let copy = seen.contains(&written);
            why(board, &state, &taken, place, copy)
        });
        // Among equal lines, the first one is not always the matched one.
        seen.insert(written);
        findings.push(finding);
    }
    findings
}

/// The values that make two lines equal.
type Written<'a> = (i32, i64, bool, Option<&'a str>, Option<&'a str>);

fn written(line: &StatementLine) -> Written<'_> {
    (
        number_of(line.date),
        line.amount,
        line.direction == TransactionType::Credit,
        line.reference.as_deref(),
        line.description.as_deref(),
    )
}

/// Transactions that are matched here or on an earlier statement, by amount and day.
struct Taken(BTreeMap<(bool, i64), Vec<usize>>);

impl Taken {
    fn of(board: &Board<'_>, state: &State) -> Self {
        let mut by_amount: BTreeMap<(bool, i64), Vec<usize>> = BTreeMap::new();
        for (place, one) in board.booked.iter().enumerate() {
            if !state.free[place] {
                let credit = one.direction == TransactionType::Credit;
                by_amount.entry((credit, one.amount)).or_default().push(place);
            }
        }
        for places in by_amount.values_mut() {
            places.sort_by_key(|&one| board.booked_days[one]);
        }
        Self(by_amount)
    }

    /// The transaction that the line repeats, if it is clear.
    fn again(&self, board: &Board<'_>, state: &State, line: usize) -> Option<usize> {
        let own = board.lines[line];
        let credit = own.direction == TransactionType::Credit;
        let all = self.0.get(&(credit, own.amount))?;
        let middle = all.partition_point(|&one| board.booked_days[one] < board.line_days[line]);
        let first = middle.saturating_sub(NEIGHBOURS);
        let last = (middle + NEIGHBOURS).min(all.len());
        let words = &board.words[line];
        let named = board.keys.named_by(words).take(NEIGHBOURS).filter(|&one| {
            let booked = &board.booked[one];
            let equal = booked.amount == own.amount && booked.direction == own.direction;
            equal && !state.free[one]
        });
        let near = all[first..last].iter().copied();
        named.chain(near).find(|&one| {
            let apart = board.apart(line, one);
            match board.keys.likeness(words, one) {
                Likeness::Same | Likeness::Part => apart <= WINDOW,
                Likeness::Other => false,
                _ => apart <= TWO_BUSINESS_DAYS && board.describes(line, one),
            }
        })
    }
}

fn why(board: &Board<'_>, state: &State, taken: &Taken, line: usize, copy: bool) -> Finding {
    let exception =
        |kind, transactions, reasons| Finding::Exception { kind, transactions, reasons };
    if copy {
        let about = taken.again(board, state, line).into_iter().collect();
        return exception(ExceptionKind::DuplicateLine, about, vec![Reason::CopyOfLine]);
    }
    if is_fee(board, line) {
        return exception(ExceptionKind::BankFee, Vec::new(), vec![Reason::FeeWords]);
    }
    if let Some(again) = taken.again(board, state, line) {
        let reasons = vec![Reason::AmountEqual, Reason::AlreadyMatched];
        return exception(ExceptionKind::DuplicateLine, vec![again], reasons);
    }
    let own = board.lines[line];
    let mut named = board.keys.named_by(&board.words[line]).take(NEIGHBOURS);
    let other_amount = named.find(|&one| {
        let booked = &board.booked[one];
        state.free[one] && booked.direction == own.direction && booked.amount != own.amount
    });
    if let Some(one) = other_amount {
        let reasons = vec![Reason::ReferenceEqual, Reason::AmountDiffers];
        return exception(ExceptionKind::AmountDiffers, vec![one], reasons);
    }
    exception(ExceptionKind::NotInBooks, Vec::new(), vec![Reason::NothingFits])
}

/// Whether the line is money out with a word for a fee.
fn is_fee(board: &Board<'_>, line: usize) -> bool {
    let line = board.lines[line];
    let texts = [line.description.as_deref(), line.reference.as_deref()];
    let mut words =
        texts.into_iter().flatten().flat_map(|text| text.split(|one: char| !one.is_alphanumeric()));
    line.direction == TransactionType::Debit
        && words.any(|word| FEE_WORDS.contains(&word.to_uppercase().as_str()))
}
