//! The events of a world from before its checkpoint.
//!
//! A world that is read from a checkpoint first has only its latest events. Another thread replays the earlier inputs
//! to get the earlier events. A reader of an earlier event waits for that thread.

use std::sync::Arc;

use imbl::Vector;

use crate::value::later::Later;
use crate::world::{Event, Log};

/// Events that are read later.
#[derive(Debug)]
pub(crate) struct Earlier {
    /// The sequence of the first one.
    pub(super) first: u64,
    pub(super) count: u64,
    pub(super) events: Later<Vector<Arc<Event>>>,
}

impl Earlier {
    pub(super) fn new(first: u64, count: u64) -> Self {
        Self { first, count, events: Later::default() }
    }

    /// A thread starts to restore them.
    pub(crate) fn announce(&self) {
        self.events.announce();
    }

    /// Sets the events from the log of a world that contains them.
    pub(crate) fn fill_from(&self, log: &Log) {
        let count = usize::try_from(self.count).unwrap_or(usize::MAX);
        self.events.bring(log.iter().take(count).cloned().collect());
    }

    /// They cannot be read: the log begins after them.
    pub(crate) fn give_up(&self) {
        self.events.bring(Vector::new());
    }
}
