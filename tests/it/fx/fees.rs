//! The platform fee: on runs, by tiers, and off on request.

use serde_json::{Value, json};

use crate::harness::Caller;
use crate::harness::world::{id, number};

use super::{code, company, nets, reports_close, violations, wallet};

const LIMITS: &str = "/_sandbox/limits";

fn put(caller: &Caller, limits: &Value) -> crate::harness::Answer {
    caller.send(&caller.request("PUT", LIMITS).json(limits))
}

fn fees(caller: &Caller, company: &str) -> i64 {
    let key = ("NGN".to_owned(), "fees".to_owned());
    nets(caller, company).get(&key).copied().unwrap_or(0)
}

/// A funded run of all employees.
fn funded(caller: &Caller, company: &str, period: &str) -> Value {
    let run = caller.run_payroll(company, period);
    caller.advance(&json!({"until": "idle"}));
    caller.run(id(&run))
}

#[test]
fn a_run_is_charged_once_when_it_is_funded() {
    let caller = Caller::manual();
    let company = company(&caller);
    let before = (wallet(&caller, &company, "NGN"), fees(&caller, &company));
    let run = caller.run_payroll(&company, "2026-01");
    caller.advance(&json!({"to": "2026-01-22T15:00:00Z"}));
    let approved = caller.run(id(&run));
    assert_eq!(approved["funding"]["platform_fee"], 0);
    let events = caller.advance(&json!({"to": "2026-01-23T17:00:00Z"}));
    assert!(events.iter().any(|name| name == "payroll_run.funded"), "{events:?}");
    let run = caller.run(id(&run));
    let fee = number(&run["funding"]["platform_fee"]);
    let net = number(&run["totals"]["net"]);
    // Less than 100 million naira: all of it in the first tier.
    assert!(net < 10_000_000_000);
    assert_eq!(fee, (net * 15 + 500) / 1_000);
    assert_eq!(run["funding"]["required"], run["funding"]["reserved"]);
    let after = wallet(&caller, &company, "NGN");
    let taken = number(&before.0["available"]) - number(&after["available"]);
    assert_eq!(taken, number(&run["funding"]["reserved"]) + fee);
    assert_eq!(fees(&caller, &company) - before.1, fee);
    caller.advance(&json!({"by": "10d"}));
    assert_eq!(caller.run(id(&run))["status"], "paid");
    assert_eq!(fees(&caller, &company) - before.1, fee);
    reports_close(&caller, &company);
}

#[test]
fn a_wallet_that_holds_the_run_and_not_the_fee_is_short() {
    let caller = Caller::manual();
    let company = company(&caller);
    let run = caller.run_payroll(&company, "2026-01");
    caller.advance(&json!({"by": "1h"}));
    let required = number(&caller.run(id(&run))["funding"]["required"]);
    let available = number(&wallet(&caller, &company, "NGN")["available"]);
    let line = |account, direction| json!({"account": account, "direction": direction, "amount": available - required - 1, "currency": "NGN"});
    let body = json!({"company_id": company, "effective_on": "2026-01-01", "memo": "Spent",
        "lines": [line("rent", "debit"), line("cash_available", "credit")]});
    caller.post("/api/business/journal-entries", &body).expect(201);
    caller.advance(&json!({"to": "2026-01-23T17:00:00Z"}));
    let failed = caller.run(id(&run));
    assert_eq!(failed["status"], "funding_failed");
    let fee = (number(&failed["totals"]["net"]) * 15 + 500) / 1_000;
    assert_eq!(number(&failed["funding"]["shortfall"]), fee - 1);
    assert!(failed["blockers"][0].as_str().unwrap().contains("platform fee"), "{failed}");
    assert_eq!(failed["funding"]["platform_fee"], 0);
    super::give(&caller, &company, fee - 1, "NGN");
    let path = format!("/api/business/payroll-runs/{}/retry-funding", id(&run));
    let retried = caller.post(&path, &json!({})).expect(200)["data"].take();
    assert_eq!(
        (&retried["status"], &retried["funding"]["platform_fee"]),
        (&json!("processing"), &json!(fee))
    );
    assert_eq!(wallet(&caller, &company, "NGN")["available"], 0);
    caller.audit();
}

#[test]
fn a_run_that_fails_as_a_whole_gets_its_fee_back() {
    let caller = Caller::manual();
    let company = company(&caller);
    let before = (wallet(&caller, &company, "NGN")["available"].clone(), fees(&caller, &company));
    let rule = json!({"match": {"decision": "payout.settle"}, "outcome": {"then": "failed"}});
    caller.post("/_sandbox/rules", &rule).expect(201);
    let run = funded(&caller, &company, "2026-01");
    assert_eq!(run["status"], "failed");
    assert!(number(&run["funding"]["platform_fee"]) > 0);
    let after = (wallet(&caller, &company, "NGN")["available"].clone(), fees(&caller, &company));
    assert_eq!(before, after);
    reports_close(&caller, &company);
}

