//! Passes inputs to a file: the serving threads add them in order, and one thread ([`super::writer`]) writes them in groups.
//!
//! A group is the inputs that arrived during the previous write. Under load many replies share one sync, and a single
//! reply does not wait for others. If a group cannot be written, its worlds are lost: they contain unstored inputs,
//! so they are replayed without these inputs. No reply and no webhook shows an unstored input.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Instant;

use tokio::sync::watch;

use crate::api::host::Stored;
use crate::engine::checkpoint;
use crate::engine::recording::{KeyHash, Note, Recorder, Salt, Step, Tenure, unavailable};
use crate::io::wal::checkpoint::Checkpoints;
use crate::io::wal::durable::{Durable, Written};
use crate::io::wal::index::Index;
use crate::io::wal::pending::Pending;
use crate::value::{ApiError, long_work};
use crate::world::World;

/// The most inputs that wait to be written. Beyond it the serving threads wait, too.
const MOST_PENDING: usize = 16_384;
/// A world's digest is written after this many of its inputs, and then each time their number has become
/// sixteen times as large. A digest covers the
/// whole world, so it is calculated seldom enough to cost less than the hashes of the inputs.
const FIRST_MARK: u64 = 64;
/// The number of inputs at which the writing thread is woken, if it waits for more.
pub(super) const ENOUGH: usize = 512;

/// Passes inputs to a file.
pub(crate) struct Log {
    pub(super) salt: Salt,
    state: Mutex<State>,
    /// Signals that inputs are pending, or that no more will come.
    pub(super) wake: Condvar,
    /// Signals that the pending inputs are being written.
    pub(super) room: Condvar,
    pub(super) written: watch::Sender<Written>,
    /// The index of the file.
    pub(super) index: RwLock<Index>,
    /// The path from which the file is read again.
    pub(super) path: Mutex<Option<PathBuf>>,
    /// The inputs of running replays, and how many of them were replayed.
    pub(super) to_replay: AtomicU64,
    pub(super) replayed: AtomicU64,
    pub(super) checkpoints: Checkpoints,
}

impl std::fmt::Debug for Log {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Log").finish_non_exhaustive()
    }
}

#[derive(Debug)]
pub(super) struct State {
    pub(super) phase: Phase,
    /// The place of the next input.
    next: u64,
    pub(super) pending: Vec<Pending>,
    /// Whether a group is being written.
    pub(super) is_writing: bool,
    pub(super) failed: Option<Failed>,
    /// The worlds whose deletion is not stored yet.
    pub(super) removing: Vec<KeyHash>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Inputs are dropped.
    Mute,
    /// Inputs are written. `again` says whether they are also read by this process.
    Live {
        again: bool,
    },
    Closed,
}

/// The last write has failed.
#[derive(Clone, Debug)]
pub(super) struct Failed {
    pub(super) why: Arc<str>,
    /// The size of the write.
    pub(super) size: usize,
    /// When writing is tried again; never for a recording, which would have a gap.
    pub(super) again: Option<Instant>,
}

