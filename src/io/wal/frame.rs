//! The frames of a write-ahead log: whole, torn or damaged.
//!
//! A file is a mark of eight bytes, then frames: length, checksum of the length, payload, checksum of the
//! payload, all little-endian. The
//! length has its own checksum, so that a flipped bit in it is not mistaken for a torn end. A frame whose
//! valid length exceeds the file was torn during
//! its write, and no reply had acknowledged it. Every other mismatch is damage. It is reported, and never
//! cut.

use std::fmt;
use std::ops::Range;

/// The mark at the start of a file; its last two bytes change with the format of frames.
pub(crate) const MAGIC: [u8; 8] = *b"SANDBX01";
/// The bytes before a payload.
const HEAD: usize = 8;
/// The bytes after a payload.
const TAIL: usize = 4;

/// Damage in a write-ahead log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Damage {
    /// The offset of the first byte of the damaged frame.
    pub(crate) offset: usize,
    pub(crate) what: &'static str,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { offset, what } = self;
        write!(f, "byte {offset}: {what}")
    }
}

/// The whole frames, and their end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Frames {
    /// The positions of the payloads in order, each with the offset of its frame.
    pub(crate) payloads: Vec<(usize, Range<usize>)>,
    /// The end of the last whole frame. Bytes after it are torn.
    pub(crate) end: usize,
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

pub(crate) fn read(file: &[u8]) -> Result<Frames, Damage> {
    let damage = |offset, what| Err(Damage { offset, what });
    let Some(start) = file.get(..MAGIC.len()) else {
        return if MAGIC.starts_with(file) {
            Ok(Frames { payloads: Vec::new(), end: 0 })
        } else {
            damage(0, "this is not a write-ahead log")
        };
    };
    if start != MAGIC {
        return damage(0, "this is not a write-ahead log, or one of another format version");
    }
    let (mut payloads, mut at) = (Vec::new(), MAGIC.len());
    while at < file.len() {
        let rest = &file[at..];
        let Some((head, rest)) = rest.split_at_checked(HEAD) else { break };
        let (length, checksum) = head.split_at(4);
        if crc32fast::hash(length) != number(checksum) {
            // A power cut can leave zeros in a file that had grown.
            if file[at..].iter().all(|&byte| byte == 0) {
                break;
            }
            return damage(at, "the length of the frame does not match its checksum");
        }
        let length = number(length) as usize;
        let Some((payload, rest)) = rest.split_at_checked(length) else { break };
        let Some(checksum) = rest.get(..TAIL) else { break };
        if crc32fast::hash(payload) != number(checksum) {
            return damage(at, "the frame does not match its checksum");
        }
        let start = at + HEAD;
        payloads.push((at, start..start + length));
        at = start + length + TAIL;
    }
    Ok(Frames { payloads, end: at })
}

fn number(bytes: &[u8]) -> u32 {
    u32::from_le_bytes(bytes.try_into().expect("four bytes were split off"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample_file() -> (Vec<u8>, Vec<usize>) {
        let mut file = MAGIC.to_vec();
        let mut ends = vec![file.len()];
        for payload in ["one", "", "three frames", "{\"seq\":4}"] {
            write(payload.as_bytes(), &mut file);
            ends.push(file.len());
        }
        (file, ends)
    }

    #[test]
    fn a_truncated_log_is_cut_at_its_last_whole_frame() {
        let (file, ends) = sample_file();
        for length in 0..=file.len() {
            let frames = read(&file[..length]).expect("truncation is not damage");
            let whole = ends.iter().rev().find(|&&end| end <= length);
            assert_eq!(frames.end, whole.copied().unwrap_or(0), "of {length}");
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
            assert_eq!(damage.offset, frame.copied().unwrap_or(0), "bit {bit}");
        }
    }

    #[test]
    fn zeros_at_the_end_count_as_torn() {
        let (mut file, ends) = sample_file();
        file.extend_from_slice(&[0; 100]);
        assert_eq!(read(&file).map(|frames| frames.end), Ok(ends[4]));
    }
}
