//! Checks answers against the OpenAPI documents that the binary prints and serves.

use std::sync::OnceLock;

use serde_json::Value;

use super::http::Answer;
use super::schema::violations;
use super::server::command;

/// The product's document.
pub(crate) fn product() -> &'static Value {
    static DOCUMENT: OnceLock<Value> = OnceLock::new();
    DOCUMENT.get_or_init(|| printed(&["openapi"]))
}

/// The control plane's document.
pub(crate) fn control() -> &'static Value {
    static DOCUMENT: OnceLock<Value> = OnceLock::new();
    DOCUMENT.get_or_init(|| printed(&["openapi", "--control"]))
}

pub(crate) fn printed(arguments: &[&str]) -> Value {
    let output = command(arguments).output().expect("the binary runs");
    serde_json::from_slice(&output.stdout).expect("the document is JSON")
}

/// Panics unless the document of this path allows such an answer.
#[track_caller]
pub(crate) fn check(method: &str, target: &str, answer: &Answer) {
    if let Err(wrong) = promised(method, target, answer) {
        panic!("{method} {target}: {wrong}\n{}", answer.text());
    }
}

/// The fault of an answer by the document of its path.
pub(crate) fn promised(method: &str, target: &str, answer: &Answer) -> Result<(), String> {
    let path = target.split('?').next().unwrap_or_default();
    let document = if path.starts_with("/_sandbox") { control() } else { product() };
    promised_by(document, method, path, answer)
}

/// The fault of an answer by this document.
pub(crate) fn promised_by(
    document: &Value,
    method: &str,
    path: &str,
    answer: &Answer,
) -> Result<(), String> {
    if answer.status == 304 || method == "HEAD" {
        return Ok(());
    }
    let Some(operation) = operation(document, method, path) else {
        // There is no operation, so it must be a refusal in the common shape.
        let problem = &document["components"]["schemas"]["Problem"];
        let kind = if problem["properties"]["error"].is_null() {
            "application/problem+json"
        } else {
            "application/json"
        };
        return match (answer.status, answer.header("content-type")) {
            (400.., Some(found)) if found == kind => fits(document, problem, answer),
            other => Err(format!("{other:?} for a path that the document does not know")),
        };
    };
    let responses = &operation["responses"];
    let status = answer.status.to_string();
    let response = match (responses.get(&status), responses.get("default")) {
        (Some(response), _) => response,
        (None, Some(response)) if answer.status >= 400 => response,
        _ => return Err(format!("the document does not promise a {status}")),
    };
    body_fits(document, response, answer)
}

fn body_fits(document: &Value, response: &Value, answer: &Answer) -> Result<(), String> {
    let response = resolve(document, response);
    let content_type = answer.header("content-type").ok_or("no content type")?;
    let content = &response["content"][content_type];
    if content.is_null() {
        return Err(format!("the document does not promise {content_type}"));
    }
    if content["schema"]["format"] == "binary" {
        return Ok(());
    }
    fits(document, &content["schema"], answer)?;
    let Some(codes) = response["x-codes"].as_array() else { return Ok(()) };
    let problem = answer.json();
    let code = [&problem["code"], &problem["error"]["code"]].into_iter().find(|it| it.is_string());
    match code {
        Some(code) if codes.contains(code) => Ok(()),
        other => Err(format!("the document does not promise the code {other:?}")),
    }
}

fn fits(document: &Value, schema: &Value, answer: &Answer) -> Result<(), String> {
    let body = serde_json::from_slice(&answer.body).map_err(|error| error.to_string())?;
    let found = violations(document, schema, &body);
    if found.is_empty() { Ok(()) } else { Err(found.join("\n")) }
}

/// A value of the document with its reference resolved.
pub(crate) fn resolve<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    match value["$ref"].as_str().and_then(|reference| reference.strip_prefix('#')) {
        Some(pointer) => document.pointer(pointer).expect("a reference has a target"),
        None => value,
    }
}

/// The operation of a method and path: templates without braces first.
pub(crate) fn operation<'a>(document: &'a Value, method: &str, path: &str) -> Option<&'a Value> {
    let paths = document["paths"].as_object().expect("a document has paths");
    let methods = paths.get(path).or_else(|| {
        let fits = |template: &str| {
            let (one, other) = (template.split('/'), path.split('/'));
            one.clone().count() == other.clone().count()
                && one.zip(other).all(|(t, p)| t == p || (t.starts_with('{') && !p.is_empty()))
        };
        paths.iter().find(|(template, _)| fits(template)).map(|(_, methods)| methods)
    })?;
    methods.get(method.to_ascii_lowercase())
}
