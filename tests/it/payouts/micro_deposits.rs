//! Accounts that two small amounts verify.

use serde_json::{Value, json};

use super::{BENEFICIARIES, Payer, wallet};
use crate::harness::Answer;
use crate::harness::http::pointers;
use crate::harness::world::{id, number};

fn payee(payer: &Payer, company: &str, currency: &str) -> Value {
    let account = json!({"bank_code": "011", "account_number": "9999999900", "country": "NG", "currency": currency});
    let body = json!({"company_id": company, "name": "Adaeze Obi", "type": "individual", "account": account,
        "verification": "micro_deposits"});
    payer.caller.post(BENEFICIARIES, &body).made()
}

fn send(payer: &Payer, account: &Value, wallet: &str) -> Answer {
    let path = format!("{BENEFICIARIES}/{}/micro-deposits", id(account));
    payer.caller.post(&path, &json!({"wallet_id": wallet}))
}

fn confirm(payer: &Payer, account: &Value, amounts: &Value) -> Answer {
    let path = format!("{BENEFICIARIES}/{}/micro-deposits/confirm", id(account));
    payer.caller.post(&path, &json!({"amounts": amounts}))
}

fn amounts(payer: &Payer, account: &Value) -> Vec<i64> {
    let path = format!("/_sandbox/beneficiaries/{}/micro-deposits", id(account));
    let read = payer.caller.get(&path).data();
    read["amounts"].as_array().unwrap().iter().map(number).collect()
}

fn now(payer: &Payer, account: &Value) -> Value {
    payer.caller.get(&format!("{BENEFICIARIES}/{}", id(account))).data()
}

#[test]
fn a_confirmation_with_an_old_version_is_refused_and_counts_no_attempt() {
    let payer = Payer::manual();
    let account = payee(&payer, &payer.company, "NGN");
    send(&payer, &account, &payer.wallet).expect(200);
    payer.caller.advance(&json!({"by": "5d"}));
    let before = now(&payer, &account);
    let right = json!({"amounts": amounts(&payer, &account)});
    let path = format!("{BENEFICIARIES}/{}", id(&account));
    let current = payer.caller.get(&path).header("etag").unwrap().to_owned();
    let confirm = |tag: &str| {
        let request = payer.caller.request("POST", &format!("{path}/micro-deposits/confirm"));
        payer.caller.send(&request.header("If-Match", tag).json(&right))
    };
    confirm("\"stale\"").refused(412, "precondition_failed");
    assert_eq!(now(&payer, &account), before);
    assert_eq!(confirm(&current).data()["status"], "verified");
}

/// Source: Nacha Operating Rules, micro-entries: two small credits of less than a dollar, whose amounts the receiver confirms.
#[test]
fn the_amounts_on_the_statement_verify_an_account_in_any_order() {
    let payer = Payer::manual();
    let account = payee(&payer, &payer.company, "NGN");
    payer.caller.advance(&json!({"by": "1d"}));
    assert_eq!(account["status"], now(&payer, &account)["status"]); // no request to the bank
    payer
        .caller
        .get(&format!("/_sandbox/beneficiaries/{}/micro-deposits", id(&account)))
        .expect(404);
    confirm(&payer, &account, &json!([1, 2])).refused(409, "invalid_state_transition");
    let before = payer.balance("available");
    let sent = send(&payer, &account, &payer.wallet).data();
    let right = amounts(&payer, &account);
    assert!(right.len() == 2 && right.iter().all(|amount| (1..=99).contains(amount)), "{right:?}");
    let total: i64 = right.iter().sum();
    assert_eq!(sent["micro_deposits"]["total"], total);
    assert_eq!(before - payer.balance("available"), total);
    assert!(!sent["micro_deposits"].to_string().contains("amounts"), "{sent}");
    send(&payer, &account, &payer.wallet).refused(409, "invalid_state_transition");
    confirm(&payer, &account, &json!(right)).refused(409, "invalid_state_transition"); // the deposits have not arrived yet
    payer.caller.advance(&json!({"by": "5d"}));
    assert!(now(&payer, &account)["micro_deposits"]["arrived_at"].is_string());
    for wrong in [json!([1]), json!([1, 2, 3]), json!([0, 1]), json!("12")] {
        let refused = confirm(&payer, &account, &wrong).refused(422, "validation_failed");
        assert!(pointers(&refused)[0].starts_with("/amounts"), "{refused}");
    }
    let missed = confirm(&payer, &account, &json!([right[0], 100])).data();
    assert_eq!(
        (&missed["status"], &missed["micro_deposits"]["attempts_left"]),
        (&json!("pending"), &json!(2))
    );
    let verified = confirm(&payer, &account, &json!([right[1], right[0]])).data();
    assert_eq!(verified["status"], "verified");
    confirm(&payer, &account, &json!(right)).refused(409, "invalid_state_transition");
    payer.caller.audit();
}

