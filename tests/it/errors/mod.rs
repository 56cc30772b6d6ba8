//! Bad input: each refusal is a clear problem document, and the world and the process stay unchanged.

mod bodies;
mod clock;
mod keys;
mod routes;

use serde_json::{Value, json};

use crate::harness::{Answer, Caller};

const EMPLOYEES: &str = "/api/business/employees";
const RUN: &str = "/v1/payroll/run";

fn employee(company: &str) -> Value {
    json!({"company_id": company, "name": "Ada Obi", "role": "Baker", "department": "Kitchen", "start_date": "2026-02-02"})
}

/// A body as text, with its content type.
fn text(caller: &Caller, path: &str, body: &[u8]) -> Answer {
    let request = caller.request("POST", path).header("Content-Type", "application/json");
    caller.send(&request.bytes(body))
}

/// Runs `bad` in a fresh world, which must not change.
#[track_caller]
fn unchanged(bad: impl FnOnce(&Caller)) {
    let caller = Caller::instant();
    let before = caller.digest();
    bad(&caller);
    assert_eq!(caller.digest(), before, "a refused request changed the world");
}
