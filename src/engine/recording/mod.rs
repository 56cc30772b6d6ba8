//! Records a session for a replay: every input that changed a world, in the world's order.
//!
//! An input is recorded under its world's lock, by the world's [`Tape`], and passed to a [`Recorder`]. Reads and
//! refusals are not recorded, because they change nothing. The exception is a refusal that is stored under an
//! idempotency key, because a retry must get it again. Deliberately absent: files and threads, which belong to `io`.
//! Webhook endpoints contain secrets: they are in a write-ahead log, and never in a recording.

mod entry;
mod key;
mod tape;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use bytes::Bytes;

use crate::api::host::{Figure, Stored};
use crate::value::{ApiError, ErrorCode, Timestamp};
use crate::world::{Event, World};

pub(crate) use crate::tester::outbox::kept::{KeptEndpoints, KeptProgress, Progress, ProgressOf};
pub(crate) use crate::tester::wire::SpentRow;
pub(crate) use entry::{
    ClockMove, Delivered, End, EndOf, Endpoints, Entry, FORMAT, Header, Input, Mark, Named,
    Removed, Spent,
};
pub(crate) use key::{KeyHash, Salt};
pub(crate) use tape::is_stored;
pub(super) use tape::{
    Before, Tape, changes_endpoints, deletes_world, hold, is_beside, is_input, shared,
};

/// An input that must be on disk before a reply that shows it is sent. The reply's extensions contain the ticket.
#[derive(Clone, Debug)]
pub(crate) struct Ticket {
    /// The position among all inputs that this process passed to its recorder.
    pub(crate) place: u64,
    pub(crate) tenure: Arc<Tenure>,
}

/// The time from the opening of a world until it leaves memory.
#[derive(Debug)]
pub(crate) struct Tenure {
    pub(crate) world: KeyHash,
    /// The first input that could not be stored. The world contains it, so it must be replayed without it.
    lost_from: Arc<AtomicU64>,
    /// Whether the lost inputs were certainly not stored.
    is_refused: AtomicBool,
    /// The forks that led to this world and were not stored when it opened: the place of each, with the first lost
    /// input of its source world.
    after: Vec<(Arc<AtomicU64>, u64)>,
    /// The number of inputs of the world.
    inputs: AtomicU64,
    /// Whether the use of the key was stored.
    opened: AtomicBool,
    /// The number of this process's claim of the world; 0 if worlds are not shared with other processes.
    claim: AtomicU64,
}

impl Tenure {
    pub(crate) fn new(world: KeyHash) -> Self {
        Self {
            world,
            lost_from: Arc::new(AtomicU64::new(u64::MAX)),
            is_refused: AtomicBool::new(false),
            after: Vec::new(),
            inputs: AtomicU64::new(0),
            opened: AtomicBool::new(false),
            claim: AtomicU64::new(0),
        }
    }

    /// The tenure of a world that begins with a fork. `ticket` is that of the fork.
    fn forked(world: KeyHash, ticket: &Ticket, recorder: &dyn Recorder) -> Self {
        let Ticket { place, tenure } = ticket;
        let mut after = tenure.after.clone();
        after.retain(|(from, place)| is_lost(from, *place) || !recorder.has_stored(*place));
        after.push((Arc::clone(&tenure.lost_from), *place));
        Self { after, ..Self::new(world) }
    }

    /// The input at this place, and all later ones, could not be stored.
    pub(crate) fn lose(&self, place: u64) {
        LOSSES.fetch_add(1, Ordering::Relaxed);
        self.lost_from.fetch_min(place, Ordering::AcqRel);
    }

    /// Like [`Self::lose`], and none of the inputs was stored.
    pub(crate) fn refuse(&self, place: u64) {
        self.is_refused.store(true, Ordering::Release);
        self.lose(place);
    }

    /// Whether the inputs that are lost were certainly not stored.
    pub(crate) fn is_refused(&self) -> bool {
        self.is_refused.load(Ordering::Acquire)
    }

    /// Whether that input could not be stored.
    pub(crate) fn has_lost(&self, place: u64) -> bool {
        is_lost(&self.lost_from, place)
            || self.after.iter().any(|(from, fork)| is_lost(from, *fork))
    }

    /// Whether the world differs from its stored inputs.
    pub(crate) fn is_lost(&self) -> bool {
        self.has_lost(u64::MAX - 1)
    }

