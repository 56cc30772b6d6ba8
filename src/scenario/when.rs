//! When a row acts: its selectors, the occurrences (`nth`, `times`) and the probability.

use toml::de::DeValue;

use crate::scenario::form::Spelling;
use crate::scenario::reading::{At, Fields, Found, Reading};
use crate::value::Diagnostic;
use crate::world::script::{Range, Selector, When};

impl<'a> Reading<'a> {
    /// How often a row acts.
    pub(super) fn when(&mut self, row: &Fields<'a>, select: Vec<Selector>) -> When {
        let nth = row.get("nth").map_or_else(Vec::new, |found| self.places(found));
        let times = self.count(row, "times").map(|times| times.value);
        let chance_ppm = row.get("chance").and_then(|found| self.chance(found));
        if chance_ppm == Some(0)
            && let Some(span) = row.key_span("chance")
        {
            self.note(
                Diagnostic::new(span, "this row can never match")
                    .expected("a chance of 0")
                    .warning(),
            );
        }
        When { select, nth, times, chance_ppm }
    }

    /// `1`, `[1, 2]`, `"2.."`, `"2..4"`.
    fn places(&mut self, found: Found<'a>) -> Vec<Range> {
        let one = |place: At<u64>| Range { first: place.value, last: Some(place.value) };
        match found.get_ref() {
            DeValue::Integer(_) => {
                let place = self.count_of("nth", found, 1, u64::MAX);
                place.map(one).into_iter().collect()
            }
            DeValue::Array(places) if places.is_empty() => {
                self.note(
                    Diagnostic::new(found.span(), "`nth` has no position")
                        .expected("expected at least one, such as [1, 3]"),
                );
                Vec::new()
            }
            DeValue::Array(places) => places
                .iter()
                .filter_map(|place| self.count_of("nth", place, 1, u64::MAX).map(one))
                .collect(),
            DeValue::String(text) => {
                let range = range(text);
                if range.is_none() {
                    let text = At { value: text.as_ref(), span: found.span() };
                    self.misspelt("nth", &text, Spelling::Places.expected());
                }
                range.into_iter().collect()
            }
            _ => {
                self.wrong_type("nth", found, "a number, a list of them, or a text");
                Vec::new()
            }
        }
    }

    /// A share of cases, read exactly from its digits.
    fn chance(&mut self, found: Found<'a>) -> Option<u32> {
        let text = match found.get_ref() {
            DeValue::Integer(number) if number.radix() == 10 => number.as_str(),
            DeValue::Float(number) => number.as_str(),
            _ => {
                self.wrong_type("chance", found, "a number from 0 to 1");
                return None;
            }
        };
        let chance = millionths(text);
        if chance.is_none() {
            let message = format!("`chance` cannot be {text}");
            self.note(
                Diagnostic::new(found.span(), message)
                    .expected("expected a number from 0 to 1 with at most six decimals"),
            );
        }
        chance
    }
}

/// `2..` or `2..4`.
fn range(text: &str) -> Option<Range> {
    let number = |text: &str| {
        let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        plain.then(|| text.parse::<u64>().ok()).flatten().filter(|&it| it > 0)
    };
    let (first, last) = text.split_once("..")?;
    let first = number(first)?;
    if last.is_empty() {
        return Some(Range { first, last: None });
    }
    let last = number(last).filter(|&last| last >= first)?;
    Some(Range { first, last: Some(last) })
}

/// Millionths of a decimal from 0 to 1, exact.
fn millionths(text: &str) -> Option<u32> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(decimals) {
        return None;
    }
    let decimals = decimals.trim_end_matches('0');
    if decimals.len() > 6 {
        return None;
    }
    let whole: u32 = whole.parse().ok().filter(|&whole| whole <= 1)?;
    let part: u32 = format!("{decimals:0<6}").parse().ok()?;
    let sum = whole * 1_000_000 + part;
    (sum <= 1_000_000).then_some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chances_are_parsed_exactly() {
        for (text, expected) in [
            ("0", Some(0)),
            ("1", Some(1_000_000)),
            ("1.0", Some(1_000_000)),
            ("0.1", Some(100_000)),
            ("0.000001", Some(1)),
            ("0.1000000000", Some(100_000)),
            ("0.0000001", None),
            ("1.000001", None),
            ("2", None),
            ("-0.1", None),
            ("1e-3", None),
            ("inf", None),
            (".5", None),
        ] {
            assert_eq!(millionths(text), expected, "{text}");
        }
    }

    #[test]
    fn ranges_are_read() {
        let of = |first, last| Some(Range { first, last });
        assert_eq!(range("2.."), of(2, None));
        assert_eq!(range("2..4"), of(2, Some(4)));
        assert_eq!(range("4..4"), of(4, Some(4)));
        for text in ["", "..", "..4", "0..", "4..2", "2...4", "a..b", "+2..", "2"] {
            assert_eq!(range(text), None, "{text}");
        }
    }
}
