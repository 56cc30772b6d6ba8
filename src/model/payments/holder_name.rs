//! Compares two names, as a bank compares the payee's name with the account holder's. Integers only.
//!
//! Names are compared word by word in any order: "Okafor, Ada" is Ada Okafor. Accents, case, titles and legal forms are ignored.
//! Deliberately absent: nicknames and spellings of other alphabets, which need tables of people.

use crate::model::payments::MatchResult;

/// Score out of 100 from which two names match.
const MATCH: u32 = 85;
/// Score from which two names match partly.
const PARTIAL: u32 = 65;
/// Points for two equal words, two words that differ by one letter, and a name with its initial.
const SAME: u32 = 100;
const MISSPELT: u32 = 85;
const INITIAL: u32 = 60;
/// Points deducted for a word that the other name does not have.
const MISSING: u32 = 7;
/// Maximum score for one common word if either name has more words.
const ONE_WORD: u32 = 70;
/// A shorter word must match exactly: one wrong letter is not accepted.
const LONG: usize = 4;

const LEFT_OUT: &[&str] = &[
    "mr", "mrs", "ms", "miss", "dr", "prof", "chief", "alhaji", "sir", "ltd", "limited", "plc",
    "llc", "inc", "corp", "gmbh", "ag", "sa", "sarl", "bv", "nv", "pty", "co", "company",
];

/// Compares two names. Returns the result and its score from 0 to 100.
pub(crate) fn compare(name: &str, other: &str) -> (MatchResult, u8) {
    let score = score(&words(name), &words(other));
    let result = if score >= MATCH {
        MatchResult::Match
    } else if score >= PARTIAL {
        MatchResult::PartialMatch
    } else {
        MatchResult::NoMatch
    };
    (result, u8::try_from(score).unwrap_or(u8::MAX))
}

fn score(one: &[String], other: &[String]) -> u32 {
    let (short, long) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    if short.is_empty() {
        return 0;
    }
    let mut left: Vec<&String> = long.iter().collect();
    let mut sum = 0;
    // Equal words are paired first, so that an initial does not take the partner of a full name.
    let mut waiting = Vec::new();
    for word in short {
        match left.iter().position(|other| *other == word) {
            Some(place) => {
                left.remove(place);
                sum += SAME;
            }
            None => waiting.push(word),
        }
    }
    for word in waiting {
        let best = left.iter().enumerate();
        let best = best.map(|(place, other)| (likeness(word, other), place));
        if let Some((likeness, place)) =
            best.max_by_key(|(likeness, place)| (*likeness, usize::MAX - place))
            && likeness > 0
        {
            left.remove(place);
            sum += likeness;
        }
    }
    let count = |words: &[String]| u32::try_from(words.len()).unwrap_or(u32::MAX);
    let mean = sum / count(short);
    let extra = count(long) - count(short);
    let score = mean.saturating_sub(extra.saturating_mul(MISSING));
    if short.len() == 1 && long.len() > 1 { score.min(ONE_WORD) } else { score }
}

fn likeness(one: &str, other: &str) -> u32 {
    let (a, b): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    if a == b {
        return SAME;
    }
    let initial = |short: &[char], long: &[char]| short.len() == 1 && short[0] == long[0];
    if initial(&a, &b) || initial(&b, &a) {
        return INITIAL;
    }
    if a.len().min(b.len()) >= LONG && one_slip(&a, &b) {
        return MISSPELT;
    }
    0
}

/// Whether two words differ by one added, missing or wrong letter, or by two swapped letters.
fn one_slip(a: &[char], b: &[char]) -> bool {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let same = short.iter().zip(long).take_while(|(x, y)| x == y).count();
    let (short, long) = (&short[same..], &long[same..]);
    match long.len() - short.len() {
        0 => {
            let swapped = long.len() >= 2
                && short[0] == long[1]
                && short[1] == long[0]
                && short[2..] == long[2..];
            swapped || short[1..] == long[1..]
        }
        1 => *short == long[1..],
        _ => false,
    }
}

/// The significant words of a name, without case, accents and punctuation.
pub(crate) fn words(name: &str) -> Vec<String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn score_of(name: &str, other: &str) -> u8 {
        let (one, back) = (compare(name, other), compare(other, name));
        assert_eq!(one, back, "a comparison has no direction: {name}, {other}");
        one.1
    }

    #[test]
    fn the_same_name_in_another_order_case_or_dress_matches_wholly() {
        for (name, other) in [
            ("Ada Okafor", "OKAFOR, ADA"),
            ("Ada Okafor", "Mrs. Ada Okafor"),
            ("Zoë Müller-Łukasz", "ZOE MULLER LUKASZ"),
            ("Séan O'Brien", "Sean OBrien"),
            ("Adéọlá Ògúnbándé", "ADEOLA OGUNBANDE"),
            ("Acme Trading Ltd", "ACME TRADING LIMITED"),
        ] {
            assert_eq!(score_of(name, other), 100, "{name}, {other}");
        }
    }

    #[test]
    fn slips_and_middle_names_still_match() {
        for (name, other) in [
            ("Ada Okafor", "Ada Okofor"),
            ("Ada Okafor", "Ada Okafro"),
            ("Ada Okafor", "Ada Ngozi Okafor"),
            ("Jonathan Smith", "Jonathn Smith"),
        ] {
            let (result, score) = compare(name, other);
            assert_eq!(result, MatchResult::Match, "{name}, {other}: {score}");
            assert!(score < 100, "{name}, {other}");
        }
    }

    #[test]
    fn initials_and_single_names_match_in_part() {
        for (name, other) in [
            ("A. Okafor", "Ada Okafor"),
            ("Okafor", "Ada Okafor"),
            ("A. N. Okafor", "Ada Ngozi Okafor"),
            ("Ada O.", "Ada Okafor"),
        ] {
            let (result, score) = compare(name, other);
            assert_eq!(result, MatchResult::PartialMatch, "{name}, {other}: {score}");
        }
    }

    #[test]
    fn different_people_do_not_match() {
        for (name, other) in [
            ("Ada Okafor", "Chidi Okafor"),
            ("Ada Okafor", "Ada Balogun"),
            ("Ada Okafor", "Grace Wanjiru"),
            ("A. B.", "Ada Okafor"),
            ("Ann Li", "Anna Lu"),
            ("—", "Ada Okafor"),
            ("Acme Trading Ltd", "Apex Holdings Ltd"),
        ] {
            let (result, score) = compare(name, other);
            assert_eq!(result, MatchResult::NoMatch, "{name}, {other}: {score}");
        }
    }
}
