//! A cache of the answers of reads, valid until their world changes.

#![expect(
    clippy::disallowed_types,
    reason = "looked up by key, never iterated: no order can reach an answer"
)]

use std::collections::HashMap;

use bytes::Bytes;
use http::HeaderMap;

use crate::value::Key;

/// The bytes of cached answers for all unchanged worlds together.
pub(super) const SHARED_BYTES: usize = 4 * 1_024 * 1_024;
/// The bytes of cached answers for one world.
pub(super) const WORLD_BYTES: usize = 256 * 1_024;
/// The memory of a cached answer in addition to its bytes, mostly for its headers.
const OVERHEAD: usize = 1_024;

/// The answer of a read.
#[derive(Clone, Debug)]
pub(super) struct Cached {
    pub(super) body: Bytes,
    pub(super) headers: HeaderMap,
}

/// Answers by path and query, and by their form if it is not JSON. A full cache is emptied; frequent requests
/// soon fill it again.
#[derive(Debug)]
pub(super) struct ReadCache {
    answers: HashMap<Box<str>, Cached>,
    /// Hashes of requests that were sent once. Only a repeated request is cached. Otherwise a client that
    /// reads all pages of a large world would replace the whole cache without use.
    asked: Box<[u64]>,
    bytes: usize,
    most: usize,
}

impl ReadCache {
    pub(super) fn new(most: usize) -> Self {
        Self { answers: HashMap::new(), asked: Box::default(), bytes: 0, most }
    }

    pub(super) fn get(&self, target: &str) -> Option<Cached> {
        self.answers.get(target).cloned()
    }

    /// Caches the answer of a repeated request if it needs at most a quarter of the cache. Returns the
    /// answer.
    pub(super) fn put(&mut self, target: &str, cached: Cached) -> Cached {
        let size = target.len() + cached.body.len() + OVERHEAD;
        if size > self.most / 4 || self.is_new(target) {
            return cached;
        }
        if self.bytes + size > self.most {
            self.clear();
        }
        self.bytes += size;
        self.answers.insert(target.into(), cached.clone());
        cached
    }

    /// Whether the request did not come recently; marks it as recent.
    fn is_new(&mut self, target: &str) -> bool {
        const PLACES: usize = 256;
        if self.asked.is_empty() {
            self.asked = vec![0; PLACES].into();
        }
        let hash = Key::new(0).with(target).hash();
        let place = usize::try_from(hash % PLACES as u64).expect("a place below a length fits");
        let place = &mut self.asked[place];
        std::mem::replace(place, hash) != hash
    }

    pub(super) fn clear(&mut self) {
        self.answers.clear();
        self.bytes = 0;
    }
}
