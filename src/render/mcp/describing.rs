//! Describes an operation by the served document.

use std::sync::OnceLock;

use serde_json::{Map, Value, json};

use crate::api::operation::Operation;
use crate::render::mcp::calling::{Calling, Done};
use crate::render::mcp::operations::operation;
use crate::render::openapi::row::{is_keyed, is_product};

/// Maximum depth to which definitions are inlined.
const MOST_DEPTH: usize = 5;
/// The most characters of a description in a summary.
const MOST_ABOUT: usize = 240;
/// Keywords of a schema that a model does not need.
const LEFT_OUT: [&str; 5] = ["pattern", "examples", "minLength", "x-lifecycle", "discriminator"];

/// One part of the description.
pub(super) fn describe(calling: &Calling<'_>, arguments: &Value) -> Done {
    let row = operation(arguments)?;
    let document = document(calling, is_product(row))?;
    let found = served(document, row);
    if found.is_null() {
        return Err(json!({ "error": "the sandbox does not serve this operation" }));
    }
    Ok(match arguments["part"].as_str() {
        Some("input") => {
            json!({ "operation": row.operation_id(), "input": input(document, found) })
        }
        Some("output") => {
            let success = &found["responses"][row.success.to_string()];
            let schema = &success["content"]["application/json"]["schema"];
            json!({ "operation": row.operation_id(), "output": resolved(document, schema, 0) })
        }
        Some("errors") => {
            json!({ "operation": row.operation_id(), "errors": errors(document, found) })
        }
        _ => summary(document, row, found),
    })
}

/// The row in its document; null if the contract does not serve it.
fn served<'a>(document: &'a Value, row: &Operation) -> &'a Value {
    &document["paths"][row.path][row.method.name().to_lowercase()]
}

/// Which rows the contract serves; all of them as far as a document cannot be read.
pub(super) fn is_served<'a>(calling: &Calling<'a>) -> impl Fn(&Operation) -> bool + use<'a> {
    let documents = [true, false].map(|of_product| document(calling, of_product).ok());
    move |row| {
        let document = documents[usize::from(!is_product(row))];
        document.is_none_or(|document| !served(document, row).is_null())
    }
}

/// The document of the product or of the control plane, which is read once.
fn document<'a>(calling: &Calling<'a>, of_product: bool) -> Result<&'a Value, Value> {
    let (place, path) =
        if of_product { (0, "/openapi.json") } else { (1, "/_sandbox/openapi.json") };
    let slot: &OnceLock<Value> = &calling.documents[place];
    if let Some(document) = slot.get() {
        return Ok(document);
    }
    let document = calling.get(path)?;
    Ok(slot.get_or_init(|| document))
}

fn summary(document: &Value, row: &Operation, found: &Value) -> Value {
    let schema = input(document, found);
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let members = schema["properties"].as_object().cloned().unwrap_or_default();
    let members = members.into_iter().map(|(name, member)| {
        let needed = if required.contains(&name.as_str()) { ", required" } else { "" };
        let about = member["description"].as_str().unwrap_or_default();
        (name, format!("{}{needed}. {}", kind(&member), first_sentence(about)).into())
    });
    let mut shown = json!({
        "operation": row.operation_id(),
        "method": row.method.name(),
        "path": row.path,
        "about": cut(row.description),
        "needs_idempotency_key": is_keyed(row),
        "success": row.success,
        "input": members.collect::<Map<String, Value>>(),
    });
    let examples = found["requestBody"]["content"]["application/json"]["examples"].as_object();
    if let Some(example) = examples.and_then(|examples| examples.values().next()) {
        shown["example"] = example["value"].clone();
    }
    if !row.errors.is_empty() {
        shown["own_errors"] = row.errors.iter().map(|code| code.code()).collect();
    }
    if !row.emits.is_empty() {
        shown["events"] = row.emits.iter().copied().collect();
    }
    shown
}

/// `text`, or the allowed values.
fn kind(member: &Value) -> String {
    if let Some(values) = member["enum"].as_array().filter(|values| values.len() <= 12) {
        let values: Vec<&str> = values.iter().filter_map(Value::as_str).collect();
        return values.join(" | ");
    }
    match &member["type"] {
        Value::String(name) => name.clone(),
        Value::Array(names) => {
            let names = names.iter().filter_map(Value::as_str).filter(|name| *name != "null");
            names.collect::<Vec<_>>().join(" or ")
        }
        _ => "object".to_owned(),
    }
}

fn first_sentence(text: &str) -> &str {
    text.find(". ").map_or(text, |end| &text[..=end])
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MOST_ABOUT) {
        Some((end, _)) => {
            let whole = &text[..end];
            let end = whole.rfind(". ").map_or(end, |end| end + 1);
            format!("{} …", &text[..end])
        }
        None => text.to_owned(),
    }
}

/// The members of path, query and body as one schema.
fn input(document: &Value, found: &Value) -> Value {
    let body = &found["requestBody"]["content"]["application/json"]["schema"];
    let mut schema = match resolved(document, body, 0) {
        Value::Object(schema) => schema,
        _ => Map::from_iter([("type".to_owned(), "object".into())]),
    };
    let parameters = found["parameters"].as_array().into_iter().flatten();
    let parameters = parameters.filter(|one| matches!(one["in"].as_str(), Some("path" | "query")));
    for parameter in parameters {
        let name = parameter["name"].as_str().unwrap_or_default();
        let mut member = resolved(document, &parameter["schema"], 0);
        member["description"] = parameter["description"].clone();
        schema.entry("properties").or_insert_with(|| json!({}))[name] = member;
        if parameter["required"] == true {
            let required = schema.entry("required").or_insert_with(|| json!([]));
            if let Some(names) = required.as_array_mut() {
                names.push(name.into());
            }
        }
    }
    Value::Object(schema)
}

fn errors(document: &Value, found: &Value) -> Value {
    let responses = found["responses"].as_object().cloned().unwrap_or_default();
    let refusals = responses.into_iter().filter(|(status, _)| status.starts_with(['4', '5']));
    let shown = refusals.map(|(status, response)| {
        let response = match response["$ref"].as_str() {
            Some(name) => definition(document, name).cloned().unwrap_or_default(),
            None => response,
        };
        json!({ "status": status, "codes": response["x-codes"], "about": response["description"] })
    });
    shown.collect()
}

/// The schema with definitions written where they are used.
fn resolved(document: &Value, schema: &Value, depth: usize) -> Value {
    match schema {
        Value::Object(members) => {
            if let Some(name) = members.get("$ref").and_then(Value::as_str) {
                let short = name.rsplit('/').next().unwrap_or_default();
                let definition = definition(document, name).filter(|_| depth < MOST_DEPTH);
                let Some(definition) = definition else { return json!({ "type": short }) };
                let mut whole = resolved(document, definition, depth + 1);
                if let Some(about) = members.get("description") {
                    whole["description"] = about.clone();
                }
                return whole;
            }
            let members = members.iter().filter(|(name, _)| !LEFT_OUT.contains(&name.as_str()));
            let members =
                members.map(|(name, value)| (name.clone(), resolved(document, value, depth)));
            Value::Object(members.collect())
        }
        Value::Array(values) => {
            values.iter().map(|value| resolved(document, value, depth)).collect()
        }
        other => other.clone(),
    }
}

fn definition<'a>(document: &'a Value, name: &str) -> Option<&'a Value> {
    document.pointer(name.strip_prefix('#')?)
}
