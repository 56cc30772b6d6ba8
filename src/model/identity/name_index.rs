//! Finds names by similar spelling. It compares a name only with list entries that share enough words with it.
//!
//! Each word is indexed by its plain spelling, and by every spelling with up to the permitted number of letters
//! removed. Two words within that difference share one of these spellings (symmetric deletion, as in `SymSpell`). So
//! a search finds the same entries as a comparison with every name. The index is ordered, so the result depends only
//! on the names. The comparison of the names removes false candidates.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use crate::model::name_match::{MatchType, Name, Word, differing};
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

    /// Names with a score of at least `least`, in the order of the list.
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

/// The index keys of a name.
pub(crate) fn keys(name: &Name) -> BTreeSet<u64> {
    let spelt = name.words.iter().flat_map(|word| spellings(&word.folded));
    spelt.map(|text| key(&text) | u64::from(needs_one(name))).collect()
}

/// The key of a spelling, with the lowest bit clear. [`keys`] sets that bit if one common word is enough for the
/// name.
fn key(text: &str) -> u64 {
    Key::new(0).with(text).hash() & !1
}

/// Candidates for a name, ascending: entries that share two words with it, or one word if that is enough for either
/// name. `under` returns the entries for a range of keys.
pub(crate) fn met<T: Copy + Ord, I: Iterator<Item = (u64, T)>>(
    asked: &Name,
    under: impl Fn(RangeInclusive<u64>) -> I,
) -> Vec<T> {
    let (mut enough, mut once) = (Vec::new(), Vec::new());
    for word in &asked.words {
        let mut places = Vec::new();
        for text in spellings(&word.folded) {
            let key = key(&text);
            for (key, place) in under(key..=key | 1) {
                let into = if key & 1 == 1 { &mut enough } else { &mut places };
                into.push(place);
            }
        }
        places.sort_unstable();
        places.dedup();
        once.extend(places);
    }
    once.sort_unstable();
    let needed = if needs_one(asked) { 1 } else { 2 };
    let chunks = once.chunk_by(|one, other| one == other);
    enough.extend(chunks.filter(|same| same.len() >= needed).map(|same| same[0]));
    enough.sort_unstable();
    enough.dedup();
    enough
}

/// Whether one common word is enough: the name has only one word, or an initial, which can match any word of the
/// other name. For all other pairs of names, two common words are required.
fn needs_one(name: &Name) -> bool {
    let is_initial = |word: &Word| word.folded.chars().nth(1).is_none();
    name.words.len() < 2 || name.words.iter().any(is_initial)
}

/// Only this number of first letters of a word is indexed, which limits the number of spellings. The first letters of
/// two words never differ more than the words.
const START: usize = 12;

/// The spellings of a word with up to the permitted number of letters removed.
fn spellings(word: &str) -> BTreeSet<String> {
    let mut shortest = BTreeSet::from([word.chars().take(START).collect::<String>()]);
    let mut all = shortest.clone();
    for _ in 0..differing(word.chars().count()) {
        shortest = shortest.iter().flat_map(|text| shortened(text)).collect();
        all.extend(shortest.iter().cloned());
    }
    all
}

/// Copies of a text, each without one of its letters.
fn shortened(text: &str) -> impl Iterator<Item = String> {
    let gaps = text.char_indices().map(|(at, letter)| (at, at + letter.len_utf8()));
    gaps.map(|(gap, after)| [&text[..gap], &text[after..]].concat())
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

    /// A number below `count`.
    fn draw(key: Key, count: usize) -> usize {
        usize::try_from(key.below(count as u64)).expect("a small number")
    }

    /// A word of few different letters, so that words resemble one another.
    fn word(key: Key) -> String {
        let letter = |n| char::from(b"abdnrt"[draw(key.at(n), 6)]);
        (0..=draw(key, 20) as u64).map(letter).collect()
    }

    /// A word after one edit: a letter more, less, other, or swapped with the next.
    fn edited(word: &str, key: Key) -> String {
        let mut letters: Vec<char> = word.chars().collect();
        let at = draw(key.at(0), letters.len());
        let new = char::from(b"abdnrtmk"[draw(key.at(1), 8)]);
        match draw(key.at(2), 4) {
            0 => letters.insert(at, new),
            1 if letters.len() > 1 => drop(letters.remove(at)),
            2 if at + 1 < letters.len() => letters.swap(at, at + 1),
            _ => letters[at] = new,
        }
        letters.into_iter().collect()
    }

    /// A name with edited words, a word as an initial, a missing or additional word, or another order.
    fn disguised(name: &str, key: Key) -> String {
        let words = (0..).zip(name.split(' ')).map(|(place, word)| {
            let edits = (0..draw(key.at(place), 4) as u64).map(|edit| key.at(place).at(edit));
            edits.fold(word.to_owned(), |word, key| edited(&word, key))
        });
        let mut words: Vec<String> = words.collect();
        let at = draw(key.at(10), words.len());
        match draw(key.at(11), 8) {
            0 => words[at].truncate(1),
            1 if words.len() > 1 => drop(words.remove(at)),
            2 => words.insert(at, word(key.at(12))),
            3 => words.reverse(),
            _ => {}
        }
        words.join(" ")
    }

    #[test]
    fn a_search_finds_every_disguised_name_that_comparing_finds() {
        let name = |key: Key| {
            let words: Vec<String> = (0..=draw(key, 3) as u64).map(|n| word(key.at(n))).collect();
            words.join(" ")
        };
        let seed = Key::new(7);
        let names: Vec<String> = (0..60).map(|n| name(seed.with("names").at(n))).collect();
        let read: Vec<Name> = names.iter().map(|name| Name::read(name)).collect();
        let index = NameIndex::of(names.iter().map(String::as_str));
        let mut hits = 0;
        for n in 0..2_000 {
            let key = seed.with("searches").at(n);
            let text = disguised(&names[draw(key, names.len())], key);
            let asked = Name::read(&text);
            let all = read.iter().enumerate().filter_map(|(place, name)| {
                let (score, kind) = asked.compare(name);
                (score >= 60).then_some(Found { place, score, kind })
            });
            let all: Vec<Found> = all.collect();
            hits += all.iter().filter(|hit| hit.score < 95).count();
            assert_eq!(index.search(&text, 60), all, "{text:?} in {names:?}");
        }
        assert!(hits > 500, "most searches find a similar name: {hits}");
    }

    #[test]
    fn two_other_letters_are_found_in_words_of_any_length() {
        let index = NameIndex::of(["Brandon Markuslind", "Brandon Konstantinopolitanski"]);
        for (text, place, score) in [
            ("Brandon Mapkuslind", 0, 95),
            ("Brandon Mapkusling", 0, 90),
            ("Brandon Markuslibb", 0, 90),
            ("Brandon Konstantinopolitanbbi", 1, 95),
            ("Brandon Mrnstantinopolitanski", 1, 95),
        ] {
            let found = index.search(text, 85);
            let expected = Found { place, score, kind: MatchType::Near };
            assert_eq!(found, [expected], "{text}");
        }
        // Three of ten letters differ.
        assert_eq!(index.search("Brandon Mapkusbing", 60), []);
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
