//! Decides which worlds are unloaded from memory, and when.
//!
//! An unchanged world can always be unloaded, because it can be generated again. A world with stored inputs is
//! unloaded when there is no room; its next request replays it. Any other world remains until it is deleted, reset or
//! idle for too long. Deliberately absent: clocks and the size of the process, which the network layer reports.

#![expect(
    clippy::disallowed_types,
    reason = "the map of the worlds; sorted before anything depends on its order"
)]

use std::collections::{BTreeMap, HashMap};
use std::ops::Deref;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError, RwLockWriteGuard, Weak};

use crate::engine::recording::{self, KeyHash, Tape};
pub(super) use crate::engine::room::Room;
use crate::engine::slot::{Memory, Slot};
use crate::engine::worlds::Worlds;
use crate::value::{ApiError, ErrorCode};
use crate::world::script::{Scenario, imports};
use crate::world::{Base, ClockMode, World};

/// One in this many worlds is unloaded at once, so that a full server does not sort its worlds for each new key.
const PART: usize = 16;

/// The number of worlds in memory for each attempt that is refused without a search, after a search has found only
/// changed worlds.
const WORLDS_A_REFUSAL: usize = 8;
/// The same if there are unchanged worlds that are in use, which can leave soon.
const WORLDS_A_REFUSAL_SOON: usize = 256;
/// With fewer worlds, each attempt searches.
const MANY_WORLDS: usize = 1_000;

/// The worlds in memory, by key. A world that was replayed without a request has a name made of its hash instead.
#[derive(Default)]
pub(super) struct Open {
    by_key: HashMap<Box<str>, Arc<Slot>>,
    /// The worlds whose inputs are recorded, by key hash.
    by_hash: BTreeMap<KeyHash, Weak<Slot>>,
}

impl Open {
    fn insert(&mut self, key: Box<str>, slot: Arc<Slot>) -> Option<Arc<Slot>> {
        let old = self.by_key.insert(key, Arc::clone(&slot));
        if let Some(tape) = &slot.tape {
            self.by_hash.insert(tape.world(), Arc::downgrade(&slot));
        }
        old
    }

    fn remove(&mut self, key: &str) -> Option<Arc<Slot>> {
        let slot = self.by_key.remove(key)?;
        self.forget(&slot);
        Some(slot)
    }

    /// The world was removed from `by_key`.
    fn forget(&mut self, slot: &Arc<Slot>) {
        let Some(tape) = &slot.tape else { return };
        let known = self.by_hash.get(&tape.world());
        if known.is_some_and(|known| known.as_ptr() == Arc::as_ptr(slot)) {
            self.by_hash.remove(&tape.world());
        }
    }

    fn of_hash(&self, world: KeyHash) -> Option<Arc<Slot>> {
        self.by_hash.get(&world).and_then(Weak::upgrade).filter(|slot| !slot.is_lost())
    }
}

impl Deref for Open {
    type Target = HashMap<Box<str>, Arc<Slot>>;

    fn deref(&self) -> &Self::Target {
        &self.by_key
    }
}

/// The worlds in memory, locked for a change. Unloaded worlds are dropped after the lock is released, because
/// dropping a large world takes long.
pub(super) struct OpenMut<'a> {
    // Fields are dropped in this order.
    open: RwLockWriteGuard<'a, Open>,
    leaving: Vec<Arc<Slot>>,
}

impl Deref for OpenMut<'_> {
    type Target = Open;

    fn deref(&self) -> &Open {
        &self.open
    }
}

impl OpenMut<'_> {
    pub(super) fn insert(&mut self, key: Box<str>, slot: Arc<Slot>) {
        self.leaving.extend(self.open.insert(key, slot));
    }

    /// Removes a world that leaves memory.
    pub(super) fn remove(&mut self, key: &str) -> Option<&Arc<Slot>> {
        self.leaving.push(self.open.remove(key)?);
        self.leaving.last()
    }

    /// Removes a world that gets another key.
    pub(super) fn take(&mut self, key: &str) -> Option<Arc<Slot>> {
        self.open.remove(key)
    }

    /// Removes the worlds that contain what could not be stored.
    fn take_lost(&mut self) -> Vec<Arc<Slot>> {
        let lost = self.open.by_key.extract_if(|_, slot| slot.is_lost());
        let lost: Vec<_> = lost.map(|(_, slot)| slot).collect();
        for slot in &lost {
            self.open.forget(slot);
        }
        lost
    }
}

