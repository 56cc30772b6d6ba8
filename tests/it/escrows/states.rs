//! The lifecycle of an escrow, by calls and by manual transitions.

use serde_json::{Value, json};

use super::{ESCROWS, act, agree, body, disputed, funded, now, parts, sums};
use crate::harness::world::{id, number};
use crate::payouts::{Payer, history, with};

#[test]
fn an_escrow_is_released_milestone_by_milestone() {
    let payer = Payer::instant();
    let before = payer.balance("available");
    let answer = payer.caller.post(ESCROWS, &with(body(&payer), &parts()));
    let location = answer.header("location").unwrap().to_owned();
    let escrow = answer.made();
    assert_eq!(escrow["status"], "created");
    assert_eq!(escrow["milestones"][1]["id"], "milestone_2");
    assert_eq!(payer.balance("available"), before);
    let held = act(&payer, &escrow, "fund", &json!({"amount": 90_000})).data();
    assert_eq!(held["status"], "funded");
    assert_eq!(sums(&held), [90_000, 0, 0]);
    assert_eq!((payer.balance("available"), payer.balance("escrow")), (before - 90_000, 90_000));
    let part = act(&payer, &escrow, "release", &json!({"milestone_id": "milestone_2"})).data();
    assert_eq!(part["status"], "partially_released");
    assert_eq!(sums(&part), [30_000, 60_000, 0]);
    assert_eq!(part["milestones"][1]["payout_id"], part["payout_id"]);
    assert_eq!(part["milestones"][0]["status"], "pending");
    let payout = payer.payout(&json!({"id": part["payout_id"]}));
    assert_eq!((&payout["status"], &payout["amount"]), (&json!("paid"), &json!(60_000)));
    assert_eq!(payout["source"], json!({"type": "escrow", "id": id(&escrow)}));
    let whole = act(&payer, &escrow, "release", &json!({})).data();
    assert_eq!(whole["status"], "released");
    assert_eq!(sums(&whole), [0, 90_000, 0]);
    assert_eq!(whole["milestones"][0]["payout_id"], whole["payout_id"]);
    assert_eq!(payer.caller.get(&location).data(), whole);
    assert_eq!((payer.balance("available"), payer.balance("escrow")), (before - 90_000, 0));
    let path = format!("/api/payments/payouts?source_type=escrow&source_id={}", id(&escrow));
    assert_eq!(payer.caller.all(&path).len(), 2);
    payer.caller.audit();
}

#[test]
fn every_step_emits_its_event_in_order() {
    let payer = Payer::manual();
    let begin = payer.caller.events().len();
    let escrow = funded(&payer, &json!({}));
    act(&payer, &escrow, "release", &json!({"amount": 40_000})).expect(200);
    act(&payer, &escrow, "refund", &json!({"reason": "The rest is not needed"})).expect(200);
    let events = payer.caller.events();
    let names: Vec<&str> =
        events[begin..].iter().map(|event| event["type"].as_str().unwrap()).collect();
    let wanted = [
        "escrow.created",
        "escrow.funded",
        "wallet.debited",
        "escrow.partially_released",
        "payout.created",
        "escrow.refunded",
        "wallet.credited",
    ];
    assert_eq!(names, wanted);
    assert_eq!(sums(&now(&payer, &escrow)), [0, 40_000, 50_000]);
    payer.caller.audit();
}

#[test]
fn an_escrow_without_milestones_is_released_by_amounts() {
    let payer = Payer::instant();
    let escrow = funded(&payer, &json!({}));
    for (amount, status, left) in
        [(1, "partially_released", 89_999), (89_998, "partially_released", 1), (1, "released", 0)]
    {
        let escrow = act(&payer, &escrow, "release", &json!({"amount": amount})).data();
        assert_eq!(escrow["status"], status);
        assert_eq!(number(&escrow["held"]), left);
    }
    payer.caller.audit();
}

#[test]
fn the_rest_of_an_escrow_returns_to_the_buyer() {
    let payer = Payer::manual();
    for (account, back) in
        [("9999999902", 90_000), ("9999999998", 90_000), ("9999999999", 90_000), ("9999999900", 0)]
    {
        let seller = payer.payee(account);
        let before = payer.balance("available");
        let escrow = funded(&payer, &json!({"seller_beneficiary_id": seller}));
        act(&payer, &escrow, "release", &json!({})).expect(200);
        payer.caller.advance(&json!({"by": "30d"}));
        assert_eq!(before - payer.balance("available"), 90_000 - back, "{account}");
        assert_eq!(now(&payer, &escrow)["status"], "released");
    }
    assert_eq!(payer.balance("escrow"), 0);
    payer.caller.audit();
}

#[test]
fn an_unfunded_escrow_is_cancelled() {
    let payer = Payer::instant();
    let before = payer.balance("available");
    let escrow = agree(&payer, &json!({}));
    let escrow = act(&payer, &escrow, "refund", &json!({"reason": "No longer needed"})).data();
    assert_eq!(escrow["status"], "cancelled");
    assert_eq!(escrow["status_history"][1]["reason"], "No longer needed");
    assert_eq!(payer.balance("available"), before);
}

