//! When worlds get checkpoints, and how a world continues from one.

use std::sync::Arc;

use crate::engine::checkpoint::{Beside, Gap, LEAST, Parts, Position};
use crate::engine::idempotency::Answers;
use crate::engine::player::Player;
use crate::engine::recording::KeyHash;
use crate::engine::slot::Opening;
use crate::engine::state::Engine;
use crate::world::World;

/// The minimum number of new inputs after which an idle world gets another checkpoint.
const FEW: u64 = 2_000;
/// A world is not used after this time without a request.
const QUIET_MS: u64 = 1_000;
/// The maximum number of inputs of all worlds that get a checkpoint at the end of the process. It limits the end to
/// about two seconds.
const MOST_AT_END: u64 = 250_000;

impl Engine {
    /// Stores checkpoints of the worlds that changed much since their last one. `ends` says that the process ends.
    pub(crate) fn store_checkpoints(&self, ends: bool) {
        let Some(archive) = self.archive.get() else { return };
        let mut left = MOST_AT_END;
        for (key, stored) in archive.long_worlds() {
            let Some(slot) = self.worlds.of_hash(key) else { continue };
            let Some(tape) = &slot.tape else { continue };
            let inputs = tape.tenure().inputs();
            let new = inputs.saturating_sub(stored);
            let is_quiet = || self.worlds.room.now().saturating_sub(slot.touched()) >= QUIET_MS;
            let is_due = if ends {
                new >= FEW && inputs <= left
            } else {
                new >= stored.max(LEAST) || new >= FEW && is_quiet()
            };
            if inputs >= LEAST
                && is_due
                && let Some(checkpoint) = slot.checkpoint()
            {
                drop(slot);
                left = left.saturating_sub(inputs);
                archive.store_checkpoint(checkpoint);
            }
        }
    }

    /// Reads the earlier events of the worlds that began with checkpoints.
    pub(crate) fn fill_gaps(&self) {
        if let Some(archive) = self.archive.get() {
            archive.fill_gaps(self);
        }
    }
}

impl<'a> Player<'a> {
    /// A player of a world that begins with a checkpoint, and the gap of earlier inputs. An error describes the fault
    /// of the checkpoint.
    pub(crate) fn after(
        engine: &'a Engine,
        key: KeyHash,
        position: Position,
        (records, rest, beside): Parts,
    ) -> Result<(Self, Gap), String> {
        let Beside { part, outbox, answers, tester_calls, snapshots_taken } = beside;
        let world = World::from_parts(records, rest, engine.worlds.base());
        if Position::of(&world, position.inputs) != position {
            return Err("its world is of another input".to_owned());
        }
        let answers = Answers::read(answers).ok_or("a stored reply is damaged")?;
        let (events, digest) = (world.log().earlier().cloned(), world.digest());
        let player = Self::alone(engine, key, Some(Opening { world, part, answers }));
        let world = player.slot.world();
        let mut tester = player.slot.tester();
        tester.outbox.resume(&world, &outbox)?;
        tester.snapshots.follow_checkpoint(snapshots_taken);
        let inputs = tester.inputs.follow_checkpoint();
        drop((tester, world));
        player.slot.memory().set_tester_calls(tester_calls);
        let tape = player.slot.tape.as_ref().expect("a player of stored inputs has a tape");
        let (tenure, now) = (Arc::clone(tape.tenure()), position.now);
        tape.continue_at(now);
        tenure.begin_after(position.inputs);
        Ok((player, Gap { events, inputs, digest, now, tenure }))
    }

    /// Fills the gap of a world that began with a checkpoint, from this player, which has replayed the same inputs.
    /// An error is the digest of a different world.
    pub(crate) fn fill(&self, gap: &Gap) -> Result<(), String> {
        self.follow(gap.now); // a move of the wall clock without due work is no input
        gap.fill(&self.slot)
    }
}