/// Whether no request and no delivery uses a world. Workers that wait for a delivery do not.
fn is_unused(slot: &Arc<Slot>) -> bool {
    let holders = Arc::strong_count(slot); // before the workers are counted, because a worker that ends in between must not hide a request
    holders <= 1 + slot.deliveries().idle_workers()
}

impl Worlds {
    /// Locks the worlds in memory.
    pub(super) fn open_mut(&self) -> OpenMut<'_> {
        let open = self.open.write().unwrap_or_else(PoisonError::into_inner);
        OpenMut { open, leaving: Vec::new() }
    }

    /// Whether a recorded world is in memory, under any name.
    pub(super) fn is_open(&self, world: KeyHash) -> bool {
        self.open.read().unwrap_or_else(PoisonError::into_inner).of_hash(world).is_some()
    }

    /// A recorded world in memory, under any name.
    pub(super) fn of_hash(&self, world: KeyHash) -> Option<Arc<Slot>> {
        self.open.read().unwrap_or_else(PoisonError::into_inner).of_hash(world)
    }

    /// Makes room for another world.
    pub(super) fn make_room(&self, open: &mut OpenMut<'_>) -> Result<(), ApiError> {
        let most = self.most.min(self.room.ceiling.load(Ordering::Relaxed));
        if open.len() < most {
            return Ok(());
        }
        if !self.room.search.refuses() {
            let begun = self.room.search.begin();
            let refusals = self.shrink(open, most - (most / PART).max(1));
            if open.len() < most {
                return Ok(());
            }
            self.room.search.failed(begun, refusals);
        }
        let limit = if most == self.most { "--max-worlds" } else { "--max-resident-bytes" };
        let worlds = open.len();
        let detail = if self.reads_again() {
            format!(
                "all {worlds} worlds in memory, the maximum of {limit}, are in use or have waiting deliveries: try again"
            )
        } else {
            let flags = if self.room.drops_idle.load(Ordering::Relaxed) {
                "--journal"
            } else {
                "--idle-ttl or --journal"
            };
            format!(
                "{worlds} worlds are open, the maximum of {limit}: delete one (DELETE /_sandbox/world) or reset \
                 one, or start the sandbox with {flags}"
            )
        };
        Err(ApiError::new(ErrorCode::Overloaded, detail))
    }

    /// Unloads the least recently used worlds until this number remains, as far as they can be unloaded.
    /// Returns the number of further attempts that need no search if they are too few.
    fn shrink(&self, open: &mut OpenMut<'_>, after: usize) -> usize {
        let started = self.started();
        let worlds = open.len();
        let mut leaving: Vec<(u64, u64, Box<str>)> = open
            .iter()
            .filter(|(_, slot)| self.may_leave(slot, &started))
            .map(|(key, slot)| (slot.touched(), slot.memory().state.opened, key.clone()))
            .collect();
        leaving.sort_unstable();
        let surplus = open.len().saturating_sub(after);
        for (_, _, key) in leaving.into_iter().take(surplus) {
            // The wall clock may have begun to move it since.
            if open.get(&key).is_some_and(|slot| self.may_leave(slot, &started)) {
                self.drop_world(open, &key);
            }
        }
        let any_unchanged = || open.values().any(|slot| self.is_unchanged(slot, &started));
        match worlds {
            ..MANY_WORLDS => 0,
            _ if any_unchanged() => worlds / WORLDS_A_REFUSAL_SOON,
            _ => worlds / WORLDS_A_REFUSAL,
        }
    }

    fn drop_world(&self, open: &mut OpenMut<'_>, key: &str) {
        let Some(slot) = open.remove(key) else { return };
        slot.deliveries().dismiss();
        if slot.tester().requests.is_used() {
            self.room.forget(key);
        }
    }

    /// Whether stored inputs are read again.
    fn reads_again(&self) -> bool {
        self.recorder.as_ref().is_some_and(|recorder| recorder.is_read_again())
    }

    /// Whether nothing is lost with a world: it equals a new one, or it can be replayed.
    fn may_leave(&self, slot: &Arc<Slot>, started: &[Arc<Scenario>]) -> bool {
        if !self.reads_again() {
            // The cheapest check is first, because most worlds of a full server are changed. The last one takes the lock
            // of the tester, which a request may hold while it waits for the lock of all worlds.
            return self.is_unchanged(slot, started)
                && is_unused(slot)
                && slot.is_like_new(&self.base, started, self.recorder.is_some());
        }
        is_unused(slot) && {
            // A lost world that acts without calls must be replayed without a request: the next sweep drops it and
            // notes that.
            slot.is_stored() || (slot.is_lost() && !slot.acts_alone())
        }
    }

    /// Whether the records of a world are those of a new one. Its tester may not be.
    fn is_unchanged(&self, slot: &Slot, started: &[Arc<Scenario>]) -> bool {
        slot.memory().is_unchanged(&self.base, started)
    }

    /// Drops a world that was deleted.
    pub(super) fn close(&self, key: &str, slot: &Arc<Slot>) {
        slot.close();
        let mut open = self.open_mut();
        if open.get(key).is_some_and(|known| Arc::ptr_eq(known, slot)) {
            open.remove(key);
        }
    }

    /// Drops the lost worlds, which contain inputs that could not be stored. Returns those that act without calls.
    pub(super) fn drop_lost(&self) -> Vec<KeyHash> {
        let losses = recording::losses();
        if self.room.losses.swap(losses, Ordering::Relaxed) == losses {
            return Vec::new();
        }
        let lost = self.open_mut().take_lost();
        for slot in &lost {
            slot.deliveries().dismiss();
        }
        let alone = lost.iter().filter(|slot| slot.acts_alone());
        alone.filter_map(|slot| slot.tape.as_ref().map(Tape::world)).collect()
    }

    /// Drops the worlds that were not used for this time. Without stored inputs, they are lost.
    pub(super) fn drop_idle(&self, idle_ms: u64) {
        self.room.drops_idle.store(true, Ordering::Relaxed);
        let mut open = self.open_mut();
        let (now, started) = (self.room.now(), self.started());
        let idle: Vec<Box<str>> = open
            .iter()
            .filter(|(_, slot)| {
                let is_idle = now.saturating_sub(slot.touched()) >= idle_ms;
                let waits = || slot.tester().outbox.is_waiting();
                is_idle
                    && is_unused(slot)
                    && if self.reads_again() { self.may_leave(slot, &started) } else { !waits() }
            })
            .map(|(key, _)| key.clone())
            .collect();
        for key in idle {
            if let Some(tape) = open.get(&key).and_then(|slot| slot.tape.as_ref()) {
                tape.removed_unless_stored();
            }
            self.drop_world(&mut open, &key);
        }
    }

    /// Adjusts the number of worlds to the size of the process.
    pub(super) fn fit(&self, resident_bytes: u64, most_bytes: u64) {
        let ceiling = self.room.ceiling.load(Ordering::Relaxed);
        if resident_bytes > most_bytes {
            let mut open = self.open_mut();
            let fitting = open.len().min(ceiling) * 9 / 10;
            self.room.ceiling.store(fitting.max(1), Ordering::Relaxed);
            self.shrink(&mut open, fitting);
        } else if ceiling != usize::MAX && resident_bytes < most_bytes / 10 * 9 {
            self.room.ceiling.store(ceiling + ceiling / 64 + 1, Ordering::Relaxed);
        }
    }
}

impl Slot {
    /// Whether the world acts without calls: a delivery is pending, or the wall clock runs its timers.
    pub(super) fn acts_alone(&self) -> bool {
        self.deliveries().is_active()
            && (self.world().mode() == ClockMode::Real || self.tester().outbox.is_waiting())
    }
}

impl Memory {
    /// Whether the records of the world are those of a new one of this base.
    pub(super) fn is_unchanged(&self, base: &Arc<Base>, started: &[Arc<Scenario>]) -> bool {
        self.state.version == imports(started) && Arc::ptr_eq(&self.base, base)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let world = self.world.get_mut().unwrap_or_else(PoisonError::into_inner);
        if world.record_count() > 0 {
            world.replace(World::new(Arc::clone(world.base()), world.mode()));
        }
        self.tester.get_mut().unwrap_or_else(PoisonError::into_inner).snapshots.free();
        self.past.get_mut().unwrap_or_else(PoisonError::into_inner).free();
    }
}
