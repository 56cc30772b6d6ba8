//! What was created or changed since growth, found by id, by creation order and by parent.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::model::{Kind, Record};

/// What was created or changed since growth.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Overlay {
    #[serde(with = "pairs")]
    records: BTreeMap<(Kind, u64), Record>,
    /// Ids in creation order. Records are never deleted, so the order never changes.
    #[serde(with = "pairs")]
    created: BTreeMap<Kind, Vec<u64>>,
    /// The same below each parent: what numbers the next child.
    #[serde(with = "pairs")]
    children: BTreeMap<(Kind, u64), Vec<u64>>,
    /// Indexes of grown objects that have changed.
    changed: BTreeSet<(Kind, u64)>,
}

/// How a record came to be in the overlay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Created since growth, below that parent.
    Created { parent: u64 },
    /// Grown with that index, and changed since.
    Grown { index: u64 },
}

impl Overlay {
    pub(crate) fn get(&self, kind: Kind, id: u64) -> Option<&Record> {
        self.records.get(&(kind, id))
    }

    /// Puts a record there and says what stood there before.
    pub(crate) fn put(
        &mut self,
        kind: Kind,
        id: u64,
        record: Record,
        origin: Origin,
    ) -> Option<Record> {
        let before = self.records.insert((kind, id), record);
        if before.is_none() {
            match origin {
                Origin::Created { parent } => {
                    self.created.entry(kind).or_default().push(id);
                    self.children.entry((kind, parent)).or_default().push(id);
                }
                Origin::Grown { index } => {
                    self.changed.insert((kind, index));
                }
            }
        }
        before
    }

    /// Takes back the last `put` of that record.
    pub(crate) fn undo_put(&mut self, kind: Kind, id: u64, before: Option<Record>, origin: Origin) {
        if let Some(before) = before {
            self.records.insert((kind, id), before);
            return;
        }
        self.records.remove(&(kind, id));
        match origin {
            Origin::Created { parent } => {
                pop(&mut self.created, kind, id);
                pop(&mut self.children, (kind, parent), id);
            }
            Origin::Grown { index } => {
                self.changed.remove(&(kind, index));
            }
        }
    }

    /// Ids of that kind in creation order.
    pub(crate) fn created(&self, kind: Kind) -> &[u64] {
        self.created.get(&kind).map_or(&[], Vec::as_slice)
    }

    /// Ids of that kind below a parent, in creation order.
    pub(crate) fn children(&self, kind: Kind, parent: u64) -> &[u64] {
        self.children
            .get(&(kind, parent))
            .map_or(&[], Vec::as_slice)
    }

    /// Indexes of grown objects of that kind that have changed, ascending.
    pub(crate) fn changed(&self, kind: Kind) -> impl Iterator<Item = u64> {
        self.changed
            .range((kind, 0)..=(kind, u64::MAX))
            .map(|&(_, index)| index)
    }

    /// Every record, ordered by kind and id.
    pub(crate) fn records(&self) -> impl Iterator<Item = (Kind, u64, &Record)> {
        self.records
            .iter()
            .map(|(&(kind, id), record)| (kind, id, record))
    }
}

/// Removes the last id of a list, which is `id`, and the list with its last one: an undone transaction leaves no trace.
fn pop<K: Ord>(lists: &mut BTreeMap<K, Vec<u64>>, key: K, id: u64) {
    let list = lists.get_mut(&key).expect("what is undone was put");
    assert_eq!(list.pop(), Some(id), "changes are undone in reverse");
    if list.is_empty() {
        lists.remove(&key);
    }
}

/// Maps whose keys are not strings, as lists of pairs.
mod pairs {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<K: Serialize, V: Serialize, S: Serializer>(
        map: &BTreeMap<K, V>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(map)
    }

    pub(super) fn deserialize<'de, K, V, D>(deserializer: D) -> Result<BTreeMap<K, V>, D::Error>
    where
        K: Deserialize<'de> + Ord,
        V: Deserialize<'de>,
        D: Deserializer<'de>,
    {
        Ok(Vec::<(K, V)>::deserialize(deserializer)?
            .into_iter()
            .collect())
    }
}
