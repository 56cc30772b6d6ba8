//! The search for characters that JSON must escape.

/// Whether a text has a quote, a backslash or a control character.
pub(super) fn needs_escape(text: &[u8]) -> bool {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = ONES << 7;
    const fn zero_in(word: u64) -> u64 {
        word.wrapping_sub(ONES) & !word & HIGH
    }
    let (words, rest) = text.as_chunks::<8>();
    let found = words.iter().fold(0, |found, word| {
        let word = u64::from_le_bytes(*word);
        let control = word.wrapping_sub(ONES * 0x20) & !word & HIGH;
        found
            | control
            | zero_in(word ^ (ONES * u64::from(b'"')))
            | zero_in(word ^ (ONES * u64::from(b'\\')))
    });
    found != 0 || rest.iter().any(|byte| *byte < 0x20 || matches!(byte, b'"' | b'\\'))
}
