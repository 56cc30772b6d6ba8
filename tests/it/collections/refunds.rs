//! Refunds to payers.

use serde_json::{Value, json};

use super::{COLLECTIONS, ask, at, booked, collection, moved, settled, told, wallet};
use crate::harness::Caller;
use crate::harness::http::{Answer, pointers};
use crate::harness::world::{id, number};

fn refund(caller: &Caller, of: &Value, amount: Option<i64>) -> Answer {
    let mut body = json!({"reason": "Damaged on the way"});
    if let Some(amount) = amount {
        body["amount"] = amount.into();
    }
    caller.post(&format!("{COLLECTIONS}/{}/refunds", id(of)), &body)
}

fn read(caller: &Caller, of: &Value) -> Value {
    caller.get(&format!("/api/payments/refunds/{}", id(of))).data()
}

#[test]
fn parts_are_refunded_until_no_money_is_left() {
    let caller = Caller::manual();
    let paid = settled(&caller, &json!({}));
    let money = wallet(&caller, "NGN");
    let (before, reserved) = (number(&money["available"]), number(&money["reserved"]));
    let answer = refund(&caller, &paid, Some(10_000));
    let first = answer.made();
    let location = format!("/api/payments/refunds/{}", id(&first));
    assert_eq!(answer.header("location"), Some(location.as_str()));
    assert_eq!(first["status"], "pending");
    assert_eq!(number(&wallet(&caller, "NGN")["available"]), before - 10_000);
    assert_eq!(number(&wallet(&caller, "NGN")["reserved"]), reserved + 10_000);
    let waiting = collection(&caller, &paid);
    assert_eq!(
        (&waiting["amount_refund_pending"], &waiting["refund_status"]),
        (&json!(10_000), &json!("none"))
    );
    caller.advance(&json!({"by": "14d"}));
    assert_eq!(read(&caller, &first)["status"], "succeeded");
    let part = collection(&caller, &paid);
    assert_eq!(
        (&part["amount_refunded"], &part["refund_status"]),
        (&json!(10_000), &json!("partially_refunded"))
    );
    let beyond = refund(&caller, &paid, Some(15_001)).refused(422, "validation_failed");
    assert_eq!(pointers(&beyond), ["/amount"]);
    assert!(beyond["detail"].as_str().unwrap().contains("15000"), "{beyond}");
    let rest = refund(&caller, &paid, None).made();
    assert_eq!(rest["amount"], 15_000);
    refund(&caller, &paid, Some(1)).refused(422, "validation_failed");
    caller.advance(&json!({"by": "14d"}));
    let whole = caller.get(&format!("{COLLECTIONS}/{}?expand=refunds", id(&paid))).data();
    assert_eq!(whole["refund_status"], "refunded");
    assert_eq!(whole["refunds"].as_array().unwrap().len(), 2);
    refund(&caller, &paid, None).refused(422, "validation_failed");
    let books = [at("cash_available", -10_000), at("sales", 10_000)];
    assert_eq!(booked(&caller, id(&first)), books);
    assert_eq!(told(&caller, id(&first)), ["refund.created", "refund.succeeded"]);
    caller.audit();
}

#[test]
fn a_failed_refund_returns_the_money_to_the_wallet() {
    let caller = Caller::manual();
    let paid = settled(&caller, &json!({}));
    let before = wallet(&caller, "NGN");
    let path = format!("{COLLECTIONS}/{}/refunds", id(&paid));
    let request = caller
        .request("POST", &path)
        .header("Sandbox-Scenario", "refund.settle=failed;code=R03;after=2d");
    let made = caller.send(&request.json(&json!({"reason": "Damaged"}))).made();
    caller.advance(&json!({"by": "47h"}));
    assert_eq!(read(&caller, &made)["status"], "pending");
    caller.advance(&json!({"by": "1h"}));
    let failed = read(&caller, &made);
    assert_eq!(
        (&failed["status"], &failed["failure"]["code"]),
        (&json!("failed"), &json!("account_not_found"))
    );
    assert_eq!(booked(&caller, id(&made)), []);
    let after = wallet(&caller, "NGN");
    assert_eq!(
        (&after["available"], &after["reserved"]),
        (&before["available"], &before["reserved"])
    );
    let again = collection(&caller, &paid);
    assert_eq!(
        (&again["amount_refund_pending"], &again["amount_refunded"]),
        (&json!(0), &json!(0))
    );
    refund(&caller, &paid, None).expect(201);
    caller.audit();
}

#[test]
fn only_what_was_paid_and_is_not_disputed_can_be_refunded() {
    let caller = Caller::manual();
    let asked = ask(&caller, &json!({})).made();
    let refused = refund(&caller, &asked, None).refused(409, "invalid_state_transition");
    assert_eq!(refused["current"], "pending");
    caller.advance(&json!({"by": "9d"}));
    caller.post("/_sandbox/inbound/chargeback", &json!({"collection": id(&asked)})).expect(200);
    let refused = refund(&caller, &asked, None).refused(409, "invalid_state_transition");
    assert_eq!(refused["current"], "settled");
    refund(&caller, &json!({"id": "col_0000000000000"}), None).refused(404, "resource_not_found");
}

#[test]
fn a_short_wallet_refunds_nothing() {
    let caller = Caller::manual();
    let paid = settled(&caller, &json!({"currency": "USD", "amount": 10_000}));
    let before = caller.digest();
    let refused = refund(&caller, &paid, None).refused(402, "insufficient_funds");
    assert_eq!(pointers(&refused), ["/amount"]);
    assert_eq!(caller.digest(), before);
    let left = number(&wallet(&caller, "USD")["available"]);
    refund(&caller, &paid, Some(left)).expect(201);
    assert_eq!(wallet(&caller, "USD")["available"], 0);
    caller.audit();
}

#[test]
fn a_manual_transition_takes_a_refund_to_either_end() {
    let caller = Caller::manual();
    let paid = settled(&caller, &json!({}));
    for to in ["succeeded", "failed"] {
        let made = refund(&caller, &paid, Some(100)).made();
        moved(&caller, id(&made), to).expect(200);
        assert_eq!(read(&caller, &made)["status"], to);
        let refused = moved(&caller, id(&made), "pending").refused(409, "invalid_state_transition");
        assert_eq!(refused["allowed"], json!([]));
    }
    caller.audit();
}
