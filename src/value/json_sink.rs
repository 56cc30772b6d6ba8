//! The output of JSON: memory, or a function that takes one piece after another, such as a hash.
//!
//! Every resource is written to this type, so that its code is compiled once and not once per output.

use std::io;

use serde::Serialize;
use serde_json::Value;

/// The number of bytes that are collected before the function is called.
const PIECE: usize = 8 * 1_024;

/// A function that takes the next piece.
type Next<'a> = &'a mut dyn FnMut(&[u8]);

/// An output of JSON.
pub(crate) struct JsonSink<'a> {
    bytes: Vec<u8>,
    /// The number of bytes that are passed on together.
    full: usize,
    next: Option<Next<'a>>,
}

impl<'a> JsonSink<'a> {
    /// Appends to these bytes.
    pub(crate) const fn after(bytes: Vec<u8>) -> Self {
        Self { bytes, full: usize::MAX, next: None }
    }

    /// Passes pieces to a function and keeps nothing.
    pub(crate) fn into(next: Next<'a>) -> Self {
        Self { bytes: Vec::new(), full: PIECE, next: Some(next) }
    }

    /// Writes a value.
    pub(crate) fn add(&mut self, value: &impl Serialize) {
        serde_json::to_writer(self, value)
            .expect("the value serialises, and memory accepts every byte");
    }

    /// Passes the last piece to the function, or returns the bytes.
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

impl io::Write for JsonSink<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes)?;
        Ok(bytes.len())
    }

    #[inline]
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.bytes.extend_from_slice(bytes);
        if self.bytes.len() >= self.full {
            self.pass_on();
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
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
    fn pieces_joined_are_the_bytes_in_memory() {
        let value: Vec<u64> = (0..10_000).collect();
        let (mut pieces, mut joined) = (0, Vec::new());
        let mut next = |piece: &[u8]| {
            pieces += 1;
            joined.extend_from_slice(piece);
        };
        let mut sink = JsonSink::into(&mut next);
        sink.add(&value);
        assert!(sink.finish().is_empty());
        assert!(pieces > 2, "{pieces}");
        assert_eq!(joined, to_vec(&value));
        assert_eq!(joined, serde_json::to_vec(&value).expect("numbers serialise"));
    }
}
