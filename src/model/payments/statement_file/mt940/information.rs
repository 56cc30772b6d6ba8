//! Information about an entry, `:86:`. This module parses three forms; any other text is plain text.
//!
//! - subfields of the German-speaking, Polish and Hungarian banks: `166?00GUTSCHRIFT?20SVWZ+…?32NAME`, with any mark instead of `?`;
//! - code words of the Dutch banks: `/TRTP/…/NAME/…/REMI/…/EREF/…`;
//! - `:NS:` lines with a number of two digits.

use super::envelope::Field;
use crate::model::payments::statement_file::entries::{MOST_DESCRIPTION, kept};

/// Code words between slashes.
const WORDS: [&str; 28] = [
    "ABWA", "ABWE", "ACCW", "ADDR", "BENM", "BIC", "CNTP", "CSID", "EREF", "IBAN", "ID", "ISDT",
    "KREF", "MARF", "NAME", "NRTX", "ORDP", "PREF", "PURP", "REMI", "RTRN", "SVCL", "TRCD", "TRTP",
    "UDTR", "ULTC", "ULTD", "SUBJ",
];

/// Code words in subfields; a plus sign follows each.
const KEYS: [&str; 10] =
    ["EREF+", "KREF+", "MREF+", "CRED+", "DEBT+", "SVWZ+", "ABWA+", "ABWE+", "COAM+", "OAMT+"];

/// The length of a full subfield: the text continues in the next without a space.
const FULL: usize = 27;

/// The bank's information about an entry.
#[derive(Default)]
pub(super) struct Information {
    texts: Vec<String>,
    reference: Option<String>,
}

/// Whether a text is a reference, and not a word such as `NONREF` that refers to another field or states that there
/// is none.
pub(super) fn is_reference(text: &str) -> bool {
    !matches!(
        text.trim().trim_end_matches('+'),
        "" | "NONREF" | "NONE" | "NOTPROVIDED" | "EREF" | "KREF" | "PREF" | "MARF" | "POD"
    )
}

impl Information {
    pub(super) fn add(&mut self, field: &Field<'_>) {
        if field.tag == "NS" {
            return self.add_numbered(field);
        }
        let lines = || {
            let more = field.more.iter().map(|line| line.text);
            core::iter::once(field.value.text).chain(more)
        };
        let whole: String = lines().map(str::trim_end).collect();
        if let Some(mark) = subfield_mark(&whole) {
            self.add_subfields(&whole, mark);
        } else if WORDS.iter().any(|word| after_word(&whole, word).is_some()) {
            self.add_words(&whole);
        } else {
            let parts: Vec<&str> = lines().map(str::trim).filter(|text| !text.is_empty()).collect();
            self.texts.push(parts.join(" "));
        }
    }

    /// The description and the reference.
    pub(super) fn finish(self) -> (Option<String>, Option<String>) {
        let texts: Vec<String> = self.texts.into_iter().filter(|text| !text.is_empty()).collect();
        (kept(&texts.join(" "), MOST_DESCRIPTION), self.reference)
    }

    fn refer(&mut self, text: &str) {
        if self.reference.is_none() && is_reference(text) {
            self.reference = Some(text.trim().to_owned());
        }
    }

    /// `01` to `17` are the purpose, the party and the kind of the booking.
    fn add_numbered(&mut self, field: &Field<'_>) {
        let more = field.more.iter().map(|line| line.text);
        for line in core::iter::once(field.value.text).chain(more) {
            let number = line.get(..2).and_then(|digits| digits.parse::<u8>().ok());
            if number.is_some_and(|number| (1..=17).contains(&number)) {
                self.texts.push(line[2..].trim().to_owned());
            }
        }
    }

