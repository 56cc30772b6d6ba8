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

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::Deserialize;

use crate::value::Key;

/// An embedded file of many like tables, each read when it is first asked for: a world of three countries does not wait
/// for the thirty that it does not have.
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
    /// Cuts a file before each `[[name]]` heading; a table's first value is its id.
    pub(crate) fn cut(file: &'static str, text: &'static str, heading: &str) -> Self {
        let starts: Vec<usize> = text.match_indices(heading).map(|(start, _)| start).collect();
        let ends = starts.iter().skip(1).copied().chain([text.len()]);
        let row = |(start, end): (&usize, usize)| {
            let text = &text[*start..end];
            let id = text.split('"').nth(1).expect("a table begins with its id");
            Section { id, text, value: OnceLock::new() }
        };
        Self { file, rows: starts.iter().zip(ends).map(row).collect() }
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = &'static str> {
        self.rows.iter().map(|section| section.id)
    }

    pub(crate) fn find(&self, id: &str) -> Option<&T> {
        let section = self.rows.iter().find(|section| section.id == id)?;
        Some(section.value.get_or_init(|| {
            let tables: BTreeMap<String, Vec<T>> = table(self.file, section.text);
            tables.into_values().flatten().next().expect("a section is one table")
        }))
    }
}

/// Reads one embedded table; its strings are slices of the binary.
fn table<T: Deserialize<'static>>(file: &str, text: &'static str) -> T {
    toml::from_str(text).unwrap_or_else(|error| panic!("fixtures/{file}: {error}"))
}

/// One of `items`, which are not empty, by the key's own bits.
fn pick<T>(key: Key, items: &[T]) -> &T {
    let index = key.below(items.len() as u64);
    &items[usize::try_from(index).expect("an index below a length fits")]
}
