//! Worlds by key.

#![expect(
    clippy::disallowed_types,
    reason = "looked up by key; iterated only to drop worlds that nobody can tell from new ones"
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

/// Turns of the loop that waits for a step to end: some ten microseconds.
const SPINS: u32 = 300;

/// One key's world. Reads share it; a step has it alone. The tester beside it and what is remembered of requests have locks of
/// their own, taken in the order in which they stand here; the last is held for a look-up only.
pub(super) struct Slot {
    world: RwLock<World>,
    tester: Mutex<Tester>,
    memory: Mutex<Memory>,
    post: Post,
    tag: WorldTag,
    /// Where its inputs are recorded, if they are.
    pub(super) tape: Option<Tape>,
    /// Whether there are faults or limits: of most worlds never, and then no request looks further.
    armed: AtomicBool,
}

/// Whether any world of the process ever had faults or limits. Until then nobody needs to tell the time.
static EVER_ARMED: AtomicBool = AtomicBool::new(false);

/// Whether a rate may have to be measured.
pub(super) fn ever_armed() -> bool {
    EVER_ARMED.load(Ordering::Relaxed)
}

/// What is remembered of the requests to a world.
pub(super) struct Memory {
    pub(super) seen: SeenKeys,
    pub(super) reads: ReadCache,
    /// `Sandbox-Time`, made anew when the clock has moved.
    time: Option<(Timestamp, HeaderValue)>,
    /// What stood in `seen` when each snapshot was taken.
    snapshots: BTreeMap<Id<Snapshot>, Answers>,
    /// Where the world stood after its last change: told to whoever may not wait for its lock.
    stands: OpenWorld,
    /// What it was grown from when it stood there.
    base: Arc<Base>,
    /// Calls that acted on the tester: numbers their ids.
    tester_calls: u64,
    /// Those of them that no recording keeps.
    calls_beside: u64,
}

impl Memory {
    /// The number of the next call that acts on the tester.
    pub(super) const fn next_tester_call(&mut self) -> u64 {
        self.tester_calls += 1;
        self.tester_calls
    }

    /// A call at the tester was refused: it has no number.
    pub(super) const fn uncount_desk_call(&mut self) {
        self.tester_calls -= 1;
    }

    /// The number of the next one that no recording keeps.
    pub(super) const fn next_call_beside(&mut self) -> u64 {
        self.calls_beside += 1;
        self.calls_beside
    }

    /// Forgets answers that the last write may have made wrong; of a world that started again, its keys, too.
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

    /// What is kept under keys follows the snapshots: answers given since are forgotten with what they tell of.
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

    /// What carries its webhooks.
    pub(super) const fn post(&self) -> &Post {
        &self.post
    }

    /// To be told after whatever may have changed the world or the tester, before the world's lock is given back.
    pub(super) fn changed(&self, world: &World) {
        let acts = self.tester().snapshots.take_acts();
        let mut memory = self.memory();
        memory.changed(world);
        memory.follow(&acts);
    }

    /// Whether a new world could take this one's place and nobody would notice.
    fn is_untouched(&self) -> bool {
        self.world().version() == 0 && self.memory().tester_calls == 0
    }

    /// The world, to look at.
    pub(super) fn world(&self) -> RwLockReadGuard<'_, World> {
        self.world.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The world, for one step. A panic inside a step is caught and undone before the lock is given back, so a poisoned
    /// lock guards a whole world.
    ///
    /// A step takes microseconds: waiting for it awake is cheaper than being put to sleep and woken.
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

    /// What the tester holds beside the world.
    pub(super) fn tester(&self) -> MutexGuard<'_, Tester> {
        self.tester.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether requests are to be held against the tester's faults and limits.
    pub(super) fn is_armed(&self) -> bool {
        self.armed.load(Ordering::Relaxed)
    }

    /// To be called when the tester's faults or limits may have changed.
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

    /// What names the world in the log.
    pub(super) const fn tag(&self) -> WorldTag {
        self.tag
    }
}

