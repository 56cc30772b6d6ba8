//! Payouts held by confirmed alerts, and the findings of the monitoring of payouts and collections.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{ALERTS, SUBJECTS, person, resolve, screen, screening, subject};
use crate::harness::world::{id, number};
use crate::harness::{Caller, Server};

/// A verified beneficiary of the first company, at a bank of this country.
fn payee(caller: &Caller, account: &Value) -> String {
    let body = json!({"company_id": caller.company(0), "name": "Adaeze Supplies Ltd", "type": "business", "account": account});
    id(&caller.post("/api/payments/beneficiaries", &body).made()).to_owned()
}

fn local(caller: &Caller) -> String {
    payee(
        caller,
        &json!({"bank_code": "011", "account_number": "0000014579", "country": "NG", "currency": "NGN"}),
    )
}

fn wallet(caller: &Caller) -> String {
    let wallets = caller.all(&format!("/api/payments/wallets?company_id={}", caller.company(0)));
    id(&wallets[0]).to_owned()
}

fn pay(caller: &Caller, payee: &str, amount: i64) -> Value {
    let body = json!({"company_id": caller.company(0), "wallet_id": wallet(caller), "beneficiary_id": payee,
        "amount": amount, "currency": "NGN", "rail": "instant", "reference": "Flour"});
    caller.post("/api/payments/payouts", &body).made()
}

fn payout(caller: &Caller, of: &Value) -> Value {
    caller.get(&format!("/api/payments/payouts/{}", id(of))).data()
}

/// A confirmed alert about a person of the first company.
fn confirm(caller: &Caller, more: &Value) -> String {
    let owner = person(caller, "Sanctioned", more);
    let asked = screen(caller, &owner, &json!({}));
    caller.advance(&json!({"by": "5s"}));
    let alert = screening(caller, &asked)["alert_id"].as_str().unwrap().to_owned();
    resolve(caller, &alert, "true_positive").expect(200);
    alert
}

#[test]
fn a_confirmed_alert_holds_the_payouts_of_its_company() {
    let caller = Caller::manual();
    let adaeze = local(&caller);
    caller.advance(&json!({"by": "30s"}));
    // Standard payouts leave on a business day: the world begins on a holiday.
    let body = json!({"company_id": caller.company(0), "wallet_id": wallet(&caller), "beneficiary_id": adaeze,
        "amount": 10_000, "currency": "NGN", "rail": "standard", "reference": "Flour"});
    let waiting = caller.post("/api/payments/payouts", &body).made();
    assert_eq!(waiting["status"], "queued");
    confirm(&caller, &json!({"company_id": caller.company(0)}));
    assert_eq!(payout(&caller, &waiting)["status"], "on_hold");
    let later = pay(&caller, &adaeze, 10_000);
    caller.advance(&json!({"by": "5d"}));
    for one in [&waiting, &later] {
        let held = payout(&caller, one);
        assert_eq!(held["status"], "on_hold");
        let history = held["status_history"].as_array().unwrap();
        assert_eq!(history.last().unwrap()["reason"], "a confirmed alert freezes payouts");
    }
    let cancelled =
        caller.post(&format!("/api/payments/payouts/{}/cancel", id(&later)), &json!({}));
    assert_eq!(cancelled.data()["status"], "cancelled");
    caller.audit();
}

#[test]
fn a_confirmed_alert_about_an_employee_holds_theirs_alone() {
    let caller = Caller::manual();
    let company = caller.company(0);
    let people = caller.payable(&company);
    confirm(&caller, &json!({"employee_id": people[0]}));
    let employee = caller.get(&format!("/api/business/employees/{}", people[0])).data();
    assert_eq!(employee["payroll_status"], "on_hold");
    let adaeze = local(&caller);
    caller.advance(&json!({"by": "30s"}));
    let vendor = pay(&caller, &adaeze, 10_000);
    caller.advance(&json!({"by": "1m"}));
    assert_eq!(payout(&caller, &vendor)["status"], "paid");
    caller.audit();
}

#[test]
fn a_report_of_suspicious_activity_contains_confirmed_alerts() {
    let caller = Caller::manual();
    let company = caller.company(0);
    let alert = confirm(&caller, &json!({"company_id": company}));
    let body = json!({"company_id": company, "type": "suspicious_activity", "period": "2026-01"});
    let report = caller.post("/api/business/regulatory-reports", &body).made();
    let findings = report["contents"]["findings"].as_array().unwrap();
    let found = findings.iter().find(|finding| finding["rule"] == "confirmed_alert");
    assert_eq!(found.unwrap()["resources"][0]["id"], alert);
}