#[test]
fn a_release_cannot_be_undone() {
    let payer = Payer::manual();
    let escrow = funded(&payer, &json!({}));
    let released = act(&payer, &escrow, "release", &json!({})).data();
    let payout = json!({"id": released["payout_id"]});
    assert_eq!(payer.payout(&payout)["status"], "queued");
    let refused =
        payer.verb(&payout, "cancel", &json!({})).refused(409, "invalid_state_transition");
    assert!(refused["detail"].as_str().unwrap().contains("escrow"));
    payer
        .transition(id(&payout), &json!({"to": "cancelled"}))
        .refused(409, "invalid_state_transition");
}

#[test]
fn each_state_takes_the_verbs_of_its_rows_and_no_others() {
    let payer = Payer::manual();
    let verbs = [
        ("fund", json!({})),
        ("release", json!({})),
        ("refund", json!({"reason": "x"})),
        ("dispute", json!({"raised_by": "seller", "reason": "x"})),
    ];
    let in_state = |state: &str| -> Value {
        let over = |verb: &str, body: Value| {
            let escrow = funded(&payer, &parts());
            act(&payer, &escrow, verb, &body).data()
        };
        match state {
            "created" => agree(&payer, &json!({})),
            "funded" => funded(&payer, &json!({})),
            "partially_released" => over("release", json!({"milestone_id": "milestone_1"})),
            "released" => over("release", json!({})),
            "refunded" => over("refund", json!({"reason": "x"})),
            "disputed" => disputed(&payer, &json!({})),
            "cancelled" => {
                act(&payer, &agree(&payer, &json!({})), "refund", &json!({"reason": "x"})).data()
            }
            _ => {
                let escrow = agree(&payer, &json!({}));
                payer.transition(id(&escrow), &json!({"to": "expired"})).expect(200);
                now(&payer, &escrow)
            }
        }
    };
    for (state, takes, allowed) in [
        ("created", &["fund", "refund"][..], json!(["funded", "cancelled", "expired"])),
        (
            "funded",
            &["release", "refund", "dispute"],
            json!(["partially_released", "released", "disputed", "refunded"]),
        ),
        (
            "partially_released",
            &["release", "refund", "dispute"],
            json!(["released", "disputed", "refunded"]),
        ),
        ("disputed", &["refund"], json!(["refunded", "released"])),
        ("released", &[], json!([])),
        ("refunded", &[], json!([])),
        ("cancelled", &[], json!([])),
        ("expired", &[], json!([])),
    ] {
        for (verb, body) in &verbs {
            let escrow = in_state(state);
            assert_eq!(escrow["status"], state);
            let answer = act(&payer, &escrow, verb, body);
            if takes.contains(verb) {
                assert_eq!(answer.status, 200, "{state} {verb}: {}", answer.text());
                continue;
            }
            let refused = answer.refused(409, "invalid_state_transition");
            assert_eq!(
                (&refused["current"], &refused["allowed"]),
                (&json!(state), &allowed),
                "{verb}"
            );
        }
    }
    payer.caller.audit();
}

#[test]
fn a_manual_transition_of_an_escrow_moves_its_money() {
    let payer = Payer::manual();
    let go = |escrow: &Value, to: &str| payer.transition(id(escrow), &json!({"to": to}));
    let parted = agree(&payer, &parts());
    for to in ["funded", "partially_released", "disputed", "released"] {
        go(&parted, to).expect(200);
        assert_eq!(now(&payer, &parted)["status"], to);
    }
    assert_eq!(sums(&now(&payer, &parted)), [0, 90_000, 0]);
    let back = agree(&payer, &json!({}));
    for to in ["funded", "disputed", "refunded"] {
        go(&back, to).expect(200);
    }
    assert_eq!(history(&now(&payer, &back)), ["created", "funded", "disputed", "refunded"]);
    for to in ["cancelled", "expired"] {
        go(&agree(&payer, &json!({})), to).expect(200);
    }
    let whole = funded(&payer, &json!({}));
    let refused = go(&whole, "partially_released").refused(409, "invalid_state_transition");
    assert_eq!(refused["allowed"], json!(["released", "disputed", "refunded"]));
    go(&whole, "released").expect(200);
    payer.caller.advance(&json!({"by": "60d"}));
    payer.caller.audit();
}

#[test]
fn escrows_are_listed_by_status_buyer_and_seller() {
    let payer = Payer::instant();
    let other = payer.payee("9999999902");
    let first = agree(&payer, &json!({}));
    let second = funded(&payer, &json!({"seller_beneficiary_id": other}));
    let list = |filter: &str| -> Vec<String> {
        let path = format!("{ESCROWS}?company_id={}{filter}", payer.company);
        let rows = payer.caller.all(&path);
        rows.iter().map(|row| id(row).to_owned()).collect()
    };
    assert_eq!(list(""), [id(&first), id(&second)]);
    assert_eq!(list("&status=funded"), [id(&second)]);
    assert_eq!(list(&format!("&seller={other}")), [id(&second)]);
    assert_eq!(list(&format!("&buyer={}&sort=-amount", payer.wallet)).len(), 2);
    assert!(list("&buyer=wal_0000000000000").is_empty());
}
