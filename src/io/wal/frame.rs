//! The frames of a write-ahead log: whole, torn or damaged.
//!
//! A file is a mark of eight bytes, then frames: length, checksum of the length, payload, checksum of the
//! payload, all little-endian. The length has its own checksum, so that a flipped bit in it is not
//! mistaken for a torn end. A frame whose valid length exceeds the file was incompletely written, and no
//! reply had acknowledged it. Every other mismatch is damage. It is reported, and never cut.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

/// The mark at the start of a file; its last two bytes change with the format of frames.
pub(crate) const MAGIC: [u8; 8] = *b"SANDBX01";
/// The bytes before a payload.
pub(super) const HEAD: usize = 8;
/// The bytes after a payload.
pub(super) const TAIL: usize = 4;

/// Damage in a write-ahead log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Damage {
    /// The offset of the first byte of the damaged frame.
    pub(crate) offset: u64,
    pub(crate) what: &'static str,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { offset, what } = self;
        write!(f, "byte {offset}: {what}")
    }
}

/// Appends the frame of a payload.
pub(crate) fn write(payload: &[u8], out: &mut Vec<u8>) {
    let length = u32::try_from(payload.len()).expect("an entry is far smaller than 4 GiB");
    let length = length.to_le_bytes();
    out.extend_from_slice(&length);
    out.extend_from_slice(&crc32fast::hash(&length).to_le_bytes());
    out.extend_from_slice(payload);
    out.extend_from_slice(&crc32fast::hash(payload).to_le_bytes());
}

/// Reads the frames of a file, one after another.
#[derive(Debug)]
pub(crate) struct Scanner<R> {
    file: R,
    payload: Vec<u8>,
    /// The end of the last whole frame. Bytes after it are torn.
    pub(crate) end: u64,
}

/// Why a file cannot be read further.
#[derive(Debug)]
pub(crate) enum Unread {
    Damaged(Damage),
    Failed(io::Error),
}

impl<R: Read> Scanner<R> {
    /// A scanner that is at the start of a file.
    pub(crate) const fn new(file: R) -> Self {
        Self { file, payload: Vec::new(), end: 0 }
    }

    /// The offset and the payload of the next frame; none at the end.
    pub(crate) fn next(&mut self) -> Result<Option<(u64, &[u8])>, Unread> {
        if self.end == 0 && !self.start()? {
            return Ok(None);
        }
        let offset = self.end;
        let mut head = [0; HEAD];
        if !self.fill(&mut head)? {
            return Ok(None);
        }
        let (length, checksum) = head.split_at(4);
        if crc32fast::hash(length) != number(checksum) {
            // A power cut can leave zeros in a file that had grown.
            if head.iter().all(|&byte| byte == 0) && self.is_zero_to_the_end()? {
                return Ok(None);
            }
            return damage(offset, "the length of the frame does not match its checksum");
        }
        let length = u64::from(number(length));
        self.payload.clear();
        let rest = length + TAIL as u64;
        let read = self.file.by_ref().take(rest).read_to_end(&mut self.payload);
        if read.map_err(Unread::Failed)? as u64 != rest {
            return Ok(None);
        }
        let (payload, checksum) = self.payload.split_at(self.payload.len() - TAIL);
        if crc32fast::hash(payload) != number(checksum) {
            return damage(offset, "the frame does not match its checksum");
        }
        self.end = offset + HEAD as u64 + rest;
        Ok(Some((offset, payload)))
    }

    /// Whether the file has its mark; an incomplete mark counts as torn.
    fn start(&mut self) -> Result<bool, Unread> {
        let mut start = Vec::new();
        let read = self.file.by_ref().take(MAGIC.len() as u64).read_to_end(&mut start);
        read.map_err(Unread::Failed)?;
        if start == MAGIC {
            self.end = MAGIC.len() as u64;
            return Ok(true);
        }
        if MAGIC.starts_with(&start) {
            return Ok(false);
        }
        let short = "this is not a write-ahead log";
        let whole = "this is not a write-ahead log, or one of another format version";
        damage(0, if start.len() < MAGIC.len() { short } else { whole })
    }

    /// Whether there were enough bytes.
    fn fill(&mut self, bytes: &mut [u8]) -> Result<bool, Unread> {
        match self.file.read_exact(bytes) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
            Err(error) => Err(Unread::Failed(error)),
        }
    }

    fn is_zero_to_the_end(&mut self) -> Result<bool, Unread> {
        let mut block = [0; 4_096];
        loop {
            let count = self.file.read(&mut block).map_err(Unread::Failed)?;
            if count == 0 {
                return Ok(true);
            }
            if block[..count].iter().any(|&byte| byte != 0) {
                return Ok(false);
            }
        }
    }
}

const fn damage<T>(offset: u64, what: &'static str) -> Result<T, Unread> {
    Err(Unread::Damaged(Damage { offset, what }))
}

