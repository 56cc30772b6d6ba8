//! Verification: whether the expected number of items match a pattern, and the nearest miss if not.
//!
//! It works on JSON values: requests, events, deliveries. Dropped items could have matched, so they
//! can make a result *unknown* but never *pass*. A pattern is a subset: members that it does not
//! name are ignored. The text `…` matches any existing value. Everything else must be equal.

use serde_json::{Map, Value};

/// Matches any existing value.
pub(crate) const ANY: &str = "…";
/// Maximum number of differences listed for the nearest miss.
const MOST_DIFFERENCES: usize = 20;

/// An item to compare with a pattern.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Candidate {
    pub(crate) id: String,
    pub(crate) value: Value,
    /// A member whose value is unknown.
    pub(crate) hidden: Option<&'static str>,
}

/// A place where the values differ.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Difference {
    pub(crate) pointer: String,
    /// The value in the pattern.
    pub(crate) expected: Value,
    /// The actual value; none if it is missing.
    pub(crate) actual: Option<Value>,
}

/// How often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Times {
    pub(crate) at_least: u64,
    pub(crate) at_most: Option<u64>,
}

/// The result of a verification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum VerifyResult {
    Pass,
    Fail,
    /// Items that are no longer kept could make it pass or fail.
    Unknown,
}

/// A result with its reasons.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Verification {
    pub(crate) verdict: VerifyResult,
    /// Ids of the matching items.
    pub(crate) matched: Vec<String>,
    /// The item with the fewest differences, if too few match.
    pub(crate) nearest: Option<(String, Vec<Difference>)>,
}

/// Compares a pattern with candidates; `forgotten` is the number of dropped items.
pub(crate) fn verify(
    pattern: &Map<String, Value>,
    times: Times,
    candidates: impl IntoIterator<Item = Candidate>,
    forgotten: u64,
) -> Verification {
    let (mut matched, mut unsure) = (Vec::new(), forgotten);
    let mut nearest: Option<(usize, String, Vec<Difference>)> = None;
    for candidate in candidates {
        let found = differences(pattern, &candidate.value);
        if found.is_empty() {
            matched.push(candidate.id);
            continue;
        }
        let hidden = |difference: &Difference| {
            let first = difference.pointer[1..].split('/').next();
            candidate.hidden.is_some() && first == candidate.hidden
        };
        if found.iter().all(hidden) {
            unsure = unsure.saturating_add(1);
        }
        let distance = found.iter().map(weight).sum();
        // Among equals the latest, because the test has just caused it.
        if nearest.as_ref().is_none_or(|(least, ..)| distance <= *least) {
            nearest = Some((distance, candidate.id, found));
        }
    }
    let verdict = times.judge(matched.len() as u64, unsure);
    let missing = verdict != VerifyResult::Pass && (matched.len() as u64) < times.at_least;
    Verification {
        verdict,
        matched,
        nearest: nearest.filter(|_| missing).map(|(_, id, mut found)| {
            found.truncate(MOST_DIFFERENCES);
            (id, found)
        }),
    }
}

impl Times {
    /// The result for `sure` certain and `unsure` possible matches.
    fn judge(self, sure: u64, unsure: u64) -> VerifyResult {
        let most = sure.saturating_add(unsure);
        if sure >= self.at_least && self.at_most.is_none_or(|limit| most <= limit) {
            VerifyResult::Pass
        } else if most < self.at_least || self.at_most.is_some_and(|limit| sure > limit) {
            VerifyResult::Fail
        } else {
            VerifyResult::Unknown
        }
    }
}

/// Differences in identity weigh more than others: a call of another operation is further away than one with two different members.
fn weight(difference: &Difference) -> usize {
    match difference.pointer.as_str() {
        "/operation" | "/type" => 100,
        "/method" | "/path" | "/event" => 10,
        _ => 1,
    }
}

/// The places where a value does not match the pattern.
pub(crate) fn differences(pattern: &Map<String, Value>, actual: &Value) -> Vec<Difference> {
    let mut found = Vec::new();
    members(pattern, actual, &mut String::new(), &mut found);
    found
}

fn members(
    pattern: &Map<String, Value>,
    actual: &Value,
    at: &mut String,
    found: &mut Vec<Difference>,
) {
    for (name, expected) in pattern {
        let length = at.len();
        at.push('/');
        at.push_str(&name.replace('~', "~0").replace('/', "~1"));
        compare(expected, actual.get(name), at, found);
        at.truncate(length);
    }
}

fn compare(expected: &Value, actual: Option<&Value>, at: &mut String, found: &mut Vec<Difference>) {
    match (expected, actual) {
        (Value::Object(pattern), Some(actual @ Value::Object(_))) => {
            members(pattern, actual, at, found);
        }
        (Value::Array(pattern), Some(Value::Array(items))) if pattern.len() == items.len() => {
            for (place, (expected, actual)) in pattern.iter().zip(items).enumerate() {
                let length = at.len();
                at.push('/');
                at.push_str(&place.to_string());
                compare(expected, Some(actual), at, found);
                at.truncate(length);
            }
        }
        (Value::String(any), Some(actual)) if any == ANY && !actual.is_null() => {}
        (Value::Null, None) => {}
        (expected, Some(actual)) if expected == actual => {}
        _ => found.push(Difference {
            pointer: at.clone(),
            expected: expected.clone(),
            actual: actual.cloned(),
        }),
    }
}

