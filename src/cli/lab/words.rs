//! Resources and their differences in words.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::Value;

use crate::cli::lab::canon::{Canon, Groups, Masks, Object, Place};

impl Object {
    /// ` of 250000 NGN (Adaeze Supplies Ltd), paid`.
    pub(in crate::cli) fn about(&self) -> String {
        let mut text = String::new();
        let plain = |name: &str| match &self.value[name] {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        };
        let amount = plain("amount").or_else(|| plain("total")).or_else(|| plain("principal"));
        if let Some(amount) = amount {
            let _ = write!(text, " of {amount} {}", plain("currency").unwrap_or_default());
        }
        let name = self.counterparty.clone().or_else(|| plain("name"));
        if let Some(name) = name.or_else(|| plain("legal_name")) {
            let _ = write!(text, " ({name})");
        }
        for name in ["period", "status"] {
            if let Some(word) = plain(name) {
                let _ = write!(text, ", {word}");
            }
        }
        text
    }
}

/// Adds the members that differ, without those of other resources inside, which have their own lines. `sides` names the two values.
pub(in crate::cli) fn members(
    sides: [&str; 2],
    path: &str,
    (a, b): (&Value, &Value),
    found: &mut Vec<String>,
) {
    let below = |name: &str| {
        if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") }
    };
    match (a, b) {
        _ if a == b => {}
        (Value::Object(_), Value::Object(_))
            if !path.is_empty() && a["object"].is_string() && a["object"] == b["object"] => {}
        (Value::Object(one), Value::Object(other)) => {
            let names: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
            for name in names {
                members(sides, &below(name), (&a[name], &b[name]), found);
            }
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            for (place, pair) in one.iter().zip(other).enumerate() {
                members(sides, &below(&place.to_string()), pair, found);
            }
        }
        (Value::Object(_) | Value::Array(_), _) | (_, Value::Object(_) | Value::Array(_)) => {
            found.push(path.to_owned());
        }
        _ => found.push(format!("{path} {} {a}, {} {b}", sides[0], sides[1])),
    }
}

impl Canon {
    /// The differences from a second run, as sentences.
    pub(in crate::cli) fn differences(&self, second: &Self, masks: &Masks) -> Vec<String> {
        let mut found = Vec::new();
        for obligations in [true, false] {
            let (here, there) =
                (self.groups(masks, obligations), second.groups(masks, obligations));
            let (one, two) = (more(&here, &there), more(&there, &here));
            for (words, object) in &one {
                let Some(other) = two.get(words) else {
                    found.push(format!("only in the first run: {words}"));
                    continue;
                };
                let mut inner = Vec::new();
                members(["first", "second"], "", (&object.value, &other.value), &mut inner);
                let inner = inner.join("; ");
                found.push(format!("both runs have {words}, with other members: {inner}"));
            }
            let only_second = two.keys().filter(|words| !one.contains_key(*words));
            found.extend(only_second.map(|words| format!("only in the second run: {words}")));
        }
        let (one, two) = (self.sums(masks), second.sums(masks));
        let places: BTreeSet<&Place> = one.keys().chain(two.keys()).collect();
        for place in places.into_iter().filter(|place| one.get(place) != two.get(place)) {
            let amount = |sums: &BTreeMap<Place, i64>| sums.get(place).copied().unwrap_or(0);
            found.push(format!(
                "{} {}: {} in the first run, {} in the second",
                place.account,
                place.currency,
                amount(&one),
                amount(&two)
            ));
        }
        found
    }
}

/// The resources that the first groups have more often, by their words.
fn more<'a>(here: &Groups<'a>, there: &Groups<'_>) -> BTreeMap<String, &'a Object> {
    let is_more =
        |(text, count): (&Vec<u8>, usize)| count > there.get(text).map_or(0, |group| group.count);
    let more = here.iter().filter(|(text, group)| is_more((text, group.count)));
    more.map(|(_, group)| {
        let words = format!("{}{}", group.sample.kind.replace('_', " "), group.sample.about());
        (words, group.sample)
    })
    .collect()
}
