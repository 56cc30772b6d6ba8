//! Inputs on their way to a file: taken in order by the threads that serve, written in groups by one that does nothing else.
//!
//! A group is what came while the last one was being written: under load many replies share one sync, and alone nobody waits for
//! company. Once something cannot be written nothing more is accepted: a reply whose input may be lost never leaves, and a
//! recording has no holes.

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

/// Inputs that wait to be written; beyond it the threads that serve wait, too.
const MOST_PENDING: usize = 16_384;
/// A world's digest is written after so many of its inputs, and whenever they have become sixteen times as many: it is reckoned
/// of the whole world, and so seldom that all of them together cost less than the inputs' own hashes.
const FIRST_MARK: u64 = 64;
/// A recording, which nobody waits for, is written when so many inputs are there or so much time has passed.
const ENOUGH: usize = 512;
const LINGER: Duration = Duration::from_millis(20);

/// The way of inputs to a file, or to whoever plays them again.
pub(crate) struct Log {
    salt: Salt,
    state: Mutex<State>,
    /// Something is pending, or nothing will be any more.
    wake: Condvar,
    /// What was pending is being written.
    room: Condvar,
    written: watch::Sender<Written>,
}

impl std::fmt::Debug for Log {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Log").finish_non_exhaustive()
    }
}

/// How far the file is.
#[derive(Clone, Debug, Default)]
struct Written {
    up_to: u64,
    failed: Option<Arc<str>>,
}

#[derive(Debug)]
struct State {
    phase: Phase,
    /// Place of the next input.
    next: u64,
    worlds: BTreeMap<KeyHash, Known>,
    pending: Vec<Pending>,
}

#[derive(Debug)]
enum Phase {
    /// Inputs are played again; what came of the last is for the player.
    Playing(Option<Box<Step>>),
    /// Nobody listens.
    Idle,
    Live,
    Closed,
}

/// A world that the file speaks of.
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

/// Where entries go.
#[derive(Debug)]
pub(crate) enum Sink {
    /// One line each.
    Text(File),
    /// One frame each, on the disk before anybody is told.
    WriteAheadLog { file: File, end: u64 },
}

impl Log {
    /// A log that hands what is played to [`Log::take`].
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

    /// What came of the last input played, if it changed anything.
    pub(crate) fn take(&self) -> Option<Step> {
        match &mut self.state().phase {
            Phase::Playing(step) => step.take().map(|step| *step),
            Phase::Idle | Phase::Live | Phase::Closed => None,
        }
    }

    /// A world that the recording names.
    pub(crate) fn knows(&self, named: Named) {
        let known = Known { number: named.world, inputs: 0 };
        self.state().worlds.insert(named.key, known);
    }

    /// An input of that world was played.
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

    /// The playing is over and nothing is to be kept.
    pub(crate) fn rest(&self) {
        self.state().phase = Phase::Idle;
    }

    /// From now on what changes a world is written there, by a thread of its own.
    pub(crate) fn start(self: &Arc<Self>, sink: Sink) -> io::Result<Writer> {
        let mut state = self.state();
        state.phase = Phase::Live;
        let up_to = state.next - 1;
        drop(state);
        self.written.send_modify(|written| written.up_to = up_to);
        let log = Arc::clone(self);
        let thread = std::thread::Builder::new().name("journal".into());
        let thread = thread.spawn(move || log.write(sink))?;
        let log = Arc::clone(self);
        Ok(Writer { log, thread })
    }

    /// What a reply can wait for.
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
            "what changes a world cannot be written down: such requests are refused from now on"
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
        // One that writes looks again before it waits; one that lingers wants to know when there is enough.
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
    /// Appends an entry in its form.
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

    /// Writes entries; a journal's are on the disk when this returns.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Text(file) => file.write_all(bytes),
            Self::WriteAheadLog { file, end } => {
                let written = file.write_all(bytes).and_then(|()| file.sync_data());
                if written.is_ok() {
                    *end += bytes.len() as u64;
                } else {
                    // Best effort: what is left of it is torn, and cut when the journal is opened next.
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
    /// Writes what is pending and where every world stands, and ends.
    ///
    /// # Errors
    /// If something could not be written: the recording ends before its end.
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
            (Err(_), _) => Err("the thread that writes has failed by a bug".to_owned()),
        }
    }
}

/// Tells when an input is on the disk.
#[derive(Clone, Debug)]
pub(crate) struct Durable(watch::Receiver<Written>);

impl Durable {
    /// Whether it is there already.
    pub(crate) fn has(&self, ticket: Ticket) -> bool {
        self.0.borrow().up_to >= ticket.0
    }

    /// Returns when it is there.
    ///
    /// # Errors
    /// If it never will be; what the caller may be told instead of the reply.
    pub(crate) async fn wait(&self, ticket: Ticket) -> Result<(), String> {
        let mut written = self.0.clone();
        let end = |written: &Written| written.up_to >= ticket.0 || written.failed.is_some();
        match written.wait_for(end).await {
            Ok(now) if now.up_to >= ticket.0 => Ok(()),
            Ok(now) => Err(unwritten(now.failed.as_deref().unwrap_or_default())),
            Err(_) => Err(unwritten("its writer is gone")),
        }
    }
}

fn unwritten(error: &str) -> String {
    format!(
        "what was asked cannot be written down ({error}): nothing is accepted until the sandbox is started again with room to write"
    )
}
