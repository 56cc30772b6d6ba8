//! Between a world's outbox and whoever carries its deliveries: wakes workers when something is due, and whoever waits for quiet.
//!
//! The engine knows no runtime: a [`Courier`] at the edge runs one [`Worker`] after another, and tells the machine's time. Locks are taken
//! in the order world, tester, crew; a worker never takes the world's, so that a receiver may call back while it is being called.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::task::{Context, Poll, Waker};

use crate::engine::worlds::Slot;
use crate::tester::Tester;
use crate::tester::outbox::delivery::{AttemptOutcome, Unanswered};
use crate::tester::outbox::{Job, Outbox, Settings};
use crate::value::Timestamp;
use crate::world::World;

/// Who carries deliveries.
pub(crate) trait Courier: Send + Sync {
    /// The machine's clock.
    fn wall(&self) -> Timestamp;

    /// Lets a worker work until it has nothing left to do.
    fn start(&self, worker: Worker);
}

/// What all worlds share: set once, before the first of them opens.
#[derive(Default)]
pub(super) struct DeliveryWaker {
    settings: OnceLock<Arc<Settings>>,
    courier: OnceLock<Arc<dyn Courier>>,
    /// Worlds with endpoints, so that the wall clock can drive them.
    watched: Mutex<Vec<Weak<Slot>>>,
}

impl DeliveryWaker {
    /// From now on deliveries are carried. A second call changes nothing.
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

    /// Worlds with endpoints that are still open.
    pub(super) fn watched(&self) -> Vec<Arc<Slot>> {
        let mut watched = lock(&self.watched);
        watched.retain(|slot| slot.strong_count() > 0);
        watched.iter().filter_map(Weak::upgrade).collect()
    }
}

/// One world's part.
pub(super) struct Post {
    office: Arc<DeliveryWaker>,
    /// Whether there are endpoints: all that a world without any pays for is a look at this.
    active: AtomicBool,
    /// Whether the tester was used at all: what is on it cannot be grown again.
    used: AtomicBool,
    crew: Mutex<Crew>,
}

/// Who works for a world's endpoints, and who waits for it to be quiet.
#[derive(Default)]
struct Crew {
    hands: BTreeMap<String, Hands>,
    next: u64,
    waiters: Vec<Waker>,
}

/// Workers of one endpoint.
#[derive(Default)]
struct Hands {
    count: usize,
    idle: BTreeMap<u64, Waker>,
}

impl Post {
    pub(super) fn new(office: &Arc<DeliveryWaker>) -> Self {
        Self {
            office: Arc::clone(office),
            active: AtomicBool::new(false),
            used: AtomicBool::new(false),
            crew: Mutex::default(),
        }
    }

    /// Whether somebody would carry a delivery of this world.
    pub(super) fn is_active(&self) -> bool {
        self.active.load(Ordering::Acquire)
    }

    /// Whether the tester holds what a fresh one does not.
    pub(super) fn is_used(&self) -> bool {
        self.used.load(Ordering::Relaxed)
    }

    fn courier(&self) -> Option<&Arc<dyn Courier>> {
        self.office.courier.get()
    }

    fn wall(&self) -> Timestamp {
        self.courier().map_or(Timestamp::EPOCH, |courier| courier.wall())
    }
}

/// A panic while one of these locks was held cannot have left half a change: each is one call of a collection.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Slot {
    /// Whether endpoints wait for what happens here, and somebody carries it to them.
    pub(super) fn has_post(&self) -> bool {
        self.post().is_active() && self.post().courier().is_some()
    }

    /// A row acted on the tester.
    pub(super) fn tester_used(self: &Arc<Self>) {
        self.post().used.store(true, Ordering::Relaxed);
        self.tester_changed();
    }

    /// There may be endpoints now, or none any more.
    pub(super) fn tester_changed(self: &Arc<Self>) {
        let (active, post) = (!self.tester().outbox.is_empty(), self.post());
        let before = post.active.swap(active, Ordering::AcqRel);
        if active && !before {
            lock(&post.office.watched).push(Arc::downgrade(self));
        }
        if before && !active {
            // Nothing is on its way any more: whoever waits need not.
            self.stir(&self.tester());
        }
    }

    /// Something happened: events become deliveries, and what is due is sent off.
    pub(super) fn post_events(self: &Arc<Self>, world: &World) {
        if self.post().is_active() {
            let mut tester = self.tester();
            tester.outbox.collect(world, self.post().wall());
            self.stir(&tester);
        }
    }

    /// Whether a delivery is due by that instant of a virtual clock which nobody has looked at yet.
    pub(super) fn is_due_by(&self, now: Timestamp) -> bool {
        self.tester().outbox.next_virtual().is_some_and(|due| due <= now)
    }

    /// Sends off what is due, and wakes who waits for quiet.
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

    /// Wakes a worker of an endpoint that has something to do, or has one started.
    fn rouse(self: &Arc<Self>, tester: &Tester, endpoint: &str) {
        let lane = tester.outbox.lane(endpoint);
        let (Some(courier), Some(lane)) = (self.post().courier(), lane) else {
            return;
        };
        let mut crew = lock(&self.post().crew);
        crew.next += 1;
        let number = crew.next;
        let hands = crew.hands.entry(endpoint.to_owned()).or_default();
        if let Some((_, idle)) = hands.idle.pop_first() {
            idle.wake();
        } else if hands.count < lane.endpoint.most_in_flight() {
            hands.count += 1;
            drop(crew);
            courier.start(Worker {
                slot: Arc::clone(self),
                endpoint: endpoint.to_owned(),
                number,
                flying: None,
            });
        }
    }

    fn wake_waiters(&self, tester: &Tester) {
        if tester.outbox.is_quiet() {
            let mut crew = lock(&self.post().crew);
            crew.waiters.drain(..).for_each(Waker::wake);
        }
    }

    /// Whether everything that was due has been attempted; whoever polls is woken when it has.
    pub(super) fn poll_quiet(&self, cx: &mut Context<'_>) -> Poll<()> {
        let tester = self.tester();
        if tester.outbox.is_quiet() || !self.has_post() {
            return Poll::Ready(());
        }
        let mut crew = lock(&self.post().crew);
        if !crew.waiters.iter().any(|waker| waker.will_wake(cx.waker())) {
            crew.waiters.push(cx.waker().clone());
        }
        Poll::Pending
    }
}

