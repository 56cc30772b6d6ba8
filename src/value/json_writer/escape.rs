//! The search for characters that JSON must escape.

/// Whether a text has a quote, a backslash or a control character.
pub(super) fn needs_escape(text: &[u8]) -> bool {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = ONES << 7;
    const fn zero_in(word: u64) -> u64 {
        word.wrapping_sub(ONES) & !word & HIGH
    }
    const fn found_in(word: u64) -> u64 {
        word.wrapping_sub(ONES * 0x20) & !word & HIGH
            | zero_in(word ^ (ONES * b'"' as u64))
            | zero_in(word ^ (ONES * b'\\' as u64))
    }
    let (words, _) = text.as_chunks::<8>();
    let found = words.iter().fold(0, |found, word| found | found_in(u64::from_le_bytes(*word)));
    // The last eight bytes contain the rest. A shorter text is two halves that overlap.
    let last = match (text.last_chunk::<8>(), text.first_chunk::<4>(), text.last_chunk::<4>()) {
        (Some(last), ..) => found_in(u64::from_le_bytes(*last)),
        (None, Some(first), Some(last)) => {
            let [first, last] = [*first, *last].map(u32::from_le_bytes).map(u64::from);
            found_in(first | last << 32)
        }
        _ => return text.iter().any(|byte| *byte < 0x20 || matches!(byte, b'"' | b'\\')),
    };
    found | last != 0
}
