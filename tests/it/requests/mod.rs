//! The request log and its verification, over TCP.

mod verify;

use std::sync::Arc;

use serde_json::{Value, json};

use crate::harness::{Answer, Caller, Request, Server};

const RUN: &str = "/v1/payroll/run";
const EMPLOYEES: &str = "/api/business/employees";
const REQUESTS: &str = "/_sandbox/requests";

/// A caller of a server whose request logs keep this many requests.
fn keeping(most: &str) -> Caller {
    let server = Arc::new(Server::start(&["--seed", "42", "--max-requests", most]));
    Caller::of(&server)
}

fn run(caller: &Caller, company: &str, key: &str) -> Request {
    let body = json!({"company_id": company, "period": "2026-01"});
    caller.request("POST", RUN).header("Idempotency-Key", key).json(&body)
}

/// Members of each request in the log, one request on each line; a dash for null.
fn listed(caller: &Caller, query: &str, members: &str) -> Vec<String> {
    let shown = |value: &Value| match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let line = |row: &Value| {
        let members = members.split(' ').map(|name| shown(&row[name]));
        members.collect::<Vec<_>>().join(" ")
    };
    let rows = caller.all(&format!("{REQUESTS}{query}"));
    rows.iter().map(line).collect()
}

/// Calls that are answered, replayed and refused in all ways.
fn call_in_every_way(caller: &Caller) -> Answer {
    let company = caller.company(0);
    let first = caller.send(&run(caller, &company, "k"));
    caller.send(&run(caller, &company, "k"));
    let other = json!({"company_id": company, "period": "2026-02"});
    let post = || caller.request("POST", RUN);
    let reused = post().header("Idempotency-Key", "k").json(&other);
    let old = caller.request("GET", EMPLOYEES);
    let long = post().header("Content-Type", "application/json");
    let long = long.bytes(" ".repeat(2 << 20).as_bytes());
    for (request, status, code) in [
        (reused, 422, "idempotency_key_reused"),
        (post().json(&json!({})), 422, "validation_failed"),
        (caller.request("GET", "/nowhere?x=1"), 404, "route_not_found"),
        (old.header("Api-Version", "1999-01-01"), 400, "invalid_header"),
        (post().bytes(b"x"), 415, "unsupported_media_type"),
        (long, 413, "payload_too_large"),
    ] {
        caller.send(&request).refused(status, code);
    }
    first
}

#[test]
fn every_call_of_the_product_is_logged_with_its_result() {
    let caller = Caller::instant();
    call_in_every_way(&caller);
    let members = "number operation method path query status error idempotency";
    assert_eq!(
        listed(&caller, "", members),
        [
            "1 listCompanies GET /api/business/companies - 200 - -",
            "2 runPayroll POST /v1/payroll/run - 201 - fresh",
            "3 runPayroll POST /v1/payroll/run - 201 - replayed",
            "4 runPayroll POST /v1/payroll/run - 422 idempotency_key_reused reused",
            "5 runPayroll POST /v1/payroll/run - 422 validation_failed -",
            "6 - GET /nowhere x=1 404 route_not_found -",
            "7 listEmployees GET /api/business/employees - 400 invalid_header -",
            "8 runPayroll POST /v1/payroll/run - 415 unsupported_media_type -",
            "9 runPayroll POST /v1/payroll/run - 413 payload_too_large -",
        ]
    );
}

#[test]
fn the_request_log_is_filtered_by_request_and_answer() {
    let caller = Caller::instant();
    let first = call_in_every_way(&caller);
    let by_id = format!("?request_id={}", first.header("request-id").unwrap());
    for (query, numbers) in [
        ("?operation=runPayroll&status=201", vec!["2", "3"]),
        ("?idempotency_key=k&after=2", vec!["3", "4"]),
        ("?path=/nowhere", vec!["6"]),
        ("?operation=nothing", vec![]),
        (&by_id, vec!["2", "3"]),
    ] {
        assert_eq!(listed(&caller, query, "number"), numbers, "{query}");
    }
}

