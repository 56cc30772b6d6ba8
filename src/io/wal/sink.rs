//! The destination of entries: a recording for people, or a write-ahead log.

use std::fs::File;
use std::io::{self, Write};
use std::ops::Range;
use std::path::PathBuf;

use crate::engine::recording::{End, Entry};
use crate::io::wal::frame;
use crate::io::wal::index::Index;

/// The format of the entries.
#[derive(Debug)]
pub(crate) enum Sink {
    /// One line for each.
    Text(File),
    /// One frame for each, on disk before it is acknowledged.
    WriteAheadLog { file: File, path: PathBuf, end: u64, is_torn: bool, index: Box<Index> },
}

impl Sink {
    /// A new recording.
    pub(crate) fn text(file: File) -> Self {
        Self::Text(file)
    }

    /// Whether this process reads written entries again.
    pub(crate) const fn is_read_again(&self) -> bool {
        matches!(self, Self::WriteAheadLog { .. })
    }

    /// Appends an entry in the format of the file.
    pub(crate) fn form(&self, entry: &Entry, out: &mut Vec<u8>) {
        match self {
            Self::Text(_) => {
                serde_json::to_writer(&mut *out, entry).expect(SERIALISES);
                out.push(b'\n');
            }
            Self::WriteAheadLog { .. } => {
                let payload = serde_json::to_vec(entry).expect(SERIALISES);
                frame::write(&payload, out);
            }
        }
    }

    /// The range of the payload within the bytes of an entry.
    pub(crate) const fn payload(&self, entry: Range<usize>) -> Range<usize> {
        match self {
            Self::Text(_) => entry,
            Self::WriteAheadLog { .. } => entry.start + frame::HEAD..entry.end - frame::TAIL,
        }
    }

    /// Writes entries, and returns their offset. The entries of a write-ahead log are on disk when this returns. After an error, the file is
    /// as before.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<u64> {
        match self {
            Self::Text(file) => file.write_all(bytes).map(|()| 0),
            Self::WriteAheadLog { file, end, is_torn, .. } => {
                if *is_torn {
                    file.set_len(*end)?;
                    *is_torn = false;
                }
                let offset = *end;
                let written = file.write_all(bytes).and_then(|()| file.sync_data());
                if let Err(error) = written {
                    // If the rest cannot be cut now, it is cut before the next write, or by the next start.
                    *is_torn = file.set_len(offset).is_err();
                    return Err(error);
                }
                *end += bytes.len() as u64;
                Ok(offset)
            }
        }
    }

    /// Tests whether `size` bytes can be written again: writes a dummy entry of that size, and removes it.
    pub(crate) fn try_out(&mut self, size: usize) -> io::Result<()> {
        let nothing = serde_json::to_string(&Entry::End(End::default()))?;
        let mut bytes = Vec::new();
        frame::write(format!("{nothing:size$}").as_bytes(), &mut bytes);
        let offset = self.write(&bytes)?;
        if let Self::WriteAheadLog { file, end, is_torn, .. } = self {
            *end = offset;
            *is_torn = file.set_len(offset).is_err();
        }
        Ok(())
    }
}

const SERIALISES: &str = "an entry has string keys and no failing member";
