//! Rails: cut-offs and business days.

use serde_json::{Value, json};

use super::{Payer, history};
use crate::harness::Caller;
use crate::harness::world::number;

#[test]
fn a_payout_debits_the_wallet_at_once_and_arrives_with_the_clock() {
    let payer = Payer::manual();
    let before = payer.balance("available");
    let asked = payer.pay(250_000, &json!({"metadata": {"order": "7"}}));
    let fee = number(&asked["fee"]);
    assert!((1_250..=3_750).contains(&fee), "0.5 % to 1.5 %: {fee}");
    assert_eq!(asked["status"], "queued");
    assert_eq!(asked["recipient"]["name"], "Adaeze Obi");
    assert_eq!(asked["recipient"]["account_last4"], "9900");
    assert_eq!(payer.balance("available"), before - 250_000 - fee);
    let events = payer.caller.advance(&json!({"by": "9s"}));
    assert_eq!(events, ["payout.processing", "payout.sent"]);
    let events = payer.caller.advance(&json!({"by": "1s"}));
    assert_eq!(events, ["payout.paid"]);
    let paid = payer.payout(&asked);
    assert_eq!(history(&paid), ["queued", "processing", "sent", "paid"]);
    assert_eq!(paid["updated_at"], asked["estimated_arrival"]);
    let of = asked["id"].as_str().unwrap();
    let journal =
        format!("/api/business/journal-entries?company_id={}&source_id={of}", payer.company);
    let entries = payer.caller.all(&journal);
    let moved = |entry: usize| -> Vec<(String, String, i64)> {
        let lines = entries[entry]["lines"].as_array().unwrap().iter();
        lines
            .map(|line| {
                (
                    line["account"].as_str().unwrap().to_owned(),
                    line["direction"].as_str().unwrap().to_owned(),
                    number(&line["amount"]),
                )
            })
            .collect()
    };
    let line = |account: &str, side: &str, amount| (account.to_owned(), side.to_owned(), amount);
    assert_eq!(entries.len(), 2);
    let sent = [
        line("payouts_in_transit", "debit", 250_000),
        line("fees", "debit", fee),
        line("cash_available", "credit", 250_000 + fee),
    ];
    assert_eq!(moved(0), sent);
    let arrived =
        [line("purchases", "debit", 250_000), line("payouts_in_transit", "credit", 250_000)];
    assert_eq!(moved(1), arrived);
    payer.caller.audit();
}

#[test]
fn the_call_emits_the_payout_and_the_debit() {
    let payer = Payer::manual();
    let before = payer.caller.events().len();
    payer.pay(100, &json!({}));
    let events = payer.caller.events();
    let names: Vec<&str> =
        events[before..].iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(names, ["payout.created", "wallet.debited"]);
}

/// Seed 42 begins on New Year's Day, a Thursday, and a holiday.
#[test]
fn rails_with_a_cut_off_wait_for_a_business_day() {
    let payer = Payer::manual();
    let arrives = |rail: &str| {
        let payout = payer.pay(1_000, &json!({"rail": rail}));
        payout["estimated_arrival"].as_str().unwrap().to_owned()
    };
    assert_eq!(arrives("instant"), "2026-01-01T00:00:40.000Z");
    assert_eq!(arrives("same_day"), "2026-01-02T13:00:00.000Z");
    assert_eq!(arrives("standard"), "2026-01-06T09:00:00.000Z");
    payer.caller.advance(&json!({"to": "2026-01-05T15:59:59Z"}));
    assert_eq!(arrives("same_day"), "2026-01-05T19:59:59.000Z");
    assert_eq!(arrives("standard"), "2026-01-07T15:59:59.000Z");
    payer.caller.advance(&json!({"by": "1s"}));
    assert_eq!(arrives("same_day"), "2026-01-06T13:00:00.000Z");
    assert_eq!(arrives("instant"), "2026-01-05T16:00:10.000Z");
    payer.caller.audit();
}

#[test]
fn every_rail_keeps_the_time_that_it_named() {
    let payer = Payer::manual();
    let payouts =
        ["instant", "same_day", "standard"].map(|rail| payer.pay(1_000, &json!({"rail": rail})));
    payer.caller.advance(&json!({"by": "2h"}));
    let queued = payouts.iter().map(|payout| payer.payout(payout)["status"].clone());
    assert_eq!(queued.collect::<Vec<_>>(), ["paid", "queued", "queued"]);
    payer.caller.advance(&json!({"by": "30d"}));
    for asked in &payouts {
        let paid = payer.payout(asked);
        assert_eq!(paid["status"], "paid");
        assert_eq!(paid["status_history"][3]["at"], asked["estimated_arrival"]);
    }
    payer.caller.audit();
}

#[test]
fn an_instant_world_has_paid_before_the_next_call() {
    let payer = Payer::instant();
    for rail in ["instant", "same_day", "standard"] {
        let asked = payer.pay(1_000, &json!({"rail": rail}));
        assert_eq!(asked["status"], "queued");
        assert_eq!(payer.payout(&asked)["status"], "paid", "{rail}");
    }
    payer.caller.audit();
}

#[test]
fn rails_are_listed_by_country_and_direction_with_their_codes() {
    let caller = Caller::manual();
    let rails = |filter: &str| {
        let table = caller.get(&format!("/_sandbox/rails{filter}")).expect(200);
        table["data"].as_array().unwrap().clone()
    };
    let all = rails("");
    assert_eq!(all.len(), 27);
    let ids = |rows: &[Value]| -> Vec<Value> { rows.iter().map(|row| row["id"].clone()).collect() };
    assert_eq!(ids(&rails("?country=US")), ["us_ach_credit", "us_ach_debit", "us_rtp"]);
    let payments = ["gb_faster_payments", "gb_bacs_credit", "gb_chaps"];
    assert_eq!(ids(&rails("?country=GB&direction=credit")), payments);
    let nip = rails("?country=NG").remove(0);
    assert_eq!((&nip["instant"], &nip["currency"]), (&json!(true), &json!("NGN")));
    let code = nip["codes"].as_array().unwrap().iter().find(|code| code["code"] == "51").unwrap();
    assert_eq!((&code["stage"], &code["retry"]), (&json!("submit"), &json!("later")));
    for filter in ["?country=GBR", "?direction=both", "?colour=red"] {
        caller.get(&format!("/_sandbox/rails{filter}")).refused(422, "validation_failed");
    }
}
