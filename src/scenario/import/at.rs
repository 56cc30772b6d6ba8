//! The places of an import's rows and their members in the files.

use core::ops::Range;
use std::collections::BTreeMap;

use toml::de::DeValue;

use crate::scenario::reading::Found;
use crate::value::Diagnostic;

/// Bytes of a file, by its place in the list.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) file: usize,
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Place {
    pub(super) const fn new(file: usize, span: &Range<usize>) -> Self {
        Self { file, start: span.start, end: span.end }
    }

    /// A mistake at this place.
    pub(super) fn mistake(&self, message: impl Into<String>) -> (usize, Diagnostic) {
        (self.file, Diagnostic::new(self.start..self.end, message))
    }
}

/// The places of a row and its members.
#[derive(Clone, Debug)]
pub(super) struct At {
    pub(super) head: Place,
    /// The key and the value of each member, by JSON pointer.
    pub(super) members: BTreeMap<String, (Place, Place)>,
    /// Whether members may be absent because another part of the file is wrong. Then an absent member is no mistake.
    pub(super) is_partial: bool,
}

impl At {
    pub(super) const fn new(head: Place) -> Self {
        Self { head, members: BTreeMap::new(), is_partial: false }
    }

    /// The key and the value of the deepest written part of a member, or else the head of the row.
    fn find(&self, pointer: &str) -> (&Place, &Place) {
        let mut pointer = pointer;
        loop {
            if let Some((key, value)) = self.members.get(pointer) {
                return (key, value);
            }
            match pointer.rsplit_once('/') {
                Some((parent, _)) => pointer = parent,
                None => return (&self.head, &self.head),
            }
        }
    }

    /// The place of a member's mistake: the key of an unknown member, and otherwise the value.
    pub(super) fn place_of(&self, code: &str, pointer: &str) -> &Place {
        if code == "unknown_member" { self.key(pointer) } else { self.value(pointer) }
    }

    pub(super) fn value(&self, pointer: &str) -> &Place {
        self.find(pointer).1
    }

    pub(super) fn key(&self, pointer: &str) -> &Place {
        self.find(pointer).0
    }

    /// The member at `pointer` of the call is written as another key.
    pub(super) fn alias(&mut self, pointer: &str, key: &str) {
        if let Some(place) = self.members.get(&format!("/{key}")).cloned() {
            self.members.entry(pointer.to_owned()).or_insert(place);
        }
    }

    /// Adds the members of a table or a list.
    pub(super) fn add(&mut self, file: usize, pointer: &str, found: Found<'_>) {
        match found.get_ref() {
            DeValue::Table(entries) => {
                for (key, value) in entries {
                    let name = key.get_ref().replace('~', "~0").replace('/', "~1");
                    let pointer = format!("{pointer}/{name}");
                    let places = (Place::new(file, &key.span()), Place::new(file, &value.span()));
                    self.members.insert(pointer.clone(), places);
                    self.add(file, &pointer, value);
                }
            }
            DeValue::Array(items) => {
                for (number, item) in items.iter().enumerate() {
                    let pointer = format!("{pointer}/{number}");
                    let place = Place::new(file, &item.span());
                    self.members.insert(pointer.clone(), (place.clone(), place));
                    self.add(file, &pointer, item);
                }
            }
            _ => {}
        }
    }
}
