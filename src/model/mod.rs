//! Resources and rules, pure: wire shapes, lifecycles, growth, postings, the payroll engine.
//!
//! May import `value`. Deliberately absent: any state. What a world holds of a resource is a [`Record`].

mod belongs;
pub(crate) mod business;
pub(crate) mod calendar;
pub(crate) mod capital;
pub(crate) mod decision;
pub(crate) mod fx;
pub(crate) mod fx_quoting;
pub(crate) mod growth;
pub(crate) mod identity;
pub(crate) mod ledger;
pub(crate) mod lifecycle;
pub(crate) mod name_match;
pub(crate) mod payments;
pub mod payroll;
pub(crate) mod posting;
pub(crate) mod prelude;
pub mod registry;
pub(crate) mod resource;
pub(crate) mod task;

pub(crate) use self::ledger::{
    Account, AccountType, Direction, EntryLine, EntryStatus, JournalEntry, TransactionType,
    WalletTransaction,
};
pub(crate) use self::lifecycle::{State, Stateful, StatusChange, refused, stateful, states, step};
pub(crate) use self::registry::{Kind, Record};
pub(crate) use self::resource::{resource, shown};
pub(crate) use self::task::{Task, TaskKind, UnderwriterDecision};

use core::fmt;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::model::business::Company;
use crate::value::id::{encode_to_string, parse};
use crate::value::{Id, Prefixed};

impl Record {
    /// What else it is found by below its company, while it stands as it does.
    pub(crate) fn names(&self) -> Vec<String> {
        match self {
            Self::Collection(collection) => collection.names(),
            Self::Invoice(invoice) => invoice.names(),
            _ => Vec::new(),
        }
    }

    /// What it is found by in any company, by similar names.
    pub(crate) fn name_keys(&self) -> BTreeSet<u64> {
        match self {
            Self::WatchlistEntry(entry) => entry.name_keys(),
            _ => BTreeSet::new(),
        }
    }
}

/// A resource that a world keeps.
pub(crate) trait Entity: Prefixed + Clone + Sized + Wire {
    /// Its kind.
    const KIND: Kind;

    /// Its id.
    fn id(&self) -> Id<Self>;

    /// The bits of the id below which it is numbered and found: a run's items, a company's runs.
    fn parent(&self) -> u64;

    /// The company it belongs to.
    fn company(&self) -> Id<Company>;

    /// The same as one of many.
    fn into_record(self: Arc<Self>) -> Record;

    /// The one that this record is, if it is of this kind.
    fn of_record(record: &Record) -> Option<&Arc<Self>>;
}

/// How a resource looks to callers: itself, unless it is kept in a more compact form.
pub(crate) trait Wire {
    /// What is serialised.
    type Shape<'a>: Serialize
    where
        Self: 'a;

    /// The resource as callers see it.
    fn wire(&self) -> Self::Shape<'_>;
}

/// The `object` member: the resource's own name, held by its type.
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

/// A resource of any kind: what caused a journal entry, what a payout pays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct AnyId {
    pub(crate) kind: Kind,
    pub(crate) bits: u64,
}

impl AnyId {
    /// A resource of any kind.
    pub(crate) fn of<T: Entity>(id: Id<T>) -> Self {
        Self { kind: T::KIND, bits: id.bits() }
    }
}

impl fmt::Display for AnyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        crate::value::id::write_id(f, self.kind.prefix(), self.bits)
    }
}

/// `{type, id}` on the wire.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Source")]
struct AnyIdWire {
    /// The resource's kind, as in its `object` member.
    #[serde(rename = "type")]
    kind: String,
    /// Its id.
    id: String,
}

impl Serialize for AnyId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let id = format!("{}_{}", self.kind.prefix(), encode_to_string(self.bits));
        AnyIdWire { kind: self.kind.name().to_owned(), id }.serialize(serializer)
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

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Kind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = Cow::<'de, str>::deserialize(deserializer)?;
        let found = Self::ALL.iter().find(|kind| kind.name() == name).copied();
        found.ok_or_else(|| de::Error::custom("no kind of resource has this name"))
    }
}
