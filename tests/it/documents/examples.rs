//! The examples of the served document, called in the world of the page's key.

use std::collections::BTreeMap;
use std::sync::Arc;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use crate::harness::contract::resolve;
use crate::harness::{Answer, Caller, Request, Server};

/// Characters that are encoded in a target.
const OTHERS: &AsciiSet = &NON_ALPHANUMERIC.remove(b'_');

/// The target of a GET as a viewer fills it in: with the examples, or with these values of parameters of the path.
fn target(
    document: &Value,
    path: &str,
    operation: &Value,
    values: &BTreeMap<String, String>,
) -> String {
    let (mut path, mut query) = (path.to_owned(), Vec::new());
    for parameter in operation["parameters"].as_array().into_iter().flatten() {
        let parameter = resolve(document, parameter);
        let name = parameter["name"].as_str().unwrap();
        let of_schema = &resolve(document, &parameter["schema"])["examples"][0];
        let example = parameter.get("example").unwrap_or(of_schema);
        let text = example.as_str().map_or_else(|| example.to_string(), str::to_owned);
        let text = values.get(name).unwrap_or(&text);
        let text = utf8_percent_encode(text, OTHERS).to_string();
        match parameter["in"].as_str().unwrap() {
            "path" => path = path.replace(&format!("{{{name}}}"), &text),
            "query" if !example.is_null() => query.push(format!("{name}={text}")),
            _ => {}
        }
    }
    if query.is_empty() { path } else { format!("{path}?{}", query.join("&")) }
}

/// Whether the answer has what was requested.
fn has_data(answer: &Answer) -> bool {
    let is_empty = |body: &Value| body["data"].as_array().is_some_and(Vec::is_empty);
    let has_any = || match answer.header("content-type") {
        Some("application/json") => !is_empty(&answer.json()),
        _ => answer.header("content-length").is_some_and(|length| length != "0"),
    };
    answer.status == 200 && has_any()
}

/// Makes the calls that the document names for a read without example data, as the page does. Returns the ids of the
/// created resources.
fn first_calls(caller: &Caller, port: u16, operation: &Value) -> BTreeMap<String, String> {
    let mut values: BTreeMap<String, String> = BTreeMap::new();
    for call in operation["x-first-calls"].as_array().into_iter().flatten() {
        let mut path = call["path"].as_str().unwrap().to_owned();
        for (name, value) in &values {
            path = path.replace(&format!("{{{name}}}"), value);
        }
        let request = caller.request(call["method"].as_str().unwrap(), &path);
        let request = call.get("body").iter().fold(request, |request, body| request.json(body));
        let answer = request.send(port);
        assert!(answer.status < 300, "{path}: {}", answer.text());
        for (name, expression) in call["parameters"].as_object().into_iter().flatten() {
            let pointer = expression.as_str().unwrap().strip_prefix("$response.body#").unwrap();
            let value = answer.json().pointer(pointer).unwrap().as_str().unwrap().to_owned();
            values.insert(name.clone(), value);
        }
    }
    values
}

/// Runs "Try" for every GET of a document with that key, and returns the number of GETs that needed first calls.
fn try_all(server: &Arc<Server>, document: &str, key: &str) -> usize {
    let port = server.port();
    let document = Request::new("GET", document).send(port).json();
    let new = Caller::with_key(server, key);
    let (mut made, none) = (0, BTreeMap::new());
    for (path, methods) in document["paths"].as_object().unwrap() {
        let Some(operation) = methods.get("get") else { continue };
        let forms = &operation["responses"]["200"]["content"];
        if forms.get("text/event-stream").is_some() {
            continue; // the stream never ends
        }
        let example = target(&document, path, operation, &none);
        let answer = new.request("GET", &example).send(port);
        let named = !operation["x-first-calls"].is_null();
        assert_ne!(has_data(&answer), named, "{example}: {} {}", answer.status, answer.text());
        if !named {
            continue;
        }
        made += 1;
        // In a world of its own, so that the page's key keeps a new one.
        let other = Caller::with_key(server, &format!("{key}_{made}"));
        let values = first_calls(&other, port, operation);
        let again = target(&document, path, operation, &values);
        let answer = other.request("GET", &again).send(port);
        assert!(has_data(&answer), "{again}: {} {}", answer.status, answer.text());
    }
    made
}

#[test]
fn every_get_with_its_examples_returns_data() {
    for seed in ["42", "7"] {
        let server = Arc::new(Server::start(&["--seed", seed]));
        let page = Request::new("GET", "/docs/key.js").send(server.port());
        assert!(page.text().contains("setApiKey(\"bearer\", \"test_key\")"));
        let made = try_all(&server, "/openapi.json", "test_key");
        assert!(made < 55, "{made} reads need a call first");
    }
}

#[test]
fn every_get_of_the_control_plane_with_its_examples_returns_data() {
    let server = Arc::new(Server::start(&["--seed", "42"]));
    let made = try_all(&server, "/_sandbox/openapi.json", "test_control");
    assert!(made < 25, "{made} reads need a call first");
}

/// A reader who tries all operations in order uses one world.
#[test]
fn the_first_calls_work_one_after_the_other_in_one_world() {
    let server = Arc::new(Server::start(&["--seed", "42"]));
    let caller = Caller::with_key(&server, "test_key");
    let document = Request::new("GET", "/openapi.json").send(server.port()).json();
    for (path, methods) in document["paths"].as_object().unwrap() {
        let Some(operation) = methods.get("get") else { continue };
        let example = target(&document, path, operation, &BTreeMap::new());
        if has_data(&caller.request("GET", &example).send(server.port())) {
            continue;
        }
        let values = first_calls(&caller, server.port(), operation);
        let again = target(&document, path, operation, &values);
        let answer = caller.request("GET", &again).send(server.port());
        assert!(has_data(&answer), "{again}: {} {}", answer.status, answer.text());
    }
    assert!(caller.get("/_sandbox/events").json()["meta"]["total"] != json!(0));
}
