//! Copies of a world after its latest steps, kept while its inputs are replayed to an earlier event.

use std::collections::VecDeque;

use crate::world::World;

/// The most copies. They share all unchanged data.
const MOST: usize = 24;

/// The copies of a world that is being replayed.
#[derive(Clone, Debug)]
pub(super) struct Steps {
    /// No copy is needed after this event.
    until: u64,
    /// The number of events after the last step.
    logged: u64,
    kept: VecDeque<(u64, World)>,
}

impl World {
    /// From now on, keeps a copy after each step until that event, with the number of events before the
    /// step.
    pub(crate) fn keep_steps(&mut self, until: u64) {
        let kept = VecDeque::new();
        self.steps = Some(Box::new(Steps { until, logged: self.log.len(), kept }));
    }

    /// Returns the copies since `keep_steps`, the oldest first, and stops keeping copies.
    pub(crate) fn take_steps(&mut self) -> impl Iterator<Item = (u64, Self)> + use<> {
        self.steps.take().map(|steps| steps.kept).unwrap_or_default().into_iter()
    }

    /// A step was committed.
    pub(super) fn keep_step(&mut self) {
        let Some(mut steps) = self.steps.take() else { return };
        let (before, logged) = (steps.logged, self.log.len());
        if before < steps.until && logged > before {
            if steps.kept.len() >= MOST {
                steps.kept.pop_front();
            }
            steps.kept.push_back((before, self.clone()));
        }
        steps.logged = logged;
        self.steps = Some(steps);
    }
}