/// The first of `patterns` that does not match, if each must match after the one before it, with any items between.
pub(crate) fn first_out_of_order<P, V>(
    patterns: &[P],
    values: impl IntoIterator<Item = V>,
    meets: impl Fn(&P, &V) -> bool,
) -> Option<(usize, &P)> {
    let mut wanted = patterns.iter().enumerate();
    let mut next = wanted.next();
    for value in values {
        let Some((_, pattern)) = next else { break };
        if meets(pattern, &value) {
            next = wanted.next();
        }
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn pattern(value: &Value) -> Map<String, Value> {
        value.as_object().expect("a pattern").clone()
    }

    fn candidate(id: &str, value: Value) -> Candidate {
        Candidate { id: id.to_owned(), value, hidden: None }
    }

    #[test]
    fn a_pattern_is_a_subset_and_says_where_it_is_not() {
        let actual = json!({"a": 1, "b": {"c": [1, {"d": "x", "e": 2}], "f": null}});
        for good in [
            json!({}),
            json!({"a": 1}),
            json!({"b": {"c": [1, {"d": "…"}]}}),
            json!({"b": {"f": null, "g": null}}),
        ] {
            assert_eq!(differences(&pattern(&good), &actual), [], "{good}");
        }
        for (bad, at) in [
            (json!({"a": 2}), "/a"),
            (json!({"b": {"c": [1]}}), "/b/c"),
            (json!({"b": {"c": [1, {"d": "y"}]}}), "/b/c/1/d"),
            (json!({"b": {"f": "…"}}), "/b/f"),
            (json!({"x/y": 1}), "/x~1y"),
        ] {
            let found = differences(&pattern(&bad), &actual);
            assert_eq!(found.len(), 1, "{bad}");
            assert_eq!(found[0].pointer, at);
        }
    }

    #[test]
    fn dropped_items_make_a_verdict_unknown_and_never_pass() {
        let times = |at_least, at_most| Times { at_least, at_most };
        for (times, sure, unsure, verdict) in [
            (times(1, None), 1, 0, VerifyResult::Pass),
            (times(1, None), 1, 9, VerifyResult::Pass),
            (times(1, None), 0, 0, VerifyResult::Fail),
            (times(1, None), 0, 9, VerifyResult::Unknown),
            (times(10, None), 0, 9, VerifyResult::Fail),
            (times(0, Some(0)), 0, 0, VerifyResult::Pass),
            (times(0, Some(0)), 0, 1, VerifyResult::Unknown),
            (times(0, Some(0)), 1, 1, VerifyResult::Fail),
            (times(2, Some(2)), 2, 0, VerifyResult::Pass),
            (times(2, Some(2)), 2, 1, VerifyResult::Unknown),
            (times(2, Some(2)), 3, 0, VerifyResult::Fail),
        ] {
            assert_eq!(times.judge(sure, unsure), verdict, "{times:?} {sure} {unsure}");
        }
    }

    #[test]
    fn the_nearest_miss_is_of_the_same_operation_where_there_is_one() {
        let wanted = pattern(&json!({"operation": "a", "status": 201, "body": {"x": 1}}));
        let once = Times { at_least: 1, at_most: None };
        let far = candidate("far", json!({"operation": "b", "status": 201, "body": {"x": 1}}));
        let near = candidate("near", json!({"operation": "a", "status": 409, "body": {"x": 2}}));
        let found = verify(&wanted, once, [near, far], 0);
        let (id, differences) = found.nearest.expect("a miss");
        let pointers: Vec<_> = differences.iter().map(|d| d.pointer.as_str()).collect();
        assert_eq!((id.as_str(), pointers), ("near", vec!["/status", "/body/x"]));
    }

    #[test]
    fn a_body_that_was_not_kept_might_have_matched() {
        let blind = Candidate { hidden: Some("body"), ..candidate("a", json!({"status": 201})) };
        let once = Times { at_least: 1, at_most: None };
        let verdict = |wanted: Value| verify(&pattern(&wanted), once, [blind.clone()], 0).verdict;
        assert_eq!(verdict(json!({"status": 201, "body": {"x": 1}})), VerifyResult::Unknown);
        assert_eq!(verdict(json!({"status": 200, "body": {"x": 1}})), VerifyResult::Fail);
        assert_eq!(verdict(json!({"status": 201})), VerifyResult::Pass);
        // The hidden candidate is counted in addition to the dropped items, without an overflow.
        let never = Times { at_least: 0, at_most: Some(0) };
        let wanted = pattern(&json!({"status": 201, "body": {"x": 1}}));
        let found = verify(&wanted, never, [blind.clone()], u64::MAX);
        assert_eq!(found.verdict, VerifyResult::Unknown);
    }

    #[test]
    fn an_order_allows_anything_in_between() {
        let meets = |a: &&str, b: &&str| a == b;
        assert_eq!(first_out_of_order(&["a", "c"], ["a", "b", "c"], meets), None);
        assert_eq!(first_out_of_order(&["c", "a"], ["a", "b", "c"], meets), Some((1, &"a")));
    }
}
