//! Worlds by key.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use crate::api::control::import;
use crate::api::host::OpenWorld;
use crate::engine::contract::Auth;
use crate::engine::delivery_waker::DeliveryWaker;
use crate::engine::evict::{Open, OpenMut, Room};
use crate::engine::flight::Flight;
use crate::engine::idempotency::Answers;
use crate::engine::keys::{KeySpace, is_well_formed, looks_live, unauthorized};
use crate::engine::lock::lock;
use crate::engine::recording::{KeyHash, Recorder, Tape, Ticket};
use crate::engine::slot::{Opening, Slot};
use crate::tester::snapshots::TesterPart;
use crate::tester::{Tester, request_log};
use crate::value::{ApiError, ErrorCode};
use crate::world::script::{Scenario, imports};
use crate::world::{Base, ClockMode, World};

pub(super) struct Worlds {
    pub(super) base: Arc<Base>,
    /// The only accepted keys; any if empty.
    keys: Vec<String>,
    /// The teams whose keys are accepted, beside those keys.
    pub(super) spaces: Vec<KeySpace>,
    /// Whether keys that look live are refused.
    refuse_live: bool,
    pub(super) most: usize,
    /// The limits for worlds in memory, in addition to `most`.
    pub(super) room: Room,
    waker: Arc<DeliveryWaker>,
    pub(super) recorder: Option<Arc<dyn Recorder>>,
    /// Whether the names of recorded worlds open them.
    pub(super) opens_recorded: bool,
    /// The scenarios that every world starts with.
    pub(super) started: RwLock<Vec<Arc<Scenario>>>,
    /// A fresh world after the imports of `started`, before its other scenarios.
    imported: World,
    /// The requests that each world's request log keeps.
    pub(super) most_requests: usize,
    pub(super) open: RwLock<Open>,
    /// The number of worlds ever opened; it numbers them.
    opened: AtomicU64,
    /// Worlds that are being replayed.
    pub(super) flights: Mutex<BTreeMap<KeyHash, Flight>>,
}

/// A free place for a world.
pub(super) struct Place<'a> {
    worlds: &'a Worlds,
    key: Box<str>,
    open: OpenMut<'a>,
}

