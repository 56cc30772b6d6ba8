//! Connects a world's outbox with the senders of its deliveries: wakes workers when a delivery is due, and
//! callers that wait until all are attempted.
//!
//! The engine uses no runtime: a [`Courier`] of the network layer runs the [`Worker`]s and reports
//! the machine's time. Locks are taken in the order world, tester, pool. A worker never takes the
//! world's lock, so that a receiver may call the server.

mod worker;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::task::{Context, Poll, Waker};

pub(crate) use crate::engine::delivery_waker::worker::{Duty, Worker};
use crate::engine::lock::lock;
use crate::engine::recording::Note;
use crate::engine::slot::Slot;
use crate::tester::Tester;
use crate::tester::outbox::{Outbox, Settings};
use crate::value::Timestamp;
use crate::world::World;

/// Runs the workers.
pub(crate) trait Courier: Send + Sync {
    /// The machine's clock.
    fn wall(&self) -> Timestamp;

    /// Runs a worker until it has no more deliveries.
    fn start(&self, worker: Worker);
}

/// State shared by all worlds. It is set once, before the first world opens.
#[derive(Default)]
pub(super) struct DeliveryWaker {
    pub(super) settings: OnceLock<Arc<Settings>>,
    courier: OnceLock<Arc<dyn Courier>>,
    /// Worlds with endpoints or readers, so that the wall clock can drive them.
    watched: Mutex<Vec<Weak<Slot>>>,
}

impl DeliveryWaker {
    /// Starts sending deliveries. A second call changes nothing.
    pub(super) fn open(&self, settings: Arc<Settings>, courier: Arc<dyn Courier>) {
        self.settings.get_or_init(|| settings);
        self.courier.get_or_init(|| courier);
    }

    pub(super) fn outbox(&self, world: &World) -> Outbox {
        match self.settings.get() {
            Some(settings) => Outbox::open(settings, world),
            None => Outbox::default(),
        }
    }

    /// Whether every world has endpoints.
    pub(super) fn gives_endpoints(&self) -> bool {
        self.settings.get().is_some_and(|settings| !settings.given.is_empty())
    }

    /// The open worlds with endpoints or readers.
    pub(super) fn watched(&self) -> Vec<Arc<Slot>> {
        let mut watched = lock(&self.watched);
        watched.retain(|slot| slot.strong_count() > 0);
        watched.iter().filter_map(Weak::upgrade).collect()
    }
}

/// The deliveries of one world.
pub(super) struct Deliveries {
    waker: Arc<DeliveryWaker>,
    /// Whether there are endpoints. This is the only cost for a world without any.
    active: AtomicBool,
    /// Whether the tester was used at all: its content cannot be grown again.
    used: AtomicBool,
    /// Whether the starts of its endpoints are stored.
    started: AtomicBool,
    /// Whether the world has left memory.
    dismissed: AtomicBool,
    pool: Mutex<WorkerPool>,
}

/// The workers of a world's endpoints, and the callers that wait for them.
#[derive(Default)]
struct WorkerPool {
    workers: BTreeMap<String, EndpointWorkers>,
    next: u64,
    waiters: Vec<Waker>,
}

#[derive(Default)]
struct EndpointWorkers {
    count: usize,
    idle: BTreeMap<u64, Waker>,
}

impl Deliveries {
    pub(super) fn new(waker: &Arc<DeliveryWaker>) -> Self {
        Self {
            waker: Arc::clone(waker),
            active: AtomicBool::new(false),
            used: AtomicBool::new(false),
            started: AtomicBool::new(false),
            dismissed: AtomicBool::new(false),
            pool: Mutex::default(),
        }
    }

    /// Whether there is a courier for this world.
    pub(super) fn is_active(&self) -> bool {
        self.active.load(Ordering::Acquire)
    }

    /// Whether the tester differs from a new one.
    pub(super) fn is_used(&self) -> bool {
        self.used.load(Ordering::Relaxed)
    }

    /// The number of workers that wait for a delivery.
    pub(super) fn idle_workers(&self) -> usize {
        lock(&self.pool).workers.values().map(|workers| workers.idle.len()).sum()
    }

    /// The world leaves memory: its waiting workers end, and calls that wait for deliveries return.
    pub(super) fn dismiss(&self) {
        self.dismissed.store(true, Ordering::Relaxed);
        let mut pool = lock(&self.pool);
        for workers in pool.workers.values_mut() {
            std::mem::take(&mut workers.idle).into_values().for_each(Waker::wake);
        }
        pool.waiters.drain(..).for_each(Waker::wake);
    }

    /// Whether the world has left memory.
    pub(super) fn are_dismissed(&self) -> bool {
        self.dismissed.load(Ordering::Relaxed)
    }

    fn courier(&self) -> Option<&Arc<dyn Courier>> {
        self.waker.courier.get()
    }

