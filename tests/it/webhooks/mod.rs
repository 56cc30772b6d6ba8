//! Webhooks: the content and the time of deliveries, and the effects of answers.

mod clock;
mod commands;
mod delivering;
mod endpoints;
mod hostile;
mod traced;

use serde_json::{Value, json};

use crate::harness::Caller;
use crate::harness::receiver::Receiver;

/// Creates an endpoint for this receiver and returns its id and its secret.
fn endpoint(caller: &Caller, receiver: &Receiver, more: &Value) -> (String, String) {
    let mut body = json!({"url": receiver.url()});
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    let made = caller.post("/_sandbox/webhook-endpoints", &body).made();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    (text(&made["endpoint"]["id"]), text(&made["secret"]))
}

/// Every delivery of an endpoint.
fn deliveries(caller: &Caller, endpoint: &str) -> Vec<Value> {
    caller.all(&format!("/_sandbox/webhook-endpoints/{endpoint}/deliveries"))
}

/// A call that emits one event at once: a payroll run.
fn run_payroll(caller: &Caller) {
    let company = caller.company(0);
    caller.run_payroll(&company, "2026-01");
}

fn texts<'a>(rows: &'a [Value], member: &str) -> Vec<&'a str> {
    rows.iter().map(|row| row[member].as_str().unwrap()).collect()
}
