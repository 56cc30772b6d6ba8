//! Reads an OpenAPI 3 document as calls.

use core::cell::Cell;
use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::cli::learn::call::{Call, Headers, Parameter, Shape};

const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];
/// The longest chain of references.
const MOST_REFERENCES: usize = 24;
/// Schemas are read down to the first of these depths at which a body has at most [`MOST_PARTS`]. A schema that contains itself ends there.
const DEPTHS: [usize; 4] = [12, 6, 3, 1];
/// Maximum number of values, members and rows of a body. A schema that contains itself twice doubles them at each
/// depth.
const MOST_PARTS: usize = 2_000;

/// A document, and its name in messages.
struct Document<'d> {
    name: &'d str,
    root: &'d Value,
}

/// One call for each status of each operation.
pub(super) fn calls(name: &str, root: &Value) -> Result<Vec<Call>, String> {
    let version = root["openapi"].as_str().unwrap_or_default();
    if !version.starts_with("3.") {
        return Err(format!("`openapi` is {}, and must be 3.0 or 3.1", root["openapi"]));
    }
    let paths = root["paths"].as_object().ok_or("`paths` must be an object")?;
    let document = Document { name, root };
    let base = base(&root["servers"][0]);
    let mut calls = Vec::new();
    for (path, item) in paths {
        let item = document.resolved(item);
        for method in METHODS {
            if let Some(operation) = item.get(method) {
                document.operation((method, &format!("{base}{path}")), item, operation, &mut calls);
            }
        }
    }
    if calls.is_empty() {
        return Err("`paths` contains no operations with responses".to_owned());
    }
    Ok(calls)
}

/// The path of a server. Its variables have their defaults.
fn base(server: &Value) -> String {
    let mut url = server["url"].as_str().unwrap_or_default().to_owned();
    for (name, variable) in server["variables"].as_object().into_iter().flatten() {
        if let Some(default) = variable["default"].as_str() {
            url = url.replace(&format!("{{{name}}}"), default);
        }
    }
    let url = url.split(['?', '#']).next().unwrap_or_default();
    let path = url.split_once("://").map_or(url, |(_, rest)| {
        let start = rest.find('/').unwrap_or(rest.len());
        &rest[start..]
    });
    if path.starts_with('/') { path.trim_end_matches('/').to_owned() } else { String::new() }
}