/// One of those who carry deliveries to an endpoint, one at a time. When dropped, it has left.
pub(crate) struct Worker {
    slot: Arc<Slot>,
    endpoint: String,
    number: u64,
    flying: Option<u64>,
}

/// What a worker is to do.
pub(crate) enum Duty {
    Carry(Box<Job>),
    /// Nothing is due; something will be at that instant of the machine's clock, if that is known.
    Wait(Option<Timestamp>),
}

impl Worker {
    /// The next delivery, or how long to wait for one; then `poll_woken` says when to ask again.
    pub(crate) fn next(&mut self, cx: &Context<'_>) -> Duty {
        let mut tester = self.slot.tester();
        let job = tester.outbox.take(&self.endpoint, self.slot.post().wall());
        if let Some(job) = job {
            self.flying = Some(job.order);
            if tester.outbox.due().any(|endpoint| endpoint.id == self.endpoint) {
                self.slot.rouse(&tester, &self.endpoint);
            }
            return Duty::Carry(Box::new(job));
        }
        // What was taken and not even tried may have been the last.
        self.slot.wake_waiters(&tester);
        let next = tester.outbox.next_wall(&self.endpoint);
        let mut crew = lock(&self.slot.post().crew);
        let hands = crew.hands.entry(self.endpoint.clone()).or_default();
        hands.idle.insert(self.number, cx.waker().clone());
        Duty::Wait(next)
    }

    /// Ready when there may be something to do.
    pub(crate) fn poll_woken(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut crew = lock(&self.slot.post().crew);
        let hands = crew.hands.get_mut(&self.endpoint);
        match hands.and_then(|hands| hands.idle.get_mut(&self.number)) {
            Some(waker) => {
                waker.clone_from(cx.waker());
                Poll::Pending
            }
            None => Poll::Ready(()),
        }
    }

    /// What came of the delivery that it carries.
    pub(crate) fn report(&mut self, outcome: AttemptOutcome) {
        if let Some(order) = self.flying.take() {
            let mut tester = self.slot.tester();
            let wall = self.slot.post().wall();
            tester.outbox.report(&self.endpoint, order, outcome, wall);
            self.slot.wake_waiters(&tester);
        }
    }

    /// Whether it may leave: nothing is due, now or at a time that is known.
    pub(crate) fn may_leave(&mut self) -> bool {
        let slot = Arc::clone(&self.slot);
        let tester = slot.tester();
        let due = tester.outbox.due().any(|endpoint| endpoint.id == self.endpoint);
        let leaves = !due && tester.outbox.next_wall(&self.endpoint).is_none();
        if leaves {
            self.sign_off();
        }
        leaves
    }

    fn sign_off(&mut self) {
        if self.number == 0 {
            return;
        }
        let mut crew = lock(&self.slot.post().crew);
        if let Some(hands) = crew.hands.get_mut(&self.endpoint) {
            hands.idle.remove(&self.number);
            hands.count = hands.count.saturating_sub(1);
            if hands.count == 0 {
                crew.hands.remove(&self.endpoint);
            }
        }
        self.number = 0;
    }
}

impl Drop for Worker {
    /// A worker that ends in the middle, by a bug or with the process, leaves its delivery to the next one.
    fn drop(&mut self) {
        self.report(AttemptOutcome {
            result: Err(Unanswered {
                error: "the courier stopped before the receiver answered".to_owned(),
                timed_out: false,
            }),
            duration_ms: 0,
        });
        self.sign_off();
    }
}
