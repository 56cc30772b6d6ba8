//! From a contract to the first wages: pay terms, account, checks.

use serde_json::json;

use super::{act, employee, hire, last_verification, path, pay, put, set_account};
use crate::harness::Caller;
use crate::harness::world::id;

#[test]
fn a_new_employee_is_paid_once_verified_and_active() {
    for caller in [Caller::instant(), Caller::manual()] {
        let company = caller.company(0);
        let ada = hire(&caller, &company, &json!({"tax_id": "1023456789"}));
        let set = put(&caller, &ada, "compensation", &pay()).data();
        assert_eq!(set["compensation"]["amount"], 45_000_000);
        let account = set_account(&caller, &ada, &json!({})).data();
        assert_eq!(account["payroll_status"], "pending");
        assert_eq!(account["payment_method"]["account_name"], "Ada Obi");
        caller.advance(&json!({"by": "30s"}));
        assert_eq!(employee(&caller, &ada)["payroll_status"], "verified");
        let run = json!({"company_id": company, "period": "2026-01", "employees": [ada]});
        let early = caller.post("/v1/payroll/run", &run).expect(422);
        assert_eq!(early["code"], "employee_not_payable");
        let active = act(&caller, &ada, "activate", &json!({})).data();
        assert_eq!(active["status"], "active");
        assert_eq!(active["start_date"], "2026-01-01", "work began earlier than agreed");
        let run = caller.post("/v1/payroll/run", &run).expect(201);
        caller.advance(&json!({"until": "idle"}));
        let run = caller.run(id(&run["data"]));
        assert_eq!(run["status"], "paid");
        assert_eq!(run["totals"]["gross"], 45_000_000);
        let payslips = caller.all(&format!("/api/business/payslips?employee_id={ada}"));
        assert_eq!(payslips.len(), 1);
        caller.audit();
    }
}

#[test]
fn a_created_company_runs_earlier_months_within_its_books() {
    let caller = Caller::instant();
    let company = json!({"legal_name": "Ebi Limited", "country": "NG", "currency": "NGN"});
    let company = caller.post("/api/business/companies", &company).made();
    let opened = &company["created_at"].as_str().unwrap()[..10];
    let company = id(&company);
    let by_hand = format!("/_sandbox/resources/{company}/transition");
    caller.post(&by_hand, &json!({"to": "active"})).expect(200);
    let ada = hire(&caller, company, &json!({"tax_id": "1023456789", "start_date": "2024-01-01"}));
    put(&caller, &ada, "compensation", &pay()).data();
    set_account(&caller, &ada, &json!({})).data();
    caller.advance(&json!({"by": "30s"}));
    act(&caller, &ada, "activate", &json!({})).data();
    let run = json!({"company_id": company, "period": "2024-05", "employees": [ada]});
    caller.post("/v1/payroll/run", &run).expect(201);
    let entries = caller.all(&format!("/api/business/journal-entries?company_id={company}"));
    assert!(!entries.is_empty());
    for entry in entries {
        assert!(entry["effective_on"].as_str().unwrap() >= opened, "{entry}");
    }
}

#[test]
fn a_check_takes_half_a_minute_and_names_what_is_missing() {
    let caller = Caller::manual();
    let ada = hire(&caller, &caller.company(0), &json!({}));
    let accepted = act(&caller, &ada, "verify-payroll", &json!({})).expect(202);
    let target = format!("/api/business/payroll-verifications/{}", id(&accepted["data"]));
    assert_eq!(accepted["data"]["status"], "pending");
    let again = act(&caller, &ada, "verify-payroll", &json!({})).expect(409);
    assert_eq!(again["current"], "pending");
    assert_eq!(again["allowed"], json!(["verified", "failed", "closed"]));
    caller.advance(&json!({"by": "29s"}));
    assert_eq!(caller.get(&target).data()["status"], "pending");
    let events = caller.advance(&json!({"by": "1s"}));
    let expected = ["bank_account_verification.completed", "employee.payroll_status_changed"];
    assert_eq!(events, expected);
    let failed = caller.get(&target).data();
    assert_eq!(failed["status"], "failed");
    for (place, name) in ["bank_account", "tax_id", "compensation"].into_iter().enumerate() {
        let check = &failed["checks"][place];
        assert_eq!((&check["name"], &check["code"]), (&json!(name), &json!("missing")));
    }
    caller.patch(&path(&ada), &json!({"tax_id": "1023456789"})).expect(200);
    put(&caller, &ada, "compensation", &pay()).expect(200);
    set_account(&caller, &ada, &json!({})).expect(200);
    caller.advance(&json!({"by": "30s"}));
    assert_eq!(employee(&caller, &ada)["payroll_status"], "verified");
    caller.audit();
}

