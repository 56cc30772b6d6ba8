//! Checkpoints beside a write-ahead log: a file for each world with many inputs, from which the world is loaded
//! without their replay.
//!
//! A checkpoint is only a copy. If it is missing, damaged, or from another program or other inputs, the world is
//! replayed from its start. Its file has a mark of eight bytes, three parts of JSON, and a footer. The footer is a
//! JSON object with the sizes and checksums of the parts, followed by its own length and checksum. Deliberately
//! absent: the replay; `archive` has it.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, UNIX_EPOCH};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::engine::checkpoint::{Checkpoint, Gap, Parts, Position};
use crate::engine::recording::{KeyHash, ProgressOf, Recorder, Salt};
use crate::io::private;
use crate::io::wal::index::{Index, Segment};
use crate::io::wal::log::Log;
use crate::io::wal::spare::{Spare, free_bytes};
use crate::world::WORLD_VERSION;

/// The folder of the checkpoints, beside the log.
const FOLDER: &str = "checkpoints";
/// Its last byte changes with the format. A file of another format is ignored.
const MAGIC: [u8; 8] = *b"sbx-ckp2";
/// The length and the checksum at the end.
const TAIL: usize = 8;
/// The maximum time that a checkpoint waits for the storage of its last input.
const TIMEOUT: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(5);

/// The checkpoints of a log.
#[derive(Default)]
pub(super) struct Checkpoints {
    state: Mutex<State>,
    /// Locked while a checkpoint is written.
    writing: Mutex<()>,
}

#[derive(Default)]
struct State {
    /// None if the log is not read again, or this program cannot be recognised.
    place: Option<(PathBuf, Program)>,
    /// The worlds with many inputs, and the inputs of their last checkpoints.
    long: BTreeMap<KeyHash, u64>,
    gaps: Vec<Unfilled>,
    is_reported: bool,
}

/// A world that began with a checkpoint, and whose earlier inputs are to be replayed beside it.
pub(super) struct Unfilled {
    pub(super) world: KeyHash,
    pub(super) segments: Vec<Segment>,
    pub(super) progress: ProgressOf,
    pub(super) gap: Gap,
}

/// The program that wrote a checkpoint. Another program replays the inputs, because it could lead to another world.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Program {
    version: String,
    world_version: u32,
    bytes: u64,
    /// When its file was made, in nanoseconds.
    modified: u64,
}

impl Program {
    fn this() -> Option<Self> {
        let file = fs::metadata(std::env::current_exe().ok()?).ok()?;
        let modified = file.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        Some(Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            world_version: WORLD_VERSION,
            bytes: file.len(),
            modified: u64::try_from(modified.as_nanos()).ok()?,
        })
    }
}

/// The end of a file.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Footer {
    program: Program,
    /// The salt of the log.
    salt: Salt,
    world: KeyHash,
    pub(super) position: Position,
    /// [`Log::history`] up to the position: two histories can have equal positions.
    pub(super) history: u32,
    /// Sizes and checksums of the parts.
    parts: [(u64, u32); 3],
}

impl Checkpoints {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts to store checkpoints beside a log. Removes unfinished files of an earlier process, and the checkpoints
    /// of deleted worlds.
    pub(super) fn start(&self, log: &Path, index: &Index) {
        let Some(folder) = log.parent().map(|parent| parent.join(FOLDER)) else { return };
        let files = fs::read_dir(&folder).into_iter().flatten().flatten();
        for path in files.map(|file| file.path()) {
            let world = path.file_stem().and_then(OsStr::to_str).and_then(|name| name.parse().ok());
            let is_kept = match path.extension().and_then(OsStr::to_str) {
                Some("checkpoint") => world.is_some_and(|world| index.holds(world)),
                extension => extension != Some("writing"),
            };
            if !is_kept {
                fs::remove_file(path).ok();
            }
        }
        self.state().place = Program::this().map(|program| (folder, program));
    }

    /// Notes that a world has many inputs, and the number of inputs in its last checkpoint, if any.
    pub(super) fn note_long(&self, world: KeyHash, stored: Option<u64>) {
        let mut state = self.state();
        let known = state.long.entry(world).or_default();
        *known = stored.unwrap_or(*known);
    }

