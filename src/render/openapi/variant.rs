//! Other forms of a document: for client generators, in version 3.0 of OpenAPI, of one domain, with another server.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::api::list::{CSV, LINES};
use crate::api::pdf::PDF;
use crate::engine::contract::Overlay;
use crate::render::openapi::{links, made, overlay};

/// Headers that only a test sends: as parameters, they would be arguments of every method of a client. A contract can rename the version.
fn of_tests(contract: &Overlay) -> impl Iterator<Item = &str> {
    ["Sandbox-Scenario", "Sandbox-Fault", "Sandbox-Observer", "Sandbox-As-Of"]
        .into_iter()
        .chain(contract.called("api_version"))
}

const GROWING: &str = "\n\n## For clients\n\nThis document is for client generators. It has no webhooks and no headers of tests. A later version may add members \
    to answers and values to their enums, so a client must accept unknown ones.";

/// The part of the description about `webhooks`.
const DESCRIBED: &str = " and described under `webhooks`";

/// Removes the webhooks, also from the description. False if there are none.
fn remove_webhooks(document: &mut Value) -> bool {
    let removed = document.as_object_mut().and_then(|members| members.shift_remove("webhooks"));
    let description = document["info"]["description"].as_str();
    if let Some(text) = description.map(|text| text.replace(DESCRIBED, "")) {
        document["info"]["description"] = text.into();
    }
    removed.is_some()
}

/// The document for client generators: without webhooks, tables and the headers of tests; answers may have more members.
pub(crate) fn for_clients(document: &mut Value, contract: &Overlay) {
    remove_webhooks(document);
    let text = document["info"]["description"].as_str().unwrap_or_default().to_owned() + GROWING;
    document["info"]["description"] = text.into();
    let parameters = of_tests(contract).map(|name| format!("#/components/parameters/{name}"));
    let parameters: Vec<Value> = parameters.map(|to| json!({ "$ref": to })).collect();
    open(document, &parameters);
    for row in rows(document) {
        without_second_forms(row);
        without_trigger(row);
    }
    overlay::without_unused(document);
}

fn rows(document: &mut Value) -> impl Iterator<Item = &mut Value> {
    let paths = document["paths"].as_object_mut().into_iter().flatten();
    paths.filter_map(|(_, row)| row.as_object_mut()).flatten().map(|(_, row)| row)
}

/// Drops the other forms of each answer that is also JSON, because a generated method has one type. A PDF has an operation of its own.
fn without_second_forms(row: &mut Value) {
    for (_, response) in row["responses"].as_object_mut().into_iter().flatten() {
        let forms = response.get_mut("content").and_then(Value::as_object_mut);
        if let Some(forms) = forms.filter(|forms| forms.contains_key("application/json")) {
            for form in [PDF, CSV, LINES] {
                forms.shift_remove(form);
            }
        }
    }
}

/// Drops the instructions to create resources that no new world has.
fn without_trigger(row: &mut Value) {
    if let Some(members) = row.as_object_mut() {
        members.shift_remove(made::CALLS);
    }
    let Some(text) = row["description"].as_str() else { return };
    let paragraphs = text.split("\n\n").filter(|paragraph| !paragraph.starts_with(made::BEGINS));
    row["description"] = paragraphs.collect::<Vec<_>>().join("\n\n").into();
}

/// Opens every closed object, and drops these parameters.
fn open(part: &mut Value, parameters: &[Value]) {
    match part {
        Value::Array(items) => {
            items.retain(|item| !parameters.contains(item));
            for item in items {
                open(item, parameters);
            }
        }
        Value::Object(members) => {
            if members.get("additionalProperties") == Some(&Value::Bool(false)) {
                members.shift_remove("additionalProperties");
            }
            members.iter_mut().for_each(|(_, member)| open(member, parameters));
            for keyword in ["anyOf", "oneOf"] {
                if members.get(keyword).and_then(Value::as_array).is_some_and(|it| has_list(it)) {
                    members.shift_remove(keyword);
                }
            }
        }
        _ => {}
    }
}

/// Whether a list is one of several alternatives, or was within one. Java generators then write code that does not
/// compile, so the document for clients allows any value.
fn has_list(forms: &[Value]) -> bool {
    let is_null = |form: &Value| form["type"] == "null";
    let others = forms.iter().filter(|form| !is_null(form)).count();
    let is_free = |form: &Value| form.as_object().is_some_and(Map::is_empty);
    forms.iter().any(is_free) || (others > 1 && forms.iter().any(|form| form["type"] == "array"))
}

