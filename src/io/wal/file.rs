//! The file of a write-ahead log: opens or creates it, locks it, and removes an incomplete end.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufReader, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fs, io};

use crate::engine::recording::{Entry, Header};
use crate::io::private;
use crate::io::wal::frame::{self, MAGIC, Scanner, Unread};
use crate::io::wal::index::Index;
use crate::io::wal::sink::Sink;
use crate::io::wal::text::{Place, Placed, without_value};

/// The name of the file in its folder.
pub(crate) const NAME: &str = "journal.sandbox";
/// The pause before the lock is tried again.
const PAUSE: Duration = Duration::from_millis(50);
/// The bytes that are read at a time.
const READ_AHEAD: usize = 1024 * 1024;

/// The file that `sandbox journal compact` writes before it replaces the log.
pub(crate) fn unfinished(log: &Path) -> PathBuf {
    log.with_extension("compacting")
}

/// Refuses a file in the place of the folder.
pub(crate) fn check_folder(folder: &Path) -> Result<(), String> {
    if fs::metadata(folder).is_ok_and(|known| known.is_file()) {
        return Err(format!("{} is a file: name the folder of the log", folder.display()));
    }
    Ok(())
}

/// A write-ahead log that this process has locked.
#[derive(Debug)]
pub(crate) struct WriteAheadLog {
    file: File,
    path: PathBuf,
    /// The end of the last whole frame.
    end: u64,
    /// The content; none if it is new.
    pub(crate) held: Option<Held>,
}

/// The content of an existing write-ahead log.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) header: Header,
    pub(crate) index: Index,
    /// The incomplete bytes at the end.
    pub(crate) torn: u64,
}

/// Reports the read bytes, and their number in total.
pub(crate) type Progress<'a> = &'a mut dyn FnMut(u64, u64);

type Open = fn(&Path) -> io::Result<File>;
type Lock = fn(&File) -> Result<(), TryLockError>;

impl WriteAheadLog {
    /// Opens the write-ahead log of a folder. Creates only the folder and an empty file if they do not exist. Removes the
    /// incomplete file of a killed `sandbox journal compact`. A process that was killed keeps its lock until the system has
    /// freed its memory, so the lock is tried for this time.
    ///
    /// # Errors
    /// If another process keeps it locked, it is damaged, or this program cannot read it. The text has the path
    /// and the offset.
    pub(crate) fn open(
        folder: &Path,
        patience: Duration,
        progress: Progress<'_>,
    ) -> Result<Self, String> {
        check_folder(folder)?;
        private::create_folder(folder).map_err(|error| {
            format!("cannot create the folder of {}: {error}", folder.join(NAME).display())
        })?;
        let log = Self::locked(folder, patience, (open_to_append, File::try_lock), progress)?;
        fs::remove_file(unfinished(&log.path)).ok(); // most logs have none, and the lock excludes another compaction
        Ok(log)
    }

    /// Opens the write-ahead log of a folder without write access. Others can read it at the same time, and no process can write it.
    ///
    /// # Errors
    /// As [`Self::open`], and if there is none.
    pub(crate) fn open_to_read(folder: &Path) -> Result<Self, String> {
        let how = (open_to_read as Open, File::try_lock_shared as Lock);
        Self::locked(folder, Duration::ZERO, how, &mut |_, _| {})
    }

    fn locked(
        folder: &Path,
        patience: Duration,
        (open, lock): (Open, Lock),
        progress: Progress<'_>,
    ) -> Result<Self, String> {
        let path = folder.join(NAME);
        let failed = |what: &str, error: &io::Error| format!("{what} {}: {error}", path.display());
        if fs::metadata(&path).is_ok_and(|known| !known.is_file()) {
            // Opening a pipe would block until its other end is opened.
            return Err(format!("cannot open {}: it is not a regular file", path.display()));
        }
        let started = Instant::now();
        let file = loop {
            let file = open(&path).map_err(|error| failed("cannot open", &error))?;
            match lock(&file) {
                Ok(()) if is_at(&file, &path) => break file,
                Ok(()) => {} // another process has replaced it since it was opened
                Err(TryLockError::WouldBlock) if started.elapsed() < patience => {
                    std::thread::sleep(PAUSE);
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(format!(
                        "{} is in use by another sandbox: stop it, or name another folder",
                        path.display()
                    ));
                }
                Err(TryLockError::Error(error)) => return Err(failed("cannot lock", &error)),
            }
        };
        let size = file.metadata().map_err(|error| failed("cannot read", &error))?.len();
        let parsed = parse(BufReader::with_capacity(READ_AHEAD, &file), size, progress);
        let (held, end) = parsed.map_err(|why| refusal(&path, &why))?;
        Ok(Self { file, path, end, held })
    }

