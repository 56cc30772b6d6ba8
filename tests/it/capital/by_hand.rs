//! Manual transitions of applications, offers, loans and scores, with their effects.

use serde_json::{Value, json};

use super::{
    SCORES, application, ask, decided, led, lent, loan, moved, net, newcomer, offer, repay,
    respond, wallet,
};
use crate::harness::Caller;
use crate::harness::world::{id, number};

#[test]
fn manual_transitions_of_an_application_follow_its_lifecycle() {
    for to in ["approved", "rejected", "information_requested"] {
        let caller = Caller::manual();
        let made = ask(&caller, &caller.company(0), 1_000, "by_score").expect(201)["data"].take();
        let id = id(&made);
        led(&caller, id, "under_review");
        led(&caller, id, to);
        let problem = moved(&caller, id, "submitted").refused(409, "invalid_state_transition");
        assert_eq!(problem["current"], to);
        match to {
            "information_requested" => {
                led(&caller, id, "under_review");
                led(&caller, id, "information_requested");
                led(&caller, id, "withdrawn");
            }
            "approved" => {
                let made = offer(&caller, &application(&caller, id));
                let expired = led(&caller, made["id"].as_str().unwrap(), "expired");
                assert_eq!(expired["status"], "expired");
            }
            _ => {}
        }
        // The clock has no further effect on it.
        let came = caller.advance(&json!({"by": "30d"}));
        assert!(!came.iter().any(|name| name.starts_with("application.")), "{came:?}");
    }
}

#[test]
fn a_manual_transition_cannot_approve_against_the_facts() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let lent = lent(&caller, 1_000);
    led(&caller, id(&lent), "late");
    let asked = decided(&caller, &company, 1_000, "information_requested");
    assert_eq!(asked["status"], "rejected");
    let manual = Caller::manual();
    let company = manual.company(0);
    manual.run_payroll(&company, "2026-01");
    manual.advance(&json!({"to": "2026-02-25T00:00:00Z"}));
    let made = ask(&manual, &company, 1_000, "by_score").expect(201)["data"].take();
    led(&manual, id(&made), "under_review");
    let before = manual.digest();
    moved(&manual, id(&made), "approved").refused(409, "invalid_state_transition");
    assert_eq!(manual.digest(), before);
}

#[test]
fn manual_transitions_disburse_delay_and_default_a_loan() {
    let caller = Caller::manual();
    let company = caller.company(0);
    let made = ask(&caller, &company, 12_000, "approved").expect(201)["data"].take();
    led(&caller, id(&made), "under_review");
    led(&caller, id(&made), "approved");
    let offer = offer(&caller, &application(&caller, id(&made)));
    let body = json!({"decision": "accept", "wallet_id": id(&wallet(&caller, &company))});
    let taken = respond(&caller, &offer, &body).expect(200)["data"].take();
    let id = taken["loan_id"].as_str().unwrap();
    led(&caller, id, "active");
    assert_eq!(net(&caller, &company, "loans_payable"), -12_000);
    let late = led(&caller, id, "late");
    assert_eq!((&late["status"], &late["late_instalments"]), (&json!("late"), &json!(1)));
    assert_eq!(loan(&caller, id)["schedule"][0]["status"], "late");
    moved(&caller, id, "active").refused(409, "invalid_state_transition");
    let gone = led(&caller, id, "defaulted");
    assert_eq!(gone["status"], "defaulted");
    moved(&caller, id, "repaid").refused(409, "invalid_state_transition");
    caller.audit();
}

#[test]
fn a_loan_made_late_by_transition_is_active_again_after_payment() {
    let caller = Caller::instant();
    let lent = lent(&caller, 12_000);
    let late = led(&caller, id(&lent), "late");
    let overdue = late["balances"]["overdue"].as_i64().unwrap();
    repay(&caller, &lent, overdue).expect(201);
    let back = loan(&caller, id(&lent));
    assert_eq!((&back["status"], &back["next_due"]["number"]), (&json!("active"), &json!(2)));
    caller.audit();
}

#[test]
fn manual_transitions_complete_scores_by_the_facts() {
    let caller = Caller::manual();
    let (company, fresh) = (caller.company(0), newcomer(&caller));
    let made = |path: &str, body: Value| -> String {
        let made = caller.post(path, &body).expect(202);
        id(&made["data"]).to_owned()
    };
    let score = made(SCORES, json!({"company_id": company}));
    moved(&caller, &score, "failed").refused(409, "invalid_state_transition");
    led(&caller, &score, "completed");
    let none = made(SCORES, json!({"company_id": fresh}));
    moved(&caller, &none, "completed").refused(409, "invalid_state_transition");
    led(&caller, &none, "failed");
    let readiness = made("/api/capital/readiness-assessments", json!({"company_id": company}));
    led(&caller, &readiness, "completed");
    let risk = made(
        "/api/capital/insurance-risk-scores",
        json!({"company_id": company, "line": "health"}),
    );
    led(&caller, &risk, "completed");
    assert_eq!(caller.advance(&json!({"by": "10s"})), [""; 0]);
}

#[test]
fn a_loan_that_is_late_by_hand_is_settled_with_the_accrued_interest() {
    let caller = Caller::instant();
    let lent = lent(&caller, 12_000_000);
    let settlement = || number(&loan(&caller, id(&lent))["settlement_amount"]);
    assert_eq!(settlement(), 12_000_000, "nothing has accrued on the first day");
    led(&caller, id(&lent), "late");
    assert_eq!(settlement(), 12_000_000);
    let first = number(&loan(&caller, id(&lent))["schedule"][0]["amount"]);
    repay(&caller, &lent, first).expect(201);
    assert_eq!(settlement(), 12_000_000 - first);
    repay(&caller, &lent, settlement()).expect(201);
    assert_eq!(loan(&caller, id(&lent))["status"], "repaid");
    caller.audit();
}
