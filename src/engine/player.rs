//! Replays the inputs of a world.
//!
//! A player sends recorded requests to one world, without admission, reply and request log. Deliberately absent: the order of the inputs and
//! the comparison of results, which belong to the reader of the recording (`io::wal`).

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde_json::Value;

use crate::api::host::{Host, OpenWorld};
use crate::api::operation::Operation;
use crate::api::system;
use crate::engine::checkpoint::Checkpoint;
use crate::engine::recording::{
    Before, ClockMove, EndOf, KeptEndpoints, KeyHash, ProgressOf, SpentRow, Step,
};
use crate::engine::repeat::Repeat;
use crate::engine::slot::{Opening, Slot};
use crate::engine::state::Engine;
use crate::engine::write::guard;
use crate::tester::inputs::Inputs;
use crate::tester::snapshots::TesterPart;
use crate::value::error::ApiError;
use crate::value::time::Timestamp;
use crate::world::script::Scenario;
use crate::world::situation::Situation;
use crate::world::{ClockMode, World};

/// A world that was replayed, before a key opens it.
pub(crate) struct Restored(pub(in crate::engine) Arc<Slot>);

/// The world and tester state that a fork copied.
type Forked = Opening;

/// Why a world cannot be read from its stored inputs.
#[derive(Clone, Debug)]
pub(crate) enum Unrestored {
    /// The inputs cannot be read now.
    Unreadable(String),
    /// The inputs lead to another world than at the time of their recording.
    Differs(String),
    /// Another process serves the world now.
    Moved,
}

/// Reads stored inputs again. It is the recorder of the same engine.
pub(crate) trait Archive: Send + Sync {
    /// Replays the stored inputs of a world.
    fn restore(&self, engine: &Engine, world: KeyHash) -> Result<Restored, Unrestored>;

    /// The worlds whose webhooks may not all have been sent. `every` says that all worlds have endpoints, `is_real` that the wall clock runs
    /// their timers.
    fn owing(&self, every: bool, is_real: bool) -> Vec<KeyHash>;

    /// The worlds with many inputs, and the inputs of the last checkpoint of each.
    fn long_worlds(&self) -> Vec<(KeyHash, u64)> {
        Vec::new()
    }

    /// Stores a checkpoint of a world, in place of an earlier one. Without it, the world is replayed from its start.
    fn store_checkpoint(&self, _checkpoint: Checkpoint) {}

    /// Reads the earlier events of worlds that began with checkpoints.
    fn fill_gaps(&self, _engine: &Engine) {}

    /// Whether several processes read and write it.
    fn is_shared(&self) -> bool {
        false
    }
}

/// Sends recorded inputs to one world.
pub(crate) struct Player<'a> {
    engine: &'a Engine,
    pub(in crate::engine) slot: Arc<Slot>,
    /// The treatment of forks that the inputs open.
    forks: Forks,
}

/// The treatment of forks that replayed inputs open.
enum Forks {
    /// They open in the engine.
    Open,
    /// They are dropped.
    Drop,
    /// Only the last fork is kept. The others are replayed when their keys are used.
    Keep(Box<RefCell<Option<Forked>>>),
}

/// The result of a replayed request.
pub(crate) struct Outcome {
    /// The change that it made; `None` if it changed nothing.
    pub(crate) step: Option<Step>,
    /// Its refusal.
    pub(crate) refusal: Option<Value>,
}

impl<'a> Player<'a> {
    /// A player of one of several worlds, which stay in the engine.
    pub(crate) fn among(engine: &'a Engine, world: KeyHash) -> Result<Self, ApiError> {
        let slot = engine.worlds.open_recorded(world)?;
        Ok(Self { engine, slot, forks: Forks::Open })
    }

    /// A player of a world that is not in the engine yet. It begins fresh, or with a fork that another player kept.
    pub(crate) fn alone(engine: &'a Engine, world: KeyHash, forked: Option<Forked>) -> Self {
        let slot = engine.worlds.playing(world, forked);
        Self { engine, slot, forks: Forks::Keep(Box::default()) }
    }

    /// A player of a copy of a world in memory, from its start or from another state.
    pub(in crate::engine) fn beside(engine: &'a Engine, opening: Option<Opening>) -> Self {
        Self { engine, slot: engine.worlds.beside(opening), forks: Forks::Drop }
    }

    /// The world and tester state that the last fork copied.
    pub(crate) fn take_fork(&self) -> Option<Forked> {
        match &self.forks {
            Forks::Open | Forks::Drop => None,
            Forks::Keep(kept) => kept.borrow_mut().take(),
        }
    }

    /// Deliveries up to this progress are not made again.
    pub(crate) fn expect(&self, progress: ProgressOf) {
        self.slot.tester().outbox.expect(progress);
    }

    /// Sends a recorded request.
    pub(crate) fn input(&self, wall: Option<Timestamp>, request: Repeat) -> Outcome {
        if let Some(wall) = wall {
            self.follow(wall);
        }
        request.perform(self)
    }

