//! Faults of the wire and limits over raw TCP: the bytes for the client, and the effects in the world.

mod limits;
mod rows;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::http::{Answer, exchange};
use crate::harness::{Caller, Request};

const RUN: &str = "/v1/payroll/run";
const EMPLOYEES: &str = "/api/business/employees";

/// A run of January with a key and a fault.
fn run(caller: &Caller, key: &str, fault: Option<&str>) -> Request {
    let body = json!({"company_id": caller.company(0), "period": "2026-01"});
    let request = caller.request("POST", RUN).header("Idempotency-Key", key);
    let request = match fault {
        Some(fault) => request.header("Sandbox-Fault", fault),
        None => request,
    };
    request.json(&body)
}

fn get(caller: &Caller, fault: &str) -> Request {
    caller.request("GET", EMPLOYEES).header("Sandbox-Fault", fault)
}

/// All bytes until the connection closes.
fn raw(caller: &Caller, request: &Request) -> Vec<u8> {
    let mut stream = TcpStream::connect(("127.0.0.1", caller.port())).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    stream.write_all(&request.wire()).unwrap();
    let mut all = Vec::new();
    // A reset is an end, too.
    let _ = stream.read_to_end(&mut all);
    all
}

/// The head and the body of the received bytes.
fn halves(all: &[u8]) -> (String, Vec<u8>) {
    let end = all.windows(4).position(|four| four == b"\r\n\r\n").expect("a head");
    let head = String::from_utf8(all[..end].to_vec()).unwrap().to_ascii_lowercase();
    (head, all[end + 4..].to_vec())
}

fn length(head: &str) -> usize {
    let rest = head.split("content-length: ").nth(1).expect("a length");
    rest.lines().next().unwrap().parse().unwrap()
}

fn last_request(caller: &Caller) -> Value {
    caller.all("/_sandbox/requests").pop().expect("a request")
}

fn is_replayed(answer: &Answer) -> bool {
    answer.header("idempotent-replayed") == Some("true")
}

#[test]
fn after_a_lost_reply_a_retry_with_the_same_key_replays_it() {
    let caller = Caller::instant();
    let before = caller.digest();
    assert_eq!(raw(&caller, &run(&caller, "k", Some("lose=reply"))), b"");
    assert_ne!(caller.digest(), before, "the run was committed");
    let entry = last_request(&caller);
    assert_eq!(entry["status"], 201);
    assert_eq!(entry["fault"], json!({"source": "Sandbox-Fault", "does": "lose=reply"}));
    let after = caller.digest();
    let retry = caller.send(&run(&caller, "k", None));
    assert!(is_replayed(&retry));
    let id = retry.expect(201)["data"]["id"].clone();
    assert_eq!(entry["resource_id"], id);
    assert_eq!(caller.digest(), after);
}

#[test]
fn a_lost_request_changes_nothing_and_its_key_is_free() {
    let caller = Caller::instant();
    let before = caller.digest();
    assert_eq!(raw(&caller, &run(&caller, "k", Some("lose=request"))), b"");
    assert_eq!(caller.digest(), before);
    let entry = last_request(&caller);
    assert_eq!((&entry["status"], &entry["operation"]), (&Value::Null, &json!("runPayroll")));
    assert_eq!(entry["body"]["period"], "2026-01", "the request log still has the request");
    let retry = caller.send(&run(&caller, "k", None));
    assert!(!is_replayed(&retry));
    retry.expect(201);
}

