//! Refusals in an envelope, from every layer.

use serde_json::{Value, json};

use super::Under;
use crate::harness::{Answer, Request};

const EMPLOYEES: &str = "/api/business/employees";
const RUN: &str = "/v1/payroll/run";

/// The error of a refusal in an envelope.
#[track_caller]
fn refused(answer: &Answer, status: u16, code: &str) -> Value {
    assert_eq!(answer.status, status, "{}", answer.text());
    assert_eq!(answer.header("content-type"), Some("application/json"));
    let body = answer.json();
    assert_eq!(body.as_object().unwrap().len(), 1, "{body}");
    let error = body["error"].clone();
    assert_eq!(error["code"], code, "{error}");
    assert_eq!(error["status"], status, "{error}");
    assert_eq!(answer.header("request-id"), error["request_id"].as_str());
    assert!(!error["message"].as_str().unwrap().is_empty());
    assert!(error["retryable"].is_boolean());
    for gone in ["type", "title", "detail", "instance"] {
        assert!(error[gone].is_null(), "{gone}");
    }
    error
}

#[test]
fn every_layer_refuses_in_the_envelope() {
    let under = Under::text("[errors]\nformat = \"envelope\"\n");
    let post = || Request::new("POST", RUN).key("test_key");
    // The router and the keys.
    refused(&under.get("/nowhere"), 404, "route_not_found");
    let delete = Request::new("DELETE", EMPLOYEES).key("test_key").send(under.port());
    refused(&delete, 405, "method_not_allowed");
    assert_eq!(delete.header("allow"), Some("GET, HEAD, POST"));
    refused(&under.send(&Request::new("GET", EMPLOYEES)), 401, "missing_credentials");
    let live = Request::new("GET", EMPLOYEES).key("sk_live_1");
    let live = under.send(&live);
    refused(&live, 401, "live_key_refused");
    assert_eq!(live.header("www-authenticate"), Some("Bearer"));
    // The body.
    refused(&under.send(&post().bytes(b"{}")), 415, "unsupported_media_type");
    let json = || post().header("Content-Type", "application/json");
    refused(&under.send(&json().bytes(b"{")), 400, "malformed_json");
    refused(&under.send(&json().bytes(&vec![b' '; 1_100_000])), 413, "payload_too_large");
    let error = refused(&under.send(&json().bytes(b"{}")), 422, "validation_failed");
    let pointers: Vec<&Value> =
        error["errors"].as_array().unwrap().iter().map(|one| &one["pointer"]).collect();
    assert_eq!(pointers, ["/company_id", "/period"]);
    // The handler.
    let unknown = json!({"company_id": "com_unknown", "period": "2026-01"});
    refused(&under.post(RUN, &unknown), 404, "resource_not_found");
    refused(&under.get(&format!("{EMPLOYEES}?page=0")), 422, "validation_failed");
    // The edge.
    let host = Request::new("GET", EMPLOYEES).header("Host", "evil.com").send(under.port());
    refused(&host, 421, "misdirected_request");
    let key = post().header("Idempotency-Key", "a b").json(&unknown);
    refused(&under.send(&key), 400, "idempotency_key_invalid");
    let version =
        Request::new("GET", EMPLOYEES).key("test_key").header("Api-Version", "1999-01-01");
    refused(&under.send(&version), 400, "invalid_header");
    assert!(under.walk() > 5);
}

#[test]
fn a_refusal_that_is_replayed_is_in_the_envelope_too() {
    let under = Under::text("[errors]\nformat = \"envelope\"\n");
    let body = json!({"company_id": under.company(), "period": "2026-01"});
    under.post(RUN, &body).expect(201);
    let request =
        Request::new("POST", RUN).key("test_key").header("Idempotency-Key", "k").json(&body);
    let first = under.send(&request);
    refused(&first, 409, "payroll_period_already_run");
    let again = under.send(&request);
    refused(&again, 409, "payroll_period_already_run");
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(again.body, first.body);
}

#[test]
fn the_control_plane_keeps_its_problem_documents() {
    let under = Under::text("[errors]\nformat = \"envelope\"\n");
    let by =
        Request::new("POST", "/_sandbox/clock/advance").key("test_key").json(&json!({"by": "x"}));
    by.send(under.port()).refused(422, "validation_failed");
    let gone = Request::new("GET", "/_sandbox/nowhere").key("test_key").send(under.port());
    gone.refused(404, "route_not_found");
}
