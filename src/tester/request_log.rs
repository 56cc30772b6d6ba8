//! The request log: what a client sent and received, so that tests can inspect and verify it.
//!
//! It keeps the latest requests of a world and counts the dropped ones, so "not found" is never
//! mistaken for "not sent". It never contains an `Authorization` header or control calls. An entry
//! reuses the text memory of the entry that it replaces, so an unread log costs little. A slice of
//! the request would keep a whole connection buffer in memory.

use std::collections::VecDeque;

use http::Method;

use crate::value::{Id, Timestamp, TraceParent};
use crate::world::RequestRef;
use crate::world::script::Fault;

/// Number of entries kept without `--max-requests`.
pub(crate) const DEFAULT_MOST: usize = 1_000;
/// Larger bodies are recorded by size only.
pub(crate) const BODY_BYTES: usize = 16 * 1_024;

/// The request log of one world.
#[derive(Debug)]
pub(crate) struct Requests {
    entries: VecDeque<Entry>,
    most: usize,
    /// Number of entries so far; it numbers the next one.
    noted: u64,
    /// Number of entries that were dropped.
    evicted: u64,
    /// Whether there were requests before the first one that was counted: the process was restarted, or the world had left memory.
    begins_later: bool,
}

/// One request and its result.
#[derive(Debug)]
pub(crate) struct Entry {
    /// Position in the request log, from 1.
    pub(crate) number: u64,
    /// `Request-Id` of the reply. None if the request was lost and never answered.
    pub(crate) request_id: Option<Id<RequestRef>>,
    /// Virtual time of the reply.
    pub(crate) at: Timestamp,
    /// The operation's name, such as `run_payroll`; none if no route matched.
    pub(crate) operation: Option<&'static str>,
    pub(crate) method: Method,
    /// Path and query as sent.
    pub(crate) target: String,
    /// None if the request was lost and never answered.
    pub(crate) status: Option<u16>,
    /// The error code, if it was refused.
    pub(crate) error: Option<&'static str>,
    pub(crate) key: Option<Box<KeyUse>>,
    /// Its `Sandbox-Scenario`; several are joined by commas.
    pub(crate) scenario: Option<Box<str>>,
    pub(crate) fault: Option<Box<FaultUse>>,
    pub(crate) body: Body,
    /// The id of the resource that was written, if it was a single one.
    pub(crate) resource: Option<String>,
    /// Positions in the log of the first and last event caused directly by the request.
    pub(crate) events: Option<(u64, u64)>,
    pub(crate) wall: Wall,
    /// The caller's trace.
    pub(crate) trace: Option<Box<TraceParent>>,
}

impl Entry {
    /// `Request-Id` of the reply; empty without one.
    pub(crate) fn id_text(&self) -> String {
        self.request_id.map_or_else(String::new, |id| id.to_string())
    }
}

/// When it really happened, in milliseconds of the wall clock since the server started. It differs from run to run, so it is shown only on
/// request and is in no digest.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, schemars::JsonSchema)]
#[schemars(rename = "WallTimes")]
pub(crate) struct Wall {
    /// Arrival of the request.
    pub(crate) arrived_ms: u64,
    /// Start of its reply, after a delay; null if the reply was never sent.
    pub(crate) replied_ms: Option<u64>,
    /// Whether the client disconnected before the end of a delay.
    pub(crate) client_left: bool,
}

/// An `Idempotency-Key` and how it was used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeyUse {
    pub(crate) text: String,
    /// None if the request was refused before its key was checked.
    pub(crate) outcome: Option<KeyOutcome>,
}

/// The effect of an idempotency key.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub(crate) enum KeyOutcome {
    /// The key was new.
    Fresh,
    /// The stored reply was returned again.
    Replayed,
    /// The key was already used with another body.
    Reused,
    /// The first request with the key was still running.
    InProgress,
}

/// A fault that was applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FaultUse {
    pub(crate) source: std::sync::Arc<str>,
    pub(crate) fault: Fault,
}

/// A request's body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Body {
    #[default]
    None,
    Kept(Box<[u8]>),
    /// Size in bytes; the body is not kept.
    TooLarge(usize),
    /// Refused before the body was read.
    Unread,
}

impl Body {
    /// A body as it is stored.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        match bytes.len() {
            0 => Self::None,
            1..=BODY_BYTES => Self::Kept(bytes.into()),
            length => Self::TooLarge(length),
        }
    }
}

impl Default for Requests {
    fn default() -> Self {
        Self::new(DEFAULT_MOST)
    }
}

impl Requests {
    /// A request log with at most that many entries; 0 disables it.
    pub(crate) const fn new(most: usize) -> Self {
        Self { entries: VecDeque::new(), most, noted: 0, evicted: 0, begins_later: false }
    }

