//! Snapshots: earlier states of worlds, with the tester state that belongs to them.
//!
//! A snapshot shares all unchanged data with its world, so taking one is cheap. Deliberately absent: stored replies
//! for idempotency keys, which belong to the engine; an [`Act`] defines what the engine does with them.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::tester::Tester;
use crate::tester::outbox::kept::KeptEndpoints;
use crate::tester::outbox::shaping::Shapes;
use crate::tester::wire::Wire;
use crate::value::{Id, Prefixed, Timestamp};
use crate::world::World;
use crate::world::script::Scenario;

/// Maximum number of snapshots per key. Each keeps the data that its world has changed or dropped since.
pub(crate) const MOST_SNAPSHOTS: usize = 100;

/// An earlier state of a world.
#[derive(Debug)]
pub(crate) struct Snapshot {
    pub(crate) id: Id<Self>,
    pub(crate) name: Option<String>,
    pub(crate) world: World,
    part: TesterPart,
}

impl Prefixed for Snapshot {
    const PREFIX: &'static str = "snp";
    const NAME: &'static str = "snapshot";
}

/// The part of the tester state that is restored with its world and copied to a fork: everything that determines how
/// the world continues. The rest (deliveries, requests) is a record of actual calls and is not restored.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct TesterPart {
    scenarios: Vec<Arc<Scenario>>,
    own: Vec<Arc<Scenario>>,
    wire: Wire,
    shapes: Shapes,
    #[serde(skip)]
    pub(crate) carried: Carried,
}

/// Optional parts of a fork.
#[derive(Clone, Debug, Default)]
pub(crate) struct Carried {
    /// The snapshot whose stored replies of idempotency keys it takes.
    pub(crate) answers_of: Option<Id<Snapshot>>,
    /// The webhook endpoints of the source.
    pub(crate) endpoints: Option<KeptEndpoints>,
}

/// A change to the snapshots, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    /// The world was reset. Its version can equal an earlier version.
    Reset,
    Taken(Id<Snapshot>),
    Restored(Id<Snapshot>),
    Deleted(Id<Snapshot>),
}

/// The snapshots of one key.
#[derive(Debug, Default)]
pub(crate) struct Snapshots {
    /// In the order in which they were taken.
    kept: BTreeMap<u64, Snapshot>,
    /// Number of snapshots ever taken; it numbers the next, so no id is reused.
    taken: u64,
    acts: Vec<Act>,
}

impl Snapshots {
    /// Oldest first.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &Snapshot> {
        self.kept.values()
    }

    pub(crate) fn len(&self) -> usize {
        self.kept.len()
    }

    pub(crate) fn get(&self, id: Id<Snapshot>) -> Option<&Snapshot> {
        self.iter().find(|snapshot| snapshot.id == id)
    }

    /// The latest snapshot that still exists.
    pub(crate) fn last(&self) -> Option<&Snapshot> {
        self.iter().next_back()
    }

    /// Number of snapshots ever taken.
    pub(crate) const fn taken(&self) -> u64 {
        self.taken
    }

    /// Sets the number of snapshots that were taken before the world's checkpoint.
    pub(crate) const fn follow_checkpoint(&mut self, taken: u64) {
        self.taken = taken;
    }

    /// The world began again.
    pub(crate) fn note_reset(&mut self) {
        self.acts.push(Act::Reset);
    }

    /// Removes and frees all snapshots.
    pub(crate) fn free(&mut self) {
        for snapshot in std::mem::take(&mut self.kept).into_values() {
            snapshot.world.free();
        }
    }

    /// The changes since the last call.
    pub(crate) fn take_acts(&mut self) -> Vec<Act> {
        std::mem::take(&mut self.acts)
    }
}

impl Tester {
    /// Takes a snapshot; none if the key already has the maximum.
    pub(crate) fn take_snapshot(
        &mut self,
        world: &World,
        name: Option<String>,
    ) -> Option<&Snapshot> {
        let part = self.part();
        let snapshots = &mut self.snapshots;
        if snapshots.len() >= MOST_SNAPSHOTS {
            return None;
        }
        let number = snapshots.taken;
        let place = world.base().key().with("snapshot").at(number);
        let id = Id::from_bits(place.hash());
        snapshots.taken += 1;
        snapshots.acts.push(Act::Taken(id));
        let snapshot = Snapshot { id, name, world: world.clone(), part };
        Some(snapshots.kept.entry(number).or_insert(snapshot))
    }

