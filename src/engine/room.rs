//! What bounds the number of worlds in memory, and the keys whose worlds have left it.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use crate::value::Key;

/// The bits of a filter of forgotten keys.
const FILTER_BITS: u64 = 1 << 23;
/// The bits that each key sets.
const BITS_OF_KEY: u64 = 4;

/// The limits for worlds in memory.
pub(super) struct Room {
    /// Milliseconds since the server started, as last reported.
    now_ms: AtomicU64,
    /// The worlds that fit into the allowed memory, as far as it is known.
    pub(super) ceiling: AtomicUsize,
    pub(super) search: Search,
    /// The number of lost inputs at the last search for lost worlds.
    pub(super) losses: AtomicU64,
    /// Whether idle worlds are dropped.
    pub(super) drops_idle: AtomicBool,
    /// A set of keys whose worlds and request logs have left memory. It can also contain other keys (false
    /// positives).
    forgotten: OnceLock<Box<[AtomicU64]>>,
}

impl Default for Room {
    fn default() -> Self {
        Self {
            now_ms: AtomicU64::new(0),
            ceiling: AtomicUsize::new(usize::MAX),
            search: Search::default(),
            losses: AtomicU64::new(0),
            drops_idle: AtomicBool::new(false),
            forgotten: OnceLock::new(),
        }
    }
}

impl Room {
    /// Sets the milliseconds since the server started.
    pub(super) fn tick(&self, now_ms: u64) {
        self.now_ms.store(now_ms, Ordering::Relaxed);
    }

    pub(super) fn now(&self) -> u64 {
        self.now_ms.load(Ordering::Relaxed)
    }

    fn bits(key: &str) -> impl Iterator<Item = (usize, u64)> {
        let key = Key::new(0).with("forgotten").with(key);
        (0..BITS_OF_KEY).map(move |place| {
            let bit = key.at(place).below(FILTER_BITS);
            (usize::try_from(bit / 64).unwrap_or_default(), 1 << (bit % 64))
        })
    }

    pub(super) fn forget(&self, key: &str) {
        let words = self.forgotten.get_or_init(|| {
            let words = usize::try_from(FILTER_BITS / 64).unwrap_or_default();
            (0..words).map(|_| AtomicU64::new(0)).collect()
        });
        for (word, bit) in Self::bits(key) {
            words[word].fetch_or(bit, Ordering::Relaxed);
        }
    }

    /// Whether a world of the key may have left memory.
    pub(super) fn forgot(&self, key: &str) -> bool {
        self.forgotten.get().is_some_and(|words| {
            Self::bits(key).all(|(word, bit)| words[word].load(Ordering::Relaxed) & bit != 0)
        })
    }
}

/// Remembers that no world can leave memory, so that not every attempt to open another one examines all of them.
#[derive(Default)]
pub(super) struct Search {
    /// The number of further attempts that are refused without a search.
    refusals: AtomicUsize,
    /// The value of `freed` before the search that set `refusals`.
    searched: AtomicU64,
    /// The number of calls that may have made a world able to leave.
    freed: AtomicU64,
}

impl Search {
    /// A world may be able to leave now, so the next attempt searches.
    pub(super) fn renew(&self) {
        self.freed.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts an attempt. Returns whether it is refused without a search.
    pub(super) fn refuses(&self) -> bool {
        let less = |left: usize| left.checked_sub(1);
        self.searched.load(Ordering::Relaxed) == self.freed.load(Ordering::Relaxed)
            && self.refusals.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok()
    }

    /// The value for [`Self::failed`] of a search that begins.
    pub(super) fn begin(&self) -> u64 {
        self.freed.load(Ordering::Relaxed)
    }

    /// A search has found too few worlds, so this number of attempts is refused, unless a world may have become able to leave since.
    pub(super) fn failed(&self, begun: u64, refusals: usize) {
        self.refusals.store(refusals, Ordering::Relaxed);
        self.searched.store(begun, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_are_refused_until_they_are_used_up_or_a_world_may_leave() {
        let search = Search::default();
        assert!(!search.refuses(), "nothing was searched yet");
        search.failed(search.begin(), 2);
        assert_eq!([(); 3].map(|()| search.refuses()), [true, true, false]);
        search.failed(search.begin(), 2);
        search.renew();
        assert!(!search.refuses());
    }

    #[test]
    fn a_world_that_becomes_able_to_leave_during_a_search_is_searched_for() {
        let search = Search::default();
        let begun = search.begin();
        search.renew();
        search.failed(begun, 100);
        assert!(!search.refuses());
    }
}
