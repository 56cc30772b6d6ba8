//! The event log: all events in the order of their sequence, or the last ones.
//!
//! A position in the log is a sequence number: the number of events before. It keeps its meaning when the
//! oldest events are dropped. Deliberately absent: code that reads
//! the content of an event; `audit_trail` does.

use std::sync::Arc;

use imbl::Vector;
use serde::{Deserialize, Serialize};

use crate::world::Event;
use crate::world::audit_trail::{Chain, Hash};
use crate::world::log_hashes::Hashes;

/// The default number of events that a world keeps. An event takes 0.3 to 0.9 KB, so that a log takes at most about 1 GB.
pub(crate) const MAX_EVENTS: u64 = 1_000_000;

/// The events of a world. A clone shares them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Log {
    events: Vector<Arc<Event>>,
    /// The most stored events; beyond it the oldest are dropped. All are stored if none.
    #[serde(skip)]
    most: Option<u64>,
    /// Caches the hashes of the audit log, which follow from the events.
    #[serde(skip)]
    chain: Chain,
    /// Caches the hashes of the world's digest.
    #[serde(skip)]
    digests: Hashes,
}

impl Log {
    /// The number of events, dropped ones included: the sequence of the last.
    pub(crate) fn len(&self) -> u64 {
        self.events.back().map_or(0, |event| event.sequence)
    }

    /// The sequence of the oldest stored event, or of the first future one.
    pub(crate) fn first_sequence(&self) -> u64 {
        self.events.front().map_or(1, |event| event.sequence)
    }

    /// Whether events have been dropped.
    pub(crate) fn is_trimmed(&self) -> bool {
        self.first_sequence() > 1
    }

    /// The event with this sequence, if it is stored.
    pub(crate) fn get(&self, sequence: u64) -> Option<&Arc<Event>> {
        self.events.get(self.place(sequence)?)
    }

    /// The newest event.
    pub(crate) fn last(&self) -> Option<&Arc<Event>> {
        self.events.back()
    }

    /// All stored events, the oldest first.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &Arc<Event>> + ExactSizeIterator {
        self.events.iter()
    }

    /// The events after the first `length` ones, as far as they are stored.
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

    /// The hashes of the audit record before this event, and of this event.
    pub(crate) fn hashes(&self, sequence: u64) -> Option<(Hash, Hash)> {
        Some(self.chain.at(&self.events, self.place(sequence)?))
    }

    /// Reads the hashes of the digest, from the stored events and the sequence of the first one.
    pub(super) fn hashes_with<T>(
        &self,
        read: impl FnOnce(&Hashes, &Vector<Arc<Event>>, u64) -> T,
    ) -> T {
        read(&self.digests, &self.events, self.first_sequence())
    }

    /// Calculates the hashes of all complete blocks.
    pub(super) fn extend_hashes(&self) {
        self.hashes_with(Hashes::extend);
    }

    /// The same on another thread. The events must be final.
    pub(super) fn extend_hashes_aside(&self) {
        self.digests.extend_aside(self.events.clone(), self.first_sequence());
    }

    /// Sets the most stored events; all of them if none.
    pub(crate) fn set_limit(&mut self, most: Option<u64>) {
        self.digests.set_limit(most);
        self.most = most;
        self.trim();
    }

    /// The most stored events; all of them if none.
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

    /// Drops the oldest events beyond the limit. The last one stays, because it numbers the next. Called only
    /// where nothing can be undone.
    pub(super) fn trim(&mut self) {
        if let Some(most) = self.most.filter(|most| self.events.len() > size(*most)) {
            self.extend_hashes();
            while self.events.len() > size(most.max(1)) {
                if let Some(oldest) = self.events.pop_front() {
                    self.chain.drop_first(&oldest);
                }
            }
        }
    }
}

/// A number of events as a number of positions.
fn size(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}
