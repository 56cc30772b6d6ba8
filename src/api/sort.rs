//! The order of a list: by a member of its rows, ascending or descending.

use core::marker::PhantomData;
use std::borrow::Cow;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de};

/// The value that rows are sorted by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SortKey {
    Number(i64),
    Text(String),
}

/// Reads the value that a row is sorted by.
pub(crate) type KeyOf<T> = fn(&T) -> SortKey;

/// A resource whose lists can be sorted.
pub(crate) trait Sortable: Sized + 'static {
    /// Names of the members, and how to read them.
    const KEYS: &'static [(&'static str, KeyOf<Self>)];

    /// Whether its list begins with the newest row, if the caller does not sort it.
    const NEWEST_FIRST: bool = false;
}

/// The key of the default order.
const BY_TIME: &str = "created_at";

/// `sort=name` ascending, `sort=-name` descending; equal rows stay in creation order.
pub(crate) struct Sort<T> {
    key: usize,
    descending: bool,
    of: PhantomData<fn() -> T>,
}

impl<T> Clone for Sort<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Sort<T> {}

impl<T: Sortable> Sort<T> {
    /// The order of a list: the caller's, or that of newest rows first; none is the order of creation.
    pub(crate) fn or_usual(wanted: Option<&Self>) -> Option<Self> {
        let usual = || {
            let key = T::KEYS.iter().position(|(name, _)| *name == BY_TIME)?;
            T::NEWEST_FIRST.then_some(Self { key, descending: true, of: PhantomData })
        };
        wanted.copied().or_else(usual)
    }

    pub(crate) fn is_descending(&self) -> bool {
        self.descending
    }

    /// Reads the value that it sorts by.
    pub(crate) fn key(&self) -> KeyOf<T> {
        T::KEYS[self.key].1
    }

    /// Whether it is the order of creation.
    pub(crate) fn is_own_order(&self) -> bool {
        self.is_by_time() && !self.descending
    }

    /// Whether it sorts by creation time, ascending or descending.
    pub(crate) fn is_by_time(&self) -> bool {
        T::KEYS[self.key].0 == BY_TIME
    }

    pub(crate) fn apply(&self, rows: &mut [Arc<T>]) {
        let key = T::KEYS[self.key].1;
        if self.descending {
            rows.sort_by_cached_key(|row| core::cmp::Reverse(key(row)));
        } else {
            rows.sort_by_cached_key(|row| key(row));
        }
    }
}

/// Rows that are sorted by their keys. It holds no row itself, because a grown row takes kilobytes, and a page needs few.
pub(crate) struct Sorting<T, P> {
    sort: Option<Sort<T>>,
    /// The keys of the rows, and their places.
    rows: Vec<(Option<SortKey>, P)>,
}

impl<T: Sortable, P> Sorting<T, P> {
    pub(crate) const fn new(sort: Option<Sort<T>>) -> Self {
        Self { sort, rows: Vec::new() }
    }

    pub(crate) fn add(&mut self, row: &T, place: P) {
        self.rows.push((self.sort.map(|sort| sort.key()(row)), place));
    }

    /// The places in the order of the keys. Equal rows stay in the order in which they were added.
    pub(crate) fn sorted(mut self) -> Vec<P> {
        if self.sort.is_some_and(|sort| sort.descending) {
            self.rows.sort_by(|(one, _), (other, _)| other.cmp(one));
        } else {
            self.rows.sort_by(|(one, _), (other, _)| one.cmp(other));
        }
        self.rows.into_iter().map(|(_, place)| place).collect()
    }
}

impl<'de, T: Sortable> Deserialize<'de> for Sort<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<'de, str>::deserialize(deserializer)?;
        let (descending, name) =
            text.strip_prefix('-').map_or((false, &*text), |name| (true, name));
        let key = T::KEYS.iter().position(|(known, _)| *known == name);
        let key =
            key.ok_or_else(|| de::Error::custom("this list cannot be sorted by this member"))?;
        Ok(Self { key, descending, of: PhantomData })
    }
}

impl<T: Sortable> JsonSchema for Sort<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Sort".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names = T::KEYS.iter().flat_map(|(name, _)| [(*name).to_owned(), format!("-{name}")]);
        let usual = if T::NEWEST_FIRST {
            " Default: `-created_at`, newest first."
        } else {
            " Default: creation order."
        };
        let description = "Sort by this member; a minus sign sorts descending. Equal rows stay in \
            creation order.";
        let mut schema = json_schema!({
            "type": "string",
            "description": format!("{description}{usual}"),
            "enum": names.collect::<Vec<_>>(),
        });
        if T::NEWEST_FIRST {
            schema.insert("default".to_owned(), format!("-{BY_TIME}").into());
        }
        schema
    }
}
