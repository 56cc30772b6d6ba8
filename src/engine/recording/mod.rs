//! Records a session for a replay: every input that changed a world, in the world's order.
//!
//! An input is recorded under its world's lock, by the world's [`Tape`], and passed to a [`Recorder`]. Reads
//! and refusals are not recorded,
//! because they change nothing. One kind of refusal is: an answer that is stored under an idempotency key,
//! because a retry must get it again. Deliberately absent: files
//! and threads, which belong to `io`; webhook endpoints, which are not part of the world and contain secrets.

mod entry;
mod key;
mod player;
mod tape;

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;

use crate::value::{ApiError, Timestamp};
use crate::world::{Event, World};

pub(crate) use entry::{ClockMove, End, EndOf, Entry, FORMAT, Header, Input, Mark, Named};
pub(crate) use key::{KeyHash, Salt};
pub(super) use tape::{Before, Tape, is_beside};

/// The number of an input in the recording, from 1. It is in a reply's extensions. With a write-ahead log,
/// the reply waits until this input is on
/// disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ticket(pub(crate) u64);

/// Stores inputs.
pub(crate) trait Recorder: Send + Sync + fmt::Debug {
    /// The salt of key hashes.
    fn salt(&self) -> Salt;

    /// Whether a replay is running, which opens worlds by the hashes of their keys.
    fn is_replaying(&self) -> bool;

    /// Whether another input can be stored; an error is the refusal of a request that would be one.
    fn accepts(&self) -> Result<(), ApiError>;

    /// Stores an input that the world, still locked, has just executed.
    fn record(&self, step: Step, world: &World) -> Ticket;
}

/// One input that changed a world, and its result.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) world: KeyHash,
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
#[derive(Debug)]
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
