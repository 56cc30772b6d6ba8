//! What waits for the clock.

use std::sync::Arc;

use imbl::OrdMap;
use serde::{Deserialize, Serialize};

use crate::model::Task;
use crate::value::Timestamp;
use crate::world::{Cause, Decided};

/// What waits for the clock, ordered by the instant it falls due and the order in which it was set.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Timers {
    pub(super) next: u64,
    #[serde(with = "listed")]
    due: OrdMap<(Timestamp, u64), Timer>,
}

/// One thing that waits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Timer {
    pub(crate) due: Timestamp,
    pub(super) sequence: u64,
    pub(crate) task: Task,
    /// What set it.
    pub(crate) cause: Option<Arc<Cause>>,
    /// What was decided about its subject when it was set.
    pub(crate) decided: Option<Arc<Decided>>,
}

impl Timer {
    const fn key(&self) -> (Timestamp, u64) {
        (self.due, self.sequence)
    }
}

impl Timers {
    /// In the order in which they fall due.
    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = &Timer> {
        self.due.values()
    }

    pub(super) fn insert(&mut self, timer: Timer) {
        self.due.insert(timer.key(), timer);
    }

    /// Takes the first, if it falls due by that instant.
    pub(super) fn take_due(&mut self, instant: Timestamp) -> Option<Timer> {
        let &key = self.due.get_min().map(|(key, _)| key)?;
        (key.0 <= instant).then(|| self.due.remove(&key)).flatten()
    }

    /// Takes the first that a question is true of.
    pub(super) fn take_first(&mut self, of: impl Fn(&Timer) -> bool) -> Option<Timer> {
        let key = self.iter().find(|timer| of(timer)).map(Timer::key)?;
        self.due.remove(&key)
    }

    /// Takes a timer back as if it had never been set.
    pub(super) fn remove(&mut self, timer: &Timer) {
        self.due.remove(&timer.key());
        self.next = timer.sequence;
    }
}

/// As a list, the first to fall due at its end.
mod listed {
    use imbl::OrdMap;
    use serde::{Deserialize, Deserializer, Serializer};

    use super::{Timer, Timestamp};

    pub(super) fn serialize<S: Serializer>(
        due: &OrdMap<(Timestamp, u64), Timer>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(due.values().rev())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<OrdMap<(Timestamp, u64), Timer>, D::Error> {
        let timers = Vec::<Timer>::deserialize(deserializer)?;
        Ok(timers.into_iter().map(|timer| (timer.key(), timer)).collect())
    }
}
