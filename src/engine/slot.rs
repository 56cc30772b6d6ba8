//! One key's world with what belongs to it: the tester's part, what is remembered of requests, and their locks.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError,
};

use http::HeaderValue;

use crate::api::host::OpenWorld;
use crate::engine::cache::{ReadCache, WORLD_BYTES};
use crate::engine::delivery_waker::{Deliveries, DeliveryWaker};
use crate::engine::idempotency::{Answers, SeenKeys};
use crate::engine::recording::Tape;
use crate::engine::response::WorldTag;
use crate::tester::Tester;
use crate::tester::request_log::Requests;
use crate::tester::snapshots::{Act, Snapshot, TesterPart};
use crate::value::id::Id;
use crate::value::time::Timestamp;
use crate::world::World;
use crate::world::base::Base;

/// Iterations of the loop that waits for a step to end: about ten microseconds.
const SPINS: u32 = 300;

/// One key's world. Reads share it; a step has it alone. The tester and the idempotency answers have their
/// own locks, taken in the order of these
/// fields. The last one is held only for a look-up.
pub(super) struct Slot {
    world: RwLock<World>,
    tester: Mutex<Tester>,
    memory: Mutex<Memory>,
    deliveries: Deliveries,
    tag: WorldTag,
    /// The recorder of its inputs, if there is one.
    pub(super) tape: Option<Tape>,
    /// Whether there are faults or limits. Most worlds have none, and then requests check nothing else.
    armed: AtomicBool,
}

/// Whether any world of the process ever had faults or limits. Before that, the time is not needed.
static EVER_ARMED: AtomicBool = AtomicBool::new(false);

/// Whether a rate may need measurement.
pub(super) fn ever_armed() -> bool {
    EVER_ARMED.load(Ordering::Relaxed)
}

/// The idempotency answers of a world.
pub(super) struct Memory {
    pub(super) seen: SeenKeys,
    pub(super) reads: ReadCache,
    /// `Sandbox-Time`, formatted again after the clock has moved.
    time: Option<(Timestamp, HeaderValue)>,
    /// The content of `seen` at each snapshot.
    snapshots: BTreeMap<Id<Snapshot>, Answers>,
    /// The state of the world after its last change, for readers that may not wait for its lock.
    pub(super) state: OpenWorld,
    /// The base of the world at that time.
    base: Arc<Base>,
    /// The number of calls that acted on the tester; it numbers their ids.
    tester_calls: u64,
    /// The number of these calls that are not recorded.
    calls_beside: u64,
}

impl Memory {
    /// The number of the next call that acts on the tester.
    pub(super) const fn next_tester_call(&mut self) -> u64 {
        self.tester_calls += 1;
        self.tester_calls
    }

    /// A call to the tester was refused: it gets no number.
    pub(super) const fn uncount_tester_call(&mut self) {
        self.tester_calls -= 1;
    }

    /// The number of the next call that is not recorded.
    pub(super) const fn next_call_beside(&mut self) -> u64 {
        self.calls_beside += 1;
        self.calls_beside
    }

    /// Drops cached answers that the last write may have changed; for a reset world, its idempotency answers,
    /// too.
    fn changed(&mut self, world: &World) {
        self.reads.clear();
        let again = world.version() < self.state.version
            || world.log().len() < self.state.events
            || !Arc::ptr_eq(world.base(), &self.base);
        if again {
            self.seen.exchange(Answers::default());
            self.base = Arc::clone(world.base());
        }
        let OpenWorld { tag, opened, .. } = self.state;
        self.state = OpenWorld::of(world, tag, opened);
        self.state.snapshots = self.snapshots.len() as u64;
    }

    /// Idempotency answers follow the snapshots: later ones are dropped with the changes that they describe.
    fn follow(&mut self, acts: &[Act]) {
        for act in acts {
            match act {
                Act::Taken(id) => {
                    self.snapshots.insert(*id, self.seen.answers().clone());
                }
                Act::Restored(id) => {
                    let answers = self.snapshots.get(id).cloned();
                    self.seen.exchange(answers.unwrap_or_default());
                }
                Act::Deleted(id) => {
                    self.snapshots.remove(id);
                }
            }
        }
        self.state.snapshots = self.snapshots.len() as u64;
    }