#[test]
fn several_payouts_just_below_the_threshold_are_structuring() {
    let caller = Caller::instant();
    fund(&caller);
    let (adaeze, threshold) = (local(&caller), threshold(&caller));
    let business = json!({"type": "business", "legal_name": "First Ltd", "country": "NG", "company_id": caller.company(0)});
    let first = caller.post(SUBJECTS, &business).made();
    for amount in [threshold - 1, threshold - 2] {
        pay(&caller, &adaeze, amount);
    }
    assert_eq!(caller.all(ALERTS).len(), 0);
    pay(&caller, &adaeze, threshold - 3);
    let alerts = caller.all(ALERTS);
    assert_eq!(alerts.len(), 1);
    let alert = &alerts[0];
    assert_eq!(alert["rule"], "structuring");
    let detail = alert["detail"].as_str().unwrap();
    assert!(detail.contains("amounts within 5 days are just below"), "{detail}");
    assert_eq!(alert["subject_id"], first["id"]);
    assert_eq!(alert["amount"], 3 * threshold - 6);
    assert_eq!(alert["resources"].as_array().unwrap().len(), 3);
    // A rule with a finding makes no further report while its alert is open.
    pay(&caller, &adaeze, threshold - 4);
    assert_eq!(caller.all(ALERTS).len(), 1);
    // The risk of the subject follows the alert, and after its dismissal the latest screening.
    let risk = || subject(&caller, &first)["risk_level"].clone();
    assert_eq!((&alert["severity"], risk()), (&json!("high"), json!("high")));
    resolve(&caller, id(alert), "false_positive").expect(200);
    assert_eq!(risk(), "unknown");
    screen(&caller, &first, &json!({}));
    assert_eq!(risk(), "low");
    caller.audit();
}

#[test]
fn money_to_a_country_of_the_list_is_noticed() {
    let caller = Caller::instant();
    let account = json!({"bank_code": "010123", "account_number": "0123456789", "country": "KP", "currency": "NGN"});
    let far = payee(&caller, &account);
    pay(&caller, &far, 10_000);
    let alerts = caller.all(ALERTS);
    assert_eq!(alerts.len(), 1);
    assert_eq!(alerts[0]["rule"], "high_risk_corridor");
}

#[test]
fn many_collections_of_a_day_are_too_fast() {
    let caller = Caller::instant();
    let company = caller.company(0);
    for number in 0..40 {
        let body = json!({"company_id": company, "amount": 10_000, "currency": "NGN", "method": "card",
            "payer": {"name": "Chidi Eze"}, "reference": format!("sale-{number}")});
        caller.post("/api/payments/collections", &body).expect(201);
    }
    let alerts = caller.all(ALERTS);
    assert_eq!(alerts.len(), 1, "{alerts:?}");
    assert_eq!(alerts[0]["rule"], "velocity");
    caller.audit();
}

/// The reporting threshold of large transactions of the first company.
fn threshold(caller: &Caller) -> i64 {
    let body =
        json!({"company_id": caller.company(0), "type": "large_transactions", "period": "2026-01"});
    let report = caller.post("/api/business/regulatory-reports", &body).made();
    number(&report["contents"]["thresholds"][0]["amount"])
}

/// Fills the wallet of the first company, so that it can pay several such amounts.
fn fund(caller: &Caller) {
    let transfer =
        json!({"company_id": caller.company(0), "amount": 100_000_000_000_i64, "from": "owner"});
    caller.post("/_sandbox/inbound/bank_transfer", &transfer).expect(200);
}

/// Pays by the standard rail, and cancels the payout before it is sent.
fn pay_and_cancel(caller: &Caller, payee: &str, amount: i64) {
    let body = json!({"company_id": caller.company(0), "wallet_id": wallet(caller), "beneficiary_id": payee,
        "amount": amount, "currency": "NGN", "rail": "standard", "reference": "Flour"});
    let waiting = caller.post("/api/payments/payouts", &body).made();
    let cancelled =
        caller.post(&format!("/api/payments/payouts/{}/cancel", id(&waiting)), &json!({}));
    assert_eq!(cancelled.data()["status"], "cancelled");
}

fn rules_found(caller: &Caller) -> Vec<Value> {
    caller.all(ALERTS).iter_mut().map(|alert| alert["rule"].take()).collect()
}

