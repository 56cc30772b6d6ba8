//! Inputs that wait to be written, and the group of them that is written at once.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use crate::engine::recording::{
    Delivered, End, EndOf, Endpoints, Entry, KeyHash, Mark, Named, Note, Removed, Salt, Spent,
    Step, Tenure,
};
use crate::io::wal::index::Index;
use crate::io::wal::sink::Sink;
use crate::world::World;

/// An item that waits to be written.
#[derive(Debug)]
pub(super) enum Pending {
    Step { place: u64, tenure: Arc<Tenure>, step: Box<Step> },
    Note { place: u64, tenure: Arc<Tenure>, note: Note },
    Mark { tenure: Arc<Tenure>, state: Box<World> },
    End(Vec<EndOf>),
}

impl Pending {
    fn tenure(&self) -> Option<&Arc<Tenure>> {
        match self {
            Self::Step { tenure, .. } | Self::Note { tenure, .. } | Self::Mark { tenure, .. } => {
                Some(tenure)
            }
            Self::End(_) => None,
        }
    }

    const fn place(&self) -> Option<u64> {
        match self {
            Self::Step { place, .. } | Self::Note { place, .. } => Some(*place),
            Self::Mark { .. } | Self::End(_) => None,
        }
    }

    /// Whether its world would be another one without it.
    const fn is_needed(&self) -> bool {
        match self {
            Self::Step { .. } => true,
            Self::Note { note, .. } => note.is_needed(),
            Self::Mark { .. } | Self::End(_) => false,
        }
    }

    /// The world that it deletes.
    pub(super) fn removed(&self) -> Option<KeyHash> {
        match self {
            Self::Note { note: Note::Removed, tenure, .. } => Some(tenure.world),
            _ => None,
        }
    }

    /// Whether it belongs to the lost inputs of its world. A deleted world has lost its inputs after the deletion
    /// only.
    pub(super) fn is_lost(&self) -> bool {
        self.tenure().is_some_and(|tenure| match self.place() {
            Some(place) => tenure.has_lost(place),
            None => tenure.is_lost(),
        })
    }
}

/// Entries that are written at once.
pub(super) struct Group {
    pub(super) bytes: Vec<u8>,
    /// The place of the last input.
    pub(super) up_to: u64,
    /// The places of the entries that a replay of their worlds needs.
    pub(super) needed: Vec<(u64, Arc<Tenure>)>,
    /// The worlds whose keys are used for the first time.
    pub(super) opened: Vec<Arc<Tenure>>,
    /// The entries, each with its position in the bytes and that of its payload.
    entries: Vec<(usize, Range<usize>)>,
}

impl Group {
    /// Numbers the entries after those of the file.
    pub(super) fn of(pending: Vec<Pending>, index: &Index, sink: &Sink, salt: Salt) -> Self {
        let mut group = Self {
            bytes: Vec::new(),
            up_to: 0,
            needed: Vec::new(),
            opened: Vec::new(),
            entries: Vec::new(),
        };
        let (mut seq, mut number) = (index.inputs, index.next_number());
        let mut new: BTreeMap<KeyHash, u32> = BTreeMap::new();
        for one in pending {
            if let Some(place) = one.place() {
                group.up_to = group.up_to.max(place);
            }
            let (mut world, mut is_new) = (0, false);
            if let Some(tenure) = one.tenure() {
                let key = tenure.world;
                if let Some(place) = one.place().filter(|_| one.is_needed()) {
                    group.needed.push((place, Arc::clone(tenure)));
                }
                if matches!(one, Pending::Note { note: Note::Opened, .. }) {
                    group.opened.push(Arc::clone(tenure));
                }
                world = index.number(key).or_else(|| new.get(&key).copied()).unwrap_or_else(|| {
                    let this = number;
                    is_new = true;
                    new.insert(key, this);
                    number += 1;
                    group.push(sink, &Entry::World(Named { world: this, key }));
                    this
                });
            }
            if matches!(one, Pending::Step { .. }) {
                seq += 1;
            }
            if is_new && matches!(one, Pending::Note { note: Note::Opened, .. }) {
                continue; // the entry that names a new world already shows that its key was used
            }
            group.push(sink, &one.into_entry(seq, world, salt));
        }
        group
    }

    fn push(&mut self, sink: &Sink, entry: &Entry) {
        let start = self.bytes.len();
        sink.form(entry, &mut self.bytes);
        let payload = sink.payload(start..self.bytes.len());
        self.entries.push((start, payload));
    }

    /// Adds the entries to the index, after they were written at an offset.
    pub(super) fn add_to(&self, index: &mut Index, offset: u64) {
        for (start, payload) in &self.entries {
            let added = index.add(offset + *start as u64, &self.bytes[payload.clone()]);
            added.expect("the entry was numbered after those of the file");
        }
    }
}

impl Pending {
    fn into_entry(self, seq: u64, world: u32, salt: Salt) -> Entry {
        match self {
            Self::Step { step, .. } => step.into_entry(seq, world, salt),
            Self::Mark { state, .. } => Entry::Mark(Mark { world, digest: state.digest() }),
            Self::End(worlds) => Entry::End(End { wall: None, worlds }),
            Self::Note { note, .. } => match note {
                Note::Opened => Entry::Spent(Spent { world, rows: Vec::new() }),
                Note::Spent(rows) => Entry::Spent(Spent { world, rows }),
                Note::Endpoints(kept) => Entry::Endpoints(Box::new(Endpoints { world, kept })),
                Note::Delivered(progress) => Entry::Delivered(Delivered { world, progress }),
                Note::Removed => Entry::Removed(Removed { world }),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_deletion_loses_only_later_entries() {
        let tenure = Arc::new(Tenure::new(KeyHash::EMPTY));
        let entry = |place, note| Pending::Note { place, tenure: Arc::clone(&tenure), note };
        let (spent, removed) = (entry(3, Note::Spent(Vec::new())), entry(4, Note::Removed));
        tenure.lose(5); // as the deletion does
        assert!(!spent.is_lost() && !removed.is_lost());
        assert!(entry(5, Note::Opened).is_lost());
    }
}
