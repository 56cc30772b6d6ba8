//! Chargebacks by payers' banks.

use serde_json::{Value, json};

use super::{DISPUTES, ask, at, booked, collection, moved, respond, settled, told, wallet};
use crate::harness::Caller;
use crate::harness::http::pointers;
use crate::harness::world::{id, number};

fn charged_back(caller: &Caller, paid: &Value) -> Value {
    caller.post("/_sandbox/inbound/chargeback", &json!({"collection": id(paid)})).data()
}

fn read(caller: &Caller, of: &Value) -> Value {
    caller.get(&format!("{DISPUTES}/{}", id(of))).data()
}

fn contest(caller: &Caller, dispute: &Value) -> Value {
    let body = json!({"action": "contest", "evidence": {"delivery_note": "Signed for"}});
    respond(caller, dispute, &body).data()
}

#[test]
fn a_dispute_that_is_won_gives_back_what_was_withheld() {
    let caller = Caller::manual();
    let paid = settled(&caller, &json!({}));
    let before = number(&wallet(&caller, "NGN")["available"]);
    let dispute = charged_back(&caller, &paid);
    assert_eq!(
        (&dispute["status"], &dispute["withheld"]),
        (&json!("needs_response"), &json!(25_000))
    );
    assert_eq!(dispute["source"], json!({"type": "collection", "id": paid["id"]}));
    assert_eq!(number(&wallet(&caller, "NGN")["available"]), before - 25_000);
    let disputed = collection(&caller, &paid);
    assert_eq!((&disputed["disputed"], &disputed["dispute_id"]), (&json!(true), &dispute["id"]));
    let contested = contest(&caller, &dispute);
    assert_eq!(contested["status"], "under_review");
    assert_eq!(contested["evidence"]["delivery_note"], "Signed for");
    caller.advance(&json!({"by": "13d"}));
    assert_eq!(read(&caller, &dispute)["status"], "under_review");
    caller.advance(&json!({"by": "1d"}));
    assert_eq!(read(&caller, &dispute)["status"], "won");
    assert_eq!(number(&wallet(&caller, "NGN")["available"]), before);
    let over = collection(&caller, &paid);
    assert_eq!((&over["disputed"], &over["amount_charged_back"]), (&json!(false), &json!(0)));
    assert_eq!(booked(&caller, id(&dispute)), []);
    let names = ["created", "under_review", "won"].map(|name| format!("dispute.{name}"));
    assert_eq!(told(&caller, id(&dispute)), names);
    caller.audit();
}

#[test]
fn a_dispute_without_an_answer_is_lost_after_seven_days() {
    let caller = Caller::manual();
    let paid = settled(&caller, &json!({}));
    let dispute = charged_back(&caller, &paid);
    caller.advance(&json!({"to": "2026-01-16T23:59:59Z"}));
    assert_eq!(read(&caller, &dispute)["status"], "needs_response");
    let refused =
        respond(&caller, &dispute, &json!({"action": "contest"})).refused(422, "validation_failed");
    assert_eq!(pointers(&refused), ["/evidence"]);
    caller.advance(&json!({"to": "2026-01-17T00:00:00Z"}));
    let lost = read(&caller, &dispute);
    assert_eq!(lost["status"], "lost");
    assert_eq!(lost["status_history"][1]["reason"], "no evidence in time");
    let body = json!({"action": "contest", "evidence": {"late": "yes"}});
    let refused = respond(&caller, &dispute, &body).refused(409, "invalid_state_transition");
    assert_eq!((&refused["current"], &refused["allowed"]), (&json!("lost"), &json!([])));
    let books = [at("cash_available", -25_000), at("chargeback_losses", 25_000)];
    assert_eq!(booked(&caller, id(&dispute)), books);
    let over = collection(&caller, &paid);
    assert_eq!((&over["disputed"], &over["amount_charged_back"]), (&json!(false), &json!(25_000)));
    caller.audit();
}

#[test]
fn an_answer_in_time_is_not_undone_by_the_deadline() {
    let caller = Caller::manual();
    let paid = settled(&caller, &json!({}));
    let dispute = charged_back(&caller, &paid);
    contest(&caller, &dispute);
    caller.advance(&json!({"by": "8d"}));
    assert_eq!(read(&caller, &dispute)["status"], "under_review");
}

#[test]
fn accepting_a_dispute_loses_the_money_at_once() {
    let caller = Caller::manual();
    let paid = settled(&caller, &json!({}));
    let dispute = charged_back(&caller, &paid);
    let both = json!({"action": "accept", "evidence": {"but": "still"}});
    respond(&caller, &dispute, &both).refused(422, "validation_failed");
    let accepted = respond(&caller, &dispute, &json!({"action": "accept"})).data();
    assert_eq!(accepted["status"], "accepted");
    assert_ne!(accepted["resolved_at"], Value::Null);
    assert_eq!(told(&caller, id(&dispute)), ["dispute.created", "dispute.accepted"]);
    respond(&caller, &dispute, &json!({"action": "accept"}))
        .refused(409, "invalid_state_transition");
    caller.audit();
}

#[test]
fn a_rule_loses_a_dispute_at_its_own_time() {
    let caller = Caller::manual();
    let rule = json!({"match": {"decision": "dispute.verdict"}, "outcome": {"then": "lost", "after": "3d"}});
    caller.post("/_sandbox/rules", &rule).expect(201);
    let paid = settled(&caller, &json!({}));
    let dispute = charged_back(&caller, &paid);
    contest(&caller, &dispute);
    caller.advance(&json!({"by": "3d"}));
    assert_eq!(read(&caller, &dispute)["status"], "lost");
}

