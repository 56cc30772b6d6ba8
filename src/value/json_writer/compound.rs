//! The parts of a list or an object, one after another.

use serde::ser::{
    Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant,
};
use serde_json::Error;

use super::{END, Form, ITEM, SKIPPED, Writer};

/// An open array or object.
pub(in crate::value) struct Compound<'w, 's, 'a> {
    writer: &'w mut Writer<'s, 'a>,
    is_first: bool,
    end: End,
}

/// How it ends.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum End {
    Array,
    Object,
    /// An array that is the value of a variant.
    ArrayOfVariant,
    ObjectOfVariant,
    /// Text that is JSON already.
    Raw,
}

impl<'s, 'a> Writer<'s, 'a> {
    pub(super) fn open(&mut self, end: End) -> Compound<'_, 's, 'a> {
        match end {
            _ if self.is_to_hash() => {}
            End::Array | End::ArrayOfVariant => self.byte(b'['),
            End::Object | End::ObjectOfVariant => self.open_object(),
            End::Raw => self.form = Form::Raw,
        }
        Compound { writer: self, is_first: true, end }
    }
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
        if !self.writer.is_to_hash() {
            self.separate();
        }
        self.writer.name(name);
        self.value(value)
    }

    fn skip(&mut self) {
        if self.writer.is_to_hash() {
            self.writer.byte(SKIPPED);
        }
    }

    #[inline]
    fn separate(&mut self) {
        if self.writer.is_to_hash() {
            self.writer.byte(ITEM);
        } else if !std::mem::take(&mut self.is_first) {
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
        if self.writer.is_to_hash() {
            return self.writer.byte(END);
        }
        match self.end {
            End::Array | End::ArrayOfVariant => self.writer.byte(b']'),
            End::Object | End::ObjectOfVariant => self.writer.close_object(),
            End::Raw => self.writer.form = Form::Json,
        }
        if matches!(self.end, End::ArrayOfVariant | End::ObjectOfVariant) {
            self.writer.close_variant();
        }
    }
}

/// The traits whose parts are items, and those whose parts are members with a name.
macro_rules! compounds {
    ($($trait:ident $method:ident $part:ident ($($name:ident $skip:ident)?);)*) => {
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
$(
            fn $skip(&mut self, _: &'static str) -> Result<(), Error> {
                self.skip();
                Ok(())
            }
)?
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
    SerializeStruct serialize_field member (name skip_field);
    SerializeStructVariant serialize_field member (name skip_field);
}

impl SerializeMap for Compound<'_, '_, '_> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: ?Sized + Serialize>(&mut self, name: &T) -> Result<(), Error> {
        self.separate();
        self.writer.mark();
        self.writer.key(name)?;
        if !self.writer.is_to_hash() {
            self.writer.byte(b':');
        }
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
