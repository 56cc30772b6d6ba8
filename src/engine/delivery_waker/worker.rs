//! A worker: sends the deliveries of one endpoint, and reports their results.
//!
//! Deliberately absent: sockets and waiting, which the network layer adds.

use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use bytes::Bytes;

use crate::engine::lock::lock;
use crate::engine::readers::Happened;
use crate::engine::recording::{Note, Tape, Ticket};
use crate::engine::slot::Slot;
use crate::tester::Tester;
use crate::tester::outbox::delivery::{AttemptOutcome, Unanswered};
use crate::tester::outbox::lane::Lane;
use crate::tester::outbox::{Job, body};
use crate::value::Timestamp;
use crate::world::Event;

/// A worker that sends the deliveries of an endpoint, one at a time. Dropping it ends it.
pub(crate) struct Worker {
    slot: Arc<Slot>,
    endpoint: String,
    number: u64,
    flying: Option<u64>,
    /// The event that is probably sent next, and the storage for its body.
    upcoming: Option<(Arc<Event>, Arc<OnceLock<Bytes>>)>,
}

/// The next action of a worker.
pub(crate) enum Duty {
    /// Send this, once that input is stored.
    Carry(Box<Job>, Option<Ticket>),
    /// Nothing is due. The next delivery is due at this instant of the machine's clock, if it is known.
    Wait(Option<Timestamp>),
}

impl Worker {
    pub(super) fn new(slot: &Arc<Slot>, endpoint: &str, number: u64) -> Self {
        let (slot, endpoint) = (Arc::clone(slot), endpoint.to_owned());
        Self { slot, endpoint, number, flying: None, upcoming: None }
    }

    /// Reports the result of the current delivery. Returns the next one, or how long to wait for one; then `poll_woken` says when to try
    /// again.
    ///
    /// It locks the tester only once, because the workers of all endpoints of a world share that lock.
    pub(crate) fn next(&mut self, cx: &Context<'_>, ended: Option<AttemptOutcome>) -> Duty {
        let slot = Arc::clone(&self.slot);
        let mut tester = slot.tester();
        let reports = ended.is_some();
        if let Some(outcome) = ended {
            self.report(&mut tester, outcome);
        }
        let duty = if let Some(job) = self.take(&mut tester) {
            // Every event of the world was passed to the recorder before it became a delivery.
            Duty::Carry(Box::new(job), slot.tape.as_ref().map(Tape::last))
        } else {
            self.note_progress(&mut tester, true);
            Duty::Wait(self.wait(&tester, cx))
        };
        drop(tester);
        if reports {
            slot.readers.wake(Happened::Delivery);
        }
        duty
    }

    /// The next delivery that is due.
    fn take(&mut self, tester: &mut Tester) -> Option<Job> {
        if self.slot.is_lost() {
            return None; // the world is read again without the events that could not be stored
        }
        let job = tester.outbox.take(&self.endpoint, self.slot.deliveries().wall())?;
        self.flying = Some(job.order);
        if tester.outbox.due().any(|endpoint| endpoint.id == self.endpoint) {
            self.slot.rouse(tester, &self.endpoint);
        }
        let upcoming = tester.outbox.lane(&self.endpoint).and_then(Lane::upcoming);
        self.upcoming = upcoming.map(|next| (Arc::clone(&next.event), Arc::clone(&next.body)));
        Some(job)
    }

    /// Registers it as idle. Returns when its next delivery is due, if that is known.
    fn wait(&self, tester: &Tester, cx: &Context<'_>) -> Option<Timestamp> {
        // The delivery that was reported, or taken and not attempted, can be the last pending one.
        self.slot.wake_waiters(tester);
        let ends = self.slot.is_lost() || self.slot.deliveries().dismissed.load(Ordering::Relaxed);
        let next = tester.outbox.next_wall(&self.endpoint);
        let mut pool = lock(&self.slot.deliveries().pool);
        let workers = pool.workers.entry(self.endpoint.clone()).or_default();
        workers.idle.insert(self.number, cx.waker().clone());
        if ends { Some(Timestamp::EPOCH) } else { next }
    }

    /// Writes the body of the next delivery, so that it is ready when the current one is answered.
    pub(crate) fn prepare(&mut self) {
        if let Some((event, written)) = self.upcoming.take() {
            body::shared(&event, &written);
        }
    }

    /// Ready when there can be a due delivery.
    pub(crate) fn poll_woken(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut pool = lock(&self.slot.deliveries().pool);
        let workers = pool.workers.get_mut(&self.endpoint);
        match workers.and_then(|workers| workers.idle.get_mut(&self.number)) {
            Some(waker) => {
                waker.clone_from(cx.waker());
                Poll::Pending
            }
            None => Poll::Ready(()),
        }
    }

    /// Records the result of the current delivery.
    fn report(&mut self, tester: &mut Tester, outcome: AttemptOutcome) {
        let Some(order) = self.flying.take() else { return };
        let wall = self.slot.deliveries().wall();
        let is_enabled = |tester: &Tester| {
            tester.outbox.lane(&self.endpoint).is_none_or(|lane| lane.endpoint.disabled.is_none())
        };
        let enabled = is_enabled(tester);
        tester.outbox.report(&self.endpoint, order, outcome, wall);
        if let Some(tape) = &self.slot.tape
            && is_enabled(tester) != enabled
            && tape.accepts().is_ok()
        {
            tape.note(Note::Endpoints(tester.outbox.kept()));
        }
        self.note_progress(tester, false);
    }

    /// Stores the progress of the endpoint if it is time.
    fn note_progress(&self, tester: &mut Tester, is_idle: bool) {
        let Some(tape) = &self.slot.tape else { return };
        let wall = self.slot.deliveries().wall();
        if let Some(progress) = tester.outbox.progress_to_keep(&self.endpoint, wall, is_idle) {
            tape.note(Note::Delivered(progress));
        }
    }

    /// Whether the worker may end, because no delivery is due now or at a known time.
    pub(crate) fn may_leave(&mut self) -> bool {
        let slot = Arc::clone(&self.slot);
        let tester = slot.tester();
        let due = tester.outbox.due().any(|endpoint| endpoint.id == self.endpoint);
        let leaves = slot.is_lost() || (!due && tester.outbox.next_wall(&self.endpoint).is_none());
        if leaves {
            self.sign_off();
        }
        leaves
    }

    fn sign_off(&mut self) {
        if self.number == 0 {
            return;
        }
        let mut pool = lock(&self.slot.deliveries().pool);
        if let Some(workers) = pool.workers.get_mut(&self.endpoint) {
            workers.idle.remove(&self.number);
            workers.count = workers.count.saturating_sub(1);
            if workers.count == 0 {
                pool.workers.remove(&self.endpoint);
            }
        }
        self.number = 0;
    }
}

impl Drop for Worker {
    /// A worker that ends early, by a bug or with the process, leaves its delivery to the next one.
    fn drop(&mut self) {
        if self.flying.is_some() {
            let error = "the courier stopped before the receiver answered".to_owned();
            let result = Err(Unanswered { error, timed_out: false });
            let slot = Arc::clone(&self.slot);
            let mut tester = slot.tester();
            self.report(&mut tester, AttemptOutcome { result, signed: None, duration_ms: 0 });
            slot.wake_waiters(&tester);
            drop(tester);
            slot.readers.wake(Happened::Delivery);
        }
        self.sign_off();
    }
}