    /// Records that there can have been earlier requests, of unknown number.
    pub(crate) const fn begin_later(&mut self) {
        self.begins_later = true;
    }

    /// Whether it has entries, or had some.
    pub(crate) const fn is_used(&self) -> bool {
        self.noted > 0 || self.begins_later
    }

    /// The next entry, empty apart from its number, to be filled in; none if the log is disabled.
    pub(crate) fn next(&mut self, at: Timestamp) -> Option<&mut Entry> {
        self.noted += 1;
        let mut text = String::new();
        if self.entries.len() >= self.most {
            self.evicted += 1;
            // Reuses the text memory of the oldest entry, so a full log needs no allocation.
            text = self.entries.pop_front()?.target;
            text.clear();
        }
        self.entries.push_back(Entry {
            number: self.noted,
            request_id: None,
            at,
            operation: None,
            method: Method::GET,
            target: text,
            status: None,
            error: None,
            key: None,
            scenario: None,
            fault: None,
            body: Body::None,
            resource: None,
            events: None,
            wall: Wall::default(),
            trace: None,
        });
        self.entries.back_mut()
    }

    /// The end of a delayed reply.
    pub(crate) fn replied(&mut self, number: u64, ms: u64, client_left: bool) {
        if let Some(entry) = self.entries.iter_mut().rev().find(|entry| entry.number == number) {
            entry.wall.replied_ms = (!client_left).then_some(ms);
            entry.wall.client_left = client_left;
        }
    }

    /// Number of requests so far, with the dropped ones.
    pub(crate) const fn noted(&self) -> u64 {
        self.noted
    }

    /// Oldest first.
    pub(crate) fn entries(&self) -> impl DoubleEndedIterator<Item = &Entry> + ExactSizeIterator {
        self.entries.iter()
    }

    /// The entries after the one with that number, oldest first.
    pub(crate) fn since(&self, number: u64) -> impl Iterator<Item = &Entry> {
        self.entries.range(self.entries.partition_point(|entry| entry.number <= number)..)
    }

    /// The latest request with that id, because equal reads of an unchanged world share an id. A retry that got a stored answer has
    /// the id of the first request; then the first request is returned.
    pub(crate) fn find(&self, id: &str) -> Option<&Entry> {
        let id = id.parse().ok()?;
        let latest = || self.entries().rev().filter(|entry| entry.request_id == Some(id));
        let is_retry = |entry: &&Entry| {
            entry.key.as_ref().is_some_and(|key| key.outcome == Some(KeyOutcome::Replayed))
        };
        latest().find(|entry| !is_retry(entry)).or_else(|| latest().next())
    }

    /// Number of entries dropped since the log was cleared, as far as it is known: at least one if the log begins later than the world.
    pub(crate) const fn evicted(&self) -> u64 {
        if self.begins_later && self.evicted == 0 { 1 } else { self.evicted }
    }

    /// The maximum number of entries that can be missing.
    pub(crate) const fn missing(&self) -> u64 {
        if self.begins_later { u64::MAX } else { self.evicted }
    }

    /// Clears all entries and the count of dropped ones, so later verifications are complete. Numbering continues. Returns the number of
    /// cleared entries.
    pub(crate) fn clear(&mut self) -> usize {
        self.evicted = 0;
        self.begins_later = false;
        std::mem::take(&mut self.entries).len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_journal_forgets_its_oldest_and_counts_them() {
        let mut requests = Requests::new(2);
        for path in ["/a", "/b", "/c"] {
            requests.next(Timestamp::EPOCH).expect("kept").target.push_str(path);
        }
        let kept: Vec<_> = requests.entries().map(|e| (e.number, e.target.as_str())).collect();
        assert_eq!(kept, [(2, "/b"), (3, "/c")]);
        assert_eq!(requests.evicted(), 1);
        assert_eq!(requests.clear(), 2);
        assert_eq!((requests.evicted(), requests.entries().len()), (0, 0));
        assert_eq!(requests.next(Timestamp::EPOCH).expect("kept").number, 4);
    }

    #[test]
    fn a_journal_of_none_counts_what_it_did_not_keep() {
        let mut requests = Requests::new(0);
        assert!(requests.next(Timestamp::EPOCH).is_none());
        assert_eq!(requests.evicted(), 1);
    }

    #[test]
    fn a_large_body_is_noted_by_its_size() {
        assert_eq!(Body::of(b""), Body::None);
        assert_eq!(Body::of(b"{}"), Body::Kept((*b"{}").into()));
        assert_eq!(Body::of("x".repeat(BODY_BYTES + 1).as_bytes()), Body::TooLarge(BODY_BYTES + 1));
    }
}
