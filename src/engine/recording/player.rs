//! The methods of the engine for a replay.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{Request, Response};

use crate::api::system;
use crate::engine::headers::JSON;
use crate::engine::recording::{Before, ClockMove, EndOf, Input, KeyHash};
use crate::engine::slot::Slot;
use crate::engine::state::Engine;
use crate::engine::write::guard;
use crate::value::error::ApiError;
use crate::value::time::Timestamp;
use crate::world::World;

impl Engine {
    /// Whether a replay is running.
    pub(crate) fn is_replaying(&self) -> bool {
        let recorder = self.config.recorder.as_ref();
        recorder.is_some_and(|recorder| recorder.is_replaying())
    }

    /// Sends a recorded request to the world of a key.
    ///
    /// # Errors
    /// If it is not a valid request, because the recording was edited.
    pub(crate) fn play(&self, input: &Input, world: KeyHash) -> Result<Response<Bytes>, String> {
        if let Some(wall) = input.wall {
            self.wall.store(wall.millis(), Ordering::Relaxed);
        }
        let body = input.body.as_ref().map_or("", |body| body.get());
        let mut request = Request::builder()
            .method(input.method.as_str())
            .uri(&input.path)
            .header(AUTHORIZATION, format!("Bearer {}", world.as_key()));
        if !body.is_empty() {
            request = request.header(CONTENT_TYPE, JSON);
        }
        for (name, value) in &input.headers {
            request = request.header(name, value);
        }
        let request = request.body(Bytes::copy_from_slice(body.as_bytes()));
        Ok(self.call(request.map_err(|error| error.to_string())?))
    }

    /// Moves the world of a key by the clock, as recorded.
    pub(crate) fn play_clock(&self, moved: &ClockMove, world: KeyHash) -> Result<(), ApiError> {
        let slot = self.worlds.open(&world.as_key())?;
        let Some(tasks) = moved.tasks else {
            self.play_wall(moved.wall, &slot);
            return Ok(());
        };
        let world = &mut *slot.world_mut();
        let before = Before::of(world);
        guard(world, |world| {
            for _ in 0..tasks {
                system::run_next(world, moved.wall);
            }
            world.follow_clock(moved.wall);
            Ok(())
        })?;
        slot.changed(world);
        if let Some(tape) = &slot.tape {
            tape.advanced(before, world, tasks, false);
        }
        Ok(())
    }

    fn play_wall(&self, wall: Timestamp, slot: &Arc<Slot>) {
        self.wall.store(wall.millis(), Ordering::Relaxed);
        self.follow_wall(slot);
    }

    /// Moves the world of a key to the wall clock's time at the end of the recording.
    pub(crate) fn play_end(&self, wall: Timestamp, world: KeyHash) -> Result<(), ApiError> {
        self.play_wall(wall, &self.worlds.open(&world.as_key())?);
        Ok(())
    }

    /// Continues from the wall clock's time of a recording.
    pub(crate) fn resume_wall(&self, wall: Timestamp) {
        self.wall.store(wall.millis(), Ordering::Relaxed);
        self.wall_origin.store(wall.millis(), Ordering::Relaxed);
    }

    /// Reads the world of a replayed key.
    pub(crate) fn played<T>(
        &self,
        world: KeyHash,
        look: impl FnOnce(&World) -> T,
    ) -> Result<T, ApiError> {
        self.with_world(&world.as_key(), look)
    }

    /// The final states of the worlds that have a `number`, by that number.
    pub(crate) fn ends(&self, number: impl Fn(KeyHash) -> Option<u32>) -> Vec<EndOf> {
        let end = |slot: Arc<Slot>| {
            let tape = slot.tape.as_ref()?;
            let number = number(tape.world())?;
            let world = slot.world();
            Some(EndOf {
                world: number,
                wall: tape.wall(&world),
                log: world.log_length(),
                digest: world.digest(),
            })
        };
        let mut ends: Vec<_> = self.worlds.recorded().into_iter().filter_map(end).collect();
        ends.sort_by_key(|end| end.world);
        ends
    }
}
