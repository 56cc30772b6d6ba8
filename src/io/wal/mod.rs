//! Inputs on disk: a journal that survives its process, and recordings for people.
//!
//! Both hold the same entries ([`crate::engine::recording::Entry`]) and differ in their form: a journal has frames with checksums
//! and is synced before a reply leaves; a recording is JSON lines. Deliberately absent: what an entry means, which the engine knows.

pub(crate) mod file;
pub(crate) mod frame;
pub(crate) mod log;
pub(crate) mod replay;
pub(crate) mod text;

#[cfg(test)]
mod tests;

use std::hash::{BuildHasher, RandomState};

use crate::engine::recording::Salt;

/// A new salt. It is written beside the hashes and need not be secret, only never the same.
pub(crate) fn salt() -> Salt {
    let mut salt = [0; 16];
    for (place, half) in salt.chunks_mut(8).enumerate() {
        half.copy_from_slice(&RandomState::new().hash_one(place).to_le_bytes());
    }
    Salt(salt)
}