    /// Counts an input, and returns its number in the world.
    pub(crate) fn count(&self) -> u64 {
        self.inputs.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// The number of inputs of the world.
    pub(crate) fn inputs(&self) -> u64 {
        self.inputs.load(Ordering::Relaxed)
    }

    /// Sets the number of the world's inputs before its checkpoint, which are not replayed.
    pub(crate) fn begin_after(&self, inputs: u64) {
        self.inputs.store(inputs, Ordering::Relaxed);
    }

    /// Whether the use of the key was passed to the recorder.
    fn is_opened(&self) -> bool {
        self.opened.load(Ordering::Relaxed)
    }

    /// The claim that it belongs to.
    pub(crate) fn claim(&self) -> u64 {
        self.claim.load(Ordering::Acquire)
    }

    pub(crate) fn set_claim(&self, claim: u64) {
        self.claim.store(claim, Ordering::Release);
    }

    pub(crate) fn set_opened(&self, opened: bool) {
        self.opened.store(opened, Ordering::Relaxed);
    }
}

/// The number of times that a world of this process was lost.
static LOSSES: AtomicU64 = AtomicU64::new(0);

/// The number of times that a world was lost or deleted. While it is unchanged, no further world in memory has been
/// lost.
pub(super) fn losses() -> u64 {
    LOSSES.load(Ordering::Relaxed)
}

/// Whether an input is lost, where the first lost one of its world is `from`.
fn is_lost(from: &AtomicU64, place: u64) -> bool {
    from.load(Ordering::Acquire) <= place
}

/// A record of a write-ahead log that is no input, because it results from calls that change no world.
#[derive(Clone, Debug)]
pub(crate) enum Note {
    /// The key was used.
    Opened,
    /// The counters of faults.
    Spent(Vec<SpentRow>),
    /// The webhook endpoints of the world.
    Endpoints(KeptEndpoints),
    /// The progress of an endpoint: its ended deliveries.
    Delivered(KeptProgress),
    /// The world was deleted.
    Removed,
}

impl Note {
    /// Whether a replay without this note would lead to another world. Then its request is refused if the note cannot
    /// be stored. Other notes are stored if possible, and skipped while writes fail.
    pub(crate) const fn is_needed(&self) -> bool {
        matches!(self, Self::Endpoints(_) | Self::Removed)
    }
}

/// The refusal of a request that needs the write-ahead log.
pub(crate) fn unavailable(detail: impl Into<String>) -> ApiError {
    ApiError::new(ErrorCode::LogUnavailable, detail)
}

/// The refusal of a request whose world another process serves.
pub(crate) fn moving(detail: impl Into<String>) -> ApiError {
    ApiError::new(ErrorCode::WorldMoving, detail)
}

/// Stores inputs, and reads them again.
pub(crate) trait Recorder: Send + Sync + fmt::Debug {
    /// The salt of key hashes.
    fn salt(&self) -> Salt;

    /// Claims a world for this process. With `asks`, requests the world from its present owner and waits. Returns
    /// whether the process did not own it before. Must be called before the world is opened.
    fn claim(&self, _world: KeyHash, _asks: bool) -> Result<bool, ApiError> {
        Ok(false)
    }

    /// A world starts to serve requests; `is_new` means that it has no inputs. If the process may not serve it in
    /// that state, its tenure is lost.
    fn adopt(&self, _tenure: &Arc<Tenure>, _is_new: bool) {}

    /// Whether this process still serves the worlds that it claimed.
    fn is_alive(&self) -> bool {
        true
    }

    /// Whether another input can be stored; an error is the refusal of a request that would be one.
    fn accepts(&self) -> Result<(), ApiError>;

    /// Stores an input that the world, still locked, has just executed. Returns its place.
    fn record(&self, step: Step, tenure: &Arc<Tenure>, world: &World) -> u64;

    /// Stores a note if this recorder stores such notes. An unneeded note is skipped if the last write has failed.
    /// Returns its place.
    fn note(&self, note: Note, tenure: &Arc<Tenure>) -> Option<u64>;

    /// Whether the input at this place is stored or lost, and all before it.
    fn has_stored(&self, place: u64) -> bool;

    /// Whether the key was used before, also by an earlier process.
    fn knows(&self, world: KeyHash) -> bool;

    /// Whether inputs of the world are stored. Waits until a noted deletion of the world is stored or lost.
    fn holds(&self, world: KeyHash) -> bool;

    /// Whether this process reads stored inputs again.
    fn is_read_again(&self) -> bool;

    /// The state of the storage; `None` if inputs are not read again.
    fn stored(&self) -> Option<Stored>;

    /// Numbers about a store that several processes share.
    fn figures(&self) -> Vec<Figure> {
        Vec::new()
    }
}

/// One input that changed a world, and its result.
#[derive(Debug)]
pub(crate) struct Step {
    /// The wall clock's virtual time, where it drives the world.
    pub(crate) wall: Option<Timestamp>,
    /// None if only the clock moved the world.
    pub(crate) call: Option<Call>,
    /// The number of timers that ran, if others of the same instant may be left.
    pub(crate) tasks: Option<u64>,
    /// Virtual time before the call.
    pub(crate) at: Timestamp,
    /// Virtual time after it.
    pub(crate) now: Timestamp,
    /// The world's version after it.
    pub(crate) version: u64,
    /// The length of the log after it.
    pub(crate) log: u64,
    pub(crate) events: Vec<Arc<Event>>,
}

/// The request of a step and its reply.
#[derive(Debug, Default)]
pub(crate) struct Call {
    pub(crate) method: &'static str,
    /// Path and query.
    pub(crate) target: String,
    /// The headers that affect the request, never a credential.
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Bytes,
    /// Whether it is a row of the control plane, in whose body a member `key` names another world.
    pub(crate) is_control: bool,
    pub(crate) status: u16,
    pub(crate) request_id: String,
}
