//! The serialiser of [`JsonSink`](super::json_sink::JsonSink): the bytes of `serde_json`, with fewer instructions, or bytes to hash.
//!
//! Most bytes of an answer are text without special characters. It is checked eight bytes at a time and copied whole. Text that needs
//! escapes, and floats, are left to `serde_json`. A test compares both on random values.
//!
//! The form for hashes is shorter and faster to write. A number is written as its bytes, and a text with its length
//! before it. A member has the length of its name instead of the name. Two different values of a type have different
//! bytes.

mod compound;
mod escape;

use serde::ser::{Error as _, Serialize, Serializer};
use serde_json::Error;

use self::compound::{Compound, End};
use self::escape::needs_escape;
use super::json_sink::JsonSink;

/// The name under which `serde_json` passes text that is JSON already.
const RAW: &str = "$serde_json::private::RawValue";

/// The bytes that a writer writes.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Form {
    Json,
    /// The next text is JSON already.
    Raw,
    ToHash,
}

/// Before each item of a list.
const ITEM: u8 = 1;
/// After the last item or member.
const END: u8 = 0;
/// A member that is not written. No name is that long.
const SKIPPED: u8 = u8::MAX;

/// Writes one value.
pub(super) struct Writer<'s, 'a> {
    sink: &'s mut JsonSink<'a>,
    /// The number of open objects.
    depth: u32,
    form: Form,
}

impl<'s, 'a> Writer<'s, 'a> {
    pub(super) const fn new(sink: &'s mut JsonSink<'a>, form: Form) -> Self {
        Self { sink, depth: 0, form }
    }

    #[inline]
    fn is_to_hash(&self) -> bool {
        self.form == Form::ToHash
    }

    #[inline]
    fn push(&mut self, text: &str) {
        self.sink.bytes.extend_from_slice(text.as_bytes());
    }

    #[inline]
    fn byte(&mut self, byte: u8) {
        self.sink.bytes.push(byte);
    }

    /// A place in the outermost object where a member begins or ends.
    #[inline]
    fn mark(&mut self) {
        if self.depth == 1 {
            self.sink.mark();
        }
    }

    fn text(&mut self, text: &str) -> Result<(), Error> {
        if self.is_to_hash() {
            self.sink.bytes.extend_from_slice(&text.len().to_le_bytes()[..4]);
            self.push(text);
            return Ok(());
        }
        if needs_escape(text.as_bytes()) {
            return serde_json::to_writer(&mut self.sink.bytes, text);
        }
        self.sink.bytes.reserve(text.len() + 2);
        self.byte(b'"');
        self.push(text);
        self.byte(b'"');
        Ok(())
    }

    fn open_object(&mut self) {
        self.depth += 1;
        self.byte(b'{');
    }

    fn close_object(&mut self) {
        self.depth -= 1;
        self.byte(b'}');
    }

    /// The name of a struct member, which never needs escaping.
    fn name(&mut self, name: &'static str) {
        debug_assert!(!needs_escape(name.as_bytes()), "a name without escapes: {name}");
        if self.is_to_hash() {
            return self.byte(name.len().to_le_bytes()[0]);
        }
        self.mark();
        let bytes = &mut self.sink.bytes;
        bytes.reserve(name.len() + 3);
        bytes.push(b'"');
        bytes.extend_from_slice(name.as_bytes());
        bytes.extend_from_slice(b"\":");
        self.mark();
    }

    /// The name of a member of a map. Numbers and truth values get quotes.
    fn key<T: ?Sized + Serialize>(&mut self, name: &T) -> Result<(), Error> {
        if self.is_to_hash() {
            return name.serialize(self);
        }
        let start = self.sink.bytes.len();
        name.serialize(&mut *self)?;
        match self.sink.bytes.get(start) {
            Some(b'"') => {}
            Some(b'-' | b'0'..=b'9' | b't' | b'f') => {
                self.sink.bytes.insert(start, b'"');
                self.byte(b'"');
            }
            _ => return Err(Error::custom("key must be a string")),
        }
        Ok(())
    }

