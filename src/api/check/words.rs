//! How violations are worded: what was expected, what came, and what was perhaps meant.

use core::ops::RangeInclusive;

use serde_json::Value;

use crate::api::json::quoted;

/// How many allowed values a message lists.
const MOST_LISTED: usize = 12;

/// What came, short: hostile input is never echoed at length.
pub(crate) fn came(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => quoted(text),
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

/// `; did you mean status`, or nothing where no candidate is near.
pub(crate) fn suggestion<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> String {
    nearest(word, candidates).map_or_else(String::new, |near| format!("; did you mean {near}"))
}

/// The candidate that a slip of the fingers could have turned into `word`: a third of its letters may differ, case aside.
fn nearest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    const LONGEST: usize = 64; // the distance costs the product of both lengths, and the word is a caller's
    if word.len() > LONGEST {
        return None;
    }
    let word: Vec<char> = word.chars().map(|c| c.to_ascii_lowercase()).collect();
    let near = candidates.map(|candidate| (distance(&word, candidate), candidate));
    let near = near
        .filter(|(distance, _)| *distance <= (word.len() / 3).max(1))
        .min_by_key(|(distance, _)| *distance);
    near.map(|(_, candidate)| candidate)
}

/// How many letters were mistyped, left out, added or swapped with their neighbour, case aside.
fn distance(word: &[char], candidate: &str) -> usize {
    let candidate: Vec<char> = candidate.chars().map(|c| c.to_ascii_lowercase()).collect();
    let mut before_last = Vec::new();
    let mut last: Vec<usize> = (0..=word.len()).collect();
    for (i, letter) in candidate.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, other) in word.iter().enumerate() {
            let mut cost = (last[j] + usize::from(letter != other))
                .min(last[j + 1] + 1)
                .min(row[j] + 1);
            if i > 0 && j > 0 && *letter == word[j - 1] && candidate[i - 1] == *other {
                cost = cost.min(before_last[j - 1] + 1);
            }
            row.push(cost);
        }
        before_last = core::mem::replace(&mut last, row);
    }
    last[word.len()]
}

pub(super) fn expected_one_of<'a>(values: impl Iterator<Item = &'a str>) -> String {
    // Leaving a member out says the same as null, and is the only way in a query.
    let values: Vec<&str> = values.filter(|value| *value != "null").collect();
    match values.as_slice() {
        [only] => format!("expected {only}"),
        many if many.len() <= MOST_LISTED => format!("expected one of {}", many.join(", ")),
        many => format!("expected one of {} values", many.len()),
    }
}

pub(super) fn expected_integer(range: &RangeInclusive<i128>) -> String {
    let low = (*range.start()).max(i64::MIN.into());
    let high = (*range.end()).min(i64::MAX.into());
    format!("expected an integer from {low} to {high}")
}

pub(super) fn expected_count(range: &RangeInclusive<usize>, what: &str) -> String {
    match (*range.start(), *range.end()) {
        (low, usize::MAX) => format!("expected at least {low} {what}{}", plural(low)),
        (0, high) => format!("expected at most {high} {what}{}", plural(high)),
        (low, high) if low == high => format!("expected {low} {what}{}", plural(low)),
        (low, high) => format!("expected {low} to {high} {what}s"),
    }
}

const fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_recognised_and_a_stranger_is_not() {
        let known = ["status", "company_id", "page", "USD", "EUR"];
        let near = |word| nearest(word, known.into_iter());
        assert_eq!(near("statsu"), Some("status"));
        assert_eq!(near("companyId"), Some("company_id"));
        assert_eq!(near("usd"), Some("USD"));
        assert_eq!(near("pge"), Some("page"));
        assert_eq!(near("apge"), Some("page"));
        assert_eq!(near("name"), None);
        assert_eq!(near(""), None);
        assert_eq!(near("employee"), None);
        assert_eq!(near(&"x".repeat(100_000)), None);
    }

    #[test]
    fn hostile_text_is_cut_and_escaped() {
        assert_eq!(
            came(&Value::from("a\u{0}\u{202e}\"")),
            "\"a\\0\\u{202e}\\\"\""
        );
        assert_eq!(
            came(&Value::from("é".repeat(1_000))),
            format!("\"{}\"…", "é".repeat(40))
        );
    }
}