#[test]
fn a_status_before_the_commit_changes_nothing_and_one_after_it_replays_the_success() {
    let caller = Caller::instant();
    let before = caller.digest();
    let refused = caller.send(&run(&caller, "k", Some("status=503;retry_after=1500ms")));
    let problem = refused.refused(503, "maintenance");
    assert_eq!(problem["retryable"], true);
    assert_eq!(refused.header("retry-after"), Some("2"), "whole seconds, rounded up");
    assert_eq!(refused.header("sandbox-decision"), Some("fault=Sandbox-Fault"));
    assert_eq!(caller.digest(), before);
    let late = caller.send(&run(&caller, "k", Some("status=500;after_commit=true")));
    late.refused(500, "internal_error");
    assert_ne!(caller.digest(), before);
    let retry = caller.send(&run(&caller, "k", None));
    retry.expect(201);
    assert!(is_replayed(&retry));
    assert_eq!(retry.header("request-id"), late.header("request-id"));
}

#[test]
fn every_status_has_its_code() {
    let caller = Caller::instant();
    for (status, code) in [
        (429, "rate_limited"),
        (500, "internal_error"),
        (502, "upstream_rail_error"),
        (503, "maintenance"),
        (504, "upstream_timeout"),
        (418, "injected_fault"),
        (599, "injected_fault"),
    ] {
        let answer = get(&caller, &format!("status={status}")).send(caller.port());
        answer.refused(status, code);
    }
}

#[test]
fn a_truncated_body_ends_at_half_its_length() {
    let caller = Caller::instant();
    let whole = caller.get(EMPLOYEES);
    let (head, body) = halves(&raw(&caller, &get(&caller, "body=truncated")));
    assert!(head.starts_with("http/1.1 200"));
    assert_eq!(length(&head), whole.body.len());
    assert_eq!(body, whole.body[..whole.body.len() / 2]);
    let error = exchange(caller.port(), &get(&caller, "body=truncated").wire(), false);
    assert!(error.is_err(), "a client that counts notices");
}

#[test]
fn a_garbage_body_has_its_declared_length_and_is_not_json() {
    let caller = Caller::instant();
    let whole = caller.get(EMPLOYEES);
    let answer = get(&caller, "body=garbage").send(caller.port());
    assert_eq!((answer.status, answer.body.len()), (200, whole.body.len()));
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert!(std::str::from_utf8(&answer.body).is_err());
    assert_eq!(caller.get(EMPLOYEES).body, whole.body, "the next one is whole");
}

#[test]
fn a_slow_body_comes_whole_and_a_few_bytes_at_a_time() {
    let caller = Caller::instant();
    let whole = caller.get(EMPLOYEES);
    let started = Instant::now();
    let mut stream = TcpStream::connect(("127.0.0.1", caller.port())).unwrap();
    stream.write_all(&get(&caller, "body=slow").wire()).unwrap();
    let (mut all, mut reads) = (Vec::new(), 0);
    let mut chunk = [0; 4 * 1_024];
    loop {
        let read = stream.read(&mut chunk).unwrap();
        if read == 0 {
            break;
        }
        reads += 1;
        all.extend_from_slice(&chunk[..read]);
    }
    let (head, body) = halves(&all);
    assert_eq!((length(&head), &body), (whole.body.len(), &whole.body));
    let took = started.elapsed();
    assert!(reads > 5 && took > Duration::from_secs(2), "{reads} reads in {took:?}");
}

#[test]
fn latency_delays_the_reply_and_not_its_effects() {
    let caller = Caller::instant();
    let before = caller.digest();
    let mut stream = TcpStream::connect(("127.0.0.1", caller.port())).unwrap();
    let started = Instant::now();
    stream.write_all(&run(&caller, "k", Some("latency=1500ms")).wire()).unwrap();
    while caller.digest() == before {
        assert!(started.elapsed() < Duration::from_secs(60), "the effect never happens");
        std::thread::yield_now();
    }
    let mut all = Vec::new();
    stream.read_to_end(&mut all).unwrap();
    assert!(halves(&all).0.starts_with("http/1.1 201"));
    assert!(started.elapsed() >= Duration::from_millis(1_500));
}

