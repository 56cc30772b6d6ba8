//! Opens the world of a key: the one in memory, a fresh one, or one that is replayed from its stored inputs.
//!
//! A world is replayed when its key first arrives, without the lock of the other worlds. Requests with the same key wait for it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use http::request::Parts;

use crate::api::operation::{Call, Method, Operation};
use crate::engine::flight::Flight;
use crate::engine::keys::bearer;
use crate::engine::lock::lock;
use crate::engine::outcomes::{self, Chosen};
use crate::engine::player::Unrestored;
use crate::engine::recording::{KeyHash, Note, Tape, deletes_world, moving, unavailable};
use crate::engine::slot::Slot;
use crate::engine::state::Engine;
use crate::engine::worlds::Worlds;
use crate::value::{ApiError, ErrorCode, long_work};
use crate::world::ClockMode;
use crate::world::script::OutcomeRule;

impl Engine {
    /// The world of a key.
    pub(super) fn open_world(&self, key: &str) -> Result<Arc<Slot>, ApiError> {
        self.open_world_to(key, false)
    }

    /// Whether a key has a world: in memory, stored, or unloaded while it equalled a new world.
    pub(super) fn has_world(&self, key: &str) -> Result<bool, ApiError> {
        let worlds = &self.worlds;
        if worlds.resident(key)?.is_some() {
            return Ok(true);
        }
        worlds.check(key)?;
        Ok(worlds.holds(key) || worlds.was_used(key))
    }

    /// The world of a key. `reads` says that the request changes nothing.
    pub(super) fn open_world_to(&self, key: &str, reads: bool) -> Result<Arc<Slot>, ApiError> {
        loop {
            if let Some(slot) = self.worlds.resident(key)? {
                return Ok(slot);
            }
            self.worlds.check(key)?;
            self.worlds.claim_for(key, true)?;
            // Between these steps another request may have written to the world, or deleted it.
            let slot = if self.worlds.holds(key) {
                self.bring(key)?
            } else {
                self.worlds.open(key, reads)?
            };
            if let Some(slot) = slot.filter(|slot| !slot.is_lost()) {
                return Ok(slot);
            }
        }
    }

    /// The world that a request needs; none if it is answered without one.
    pub(super) fn world_for(
        &self,
        row: &Operation,
        key: &str,
    ) -> Result<Option<Arc<Slot>>, ApiError> {
        if row.existing && !self.has_world(key)? {
            let detail = "the key has no world in this sandbox: no call was made with it";
            return Err(ApiError::new(ErrorCode::ResourceNotFound, detail));
        }
        if matches!(row.call, Call::Open(_)) && row.path != "/_sandbox/info" {
            // The state of the process. A probe with a key neither waits for its world nor moves it.
            self.worlds.check(key)?;
            return Ok(None);
        }
        match self.open_world_to(key, row.method == Method::Get) {
            Err(error) if error.code == ErrorCode::InternalError && deletes_world(row) => {
                self.worlds.discard(key)?;
                self.open_world(key).map(Some)
            }
            opened => opened.map(Some),
        }
    }

    /// The current world of the key, and the outcomes that a request chooses in it. The request has its turn, so a
    /// replay gets the same ones.
    pub(super) fn in_turn(
        &self,
        slot: Option<Arc<Slot>>,
        head: &Parts,
        chosen: &[Chosen],
    ) -> Result<(Option<Arc<Slot>>, Vec<OutcomeRule>), ApiError> {
        let slot = self.current(slot, head)?;
        let outcomes = outcomes::resolved(chosen, slot.as_deref(), self)?;
        Ok((slot, outcomes))
    }

    /// The current world of the key. The world that was found with the head can have been deleted while the body
    /// arrived.
    fn current(
        &self,
        slot: Option<Arc<Slot>>,
        head: &Parts,
    ) -> Result<Option<Arc<Slot>>, ApiError> {
        match &slot {
            Some(known) if known.is_lost() => {
                self.open_world_to(bearer(&head.headers)?, false).map(Some)
            }
            _ => Ok(slot),
        }
    }

