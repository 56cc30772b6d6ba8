//! Bad input, member by member. The test derives every possible violation of a schema from the documents.
//! Each is a 422 that points at the member and changes nothing. A new operation is covered without a change
//! here.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::harness::contract::{control, product};
use crate::harness::{Caller, Server};

/// One wrong value, and the pointer that the answer must have.
struct Wrong {
    body: Value,
    pointer: String,
    what: String,
}

/// All wrong values of a schema. `None` is a missing member.
fn breaches(schema: &Value) -> Vec<(String, Option<Value>)> {
    let mut found = Vec::new();
    let mut add = |what: &str, value: Value| found.push((what.to_owned(), Some(value)));
    let (types, nullable) = types(schema);
    let junk = [
        ("string", json!("text")),
        ("integer", json!(7)),
        ("boolean", json!(true)),
        ("array", json!([])),
        ("object", json!({})),
        ("number", json!(1.5)),
    ];
    for (of, value) in junk {
        let is_number = of == "integer" && types.contains(&"number");
        if !types.is_empty() && !types.contains(&of) && !is_number {
            add(&format!("{of} instead of {types:?}"), value);
        }
    }
    if !nullable && !types.is_empty() {
        add("null", Value::Null);
    }
    let bound = |name: &str| schema[name].as_i64();
    let length = |name: &str| schema[name].as_u64().and_then(|n| usize::try_from(n).ok());
    if let Some(least) = bound("minimum") {
        add("below its minimum", json!(least - 1));
    }
    if let Some(most) = bound("maximum").and_then(|most| most.checked_add(1)) {
        add("above its maximum", json!(most));
    }
    if types.contains(&"integer") {
        if schema["maximum"] != u64::MAX {
            add("beyond 64 bits with a sign", json!(u64::MAX));
        }
        add("far beyond 64 bits", json!(1e300));
    }
    if let Some(most) = length("maxLength").filter(|most| *most < 10_000) {
        add("too long", json!("a".repeat(most + 1)));
    }
    if length("minLength").is_some_and(|least| least > 0) {
        add("too short", json!(""));
    }
    if !schema["enum"].is_null() && types.contains(&"string") {
        add("an unknown word", json!("no_such_word"));
    }
    if let Some("date" | "date-time") = schema["format"].as_str() {
        add("no date", json!("2026-02-30"));
    }
    if !schema["pattern"].is_null() {
        add("against its pattern", json!("\u{1}"));
    }
    if length("minItems").is_some_and(|least| least > 0) {
        add("an empty list", json!([]));
    }
    found
}

/// The allowed types of a schema, and whether null is one.
fn types(schema: &Value) -> (Vec<&str>, bool) {
    let all: Vec<&str> = match &schema["type"] {
        Value::String(one) => vec![one],
        Value::Array(some) => some.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let nullable = all.contains(&"null");
    (all.into_iter().filter(|of| *of != "null").collect(), nullable)
}

/// A schema with its reference resolved. If there are several, the one that is not null. The second value
/// says whether null is allowed.
fn resolved<'a>(document: &'a Value, schema: &'a Value) -> Option<(&'a Value, bool)> {
    if let Some(reference) = schema["$ref"].as_str() {
        let target = document.pointer(reference.trim_start_matches('#'))?;
        return resolved(document, target);
    }
    let Some(choices) = schema["anyOf"].as_array().or(schema["oneOf"].as_array()) else {
        return Some((schema, false));
    };
    let real: Vec<&Value> = choices.iter().filter(|one| one["type"] != "null").collect();
    // A choice between several shapes has no single wrong value.
    (real.len() == 1 && choices.len() == 2)
        .then(|| (real[0], true))
        .and_then(|(one, nullable)| Some((resolved(document, one)?.0, nullable)))
}

/// Every wrong body that differs from a valid one in one place.
fn wrong_bodies(document: &Value, schema: &Value, right: &Value) -> Vec<Wrong> {
    let mut found = Vec::new();
    walk(document, schema, right, "", &mut |pointer, what, value| {
        let mut body = right.clone();
        let (parent, name) = pointer.rsplit_once('/').expect("within the body");
        let parent = body.pointer_mut(parent).expect("an existing pointer");
        match (parent, value) {
            (Value::Object(members), Some(value)) => {
                members.insert(name.to_owned(), value);
            }
            (Value::Object(members), None) => {
                members.remove(name);
            }
            (Value::Array(items), Some(value)) => items[0] = value,
            _ => panic!("{pointer} is not a container"),
        }
        found.push(Wrong { body, pointer: pointer.to_owned(), what });
    });
    found
}

type Found<'a> = dyn FnMut(&str, String, Option<Value>) + 'a;

fn walk(document: &Value, schema: &Value, right: &Value, at: &str, found: &mut Found<'_>) {
    let Some((schema, _)) = resolved(document, schema) else {
        return;
    };
    if let Some(members) = right.as_object() {
        if schema["additionalProperties"] == false {
            found(&format!("{at}/colour"), "an unknown member".to_owned(), Some(json!("red")));
        }
        for name in schema["required"].as_array().into_iter().flatten() {
            let name = name.as_str().expect("a name");
            if members.contains_key(name) {
                found(&format!("{at}/{name}"), "left out".to_owned(), None);
            }
        }
        for (name, member) in schema["properties"].as_object().into_iter().flatten() {
            let at = format!("{at}/{name}");
            if let Some((member, nullable)) = resolved(document, member) {
                for (what, value) in breaches(member) {
                    if !(nullable && value == Some(Value::Null)) {
                        found(&at, what, value);
                    }
                }
            }
            if let Some(value) = members.get(name) {
                walk(document, member, value, &at, found);
            }
        }
    }
    if let Some(first) = right.as_array().and_then(|items| items.first()) {
        let at = format!("{at}/0");
        if let Some((item, _)) = resolved(document, &schema["items"]) {
            for (what, value) in breaches(item) {
                found(&at, what, value);
            }
        }
        walk(document, &schema["items"], first, &at, found);
    }
}

