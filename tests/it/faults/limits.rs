//! Limits of rate and latency for every call.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::EMPLOYEES;
use crate::harness::Caller;
use crate::harness::http::{Answer, pointers};

fn set(caller: &Caller, limits: &Value) -> Answer {
    caller.send(&caller.request("PUT", "/_sandbox/limits").json(limits))
}

#[test]
fn beyond_the_rate_a_call_is_refused_until_the_window_ends() {
    let caller = Caller::instant();
    assert_eq!(caller.get(EMPLOYEES).header("ratelimit"), None);
    set(&caller, &json!({"rate": "2/2s"})).expect(200);
    let first = caller.get(EMPLOYEES);
    first.expect(200);
    assert_eq!(first.header("ratelimit-policy"), Some("\"default\";q=2;w=2"));
    assert_eq!(first.header("ratelimit"), Some("\"default\";r=1;t=2"));
    caller.get("/_sandbox/clock").expect(200);
    // Refusals count, too; control routes do not.
    caller.get("/api/business/employees?unknown=1").refused(422, "validation_failed");
    let refused = caller.get(EMPLOYEES);
    refused.refused(429, "rate_limited");
    let wait: u64 = refused.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=2).contains(&wait), "{wait}");
    assert!(refused.header("ratelimit").unwrap().starts_with("\"default\";r=0;t="));
    assert_eq!(refused.header("sandbox-decision"), Some("fault=limits"));
    let started = Instant::now();
    while caller.get(EMPLOYEES).status == 429 {
        assert!(started.elapsed() < Duration::from_secs(30), "the window never ends");
    }
    set(&caller, &json!({})).expect(200);
    assert_eq!(caller.get(EMPLOYEES).header("ratelimit"), None);
}

#[test]
fn latency_of_every_call_is_no_longer_than_its_spread_allows() {
    let caller = Caller::instant();
    let limits = set(&caller, &json!({"latency": "120ms", "spread": "20ms"})).data();
    let expected = json!({"rate": null, "latency": "120ms", "spread": "20ms",
        "platform_fee": "standard", "monthly_fee": 0});
    assert_eq!(limits, expected);
    for _ in 0..3 {
        let started = Instant::now();
        caller.get(EMPLOYEES).expect(200);
        assert!(started.elapsed() >= Duration::from_millis(100));
    }
}

#[test]
fn invalid_limits_are_refused_and_the_old_ones_remain() {
    let caller = Caller::instant();
    set(&caller, &json!({"rate": "100/min"})).expect(200);
    let wrong = json!({"rate": "fast", "latency": "2bd", "spread": "1ms"});
    let problem = set(&caller, &wrong).refused(422, "validation_failed");
    assert_eq!(pointers(&problem), ["/latency", "/rate", "/spread"]);
    let limits = caller.get("/_sandbox/limits").data();
    assert_eq!(limits["rate"], json!({"requests": 100, "window": "1m"}));
}
