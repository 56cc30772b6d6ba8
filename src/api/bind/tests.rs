use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde::Deserialize;
use serde_json::json;

use super::*;
use crate::value::{Amount, Currency, ErrorCode};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Status {
    Active,
    OnLeave,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct ListEmployees {
    #[schemars(range(min = 1, max = 1_000_000_000_000_i64))]
    page: Option<u64>,
    per_page: Option<u64>,
    status: Option<Status>,
    currency: Option<Currency>,
    blocking: Option<bool>,
    types: Option<Vec<Status>>,
    numbers: Option<Vec<u8>>,
    #[schemars(length(max = 10))]
    q: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct UpdateItem {
    company_id: String,
    number: u32,
    amount: Amount,
    note: Option<String>,
}

fn checker<I: JsonSchema>() -> Checker {
    let mut generator = SchemaGenerator::new(SchemaSettings::draft2020_12());
    let schema = I::json_schema(&mut generator).to_value();
    Checker::compile(&schema, generator.definitions())
}

fn query(query: &str) -> Result<Value, ApiError> {
    bind(&checker::<ListEmployees>(), &[], Some(query), None)
}

/// `pointer code` of every violation.
fn faults(result: Result<Value, ApiError>) -> Vec<String> {
    let error = result.expect_err("a refusal");
    assert_eq!(error.code, ErrorCode::ValidationFailed);
    error.errors.iter().map(|fault| format!("{} {}", fault.pointer, fault.code)).collect()
}

fn sentence(result: Result<Value, ApiError>) -> String {
    result.expect_err("a refusal").detail
}

#[test]
fn a_query_is_read_by_the_schema_s_types() {
    let input =
        query("page=2&blocking=true&status=on_leave&q=a+b%2Bc%C3%A9&currency=EUR&&per_page=1000");
    let expected = json!({
        "page": 2, "blocking": true, "status": "on_leave", "q": "a b+cé", "currency": "EUR", "per_page": 1000,
    });
    let input = input.expect("an input");
    assert_eq!(input, expected);
    let decoded: ListEmployees = serde_json::from_value(input).expect("what the check accepts");
    assert_eq!(
        (decoded.page, decoded.per_page, decoded.blocking),
        (Some(2), Some(1_000), Some(true))
    );
    assert!(
        matches!(decoded.status, Some(Status::OnLeave)) && decoded.q.as_deref() == Some("a b+cé")
    );
    assert!(decoded.types.is_none() && decoded.numbers.is_none() && decoded.currency.is_some());
}

#[test]
fn no_input_binds_to_an_empty_object_if_no_member_is_required() {
    assert_eq!(bind(&checker::<ListEmployees>(), &[], None, None).expect("an input"), json!({}));
    assert_eq!(query("").expect("an input"), json!({}));
    assert_eq!(
        faults(bind(&checker::<UpdateItem>(), &[], None, None)),
        ["/company_id required", "/number required", "/amount required"]
    );
}

#[test]
fn lists_are_repeated_or_separated_by_commas() {
    for text in ["types=active,on_leave", "types=active&types=on_leave", "types=active%2Con_leave"]
    {
        assert_eq!(
            query(text).expect("an input"),
            json!({ "types": ["active", "on_leave"] }),
            "{text}"
        );
    }
    assert_eq!(query("numbers=1,255").expect("an input"), json!({ "numbers": [1, 255] }));
    assert_eq!(
        faults(query("numbers=1,256,x&types=")),
        ["/numbers/1 range", "/numbers/2 type", "/types/0 enum"]
    );
}

#[test]
fn a_percent_sign_without_two_hexadecimal_digits_is_refused() {
    for text in ["q=%", "q=%4", "q=%zz", "q=a%4gb", "q=%+1", "q=%%41", "q=%25%", "status=%zz"] {
        let refusal = query(text).expect_err(text);
        assert_eq!(refusal.errors[0].code, "encoding", "{text}");
        assert_eq!(refusal.errors[0].detail, "expected percent-encoded UTF-8", "{text}");
    }
    assert_eq!(query("q=%25zz%4A").expect("an input"), json!({ "q": "%zzJ" }));
    let path = [("company_id", "%zz"), ("number", "1")];
    let body = Some(json!({ "amount": 1 }));
    let refused = bind(&checker::<UpdateItem>(), &path, None, body);
    assert!(faults(refused).contains(&"/company_id encoding".to_owned()));
}

#[test]
fn pages_are_whole_numbers_in_range() {
    assert_eq!(
        query("page=1000000000000").expect("an input"),
        json!({ "page": 1_000_000_000_000_u64 })
    );
    for (text, code) in [
        ("0", "range"),
        ("-1", "range"),
        ("1000000000001", "range"),
        ("18446744073709551615", "range"),
        ("18446744073709551616", "range"),
        ("1e3", "type"),
        ("1.0", "type"),
        ("abc", "type"),
        ("007", "type"),
        ("%2B5", "type"),
        ("-0", "type"),
        ("0x10", "type"),
        ("", "type"),
        ("null", "type"),
        (&"9".repeat(400), "type"),
    ] {
        assert_eq!(faults(query(&format!("page={text}"))), [format!("/page {code}")], "{text}");
    }
    assert_eq!(sentence(query("page=abc")), "/page: expected an integer, got \"abc\"");
    assert_eq!(
        sentence(query("page=0")),
        "/page: expected an integer from 1 to 1000000000000, got 0"
    );
    assert_eq!(sentence(query("blocking=yes")), "/blocking: expected true or false, got \"yes\"");
}

#[test]
fn every_violation_of_a_query_is_reported_at_once() {
    assert_eq!(
        faults(query("page=0&pge=1&q=%ff&status=gone&page=2&a/b=1&q=12345678901")),
        [
            "/pge unknown_parameter",
            "/q encoding",
            "/page duplicate",
            "/a~1b unknown_parameter",
            "/status enum"
        ],
        "of the doubled and the unreadable parameter only that is told"
    );
    assert_eq!(sentence(query("pge=1")), "/pge: unknown query parameter; did you mean page");
    assert_eq!(
        faults(query("%ff=1&=2&%zz=3")),
        ["/\u{fffd} unknown_parameter", "/ unknown_parameter", "/%zz unknown_parameter"]
    );
    assert_eq!(faults(query(&"x=1&".repeat(4_000))).len(), 101);
}

#[test]
fn the_path_joins_the_body() {
    let checker = checker::<UpdateItem>();
    let path = [("company_id", "a%2Fb+c"), ("number", "7")];
    let body = json!({ "amount": 5, "note": null });
    let input = bind(&checker, &path, None, Some(body)).expect("an input");
    assert_eq!(input, json!({ "amount": 5, "note": null, "company_id": "a/b+c", "number": 7 }));
    let decoded: UpdateItem = serde_json::from_value(input).expect("what the check accepts");
    assert_eq!(
        (&*decoded.company_id, decoded.number, decoded.amount.minor(), decoded.note),
        ("a/b+c", 7, 5, None)
    );
}

#[test]
fn path_query_and_body_are_judged_together() {
    let checker = checker::<UpdateItem>();
    let path = [("company_id", "%ff"), ("number", "x")];
    let body = json!({ "amount": 0, "ammount": 1, "number": 7 });
    let found = faults(bind(&checker, &path, Some("dry_run=1"), Some(body)));
    let expected = [
        "/company_id encoding",
        "/number unknown_member",
        "/dry_run unknown_parameter",
        "/amount range",
        "/ammount unknown_member",
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_body_that_is_no_object_has_exactly_that_violation() {
    let checker = checker::<UpdateItem>();
    let path = [("company_id", "c"), ("number", "x")];
    for body in [json!([]), json!(null), json!("a"), json!(5), json!(true)] {
        assert_eq!(
            faults(bind(&checker, &path, Some("a=1"), Some(body))),
            [" type", "/a unknown_parameter", "/number type"]
        );
    }
    let path = [("company_id", "c"), ("number", "1")];
    assert_eq!(
        sentence(bind(&checker, &path, None, Some(json!([])))),
        "the body: expected an object, got an array"
    );
}

#[test]
fn a_get_s_path_parameter_is_no_query_parameter() {
    let checker = checker::<UpdateItem>();
    let path = [("company_id", "c"), ("number", "1")];
    assert_eq!(
        faults(bind(&checker, &path, Some("amount=1&number=2"), None)),
        ["/number unknown_parameter"]
    );
}
