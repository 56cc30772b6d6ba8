//! The output of JSON, which is kept in memory, or of bytes to hash, which a function takes in pieces.
//!
//! Every resource is written to this type, so that its code is compiled once and not once per output.

use serde::Serialize;
use serde_json::Value;

use super::json_writer::{Form, Writer};

/// The number of bytes that are collected before the function is called.
const PIECE: usize = 8 * 1_024;

/// A function that takes the next piece.
type Next<'a> = &'a mut dyn FnMut(&[u8]);

/// An output of JSON, or of bytes to hash.
pub(crate) struct JsonSink<'a> {
    pub(super) bytes: Vec<u8>,
    /// The number of bytes that are passed on together.
    full: usize,
    next: Option<Next<'a>>,
    /// If wanted: the start of the name, the start of the value and the end of the value of each member of the outermost object.
    marks: Option<Vec<usize>>,
}

impl<'a> JsonSink<'a> {
    /// Appends its output to these bytes.
    pub(crate) const fn after(bytes: Vec<u8>) -> Self {
        Self { bytes, full: usize::MAX, next: None, marks: None }
    }

    /// Writes the form for hashes, which has no names, and passes it to a function in pieces. Uses this memory for a piece.
    pub(crate) fn to_hash(next: Next<'a>, mut bytes: Vec<u8>) -> Self {
        bytes.clear();
        bytes.reserve(PIECE);
        Self { bytes, full: PIECE, next: Some(next), marks: None }
    }

    /// Writes a value.
    pub(crate) fn add(&mut self, value: &impl Serialize) {
        let form = if self.next.is_some() { Form::ToHash } else { Form::Json };
        let written = value.serialize(&mut Writer::new(self, form));
        written.expect("the value serialises, and memory accepts every byte");
        self.pass_on_if_full();
    }

    /// Records the current position, at which a member of the outermost object begins or ends.
    #[inline]
    pub(super) fn mark(&mut self) {
        if let Some(marks) = &mut self.marks {
            marks.push(self.bytes.len());
        }
    }

    #[inline]
    pub(super) fn pass_on_if_full(&mut self) {
        if self.bytes.len() >= self.full {
            self.pass_on();
        }
    }

    /// Passes the last piece to the function and returns the empty memory, or returns the bytes.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        self.pass_on();
        self.bytes
    }

    #[cold]
    fn pass_on(&mut self) {
        if let Some(next) = &mut self.next {
            next(&self.bytes);
            self.bytes.clear();
        }
    }
}

/// The members of an object as JSON, in order.
pub(crate) struct Members {
    json: String,
    marks: Vec<usize>,
}

impl Members {
    /// The members of a value that is an object.
    pub(crate) fn of(value: &impl Serialize) -> Self {
        let mut sink = JsonSink { marks: Some(Vec::new()), ..JsonSink::after(Vec::new()) };
        sink.add(value);
        let json = String::from_utf8(sink.bytes).expect("JSON is UTF-8");
        Self { json, marks: sink.marks.unwrap_or_default() }
    }

    /// Each name and value, as JSON.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str)> + Clone {
        let pairs = self.marks.chunks_exact(3);
        pairs.map(|at| (&self.json[at[0]..at[1] - 1], &self.json[at[1]..at[2]]))
    }

    /// The members whose values differ in `other`, or that it does not have.
    pub(crate) fn without<'a>(
        &'a self,
        other: &'a Self,
    ) -> impl Iterator<Item = (&'a str, &'a str)> {
        let mut rest = other.iter();
        self.iter().filter(move |(name, value)| {
            // Two versions of a resource have their members in the same order.
            let mut ahead = rest.clone();
            let mut same = ahead.find(|(other, _)| other == name);
            match same {
                Some(_) => rest = ahead,
                None => same = other.iter().find(|(other, _)| other == name),
            }
            same.is_none_or(|(_, other)| other != *value)
        })
    }
}

/// A value as compact JSON.
pub(crate) fn to_vec(value: &impl Serialize) -> Vec<u8> {
    let mut sink = JsonSink::after(Vec::new());
    sink.add(value);
    sink.finish()
}

/// A value as a tree of JSON.
pub(crate) fn to_value(value: &impl Serialize) -> Value {
    serde_json::from_slice(&to_vec(value)).expect("it was just written")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_those_of_the_outermost_object() {
        let members = |json: &str| Members::of(&serde_json::from_str::<Value>(json).expect("JSON"));
        let before = members(r#"{"a":1,"b":{"c":[{"d":","}]},"e":"x:y","f":{}}"#);
        let after = members(r#"{"a":1,"e":"x","f":{},"g":null}"#);
        let pairs: Vec<_> = before.iter().collect();
        assert_eq!(pairs[1], ("\"b\"", r#"{"c":[{"d":","}]}"#));
        assert_eq!(pairs.len(), 4);
        let names = |members: Vec<(&str, &str)>| {
            members.into_iter().map(|(name, _)| name.to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(names(before.without(&after).collect()), ["\"b\"", "\"e\""]);
        assert_eq!(names(after.without(&before).collect()), ["\"e\"", "\"g\""]);
        assert!(members("{}").iter().next().is_none());
    }

    /// The bytes that are hashed, and the number of pieces.
    fn to_hash(value: &impl Serialize) -> (Vec<u8>, usize) {
        let (mut pieces, mut joined) = (0, Vec::new());
        let mut next = |piece: &[u8]| {
            pieces += 1;
            joined.extend_from_slice(piece);
        };
        let mut sink = JsonSink::to_hash(&mut next, Vec::new());
        sink.add(value);
        assert!(sink.finish().is_empty());
        (joined, pieces)
    }

    #[test]
    fn pieces_of_a_hash_form_are_joined() {
        let value: Vec<u64> = (0..10_000).collect();
        let (joined, pieces) = to_hash(&value);
        assert!(pieces > 2, "{pieces}");
        assert_eq!(joined.len(), 10_000 * 9 + 1);
        assert_eq!(joined[9..18], [1, 1, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn a_skipped_member_is_hashed() {
        #[derive(Serialize)]
        struct Two {
            #[serde(skip_serializing_if = "Option::is_none")]
            a: Option<u8>,
            #[serde(skip_serializing_if = "Option::is_none")]
            b: Option<u8>,
        }
        assert_ne!(to_hash(&Two { a: Some(5), b: None }), to_hash(&Two { a: None, b: Some(5) }));
    }
}
