//! JSON from callers: strict parsing, canonical serialisation, and JSON pointers.
//!
//! May import `value`. `serde_json` alone would keep the last of two equal keys silently, which could turn a typing mistake into a wrong
//! payment. Here everything ambiguous is a 400 with line and column. Deliberately absent: schemas.

mod huge_number;

use core::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::map::Entry;
use serde_json::{Map, Number, Value};

use crate::value::{ApiError, ErrorCode};

/// Maximum nesting depth of arrays and objects.
pub(crate) const MAX_DEPTH: usize = 64;

/// The members of a usual object.
const USUAL_MEMBERS: usize = 7;

/// Maximum number of pointers listed by [`differing_pointers`]: enough to find a mistake, and limited for hostile bodies.
pub(crate) const MOST_DIFFERENCES: usize = 20;

/// Up to this limit every whole `f64` equals the written number exactly; above it, different numbers can have the
/// same `f64`.
const EXACT_FLOAT: f64 = 9_007_199_254_740_992.0;

/// Both messages of the parser about a `\u` escape.
const HALF_PAIR: &str =
    "this \\u escape is half of a surrogate pair: write both halves, or the character itself";

/// The body as a value; whole floats such as `698.0` and `1e2` become integers.
///
/// Refused as `malformed_json`, with line and column in bytes: an empty body, a byte order mark, invalid UTF-8, syntax errors, lone
/// surrogates, numbers beyond `f64`, duplicate keys, nesting deeper than [`MAX_DEPTH`], and text after the value.
pub(crate) fn parse(bytes: &[u8]) -> Result<Value, ApiError> {
    let text = core::str::from_utf8(bytes).map_err(|error| {
        let before = &bytes[..error.valid_up_to()];
        let line_start = before.iter().rposition(|&b| b == b'\n').map_or(0, |newline| newline + 1);
        let line = before.split(|&b| b == b'\n').count();
        malformed(line, before.len() - line_start + 1, "the body is not valid UTF-8")
    })?;
    if text.starts_with('\u{feff}') {
        return Err(malformed(
            1,
            1,
            "the body starts with a byte order mark, which JSON does not allow",
        ));
    }
    if text.bytes().all(|b| matches!(b, b' ' | b'\t' | b'\r' | b'\n')) {
        return Err(malformed(1, 1, "the body is empty: expected a JSON object"));
    }
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let parsed = Strict { depth: 0 }.deserialize(&mut deserializer);
    parsed.and_then(|value| deserializer.end().map(|()| value)).map_err(|error| {
        if let Some(huge) = huge_number::refusal(text, &error) {
            return huge;
        }
        let whole = error.to_string();
        let place = format!(" at line {} column {}", error.line(), error.column());
        let sentence = whole.strip_suffix(&place).unwrap_or(&whole);
        let is_half = sentence.contains("hex escape");
        let sentence = if is_half { HALF_PAIR } else { sentence };
        let ends = sentence.strip_prefix("EOF").map(|rest| format!("the body ends{rest}"));
        malformed(error.line(), error.column(), ends.as_deref().unwrap_or(sentence))
    })
}

fn malformed(line: usize, column: usize, sentence: &str) -> ApiError {
    ApiError::new(ErrorCode::MalformedJson, format!("line {line}, column {column}: {sentence}"))
}

/// Reads any value at that depth.
#[derive(Clone, Copy)]
struct Strict {
    depth: usize,
}

impl Strict {
    fn deeper<E: de::Error>(self) -> Result<Self, E> {
        if self.depth == MAX_DEPTH {
            return Err(E::custom(format_args!(
                "arrays and objects are nested deeper than {MAX_DEPTH}"
            )));
        }
        Ok(Self { depth: self.depth + 1 })
    }
}

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        folded(value).map(Value::Number).ok_or_else(|| E::custom("number out of range"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut array = Vec::new();
        while let Some(item) = items.next_element_seed(inner)? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut object = Map::with_capacity(USUAL_MEMBERS);
        while let Some(name) = members.next_key::<String>()? {
            match object.entry(name) {
                Entry::Vacant(place) => {
                    place.insert(members.next_value_seed(inner)?);
                }
                Entry::Occupied(taken) => {
                    return Err(de::Error::custom(format_args!(
                        "the member {} is repeated",
                        quoted(taken.key())
                    )));
                }
            }
        }
        Ok(Value::Object(object))
    }
}

