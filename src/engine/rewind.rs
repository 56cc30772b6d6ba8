//! Reconstructs an earlier state of a world: replays its inputs up to an event, in a separate world that no key
//! opens.
//!
//! Deliberately absent: the choice of the inputs; `tester::inputs` has them.

use std::sync::{Arc, Mutex};

use http::Request as HttpRequest;

use crate::engine::delivery_waker::DeliveryWaker;
use crate::engine::idempotency::Answers;
use crate::engine::lock::lock;
use crate::engine::past::{AsOf, Moment, Past};
use crate::engine::player::Player;
use crate::engine::repeat::Repeat;
use crate::engine::slot::{Opening, Slot};
use crate::engine::state::Engine;
use crate::tester::inputs::{Leading, Recalled};
use crate::tester::snapshots::TesterPart;
use crate::value::{ApiError, long_work};
use crate::world::World;

/// Only the last inputs before the event are replayed with copies of their steps.
const NEAR: usize = 24;

impl DeliveryWaker {
    /// A copy with the same endpoints that sends nothing.
    pub(super) fn silent(&self) -> Arc<Self> {
        let mut silent = Self::default();
        silent.settings.clone_from(&self.settings);
        Arc::new(silent)
    }
}

impl Engine {
    /// The world of a slot as of an event.
    pub(super) fn as_of(&self, slot: &Slot, as_of: AsOf) -> Result<World, ApiError> {
        let present = slot.world().clone();
        let sequence = as_of.find(&present)?;
        let leading = || slot.tester().inputs.leading_to(sequence);
        self.past(&slot.past, &present, sequence, leading).map(|(world, _)| world)
    }

    /// A world after the step that caused an event, with its tester state.
    pub(super) fn past(
        &self,
        past: &Mutex<Past>,
        present: &World,
        sequence: u64,
        leading: impl FnOnce() -> Option<Leading>,
    ) -> Result<(World, TesterPart), ApiError> {
        let refused = |why: &str| {
            let detail = format!("the state as of event {sequence} cannot be reproduced: {why}");
            ApiError::of_member("/Sandbox-As-Of", "not_replayable", detail)
        };
        if let Some(found) = lock(past).find(present, sequence) {
            return Ok(found);
        }
        let leading = leading().ok_or_else(|| {
            refused("only the latest inputs of a world are kept (at least 500), and a fork keeps only its own inputs")
        })?;
        long_work::run(|| {
            // Other requests wait for this replay, because it can contain their states.
            let past = &mut *lock(past);
            if past.find(present, sequence).is_none() {
                past.put(present, self.play_to(leading, present, sequence));
            }
            past.find(present, sequence)
        })
        .ok_or_else(|| refused("its inputs now lead to other events"))
    }

    /// Replays the inputs that lead to an event.
    fn play_to(&self, leading: Leading, present: &World, sequence: u64) -> Vec<Moment> {
        let opening = leading.start.map(|start| {
            let (world, part) = *start;
            Opening { world, part, answers: Answers::default() }
        });
        let player = Player::beside(self, opening);
        let mut moments = Vec::new();
        let near = leading.inputs.len().saturating_sub(NEAR);
        for (place, recalled) in leading.inputs.iter().enumerate() {
            let is_near = place >= near;
            if is_near {
                player.slot.world_mut().keep_steps(sequence);
            }
            player.follow(recalled.at);
            play(self, &player, recalled);
            if is_near {
                keep(&player, &mut moments);
            }
        }
        player.slot.world_mut().keep_steps(sequence);
        player.follow(present.now());
        keep(&player, &mut moments);
        moments
    }
}

/// Repeats an input, also one that was refused: it may have moved the clock of the world.
fn play(engine: &Engine, player: &Player<'_>, recalled: &Recalled) {
    let Recalled { input, moved, spent, .. } = recalled;
    player.spent(spent);
    if let Some(moved) = moved {
        player.advance(moved.tasks, moved.to).ok(); // a panic was already logged
        return;
    }
    let mut request = HttpRequest::builder().method(input.method).uri(&*input.target);
    for (name, value) in &*input.headers {
        request = request.header(*name, &**value);
    }
    if let Ok(request) = Repeat::sent(engine, request, &input.body) {
        request.perform(player);
    }
}

/// Keeps the copies of the steps of the last input.
fn keep(player: &Player<'_>, moments: &mut Vec<Moment>) {
    let steps = player.slot.world_mut().take_steps();
    let part = Arc::new(player.slot.tester().part());
    for (before, world) in steps {
        moments.push(Moment { before, world, part: Arc::clone(&part), stamp: None });
    }
}
