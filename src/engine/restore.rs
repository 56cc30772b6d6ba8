//! Opens the world of a key: the one in memory, a fresh one, or one that is replayed from its stored inputs.
//!
//! A world is replayed when its key first arrives, without the lock of the other worlds. Requests with the same key wait for it.

use std::sync::Arc;

use crate::engine::flight::unavailable;
use crate::engine::player::Unrestored;
use crate::engine::recording::KeyHash;
use crate::engine::slot::Slot;
use crate::engine::state::Engine;
use crate::value::{ApiError, ErrorCode, long_work};

impl Engine {
    /// The world of a key.
    pub(super) fn open_world(&self, key: &str) -> Result<Arc<Slot>, ApiError> {
        self.open_world_to(key, false)
    }

    /// The world of a key. `reads` says that the request changes nothing.
    pub(super) fn open_world_to(&self, key: &str, reads: bool) -> Result<Arc<Slot>, ApiError> {
        if let Some(slot) = self.worlds.resident(key)? {
            return Ok(slot);
        }
        let Some(recorder) = &self.config.recorder else { return self.worlds.open(key, reads) };
        self.worlds.check(key)?;
        let world = KeyHash::of(recorder.salt(), key);
        if recorder.holds(world) { self.bring(key, world) } else { self.worlds.open(key, reads) }
    }

    /// Drops idle worlds. `since_start_ms` is the time since the server started.
    pub(crate) fn sweep(&self, since_start_ms: u64, idle_ms: Option<u64>) {
        self.worlds.room.tick(since_start_ms);
        if let Some(idle_ms) = idle_ms {
            self.worlds.drop_idle(idle_ms);
        }
    }

    /// Drops worlds if the process is larger than allowed.
    pub(crate) fn fit(&self, resident_bytes: u64, most_bytes: u64) {
        self.worlds.fit(resident_bytes, most_bytes);
    }

    /// Replays the worlds whose webhooks may not all have been sent, one after another, so that they are sent without a call.
    pub(crate) fn bring_owing(&self) {
        let Some(archive) = self.archive.get() else { return };
        for world in archive.owing(self.worlds.waker().gives_endpoints()) {
            // A world that cannot be replayed was reported. Its key gets the error, too.
            let _ = self.bring(&world.as_key(), world);
        }
    }

    /// Replays a world. Its key is the one that was sent, or a name made of its hash.
    fn bring(&self, key: &str, world: KeyHash) -> Result<Arc<Slot>, ApiError> {
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
        let slot = done?;
        Ok(self.worlds.claim(key, world).unwrap_or(slot))
    }

    fn replayed(&self, key: &str, world: KeyHash) -> Result<Arc<Slot>, ApiError> {
        if let Some(slot) = self.worlds.claim(key, world) {
            return Ok(slot);
        }
        let archive = self.archive.get().expect("a recorder that holds worlds is an archive");
        let restored = archive.restore(self, world).map_err(|why| match why {
            Unrestored::Unreadable(why) => {
                tracing::error!(%why, "a world cannot be read from the write-ahead log");
                unavailable(format!("the world of this key cannot be read ({why})"))
            }
            Unrestored::Differs(why) => {
                tracing::error!(%why, "a world cannot be replayed from the write-ahead log");
                let detail = format!(
                    "the world of this key cannot be replayed from the write-ahead log: {why}"
                );
                ApiError::new(ErrorCode::InternalError, detail)
            }
        })?;
        let slot = restored.0;
        self.worlds.put(key, &slot)?;
        slot.tester_changed();
        slot.rearm(&slot.tester());
        slot.stir(&slot.tester());
        Ok(slot)
    }
}