#[test]
fn payouts_that_never_moved_money_are_not_structuring() {
    let caller = Caller::manual();
    fund(&caller);
    let (adaeze, amount) = (local(&caller), threshold(&caller) - 1);
    caller.advance(&json!({"by": "30s"}));
    pay_and_cancel(&caller, &adaeze, amount);
    let body = json!({"company_id": caller.company(0), "wallet_id": wallet(&caller), "beneficiary_id": adaeze,
        "amount": amount, "currency": "NGN", "rail": "instant", "reference": "Flour"});
    let request = caller.request("POST", "/api/payments/payouts").json(&body);
    let failing =
        caller.send(&request.header("Sandbox-Scenario", "payout.settle=rail_down")).made();
    caller.advance(&json!({"by": "1h"}));
    assert_eq!(payout(&caller, &failing)["status"], "failed");
    let paid = pay(&caller, &adaeze, amount);
    caller.advance(&json!({"by": "1h"}));
    assert_eq!(payout(&caller, &paid)["status"], "paid");
    assert_eq!(rules_found(&caller), [""; 0]);
}

#[test]
fn cancelled_payouts_are_neither_fast_nor_usual() {
    let caller = Caller::manual();
    fund(&caller);
    let (adaeze, large) = (local(&caller), threshold(&caller) / 2);
    caller.advance(&json!({"by": "30s"}));
    for _ in 0..39 {
        pay_and_cancel(&caller, &adaeze, large);
    }
    for _ in 0..5 {
        pay(&caller, &adaeze, large / 20);
    }
    caller.advance(&json!({"by": "1h"}));
    assert_eq!(rules_found(&caller), [""; 0]);
    pay(&caller, &adaeze, large);
    caller.advance(&json!({"by": "1h"}));
    assert_eq!(rules_found(&caller), ["sudden_change"]);
    caller.audit();
}

#[test]
fn wages_do_not_hide_earlier_payouts() {
    let flags = ["--companies", "1", "--employees-per-company", "150", "--countries", "NG"];
    let server = Server::start(&[&flags[..], &["--clock", "manual"]].concat());
    let caller = Caller::of(&Arc::new(server));
    fund(&caller);
    let (adaeze, amount) = (local(&caller), threshold(&caller) - 1);
    caller.advance(&json!({"by": "30s"}));
    for _ in 0..2 {
        pay(&caller, &adaeze, amount);
    }
    let run = caller.run_payroll(&caller.company(0), "2026-01");
    caller.advance(&json!({"by": "1h"}));
    let pay_now = json!({"to": "processing"});
    caller.post(&format!("/_sandbox/resources/{}/transition", id(&run)), &pay_now).expect(200);
    assert!(number(&caller.run(id(&run))["employee_count"]) > 64);
    assert_eq!(rules_found(&caller), [""; 0]);
    pay(&caller, &adaeze, amount);
    caller.advance(&json!({"by": "1h"}));
    assert_eq!(rules_found(&caller), ["structuring"]);
    caller.audit();
}

fn person_at_work(caller: &Caller, person: &str) -> Value {
    caller.get(&format!("/api/business/employees/{person}")).data()
}

#[test]
fn wages_stay_on_hold_after_a_confirmed_alert() {
    let caller = Caller::manual();
    let people = caller.payable(&caller.company(0));
    let act = |person: &str, verb: &str, body: &Value| {
        caller.post(&format!("/api/business/employees/{person}/{verb}"), body)
    };
    let held = |person: &str| {
        let employee = person_at_work(&caller, person);
        assert_eq!(employee["payroll_status"], "on_hold");
        assert_eq!(employee["payroll_hold"], "aml_alert");
    };
    // A new verification is refused.
    let alert = confirm(&caller, &json!({"employee_id": people[0]}));
    held(&people[0]);
    let before = caller.digest();
    let refused = act(&people[0], "verify-payroll", &json!({}));
    let refused = refused.refused(409, "invalid_state_transition");
    assert!(refused["detail"].as_str().unwrap().contains(&alert), "{refused}");
    let by_hand = format!("/_sandbox/resources/{}/transition", people[0]);
    caller.post(&by_hand, &json!({"to": "verified"})).refused(409, "invalid_state_transition");
    assert_eq!(caller.digest(), before);
    // A new account is checked, and wages stay on hold.
    let account = json!({"type": "bank", "bank_code": "058", "account_number": "9999999900"});
    let path = format!("/api/business/employees/{}/payment-method", people[0]);
    caller.send(&caller.request("PUT", &path).json(&account)).expect(200);
    assert_eq!(person_at_work(&caller, &people[0])["payroll_status"], "pending");
    caller.advance(&json!({"by": "1m"}));
    held(&people[0]);
    // The end of a suspension does not release them.
    act(&people[1], "suspend", &json!({"reason": "Enquiry"})).expect(200);
    confirm(&caller, &json!({"employee_id": people[1]}));
    act(&people[1], "activate", &json!({})).expect(200);
    held(&people[1]);
    caller.audit();
}
