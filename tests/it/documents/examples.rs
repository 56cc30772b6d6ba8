//! The examples of the served document, called in the world of the page's key.

use std::sync::Arc;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use crate::harness::contract::resolve;
use crate::harness::{Caller, Request, Server};

/// The target of a GET as a viewer fills it in.
fn target(document: &Value, path: &str, operation: &Value) -> String {
    let (mut path, mut query) = (path.to_owned(), Vec::new());
    for parameter in operation["parameters"].as_array().into_iter().flatten() {
        let parameter = resolve(document, parameter);
        let name = parameter["name"].as_str().unwrap();
        let of_schema = &resolve(document, &parameter["schema"])["examples"][0];
        let example = parameter.get("example").unwrap_or(of_schema);
        let text = example.as_str().map_or_else(|| example.to_string(), str::to_owned);
        let text = utf8_percent_encode(&text, NON_ALPHANUMERIC).to_string();
        match parameter["in"].as_str().unwrap() {
            "path" => path = path.replace(&format!("{{{name}}}"), &text),
            "query" if !example.is_null() => query.push(format!("{name}={text}")),
            _ => {}
        }
    }
    if query.is_empty() { path } else { format!("{path}?{}", query.join("&")) }
}

fn is_empty(data: &Value) -> bool {
    data.as_array().is_some_and(Vec::is_empty)
}

/// Whether a new world has none of what the operation shows: a call creates it.
fn is_missing(caller: &Caller, document: &Value, path: &str) -> bool {
    let collection = path.split("/{").next().unwrap();
    let listed = &document["paths"][collection]["get"];
    if listed.is_null() {
        return true;
    }
    let rows = caller.get(&target(document, collection, listed)).data();
    is_empty(&rows) || path.matches('{').count() + path.matches('/').count() > 5
}

#[test]
fn every_get_with_its_examples_returns_what_a_new_world_has() {
    for seed in ["42", "7"] {
        let server = Arc::new(Server::start(&["--seed", seed]));
        let caller = Caller::with_key(&server, "test_key");
        let page = Request::new("GET", "/docs/key.js").send(server.port());
        assert!(page.text().contains("setApiKey(\"bearer\", \"test_key\")"));
        let document = Request::new("GET", "/openapi.json").send(server.port()).json();
        let (mut returned, mut missing) = (0, Vec::new());
        for (path, methods) in document["paths"].as_object().unwrap() {
            let Some(operation) = methods.get("get") else { continue };
            let target = target(&document, path, operation);
            let answer = caller.request("GET", &target).send(server.port());
            let is_pdf = answer.header("content-type") == Some("application/pdf");
            if answer.status == 200 && (is_pdf || !is_empty(&answer.json()["data"])) {
                returned += 1;
                continue;
            }
            assert!(matches!(answer.status, 200 | 404), "{target}: {}", answer.text());
            assert!(is_missing(&caller, &document, path), "{target}: {}", answer.text());
            missing.push(path);
        }
        assert!(returned >= 35, "seed {seed}: only {returned} return data: {missing:?}");
    }
}