#[test]
fn an_invalid_fault_header_is_refused_with_the_valid_forms() {
    let caller = Caller::instant();
    for (wrong, expected) in [
        ("", "expected name=value such as status=503"),
        ("status", "expected name=value such as status=503"),
        ("status=200", "expected a status from 400 to 599"),
        ("lose=both", "lose: expected request or reply, but found"),
        ("status=503;lose=reply", "a lost reply has no status; use status or lose"),
        (
            "body=garbage;status=503",
            "a refusal always has a problem document as its body; use status or body",
        ),
        ("colour=red", "is not one of status, after_commit"),
    ] {
        let problem = caller.send(&get(&caller, wrong)).refused(400, "invalid_header");
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.starts_with("Sandbox-Fault: ") && detail.contains(expected), "{detail}");
    }
    let twice = get(&caller, "latency=1ms").header("Sandbox-Fault", "latency=1ms");
    caller.send(&twice).refused(400, "invalid_header");
}

#[test]
fn a_fault_comes_after_the_key_and_before_all_that_is_wrong_with_a_request() {
    let caller = Caller::instant();
    let fault = "status=503";
    let nowhere = caller.request("GET", "/api/nowhere").header("Sandbox-Fault", fault);
    caller.send(&nowhere).refused(404, "route_not_found");
    let no_key = Request::new("GET", EMPLOYEES).header("Sandbox-Fault", fault);
    no_key.send(caller.port()).refused(401, "missing_credentials");
    let post = || caller.request("POST", RUN).header("Sandbox-Fault", fault);
    for request in [
        post().bytes(b"no type"),
        post().header("Content-Type", "text/plain").bytes(b"wrong type"),
        post().header("Content-Type", "application/json").bytes(b"{no json"),
        post().header("Idempotency-Key", "with space").json(&json!({})),
        post().json(&json!({"unknown": 1})),
        post().header("Content-Type", "application/json").bytes(" ".repeat(2 << 20).as_bytes()),
    ] {
        caller.send(&request).refused(503, "maintenance");
    }
}

#[test]
fn a_reset_removes_what_calls_added_and_keeps_the_rows_of_scenarios() {
    let caller = Caller::manual();
    let text = "title = \"Busy\"\n\n[[fault]]\non = \"createPayout\"\nstatus = 503\n\n[limits]\nlatency = \"1ms\"\n";
    let scenario = json!({"name": "busy", "text": text});
    caller.post("/_sandbox/scenarios", &scenario).expect(201);
    let rules = |matched: Value, part: &str, does: Value| {
        caller.post("/_sandbox/rules", &json!({"match": matched, part: does})).expect(201);
    };
    let add = || {
        rules(json!({"decision": "payout.settle"}), "outcome", json!({"then": "failed"}));
        rules(json!({"operation": "runPayroll"}), "fault", json!({"status": 503}));
        rules(json!({"event": "payout.paid"}), "shape", json!("drop"));
        let fault = json!({"on": "listEmployees", "status": 502});
        caller.post("/_sandbox/faults", &fault).expect(201);
        let limits = caller.request("PUT", "/_sandbox/limits").json(&json!({"rate": "10/s"}));
        caller.send(&limits).expect(200);
    };
    let is_as_at_start = || {
        assert_eq!(caller.get("/_sandbox/rules").data(), json!([]));
        let faults = caller.get("/_sandbox/faults").data();
        let on: Vec<_> = faults.as_array().unwrap().iter().map(|fault| &fault["on"]).collect();
        assert_eq!(on, ["createPayout"]);
        let limits = caller.get("/_sandbox/limits").data();
        assert_eq!((&limits["rate"], &limits["latency"]), (&Value::Null, &json!("1ms")));
        assert_eq!(limits["spread"], Value::Null);
    };
    add();
    caller.post("/_sandbox/reset", &json!({})).expect(200);
    is_as_at_start();
    add();
    let regrown = json!({"name": "busy", "text": format!("{text}\n[world]\nseed = 7\n")});
    assert_eq!(caller.post("/_sandbox/scenarios", &regrown).expect(201)["data"]["regrown"], true);
    is_as_at_start();
}
