//! Ids: `emp_` and thirteen base32 characters, a keyed and invertible encoding of a number.
//!
//! An id is opaque to callers. It contains 64 bits. For grown objects they are a permutation of the index, so finding one needs no map. For
//! created objects they are a hash of the parent and the number below it, so an unrelated creation changes no id.

use core::cmp::Ordering;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::marker::PhantomData;
use core::num::NonZeroU64;
use core::str::FromStr;
use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::value::Key;
use crate::value::short::Short;

/// Crockford's alphabet in lower case, without letters that look like digits.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// Characters of the code: 13 × 5 bits hold 64.
pub const CODE_LENGTH: usize = 13;

/// The kind of resource that an id identifies.
pub trait Prefixed {
    /// The three letters before the underscore.
    const PREFIX: &'static str;
    /// The resource's name in `object` members and messages.
    const NAME: &'static str;
}

/// The id of a `T`.
///
/// In JSON it is any string. A string that is not an id of this kind becomes [`Id::UNKNOWN`], which no resource has.
/// So a mistyped id is "not found", and no error mentions an alphabet that the contract does not have.
pub struct Id<T> {
    /// Without one value, so that an optional id needs no more memory.
    bits: NonZeroU64,
    of: PhantomData<fn() -> T>,
}

/// The bits of no id: they are read as those of [`Id::UNKNOWN`].
const NO_ID: u64 = 0x9E37_79B9_7F4A_7C15;
const UNKNOWN_BITS: NonZeroU64 = NonZeroU64::new(u64::MAX ^ NO_ID).expect("they differ");

impl<T> Id<T> {
    /// The value for a string that is not an id of this kind.
    pub const UNKNOWN: Self = Self::from_bits(u64::MAX);

    /// The id with these bits.
    #[must_use]
    pub const fn from_bits(bits: u64) -> Self {
        let bits = match NonZeroU64::new(bits ^ NO_ID) {
            Some(bits) => bits,
            None => UNKNOWN_BITS,
        };
        Self { bits, of: PhantomData }
    }

    /// The 64 bits behind the text.
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.bits.get() ^ NO_ID
    }
}

impl<T> Clone for Id<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Id<T> {}
impl<T> PartialEq for Id<T> {
    fn eq(&self, other: &Self) -> bool {
        self.bits == other.bits
    }
}
impl<T> Eq for Id<T> {}
impl<T> PartialOrd for Id<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl<T> Ord for Id<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.bits().cmp(&other.bits())
    }
}
impl<T> Hash for Id<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.bits.hash(state);
    }
}

impl<T: Prefixed> fmt::Display for Id<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_id(f, T::PREFIX, self.bits())
    }
}

impl<T: Prefixed> fmt::Debug for Id<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<T: Prefixed> FromStr for Id<T> {
    type Err = core::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(parse(T::PREFIX, text).map_or(Self::UNKNOWN, Self::from_bits))
    }
}

impl<T: Prefixed> Serialize for Id<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        IdText { prefix: T::PREFIX, bits: self.bits() }.serialize(serializer)
    }
}

/// The text of an id whose kind is known only at run time.
pub(crate) struct IdText {
    pub(crate) prefix: &'static str,
    pub(crate) bits: u64,
}

impl Serialize for IdText {
    /// Written in one piece, because writing single characters would cost more than the rest of the response. The
    /// form for hashes has only the bits.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !serializer.is_human_readable() {
            return serializer.serialize_u64(self.bits);
        }
        let mut text = Short::new();
        write_id(&mut text, self.prefix, self.bits).expect("an id is short");
        serializer.serialize_str(text.as_str())
    }
}

impl<'de, T: Prefixed> Deserialize<'de> for Id<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<'de, str>::deserialize(deserializer)?;
        Ok(parse(T::PREFIX, &text).map_or(Self::UNKNOWN, Self::from_bits))
    }
}

/// `prefix_code` as text.
fn text(prefix: &str, bits: u64) -> String {
    let mut text = String::with_capacity(prefix.len() + 1 + CODE_LENGTH);
    write_id(&mut text, prefix, bits).expect("a string takes every character");
    text
}

impl<T: Prefixed> JsonSchema for Id<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("{}_id", T::NAME).into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schema(T::PREFIX)
    }
}

/// The bits of the example id of a schema for ids with this prefix.
pub(crate) fn example_bits(prefix: &str) -> u64 {
    Key::new(42).with(prefix).hash()
}

fn schema(prefix: &str) -> Schema {
    let example = text(prefix, example_bits(prefix));
    json_schema!({ "type": "string", "minLength": 1, "maxLength": 64, "examples": [example] })
}