    /// Drops idle worlds, and those that cannot be used again. `since_start_ms` is the time since the server started.
    pub(crate) fn sweep(&self, since_start_ms: u64, idle_ms: Option<u64>) {
        self.worlds.room.tick(since_start_ms);
        if let Some(archive) = self.archive.get() {
            let lost = self.worlds.drop_lost();
            if !archive.is_shared() {
                lock(&self.owing).worlds.extend(lost);
            }
        }
        if let Some(idle_ms) = idle_ms {
            self.worlds.drop_idle(idle_ms);
        }
    }

    /// Drops worlds if the process is larger than allowed.
    pub(crate) fn fit(&self, resident_bytes: u64, most_bytes: u64) {
        self.worlds.fit(resident_bytes, most_bytes);
    }

    /// Finds the stored worlds whose webhooks may not all have been sent.
    pub(crate) fn find_owing(&self) {
        let Some(archive) = self.archive.get() else { return };
        let is_real = self.config.mode == ClockMode::Real;
        let found = archive.owing(self.worlds.waker().gives_endpoints(), is_real);
        lock(&self.owing).worlds.extend(found);
    }

    /// Whether other processes serve worlds of the same archive, so that this process can have to take over a world
    /// at any time.
    pub(crate) fn is_shared(&self) -> bool {
        self.archive.get().is_some_and(|archive| archive.is_shared())
    }

    /// Whether a world must be replayed without a call.
    pub(crate) fn owes(&self) -> bool {
        !lock(&self.owing).worlds.is_empty()
    }

    /// Replays the worlds with pending webhooks, one after another, so that the webhooks are sent without a call.
    /// Worlds without room are tried again next time.
    pub(crate) fn bring_owing(&self) {
        let mut worlds = std::mem::take(&mut lock(&self.owing).worlds);
        let mut later = BTreeSet::new();
        while let Some(world) = worlds.pop_first().filter(|_| !self.is_ending()) {
            match self.bring_unasked(world) {
                Ok(slot) => {
                    slot.inspect(|slot| slot.note_quiet());
                }
                // It was reported. The key of the world gets the error, too.
                Err(error) if error.code == ErrorCode::InternalError => {}
                // Another process serves the world.
                Err(error) if error.code == ErrorCode::WorldMoving => {}
                Err(error) => {
                    later.insert(world);
                    if error.code == ErrorCode::Overloaded {
                        later.append(&mut worlds);
                    }
                }
            }
        }
        let mut owing = lock(&self.owing);
        if !later.is_empty() && !owing.is_reported {
            let worlds = later.len();
            tracing::warn!(
                worlds,
                "worlds with webhooks to send wait until other worlds are unloaded"
            );
        }
        owing.is_reported = !later.is_empty();
        owing.worlds.extend(later);
    }

    /// The process ends soon: a proxy must send new requests to another process.
    pub(crate) fn announce_end(&self) {
        self.is_leaving.store(true, Ordering::Relaxed);
    }

    /// Whether the process serves requests.
    pub(super) fn is_ready(&self) -> bool {
        let recorder = self.config.recorder.as_ref();
        !self.is_leaving.load(Ordering::Relaxed)
            && recorder.is_none_or(|recorder| recorder.is_alive())
    }

    /// The process ends: running replays end, and no further one starts.
    pub(crate) fn end(&self) {
        self.is_ending.store(true, Ordering::Relaxed);
        self.fill_gaps(); // which fails now, so that no reader waits
    }

    pub(crate) fn is_ending(&self) -> bool {
        self.is_ending.load(Ordering::Relaxed)
    }

    /// Replays a world without a call, unless it is in use.
    fn bring_unasked(&self, world: KeyHash) -> Result<Option<Arc<Slot>>, ApiError> {
        let key = world.as_key();
        let is_claimed = self.worlds.claim_for(&key, false)?;
        if self.is_shared() && !is_claimed { Ok(None) } else { self.bring(&key) }
    }

