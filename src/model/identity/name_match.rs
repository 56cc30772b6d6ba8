//! How likely two names belong to one person: equal, another spelling, another order, or similar. Integers only.
//!
//! Accents, case, titles and legal forms are ignored (`payments::holder_name` splits the words). Deliberately absent: nicknames.

use crate::model::payments::holder_name::words;
use crate::model::prelude::*;

/// Points for two words that differ only in spelling.
const SPELT: u32 = 95;
/// Points for a letter that may be the initial of the other word.
const INITIAL: u32 = 60;
/// The minimum score for two words to be similar.
const ALIKE: u32 = 70;
/// A shorter word must match exactly: one wrong letter is not accepted.
const LONG: usize = 4;
/// Points deducted for another word order.
const ORDER: u32 = 2;
/// Points deducted for a word that the other name does not have.
const MISSING: u32 = 5;
/// Maximum score for one common word if either name has more words.
const ONE_WORD: u32 = 70;

/// How a name matches a list entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum MatchType {
    /// Equal, ignoring case.
    Exact,
    /// The same words in another order.
    Reordered,
    /// The same words in another spelling: accents, `kh` for `k`, `ou` for `u`, a doubled letter.
    Transliterated,
    /// Some words differ by one or two letters, or are missing.
    Near,
}

/// A name, prepared for comparison.
#[derive(Clone, Debug)]
pub(crate) struct Name {
    text: String,
    pub(crate) words: Vec<Word>,
}

/// A word of a name, with its plain spelling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    text: String,
    pub(crate) folded: String,
}

impl Name {
    /// Prepares a name.
    pub(crate) fn read(text: &str) -> Self {
        let whole = text.trim().to_lowercase();
        let mut read = words(text);
        // A name that consists only of punctuation is one word.
        if read.is_empty() && !whole.is_empty() {
            read.push(whole.clone());
        }
        let words = read.into_iter().map(|text| Word { folded: fold(&text), text });
        Self { words: words.collect(), text: whole }
    }

    /// Compares two names. Returns a score from 0 to 100 and the kind of match.
    pub(crate) fn compare(&self, other: &Self) -> (u32, MatchType) {
        if self.text == other.text {
            return (100, MatchType::Exact);
        }
        let (short, long) = if self.words.len() <= other.words.len() {
            (&self.words, &other.words)
        } else {
            (&other.words, &self.words)
        };
        let Some(pairs) = paired(short, long) else {
            return (0, MatchType::Near);
        };
        let sum: u32 = pairs.iter().map(|pair| pair.score).sum();
        let mean = sum / count(short);
        let extra = count(long) - count(short);
        let ordered = pairs.windows(2).all(|two| two[0].place < two[1].place);
        let all = |least: u32| extra == 0 && pairs.iter().all(|pair| pair.score >= least);
        let kind = if all(100) && !ordered {
            MatchType::Reordered
        } else if all(SPELT) {
            MatchType::Transliterated
        } else {
            MatchType::Near
        };
        let order = if ordered { 0 } else { ORDER };
        // The same words with an accent or a title are not an exact match.
        let dressed = u32::from(mean == 100 && ordered && extra == 0);
        let score = mean.saturating_sub(order + dressed + extra.saturating_mul(MISSING));
        if short.len() == 1 && long.len() > 1 { (score.min(ONE_WORD), kind) } else { (score, kind) }
    }
}

fn count(words: &[Word]) -> u32 {
    u32::try_from(words.len()).unwrap_or(u32::MAX)
}

/// A word's partner in the other name.
#[derive(Clone, Copy)]
struct Pair {
    score: u32,
    place: usize,
}

/// The best free partner of each word, equal words first; none if there are no words.
fn paired(short: &[Word], long: &[Word]) -> Option<Vec<Pair>> {
    if short.is_empty() {
        return None;
    }
    let mut pairs: Vec<Option<Pair>> = vec![None; short.len()];
    let mut taken = vec![false; long.len()];
    for (word, pair) in short.iter().zip(&mut pairs) {
        let free = (0..).zip(long).find(|(place, other)| {
            let place: usize = *place;
            !taken[place] && other.text == word.text
        });
        if let Some((place, _)) = free {
            taken[place] = true;
            *pair = Some(Pair { score: 100, place });
        }
    }
    for (word, pair) in short.iter().zip(&mut pairs) {
        if pair.is_some() {
            continue;
        }
        let free = (0..).zip(long).filter(|(place, _)| !taken[*place]);
        let scored = free.map(|(place, other)| Pair { score: likeness(word, other), place });
        let best = scored.max_by_key(|pair| (pair.score, usize::MAX - pair.place));
        if let Some(best) = best {
            taken[best.place] = best.score > 0;
            *pair = Some(best);
        }
    }
    pairs.into_iter().collect()
}