/// Keeps only the operations with this tag, in any case and with `-` or a space between words. False if there are none.
pub(crate) fn keep_tag(document: &mut Value, tag: &str) -> bool {
    remove_webhooks(document);
    let mut gone = BTreeSet::new();
    let Some(paths) = document["paths"].as_object_mut() else { return false };
    for methods in paths.values_mut().filter_map(Value::as_object_mut) {
        methods.retain(|_, operation| {
            let own = operation["tags"][0].as_str().unwrap_or_default();
            let keeps = own.eq_ignore_ascii_case(&tag.replace(['-', '_'], " "));
            if !keeps {
                gone.extend(operation["operationId"].as_str().map(str::to_owned));
            }
            keeps
        });
    }
    paths.retain(|_, methods| methods.as_object().is_some_and(|it| !it.is_empty()));
    links::without(paths, &gone);
    let found = !paths.is_empty();
    overlay::without_unused(document);
    found
}

/// The tags of the operations, in the order of the document.
pub(crate) fn tags(document: &Value) -> Vec<&str> {
    let rows = document["paths"].as_object().into_iter().flatten();
    let rows = rows.filter_map(|(_, methods)| methods.as_object()).flatten();
    let used: BTreeSet<&str> = rows.filter_map(|(_, row)| row["tags"][0].as_str()).collect();
    let tags = document["tags"].as_array().into_iter().flatten();
    tags.filter_map(|tag| tag["name"].as_str()).filter(|name| used.contains(name)).collect()
}

/// Sets the URL of the server.
pub(crate) fn serve_at(document: &mut Value, url: &str) {
    document["servers"][0]["url"] = url.into();
}

/// Converts the document to OpenAPI 3.0.3, which has no webhooks, no `null` type, no constants, and no members beside
/// a reference.
pub(crate) fn in_3_0(document: &mut Value) {
    document["openapi"] = "3.0.3".into();
    if remove_webhooks(document) {
        overlay::without_unused(document);
    }
    walk(document, false);
}

/// Members that contain schemas by name, and members whose value is no schema but data.
const BY_NAME: &[&str] = &["properties", "schemas"];
const DATA: &[&str] =
    &["example", "examples", "default", "enum", "const", "mapping", "x-lifecycle"];

/// Translates every schema within a part. `is_map`: the names of the part's members are free.
fn walk(part: &mut Value, is_map: bool) {
    match part {
        Value::Array(items) => items.iter_mut().for_each(|item| walk(item, false)),
        Value::Object(members) => {
            for (name, member) in members.iter_mut() {
                if is_map || !DATA.contains(&name.as_str()) {
                    walk(member, !is_map && BY_NAME.contains(&name.as_str()));
                }
            }
            if !is_map {
                translate(members);
            }
        }
        _ => {}
    }
}

