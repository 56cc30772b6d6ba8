//! The latest attempts, for the readers of the event stream. Nothing is kept before the first reader.

use std::collections::VecDeque;

use crate::tester::outbox::delivery::Attempted;

/// Maximum number of kept attempts. A slower reader gets the number of missed attempts.
const MOST: usize = 1_000;

/// The latest attempts of all endpoints.
#[derive(Debug, Default)]
pub(crate) struct Recent {
    is_read: bool,
    /// Number of attempts since the first reader.
    made: u64,
    kept: VecDeque<Attempted>,
}

impl Recent {
    /// Registers a reader. Returns its position.
    pub(crate) const fn begin(&mut self) -> u64 {
        self.is_read = true;
        self.made
    }

    /// Whether attempts are kept.
    pub(super) const fn is_read(&self) -> bool {
        self.is_read
    }

    pub(super) fn note(&mut self, attempted: Attempted) {
        self.made += 1;
        self.kept.push_back(attempted);
        if self.kept.len() > MOST {
            self.kept.pop_front();
        }
    }

    /// The position after the last attempt.
    pub(crate) const fn made(&self) -> u64 {
        self.made
    }

    /// The attempts after a position, and the number of those that are no longer kept.
    pub(crate) fn since(&self, position: u64) -> (u64, impl Iterator<Item = &Attempted>) {
        let first = self.made - self.kept.len() as u64;
        let skip = usize::try_from(position.saturating_sub(first)).unwrap_or(usize::MAX);
        (first.saturating_sub(position), self.kept.iter().skip(skip))
    }
}
