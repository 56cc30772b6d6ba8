//! Violations: which are found, their pointers, and their messages.

use serde_json::json;

use super::{Everything, checker};
use crate::api::check::Value;
use crate::value::Violation;

/// Members beside the required `amount`, and `pointer code` of every violation.
const VIOLATIONS: &[(&str, &str)] = &[
    (r#"{"amount": 0}"#, "/amount range"),
    (r#"{"amount": "5"}"#, "/amount type"),
    (r#"{"amount": 5.5}"#, "/amount type"),
    (r#"{"amount": 1e300, "small": -1e19}"#, "/amount range, /small range"),
    (r#"{"amount": null, "sure": null}"#, "/amount type, /sure type"),
    (r#"{"small": 256, "signed": -32769}"#, "/small range, /signed range"),
    (r#"{"wide": 4294967296, "page": 0}"#, "/wide range, /page range"),
    (r#"{"widest": 18446744073709551615}"#, "/widest range"),
    (r#"{"title": "", "letter": "ab"}"#, "/title length, /letter length"),
    (r#"{"title": "\u007f23456789012"}"#, "/title length, /title format"),
    (r#"{"day": "2026-02-29", "at": "2026-01-31"}"#, "/day format, /at format"),
    (r#"{"after": "5", "period": "2026-13"}"#, "/after format, /period format"),
    (r#"{"email": "a@b@c"}"#, "/email pattern"),
    (r#"{"currency": "eur", "frequency": "daily"}"#, "/currency enum, /frequency enum"),
    (r#"{"address": {"lines": []}}"#, "/address/lines too_few"),
    (r#"{"home": {"lines": [1, "b", "c", 4]}}"#, "/home/lines too_many, /home/lines/0 type"),
    (r#"{"address": {"country": "DEU"}}"#, "/address/country length, /address/lines required"),
    (r#"{"address": {"lines": ["a"], "liness": []}}"#, "/address/liness unknown_member"),
    (r#"{"tags": ["never", "weekly", "never"]}"#, "/tags/2 duplicate"),
    (r#"{"counts": {"a/b": -1, "~": 256}}"#, "/counts/a~1b range, /counts/~0 range"),
    (r#"{"by_currency": {"XXX": 1}}"#, "/by_currency/XXX unknown_member"),
    (r#"{"by_currency": {"USD": "1"}}"#, "/by_currency/USD type"),
    (r#"{"by_year": {"x": true, "1": 1}}"#, "/by_year/x unknown_member, /by_year/1 type"),
    (r#"{"metadata": {"": "v", "k": 1}}"#, "/metadata/ length, /metadata/k type"),
    (r#"{"four": [1, 2, 3]}"#, "/four too_few"),
    (r#"{"empty": {"a": 1}}"#, "/empty/a unknown_member"),
    (r#"{"route": {"account": "1"}}"#, "/route/method required"),
    (r#"{"route": {"method": "crad"}}"#, "/route/method enum"),
    (r#"{"route": {"method": 5}}"#, "/route/method enum"),
    (r#"{"route": {"method": "card"}}"#, "/route/token required"),
    (r#"{"route": {"method": "card", "token": "", "a": 1}}"#, "/route/a unknown_member"),
    (r#"{"route": []}"#, "/route type"),
    (r#"{"target": 5}"#, "/target type"),
    (r#"{"target": ["a", 5]}"#, "/target/1 type"),
    (r#"{"target": {"number": 256}}"#, "/target/number range"),
    (r#"{"tree": {"name": "", "children": [{}]}}"#, "/tree/children/0/name required"),
    (r#"{"paging": {}, "Page": 1}"#, "/paging unknown_member, /Page unknown_member"),
];

#[test]
fn every_violation_is_found_with_its_pointer_and_code() {
    let checker = checker::<Everything>();
    for (members, expected) in VIOLATIONS {
        let mut members: Value = serde_json::from_str(members).expect("JSON");
        if members.get("amount").is_none() {
            members["amount"] = json!(1);
        }
        let found = checker.check(&members);
        let found = found.iter().map(|fault| format!("{} {}", fault.pointer, fault.code));
        assert_eq!(found.collect::<Vec<_>>().join(", "), *expected, "{members}");
    }
    let missing = Violation::new("/amount", "required", "this member is required");
    assert_eq!(checker.check(&json!({})), [missing]);
}

/// The sentence of the only violation.
fn sentence(members: Value) -> String {
    let mut members = members;
    members["amount"] = json!(1);
    let found = checker::<Everything>().check(&members);
    assert_eq!(found.len(), 1, "{found:?}");
    found[0].detail.clone()
}

#[test]
fn violation_texts_state_the_expected_and_the_actual_value() {
    for (members, expected) in [
        (json!({ "small": 256 }), "expected an integer from 0 to 255, got 256"),
        (json!({ "small": 1e300 }), "expected an integer from 0 to 255, got 1e+300"),
        (json!({ "small": [] }), "expected an integer, got an array"),
        (json!({ "title": "" }), "expected 1 to 10 characters, got 0"),
        (json!({ "letter": "" }), "expected 1 character, got 0"),
        (json!({ "address": { "lines": [] } }), "expected 1 to 3 items, got 0"),
        (
            json!({ "currency": "usd" }),
            "expected one of the 154 values in the OpenAPI document, got \"usd\"; did you mean USD",
        ),
        (
            json!({ "frequency": "montly" }),
            "expected one of never, weekly, monthly, got \"montly\"; did you mean monthly",
        ),
        (
            json!({ "route": { "method": "crad" } }),
            "expected one of bank, card, got \"crad\"; did you mean card",
        ),
        (json!({ "route": {} }), "this member is required, expected one of bank, card"),
        (
            json!({ "period": "01/2026" }),
            "expected a month such as 2026-01, between 2000 and 2099, got \"01/2026\"",
        ),
        (
            json!({ "day": "31.1.26" }),
            "expected a calendar day such as 2026-01-31, between 1970 and 2199, got \"31.1.26\"",
        ),
        (json!({ "adress": 1 }), "unknown member; did you mean address"),
        (json!({ "tags": ["never", "never"] }), "\"never\" is already in the list"),
    ] {
        let shown = members.to_string();
        assert_eq!(sentence(members), expected, "{shown}");
    }
    let hostile = sentence(json!({ "day": "\u{0}".repeat(100_000) }));
    assert!(hostile.len() < 300 && !hostile.contains('\0'), "{hostile}");
}

#[test]
fn a_value_that_is_no_object_is_reported() {
    let found = checker::<Everything>().check(&json!([]));
    let expected = Violation::new("", "type", "expected an object, got an array");
    assert_eq!(found, [expected]);
}
