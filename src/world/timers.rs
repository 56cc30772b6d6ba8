//! What waits for the clock.

use serde::{Deserialize, Serialize};

use crate::model::task::Task;
use crate::value::time::Timestamp;

/// What waits for the clock, ordered by the instant it falls due and the order in which it was set.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Timers {
    pub(super) next: u64,
    pub(super) due: Vec<Timer>,
}

/// One thing that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Timer {
    pub(crate) due: Timestamp,
    pub(super) sequence: u64,
    pub(crate) task: Task,
}

impl Timers {
    /// Kept with the first to fall due at the end, where taking it costs nothing.
    pub(super) fn insert(&mut self, timer: Timer) {
        let place = self
            .due
            .partition_point(|other| (other.due, other.sequence) > (timer.due, timer.sequence));
        self.due.insert(place, timer);
    }

    /// Takes a timer back as if it had never been set.
    pub(super) fn remove(&mut self, timer: Timer) {
        self.due.retain(|other| other.sequence != timer.sequence);
        self.next = timer.sequence;
    }
}
