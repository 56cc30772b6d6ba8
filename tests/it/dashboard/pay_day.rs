//! `{"until": "pay_day"}` of the clock, and the order of the list of events.

use serde_json::json;

use crate::harness::Caller;
use crate::harness::world::id;

/// The day on which the world is after the next pay day was reached.
fn advanced(caller: &Caller) -> String {
    let answer = caller.post("/_sandbox/clock/advance", &json!({"until": "pay_day"})).data();
    answer["now"].as_str().unwrap().to_owned()
}

/// The US company of seed 42 pays biweekly on Fridays, the others monthly on the last business day until the 25th.
#[test]
fn the_clock_advances_from_pay_day_to_pay_day() {
    let caller = Caller::manual();
    let days: Vec<String> = (0..5).map(|_| advanced(&caller)).collect();
    let companies = caller.get("/api/business/companies").data();
    let us = companies.as_array().unwrap().iter().find(|it| it["country"] == "US").unwrap();
    let schedules =
        caller.get(&format!("/api/business/pay-schedules?company_id={}", id(us))).data();
    let path = format!(
        "/api/business/pay-schedules/{}/periods?from=2025-12-15&limit=8",
        id(&schedules[0])
    );
    let periods = caller.get(&path).expect(200)["data"]["periods"].clone();
    let biweekly = periods.as_array().unwrap().iter().map(|it| it["pay_date"].as_str().unwrap());
    let mut expected: Vec<String> = biweekly
        .chain(["2026-01-23", "2026-02-25", "2026-03-25"])
        .filter(|day| *day >= "2026-01-01")
        .map(|day| format!("{day}T12:00:00.000Z"))
        .collect();
    expected.sort();
    expected.dedup();
    assert_eq!(days, expected[..5]);
}

#[test]
fn the_pay_date_of_an_open_run_is_a_pay_day() {
    let caller = Caller::manual();
    let company = caller.company(0);
    let run = json!({"company_id": company, "period": "2026-01", "pay_date": "2026-01-06"});
    let made = caller.post("/api/business/payroll-runs", &run);
    assert_eq!(made.status, 201, "{}", made.text());
    let day = made.json()["data"]["pay_date"].as_str().unwrap().to_owned();
    assert_eq!(advanced(&caller), format!("{day}T12:00:00.000Z"));
}

#[test]
fn the_list_of_events_begins_with_the_newest_if_a_caller_wants_it() {
    let caller = Caller::instant();
    caller.run_payroll(&caller.company(0), "2026-01");
    let mut oldest = caller.events();
    let newest = caller.get("/_sandbox/events?sort=-sequence&per_page=5").data();
    oldest.reverse();
    assert_eq!(newest.as_array().unwrap()[..], oldest[..5]);
    let first = caller.get("/_sandbox/events?sort=sequence&per_page=1").data();
    assert_eq!(first[0]["sequence"], 1);
    caller.get("/_sandbox/events?sort=type").refused(422, "validation_failed");
}