    /// Removes the incomplete end, writes the header of a new file, and returns the sink for entries.
    pub(crate) fn into_sink(mut self, header: &Header) -> Result<Sink, String> {
        let path = self.path.display().to_string();
        let failed = |error: io::Error| format!("cannot write {path}: {error}");
        self.file.set_len(self.end).map_err(failed)?;
        if self.held.is_none() {
            let mut bytes = MAGIC.to_vec();
            let entry = Entry::Recording(Box::new(header.clone()));
            let payload = serde_json::to_vec(&entry).map_err(|error| failed(error.into()))?;
            frame::write(&payload, &mut bytes);
            self.file.set_len(0).map_err(failed)?;
            self.file.write_all(&bytes).map_err(failed)?;
            self.end = bytes.len() as u64;
        }
        self.file.sync_all().map_err(failed)?;
        // A sync of the folder stores the name of the file. A system that cannot sync a folder stores names
        // in another way.
        if let Some(folder) = self.path.parent().and_then(|folder| File::open(folder).ok()) {
            let _ = folder.sync_all();
        }
        let Self { file, path, end, held } = self;
        let index = held.map(|held| held.index).unwrap_or_default();
        Ok(Sink::WriteAheadLog { file, path, end, is_torn: false, index: Box::new(index) })
    }
}

fn open_to_append(path: &Path) -> io::Result<File> {
    private::open(OpenOptions::new().read(true).append(true).create(true), path)
}

fn open_to_read(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Whether the path still names this file.
fn is_at(file: &File, path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let place = |known: fs::Metadata| (known.dev(), known.ino());
        let (file, path) = (file.metadata().map(place), fs::metadata(path).map(place));
        file.ok().is_some_and(|file| path.is_ok_and(|path| path == file))
    }
    #[cfg(not(unix))]
    {
        let _ = (file, path);
        true
    }
}

fn refusal(path: &Path, why: &str) -> String {
    format!("{}, {why}; the file is unchanged", path.display())
}

/// The next frame, or a text about the damage.
pub(super) fn next<R: io::Read>(scanner: &mut Scanner<R>) -> Result<Option<(u64, &[u8])>, String> {
    scanner.next().map_err(|error| match error {
        Unread::Failed(error) => format!("cannot read it: {error}"),
        Unread::Damaged(damage) => {
            let advice = if damage.offset == 0 {
                "use another folder"
            } else {
                "it was damaged after it was written; to drop this frame and all after it, cut the file there"
            };
            format!("{damage}: {advice}")
        }
    })
}

/// The header at the start; none if the file has no whole header, so that no write was acknowledged.
fn header<R: io::Read>(scanner: &mut Scanner<R>) -> Result<Option<Header>, String> {
    let Some((offset, first)) = next(scanner)? else { return Ok(None) };
    let Entry::Recording(header) = entry(offset, first)? else {
        return Err(format!("byte {offset}: a write-ahead log must begin with its header"));
    };
    header.check().map_err(|why| format!("byte {offset}: {why}"))?;
    if is_newer(&header.engine, env!("CARGO_PKG_VERSION")) {
        return Err(format!(
            "byte {offset}: it was written by sandbox {}, which is newer than this sandbox {}",
            header.engine,
            env!("CARGO_PKG_VERSION")
        ));
    }
    Ok(Some(*header))
}