    pub(super) fn long(&self) -> Vec<(KeyHash, u64)> {
        self.state().long.iter().map(|(world, stored)| (*world, *stored)).collect()
    }

    pub(super) fn leave_unfilled(&self, unfilled: Unfilled) {
        self.state().gaps.push(unfilled);
    }

    pub(super) fn take_unfilled(&self) -> Vec<Unfilled> {
        std::mem::take(&mut self.state().gaps)
    }

    fn file(&self, world: KeyHash) -> Option<(PathBuf, Program)> {
        let (folder, program) = self.state().place.clone()?;
        Some((folder.join(format!("{world}.checkpoint")), program))
    }

    /// Removes the checkpoint of a world.
    pub(super) fn remove(&self, world: KeyHash) {
        self.state().long.remove(&world);
        if let Some((file, _)) = self.file(world) {
            fs::remove_file(file).ok(); // most worlds have none
        }
    }
}

/// The number of checkpoints beside a log, and their bytes.
pub(crate) fn count(log: &Path) -> (u64, u64) {
    let folder = log.parent().map(|parent| parent.join(FOLDER));
    let files = folder.and_then(|folder| fs::read_dir(folder).ok()).into_iter().flatten();
    let sizes = files.flatten().filter_map(|file| Some(file.metadata().ok()?.len()));
    sizes.fold((0, 0), |(files, bytes), size| (files + 1, bytes + size))
}

/// Removes all checkpoints beside a log, because its inputs get other numbers.
pub(crate) fn remove_all(log: &Path) -> io::Result<()> {
    let Some(folder) = log.parent().map(|parent| parent.join(FOLDER)) else { return Ok(()) };
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// Writes a part, and counts it.
struct PartWriter<W> {
    out: W,
    bytes: u64,
    hash: crc32fast::Hasher,
}

impl<W: Write> Write for PartWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write_all(bytes)?;
        self.hash.update(bytes);
        self.bytes += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn write_part(out: &mut impl Write, part: &impl Serialize) -> io::Result<(u64, u32)> {
    let mut writer = PartWriter { out, bytes: 0, hash: crc32fast::Hasher::new() };
    serde_json::to_writer(&mut writer, part)?;
    Ok((writer.bytes, writer.hash.finalize()))
}

fn write_file(path: &Path, parts: &Parts, mut footer: Footer) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        private::create_folder(folder)?;
    }
    let file = private::open(OpenOptions::new().write(true).create(true).truncate(true), path)?;
    let mut out = BufWriter::with_capacity(1 << 20, Spare::new(file, || free_bytes(path)));
    out.write_all(&MAGIC)?;
    let (records, rest, beside) = parts;
    footer.parts = [
        write_part(&mut out, records)?,
        write_part(&mut out, rest)?,
        write_part(&mut out, beside)?,
    ];
    let end = serde_json::to_vec(&footer)?;
    out.write_all(&end)?;
    out.write_all(&u32::try_from(end.len()).map_err(io::Error::other)?.to_le_bytes())?;
    out.write_all(&crc32fast::hash(&end).to_le_bytes())?;
    out.into_inner().map_err(io::IntoInnerError::into_error)?.into_inner().sync_data()
}