/// The number as an integer, if it is exactly one.
#[expect(clippy::cast_possible_truncation, reason = "whole and within ±2^53")]
fn folded(value: f64) -> Option<Number> {
    if value.fract() == 0.0 && value.abs() <= EXACT_FLOAT {
        return Some(Number::from(value as i64));
    }
    Number::from_f64(value)
}

/// The text in quotes, with control characters escaped, shortened for messages.
pub(crate) fn quoted(text: &str) -> String {
    const MOST_CHARACTERS: usize = 40;
    match text.char_indices().nth(MOST_CHARACTERS) {
        Some((end, _)) => format!("{:?}…", &text[..end]),
        None => format!("{text:?}"),
    }
}

/// One serialisation for equal values: keys sorted by their bytes, no spaces.
pub(crate) fn canonical(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    write_canonical(value, &mut out);
    out
}

fn write_canonical(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                out.push(if index == 0 { b'[' } else { b',' });
                write_canonical(item, out);
            }
            out.extend_from_slice(if items.is_empty() { b"[]" } else { b"]" });
        }
        Value::Object(members) => {
            let mut sorted: Vec<_> = members.iter().collect();
            sorted.sort_unstable_by_key(|(name, _)| *name);
            for (index, (name, member)) in sorted.into_iter().enumerate() {
                out.push(if index == 0 { b'{' } else { b',' });
                serde_json::to_writer(&mut *out, name).expect("text is written to memory");
                out.push(b':');
                write_canonical(member, out);
            }
            out.extend_from_slice(if members.is_empty() { b"{}" } else { b"}" });
        }
        scalar => serde_json::to_writer(out, scalar).expect("a scalar is written to memory"),
    }
}

/// The pointers at which two values differ, at the deepest level: missing members and items, and different scalars.
/// The first [`MOST_DIFFERENCES`], in the order of `left`, followed by those that only `right` has.
pub(crate) fn differing_pointers(left: &Value, right: &Value) -> Vec<String> {
    let mut found = Vec::new();
    compare(left, right, Place::Root, &mut found);
    found
}

fn compare(left: &Value, right: &Value, at: Place<'_>, found: &mut Vec<String>) {
    match (left, right) {
        _ if found.len() == MOST_DIFFERENCES => {}
        (Value::Object(left), Value::Object(right)) => {
            for (name, member) in left {
                compare_member(Some(member), right.get(name), Place::Member(&at, name), found);
            }
            for (name, member) in right.iter().filter(|(name, _)| !left.contains_key(*name)) {
                compare_member(None, Some(member), Place::Member(&at, name), found);
            }
        }
        (Value::Array(left), Value::Array(right)) => {
            for index in 0..left.len().max(right.len()) {
                compare_member(left.get(index), right.get(index), Place::Item(&at, index), found);
            }
        }
        _ if left == right => {}
        _ => found.push(at.pointer()),
    }
}

fn compare_member(
    left: Option<&Value>,
    right: Option<&Value>,
    at: Place<'_>,
    found: &mut Vec<String>,
) {
    match (left, right) {
        (Some(left), Some(right)) => compare(left, right, at, found),
        _ if found.len() == MOST_DIFFERENCES => {}
        _ => found.push(at.pointer()),
    }
}

/// A place in a document, kept on the stack, so that only a violation allocates.
#[derive(Clone, Copy)]
pub(crate) enum Place<'a> {
    /// The whole document.
    Root,
    /// A member of the object there.
    Member(&'a Place<'a>, &'a str),
    /// An item of the array there.
    Item(&'a Place<'a>, usize),
}

impl Place<'_> {
    /// The JSON pointer (RFC 6901); empty for the root.
    pub(crate) fn pointer(self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }

    fn write(self, out: &mut String) {
        match self {
            Self::Root => {}
            Self::Member(parent, name) => {
                parent.write(out);
                out.push('/');
                for character in name.chars() {
                    match character {
                        '~' => out.push_str("~0"),
                        '/' => out.push_str("~1"),
                        other => out.push(other),
                    }
                }
            }
            Self::Item(parent, index) => {
                parent.write(out);
                out.push('/');
                out.push_str(&index.to_string());
            }
        }
    }
}

#[cfg(test)]
mod tests;
