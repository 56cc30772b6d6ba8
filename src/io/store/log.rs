//! Passes the inputs of the worlds that this process serves to the database.
//!
//! The serving threads add them in order, and one thread ([`super::writer`]) stores them in groups. A world is served while this process has
//! claimed it ([`super::claim`]) and its lease lasts ([`super::keeper`]).

use std::collections::{BTreeSet, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

use crate::api::host::{Figure, Stored};
use crate::engine::recording::{KeyHash, Note, Recorder, Salt, Step, Tenure, unavailable};
use crate::io::store::claims::Claims;
use crate::io::store::connection::Pool;
use crate::io::wal::durable::{Durable, Written};
use crate::io::wal::lease::Lease;
use crate::io::wal::log::is_marked;
use crate::io::wal::peek::Kind;
use crate::value::{ApiError, long_work};
use crate::world::World;

/// The most inputs that wait to be stored. Beyond it the serving threads wait, too.
const MOST_PENDING: usize = 16_384;

/// The log of a store that several processes share.
pub(crate) struct SharedLog {
    pub(super) salt: Salt,
    /// The time after which other processes may take the worlds of a process that does not answer.
    pub(super) lease_time: Duration,
    pub(super) lease: Arc<Lease>,
    pub(super) pool: Pool,
    pub(super) state: Mutex<State>,
    /// Signals that inputs are pending, or that no more will come.
    pub(super) wake: Condvar,
    /// Signals that a group was stored or lost, or that a claim has ended.
    pub(super) room: Condvar,
    pub(super) written: watch::Sender<Written>,
    pub(super) counts: Counts,
}

/// Counts of the work of this process.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    /// Stored inputs.
    pub(super) stored: AtomicU64,
    /// The inputs of running replays, and how many of them were replayed.
    pub(super) to_replay: AtomicU64,
    pub(super) replayed: AtomicU64,
    /// Worlds that were claimed: new or free ones, and those of a process that had ended.
    pub(super) claimed: AtomicU64,
    pub(super) taken_over: AtomicU64,
    /// Worlds that were released to a process that had requested them.
    pub(super) handed_over: AtomicU64,
    /// Worlds whose inputs were refused, because another process serves them.
    pub(super) fenced: AtomicU64,
    /// Groups of inputs of which it is not known whether they were stored.
    pub(super) unknown: AtomicU64,
    /// The number of times that another process has ended this process's lease.
    pub(super) lost_leases: AtomicU64,
}

impl std::fmt::Debug for SharedLog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SharedLog").finish_non_exhaustive()
    }
}

#[derive(Debug)]
pub(super) struct State {
    pub(super) phase: Phase,
    /// The name of this process in the database, until its lease is ended.
    pub(super) me: Vec<u8>,
    pub(super) claims: Claims,
    /// The place of the next input.
    pub(super) next: u64,
    pub(super) pending: VecDeque<Pending>,
    /// The worlds of the group that is being stored; empty if none is.
    pub(super) writing: BTreeSet<KeyHash>,
    /// Why the last group was not stored.
    pub(super) failed: Option<Arc<str>>,
    /// The worlds whose deletion is not stored yet.
    pub(super) removing: Vec<KeyHash>,
    /// The last world that was checked for pending webhooks of ended processes; empty before the first.
    pub(super) owing_after: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Live,
    /// No further world is claimed, and pending inputs are stored.
    Leaving,
    Closed,
}

/// An item that waits to be stored.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) place: u64,
    pub(super) tenure: Arc<Tenure>,
    pub(super) what: What,
}

#[derive(Debug)]
pub(super) enum What {
    Step(Box<Step>),
    Note(Note),
    Mark(Box<World>),
}

impl Pending {
    /// Whether it opens another world with a copy of this one.
    pub(super) fn is_fork(&self) -> bool {
        let What::Step(step) = &self.what else { return false };
        step.call.as_ref().is_some_and(|call| Kind::of_path(&call.target) == Kind::Fork)
    }

    /// The world that it deletes.
    pub(super) fn removed(&self) -> Option<KeyHash> {
        matches!(self.what, What::Note(Note::Removed)).then_some(self.tenure.world)
    }
}

