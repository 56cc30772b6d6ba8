//! What a seeded world is grown from: the tables of believable data and the pure functions over them.
//!
//! Imports `crate::value`, std, serde, toml and `fake`'s name lists, nothing else. Every function is a function of its
//! arguments; each value is drawn from `key.with("its purpose")`, so that one added later never shifts another.
//!
//! The tables stand in `fixtures/growth/*.toml` and are parsed once, at first use, into `&'static` structures; a mistake in
//! them is a mistake in the binary, so it panics with the file and line, and a test reads every table.
//! Deliberately absent: state, and anything a caller has said: these are only values nobody has chosen.

pub(crate) mod accounts;
pub(crate) mod checksum;
pub(crate) mod countries;
pub(crate) mod identity;
pub(crate) mod industries;
pub(crate) mod names;
pub(crate) mod people;
pub(crate) mod scheme;
pub(crate) mod workforce;

#[cfg(test)]
mod tests;

use serde::Deserialize;

use crate::value::stream::Key;

/// Reads one embedded table; its strings are slices of the binary.
fn table<T: Deserialize<'static>>(file: &str, text: &'static str) -> T {
    toml::from_str(text).unwrap_or_else(|error| panic!("fixtures/growth/{file}: {error}"))
}

/// One of `items`, which are not empty, by the key's own bits.
fn pick<T>(key: Key, items: &[T]) -> &T {
    let index = key.below(items.len() as u64);
    &items[usize::try_from(index).expect("an index below a length fits")]
}
