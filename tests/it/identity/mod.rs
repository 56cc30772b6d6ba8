//! Identity: verification and screening of people and businesses, and their effects.

mod aml;
mod monitoring;
mod subjects;
mod trust;
mod verifications;

use serde_json::{Value, json};

use crate::harness::Caller;
use crate::harness::http::Answer;
use crate::harness::world::id;

const SUBJECTS: &str = "/api/identity/subjects";
const CASES: &str = "/api/identity/verifications";
const SCREENINGS: &str = "/api/identity/aml-screenings";
const ALERTS: &str = "/api/identity/aml-alerts";

/// A person with this last name; `more` adds members.
fn person(caller: &Caller, last: &str, more: &Value) -> Value {
    let mut body =
        json!({"type": "person", "name": {"first": "Ada", "last": last}, "country": "NG"});
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    caller.post(SUBJECTS, &body).made()
}

/// A company that waits for its verification, and its business subject.
fn business(caller: &Caller) -> (String, Value) {
    let body = json!({"legal_name": "Lagos Bakery Ltd", "country": "NG", "currency": "NGN"});
    let company = caller.post("/api/business/companies", &body).made();
    let company = id(&company).to_owned();
    let body = json!({"type": "business", "legal_name": "Lagos Bakery Ltd", "country": "NG", "company_id": company});
    (company, caller.post(SUBJECTS, &body).made())
}

fn document(caller: &Caller, subject: &Value, kind: &str, token: &str) -> Value {
    let target = format!("{SUBJECTS}/{}/documents", id(subject));
    caller.post(&target, &json!({"type": kind, "document_token": token})).made()
}

fn open(caller: &Caller, subject: &Value, level: &str) -> Value {
    let kind = if subject["type"] == "person" { "kyc" } else { "kyb" };
    let body = json!({"subject_id": id(subject), "type": kind, "level": level});
    caller.post(CASES, &body).made()
}

fn submit(caller: &Caller, case: &Value, documents: &[&Value]) -> Answer {
    let ids: Vec<&str> = documents.iter().map(|document| id(document)).collect();
    let target = format!("{CASES}/{}/submit", id(case));
    caller.post(&target, &json!({"consent": true, "document_ids": ids}))
}

fn review(caller: &Caller, case: &Value, body: &Value) -> Answer {
    caller.post(&format!("{CASES}/{}/review", id(case)), body)
}

fn case(caller: &Caller, of: &Value) -> Value {
    caller.get(&format!("{CASES}/{}", id(of))).data()
}

fn subject(caller: &Caller, of: &Value) -> Value {
    caller.get(&format!("{SUBJECTS}/{}", id(of))).data()
}

/// A person with this last name whose case without documents was submitted.
fn submitted(caller: &Caller, last: &str) -> (Value, Value) {
    let registered = person(caller, last, &json!({}));
    let case = open(caller, &registered, "basic");
    submit(caller, &case, &[]).expect(202);
    (registered, case)
}

fn screen(caller: &Caller, subject: &Value, more: &Value) -> Value {
    let mut body = json!({"subject_id": id(subject)});
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    let screening = caller.post(SCREENINGS, &body).expect(202)["data"].take();
    assert_eq!(screening["status"], "processing");
    screening
}

fn screening(caller: &Caller, of: &Value) -> Value {
    caller.get(&format!("{SCREENINGS}/{}", id(of))).data()
}

fn resolve(caller: &Caller, alert: &str, resolution: &str) -> Answer {
    let body = json!({"resolution": resolution, "note": "Looked at it"});
    caller.post(&format!("{ALERTS}/{alert}/resolve"), &body)
}

fn statuses(resource: &Value) -> Vec<&str> {
    let history = resource["status_history"].as_array().unwrap();
    history.iter().map(|change| change["status"].as_str().unwrap()).collect()
}
