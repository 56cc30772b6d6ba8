//! The spelling of names in addresses: ASCII, lower case.

use std::collections::BTreeSet;

use crate::value::Key;

/// Adds the letters and digits of a name.
pub(super) fn spell(name: &str, to: &mut String) {
    for c in name.chars() {
        let start = to.len();
        fold(c, to);
        if !to[start..].bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            to.truncate(start);
        }
    }
}

/// The letters and digits of a name.
#[cfg(test)]
pub(super) fn letters(name: &str) -> String {
    let mut letters = String::with_capacity(name.len());
    spell(name, &mut letters);
    letters
}

/// Removes names that are spelled like an earlier one. Returns the hashes of the spellings, in order.
pub(super) fn keep_distinct(names: &mut Vec<&'static str>) -> Vec<u64> {
    let mut sorted = hashes(names);
    let mut places = sorted.clone().into_iter();
    sorted.sort_unstable();
    if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
        let mut known = BTreeSet::new();
        names.retain(|_| places.next().is_some_and(|hash| known.insert(hash)));
        sorted.dedup();
    }
    sorted
}

/// The hashes of the spellings. A table has thousands of names, so one buffer is reused for all of them.
pub(super) fn hashes(names: &[&str]) -> Vec<u64> {
    let mut buffer = String::with_capacity(64);
    let hash = |name: &&str| {
        buffer.clear();
        spell(name, &mut buffer);
        Key::new(0).with(&buffer).hash()
    };
    names.iter().map(hash).collect()
}

/// The character in lower-case ASCII, without accents and ligatures; nothing if it has no Latin base letter.
pub(super) fn fold(c: char, to: &mut String) {
    if c.is_ascii() {
        to.push(c.to_ascii_lowercase());
        return;
    }
    to.push_str(match c {
        'À'..='Å' | 'à'..='å' | 'Ā'..='ą' => "a",
        'Æ' | 'æ' => "ae",
        'Ç' | 'ç' | 'Ć'..='č' => "c",
        'Ď'..='đ' | 'Ð' | 'ð' => "d",
        'È'..='Ë' | 'è'..='ë' | 'Ē'..='ě' => "e",
        'Ĝ'..='ģ' => "g",
        'Ĥ'..='ħ' => "h",
        'Ì'..='Ï' | 'ì'..='ï' | 'Ĩ'..='ı' => "i",
        'Ĵ' | 'ĵ' => "j",
        'Ķ'..='ĸ' => "k",
        'Ĺ'..='ł' => "l",
        'Ñ' | 'ñ' | 'Ń'..='ŋ' => "n",
        'Ò'..='Ö' | 'Ø' | 'ò'..='ö' | 'ø' | 'Ō'..='ő' => "o",
        'Œ' | 'œ' => "oe",
        'Ŕ'..='ř' => "r",
        'Ś'..='š' | 'Ș' | 'ș' => "s",
        'ß' => "ss",
        'Ţ'..='ŧ' | 'Ț' | 'ț' => "t",
        'Ù'..='Ü' | 'ù'..='ü' | 'Ũ'..='ų' => "u",
        'Ŵ' | 'ŵ' => "w",
        'Ý' | 'ý' | 'ÿ' | 'Ŷ'..='Ÿ' => "y",
        'Ź'..='ž' => "z",
        _ => "",
    });
}
