//! The event log: all events in the order of their sequence, or the last ones.
//!
//! A position in the log is a sequence number: the number of events before. It keeps its meaning when the
//! oldest events are dropped. Deliberately absent: code that reads
//! the content of an event; `audit_trail` does.

use std::sync::{Arc, OnceLock};

use imbl::Vector;
use serde::{Deserialize, Serialize};

use crate::world::Event;
use crate::world::audit_trail::{Chain, Hash};
use crate::world::earlier::Earlier;
use crate::world::log_hashes::{Hashes, Known};

/// The default number of events that a world keeps. An event takes 0.3 to 0.9 KB, so that a log takes at most about 1 GB.
pub(crate) const MAX_EVENTS: u64 = 1_000_000;

/// The number of latest events that a checkpoint contains at least.
const LATEST: u64 = 1_024;

/// The events of a world. A clone shares them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(from = "WrittenLog", into = "WrittenLog")]
pub(crate) struct Log {
    /// The events before `events`, if the world began with a checkpoint.
    earlier: Option<Arc<Earlier>>,
    events: Vector<Arc<Event>>,
    /// Both, if an earlier one was read and nothing happened since.
    whole: OnceLock<Vector<Arc<Event>>>,
    /// The most stored events; beyond it the oldest are dropped. All are stored if none.
    most: Option<u64>,
    /// Caches the hashes of the audit log, which follow from the events.
    chain: Chain,
    /// Caches the hashes of the world's digest.
    digests: Hashes,
}

/// The serialised form of a log.
#[derive(Serialize, Deserialize)]
struct WrittenLog {
    /// The sequence of the first earlier event, and their number.
    earlier: Option<(u64, u64)>,
    events: Vector<Arc<Event>>,
    most: Option<u64>,
    dropped: Option<Hash>,
    hashes: Known,
}

impl From<Log> for WrittenLog {
    fn from(log: Log) -> Self {
        Self {
            earlier: log.earlier.map(|earlier| (earlier.first, earlier.count)),
            events: log.events,
            most: log.most,
            dropped: log.chain.dropped(),
            hashes: log.digests.known(),
        }
    }
}

impl From<WrittenLog> for Log {
    fn from(written: WrittenLog) -> Self {
        let WrittenLog { earlier, events, most, dropped, hashes } = written;
        let earlier = earlier.map(|(first, count)| Arc::new(Earlier::new(first, count)));
        let mut digests = Hashes::from(hashes);
        digests.set_limit(most);
        let (chain, whole) = (Chain::after(dropped), OnceLock::new());
        Self { earlier, events, whole, most, chain, digests }
    }
}

impl Log {
    /// The number of events, dropped ones included: the sequence of the last.
    pub(crate) fn len(&self) -> u64 {
        self.events.back().map_or(0, |event| event.sequence)
    }

    /// The sequence of the oldest stored event, or of the first future one.
    pub(crate) fn first_sequence(&self) -> u64 {
        self.earlier.as_ref().map_or_else(|| self.first_present(), |earlier| earlier.first)
    }

    /// The number of stored events.
    pub(crate) fn count(&self) -> u64 {
        (self.len() + 1).saturating_sub(self.first_sequence())
    }

    /// Whether events have been dropped.
    pub(crate) fn is_trimmed(&self) -> bool {
        self.first_sequence() > 1
    }

    /// The event with this sequence, if it is stored.
    pub(crate) fn get(&self, sequence: u64) -> Option<&Arc<Event>> {
        let events = self.from(sequence);
        let first = events.front()?.sequence;
        events.get(size(sequence.checked_sub(first)?))
    }

    /// The newest event.
    pub(crate) fn last(&self) -> Option<&Arc<Event>> {
        self.events.back()
    }

