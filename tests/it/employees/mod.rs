//! Employment from the contract to the last day: payable employees, the checks before, and runs that wait.

mod account;
mod employment;
mod input;
mod newcomers;
mod runs;
mod terms;

use serde_json::{Value, json};

use crate::harness::Caller;
use crate::harness::http::Answer;
use crate::harness::world::id;

fn path(employee: &str) -> String {
    format!("/api/business/employees/{employee}")
}

/// A new employee of this company, without an account.
fn hire(caller: &Caller, company: &str, more: &Value) -> String {
    let mut body = json!({
        "company_id": company, "name": "Ada Obi", "role": "Accountant", "department": "Finance",
        "start_date": "2026-02-02",
    });
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    let created = caller.post("/api/business/employees", &body).expect(201);
    id(&created["data"]).to_owned()
}

fn employee(caller: &Caller, employee: &str) -> Value {
    caller.get(&path(employee)).data()
}

fn put(caller: &Caller, employee: &str, what: &str, body: &Value) -> Answer {
    let target = format!("{}/{what}", path(employee));
    caller.send(&caller.request("PUT", &target).json(body))
}

fn set_account(caller: &Caller, employee: &str, more: &Value) -> Answer {
    let mut body = json!({"type": "bank", "bank_code": "058", "account_number": "9999999900"});
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    put(caller, employee, "payment-method", &body)
}

fn act(caller: &Caller, employee: &str, verb: &str, body: &Value) -> Answer {
    caller.post(&format!("{}/{verb}", path(employee)), body)
}

fn pay() -> Value {
    json!({"amount": 45_000_000, "currency": "NGN", "interval": "month"})
}

/// The last verification in the events.
fn last_verification(caller: &Caller) -> Value {
    let events =
        caller.all("/_sandbox/events?type=bank_account_verification.completed&sort=sequence");
    events.last().expect("a check was finished")["data"]["object"].clone()
}
