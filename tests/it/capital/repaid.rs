//! Loans that repay themselves: from the wallet on the due days, and by a share of sales.

use serde_json::{Value, json};

use super::{decided, led, loan, net, offer, respond, wallet};
use crate::harness::Caller;
use crate::harness::http::pointers;
use crate::harness::world::{id, number};

const AMOUNT: i64 = 120_000_000;

/// A disbursed loan of the first company with these terms of repayment.
fn lent(caller: &Caller, repayment: &Value) -> Value {
    let company = caller.company(0);
    let offer = offer(caller, &decided(caller, &company, AMOUNT, "approved"));
    let body = json!({
        "decision": "accept", "wallet_id": id(&wallet(caller, &company)), "repayment": repayment,
    });
    let taken = respond(caller, &offer, &body).expect(200)["data"].take();
    loan(caller, taken["loan_id"].as_str().unwrap())
}

fn repayments(caller: &Caller, loan: &Value) -> Vec<Value> {
    caller.all(&format!("/api/capital/loans/{}/repayments", id(loan)))
}

fn due(loan: &Value, place: usize) -> &str {
    loan["schedule"][place]["due_on"].as_str().unwrap()
}

fn to_noon(caller: &Caller, day: &str) {
    caller.advance(&json!({"to": format!("{day}T12:00:00Z")}));
}

/// Sets the balance of the first company's wallet to `left`, by a journal entry.
fn leave(caller: &Caller, left: i64) {
    let company = caller.company(0);
    let wallet = wallet(caller, &company);
    let amount = number(&wallet["available"]) - left;
    let (from, to) =
        if amount > 0 { ("cash_available", "rent") } else { ("rent", "cash_available") };
    let line = |account: &str, direction: &str| json!({"account": account, "direction": direction, "amount": amount.abs(), "currency": "NGN"});
    let today = caller.get("/_sandbox/clock").data()["now"].as_str().unwrap()[..10].to_owned();
    let entry = json!({"company_id": company, "effective_on": today, "lines": [line(to, "debit"), line(from, "credit")]});
    caller.post("/api/business/journal-entries", &entry).expect(201);
}

/// Source: the terms of `docs/capital.md`; interest by the effective interest method (IFRS 9, appendix A) as for repayments by call.
#[test]
fn autopay_debits_each_instalment_on_its_day_and_an_empty_wallet_makes_the_loan_late() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let lent = lent(&caller, &json!({"method": "autopay"}));
    assert_eq!(lent["repayment"], json!({"method": "autopay", "share_bp": null}));
    to_noon(&caller, due(&lent, 0));
    let paid = repayments(&caller, &lent);
    assert_eq!(paid.len(), 1);
    assert_eq!(
        (&paid[0]["amount"], &paid[0]["method"]),
        (&lent["schedule"][0]["amount"], &json!("autopay"))
    );
    assert_eq!(paid[0]["created_at"], format!("{}T00:00:00.000Z", due(&lent, 0)));
    assert_eq!(loan(&caller, id(&lent))["next_due"]["number"], 2);
    // One unit is missing: nothing is debited, and the loan is late the day after.
    leave(&caller, number(&lent["schedule"][1]["amount"]) - 1);
    to_noon(&caller, due(&lent, 1));
    assert_eq!(repayments(&caller, &lent).len(), 1);
    assert_eq!(loan(&caller, id(&lent))["status"], "active");
    caller.advance(&json!({"by": "1d"}));
    assert_eq!(loan(&caller, id(&lent))["status"], "late");
    // The next due day pays both.
    leave(&caller, AMOUNT);
    to_noon(&caller, due(&lent, 2));
    let paid = repayments(&caller, &lent);
    let both = number(&lent["schedule"][1]["amount"]) + number(&lent["schedule"][2]["amount"]);
    assert_eq!((paid.len(), number(&paid[1]["amount"])), (2, both));
    let now = loan(&caller, id(&lent));
    assert_eq!((&now["status"], &now["next_due"]["number"]), (&json!("active"), &json!(4)));
    leave(&caller, 2 * AMOUNT);
    to_noon(&caller, due(&lent, 11));
    let over = loan(&caller, id(&lent));
    assert_eq!((&over["status"], &over["next_due"]), (&json!("repaid"), &Value::Null));
    let principal: i64 =
        repayments(&caller, &lent).iter().map(|row| number(&row["principal"])).sum();
    assert_eq!((principal, net(&caller, &company, "loans_payable")), (AMOUNT, 0));
    assert_eq!(net(&caller, &company, "interest_payable"), 0);
    caller.audit();
}

