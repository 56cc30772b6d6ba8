//! The resources created or changed since the start, found by id, by order of creation and by parent.
//!
//! Every map and list is persistent: a clone shares all data, and the first write after it copies the path to
//! the change. So a snapshot copies only pointers,
//! for any number of changes.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::{Arc, LazyLock};

use imbl::{OrdMap, OrdSet, Vector};
use serde::{Deserialize, Serialize};

use crate::model::{AnyId, Kind, Record};

/// The resources created or changed since the start.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(from = "WrittenOverlay")]
pub(crate) struct Overlay {
    /// By kind and id. There are few kinds, so this map is copied, like the next one.
    #[serde(with = "pairs")]
    records: BTreeMap<Kind, OrdMap<u64, Entry>>,
    /// The number of events of subjects without a record here, such as the wallets that the world began with.
    #[serde(with = "pairs")]
    event_counts: OrdMap<AnyId, u32>,
    /// Ids in creation order. Records are never deleted, so the order never changes.
    #[serde(with = "pairs")]
    created: BTreeMap<Kind, Vector<u64>>,
    /// The same below each parent; it numbers the next child.
    #[serde(with = "pairs")]
    children: OrdMap<(Kind, u64), Children>,
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

/// A record, and the number of events about it, which numbers the next one.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Entry {
    record: Record,
    events: u32,
}

/// The ids below one parent, in the order of their creation. Most parents have one of a kind, which needs no list.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Children {
    One(u64),
    Many(Arc<Vector<u64>>),
}

impl Children {
    fn push(&mut self, id: u64) {
        match self {
            Self::One(first) => *self = Self::Many(Arc::new([*first, id].into_iter().collect())),
            Self::Many(ids) => Arc::make_mut(ids).push_back(id),
        }
    }

    /// Removes the last id. Returns whether it was the only one.
    fn pop(&mut self, last: u64) -> bool {
        let Self::Many(ids) = self else {
            assert!(matches!(self, Self::One(id) if *id == last), "changes are undone in reverse");
            return true;
        };
        let ids = Arc::make_mut(ids);
        assert_eq!(ids.pop_back(), Some(last), "changes are undone in reverse");
        if let (1, Some(&first)) = (ids.len(), ids.front()) {
            *self = Self::One(first);
        }
        false
    }

    const fn only(&self) -> Option<u64> {
        match self {
            Self::One(id) => Some(*id),
            Self::Many(_) => None,
        }
    }

    fn many(&self) -> &Vector<u64> {
        match self {
            Self::One(_) => &NO_IDS,
            Self::Many(ids) => ids,
        }
    }
}

/// The serialised form of an overlay.
#[derive(Deserialize)]
struct WrittenOverlay {
    #[serde(with = "pairs")]
    records: BTreeMap<Kind, OrdMap<u64, Entry>>,
    #[serde(with = "pairs")]
    event_counts: OrdMap<AnyId, u32>,
    #[serde(with = "pairs")]
    created: BTreeMap<Kind, Vector<u64>>,
    #[serde(with = "pairs")]
    children: OrdMap<(Kind, u64), Children>,
    changed: OrdSet<(Kind, u64)>,
}

impl From<WrittenOverlay> for Overlay {
    fn from(written: WrittenOverlay) -> Self {
        let mut overlay = Self {
            records: BTreeMap::new(),
            event_counts: written.event_counts,
            created: written.created,
            children: written.children,
            changed: written.changed,
            names: OrdMap::new(),
            alike: OrdSet::new(),
        };
        for (kind, records) in &written.records {
            for (id, Entry { record, .. }) in records {
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
        self.records.get(&kind)?.get(&id).map(|entry| &entry.record)
    }

    /// Stores a record and returns the one before it.
    pub(crate) fn put(
        &mut self,
        kind: Kind,
        id: u64,
        record: Record,
        origin: Origin,
    ) -> Option<Record> {
        let records = self.records.entry(kind).or_default();
        let before =
            records.get_mut(&id).map(|entry| std::mem::replace(&mut entry.record, record.clone()));
        self.name(kind, id, before.as_ref(), Some(&record));
        if before.is_none() {
            let events = self.event_counts.remove(&AnyId { kind, bits: id }).unwrap_or_default();
            let records = self.records.entry(kind).or_default();
            records.insert(id, Entry { record, events });
            match origin {
                Origin::Created { parent } => {
                    self.created.entry(kind).or_default().push_back(id);
                    match self.children.get_mut(&(kind, parent)) {
                        Some(ids) => ids.push(id),
                        None => drop(self.children.insert((kind, parent), Children::One(id))),
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
        let records = self.records.get_mut(&kind).expect("what is undone was put");
        if let Some(before) = before {
            let entry = records.get_mut(&id).expect("what is undone was put");
            let undone = std::mem::replace(&mut entry.record, before.clone());
            self.name(kind, id, Some(&undone), Some(&before));
            return;
        }
        let undone = records.remove(&id).expect("what is undone was put");
        if records.is_empty() {
            self.records.remove(&kind);
        }
        if undone.events > 0 {
            self.event_counts.insert(AnyId { kind, bits: id }, undone.events);
        }
        self.name(kind, id, Some(&undone.record), None);
        match origin {
            Origin::Created { parent } => {
                let created = self.created.get_mut(&kind).expect("what is undone was put");
                assert_eq!(created.pop_back(), Some(id), "changes are undone in reverse");
                if created.is_empty() {
                    self.created.remove(&kind);
                }
                let below = (kind, parent);
                if self.children.get_mut(&below).expect("what is undone was put").pop(id) {
                    self.children.remove(&below);
                }
            }
            Origin::Grown { index } => {
                self.changed.remove(&(kind, index));
            }
        }
    }

    /// Counts an event of a subject. Returns the number of those before.
    pub(super) fn count_event(&mut self, subject: AnyId) -> u32 {
        let count = self.event_count(subject);
        *count += 1;
        *count - 1
    }

    /// Undoes the last `count_event` of this subject.
    pub(super) fn undo_count_event(&mut self, subject: AnyId) {
        let count = self.event_count(subject);
        *count -= 1;
        if *count == 0 {
            self.event_counts.remove(&subject);
        }
    }

    /// The number of events of a subject.
    fn event_count(&mut self, subject: AnyId) -> &mut u32 {
        let entry = self.records.get_mut(&subject.kind);
        match entry.and_then(|records| records.get_mut(&subject.bits)) {
            Some(entry) => &mut entry.events,
            None => self.event_counts.entry(subject).or_default(),
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
    pub(crate) fn children(&self, kind: Kind, parent: u64) -> impl DoubleEndedIterator<Item = u64> {
        let children = self.children.get(&(kind, parent));
        let many = children.map_or(&*NO_IDS, Children::many);
        children.and_then(Children::only).into_iter().chain(many.iter().copied())
    }

    /// The number of them.
    pub(crate) fn count_children(&self, kind: Kind, parent: u64) -> usize {
        let children = self.children.get(&(kind, parent));
        children.map_or(0, |children| children.many().len().max(1))
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
            records.iter().map(move |(&id, entry)| (kind, id, &entry.record))
        })
    }
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