impl Place<'_> {
    /// Opens the key with a copy of a world. `fork` is the ticket of the request that copied it.
    pub(super) fn take(mut self, opening: Opening, fork: Option<&Ticket>) {
        let tape = self.worlds.tape(&self.key, fork);
        let slot = self.worlds.slot(&self.key, opening, tape);
        slot.send_from_now();
        slot.touch(self.worlds.room.now());
        self.open.insert(self.key, slot);
    }
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
        let mut imported = World::new(Arc::clone(&base), mode);
        imported.limit_events(most_events);
        Self {
            recorder,
            opens_recorded: false,
            room: Room::default(),
            base,
            keys: auth.keys,
            spaces: Vec::new(),
            refuse_live: auth.refuse_live,
            most,
            waker: Arc::default(),
            started: RwLock::default(),
            imported,
            most_requests: request_log::DEFAULT_MOST,
            open: RwLock::default(),
            opened: AtomicU64::new(0),
            flights: Mutex::default(),
        }
    }

    pub(super) const fn base(&self) -> &Arc<Base> {
        &self.base
    }

    /// The webhook state that all worlds share.
    pub(super) const fn waker(&self) -> &Arc<DeliveryWaker> {
        &self.waker
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
        let mut worlds: Vec<OpenWorld> = slots.iter().map(|slot| slot.memory().state).collect();
        worlds.sort_unstable_by_key(|world| world.opened);
        worlds
    }

    /// The keys of all worlds in memory, sorted.
    pub(super) fn keys(&self) -> Vec<String> {
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
        let mut keys: Vec<String> = open.keys().map(ToString::to_string).collect();
        keys.sort_unstable();
        keys
    }

    /// The scenarios of a fresh world.
    pub(super) fn started(&self) -> Vec<Arc<Scenario>> {
        let started = self.started.read();
        started.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Starts every world with these scenarios. An import is performed once, and each world begins with a copy of the result.
    pub(super) fn start_with(&mut self, scenarios: Vec<Arc<Scenario>>) {
        if scenarios.is_empty() {
            return;
        }
        let mut world = self.imported.clone();
        match import::begin(&mut world, &scenarios) {
            Ok(()) => self.imported = world,
            Err(error) => tracing::error!(why = %error.detail, "worlds begin without the imports"),
        }
        self.started = RwLock::new(scenarios);
    }

    /// The content of a fresh tester.
    fn part(&self) -> TesterPart {
        let mut tester = Tester { scenarios: self.started(), ..Tester::default() };
        tester.follow_scenarios(&self.base);
        tester.part()
    }

    fn slot(&self, key: &str, opening: Opening, tape: Option<Tape>) -> Arc<Slot> {
        let opened = self.opened.fetch_add(1, Ordering::Relaxed) + 1;
        Slot::new(key, opened, opening, self.most_requests, &self.waker, tape)
    }

    /// The world of a key, if it is in memory.
    pub(super) fn resident(&self, key: &str) -> Result<Option<Arc<Slot>>, ApiError> {
        self.check_name(key)?;
        if self.recorder.as_ref().is_some_and(|recorder| !recorder.is_alive()) {
            return Ok(None);
        }
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
        let slot = open.get(key).filter(|slot| !slot.is_lost());
        Ok(slot.inspect(|slot| slot.touch(self.room.now())).cloned())
    }

    /// The world of a key that has no stored inputs, opened if it is new; none if it has some. A read of a new world needs no room: it
    /// equals every other unchanged one.
    pub(super) fn open(&self, key: &str, reads: bool) -> Result<Option<Arc<Slot>>, ApiError> {
        let mut open = self.open_mut();
        if let Some(slot) = self.claimed(&mut open, key) {
            return Ok(Some(slot));
        }
        if self.holds(key) {
            return Ok(None);
        }
        open.remove(key); // a lost one
        let room = self.make_room(&mut open);
        if let Err(full) = &room
            && !reads
        {
            return Err(full.clone());
        }
        // A world without room serves one read only. Its moves of the clock must not be recorded.
        let tape = room.is_ok().then(|| self.tape(key, None)).flatten();
        let slot = self.slot(key, self.opening(), tape);
        if room.is_err() || self.was_used(key) {
            slot.tester().requests.begin_later();
        }
        slot.touch(self.room.now());
        if room.is_ok() {
            open.insert(key.into(), Arc::clone(&slot));
        }
        Ok(Some(slot))
    }

    /// Claims the key's world in a shared store. Returns whether the process did not own it before.
    pub(super) fn claim_for(&self, key: &str, asks: bool) -> Result<bool, ApiError> {
        let Some(recorder) = &self.recorder else { return Ok(false) };
        recorder.claim(KeyHash::of(recorder.salt(), key), asks)
    }

    /// Whether inputs of the key's world are stored.
    pub(super) fn holds(&self, key: &str) -> bool {
        let holds =
            |recorder: &Arc<dyn Recorder>| recorder.holds(KeyHash::of(recorder.salt(), key));
        self.recorder.as_ref().is_some_and(holds)
    }

    /// Whether there may have been requests with the key, which are forgotten.
    pub(super) fn was_used(&self, key: &str) -> bool {
        let known =
            |recorder: &Arc<dyn Recorder>| recorder.knows(KeyHash::of(recorder.salt(), key));
        self.recorder.as_ref().is_some_and(known) || self.room.forgot(key)
    }

    /// A place for a fork under a key; refuses a key that already has a world. No other world opens until it is dropped.
    pub(super) fn place_for_fork(&self, key: &str) -> Result<Place<'_>, ApiError> {
        if !is_well_formed(key) {
            let detail = "a key must have 1 to 255 visible ASCII characters";
            return Err(ApiError::of_member("/key", "pattern", detail));
        }
        self.check(key)?;
        self.claim_for(key, true)?;
        let is_stored = self.holds(key); // called before the lock is taken, because it can wait
        let mut open = self.open_mut();
        if is_stored || self.claimed(&mut open, key).is_some() || self.holds(key) {
            let detail = "the key already has a world: use a new key";
            return Err(ApiError::new(ErrorCode::DuplicateReference, detail));
        }
        open.remove(key); // a lost one
        self.make_room(&mut open)?;
        Ok(Place { worlds: self, key: key.into(), open })
    }

    /// The recorder of a world that opens, with the ticket of the fork that it begins with.
    fn tape(&self, key: &str, fork: Option<&Ticket>) -> Option<Tape> {
        let recorder = self.recorder.as_ref()?;
        let (hash, recorder) = (KeyHash::of(recorder.salt(), key), Arc::clone(recorder));
        Some(match fork {
            Some(fork) => Tape::forked(recorder, hash, fork),
            None => Tape::new(recorder, hash, false),
        })
    }

    /// A world for a replay, which no key can open yet.
    pub(super) fn playing(&self, world: KeyHash, forked: Option<Opening>) -> Arc<Slot> {
        let recorder = self.recorder.as_ref().expect("a replay has a recorder");
        let tape = Tape::new(Arc::clone(recorder), world, true);
        let is_fork = forked.is_some();
        let opening = forked.unwrap_or_else(|| self.opening());
        let slot = self.slot(&world.as_key(), opening, Some(tape));
        if is_fork {
            slot.send_from_now();
        }
        slot
    }

    /// A world that no key opens, for a replay in memory. It sends no webhooks.
    pub(super) fn beside(&self, opening: Option<Opening>) -> Arc<Slot> {
        let opening = opening.unwrap_or_else(|| self.opening());
        Slot::new("", 0, opening, self.most_requests, &self.waker.silent(), None)
    }

    /// The world of a recording, by the hash of its key.
    pub(super) fn open_recorded(&self, world: KeyHash) -> Result<Arc<Slot>, ApiError> {
        let name = world.as_key();
        let mut open = self.open_mut();
        if let Some(slot) = open.get(name.as_str()) {
            return Ok(Arc::clone(slot));
        }
        self.make_room(&mut open)?;
        let slot = self.playing(world, None);
        open.insert(name.into(), Arc::clone(&slot));
        Ok(slot)
    }

    /// Opens the world of a recording with a copy of another one.
    pub(super) fn open_played(&self, name: &str, opening: Opening) -> Result<(), ApiError> {
        let Some(hash) = KeyHash::recorded(name) else {
            let detail = "a recording contains no keys";
            return Err(ApiError::new(ErrorCode::InvalidApiKey, detail));
        };
        let mut open = self.open_mut();
        self.make_room(&mut open)?;
        open.insert(name.into(), self.playing(hash, Some(opening)));
        Ok(())
    }

    /// Closes the world of a recording.
    pub(super) fn close_played(&self, world: KeyHash) {
        let mut open = self.open_mut();
        open.remove(world.as_key().as_str());
    }

    /// The replay of a world, which all requests for it share.
    pub(super) fn flight(&self, world: KeyHash) -> Flight {
        Arc::clone(lock(&self.flights).entry(world).or_default())
    }

    /// A replay has ended.
    pub(super) fn landed(&self, world: KeyHash, flight: &Flight) {
        let mut flights = lock(&self.flights);
        if flights.get(&world).is_some_and(|known| Arc::ptr_eq(known, flight)) {
            flights.remove(&world);
        }
    }

    /// The world of a key, if it is in memory, also under the name made of its hash.
    pub(super) fn claim(&self, key: &str) -> Option<Arc<Slot>> {
        let mut open = self.open_mut();
        self.claimed(&mut open, key)
    }

    fn claimed(&self, open: &mut OpenMut<'_>, key: &str) -> Option<Arc<Slot>> {
        if let Some(slot) = open.get(key).filter(|slot| !slot.is_lost()) {
            return Some(Arc::clone(slot));
        }
        let hash = KeyHash::of(self.recorder.as_ref()?.salt(), key);
        let slot = open.take(hash.as_key().as_str())?;
        open.insert(key.into(), Arc::clone(&slot));
        (!slot.is_lost()).then_some(slot)
    }

    /// Refuses if there is no room for another world.
    pub(super) fn check_room(&self) -> Result<(), ApiError> {
        let mut open = self.open_mut();
        self.make_room(&mut open)
    }

    /// Adds a world that was replayed.
    pub(super) fn put(&self, key: &str, slot: &Arc<Slot>) -> Result<(), ApiError> {
        let mut open = self.open_mut();
        open.remove(key); // a lost one
        self.make_room(&mut open)?;
        slot.touch(self.room.now());
        open.insert(key.into(), Arc::clone(slot));
        Ok(())
    }

    /// All worlds in memory.
    pub(super) fn resident_slots(&self) -> Vec<Arc<Slot>> {
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
        open.values().map(Arc::clone).collect()
    }

    /// The hash of the key names a world whose key is unknown. No request of a client can use this name.
    fn check_name(&self, key: &str) -> Result<(), ApiError> {
        if !self.opens_recorded && self.recorder.is_some() && KeyHash::recorded(key).is_some() {
            let detail =
                "this is the name of a recorded world, not an API key: send the key itself";
            return Err(unauthorized(ErrorCode::InvalidApiKey, detail));
        }
        Ok(())
    }

    /// Whether only some keys are accepted.
    pub(super) const fn is_closed(&self) -> bool {
        !(self.keys.is_empty() && self.spaces.is_empty())
    }

    /// Whether a key may open a world at all.
    pub(super) fn check(&self, key: &str) -> Result<(), ApiError> {
        self.check_name(key)?;
        if self.refuse_live && looks_live(key) {
            let detail = "this looks like a live key: the sandbox accepts only test keys, and has not stored it";
            return Err(unauthorized(ErrorCode::LiveKeyRefused, detail));
        }
        let is_listed = self.keys.iter().any(|known| known == key)
            || self.spaces.iter().any(|space| space.contains(key));
        if self.is_closed() && !is_listed {
            return Err(unauthorized(
                ErrorCode::InvalidApiKey,
                "this sandbox accepts only the keys that it was started with; this key is not one of them",
            ));
        }
        Ok(())
    }

    fn opening(&self) -> Opening {
        Opening { world: self.fresh(), part: self.part(), answers: Answers::default() }
    }

    fn fresh(&self) -> World {
        let (mut world, started) = (self.imported.clone(), self.started());
        for scenario in started.iter().filter(|scenario| !scenario.is_import()) {
            world.load(scenario);
        }
        world.begins_here(imports(&started));
        world.is_like_every_fresh_one();
        world
    }
}
