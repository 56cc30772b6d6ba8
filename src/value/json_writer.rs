//! The serialiser of [`JsonSink`](super::json_sink::JsonSink): the bytes of `serde_json`, with fewer instructions.
//!
//! Most bytes of an answer are text without special characters. It is checked eight bytes at a time and copied whole. Text that needs
//! escapes, and floats, are left to `serde_json`. A test compares both on random values.

mod escape;

use serde::ser::{
    Error as _, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant,
    SerializeTuple, SerializeTupleStruct, SerializeTupleVariant, Serializer,
};
use serde_json::Error;

use self::escape::needs_escape;
use super::json_sink::JsonSink;

/// The name under which `serde_json` passes text that is JSON already.
const RAW: &str = "$serde_json::private::RawValue";

/// Writes one value.
pub(super) struct Writer<'s, 'a> {
    sink: &'s mut JsonSink<'a>,
    /// The number of open objects.
    depth: u32,
    /// Whether the next text is JSON already.
    is_raw: bool,
}

impl<'s, 'a> Writer<'s, 'a> {
    pub(super) const fn new(sink: &'s mut JsonSink<'a>) -> Self {
        Self { sink, depth: 0, is_raw: false }
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
        if needs_escape(text.as_bytes()) {
            return serde_json::to_writer(&mut self.sink.bytes, text);
        }
        self.sink.bytes.reserve(text.len() + 2);
        self.byte(b'"');
        self.push(text);
        self.byte(b'"');
        Ok(())
    }

    fn open(&mut self, end: End) -> Compound<'_, 's, 'a> {
        match end {
            End::Array | End::ArrayOfVariant => self.byte(b'['),
            End::Object | End::ObjectOfVariant => self.open_object(),
            End::Raw => self.is_raw = true,
        }
        Compound { writer: self, is_first: true, end }
    }

    fn open_object(&mut self) {
        self.depth += 1;
        self.byte(b'{');
    }

    fn close_object(&mut self) {
        self.depth -= 1;
        self.byte(b'}');
    }

    /// The name of a member of a struct, which is a word of the program and has nothing to escape.
    fn name(&mut self, name: &'static str) {
        debug_assert!(!needs_escape(name.as_bytes()), "a name without escapes: {name}");
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
    fn open_variant(&mut self, variant: &'static str) {
        self.open_object();
        self.name(variant);
    }

    /// The end of such an object.
    fn close_variant(&mut self) {
        self.mark();
        self.close_object();
    }
}

/// Methods that write a number as decimal digits.
macro_rules! digits {
    ($($method:ident $type:ty;)*) => {
        $(fn $method(self, value: $type) -> Result<(), Error> {
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

    digits! {
        serialize_i8 i8; serialize_i16 i16; serialize_i32 i32; serialize_i64 i64; serialize_i128 i128;
        serialize_u8 u8; serialize_u16 u16; serialize_u32 u32; serialize_u64 u64; serialize_u128 u128;
    }

    fn serialize_bool(self, value: bool) -> Result<(), Error> {
        self.push(if value { "true" } else { "false" });
        Ok(())
    }

    fn serialize_f32(self, value: f32) -> Result<(), Error> {
        serde_json::to_writer(&mut self.sink.bytes, &value)
    }

    fn serialize_f64(self, value: f64) -> Result<(), Error> {
        serde_json::to_writer(&mut self.sink.bytes, &value)
    }

    fn serialize_char(self, value: char) -> Result<(), Error> {
        self.text(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Result<(), Error> {
        if self.is_raw {
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
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Error> {
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
        self.open_variant(variant);
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
        self.open_variant(variant);
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
        self.open_variant(variant);
        Ok(self.open(End::ObjectOfVariant))
    }
}

/// An open array or object.
pub(super) struct Compound<'w, 's, 'a> {
    writer: &'w mut Writer<'s, 'a>,
    is_first: bool,
    end: End,
}

/// How it ends.
#[derive(Clone, Copy, PartialEq)]
enum End {
    Array,
    Object,
    /// An array that is the value of a variant.
    ArrayOfVariant,
    ObjectOfVariant,
    /// Text that is JSON already.
    Raw,
}

impl Compound<'_, '_, '_> {
    fn item<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<(), Error> {
        self.separate();
        value.serialize(&mut *self.writer)?;
        self.writer.sink.pass_on_if_full();
        Ok(())
    }

    fn member<T: ?Sized + Serialize>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        if self.end == End::Raw {
            return value.serialize(&mut *self.writer);
        }
        self.separate();
        self.writer.name(name);
        self.value(value)
    }

    #[inline]
    fn separate(&mut self) {
        if !std::mem::take(&mut self.is_first) {
            self.writer.byte(b',');
        }
    }

    fn value<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<(), Error> {
        value.serialize(&mut *self.writer)?;
        self.writer.mark();
        self.writer.sink.pass_on_if_full();
        Ok(())
    }

    fn close(self) {
        match self.end {
            End::Array | End::ArrayOfVariant => self.writer.byte(b']'),
            End::Object | End::ObjectOfVariant => self.writer.close_object(),
            End::Raw => self.writer.is_raw = false,
        }
        if matches!(self.end, End::ArrayOfVariant | End::ObjectOfVariant) {
            self.writer.close_variant();
        }
    }
}

/// The traits whose parts are items, and those whose parts are members with a name.
macro_rules! compounds {
    ($($trait:ident $method:ident $part:ident ($($name:ident)?);)*) => {
        $(impl $trait for Compound<'_, '_, '_> {
            type Ok = ();
            type Error = Error;

            fn $method<T: ?Sized + Serialize>(
                &mut self,
                $($name: &'static str,)?
                value: &T,
            ) -> Result<(), Error> {
                self.$part($($name,)? value)
            }

            fn end(self) -> Result<(), Error> {
                self.close();
                Ok(())
            }
        })*
    };
}

compounds! {
    SerializeSeq serialize_element item ();
    SerializeTuple serialize_element item ();
    SerializeTupleStruct serialize_field item ();
    SerializeTupleVariant serialize_field item ();
    SerializeStruct serialize_field member (name);
    SerializeStructVariant serialize_field member (name);
}

impl SerializeMap for Compound<'_, '_, '_> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: ?Sized + Serialize>(&mut self, name: &T) -> Result<(), Error> {
        self.separate();
        self.writer.mark();
        self.writer.key(name)?;
        self.writer.byte(b':');
        self.writer.mark();
        Ok(())
    }

    fn serialize_value<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<(), Error> {
        self.value(value)
    }

    fn end(self) -> Result<(), Error> {
        self.close();
        Ok(())
    }
}

#[cfg(test)]
mod tests;
