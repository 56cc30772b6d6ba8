//! Weekends, holidays and cut-offs of the company's country.

use serde_json::{Value, json};

use crate::harness::Caller;
use crate::harness::world::id;

/// The first company of this country.
fn company_in(caller: &Caller, country: &str) -> String {
    let companies = caller.all(&format!("/api/business/companies?country={country}"));
    id(companies.first().expect("a company there")).to_owned()
}

/// For `runs` undisturbed runs of a month, the time at which the last of them reaches each status.
fn times(country: &str, period: &str, runs: usize) -> Vec<(String, String)> {
    let caller = Caller::manual();
    let company = company_in(&caller, country);
    let mut all: Vec<Value> = (0..runs).map(|_| caller.run_payroll(&company, period)).collect();
    let run = all.pop().unwrap();
    caller.advance(&json!({"until": "idle"}));
    let run = caller.run(id(&run));
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let mut times = vec![("pay_date".to_owned(), text(&run["pay_date"]))];
    for change in run["status_history"].as_array().unwrap() {
        times.push((text(&change["status"]), text(&change["at"])));
    }
    caller.audit();
    times
}

fn at(times: &[(String, String)], what: &str) -> String {
    let found = times.iter().find(|(name, _)| name == what);
    found.unwrap_or_else(|| panic!("{what}: {times:?}")).1.clone()
}

#[test]
fn a_payday_on_christmas_is_paid_the_day_before_and_arrives_after_the_holidays() {
    let britain = times("GB", "2026-12", 1);
    assert_eq!(at(&britain, "pay_date"), "2026-12-24");
    assert_eq!(at(&britain, "funding"), "2026-12-23T16:00:00.000Z");
    let why =
        "the 25th is a holiday, the 28th stands for Boxing Day: two business days end on the 30th";
    assert_eq!(at(&britain, "paid"), "2026-12-30T09:00:00.000Z", "{why}");

    // Two pay periods end in December 2026; the second one is paid on the 25th.
    let america = times("US", "2026-12", 2);
    assert_eq!(at(&america, "pay_date"), "2026-12-24");
    let why = "16:00 in New York";
    assert_eq!(at(&america, "funding"), "2026-12-23T21:00:00.000Z", "{why}");
    let why = "there Christmas is one day";
    assert_eq!(at(&america, "paid"), "2026-12-29T09:00:00.000Z", "{why}");
}

#[test]
fn after_the_last_cut_off_before_easter_wages_are_paid_after_easter() {
    for (time, pay_date) in [("15:59:59", "2026-04-02"), ("16:00:00", "2026-04-07")] {
        let caller = Caller::manual();
        let company = company_in(&caller, "GB");
        caller.advance(&json!({"to": format!("2026-04-02T{time}Z")}));
        let run = caller.run_payroll(&company, "2026-03");
        assert_eq!(run["pay_date"], pay_date, "asked at {time}");
    }
}

#[test]
fn a_world_that_begins_on_new_years_day_does_not_pay_on_it() {
    let caller = Caller::manual();
    let company = company_in(&caller, "NG");
    assert!(caller.now().starts_with("2026-01-01"));
    let december = json!({"company_id": company, "period": "2025-12", "type": "off_cycle",
        "employee_ids": [caller.payable(&company)[0]]});
    let run = caller.post("/api/business/payroll-runs", &december).made();
    let why = "the payday has passed, and today is a holiday";
    assert_eq!(run["pay_date"], "2026-01-02", "{why}");
}
