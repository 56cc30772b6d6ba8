//! Growth of a seeded world: tables of realistic data and pure functions over them.
//!
//! Imports only `crate::value`, std, serde, `serde_json` and `fake`'s name lists. Every function depends only on its
//! arguments. Each value is drawn from `key.with("its purpose")`, so adding a value never changes another value.
//!
//! The tables are in `fixtures/growth/*.toml`. The build script turns them into JSON. They are parsed once, at first use, into `&'static`
//! structures. A mistake in them is a mistake in the binary: it panics with file and table, and a test reads every table. Deliberately absent: state, and values chosen by a
//! caller.

pub(crate) mod accounts;
pub(crate) mod checksum;
pub(crate) mod countries;
pub(crate) mod customers;
pub(crate) mod identity;
pub(crate) mod industries;
pub(crate) mod names;
pub(crate) mod people;
pub(crate) mod scheme;
mod spelling;
pub(crate) mod tenure;
pub(crate) mod workforce;

#[cfg(test)]
mod tests;

use std::sync::OnceLock;

use serde::Deserialize;

use crate::value::Key;

/// An embedded file with many similar tables. Each table is parsed at its first use, so a world of three countries
/// does not parse the others.
pub(crate) struct Sections<T> {
    file: &'static str,
    rows: Vec<Section<T>>,
}

struct Section<T> {
    id: &'static str,
    text: &'static str,
    value: OnceLock<T>,
}

impl<T: Deserialize<'static>> Sections<T> {
    /// The tables of a file, each with its id and its text in JSON, as the build script wrote them.
    pub(crate) fn of(file: &'static str, tables: &[(&'static str, &'static str)]) -> Self {
        let row = |&(id, text)| Section { id, text, value: OnceLock::new() };
        Self { file, rows: tables.iter().map(row).collect() }
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = &'static str> {
        self.rows.iter().map(|section| section.id)
    }

    pub(crate) fn find(&self, id: &str) -> Option<&T> {
        Some(self.at(self.rows.iter().position(|section| section.id == id)?))
    }

    /// The table at this place of the file.
    pub(crate) fn at(&self, place: usize) -> &T {
        let Section { id, text, value } = &self.rows[place];
        value.get_or_init(|| {
            // Its strings are slices of the binary.
            let read = serde_json::from_str(text);
            read.unwrap_or_else(|error| panic!("fixtures/{}, table {id}: {error}", self.file))
        })
    }
}

/// The pair with this number in a keyed permutation of all pairs of `sizes`, and the number of complete passes over
/// all pairs before it.
///
/// Three rounds of a Feistel network with addition: each step adds a hash of one side to the other, so it can be undone, and no two numbers
/// give the same pair.
fn permuted(key: Key, number: u64, sizes: [u64; 2]) -> (u64, [u64; 2]) {
    let [first, second] = sizes;
    let (round, place) = (number / (first * second), number % (first * second));
    let (mut x, mut y) = (place % first, place / first);
    x = (x + key.at(y).below(first)) % first;
    y = (y + key.at(first + second + x).below(second)) % second;
    x = (x + key.at(2 * (first + second) + y).below(first)) % first;
    (round, [x, y])
}

/// Picks one of `items` by the key's own bits; `items` must not be empty.
fn pick<T>(key: Key, items: &[T]) -> &T {
    let index = key.below(items.len() as u64);
    &items[usize::try_from(index).expect("an index below a length fits")]
}