#[test]
fn autopay_debits_an_instalment_that_was_made_late_by_hand_on_its_day() {
    let caller = Caller::instant();
    let lent = lent(&caller, &json!({"method": "autopay"}));
    led(&caller, id(&lent), "late");
    assert_eq!(repayments(&caller, &lent).len(), 0);
    to_noon(&caller, due(&lent, 0));
    let paid = repayments(&caller, &lent);
    assert_eq!(paid.len(), 1);
    assert_eq!(paid[0]["amount"], lent["schedule"][0]["amount"]);
    assert_eq!(paid[0]["created_at"], format!("{}T00:00:00.000Z", due(&lent, 0)));
    let now = loan(&caller, id(&lent));
    assert_eq!((&now["status"], &now["next_due"]["number"]), (&json!("active"), &json!(2)));
    caller.audit();
}

#[test]
fn a_share_of_each_settled_collection_repays_the_loan_and_no_more() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let lent = lent(&caller, &json!({"method": "revenue_share", "share_bp": 1_250}));
    let collect = |amount: i64, reference: &str, currency: &str| {
        let body = json!({"company_id": company, "amount": amount, "currency": currency, "method": "card", "reference": reference});
        let made = caller.post("/api/payments/collections", &body).made();
        caller.advance(&json!({"until": "idle"}));
        made
    };
    let sale = collect(10_000_007, "A", "NGN");
    collect(10_000, "B", "USD"); // another currency
    let taken = repayments(&caller, &lent);
    assert_eq!(taken.len(), 1, "{taken:?}");
    assert_eq!(taken[0]["amount"], 1_250_000); // 12.5 %, rounded down
    assert_eq!(
        (&taken[0]["method"], &taken[0]["collection_id"]),
        (&json!("revenue_share"), &sale["id"])
    );
    let settled = caller.get(&format!("/api/payments/collections/{}", id(&sale))).data();
    assert_eq!(settled["status"], "settled");
    // The part of the first instalment that the shares have not paid is due on its day.
    to_noon(&caller, due(&lent, 0));
    let now = loan(&caller, id(&lent));
    let rest = number(&lent["schedule"][0]["amount"]) - 1_250_000;
    assert_eq!((&now["next_due"]["amount"], &now["status"]), (&json!(rest), &json!("active")));
    // A large sale repays everything, and further sales are free.
    let settlement = number(&now["settlement_amount"]);
    collect(settlement * 9, "C", "NGN");
    let over = loan(&caller, id(&lent));
    assert_eq!(over["status"], "repaid");
    let count = repayments(&caller, &lent).len();
    collect(10_000_000, "D", "NGN");
    assert_eq!(repayments(&caller, &lent).len(), count);
    assert_eq!(net(&caller, &company, "loans_payable"), 0);
    assert_eq!(net(&caller, &company, "interest_payable"), 0);
    caller.audit();
}

#[test]
fn wrong_terms_of_repayment_are_refused() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let offer = offer(&caller, &decided(&caller, &company, AMOUNT, "approved"));
    let wallet = wallet(&caller, &company);
    let before = caller.digest();
    for (repayment, pointer) in [
        (json!({"method": "revenue_share"}), "/repayment/share_bp"),
        (json!({"method": "autopay", "share_bp": 100}), "/repayment/share_bp"),
        (json!({"method": "revenue_share", "share_bp": 0}), "/repayment/share_bp"),
        (json!({"method": "revenue_share", "share_bp": 10_001}), "/repayment/share_bp"),
        (json!({"method": "weekly"}), "/repayment/method"),
        (json!({"method": "autopay", "colour": "red"}), "/repayment/colour"),
    ] {
        let body = json!({"decision": "accept", "wallet_id": id(&wallet), "repayment": repayment});
        let problem = respond(&caller, &offer, &body).refused(422, "validation_failed");
        assert_eq!(pointers(&problem), [pointer], "{repayment}");
    }
    let body = json!({"decision": "decline", "repayment": {"method": "manual"}});
    let problem = respond(&caller, &offer, &body).refused(422, "validation_failed");
    assert_eq!(pointers(&problem), ["/repayment"]);
    assert_eq!(caller.digest(), before);
}
