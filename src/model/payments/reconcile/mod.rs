//! The matcher: matches bank lines with wallet transactions. Pure. It takes about n log n steps: it looks up
//! candidates by key or in a sorted list, and never compares all pairs.
//!
//! A line matches one transaction (`pairs`) or several that the bank merged (`groups`). The remaining lines are explained (`leftovers`). A
//! confidence is a sum of points, in hundredths.

mod board;
mod groups;
mod leftovers;
mod pairs;
#[cfg(test)]
mod tests;
mod words;

use crate::model::payments::bank_statement::StatementLine;

use self::board::{Board, State};
pub(crate) use self::board::{Booked, Finding, WINDOW};

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