    /// Moves the world by the clock, as recorded.
    pub(crate) fn clock(&self, moved: &ClockMove) -> Result<Option<Step>, ApiError> {
        let Some(tape) = &self.slot.tape else { return Ok(None) };
        let Some(tasks) = moved.tasks else {
            self.follow(moved.wall);
            return Ok(tape.take());
        };
        let before = Before::of(&self.slot.world());
        self.advance(tasks, moved.wall)?;
        let world = &mut *self.slot.world_mut();
        tape.advanced(before, world, tasks, false);
        if before.differs(world) {
            self.slot.tester().keep_advance(world, before.at(), tasks, false);
        }
        self.slot.collect_events(world);
        Ok(tape.take())
    }

    /// Runs `tasks` timers, and moves the clock.
    pub(in crate::engine) fn advance(&self, tasks: u64, to: Timestamp) -> Result<(), ApiError> {
        let world = &mut *self.slot.world_mut();
        guard(world, |world| {
            for _ in 0..tasks {
                system::run_next(world, to);
            }
            world.follow_clock(to);
            Ok(())
        })?;
        self.slot.changed(world);
        Ok(())
    }

    /// Moves the world to the wall clock's time.
    pub(crate) fn follow(&self, wall: Timestamp) {
        if self.slot.world().mode() == ClockMode::Real {
            Engine::follow_to(&self.slot, wall);
        }
    }

    /// Sets the counters of faults.
    pub(crate) fn spent(&self, rows: &[SpentRow]) {
        self.slot.tester().put_spent(rows);
    }

    /// Sets the webhook endpoints.
    pub(crate) fn endpoints(&self, kept: &KeptEndpoints) -> Result<(), String> {
        let world = self.slot.world();
        self.slot.tester().outbox.put_kept(&world, kept)
    }

    /// Reads the world.
    pub(crate) fn look<T>(&self, look: impl FnOnce(&World) -> T) -> T {
        look(&self.slot.world())
    }

    /// Ends the replay.
    pub(crate) fn restored(self) -> Restored {
        if let Some(tape) = &self.slot.tape {
            tape.go_live();
        }
        let mut tester = self.slot.tester();
        tester.requests.begin_later();
        tester.outbox.expect_no_more();
        drop(tester);
        Restored(self.slot)
    }
}

impl Host for Player<'_> {
    fn scenarios(&self) -> Vec<Arc<Scenario>> {
        self.engine.scenarios()
    }

    fn scenario(&self, name: &str) -> Result<Arc<Scenario>, ApiError> {
        self.engine.scenario(name)
    }

    fn read_import(
        &self,
        paths: &[String],
        files: &BTreeMap<String, String>,
        world: &World,
    ) -> Result<(Arc<Scenario>, World), ApiError> {
        self.engine.read_import(paths, files, world)
    }

    fn read_scenario(&self, name: &str, text: &str) -> Result<Arc<Scenario>, ApiError> {
        self.engine.read_scenario(name, text)
    }

    fn operations(&self) -> Vec<&'static Operation> {
        self.engine.operations()
    }

    fn situation_showing(&self, event: &str) -> Vec<Arc<Situation>> {
        self.engine.situation_showing(event)
    }

    fn open(&self, key: &str, world: World, part: TesterPart) -> Result<(), ApiError> {
        let answers = self.slot.memory().answers_at(part.carried.answers_of);
        let opening = Opening { world, part, answers };
        match &self.forks {
            Forks::Open => self.engine.worlds.open_played(key, opening),
            Forks::Drop => Ok(()),
            Forks::Keep(kept) => {
                *kept.borrow_mut() = Some(opening);
                Ok(())
            }
        }
    }

    fn past(
        &self,
        world: &World,
        inputs: &Inputs,
        sequence: u64,
    ) -> Result<(World, TesterPart), ApiError> {
        match self.forks {
            Forks::Drop => Ok((world.clone(), TesterPart::default())),
            Forks::Open | Forks::Keep(_) => Host::past(self.engine, world, inputs, sequence),
        }
    }

    fn worlds(&self) -> Vec<OpenWorld> {
        Host::worlds(self.engine)
    }
}

impl Engine {
    /// A world of a recording was deleted.
    pub(crate) fn close_recorded(&self, world: KeyHash) {
        self.worlds.close_played(world);
    }

    /// Continues from the wall clock's time of a recording.
    pub(crate) fn resume_wall(&self, wall: Timestamp) {
        self.wall.store(wall.millis(), Ordering::Relaxed);
        self.wall_origin.store(wall.millis(), Ordering::Relaxed);
    }

    /// The final states of the worlds that have a `number`, by that number.
    pub(crate) fn ends(&self, number: impl Fn(KeyHash) -> Option<u32>) -> Vec<EndOf> {
        let end = |slot: Arc<Slot>| {
            let tape = slot.tape.as_ref().filter(|tape| !tape.is_lost())?;
            let number = number(tape.world())?;
            let world = slot.world();
            Some(EndOf {
                world: number,
                wall: tape.wall(&world),
                log: world.log_length(),
                digest: world.digest(),
            })
        };
        let mut ends: Vec<_> = self.worlds.resident_slots().into_iter().filter_map(end).collect();
        ends.sort_by_key(|end| end.world);
        ends
    }
}
