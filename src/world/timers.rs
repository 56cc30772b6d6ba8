//! The timers.

use std::sync::Arc;

use imbl::OrdMap;
use serde::{Deserialize, Serialize};

use crate::model::task::Task;
use crate::value::time::Timestamp;
use crate::world::decided::Decided;
use crate::world::script_state::Cause;

/// The timers, ordered by their due time and the order in which they were set.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Timers {
    pub(super) next: u64,
    #[serde(with = "listed")]
    due: OrdMap<(Timestamp, u64), Timer>,
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
}

impl Timers {
    /// In the order of their due times.
    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = &Timer> {
        self.due.values()
    }

    pub(super) fn insert(&mut self, timer: Timer) {
        self.due.insert(timer.key(), timer);
    }

    /// Takes the first timer, if it is due by this instant.
    pub(super) fn take_due(&mut self, instant: Timestamp) -> Option<Timer> {
        let &key = self.due.get_min().map(|(key, _)| key)?;
        (key.0 <= instant).then(|| self.due.remove(&key)).flatten()
    }

    /// Takes the first timer that matches a condition.
    pub(super) fn take_first(&mut self, of: impl Fn(&Timer) -> bool) -> Option<Timer> {
        let key = self.iter().find(|timer| of(timer)).map(Timer::key)?;
        self.due.remove(&key)
    }

    /// Removes a timer as if it had never been set.
    pub(super) fn remove(&mut self, timer: &Timer) {
        self.due.remove(&timer.key());
        self.next = timer.sequence;
    }
}

/// As a list, with the first due timer at its end.
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
