//! References and descriptions as banks change them: capitals, no punctuation, cut off, wrong letters.

use std::collections::BTreeMap;

use super::board::Booked;
use crate::model::payments::bank_statement::StatementLine;

/// Minimum length of a useful reference; a shorter one is not specific.
const SHORTEST: usize = 7;
/// Maximum number of wrong letters in a reference of the usual length.
const MOST_WRONG: usize = 3;
/// Maximum number of letters compared; references are not longer.
const LONGEST: usize = 40;
/// Minimum length of a useful description.
const SHORTEST_DESCRIPTION: usize = 8;
/// Maximum number of words of a description that are tried as references.
const MOST_WORDS: usize = 40;

/// Only letters and digits, in capitals.
pub(super) fn letters(text: &str) -> String {
    let kept = text.chars().filter(|one| one.is_alphanumeric());
    kept.flat_map(char::to_uppercase).collect()
}

pub(super) struct LineWords {
    pub(super) reference: String,
    pub(super) description: String,
    /// Words of the description that are long enough to be a reference.
    pub(super) words: Vec<String>,
}

impl LineWords {
    pub(super) fn of(line: &StatementLine) -> Self {
        let description = line.description.as_deref().unwrap_or_default();
        let words = description
            .split(|one: char| !(one.is_alphanumeric() || one == '_' || one == '-'))
            .map(letters)
            .filter(|word| word.len() >= SHORTEST && word.bytes().any(|one| one.is_ascii_digit()));
        Self {
            reference: letters(line.reference.as_deref().unwrap_or_default()),
            words: words.take(MOST_WORDS).collect(),
            description: letters(description),
        }
    }

    /// All possible references in the line. The line's reference field comes first.
    pub(super) fn references(&self) -> impl Iterator<Item = &str> {
        let own = (self.reference.len() >= SHORTEST).then_some(self.reference.as_str());
        own.into_iter().chain(self.words.iter().map(String::as_str))
    }
}

/// Transactions by the references that lines may use.
pub(super) struct Keys {
    by_key: BTreeMap<String, Vec<usize>>,
    of: Vec<Vec<String>>,
}

/// The similarity of a line's reference to a transaction's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Likeness {
    /// A different reference.
    Other,
    /// One of the two has no reference.
    Unknown,
    /// A part of the reference matches, and other transactions match, too.
    PartShared,
    /// The reference is equal, and other transactions have it, too.
    Shared,
    /// A part of the reference matches, or it is similar; no other transaction matches.
    Part,
    /// The reference is equal, and no other transaction has it.
    Same,
}

impl Keys {
    pub(super) fn of(booked: &[Booked<'_>]) -> Self {
        let mut by_key: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        let mut of = Vec::with_capacity(booked.len());
        for (place, one) in booked.iter().enumerate() {
            let mut keys: Vec<String> = one.references.iter().map(|text| letters(text)).collect();
            keys.retain(|key| key.len() >= SHORTEST);
            keys.dedup();
            for key in &keys {
                by_key.entry(key.clone()).or_default().push(place);
            }
            of.push(keys);
        }
        Self { by_key, of }
    }

    /// Transactions with one of the line's references.
    pub(super) fn named_by<'k>(&'k self, words: &'k LineWords) -> impl Iterator<Item = usize> + 'k {
        let found = words.references().filter_map(|text| self.by_key.get(text));
        found.flatten().copied()
    }

    /// Transactions whose reference has the same start as the line's reference, up to a maximum
    /// number.
    pub(super) fn begun_by<'k>(
        &'k self,
        words: &'k LineWords,
        most: usize,
    ) -> impl Iterator<Item = usize> + 'k {
        let start = words.reference.as_str();
        let long_enough = start.len() >= SHORTEST;
        let from = long_enough.then(|| self.by_key.range(start.to_owned()..));
        let begun = from.into_iter().flatten();
        let begun = begun.take_while(move |(key, _)| key.starts_with(start));
        begun.flat_map(|(_, places)| places).copied().take(most)
    }

    /// The similarity of the line's reference to that transaction's.
    pub(super) fn likeness(&self, words: &LineWords, place: usize) -> Likeness {
        let keys = &self.of[place];
        for text in words.references() {
            if keys.iter().any(|key| key == text) {
                let shared = self.by_key.get(text).is_some_and(|all| all.len() > 1);
                return if shared { Likeness::Shared } else { Likeness::Same };
            }
        }
        if words.reference.is_empty() || keys.is_empty() {
            return Likeness::Unknown;
        }
        let own = words.reference.as_str();
        if own.len() >= SHORTEST && keys.iter().any(|key| key.starts_with(own)) {
            let alone = self.begun_by(words, 2).count() == 1;
            return if alone { Likeness::Part } else { Likeness::PartShared };
        }
        if keys.iter().any(|key| much_alike(own, key)) {
            return Likeness::Part;
        }
        Likeness::Other
    }
}

/// Whether the texts differ by a few wrong, missing or added letters.
fn much_alike(one: &str, other: &str) -> bool {
    let one: Vec<char> = one.chars().take(LONGEST).collect();
    let other: Vec<char> = other.chars().take(LONGEST).collect();
    let shorter = one.len().min(other.len());
    if one.len().abs_diff(other.len()) > MOST_WRONG || shorter < 2 * MOST_WRONG + 1 {
        return false;
    }
    // Only cells near the diagonal can stay below the limit.
    let far = MOST_WRONG + 1;
    let mut before: Vec<usize> = (0..=other.len()).map(|at| at.min(far)).collect();
    let mut now = vec![far; other.len() + 1];
    for (row, left) in one.iter().enumerate() {
        now.fill(far);
        now[0] = (row + 1).min(far);
        let first = row.saturating_sub(MOST_WRONG);
        let last = (row + MOST_WRONG + 1).min(other.len());
        for at in first..last {
            let changed = before[at] + usize::from(*left != other[at]);
            now[at + 1] = changed.min(before[at + 1] + 1).min(now[at] + 1).min(far);
        }
        core::mem::swap(&mut before, &mut now);
        if before.iter().all(|&wrong| wrong == far) {
            return false; // most references differ from their first letters on
        }
    }
    before[other.len()] <= MOST_WRONG
}

/// Whether both texts are equal up to the length of the shorter one.
pub(super) fn same_words(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    short.len() >= SHORTEST_DESCRIPTION && long.starts_with(short)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_with_a_few_wrong_letters_is_much_alike() {
        let whole = letters("col_0123456789abc");
        for (text, alike) in [
            ("col_0123456789abc", true),
            ("COL 0123456789ABC", true),
            ("COL0123X56789ABC", true),
            ("COL012456789ABC", true),
            ("COL0X2Y45Z789ABC", true),
            ("COL0X2Y45Z7W9ABC", false),
            ("COL9876543210XYZ", false),
            ("COL012", false),
            ("", false),
        ] {
            assert_eq!(much_alike(&letters(text), &whole), alike, "{text}");
        }
    }

    #[test]
    fn descriptions_match_if_the_longer_starts_with_the_shorter() {
        let same = |one: &str, other: &str| same_words(&letters(one), &letters(other));
        assert!(same("COLLECTION SETTL", "Collection settled"));
        assert!(same("Collection settled 3 ITEMS", "Collection settled"));
        assert!(!same("Coll", "Collection settled"));
        assert!(!same("Vendor payout", "Collection settled"));
        assert!(!same("", ""));
    }
}
