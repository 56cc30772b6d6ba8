//! The published form of schemas, and unsupported keywords, which stop the process.

use serde_json::{Map, json};

use super::{Everything, emitted, full};
use crate::api::check::{Checker, Matcher, Value, close};

#[test]
fn closing_a_schema_gives_its_published_form() {
    let (mut schema, mut definitions) = emitted::<Everything>();
    close(&mut schema);
    definitions.values_mut().for_each(close);
    let properties = &schema["properties"];
    assert_eq!(schema["additionalProperties"], false);
    assert_eq!(properties["title"]["maxLength"], 10, "a member named title stays");
    assert_eq!(
        properties["small"],
        json!({ "type": ["integer", "null"], "format": "int32", "minimum": 0, "maximum": 255 })
    );
    assert_eq!(properties["wide"]["format"], "int64");
    assert_eq!(properties["wide"]["maximum"], 4_294_967_295_u32);
    assert_eq!(
        properties["page"],
        json!({ "type": ["integer", "null"], "format": "int64", "minimum": 1 })
    );
    assert_eq!(properties["sure"]["default"], false);
    assert_eq!(properties["counts"]["additionalProperties"]["format"], "int32");
    assert_eq!(definitions["Empty"], json!({ "type": "object", "additionalProperties": false }));
    assert_eq!(
        definitions["Frequency"],
        json!({
            "type": "string",
            "enum": ["never", "weekly", "monthly"],
            "description": "How often.\n\n- `weekly`: Once a week.\n- `monthly`: Once a month, on its last day.",
        })
    );
    let route = &definitions["Route"]["oneOf"];
    assert_eq!(
        (&route[0]["additionalProperties"], &route[1]["additionalProperties"]),
        (&json!(false), &json!(false))
    );
    assert!(definitions["Metadata"]["additionalProperties"].is_object());
    let again = |schema: &Value| {
        let mut twice = schema.clone();
        close(&mut twice);
        twice
    };
    assert_eq!(again(&schema), schema);
    assert!(definitions.values().all(|definition| again(definition) == *definition));
    let published = Checker::compile(&schema, &definitions);
    assert!(published.check(&full()).is_empty() && !published.check(&json!({})).is_empty());
}

#[test]
fn keywords_that_are_not_enforced_stop_the_process() {
    for (schema, complaint) in [
        (json!({ "not": {} }), "the keyword at #/not is not enforced"),
        (json!({ "type": "number" }), "the type \"number\" at #/type is not enforced"),
        (
            json!({ "type": "string", "format": "uri" }),
            "the format \"uri\" at #/format is not enforced",
        ),
        (
            json!({ "items": { "multipleOf": 2 } }),
            "the keyword at #/items/multipleOf is not enforced",
        ),
        (
            json!({ "properties": { "a": { "contentEncoding": "b" } } }),
            "the keyword at #/properties/a/contentEncoding is not enforced",
        ),
        (json!({ "properties": {}, "$ref": "#/$defs/A" }), "members beside $ref"),
        (json!({ "$ref": "#/$defs/B" }), "no definition for #/$defs/B at #/$ref"),
        (json!({ "pattern": "(" }), "pattern at #/pattern"),
        (json!({ "minimum": 0.5 }), "#/minimum is no integer"),
    ] {
        let definitions: Map<String, Value> =
            [("A".to_owned(), json!({ "type": "object" }))].into_iter().collect();
        let panic = std::panic::catch_unwind(|| Checker::compile(&schema, &definitions))
            .err()
            .expect("a panic");
        let message = panic.downcast_ref::<String>().cloned().unwrap_or_default();
        assert!(message.contains(complaint), "{message}");
    }
}

#[test]
fn patterns_mean_what_ecmascript_means() {
    let matches = |pattern: &str, text: &str| {
        Checker::compile(&json!({ "type": "string", "pattern": pattern }), &Map::new())
            .check(&json!(text))
            .is_empty()
    };
    assert!(matches(r"^\d+$", "42") && !matches(r"^\d+$", "٤٢"));
    assert!(matches(r"^[\w.-]+\.$", "a_b.c.") && !matches(r"^\w+$", "é"));
    assert!(
        matches(r"^a\sb$", "a\u{3000}b")
            && matches(r"^[^\s]+$", "é")
            && !matches(r"^[^\s]+$", "a\u{2028}b")
    );
    assert!(matches(r"^\\\[\d\]$", r"\[1]"));
}

#[test]
fn the_matcher_of_a_country_agrees_with_its_pattern() {
    let pattern = "^[A-Z]{2}$";
    let regex = regex_lite::Regex::new(pattern).unwrap();
    let matcher = Matcher::simple(pattern).expect("it is decided without a regular expression");
    for text in ["NG", "", "N", "NGA", "ng", "N1", "N\n", "NG\n", " NG", "É", "ÀÀ"] {
        assert_eq!(matcher.is_match(text), regex.is_match(text), "{text:?}");
    }
    assert!(Matcher::simple("^[A-Z]{2,3}$").is_none() && Matcher::simple("[A-Z]{2}").is_none());
}

#[test]
fn the_matcher_of_usual_text_agrees_with_its_pattern() {
    let regex = regex_lite::Regex::new(crate::value::text::NO_CONTROL).unwrap();
    for character in '\0'..='\u{ffff}' {
        let text = format!("a{character}b");
        assert_eq!(Matcher::NoControl.is_match(&text), regex.is_match(&text), "{character:?}");
    }
}
