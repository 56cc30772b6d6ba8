//! The wording of violations: what was expected, what was found, and a suggestion.

use core::ops::RangeInclusive;

use serde_json::Value;

use crate::api::json::quoted;
use crate::value::diagnostic::nearest;

/// Maximum number of allowed values listed in a message.
const MOST_LISTED: usize = 12;

/// The value found, shortened: hostile input is never repeated in full.
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

/// `; did you mean status`, or nothing if no candidate is similar.
pub(crate) fn suggestion<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> String {
    nearest(word, candidates).map_or_else(String::new, |near| format!("; did you mean {near}"))
}

/// Suggestions for an unknown event type: the types of a resource with a similar name, or the most similar type.
/// Empty if none is similar.
pub(crate) fn near_events<'a>(name: &str, types: &[&'a str]) -> Vec<&'a str> {
    const MOST: usize = 5;
    let name = name.trim().to_ascii_lowercase();
    let (resource, verb) = name.split_once('.').unwrap_or((&name, ""));
    let resource = resource.strip_suffix('s').unwrap_or(resource);
    let parts = |one: &&'a str| one.split_once('.').unwrap_or((one, ""));
    let is_near = |one: &&'a str| !resource.is_empty() && parts(one).0.starts_with(resource);
    let first = |keep: &dyn Fn(&&'a str) -> bool| {
        types.iter().copied().filter(keep).take(MOST).collect::<Vec<_>>()
    };
    let same = first(&|one| is_near(one) && parts(one).1 == verb);
    if !same.is_empty() {
        return same;
    }
    if let Some(near) = nearest(&name, types.iter().copied()) {
        return vec![near];
    }
    let of_resource = first(&is_near);
    if of_resource.is_empty() { first(&|one| parts(one).1 == name) } else { of_resource }
}

pub(super) fn expected_one_of<'a>(values: impl Iterator<Item = &'a str>) -> String {
    // Omitting a member means the same as null, and is the only way in a query.
    let values: Vec<&str> = values.filter(|value| *value != "null").collect();
    match values.as_slice() {
        [only] => format!("expected {only}"),
        many if many.len() <= MOST_LISTED => format!("expected one of {}", many.join(", ")),
        many => format!("expected one of the {} values in the OpenAPI document", many.len()),
    }
}

pub(super) fn expected_integer(range: &RangeInclusive<i128>) -> String {
    let low = (*range.start()).max(i64::MIN.into());
    let high = Some(*range.end()).filter(|end| *end <= u64::MAX.into());
    let high = high.unwrap_or(i64::MAX.into());
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
    fn a_wrong_event_type_means_one_of_its_resource_or_the_nearest() {
        let types = [
            "loan.repaid",
            "payout.created",
            "payout.paid",
            "payroll_item.paid",
            "payroll_run.paid",
        ];
        for (name, near) in [
            ("payroll.paid", &["payroll_item.paid", "payroll_run.paid"][..]),
            ("payouts.paid", &["payout.paid"]),
            (" PAYOUT.PAID", &["payout.paid"]),
            ("payout.padi", &["payout.paid"]),
            ("loan.paid", &["loan.repaid"]),
            ("payout", &["payout.created", "payout.paid"]),
            ("paid", &["payout.paid", "payroll_item.paid", "payroll_run.paid"]),
            ("rocket.launched", &[]),
            ("", &[]),
        ] {
            assert_eq!(near_events(name, &types), near, "{name}");
        }
    }

    #[test]
    fn hostile_text_is_cut_and_escaped() {
        assert_eq!(came(&Value::from("a\u{0}\u{202e}\"")), "\"a\\0\\u{202e}\\\"\"");
        assert_eq!(came(&Value::from("é".repeat(1_000))), format!("\"{}\"…", "é".repeat(40)));
    }
}
