//! Payments and chargebacks of the outside world.

use serde_json::{Value, json};

use super::{ask, collection, statuses, wallet};
use crate::harness::Caller;
use crate::harness::http::{Answer, pointers};
use crate::harness::world::{id, number};

fn transfer(caller: &Caller, more: &Value) -> Answer {
    let mut body = json!({"company_id": caller.company(0), "amount": 25_000});
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    caller.post("/_sandbox/inbound/bank_transfer", &body)
}

/// A bank transfer collection that no payer pays by itself.
fn open(caller: &Caller, reference: &str) -> Value {
    let never = json!({"method": "bank_transfer", "reference": reference, "payer": {"account_number": "9999999994"}});
    ask(caller, &never).made()
}

#[test]
fn a_transfer_pays_the_collection_that_it_names_short_whole_or_beyond() {
    let caller = Caller::manual();
    let paid = |reference: &str, amount: i64| {
        let asked = open(&caller, reference);
        transfer(&caller, &json!({"reference": reference, "amount": amount})).expect(200);
        collection(&caller, &asked)
    };
    let before = number(&wallet(&caller, "NGN")["available"]);
    assert_eq!(paid("A", 24_999)["amount_received"], 24_999);
    assert_eq!(paid("B", 25_000)["amount_received"], 25_000);
    assert_eq!(number(&wallet(&caller, "NGN")["available"]), before);
    let beyond = paid("C", 25_100);
    assert_eq!(statuses(&beyond), ["pending", "processing", "succeeded"]);
    assert_eq!(beyond["amount_received"], 25_000);
    assert_eq!(number(&wallet(&caller, "NGN")["available"]), before + 100);
    caller.advance(&json!({"by": "9d"}));
    assert_eq!(collection(&caller, &beyond)["status"], "settled");
    caller.audit();
}

#[test]
fn a_transfer_to_a_virtual_account_pays_its_collection() {
    let caller = Caller::manual();
    let asked = open(&caller, "A");
    let account = asked["virtual_account"]["account_number"].clone();
    let answer = transfer(&caller, &json!({"account_number": account})).data();
    assert_eq!((&answer["object"], &answer["id"]), (&json!("collection"), &asked["id"]));
    let gone =
        transfer(&caller, &json!({"account_number": account})).refused(404, "resource_not_found");
    assert_eq!(pointers(&gone), ["/account_number"]);
}

#[test]
fn a_transfer_that_fits_no_collection_is_refused() {
    let caller = Caller::manual();
    let (first, second) = (open(&caller, "A"), open(&caller, "B"));
    let gone = transfer(&caller, &json!({"reference": "X", "account_number": "0"}))
        .refused(404, "resource_not_found");
    assert_eq!(pointers(&gone), ["/reference", "/account_number"]);
    let detail = "no open collection of the company has this reference or account number";
    assert_eq!(gone["detail"], detail);
    let other = second["virtual_account"]["account_number"].clone();
    let both = json!({"reference": "A", "account_number": other, "from": "owner"});
    let problem = transfer(&caller, &both).refused(422, "validation_failed");
    assert_eq!(pointers(&problem), ["/account_number", "/from"]);
    let dollars = transfer(&caller, &json!({"reference": "A", "currency": "USD"}))
        .refused(422, "currency_mismatch");
    assert_eq!(pointers(&dollars), ["/currency"]);
    ask(&caller, &json!({"reference": "CARD", "payer": {"account_number": "9999999994"}}))
        .expect(201);
    transfer(&caller, &json!({"reference": "CARD"})).refused(409, "invalid_state_transition");
    assert_eq!(collection(&caller, &first)["status"], "pending");
}

#[test]
fn a_card_payment_is_made_or_declined_now() {
    let caller = Caller::manual();
    let asked = |reference: &str, method: &str| {
        ask(&caller, &json!({"reference": reference, "method": method})).made()
    };
    let pay = |of: &Value, outcome: &str| {
        let body = json!({"collection": id(of), "outcome": outcome});
        caller.post("/_sandbox/inbound/card_payment", &body)
    };
    let paid = asked("A", "card");
    assert_eq!(pay(&paid, "paid").data()["status"], "succeeded");
    let declined = asked("B", "card");
    let failed = pay(&declined, "declined").data();
    assert_eq!(
        (&failed["status"], &failed["failure"]["code"]),
        (&json!("failed"), &json!("insufficient_funds"))
    );
    pay(&paid, "paid").refused(409, "invalid_state_transition");
    pay(&asked("C", "bank_transfer"), "paid").refused(409, "invalid_state_transition");
    caller.advance(&json!({"by": "9d"}));
    assert_eq!(
        statuses(&collection(&caller, &paid)),
        ["pending", "processing", "succeeded", "settled"]
    );
    caller.audit();
}

#[test]
fn every_inbound_kind_accepts_only_its_own_members() {
    let caller = Caller::manual();
    let wrong = |kind: &str, body: Value| {
        let answer = caller.post(&format!("/_sandbox/inbound/{kind}"), &body);
        let problem = answer.refused(422, "validation_failed");
        pointers(&problem).join(" ")
    };
    assert_eq!(wrong("chargeback", json!({})), "/collection");
    assert_eq!(
        wrong("chargeback", json!({"collection": "col_0000000000000", "outcome": "paid"})),
        "/outcome"
    );
    assert_eq!(
        wrong("card_payment", json!({"collection": "col_0000000000000", "amount": 1})),
        "/amount"
    );
    assert_eq!(
        wrong("bank_transfer", json!({"collection": "col_0000000000000"})),
        "/collection /company_id /amount"
    );
    caller
        .post("/_sandbox/inbound/smoke_signal", &json!({"amount": 1}))
        .refused(404, "route_not_found");
    for kind in ["chargeback", "card_payment"] {
        let body = json!({"collection": "col_0000000000000"});
        let target = format!("/_sandbox/inbound/{kind}");
        caller.post(&target, &body).refused(404, "resource_not_found");
    }
}

#[test]
fn a_full_wallet_accepts_no_payment() {
    let caller = Caller::manual();
    let asked = open(&caller, "A");
    let most = 1_000_000_000_000_000_i64;
    let owners = json!({"amount": most});
    while transfer(&caller, &owners).status == 200 {}
    transfer(&caller, &json!({"reference": "A", "amount": most})).refused(402, "limit_exceeded");
    assert_eq!(collection(&caller, &asked)["status"], "pending");
}
