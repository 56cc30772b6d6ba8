//! Keyed randomness: every value is drawn with its own key, so a new draw changes no other.
//!
//! A [`Key`] is a hash of (seed, purpose, index). Simple attributes use its hash; long draws open a `ChaCha8` [`Stream`] with it. There is
//! deliberately no shared generator.

use core::convert::Infallible;

use rand::{SeedableRng, TryRng};
use rand_chacha::ChaCha8Rng;

/// A key that random values can be drawn from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key(u64);

impl Key {
    /// The root of one seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(mix(seed ^ 0x5EED_0F5A_11D0_B0C5))
    }

    /// The child key for `purpose`.
    #[must_use]
    pub const fn with(self, purpose: &str) -> Self {
        self.with_bytes(purpose.as_bytes())
    }

    /// The child key for those bytes.
    #[must_use]
    pub const fn with_bytes(self, bytes: &[u8]) -> Self {
        let mut hash = self.0;
        let mut i = 0;
        while i < bytes.len() {
            hash = (hash ^ bytes[i] as u64).wrapping_mul(0x0000_0100_0000_01B3);
            i += 1;
        }
        Self(mix(hash ^ bytes.len() as u64))
    }

    /// The child key with that number.
    #[must_use]
    pub const fn at(self, index: u64) -> Self {
        Self(mix(self.0 ^ index.wrapping_mul(0x9E37_79B9_7F4A_7C15)))
    }

    /// The key's 64 random bits.
    #[must_use]
    pub const fn hash(self) -> u64 {
        self.0
    }

    /// A number in `0..bound`; `bound` is at least 1.
    #[must_use]
    pub const fn below(self, bound: u64) -> u64 {
        widen(mix(self.0), bound)
    }

    /// A stream of random bits for draws of unknown length.
    #[must_use]
    pub fn stream(self) -> Stream {
        Stream(ChaCha8Rng::seed_from_u64(self.0))
    }
}

/// A `ChaCha8` stream, from which `fake` draws.
#[derive(Clone, Debug)]
pub struct Stream(ChaCha8Rng);

impl Stream {
    /// A number in `0..bound`; `bound` is at least 1.
    ///
    /// Our own widening multiply, because `rand` may change its samplers in any minor release.
    pub fn below(&mut self, bound: u64) -> u64 {
        let Ok(bits) = self.try_next_u64();
        widen(bits, bound)
    }

    /// One of `items`.
    ///
    /// # Panics
    ///
    /// If `items` is empty.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        let index = self.below(items.len() as u64);
        &items[usize::try_from(index).expect("an index below a length fits")]
    }

    /// That many decimal digits.
    pub fn digits(&mut self, count: usize) -> String {
        let digit = |n| char::from_digit(u32::try_from(n).unwrap_or_default(), 10).unwrap_or('0');
        (0..count).map(|_| digit(self.below(10))).collect()
    }
}

impl TryRng for Stream {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.0.try_next_u32()
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.0.try_next_u64()
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.0.try_fill_bytes(bytes)
    }
}

/// Splitmix64's finalizer: every input bit reaches every output bit.
const fn mix(mut z: u64) -> u64 {
    z = z.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

const fn widen(bits: u64, bound: u64) -> u64 {
    ((bits as u128 * bound as u128) >> 64) as u64
}
