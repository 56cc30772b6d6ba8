//! Walks through a document, and a second, smaller validator of its schemas.

use serde_json::{Value, json};

/// All schemas in a document, with their pointers.
pub(super) fn schemas(document: &Value) -> Vec<(String, &Value)> {
    let mut found = Vec::new();
    let named =
        document["components"]["schemas"].as_object().expect("components/schemas is an object");
    for (name, schema) in named {
        nested(schema, format!("/components/schemas/{name}"), &mut found);
    }
    for section in ["paths", "webhooks", "components"] {
        beside(&document[section], format!("/{section}"), &mut found);
    }
    found
}

/// Schemas in members with the name `schema`, at any depth.
fn beside<'a>(part: &'a Value, pointer: String, found: &mut Vec<(String, &'a Value)>) {
    match part {
        Value::Array(items) => {
            items
                .iter()
                .enumerate()
                .for_each(|(index, item)| beside(item, format!("{pointer}/{index}"), found));
        }
        Value::Object(members) => {
            for (name, member) in members {
                let pointer = format!("{pointer}/{name}");
                match name.as_str() {
                    "schema" => nested(member, pointer, found),
                    "schemas" | "example" | "examples" => {}
                    _ => beside(member, pointer, found),
                }
            }
        }
        _ => {}
    }
}

/// A schema and those inside it.
fn nested<'a>(schema: &'a Value, pointer: String, found: &mut Vec<(String, &'a Value)>) {
    found.push((pointer.clone(), schema));
    for (keyword, value) in schema.as_object().into_iter().flatten() {
        let pointer = format!("{pointer}/{keyword}");
        match (keyword.as_str(), value) {
            ("properties", Value::Object(members)) => {
                members
                    .iter()
                    .for_each(|(name, member)| nested(member, format!("{pointer}/{name}"), found));
            }
            ("items" | "additionalProperties" | "propertyNames", Value::Object(_)) => {
                nested(value, pointer, found);
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(items)) => {
                items
                    .iter()
                    .enumerate()
                    .for_each(|(index, item)| nested(item, format!("{pointer}/{index}"), found));
            }
            _ => {}
        }
    }
}

/// Every member with this name, at any depth.
fn all<'a>(part: &'a Value, name: &str, found: &mut Vec<&'a Value>) {
    match part {
        Value::Array(items) => items.iter().for_each(|item| all(item, name, found)),
        Value::Object(members) => {
            found.extend(members.get(name));
            members.values().for_each(|member| all(member, name, found));
        }
        _ => {}
    }
}

pub(super) fn of<'a>(part: &'a Value, name: &str) -> Vec<&'a Value> {
    let mut found = Vec::new();
    all(part, name, &mut found);
    found
}