#[test]
fn three_wrong_attempts_or_ten_business_days_reject_an_account() {
    let payer = Payer::manual();
    let guessed = payee(&payer, &payer.company, "NGN");
    let slow = payee(&payer, &payer.company, "NGN");
    send(&payer, &guessed, &payer.wallet).expect(200);
    send(&payer, &slow, &payer.wallet).expect(200);
    payer.caller.advance(&json!({"by": "5d"}));
    for left in [2, 1, 0] {
        let missed = confirm(&payer, &guessed, &json!([100, 100])).data();
        assert_eq!(missed["micro_deposits"]["attempts_left"], left);
    }
    let rejected = now(&payer, &guessed);
    assert_eq!(
        (&rejected["status"], &rejected["failure"]["code"]),
        (&json!("rejected"), &json!("amounts_not_confirmed"))
    );
    let until = now(&payer, &slow)["micro_deposits"]["expires_at"].clone();
    payer.caller.advance(&json!({"to": until}));
    let late = now(&payer, &slow);
    assert_eq!(
        (&late["status"], &late["failure"]["code"]),
        (&json!("rejected"), &json!("confirmation_expired"))
    );
    payer.caller.audit();
}

#[test]
fn amounts_are_sent_from_a_wallet_that_may_pay() {
    let payer = Payer::manual();
    let caller = &payer.caller;
    let checked = payer.payee_body("9999999900");
    let checked = caller.post(BENEFICIARIES, &checked).made();
    send(&payer, &checked, &payer.wallet).refused(409, "invalid_state_transition");
    let euros = payee(&payer, &payer.company, "EUR");
    send(&payer, &euros, &payer.wallet).refused(422, "currency_mismatch");
    let own = payee(&payer, &payer.company, "NGN");
    let foreign = wallet(caller, &caller.company(1));
    assert_eq!(
        pointers(&send(&payer, &own, &foreign).refused(422, "validation_failed")),
        ["/wallet_id"]
    );
    let newcomer = json!({"legal_name": "Ink Ltd", "country": "NG", "currency": "NGN"});
    let newcomer = caller.post("/api/business/companies", &newcomer).made();
    let blocked = payee(&payer, id(&newcomer), "NGN");
    let empty = wallet(caller, id(&newcomer));
    send(&payer, &blocked, &empty).refused(403, "compliance_blocked");
    for open in newcomer["blockers"].as_array().unwrap() {
        let path = format!("/api/business/compliance-requirements/{}/resolve", id(open));
        caller.post(&path, &json!({"evidence": {"value": "RC 1234567"}})).expect(200);
    }
    send(&payer, &blocked, &empty).refused(402, "insufficient_funds");
    let path = format!("/_sandbox/resources/{}/transition", payer.company);
    caller.post(&path, &json!({"to": "suspended"})).expect(200);
    send(&payer, &own, &payer.wallet).refused(403, "company_suspended");
}