impl SharedLog {
    /// A log that has no connection and no lease yet.
    pub(crate) fn new(salt: Salt, config: tokio_postgres::Config, lease_time: Duration) -> Self {
        let state = State {
            phase: Phase::Live,
            me: Vec::new(),
            claims: Claims::default(),
            next: 1,
            pending: VecDeque::new(),
            writing: BTreeSet::new(),
            failed: None,
            removing: Vec::new(),
            owing_after: Vec::new(),
        };
        Self {
            salt,
            lease_time,
            lease: Arc::new(Lease::ended()),
            pool: Pool::new(config),
            state: Mutex::new(state),
            wake: Condvar::new(),
            room: Condvar::new(),
            written: watch::Sender::new(Written::default()),
            counts: Counts::default(),
        }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state that a reply can wait for.
    pub(crate) fn durable(&self) -> Durable {
        Durable::of(&self.written, Some(Arc::clone(&self.lease)))
    }

    /// Passes an entry to the thread. Returns its place.
    fn add(&self, tenure: &Arc<Tenure>, what: What, mark: Option<What>) -> u64 {
        let mut state = self.state();
        while state.pending.len() >= MOST_PENDING && state.phase != Phase::Closed {
            state = self.room.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let place = state.next;
        state.next += 1;
        if tenure.is_lost() || state.phase == Phase::Closed {
            return place;
        }
        let one = Pending { place, tenure: Arc::clone(tenure), what };
        state.removing.extend(one.removed());
        state.pending.push_back(one);
        if let Some(what) = mark {
            state.pending.push_back(Pending { place, tenure: Arc::clone(tenure), what });
        }
        drop(state);
        self.wake.notify_one();
        place
    }

    /// Waits until the deletion of a world is stored or lost.
    fn wait_for_removal(&self, world: KeyHash) {
        let mut state = self.state();
        while state.removing.contains(&world) && state.phase != Phase::Closed {
            state = self.room.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Recorder for SharedLog {
    fn salt(&self) -> Salt {
        self.salt
    }

    fn claim(&self, world: KeyHash, asks: bool) -> Result<bool, ApiError> {
        let state = self.state();
        let claim = state.claims.by_world.get(&world);
        if claim.is_some_and(|claim| !claim.is_leaving) && self.lease.is_alive() {
            return Ok(false);
        }
        drop(state);
        if long_work::is_full() {
            return Err(unavailable("too many worlds wait for the database; try again soon"));
        }
        long_work::run(|| self.claim_slowly(world, asks))
    }

    fn adopt(&self, tenure: &Arc<Tenure>, is_new: bool) {
        let mut state = self.state();
        match state.claims.by_world.get_mut(&tenure.world) {
            Some(claim) if claim.may_adopt(is_new) => claim.adopt(tenure),
            _ => tenure.lose(0),
        }
    }

    fn is_alive(&self) -> bool {
        self.lease.is_alive()
    }

    fn accepts(&self) -> Result<(), ApiError> {
        match &self.state().failed {
            Some(why) => Err(unavailable(format!(
                "the input cannot be stored in the database ({why}); reads continue, and changes \
                    are refused until it can be stored again"
            ))),
            None => Ok(()),
        }
    }

    fn record(&self, step: Step, tenure: &Arc<Tenure>, world: &World) -> u64 {
        let mark = is_marked(tenure.count()).then(|| What::Mark(Box::new(world.clone())));
        self.add(tenure, What::Step(Box::new(step)), mark)
    }

    fn note(&self, note: Note, tenure: &Arc<Tenure>) -> Option<u64> {
        let is_known = matches!(note, Note::Opened) && self.knows(tenure.world);
        if is_known || (!note.is_needed() && self.state().failed.is_some()) {
            return None;
        }
        Some(self.add(tenure, What::Note(note), None))
    }

    fn has_stored(&self, place: u64) -> bool {
        self.written.borrow().up_to >= place
    }

    fn knows(&self, world: KeyHash) -> bool {
        let state = self.state();
        state.claims.by_world.get(&world).is_some_and(|claim| claim.held.is_used)
    }

    fn holds(&self, world: KeyHash) -> bool {
        if self.state().removing.contains(&world) {
            long_work::run(|| self.wait_for_removal(world));
        }
        // The state of a world without a claim is unknown: the caller claims it again.
        let state = self.state();
        state.claims.by_world.get(&world).is_none_or(|claim| claim.held.is_held())
    }

    fn is_read_again(&self) -> bool {
        true
    }

    fn stored(&self) -> Option<Stored> {
        let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let state = self.state();
        Some(Stored {
            inputs: load(&self.counts.stored),
            worlds: state.claims.by_world.len() as u64,
            writable: state.failed.is_none(),
            to_replay: load(&self.counts.to_replay),
            replayed: load(&self.counts.replayed),
        })
    }

    fn figures(&self) -> Vec<Figure> {
        let counts = &self.counts;
        let count = |name, help, count: &AtomicU64| {
            let value = count.load(Ordering::Relaxed);
            Figure { name, help, value, is_count: true }
        };
        let gauge = |name, help, value| Figure { name, help, value, is_count: false };
        let left_ms = self.lease.left_ms();
        vec![
            gauge("sandbox_lease_remaining_milliseconds", "Time left of the lease", left_ms),
            count("sandbox_claims", "Worlds that were new or free", &counts.claimed),
            count("sandbox_takeovers", "Worlds of processes that had ended", &counts.taken_over),
            count(
                "sandbox_handovers",
                "Worlds given to another process that requested them",
                &counts.handed_over,
            ),
            count("sandbox_fenced", "Worlds whose inputs were refused", &counts.fenced),
            count("sandbox_unknown_outcomes", "Groups of unknown outcome", &counts.unknown),
            count("sandbox_lost_leases", "Leases that another process ended", &counts.lost_leases),
        ]
    }
}