/// The content of a write-ahead log, and the end of its last whole frame.
///
/// # Errors
/// The fault and its position.
fn parse<R: io::Read>(
    file: R,
    size: u64,
    progress: Progress<'_>,
) -> Result<(Option<Held>, u64), String> {
    let mut scanner = Scanner::new(file);
    let Some(header) = header(&mut scanner)? else { return Ok((None, 0)) };
    let mut index = Index::default();
    let mut shown = 0;
    while let Some((offset, payload)) = next(&mut scanner)? {
        index.add(offset, payload).map_err(|why| format!("byte {offset}: {why}"))?;
        if offset > shown + READ_AHEAD as u64 {
            shown = offset;
            progress(offset, size);
        }
    }
    let end = scanner.end;
    Ok((Some(Held { header, index, torn: size.saturating_sub(end) }), end))
}

/// The header and all entries of a write-ahead log, and its incomplete bytes at the end.
pub(crate) fn entries(
    file: impl io::Read,
    size: u64,
) -> Result<Option<(Header, Vec<Placed>, u64)>, String> {
    let mut scanner = Scanner::new(file);
    let Some(header) = header(&mut scanner)? else { return Ok(None) };
    let mut entries = Vec::new();
    while let Some((offset, payload)) = next(&mut scanner)? {
        entries.push(Placed { place: Place::Byte(offset), entry: entry(offset, payload)? });
    }
    Ok(Some((header, entries, size.saturating_sub(scanner.end))))
}

/// The header is read first, because a newer format must be refused by its number.
pub(crate) fn entry(offset: u64, payload: &[u8]) -> Result<Entry, String> {
    #[derive(serde::Deserialize)]
    struct Newer {
        recording: Form,
    }
    #[derive(serde::Deserialize)]
    struct Form {
        format: u32,
        engine: String,
    }
    serde_json::from_slice(payload).map_err(|error| {
        match serde_json::from_slice::<Newer>(payload).map(|newer| newer.recording) {
            Ok(form) if form.format > crate::engine::recording::FORMAT => format!(
                "byte {offset}: it has format {} of sandbox {}, which this sandbox {} cannot read",
                form.format,
                form.engine,
                env!("CARGO_PKG_VERSION")
            ),
            _ => format!("byte {offset}: this is not an entry: {}", without_value(&error)),
        }
    })
}

/// Whether one version is newer than another.
fn is_newer(one: &str, other: &str) -> bool {
    let parts = |version: &str| -> Vec<u64> {
        let numbers = version.split(['-', '+']).next().unwrap_or_default();
        let numbers = numbers.split('.');
        numbers.map(|part| part.parse().unwrap_or(u64::MAX)).collect()
    };
    parts(one) > parts(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_file_that_was_replaced_is_not_at_its_path() {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, other) = (folder.path().join("log"), folder.path().join("new"));
        let file = File::create(&path).expect("a file");
        assert!(is_at(&file, &path));
        File::create(&other).and_then(|_| fs::rename(&other, &path)).expect("it is replaced");
        assert!(!is_at(&file, &path));
        fs::remove_file(&path).expect("it is removed");
        assert!(!is_at(&file, &path));
    }

    #[test]
    fn a_log_is_read_without_write_access_and_by_several_processes() {
        let folder = tempfile::tempdir().expect("a folder");
        let absent = WriteAheadLog::open_to_read(folder.path()).expect_err("there is none");
        assert!(absent.contains("cannot open"), "{absent}");
        let open = || WriteAheadLog::open(folder.path(), Duration::ZERO, &mut |_, _| {});
        drop(open().expect("it is created"));
        let read = || WriteAheadLog::open_to_read(folder.path());
        let (mut one, other) = (read().expect("one reads it"), read().expect("another reads it"));
        one.file.write_all(b"x").expect_err("it cannot be written");
        let in_use = open().expect_err("it is locked");
        assert!(in_use.contains("in use by another sandbox"), "{in_use}");
        drop((one, other));
        let _written = open().expect("nothing locks it");
        let in_use = read().expect_err("it is locked");
        assert!(in_use.contains("in use by another sandbox"), "{in_use}");
    }

    #[test]
    fn versions_are_compared_by_number() {
        assert!(is_newer("0.10.0", "0.9.9"));
        assert!(is_newer("1.0.0-rc.1", "0.9.9"));
        assert!(!is_newer("0.9.9", "0.9.9"));
        assert!(!is_newer("0.9.9", "0.10.0"));
        assert!(is_newer("of the future", "0.1.0"));
    }
}
