//! Atomic steps: begins a step, and commits its changes or rolls them back.

use std::sync::Arc;

use crate::value::TraceParent;
use crate::world::base::Base;
use crate::world::event::RequestRef;
use crate::world::script::OutcomeRule;
use crate::world::script_state::Cause;
use crate::world::transaction::Undo;
use crate::world::{ClockMode, World};

/// The capacity of the undo list, in changes, that a world keeps between steps. It is enough for most steps.
const FEW: usize = 16;

impl World {
    /// Begins the transaction of a request.
    pub(crate) fn begin(&mut self, request: Option<Arc<RequestRef>>) {
        let request = request.map(|request| self.transaction.traced(request));
        self.start(request);
    }

    fn start(&mut self, request: Option<Arc<RequestRef>>) {
        assert!(self.transaction.undo.is_empty(), "a transaction began inside another");
        self.transaction.cause = request
            .as_ref()
            .map(|request| Arc::new(Cause { request: Arc::clone(request), outcomes: Vec::new() }));
        self.transaction.request = request;
        self.transaction.logged = self.log.len();
        if self.mode == ClockMode::Instant {
            self.move_clock(self.now.plus_millis(1));
        }
    }

    /// Begins the transaction of a request that chooses outcomes.
    pub(crate) fn begin_with(&mut self, request: Arc<RequestRef>, outcomes: Vec<OutcomeRule>) {
        let request = self.transaction.traced(request);
        self.start(Some(Arc::clone(&request)));
        self.transaction.cause = Some(Arc::new(Cause { request, outcomes }));
    }

    /// Sets the trace of the next requests. Returns the previous trace.
    pub(crate) const fn follow_trace(&mut self, trace: Option<TraceParent>) -> Option<TraceParent> {
        core::mem::replace(&mut self.transaction.trace, trace)
    }

    /// Resets the world to the fresh state of a base.
    pub(crate) fn restart(&mut self, base: Arc<Base>, mode: ClockMode) {
        let most_events = self.log.kept();
        *self = Self::new(base, mode);
        self.log.set_limit(most_events);
    }

    /// Sets the most stored events; all of them if none.
    pub(crate) fn limit_events(&mut self, most: Option<u64>) {
        self.log.set_limit(most);
    }

    /// Makes all changes since `begin` final.
    ///
    /// # Panics
    /// If a change was staged after the last event: a change without an event is a bug.
    pub(crate) fn commit(&mut self) {
        assert!(self.transaction.staged.is_empty(), "a change was not sealed by an event");
        let moved = self.transaction.undo.len() > usize::from(self.mode == ClockMode::Instant);
        if moved {
            self.version += 1;
            self.transaction.undo.clear();
            self.transaction.undo.shrink_to(FEW);
            self.transaction.hashes = None;
            self.log.trim();
        } else {
            self.roll_back(); // nothing happened, so the clock does not move either
        }
        self.transaction.request = None;
        self.transaction.cause = None;
        self.transaction.decided = None;
        self.transaction.latest = None;
        if moved {
            self.keep_step();
        }
    }

    /// Undoes all changes since `begin`.
    pub(crate) fn roll_back(&mut self) {
        if let Some(before) = self.transaction.hashes.take() {
            self.log.restore_hashes(*before);
        }
        self.transaction.staged.clear();
        self.transaction.request = None;
        self.transaction.cause = None;
        self.transaction.decided = None;
        self.transaction.latest = None;
        while let Some(undo) = self.transaction.undo.pop() {
            match undo {
                Undo::Put { kind, id, before, origin } => {
                    self.overlay.undo_put(kind, id, before, origin);
                }
                Undo::Post { company } => self.books.undo_post(company),
                Undo::Emit { subject } => {
                    self.log.pop();
                    self.overlay.undo_count_event(subject);
                }
                Undo::SetTimer { timer } => self.timers.remove(&timer),
                Undo::TakeTimer { timer } => self.timers.insert(timer),
                Undo::Clock { now } => self.now = now,
                Undo::Decided { dropped } => {
                    self.decided.pop_back();
                    if let Some(oldest) = dropped {
                        self.decided.push_front(oldest);
                    }
                }
                Undo::Asked { place, asked, hits } => {
                    let state = &mut self.script.outcomes[place];
                    (state.asked, state.hits) = (asked, hits);
                }
                Undo::Armed { place } => self.script.timeline[place].armed = false,
                Undo::Script { before } => self.script = *before,
                Undo::Reconciled { transaction, before } => {
                    self.reconciled.set(transaction, before);
                }
                Undo::Volume { row, before } => drop(self.metered.set_volume(row, before)),
                Undo::Movement { row, dropped } => self.undo_movement(row, dropped),
                Undo::FixedFee { row, before } => drop(self.metered.set_fixed(row, before)),
            }
        }
    }

    /// The request that set the timer of an event, if the clock is the direct cause.
    pub(super) fn cause_of_event(&self) -> Option<Arc<RequestRef>> {
        let clock = self.transaction.request.is_none();
        let cause = self.transaction.cause.as_ref().filter(|_| clock)?;
        Some(Arc::clone(&cause.request))
    }
}
