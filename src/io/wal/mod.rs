//! Inputs on disk: a write-ahead log that survives its process, and recordings for people.
//!
//! Both contain the same entries ([`crate::engine::recording::Entry`]) in different formats. A
//! write-ahead log has frames with checksums, and is synced before a reply is sent. A recording is
//! JSON lines. Deliberately absent: the meaning of an entry, which only the engine interprets.

mod archive;
pub(crate) mod checkpoint;
pub(crate) mod compact;
pub(crate) mod durable;
pub(crate) mod file;
pub(crate) mod frame;
pub(crate) mod index;
pub(crate) mod lease;
pub(crate) mod log;
pub(crate) mod peek;
mod pending;
pub(in crate::io) mod pipeline;
pub(crate) mod replay;
pub(crate) mod sink;
mod spare;
pub(crate) mod text;
pub(crate) mod writer;

#[cfg(test)]
mod tests;

use std::hash::{BuildHasher, RandomState};

use crate::engine::recording::Salt;

/// A new salt. It is stored beside the hashes and need not be secret, but it must be unique.
pub(crate) fn salt() -> Salt {
    let mut salt = [0; 16];
    for (place, half) in salt.chunks_mut(8).enumerate() {
        half.copy_from_slice(&RandomState::new().hash_one(place).to_le_bytes());
    }
    Salt(salt)
}
