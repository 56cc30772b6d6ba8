//! The outcomes of a payout at the receiving bank, and the money that returns.

use serde_json::{Value, json};

use super::{PAYOUTS, Payer, history};
use crate::harness::world::{id, number};

/// The end of a payout to a reserved account, and the loss of the wallet.
#[derive(Clone, Copy)]
enum Lost {
    All,
    Fee,
    Nothing,
}

#[test]
fn reserved_accounts_choose_what_becomes_of_a_payout() {
    let payer = Payer::manual();
    for (account, path, code, lost) in [
        ("9999999900", &["processing", "sent", "paid"][..], None, Lost::All),
        ("9999999902", &["processing", "sent", "failed"], Some("account_closed"), Lost::Nothing),
        ("9999999990", &["processing", "sent", "paid"], None, Lost::All),
        ("9999999991", &["processing", "on_hold", "processing", "sent", "paid"], None, Lost::All),
        ("9999999992", &["processing", "on_hold", "failed"], Some("account_frozen"), Lost::Nothing),
        ("9999999998", &["processing", "sent", "failed"], Some("rail_unavailable"), Lost::Nothing),
        (
            "9999999999",
            &["processing", "sent", "paid", "returned"],
            Some("account_closed"),
            Lost::Fee,
        ),
    ] {
        let beneficiary = payer.payee(account);
        let before = payer.balance("available");
        let asked = payer.pay(70_000, &json!({"beneficiary_id": beneficiary}));
        payer.caller.advance(&json!({"by": "40d"}));
        let payout = payer.payout(&asked);
        assert_eq!(history(&payout)[1..], *path, "{account}");
        assert_eq!(payout["failure"]["code"].as_str(), code, "{account}");
        let fee = number(&asked["fee"]);
        let gone = match lost {
            Lost::All => 70_000 + fee,
            Lost::Fee => fee,
            Lost::Nothing => 0,
        };
        assert_eq!(before - payer.balance("available"), gone, "{account}");
    }
    payer.caller.audit();
}

#[test]
fn headers_and_rules_come_before_the_account() {
    let payer = Payer::manual();
    let request = payer.caller.request("POST", PAYOUTS).json(&payer.body(500));
    let request = request.header("Sandbox-Scenario", "payout.settle=failed;code=R03;after=1h");
    let asked = payer.caller.send(&request).made();
    let rule = json!({"match": {"decision": "payout.settle", "where": {"beneficiary": payer.beneficiary}},
        "times": 1, "outcome": {"then": "held_then_rejected"}});
    let events = payer.caller.advance(&json!({"by": "1h"}));
    assert_eq!(events, ["payout.processing", "payout.sent", "payout.failed", "wallet.credited"]);
    let failed = payer.payout(&asked);
    assert_eq!(failed["failure"]["return_code"], "07");
    assert_eq!(failed["failure"]["code"], "account_not_found");
    payer.caller.post("/_sandbox/rules", &rule).expect(201);
    let held = payer.pay(600, &json!({}));
    let events = payer.caller.advance(&json!({"by": "10d"}));
    let told = ["payout.processing", "payout.on_hold", "payout.failed", "wallet.credited"];
    assert_eq!(events, told);
    assert_eq!(payer.payout(&held)["status"], "failed");
    let decisions = payer.caller.all("/_sandbox/decisions?decision=payout.settle");
    let why: Vec<&Value> = decisions.iter().map(|one| &one["why"]).collect();
    assert_eq!(why, ["header", "rule"]);
    payer.caller.audit();
}

#[test]
fn a_manual_transition_of_a_payout_moves_its_money() {
    let payer = Payer::manual();
    let before = payer.balance("available");
    let asked = payer.pay(9_000, &json!({}));
    let fee = number(&asked["fee"]);
    let refused = payer.transition(id(&asked), &json!({"to": "paid"}));
    let refused = refused.refused(409, "invalid_state_transition");
    assert_eq!(refused["current"], "queued");
    assert_eq!(refused["allowed"], json!(["processing", "cancelled"]));
    for to in ["processing", "on_hold", "processing", "sent", "paid"] {
        payer.transition(id(&asked), &json!({"to": to})).expect(200);
    }
    let body = json!({"to": "returned", "return_code": "R02"});
    payer.transition(id(&asked), &body).expect(200);
    assert_eq!(payer.balance("available"), before - fee);
    let other = payer.pay(9_000, &json!({}));
    payer.transition(id(&other), &json!({"to": "cancelled"})).expect(200);
    assert!(payer.caller.advance(&json!({"by": "30d"})).is_empty());
    assert_eq!(payer.balance("available"), before - fee);
    payer.settings(&json!({"approval_required": true}));
    let waits = payer.pay(9_000, &json!({}));
    payer.transition(id(&waits), &json!({"to": "queued"})).expect(200);
    payer.caller.advance(&json!({"by": "1d"}));
    assert_eq!(payer.payout(&waits)["status"], "paid");
    payer.caller.audit();
}

#[test]
fn a_payout_that_is_moved_by_hand_goes_on() {
    let payer = Payer::manual();
    let rest = |moves: &[&str]| {
        let asked = payer.pay(9_000, &json!({"rail": "standard"}));
        for to in moves {
            payer.transition(id(&asked), &json!({ "to": to })).expect(200);
        }
        let events = payer.caller.advance(&json!({"by": "30d"}));
        (events, payer.payout(&asked)["status"].clone())
    };
    let (paid, gone) = (json!("paid"), vec!["payout.sent".to_owned(), "payout.paid".to_owned()]);
    assert_eq!(rest(&["processing"]), (gone.clone(), paid.clone()));
    assert_eq!(rest(&["processing", "on_hold", "processing"]), (gone.clone(), paid.clone()));
    assert_eq!(rest(&["processing", "sent"]), (gone[1..].to_vec(), paid));
    // Only a manual transition or the company ends such a hold.
    assert_eq!(rest(&["processing", "on_hold"]), (Vec::new(), json!("on_hold")));
    payer.caller.audit();
}

#[test]
fn payouts_of_the_months_before_the_start_are_over() {
    let payer = Payer::instant();
    let path = format!("{PAYOUTS}?company_id={}", payer.company);
    let grown = payer.caller.all(&path);
    let vendor = grown.iter().find(|payout| payout["source"]["type"] == "bill");
    let vendor = id(vendor.expect("suppliers were paid"));
    let refused = payer.transition(vendor, &json!({"to": "returned"}));
    refused.refused(409, "invalid_state_transition");
}

#[test]
fn payouts_are_listed_by_beneficiary_status_and_source() {
    let payer = Payer::manual();
    let other = payer.payee("9999999998");
    let first = payer.pay(100, &json!({}));
    let second = payer.pay(200, &json!({"beneficiary_id": other}));
    let list = |filter: &str| -> Vec<String> {
        let path = format!("{PAYOUTS}?company_id={}&{filter}", payer.company);
        let rows = payer.caller.all(&path);
        rows.iter().map(|row| id(row).to_owned()).collect()
    };
    assert_eq!(list(&format!("beneficiary_id={}", payer.beneficiary)), [id(&first)]);
    assert_eq!(list("status=queued"), [id(&first), id(&second)]);
    payer.caller.advance(&json!({"by": "1m"}));
    assert_eq!(list("status=failed"), [id(&second)]);
    assert!(list("source_type=escrow").is_empty());
    assert!(!list("source_type=payroll_item").contains(&id(&first).to_owned()));
}
