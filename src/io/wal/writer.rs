//! The thread that writes the inputs of a [`Log`] in groups.

use std::io;
use std::sync::{Arc, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::engine::Engine;
use crate::engine::recording::{EndOf, KeyHash};
use crate::io::wal::log::{ENOUGH, Failed, Log, Phase, State};
use crate::io::wal::pending::{Group, Pending};
use crate::io::wal::sink::Sink;

/// The delay of a write to a recording. No reply waits for it, so it is written after [`ENOUGH`] inputs or
/// this time.
const LINGER: Duration = Duration::from_millis(20);
/// After a failed write, the log tries each time after this pause whether it can write again.
const PAUSE: Duration = Duration::from_secs(1);
/// The most bytes of such a try.
const MOST_TRIED: usize = 1024 * 1024;

/// The next action of the writing thread.
enum Turn {
    Write(Vec<Pending>),
    /// Finds out whether inputs can be written again.
    Try(usize),
    End,
}

impl Log {
    /// Starts a thread that writes all further inputs.
    pub(crate) fn start(self: &Arc<Self>, mut sink: Sink) -> io::Result<Writer> {
        if let Sink::WriteAheadLog { index, path, .. } = &mut sink {
            self.checkpoints.start(path, index);
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

    fn write(&self, mut sink: Sink) {
        loop {
            match self.turn(&sink) {
                Turn::End => break,
                Turn::Try(size) => match sink.try_out(size) {
                    Ok(()) => self.recovered(),
                    Err(error) => self.failed(&error, size, true),
                },
                Turn::Write(pending) => self.write_group(pending, &mut sink),
            }
            let mut state = self.state();
            let State { removing, pending, is_writing, .. } = &mut *state;
            *is_writing = false;
            let is_left = |world: &KeyHash| pending.iter().any(|one| one.removed() == Some(*world));
            removing.retain(is_left);
            drop(state);
            self.room.notify_all();
        }
        self.written.send_modify(|written| written.has_ended = true);
    }

    fn write_group(&self, pending: Vec<Pending>, sink: &mut Sink) {
        if !sink.is_read_again() && self.state().failed.is_some() {
            return; // what follows a gap cannot be replayed
        }
        // Before a reply can say that the world is deleted.
        for world in pending.iter().filter_map(Pending::removed) {
            self.checkpoints.remove(world);
        }
        let index = self.index.read().unwrap_or_else(PoisonError::into_inner);
        let group = Group::of(pending, &index, sink, self.salt);
        drop(index);
        match sink.write(&group.bytes) {
            Ok(offset) => {
                let mut index = self.index.write().unwrap_or_else(PoisonError::into_inner);
                group.add_to(&mut index, offset);
                drop(index);
                self.recovered();
            }
            Err(error) => {
                // Worlds of a recording are in memory only.
                if sink.is_read_again() {
                    self.lose(&group);
                }
                self.failed(&error, group.bytes.len(), sink.is_read_again());
            }
        }
        self.written.send_modify(|written| written.up_to = written.up_to.max(group.up_to));
    }

    /// Waits for something to do.
    fn turn(&self, sink: &Sink) -> Turn {
        let mut state = self.state();
        while state.pending.is_empty() && state.phase != Phase::Closed {
            let failed = state.failed.as_ref();
            let again = failed.and_then(|failed| Some((failed.again?, failed.size)));
            let Some((again, size)) = again else {
                state = self.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let left = again.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Turn::Try(size.min(MOST_TRIED));
            }
            let waited = self.wake.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
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
        if pending.is_empty() { Turn::End } else { Turn::Write(pending) }
    }

    /// The worlds of a group that could not be written are lost, with all inputs that they received in the
    /// meantime.
    fn lose(&self, group: &Group) {
        let mut state = self.state();
        for (place, tenure) in &group.needed {
            tenure.lose(*place);
        }
        for tenure in &group.opened {
            tenure.set_opened(false);
        }
        state.pending.retain(|pending| !pending.is_lost());
    }

    fn failed(&self, error: &io::Error, size: usize, again: bool) {
        let mut state = self.state();
        match (&state.failed, again) {
            (None, true) => tracing::error!(
                %error,
                "inputs cannot be written: requests that change a world are refused until they can be written again"
            ),
            (None, false) => tracing::error!(
                %error,
                "the recording cannot be continued: requests that change a world are refused from now on"
            ),
            (Some(_), _) => {}
        }
        let again = again.then(|| Instant::now() + PAUSE);
        state.failed = Some(Failed { why: error.to_string().into(), size, again });
    }

    fn recovered(&self) {
        let mut state = self.state();
        if state.failed.as_ref().is_some_and(|failed| failed.again.is_some()) {
            state.failed = None;
            tracing::warn!("inputs can be written again");
        }
    }
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
