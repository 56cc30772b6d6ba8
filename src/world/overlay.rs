//! The resources created or changed since the start, found by id, by order of creation and by parent.
//!
//! Every map and list is persistent: a clone shares all data, and the first write after it copies the path to
//! the change. So a snapshot copies only pointers,
//! for any number of changes.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::LazyLock;

use imbl::{OrdMap, OrdSet, Vector};
use serde::{Deserialize, Serialize};

use crate::model::{Kind, Record};

/// The resources created or changed since the start.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(from = "WrittenOverlay")]
pub(crate) struct Overlay {
    /// By kind and id. There are few kinds, so this map is copied, like the next one.
    #[serde(with = "pairs")]
    records: BTreeMap<Kind, OrdMap<u64, Record>>,
    /// Ids in creation order. Records are never deleted, so the order never changes.
    #[serde(with = "pairs")]
    created: BTreeMap<Kind, Vector<u64>>,
    /// The same below each parent; it numbers the next child.
    #[serde(with = "pairs")]
    children: OrdMap<(Kind, u64), Vector<u64>>,
    /// Indexes of grown objects that have changed.
    changed: OrdSet<(Kind, u64)>,
    /// Other values that find records, by kind and company: an index, which is rebuilt when the overlay is
    /// read.
    #[serde(skip)]
    names: OrdMap<(Kind, u64, String), u64>,
    /// The ids of resources that are found by similar names, by their look-up keys: an index as well.
    #[serde(skip)]
    alike: OrdSet<(u64, u64)>,
}

/// The serialised form of an overlay.
#[derive(Deserialize)]
struct WrittenOverlay {
    #[serde(with = "pairs")]
    records: BTreeMap<Kind, OrdMap<u64, Record>>,
    #[serde(with = "pairs")]
    created: BTreeMap<Kind, Vector<u64>>,
    #[serde(with = "pairs")]
    children: OrdMap<(Kind, u64), Vector<u64>>,
    changed: OrdSet<(Kind, u64)>,
}

impl From<WrittenOverlay> for Overlay {
    fn from(written: WrittenOverlay) -> Self {
        let mut overlay = Self {
            records: BTreeMap::new(),
            created: written.created,
            children: written.children,
            changed: written.changed,
            names: OrdMap::new(),
            alike: OrdSet::new(),
        };
        for (kind, records) in &written.records {
            for (id, record) in records {
                overlay.name(*kind, *id, None, Some(record));
            }
        }
        overlay.records = written.records;
        overlay
    }
}

/// The list of a kind or a parent without entries.
static NO_IDS: LazyLock<Vector<u64>> = LazyLock::new(Vector::new);

/// How a record came into the overlay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Created since the start, below this parent.
    Created { parent: u64 },
    /// Grown with this index, and changed since.
    Grown { index: u64 },
}

impl Overlay {
    pub(crate) fn get(&self, kind: Kind, id: u64) -> Option<&Record> {
        self.records.get(&kind)?.get(&id)
    }

    /// Stores a record and returns the one before it.
    pub(crate) fn put(
        &mut self,
        kind: Kind,
        id: u64,
        record: Record,
        origin: Origin,
    ) -> Option<Record> {
        let before = self.records.entry(kind).or_default().insert(id, record.clone());
        self.name(kind, id, before.as_ref(), Some(&record));
        if before.is_none() {
            match origin {
                Origin::Created { parent } => {
                    self.created.entry(kind).or_default().push_back(id);
                    match self.children.get_mut(&(kind, parent)) {
                        Some(ids) => ids.push_back(id),
                        None => drop(self.children.insert((kind, parent), Vector::unit(id))),
                    }
                }
                Origin::Grown { index } => {
                    self.changed.insert((kind, index));
                }
            }
        }
        before
    }

    /// Undoes the last `put` of this record.
    pub(crate) fn undo_put(&mut self, kind: Kind, id: u64, before: Option<Record>, origin: Origin) {
        let records = self.records.entry(kind).or_default();
        let undone = records.remove(&id);
        if let Some(before) = &before {
            records.insert(id, before.clone());
        } else if records.is_empty() {
            self.records.remove(&kind);
        }
        self.name(kind, id, undone.as_ref(), before.as_ref());
        if before.is_some() {
            return;
        }
        match origin {
            Origin::Created { parent } => {
                if pop(self.created.get_mut(&kind), id) {
                    self.created.remove(&kind);
                }
                if pop(self.children.get_mut(&(kind, parent)), id) {
                    self.children.remove(&(kind, parent));
                }
            }
            Origin::Grown { index } => {
                self.changed.remove(&(kind, index));
            }
        }
    }

