//! Matches one line to several transactions of one direction with that sum: adjacent transactions, or all
//! of a day.
//!
//! Testing every subset is too slow. Banks merge consecutive transactions, so only consecutive ones are
//! tested.

use std::collections::BTreeMap;

use super::board::{Board, State, TWO_BUSINESS_DAYS, WINDOW, points_of_days};
use super::words::Likeness;
use crate::model::ledger::TransactionType;
use crate::model::payments::reconciliation_match::Reason;

/// Maximum number of merged transactions in a line, unless it contains the whole day.
const MOST_MERGED: usize = 6;
/// Maximum number of transactions of a day in one line.
const MOST_OF_A_DAY: usize = 100;
/// Maximum number of runs with equal sums that are compared with a line.
const MOST_RUNS: usize = 16;
/// The minimum score for a suggestion. A sum matches by chance more often than a single amount.
const LEAST: i32 = 65;
/// The maximum confidence of a sum unless the line's text confirms it.
const MOST_CONFIDENCE: i32 = 98;

/// Consecutive transactions: positions in the list of one direction.
#[derive(Clone, Copy)]
struct Run {
    start: usize,
    length: usize,
}

/// The unmatched transactions of one direction, and their runs by sum.
struct Runs {
    free: Vec<usize>,
    by_sum: BTreeMap<i128, Vec<Run>>,
}

pub(super) fn find(board: &Board<'_>, state: &mut State) {
    for direction in [TransactionType::Credit, TransactionType::Debit] {
        let open =
            |&line: &usize| state.found[line].is_none() && board.lines[line].direction == direction;
        let lines: Vec<usize> = (0..board.lines.len()).filter(open).collect();
        if lines.is_empty() {
            continue;
        }
        let runs = Runs::of(board, state, direction);
        let mut fits: Vec<(i32, usize, Run, Vec<Reason>)> = Vec::new();
        for line in lines {
            let sum = i128::from(board.lines[line].amount);
            let Some(runs_of_sum) = runs.by_sum.get(&sum) else { continue };
            let near: Vec<Run> = runs_of_sum
                .iter()
                .filter(|run| runs.apart(board, line, **run) <= WINDOW)
                .take(MOST_RUNS)
                .copied()
                .collect();
            for &run in &near {
                let (points, reasons) = runs.judge(board, line, run, near.len() == 1);
                if points >= LEAST {
                    fits.push((points, line, run, reasons));
                }
            }
        }
        fits.sort_by_key(|(points, line, run, _)| (-points, *line, run.start, run.length));
        for (points, line, run, reasons) in fits {
            let transactions = runs.of_run(run).to_vec();
            let all_free = transactions.iter().all(|&one| state.free[one]);
            if state.found[line].is_none() && all_free {
                state.take(line, transactions, points.min(MOST_CONFIDENCE), reasons);
            }
        }
    }
}

impl Runs {
    fn of(board: &Board<'_>, state: &State, direction: TransactionType) -> Self {
        let mut free: Vec<usize> = (0..board.booked.len())
            .filter(|&one| state.free[one] && board.booked[one].direction == direction)
            .collect();
        free.sort_by_key(|&one| (board.booked_days[one], one));
        let mut by_sum: BTreeMap<i128, Vec<Run>> = BTreeMap::new();
        for start in 0..free.len() {
            let first = board.booked_days[free[start]];
            let begins_day = start == 0 || board.booked_days[free[start - 1]] != first;
            let mut sum = 0;
            for (length, &one) in (1..=MOST_OF_A_DAY).zip(&free[start..]) {
                let apart = board.booked_days[one] - first;
                let few = length <= MOST_MERGED && apart <= TWO_BUSINESS_DAYS;
                let of_its_day = begins_day && apart == 0;
                if !(few || of_its_day) {
                    break;
                }
                sum += i128::from(board.booked[one].amount);
                let next = free.get(start + length).map(|&next| board.booked_days[next]);
                let whole_day = of_its_day && next != Some(first);
                if length >= 2 && (few || whole_day) {
                    by_sum.entry(sum).or_default().push(Run { start, length });
                }
            }
        }
        Self { free, by_sum }
    }

    fn of_run(&self, run: Run) -> &[usize] {
        &self.free[run.start..run.start + run.length]
    }

    /// Days between a line and the nearest transaction of a run.
    fn apart(&self, board: &Board<'_>, line: usize, run: Run) -> i32 {
        let all = self.of_run(run).iter();
        let days = all.map(|&one| board.apart(line, one));
        days.min().unwrap_or(i32::MAX)
    }

    fn judge(&self, board: &Board<'_>, line: usize, run: Run, alone: bool) -> (i32, Vec<Reason>) {
        let words = &board.words[line];
        let all = self.of_run(run);
        let mut reasons = vec![Reason::SumEqual];
        let mut points = 55;
        let likeness = all.iter().map(|&one| board.keys.likeness(words, one)).max();
        let (add, reason) = match likeness {
            Some(Likeness::Same | Likeness::Shared) => (25, Some(Reason::ReferenceEqual)),
            Some(Likeness::Part | Likeness::PartShared) => (20, Some(Reason::ReferencePartly)),
            Some(Likeness::Other) => (-5, Some(Reason::ReferenceOther)),
            Some(Likeness::Unknown) | None => (0, None),
        };
        points += add;
        reasons.extend(reason);
        let (add, reason) = points_of_days(self.apart(board, line, run));
        points += add;
        reasons.extend(reason);
        if all.iter().all(|&one| board.describes(line, one)) {
            points += 5;
            reasons.push(Reason::DescriptionEqual);
        }
        if words.description.contains(&format!("{}ITEMS", run.length)) {
            points += 12;
            reasons.push(Reason::CountEqual);
        }
        if alone {
            points += 17;
            reasons.push(Reason::OnlyCandidate);
        } else {
            reasons.push(Reason::SeveralCandidates);
        }
        (points, reasons)
    }
}
