//! Valid keys, and the order of refusal of a request with several faults.

use std::sync::Arc;

use serde_json::json;

use crate::harness::{Caller, Request, Server};

use super::{EMPLOYEES, RUN, unchanged};

#[test]
fn a_request_without_a_key_is_refused() {
    unchanged(|caller| {
        for path in [EMPLOYEES, "/_sandbox/clock", "/_sandbox/events"] {
            let answer = caller.send(&Request::new("GET", path));
            answer.refused(401, "missing_credentials");
            assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
        }
    });
}

#[test]
fn a_malformed_key_is_no_key() {
    unchanged(|caller| {
        let long = format!("Bearer {}", "k".repeat(256));
        for value in [
            "",
            "Bearer",
            "Bearer ",
            "Basic dXNlcjpwYXNz",
            "test_key",
            "Bearer two words",
            "Bearer schlüssel",
            "Token test_key",
            long.as_str(),
        ] {
            let answer =
                caller.send(&Request::new("GET", EMPLOYEES).header("Authorization", value));
            answer.refused(401, "invalid_api_key");
            assert_eq!(answer.header("www-authenticate"), Some("Bearer"), "{value}");
        }
        let twice = Request::new("GET", EMPLOYEES).key("one").key("two");
        caller.send(&twice).refused(401, "invalid_api_key");
    });
}

#[test]
fn the_scheme_is_written_in_any_case() {
    let caller = Caller::instant();
    for scheme in ["Bearer", "bearer", "BEARER"] {
        let request = Request::new("GET", EMPLOYEES)
            .header("Authorization", &format!("{scheme} test_any_case"));
        caller.send(&request).expect(200);
    }
}

#[test]
fn keys_that_look_live_are_refused_and_not_repeated() {
    unchanged(|caller| {
        for key in ["sk_live_4eC39HqLyjWDarjtT1zdp7dc", "live_abcdef", "LIVE_abcdef", "pk_live_1"] {
            let answer = caller.send(&Request::new("GET", EMPLOYEES).key(key));
            answer.refused(401, "live_key_refused");
            assert!(!answer.text().contains(key));
        }
    });
}

#[test]
fn a_closed_set_of_keys_takes_no_other() {
    let server = Arc::new(Server::start(&["--api-key", "test_one", "--api-key", "test_two"]));
    for key in ["test_one", "test_two"] {
        Caller::with_key(&server, key).get(EMPLOYEES).expect(200);
    }
    for key in ["test_three", "test_on", "test_one1", "TEST_ONE"] {
        Caller::with_key(&server, key).get(EMPLOYEES).refused(401, "invalid_api_key");
    }
    Caller::with_key(&server, "sk_live_1").get(EMPLOYEES).refused(401, "live_key_refused");
}

/// Each step corrects the first fault of the step before it, and keeps the others.
#[test]
fn a_request_with_several_faults_is_refused_for_the_first_in_order() {
    unchanged(|caller| {
        let company = caller.company(0);
        let refused = |request: Request, status: u16, code: &str| {
            caller.send(&request).refused(status, code);
        };
        let typed = |request: Request| request.header("Content-Type", "application/json");
        let big = vec![b'['; 2 << 20];
        let wrong = |request: Request| {
            let request =
                request.header("Idempotency-Key", "a b").header("Content-Type", "text/plain");
            request.bytes(&big)
        };
        let live = |method: &str, path: &str| wrong(Request::new(method, path).key("live_1"));
        refused(live("POST", "/v1/payroll/rum"), 404, "route_not_found");
        refused(live("PUT", RUN), 405, "method_not_allowed");
        refused(live("POST", RUN).header("Sandbox-Scenario", "x"), 401, "live_key_refused");
        let run = caller.request("POST", RUN);
        refused(wrong(run.clone()).header("Sandbox-Scenario", "x"), 400, "unknown_scenario");
        refused(wrong(run.clone()), 415, "unsupported_media_type");
        let keyed = run.clone().header("Idempotency-Key", "a b");
        refused(typed(keyed.clone()).bytes(&big), 413, "payload_too_large");
        refused(typed(keyed.clone()).bytes(b"{"), 400, "malformed_json");
        let body = |company: &str, period: &str| json!({"company_id": company, "period": period});
        refused(keyed.json(&body("com_0", "2026-13")), 400, "idempotency_key_invalid");
        refused(run.clone().json(&body("com_0", "2026-13")), 422, "validation_failed");
        refused(run.clone().json(&body("com_0", "2025-12")), 404, "resource_not_found");
        refused(run.json(&body(&company, "2025-12")), 409, "payroll_period_already_run");
    });
}

#[test]
fn existence_comes_before_permission() {
    let caller = Caller::instant();
    let new = json!({"legal_name": "Lagos Bakery Ltd", "country": "NG", "currency": "NGN"});
    let company = caller.post("/api/business/companies", &new).expect(201)["data"]["id"].take();
    let before = caller.digest();
    let body =
        json!({"company_id": company, "period": "2026-01", "employees": ["emp_0000000000000"]});
    caller.post(RUN, &body).refused(404, "resource_not_found");
    assert_eq!(caller.digest(), before);
}
