//! Events on demand: a second time in one world, and for another company.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::harness::{Caller, Server};

fn trigger(caller: &Caller, event: &str, own: &Value) -> Value {
    caller.post("/_sandbox/trigger", &json!({"type": event, "override": own})).data()["event"]
        .take()
}

#[test]
fn a_loan_is_repaid_on_demand_more_than_once() {
    let caller = Caller::manual();
    let repaid = || trigger(&caller, "loan.repaid", &json!({}))["data"]["object"]["id"].take();
    let first = repaid();
    assert_ne!(first, repaid());
    assert!(first.is_string());
}

#[test]
fn a_payroll_event_is_of_the_company_that_is_named() {
    for event in ["payout.returned", "payroll_run.paid"] {
        let caller = Caller::instant();
        for company in [caller.company(1), caller.company(2)] {
            let own = json!({"company_id": company});
            let object = trigger(&caller, event, &own)["data"]["object"].take();
            assert_eq!(object["company_id"], company.as_str(), "{event}");
        }
    }
}

#[test]
fn loans_and_tax_filings_happen_on_demand_also_in_months_after_the_start() {
    let caller = Caller::instant();
    for by in ["10d", "20d", "28d"] {
        caller.advance(&json!({"by": by}));
        for event in [
            "application.approved",
            "application.withdrawn",
            "offer.declined",
            "loan.created",
            "loan.repaid",
            "tax_filing.created",
            "tax_filing.blocked",
            "tax_filing.amended",
            "tax_liability.paid",
        ] {
            assert_eq!(trigger(&caller, event, &json!({}))["type"], event, "{by}");
        }
    }
}

#[test]
fn a_filing_happens_on_demand_on_the_last_evening_of_a_month() {
    let server = Server::start(&["--start", "2026-03-31T23:00:00Z"]);
    let caller = Caller::with_key(&Arc::new(server), "test_evening");
    let filing = trigger(&caller, "tax_filing.created", &json!({}));
    assert_eq!(filing["data"]["object"]["object"], "tax_filing");
}

#[test]
fn an_application_of_a_company_with_overdue_taxes_is_refused_with_that_reason() {
    let caller = Caller::instant();
    caller.advance(&json!({"by": "10d"}));
    let before = caller.digest();
    let body = json!({"type": "application.approved", "override": {"company_id": "@company:1"}});
    let problem = caller.post("/_sandbox/trigger", &body).expect(422);
    let detail = problem["detail"].as_str().unwrap();
    assert!(detail.contains("taxes are overdue: "), "{detail}");
    assert!(!detail.contains(".toml"), "{detail}");
    assert_eq!(caller.digest(), before);
}

#[test]
fn a_mistake_of_an_override_has_the_place_of_the_override_and_names_the_call() {
    let caller = Caller::instant();
    let body = json!({"type": "payout.returned", "override": {"amount": 5}});
    let problem = caller.post("/_sandbox/trigger", &body).expect(422);
    assert_eq!(problem["errors"][0]["pointer"], "/override/amount");
    let detail = problem["detail"].as_str().unwrap();
    assert!(detail.starts_with("/override/amount: ") && detail.contains("runPayroll"), "{detail}");
}

/// A pay schedule without employees would set its next timer for ever.
#[test]
fn a_world_without_employees_answers_every_trigger() {
    let server = Arc::new(Server::start(&["--companies", "1", "--employees-per-company", "0"]));
    let document = crate::harness::contract::product();
    for name in document["webhooks"].as_object().unwrap().keys() {
        let caller = Caller::with_key(&server, &format!("test_{}", name.replace('.', "_")));
        let answer = caller.post("/_sandbox/trigger", &json!({"type": name}));
        if answer.status != 200 {
            let problem = answer.json();
            assert!(matches!(answer.status, 404 | 409 | 422), "{name}: {problem}");
        }
        if name.starts_with("payroll_run.approval_") {
            let problem = answer.refused(422, "validation_failed");
            assert_eq!(problem["errors"][0]["pointer"], "/type", "{problem}");
        }
    }
}
