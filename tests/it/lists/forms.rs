//! Whole lists as CSV and as lines of JSON.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::harness::http::Answer;
use crate::harness::{Caller, Server};

use super::{Listing, busy, listings, with};

const CSV: &str = "text/csv";
const LINES: &str = "application/x-ndjson";

fn accepting(caller: &Caller, path: &str, accept: &str) -> Answer {
    caller.request("GET", path).header("Accept", accept).send(caller.port())
}

fn lines(answer: &Answer) -> Vec<Value> {
    answer.text().lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect()
}

/// The records of a CSV file after RFC 4180, without its header; a cell without quotes and text is none.
fn records(text: &str) -> Vec<Vec<Option<String>>> {
    let (mut all, mut record, mut cell) = (Vec::new(), Vec::new(), None::<String>);
    let mut letters = text.chars().peekable();
    let mut quoted = false;
    while let Some(letter) = letters.next() {
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => {
                letters.next();
                cell.get_or_insert_default().push('"');
            }
            '"' => {
                quoted = !quoted;
                cell.get_or_insert_default();
            }
            ',' if !quoted => record.push(cell.take()),
            '\r' if !quoted => {
                assert_eq!(letters.next(), Some('\n'));
                record.push(cell.take());
                all.push(std::mem::take(&mut record));
            }
            other => cell.get_or_insert_default().push(other),
        }
    }
    assert!(record.is_empty() && cell.is_none() && !quoted, "the file ends within a record");
    all
}

/// The members of a row that are no objects, by their path; an object without a column for its members is one member.
fn leaves(value: &Value, path: &str, columns: &BTreeSet<String>, found: &mut Vec<(String, Value)>) {
    match value {
        Value::Object(members) if !columns.contains(path) => {
            for (name, member) in members {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                leaves(member, &path, columns, found);
            }
        }
        other => found.push((path.to_owned(), other.clone())),
    }
}

#[test]
fn every_list_is_returned_whole_as_lines_and_as_a_table() {
    let caller = busy();
    for Listing { path, .. } in listings(&caller) {
        let whole = caller.all(&path);
        let answer = accepting(&caller, &with(&path, "per_page=1"), LINES);
        assert_eq!(answer.status, 200, "{path}");
        assert_eq!(answer.header("content-type"), Some(LINES));
        assert_eq!(lines(&answer), whole, "{path}");
        let table = accepting(&caller, &path, CSV);
        assert_eq!(table.header("content-type"), Some("text/csv; charset=utf-8; header=present"));
        assert_eq!(table.header("vary"), Some("Accept"));
        let mut records = records(table.text());
        let columns: Vec<String> = records.remove(0).into_iter().map(Option::unwrap).collect();
        let known: BTreeSet<String> = columns.iter().cloned().collect();
        assert_eq!(records.len(), whole.len(), "{path}");
        for (record, row) in records.iter().zip(&whole) {
            assert_eq!(record.len(), columns.len(), "{path}");
            let mut members = Vec::new();
            leaves(row, "", &known, &mut members);
            for (name, value) in members.iter().filter(|(_, value)| !value.is_null()) {
                let place = columns.iter().position(|column| column == name);
                let place = place.unwrap_or_else(|| panic!("{path} has no column {name}"));
                let cell = record[place].as_deref();
                let expected = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                assert_eq!(cell, Some(expected.as_str()), "{path} {name}");
            }
        }
    }
}

#[test]
fn filters_and_order_of_a_table_are_those_of_the_list() {
    let caller = busy();
    let path =
        format!("/api/payments/payouts?company_id={}&status=paid&sort=amount", caller.company(1));
    let whole = caller.all(&path);
    assert!(whole.len() > 100);
    assert_eq!(lines(&accepting(&caller, &path, LINES)), whole);
    let refused = accepting(&caller, "/api/payments/payouts?status=lost", CSV);
    refused.refused(422, "validation_failed");
    assert_eq!(refused.header("content-type"), Some("application/problem+json"));
}

#[test]
fn a_long_list_is_streamed_and_complete() {
    let shape = ["--companies", "2", "--employees-per-company", "12000"];
    let server = std::sync::Arc::new(Server::start(&shape));
    let caller = Caller::of(&server);
    let answer = accepting(&caller, "/api/business/employees", LINES);
    assert_eq!(answer.header("content-length"), None, "its length is not known at its start");
    let ids: BTreeSet<String> =
        lines(&answer).iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(ids.len(), 24_000);
    let table = accepting(&caller, "/api/business/employees", CSV);
    assert_eq!(table.text().lines().count(), 24_001, "with one header");
}

#[test]
fn logs_of_the_tester_have_the_same_forms() {
    let caller = busy();
    let requests = accepting(&caller, "/_sandbox/requests?status=201", LINES);
    assert_eq!(lines(&requests), caller.all("/_sandbox/requests?status=201"));
    let events = accepting(&caller, "/_sandbox/events?sort=sequence", LINES);
    assert_eq!(lines(&events), caller.events());
    assert!(accepting(&caller, "/_sandbox/decisions", CSV).text().starts_with("sequence,"));
}

#[test]
fn an_accept_header_that_cannot_be_met_is_refused_and_changes_nothing() {
    let caller = busy();
    let company = format!("/api/business/companies/{}", caller.company(0));
    for (path, accept) in [
        ("/api/payments/payouts", "application/pdf"),
        ("/api/payments/payouts", "image/png, text/html"),
        (company.as_str(), CSV),
        ("/_sandbox/clock", "application/xml"),
    ] {
        let refused = accepting(&caller, path, accept);
        let problem = refused.refused(406, "not_acceptable");
        assert!(problem["detail"].as_str().unwrap().contains("application/json"), "{problem}");
    }
    let before = caller.digest();
    let body = serde_json::json!({"company_id": caller.company(0), "period": "2026-09"});
    let run = caller.request("POST", "/v1/payroll/run").header("Accept", "text/html").json(&body);
    run.send(caller.port()).refused(406, "not_acceptable");
    assert_eq!(caller.digest(), before);
    for accept in ["*/*", "text/html, */*;q=0.1", "application/*", ""] {
        assert_eq!(accepting(&caller, "/api/payments/payouts", accept).status, 200, "{accept}");
    }
}
