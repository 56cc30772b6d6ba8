//! Compliance requirements, the audit log and regulatory reports.

mod audit_log;
mod reports;
mod requirements;

use serde_json::{Value, json};

use crate::harness::Caller;
use crate::harness::world::id;

const REQUIREMENTS: &str = "/api/business/compliance-requirements";

/// A new Nigerian company, and its one requirement.
fn create_company(caller: &Caller) -> (String, Value) {
    let body = json!({"legal_name": "Lagos Bakery Ltd", "country": "NG", "currency": "NGN"});
    let company = caller.post("/api/business/companies", &body).expect(201)["data"].take();
    let requirement = company["blockers"][0].clone();
    (id(&company).to_owned(), requirement)
}

fn resolve(caller: &Caller, requirement: &Value, evidence: &Value) -> crate::harness::Answer {
    let target = format!("{REQUIREMENTS}/{}/resolve", id(requirement));
    caller.post(&target, &json!({"evidence": evidence}))
}

/// An employee whom this company can pay after the check of the account.
fn hire(caller: &Caller, company: &str, account: &str) -> String {
    let body = json!({
        "company_id": company, "name": "Ada Obi", "role": "Baker", "department": "Bakery",
        "start_date": "2026-01-01", "tax_id": "1023456789",
        "compensation": {"amount": 45_000_000, "currency": "NGN", "interval": "month"},
    });
    let hired = caller.post("/api/business/employees", &body).expect(201)["data"].take();
    let path = format!("/api/business/employees/{}", id(&hired));
    let account = json!({"type": "bank", "bank_code": "058", "account_number": account});
    let put = caller.request("PUT", &format!("{path}/payment-method"));
    caller.send(&put.json(&account)).expect(200);
    if hired["status"] == "pending" {
        let active = caller.post(&format!("{path}/activate"), &json!({}));
        assert!(matches!(active.status, 200 | 409), "{}", active.text());
    }
    id(&hired).to_owned()
}

/// Types of the events from this position of the event log.
fn events_after(caller: &Caller, sequence: usize) -> Vec<String> {
    let events = caller.all(&format!("/_sandbox/events?after={sequence}"));
    let name = |event: &Value| event["type"].as_str().unwrap().to_owned();
    events.iter().map(name).collect()
}
