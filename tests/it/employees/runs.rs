//! Runs that wait for approval, for money, or for a cancellation.

use serde_json::{Value, json};

use super::put;
use crate::harness::Caller;
use crate::harness::http::Answer;
use crate::harness::world::{id, number, platform_fee};

fn verb(caller: &Caller, run: &Value, verb: &str, body: &Value) -> Answer {
    caller.post(&format!("/api/business/payroll-runs/{}/{verb}", id(run)), body)
}

fn ask_for_approval(caller: &Caller, company: &str) {
    let change = json!({"payroll_settings": {"approval_required": true}});
    caller.patch(&format!("/api/business/companies/{company}"), &change).expect(200);
}

fn wallet(caller: &Caller, company: &str) -> Value {
    caller.all(&format!("/api/payments/wallets?company_id={company}")).remove(0)
}

fn liabilities(caller: &Caller, query: &str) -> Vec<Value> {
    caller.all(&format!("/api/business/tax-liabilities?{query}"))
}

#[test]
fn an_approved_run_is_paid() {
    for caller in [Caller::instant(), Caller::manual()] {
        let company = caller.company(0);
        ask_for_approval(&caller, &company);
        let run = caller.run_payroll(&company, "2026-01");
        caller.advance(&json!({"by": "2s"}));
        assert_eq!(caller.run(id(&run))["status"], "pending_approval");
        let body = json!({"approver": "Ada Obi", "note": "as agreed"});
        let approved = verb(&caller, &run, "approve", &body).data();
        assert_eq!(approved["status"], "approved");
        let last = approved["status_history"].as_array().unwrap().last().unwrap();
        assert_eq!(last["reason"], "by Ada Obi: as agreed");
        let again = verb(&caller, &run, "approve", &body).expect(409);
        assert!(["approved", "paid"].contains(&again["current"].as_str().unwrap()), "{again}");
        caller.advance(&json!({"until": "idle"}));
        assert_eq!(caller.run(id(&run))["status"], "paid");
        caller.audit();
    }
}

#[test]
fn a_cancelled_run_leaves_no_liability_and_frees_its_employees() {
    let caller = Caller::manual();
    let company = caller.company(0);
    let accounts = || caller.all(&format!("/api/business/ledger-accounts?company_id={company}"));
    let before: Vec<Value> = accounts().iter().map(|a| a["balance"].clone()).collect();
    let run = caller.run_payroll(&company, "2026-01");
    caller.advance(&json!({"by": "2s"}));
    assert_eq!(caller.run(id(&run))["status"], "approved");
    assert!(liabilities(&caller, "status=accrued").len() > 1);
    let cancelled = verb(&caller, &run, "cancel", &json!({"reason": "Wrong period"})).data();
    assert_eq!(cancelled["status"], "cancelled");
    let after: Vec<Value> = accounts().iter().map(|a| a["balance"].clone()).collect();
    assert_eq!(before, after);
    assert_eq!(liabilities(&caller, "status=accrued").len(), 0);
    assert!(liabilities(&caller, "status=void").len() > 1);
    let items = caller.all(&format!("/api/business/payroll-runs/{}/items", id(&run)));
    assert!(items.iter().all(|item| item["status"] == "skipped"));
    let other = caller.run_payroll(&company, "2026-01");
    caller.advance(&json!({"until": "idle"}));
    assert_eq!(caller.run(id(&other))["status"], "paid");
    assert_eq!(caller.run(id(&run))["status"], "cancelled", "its timer finds nothing to do");
    let late = verb(&caller, &other, "cancel", &json!({})).expect(409);
    assert_eq!(late["current"], "paid");
    caller.audit();
}

#[test]
fn a_funding_retry_with_too_little_money_fails_again() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let person = caller.payable(&company).remove(0);
    let pay = json!({"amount": 900_000_000_000_i64, "currency": "NGN", "interval": "month"});
    put(&caller, &person, "compensation", &pay).expect(200);
    let body = json!({"company_id": company, "period": "2026-01", "employees": [person]});
    let run = caller.post("/v1/payroll/run", &body).expect(201)["data"].take();
    assert_eq!(caller.run(id(&run))["status"], "funding_failed");
    let tried = verb(&caller, &run, "retry-funding", &json!({})).data();
    assert_eq!(tried["status"], "funding_failed");
    let needed = number(&tried["funding"]["required"]) + platform_fee(&tried);
    let short = needed - number(&wallet(&caller, &company)["available"]);
    assert_eq!(number(&tried["funding"]["shortfall"]), short);
    let failed = caller.all("/_sandbox/events?type=payroll_run.funding_failed");
    assert_eq!(failed.len(), 2);
    let cancelled = verb(&caller, &run, "cancel", &json!({})).data();
    assert_eq!(cancelled["blockers"], json!([]));
    let refused = verb(&caller, &run, "retry-funding", &json!({})).expect(409);
    assert_eq!((&refused["current"], &refused["allowed"]), (&json!("cancelled"), &json!([])));
    caller.audit();
}