/// All worlds.
pub(super) struct Worlds {
    base: Arc<Base>,
    mode: ClockMode,
    /// The only keys taken; any if empty.
    keys: Vec<String>,
    /// Whether keys that look live are refused.
    refuse_live: bool,
    most: usize,
    office: Arc<DeliveryWaker>,
    recorder: Option<Arc<dyn Recorder>>,
    /// Events that each keeps; all of them if none.
    most_events: Option<u64>,
    /// Scenarios that run in every world from its start.
    pub(super) started: RwLock<Vec<Arc<Scenario>>>,
    /// Requests that each world's journal keeps.
    pub(super) most_requests: usize,
    open: RwLock<HashMap<Box<str>, Arc<Slot>>>,
    /// How many were ever opened: numbers them.
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

    /// What all worlds share of webhooks.
    pub(super) const fn office(&self) -> &Arc<DeliveryWaker> {
        &self.office
    }

    pub(super) fn count(&self) -> u64 {
        self.open.read().unwrap_or_else(PoisonError::into_inner).len() as u64
    }

    /// Where every open world stands, in the order in which they were opened. Waits for no step of any of them.
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

    /// What lies on a fresh tester.
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

    /// Opens a key on a world that is there already; a key that has one keeps it.
    pub(super) fn open_on(
        &self,
        key: &str,
        world: World,
        part: TesterPart,
    ) -> Result<(), ApiError> {
        if !is_well_formed(key) {
            let detail = "a key has 1 to 255 visible ASCII characters";
            return Err(ApiError::invalid(vec![Violation::new("/key", "pattern", detail)]));
        }
        self.check(key)?;
        let mut open = self.open.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = self.played_again(&mut open, key) {
            open.insert(key.into(), known);
        }
        if open.contains_key(key) {
            let detail = "the key has a world of its own already: take a key that was not used yet";
            return Err(ApiError::new(ErrorCode::DuplicateReference, detail));
        }
        self.make_room(&mut open, key)?;
        open.insert(key.into(), self.slot(key, world, part));
        Ok(())
    }

    /// The way to the recorder, for a world that opens.
    fn tape(&self, key: &str) -> Option<Tape> {
        let recorder = self.recorder.as_ref()?;
        let hash = KeyHash::of(recorder.salt(), key);
        Some(Tape::new(Arc::clone(recorder), hash))
    }

    /// The world of a key as it was played again, when nobody had shown the key yet.
    fn played_again(
        &self,
        open: &mut HashMap<Box<str>, Arc<Slot>>,
        key: &str,
    ) -> Option<Arc<Slot>> {
        let recorder = self.recorder.as_ref()?;
        let hash = KeyHash::of(recorder.salt(), key);
        open.remove(hash.as_key().as_str())
    }

    /// Every world that has a tape.
    pub(super) fn recorded(&self) -> Vec<Arc<Slot>> {
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
        open.values().map(Arc::clone).collect()
    }

    /// A world whose key nobody has shown is called by the key's hash while it is played again, and by nobody else.
    fn check_name(&self, key: &str) -> Result<(), ApiError> {
        match &self.recorder {
            Some(recorder) if KeyHash::recorded(key).is_some() && !recorder.is_replaying() => {
                let detail = "this name of a recorded world is not an API key: send the key itself";
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
            let detail =
                "this looks like a live key: the sandbox takes test keys only, and has not kept it";
            return Err(unauthorized(ErrorCode::LiveKeyRefused, detail));
        }
        if !self.keys.is_empty() && !self.keys.iter().any(|known| known == key) {
            return Err(unauthorized(
                ErrorCode::InvalidApiKey,
                "the API key is not one of those this sandbox was started with",
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
            // A world in which nothing happened can be grown again and nobody can tell.
            open.retain(|_, slot| {
                let reset = !Arc::ptr_eq(slot.world().base(), &self.base);
                let used =
                    reset || !slot.is_untouched() || slot.post().is_used() || slot.is_armed();
                used || Arc::strong_count(slot) > 1
            });
            if open.len() >= self.most {
                let detail =
                    format!("{} worlds are open, which is all that --max-worlds allows", self.most);
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

/// A short hash of a key, made with a secret of this process so that nobody can find the key by trying.
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
            "send Authorization: Bearer <API_KEY>; any test key opens a world",
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

/// Keys of live systems, by how they are usually written.
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
