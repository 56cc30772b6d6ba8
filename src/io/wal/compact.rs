//! Rewrites a write-ahead log without unneeded entries: deleted worlds, digests, and outdated progress.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, BufWriter, Write};
use std::path::Path;

use crate::engine::recording::{
    Delivered, End, Entry, FORMAT, Header, KeyHash, Named, Removed, Spent,
};
use crate::io::private;
use crate::io::wal::file::{self, entry};
use crate::io::wal::frame::{self, MAGIC, Picker, Scanner};
use crate::io::wal::index::Index;
use crate::io::wal::peek::{Kind, Peek};

/// A write-ahead log that is written again, with new numbers.
struct Rewritten<W> {
    out: W,
    end: u64,
    /// The index of the new file.
    index: Index,
}

impl<W: Write> Rewritten<W> {
    fn push(&mut self, entry: &Entry) -> Result<(), String> {
        let payload = serde_json::to_vec(entry).map_err(|error| error.to_string())?;
        let mut bytes = Vec::new();
        frame::write(&payload, &mut bytes);
        self.index.add(self.end, &payload)?;
        let failed = |error| format!("cannot write the compacted log: {error}");
        self.out.write_all(&bytes).map_err(failed)?;
        self.end += bytes.len() as u64;
        Ok(())
    }

    /// The new number of a world.
    fn number(&mut self, key: KeyHash) -> Result<u32, String> {
        if let Some(number) = self.index.number(key) {
            return Ok(number);
        }
        let world = self.index.next_number();
        self.push(&Entry::World(Named { world, key }))?;
        Ok(world)
    }
}

/// Writes the needed entries to a new file, and returns its size. The old file is unchanged.
pub(crate) fn compact(
    old: &Path,
    header: &Header,
    index: &Index,
    new: &Path,
) -> Result<u64, String> {
    let failed = |error: io::Error| format!("cannot write {}: {error}", new.display());
    let out = private::open(OpenOptions::new().write(true).create(true).truncate(true), new);
    let mut out = BufWriter::new(out.map_err(failed)?);
    out.write_all(&MAGIC).map_err(failed)?;
    let mut bytes = Vec::new();
    let header = Header { format: FORMAT, ..header.clone() };
    let first = serde_json::to_vec(&Entry::Recording(Box::new(header)));
    frame::write(&first.map_err(|error| error.to_string())?, &mut bytes);
    out.write_all(&bytes).map_err(failed)?;
    let end = (MAGIC.len() + bytes.len()) as u64;
    let mut rewritten = Rewritten { out, end, index: Index::default() };
    copy(old, index, &mut rewritten)?;
    remove(index, &mut rewritten)?;
    use_again(index, &mut rewritten)?;
    if index.wall.is_some() {
        rewritten.push(&Entry::End(End { wall: index.wall, worlds: Vec::new() }))?;
    }
    let file = rewritten.out.into_inner().map_err(|error| failed(error.into_error()))?;
    file.sync_all().map_err(failed)?;
    Ok(rewritten.end)
}

/// The places where a log deletes worlds.
fn removals(old: &Path, index: &Index) -> Result<Vec<(u64, KeyHash)>, String> {
    let file = File::open(old).map_err(|error| error.to_string())?;
    let mut scanner = Scanner::new(BufReader::new(file));
    let mut found = Vec::new();
    while let Some((offset, payload)) = file::next(&mut scanner)? {
        let peek = Peek::of(payload).filter(|peek| peek.kind == Kind::Removed);
        found.extend(peek.and_then(|peek| Some((offset, index.world(peek.world)?))));
    }
    Ok(found)
}

/// Copies the frames that lead to the worlds, in their order in the file. So a fork comes after its source, and a new world comes after the
/// deletion of the world that led to the fork.
fn copy<W: Write>(old: &Path, index: &Index, new: &mut Rewritten<W>) -> Result<(), String> {
    let mut needed: BTreeMap<u64, KeyHash> = BTreeMap::new();
    let mut last: BTreeSet<KeyHash> = BTreeSet::new();
    for (world, _, _) in index.iter() {
        last.insert(world);
        for segment in index.segments(world) {
            needed.extend(segment.frames.iter().map(|offset| (offset, segment.world)));
        }
    }
    needed.extend(removals(old, index)?);
    let mut frames = Picker::new(File::open(old).map_err(|error| error.to_string())?);
    for (offset, key) in needed {
        let payload = frames.payload(offset).map_err(|error| error.to_string())?;
        let mut entry = entry(offset, payload)?;
        if matches!(entry, Entry::Removed(_)) && !new.index.holds(key) {
            continue; // the deleted world led to no other
        }
        let number = new.number(key)?;
        let seq = new.index.inputs + 1;
        match &mut entry {
            Entry::Input(input) => (input.seq, input.world) = (seq, number),
            Entry::Clock(clock) => (clock.seq, clock.world) = (seq, number),
            Entry::Spent(spent) => spent.world = number,
            Entry::Endpoints(endpoints) => endpoints.world = number,
            Entry::Removed(removed) => removed.world = number,
            other => return Err(format!("byte {offset}: no world needs {other:?}")),
        }
        new.push(&entry)?;
    }
    for world in last {
        for kept in index.progress_entries(world) {
            let world = new.number(world)?;
            let entry = Delivered { world, progress: kept };
            new.push(&Entry::Delivered(entry))?;
        }
    }
    Ok(())
}

/// Writes notes of the used keys, because verifications need them.
fn use_again<W: Write>(index: &Index, new: &mut Rewritten<W>) -> Result<(), String> {
    for key in index.only_used() {
        let world = new.number(key)?;
        if !new.index.knows(key) {
            new.push(&Entry::Spent(Spent { world, rows: Vec::new() }))?;
        }
    }
    Ok(())
}

/// Deletes the worlds that only led to others.
fn remove<W: Write>(index: &Index, new: &mut Rewritten<W>) -> Result<(), String> {
    let deleted: Vec<KeyHash> =
        new.index.iter().map(|(world, _, _)| world).filter(|world| !index.holds(*world)).collect();
    for key in deleted {
        let world = new.number(key)?;
        new.push(&Entry::Removed(Removed { world }))?;
    }
    Ok(())
}
