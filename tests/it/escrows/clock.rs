//! The dates of an escrow.

use serde_json::json;

use super::{act, agree, disputed, funded, now, parts, sums};
use crate::payouts::{Payer, history};

#[test]
fn the_held_money_goes_to_the_seller_on_its_date() {
    let payer = Payer::manual();
    let date = json!({"auto_release_at": "2026-02-02T12:00:00Z"});
    let escrow = funded(&payer, &date);
    payer.caller.advance(&json!({"to": "2026-02-02T11:59:59Z"}));
    assert_eq!(now(&payer, &escrow)["status"], "funded");
    let events = payer.caller.advance(&json!({"by": "1s"}));
    assert_eq!(events[..2], ["escrow.released", "payout.created"]);
    let released = now(&payer, &escrow);
    assert_eq!(released["status_history"][2]["reason"], "released on its date");
    payer.caller.advance(&json!({"by": "10d"}));
    let payout = payer.payout(&json!({"id": released["payout_id"]}));
    assert_eq!(payout["status"], "paid");
    payer.caller.audit();
}

#[test]
fn an_instant_world_waits_for_the_dates_of_an_escrow() {
    let payer = Payer::instant();
    let dates =
        json!({"auto_release_at": "2026-02-02T12:00:00Z", "expires_at": "2026-03-02T12:00:00Z"});
    let escrow = funded(&payer, &dates);
    assert_eq!(now(&payer, &escrow)["status"], "funded");
    payer.caller.advance(&json!({"to": "2026-02-03T00:00:00Z"}));
    assert_eq!(now(&payer, &escrow)["status"], "released");
}

#[test]
fn an_escrow_that_is_funded_after_its_date_is_released_at_once() {
    let payer = Payer::manual();
    let escrow = agree(&payer, &json!({"auto_release_at": "2026-02-02T12:00:00Z"}));
    payer.caller.advance(&json!({"to": "2026-02-10T00:00:00Z"}));
    assert_eq!(now(&payer, &escrow)["status"], "created");
    act(&payer, &escrow, "fund", &json!({})).expect(200);
    payer.caller.advance(&json!({"by": "1s"}));
    assert_eq!(now(&payer, &escrow)["status"], "released");
}

#[test]
fn an_unfunded_escrow_expires_and_a_funded_one_is_refunded() {
    let payer = Payer::manual();
    let before = payer.balance("available");
    let date = json!({"expires_at": "2026-02-02T00:00:00Z"});
    let unfunded = agree(&payer, &date);
    let whole = funded(&payer, &date);
    let mut parted = date.clone();
    parted["milestones"] = parts()["milestones"].take();
    let parted = funded(&payer, &parted);
    act(&payer, &parted, "release", &json!({"milestone_id": "milestone_1"})).expect(200);
    let events = payer.caller.advance(&json!({"to": "2026-02-02T00:00:00Z"}));
    let told: Vec<&str> =
        events.iter().map(String::as_str).filter(|name| !name.starts_with("payout")).collect();
    let wanted = [
        "escrow.expired",
        "escrow.refunded",
        "wallet.credited",
        "escrow.refunded",
        "wallet.credited",
    ];
    assert_eq!(told, wanted);
    assert_eq!(history(&now(&payer, &unfunded)), ["created", "expired"]);
    assert_eq!(sums(&now(&payer, &whole)), [0, 0, 90_000]);
    assert_eq!(sums(&now(&payer, &parted)), [0, 30_000, 60_000]);
    assert_eq!(payer.balance("available"), before - 30_000);
    payer.caller.audit();
}

#[test]
fn dates_after_the_end_of_an_escrow_have_no_effect() {
    let payer = Payer::manual();
    let dates =
        json!({"auto_release_at": "2026-02-02T00:00:00Z", "expires_at": "2026-03-02T00:00:00Z"});
    let refunded = funded(&payer, &dates);
    act(&payer, &refunded, "refund", &json!({"reason": "x"})).expect(200);
    let released = funded(&payer, &dates);
    act(&payer, &released, "release", &json!({})).expect(200);
    payer.caller.advance(&json!({"to": "2026-04-01T00:00:00Z"}));
    assert_eq!(sums(&now(&payer, &refunded)), [0, 0, 90_000]);
    assert_eq!(sums(&now(&payer, &released)), [0, 90_000, 0]);
    payer.caller.audit();
}

#[test]
fn a_dispute_stops_both_dates() {
    let payer = Payer::manual();
    let dates =
        json!({"auto_release_at": "2026-01-03T00:00:00Z", "expires_at": "2026-01-04T00:00:00Z"});
    let escrow = disputed(&payer, &dates);
    payer.caller.advance(&json!({"to": "2026-01-05T00:00:00Z"}));
    assert_eq!(now(&payer, &escrow)["status"], "disputed");
    assert_eq!(payer.balance("escrow"), 90_000);
}