    /// All stored events, the oldest first.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &Arc<Event>> + ExactSizeIterator {
        self.all().iter()
    }

    /// The events after the first `length` ones, as far as they are stored.
    pub(crate) fn since(
        &self,
        length: u64,
    ) -> impl DoubleEndedIterator<Item = &Arc<Event>> + ExactSizeIterator {
        let events = self.from(length.saturating_add(1));
        let first = events.front().map_or(1, |event| event.sequence);
        let start = size(length.saturating_add(1).saturating_sub(first)).min(events.len());
        let focus = events.focus();
        focus.narrow(start..events.len()).into_iter()
    }

    /// Stored events that contain the one with this sequence, if it is stored. Waits for an earlier one.
    fn from(&self, sequence: u64) -> &Vector<Arc<Event>> {
        if sequence >= self.first_present() { &self.events } else { self.all() }
    }

    /// The sequence of the first event that needs no wait.
    fn first_present(&self) -> u64 {
        self.events.front().map_or(1, |event| event.sequence)
    }

    /// All stored events. Waits for the earlier ones.
    fn all(&self) -> &Vector<Arc<Event>> {
        let Some(earlier) = &self.earlier else { return &self.events };
        let Some(events) = earlier.events.wait() else { return &self.events };
        self.whole.get_or_init(|| events.clone() + self.events.clone())
    }

    /// The earlier events, if they are not part of the log yet.
    pub(crate) const fn earlier(&self) -> Option<&Arc<Earlier>> {
        self.earlier.as_ref()
    }

    /// A copy without earlier events. It has the latest events and those that are not hashed yet.
    pub(super) fn latest(&self) -> Self {
        self.extend_hashes();
        let (first, hashed) = (self.first_sequence(), self.digests.known().events());
        let last = hashed.min(self.len().saturating_sub(LATEST));
        let events: Vector<_> = self.since(last.max(self.first_present() - 1)).cloned().collect();
        let start = events.front().map_or(first, |event| event.sequence);
        let earlier = (start > first).then(|| Arc::new(Earlier::new(first, start - first)));
        Self { earlier, events, whole: OnceLock::new(), ..self.clone() }
    }

    /// The hashes of the audit record before this event, and of this event.
    pub(crate) fn hashes(&self, sequence: u64) -> Option<(Hash, Hash)> {
        self.get(sequence)?;
        let all = self.all();
        let first = all.front().map_or(1, |event| event.sequence);
        Some(self.chain.at(all, size(sequence - first)))
    }

    /// Reads the hashes of the digest, from the events that need no wait and the sequence of the first one.
    pub(super) fn hashes_with<T>(
        &self,
        read: impl FnOnce(&Hashes, &Vector<Arc<Event>>, u64) -> T,
    ) -> T {
        read(&self.digests, &self.events, self.first_present())
    }

    /// Calculates the hashes of all complete blocks.
    pub(super) fn extend_hashes(&self) {
        self.hashes_with(Hashes::extend);
    }

    /// Extends the hashes on another thread. If an event is rolled back afterwards, the earlier hashes must be
    /// restored.
    pub(super) fn extend_hashes_aside(&self) {
        self.digests.extend_aside(self.events.clone(), self.first_present());
    }

    /// Restores the hashes of an earlier state. A thread that still calculates others has no effect.
    pub(super) fn restore_hashes(&mut self, known: Known) {
        self.digests = Hashes::from(known);
        self.digests.set_limit(self.most);
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
        self.join();
        self.events.push_back(event);
    }

    pub(super) fn pop(&mut self) {
        self.join();
        self.events.pop_back();
        self.chain.truncate(size(self.count()));
    }

    /// Adds the earlier events, if they were read. Called before each change.
    fn join(&mut self) {
        let Some(earlier) = &self.earlier else { return };
        self.whole = OnceLock::new();
        if let Some(mut events) = earlier.events.get().cloned() {
            events.append(std::mem::take(&mut self.events));
            (self.events, self.earlier) = (events, None);
        }
    }

    /// Drops the oldest events beyond the limit. The last event stays, because the next one is numbered after it.
    /// Called only when no step is open.
    pub(super) fn trim(&mut self) {
        if let Some(most) = self.most.filter(|most| self.count() > *most) {
            self.join();
            if self.earlier.is_some() {
                return; // a later call drops them
            }
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