    /// Restores a world from a snapshot, including its version and its position in the log, so later events get the same ids again. Returns
    /// whether the snapshot exists.
    pub(crate) fn restore_snapshot(&mut self, id: Id<Snapshot>, world: &mut World) -> bool {
        let Some(snapshot) = self.snapshots.get(id) else { return false };
        world.replace(snapshot.world.clone());
        let part = snapshot.part.clone();
        self.snapshots.acts.push(Act::Restored(id));
        self.put_part(part);
        self.outbox.set_back(world);
        true
    }

    /// Deletes a snapshot. Returns whether it existed.
    pub(crate) fn delete_snapshot(&mut self, id: Id<Snapshot>) -> bool {
        let kept = &mut self.snapshots.kept;
        let number = kept.iter().find_map(|(number, kept)| (kept.id == id).then_some(*number));
        let Some(snapshot) = number.and_then(|number| kept.remove(&number)) else { return false };
        snapshot.world.free();
        self.snapshots.acts.push(Act::Deleted(id));
        true
    }

    /// The tester state that accompanies a world.
    pub(crate) fn part(&self) -> TesterPart {
        TesterPart {
            scenarios: self.scenarios.clone(),
            own: self.own.clone(),
            wire: self.wire.clone(),
            shapes: self.outbox.shaping().clone(),
            carried: Carried::default(),
        }
    }

    /// Sets the tester state that accompanies a world.
    pub(crate) fn put_part(&mut self, part: TesterPart) {
        let TesterPart { scenarios, own, wire, shapes, carried: _ } = part;
        self.scenarios = scenarios;
        // Scenarios that were added since the snapshot stay.
        for scenario in own {
            if self.own.iter().all(|other| other.name != scenario.name) {
                self.own.push(scenario);
            }
        }
        self.wire = wire;
        self.outbox.put_shaping(shapes);
    }
}

impl Snapshot {
    /// A separate world that starts from here, with its tester state.
    pub(crate) fn fork(&self) -> (World, TesterPart) {
        (self.world.clone(), self.part.clone())
    }

    /// When it was taken, in virtual time.
    pub(crate) fn at(&self) -> Timestamp {
        self.world.now()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::{Base, ClockMode, Shape};

    fn world() -> World {
        let base = Base::new(42, Shape::default());
        World::new(Arc::new(base), ClockMode::Manual)
    }

    #[test]
    fn ids_are_numbered_and_never_come_twice() {
        let (mut tester, world) = (Tester::default(), world());
        let take = |tester: &mut Tester| tester.take_snapshot(&world, None).expect("room").id;
        let first = take(&mut tester);
        assert!(tester.delete_snapshot(first));
        assert!(!tester.delete_snapshot(first), "it is gone");
        let second = take(&mut tester);
        assert_ne!(first, second);
        let mut other = Tester::default();
        assert_eq!(take(&mut other), first, "by count alone");
        let acts = [Act::Taken(first), Act::Deleted(first), Act::Taken(second)];
        assert_eq!(tester.snapshots.take_acts(), acts);
        assert!(tester.snapshots.take_acts().is_empty());
    }

    #[test]
    fn a_snapshot_beyond_the_maximum_is_refused() {
        let (mut tester, world) = (Tester::default(), world());
        for _ in 0..MOST_SNAPSHOTS {
            assert!(tester.take_snapshot(&world, None).is_some());
        }
        assert!(tester.take_snapshot(&world, None).is_none());
        let oldest = tester.snapshots.iter().next().expect("some").id;
        tester.delete_snapshot(oldest);
        assert!(tester.take_snapshot(&world, None).is_some());
    }

    #[test]
    fn scenarios_go_back_with_their_world() {
        let (mut tester, mut world) = (Tester::default(), world());
        tester.scenarios.push(Arc::default());
        let id = tester.take_snapshot(&world, None).expect("room").id;
        tester.scenarios.clear();
        assert!(tester.restore_snapshot(id, &mut world));
        assert_eq!(tester.scenarios.len(), 1);
        assert!(!tester.restore_snapshot(Id::UNKNOWN, &mut world));
    }
}
