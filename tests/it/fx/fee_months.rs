//! The volume for a month's platform fees: each amount counts once, from its fee until the refund of that
//! fee.

use serde_json::{Value, json};

use crate::harness::Caller;
use crate::harness::world::{id, number};
use crate::payouts::Payer;

use super::{give, reports_close, wallet};

const COLLECTIONS: &str = "/api/payments/collections";

/// Sets the fees of a world.
fn prices(caller: &Caller, limits: &Value) {
    caller.send(&caller.request("PUT", "/_sandbox/limits").json(limits)).expect(200);
}

/// 1 % of the first 1,000.00 of a month, and 0 % of the rest.
fn first_thousand() -> Value {
    json!({"platform_fee": [{"from": 0, "basis_points": 100}, {"from": 100_000, "basis_points": 0}]})
}

/// The fees of card collections that are paid at the same time.
fn collected(caller: &Caller, company: &str, amounts: &[i64]) -> Vec<i64> {
    let collect = |(place, amount): (usize, &i64)| {
        let body = json!({"company_id": company, "amount": amount, "currency": "GBP",
            "method": "card", "reference": format!("Order {place}")});
        caller.post(COLLECTIONS, &body).made()
    };
    let begun: Vec<Value> = amounts.iter().enumerate().map(collect).collect();
    caller.advance(&json!({"by": "5d"}));
    let fee = |it: &Value| {
        let now = caller.get(&format!("{COLLECTIONS}/{}", id(it))).data();
        assert_eq!(now["status"], "settled");
        number(&now["fee"])
    };
    begun.iter().map(fee).collect()
}

fn fee(payout: &Value) -> i64 {
    number(&payout["fee"])
}

/// A payout that waits for the morning.
fn queued(payer: &Payer, amount: i64) -> Value {
    payer.caller.advance(&json!({"to": "2026-01-02T20:00:00Z"}));
    let payout = payer.pay(amount, &json!({"rail": "standard"}));
    assert_eq!(payout["status"], "queued");
    payout
}

fn cancel(payer: &Payer, payout: &Value) {
    let path = format!("/api/payments/payouts/{}/cancel", id(payout));
    assert_eq!(payer.caller.post(&path, &json!({})).data()["status"], "cancelled");
}

/// A run of one employee, until it is funded.
fn funded_runs(caller: &Caller, company: &str, people: &[String]) -> Vec<Value> {
    let run = |person: &String| {
        let body = json!({"company_id": company, "period": "2026-01", "employees": [person]});
        caller.post("/v1/payroll/run", &body).made()
    };
    let begun: Vec<Value> = people.iter().map(run).collect();
    caller.advance(&json!({"to": "2026-01-22T20:00:00Z"}));
    let now: Vec<Value> = begun.iter().map(|run| caller.run(id(run))).collect();
    assert!(now.iter().all(|run| run["status"] == "processing"), "{now:?}");
    now
}

fn run_fee(run: &Value) -> i64 {
    number(&run["funding"]["platform_fee"])
}

#[test]
fn a_collection_counts_once_in_its_own_fee() {
    for (amounts, fees) in [
        (vec![10_000_000], vec![150_000]),
        (vec![12_000_000], vec![175_000]),
        (vec![20_000_000], vec![275_000]),
        (vec![6_000_000, 6_000_000], vec![90_000, 85_000]),
    ] {
        let caller = Caller::manual();
        let company = caller.company(0);
        assert_eq!(collected(&caller, &company, &amounts), fees, "{amounts:?}");
    }
    let caller = Caller::manual();
    let company = caller.company(0);
    prices(&caller, &first_thousand());
    assert_eq!(collected(&caller, &company, &[100_000]), [1_000]);
    assert_eq!(collected(&caller, &company, &[100_000]), [0]);
    reports_close(&caller, &company);
}

#[test]
fn the_monthly_fee_comes_with_the_first_platform_fee_and_once_in_a_company() {
    let payer = Payer::manual();
    let (caller, company) = (&payer.caller, &payer.company);
    prices(caller, &json!({"monthly_fee": 500}));
    // A collection of less than the fixed fee leaves it to the next one.
    assert_eq!(collected(caller, company, &[100]), [2]);
    assert_eq!(collected(caller, company, &[100_000]), [2_000]);
    // Another currency, same month.
    assert_eq!(fee(&payer.pay(10_000, &json!({}))), 150);
    reports_close(caller, company);
}

#[test]
fn other_fees_do_not_replace_the_monthly_fee() {
    let payer = Payer::manual();
    let (caller, company) = (&payer.caller, &payer.company);
    prices(caller, &json!({"monthly_fee": 500}));
    let transfer = super::transfer(caller, &super::quote(caller, 1_000_000));
    caller.advance(&json!({"by": "2m"}));
    assert_eq!(super::read(caller, &transfer)["status"], "completed");
    let line = |account, direction| json!({"account": account, "direction": direction, "amount": 7, "currency": "NGN"});
    let entry = json!({"company_id": company, "effective_on": "2026-01-01", "memo": "A fee of a bank",
        "lines": [line("fees", "debit"), line("owner_equity", "credit")]});
    caller.post("/api/business/journal-entries", &entry).expect(201);
    assert_eq!([10_000, 10_000].map(|amount| fee(&payer.pay(amount, &json!({})))), [650, 150]);
    caller.advance(&json!({"to": "2026-02-02T10:00:00Z"}));
    assert_eq!(fee(&payer.pay(10_000, &json!({}))), 650);
}

