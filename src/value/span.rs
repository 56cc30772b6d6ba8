//! Lengths of virtual time.

use core::fmt;
use core::str::FromStr;
use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::value::time::{DAY_MS, Timestamp};

/// A length of virtual time: `90s`, `5m`, `3h`, `10d`, `2w`, or business days, `2bd`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// A number of milliseconds.
    Millis(i64),
    /// A number of business days, at the same time of day.
    BusinessDays(u32),
}

impl Span {
    /// A number of seconds.
    #[must_use]
    pub const fn seconds(seconds: i64) -> Self {
        Self::Millis(seconds * 1_000)
    }
}

impl Timestamp {
    /// The instant one span later, never beyond [`Timestamp::MAX`]. Business days keep the time of day and belong to no country: Monday to
    /// Friday.
    #[must_use]
    pub fn plus(self, span: Span) -> Self {
        self.checked_plus(span).unwrap_or(Self::MAX)
    }

    /// The instant one span later; `None` beyond [`Timestamp::MAX`].
    #[must_use]
    pub fn checked_plus(self, span: Span) -> Option<Self> {
        let ms = match span {
            Span::Millis(ms) => self.millis().saturating_add(ms),
            Span::BusinessDays(days) => {
                self.date().plus_business_days(days).midnight().millis() + self.millis_of_day()
            }
        };
        Some(Self::from_millis(ms)).filter(|later| *later <= Self::MAX)
    }
}

impl FromStr for Span {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const EXPECTED: &str = "expected a duration such as 500ms, 30s, 5m, 2h, 10d, 3w, 1h30m or \
            2bd, up to 100 years";
        if let Some(days) = text.strip_suffix("bd") {
            let days: u32 = plain_number(days).ok_or(EXPECTED)?.try_into().map_err(|_| EXPECTED)?;
            return (days <= 26_000).then_some(Self::BusinessDays(days)).ok_or(EXPECTED);
        }
        let (mut rest, mut total) = (text, 0_i64);
        while !rest.is_empty() {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            let letters = rest[digits..].bytes().take_while(u8::is_ascii_alphabetic).count();
            let unit = match &rest[digits..digits + letters] {
                "ms" => 1,
                "s" => 1_000,
                "m" => 60_000,
                "h" => 3_600_000,
                "d" => DAY_MS,
                "w" => 7 * DAY_MS,
                _ => return Err(EXPECTED),
            };
            let part =
                plain_number(&rest[..digits]).and_then(|n| n.checked_mul(unit)).ok_or(EXPECTED)?;
            total = total.checked_add(part).ok_or(EXPECTED)?;
            rest = &rest[digits + letters..];
        }
        (!text.is_empty() && total <= 36_525 * DAY_MS)
            .then_some(Self::Millis(total))
            .ok_or(EXPECTED)
    }
}

fn plain_number(text: &str) -> Option<i64> {
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten()
}

impl fmt::Display for Span {
    /// In the largest unit without a remainder.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(i64, &str); 5] =
            [(DAY_MS, "d"), (3_600_000, "h"), (60_000, "m"), (1_000, "s"), (1, "ms")];
        match *self {
            Self::BusinessDays(days) => write!(out, "{days}bd"),
            Self::Millis(ms) => {
                let (size, unit) =
                    UNITS.into_iter().find(|(size, _)| ms % size == 0).unwrap_or((1, "ms"));
                write!(out, "{}{unit}", ms / size)
            }
        }
    }
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Cow::<'de, str>::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

impl JsonSchema for Span {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Span".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "span", "examples": ["10d", "2bd", "90s"] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_time_read_back() {
        for text in ["0d", "500ms", "30s", "90m", "2h", "10d", "2bd"] {
            let span: Span = text.parse().expect("a length of time");
            assert_eq!(span.to_string(), text);
        }
        assert_eq!("1h30m".parse::<Span>().expect("one").to_string(), "90m");
    }

    #[test]
    fn a_span_without_a_valid_unit_is_refused() {
        assert_eq!("1h30m".parse(), Ok(Span::Millis(5_400_000)));
        assert_eq!("2bd".parse(), Ok(Span::BusinessDays(2)));
        for text in ["", "5", "-1d", "1y", "bd", "1.5h", "99999999999w", "d"] {
            assert!(text.parse::<Span>().is_err(), "{text}");
        }
    }
}
