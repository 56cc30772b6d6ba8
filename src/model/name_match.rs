//! The similarity of two names: one scorer with two policies. All scores are integers.
//!
//! A watchlist ([`Name::compare`]) also accepts other spellings of the same sound; a bank ([`compare_holders`])
//! accepts one typing error in a word. Both compare word by word in any order, without case, accents, titles and
//! legal forms. Deliberately absent: nicknames.

use strsim::osa_distance;

use crate::model::payments::MatchResult;
use crate::model::prelude::*;

/// The score of two equal words. All scores are from 0 to 100.
const SAME: u32 = 100;
/// Two spellings of one word, on a watchlist.
const SPELT: u32 = 95;
/// A word with one typing error, at a bank.
const MISSPELT: u32 = 85;
/// A letter that may be the other word's initial.
const INITIAL: u32 = 60;
/// The maximum score if one name has a single word and the other name has more.
const ONE_WORD: u32 = 70;
/// The minimum number of letters of words that are compared letter by letter.
const LONG: usize = 4;
/// The points subtracted for another order of words on a watchlist.
const ORDER: u32 = 2;
/// The lowest score at which a bank reports a match.
const MATCH: u32 = 85;
/// The lowest score at which a bank reports a partial match.
const PARTIAL: u32 = 65;

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

/// How a comparison scores differences.
struct Policy {
    /// The score of two words that differ.
    likeness: fn(&Word, &Word) -> u32,
    /// The points subtracted for each word that the other name does not have.
    missing: u32,
}

const WATCHLIST: Policy = Policy { likeness: sounds_like, missing: 5 };
const BANK: Policy = Policy { likeness: slips, missing: 7 };

/// A name, split into words for comparison.
#[derive(Clone, Debug)]
pub(crate) struct Name {
    text: String,
    pub(crate) words: Vec<Word>,
}

/// A word of a name, and its plain spelling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    text: String,
    pub(crate) folded: String,
}

impl Word {
    fn new(text: String) -> Self {
        Self { folded: fold(&text), text }
    }
}

impl Name {
    /// Reads a name for a watchlist. A name without letters is one word.
    pub(crate) fn read(text: &str) -> Self {
        let whole = text.trim().to_lowercase();
        let mut words: Vec<Word> = words(text).into_iter().map(Word::new).collect();
        if words.is_empty() && !whole.is_empty() {
            words.push(Word::new(whole.clone()));
        }
        Self { words, text: whole }
    }

    /// The score of 0 to 100 on a watchlist, and the type of match.
    pub(crate) fn compare(&self, other: &Self) -> (u32, MatchType) {
        if self.text == other.text {
            return (SAME, MatchType::Exact);
        }
        let score = Score::of(&self.words, &other.words, &WATCHLIST);
        // Names that share only initials do not match.
        let Some(score) = score.filter(|score| score.most > INITIAL) else {
            return (0, MatchType::Near);
        };
        let whole = score.extra == 0;
        let kind = if whole && score.least == SAME && !score.ordered {
            MatchType::Reordered
        } else if whole && score.least >= SPELT {
            MatchType::Transliterated
        } else {
            MatchType::Near
        };
        let order = if score.ordered { 0 } else { ORDER };
        // One point less for names that differ only in accents, titles or legal forms.
        let dressed = u32::from(score.mean == SAME && score.ordered && whole);
        (score.less(order + dressed, &WATCHLIST), kind)
    }
}

/// The number of letters in which two words of a watchlist may differ, by the length of the longer word.
pub(crate) const fn differing(letters: usize) -> usize {
    match letters {
        0..LONG => 0,
        LONG..=6 => 1,
        _ => 2,
    }
}

/// The result and the score of 0 to 100 of a bank that compares a payee's name with the account holder's.
pub(crate) fn compare_holders(name: &str, other: &str) -> (MatchResult, u8) {
    let read = |name| words(name).into_iter().map(Word::new).collect::<Vec<_>>();
    let score = Score::of(&read(name), &read(other), &BANK);
    let score = score.map_or(0, |score| score.less(0, &BANK));
    let result = if score >= MATCH {
        MatchResult::Match
    } else if score >= PARTIAL {
        MatchResult::PartialMatch
    } else {
        MatchResult::NoMatch
    };
    (result, u8::try_from(score).unwrap_or(u8::MAX))
}

/// The pairs of two names' words, summed up.
struct Score {
    /// The mean of the pairs' scores.
    mean: u32,
    /// The lowest score of a pair.
    least: u32,
    /// The highest score of a pair.
    most: u32,
    /// Whether both names have the words in one order.
    ordered: bool,
    /// Words of the longer name without a partner.
    extra: u32,
    /// Whether only one name is a single word.
    single: bool,
}

impl Score {
    /// `None` if a name has no words.
    fn of(one: &[Word], other: &[Word], policy: &Policy) -> Option<Self> {
        let (short, long) = if one.len() <= other.len() { (one, other) } else { (other, one) };
        let pairs = paired(short, long, policy)?;
        let count = |words: &[Word]| u32::try_from(words.len()).unwrap_or(u32::MAX);
        Some(Self {
            mean: pairs.iter().map(|pair| pair.score).sum::<u32>() / count(short),
            least: pairs.iter().map(|pair| pair.score).min()?,
            most: pairs.iter().map(|pair| pair.score).max()?,
            ordered: pairs.windows(2).all(|two| two[0].place < two[1].place),
            extra: count(long) - count(short),
            single: short.len() == 1 && long.len() > 1,
        })
    }