    /// `{"variant":`
    fn open_variant(&mut self, variant: &'static str) -> Result<(), Error> {
        if self.is_to_hash() {
            return self.text(variant);
        }
        self.open_object();
        self.name(variant);
        Ok(())
    }

    /// The end of such an object.
    fn close_variant(&mut self) {
        if !self.is_to_hash() {
            self.mark();
            self.close_object();
        }
    }
}

/// Methods that write a number: as decimal digits, or the bytes of it.
macro_rules! numbers {
    ($($method:ident $type:ty;)*) => {
        $(fn $method(self, value: $type) -> Result<(), Error> {
            if self.is_to_hash() {
                self.sink.bytes.extend_from_slice(&value.to_le_bytes());
                return Ok(());
            }
            self.push(itoa::Buffer::new().format(value));
            Ok(())
        })*
    };
}

impl<'w, 's, 'a> Serializer for &'w mut Writer<'s, 'a> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Compound<'w, 's, 'a>;
    type SerializeTuple = Compound<'w, 's, 'a>;
    type SerializeTupleStruct = Compound<'w, 's, 'a>;
    type SerializeTupleVariant = Compound<'w, 's, 'a>;
    type SerializeMap = Compound<'w, 's, 'a>;
    type SerializeStruct = Compound<'w, 's, 'a>;
    type SerializeStructVariant = Compound<'w, 's, 'a>;

    numbers! {
        serialize_i8 i8; serialize_i16 i16; serialize_i32 i32; serialize_i64 i64; serialize_i128 i128;
        serialize_u8 u8; serialize_u16 u16; serialize_u32 u32; serialize_u64 u64; serialize_u128 u128;
    }

    fn is_human_readable(&self) -> bool {
        !self.is_to_hash()
    }

    fn serialize_bool(self, value: bool) -> Result<(), Error> {
        if self.is_to_hash() {
            return self.serialize_u8(value.into());
        }
        self.push(if value { "true" } else { "false" });
        Ok(())
    }

    fn serialize_f32(self, value: f32) -> Result<(), Error> {
        if self.is_to_hash() {
            return self.serialize_u32(value.to_bits());
        }
        serde_json::to_writer(&mut self.sink.bytes, &value)
    }

    fn serialize_f64(self, value: f64) -> Result<(), Error> {
        if self.is_to_hash() {
            return self.serialize_u64(value.to_bits());
        }
        serde_json::to_writer(&mut self.sink.bytes, &value)
    }

    fn serialize_char(self, value: char) -> Result<(), Error> {
        self.text(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Result<(), Error> {
        if self.form == Form::Raw {
            self.push(value);
            return Ok(());
        }
        self.text(value)
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), Error> {
        self.collect_seq(value)
    }

    fn serialize_none(self) -> Result<(), Error> {
        self.serialize_unit()
    }

    fn serialize_some<T: ?Sized + Serialize>(self, value: &T) -> Result<(), Error> {
        if self.is_to_hash() {
            self.byte(ITEM);
        }
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Error> {
        if self.is_to_hash() {
            self.byte(END);
            return Ok(());
        }
        self.push("null");
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Error> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<(), Error> {
        self.text(variant)
    }

    fn serialize_newtype_struct<T: ?Sized + Serialize>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: ?Sized + Serialize>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        self.open_variant(variant)?;
        value.serialize(&mut *self)?;
        self.close_variant();
        Ok(())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Self::SerializeSeq, Error> {
        Ok(self.open(End::Array))
    }

    fn serialize_tuple(self, _: usize) -> Result<Self::SerializeTuple, Error> {
        Ok(self.open(End::Array))
    }

    fn serialize_tuple_struct(
        self,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleStruct, Error> {
        Ok(self.open(End::Array))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, Error> {
        self.open_variant(variant)?;
        Ok(self.open(End::ArrayOfVariant))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap, Error> {
        Ok(self.open(End::Object))
    }

    fn serialize_struct(
        self,
        name: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStruct, Error> {
        Ok(self.open(if name == RAW { End::Raw } else { End::Object }))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, Error> {
        self.open_variant(variant)?;
        Ok(self.open(End::ObjectOfVariant))
    }
}

#[cfg(test)]
mod tests;