impl Log {
    /// A log that stores nothing until a writer starts it.
    pub(crate) fn new(salt: Salt) -> Self {
        let state = State {
            phase: Phase::Mute,
            next: 1,
            pending: Vec::new(),
            is_writing: false,
            failed: None,
            removing: Vec::new(),
        };
        Self {
            salt,
            state: Mutex::new(state),
            wake: Condvar::new(),
            room: Condvar::new(),
            written: watch::Sender::new(Written::default()),
            index: RwLock::default(),
            path: Mutex::default(),
            to_replay: AtomicU64::new(0),
            replayed: AtomicU64::new(0),
            checkpoints: Checkpoints::default(),
        }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state that a reply can wait for.
    pub(crate) fn durable(&self) -> Durable {
        Durable::of(&self.written, None)
    }

    /// Passes an entry to the thread. Returns its place.
    fn add(
        &self,
        tenure: &Arc<Tenure>,
        make: impl FnOnce(u64) -> Pending,
        mark: Option<Pending>,
    ) -> u64 {
        let mut state = self.state();
        if !matches!(state.phase, Phase::Live { .. }) {
            return 0;
        }
        while state.pending.len() >= MOST_PENDING && state.failed.is_none() {
            state = self.room.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let before = state.pending.len();
        let place = state.next;
        state.next += 1;
        if tenure.is_lost() {
            return place;
        }
        let one = make(place);
        state.removing.extend(one.removed());
        state.pending.push(one);
        state.pending.extend(mark);
        // A writing thread checks again before it waits; a lingering one must know when there are enough
        // inputs.
        let wakes = before == 0 || (before < ENOUGH && state.pending.len() >= ENOUGH);
        drop(state);
        if wakes {
            self.wake.notify_one();
        }
        place
    }
}

impl Recorder for Log {
    fn salt(&self) -> Salt {
        self.salt
    }

    fn accepts(&self) -> Result<(), ApiError> {
        match &self.state().failed {
            Some(Failed { why, again: None, .. }) => Err(unavailable(format!(
                "the recording cannot be continued ({why}), because a part of it is missing: reads \
                    continue, and changes are refused until the sandbox is started again"
            ))),
            Some(failed) => Err(unavailable(unwritten(&failed.why))),
            None => Ok(()),
        }
    }

    fn record(&self, step: Step, tenure: &Arc<Tenure>, world: &World) -> u64 {
        let of = Arc::clone(tenure);
        let inputs = tenure.count();
        if inputs >= checkpoint::LEAST && inputs.is_multiple_of(1_000) {
            self.checkpoints.note_long(tenure.world, None);
        }
        let mark = is_marked(inputs)
            .then(|| Pending::Mark { tenure: Arc::clone(tenure), state: Box::new(world.clone()) });
        self.add(tenure, |place| Pending::Step { place, tenure: of, step: Box::new(step) }, mark)
    }

    fn note(&self, note: Note, tenure: &Arc<Tenure>) -> Option<u64> {
        if !self.is_read_again() && !matches!(note, Note::Removed) {
            return None;
        }
        if !note.is_needed() && self.state().failed.is_some() {
            return None;
        }
        if matches!(note, Note::Opened) && self.knows(tenure.world) {
            return None;
        }
        let of = Arc::clone(tenure);
        Some(self.add(tenure, |place| Pending::Note { place, tenure: of, note }, None))
    }

    fn has_stored(&self, place: u64) -> bool {
        self.written.borrow().up_to >= place
    }

    fn knows(&self, world: KeyHash) -> bool {
        self.index.read().unwrap_or_else(PoisonError::into_inner).knows(world)
    }

    fn holds(&self, world: KeyHash) -> bool {
        if !self.is_read_again() {
            return false;
        }
        if self.state().removing.contains(&world) {
            long_work::run(|| self.wait_for_removal(world));
        }
        self.index.read().unwrap_or_else(PoisonError::into_inner).holds(world)
    }

    fn stored(&self) -> Option<Stored> {
        if !self.is_read_again() {
            return None;
        }
        let index = self.index.read().unwrap_or_else(PoisonError::into_inner);
        let (inputs, worlds) = (index.inputs, index.count());
        drop(index);
        Some(Stored {
            inputs,
            worlds,
            writable: self.accepts().is_ok(),
            to_replay: self.to_replay.load(Ordering::Relaxed),
            replayed: self.replayed.load(Ordering::Relaxed),
        })
    }

    fn is_read_again(&self) -> bool {
        matches!(self.state().phase, Phase::Live { again: true })
    }
}

impl Log {
    /// Waits until the deletion of a world is stored or lost.
    fn wait_for_removal(&self, world: KeyHash) {
        let mut state = self.state();
        while state.removing.contains(&world) && matches!(state.phase, Phase::Live { .. }) {
            state = self.room.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The file, opened to be read.
    pub(super) fn reader(&self) -> io::Result<File> {
        let path = self.path.lock().unwrap_or_else(PoisonError::into_inner).clone();
        File::open(path.ok_or(io::ErrorKind::NotFound)?)
    }
}

/// After 64 inputs of a world, 1,024, 16,384, …
pub(in crate::io) const fn is_marked(inputs: u64) -> bool {
    let times = inputs / FIRST_MARK;
    inputs.is_multiple_of(FIRST_MARK)
        && times.is_power_of_two()
        && times.trailing_zeros().is_multiple_of(4)
}

fn unwritten(why: &str) -> String {
    format!(
        "the input cannot be written to disk ({why}); reads continue, and changes are refused \
            until it can be written again"
    )
}
