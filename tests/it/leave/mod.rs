//! Leave: requests, decisions, and the effects of the clock.

mod balance;
mod clock;
mod requests;

use serde_json::{Value, json};

use crate::harness::Caller;
use crate::harness::http::Answer;
use crate::harness::world::id;

const REQUESTS: &str = "/api/business/leave-requests";

/// The active grown employees of a company, by id.
fn at_work(caller: &Caller, company: usize) -> Vec<String> {
    let company = caller.company(company);
    let people = caller.all(&format!(
        "/api/business/employees?company_id={company}&status=active&payroll_status=verified"
    ));
    people.iter().map(|person| id(person).to_owned()).collect()
}

/// Requests annual leave, with the changes of `more`.
fn ask(caller: &Caller, employee: &str, days: [&str; 2], more: &Value) -> Answer {
    let mut body = json!({
        "employee_id": employee, "type": "annual", "start_date": days[0], "end_date": days[1],
    });
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    caller.post(REQUESTS, &body)
}

fn decide(caller: &Caller, request: &Value, decision: &str) -> Answer {
    let target = format!("{REQUESTS}/{}/decide", id(request));
    caller.post(&target, &json!({"decision": decision}))
}

/// An approved request, in its state after the approval.
fn approved(caller: &Caller, employee: &str, days: [&str; 2], kind: &str) -> Value {
    let asked = ask(caller, employee, days, &json!({"type": kind})).expect(201);
    decide(caller, &asked["data"], "approve").data()
}

fn request(caller: &Caller, of: &Value) -> Value {
    caller.get(&format!("{REQUESTS}/{}", id(of))).data()
}

fn employee(caller: &Caller, employee: &str) -> Value {
    caller.get(&format!("/api/business/employees/{employee}")).data()
}

fn act(caller: &Caller, employee: &str, verb: &str, body: &Value) -> Answer {
    caller.post(&format!("/api/business/employees/{employee}/{verb}"), body)
}

/// An employee's history since the world's start: statuses and reasons.
fn history(caller: &Caller, person: &str) -> Vec<(String, String)> {
    let history = employee(caller, person)["status_history"].take();
    let lines = history.as_array().unwrap().iter();
    let since = lines.filter(|line| line["at"].as_str().unwrap() >= "2026");
    since
        .map(|line| {
            (
                line["status"].as_str().unwrap().to_owned(),
                line["reason"].as_str().unwrap_or_default().to_owned(),
            )
        })
        .collect()
}
