//! Worlds by key.

#![expect(
    clippy::disallowed_types,
    reason = "looked up by key; iterated only to drop worlds that equal new ones"
)]

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError,
};

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue};

use crate::api::operation::OpenWorld;
use crate::engine::WorldTag;
use crate::engine::cache::{ReadCache, WORLD_BYTES};
use crate::engine::contract::Auth;
use crate::engine::delivery_waker::{DeliveryWaker, Post};
use crate::engine::idempotency::{Answers, SeenKeys};
use crate::engine::recording::{KeyHash, Recorder, Tape};
use crate::tester::request_log::Requests;
use crate::tester::snapshots::{Act, Snapshot, TesterPart};
use crate::tester::{Tester, request_log};
use crate::value::{ApiError, ErrorCode, Id, Timestamp, Violation};
use crate::world::script::Scenario;
use crate::world::{Base, ClockMode, World};

/// Iterations of the loop that waits for a step to end: about ten microseconds.
const SPINS: u32 = 300;

/// One key's world. Reads share it; a step has it alone. The tester and the idempotency answers have their
/// own locks, taken in the order of these
/// fields. The last one is held only for a look-up.
pub(super) struct Slot {
    world: RwLock<World>,
    tester: Mutex<Tester>,
    memory: Mutex<Memory>,
    post: Post,
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
    stands: OpenWorld,
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
    pub(super) const fn uncount_desk_call(&mut self) {
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
        let again = world.version() < self.stands.version
            || world.log().len() < self.stands.events
            || !Arc::ptr_eq(world.base(), &self.base);
        if again {
            self.seen.exchange(Answers::default());
            self.base = Arc::clone(world.base());
        }
        let OpenWorld { tag, opened, .. } = self.stands;
        self.stands = OpenWorld::of(world, tag, opened);
        self.stands.snapshots = self.snapshots.len() as u64;
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
        self.stands.snapshots = self.snapshots.len() as u64;
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
    fn new(
        key: &str,
        opened: u64,
        world: World,
        part: TesterPart,
        most_requests: usize,
        office: &Arc<DeliveryWaker>,
        tape: Option<Tape>,
    ) -> Arc<Self> {
        let tag = tag(key);
        let mut tester = Tester {
            outbox: office.outbox(&world),
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
            stands: OpenWorld::of(&world, tag.0, opened),
            base: Arc::clone(world.base()),
            tester_calls: 0,
            calls_beside: 0,
        };
        let slot = Arc::new(Self {
            world: RwLock::new(world),
            tester: Mutex::new(tester),
            memory: Mutex::new(memory),
            post: Post::new(office),
            tag,
            tape,
            armed: AtomicBool::new(false),
        });
        slot.rearm(&slot.tester());
        slot.tester_changed();
        slot
    }

    /// The sender of its webhooks.
    pub(super) const fn post(&self) -> &Post {
        &self.post
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
    fn is_untouched(&self) -> bool {
        self.world().version() == 0 && self.memory().tester_calls == 0
    }

    /// The world for reading.
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

    /// The idempotency answers.
    pub(super) fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The name of the world in the log.
    pub(super) const fn tag(&self) -> WorldTag {
        self.tag
    }
}

/// All worlds.
pub(super) struct Worlds {
    base: Arc<Base>,
    mode: ClockMode,
    /// The only accepted keys; any if empty.
    keys: Vec<String>,
    /// Whether keys that look live are refused.
    refuse_live: bool,
    most: usize,
    office: Arc<DeliveryWaker>,
    recorder: Option<Arc<dyn Recorder>>,
    /// The events that each keeps; all of them if none.
    most_events: Option<u64>,
    /// The scenarios that every world starts with.
    pub(super) started: RwLock<Vec<Arc<Scenario>>>,
    /// The requests that each world's request log keeps.
    pub(super) most_requests: usize,
    open: RwLock<HashMap<Box<str>, Arc<Slot>>>,
    /// The number of worlds ever opened; it numbers them.
    opened: AtomicU64,
}

impl Worlds {
    pub(super) fn new(
        base: Arc<Base>,
        mode: ClockMode,
        auth: Auth,
        most: usize,
        most_events: Option<u64>,
        recorder: Option<Arc<dyn Recorder>>,
    ) -> Self {
        Self {
            recorder,
            base,
            mode,
            keys: auth.keys,
            refuse_live: auth.refuse_live,
            most,
            office: Arc::default(),
            most_events,
            started: RwLock::default(),
            most_requests: request_log::DEFAULT_MOST,
            open: RwLock::default(),
            opened: AtomicU64::new(0),
        }
    }

    pub(super) const fn base(&self) -> &Arc<Base> {
        &self.base
    }

    /// The webhook state that all worlds share.
    pub(super) const fn office(&self) -> &Arc<DeliveryWaker> {
        &self.office
    }

    pub(super) fn count(&self) -> u64 {
        self.open.read().unwrap_or_else(PoisonError::into_inner).len() as u64
    }

    /// The states of all open worlds, in the order of their opening. Does not wait for their steps.
    pub(super) fn list(&self) -> Vec<OpenWorld> {
        let slots: Vec<Arc<Slot>> = {
            let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
            open.values().map(Arc::clone).collect()
        };
        let mut worlds: Vec<OpenWorld> = slots.iter().map(|slot| slot.memory().stands).collect();
        worlds.sort_unstable_by_key(|world| world.opened);
        worlds
    }

    /// The scenarios of a fresh world.
    pub(super) fn started(&self) -> Vec<Arc<Scenario>> {
        let started = self.started.read();
        started.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The content of a fresh tester.
    fn part(&self) -> TesterPart {
        let mut tester = Tester { scenarios: self.started(), ..Tester::default() };
        tester.follow_scenarios(&self.base);
        tester.part()
    }

    fn slot(&self, key: &str, world: World, part: TesterPart) -> Arc<Slot> {
        let opened = self.opened.fetch_add(1, Ordering::Relaxed) + 1;
        Slot::new(key, opened, world, part, self.most_requests, &self.office, self.tape(key))
    }

    /// The world of a key, opened if it is new.
    pub(super) fn open(&self, key: &str) -> Result<Arc<Slot>, ApiError> {
        self.check_name(key)?;
        if let Some(slot) = self.open.read().unwrap_or_else(PoisonError::into_inner).get(key) {
            return Ok(Arc::clone(slot));
        }
        self.check(key)?;
        let mut open = self.open.write().unwrap_or_else(PoisonError::into_inner);
        self.make_room(&mut open, key)?;
        let known = self.played_again(&mut open, key);
        let slot = open
            .entry(key.into())
            .or_insert_with(|| known.unwrap_or_else(|| self.slot(key, self.fresh(), self.part())));
        Ok(Arc::clone(slot))
    }

    /// Opens a key with an existing world; refuses a key that already has one.
    pub(super) fn open_on(
        &self,
        key: &str,
        world: World,
        part: TesterPart,
    ) -> Result<(), ApiError> {
        if !is_well_formed(key) {
            let detail = "a key must have 1 to 255 visible ASCII characters";
            return Err(ApiError::invalid(vec![Violation::new("/key", "pattern", detail)]));
        }
        self.check(key)?;
        let mut open = self.open.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = self.played_again(&mut open, key) {
            open.insert(key.into(), known);
        }
        if open.contains_key(key) {
            let detail = "the key already has a world: use a new key";
            return Err(ApiError::new(ErrorCode::DuplicateReference, detail));
        }
        self.make_room(&mut open, key)?;
        open.insert(key.into(), self.slot(key, world, part));
        Ok(())
    }

    /// The recorder of a world that opens.
    fn tape(&self, key: &str) -> Option<Tape> {
        let recorder = self.recorder.as_ref()?;
        let hash = KeyHash::of(recorder.salt(), key);
        Some(Tape::new(Arc::clone(recorder), hash))
    }

    /// The replayed world of a key that no request has sent yet.
    fn played_again(
        &self,
        open: &mut HashMap<Box<str>, Arc<Slot>>,
        key: &str,
    ) -> Option<Arc<Slot>> {
        let recorder = self.recorder.as_ref()?;
        let hash = KeyHash::of(recorder.salt(), key);
        open.remove(hash.as_key().as_str())
    }

    /// All worlds with a tape.
    pub(super) fn recorded(&self) -> Vec<Arc<Slot>> {
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
        open.values().map(Arc::clone).collect()
    }

    /// During a replay, the hash of the key names a world whose key is unknown. No request can use this name.
    fn check_name(&self, key: &str) -> Result<(), ApiError> {
        match &self.recorder {
            Some(recorder) if KeyHash::recorded(key).is_some() && !recorder.is_replaying() => {
                let detail =
                    "this is the name of a recorded world, not an API key: send the key itself";
                Err(unauthorized(ErrorCode::InvalidApiKey, detail))
            }
            _ => Ok(()),
        }
    }

    /// Whether a key may open a world at all.
    fn check(&self, key: &str) -> Result<(), ApiError> {
        self.check_name(key)?;
        if self.recorder.is_some() && KeyHash::recorded(key).is_some() {
            return Ok(());
        }
        if self.refuse_live && looks_live(key) {
            let detail = "this looks like a live key: the sandbox accepts only test keys, and has not stored it";
            return Err(unauthorized(ErrorCode::LiveKeyRefused, detail));
        }
        if !self.keys.is_empty() && !self.keys.iter().any(|known| known == key) {
            return Err(unauthorized(
                ErrorCode::InvalidApiKey,
                "this sandbox was started with a list of API keys, and this key is not in it",
            ));
        }
        Ok(())
    }

    fn make_room(
        &self,
        open: &mut HashMap<Box<str>, Arc<Slot>>,
        key: &str,
    ) -> Result<(), ApiError> {
        if open.len() >= self.most && !open.contains_key(key) {
            // An unchanged world can be dropped, because it can be grown again.
            open.retain(|_, slot| {
                let reset = !Arc::ptr_eq(slot.world().base(), &self.base);
                let used =
                    reset || !slot.is_untouched() || slot.post().is_used() || slot.is_armed();
                used || Arc::strong_count(slot) > 1
            });
            if open.len() >= self.most {
                let detail = format!("{} worlds are open, the maximum of --max-worlds", self.most);
                return Err(ApiError::new(ErrorCode::Overloaded, detail));
            }
        }
        Ok(())
    }

    fn fresh(&self) -> World {
        let mut world = World::new(Arc::clone(&self.base), self.mode);
        world.keep_events(self.most_events);
        for scenario in self.started() {
            world.load(&scenario);
        }
        world.begins_here();
        world.is_like_every_fresh_one();
        world
    }
}

/// A short hash of a key with a secret of this process, so that the key cannot be found by trying.
fn tag(key: &str) -> WorldTag {
    use std::hash::{BuildHasher, RandomState};
    static SECRET: std::sync::LazyLock<RandomState> = std::sync::LazyLock::new(RandomState::new);
    WorldTag((SECRET.hash_one(key) >> 32) as u32)
}

/// The key of `Authorization: Bearer KEY` (specification, §5).
pub(super) fn bearer(headers: &HeaderMap) -> Result<&str, ApiError> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let Some(value) = values.next() else {
        return Err(unauthorized(
            ErrorCode::MissingCredentials,
            "send Authorization: Bearer <API_KEY>; every test key opens a world",
        ));
    };
    let malformed = || {
        unauthorized(
            ErrorCode::InvalidApiKey,
            "expected one header, Authorization: Bearer <API_KEY>, with 1 to 255 visible ASCII characters",
        )
    };
    let text = value.to_str().map_err(|_| malformed())?;
    let (scheme, key) = text.split_once(' ').ok_or_else(malformed)?;
    let key = key.trim_start_matches(' ');
    let good =
        scheme.eq_ignore_ascii_case("bearer") && is_well_formed(key) && values.next().is_none();
    if good { Ok(key) } else { Err(malformed()) }
}

/// Whether a request can send this key.
pub(super) fn is_well_formed(key: &str) -> bool {
    (1..=255).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Whether a request with this key could open a world.
pub(crate) fn is_usable_key(key: &str, refuse_live: bool) -> bool {
    is_well_formed(key) && !(refuse_live && looks_live(key))
}

/// The usual forms of live keys.
pub(super) fn looks_live(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    key.starts_with("live_")
        || key.starts_with("live-")
        || key.contains("_live_")
        || key.contains("-live-")
}

fn unauthorized(code: ErrorCode, detail: &str) -> ApiError {
    let mut error = ApiError::new(code, detail);
    error.header = Some(("www-authenticate", "Bearer".to_owned()));
    error
}
