//! Walks through a document.

use serde_json::Value;

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

/// Every member with this name, at any depth.
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