/// Translates the keywords of one schema. Its parts are translated already.
fn translate(schema: &mut Map<String, Value>) {
    if let Some(constant) = schema.shift_remove("const") {
        let kind = match &constant {
            Value::Bool(_) => "boolean",
            Value::Number(_) => "integer",
            _ => "string",
        };
        schema.entry("type").or_insert_with(|| kind.into());
        schema.insert("enum".to_owned(), json!([constant]));
    }
    // Only of a schema is this a list: elsewhere `examples` is an object.
    if let Some(Value::Array(examples)) = schema.get("examples") {
        let first = examples.first().cloned();
        schema.shift_remove("examples");
        schema.extend(first.map(|first| ("example".to_owned(), first)));
    }
    schema.shift_remove("propertyNames");
    if schema.shift_remove("prefixItems").is_some() {
        schema.insert("items".to_owned(), json!({}));
    }
    for (exclusive, limit) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
        if let Some(bound) = schema.get(exclusive).filter(|bound| bound.is_number()).cloned() {
            schema.insert(limit.to_owned(), bound);
            schema.insert(exclusive.to_owned(), true.into());
        }
    }
    if let Some(Value::Array(types)) = schema.get("type").cloned() {
        let named: Vec<&Value> = types.iter().filter(|name| **name != "null").collect();
        if named.len() < types.len() {
            schema.insert("nullable".to_owned(), true.into());
        }
        if let [only] = named.as_slice() {
            schema.insert("type".to_owned(), (*only).clone());
        } else {
            schema.shift_remove("type");
            let forms: Vec<Value> = named.iter().map(|name| json!({ "type": name })).collect();
            schema.insert("anyOf".to_owned(), forms.into());
        }
    }
    if let Some(Value::Array(mut forms)) = schema.get("anyOf").cloned() {
        let all = forms.len();
        forms.retain(|form| form["type"] != "null");
        if forms.len() < all {
            schema.insert("nullable".to_owned(), true.into());
            schema.shift_remove("anyOf");
            match forms.as_slice() {
                [Value::Object(only)] if !only.contains_key("$ref") => {
                    for (name, value) in only.clone() {
                        schema.entry(name).or_insert(value);
                    }
                }
                [only] => {
                    schema.insert("allOf".to_owned(), json!([only]));
                }
                _ => {
                    schema.insert("anyOf".to_owned(), forms.into());
                }
            }
        }
    }
    if schema.len() > 1
        && let Some(to) = schema.get("$ref").filter(|to| to.is_string()).cloned()
    {
        schema.shift_remove("$ref");
        schema.insert("allOf".to_owned(), json!([{ "$ref": to }]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::openapi::{Plane, document};

    fn translated(mut schema: Value) -> Value {
        walk(&mut schema, false);
        schema
    }

    #[test]
    fn each_keyword_of_3_1_has_a_form_in_3_0() {
        let to = "#/components/schemas/Money";
        for (new, old) in [
            (json!({ "const": "payout" }), json!({ "type": "string", "enum": ["payout"] })),
            (json!({ "type": ["string", "null"] }), json!({ "type": "string", "nullable": true })),
            (
                json!({ "type": ["string", "integer"] }),
                json!({ "anyOf": [{ "type": "string" }, { "type": "integer" }] }),
            ),
            (
                json!({ "anyOf": [{ "$ref": to }, { "type": "null" }], "description": "d" }),
                json!({ "description": "d", "nullable": true, "allOf": [{ "$ref": to }] }),
            ),
            (
                json!({ "anyOf": [{ "type": "string", "maxLength": 3 }, { "type": "null" }] }),
                json!({ "nullable": true, "type": "string", "maxLength": 3 }),
            ),
            (
                json!({ "$ref": to, "description": "d" }),
                json!({ "description": "d", "allOf": [{ "$ref": to }] }),
            ),
            (json!({ "$ref": to }), json!({ "$ref": to })),
            (
                json!({ "type": "string", "examples": ["a", "b"] }),
                json!({ "type": "string", "example": "a" }),
            ),
            (
                json!({ "type": "integer", "exclusiveMinimum": 0 }),
                json!({ "type": "integer", "exclusiveMinimum": true, "minimum": 0 }),
            ),
            (
                json!({ "type": "object", "properties": { "const": { "const": "a" } } }),
                json!({ "type": "object", "properties": { "const": { "type": "string", "enum": ["a"] } } }),
            ),
        ] {
            assert_eq!(translated(new.clone()), old, "{new}");
        }
    }

    #[test]
    fn a_domain_keeps_its_operations_and_no_link_to_others() {
        let mut part = document(Plane::Product);
        assert!(keep_tag(&mut part, "payments"));
        let text = part.to_string();
        assert!(text.contains("createPayout") && !text.contains("\"runPayroll\""));
        assert!(!text.contains(DESCRIBED));
        assert_eq!(part["tags"].as_array().map(Vec::len), Some(1));
        assert!(!keep_tag(&mut document(Plane::Product), "nothing"));
    }

    #[test]
    fn the_document_for_clients_is_open_and_has_no_headers_of_tests() {
        let mut document = document(Plane::Product);
        let contract = Overlay::default();
        for_clients(&mut document, &contract);
        let text = document.to_string();
        assert!(!text.contains("\"additionalProperties\":false"));
        assert!(of_tests(&contract).all(|name| !text.contains(&format!("parameters/{name}"))));
        assert!(document.get("webhooks").is_none() && text.contains("parameters/Idempotency-Key"));
        assert!(!text.contains(DESCRIBED));
        let attributes = &document["components"]["schemas"]["CreateEmployeeRequest"]["properties"];
        let attributes = attributes["tax_attributes"].as_object().expect("a schema");
        assert!(attributes.contains_key("description") && !attributes.contains_key("anyOf"));
    }
}