/// The path of an operation with the examples of its parameters.
fn path_of(path: &str, row: &Value) -> (String, Vec<String>) {
    let (mut path, mut query) = (path.to_owned(), Vec::new());
    for parameter in row["parameters"].as_array().into_iter().flatten() {
        let Some(name) = parameter["name"].as_str() else {
            continue; // a header that all have
        };
        let example = &parameter["example"];
        let text = example.as_str().map_or_else(|| example.to_string(), str::to_owned);
        if parameter["in"] == "path" {
            path = path.replace(&format!("{{{name}}}"), &text);
        } else if parameter["in"] == "query" && parameter["required"] == true {
            query.push(format!("{name}={text}"));
        }
    }
    (path, query)
}

/// The operations of a document: method, path and row.
fn rows(document: &'static Value) -> impl Iterator<Item = (String, &'static str, &'static Value)> {
    let paths = document["paths"].as_object().expect("paths");
    paths.iter().flat_map(|(path, methods)| {
        let methods = methods.as_object().expect("methods");
        methods.iter().map(move |(method, row)| (method.to_uppercase(), path.as_str(), row))
    })
}

/// Whether an answer is the expected one, or its difference.
fn refused_at(answer: &crate::harness::Answer, pointer: &str) -> Result<(), String> {
    let text = answer.text();
    if answer.status != 422 {
        return Err(format!("{} {text}", answer.status));
    }
    let body = answer.json();
    let errors = body["errors"].as_array().cloned().unwrap_or_default();
    let here = errors.iter().any(|error| {
        let found = error["pointer"].as_str().unwrap_or("-");
        // The pointer may lead into a wrong list or object.
        found == pointer || found.starts_with(&format!("{pointer}/"))
    });
    if body["code"] == "validation_failed" && here {
        Ok(())
    } else {
        Err(format!("points to another place: {text}"))
    }
}

#[test]
fn every_member_of_every_body_that_breaks_its_schema_is_pointed_at() {
    let server = Arc::new(Server::start(&["--clock", "manual"]));
    let caller = Caller::with_key(&server, "test_bad_bodies");
    let before = caller.digest();
    let (mut tried, mut faults) = (0, Vec::new());
    for document in [product(), control()] {
        for (method, template, row) in rows(document) {
            let content = &row["requestBody"]["content"]["application/json"];
            if content.is_null() {
                continue;
            }
            let examples = content["examples"].as_object();
            let right = examples.and_then(|all| all.values().next());
            let right = right.map_or(json!({}), |example| example["value"].clone());
            let (path, query) = path_of(template, row);
            let path = if query.is_empty() { path } else { format!("{path}?{}", query.join("&")) };
            for wrong in wrong_bodies(document, &content["schema"], &right) {
                tried += 1;
                let request = caller.request(&method, &path).json(&wrong.body);
                let answer = caller.send(&request);
                if let Err(fault) = refused_at(&answer, &wrong.pointer) {
                    let (what, pointer) = (wrong.what, wrong.pointer);
                    faults.push(format!("{method} {template} {pointer} {what}: {fault}"));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{} of {tried}:\n{}", faults.len(), faults.join("\n"));
    assert_eq!(caller.digest(), before, "the request changed the world");
    assert!(tried > 1_000, "only {tried} bodies were tried");
    println!("{tried} wrong bodies");
}

#[test]
fn every_parameter_of_every_query_that_breaks_its_schema_is_named() {
    let server = Arc::new(Server::start(&["--clock", "manual"]));
    let caller = Caller::with_key(&server, "test_bad_queries");
    let before = caller.digest();
    let (mut tried, mut faults) = (0, Vec::new());
    for (method, template, row) in rows(product()).filter(|(method, ..)| method == "GET") {
        let (path, right) = path_of(template, row);
        let mut wrong: Vec<(String, String, String)> =
            vec![("colour".into(), "red".into(), "an unknown member".into())];
        for parameter in row["parameters"].as_array().into_iter().flatten() {
            let Some(name) = parameter["name"].as_str().filter(|_| parameter["in"] == "query")
            else {
                continue;
            };
            let Some((schema, _)) = resolved(product(), &parameter["schema"]) else {
                continue;
            };
            // A query contains only text, so a value is wrong only if no text of its type is valid.
            for (what, value) in breaches(schema) {
                let text = match value {
                    Some(Value::String(text)) => text,
                    Some(Value::Number(number)) if types(schema).0 == ["integer"] => {
                        number.to_string()
                    }
                    _ => continue,
                };
                wrong.push((name.to_owned(), text, what));
            }
        }
        for (name, text, what) in wrong {
            tried += 1;
            let mut query: Vec<String> =
                right.iter().filter(|one| !one.starts_with(&format!("{name}="))).cloned().collect();
            let text =
                percent_encoding::utf8_percent_encode(&text, percent_encoding::NON_ALPHANUMERIC);
            query.push(format!("{name}={text}"));
            let answer =
                caller.send(&caller.request(&method, &format!("{path}?{}", query.join("&"))));
            if let Err(fault) = refused_at(&answer, &format!("/{name}")) {
                faults.push(format!("{method} {template} {name} {what}: {fault}"));
            }
        }
    }
    assert!(faults.is_empty(), "{} of {tried}:\n{}", faults.len(), faults.join("\n"));
    assert_eq!(caller.digest(), before, "the request changed the world");
    assert!(tried > 200, "only {tried} queries were tried");
    println!("{tried} wrong queries");
}