    /// A record is found by its current names, and no longer by its old ones.
    fn name(&mut self, kind: Kind, id: u64, before: Option<&Record>, after: Option<&Record>) {
        if let Some(record) = before {
            for name in record.names() {
                self.names.remove(&(kind, record.company().bits(), name));
            }
            for key in record.name_keys() {
                self.alike.remove(&(key, id));
            }
        }
        if let Some(record) = after {
            for name in record.names() {
                self.names.insert((kind, record.company().bits(), name), id);
            }
            for key in record.name_keys() {
                self.alike.insert((key, id));
            }
        }
    }

    /// The record of this kind and company with this name.
    pub(crate) fn named(&self, kind: Kind, company: u64, name: String) -> Option<u64> {
        self.names.get(&(kind, company, name)).copied()
    }

    /// The look-up keys and the ids of their resources.
    pub(crate) fn under(&self, keys: RangeInclusive<u64>) -> impl Iterator<Item = (u64, u64)> {
        let (from, to) = ((*keys.start(), 0), (*keys.end(), u64::MAX));
        self.alike.range(from..=to).copied()
    }

    /// The last record of this kind and company, by name, whose name has this prefix.
    pub(crate) fn last_named(&self, kind: Kind, company: u64, prefix: &str) -> Option<u64> {
        let from = (kind, company, prefix.to_owned());
        let to = (kind, company, format!("{prefix}\u{7f}"));
        self.names.range(from..to).next_back().map(|(_, id)| *id)
    }

    /// The ids of this kind in order of creation.
    pub(crate) fn created(&self, kind: Kind) -> &Vector<u64> {
        self.created.get(&kind).unwrap_or(&NO_IDS)
    }

    /// The ids of this kind below a parent, in order of creation.
    pub(crate) fn children(&self, kind: Kind, parent: u64) -> &Vector<u64> {
        self.children.get(&(kind, parent)).unwrap_or(&NO_IDS)
    }

    /// The indexes of changed grown resources of this kind, ascending.
    pub(crate) fn changed(&self, kind: Kind) -> impl Iterator<Item = u64> {
        self.changed.range((kind, 0)..=(kind, u64::MAX)).map(|&(_, index)| index)
    }

    /// The number of records of a kind.
    pub(crate) fn count(&self, kind: Kind) -> u64 {
        self.created(kind).len() as u64 + self.changed(kind).count() as u64
    }

    /// How many records there are.
    pub(crate) fn len(&self) -> usize {
        self.records.values().map(OrdMap::len).sum()
    }

    /// Every record, ordered by kind and id.
    pub(crate) fn records(&self) -> impl Iterator<Item = (Kind, u64, &Record)> {
        self.records.iter().flat_map(|(&kind, records)| {
            records.iter().map(move |(&id, record)| (kind, id, record))
        })
    }
}

/// Removes the last id of a list, which is `id`, and returns whether it was the only one. Then the list is
/// removed, too, so that an undone transaction leaves no
/// trace.
fn pop(list: Option<&mut Vector<u64>>, id: u64) -> bool {
    let list = list.expect("what is undone was put");
    assert_eq!(list.pop_back(), Some(id), "changes are undone in reverse");
    list.is_empty()
}

/// Maps with keys that are not strings, as lists of pairs.
mod pairs {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<'a, M, K, V, S>(map: &'a M, serializer: S) -> Result<S::Ok, S::Error>
    where
        &'a M: IntoIterator<Item = (&'a K, &'a V)>,
        K: Serialize + 'a,
        V: Serialize + 'a,
        S: Serializer,
    {
        serializer.collect_seq(map)
    }

    pub(super) fn deserialize<'de, M, K, V, D>(deserializer: D) -> Result<M, D::Error>
    where
        M: IntoIterator<Item = (K, V)> + FromIterator<(K, V)>,
        K: Deserialize<'de>,
        V: Deserialize<'de>,
        D: Deserializer<'de>,
    {
        Ok(Vec::<(K, V)>::deserialize(deserializer)?.into_iter().collect())
    }
}