    fn add_subfields(&mut self, whole: &str, mark: char) {
        let (mut purpose, mut name, mut kind) = (String::new(), String::new(), String::new());
        for (number, text) in subfields(whole, mark) {
            match number {
                0 => text.trim().clone_into(&mut kind),
                20..=29 | 60..=63 => append(&mut purpose, text),
                32 | 33 => append(&mut name, text),
                _ => {}
            }
        }
        let purpose = purpose.trim();
        for key in ["EREF+", "KREF+"] {
            self.refer(after_key(purpose, key).unwrap_or_default());
        }
        let text = after_key(purpose, "SVWZ+").filter(|text| !text.is_empty()).unwrap_or(purpose);
        let text = if text.is_empty() { kind.as_str() } else { text };
        let parts = [text, name.trim()];
        let parts: Vec<&str> = parts.into_iter().filter(|text| !text.is_empty()).collect();
        self.texts.push(parts.join(", "));
    }

    fn add_words(&mut self, whole: &str) {
        for word in ["EREF", "KREF"] {
            self.refer(after_word(whole, word).unwrap_or_default());
        }
        // `USTD//` marks plain text.
        let said = |word| {
            let text = after_word(whole, word)?;
            Some(text.strip_prefix("USTD//").unwrap_or(text)).filter(|text| !text.is_empty())
        };
        let parts: Vec<&str> = ["REMI", "NAME"].into_iter().filter_map(said).collect();
        self.texts.push(if parts.is_empty() && after_word(whole, "REMI").is_none() {
            whole.trim().to_owned()
        } else {
            parts.join(", ")
        });
    }
}

/// The mark of the subfields: three digits, the mark, and two digits.
fn subfield_mark(whole: &str) -> Option<char> {
    let mut rest = whole.trim_start();
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    if !matches!(digits, 0 | 3) {
        return None;
    }
    rest = &rest[digits..];
    let mark = rest.chars().next().filter(|mark| !mark.is_alphanumeric() && *mark != ' ')?;
    let number = rest.get(mark.len_utf8()..mark.len_utf8() + 2)?;
    number.bytes().all(|byte| byte.is_ascii_digit()).then_some(mark)
}

/// The subfields with their numbers.
fn subfields(whole: &str, mark: char) -> impl Iterator<Item = (u8, &str)> {
    let numbered = move |at: usize| -> Option<(u8, usize)> {
        let start = at + mark.len_utf8();
        let digits = whole.get(start..start + 2)?;
        let number = digits.bytes().all(|byte| byte.is_ascii_digit()).then_some(digits)?;
        Some((number.parse().ok()?, start + 2))
    };
    let starts: Vec<(usize, (u8, usize))> =
        whole.match_indices(mark).filter_map(|(at, _)| Some((at, numbered(at)?))).collect();
    (0..starts.len()).map(move |place| {
        let (number, start) = starts[place].1;
        let end = starts.get(place + 1).map_or(whole.len(), |next| next.0);
        (number, whole.get(start..end).unwrap_or_default())
    })
}

/// Appends a subfield. After a full one the text continues without a space.
fn append(text: &mut String, part: &str) {
    text.push_str(part.trim_end());
    if part.chars().count() < FULL || part.ends_with(' ') {
        text.push(' ');
    }
}

/// The text after a code word, up to the next one.
fn after_key<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let rest = &text[text.find(key)? + key.len()..];
    let end = KEYS.iter().filter_map(|key| rest.find(key)).min().unwrap_or(rest.len());
    Some(rest[..end].trim())
}

/// The text after a code word between slashes, up to the next one. The first word must start the text, and banks may write a slash at the end.
fn after_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let text = text.trim_start();
    let (first, _) = text.strip_prefix('/')?.split_once('/')?;
    WORDS.contains(&first).then_some(())?;
    let start = text.find(&format!("/{word}/"))? + word.len() + 2;
    let rest = &text[start..];
    let next = WORDS.iter().filter_map(|word| rest.find(&format!("/{word}/")));
    let end = next.min().unwrap_or(rest.len());
    let said = rest[..end].trim();
    Some(said.strip_suffix('/').unwrap_or(said).trim_end())
}
