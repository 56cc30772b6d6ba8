//! Suspension, return, and the end.

use serde_json::json;

use super::{act, employee, hire, pay, put, set_account};
use crate::harness::Caller;

#[test]
fn a_suspension_holds_the_pay_and_the_return_releases_it() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let person = caller.payable(&company).remove(0);
    let suspended = act(&caller, &person, "suspend", &json!({"reason": "Enquiry"})).data();
    assert_eq!(suspended["status"], "suspended");
    assert_eq!(suspended["payroll_status"], "on_hold");
    assert_eq!(suspended["payroll_hold"], "suspension");
    let last = suspended["status_history"].as_array().unwrap().last().unwrap();
    assert_eq!(last["reason"], "Enquiry");
    let run = json!({"company_id": company, "period": "2026-01", "employees": [person]});
    assert_eq!(caller.post("/v1/payroll/run", &run).expect(422)["code"], "employee_not_payable");
    let twice = act(&caller, &person, "suspend", &json!({"reason": "Enquiry"})).expect(409);
    assert_eq!(twice["code"], "invalid_state_transition");
    assert_eq!(twice["current"], "suspended");
    assert_eq!(twice["allowed"], json!(["active", "terminated"]));
    let back = act(&caller, &person, "activate", &json!({"effective_on": "2026-01-01"})).data();
    assert_eq!((&back["status"], &back["payroll_status"]), (&json!("active"), &json!("verified")));
    assert!(back["payroll_hold"].is_null());
    caller.post("/v1/payroll/run", &run).expect(201);
    let names: Vec<String> = caller.events()[..4].iter().map(|e| e["type"].to_string()).collect();
    let changed = "\"employee.payroll_status_changed\"";
    let expected = ["\"employee.suspended\"", changed, "\"employee.activated\"", changed];
    assert_eq!(names, expected);
    caller.audit();
}

#[test]
fn an_employee_suspended_before_the_start_can_return() {
    let caller = Caller::instant();
    let away = caller.all("/api/business/employees?status=suspended");
    let person = away[0]["id"].as_str().unwrap();
    let back = act(&caller, person, "activate", &json!({})).data();
    assert_eq!(back["payroll_status"], "verified");
}

#[test]
fn a_suspension_does_not_release_what_it_did_not_hold() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let ada = hire(&caller, &company, &json!({"tax_id": "1", "compensation": pay()}));
    act(&caller, &ada, "activate", &json!({})).expect(200);
    let suspended = act(&caller, &ada, "suspend", &json!({"reason": "Enquiry"})).data();
    assert_eq!(suspended["payroll_status"], "not_enrolled");
    assert_eq!(act(&caller, &ada, "activate", &json!({})).data()["payroll_status"], "not_enrolled");
}

#[test]
fn the_end_of_an_employment_is_final() {
    let caller = Caller::manual();
    let person = caller.payable(&caller.company(0)).remove(0);
    let end = |day: &str| json!({"reason": "Resignation", "last_working_day": day});
    let before = act(&caller, &person, "terminate", &end("1990-01-02")).expect(422);
    assert_eq!(before["errors"][0]["code"], "before_start");
    set_account(&caller, &person, &json!({})).expect(200);
    let gone = act(&caller, &person, "terminate", &end("2025-12-31")).data();
    assert_eq!(gone["status"], "terminated");
    assert_eq!(gone["end_date"], "2025-12-31");
    assert_eq!(gone["payroll_status"], "closed");
    assert_eq!(caller.advance(&json!({"by": "30s"})), [""; 0], "the running check is over, too");
    assert_eq!(employee(&caller, &person)["payroll_status"], "closed");
    for verb in ["activate", "verify-payroll"] {
        let refused = act(&caller, &person, verb, &json!({})).expect(409);
        assert_eq!(refused["allowed"], json!([]), "{verb}");
    }
    set_account(&caller, &person, &json!({})).expect(409);
    put(&caller, &person, "compensation", &pay()).expect(409);
    caller.audit();
}

#[test]
fn an_employment_ends_after_its_last_day() {
    let caller = Caller::manual();
    let person = caller.payable(&caller.company(0)).remove(0);
    let end = json!({"reason": "Resignation", "last_working_day": "2026-01-31"});
    let leaving = act(&caller, &person, "terminate", &end).data();
    assert_eq!(leaving["status"], "active");
    assert_eq!(leaving["end_date"], "2026-01-31");
    caller.advance(&json!({"to": "2026-01-31T23:59:59Z"}));
    assert_eq!(employee(&caller, &person)["status"], "active");
    caller.advance(&json!({"by": "1s"}));
    let gone = employee(&caller, &person);
    assert_eq!(gone["status"], "terminated");
    assert_eq!(gone["payroll_status"], "closed");
}

#[test]
fn a_manual_transition_ends_the_check_in_progress() {
    let caller = Caller::manual();
    let person = caller.payable(&caller.company(0)).remove(0);
    set_account(&caller, &person, &json!({})).expect(200);
    let path = format!("/_sandbox/resources/{person}/transition");
    caller.post(&path, &json!({"to": "failed"})).expect(200);
    caller.advance(&json!({"by": "2m"}));
    assert_eq!(employee(&caller, &person)["payroll_status"], "failed");
    let refused = caller.post(&path, &json!({"to": "nonsense"})).expect(409);
    assert_eq!(refused["current"], "active");
    let allowed: Vec<&str> =
        refused["allowed"].as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect();
    assert_eq!(allowed, ["on_leave", "suspended", "terminated", "pending", "closed"]);
}
