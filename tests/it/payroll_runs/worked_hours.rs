//! Hours of a run, and the limits of deductions.

use serde_json::{Value, json};

use super::{calculated, draft, edit, items, paid};
use crate::harness::Caller;
use crate::harness::http::pointers;
use crate::harness::world::{id, number};

/// An employee of the company in the United States with these pay terms, and an empty regular run.
fn employed(amount: i64, interval: &str, deductions: &Value) -> (Caller, String, Value) {
    let caller = Caller::manual();
    let companies = caller.all("/api/business/companies");
    let company = companies.iter().find(|company| company["country"] == "US").unwrap();
    caller.pay_monthly(id(company));
    let person = caller.payable(id(company)).remove(0);
    let terms = json!({
        "amount": amount, "currency": "USD", "interval": interval, "effective_from": "2026-01-01",
        "deductions": deductions,
    });
    let path = format!("/api/business/employees/{person}/compensation");
    caller.send(&caller.request("PUT", &path).json(&terms)).expect(200);
    let run = drafted(&caller, &person, "2026-01");
    (caller, person, run)
}

fn drafted(caller: &Caller, person: &str, period: &str) -> Value {
    let company =
        caller.get(&format!("/api/business/employees/{person}")).data()["company_id"].take();
    let body = json!({"company_id": company, "period": period, "employee_ids": [person]});
    draft(caller, &body)
}

fn with_hours(person: &str, hours: &Value) -> Value {
    json!({"items": [{"employee_id": person, "hours": hours}]})
}

/// 29 USC 207(a)(1): hours above 40 in a week are paid at one and a half times the regular rate.
#[test]
fn hours_replace_the_pay_of_hourly_terms_and_overtime_has_its_rate() {
    let (caller, person, run) = employed(2_000, "hour", &json!([]));
    let hours = json!([
        {"type": "regular", "minutes": 9_630}, {"type": "overtime", "minutes": 90},
        {"type": "holiday_pay", "minutes": 480, "rate_percent": 200},
    ]);
    let edited = edit(&caller, &run, &with_hours(&person, &hours)).data();
    assert_eq!(edited["inputs"][0]["hours"][1]["rate_percent"], 150);
    let run = paid(&caller, &calculated(&caller, &run));
    assert_eq!(run["totals"]["gross"], 321_000 + 4_500 + 32_000);
    let payslip =
        caller.all(&format!("/api/business/payslips?payroll_run_id={}", id(&run))).remove(0);
    let overtime = payslip["earnings"].as_array().unwrap().iter();
    let overtime = overtime.clone().find(|line| line["type"] == "overtime").unwrap();
    assert_eq!(
        (&overtime["label"], &overtime["amount"]),
        (&json!("Overtime, 1:30 h"), &json!(4_500))
    );
    caller.audit();
}

/// A raise from 25.00 to 30.00 an hour adds 5.00 to each of the 30 hours of the pay period that is already paid. Terms that are recorded again change
/// nothing.
#[test]
fn a_late_raise_of_hourly_pay_is_paid_for_the_hours_that_were_reported() {
    let (caller, person, run) = employed(2_500, "hour", &json!([]));
    let hours =
        |minutes: i64| with_hours(&person, &json!([{"type": "regular", "minutes": minutes}]));
    edit(&caller, &run, &hours(1_800)).expect(200);
    assert_eq!(paid(&caller, &calculated(&caller, &run))["totals"]["gross"], 75_000);
    let path = format!("/api/business/employees/{person}/compensation");
    let record = |amount: i64| {
        let terms = json!({
            "amount": amount, "currency": "USD", "interval": "hour", "effective_from": "2026-01-01",
        });
        caller.send(&caller.request("PUT", &path).json(&terms)).expect(200);
    };
    let gross = |period: &str| {
        let run = drafted(&caller, &person, period);
        edit(&caller, &run, &hours(600)).expect(200);
        paid(&caller, &calculated(&caller, &run))["totals"]["gross"].clone()
    };
    record(2_500);
    assert_eq!(gross("2026-02"), 25_000);
    record(3_000);
    assert_eq!(gross("2026-03"), 30_000 + 15_000 + 5_000);
    assert_eq!(gross("2026-04"), 30_000);
    // Final pay for a pay period with reported hours pays only the rest.
    let body = json!({
        "reason": "Resignation", "last_working_day": "2026-04-30", "final_pay": {"mode": "next_run"},
    });
    caller.post(&format!("/api/business/employees/{person}/terminate"), &body).expect(200);
    let company = &caller.get(&format!("/api/business/employees/{person}")).data()["company_id"];
    let body = json!({
        "company_id": company, "period": "2026-04", "type": "termination", "employee_ids": [person],
    });
    let last = calculated(&caller, &draft(&caller, &body));
    assert_eq!(last["totals"]["gross"], 0, "{last}");
    caller.audit();
}