/// Every object with a schema, and its examples if there are any.
pub(super) fn holders(document: &Value) -> Vec<(String, &Value)> {
    fn walk<'a>(part: &'a Value, pointer: String, found: &mut Vec<(String, &'a Value)>) {
        match part {
            Value::Array(items) => {
                items
                    .iter()
                    .enumerate()
                    .for_each(|(index, item)| walk(item, format!("{pointer}/{index}"), found));
            }
            Value::Object(members) => {
                members
                    .iter()
                    .for_each(|(name, member)| walk(member, format!("{pointer}/{name}"), found));
                if members.get("schema").is_some_and(Value::is_object) {
                    found.push((pointer, part));
                }
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    walk(document, String::new(), &mut found);
    found
}

pub(super) fn resolved<'a>(document: &'a Value, part: &'a Value) -> &'a Value {
    let to = part
        .get("$ref")
        .and_then(Value::as_str)
        .and_then(|to| document.pointer(to.trim_start_matches('#')));
    to.map_or(part, |target| resolved(document, target))
}

/// The first fault of a value, by a validator that requests do not use.
pub(super) fn fault(document: &Value, schema: &Value, value: &Value) -> Option<String> {
    if let Some(to) = schema.get("$ref") {
        let target = document
            .pointer(to.as_str()?.trim_start_matches('#'))
            .expect("references have a target");
        if let Some(fault) = fault(document, target, value) {
            return Some(fault);
        }
    }
    let choices = |keyword: &str| schema[keyword].as_array().map(Vec::as_slice).unwrap_or_default();
    for keyword in ["anyOf", "oneOf"] {
        let choices = choices(keyword);
        if !choices.is_empty()
            && choices.iter().all(|choice| fault(document, choice, value).is_some())
        {
            return Some(format!("{value} is none of {keyword}"));
        }
    }
    let is = |name: &Value| match name.as_str() {
        Some("null") => value.is_null(),
        Some("boolean") => value.is_boolean(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("number") => value.is_number(),
        Some("string") => value.is_string(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        _ => false,
    };
    let fits = match &schema["type"] {
        Value::Null => true,
        Value::Array(names) => names.iter().any(is),
        name => is(name),
    };
    if !fits {
        return Some(format!("{value} is no {}", schema["type"]));
    }
    if schema.get("const").is_some_and(|only| only != value) {
        return Some(format!("{value} is not {}", schema["const"]));
    }
    if schema["enum"].as_array().is_some_and(|values| !values.contains(value)) {
        return Some(format!("{value} is none of {}", schema["enum"]));
    }
    text_fault(schema, value)
        .or_else(|| number_fault(schema, value))
        .or_else(|| {
            value.as_array()?.iter().find_map(|item| fault(document, schema.get("items")?, item))
        })
        .or_else(|| members_fault(document, schema, value))
}

fn text_fault(schema: &Value, value: &Value) -> Option<String> {
    let text = value.as_str()?;
    let length = text.chars().count() as u64;
    let short = schema["minLength"].as_u64().is_some_and(|least| length < least);
    let long = schema["maxLength"].as_u64().is_some_and(|most| length > most);
    let other = schema["pattern"].as_str().is_some_and(|pattern| {
        !regex::Regex::new(&pattern.replace("\\u", "\\x"))
            .map_or(true, |pattern| pattern.is_match(text))
    });
    (short || long || other).then(|| format!("{value} breaks {schema}"))
}

fn number_fault(schema: &Value, value: &Value) -> Option<String> {
    let number = value.as_i64()?;
    let low = schema["minimum"].as_i64().is_some_and(|least| number < least);
    let high = schema["maximum"].as_i64().is_some_and(|most| number > most);
    (low || high).then(|| format!("{value} breaks {schema}"))
}

fn members_fault(document: &Value, schema: &Value, value: &Value) -> Option<String> {
    let members = value.as_object()?;
    let missing = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    if let Some(name) = missing.into_iter().find(|name| !members.contains_key(*name)) {
        return Some(format!("{name} is missing"));
    }
    members.iter().find_map(|(name, member)| {
        match (schema["properties"].get(name), &schema["additionalProperties"]) {
            (Some(property), _) => fault(document, property, member),
            (None, Value::Bool(false)) => Some(format!("{name} is unknown")),
            (None, rest @ Value::Object(_)) => fault(document, rest, member),
            _ => None,
        }
    })
}

#[test]
fn the_reading_of_schemas_finds_what_is_wrong() {
    let document =
        json!({ "components": { "schemas": { "Code": { "type": "string", "enum": ["a"] } } } });
    let schema = json!({
        "type": "object",
        "properties": {
            "code": { "$ref": "#/components/schemas/Code" },
            "count": { "type": ["integer", "null"], "minimum": 1 },
            "names": { "type": "array", "items": { "type": "string", "maxLength": 2, "pattern": "^[a-z]*$" } },
        },
        "required": ["code"],
        "additionalProperties": false,
    });
    let good = json!({ "code": "a", "count": null, "names": ["ab"] });
    assert_eq!(fault(&document, &schema, &good), None);
    for bad in [
        json!({}),
        json!([]),
        json!({ "code": "b" }),
        json!({ "code": "a", "more": 1 }),
        json!({ "code": "a", "count": 0 }),
        json!({ "code": "a", "count": "1" }),
        json!({ "code": "a", "names": ["abc"] }),
        json!({ "code": "a", "names": ["A"] }),
    ] {
        assert!(fault(&document, &schema, &bad).is_some(), "{bad}");
    }
}
