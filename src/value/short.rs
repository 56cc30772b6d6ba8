//! Short texts of digits, such as dates and times, written without heap allocation.

#![expect(clippy::cast_possible_truncation, reason = "numbers below 100")]

use core::fmt;

/// Two digits of every number below 100.
const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0; 2]; 100];
    let mut number = 0;
    while number < 100 {
        pairs[number] = [b'0' + number as u8 / 10, b'0' + number as u8 % 10];
        number += 1;
    }
    pairs
};

/// A text of at most 40 bytes. More bytes are an error of [`fmt::Write`].
#[derive(Clone, Copy)]
pub(super) struct Short {
    bytes: [u8; 40],
    length: usize,
}

impl Short {
    pub(super) const fn new() -> Self {
        Self { bytes: [0; 40], length: 0 }
    }

    /// The ASCII template, with two digits of each number at its place.
    pub(super) fn filled<const N: usize, const P: usize>(
        template: &[u8; N],
        pairs: [(usize, u32); P],
    ) -> Self {
        let mut text = Self::new();
        text.bytes[..N].copy_from_slice(template);
        for (place, number) in pairs {
            text.bytes[place..place + 2].copy_from_slice(&PAIRS[number as usize]);
        }
        text.length = N;
        text
    }

    pub(super) fn as_str(&self) -> &str {
        core::str::from_utf8(&self.bytes[..self.length]).unwrap_or_default()
    }

    /// Adds a character of ASCII.
    pub(super) const fn push(&mut self, character: u8) {
        self.bytes[self.length] = character;
        self.length += 1;
    }

    /// Adds two digits of a number below 100.
    pub(super) const fn push_pair(&mut self, number: u32) {
        let [tens, ones] = PAIRS[number as usize];
        self.push(tens);
        self.push(ones);
    }
}

impl fmt::Write for Short {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.length + text.len();
        let place = self.bytes.get_mut(self.length..end).ok_or(fmt::Error)?;
        place.copy_from_slice(text.as_bytes());
        self.length = end;
        Ok(())
    }
}