#[test]
fn a_payer_who_disputes_pays_first() {
    let caller = Caller::manual();
    let paid = settled(&caller, &json!({"payer": {"account_number": "9999999995"}}));
    assert_eq!(paid["disputed"], false);
    caller.advance(&json!({"by": "2d"}));
    let disputed = collection(&caller, &paid);
    assert_eq!(disputed["disputed"], true);
    let opened = read(&caller, &json!({"id": disputed["dispute_id"]}));
    assert_eq!((&opened["amount"], &opened["raised_by"]), (&json!(25_000), &json!("payer")));
}

#[test]
fn a_short_wallet_pays_its_balance_and_owes_the_rest() {
    let caller = Caller::manual();
    let paid = settled(&caller, &json!({"currency": "USD", "amount": 10_000}));
    let available = number(&wallet(&caller, "USD")["available"]);
    assert!(available < 10_000);
    let dispute = charged_back(&caller, &paid);
    assert_eq!(dispute["withheld"], available);
    assert_eq!(wallet(&caller, "USD")["available"], 0);
    respond(&caller, &dispute, &json!({"action": "accept"})).expect(200);
    let books = [
        at("cash_available", -available),
        at("chargeback_losses", 10_000),
        at("refunds_payable", available - 10_000),
    ];
    assert_eq!(booked(&caller, id(&dispute)), books);
    caller.audit();
}

#[test]
fn money_received_meanwhile_pays_the_rest_of_a_loss() {
    let caller = Caller::manual();
    let paid = settled(&caller, &json!({"currency": "USD", "amount": 10_000}));
    let dispute = charged_back(&caller, &paid);
    let more = json!({"company_id": caller.company(0), "amount": 1_000, "currency": "USD"});
    caller.post("/_sandbox/inbound/bank_transfer", &more).expect(200);
    respond(&caller, &dispute, &json!({"action": "accept"})).expect(200);
    let rest = 10_000 - number(&dispute["withheld"]);
    assert_eq!(wallet(&caller, "USD")["available"], 1_000 - rest);
    let events = caller.events();
    assert_eq!(events.last().unwrap()["type"], "wallet.debited");
    caller.audit();
}

#[test]
fn a_chargeback_takes_no_more_than_is_left_and_one_at_a_time() {
    let caller = Caller::manual();
    let asked = ask(&caller, &json!({})).made();
    let charge = |amount: Option<i64>| {
        let mut body = json!({"collection": id(&asked), "reason": "Duplicate"});
        if let Some(amount) = amount {
            body["amount"] = amount.into();
        }
        caller.post("/_sandbox/inbound/chargeback", &body)
    };
    charge(None).refused(409, "invalid_state_transition");
    caller.advance(&json!({"by": "9d"}));
    charge(Some(25_001)).refused(422, "validation_failed");
    let dispute = charge(Some(20_000)).data();
    assert_eq!(dispute["reason"], "Duplicate");
    charge(None).refused(409, "invalid_state_transition");
    respond(&caller, &dispute, &json!({"action": "accept"})).expect(200);
    let rest = charge(None).data();
    assert_eq!(rest["amount"], 5_000);
    respond(&caller, &rest, &json!({"action": "accept"})).expect(200);
    charge(None).refused(422, "validation_failed");
    caller.audit();
}

#[test]
fn a_manual_transition_decides_a_dispute_along_its_lifecycle() {
    let caller = Caller::manual();
    for (reference, contested, to) in
        [("A", true, "won"), ("B", true, "lost"), ("C", false, "lost")]
    {
        let paid = settled(&caller, &json!({"reference": reference}));
        let dispute = charged_back(&caller, &paid);
        if contested {
            contest(&caller, &dispute);
        } else {
            let refused =
                moved(&caller, id(&dispute), "accepted").refused(409, "invalid_state_transition");
            assert_eq!(refused["allowed"], json!(["lost"]));
        }
        moved(&caller, id(&dispute), to).expect(200);
        caller.advance(&json!({"by": "20d"}));
        assert_eq!(read(&caller, &dispute)["status"], to);
    }
    caller.audit();
}

#[test]
fn lists_of_disputes_filter_by_status_and_source() {
    let caller = Caller::manual();
    let paid = settled(&caller, &json!({}));
    let dispute = charged_back(&caller, &paid);
    let count = |query: &str| caller.all(&format!("{DISPUTES}?{query}")).len();
    let company = caller.company(0);
    assert_eq!(count(&format!("company_id={company}")), 1);
    assert_eq!(count(&format!("company_id={}", caller.company(1))), 0);
    assert_eq!(count("source_type=collection&status=needs_response"), 1);
    assert_eq!((count("source_type=escrow"), count("status=won")), (0, 0));
    caller.get(&format!("{DISPUTES}/dsp_0000000000000")).refused(404, "resource_not_found");
    respond(&caller, &json!({"id": "dsp_0000000000000"}), &json!({"action": "accept"}))
        .refused(404, "resource_not_found");
    assert_eq!(read(&caller, &dispute)["evidence_due_by"], "2026-01-17T00:00:00.000Z");
}
