//! Disputed escrows: the money waits for the verdict.

use serde_json::{Value, json};

use super::{act, disputed, funded, now, parts, sums};
use crate::harness::Answer;
use crate::payouts::Payer;

fn dispute(payer: &Payer, escrow: &Value) -> Value {
    let id = escrow["dispute_id"].as_str().unwrap();
    payer.caller.get(&format!("/api/payments/disputes/{id}")).data()
}

fn respond(payer: &Payer, escrow: &Value, body: &Value, verdict: &str) -> Answer {
    let id = escrow["dispute_id"].as_str().unwrap();
    let path = format!("/api/payments/disputes/{id}/respond");
    let request = payer.caller.request("POST", &path).json(body);
    let request = request.header("Sandbox-Scenario", &format!("dispute.verdict={verdict}"));
    payer.caller.send(&request)
}

#[test]
fn a_dispute_freezes_the_held_money() {
    let payer = Payer::manual();
    let before = payer.balance("available");
    let escrow = disputed(&payer, &json!({}));
    assert_eq!(escrow["status"], "disputed");
    let opened = dispute(&payer, &escrow);
    assert_eq!(opened["status"], "needs_response");
    assert_eq!((&opened["amount"], &opened["withheld"]), (&json!(90_000), &json!(0)));
    assert_eq!(opened["raised_by"], "buyer");
    assert_eq!(opened["source"]["id"], escrow["id"]);
    let refused =
        act(&payer, &escrow, "release", &json!({})).refused(409, "invalid_state_transition");
    assert_eq!(refused["current"], "disputed");
    assert_eq!((before - payer.balance("available"), payer.balance("escrow")), (90_000, 90_000));
}

#[test]
fn the_verdict_decides_who_gets_the_money() {
    let payer = Payer::manual();
    let contest = json!({"action": "contest", "evidence": {"photo": "A broken lamp"}});
    for (verdict, status, wanted) in
        [("won", "refunded", [0, 0, 90_000]), ("lost", "released", [0, 90_000, 0])]
    {
        let escrow = disputed(&payer, &json!({}));
        respond(&payer, &escrow, &contest, verdict).expect(200);
        assert_eq!(now(&payer, &escrow)["status"], "disputed");
        payer.caller.advance(&json!({"by": "14d"}));
        let over = now(&payer, &escrow);
        assert_eq!((&over["status"], sums(&over)), (&json!(status), wanted));
        assert_eq!(dispute(&payer, &escrow)["status"], verdict);
        let last = over["status_history"].as_array().unwrap().last().unwrap();
        assert_eq!(last["reason"], format!("dispute {verdict}"));
    }
    payer.caller.audit();
}

#[test]
fn a_lost_or_unanswered_dispute_pays_the_seller() {
    let payer = Payer::manual();
    let accepted = disputed(&payer, &parts());
    respond(&payer, &accepted, &json!({"action": "accept"}), "won").expect(200);
    assert_eq!(now(&payer, &accepted)["status"], "released");
    assert_eq!(now(&payer, &accepted)["milestones"][1]["status"], "released");
    let silent = disputed(&payer, &json!({}));
    payer.caller.advance(&json!({"by": "7d"}));
    assert_eq!(now(&payer, &silent)["status"], "released");
    assert_eq!(dispute(&payer, &silent)["status"], "lost");
    payer.caller.audit();
}

#[test]
fn a_refund_of_a_disputed_escrow_ends_its_dispute() {
    let payer = Payer::manual();
    let before = payer.balance("available");
    let escrow = disputed(&payer, &json!({}));
    let refunded = act(&payer, &escrow, "refund", &json!({"reason": "The seller gives in"})).data();
    assert_eq!((&refunded["status"], sums(&refunded)), (&json!("refunded"), [0, 0, 90_000]));
    let over = dispute(&payer, &escrow);
    assert_eq!(over["status"], "won");
    let told = over["status_history"].as_array().unwrap();
    assert_eq!(told.last().unwrap()["reason"], "The seller gives in");
    payer.caller.advance(&json!({"by": "60d"}));
    assert_eq!(payer.balance("available"), before);
    payer.caller.audit();
}

#[test]
fn only_what_is_still_held_is_disputed() {
    let payer = Payer::manual();
    let escrow = funded(&payer, &parts());
    act(&payer, &escrow, "release", &json!({"milestone_id": "milestone_1"})).expect(200);
    let body = json!({"raised_by": "seller", "reason": "The rest is not paid"});
    let escrow = act(&payer, &escrow, "dispute", &body).data();
    assert_eq!(dispute(&payer, &escrow)["amount"], 60_000);
    let events = payer.caller.advance(&json!({"by": "7d"}));
    for name in ["dispute.lost", "escrow.released", "payout.created"] {
        assert!(events.contains(&name.to_owned()), "{name}: {events:?}");
    }
    assert_eq!(sums(&now(&payer, &escrow)), [0, 90_000, 0]);
    payer.caller.audit();
}
