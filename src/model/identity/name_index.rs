//! Finds names by similar spelling. It compares a name only with list entries that share enough words with it.
//!
//! Each word is indexed by its plain spelling, by every spelling with one letter removed, and for long words with two letters removed. So
//! words that differ by one or two letters meet. The index is ordered, so a search depends on its names alone. False candidates are removed
//! when the names are compared.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use crate::model::name_match::{MatchType, Name, Word};
use crate::value::Key;

/// A searchable list of names.
#[derive(Debug, Default)]
pub(crate) struct NameIndex {
    names: Vec<Name>,
    /// The keys of each name, with its position.
    standing: BTreeSet<(u64, usize)>,
}

/// A name of the list that is similar to the given one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// Position in the list.
    pub(crate) place: usize,
    /// 0 to 100.
    pub(crate) score: u32,
    pub(crate) kind: MatchType,
}

impl NameIndex {
    /// Indexes a list.
    pub(crate) fn of<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let names: Vec<Name> = names.into_iter().map(Name::read).collect();
        let places = names.iter().enumerate();
        let standing = places.flat_map(|(place, name)| {
            let keys = keys(name);
            keys.into_iter().map(move |key| (key, place))
        });
        Self { standing: standing.collect(), names }
    }

    /// Names with at least that score, in the order of the list.
    pub(crate) fn search(&self, text: &str, least: u32) -> Vec<Found> {
        let asked = Name::read(text);
        let places = met(&asked, |keys| {
            let standing = self.standing.range((*keys.start(), 0)..=(*keys.end(), usize::MAX));
            standing.copied()
        });
        let found = places.into_iter().map(|place| {
            let (score, kind) = asked.compare(&self.names[place]);
            Found { place, score, kind }
        });
        found.filter(|found| found.score >= least).collect()
    }
}

/// Maximum number of letters removed from a spelling.
const MOST: u64 = 2;

/// The index keys of a name.
pub(crate) fn keys(name: &Name) -> BTreeSet<u64> {
    let alone = u64::from(whole(name) < 2);
    let spelt = name.words.iter().flat_map(|word| spellings(&word.folded));
    spelt.map(|(text, left_out)| key(&text) | left_out << 1 | alone).collect()
}

/// The key of a spelling. Its lowest bits say how many letters are removed, and whether it is the name's only word.
fn key(text: &str) -> u64 {
    const BITS: u64 = 0b111;
    Key::new(0).with(text).hash() & !BITS
}

/// Candidates for a name, ascending: entries that share two words with it, or one if either name has only one word. `under` returns the
/// entries under a range of keys.
pub(crate) fn met<T: Copy + Ord, I: Iterator<Item = (u64, T)>>(
    asked: &Name,
    under: impl Fn(RangeInclusive<u64>) -> I,
) -> Vec<T> {
    let (mut enough, mut once) = (Vec::new(), Vec::new());
    for word in &asked.words {
        let mut places = Vec::new();
        for (text, left_out) in spellings(&word.folded) {
            let key = key(&text);
            // At most two letters differ between two words, so three removed letters are never combined.
            let last = key | (MOST - left_out) << 1 | 1;
            for (key, place) in under(key..=last) {
                let into = if key & 1 == 1 { &mut enough } else { &mut places };
                into.push(place);
            }
        }
        places.sort_unstable();
        places.dedup();
        once.extend(places);
    }
    once.sort_unstable();
    // Between names of several words, one common word is never enough. Initials do not count as words.
    let needed = 2.min(whole(asked));
    let chunks = once.chunk_by(|one, other| one == other);
    enough.extend(chunks.filter(|same| same.len() >= needed).map(|same| same[0]));
    enough.sort_unstable();
    enough.dedup();
    enough
}

/// Number of words that are longer than an initial.
fn whole(name: &Name) -> usize {
    let long = |word: &&Word| word.folded.chars().nth(1).is_some();
    name.words.iter().filter(long).count()
}

/// Shorter words are indexed by their exact spelling only.
const SHORTEST: usize = 4;
/// Length of words for which two letters may be removed without too many false matches and combinations.
const TWICE: RangeInclusive<usize> = 7..=16;

/// A word's spellings, with the number of letters removed from each.
fn spellings(word: &str) -> Vec<(String, u64)> {
    let once = shortened(word);
    let twice = if TWICE.contains(&word.chars().count()) {
        once.iter().flat_map(|one| shortened(one)).collect()
    } else {
        BTreeSet::new()
    };
    let mut all = vec![(word.to_owned(), 0)];
    all.extend(once.into_iter().map(|text| (text, 1)));
    all.extend(twice.into_iter().map(|text| (text, 2)));
    all
}

/// A word with each one of its letters removed in turn.
fn shortened(word: &str) -> BTreeSet<String> {
    let letters: Vec<char> = word.chars().collect();
    if letters.len() < SHORTEST {
        return BTreeSet::new();
    }
    let without = |gap: usize| -> String {
        let (before, after) = (&letters[..gap], &letters[gap + 1..]);
        before.iter().chain(after).collect()
    };
    (0..letters.len()).map(without).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Key;

    const NAMES: [&str; 6] = [
        "Vorrik Taldane",
        "Zella Brothmar Skeid",
        "Taldane Vorrik",
        "Krau Holdings Ltd",
        "T. Ox",
        "😀",
    ];

    #[test]
    fn a_search_finds_what_comparing_with_every_name_finds() {
        let index = NameIndex::of(NAMES);
        for asked in [
            "Vorrik Taldane",
            "VORRIK  TALDANÉ",
            "Worick Taldane",
            "Vorik Taldan",
            "Zella Skeid",
            "Brothmar Zella Skied",
            "Krau Holding",
            "V. Taldane",
            "Taldane V",
            "Vorrik Taldanest",
            "Vorrik Tldne",
            "Zella Brothmarst Skeid",
            "V T",
            "😀",
            "😀 …",
            "Tamar Ox",
            "Ada Okafor",
        ] {
            let all = NAMES.iter().enumerate().filter_map(|(place, name)| {
                let (score, kind) = Name::read(asked).compare(&Name::read(name));
                (score >= 75).then_some(Found { place, score, kind })
            });
            assert_eq!(index.search(asked, 75), all.collect::<Vec<_>>(), "{asked}");
        }
    }

    #[test]
    fn one_name_is_found_among_many_similar_ones() {
        let syllables = ["ka", "vor", "rik", "tal", "dane", "zel", "bro", "mar", "ske", "lun"];
        let word = |key: Key| -> String {
            let part = |n| syllables[usize::try_from(key.at(n).below(10)).unwrap_or_default()];
            (0..3).map(part).collect()
        };
        let name = |key: Key| format!("{} {}", word(key.at(1)), word(key.at(2)));
        let names: Vec<String> = (0..2_000).map(|n| name(Key::new(1).at(n))).collect();
        let index = NameIndex::of(names.iter().map(String::as_str));
        for (place, text) in names.iter().enumerate().step_by(100) {
            let found = index.search(text, 85);
            let is_it = |hit: &Found| hit.place == place && hit.score == 100;
            assert!(found.iter().any(is_it), "{text}");
        }
    }
}