/// Every pair of characters: ten bits at a time is twice as fast as five.
const PAIRS: [[u8; 2]; 1_024] = {
    let mut pairs = [[0; 2]; 1_024];
    let mut bits = 0;
    while bits < 1_024 {
        pairs[bits] = [ALPHABET[bits >> 5], ALPHABET[bits & 31]];
        bits += 1;
    }
    pairs
};

/// The code of 64 bits.
#[must_use]
pub fn encode(bits: u64) -> [u8; CODE_LENGTH] {
    let mut code = [0; CODE_LENGTH];
    code[0] = ALPHABET[(bits >> 60) as usize];
    let mut place = 1;
    while place < CODE_LENGTH {
        let ten = (bits >> (5 * (CODE_LENGTH - 2 - place))) & 1_023;
        [code[place], code[place + 1]] = PAIRS[ten as usize];
        place += 2;
    }
    code
}

/// The same as text.
#[must_use]
pub fn encode_to_string(bits: u64) -> String {
    encode(bits).iter().copied().map(char::from).collect()
}

/// Writes `prefix_code` without allocating.
pub fn write_id(out: &mut impl fmt::Write, prefix: &str, bits: u64) -> fmt::Result {
    out.write_str(prefix)?;
    out.write_char('_')?;
    let code = encode(bits);
    out.write_str(core::str::from_utf8(&code).map_err(|_| fmt::Error)?)
}

/// The bits of `prefix_code` if `text` is exactly that. An id has one spelling, in lower case.
#[must_use]
pub fn parse(prefix: &str, text: &str) -> Option<u64> {
    let code = text.strip_prefix(prefix)?.strip_prefix('_')?.as_bytes();
    if code.len() != CODE_LENGTH {
        return None;
    }
    let mut bits: u64 = 0;
    for (place, character) in code.iter().enumerate() {
        let value = ALPHABET.iter().position(|c| c == character)? as u64;
        if place == 0 && value > 15 {
            return None; // the first character carries four bits
        }
        bits = bits << 5 | value;
    }
    (bits != u64::MAX).then_some(bits)
}

/// A keyed permutation of the 64-bit numbers: four rounds of a Feistel network.
#[derive(Clone, Copy, Debug)]
pub struct Permutation([Key; 4]);

impl Permutation {
    /// The permutation of that key.
    #[must_use]
    pub const fn new(key: Key) -> Self {
        Self([key.at(0), key.at(1), key.at(2), key.at(3)])
    }

    /// The image of `index`.
    #[must_use]
    pub const fn apply(&self, index: u64) -> u64 {
        let (mut left, mut right) = halves(index);
        let mut round = 0;
        while round < 4 {
            (left, right) = (right, left ^ self.scramble(round, right));
            round += 1;
        }
        join(left, right)
    }

    /// The index with that `image`.
    #[must_use]
    pub const fn invert(&self, image: u64) -> u64 {
        let (mut left, mut right) = halves(image);
        let mut round = 4;
        while round > 0 {
            round -= 1;
            (left, right) = (right ^ self.scramble(round, left), left);
        }
        join(left, right)
    }

    #[expect(clippy::cast_possible_truncation, reason = "a round takes the low half of its hash")]
    const fn scramble(&self, round: usize, half: u32) -> u32 {
        self.0[round].at(half as u64).hash() as u32
    }
}

#[expect(clippy::cast_possible_truncation, reason = "each half is its 32 bits")]
const fn halves(bits: u64) -> (u32, u32) {
    ((bits >> 32) as u32, bits as u32)
}

const fn join(left: u32, right: u32) -> u64 {
    (left as u64) << 32 | right as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Thing;
    impl Prefixed for Thing {
        const PREFIX: &'static str = "thg";
        const NAME: &'static str = "thing";
    }

    #[test]
    fn a_permutation_is_undone_by_its_inverse() {
        let permutation = Permutation::new(Key::new(42).with("test"));
        for index in (0..10_000).chain([u64::MAX, u64::MAX / 3]) {
            assert_eq!(permutation.invert(permutation.apply(index)), index);
        }
    }

    #[test]
    fn an_id_reads_back_what_it_wrote() {
        for bits in [0, 1, 42, u64::MAX - 1, 0x0123_4567_89AB_CDEF] {
            let id = Id::<Thing>::from_bits(bits);
            assert_eq!(id.to_string().parse(), Ok(id));
        }
    }

    #[test]
    fn text_that_is_no_id_of_the_kind_is_unknown() {
        let good = Id::<Thing>::from_bits(42).to_string();
        for text in [
            "",
            "thg_",
            "thg_0",
            &good.to_uppercase(),
            &good.replace("thg", "emp"),
            &format!("{good} "),
        ] {
            assert_eq!(text.parse(), Ok(Id::<Thing>::UNKNOWN), "{text}");
        }
    }
}
