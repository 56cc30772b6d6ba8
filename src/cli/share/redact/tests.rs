use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::schemas::names;
use super::*;
use crate::cli::share::line::Shared;
use crate::world::Shape;

/// The calls of a world, redacted.
fn redacted(calls: &[(&str, &str, Value)]) -> Vec<(String, Value)> {
    let inputs: Vec<Value> = (calls.iter())
        .map(|(method, path, body)| {
            let body = if body.is_null() { String::new() } else { body.to_string() };
            json!({"method": method, "path": path, "body": body, "headers": {"idempotency-key": "\"ada-obi\""}})
        })
        .collect();
    let mut found = serde_json::to_value(Shape::default()).unwrap();
    let rest = json!({"world_version": 1, "seed": 1, "clock": "manual", "scenarios": [], "imports": [], "inputs": inputs});
    found.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
    let mut shared = Shared::of_inputs(&found).unwrap();
    redact(&mut shared);
    let inputs = shared.inputs.into_iter();
    inputs.map(|input| (format!("{} {:?}", input.path, input.headers), input.body)).collect()
}

#[test]
fn texts_of_people_are_replaced_and_ids_dates_words_and_codes_stay() {
    let calls = [
        (
            "POST",
            "/api/identity/subjects",
            json!({
                "type": "person", "name": {"first": "Ada", "last": "Obi"}, "date_of_birth": "1990-05-17",
                "country": "NG", "phone": "+2348012345678", "email": "ada@example.org",
                "company_id": "com_bp9fm3zzz4aa5", "external_id": "17",
                "id_numbers": [{"type": "bvn", "value": "22212345678", "country": "NG"}],
                "address": {"line1": "Marina1", "city": "Lagos", "region": "Lagos", "postal_code": "100001", "country": "NG"},
                "metadata": {"ada": "Obi"},
            }),
        ),
        (
            "POST",
            "/_sandbox/rules",
            json!({"match": {"decision": "payout.settle", "where": {"department": "Kitchen", "amount": ">= 500000",
                "currency": "NGN", "beneficiary": "ben_0000000000001"}}, "outcome": {"then": "returned", "code": "R02"}}),
        ),
        ("DELETE", "/_sandbox/faults?note=Ada", Value::Null),
    ];
    let found = redacted(&calls);
    let person = json!({
        "type": "person", "name": {"first": "Redacted 1", "last": "Redacted 2"}, "date_of_birth": "1990-01-01",
        "country": "NG", "phone": "Redacted 3", "email": "redacted-4@example.com",
        "company_id": "com_bp9fm3zzz4aa5", "external_id": "Redacted 5",
        "id_numbers": [{"type": "bvn", "value": "Redacted 6", "country": "NG"}],
        "address": {"line1": "Redacted 7", "city": "Redacted 8", "region": "Redacted 8", "postal_code": "Redacted 9", "country": "NG"},
        "metadata": {"redacted-10": "Redacted 2"},
    });
    assert_eq!(found[0].1, person);
    let rule = json!({"match": {"decision": "payout.settle", "where": {"department": "Redacted 12", "amount": ">= 500000",
        "currency": "NGN", "beneficiary": "ben_0000000000001"}}, "outcome": {"then": "returned", "code": "R02"}});
    assert_eq!(found[1].1, rule);
    assert!(found[0].0.ends_with(r#"{"idempotency-key": "redacted-11"}"#), "{}", found[0].0);
    assert!(found[2].0.starts_with("/_sandbox/faults?note=redacted-1 "), "{}", found[2].0);
}

/// Members whose texts are replaced, wherever they are. A new member of an input that takes text fails here: add it, or
/// add it to [`CODES`] if a person never writes it.
const REPLACED: &[&str] = &[
    "account",
    "account_name",
    "amount",
    "answer",
    "approver",
    "city",
    "conditions",
    "consent_id",
    "content",
    "content_base64",
    "credit",
    "date",
    "date_of_birth",
    "debit",
    "declaration",
    "department",
    "description",
    "document_token",
    "email",
    "event_id",
    "evidence",
    "expected_name",
    "external_id",
    "fault_id",
    "files",
    "first",
    "id",
    "label",
    "last",
    "legal_name",
    "line1",
    "maker",
    "memo",
    "metadata",
    "name",
    "note",
    "notes",
    "number",
    "paths",
    "phone",
    "postal_code",
    "purpose",
    "reason",
    "reference",
    "region",
    "registration_number",
    "resource_id",
    "role",
    "rule_id",
    "secret",
    "tax_id",
    "text",
    "title",
    "url",
    "value",
    "website",
];

#[test]
fn every_member_that_takes_free_text_is_classified() {
    let replaced: BTreeSet<String> = names()
        .into_iter()
        .filter(|(name, is_free)| *is_free && !CODES.contains(&name.as_str()))
        .map(|(name, _)| name)
        .collect();
    let replaced: Vec<&str> = replaced.iter().map(String::as_str).collect();
    assert_eq!(replaced, REPLACED);
}

#[test]
fn every_code_is_a_member_of_an_input() {
    let names = names();
    for code in CODES {
        assert_eq!(names.get(code), Some(&true), "{code}");
    }
}
