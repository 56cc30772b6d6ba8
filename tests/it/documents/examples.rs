//! The examples of the served document, called in the world of the page's key.

use std::sync::Arc;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use crate::harness::contract::resolve;
use crate::harness::{Answer, Caller, Request, Server};

/// What is encoded in a target.
const OTHERS: &AsciiSet = &NON_ALPHANUMERIC.remove(b'_');

/// The target of a GET as a viewer fills it in.
fn target(document: &Value, path: &str, operation: &Value) -> String {
    let (mut path, mut query) = (path.to_owned(), Vec::new());
    for parameter in operation["parameters"].as_array().into_iter().flatten() {
        let parameter = resolve(document, parameter);
        let name = parameter["name"].as_str().unwrap();
        let of_schema = &resolve(document, &parameter["schema"])["examples"][0];
        let example = parameter.get("example").unwrap_or(of_schema);
        let text = example.as_str().map_or_else(|| example.to_string(), str::to_owned);
        let text = utf8_percent_encode(&text, OTHERS).to_string();
        match parameter["in"].as_str().unwrap() {
            "path" => path = path.replace(&format!("{{{name}}}"), &text),
            "query" if !example.is_null() => query.push(format!("{name}={text}")),
            _ => {}
        }
    }
    if query.is_empty() { path } else { format!("{path}?{}", query.join("&")) }
}

/// The event that makes what no new world has, as the description of an operation says.
fn makes(operation: &Value) -> Option<&str> {
    let text = operation["description"].as_str()?;
    let (_, event) =
        text.split_once("A new world has none. `POST /_sandbox/trigger` with `{\"type\":\"")?;
    event.split_once('"').map(|(event, _)| event)
}

/// No event is about these: only the reply of the call that makes one names it.
const BY_REPLY: &[&str] = &["/api/business/payroll-verifications/"];

/// Whether the answer has what was asked for.
fn has_data(answer: &Answer) -> bool {
    let is_pdf = answer.header("content-type") == Some("application/pdf");
    let is_empty = |body: &Value| body["data"].as_array().is_some_and(Vec::is_empty);
    answer.status == 200 && (is_pdf || !is_empty(&answer.json()))
}

/// The resources that the events of a world are about, and those that they name.
fn ids(text: &str) -> Vec<&str> {
    let word = |c: char| !(c.is_ascii_alphanumeric() || c == '_');
    text.split(word).filter(|word| word.len() > 5 && word.contains('_')).collect()
}

/// Every GET of the document, with its examples, returns 200 with data. What no new world has does after the event that its description names.
#[test]
fn every_get_with_its_examples_returns_data() {
    for seed in ["42", "7"] {
        let server = Arc::new(Server::start(&["--seed", seed]));
        let caller = Caller::with_key(&server, "test_key");
        let page = Request::new("GET", "/docs/key.js").send(server.port());
        assert!(page.text().contains("setApiKey(\"bearer\", \"test_key\")"));
        let document = Request::new("GET", "/openapi.json").send(server.port()).json();
        for (path, methods) in document["paths"].as_object().unwrap() {
            let Some(operation) = methods.get("get") else { continue };
            let target = target(&document, path, operation);
            let answer = caller.request("GET", &target).send(server.port());
            assert!(!has_data(&answer) || makes(operation).is_none(), "a new world has {path}");
            if has_data(&answer) || BY_REPLY.iter().any(|begin| path.starts_with(begin)) {
                continue;
            }
            let event = makes(operation)
                .unwrap_or_else(|| panic!("{target}: {} {}", answer.status, answer.text()));
            let begin = path.split("/{").next().unwrap();
            // In a world of its own, so that the page's key keeps a new one.
            let other =
                Caller::with_key(&server, &format!("test{}", begin.replace(['/', '-'], "_")));
            let events = other.post("/_sandbox/trigger", &json!({"type": event})).data();
            // Some lists name what no event names.
            let lists = [(*begin).to_owned()].into_iter();
            let events = events["events"].to_string();
            let loans = ids(&events).into_iter().filter(|id| id.starts_with("lon_"));
            let lists =
                lists.chain(loans.map(|loan| format!("/api/capital/loans/{loan}/repayments")));
            let listed =
                lists.map(|list| other.request("GET", &list).send(server.port()).text().to_owned());
            let named = core::iter::once(events.clone()).chain(listed).collect::<String>();
            // The example of the id, with that of a resource that was made.
            let example =
                target.split(['/', '?']).find(|part| part.contains('_') && part.len() > 15);
            let targets: Vec<String> = match example {
                None => vec![target.clone()],
                Some(example) => {
                    let prefix = &example[..=example.find('_').unwrap()];
                    let made = ids(&named).into_iter().filter(|id| id.starts_with(prefix));
                    made.map(|id| target.replace(example, id)).collect()
                }
            };
            let returns =
                |target: &String| has_data(&other.request("GET", target).send(server.port()));
            assert!(targets.iter().any(returns), "{path} after {event}: {targets:?} in {named}");
        }
    }
}
