//! Names, found by what they sound like: of a list of many only those are compared that share enough words with the one asked for.
//!
//! Each word stands in the index under its plain spelling, under that with any one letter left out, and a long one with any two, so
//! that words that differ by a letter or two meet. Maps are ordered, so a search is a function of its names alone.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use crate::model::identity::name_match::{MatchType, Name, Word};

/// A list of names to search.
#[derive(Debug, Default)]
pub(crate) struct NameIndex {
    names: Vec<Name>,
    /// Places of the names that have a word.
    holders: Vec<Vec<usize>>,
    /// Places of words in `holders`, by their plain spelling.
    words: BTreeMap<String, usize>,
    /// The same by what is left of them without a letter.
    shortened: BTreeMap<String, Vec<usize>>,
    /// The same without two.
    shortened_twice: BTreeMap<String, Vec<usize>>,
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
        let mut index = Self::default();
        for text in names {
            let (place, name) = (index.names.len(), Name::read(text));
            for word in &name.words {
                let next = index.holders.len();
                let known = *index.words.entry(word.folded.clone()).or_insert(next);
                if known == next {
                    index.holders.push(Vec::new());
                    for short in shortened(&word.folded) {
                        index.shortened.entry(short).or_default().push(next);
                    }
                    for short in shortened_twice(&word.folded) {
                        index.shortened_twice.entry(short).or_default().push(next);
                    }
                }
                if index.holders[known].last() != Some(&place) {
                    index.holders[known].push(place);
                }
            }
            index.names.push(name);
        }
        index
    }

    /// Names that are like this one by at least that score, in the list's order.
    pub(crate) fn search(&self, text: &str, least: u32) -> Vec<Found> {
        let asked = Name::read(text);
        let mut met: Vec<usize> = Vec::new();
        for word in &asked.words {
            let mut places: Vec<usize> = self
                .alike(&word.folded)
                .into_iter()
                .flat_map(|word| self.holders[word].iter().copied())
                .collect();
            places.sort_unstable();
            places.dedup();
            met.extend(places);
        }
        met.sort_unstable();
        let mut found = Vec::new();
        for same in met.chunk_by(|one, other| one == other) {
            let name = &self.names[same[0]];
            // Of two names of several words one in common is too little for any threshold; an initial is never met.
            if same.len() < 2.min(whole(name)).min(whole(&asked)) {
                continue;
            }
            let (score, kind) = asked.compare(name);
            if score >= least {
                let place = same[0];
                found.push(Found { place, score, kind });
            }
        }
        found
    }

    /// Words of the list that may be this one.
    fn alike(&self, word: &str) -> BTreeSet<usize> {
        let mut places: BTreeSet<usize> = self.words.get(word).copied().into_iter().collect();
        places.extend(self.shortened.get(word).into_iter().flatten());
        places.extend(self.shortened_twice.get(word).into_iter().flatten());
        for short in shortened(word) {
            places.extend(self.words.get(&short));
            places.extend(self.shortened.get(&short).into_iter().flatten());
        }
        for short in shortened_twice(word) {
            places.extend(self.words.get(&short));
        }
        places
    }
}

/// Words of a name that are more than an initial.
fn whole(name: &Name) -> usize {
    let long = |word: &&Word| word.folded.chars().nth(1).is_some();
    name.words.iter().filter(long).count()
}

/// Shorter words stand for themselves.
const SHORTEST: usize = 4;

/// A word with any one of its letters left out.
fn shortened(word: &str) -> Vec<String> {
    let letters: Vec<char> = word.chars().collect();
    if letters.len() < SHORTEST {
        return Vec::new();
    }
    let without = |gap: usize| {
        let kept = letters
            .iter()
            .enumerate()
            .filter(|(place, _)| *place != gap);
        kept.map(|(_, letter)| *letter).collect::<String>()
    };
    (0..letters.len()).map(without).collect()
}

/// Words of which two letters are few enough to be slips, and whose pairs of letters are not too many.
const TWICE: RangeInclusive<usize> = 7..=24;

/// A long word with any two of its letters left out.
fn shortened_twice(word: &str) -> BTreeSet<String> {
    if !TWICE.contains(&word.chars().count()) {
        return BTreeSet::new();
    }
    shortened(word)
        .iter()
        .flat_map(|one| shortened(one))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::stream::Key;

    const NAMES: [&str; 4] = [
        "Vorrik Taldane",
        "Zella Brothmar Skeid",
        "Taldane Vorrik",
        "Krau Holdings Ltd",
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
            "😀 …",
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
    fn ten_thousand_are_screened_against_fifty_thousand_by_looking_at_few() {
        let syllables = [
            "ka", "vor", "rik", "tal", "dane", "zel", "bro", "mar", "ske", "lun",
        ];
        let word = |key: Key| -> String {
            let part = |n| syllables[usize::try_from(key.at(n).below(10)).unwrap_or_default()];
            (0..3).map(part).collect()
        };
        let name = |key: Key| format!("{} {}", word(key.at(1)), word(key.at(2)));
        let (list, asked) = (Key::new(1), Key::new(2));
        let names: Vec<String> = (0..50_000).map(|n| name(list.at(n))).collect();
        let index = NameIndex::of(names.iter().map(String::as_str));
        for n in 0..10_000 {
            // Somebody of the list is always found, whoever else is.
            let known = (n % 100 == 0).then(|| usize::try_from(n * 5).unwrap_or_default());
            let text = known.map_or_else(|| name(asked.at(n)), |place| names[place].clone());
            let found = index.search(&text, 85);
            if let Some(place) = known {
                assert!(
                    found
                        .iter()
                        .any(|hit| hit.place == place && hit.score == 100)
                );
            }
        }
    }
}
