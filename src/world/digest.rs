//! One hash of a whole world: equal worlds have equal hashes on every machine and in every build.
//!
//! A world is its base and its log: every change of a resource and every posting is in an event. So the log is hashed, in blocks of events
//! whose hashes are stored (`log_hashes`). The cost of a digest depends on the changes since the last one, not on the size of the world.

use std::collections::BTreeMap;

use crate::model::Kind;
use crate::value::aside;
use crate::world::World;
use crate::world::log_hashes::{Hashes, hex, of};

/// The number of events of one call from which they are hashed in advance, before a digest is requested.
const MANY_EVENTS: u64 = 4_096;

/// During a long call, events are hashed each time this number of further events was added.
const STRETCH: u64 = 512;

/// The hashes of the parts of a world. Two different worlds differ in at least one.
#[derive(Debug, serde::Serialize)]
pub(crate) struct Parts {
    /// Its base, its clock and its version.
    pub(crate) frame: String,
    /// The changes of each kind of resource, and the number of resources created or changed since growth.
    pub(crate) records: BTreeMap<Kind, (u64, String)>,
    pub(crate) log: String,
    pub(crate) timers: String,
    /// The rows that decide, and the number of decisions.
    pub(crate) decisions: String,
}

impl World {
    /// The world's hash: its seed and shape, and all changes.
    pub(crate) fn digest(&self) -> String {
        of(&self.parts())
    }

    /// If there are many events since a position of the log, hashes them on another thread, so that the next digest
    /// is fast. Returns the position for the next call. Called between transactions.
    pub(crate) fn hash_log_since(&self, position: u64) -> u64 {
        let length = self.log.len();
        if length <= position + MANY_EVENTS {
            return position;
        }
        self.log.extend_hashes_aside();
        length + STRETCH - MANY_EVENTS // so the next time is after that many further events
    }

    /// Waits for the hashes of the events since a position, if there are many. Called at the end of a call: the call
    /// takes longer, but the next digest is immediate.
    pub(crate) fn end_hashes_since(&self, position: u64) {
        if self.log.len() > position + MANY_EVENTS {
            self.log.extend_hashes();
        }
    }

    /// Hashes the events of a long step while it continues, so that the digest after it is fast, too. If the step fails, the hashes before
    /// it are restored.
    pub(super) fn hash_long_step(&mut self) {
        let staged = self.log.len() - self.transaction.logged;
        if staged > 0 && staged.is_multiple_of(STRETCH) && aside::is_beside() {
            let known = || Box::new(self.log.hashes_with(|hashes, _, _| hashes.known()));
            self.transaction.hashes.get_or_insert_with(known);
            self.log.extend_hashes_aside();
        }
    }

    /// The hash of each part.
    pub(crate) fn parts(&self) -> Parts {
        // All fields are named, so that a new part is not forgotten here. The records, the books, the reconciled
        // transactions, the volumes and the movements follow from the log.
        let Self {
            base,
            mode,
            now,
            version,
            overlay,
            books,
            log,
            timers,
            script,
            decided,
            reconciled: _,
            metered: _,
            movements: _,
            fresh: _,
            transaction: _,
            steps: _,
        } = self;
        let known = log.hashes_with(Hashes::all);
        let decisions = decided.last().map_or(0, |last| last.sequence);
        let records = known.kinds.iter();
        let count = |kind| match kind {
            Kind::JournalEntry => books.iter().map(|(_, book)| book.entries.len() as u64).sum(),
            kind => overlay.count(kind),
        };
        let records = records.map(|(kind, hash)| (*kind, (count(*kind), hex(*hash))));
        Parts {
            frame: of(&(base, mode, now, version)),
            records: records.collect(),
            log: hex(known.log),
            timers: of(&timers.sum()),
            decisions: of(&(script, decisions)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::model::business::Company;
    use crate::world::{Base, ClockMode, Shape};

    /// An open step with so many events that some are hashed before its end.
    fn begin_long_step(world: &mut World, name: &'static str) {
        let company = world.find(world.base().id_at::<Company>(0)).expect("a world has a company");
        world.begin(None);
        (0..=2 * STRETCH).for_each(|_| world.emit(name, &company));
    }

    #[test]
    fn a_long_step_is_hashed_while_it_runs_and_not_if_it_fails() {
        aside::install(|work| work()); // unless another test has installed one
        let base = Arc::new(Base::new(42, Shape::default()));
        let new = || World::new(Arc::clone(&base), ClockMode::Manual);
        let hashed = |world: &World| world.log.hashes_with(|hashes, _, _| hashes.known().events());

        let mut world = new();
        let before = world.digest();
        begin_long_step(&mut world, "company.updated");
        assert!(world.transaction.hashes.is_some(), "hashes were begun");
        world.log.extend_hashes(); // another thread may not have finished them
        assert_eq!(hashed(&world), 2 * STRETCH);
        world.roll_back();
        assert_eq!((hashed(&world), world.digest()), (0, before));
        begin_long_step(&mut world, "company.suspended");
        world.commit();

        let mut other = new();
        begin_long_step(&mut other, "company.suspended");
        other.commit();
        assert_eq!(world.digest(), other.digest());
    }
}
