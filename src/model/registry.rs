//! Code about kinds that needs the types of all resources, generated from the rows of [`kind`](crate::model::kind).

use std::sync::Arc;

use serde::{Deserialize, Serialize, Serializer};

use crate::model::business::Company;
use crate::model::kind::{Kind, OfKind, for_each_kind, typed};
use crate::model::lifecycle::{Listed, State};
use crate::model::object::Wire;
use crate::value::{Id, Prefixed, json_sink};

/// A resource that a world keeps.
pub(crate) trait Entity: OfKind + Clone + Sized + Wire {
    /// Its id.
    fn id(&self) -> Id<Self>;

    /// The bits of the parent's id, which scopes its number and its look-up: the run of an item, the company of a
    /// run.
    fn parent(&self) -> u64;

    /// The company it belongs to.
    fn company(&self) -> Id<Company>;

    /// The resource as a record.
    fn into_record(self: Arc<Self>) -> Record;

    /// The record's resource, if it is of this kind.
    fn of_record(record: &Record) -> Option<&Arc<Self>>;
}

impl Record {
    /// Look-up names within its company, in its current state.
    pub(crate) fn names(&self) -> Vec<String> {
        match self {
            Self::Collection(collection) => collection.names(),
            Self::Invoice(invoice) => invoice.names(),
            _ => Vec::new(),
        }
    }

    /// Keys of the index of similar names, across all companies.
    pub(crate) fn name_keys(&self) -> Vec<u64> {
        match self {
            Self::WatchlistEntry(entry) => entry.name_keys().into_iter().collect(),
            _ => Vec::new(),
        }
    }
}

/// Implements [`Wire`] for kinds whose stored form is the wire form.
macro_rules! wire {
    (as_kept $type:ty) => {
        impl Wire for $type {
            type Shape<'a> = &'a Self;

            fn wire(&self) -> &Self {
                self
            }
        }
    };
    (own_wire $type:ty) => {};
}

macro_rules! kinds {
    (
        kept {
            $($kind:ident $prefix:literal $name:literal $module:tt { $($member:ident: $machine:ident),* }
                $growth:ident $wire:ident;)*
        }
        named { $($bare:tt)* }
    ) => {
        /// One version of one resource, as a shared pointer.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub(crate) enum Record { $($kind(Arc<typed!($module $kind)>),)* }

        impl Record {
            /// The bits of its id.
            pub(crate) fn bits(&self) -> u64 {
                match self { $(Self::$kind(record) => record.id.bits(),)* }
            }

            /// Its id, with its kind.
            pub(crate) fn any_id(&self) -> $crate::model::AnyId {
                $crate::model::AnyId { kind: self.kind(), bits: self.bits() }
            }

            /// Its kind.
            pub(crate) const fn kind(&self) -> Kind {
                match self { $(Self::$kind(_) => Kind::$kind,)* }
            }

            /// The company it belongs to.
            pub(crate) fn company(&self) -> Id<Company> {
                match self { $(Self::$kind(record) => record.company_of(),)* }
            }

            /// Whether both point to the same allocation, and so to the same version of a resource.
            pub(crate) fn is(&self, other: &Self) -> bool {
                match (self, other) {
                    $((Self::$kind(one), Self::$kind(other)) => Arc::ptr_eq(one, other),)*
                    _ => false,
                }
            }

            /// Its state in each of its machines, by the machine's member.
            pub(crate) fn states(&self) -> Vec<(&'static str, &'static str)> {
                match self {
                    $(Self::$kind(_record) => {
                        vec![$((stringify!($member), State::name(_record.$member))),*]
                    })*
                }
            }

            /// Writes the resource as callers see it.
            pub(crate) fn write_wire<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self { $(Self::$kind(record) => record.wire().serialize(serializer),)* }
            }

            /// The resource as callers see it, as JSON.
            pub(crate) fn to_json(&self) -> Vec<u8> {
                match self { $(Self::$kind(record) => json_sink::to_vec(&record.wire()),)* }
            }

            /// The members of the resource as callers see it, as JSON.
            pub(crate) fn to_members(&self) -> json_sink::Members {
                match self { $(Self::$kind(record) => json_sink::Members::of(&record.wire()),)* }
            }

            /// The resource as callers see it.
            pub(crate) fn to_wire(&self) -> serde_json::Value {
                serde_json::from_slice(&self.to_json()).expect("it was just written")
            }
        }

        $(
            impl Prefixed for typed!($module $kind) {
                const PREFIX: &'static str = $prefix;
                const NAME: &'static str = $name;
            }

            impl OfKind for typed!($module $kind) {
                const KIND: Kind = Kind::$kind;
            }

            impl Entity for typed!($module $kind) {
                fn id(&self) -> Id<Self> {
                    self.id
                }

                fn parent(&self) -> u64 {
                    self.parent_bits()
                }

                fn company(&self) -> Id<Company> {
                    self.company_of()
                }

                fn into_record(self: Arc<Self>) -> Record {
                    Record::$kind(self)
                }

                fn of_record(record: &Record) -> Option<&Arc<Self>> {
                    match record { Record::$kind(record) => Some(record), _ => None }
                }
            }

            wire!($wire typed!($module $kind));

            $(impl Listed for typed!($module $machine) {
                const KIND: Kind = Kind::$kind;
                const MEMBER: &'static str = stringify!($member);
            })*
        )*

        /// Every machine of the registry, in its order.
        #[must_use]
        pub fn machines() -> Vec<Machine> {
            vec![$($(Machine::of::<typed!($module $machine)>(),)*)*]
        }
    };
}

for_each_kind!(kinds);

/// A lifecycle, as names.
#[derive(Clone, Debug)]
pub struct Machine {
    /// The name of the resource's kind.
    pub kind: &'static str,
    /// The prefix of the kind's ids.
    pub prefix: &'static str,
    /// `status`, unless a kind has a second machine.
    pub member: &'static str,
    /// Every state, in the order of its declaration.
    pub states: Vec<&'static str>,
    /// Every transition: verb, start and end.
    pub rows: Vec<(&'static str, &'static str, &'static str)>,
}

impl Machine {
    fn of<S: State>() -> Self {
        let rows = S::ROWS.iter().flat_map(|row| {
            let starts = row.from.iter();
            starts.map(|from| (row.verb, from.name(), row.to.name()))
        });
        Self {
            kind: S::KIND.name(),
            prefix: S::KIND.prefix(),
            member: S::MEMBER,
            states: S::STATES.iter().map(|(_, name)| *name).collect(),
            rows: rows.collect(),
        }
    }
}
