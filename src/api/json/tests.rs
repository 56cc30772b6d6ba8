use proptest::prelude::{any, prop_assert_eq, proptest};
use serde_json::json;

use super::*;

fn refusal(bytes: &[u8]) -> String {
    let error = parse(bytes).expect_err("a refusal");
    assert_eq!(error.code, ErrorCode::MalformedJson);
    error.detail
}

#[test]
fn a_body_that_is_no_json_is_refused_with_line_and_column() {
    for (body, detail) in [
        (&b""[..], "line 1, column 1: the body is empty: expected a JSON object"),
        (b" \r\n\t", "line 1, column 1: the body is empty: expected a JSON object"),
        (
            b"\xef\xbb\xbf{}",
            "line 1, column 1: the body starts with a byte order mark, which JSON does not allow",
        ),
        (b"{\"a\":\n \"\xff\"}", "line 2, column 3: the body is not valid UTF-8"),
        (b"{\"a\": 1", "line 1, column 7: the body ends while parsing an object"),
        (b"{} {}", "line 1, column 4: trailing characters"),
        (b"{\"a\":NaN}", "line 1, column 6: expected value"),
        (b"{\"a\":01}", "line 1, column 7: invalid number"),
        (b"{'a':1}", "line 1, column 2: key must be a string"),
        (b"{\"a\":1,}", "line 1, column 8: trailing comma"),
        (
            b"[\"\\ud800\"]",
            "line 1, column 9: this \\u escape is half of a surrogate pair: write both halves, or the character itself",
        ),
        (
            b"[\"\\udc00\"]",
            "line 1, column 8: this \\u escape is half of a surrogate pair: write both halves, or the character itself",
        ),
        (
            b"[\"\x01\"]",
            "line 1, column 3: control character (\\u0000-\\u001F) found while parsing a string",
        ),
    ] {
        assert_eq!(refusal(body), detail, "{}", String::from_utf8_lossy(body));
    }
}

#[test]
fn a_key_given_twice_is_refused_wherever_it_is() {
    assert_eq!(refusal(b"{\"a\":1,\"a\":1}"), "line 1, column 10: the member \"a\" is repeated");
    assert_eq!(
        refusal(b"[{\"b\":\n{\"a\":1,\"\\u0061\":2}}]"),
        "line 2, column 15: the member \"a\" is repeated"
    );
    let long = "k".repeat(1_000);
    assert!(refusal(format!("{{\"{long}\":1,\"{long}\":2}}").as_bytes()).len() < 100);
}

#[test]
fn nesting_ends_at_64_and_never_at_the_stack() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(parse(nested(64).as_bytes()).is_ok());
    assert_eq!(
        refusal(nested(65).as_bytes()),
        "line 1, column 66: arrays and objects are nested deeper than 64"
    );
    assert!(refusal("[".repeat(1_000_000).as_bytes()).ends_with("nested deeper than 64"));
    assert!(refusal("{\"a\":".repeat(100_000).as_bytes()).ends_with("nested deeper than 64"));
}

#[test]
fn whole_floats_fold_to_integers_where_exact() {
    let numbers = parse(b"[698.0, 1e2, -0.0, -5.0, 5.5, 9007199254740992.0, 1e18, 18446744073709551615, 18446744073709551616]");
    assert_eq!(
        numbers.expect("numbers").to_string(),
        "[698,100,0,-5,5.5,9007199254740992,1e+18,18446744073709551615,1.8446744073709552e+19]"
    );
}

#[test]
fn equal_values_have_one_canonical_spelling() {
    let left = parse(b"{\"b\": [1, 2.0], \"a\": {\"y\": null, \"x\": \"\\u00e9\\n\"}}")
        .expect("an object");
    let right = parse("{\"a\":{\"x\":\"é\\u000a\",\"y\":null},\"b\":[1.0,2]}".as_bytes())
        .expect("an object");
    assert_eq!(canonical(&left), "{\"a\":{\"x\":\"é\\n\",\"y\":null},\"b\":[1,2]}".as_bytes());
    assert_eq!(canonical(&json!({ "a": [], "b": {} })), b"{\"a\":[],\"b\":{}}");
    assert_eq!(canonical(&left), canonical(&right));
}

#[test]
fn differences_are_named_by_pointer() {
    let left = json!({ "a": 1, "b": { "c/d": [1, 2, 3], "e": 1 }, "same": [1], "gone": 0, "": 1 });
    let right = json!({ "same": [1], "b": { "c/d": [1, 9], "e": {} }, "a": 1, "new~": 0, "": 2 });
    assert_eq!(
        differing_pointers(&left, &right),
        ["/b/c~1d/1", "/b/c~1d/2", "/b/e", "/gone", "/", "/new~0"]
    );
    assert_eq!(differing_pointers(&json!(1), &json!(2)), [""]);
    assert!(differing_pointers(&left, &left).is_empty());
    let (zeros, ones) = (Value::from(vec![0; 1_000]), Value::from(vec![1; 1_000]));
    assert_eq!(differing_pointers(&zeros, &ones).len(), MOST_DIFFERENCES);
}

proptest! {
    #[test]
    fn parsing_any_bytes_never_panics(bytes: Vec<u8>) {
        let _ = parse(&bytes);
    }

    #[test]
    fn text_and_integers_survive(texts: Vec<String>, number in any::<i64>()) {
        let sent = json!({ "texts": texts, "number": number });
        let read = parse(&serde_json::to_vec(&sent).expect("JSON"));
        prop_assert_eq!(read.expect("what was written"), sent);
    }
}
