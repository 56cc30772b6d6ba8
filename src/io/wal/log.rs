//! Writes inputs to a file: the serving threads add them in order, and one thread writes them in groups.
//!
//! A group is the inputs that arrived during the previous write. Under load many replies share one sync, and
//! a single reply does not wait for others.
//! After a failed write, no input is accepted any more: a reply whose input may be lost is never sent, and a
//! recording has no gaps.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::watch;

use crate::engine::Engine;
use crate::engine::recording::{
    End, EndOf, Entry, KeyHash, Mark, Named, Recorder, Salt, Step, Ticket,
};
use crate::io::wal::frame;
use crate::value::{ApiError, ErrorCode};
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

/// Passes inputs to a file, or to the replay.
pub(crate) struct Log {
    salt: Salt,
    state: Mutex<State>,
    /// Signals that inputs are pending, or that no more will come.
    wake: Condvar,
    /// Signals that the pending inputs are being written.
    room: Condvar,
    written: watch::Sender<Written>,
}

impl std::fmt::Debug for Log {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Log").finish_non_exhaustive()
    }
}

/// Signals the progress of the file.
#[derive(Clone, Debug, Default)]
struct Written {
    up_to: u64,
    failed: Option<Arc<str>>,
}

#[derive(Debug)]
struct State {
    phase: Phase,
    /// The number of the next input.
    next: u64,
    worlds: BTreeMap<KeyHash, Known>,
    pending: Vec<Pending>,
}

#[derive(Debug)]
enum Phase {
    /// Inputs are replayed, and the replay reads the result of the last one.
    Playing(Option<Box<Step>>),
    /// Inputs are dropped.
    Idle,
    Live,
    Closed,
}

/// A world in the file.
#[derive(Clone, Copy, Debug)]
struct Known {
    number: u32,
    inputs: u64,
}

#[derive(Debug)]
enum Pending {
    World(Named),
    Step { seq: u64, world: u32, step: Box<Step> },
    Mark { world: u32, state: Box<World> },
    End(Vec<EndOf>),
}

/// The format of the entries.
#[derive(Debug)]
pub(crate) enum Sink {
    /// One line for each.
    Text(File),
    /// One frame for each, on disk before it is acknowledged.
    WriteAheadLog { file: File, end: u64 },
}

