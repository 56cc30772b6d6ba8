//! The world of one key with its tester, its memory of requests, and their locks.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError,
    TryLockResult,
};

use http::HeaderValue;

use crate::api::host::OpenWorld;
use crate::engine::cache::{ReadCache, WORLD_BYTES};
use crate::engine::delivery_waker::{Deliveries, DeliveryWaker};
use crate::engine::idempotency::{Answers, SeenKeys};
use crate::engine::past::Past;
use crate::engine::readers::{Happened, Readers};
use crate::engine::recording::{Note, Tape};
use crate::engine::response::WorldTag;
use crate::engine::turn::Turns;
use crate::tester::Tester;
use crate::tester::inputs::Inputs;
use crate::tester::request_log::Requests;
use crate::tester::snapshots::{Act, Snapshot, TesterPart};
use crate::value::id::Id;
use crate::value::long_work;
use crate::value::time::Timestamp;
use crate::world::World;
use crate::world::base::Base;
use crate::world::script::Scenario;

/// Iterations of the loop that waits for a step to end: about ten microseconds.
const SPINS: u32 = 300;

/// The number of people or events of a large world.
const LARGE: u64 = 2_000;

/// Tries to take a lock for a short time. A poisoned lock still protects a valid value, because each step is undone as a whole.
fn spin<G>(attempt: impl Fn() -> TryLockResult<G>) -> Option<G> {
    for _ in 0..SPINS {
        match attempt() {
            Ok(held) => return Some(held),
            Err(TryLockError::Poisoned(poisoned)) => return Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => core::hint::spin_loop(),
        }
    }
    None
}

/// The world of one key. Reads share its lock; a step holds it exclusively. The tester and the idempotency answers
/// have their own locks, taken in the order of these fields. The last lock is held only for a look-up.
pub(super) struct Slot {
    /// The requests that wait for the world.
    pub(super) turns: Arc<Turns>,
    pub(super) world: RwLock<World>,
    pub(super) tester: Mutex<Tester>,
    memory: Mutex<Memory>,
    deliveries: Deliveries,
    /// The readers of its event stream.
    pub(super) readers: Readers,
    /// Earlier states that callers requested.
    pub(super) past: Mutex<Past>,
    tag: WorldTag,
    /// The recorder of its inputs, if there is one.
    pub(super) tape: Option<Tape>,
    /// Whether the world was deleted.
    closed: AtomicBool,
    /// Whether there are faults or limits. In most worlds there are none, and requests skip all further checks.
    pub(super) armed: AtomicBool,
    /// When it was used last, in milliseconds since the server started.
    touched: AtomicU64,
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
    pub(super) base: Arc<Base>,
    /// The number of calls that acted on the tester; it numbers their ids.
    tester_calls: u64,
    /// The number of these calls that are not recorded.
    calls_beside: u64,
}

/// The initial state of a world that is opened.
pub(crate) struct Opening {
    pub(super) world: World,
    pub(super) part: TesterPart,
    /// The stored replies of idempotency keys.
    pub(super) answers: Answers,
}

impl Memory {
    /// The stored replies at a snapshot.
    pub(super) fn answers_at(&self, snapshot: Option<Id<Snapshot>>) -> Answers {
        snapshot.and_then(|id| self.snapshots.get(&id)).cloned().unwrap_or_default()
    }

    /// The stored replies and the number of calls to the tester; none while a request with a key is running.
    pub(super) fn to_store(&self) -> Option<(Answers, u64)> {
        (!self.seen.is_running()).then(|| (self.seen.answers().clone(), self.tester_calls))
    }

