//! Numbers with a pattern: account numbers, tax ids, phone numbers, postal codes.
//!
//! The pattern language is described at the top of `fixtures/growth/countries.toml`. A scheme both generates and verifies numbers, so the
//! two cannot disagree. Tests compare both with other code.

use serde::Deserialize;

use super::checksum::Check;
use crate::value::Key;

/// Maximum number of draws of one number. At most one in eleven numbers is never issued.
const ATTEMPTS: u64 = 64;

/// Capacity for the longest number and the characters that its check covers.
const CAPACITY: usize = 40;

/// A pattern with its check characters.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Scheme {
    template: &'static str,
    #[serde(default)]
    check: Vec<Check>,
}

/// Why a text is not a number of a scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SchemeFault {
    /// Wrong length, or a letter instead of a digit.
    Shape,
    /// The check characters are wrong.
    CheckDigit,
}

/// Text for a named slot of a pattern: `("code", "044")` for `{code}`.
pub(crate) type Slot<'a> = (&'a str, &'a str);

/// One position of a pattern.
enum Place<'t> {
    Digit { from: u64 },
    Letter,
    OneOf(&'t str),
    Check,
    Literal(char),
    Slot(&'t str),
}

impl Scheme {
    /// A number of this scheme.
    pub(crate) fn grow(&self, key: Key) -> String {
        self.grow_with(key, "", &[])
    }

    /// A number whose check characters are calculated over `before` and the number. The result does not contain
    /// `before`.
    pub(crate) fn grow_with(&self, key: Key, before: &str, slots: &[Slot<'_>]) -> String {
        (0..ATTEMPTS)
            .find_map(|attempt| {
                let mut draft = Vec::with_capacity(CAPACITY);
                draft.extend_from_slice(before.as_bytes());
                fill(self.template, key.at(attempt), slots, &mut draft);
                let issued = self.check.iter().all(|check| check.fill(&mut draft));
                draft.drain(..before.len());
                issued.then(|| text(draft))
            })
            .unwrap_or_else(|| panic!("pattern {} grows no issued number", self.template))
    }

    /// Whether the scheme has check characters.
    pub(crate) fn has_check(&self) -> bool {
        !self.check.is_empty()
    }

    /// Whether the pattern contains letters.
    pub(crate) fn has_letters(&self) -> bool {
        places(self.template).any(|place| match place {
            Place::Letter => true,
            Place::OneOf(class) => class.bytes().any(|byte| byte.is_ascii_uppercase()),
            Place::Literal(literal) => literal.is_ascii_uppercase(),
            _ => false,
        })
    }

    /// The pattern's length in characters, with the given width for each slot.
    pub(crate) fn width(&self, slot_width: impl Fn(&str) -> usize) -> usize {
        places(self.template)
            .map(|place| match place {
                Place::Slot(name) => slot_width(name),
                _ => 1,
            })
            .sum()
    }

    /// The start and the length of the slot `name`.
    pub(crate) fn slot_range(
        &self,
        name: &str,
        slot_width: impl Fn(&str) -> usize,
    ) -> Option<core::ops::Range<usize>> {
        let mut start = 0;
        for place in places(self.template) {
            match place {
                Place::Slot(slot) if slot == name => return Some(start..start + slot_width(slot)),
                Place::Slot(slot) => start += slot_width(slot),
                _ => start += 1,
            }
        }
        None
    }

    /// Checks a number from outside: its length, digits where required, and its check characters.
    ///
    /// The values of single digits are not checked, because the patterns are deliberately narrower than the issued numbers.
    pub(crate) fn verify(
        &self,
        before: &str,
        given: &str,
        slot_width: impl Fn(&str) -> usize,
    ) -> Result<(), SchemeFault> {
        if !given.is_ascii() || given.len() != self.width(&slot_width) {
            return Err(SchemeFault::Shape);
        }
        let mut rest = given.as_bytes();
        let mut draft = before.as_bytes().to_vec();
        for place in places(self.template) {
            let width = if let Place::Slot(name) = place { slot_width(name) } else { 1 };
            let (here, after) = rest.split_at(width);
            rest = after;
            if !here.iter().all(|&byte| place.admits(byte)) {
                return Err(SchemeFault::Shape);
            }
            match place {
                Place::Check => draft.push(b'*'),
                _ => draft.extend_from_slice(here),
            }
        }
        let issued = self.check.iter().all(|check| check.fill(&mut draft));
        if issued && draft[before.len()..] == *given.as_bytes() {
            Ok(())
        } else {
            Err(SchemeFault::CheckDigit)
        }
    }
}

impl Place<'_> {
    fn admits(&self, byte: u8) -> bool {
        match self {
            Place::Digit { .. } => byte.is_ascii_digit(),
            Place::Letter => byte.is_ascii_uppercase(),
            Place::OneOf(class) if class.bytes().all(|c| c.is_ascii_digit()) => {
                byte.is_ascii_digit()
            }
            Place::OneOf(_) | Place::Check => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            // A number written with separators, such as an Australian company number.
            Place::Slot(_) => byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' ',
            Place::Literal(literal) if literal.is_ascii_digit() => byte.is_ascii_digit(),
            Place::Literal(literal) if literal.is_ascii_uppercase() => byte.is_ascii_uppercase(),
            Place::Literal(literal) => *literal == char::from(byte),
        }
    }
}

/// Fills a pattern without check characters, such as phone numbers and postal codes.
pub(crate) fn grow_pattern(template: &str, key: Key) -> String {
    let mut draft = Vec::with_capacity(template.len());
    fill(template, key, &[], &mut draft);
    text(draft)
}

fn fill(template: &str, key: Key, slots: &[Slot<'_>], draft: &mut Vec<u8>) {
    for (position, place) in (0..).zip(places(template)) {
        let draw = |choices: usize| key.at(position).below(choices as u64);
        match place {
            Place::Digit { from } => {
                draft.push(symbol(b"0123456789", from + key.at(position).below(10 - from)));
            }
            Place::Letter => draft.push(symbol(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ", draw(26))),
            Place::OneOf(class) => draft.push(symbol(class.as_bytes(), draw(class.len()))),
            Place::Check => draft.push(b'*'),
            Place::Literal(literal) => {
                draft.extend_from_slice(literal.encode_utf8(&mut [0; 4]).as_bytes());
            }
            Place::Slot(name) => {
                let slot = slots.iter().find(|(slot, _)| *slot == name);
                let (_, value) = slot.unwrap_or_else(|| panic!("pattern {template} names {name}"));
                draft.extend_from_slice(value.as_bytes());
            }
        }
    }
}

/// The positions of a pattern, in order.
fn places(template: &str) -> impl Iterator<Item = Place<'_>> {
    let mut rest = template;
    core::iter::from_fn(move || {
        let mark = rest.chars().next()?;
        let after = &rest[mark.len_utf8()..];
        let (place, after) = match mark {
            '#' => (Place::Digit { from: 0 }, after),
            '%' => (Place::Digit { from: 1 }, after),
            '@' => (Place::Letter, after),
            '*' => (Place::Check, after),
            '[' => {
                let (class, after) = after.split_once(']').expect("a class of a pattern ends");
                (Place::OneOf(class), after)
            }
            '{' => {
                let (name, after) = after.split_once('}').expect("a slot of a pattern ends");
                (Place::Slot(name), after)
            }
            literal => (Place::Literal(literal), after),
        };
        rest = after;
        Some(place)
    })
}

fn symbol(symbols: &[u8], index: u64) -> u8 {
    symbols[usize::try_from(index).expect("a draw below a length fits")]
}

fn text(draft: Vec<u8>) -> String {
    String::from_utf8(draft).expect("a filled pattern is text")
}
