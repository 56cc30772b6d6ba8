//! The compiled plans of a pack, by case. Readers take no lock, and a plan is never removed.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::narrow::Narrow;
use super::plan::Plan;
use super::usual::Usual;

/// Number of chains. A process uses few of the cases that a pack can distinguish.
const CHAINS: usize = 256;

/// The maximum number of plans of one pack that assume values of a pay.
const MOST_SPECIAL: usize = 512;

/// The key of a plan within one pack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key {
    /// Position of the pay period in the pack's list.
    pub(super) period: u8,
    /// Position of the version of the lines.
    pub(super) version: u8,
    pub(super) number: u32,
    pub(super) attributes: [u8; 16],
    pub(super) usual: Usual,
    /// Whether pays of the year were taken back.
    pub(super) taken_back: bool,
}

impl Key {
    fn chain(&self) -> usize {
        let word = |half: &[u8]| u64::from_le_bytes(half.try_into().expect("eight bytes"));
        let words = self.attributes.chunks_exact(8).map(word);
        let numbers =
            u64::from(self.number) << 16 | u64::from(self.period) << 8 | u64::from(self.version);
        let mix =
            |hash: u64, word: u64| (hash.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
        let hash = words.chain(self.usual.words()).fold(mix(0, numbers), mix);
        usize::from(hash.to_be_bytes()[0])
    }
}

/// The plan of a case: in 64 bits if its constants fit, and in 128 bits when one is needed.
#[derive(Debug)]
pub(super) struct Compiled {
    pub(super) key: Key,
    pub(super) narrow: Option<Plan<i64>>,
    pub(super) wide: OnceLock<Plan>,
    next: Link,
}

impl Compiled {
    fn new(key: Key, plan: Plan) -> Self {
        let narrow = plan.narrow();
        let wide = if narrow.is_some() { OnceLock::new() } else { plan.into() };
        Self { key, narrow, wide, next: OnceLock::new() }
    }
}

type Link = OnceLock<Box<Compiled>>;

/// Chains of plans. A chain only grows at its end.
#[derive(Debug)]
pub(super) struct Plans {
    chains: Box<[Link]>,
    special: AtomicUsize,
}

impl Plans {
    pub(super) fn new() -> Self {
        let chains = std::iter::repeat_with(OnceLock::new).take(CHAINS).collect();
        Self { chains, special: AtomicUsize::new(0) }
    }

    #[inline]
    pub(super) fn get(&self, key: &Key) -> Option<&Compiled> {
        let mut link = &self.chains[key.chain()];
        loop {
            let node = link.get()?;
            if node.key == *key {
                return Some(node);
            }
            link = &node.next;
        }
    }

    /// The key for a new plan. After [`MOST_SPECIAL`] special plans, it is the key without assumptions.
    pub(super) fn bounded(&self, key: Key) -> Key {
        let is_general = key.usual == Usual::NOTHING;
        if !is_general && self.special.fetch_add(1, Ordering::Relaxed) >= MOST_SPECIAL {
            self.special.fetch_sub(1, Ordering::Relaxed);
            return Key { usual: Usual::NOTHING, ..key };
        }
        key
    }

    /// Adds a plan. If two threads compiled it at once, the first plan is kept.
    pub(super) fn add(&self, key: Key, plan: Plan) -> &Compiled {
        let mut new = Some(Box::new(Compiled::new(key, plan)));
        let mut link = &self.chains[key.chain()];
        loop {
            let node = link.get_or_init(|| new.take().expect("a chain ends once"));
            if node.key == key {
                return node;
            }
            link = &node.next;
        }
    }
}
