//! The company's control of its payouts: approval, cancellation, low balance events.

use serde_json::{Value, json};

use super::{PAYOUTS, Payer, history};
use crate::harness::Caller;
use crate::harness::world::{id, number};

#[test]
fn payouts_from_the_threshold_wait_for_another_approver() {
    let payer = Payer::manual();
    payer.settings(&json!({"approval_required": true, "approval_threshold": 100_000}));
    assert_eq!(payer.pay(99_999, &json!({}))["status"], "queued");
    let before = payer.balance("available");
    let waits = payer.pay(100_000, &json!({"maker": "Ada Obi"}));
    assert_eq!(waits["status"], "pending_approval");
    assert_eq!(waits["maker"], "Ada Obi");
    assert!(payer.balance("available") < before, "the money is set aside");
    payer.caller.advance(&json!({"by": "30d"}));
    assert_eq!(payer.payout(&waits)["status"], "pending_approval");
    let same = payer.verb(&waits, "approve", &json!({"approver": " ada obi "}));
    same.refused(403, "forbidden");
    let approved = payer.verb(&waits, "approve", &json!({"approver": "Grace Bello"}));
    let approved = approved.data();
    assert_eq!(approved["status"], "queued");
    assert_eq!(approved["approver"], "Grace Bello");
    assert_eq!(approved["status_history"][1]["reason"], "by Grace Bello");
    let events = payer.caller.advance(&json!({"by": "1h"}));
    assert_eq!(events, ["payout.processing", "payout.sent", "payout.paid"]);
    let again = payer.verb(&waits, "approve", &json!({"approver": "Grace Bello"}));
    let again = again.refused(409, "invalid_state_transition");
    assert_eq!((&again["current"], &again["allowed"]), (&json!("paid"), &json!(["returned"])));
    payer.caller.audit();
}

#[test]
fn an_approval_without_a_name_is_accepted() {
    let payer = Payer::instant();
    payer.settings(&json!({"approval_required": true}));
    let waits = payer.pay(1, &json!({}));
    payer.verb(&waits, "approve", &json!({})).expect(200);
    let paid = payer.payout(&waits);
    assert_eq!(history(&paid), ["pending_approval", "queued", "processing", "sent", "paid"]);
    let names: Vec<Value> =
        payer.caller.events().iter().map(|event| event["type"].clone()).collect();
    let wanted = ["payout.created", "payout.pending_approval", "wallet.debited", "payout.approved"];
    assert_eq!(names[3..7], wanted);
}

#[test]
fn a_payout_that_is_cancelled_gives_its_fee_back_too() {
    let payer = Payer::manual();
    let before = payer.balance("available");
    payer.settings(&json!({"approval_required": true}));
    let waits = payer.pay(40_000, &json!({}));
    payer.settings(&json!({"approval_required": false}));
    let queued = payer.pay(50_000, &json!({}));
    let held = payer.pay(60_000, &json!({"beneficiary_id": payer.payee("9999999991")}));
    payer
        .verb(&queued, "cancel", &json!({"reason": "Paid in cash"}))
        .refused(409, "invalid_state_transition");
    assert_eq!(payer.payout(&held)["status"], "queued");
    payer.caller.advance(&json!({"by": "1s"}));
    assert_eq!(payer.payout(&held)["status"], "on_hold");
    for payout in [&waits, &held] {
        let cancelled = payer.verb(payout, "cancel", &json!({"reason": "Paid in cash"})).data();
        assert_eq!(cancelled["status"], "cancelled");
        let last = cancelled["status_history"].as_array().unwrap().last().unwrap();
        assert_eq!(last["reason"], "Paid in cash");
        assert_eq!(cancelled.get("estimated_arrival"), None);
    }
    let sent = 50_000 + number(&queued["fee"]);
    assert_eq!(payer.balance("available"), before - sent);
    assert!(payer.caller.advance(&json!({"by": "30d"})).is_empty());
    let again = payer.verb(&held, "cancel", &json!({})).refused(409, "invalid_state_transition");
    assert_eq!((&again["current"], &again["allowed"]), (&json!("cancelled"), &json!([])));
    payer.caller.audit();
}

#[test]
fn wages_are_cancelled_with_their_run_alone() {
    let caller = Caller::manual();
    let company = caller.company(0);
    caller.run_payroll(&company, "2026-01");
    caller.advance(&json!({"to": "2026-01-22T16:00:00Z"}));
    let queued = caller.all(&format!("{PAYOUTS}?status=queued"));
    let path = format!("{PAYOUTS}/{}/cancel", id(&queued[0]));
    let refused = caller.post(&path, &json!({})).refused(409, "invalid_state_transition");
    assert!(refused["detail"].as_str().unwrap().contains("payroll run"));
    let missing = format!("{PAYOUTS}/pyo_0000000000000");
    caller.post(&format!("{missing}/cancel"), &json!({})).refused(404, "resource_not_found");
    caller.post(&format!("{missing}/approve"), &json!({})).refused(404, "resource_not_found");
}

#[test]
fn a_balance_below_the_limit_emits_one_event() {
    let payer = Payer::instant();
    let available = payer.balance("available");
    payer.settings(&json!({"low_balance": available - 5_000}));
    let low = || {
        let events = payer.caller.events();
        events.iter().filter(|event| event["type"] == "wallet.low_balance").count()
    };
    payer.pay(1_000, &json!({}));
    assert_eq!(low(), 0);
    payer.pay(10_000, &json!({}));
    assert_eq!(low(), 1);
    payer.pay(1_000, &json!({}));
    assert_eq!(low(), 1, "it was low already");
    payer.receive(50_000).expect(200);
    payer.pay(60_000, &json!({}));
    assert_eq!(low(), 2);
}

#[test]
fn a_limit_above_the_balance_emits_the_event_at_once() {
    let payer = Payer::instant();
    let available = payer.balance("available");
    let low = || {
        let events = payer.caller.events();
        events.iter().filter(|event| event["type"] == "wallet.low_balance").count()
    };
    payer.settings(&json!({"low_balance": available}));
    assert_eq!(low(), 0);
    payer.settings(&json!({"low_balance": available + 1}));
    assert_eq!(low(), 1);
    payer.settings(&json!({"low_balance": available + 2}));
    payer.pay(1_000, &json!({}));
    assert_eq!(low(), 1, "it was low already");
}

#[test]
fn a_change_of_payment_settings_keeps_other_members_and_refuses_invalid_amounts() {
    let payer = Payer::instant();
    let path = format!("/api/business/companies/{}", payer.company);
    let company = payer.caller.get(&path).data();
    assert_eq!(company.get("payment_settings"), None);
    payer.settings(&json!({"approval_required": true, "approval_threshold": 7}));
    payer.settings(&json!({"low_balance": 9}));
    let settings = payer.caller.get(&path).data()["payment_settings"].take();
    let wanted = json!({"approval_required": true, "approval_threshold": 7, "low_balance": 9});
    assert_eq!(settings, wanted);
    for wrong in
        [json!({"low_balance": -1}), json!({"approval_threshold": i64::MAX}), json!({"limit": 1})]
    {
        let body = json!({"payment_settings": wrong});
        payer.caller.patch(&path, &body).refused(422, "validation_failed");
    }
}
