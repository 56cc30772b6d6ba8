//! Wholly or not at all: what a step has staged, and how to take it back.

use std::sync::Arc;

use crate::model::{Kind, Record};
use crate::value::time::Timestamp;
use crate::world::base::Base;
use crate::world::event::{Change, RequestRef};
use crate::world::overlay::Origin;
use crate::world::timers::Timer;
use crate::world::{ClockMode, World};

/// What is staged, and how to take back what is not committed.
#[derive(Clone, Debug, Default)]
pub(super) struct Transaction {
    pub(super) request: Option<Arc<RequestRef>>,
    /// Written since the last event.
    pub(super) staged: Vec<Change>,
    pub(super) undo: Vec<Undo>,
}

#[derive(Clone, Debug)]
pub(super) enum Undo {
    Put {
        kind: Kind,
        id: u64,
        before: Option<Record>,
        origin: Origin,
    },
    Post {
        company: u64,
    },
    Emit {
        subject: u64,
    },
    SetTimer {
        timer: Timer,
    },
    TakeTimer {
        timer: Timer,
    },
    Clock {
        now: Timestamp,
    },
}

impl World {
    /// Begins what a request does.
    pub(crate) fn begin(&mut self, request: Option<Arc<RequestRef>>) {
        assert!(
            self.transaction.undo.is_empty(),
            "a transaction began inside another"
        );
        self.transaction.request = request;
        if self.mode == ClockMode::Instant {
            self.move_clock(self.now.plus_millis(1));
        }
    }

    /// Starts again from a base, as if nothing had ever happened.
    pub(crate) fn restart(&mut self, base: Arc<Base>) {
        *self = Self::new(base, self.mode);
    }

    /// Makes what was done since `begin` final.
    ///
    /// # Panics
    /// If something was staged after the last event: a change that no event tells of is a bug.
    pub(crate) fn commit(&mut self) {
        assert!(
            self.transaction.staged.is_empty(),
            "a change was not sealed by an event"
        );
        let moved = self.transaction.undo.len() > usize::from(self.mode == ClockMode::Instant);
        if moved {
            self.version += 1;
            self.transaction.undo.clear();
        } else {
            self.roll_back(); // nothing happened: not even the tick of the clock
        }
        self.transaction.request = None;
    }

    /// Takes back everything since `begin`.
    pub(crate) fn roll_back(&mut self) {
        self.transaction.staged.clear();
        self.transaction.request = None;
        while let Some(undo) = self.transaction.undo.pop() {
            match undo {
                Undo::Put {
                    kind,
                    id,
                    before,
                    origin,
                } => self.overlay.undo_put(kind, id, before, origin),
                Undo::Post { company } => self.books.undo_post(company),
                Undo::Emit { subject } => self.undo_emit(subject),
                Undo::SetTimer { timer } => self.timers.remove(timer),
                Undo::TakeTimer { timer } => self.timers.insert(timer),
                Undo::Clock { now } => self.now = now,
            }
        }
    }

    fn undo_emit(&mut self, subject: u64) {
        self.log.pop();
        let count = self
            .event_counts
            .get_mut(&subject)
            .expect("what is undone was emitted");
        *count -= 1;
        if *count == 0 {
            self.event_counts.remove(&subject);
        }
    }
}
