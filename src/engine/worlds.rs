//! Worlds by key.

#![expect(
    clippy::disallowed_types,
    reason = "looked up by key; iterated only to drop worlds that equal new ones"
)]

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use crate::api::host::OpenWorld;
use crate::engine::contract::Auth;
use crate::engine::delivery_waker::DeliveryWaker;
use crate::engine::keys::{is_well_formed, looks_live, unauthorized};
use crate::engine::recording::{KeyHash, Recorder, Tape};
use crate::engine::slot::Slot;
use crate::tester::snapshots::TesterPart;
use crate::tester::{Tester, request_log};
use crate::value::{ApiError, ErrorCode};
use crate::world::script::Scenario;
use crate::world::{Base, ClockMode, World};

pub(super) struct Worlds {
    base: Arc<Base>,
    mode: ClockMode,
    /// The only accepted keys; any if empty.
    keys: Vec<String>,
    /// Whether keys that look live are refused.
    refuse_live: bool,
    most: usize,
    waker: Arc<DeliveryWaker>,
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
            waker: Arc::default(),
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
        Slot::new(key, opened, world, part, self.most_requests, &self.waker, self.tape(key))
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
            return Err(ApiError::of_member("/key", "pattern", detail));
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
                let used = !slot.is_untouched(&self.base)
                    || slot.deliveries().is_used()
                    || slot.is_armed();
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
        world.limit_events(self.most_events);
        for scenario in self.started() {
            world.load(&scenario);
        }
        world.begins_here();
        world.is_like_every_fresh_one();
        world
    }
}