fn likeness(one: &Word, other: &Word) -> u32 {
    if one.folded == other.folded {
        return SPELT;
    }
    let (a, b): (Vec<char>, Vec<char>) =
        (one.folded.chars().collect(), other.folded.chars().collect());
    let initial = |short: &[char], long: &[char]| short.len() == 1 && short[0] == long[0];
    if initial(&a, &b) || initial(&b, &a) {
        return INITIAL;
    }
    if a.len().min(b.len()) < LONG {
        return 0;
    }
    let longest = u32::try_from(a.len().max(b.len())).unwrap_or(u32::MAX);
    let score = 100_u32.saturating_sub(distance(&a, &b) * 100 / longest);
    // Two different words never score as high as two spellings of one word.
    if score < ALIKE { 0 } else { score.min(SPELT - 1) }
}

/// Number of added, missing, wrong or swapped letters between two words.
fn distance(a: &[char], b: &[char]) -> u32 {
    let width = b.len() + 1;
    let mut before: Vec<u32> = vec![0; width];
    let mut last: Vec<u32> = (0..).take(width).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![last[0] + 1; width];
        for (j, y) in b.iter().enumerate() {
            let other = last[j] + u32::from(x != y);
            let mut best = other.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                best = best.min(before[j - 1] + 1);
            }
            row[j + 1] = best;
        }
        before = std::mem::replace(&mut last, row);
    }
    last[width - 1]
}

/// Spellings of the same sound, longer ones first.
const SPELLINGS: &[(&str, &str)] = &[
    ("sch", "s"),
    ("ph", "f"),
    ("kh", "k"),
    ("gh", "g"),
    ("sh", "s"),
    ("zh", "s"),
    ("th", "t"),
    ("dh", "d"),
    ("ck", "k"),
    ("qu", "k"),
    ("ou", "u"),
    ("oo", "u"),
    ("ee", "i"),
    ("ei", "i"),
    ("ie", "i"),
    ("ae", "a"),
    ("oe", "u"),
    ("ue", "u"),
    ("x", "ks"),
    ("c", "k"),
    ("q", "k"),
    ("w", "v"),
    ("y", "i"),
    ("j", "i"),
    ("z", "s"),
    ("e", "a"),
    ("o", "u"),
];

/// The plain spelling of a word: equal sounds are written alike, and doubled letters once.
fn fold(word: &str) -> String {
    let mut folded = String::with_capacity(word.len());
    let mut rest = word;
    while let Some(letter) = rest.chars().next() {
        let known = SPELLINGS.iter().find(|(from, _)| rest.starts_with(from));
        let own = &rest[..letter.len_utf8()];
        let (from, to) = known.map_or((own, own), |(from, to)| (*from, *to));
        for letter in to.chars() {
            if !folded.ends_with(letter) {
                folded.push(letter);
            }
        }
        rest = &rest[from.len()..];
    }
    folded
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(one: &str, other: &str) -> (u32, MatchType) {
        let (one, other) = (Name::read(one), Name::read(other));
        let (there, back) = (one.compare(&other), other.compare(&one));
        assert_eq!(there, back, "a comparison has no direction");
        there
    }

    #[test]
    fn each_way_of_being_alike_has_its_score() {
        assert_eq!(of("Vorrik Taldane", "vorrik taldane"), (100, MatchType::Exact));
        assert_eq!(of("Taldane, Vorrik", "Vorrik Taldane"), (98, MatchType::Reordered));
        assert_eq!(of("Vórrik Taldane", "Vorrik Taldane"), (99, MatchType::Transliterated));
        assert_eq!(of("Worick Thaldaine", "Vorrik Taldaine").1, MatchType::Transliterated);
        assert_eq!(of("Mohammed Saleh", "Muhamad Salih").1, MatchType::Near);
        let (score, kind) = of("Vorrik Taldane", "Vorrik Taldanes");
        assert_eq!(kind, MatchType::Near);
        assert!((85..100).contains(&score), "{score}");
    }

    #[test]
    fn other_people_stay_below_every_threshold() {
        for (one, other) in [
            ("Ada Okafor", "Vorrik Taldane"),
            ("Ada Okafor", "Ada Taldane"),
            ("Ann Li", "Ian Lu"),
            ("", "Ada Okafor"),
        ] {
            assert!(of(one, other).0 < 60, "{one}, {other}");
        }
    }

    #[test]
    fn half_a_name_is_no_match_at_the_usual_threshold() {
        assert_eq!(of("Taldane", "Vorrik Taldane").0, 70);
        assert!(of("V. Taldane", "Vorrik Taldane").0 < 85);
    }
}