    /// The score of the names: the mean, less `cost` and the points for missing words.
    fn less(&self, cost: u32, policy: &Policy) -> u32 {
        let score = self.mean.saturating_sub(cost + self.extra.saturating_mul(policy.missing));
        if self.single { score.min(ONE_WORD) } else { score }
    }
}

/// The word of the other name that matches a word best.
#[derive(Clone, Copy)]
struct Pair {
    score: u32,
    place: usize,
}

/// Pairs each word of the shorter name with the best unused word of the longer name. Equal words are paired first, so
/// that an initial cannot use the word that equals another word.
fn paired(short: &[Word], long: &[Word], policy: &Policy) -> Option<Vec<Pair>> {
    let mut pairs: Vec<Option<Pair>> = vec![None; short.len()];
    let mut taken = vec![false; long.len()];
    for (word, pair) in short.iter().zip(&mut pairs) {
        let same = (0..long.len()).find(|&place| !taken[place] && long[place].text == word.text);
        if let Some(place) = same {
            taken[place] = true;
            *pair = Some(Pair { score: SAME, place });
        }
    }
    for (word, pair) in short.iter().zip(&mut pairs).filter(|(_, pair)| pair.is_none()) {
        let free = (0..long.len()).filter(|place| !taken[*place]);
        let scored = free.map(|place| Pair { score: (policy.likeness)(word, &long[place]), place });
        let best = scored.max_by_key(|pair| (pair.score, usize::MAX - pair.place))?;
        taken[best.place] = best.score > 0;
        *pair = Some(best);
    }
    pairs.into_iter().collect::<Option<Vec<_>>>().filter(|pairs| !pairs.is_empty())
}

/// Whether one of the words is the other's first letter.
fn is_initial(one: &str, other: &str) -> bool {
    let of = |short: &str, long: &str| {
        short.chars().count() == 1 && long.chars().next() == short.chars().next()
    };
    of(one, other) || of(other, one)
}

/// A bank's score of two words. A typing error is one added, missing or changed letter, or two swapped neighbours.
fn slips(one: &Word, other: &Word) -> u32 {
    let (one, other) = (&one.text, &other.text);
    let shortest = one.chars().count().min(other.chars().count());
    if is_initial(one, other) {
        return INITIAL;
    }
    if shortest >= LONG && osa_distance(one, other) <= 1 { MISSPELT } else { 0 }
}

/// A watchlist's score of two words: the share of letters that agree in their plain spelling.
fn sounds_like(one: &Word, other: &Word) -> u32 {
    let (one, other) = (&one.folded, &other.folded);
    if one == other {
        return SPELT;
    }
    if is_initial(one, other) {
        return INITIAL;
    }
    let lengths = [one.chars().count(), other.chars().count()];
    if lengths[0].min(lengths[1]) < LONG {
        return 0;
    }
    let (letters, distance) = (lengths[0].max(lengths[1]), osa_distance(one, other));
    if distance > differing(letters) {
        return 0;
    }
    let share = u32::try_from(distance * 100 / letters).unwrap_or(SAME);
    // Different words always score lower than two spellings of one word.
    (SAME - share).min(SPELT - 1)
}

const LEFT_OUT: &[&str] = &[
    "mr", "mrs", "ms", "miss", "dr", "prof", "chief", "alhaji", "sir", "ltd", "limited", "plc",
    "llc", "inc", "corp", "gmbh", "ag", "sa", "sarl", "bv", "nv", "pty", "co", "company",
];

/// The significant words of a name, without case, accents and punctuation.
fn words(name: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    for letter in name.chars().flat_map(char::to_lowercase) {
        match letter {
            '\'' | '’' | '.' | '\u{300}'..='\u{36f}' => {}
            letter if letter.is_alphanumeric() => {
                let word = all.last_mut().expect("there is always a word");
                match plain(letter) {
                    Some(letters) => word.push_str(letters),
                    None => word.push(letter),
                }
            }
            _ => all.push(String::new()),
        }
    }
    all.retain(|word| !word.is_empty());
    let counts = |word: &String| !LEFT_OUT.contains(&word.as_str());
    // A name that consists only of titles is compared unchanged.
    if all.iter().any(counts) {
        all.retain(counts);
    }
    all
}

/// An accented Latin letter without its accent.
const fn plain(letter: char) -> Option<&'static str> {
    Some(match letter {
        'à'..='å' | 'ā' | 'ă' | 'ą' | 'ạ' | 'ả' => "a",
        'æ' => "ae",
        'ç' | 'ć' | 'ĉ' | 'ċ' | 'č' => "c",
        'ď' | 'đ' | 'ð' => "d",
        'è'..='ë' | 'ē'..='ě' | 'ẹ' => "e",
        'ĝ' | 'ğ' | 'ġ' | 'ģ' => "g",
        'ì'..='ï' | 'ĩ'..='ı' | 'ị' => "i",
        'ł' | 'ĺ' | 'ľ' => "l",
        'ñ' | 'ń' | 'ň' | 'ņ' => "n",
        'ò'..='ø' | 'ō' | 'ő' | 'ọ' => "o",
        'œ' => "oe",
        'ŕ' | 'ř' => "r",
        'ś' | 'ş' | 'š' | 'ș' | 'ṣ' => "s",
        'ß' => "ss",
        'ţ' | 'ť' | 'ț' => "t",
        'ù'..='ü' | 'ũ'..='ů' | 'ű' | 'ų' | 'ụ' => "u",
        'ý' | 'ÿ' => "y",
        'ź' | 'ż' | 'ž' => "z",
        _ => return None,
    })
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
mod tests;
