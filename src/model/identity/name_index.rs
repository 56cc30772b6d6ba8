//! Names, found by what they sound like: of a list of many only those are compared that share enough words with the one asked for.
//!
//! Each word stands in an index under its plain spelling, under that with any one letter left out, and a long one with any two, so
//! that words that differ by a letter or two meet. An index keeps numbers in order, so a search is a function of its names alone;
//! what meets by chance is told apart when names are compared.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use crate::model::identity::name_match::Word;
use crate::model::identity::{MatchType, Name};
use crate::value::Key;

/// A list of names to search.
#[derive(Debug, Default)]
pub(crate) struct NameIndex {
    names: Vec<Name>,
    /// What each name stands under, with its place.
    standing: BTreeSet<(u64, usize)>,
}

/// A name of the list that is like the one asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// Its place in the list.
    pub(crate) place: usize,
    /// 0 to 100.
    pub(crate) score: u32,
    pub(crate) kind: MatchType,
}

impl NameIndex {
    /// Reads a list.
    pub(crate) fn of<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let names: Vec<Name> = names.into_iter().map(Name::read).collect();
        let places = names.iter().enumerate();
        let standing = places.flat_map(|(place, name)| {
            let keys = keys(name);
            keys.into_iter().map(move |key| (key, place))
        });
        Self { standing: standing.collect(), names }
    }

    /// Names that are like this one by at least that score, in the list's order.
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

/// Letters that a spelling leaves out, at most.
const MOST: u64 = 2;

/// What a name stands under in an index.
pub(crate) fn keys(name: &Name) -> BTreeSet<u64> {
    let alone = u64::from(whole(name) < 2);
    let spelt = name.words.iter().flat_map(|word| spellings(&word.folded));
    spelt.map(|(text, left_out)| key(&text) | left_out << 1 | alone).collect()
}

/// What stands for a spelling; its lowest bits say how many letters it leaves out, and whether it is all that a name has.
fn key(text: &str) -> u64 {
    const BITS: u64 = 0b111;
    Key::new(0).with(text).hash() & !BITS
}

/// Those of an index that may be like a name, ascending: they share two words with it, or one where either has no more. `under`
/// is asked what stands under such keys.
pub(crate) fn met<T: Copy + Ord, I: Iterator<Item = (u64, T)>>(
    asked: &Name,
    under: impl Fn(RangeInclusive<u64>) -> I,
) -> Vec<T> {
    let (mut enough, mut once) = (Vec::new(), Vec::new());
    for word in &asked.words {
        let mut places = Vec::new();
        for (text, left_out) in spellings(&word.folded) {
            let key = key(&text);
            // Of two words three letters are not left out: they would be too unlike.
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
    // Of two names of several words one in common is too little for any threshold; an initial is none.
    let needed = 2.min(whole(asked));
    let chunks = once.chunk_by(|one, other| one == other);
    enough.extend(chunks.filter(|same| same.len() >= needed).map(|same| same[0]));
    enough.sort_unstable();
    enough.dedup();
    enough
}

/// Words of a name that are more than an initial.
fn whole(name: &Name) -> usize {
    let long = |word: &&Word| word.folded.chars().nth(1).is_some();
    name.words.iter().filter(long).count()
}

/// Shorter words stand for themselves.
const SHORTEST: usize = 4;
/// Words of which two letters are few enough to be slips, and whose pairs of letters are not too many.
const TWICE: RangeInclusive<usize> = 7..=16;

/// A word's spellings, with how many letters each leaves out.
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

/// A word with any one of its letters left out.
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
    fn somebody_of_a_long_list_is_found_beside_the_many_who_are_alike() {
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
