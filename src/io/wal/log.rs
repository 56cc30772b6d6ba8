//! Writes inputs to a file: the serving threads add them in order, and one thread writes them in groups.
//!
//! A group is the inputs that arrived during the previous write. Under load many replies share one sync, and
//! a single reply does not wait for others. If a group cannot be written, its worlds are lost: they contain inputs that are not stored, so they
//! are replayed without them. No reply and no webhook shows such an input.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::sync::watch;

use crate::api::host::Stored;
use crate::engine::recording::{EndOf, KeyHash, Note, Recorder, Salt, Step, Tenure};
use crate::engine::{Engine, unavailable};
use crate::io::wal::durable::{Durable, Written};
use crate::io::wal::index::Index;
use crate::io::wal::pending::{Group, Pending};
use crate::io::wal::sink::Sink;
use crate::value::ApiError;
use crate::world::World;

/// The most inputs that wait to be written. Beyond it the serving threads wait, too.
const MOST_PENDING: usize = 16_384;
/// A world's digest is written after this many of its inputs, and then each time their number has become
/// sixteen times as large. A digest covers the
/// whole world, so it is calculated seldom enough to cost less than the hashes of the inputs.
const FIRST_MARK: u64 = 64;
/// A recording, which no reply waits for, is written after this many inputs or this much time.
const ENOUGH: usize = 512;
const LINGER: Duration = Duration::from_millis(20);
/// After a failed write, writes are refused for this time. Then the next one is tried.
const PAUSE: Duration = Duration::from_secs(1);

/// Passes inputs to a file.
pub(crate) struct Log {
    salt: Salt,
    state: Mutex<State>,
    /// Signals that inputs are pending, or that no more will come.
    wake: Condvar,
    /// Signals that the pending inputs are being written.
    room: Condvar,
    written: watch::Sender<Written>,
    /// What is in the file.
    pub(super) index: RwLock<Index>,
    /// Where to read it again.
    pub(super) path: Mutex<Option<PathBuf>>,
    /// The inputs of running replays, and how many of them were replayed.
    pub(super) to_replay: AtomicU64,
    pub(super) replayed: AtomicU64,
}

impl std::fmt::Debug for Log {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Log").finish_non_exhaustive()
    }
}