    /// Replays a world; `None` if it has no inputs, or is in memory under another name. `key` is the key of a
    /// request, or a name made of the key's hash.
    fn bring(&self, key: &str) -> Result<Option<Arc<Slot>>, ApiError> {
        let Some(recorder) = &self.config.recorder else { return Ok(None) };
        let world = KeyHash::of(recorder.salt(), key);
        if long_work::is_full() {
            let detail = "too many worlds are being read from the write-ahead log; try again soon";
            return Err(ApiError::new(ErrorCode::Overloaded, detail));
        }
        let flight = self.worlds.flight(world);
        let done = long_work::run(|| flight.get_or_init(|| self.replayed(key, world)).clone());
        let is_final = done.as_ref().is_err_and(|error| error.code == ErrorCode::InternalError);
        if !is_final {
            self.worlds.landed(world, &flight);
        }
        // The world may have been brought under a name made of its hash.
        Ok(done?.map(|slot| self.worlds.claim(key).unwrap_or(slot)))
    }

    fn replayed(&self, key: &str, world: KeyHash) -> Result<Option<Arc<Slot>>, ApiError> {
        if let Some(slot) = self.worlds.claim(key) {
            return Ok(Some(slot));
        }
        // Without a request, only the hash of the key is known. A second copy of the world would send webhooks twice,
        // and replace the first copy when it is unloaded.
        if self.worlds.is_open(world) || !self.worlds.holds(key) {
            return Ok(None); // it was opened or deleted in the meantime
        }
        self.worlds.check_room()?; // before a replay that may take long
        let archive = self.archive.get().expect("a recorder that holds worlds is an archive");
        let restored = archive.restore(self, world).map_err(|why| match why {
            Unrestored::Unreadable(why) => {
                tracing::error!(%why, "a world cannot be read from the write-ahead log");
                unavailable(format!("the world of this key cannot be read ({why})"))
            }
            Unrestored::Moved => moving("the world of this key has moved; repeat the request"),
            Unrestored::Differs(why) => {
                tracing::error!(%why, "a world cannot be replayed from the write-ahead log");
                let detail = format!(
                    "the world of this key cannot be replayed from the write-ahead log (DELETE /_sandbox/world deletes it): {why}"
                );
                ApiError::new(ErrorCode::InternalError, detail)
            }
        })?;
        let slot = restored.0;
        self.worlds.put(key, &slot)?;
        slot.tester_changed();
        slot.rearm(&slot.tester());
        slot.stir(&slot.tester());
        Ok(Some(slot))
    }
}

impl Worlds {
    /// Deletes a stored world that cannot be replayed.
    fn discard(&self, key: &str) -> Result<(), ApiError> {
        let Some(recorder) = &self.recorder else { return Ok(()) };
        let world = KeyHash::of(recorder.salt(), key);
        let mut flights = lock(&self.flights);
        // Otherwise another request has discarded it, and the key may have a new world.
        let is_failed = |flight: &Flight| flight.get().is_some_and(Result::is_err);
        if flights.get(&world).is_some_and(is_failed) {
            let tape = Tape::new(Arc::clone(recorder), world, true);
            tape.accepts()?;
            tape.go_live();
            tape.removed();
            flights.remove(&world);
        }
        Ok(())
    }
}

impl Slot {
    /// Stores that no delivery of a replayed world is waiting, so that the next start does not replay it for its webhooks.
    pub(super) fn note_quiet(&self) {
        let tester = self.tester();
        if let Some(tape) = &self.tape
            && !tester.outbox.is_waiting()
        {
            let lanes = tester.outbox.lanes().iter();
            let progress = lanes.filter_map(|lane| tester.outbox.progress_of(&lane.endpoint.id));
            progress.for_each(|progress| tape.note(Note::Delivered(progress)));
        }
    }
}
