//! Recordings and bundles as JSON lines, and the reader of all files that can be replayed.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, Read as _, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::engine::recording::{Entry, Header};
use crate::io::private;
use crate::io::wal::file;
use crate::io::wal::frame::MAGIC;
use crate::io::wal::sink::Sink;

/// An entry and its position, for messages.
#[derive(Debug)]
pub(crate) struct Placed {
    pub(crate) place: Place,
    pub(crate) entry: Entry,
}

/// A position in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Line(usize),
    Byte(u64),
    /// An entry of a world in a store.
    #[cfg(feature = "postgres")]
    Entry(i64),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::Byte(offset) => write!(f, "byte {offset}"),
            #[cfg(feature = "postgres")]
            Self::Entry(seq) => write!(f, "entry {seq}"),
        }
    }
}

/// A file in a bundle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Enclosed {
    /// The kind of the file.
    pub(crate) kind: Kind,
    /// Its name, without its folders.
    pub(crate) name: String,
    pub(crate) text: String,
}

/// The kind of a file in a bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    Scenario,
    Contract,
}

/// A line of a bundle: a file, or a line of its recording.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum BundleLine {
    File(Enclosed),
}

/// A recording to replay.
#[derive(Debug)]
pub(crate) struct Recording {
    pub(crate) header: Header,
    pub(crate) entries: Vec<Placed>,
    /// The files of a bundle.
    pub(crate) files: Vec<Enclosed>,
    /// Notes about faults that do not prevent a replay.
    pub(crate) notes: Vec<String>,
}

/// Starts a recording in a file that is new or empty.
pub(crate) fn create(path: &Path, header: &Header) -> Result<Sink, String> {
    let shown = path.display();
    let failed = |error: std::io::Error| format!("cannot write {shown}: {error}");
    let file = private::open(OpenOptions::new().append(true).create(true), path);
    let file: File = file.map_err(failed)?;
    if file.metadata().map_err(failed)?.len() > 0 {
        return Err(format!("{shown} exists and is not empty; a recording is never overwritten"));
    }
    let mut sink = Sink::text(file);
    let mut line = Vec::new();
    sink.form(&Entry::Recording(Box::new(header.clone())), &mut line);
    sink.write(&line).map_err(failed)?;
    Ok(sink)
}

/// The most bytes of a line. A longer one is no entry, and is not read into memory.
const MOST_BYTES: u64 = 64 * 1024 * 1024;

/// Reads a recording, a file of a write-ahead log, or a bundle, of this size.
///
/// # Errors
/// The fault and its position; the caller adds the path.
pub(crate) fn read(mut file: impl BufRead, size: u64) -> Result<Recording, String> {
    if file.fill_buf().map_err(unreadable)?.starts_with(&MAGIC[..6]) {
        let held = file::entries(file, size)?;
        let (header, entries, torn) =
            held.ok_or("it has no complete header: nothing was recorded")?;
        let torn = (torn > 0).then(|| format!("the last {torn} bytes are incomplete and ignored"));
        return Ok(Recording {
            entries,
            header,
            files: Vec::new(),
            notes: torn.into_iter().collect(),
        });
    }
    lines(file)
}

fn unreadable(error: std::io::Error) -> String {
    format!("cannot read it: {error}")
}

fn lines(mut file: impl BufRead) -> Result<Recording, String> {
    let (mut header, mut entries) = (None, Vec::new());
    let (mut files, mut notes) = (Vec::new(), Vec::new());
    let (mut line, mut number) = (Vec::new(), 0);
    loop {
        line.clear();
        let read = file.by_ref().take(MOST_BYTES).read_until(b'\n', &mut line);
        let read = read.map_err(unreadable)? as u64;
        if read == 0 {
            break;
        }
        number += 1;
        let (line, is_whole) = (line.as_slice(), line.ends_with(b"\n"));
        if read == MOST_BYTES && !is_whole {
            return Err(format!("line {number}: it is longer than any line of a recording"));
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let entry = match serde_json::from_slice::<Entry>(line) {
            Ok(entry) => entry,
            Err(_) if !is_whole && header.is_some() => {
                notes.push(format!(
                    "line {number} is incomplete and ignored: the process was killed during the write"
                ));
                break;
            }
            Err(error) => match serde_json::from_slice::<BundleLine>(line) {
                Ok(BundleLine::File(file)) => {
                    files.push(file);
                    continue;
                }
                Err(_) => return Err(not_an_entry(number, &error)),
            },
        };
        match (entry, &header) {
            (Entry::Recording(first), None) => {
                first.check().map_err(|why| format!("line {number}: {why}"))?;
                header = Some(*first);
            }
            (Entry::Recording(_), Some(_)) => {
                return Err(format!("line {number}: a second recording begins here"));
            }
            (_, None) => {
                return Err(format!("line {number}: a recording must begin with its header"));
            }
            (entry, Some(_)) => entries.push(Placed { place: Place::Line(number), entry }),
        }
    }
    let header = header.ok_or("it is empty: a recording must have at least its header")?;
    Ok(Recording { header, entries, files, notes })
}

fn not_an_entry(line: usize, error: &serde_json::Error) -> String {
    format!(
        "line {line}, column {}: this is not a line of a recording, a write-ahead log or a bundle: {}",
        error.column(),
        without_value(error)
    )
}

/// The error text without the value, which can be a secret, and without the line number, because the
/// input is one line.
pub(super) fn without_value(error: &serde_json::Error) -> String {
    let whole = error.to_string();
    let sentence = whole.rsplit_once(" at line ").map_or(&*whole, |(sentence, _)| sentence);
    let expected = sentence.rsplit_once(", expected ").map(|(_, what)| format!("expected {what}"));
    expected.unwrap_or_else(|| sentence.to_owned())
}

/// Writes a bundle: the header, the files and the inputs.
pub(crate) fn write_bundle(recording: Recording, out: &mut impl Write) -> std::io::Result<()> {
    let Recording { header, entries, files, .. } = recording;
    let mut line = |entry: Vec<u8>| {
        out.write_all(&entry)?;
        out.write_all(b"\n")
    };
    line(serde_json::to_vec(&Entry::Recording(Box::new(header)))?)?;
    for file in files {
        line(serde_json::to_vec(&BundleLine::File(file))?)?;
    }
    for Placed { entry, .. } in entries {
        if matches!(entry, Entry::Endpoints(_) | Entry::Delivered(_)) {
            continue; // they contain secrets, and change no world
        }
        line(serde_json::to_vec(&entry)?)?;
    }
    out.flush()
}
