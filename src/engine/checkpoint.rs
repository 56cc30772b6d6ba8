//! The state of a world and its tester after one of its inputs, so that a restart need not replay the earlier inputs.
//!
//! Only worlds with many inputs get one. Deliberately absent: files, which belong to `io::wal`.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::engine::idempotency::{Answers, WrittenAnswer};
use crate::engine::recording::{KeyHash, Tenure, Ticket};
use crate::engine::slot::Slot;
use crate::tester::inputs;
use crate::tester::outbox::kept::QuietOutbox;
use crate::tester::snapshots::TesterPart;
use crate::value::Timestamp;
use crate::value::later::Later;
use crate::world::World;
use crate::world::checkpoint::{Records, Rest};
use crate::world::earlier;

/// The least inputs of a world that gets a checkpoint. Fewer are replayed in a quarter of a second.
pub(crate) const LEAST: u64 = 10_000;
/// Maximum number of waits of a thread for a reply to be stored.
const MOST_WAITS: u32 = 10_000;

/// The state of a world to be stored.
pub(crate) struct Checkpoint {
    pub(crate) key: KeyHash,
    pub(crate) position: Position,
    /// The input that must be stored before.
    pub(crate) ticket: Ticket,
    world: World,
    part: TesterPart,
    outbox: QuietOutbox,
    answers: Answers,
    tester_calls: u64,
    snapshots_taken: u64,
}

/// Identifies the last input of a checkpoint among the stored inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Position {
    /// The number of the world's own inputs, up to this one.
    pub(crate) inputs: u64,
    pub(crate) now: Timestamp,
    pub(crate) version: u64,
    pub(crate) log: u64,
}

impl Position {
    pub(super) fn of(world: &World, inputs: u64) -> Self {
        Self { inputs, now: world.now(), version: world.version(), log: world.log_length() }
    }
}

/// The state beside the world.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Beside {
    pub(super) part: TesterPart,
    pub(super) outbox: QuietOutbox,
    pub(super) answers: Vec<WrittenAnswer>,
    /// The number of calls that acted on the tester.
    pub(super) tester_calls: u64,
    pub(super) snapshots_taken: u64,
}

/// The parts of a stored checkpoint.
pub(crate) type Parts = (Records, Rest, Beside);

impl Checkpoint {
    /// The parts to store; none if a stored reply is not text. Hashes all events.
    pub(crate) fn into_parts(self) -> Option<Parts> {
        let Self { world, part, outbox, answers, tester_calls, snapshots_taken, .. } = self;
        let answers = answers.written()?;
        let (records, rest) = world.into_parts();
        let beside = Beside { part, outbox, answers, tester_calls, snapshots_taken };
        Some((records, rest, beside))
    }
}

/// The earlier events and inputs of a world that began with a checkpoint. They are read by a replay beside it.
pub(crate) struct Gap {
    pub(super) events: Option<Arc<earlier::Earlier>>,
    pub(super) inputs: Arc<Later<inputs::Earlier>>,
    /// The digest and the time at the checkpoint.
    pub(super) digest: String,
    pub(super) now: Timestamp,
    pub(super) tenure: Arc<Tenure>,
}

impl Gap {
    /// Announces that the gap will be filled: from now on, readers wait for it.
    pub(crate) fn announce(&self) {
        self.inputs.announce();
        if let Some(events) = &self.events {
            events.announce();
        }
    }

    /// Fills it from the world that the same inputs led to. An error is the digest of another world.
    pub(super) fn fill(&self, slot: &Slot) -> Result<(), String> {
        let world = slot.world();
        let digest = world.digest();
        if digest != self.digest {
            return Err(digest);
        }
        let inputs = slot.tester().inputs.take_earlier();
        self.inputs.bring(inputs);
        if let Some(events) = &self.events {
            events.fill_from(world.log());
        }
        Ok(())
    }

    /// The checkpoint differs from the replayed inputs, or they cannot be read: the next request replays the world
    /// from its inputs.
    pub(crate) fn refuse_world(&self) {
        self.tenure.lose(0);
    }
}

impl Drop for Gap {
    /// Wakes the readers, so that none waits for ever.
    fn drop(&mut self) {
        self.inputs.bring(inputs::Earlier::default());
        if let Some(events) = &self.events {
            events.give_up();
        }
    }
}

impl Slot {
    /// Its state to store; none if it has more than a checkpoint contains.
    pub(super) fn checkpoint(&self) -> Option<Checkpoint> {
        let tape = self.tape.as_ref().filter(|tape| !tape.is_playing() && !tape.is_lost())?;
        let world = self.world();
        // No request with an idempotency key can start now. A request that has ended stores its reply without the
        // world's lock.
        let is_running = |_: &u32| self.memory().seen.is_running();
        (0..MOST_WAITS).take_while(is_running).for_each(|_| std::thread::yield_now());
        let tester = self.tester();
        let outbox = tester.outbox.quiet(&world)?;
        if tester.snapshots.len() > 0 || !world.is_storable() {
            return None;
        }
        let (part, snapshots_taken) = (tester.part(), tester.snapshots.taken());
        drop(tester);
        let (answers, tester_calls) = self.memory().to_store()?;
        let (key, ticket) = (tape.world(), tape.last());
        let position = Position::of(&world, tape.tenure().inputs());
        let world = world.clone();
        Some(Checkpoint {
            key,
            position,
            ticket,
            world,
            part,
            outbox,
            answers,
            tester_calls,
            snapshots_taken,
        })
    }
}
