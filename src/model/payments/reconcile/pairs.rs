//! Matches one line to one transaction with equal amount and direction, by reference or by day, best matches first.

use std::collections::BTreeMap;

use super::board::{Board, LEAST, State, WINDOW, points_of_days};
use super::words::Likeness;
use crate::model::ledger::TransactionType;
use crate::model::payments::reconciliation_match::Reason;

/// Maximum number of transactions compared with a line: those near its day, and those with its reference.
const NEIGHBOURS: usize = 6;

/// Direction and amount, which a line and its transaction must share.
type Bucket = (bool, i64);

const fn bucket(direction: TransactionType, amount: i64) -> Bucket {
    (matches!(direction, TransactionType::Credit), amount)
}

/// Positions of lines and free transactions with one amount and direction, by day.
#[derive(Default)]
struct Equals {
    lines: Vec<usize>,
    booked: Vec<usize>,
}

/// A line and a transaction, with the evidence for the match.
struct Pair {
    points: i32,
    days: i32,
    line: usize,
    booked: usize,
    reasons: Vec<Reason>,
}

pub(super) fn find(board: &Board<'_>, state: &mut State) {
    let buckets = buckets(board, state);
    let mut pairs = Vec::new();
    for equals in buckets.values() {
        for (rank, &line) in equals.lines.iter().enumerate() {
            for booked in candidates(board, equals, rank) {
                pairs.extend(judge(board, equals, line, booked));
            }
        }
    }
    take_surest(state, pairs);
    // With many equal amounts on one day, lines that are not yet compared are paired in order.
    for equals in buckets.values() {
        let lines = equals.lines.iter().filter(|line| state.found[**line].is_none());
        let free = equals.booked.iter().filter(|one| state.free[**one]);
        let pairs: Vec<Pair> = in_order(board, lines.copied(), free.copied())
            .filter_map(|(line, booked)| judge(board, equals, line, booked))
            .collect();
        take_surest(state, pairs);
    }
}

fn buckets(board: &Board<'_>, state: &State) -> BTreeMap<Bucket, Equals> {
    let mut buckets: BTreeMap<Bucket, Equals> = BTreeMap::new();
    for (place, line) in board.lines.iter().enumerate() {
        let key = bucket(line.direction, line.amount);
        buckets.entry(key).or_default().lines.push(place);
    }
    for (place, one) in board.booked.iter().enumerate() {
        if state.free[place]
            && let Some(equals) = buckets.get_mut(&bucket(one.direction, one.amount))
        {
            equals.booked.push(place);
        }
    }
    for equals in buckets.values_mut() {
        equals.lines.sort_by_key(|&line| board.line_days[line]);
        equals.booked.sort_by_key(|&one| board.booked_days[one]);
    }
    buckets
}

/// The candidates for a line: transactions with its reference, the transactions nearest to its day, and the
/// transaction at its position among equal amounts.
fn candidates(board: &Board<'_>, equals: &Equals, rank: usize) -> Vec<usize> {
    let line = equals.lines[rank];
    let (all, day) = (&equals.booked, board.line_days[line]);
    let amount = bucket(board.lines[line].direction, board.lines[line].amount);
    let same = |one: &usize| {
        let booked = &board.booked[*one];
        !booked.taken && bucket(booked.direction, booked.amount) == amount
    };
    let words = &board.words[line];
    let named = board.keys.named_by(words).take(4 * NEIGHBOURS);
    let begun = board.keys.begun_by(words, 4 * NEIGHBOURS);
    let mut found: Vec<usize> = named.chain(begun).filter(same).take(NEIGHBOURS).collect();
    let middle = all.partition_point(|&one| board.booked_days[one] < day);
    let first = middle.saturating_sub(NEIGHBOURS / 3);
    let last = (middle + NEIGHBOURS).min(all.len());
    found.extend(&all[first..last]);
    found.extend(all.get(rank));
    found.sort_unstable();
    found.dedup();
    found.retain(|&one| board.apart(line, one) <= WINDOW);
    found
}

/// The number of transactions, and of different lines, with that amount near that day.
fn rivals(board: &Board<'_>, equals: &Equals, line: usize, booked: usize) -> bool {
    let around = |places: &[usize], days: &[i32], day: i32| {
        let first = places.partition_point(|&one| days[one] < day - WINDOW);
        let last = places.partition_point(|&one| days[one] <= day + WINDOW);
        first..last
    };
    let one_transaction =
        around(&equals.booked, &board.booked_days, board.line_days[line]).len() <= 1;
    let lines = around(&equals.lines, &board.line_days, board.booked_days[booked]);
    let own = board.lines[line];
    let one_line = lines.len() <= NEIGHBOURS
        && equals.lines[lines].iter().all(|&other| {
            let other = board.lines[other];
            other.date == own.date
                && other.reference == own.reference
                && other.description == own.description
        });
    !(one_transaction && one_line)
}

/// The evidence for a line and a transaction of equal amount; none if it is too weak.
fn judge(board: &Board<'_>, equals: &Equals, line: usize, booked: usize) -> Option<Pair> {
    let mut reasons = vec![Reason::AmountEqual];
    let mut points = 60;
    let (add, reason) = match board.keys.likeness(&board.words[line], booked) {
        Likeness::Same => (32, Some(Reason::ReferenceEqual)),
        Likeness::Part => (28, Some(Reason::ReferencePartly)),
        Likeness::Shared => (15, Some(Reason::ReferenceEqual)),
        Likeness::PartShared => (8, Some(Reason::ReferencePartly)),
        Likeness::Unknown => (0, None),
        Likeness::Other => (-15, Some(Reason::ReferenceOther)),
    };
    points += add;
    reasons.extend(reason);
    let days = board.apart(line, booked);
    let (add, reason) = points_of_days(days);
    points += add;
    reasons.extend(reason);
    if board.describes(line, booked) {
        points += 5;
        reasons.push(Reason::DescriptionEqual);
    }
    if rivals(board, equals, line, booked) {
        reasons.push(Reason::SeveralCandidates);
    } else {
        points += 22;
        reasons.push(Reason::OnlyCandidate);
    }
    (points >= LEAST).then_some(Pair { points, days, line, booked, reasons })
}

/// Matches every line with its best transaction, best matches first.
fn take_surest(state: &mut State, mut pairs: Vec<Pair>) {
    pairs.sort_by_key(|pair| (-pair.points, pair.days, pair.line, pair.booked));
    for pair in pairs {
        if state.found[pair.line].is_none() && state.free[pair.booked] {
            state.take(pair.line, vec![pair.booked], pair.points, pair.reasons);
        }
    }
}

/// Pairs lines and transactions of one amount in order of day. An entry that is too early for the other side is skipped.
fn in_order<'b>(
    board: &'b Board<'_>,
    lines: impl Iterator<Item = usize> + 'b,
    booked: impl Iterator<Item = usize> + 'b,
) -> impl Iterator<Item = (usize, usize)> + 'b {
    let (mut lines, mut booked) = (lines.peekable(), booked.peekable());
    core::iter::from_fn(move || {
        loop {
            let (&line, &one) = (lines.peek()?, booked.peek()?);
            let apart = board.line_days[line] - board.booked_days[one];
            if apart.abs() <= WINDOW {
                return lines.next().zip(booked.next());
            }
            if apart < 0 {
                lines.next();
            } else {
                booked.next();
            }
        }
    })
}
