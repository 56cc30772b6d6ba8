//! Every error that the product's operations declare is produced, or listed with the test that produces it.
//!
//! Most come from general requests: an unknown id, a body that is no JSON, a stale `If-Match`. Others are the last step of a situation.
//! The harness checks that no operation answers with a code that it does not declare.

mod elsewhere;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use self::elsewhere::{BY_A_TEST, ELSEWHERE};
use crate::coverage::library::{Situation, situations};
use crate::harness::contract::product;
use crate::harness::{Answer, Caller, Request};

/// An operation and a code.
type Pair = (String, String);

/// A row of the product in the document.
struct Row {
    name: String,
    method: String,
    path: String,
    row: &'static Value,
}

fn rows() -> Vec<Row> {
    let mut found = Vec::new();
    for (path, methods) in product()["paths"].as_object().unwrap() {
        for (method, row) in methods.as_object().unwrap() {
            found.push(Row {
                name: row["operationId"].as_str().unwrap().to_owned(),
                method: method.to_uppercase(),
                path: path.clone(),
                row,
            });
        }
    }
    found
}

fn resolved(value: &'static Value) -> &'static Value {
    match value["$ref"].as_str() {
        Some(reference) => product().pointer(reference.trim_start_matches('#')).unwrap(),
        None => value,
    }
}

impl Row {
    fn declared(&self) -> BTreeSet<String> {
        let mut codes = BTreeSet::new();
        for response in self.row["responses"].as_object().unwrap().values() {
            let response = resolved(response);
            let problem = &response["content"]["application/problem+json"];
            let named = response["x-codes"].as_array();
            let named = named.into_iter().flatten().filter_map(Value::as_str);
            codes.extend(named.map(str::to_owned));
            let shown = problem["examples"].as_object().into_iter().flatten();
            codes.extend(shown.map(|(code, _)| code.clone()));
        }
        codes
    }

    /// Its example, with ids that exist in the caller's world, or with unknown ones.
    fn request(&self, caller: &Caller, ids: &BTreeMap<String, String>) -> Request {
        let (mut path, mut query) = (self.path.clone(), Vec::new());
        for parameter in self.row["parameters"].as_array().into_iter().flatten() {
            let Some(name) = parameter["name"].as_str() else {
                continue; // a header that all rows have
            };
            let mut value = parameter["example"].clone();
            swap(&mut value, ids);
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            if parameter["in"] == "path" {
                path = path.replace(&format!("{{{name}}}"), &text);
            } else if parameter["in"] == "query" && parameter["required"] == true {
                query.push(format!("{name}={text}"));
            }
        }
        if !query.is_empty() {
            path = format!("{path}?{}", query.join("&"));
        }
        caller.request(&self.method, &path)
    }

    fn body(&self, ids: &BTreeMap<String, String>) -> Option<Value> {
        let content = &self.row["requestBody"]["content"]["application/json"];
        if content.is_null() {
            return None;
        }
        let examples = content["examples"].as_object();
        let example = examples.and_then(|all| all.values().next());
        let mut body = example.map_or(json!({}), |example| example["value"].clone());
        swap(&mut body, ids);
        Some(body)
    }
}

/// Replaces every id in a value by another one of its prefix, if there is one.
fn swap(value: &mut Value, ids: &BTreeMap<String, String>) {
    match value {
        Value::Array(rows) => rows.iter_mut().for_each(|row| swap(row, ids)),
        Value::Object(members) => members.values_mut().for_each(|member| swap(member, ids)),
        Value::String(text) => {
            let prefix = text.split_once('_').filter(|(_, rest)| rest.len() == 13);
            if let Some(id) = prefix.and_then(|(prefix, _)| ids.get(prefix)) {
                text.clone_from(id);
            }
        }
        _ => {}
    }
}

/// An id of every kind that the world contains, from calls without ids and from lists.
fn known(caller: &Caller, rows: &[Row]) -> BTreeMap<String, String> {
    fn learn(value: &Value, ids: &mut BTreeMap<String, String>) {
        match value {
            Value::Array(rows) => rows.iter().for_each(|row| learn(row, ids)),
            Value::Object(members) => members.values().for_each(|member| learn(member, ids)),
            Value::String(text) => {
                if let Some((prefix, rest)) = text.split_once('_')
                    && rest.len() == 13
                    && prefix.len() <= 3
                {
                    ids.entry(prefix.to_owned()).or_insert_with(|| text.clone());
                }
            }
            _ => {}
        }
    }
    let mut ids = BTreeMap::new();
    let company = caller.company(0);
    ids.insert("com".to_owned(), company.clone());
    for list in ["employees", "payroll-runs"] {
        learn(&caller.get(&format!("/api/business/{list}?company_id={company}")).json(), &mut ids);
    }
    for row in rows.iter().filter(|row| !row.path.contains('{')) {
        let request = row.request(caller, &ids);
        let request = match row.body(&ids) {
            Some(body) => request.json(&body),
            None => request,
        };
        let answer = caller.send(&request);
        if answer.status < 300 && answer.header("content-type") == Some("application/json") {
            learn(&answer.json(), &mut ids);
        }
    }
    let run = ids["prn"].clone();
    learn(&caller.get(&format!("/api/business/payroll-runs/{run}/items")).json(), &mut ids);
    ids
}

/// The refusals that every row of this shape can return, requested from one row.
fn general(caller: &Caller, row: &Row, ids: &BTreeMap<String, String>) -> Vec<Answer> {
    let missing: BTreeMap<String, String> =
        ids.keys().map(|prefix| (prefix.clone(), format!("{prefix}_0000000000000"))).collect();
    let mut answers = Vec::new();
    let mut send = |request: &Request| answers.push(caller.send(request));
    let with = |request: Request, body: &Option<Value>| match body {
        Some(body) => request.json(body),
        None => request,
    };
    let (body, plain) = (row.body(ids), row.request(caller, ids));
    send(&with(row.request(caller, &missing), &row.body(&missing)));
    send(&with(row.request(caller, &missing), &body));
    let join = if plain.path().contains('?') { '&' } else { '?' };
    let colour = caller.request(&row.method, &format!("{}{join}colour=red", plain.path()));
    send(&with(colour, &body));
    if row.method == "GET" {
        return answers;
    }
    let body = body.unwrap_or(json!({}));
    let json = "application/json";
    send(&plain.clone().header("Content-Type", json).bytes(b"{"));
    send(&plain.clone().header("Content-Type", "text/plain").bytes(b"{}"));
    let long = vec![b' '; 1_100_000];
    send(&plain.clone().header("Content-Type", json).bytes(&long));
    let mut wrong = body.clone();
    wrong["colour"] = json!("red");
    send(&plain.clone().json(&wrong));
    if row.method == "POST" {
        let key = format!("once-{}", row.name);
        let keyed =
            |key: &str, body: &Value| plain.clone().header("Idempotency-Key", key).json(body);
        send(&keyed(&"x".repeat(300), &body));
        send(&keyed(&key, &body));
        let mut other = body.clone();
        for name in ["metadata", "reason", "note", "notes", "memo"] {
            if allows(row, name) {
                other[name] = if name == "metadata" { json!({"a": "b"}) } else { json!("Other") };
                break;
            }
        }
        send(&keyed(&key, &other));
    }
    send(&plain.clone().header("If-Match", "\"stale\"").json(&body));
    // Most actions cannot be repeated on the same resource.
    send(&plain.clone().json(&body));
    send(&plain.json(&body));
    answers
}

fn allows(row: &Row, name: &str) -> bool {
    let schema = &row.row["requestBody"]["content"]["application/json"]["schema"];
    !resolved(schema)["properties"][name].is_null()
}

fn code(answer: &Answer) -> Option<String> {
    (answer.status >= 400).then(|| answer.json()["code"].as_str().unwrap().to_owned())
}

#[test]
fn every_declared_error_is_produced_or_listed_with_a_reason() {
    let rows = rows();
    let mut produced: BTreeSet<Pair> = BTreeSet::new();
    let caller = Caller::instant();
    let ids = known(&caller, &rows);
    for row in &rows {
        let codes = general(&caller, row, &ids);
        produced.extend(codes.iter().filter_map(|answer| Some((row.name.clone(), code(answer)?))));
    }
    // `coverage` tests that these situations end with this error.
    produced.extend(situations().iter().filter_map(Situation::refusal));
    let listed = |operation: &str, code: &str| {
        BY_A_TEST.iter().any(|(of, one, _)| *of == operation && *one == code)
    };
    let mut missing = Vec::new();
    for row in &rows {
        for code in row.declared() {
            let elsewhere = ELSEWHERE.iter().any(|(one, _)| *one == code);
            let made = produced.contains(&(row.name.clone(), code.clone()));
            assert!(
                !(made && listed(&row.name, &code)),
                "{} {code} is produced now: remove it from the list",
                row.name
            );
            if !made && !elsewhere && !listed(&row.name, &code) {
                missing.push(format!("{} {code}", row.name));
            }
        }
    }
    for (operation, code, _) in BY_A_TEST {
        let row = rows.iter().find(|row| row.name == *operation);
        assert!(
            row.is_some_and(|row| row.declared().contains(*code)),
            "{operation} does not declare {code}: remove it from the list"
        );
    }
    assert!(missing.is_empty(), "declared, and never answered: {missing:#?}");
}