#[test]
fn hours_that_cannot_be_paid_are_refused_by_their_member() {
    let (caller, person, run) = employed(500_000, "month", &json!([]));
    let wrong = |hours: Value, at: &str| {
        let refused = edit(&caller, &run, &with_hours(&person, &hours));
        assert_eq!(pointers(&refused.refused(422, "validation_failed")), [at], "{hours}");
    };
    let hours = |kind: &str, minutes: i64| json!({"type": kind, "minutes": minutes});
    wrong(json!([hours("regular", 60)]), "/items/0/hours/0/type");
    wrong(json!([hours("juggling", 60)]), "/items/0/hours/0/type");
    wrong(json!([hours("overtime", 60), hours("overtime", 60)]), "/items/0/hours/1/type");
    wrong(json!([hours("overtime", 0)]), "/items/0/hours/0/minutes");
    wrong(json!([{"type": "overtime", "minutes": 1.5}]), "/items/0/hours/0/minutes");
    assert!(caller.run(id(&run))["inputs"].is_null());
    // A salary of 5,000 a month is 28.85 an hour.
    edit(&caller, &run, &with_hours(&person, &json!([hours("overtime", 60)]))).expect(200);
    let item = items(&caller, &calculated(&caller, &run)).remove(0);
    assert_eq!(number(&item["gross"]), 500_000 + 4_327);
}

/// 26 USC 402(g) and 15 USC 1673(a).
#[test]
fn deductions_stop_at_their_annual_limit_and_orders_at_the_part_of_the_law() {
    let deductions = json!([
        {"id": "deferral", "label": "401(k)", "amount": 1_500_000, "type": "401k"},
        {"id": "debt", "label": "Judgment", "amount": 900_000, "type": "garnishment", "annual_limit": 2_000_000},
    ]);
    let (caller, person, run) = employed(4_000_000, "month", &deductions);
    let taken = |run: &Value| -> Vec<(String, i64)> {
        let payslips = caller.all(&format!("/api/business/payslips?payroll_run_id={}", id(run)));
        let lines = payslips[0]["deductions"].as_array().unwrap().clone();
        lines
            .iter()
            .map(|line| (line["id"].as_str().unwrap().to_owned(), number(&line["amount"])))
            .collect()
    };
    let first = taken(&paid(&caller, &calculated(&caller, &run)));
    let second = drafted(&caller, &person, "2026-02");
    let second = taken(&paid(&caller, &calculated(&caller, &second)));
    let of = |taken: &[(String, i64)], id: &str| {
        taken.iter().find(|(known, _)| known == id).map_or(0, |(_, amount)| *amount)
    };
    assert_eq!((of(&first, "deferral"), of(&second, "deferral")), (1_500_000, 950_000));
    assert!(of(&first, "debt") < 900_000, "a quarter of the disposable pay is less");
    assert!(of(&first, "debt") + of(&second, "debt") <= 2_000_000);
    let path = format!("/api/business/employees/{person}/compensation");
    let terms = json!({
        "amount": 1, "currency": "USD", "interval": "month",
        "deductions": [{"label": "Tithe", "amount": 1, "timing": "post_tax", "protected": 5}],
    });
    let refused = caller.send(&caller.request("PUT", &path).json(&terms));
    assert_eq!(pointers(&refused.refused(422, "validation_failed")), ["/deductions/0/protected"]);
    caller.audit();
}