#[test]
fn an_account_of_another_person_fails_the_check() {
    let caller = Caller::instant();
    let ada = hire(&caller, &caller.company(0), &json!({"tax_id": "1", "compensation": pay()}));
    set_account(&caller, &ada, &json!({"account_name": "Chidi Eze"})).expect(200);
    assert_eq!(employee(&caller, &ada)["payroll_status"], "failed");
    let verification = last_verification(&caller);
    assert_eq!(verification["checks"][0]["code"], "name_mismatch");
    assert_eq!(verification["checks"][1]["status"], "passed");
    set_account(&caller, &ada, &json!({"account_name": "ADA  OBI"})).expect(200);
    assert_eq!(employee(&caller, &ada)["payroll_status"], "verified");
}

#[test]
fn another_account_overtakes_the_running_check() {
    let caller = Caller::manual();
    let ada = hire(&caller, &caller.company(0), &json!({"tax_id": "1", "compensation": pay()}));
    let first = act(&caller, &ada, "verify-payroll", &json!({})).expect(202);
    caller.advance(&json!({"by": "20s"}));
    set_account(&caller, &ada, &json!({})).expect(200);
    let target = format!("/api/business/payroll-verifications/{}", id(&first["data"]));
    assert_eq!(caller.get(&target).data()["status"], "cancelled");
    caller.advance(&json!({"by": "29s"}));
    assert_eq!(employee(&caller, &ada)["payroll_status"], "pending");
    caller.advance(&json!({"by": "1s"}));
    assert_eq!(employee(&caller, &ada)["payroll_status"], "verified");
    assert_eq!(caller.get(&target).data()["status"], "cancelled");
    caller.audit();
}

#[test]
fn accounts_are_held_to_their_country_and_reserved_numbers_are_taken_everywhere() {
    let caller = Caller::instant();
    let fault = |company: usize, code: &str, number: &str| {
        let person = hire(&caller, &caller.company(company), &json!({}));
        let body = json!({"bank_code": code, "account_number": number});
        let refused = set_account(&caller, &person, &body).expect(422);
        let error = &refused["errors"][0];
        (error["pointer"].to_string(), error["code"].to_string())
    };
    let expected =
        |pointer: &str, code: &str| (json!(pointer).to_string(), json!(code).to_string());
    assert_eq!(fault(0, "058", "0000000000"), expected("/account_number", "check_digit"));
    assert_eq!(fault(0, "058", "12345"), expected("/account_number", "shape"));
    assert_eq!(fault(0, "GTB", "0000000000"), expected("/bank_code", "shape"));
    assert_eq!(fault(1, "12", "12345678"), expected("/bank_code", "shape"));
    assert_eq!(fault(2, "021000022", "123456789"), expected("/bank_code", "check_digit"));
    for company in 0..3 {
        for number in ["9999999900", "9999999902", "9999999999"] {
            let person = hire(&caller, &caller.company(company), &json!({}));
            set_account(&caller, &person, &json!({"account_number": number})).expect(200);
        }
    }
    let body = json!({
        "company_id": caller.company(0), "name": "Ada", "role": "Cook", "department": "Kitchen",
        "start_date": "2026-01-02",
        "payment_method": {"type": "bank", "bank_code": "058", "account_number": "0000000000"},
    });
    let refused = caller.post("/api/business/employees", &body).expect(422);
    assert_eq!(refused["errors"][0]["pointer"], "/payment_method/account_number");
}