impl Log {
    /// A log for a replay, read by [`Log::take`].
    pub(crate) fn playing(salt: Salt) -> Self {
        let state = State {
            phase: Phase::Playing(None),
            next: 1,
            worlds: BTreeMap::new(),
            pending: Vec::new(),
        };
        Self {
            salt,
            state: Mutex::new(state),
            wake: Condvar::new(),
            room: Condvar::new(),
            written: watch::Sender::new(Written::default()),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The result of the last replayed input, if it changed anything.
    pub(crate) fn take(&self) -> Option<Step> {
        match &mut self.state().phase {
            Phase::Playing(step) => step.take().map(|step| *step),
            Phase::Idle | Phase::Live | Phase::Closed => None,
        }
    }

    /// Adds a world of the recording.
    pub(crate) fn knows(&self, named: Named) {
        let known = Known { number: named.world, inputs: 0 };
        self.state().worlds.insert(named.key, known);
    }

    /// Counts a replayed input of a world.
    pub(crate) fn played(&self, world: KeyHash, seq: u64) {
        let mut state = self.state();
        state.next = seq + 1;
        if let Some(known) = state.worlds.get_mut(&world) {
            known.inputs += 1;
        }
    }

    /// The number of a world in the file.
    pub(crate) fn number(&self, world: KeyHash) -> Option<u32> {
        self.state().worlds.get(&world).map(|known| known.number)
    }

    /// The replay is over, and further inputs are not stored.
    pub(crate) fn rest(&self) {
        self.state().phase = Phase::Idle;
    }

    /// Starts a thread that writes all further inputs.
    pub(crate) fn start(self: &Arc<Self>, sink: Sink) -> io::Result<Writer> {
        let mut state = self.state();
        state.phase = Phase::Live;
        let up_to = state.next - 1;
        drop(state);
        self.written.send_modify(|written| written.up_to = up_to);
        let log = Arc::clone(self);
        let thread = std::thread::Builder::new().name("wal".into());
        let thread = thread.spawn(move || log.write(sink))?;
        let log = Arc::clone(self);
        Ok(Writer { log, thread })
    }

    /// The state that a reply can wait for.
    pub(crate) fn durable(&self) -> Durable {
        Durable(self.written.subscribe())
    }

    fn write(&self, mut sink: Sink) {
        let mut bytes = Vec::new();
        loop {
            let mut state = self.state();
            while state.pending.is_empty() && !matches!(state.phase, Phase::Closed) {
                state = self.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            if matches!(sink, Sink::Text(_)) {
                let few = |state: &mut State| {
                    state.pending.len() < ENOUGH && !matches!(state.phase, Phase::Closed)
                };
                let lingered = self.wake.wait_timeout_while(state, LINGER, few);
                state = lingered.unwrap_or_else(PoisonError::into_inner).0;
            }
            let pending = std::mem::take(&mut state.pending);
            drop(state);
            self.room.notify_all();
            if pending.is_empty() {
                return;
            }
            bytes.clear();
            let mut up_to = 0;
            for one in pending {
                if let Pending::Step { seq, .. } = one {
                    up_to = seq;
                }
                sink.form(&one.into_entry(self.salt), &mut bytes);
            }
            if let Err(error) = sink.write(&bytes) {
                self.fail(&error);
                return;
            }
            self.written.send_modify(|written| written.up_to = written.up_to.max(up_to));
        }
    }

    fn fail(&self, error: &io::Error) {
        tracing::error!(
            %error,
            "inputs cannot be written: requests that change a world are refused from now on"
        );
        self.written.send_modify(|written| written.failed = Some(error.to_string().into()));
        self.state().pending.clear();
        self.room.notify_all();
    }
}

impl Recorder for Log {
    fn salt(&self) -> Salt {
        self.salt
    }

    fn is_replaying(&self) -> bool {
        matches!(self.state().phase, Phase::Playing(_))
    }

    fn accepts(&self) -> Result<(), ApiError> {
        match &self.written.borrow().failed {
            None => Ok(()),
            Some(error) => Err(ApiError::new(ErrorCode::InternalError, unwritten(error))),
        }
    }

    fn record(&self, step: Step, world: &World) -> Ticket {
        let mut state = self.state();
        match &mut state.phase {
            Phase::Playing(last) => {
                *last = Some(Box::new(step));
                return Ticket(0);
            }
            Phase::Idle | Phase::Closed => return Ticket(0),
            Phase::Live => {}
        }
        while state.pending.len() >= MOST_PENDING && self.written.borrow().failed.is_none() {
            state = self.room.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let before = state.pending.len();
        let (seq, count, key) = (state.next, state.worlds.len(), step.world);
        state.next += 1;
        let known = state.worlds.entry(key).or_insert_with(|| Known {
            number: u32::try_from(count + 1).expect("worlds are fewer than 2^32"),
            inputs: 0,
        });
        known.inputs += 1;
        let Known { number, inputs } = *known;
        if inputs == 1 {
            let named = Named { world: number, key };
            state.pending.push(Pending::World(named));
        }
        state.pending.push(Pending::Step { seq, world: number, step: Box::new(step) });
        if is_marked(inputs) {
            state.pending.push(Pending::Mark { world: number, state: Box::new(world.clone()) });
        }
        // A writing thread checks again before it waits; a lingering one must know when there are enough
        // inputs.
        let wakes = before == 0 || (before < ENOUGH && state.pending.len() >= ENOUGH);
        drop(state);
        if wakes {
            self.wake.notify_one();
        }
        Ticket(seq)
    }
}

/// After 64 inputs of a world, 1,024, 16,384, …
const fn is_marked(inputs: u64) -> bool {
    let times = inputs / FIRST_MARK;
    inputs.is_multiple_of(FIRST_MARK)
        && times.is_power_of_two()
        && times.trailing_zeros().is_multiple_of(4)
}

impl Pending {
    fn into_entry(self, salt: Salt) -> Entry {
        match self {
            Self::World(named) => Entry::World(named),
            Self::Step { seq, world, step } => step.into_entry(seq, world, salt),
            Self::Mark { world, state } => Entry::Mark(Mark { world, digest: state.digest() }),
            Self::End(worlds) => Entry::End(End { worlds }),
        }
    }
}

impl Sink {
    /// Appends an entry in the format of the file.
    pub(crate) fn form(&self, entry: &Entry, out: &mut Vec<u8>) {
        match self {
            Self::Text(_) => {
                serde_json::to_writer(&mut *out, entry).expect(SERIALISES);
                out.push(b'\n');
            }
            Self::WriteAheadLog { .. } => {
                let payload = serde_json::to_vec(entry).expect(SERIALISES);
                frame::write(&payload, out);
            }
        }
    }

    /// Writes entries. The entries of a write-ahead log are on disk when this returns.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Text(file) => file.write_all(bytes),
            Self::WriteAheadLog { file, end } => {
                let written = file.write_all(bytes).and_then(|()| file.sync_data());
                if written.is_ok() {
                    *end += bytes.len() as u64;
                } else {
                    // Best effort: the rest is torn, and the next open cuts it.
                    let _ = file.set_len(*end);
                }
                written
            }
        }
    }
}

const SERIALISES: &str = "an entry has string keys and no failing member";

/// The thread that writes.
#[derive(Debug)]
pub(crate) struct Writer {
    log: Arc<Log>,
    thread: JoinHandle<()>,
}

impl Writer {
    /// Writes the pending inputs and the digests of all worlds, and ends.
    ///
    /// # Errors
    /// If a write failed: the recording is incomplete.
    pub(crate) fn finish(self, engine: &Engine) -> Result<(), String> {
        let Self { log, thread } = self;
        let ends = engine.ends(|key| log.number(key));
        let mut state = log.state();
        state.phase = Phase::Closed;
        state.pending.push(Pending::End(ends));
        drop(state);
        log.wake.notify_one();
        let joined = thread.join();
        let failed = log.written.borrow().failed.clone();
        match (joined, failed) {
            (Ok(()), None) => Ok(()),
            (Ok(()), Some(error)) => Err(error.to_string()),
            (Err(_), _) => Err("the writing thread has failed because of a bug".to_owned()),
        }
    }
}

/// Waits until an input is on disk.
#[derive(Clone, Debug)]
pub(crate) struct Durable(watch::Receiver<Written>);

impl Durable {
    /// Whether it is already on disk.
    pub(crate) fn has(&self, ticket: Ticket) -> bool {
        self.0.borrow().up_to >= ticket.0
    }

    /// Returns when it is on disk.
    ///
    /// # Errors
    /// If the write failed; the text for the caller instead of the reply.
    pub(crate) async fn wait(&self, ticket: Ticket) -> Result<(), String> {
        let mut written = self.0.clone();
        let end = |written: &Written| written.up_to >= ticket.0 || written.failed.is_some();
        match written.wait_for(end).await {
            Ok(now) if now.up_to >= ticket.0 => Ok(()),
            Ok(now) => Err(unwritten(now.failed.as_deref().unwrap_or_default())),
            Err(_) => Err(unwritten("its writing thread has ended")),
        }
    }
}

fn unwritten(error: &str) -> String {
    format!(
        "the input cannot be written to disk ({error}); no change is accepted until the sandbox is restarted with free space"
    )
}
