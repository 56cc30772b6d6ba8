//! One hash of a whole world: equal for equal worlds, whatever machine or build reckoned it.

use core::fmt::Write as _;
use std::io;

use sha2::{Digest, Sha256};

use crate::world::World;

/// Feeds what is serialised into the hash, without a copy of the whole.
struct Sink(Sha256);

impl io::Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The hash of anything that serialises, as 64 hexadecimal digits.
pub(crate) fn of(value: &impl serde::Serialize) -> String {
    let mut sink = Sink(Sha256::new());
    serde_json::to_writer(&mut sink, value)
        .expect("a world serialises, and the hash takes every byte");
    sink.0
        .finalize()
        .iter()
        .fold(String::new(), |mut hex, byte| {
            write!(hex, "{byte:02x}").expect("a string takes every character");
            hex
        })
}

impl World {
    /// The world's hash: its seed and shape, and everything that happened since.
    pub(crate) fn digest(&self) -> String {
        of(self)
    }
}
