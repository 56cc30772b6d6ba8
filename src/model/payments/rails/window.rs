//! The time in which a payer's bank may send a collected payment back, and the rules of mandates.

use core::fmt;
use core::str::FromStr;
use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::model::calendar::Calendar;
use crate::value::{Date, Span};

/// The time after its settlement in which a collection can be returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Window {
    BusinessDays(u32),
    Days(i32),
    Months(i32),
    /// At any time.
    Unlimited,
}

impl Window {
    /// The last day for a collection that settled on a day; none if there is no limit.
    pub(crate) fn last_day(self, settled: Date, calendar: &Calendar) -> Option<Date> {
        match self {
            Self::BusinessDays(days) => Some(calendar.plus_business_days(settled, days)),
            Self::Days(days) => Some(settled.plus_days(days)),
            Self::Months(months) => Some(later(settled, months)),
            Self::Unlimited => None,
        }
    }
}

/// The same day `months` later, or the last day of a shorter month.
pub(crate) fn later(day: Date, months: i32) -> Date {
    day.period().plus_months(months).day(day.civil().day())
}

impl FromStr for Window {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const EXPECTED: &str = "expected a window such as 2bd, 60d, 8w, 13mo or none";
        if text == "none" {
            return Ok(Self::Unlimited);
        }
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let number: u16 = text[..digits].parse().map_err(|_| EXPECTED)?;
        match &text[digits..] {
            "bd" => Ok(Self::BusinessDays(number.into())),
            "d" => Ok(Self::Days(number.into())),
            "w" => Ok(Self::Days(i32::from(number) * 7)),
            "mo" => Ok(Self::Months(number.into())),
            _ => Err(EXPECTED),
        }
    }
}

impl fmt::Display for Window {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BusinessDays(days) => write!(out, "{days}bd"),
            Self::Days(days) => write!(out, "{days}d"),
            Self::Months(months) => write!(out, "{months}mo"),
            Self::Unlimited => out.write_str("none"),
        }
    }
}

impl Serialize for Window {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Window {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Cow::<'de, str>::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

impl JsonSchema for Window {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "ReturnWindow".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "examples": ["2bd", "60d", "13mo", "none"] })
    }
}

/// What a rail says about mandates.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "MandateRule")]
pub(crate) struct MandateRule {
    /// The time from the creation of a mandate to its confirmation by the payer's bank.
    pub(crate) confirmed: Span,
    /// The months without a collection after which it ends; absent if it does not end by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) unused_months: Option<i32>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::payments::rails::{PaymentRail, RailDirection, RailStage, all};

    fn last_day(rail: &str, code: &str, settled: &str) -> Option<String> {
        let rail = all().iter().find(|row| row.id == rail).expect("a rail");
        let code = rail.codes.iter().find(|row| row.code == code).expect("a code");
        let window = code.window.or(rail.window).expect("a window");
        let day = window.last_day(settled.parse().expect("a day"), Calendar::of(&rail.country));
        day.map(|day| day.to_string())
    }

    /// Sources: `fixtures/rails.toml`: Nacha return time frames; Directive (EU) 2015/2366, articles 71 and 77; the Direct Debit Guarantee;
    /// Payments Canada, Rule H1; the South African schedule of unpaids.
    #[test]
    fn a_code_has_the_window_of_its_rule() {
        for (rail, code, settled, last) in [
            ("us_ach_debit", "R01", "2026-01-16", Some("2026-01-21")), // the 19th is a holiday
            ("us_ach_debit", "R10", "2026-01-16", Some("2026-03-17")),
            ("us_ach_debit", "R07", "2026-01-16", Some("2026-03-17")),
            ("us_ach_debit", "R29", "2026-01-13", Some("2026-01-15")),
            ("eu_sepa_sdd_core", "AM04", "2026-01-05", Some("2026-01-12")),
            ("eu_sepa_sdd_core", "MD06", "2026-01-05", Some("2026-03-02")),
            ("eu_sepa_sdd_core", "MD01", "2026-01-31", Some("2027-02-28")),
            ("gb_bacs_debit", "ARUDD 0", "2026-01-05", Some("2026-01-07")),
            ("gb_bacs_debit", "DDICA 5", "2026-01-05", None),
            ("ca_eft_debit", "915", "2026-01-05", Some("2026-04-05")),
            ("ca_eft_debit", "920", "2026-01-05", Some("2026-01-19")),
            ("za_eft_debit", "02", "2026-01-05", Some("2026-01-09")),
            ("za_eft_debit", "32", "2026-01-05", Some("2026-02-14")),
        ] {
            assert_eq!(last_day(rail, code, settled).as_deref(), last, "{rail} {code}");
        }
    }

    #[test]
    fn every_rail_of_direct_debits_has_windows_and_a_rule_for_mandates() {
        let debits = |rail: &&PaymentRail| rail.serves.debits();
        for rail in all().iter().filter(debits) {
            assert_eq!(rail.direction, RailDirection::Debit, "{}", rail.id);
            assert!(rail.window.is_some() && rail.mandate.is_some(), "{}", rail.id);
            assert!(rail.codes.iter().any(|code| code.stage == RailStage::Return), "{}", rail.id);
        }
        assert_eq!(all().iter().filter(debits).count(), 6);
    }

    #[test]
    fn windows_read_back() {
        for text in ["2bd", "60d", "13mo", "none"] {
            assert_eq!(text.parse::<Window>().expect("a window").to_string(), text);
        }
        for text in ["", "d", "60", "-1d", "1y", "99999d"] {
            assert!(text.parse::<Window>().is_err(), "{text}");
        }
    }
}
