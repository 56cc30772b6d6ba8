//! A world with many inputs, whose replay uses several threads.

use std::path::Path;

use serde_json::json;

use super::write_ahead_log::{file, frame, frames, serve_logged};
use super::{hire, session};
use crate::harness::Caller;

/// More than the replay of one thread has.
const INPUTS: usize = 700;

/// Changes the recorded check of these inputs, as another build would have made it.
pub(super) fn change_checks(folder: &Path, inputs: &[usize]) {
    const CHECK: &str = "\"check\":\"";
    let bytes = std::fs::read(file(folder)).unwrap();
    let mut changed = bytes[..8].to_vec();
    for (_, payload) in frames(&bytes) {
        let mut payload = String::from_utf8(payload.to_vec()).unwrap();
        let is_one =
            |input: &usize| payload.starts_with(&format!("{{\"input\":{{\"seq\":{input},"));
        if inputs.iter().any(is_one) {
            let digit = payload.find(CHECK).unwrap() + CHECK.len() + 3;
            let other = if &payload[digit..=digit] == "0" { "1" } else { "0" };
            payload.replace_range(digit..=digit, other);
        }
        changed.extend(frame(payload.as_bytes()));
    }
    std::fs::write(file(folder), changed).unwrap();
}

fn hire_once(caller: &Caller, company: &str, key: &str) -> crate::harness::Answer {
    let body = json!({"company_id": company, "name": "Ada Obi", "role": "Baker", "department": "Kitchen", "start_date": "2026-02-02"});
    let request = caller.request("POST", "/api/business/employees").json(&body);
    caller.send(&request.header("Idempotency-Key", key))
}

#[test]
fn a_long_world_returns_and_the_first_input_that_differs_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let (server, caller) = serve_logged(folder.path(), &[]);
    session(&caller);
    let company = caller.company(0);
    for _ in 0..INPUTS {
        hire(&caller, &company, "Ben Obi").expect(201);
    }
    let kept = hire_once(&caller, &company, "once");
    let (digest, events) = (caller.digest(), caller.events());
    drop((server, caller));

    let (server, caller) = serve_logged(folder.path(), &[]);
    assert_eq!(caller.digest(), digest);
    assert_eq!(caller.events(), events);
    let again = hire_once(&caller, &company, "once");
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!((again.body, caller.digest()), (kept.body, digest));
    caller.audit();
    drop((server, caller));

    change_checks(folder.path(), &[500, 300, 301]);
    let (server, caller) = serve_logged(folder.path(), &[]);
    let refusal = caller.get("/api/business/employees");
    refusal.refused(500, "internal_error");
    let said = String::from_utf8_lossy(&refusal.body).into_owned();
    assert!(said.contains("input 300 ") && said.contains("check"), "{said}");
    Caller::with_key(&server, "test_other").get("/api/business/employees").expect(200);

    // The key can be used again.
    caller.post("/_sandbox/reset", &json!({})).refused(500, "internal_error");
    caller.send(&caller.request("DELETE", "/_sandbox/world")).expect(200);
    hire(&caller, &company, "Cem Obi").expect(201);
    let digest = caller.digest();
    drop((server, caller));
    let (_server, caller) = serve_logged(folder.path(), &[]);
    assert_eq!(caller.digest(), digest);
}