/// Reads single frames, in any order. Frames that are close together are read at once.
#[derive(Debug)]
pub(crate) struct Picker {
    file: File,
    start: u64,
    window: Vec<u8>,
}

/// The bytes that are read at a time.
const WINDOW: usize = 32 * 1024;

impl Picker {
    /// A picker of a file.
    pub(crate) const fn new(file: File) -> Self {
        Self { file, start: 0, window: Vec::new() }
    }

    /// The payload of the frame at an offset.
    pub(crate) fn payload(&mut self, offset: u64) -> io::Result<&[u8]> {
        let broken = || io::Error::other(format!("byte {offset}: the frame has changed"));
        let head = self.bytes(offset, HEAD)?;
        let (length, checksum) = head.split_at(4);
        if crc32fast::hash(length) != number(checksum) {
            return Err(broken());
        }
        let length = number(length) as usize;
        let rest = self.bytes(offset + HEAD as u64, length + TAIL)?;
        let (payload, checksum) = rest.split_at(length);
        if crc32fast::hash(payload) == number(checksum) { Ok(payload) } else { Err(broken()) }
    }

    fn bytes(&mut self, offset: u64, count: usize) -> io::Result<&[u8]> {
        let end = offset + count as u64;
        if offset < self.start || end > self.start + self.window.len() as u64 {
            self.file.seek(SeekFrom::Start(offset))?;
            self.window.clear();
            let wanted = count.max(WINDOW) as u64;
            self.file.by_ref().take(wanted).read_to_end(&mut self.window)?;
            self.start = offset;
            if self.window.len() < count {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        let from = usize::try_from(offset - self.start).expect("it is in the window");
        Ok(&self.window[from..from + count])
    }
}

fn number(bytes: &[u8]) -> u32 {
    u32::from_le_bytes(bytes.try_into().expect("four bytes were split off"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::mutation::{damaged, edits};

    const PAYLOADS: [&str; 4] = ["one", "", "three frames", "{\"seq\":4}"];

    fn sample_file() -> (Vec<u8>, Vec<usize>) {
        let mut file = MAGIC.to_vec();
        let mut ends = vec![file.len()];
        for payload in PAYLOADS {
            write(payload.as_bytes(), &mut file);
            ends.push(file.len());
        }
        (file, ends)
    }

    /// The end of the last whole frame, or the damage.
    fn read(file: &[u8]) -> Result<u64, Damage> {
        let mut scanner = Scanner::new(file);
        loop {
            match scanner.next() {
                Ok(Some(_)) => {}
                Ok(None) => return Ok(scanner.end),
                Err(Unread::Damaged(damage)) => return Err(damage),
                Err(Unread::Failed(error)) => panic!("{error}"),
            }
        }
    }

    #[test]
    fn a_truncated_log_is_cut_at_its_last_whole_frame() {
        let (file, ends) = sample_file();
        for length in 0..=file.len() {
            let end = read(&file[..length]).expect("truncation is not damage");
            let whole = ends.iter().rev().find(|&&end| end <= length);
            assert_eq!(end, whole.copied().unwrap_or(0) as u64, "of {length}");
        }
    }

    #[test]
    fn a_flipped_bit_is_refused_where_it_is() {
        let (file, ends) = sample_file();
        for bit in 0..file.len() * 8 {
            let mut file = file.clone();
            file[bit / 8] ^= 1 << (bit % 8);
            let damage = read(&file).expect_err("a flipped bit is damage");
            let frame = ends.iter().rev().find(|&&end| end <= bit / 8);
            assert_eq!(damage.offset, frame.copied().unwrap_or(0) as u64, "bit {bit}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_damage_changes_a_payload_that_is_read(edits in edits()) {
            let (file, _) = sample_file();
            let file = damaged(&file, &edits);
            let mut scanner = Scanner::new(&file[..]);
            while let Ok(Some((_, payload))) = scanner.next() {
                let written = PAYLOADS.iter().any(|one| one.as_bytes() == payload);
                proptest::prop_assert!(written, "{payload:?} was never written");
            }
        }
    }

    #[test]
    fn zeros_at_the_end_count_as_torn() {
        let (mut file, ends) = sample_file();
        file.extend_from_slice(&[0; 100]);
        assert_eq!(read(&file), Ok(ends[4] as u64));
    }

    #[test]
    fn frames_are_picked_in_any_order() {
        use std::io::Write;
        let (file, ends) = sample_file();
        let mut on_disk = tempfile::tempfile().expect("a file");
        on_disk.write_all(&file).expect("it is written");
        let mut picker = Picker::new(on_disk);
        for place in [2, 0, 3, 1, 2] {
            let expected = PAYLOADS[place].as_bytes();
            assert_eq!(picker.payload(ends[place] as u64).expect("a frame"), expected);
        }
        assert!(picker.payload(9).is_err(), "there is no frame");
    }
}
