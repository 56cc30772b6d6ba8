//! The request log: what a client sent and what it was told, for a test to look up and to verify.
//!
//! The last so many of a world; what had to go is counted, so that nobody takes "not found" for "not sent". Never an
//! `Authorization` header. Calls of the control plane are no part of it. Cheap where nothing is asked of it: an entry's text is
//! written over that of the entry it evicts, since a slice of what was received would keep a whole buffer of the connection alive.

use std::collections::VecDeque;

use http::Method;

use crate::value::Timestamp;
use crate::world::script::Fault;

/// Entries kept without `--max-requests`.
pub(crate) const DEFAULT_MOST: usize = 1_000;
/// A larger body is noted by its size alone.
pub(crate) const BODY_BYTES: usize = 16 * 1_024;

/// One world's journal.
#[derive(Debug)]
pub(crate) struct Requests {
    entries: VecDeque<Entry>,
    most: usize,
    /// Entries so far: numbers the next one.
    noted: u64,
    /// Entries that had to go.
    evicted: u64,
}

/// One request and what came of it.
#[derive(Debug)]
pub(crate) struct Entry {
    /// Place in the journal, from 1.
    pub(crate) number: u64,
    /// `Request-Id` of the reply.
    pub(crate) request_id: RequestId,
    /// Virtual time at which it was answered.
    pub(crate) at: Timestamp,
    /// The operation's name, `run_payroll`; none where no route was found.
    pub(crate) operation: Option<&'static str>,
    pub(crate) method: Method,
    /// Path and query as they were sent.
    pub(crate) target: String,
    /// None where the request was lost: nobody answered.
    pub(crate) status: Option<u16>,
    /// The code of a refusal.
    pub(crate) error: Option<&'static str>,
    pub(crate) key: Option<Box<KeyUse>>,
    pub(crate) fault: Option<Box<FaultUse>>,
    pub(crate) body: Body,
    /// The id of the single resource that was written.
    pub(crate) resource: Option<String>,
    /// Places in the log of the first and last event that the request itself caused.
    pub(crate) events: Option<(u64, u64)>,
}

/// `req_` and thirteen characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RequestId([u8; 17]);

impl RequestId {
    /// Of a header's bytes; an id that is none of ours is empty.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        Self(bytes.try_into().unwrap_or_default())
    }

    pub(crate) fn as_str(&self) -> &str {
        core::str::from_utf8(&self.0).unwrap_or_default()
    }
}

/// An `Idempotency-Key` and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeyUse {
    pub(crate) text: String,
    /// None where the request was refused before its key's turn.
    pub(crate) outcome: Option<KeyOutcome>,
}

/// What an idempotency key did.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub(crate) enum KeyOutcome {
    /// It was new.
    Fresh,
    /// The stored answer was given again.
    Replayed,
    /// It had come with another body.
    Reused,
    /// Its first request was still being answered.
    InProgress,
}

/// A fault that acted.
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
    /// So many bytes, not kept.
    TooLarge(usize),
    /// Refused before it was read.
    Unread,
}

impl Body {
    /// A body as it is kept.
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
    /// A journal of at most so many entries; with 0, of none.
    pub(crate) const fn new(most: usize) -> Self {
        Self { entries: VecDeque::new(), most, noted: 0, evicted: 0 }
    }

    /// The next entry, blank but for its number, to be filled in; none where no journal is kept.
    pub(crate) fn next(&mut self, at: Timestamp) -> Option<&mut Entry> {
        self.noted += 1;
        let mut text = String::new();
        if self.entries.len() >= self.most {
            self.evicted += 1;
            // Its text's room is taken over: a full journal asks for no memory.
            text = self.entries.pop_front()?.target;
            text.clear();
        }
        self.entries.push_back(Entry {
            number: self.noted,
            request_id: RequestId::default(),
            at,
            operation: None,
            method: Method::GET,
            target: text,
            status: None,
            error: None,
            key: None,
            fault: None,
            body: Body::None,
            resource: None,
            events: None,
        });
        self.entries.back_mut()
    }

    /// Oldest first.
    pub(crate) fn entries(&self) -> impl DoubleEndedIterator<Item = &Entry> + ExactSizeIterator {
        self.entries.iter()
    }

    /// The last request with that id. Equal reads of an unchanged world share one.
    pub(crate) fn find(&self, id: &str) -> Option<&Entry> {
        self.entries().rev().find(|entry| entry.request_id.as_str() == id)
    }

    /// How many had to go since the journal was cleared.
    pub(crate) const fn evicted(&self) -> u64 {
        self.evicted
    }

    /// Forgets all, evictions too: what is verified from here on is whole. Numbers go on. Gives how many there were.
    pub(crate) fn clear(&mut self) -> usize {
        self.evicted = 0;
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