#[test]
fn a_refunded_fee_takes_its_volume_and_the_monthly_fee_back() {
    let payer = Payer::manual();
    let caller = &payer.caller;
    let mut limits = first_thousand();
    limits["monthly_fee"] = json!(500);
    prices(caller, &limits);
    let waiting = queued(&payer, 100_000);
    assert_eq!((fee(&waiting), fee(&payer.pay(10_000, &json!({})))), (1_500, 0));
    cancel(&payer, &waiting);
    caller.advance(&json!({"by": "1h"}));
    // The rail refuses the next payout. Payouts between count as the first volume.
    let rule =
        json!({"match": {"decision": "payout.settle"}, "outcome": {"then": "failed"}, "times": 1});
    caller.post("/_sandbox/rules", &rule).expect(201);
    let failed = payer.pay(90_000, &json!({}));
    assert_eq!(fee(&failed), 1_400);
    caller.advance(&json!({"by": "1h"}));
    assert_eq!(
        caller.get(&format!("/api/payments/payouts/{}", id(&failed))).data()["status"],
        "failed"
    );
    assert_eq!(fee(&payer.pay(90_000, &json!({}))), 1_400);
    assert_eq!(fee(&payer.pay(90_000, &json!({}))), 0);
    reports_close(caller, &payer.company);
}

#[test]
fn a_returned_payout_still_counts() {
    let payer = Payer::manual();
    let caller = &payer.caller;
    prices(caller, &first_thousand());
    let rule = json!({"match": {"decision": "payout.settle"}, "outcome": {"then": "returned_late"}, "times": 1});
    caller.post("/_sandbox/rules", &rule).expect(201);
    let returned = payer.pay(100_000, &json!({}));
    caller.advance(&json!({"by": "6d"}));
    assert_eq!(
        caller.get(&format!("/api/payments/payouts/{}", id(&returned))).data()["status"],
        "returned"
    );
    assert_eq!((fee(&returned), fee(&payer.pay(100_000, &json!({})))), (1_000, 0));
}

#[test]
fn a_funded_run_counts_before_it_is_sent() {
    let payer = Payer::manual();
    let (caller, company) = (&payer.caller, &payer.company);
    prices(caller, &first_thousand());
    let runs = funded_runs(caller, company, &caller.payable(company)[..2]);
    assert_eq!(runs.iter().map(run_fee).collect::<Vec<_>>(), [1_000, 0]);
    assert_eq!(fee(&payer.pay(10_000, &json!({}))), 0);
    caller.advance(&json!({"to": "2026-01-30T20:00:00Z"}));
    assert_eq!(caller.run(id(&runs[0]))["status"], "paid");
    assert_eq!(fee(&payer.pay(10_000, &json!({}))), 0);
    reports_close(caller, company);
}

#[test]
fn a_run_that_fails_as_a_whole_no_longer_counts() {
    let payer = Payer::manual();
    let (caller, company) = (&payer.caller, &payer.company);
    let mut limits = first_thousand();
    limits["monthly_fee"] = json!(500);
    prices(caller, &limits);
    let rule =
        json!({"match": {"decision": "payout.settle"}, "outcome": {"then": "failed"}, "times": 1});
    caller.post("/_sandbox/rules", &rule).expect(201);
    let runs = funded_runs(caller, company, &caller.payable(company)[..1]);
    assert_eq!(run_fee(&runs[0]), 1_500);
    caller.advance(&json!({"to": "2026-01-30T20:00:00Z"}));
    assert_eq!(caller.run(id(&runs[0]))["status"], "failed");
    assert_eq!(fee(&payer.pay(100_000, &json!({}))), 1_500);
    reports_close(caller, company);
}

#[test]
fn a_restored_world_continues_the_month() {
    let payer = Payer::manual();
    let caller = &payer.caller;
    prices(caller, &first_thousand());
    payer.pay(60_000, &json!({}));
    let snapshot = caller.post("/_sandbox/snapshots", &json!({})).made();
    assert_eq!([40_000, 10_000].map(|amount| fee(&payer.pay(amount, &json!({})))), [400, 0]);
    caller.post(&format!("/_sandbox/snapshots/{}/restore", id(&snapshot)), &json!({})).expect(200);
    assert_eq!([40_000, 10_000].map(|amount| fee(&payer.pay(amount, &json!({})))), [400, 0]);
}

#[test]
fn a_refused_payout_does_not_count() {
    let payer = Payer::manual();
    let (caller, company) = (&payer.caller, &payer.company);
    prices(caller, &first_thousand());
    let available = number(&wallet(caller, company, "NGN")["available"]);
    payer.ask(available, &json!({})).refused(402, "insufficient_funds");
    give(caller, company, 1_000, "NGN");
    assert_eq!(fee(&payer.pay(100_000, &json!({}))), 1_000);
}
