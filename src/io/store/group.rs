//! Inputs that are stored by one statement: the new row of each world, and the entries to add to the log.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::engine::recording::{
    Endpoints, Entry, KeyHash, Mark, Note, Removed, Salt, Spent, Tenure,
};
use crate::io::store::claims::Held;
use crate::io::store::log::{Pending, What};

/// The world of each entry: a log has entries of one world only.
const WORLD: u32 = 1;

/// The entries of one world.
pub(super) struct Part {
    /// The number of the first new entry.
    pub(super) seq: i64,
    pub(super) count: i32,
    /// One JSON object in each line.
    pub(super) frames: Vec<u8>,
    /// The row of the world after the statement.
    pub(super) held: Held,
    /// The place of the first one.
    pub(super) place: u64,
    /// The tenures of the inputs. Their claim can have ended in the meantime, so it is not checked.
    tenures: Vec<Arc<Tenure>>,
    pub(super) inputs: u64,
}

impl Part {
    fn of(held: &Held, place: u64) -> Self {
        Self {
            seq: held.next,
            count: 0,
            frames: Vec::new(),
            held: held.clone(),
            place,
            tenures: Vec::new(),
            inputs: 0,
        }
    }

    /// None of the entries was stored, or it is not known whether they were.
    pub(super) fn lose(&self) {
        self.tenures.iter().for_each(|tenure| tenure.lose(self.place));
    }

    /// Certainly none of the entries was stored.
    pub(super) fn refuse(&self) {
        self.tenures.iter().for_each(|tenure| tenure.refuse(self.place));
    }

    fn push(&mut self, entry: &Entry) {
        serde_json::to_writer(&mut self.frames, entry)
            .expect("an entry has string keys and no failing member");
        self.frames.push(b'\n');
        self.count += 1;
        self.held.next += 1;
    }

    fn add(&mut self, tenure: Arc<Tenure>, what: What, salt: Salt) {
        if self.tenures.last().is_none_or(|last| !Arc::ptr_eq(last, &tenure)) {
            self.tenures.push(tenure);
        }
        match what {
            What::Step(step) => {
                let seq = self.held.next.unsigned_abs();
                self.push(&step.into_entry(seq, WORLD, salt));
                (self.held.inputs, self.held.is_quiet) = (self.held.inputs + 1, false);
                self.held.is_used = true;
                self.inputs += 1;
            }
            What::Mark(state) => {
                self.push(&Entry::Mark(Mark { world: WORLD, digest: state.digest() }));
            }
            What::Note(note) => self.note(note),
        }
    }

    fn note(&mut self, note: Note) {
        match note {
            Note::Opened => self.held.is_used = true,
            Note::Spent(rows) => {
                self.push(&Entry::Spent(Spent { world: WORLD, rows }));
                self.held.inputs += 1;
            }
            Note::Endpoints(kept) => {
                self.held.has_endpoints = !kept.is_empty();
                self.push(&Entry::Endpoints(Box::new(Endpoints { world: WORLD, kept })));
                self.held.inputs += 1;
            }
            Note::Delivered(kept) => {
                self.held.is_quiet = kept.quiet;
                self.held.progress.insert(kept.endpoint, kept.progress);
            }
            Note::Removed => {
                self.push(&Entry::Removed(Removed { world: WORLD }));
                self.held.remove();
            }
        }
    }
}

/// The data stored by one statement.
pub(super) struct Group {
    pub(super) parts: BTreeMap<KeyHash, Part>,
    /// The place of the last input.
    pub(super) up_to: u64,
}

impl Group {
    /// Numbers the entries after those of each world. Those of lost worlds are left out. `held` has the claims of
    /// their worlds at the time when the entries were taken.
    pub(super) fn of(pending: Vec<Pending>, held: &BTreeMap<KeyHash, Held>, salt: Salt) -> Self {
        let mut group = Self { parts: BTreeMap::new(), up_to: 0 };
        for Pending { place, tenure, what } in pending {
            group.up_to = group.up_to.max(place);
            if tenure.has_lost(place) {
                continue;
            }
            let held = held.get(&tenure.world);
            match held.filter(|held| held.epoch.unsigned_abs() == tenure.claim()) {
                Some(held) => {
                    let part = group.parts.entry(tenure.world);
                    part.or_insert_with(|| Part::of(held, place)).add(tenure, what, salt);
                }
                None => tenure.lose(place),
            }
        }
        group
    }

    /// The key that a fork opens, if the group is one, and whether it takes endpoints along.
    pub(super) fn forked(&self) -> Option<(KeyHash, bool)> {
        #[derive(serde::Deserialize)]
        struct Body {
            key: String,
            endpoints: Option<bool>,
        }
        let part = self.parts.values().next()?;
        let Ok(Entry::Input(input)) = serde_json::from_slice(&part.frames) else { return None };
        let body: Body = serde_json::from_str(input.body?.get()).ok()?;
        let has_endpoints = body.endpoints == Some(true) && part.held.has_endpoints;
        Some((KeyHash::recorded(&body.key)?, has_endpoints))
    }
}
