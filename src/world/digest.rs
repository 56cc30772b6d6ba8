//! One hash of a whole world: equal worlds have equal hashes on every machine and in every build.

use core::fmt::Write as _;
use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use crate::model::Kind;
use crate::value::json_sink::JsonSink;
use crate::world::World;

/// Writes the serialised form into the hash, without a copy of the whole.
struct Sink(Sha256);

impl Sink {
    fn add(&mut self, value: &impl serde::Serialize) {
        let mut update = |piece: &[u8]| self.0.update(piece);
        let mut json = JsonSink::into(&mut update);
        json.add(value);
        json.finish();
    }

    fn hex(self) -> String {
        let bytes = self.0.finalize();
        bytes.iter().fold(String::new(), |mut hex, byte| {
            write!(hex, "{byte:02x}").expect("a string takes every character");
            hex
        })
    }
}

/// The hash of any serialisable value, as 64 hexadecimal digits.
pub(crate) fn of(value: &impl serde::Serialize) -> String {
    let mut sink = Sink(Sha256::new());
    sink.add(value);
    sink.hex()
}

impl World {
    /// The world's hash: its seed and shape, and all changes.
    pub(crate) fn digest(&self) -> String {
        of(self)
    }
}

/// The hashes of the parts of a world. Two different worlds differ in at least one.
#[derive(Debug)]
pub(crate) struct Parts {
    /// Its base, its clock and its version.
    pub(crate) frame: String,
    /// Records created or changed since growth, and their number.
    pub(crate) records: BTreeMap<Kind, (u64, String)>,
    /// The order of their creation, and the changed grown resources.
    pub(crate) order: String,
    pub(crate) books: String,
    pub(crate) log: String,
    pub(crate) timers: String,
    /// The rows that decide, and the logged decisions.
    pub(crate) decisions: String,
}

impl World {
    /// The hash of each part.
    pub(crate) fn parts(&self) -> Parts {
        // All fields are named, so that a new part is not forgotten here.
        let Self {
            base,
            mode,
            now,
            version,
            overlay,
            books,
            log,
            event_counts,
            timers,
            script,
            decided,
            reconciled,
            fresh: _,
            transaction: _,
        } = self;
        let mut sinks: BTreeMap<Kind, (u64, Sink)> = BTreeMap::new();
        for (kind, _, record) in overlay.records() {
            let (count, sink) = sinks.entry(kind).or_insert_with(|| (0, Sink(Sha256::new())));
            *count += 1;
            sink.add(record);
        }
        let records = sinks.into_iter();
        Parts {
            frame: of(&(base, mode, now, version)),
            records: records.map(|(kind, (count, sink))| (kind, (count, sink.hex()))).collect(),
            order: of(&overlay.order()),
            books: if reconciled.is_empty() { of(books) } else { of(&(books, reconciled)) },
            log: of(&(log, event_counts)),
            timers: of(timers),
            decisions: of(&(script, decided)),
        }
    }
}
