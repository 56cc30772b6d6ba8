//! The engine: makes a reply from the head and body of a request, in the fixed order of refusal.
//!
//! route → key → headers → injected fault before the commit → content type → parse → idempotency →
//! shape → handler (existence, permission, state, money) → commit → record → injected fault after
//! the commit → reply. May import everything to its left and the plain types of `http`. It uses no
//! socket, and only the clocks that it is given. Each world has its own lock, held for the step and
//! not while the reply is written.

mod admit;
mod advance;
mod cache;
pub(crate) mod checkpoint;
mod columns;
pub(crate) mod contract;
mod created;
mod delivery_waker;
mod evict;
pub(crate) mod export;
mod fault;
mod flight;
mod fork;
mod headers;
pub(crate) mod idempotency;
pub(crate) mod keys;
mod lazy_body;
mod lock;
mod outcomes;
mod past;
mod player;
mod problem;
mod quota;
mod read;
mod readers;
pub(crate) mod recording;
mod repeat;
mod represent;
mod request;
mod request_log;
mod response;
mod restore;
mod resume;
mod rewind;
mod room;
mod router;
mod slot;
mod state;
pub(crate) mod stream;
mod translate;
mod turn;
mod worlds;
mod write;

pub(crate) use admit::Admitted;
pub(crate) use advance::Unfinished;
pub(crate) use delivery_waker::{Courier, Duty, Worker};
pub(crate) use headers::NOSNIFF;
pub(crate) use keys::{KeySpace, bearer, is_usable_key};
pub(crate) use player::{Archive, Player, Restored, Unrestored};
pub(crate) use quota::Most;
pub(crate) use repeat::Repeat;
pub(crate) use request_log::DelayedEntry;
pub(crate) use response::{Delivery, Page, Replayed, Transport, WorldTag};
pub(crate) use state::{Config, Engine, Library};
pub(crate) use turn::{Turn, Waiting};

#[cfg(test)]
mod tests;
