//! The resources created or changed since the start, found by id, by order of creation and by parent.
//!
//! The maps and lists are persistent: a clone shares all data. The first write after a clone copies
//! the path to the change, or a small table. So a snapshot copies only pointers, for any number of
//! changes.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::{Arc, LazyLock};

use imbl::{OrdMap, OrdSet, Vector};
use serde::{Deserialize, Serialize};

use crate::model::{AnyId, Kind, Record};
use crate::world::chunks::Chunks;
use crate::world::table::Table;

/// The resources created or changed since the start.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(from = "WrittenOverlay")]
pub(crate) struct Overlay {
    /// There are few kinds, so this map is copied.
    #[serde(with = "pairs")]
    kinds: BTreeMap<Kind, Arc<OfKind>>,
    /// The number of events of subjects without a record here, such as grown wallets.
    #[serde(with = "pairs")]
    event_counts: OrdMap<AnyId, u32>,
    /// Records by look-up name, kind and company: an index, which is rebuilt when the overlay is read.
    #[serde(skip)]
    names: OrdMap<(Kind, u64, String), u64>,
    /// The ids of resources that are found by similar names, by their look-up keys: an index as well.
    #[serde(skip)]
    alike: OrdSet<(u64, u64)>,
}

/// The records of one kind.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct OfKind {
    /// By id.
    records: Table<Entry>,
    /// Ids in creation order. Records are never deleted, so the order never changes.
    created: Chunks<u64>,
    /// The ids of each parent's children in creation order; the count numbers the next child.
    children: Table<Children>,
    /// Indexes of grown objects that have changed.
    changed: OrdSet<u64>,
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
    kinds: BTreeMap<Kind, Arc<OfKind>>,
    #[serde(with = "pairs")]
    event_counts: OrdMap<AnyId, u32>,
}

impl From<WrittenOverlay> for Overlay {
    fn from(WrittenOverlay { kinds, event_counts }: WrittenOverlay) -> Self {
        let mut overlay = Self { event_counts, ..Self::default() };
        for (kind, of_kind) in &kinds {
            for (id, entry) in of_kind.records.iter() {
                overlay.name(*kind, id, None, Some(&entry.record));
            }
        }
        overlay.kinds = kinds;
        overlay
    }
}

/// The list of a parent without children.
static NO_IDS: LazyLock<Vector<u64>> = LazyLock::new(Vector::new);

/// The origin of a record in the overlay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Created since the start, below this parent.
    Created { parent: u64 },
    /// Grown with this index, and changed since.
    Grown { index: u64 },
}

impl Overlay {
    pub(crate) fn get(&self, kind: Kind, id: u64) -> Option<&Record> {
        self.kinds.get(&kind)?.records.get(id).map(|entry| &entry.record)
    }

    fn of_kind(&mut self, kind: Kind) -> &mut OfKind {
        Arc::make_mut(self.kinds.entry(kind).or_default())
    }

    /// Stores a record and returns the one before it.
    pub(crate) fn put(
        &mut self,
        kind: Kind,
        id: u64,
        record: Record,
        origin: Origin,
    ) -> Option<Record> {
        let entry = self.of_kind(kind).records.get_mut(id);
        let before = entry.map(|entry| std::mem::replace(&mut entry.record, record.clone()));
        self.name(kind, id, before.as_ref(), Some(&record));
        if before.is_none() {
            let events = self.event_counts.remove(&AnyId { kind, bits: id }).unwrap_or_default();
            let of_kind = self.of_kind(kind);
            of_kind.records.push(id, Entry { record, events });
            match origin {
                Origin::Created { parent } => {
                    of_kind.created.push(id);
                    match of_kind.children.get_mut(parent) {
                        Some(ids) => ids.push(id),
                        None => of_kind.children.push(parent, Children::One(id)),
                    }
                }
                Origin::Grown { index } => {
                    of_kind.changed.insert(index);
                }
            }
        }
        before
    }