    pub(super) const fn set_tester_calls(&mut self, calls: u64) {
        self.tester_calls = calls;
    }

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
        world.end_hashes_since(self.state.events);
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
                Act::Reset => self.seen.exchange(Answers::default()),
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
        Opening { world, part, answers }: Opening,
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
        if let Some(kept) = &part.carried.endpoints {
            let put = tester.outbox.put_kept(&world, kept);
            put.expect("the source of the fork accepted these endpoints");
        }
        tester.put_part(part);
        tester.inputs = Inputs::of(&world, &tester);
        let memory = Memory {
            seen: SeenKeys::with(answers),
            reads: ReadCache::new(WORLD_BYTES),
            time: None,
            snapshots: BTreeMap::new(),
            state: OpenWorld::of(&world, tag.0, opened),
            base: Arc::clone(world.base()),
            tester_calls: 0,
            calls_beside: 0,
        };
        let slot = Arc::new(Self {
            turns: Arc::default(),
            world: RwLock::new(world),
            tester: Mutex::new(tester),
            memory: Mutex::new(memory),
            deliveries: Deliveries::new(waker),
            readers: Readers::default(),
            past: Mutex::default(),
            tag,
            tape,
            closed: AtomicBool::new(false),
            armed: AtomicBool::new(false),
            touched: AtomicU64::new(0),
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
        drop(memory);
        self.readers.wake(Happened::World);
    }

    /// Whether a new world of this base would equal this one: it was not changed, or it was reset. With
    /// `is_recorded`, a reset world differs, because the recording numbers its calls.
    pub(super) fn is_like_new(
        &self,
        base: &Arc<Base>,
        started: &[Arc<Scenario>],
        is_recorded: bool,
    ) -> bool {
        let memory = self.memory();
        if !memory.is_unchanged(base, started)
            || !memory.seen.is_empty()
            || memory.tester_calls > 0 && is_recorded
        {
            return false;
        }
        if memory.tester_calls == 0 {
            return !self.deliveries.is_used() && !self.is_armed();
        }
        let at_start = memory.state.now == base.shape().start;
        drop(memory);
        let tester = self.tester();
        at_start && !self.is_armed() && tester.is_like_new(started) && !self.deliveries.is_active()
    }

    /// Whether all inputs of the world are stored, and the world does not act without calls.
    pub(super) fn is_stored(&self) -> bool {
        self.tape.as_ref().is_some_and(Tape::is_stored) && !self.acts_alone()
    }

    /// Notes when it was used last.
    pub(super) fn touch(&self, now_ms: u64) {
        self.touched.store(now_ms, Ordering::Relaxed);
    }

    pub(super) fn touched(&self) -> u64 {
        self.touched.load(Ordering::Relaxed)
    }

    /// Whether a call that reads or changes the whole world may take long. Does not wait for its step.
    pub(super) fn is_large(&self) -> bool {
        let memory = self.memory();
        let shape = memory.base.shape();
        let grown = shape.companies.saturating_mul(shape.employees_per_company);
        grown.max(memory.state.events) > LARGE
    }

    /// Whether a step of the world is running.
    pub(super) fn is_busy(&self) -> bool {
        matches!(self.world.try_read(), Err(TryLockError::WouldBlock))
    }

    /// The world for a read.
    pub(super) fn world(&self) -> RwLockReadGuard<'_, World> {
        self.try_world().unwrap_or_else(|| self.world_later())
    }

    /// The world for a read; none while a step is running.
    pub(super) fn try_world(&self) -> Option<RwLockReadGuard<'_, World>> {
        match self.world.try_read() {
            Ok(world) => Some(world),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Waits until the step of another thread ends, which may take long.
    #[cold]
    fn world_later(&self) -> RwLockReadGuard<'_, World> {
        let held = spin(|| self.world.try_read());
        let wait = || self.world.read().unwrap_or_else(PoisonError::into_inner);
        held.unwrap_or_else(|| long_work::run(wait))
    }

    /// The world for one step. A panic inside a step is caught and undone before the lock is released, so a
    /// poisoned lock still protects a valid world.
    ///
    /// A step takes microseconds, so a busy wait is cheaper than sleeping.
    pub(super) fn world_mut(&self) -> RwLockWriteGuard<'_, World> {
        let wait = || self.world.write().unwrap_or_else(PoisonError::into_inner);
        spin(|| self.world.try_write()).unwrap_or_else(|| long_work::run(wait))
    }

    /// The tester of the world. A call of the control plane may hold it for long.
    pub(super) fn tester(&self) -> MutexGuard<'_, Tester> {
        let wait = || self.tester.lock().unwrap_or_else(PoisonError::into_inner);
        spin(|| self.tester.try_lock()).unwrap_or_else(|| long_work::run(wait))
    }

    /// Whether requests must be checked for faults and limits.
    pub(super) fn is_armed(&self) -> bool {
        self.armed.load(Ordering::Relaxed)
    }

    /// Must be called after a possible change of the tester's faults or limits.
    pub(super) fn rearm(&self, tester: &Tester) {
        self.armed.store(tester.wire.is_armed(), Ordering::Relaxed);
    }

    /// The memory of requests: idempotency keys and their answers.
    pub(super) fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether an input of the world could not be stored: the world must be read again.
    pub(super) fn is_lost(&self) -> bool {
        self.is_closed() || self.tape.as_ref().is_some_and(Tape::is_lost)
    }

    /// Whether the world was deleted.
    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Sends only later events: those so far belong to the copied world.
    pub(super) fn send_from_now(&self) {
        let world = self.world();
        self.tester().outbox.catch_up(&world);
    }

    /// Closes a deleted world: no further webhooks and streams.
    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::Release);
        self.deliveries.dismiss();
    }

    /// Keeps and stores the counters of faults that a request has changed.
    pub(super) fn note_spent(&self, tester: &mut Tester) {
        let rows = tester.wire.take_spent();
        tester.inputs.note_spent(&rows);
        if let Some(tape) = self.tape.as_ref().filter(|_| !rows.is_empty()) {
            tape.note(Note::Spent(rows));
        }
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