#[derive(Debug)]
struct State {
    phase: Phase,
    /// The place of the next input.
    next: u64,
    pending: Vec<Pending>,
    /// Whether a group is being written.
    is_writing: bool,
    failed: Option<Failed>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
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
struct Failed {
    why: Arc<str>,
    /// When the next write is tried; never for a recording, which would have a gap.
    again: Option<Instant>,
}

impl Log {
    /// A log that stores nothing yet.
    pub(crate) fn new(salt: Salt) -> Self {
        let state = State {
            phase: Phase::Mute,
            next: 1,
            pending: Vec::new(),
            is_writing: false,
            failed: None,
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
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a thread that writes all further inputs.
    pub(crate) fn start(self: &Arc<Self>, mut sink: Sink) -> io::Result<Writer> {
        if let Sink::WriteAheadLog { index, path, .. } = &mut sink {
            *self.index.write().unwrap_or_else(PoisonError::into_inner) =
                std::mem::take(&mut **index);
            *self.path.lock().unwrap_or_else(PoisonError::into_inner) = Some(path.clone());
        }
        self.state().phase = Phase::Live { again: sink.is_read_again() };
        let log = Arc::clone(self);
        let thread = std::thread::Builder::new().name("wal".into());
        let thread = thread.spawn(move || log.write(sink))?;
        let log = Arc::clone(self);
        Ok(Writer { log, thread })
    }

    /// The state that a reply can wait for.
    pub(crate) fn durable(&self) -> Durable {
        Durable::of(&self.written)
    }

    fn write(&self, mut sink: Sink) {
        while let Some(pending) = self.next_group(&sink) {
            let index = self.index.read().unwrap_or_else(PoisonError::into_inner);
            let group = Group::of(pending, &index, &sink, self.salt);
            drop(index);
            match sink.write(&group.bytes) {
                Ok(offset) => {
                    let mut index = self.index.write().unwrap_or_else(PoisonError::into_inner);
                    group.add_to(&mut index, offset);
                    drop(index);
                    self.recovered();
                    self.written.send_modify(|written| {
                        written.up_to = written.up_to.max(group.up_to);
                    });
                }
                Err(error) => self.fail(&group, &error, sink.is_read_again()),
            }
            self.state().is_writing = false;
            self.room.notify_all();
        }
        self.written.send_modify(|written| written.has_ended = true);
    }

    /// Waits for inputs; none if no more will come.
    fn next_group(&self, sink: &Sink) -> Option<Vec<Pending>> {
        let mut state = self.state();
        while state.pending.is_empty() && state.phase != Phase::Closed {
            state = self.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if !sink.is_read_again() {
            let few =
                |state: &mut State| state.pending.len() < ENOUGH && state.phase != Phase::Closed;
            let lingered = self.wake.wait_timeout_while(state, LINGER, few);
            state = lingered.unwrap_or_else(PoisonError::into_inner).0;
        }
        let pending = std::mem::take(&mut state.pending);
        state.is_writing = true;
        drop(state);
        self.room.notify_all();
        (!pending.is_empty()).then_some(pending)
    }

    /// The worlds of a group that could not be written are lost, with all inputs that they received meanwhile.
    fn fail(&self, group: &Group, error: &io::Error, again: bool) {
        let mut state = self.state();
        for (place, tenure) in &group.tenures {
            tenure.lose(*place);
        }
        state.pending.retain(|pending| !pending.is_lost());
        if state.failed.is_none() {
            tracing::error!(
                %error,
                "inputs cannot be written: requests that change a world are refused until they can be written again"
            );
        }
        let again = again.then(|| Instant::now() + PAUSE);
        state.failed = Some(Failed { why: error.to_string().into(), again });
        drop(state);
        self.room.notify_all();
        self.written.send_modify(|_| {});
    }

    fn recovered(&self) {
        let mut state = self.state();
        if state.failed.as_ref().is_some_and(|failed| failed.again.is_some()) {
            state.failed = None;
            tracing::warn!("inputs can be written again");
        }
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
        state.pending.push(make(place));
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
            Some(failed) if failed.again.is_none_or(|again| Instant::now() < again) => {
                Err(unavailable(unwritten(&failed.why)))
            }
            _ => Ok(()),
        }
    }

    fn record(&self, step: Step, tenure: &Arc<Tenure>, world: &World) -> u64 {
        let of = Arc::clone(tenure);
        let mark = is_marked(tenure.count())
            .then(|| Pending::Mark { tenure: Arc::clone(tenure), state: Box::new(world.clone()) });
        self.add(tenure, |place| Pending::Step { place, tenure: of, step: Box::new(step) }, mark)
    }

    fn note(&self, note: Note, tenure: &Arc<Tenure>) -> Option<u64> {
        let again = matches!(self.state().phase, Phase::Live { again: true });
        if !again && !matches!(note, Note::Removed) {
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
        let again = matches!(self.state().phase, Phase::Live { again: true });
        again && self.index.read().unwrap_or_else(PoisonError::into_inner).holds(world)
    }

    fn stored(&self) -> Option<Stored> {
        if !matches!(self.state().phase, Phase::Live { again: true }) {
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
    /// The file, opened to be read.
    pub(super) fn reader(&self) -> io::Result<File> {
        let path = self.path.lock().unwrap_or_else(PoisonError::into_inner).clone();
        File::open(path.ok_or(io::ErrorKind::NotFound)?)
    }
}

/// After 64 inputs of a world, 1,024, 16,384, …
const fn is_marked(inputs: u64) -> bool {
    let times = inputs / FIRST_MARK;
    inputs.is_multiple_of(FIRST_MARK)
        && times.is_power_of_two()
        && times.trailing_zeros().is_multiple_of(4)
}

/// The thread that writes.
#[derive(Debug)]
pub(crate) struct Writer {
    log: Arc<Log>,
    thread: JoinHandle<()>,
}

impl Writer {
    /// Writes the pending inputs and the digests of all worlds in memory, and ends.
    ///
    /// # Errors
    /// If a write failed: the recording is incomplete.
    pub(crate) fn finish(self, engine: &Engine) -> Result<(), String> {
        let Self { log, thread } = self;
        log.settle();
        let ends: Vec<EndOf> = {
            let index = log.index.read().unwrap_or_else(PoisonError::into_inner);
            engine.ends(|key| index.number(key))
        };
        let mut state = log.state();
        state.phase = Phase::Closed;
        state.pending.push(Pending::End(ends));
        drop(state);
        log.wake.notify_one();
        let joined = thread.join();
        let failed = log.state().failed.clone();
        match (joined, failed) {
            (Ok(()), None) => Ok(()),
            (Ok(()), Some(failed)) => Err(failed.why.to_string()),
            (Err(_), _) => Err("the writing thread has failed because of a bug".to_owned()),
        }
    }
}

impl Log {
    /// Waits until all inputs are written or lost.
    fn settle(&self) {
        let mut state = self.state();
        state.phase = match state.phase {
            Phase::Live { .. } => Phase::Mute,
            phase => phase,
        };
        while !state.pending.is_empty() || state.is_writing {
            self.wake.notify_one();
            let waited = self.room.wait_timeout(state, LINGER);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

fn unwritten(why: &str) -> String {
    format!(
        "the input cannot be written to disk ({why}); no change is accepted until it can be written again, and reads continue"
    )
}