impl<'d> Document<'d> {
    /// The target of a reference, or the value itself.
    fn resolved(&self, value: &'d Value) -> &'d Value {
        let mut value = value;
        for _ in 0..MOST_REFERENCES {
            let Some(to) = value.get("$ref").and_then(Value::as_str) else { return value };
            let Some(target) = to.strip_prefix('#').and_then(|to| self.root.pointer(to)) else {
                return &Value::Null; // in another file
            };
            value = target;
        }
        &Value::Null
    }

    fn operation(
        &self,
        (method, path): (&str, &str),
        item: &'d Value,
        operation: &'d Value,
        calls: &mut Vec<Call>,
    ) {
        let name = self.name;
        for (status, response) in operation["responses"].as_object().into_iter().flatten() {
            let Ok(status) = status.parse::<u16>() else { continue }; // `default`, `4XX`
            let response = self.resolved(response);
            let at = format!("{name}, {} {path}", method.to_ascii_uppercase());
            let mut call = Call::new(at, method, path, status);
            call.is_seen = false;
            call.operation_id = operation["operationId"].as_str().map(str::to_owned);
            let own = operation["parameters"].as_array().into_iter().flatten();
            let all = own.chain(item["parameters"].as_array().into_iter().flatten());
            call.parameters = all.filter_map(|it| self.parameter(it)).collect();
            call.request = self.content(&self.resolved(&operation["requestBody"])["content"]);
            call.reply = self.content(&response["content"]);
            call.replied = response["headers"].as_object().map(replied);
            call.sent = Some(sent(&call.parameters));
            if let (Some(headers), Some(content)) =
                (&mut call.replied, response["content"].as_object())
                && let Some(kind) = content.keys().next()
            {
                headers
                    .insert("content-type".to_owned(), ("Content-Type".to_owned(), kind.clone()));
            }
            calls.push(call);
        }
    }

    fn parameter(&self, value: &'d Value) -> Option<Parameter> {
        let value = self.resolved(value);
        let schema = self.resolved(&value["schema"]);
        Some(Parameter {
            name: value["name"].as_str()?.to_owned(),
            place: value["in"].as_str()?.to_owned(),
            is_required: value["required"] == true,
            default: schema["default"].as_u64(),
            maximum: schema["maximum"].as_u64(),
        })
    }

    /// The form of the body in JSON.
    fn content(&self, content: &'d Value) -> Shape {
        let kinds = content.as_object().into_iter().flatten();
        let mut json = kinds.filter(|(kind, _)| kind.contains("json") && !kind.contains("ndjson"));
        let Some((_, media)) = json.next() else { return Shape::Unknown };
        let whole = DEPTHS.into_iter().find_map(|depth| {
            let left = Cell::new(MOST_PARTS);
            let shape = self.shape(&media["schema"], (depth, &left));
            (left.get() > 0).then_some(shape)
        });
        whole.unwrap_or(Shape::Unknown)
    }

    /// The form that a schema describes, down to this depth and with at most this number of parts.
    fn shape(&self, schema: &'d Value, (depth, left): (usize, &Cell<usize>)) -> Shape {
        let schema = self.resolved(schema);
        left.set(left.get().saturating_sub(1));
        if depth == 0 || left.get() == 0 {
            return Shape::Unknown;
        }
        let below = (depth - 1, left);
        for choice in ["anyOf", "oneOf"] {
            let choices = schema[choice].as_array().into_iter().flatten();
            let mut shapes = choices.map(|it| self.shape(it, below));
            let real: Vec<Shape> = shapes.by_ref().filter(|it| *it != Shape::Null).collect();
            match real.as_slice() {
                [] => {}
                [one] => return one.clone(),
                _ => return Shape::Unknown,
            }
        }
        if let Some(parts) = schema["allOf"].as_array() {
            let mut members = BTreeMap::new();
            for part in parts {
                match self.shape(part, below) {
                    Shape::Object(own) => members.extend(own),
                    Shape::Unknown => {}
                    other => return other,
                }
            }
            return Shape::Object(members);
        }
        let kinds: Vec<&str> = match &schema["type"] {
            Value::String(kind) => vec![kind],
            Value::Array(kinds) => {
                kinds.iter().filter_map(Value::as_str).filter(|kind| *kind != "null").collect()
            }
            _ => Vec::new(),
        };
        match kinds.as_slice() {
            ["integer"] => Shape::Integer(None),
            ["number"] => Shape::Decimal,
            ["boolean"] => Shape::Truth,
            ["null"] => Shape::Null,
            ["string"] => Shape::Text(texts(schema), schema["format"].as_str().map(str::to_owned)),
            ["array"] => Shape::List(vec![self.shape(&schema["items"], below)]),
            ["object"] | [] if schema["properties"].is_object() => self.object(schema, below),
            _ => Shape::Unknown,
        }
    }

    fn object(&self, schema: &'d Value, below: (usize, &Cell<usize>)) -> Shape {
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let members = schema["properties"].as_object().into_iter().flatten();
        let members = members.map(|(name, value)| {
            let is_required = required.contains(&name.as_str());
            (name.clone(), (self.shape(value, below), is_required))
        });
        Shape::Object(members.collect())
    }
}

/// The values that a schema allows; empty if it allows every text.
fn texts(schema: &Value) -> Vec<String> {
    let constant = schema["const"].as_str().into_iter();
    let listed = schema["enum"].as_array().into_iter().flatten().filter_map(Value::as_str);
    constant.chain(listed).map(str::to_owned).collect()
}

/// The headers of a response, without values.
fn replied(headers: &Map<String, Value>) -> Headers {
    let lower =
        headers.keys().map(|name| (name.to_ascii_lowercase(), (name.clone(), String::new())));
    lower.collect()
}

/// The header parameters as headers without values.
fn sent(parameters: &[Parameter]) -> Headers {
    let headers = parameters.iter().filter(|it| it.place == "header");
    headers.map(|it| (it.name.to_ascii_lowercase(), (it.name.clone(), String::new()))).collect()
}