#[test]
fn a_request_leads_to_its_events_and_each_event_to_its_changes() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let answer = caller.send(&run(&caller, &company, "k"));
    let id = answer.header("request-id").unwrap().to_owned();
    let detail = caller.get(&format!("{REQUESTS}/{id}")).data();
    let events = detail["events"].as_array().unwrap();
    assert!(!events.is_empty());
    assert_eq!(detail["request"]["resource_id"], answer.json()["data"]["id"]);
    let retry = caller.send(&run(&caller, &company, "k"));
    assert_eq!(retry.header("request-id"), Some(id.as_str()));
    assert_eq!(caller.get(&format!("{REQUESTS}/{id}")).data(), detail, "not the retry");
    let event = caller.get(&format!("/_sandbox/events/{}", events[0].as_str().unwrap())).data();
    assert_eq!(event["event"]["type"], "payroll_run.created");
    assert_eq!(event["event"]["request"]["id"], json!(id));
    let change = &event["changes"][0];
    assert_eq!((&change["before"], &change["after"]["id"]), (&Value::Null, &change["id"]));
    let changed = caller.events().into_iter().find(|event| event["type"] == "payroll_run.approved");
    let path = format!("/_sandbox/events/{}", changed.unwrap()["id"].as_str().unwrap());
    let change = caller.get(&path).data()["changes"][0].clone();
    assert_eq!(change["after"]["status"], "approved");
    assert!(change["before"]["status"].is_string() && change["before"]["id"].is_null());
    caller.get("/_sandbox/events/evt_0000000000000").refused(404, "resource_not_found");
    caller.get(&format!("{REQUESTS}/req_0000000000000")).refused(404, "resource_not_found");
}

#[test]
fn the_request_log_contains_no_keys_and_only_the_calls_of_its_own_key() {
    let server = Server::instant();
    let secret = "sk_test_shown_to_nobody";
    let (caller, other) = (Caller::with_key(&server, secret), Caller::of(&server));
    caller.get(EMPLOYEES).expect(200);
    let text = caller.get(REQUESTS).text().to_owned();
    assert!(text.contains("listEmployees") && !text.contains(secret));
    assert_eq!(other.all(REQUESTS), Vec::<Value>::new());
}

#[test]
fn a_large_body_is_logged_by_size_and_other_text_as_text() {
    let caller = Caller::instant();
    let large = json!({"company_id": "x".repeat(20_000)});
    caller.post(RUN, &large);
    let broken = caller.request("POST", RUN).header("Content-Type", "application/json");
    caller.send(&broken.bytes(b"{broken"));
    let size = large.to_string().len();
    let sizes = [format!("- {size}"), "{broken -".to_owned()];
    assert_eq!(listed(&caller, "", "body body_bytes"), sizes);
}

#[test]
fn a_full_request_log_drops_the_oldest_and_clearing_it_starts_again() {
    let caller = keeping("2");
    for page in 1..=3 {
        caller.get(&format!("{EMPLOYEES}?page={page}")).expect(200);
    }
    let kept = ["2 page=2", "3 page=3"];
    assert_eq!(listed(&caller, "", "number query"), kept);
    let clear = caller.request("DELETE", REQUESTS);
    assert_eq!(caller.send(&clear).data()["removed"], 2);
    caller.get(EMPLOYEES);
    assert_eq!(listed(&caller, "", "number"), ["4"]);
}

#[test]
fn the_log_keeps_the_outcomes_that_a_request_chose() {
    let caller = keeping("100");
    let company = caller.company(0);
    let chosen = |key: &str, values: &[&str]| {
        let request = run(&caller, &company, key);
        values.iter().fold(request, |request, value| request.header("Sandbox-Scenario", value))
    };
    caller.send(&run(&caller, &company, "a"));
    caller.send(&chosen("b", &["payout.settle=returned;code=07"]));
    caller.send(&chosen("c", &["payout.settle=returned", "payroll_run.fund=delayed"]));
    caller.send(&chosen("d", &["no-such-scenario"])).refused(400, "unknown_scenario");
    caller.send(&caller.request("GET", EMPLOYEES).header("Sandbox-Scenario", "partial-failure"));
    let rows = caller.all(REQUESTS);
    let sent: Vec<&Value> = rows.iter().rev().take(5).map(|row| &row["sandbox_scenario"]).collect();
    assert_eq!(
        sent,
        [
            &json!("partial-failure"),
            &json!("no-such-scenario"),
            &json!("payout.settle=returned, payroll_run.fund=delayed"),
            &json!("payout.settle=returned;code=07"),
            &Value::Null
        ]
    );
}

#[test]
fn writes_without_events_have_ids_of_their_own() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let path = format!("/api/business/companies/{company}");
    let advance = json!({"by": "1h"});
    let calls = [
        caller.request("PATCH", &path).json(&json!({})),
        caller.request("POST", "/_sandbox/clock/advance").json(&advance),
        caller.request("POST", "/_sandbox/clock/advance").json(&advance),
        run(&caller, &company, "k"),
    ];
    let mut ids: Vec<String> = calls
        .iter()
        .map(|call| {
            let answer = caller.send(call);
            assert!(answer.status < 300, "{}", answer.json());
            answer.header("request-id").unwrap().to_owned()
        })
        .collect();
    let quiet = caller.get(&format!("/_sandbox/trace/{}", ids[0])).json();
    assert!(!quiet.to_string().contains("payroll_run."), "{quiet}");
    let paid = caller.get(&format!("/_sandbox/trace/{}", ids[3])).json();
    assert!(paid.to_string().contains("payroll_run.created"), "{paid}");
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 4);
}