impl Log {
    /// Stores a checkpoint, when its last input is stored.
    pub(super) fn write_checkpoint(&self, checkpoint: Checkpoint) {
        let _alone = self.checkpoints.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let (world, position) = (checkpoint.key, checkpoint.position);
        let ticket = checkpoint.ticket.clone();
        let Some((path, program)) = self.checkpoints.file(world) else { return };
        let Some(parts) = checkpoint.into_parts() else { return };
        let unfinished = path.with_extension("writing");
        let is_lost = || ticket.tenure.is_lost();
        let mut waited = Duration::ZERO;
        while !self.has_stored(ticket.place) && waited < TIMEOUT {
            thread::sleep(PAUSE);
            waited += PAUSE;
        }
        let is_stored = self.has_stored(ticket.place);
        let history = is_stored.then(|| self.history_to(world, position)).flatten();
        let stored = history.map_or(Ok(()), |history| {
            let (salt, sizes) = (self.salt, [(0, 0); 3]);
            let footer = Footer { program, salt, world, position, history, parts: sizes };
            write_file(&unfinished, &parts, footer)?;
            if is_lost() { fs::remove_file(&unfinished) } else { fs::rename(&unfinished, &path) }
        });
        if let Err(error) = stored {
            fs::remove_file(&unfinished).ok();
            let is_first = !std::mem::replace(&mut self.checkpoints.state().is_reported, true);
            if is_first {
                tracing::warn!(%error, "a checkpoint cannot be stored: the next start replays its world");
            }
        }
        // It is tried again after further inputs only.
        self.checkpoints.note_long(world, Some(position.inputs));
        if is_lost() {
            self.checkpoints.remove(world); // it was deleted in the meantime
        }
    }

    /// The checkpoint of a world, if this program wrote it.
    pub(super) fn read_checkpoint(&self, world: KeyHash) -> Option<(Footer, Parts)> {
        let (path, program) = self.checkpoints.file(world)?;
        let footer = match read_footer(&path) {
            Ok(footer) => footer?,
            Err(error) => {
                tracing::warn!(%error, "a checkpoint cannot be read: its world is replayed");
                return None;
            }
        };
        if footer.program != program || footer.salt != self.salt || footer.world != world {
            return None;
        }
        let read = read_parts(&path, &footer);
        let parts = read.inspect_err(|error| {
            tracing::warn!(%error, "a checkpoint cannot be read: its world is replayed");
        });
        let parts = parts.ok()?;
        Some((footer, parts))
    }
}

fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "it is damaged")
}

/// The end of a file; none if there is no file of this format.
fn read_footer(path: &Path) -> io::Result<Option<Footer>> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if read_at(&mut file, 0, MAGIC.len() as u64)? != MAGIC {
        return Ok(None);
    }
    let size = file.metadata()?.len();
    let number = |bytes: &[u8]| bytes.try_into().map(u32::from_le_bytes).map_err(|_| damaged());
    let start = size.checked_sub(TAIL as u64).ok_or_else(damaged)?;
    let tail = read_at(&mut file, start, TAIL as u64)?;
    let (length, checksum) = (number(&tail[..4])?, number(&tail[4..])?);
    let start = start.checked_sub(length.into()).ok_or_else(damaged)?;
    let end = read_at(&mut file, start, length.into())?;
    if crc32fast::hash(&end) != checksum {
        return Err(damaged());
    }
    Ok(Some(serde_json::from_slice(&end)?))
}

fn read_at(file: &mut File, start: u64, bytes: u64) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(start))?;
    let mut read = Vec::with_capacity(usize::try_from(bytes).map_err(io::Error::other)?);
    file.take(bytes).read_to_end(&mut read)?;
    if read.len() as u64 == bytes { Ok(read) } else { Err(damaged()) }
}

fn read_part<T: DeserializeOwned>(path: &Path, footer: &Footer, part: usize) -> io::Result<T> {
    let before: u64 = footer.parts[..part].iter().map(|(bytes, _)| bytes).sum();
    let (bytes, checksum) = footer.parts[part];
    let read = read_at(&mut File::open(path)?, MAGIC.len() as u64 + before, bytes)?;
    if crc32fast::hash(&read) != checksum {
        return Err(damaged());
    }
    Ok(serde_json::from_slice(&read)?)
}

/// Reads the parts on two threads.
fn read_parts(path: &Path, footer: &Footer) -> io::Result<Parts> {
    thread::scope(|scope| {
        let records = thread::Builder::new().spawn_scoped(scope, || read_part(path, footer, 0))?;
        let (rest, beside) = (read_part(path, footer, 1), read_part(path, footer, 2));
        let records = records.join().unwrap_or_else(|why| std::panic::resume_unwind(why));
        Ok((records?, rest?, beside?))
    })
}
