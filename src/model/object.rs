//! The form of resources for callers: their wire form, the `object` member, and references to a resource of any
//! kind.

use core::fmt;
use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::model::kind::{Kind, OfKind};
use crate::value::id::{IdText, parse};
use crate::value::{Id, Prefixed};

/// The wire form of a resource: the resource itself, unless it is stored in a more compact form.
pub(crate) trait Wire {
    /// The serialised type.
    type Shape<'a>: Serialize
    where
        Self: 'a;

    /// The resource in its wire form.
    fn wire(&self) -> Self::Shape<'_>;
}

/// The `object` member: the name of the resource's kind, derived from the type.
pub(crate) struct Object<T>(core::marker::PhantomData<fn() -> T>);

impl<T> Object<T> {
    /// The only value.
    pub(crate) const NAME: Self = Self(core::marker::PhantomData);
}

impl<T> Clone for Object<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Object<T> {}

impl<T: Prefixed> fmt::Debug for Object<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::NAME)
    }
}

impl<T: Prefixed> Serialize for Object<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(T::NAME)
    }
}

impl<'de, T: Prefixed> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = Cow::<'de, str>::deserialize(deserializer)?;
        (name == T::NAME)
            .then_some(Self::NAME)
            .ok_or_else(|| de::Error::custom("another kind of object"))
    }
}

impl<T: Prefixed> JsonSchema for Object<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("{}_object", T::NAME).into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "const": T::NAME })
    }
}

/// A reference to a resource of any kind, such as the cause of a journal entry or the purpose of a payout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct AnyId {
    pub(crate) kind: Kind,
    pub(crate) bits: u64,
}

impl AnyId {
    /// A reference to that resource.
    pub(crate) fn of<T: OfKind>(id: Id<T>) -> Self {
        Self { kind: T::KIND, bits: id.bits() }
    }
}

impl fmt::Display for AnyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        crate::value::id::write_id(f, self.kind.prefix(), self.bits)
    }
}

/// The type and the id of a resource.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "Source")]
struct AnyIdWire {
    /// The type of the resource, as in its `object` member.
    #[serde(rename = "type")]
    kind: String,
    /// The id of the resource.
    id: String,
}

impl Serialize for AnyId {
    /// Without an allocation, because every event and entry has such references.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members = serializer.serialize_struct("AnyIdWire", 2)?;
        members.serialize_field("type", self.kind.name())?;
        members.serialize_field("id", &IdText { prefix: self.kind.prefix(), bits: self.bits })?;
        members.end()
    }
}

impl<'de> Deserialize<'de> for AnyId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let wire = AnyIdWire::deserialize(deserializer)?;
        let kind = Kind::ALL.iter().find(|kind| kind.name() == wire.kind);
        let found =
            kind.and_then(|&kind| Some(Self { kind, bits: parse(kind.prefix(), &wire.id)? }));
        found.ok_or_else(|| de::Error::custom("no resource has this type and id"))
    }
}

impl JsonSchema for AnyId {
    fn schema_name() -> Cow<'static, str> {
        AnyIdWire::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        AnyIdWire::json_schema(generator)
    }
}
