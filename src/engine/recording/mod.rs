//! What is written down of a session so that it can be played again: every input that changed a world, in the order in
//! which the world took it.
//!
//! An input is recorded under its world's lock, by the world's [`Tape`], and handed to a [`Recorder`], which is whatever
//! keeps it. Reads are not recorded, nor what was refused: neither changes anything. One refusal is: an answer that is kept
//! under an idempotency key, since a retry must get it again. Deliberately absent: files and threads, which are `io`'s; the
//! endpoints of webhooks, which are beside the world and hold secrets.

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

/// Place of an input in what is recorded, from 1. It travels in a reply's extensions: whoever promised that nothing
/// acknowledged is lost holds the reply back until that place is on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ticket(pub(crate) u64);

/// What keeps inputs.
pub(crate) trait Recorder: Send + Sync + fmt::Debug {
    /// What keys are hashed with.
    fn salt(&self) -> Salt;

    /// Whether inputs are being played again, which opens worlds by the hashes of their keys.
    fn is_replaying(&self) -> bool;

    /// Whether another input can be kept; an error is the refusal of a request that would be one.
    fn accepts(&self) -> Result<(), ApiError>;

    /// Takes an input that the world, still held, has just taken.
    fn record(&self, step: Step, world: &World) -> Ticket;
}

/// One input that changed a world, and what came of it.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) world: KeyHash,
    /// The wall clock's virtual time, where it drives the world.
    pub(crate) wall: Option<Timestamp>,
    /// None where the clock alone moved the world.
    pub(crate) call: Option<Call>,
    /// How many tasks the clock ran, where it may have left others of the same instant.
    pub(crate) tasks: Option<u64>,
    /// Virtual time before.
    pub(crate) at: Timestamp,
    /// Virtual time after it.
    pub(crate) now: Timestamp,
    /// The world's version after it.
    pub(crate) version: u64,
    /// The length of the log after it.
    pub(crate) log: u64,
    /// What it put there.
    pub(crate) events: Vec<Arc<Event>>,
}

/// The request of a step and its reply.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) method: &'static str,
    /// Path and query.
    pub(crate) target: String,
    /// Those that have a say in what the request does. Never a credential.
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Bytes,
    /// Whether it is a row of the control plane, in whose body a member `key` names another world.
    pub(crate) is_control: bool,
    pub(crate) status: u16,
    pub(crate) request_id: String,
}