    fn wall(&self) -> Timestamp {
        self.courier().map_or(Timestamp::EPOCH, |courier| courier.wall())
    }
}

impl Slot {
    /// Whether there are endpoints and a courier.
    pub(super) fn delivers(&self) -> bool {
        self.deliveries().is_active() && self.deliveries().courier().is_some()
    }

    /// Updates the state after a call to the tester.
    pub(super) fn tester_used(self: &Arc<Self>) {
        self.deliveries().used.store(true, Ordering::Relaxed);
        self.tester_changed();
    }

    /// It has a reader: the wall clock drives it from now on, if its clock is a real one.
    pub(super) fn watch(self: &Arc<Self>) {
        let mut watched = lock(&self.deliveries().waker.watched);
        if !watched.iter().any(|slot| std::ptr::eq(slot.as_ptr(), Arc::as_ptr(self))) {
            if watched.len() == watched.capacity() {
                watched.retain(|slot| slot.strong_count() > 0);
            }
            watched.push(Arc::downgrade(self));
        }
    }

    /// Must be called after endpoints can have been added or removed.
    pub(super) fn tester_changed(self: &Arc<Self>) {
        let (active, deliveries) = (!self.tester().outbox.is_empty(), self.deliveries());
        let before = deliveries.active.swap(active, Ordering::AcqRel);
        if active && !before {
            self.watch();
        }
        if before && !active {
            // No delivery is in flight any more, so the waiting callers continue.
            self.stir(&self.tester());
        }
    }

    /// Records the position from which the endpoints of the command line receive events. Must be called before the
    /// first input is stored.
    pub(super) fn note_starts(&self) {
        if let Some(tape) = &self.tape
            && !tape.is_playing()
            && !self.deliveries().started.swap(true, Ordering::Relaxed)
        {
            for start in self.tester().outbox.starts_to_keep() {
                tape.note(Note::Delivered(start));
            }
        }
    }

    /// Turns new events into deliveries, and sends the due ones.
    pub(super) fn deliver_events(self: &Arc<Self>, world: &World) {
        if self.deliveries().is_active() {
            let mut tester = self.tester();
            tester.outbox.collect(world, self.deliveries().wall());
            self.stir(&tester);
        }
    }

    /// Turns new events into deliveries, and sends none of them: the events are being replayed.
    pub(super) fn collect_events(&self, world: &World) {
        let mut tester = self.tester();
        if !tester.outbox.is_empty() {
            tester.outbox.collect(world, self.deliveries().wall());
        }
    }

    /// Whether an unchecked delivery is due by this instant of a virtual clock.
    pub(super) fn is_due_by(&self, now: Timestamp) -> bool {
        self.tester().outbox.next_virtual().is_some_and(|due| due <= now)
    }

    /// Sends the due deliveries, and wakes the waiting callers.
    pub(super) fn stir(self: &Arc<Self>, tester: &Tester) {
        let outbox = &tester.outbox;
        let due = outbox.due().map(|endpoint| endpoint.id.as_str());
        let later = outbox.lanes().iter().map(|lane| lane.endpoint.id.as_str());
        let later = later.filter(|id| outbox.next_wall(id).is_some());
        for id in due.chain(later) {
            self.rouse(tester, id);
        }
        self.wake_waiters(tester);
    }

    /// Wakes a worker of an endpoint with due deliveries, or starts one.
    fn rouse(self: &Arc<Self>, tester: &Tester, endpoint: &str) {
        let lane = tester.outbox.lane(endpoint);
        let (Some(courier), Some(lane)) = (self.deliveries().courier(), lane) else { return };
        let mut pool = lock(&self.deliveries().pool);
        pool.next += 1;
        let number = pool.next;
        let workers = pool.workers.entry(endpoint.to_owned()).or_default();
        if let Some((_, idle)) = workers.idle.pop_first() {
            idle.wake();
        } else if workers.count < lane.endpoint.most_in_flight() {
            workers.count += 1;
            drop(pool);
            courier.start(Worker::new(self, endpoint, number));
        }
    }

    fn wake_waiters(&self, tester: &Tester) {
        if tester.outbox.is_quiet() || self.is_lost() {
            let mut pool = lock(&self.deliveries().pool);
            pool.waiters.drain(..).for_each(Waker::wake);
        }
    }

    /// Whether all due deliveries were attempted. The polling task is woken when they are.
    pub(super) fn poll_quiet(&self, cx: &mut Context<'_>) -> Poll<()> {
        let tester = self.tester();
        if tester.outbox.is_quiet() || !self.delivers() || self.is_lost() {
            return Poll::Ready(());
        }
        let mut pool = lock(&self.deliveries().pool);
        if !pool.waiters.iter().any(|waker| waker.will_wake(cx.waker())) {
            pool.waiters.push(cx.waker().clone());
        }
        Poll::Pending
    }
}
