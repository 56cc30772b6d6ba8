//! The timers.

use std::sync::Arc;

use imbl::{OrdMap, OrdSet};
use serde::{Deserialize, Serialize};

use crate::model::AnyId;
use crate::model::task::Task;
use crate::value::Key;
use crate::value::time::Timestamp;
use crate::world::decided::Decided;
use crate::world::script_state::Cause;

/// The timers, ordered by their due time and the order in which they were set.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(from = "WrittenTimers")]
pub(super) struct Timers {
    pub(super) next: u64,
    #[serde(serialize_with = "listed::serialize")]
    due: OrdMap<(Timestamp, u64), Arc<Timer>>,
    /// The keys of timers about a resource, by the bits of its id: an index.
    #[serde(skip_serializing)]
    about: OrdSet<(u64, Timestamp, u64)>,
    /// The sum of the timers' hashes.
    #[serde(skip_serializing)]
    sum: u64,
}

/// The serialised form of the timers.
#[derive(Deserialize)]
struct WrittenTimers {
    next: u64,
    due: Vec<Timer>,
}

impl From<WrittenTimers> for Timers {
    fn from(written: WrittenTimers) -> Self {
        let mut timers = Self { next: written.next, ..Self::default() };
        written.due.into_iter().for_each(|timer| timers.insert(Arc::new(timer)));
        timers
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Timer {
    pub(crate) due: Timestamp,
    pub(super) sequence: u64,
    pub(crate) task: Task,
    /// The cause that set it.
    pub(crate) cause: Option<Arc<Cause>>,
    /// The decision about its subject when it was set.
    pub(crate) decided: Option<Arc<Decided>>,
}

impl Timer {
    const fn key(&self) -> (Timestamp, u64) {
        (self.due, self.sequence)
    }

    /// Its place in the index, if it is about a resource.
    fn place(&self) -> Option<(u64, Timestamp, u64)> {
        self.task.subject().map(|subject| (subject.bits, self.due, self.sequence))
    }

    /// A hash of the time and the task of the timer.
    fn hash(&self) -> u64 {
        let bits = match self.task {
            Task::Scripted(place) => place.into(),
            task => task.subject().map_or(0, |subject| subject.bits),
        };
        let key = Key::new(self.sequence).with(self.task.kind().name()).at(bits);
        key.at(self.due.millis().cast_unsigned()).hash()
    }
}

impl Timers {
    /// In the order of their due times.
    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = &Arc<Timer>> {
        self.due.values()
    }

    /// A hash of all timers. It does not depend on the order in which they were set and removed.
    pub(super) const fn sum(&self) -> (u64, u64) {
        (self.next, self.sum)
    }

    pub(super) fn insert(&mut self, timer: Arc<Timer>) {
        self.sum = self.sum.wrapping_add(timer.hash());
        if let Some(place) = timer.place() {
            self.about.insert(place);
        }
        self.due.insert(timer.key(), timer);
    }

    fn take(&mut self, key: (Timestamp, u64)) -> Option<Arc<Timer>> {
        let timer = self.due.remove(&key)?;
        self.sum = self.sum.wrapping_sub(timer.hash());
        if let Some(place) = timer.place() {
            self.about.remove(&place);
        }
        Some(timer)
    }

    /// Takes the first timer, if it is due by this instant.
    pub(super) fn take_due(&mut self, instant: Timestamp) -> Option<Arc<Timer>> {
        let &key = self.due.get_min().map(|(key, _)| key)?;
        (key.0 <= instant).then(|| self.take(key)).flatten()
    }

    /// Takes the first timer that matches a condition.
    pub(super) fn take_first(&mut self, of: impl Fn(&Timer) -> bool) -> Option<Arc<Timer>> {
        let key = self.iter().find(|timer| of(timer)).map(|timer| timer.key())?;
        self.take(key)
    }

    /// Takes the first timer of such a task among the timers about a resource.
    pub(super) fn take_first_about(
        &mut self,
        subject: AnyId,
        of: impl Fn(&Timer) -> bool,
    ) -> Option<Arc<Timer>> {
        let key = self.about(subject).find(|timer| of(timer))?.key();
        self.take(key)
    }

    /// The timers about a resource, in the order of their due times.
    pub(super) fn about(&self, subject: AnyId) -> impl Iterator<Item = &Arc<Timer>> {
        let bits = subject.bits;
        let places =
            self.about.range((bits, Timestamp::EPOCH, 0)..=(bits, Timestamp::MAX, u64::MAX));
        let timers = places.filter_map(|(_, due, sequence)| self.due.get(&(*due, *sequence)));
        timers.filter(move |timer| timer.task.subject() == Some(subject))
    }

    /// Removes a timer as if it had never been set.
    pub(super) fn remove(&mut self, timer: &Timer) {
        self.take(timer.key());
        self.next = timer.sequence;
    }
}

/// As a list, with the first due timer at its end.
mod listed {
    use std::sync::Arc;

    use imbl::OrdMap;
    use serde::Serializer;

    use super::{Timer, Timestamp};

    pub(super) fn serialize<S: Serializer>(
        due: &OrdMap<(Timestamp, u64), Arc<Timer>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(due.values().rev())
    }
}
