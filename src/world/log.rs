//! The log: every event in the order of its sequence, or the last so many of them.
//!
//! A position in the log is a sequence number: how many events there had been. It keeps its meaning when the oldest events are
//! dropped. Deliberately absent: anything that looks inside an event; `audit_trail` does.

use std::sync::Arc;

use imbl::Vector;
use serde::{Deserialize, Serialize};

use crate::world::Event;
use crate::world::audit_trail::{Chain, Hash};

/// The events of a world. A clone shares them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Log {
    events: Vector<Arc<Event>>,
    /// Events kept; the oldest go beyond it. All are kept if none.
    #[serde(skip)]
    most: Option<u64>,
    /// Remembers hashes of the audit log; they follow from the events.
    #[serde(skip)]
    chain: Chain,
}

impl Log {
    /// How many events there ever were, dropped ones included: the sequence of the last.
    pub(crate) fn len(&self) -> u64 {
        self.events.back().map_or(0, |event| event.sequence)
    }

    /// The sequence of the oldest event that is kept, or of the first to come.
    pub(crate) fn first_sequence(&self) -> u64 {
        self.events.front().map_or(1, |event| event.sequence)
    }

    /// Whether events have been dropped.
    pub(crate) fn is_trimmed(&self) -> bool {
        self.first_sequence() > 1
    }

    /// The event with that sequence, if it is kept.
    pub(crate) fn get(&self, sequence: u64) -> Option<&Arc<Event>> {
        self.events.get(self.place(sequence)?)
    }

    /// The newest event.
    pub(crate) fn last(&self) -> Option<&Arc<Event>> {
        self.events.back()
    }

    /// Every event that is kept, oldest first.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &Arc<Event>> + ExactSizeIterator {
        self.events.iter()
    }

    /// What happened after the first `length` events, as far as it is kept.
    pub(crate) fn since(
        &self,
        length: u64,
    ) -> impl DoubleEndedIterator<Item = &Arc<Event>> + ExactSizeIterator {
        let first = length.saturating_add(1).max(self.first_sequence());
        let start = self.place(first).unwrap_or(self.events.len());
        let focus = self.events.focus();
        focus.narrow(start..self.events.len()).into_iter()
    }

    fn place(&self, sequence: u64) -> Option<usize> {
        let place = size(sequence.checked_sub(self.first_sequence())?);
        (place < self.events.len()).then_some(place)
    }

    /// Hashes of the audit record before the one of that event, and of that one.
    pub(crate) fn hashes(&self, sequence: u64) -> Option<(Hash, Hash)> {
        Some(self.chain.at(&self.events, self.place(sequence)?))
    }

    /// Keeps so many events from now on; all of them if none.
    pub(crate) fn set_limit(&mut self, most: Option<u64>) {
        self.most = most;
        self.trim();
    }

    /// How many events it keeps; all of them if none.
    pub(crate) const fn kept(&self) -> Option<u64> {
        self.most
    }

    pub(super) fn push(&mut self, event: Arc<Event>) {
        self.events.push_back(event);
    }

    pub(super) fn pop(&mut self) {
        self.events.pop_back();
        self.chain.truncate(self.events.len());
    }

    /// Drops the oldest beyond the bound; the last one stays, since it numbers the next. Called where nothing can be undone.
    pub(super) fn trim(&mut self) {
        if let Some(most) = self.most {
            while self.events.len() > size(most.max(1)) {
                if let Some(oldest) = self.events.pop_front() {
                    self.chain.drop_first(&oldest);
                }
            }
        }
    }
}

/// A number of events as one of places.
fn size(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}