    /// Virtual time as a header.
    pub(super) fn time_header(&mut self, now: Timestamp) -> HeaderValue {
        if let Some((at, header)) = &self.time
            && *at == now
        {
            return header.clone();
        }
        let header = HeaderValue::try_from(now.to_string()).expect("an instant is ASCII");
        self.time = Some((now, header.clone()));
        header
    }
}

impl Slot {
    pub(super) fn new(
        key: &str,
        opened: u64,
        world: World,
        part: TesterPart,
        most_requests: usize,
        waker: &Arc<DeliveryWaker>,
        tape: Option<Tape>,
    ) -> Arc<Self> {
        let tag = tag(key);
        let mut tester = Tester {
            outbox: waker.outbox(&world),
            tag: tag.0,
            requests: Requests::new(most_requests),
            ..Tester::default()
        };
        tester.put_part(part);
        let memory = Memory {
            seen: SeenKeys::default(),
            reads: ReadCache::new(WORLD_BYTES),
            time: None,
            snapshots: BTreeMap::new(),
            state: OpenWorld::of(&world, tag.0, opened),
            base: Arc::clone(world.base()),
            tester_calls: 0,
            calls_beside: 0,
        };
        let slot = Arc::new(Self {
            world: RwLock::new(world),
            tester: Mutex::new(tester),
            memory: Mutex::new(memory),
            deliveries: Deliveries::new(waker),
            tag,
            tape,
            armed: AtomicBool::new(false),
        });
        slot.rearm(&slot.tester());
        slot.tester_changed();
        slot
    }

    /// The sender of its webhooks.
    pub(super) const fn deliveries(&self) -> &Deliveries {
        &self.deliveries
    }

    /// Must be called after each possible change of the world or the tester, before the world's lock is
    /// released.
    pub(super) fn changed(&self, world: &World) {
        let acts = self.tester().snapshots.take_acts();
        let mut memory = self.memory();
        memory.changed(world);
        memory.follow(&acts);
    }

    /// Whether a new world would equal this one.
    pub(super) fn is_untouched(&self) -> bool {
        self.world().version() == 0 && self.memory().tester_calls == 0
    }

    pub(super) fn world(&self) -> RwLockReadGuard<'_, World> {
        self.world.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The world for one step. A panic inside a step is caught and undone before the lock is released, so a
    /// poisoned lock still protects a valid world.
    ///
    /// A step takes microseconds, so a busy wait is cheaper than sleeping.
    pub(super) fn world_mut(&self) -> RwLockWriteGuard<'_, World> {
        for _ in 0..SPINS {
            match self.world.try_write() {
                Ok(world) => return world,
                Err(TryLockError::Poisoned(poisoned)) => return poisoned.into_inner(),
                Err(TryLockError::WouldBlock) => core::hint::spin_loop(),
            }
        }
        self.world.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// The tester of the world.
    pub(super) fn tester(&self) -> MutexGuard<'_, Tester> {
        self.tester.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether requests must be checked for faults and limits.
    pub(super) fn is_armed(&self) -> bool {
        self.armed.load(Ordering::Relaxed)
    }

    /// Must be called after a possible change of the tester's faults or limits.
    pub(super) fn rearm(&self, tester: &Tester) {
        let armed = tester.wire.is_armed();
        self.armed.store(armed, Ordering::Relaxed);
        if armed {
            EVER_ARMED.store(true, Ordering::Relaxed);
        }
    }

    /// What is remembered.
    pub(super) fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The name of the world in the log.
    pub(super) const fn tag(&self) -> WorldTag {
        self.tag
    }
}

/// A short hash of a key with a secret of this process, so that the key cannot be found by trying.
#[expect(
    clippy::disallowed_types,
    reason = "a secret of the process; only the log shows its hashes"
)]
fn tag(key: &str) -> WorldTag {
    use std::hash::{BuildHasher, RandomState};
    static SECRET: std::sync::LazyLock<RandomState> = std::sync::LazyLock::new(RandomState::new);
    WorldTag((SECRET.hash_one(key) >> 32) as u32)
}