#[test]
fn the_fee_can_be_switched_off_or_have_other_tiers() {
    let caller = Caller::manual();
    assert_eq!(caller.get(LIMITS).data()["platform_fee"], "standard");
    let company = company(&caller);
    let off = put(&caller, &json!({"platform_fee": "off"})).data();
    assert_eq!(off["platform_fee"], "off");
    let run = funded(&caller, &company, "2026-01");
    assert_eq!((&run["status"], &run["funding"]["platform_fee"]), (&json!("paid"), &json!(0)));
    let tiers =
        json!([{"from": 0, "basis_points": 0}, {"from": 1_000_000, "basis_points": 10_000}]);
    let set = put(&caller, &json!({"platform_fee": tiers})).data();
    assert_eq!(set["platform_fee"], tiers);
    let people = caller.payable(&company);
    let body = json!({"company_id": company, "period": "2026-02", "employees": [people[0]]});
    let run = caller.post("/v1/payroll/run", &body).expect(201)["data"].take();
    caller.advance(&json!({"until": "idle"}));
    let run = caller.run(id(&run));
    // Volume counts from the first of the month, so January's no longer counts.
    let expected = number(&run["totals"]["net"]) - 1_000_000;
    assert_eq!(number(&run["funding"]["platform_fee"]), expected);
    let plain = put(&caller, &json!({})).data();
    assert_eq!(plain["platform_fee"], "standard");
}

#[test]
fn a_monthly_fee_comes_with_the_first_fee_of_a_month() {
    let caller = Caller::manual();
    let company = company(&caller);
    let price = json!({"platform_fee": "off", "monthly_fee": 250_000});
    let set = put(&caller, &price).data();
    assert_eq!((&set["platform_fee"], &set["monthly_fee"]), (&json!("off"), &json!(250_000)));
    put(&caller, &json!({"monthly_fee": -1})).refused(422, "validation_failed");
    let people = caller.payable(&company);
    let charged = |period: &str, people: &[String]| -> Vec<i64> {
        let runs: Vec<Value> = people
            .iter()
            .map(|person| {
                let body = json!({"company_id": company, "period": period, "employees": [person]});
                caller.post("/v1/payroll/run", &body).expect(201)["data"].take()
            })
            .collect();
        caller.advance(&json!({"until": "idle"}));
        let fee = |run: &Value| number(&caller.run(id(run))["funding"]["platform_fee"]);
        runs.iter().map(fee).collect()
    };
    // Both runs of January are funded before the first of them is sent.
    assert_eq!(charged("2026-01", &people[..2]), [250_000, 0]);
    assert_eq!(charged("2026-02", &people[..1]), [250_000]);
    assert_eq!(put(&caller, &json!({})).data()["monthly_fee"], 0);
    reports_close(&caller, &company);
}

#[test]
fn the_volume_of_the_month_lowers_the_rate_of_later_fees() {
    let caller = Caller::manual();
    let company = company(&caller);
    let people = caller.payable(&company);
    put(&caller, &json!({"platform_fee": [{"from": 0, "basis_points": 200}, {"from": 1_000_000, "basis_points": 100}]})).expect(200);
    let run = |person: &str| {
        let body = json!({"company_id": company, "period": "2026-01", "employees": [person]});
        let run = caller.post("/v1/payroll/run", &body).expect(201)["data"].take();
        caller.advance(&json!({"to": "2026-01-27T12:00:00Z"}));
        caller.run(id(&run))
    };
    let nearest = |points: i64| (points + 5_000).div_euclid(10_000);
    let first = run(&people[0]);
    let (net, fee) = (number(&first["totals"]["net"]), number(&first["funding"]["platform_fee"]));
    assert!((fee - nearest(1_000_000 * 200 + (net - 1_000_000) * 100)).abs() <= 1, "{first}");
    let (net, fee, second) = {
        let body = json!({"company_id": company, "period": "2026-01", "employees": [people[1]]});
        let run = caller.post("/v1/payroll/run", &body).expect(201)["data"].take();
        caller.advance(&json!({"to": "2026-01-30T23:00:00Z"}));
        let run = caller.run(id(&run));
        (number(&run["totals"]["net"]), number(&run["funding"]["platform_fee"]), run)
    };
    assert!((fee - nearest(net * 100)).abs() <= 1, "{second}");
}

#[test]
fn invalid_tiers_are_refused_and_the_old_ones_remain() {
    let caller = Caller::manual();
    put(&caller, &json!({"platform_fee": "off"})).expect(200);
    for wrong in [
        json!([]),
        json!("free"),
        json!(5),
        json!([{"from": 5, "basis_points": 1}]),
        json!([{"from": 0, "basis_points": 1}, {"from": 0, "basis_points": 2}]),
        json!([{"from": 0, "basis_points": 10_001}]),
        json!([{"from": -1, "basis_points": 1}]),
        json!([{"from": 0}]),
        json!([{"from": 0, "basis_points": 1, "colour": "red"}]),
    ] {
        let answer = put(&caller, &json!({"platform_fee": wrong}));
        assert_eq!((answer.status, code(&answer).as_str()), (422, "validation_failed"), "{wrong}");
        assert!(violations(&answer)[0].0.starts_with("/platform_fee"), "{}", answer.text());
    }
    assert_eq!(caller.get(LIMITS).data()["platform_fee"], "off");
}

#[test]
fn the_fee_is_part_of_the_world() {
    let caller = Caller::manual();
    let before = caller.digest();
    put(&caller, &json!({"platform_fee": "off"})).expect(200);
    assert_ne!(caller.digest(), before);
    let snapshot = caller.post("/_sandbox/snapshots", &json!({})).made();
    put(&caller, &json!({})).expect(200);
    let path = format!("/_sandbox/snapshots/{}/restore", snapshot["id"].as_str().unwrap());
    caller.post(&path, &json!({})).expect(200);
    assert_eq!(caller.get(LIMITS).data()["platform_fee"], "off");
}