    /// Undoes the last `put` of this record.
    pub(crate) fn undo_put(&mut self, kind: Kind, id: u64, before: Option<Record>, origin: Origin) {
        let of_kind = self.of_kind(kind);
        if let Some(before) = before {
            let entry = of_kind.records.get_mut(id).expect("what is undone was put");
            let undone = std::mem::replace(&mut entry.record, before.clone());
            self.name(kind, id, Some(&undone), Some(&before));
            return;
        }
        let (last, undone) = of_kind.records.pop().expect("what is undone was put");
        assert_eq!(last, id, "changes are undone in reverse");
        match origin {
            Origin::Created { parent } => {
                let last = of_kind.created.pop();
                assert_eq!(last, Some(id), "changes are undone in reverse");
                let ids = of_kind.children.get_mut(parent).expect("what is undone was put");
                if ids.pop(id) {
                    let last = of_kind.children.pop().map(|(of, _)| of);
                    assert_eq!(last, Some(parent), "changes are undone in reverse");
                }
            }
            Origin::Grown { index } => {
                of_kind.changed.remove(&index);
            }
        }
        if of_kind.records.is_empty() {
            self.kinds.remove(&kind);
        }
        if undone.events > 0 {
            self.event_counts.insert(AnyId { kind, bits: id }, undone.events);
        }
        self.name(kind, id, Some(&undone.record), None);
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
        let of_kind = self.kinds.get_mut(&subject.kind).map(Arc::make_mut);
        match of_kind.and_then(|of_kind| of_kind.records.get_mut(subject.bits)) {
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
    pub(crate) fn created(&self, kind: Kind) -> &Chunks<u64> {
        static NONE: Chunks<u64> = Chunks::new();
        self.kinds.get(&kind).map_or(&NONE, |of_kind| &of_kind.created)
    }

    fn below(&self, kind: Kind, parent: u64) -> Option<&Children> {
        self.kinds.get(&kind)?.children.get(parent)
    }

    /// The ids of this kind below a parent, in order of creation.
    pub(crate) fn children(&self, kind: Kind, parent: u64) -> impl DoubleEndedIterator<Item = u64> {
        let children = self.below(kind, parent);
        let many = children.map_or(&*NO_IDS, Children::many);
        children.and_then(Children::only).into_iter().chain(many.iter().copied())
    }

    /// The number of children.
    pub(crate) fn count_children(&self, kind: Kind, parent: u64) -> usize {
        self.below(kind, parent).map_or(0, |children| children.many().len().max(1))
    }

    /// The indexes of changed grown resources of this kind, ascending.
    pub(crate) fn changed(&self, kind: Kind) -> impl Iterator<Item = u64> {
        self.kinds.get(&kind).into_iter().flat_map(|of_kind| of_kind.changed.iter().copied())
    }

    /// The number of records of a kind.
    pub(crate) fn count(&self, kind: Kind) -> u64 {
        self.kinds.get(&kind).map_or(0, |of_kind| of_kind.records.len() as u64)
    }

    /// The number of records.
    pub(crate) fn len(&self) -> usize {
        self.kinds.values().map(|of_kind| of_kind.records.len()).sum()
    }

    /// Every record, by kind in the order of the first change.
    pub(crate) fn records(&self) -> impl Iterator<Item = (Kind, u64, &Record)> {
        self.kinds.iter().flat_map(|(&kind, of_kind)| {
            of_kind.records.iter().map(move |(id, entry)| (kind, id, &entry.record))
        })
    }
}

/// Maps with keys that are not strings, as lists of pairs.
pub(super) mod pairs {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(in crate::world) fn serialize<'a, M, K, V, S>(
        map: &'a M,
        serializer: S,
    ) -> Result<S::Ok, S::Error>
    where
        &'a M: IntoIterator<Item = (&'a K, &'a V)>,
        K: Serialize + 'a,
        V: Serialize + 'a,
        S: Serializer,
    {
        serializer.collect_seq(map)
    }

    pub(in crate::world) fn deserialize<'de, M, K, V, D>(deserializer: D) -> Result<M, D::Error>
    where
        M: IntoIterator<Item = (K, V)> + FromIterator<(K, V)>,
        K: Deserialize<'de>,
        V: Deserialize<'de>,
        D: Deserializer<'de>,
    {
        Ok(Vec::<(K, V)>::deserialize(deserializer)?.into_iter().collect())
    }
}
