//! Hashes of a world's events, in blocks: the part of the world's digest that grows with its changes.
//!
//! Within a block only the last state of each resource is hashed, so a run is not hashed again for each of its
//! payments.

use core::fmt::Write as _;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use imbl::Vector;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::model::business::{Employee, PayrollRun};
use crate::model::{Kind, Record};
use crate::value::json_sink::JsonSink;
use crate::value::{Id, aside};
use crate::world::event::Event;

/// SHA-256.
pub(super) type Hash = [u8; 32];

/// Writes the serialised form into the hash, without a copy of the whole.
struct Sink {
    hash: Sha256,
    /// Memory for pieces.
    piece: Vec<u8>,
}

impl Sink {
    const fn new(hash: Sha256) -> Self {
        Self { hash, piece: Vec::new() }
    }

    fn after(hash: Hash) -> Self {
        Self::new(Sha256::new_with_prefix(hash))
    }

    fn add(&mut self, value: &impl Serialize) {
        let mut update = |piece: &[u8]| self.hash.update(piece);
        let mut json = JsonSink::to_hash(&mut update, std::mem::take(&mut self.piece));
        json.add(value);
        self.piece = json.finish();
    }

    fn end(self) -> Hash {
        self.hash.finalize().into()
    }
}

/// The hash of any serialisable value, as 64 hexadecimal digits.
pub(crate) fn of(value: &impl Serialize) -> String {
    let mut sink = Sink::new(Sha256::new());
    sink.add(value);
    hex(sink.end())
}

/// Whether two states of a resource are equal.
pub(super) fn are_equal(one: &Record, other: &Record) -> bool {
    one.is(other) || of(one) == of(other)
}

pub(super) fn hex(hash: Hash) -> String {
    hash.iter().fold(String::new(), |mut hex, byte| {
        write!(hex, "{byte:02x}").expect("a string takes every character");
        hex
    })
}

/// The number of events that are hashed together.
const BLOCK: u64 = 256;

/// The hashes of the events so far. A world without a digest never calculates them.
#[derive(Debug)]
pub(crate) struct Hashes {
    /// The number of events in a block. Smaller if the log keeps fewer events than a block.
    block: u64,
    shared: Arc<Shared>,
}

/// The data that a hashing thread shares with its world.
#[derive(Debug, Default)]
struct Shared {
    /// Locked only to read or replace the value, so that a copy of the world never waits for hashes.
    known: Mutex<Known>,
    /// Locked while blocks are hashed, so that no two threads hash the same blocks.
    extending: Mutex<()>,
}

/// The hashes of complete blocks.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Known {
    /// The number of hashed events.
    events: u64,
    pub(super) log: Hash,
    pub(super) kinds: BTreeMap<Kind, Hash>,
    /// The last list of employees of a run, which all states of the run share, and its hash.
    #[serde(skip)]
    employees: Option<(Arc<Vec<Id<Employee>>>, Hash)>,
}

impl Default for Hashes {
    fn default() -> Self {
        Self { block: BLOCK, shared: Arc::default() }
    }
}

impl Clone for Hashes {
    fn clone(&self) -> Self {
        Self { block: self.block, ..Self::from(self.known()) }
    }
}

impl From<Known> for Hashes {
    fn from(known: Known) -> Self {
        let shared = Shared { known: Mutex::new(known), extending: Mutex::default() };
        Self { shared: Arc::new(shared), ..Self::default() }
    }
}

impl Hashes {
    /// The hashes so far.
    pub(super) fn known(&self) -> Known {
        lock(&self.shared.known).clone()
    }

    /// Sets the number of events that the log keeps.
    pub(super) fn set_limit(&mut self, most: Option<u64>) {
        self.block = most.unwrap_or(BLOCK).clamp(1, BLOCK);
    }

    /// Hashes the complete blocks among the stored events, of which the first has this sequence.
    pub(super) fn extend(&self, events: &Vector<Arc<Event>>, first: u64) {
        self.shared.extend(events, first, self.block);
    }

    /// Extends the hashes on another thread, unless the world was dropped by then.
    pub(super) fn extend_aside(&self, events: Vector<Arc<Event>>, first: u64) {
        let (shared, block) = (Arc::downgrade(&self.shared), self.block);
        aside::run(move || {
            if let Some(shared) = shared.upgrade() {
                shared.extend(&events, first, block);
            }
        });
    }

    /// All hashes, those of the incomplete last block included.
    pub(super) fn all(&self, events: &Vector<Arc<Event>>, first: u64) -> Known {
        self.extend(events, first);
        let mut all = lock(&self.shared.known).clone();
        let rest = since(events, first, all.events);
        if rest.len() > 0 {
            all.add(rest);
        }
        all
    }
}

impl Shared {
    fn extend(&self, events: &Vector<Arc<Event>>, first: u64, block: u64) {
        let _alone = lock(&self.extending);
        let last = events.back().map_or(0, |event| event.sequence);
        let mut next = lock(&self.known).clone();
        while next.events + block <= last {
            next.add(since(events, first, next.events).take(usize::try_from(block).unwrap_or(1)));
            *lock(&self.known) = next.clone();
        }
    }
}

/// A panic under a lock leaves the hashes of fewer blocks, which are valid.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The events after the first `count` ones of all.
fn since(
    events: &Vector<Arc<Event>>,
    first: u64,
    count: u64,
) -> impl ExactSizeIterator<Item = &Arc<Event>> {
    let place = usize::try_from((count + 1).saturating_sub(first)).unwrap_or(usize::MAX);
    let start = place.min(events.len());
    events.focus().narrow(start..events.len()).into_iter()
}

impl Known {
    /// The number of hashed events.
    pub(super) const fn events(&self) -> u64 {
        self.events
    }

    /// Adds one block.
    fn add<'a>(&mut self, events: impl Iterator<Item = &'a Arc<Event>>) {
        let mut log = Sink::after(self.log);
        let mut changed: BTreeMap<Kind, BTreeMap<u64, &Record>> = BTreeMap::new();
        for event in events {
            let Event { sequence, at, name, id, .. } = &**event;
            let Event { request, cause, decision, .. } = &**event;
            let (subject, company) = (event.subject(), event.company().bits());
            log.add(&(sequence, at, name, id, subject, company, request, cause, decision));
            for change in event.changes() {
                let records = changed.entry(change.kind()).or_default();
                records.insert(change.after.bits(), change.after);
            }
            self.events = *sequence;
        }
        self.log = log.end();
        for (kind, records) in changed {
            let mut sink = Sink::after(self.kinds.get(&kind).copied().unwrap_or_default());
            for record in records.into_values() {
                match record {
                    Record::PayrollRun(run) => self.add_run(&mut sink, run),
                    record => sink.add(record),
                }
            }
            self.kinds.insert(kind, sink.end());
        }
    }

    /// Adds a run with the hash of its employees, because they are the same in all of its states.
    fn add_run(&mut self, sink: &mut Sink, run: &PayrollRun) {
        let known = self.employees.as_ref();
        let hash = known.filter(|(employees, _)| Arc::ptr_eq(employees, &run.employees));
        let hash = hash.map_or_else(
            || {
                let mut ids = Sink::new(Sha256::new());
                run.employees.iter().for_each(|id| ids.hash.update(id.bits().to_be_bytes()));
                ids.end()
            },
            |(_, hash)| *hash,
        );
        self.employees = Some((Arc::clone(&run.employees), hash));
        sink.add(&PayrollRun { employees: Arc::default(), ..run.clone() });
        sink.hash.update(hash);
    }
}
