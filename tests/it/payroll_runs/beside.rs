//! The pay period of a bonus and of a correction.

use serde_json::{Value, json};

use super::moved::{hired, regular, slip};
use super::{calculated, draft, edit, paid, verb};
use crate::harness::Caller;
use crate::harness::world::{id, number};

/// A British world with weekly pay of 200.00 from that Monday on. Wages are due on the Friday after.
fn weekly(first_day: &str) -> (Caller, String, String) {
    let (caller, company, person) = hired("GB", first_day, 86_667);
    let schedule = json!({
        "company_id": company, "frequency": "weekly", "first_day": first_day, "pay_days_after": 5,
    });
    caller.post("/api/business/pay-schedules", &schedule).expect(201);
    (caller, company, person)
}

/// The calculated run of that type with one amount.
fn extra(caller: &Caller, person: &str, body: &Value, amount: i64) -> Value {
    let run = draft(caller, body);
    let line = json!({"label": "Extra pay", "amount": amount});
    let items = json!({"items": [{"employee_id": person, "earnings": [line]}]});
    edit(caller, &run, &items).expect(200);
    calculated(caller, &run)
}

fn national_insurance(caller: &Caller, run: &Value) -> i64 {
    paid(caller, run);
    let slip = caller.all(&format!("/api/business/payslips?payroll_run_id={}", id(run))).remove(0);
    let lines = slip["contributions"].as_array().unwrap();
    number(&lines.iter().find(|line| line["id"] == "national_insurance").unwrap()["amount"])
}

/// The Social Security (Contributions) Regulations 2001 (SI 2001/1004), reg. 3 and 6: payments of one earnings period are assessed together.
/// 8 % of 300.00 beyond 242.00 a week is 4.64; the regular pay of 200.00 has none.
#[test]
fn a_bonus_belongs_to_the_pay_period_of_its_pay_date() {
    let (caller, company, person) = weekly("2026-06-01");
    let weeks = ["2026-06"; 3].map(|period| slip(&caller, &person, period));
    let fourth = regular(&caller, &person, "2026-06");
    assert_eq!(fourth["pay_date"], "2026-07-03");
    verb(&caller, &fourth, "approve", &json!({})).expect(200);
    let body = json!({
        "company_id": company, "period": "2026-06", "type": "off_cycle", "pay_date": "2026-07-03",
    });
    let bonus = extra(&caller, &person, &body, 10_000);
    assert_eq!(bonus["pay_period"], fourth["pay_period"]);
    assert!(weeks.iter().all(|week| week["pay_period"] != bonus["pay_period"]));
    assert_eq!(national_insurance(&caller, &bonus), 464);
    caller.audit();
}

/// A draft with a pay date that is set later has the same result.
#[test]
fn a_new_pay_date_of_a_bonus_changes_its_pay_period() {
    let (caller, company, person) = weekly("2026-06-01");
    let body = json!({
        "company_id": company, "period": "2026-06", "type": "off_cycle", "employee_ids": [person],
    });
    let run = draft(&caller, &body);
    assert_eq!(run["pay_period"]["start"], "2026-06-01");
    edit(&caller, &run, &json!({"pay_date": "2026-06-22"})).expect(200);
    assert_eq!(caller.run(id(&run))["pay_period"]["start"], "2026-06-15");
}

/// 8 % of 250.00 beyond 242.00 is 0.64.
#[test]
fn a_correction_belongs_to_the_pay_period_that_was_reversed() {
    let (caller, company, person) = weekly("2026-06-01");
    let weeks = ["2026-06"; 3].map(|period| slip(&caller, &person, period));
    let run = caller.run(weeks[2]["payroll_run_id"].as_str().unwrap());
    verb(&caller, &run, "reverse", &json!({"reason": "Wrong amount"})).expect(200);
    let body = json!({"company_id": company, "period": "2026-06", "type": "correction"});
    let correction = extra(&caller, &person, &body, 25_000);
    assert_eq!(correction["pay_period"], weeks[2]["pay_period"]);
    assert_eq!(national_insurance(&caller, &correction), 64);
    caller.audit();
}

/// The days of the month before the first week are no pay period of the schedule.
#[test]
fn a_bonus_belongs_to_no_days_before_the_schedule() {
    let (caller, company, _) = weekly("2026-05-04");
    for pay_date in [Value::Null, json!("2026-05-29"), json!("2026-06-08")] {
        let body = json!({
            "company_id": company, "period": "2026-05", "type": "off_cycle", "pay_date": pay_date,
        });
        let run = draft(&caller, &body);
        assert_eq!(run["pay_period"]["frequency"], "weekly", "{run}");
    }
}

/// The lines of a payslip that are not zero, by id.
fn lines(caller: &Caller, run: &Value) -> Value {
    paid(caller, run);
    let slip = caller.all(&format!("/api/business/payslips?payroll_run_id={}", id(run))).remove(0);
    let lists = ["taxes", "contributions", "employer_contributions"];
    let lines = lists.iter().flat_map(|list| slip[list].as_array().unwrap());
    let lines = lines.filter(|line| line["amount"] != 0);
    lines.map(|line| (line["id"].as_str().unwrap().to_owned(), line["amount"].clone())).collect()
}

/// A bonus for January, after the regular runs of January and of February.
fn bonus_after_a_later_period(country: &str, monthly: i64) -> Value {
    let (caller, company, person) = hired(country, "2026-01-01", monthly);
    for period in ["2026-01", "2026-02"] {
        regular(&caller, &person, period);
    }
    let body = json!({
        "company_id": company, "period": "2026-01", "type": "off_cycle", "employee_ids": [person],
    });
    let run = draft(&caller, &body);
    let line = json!({"label": "Bonus", "type": "bonus", "amount": 100_000});
    edit(&caller, &run, &json!({"items": [{"employee_id": person, "earnings": [line]}]}))
        .expect(200);
    let lines = lines(&caller, &calculated(&caller, &run));
    caller.audit();
    lines
}

/// 26 USC 3101(a), 3301: the pay of January alone is above the limits of Social Security and FUTA, so a bonus has none, and gives none back.
/// Additional Medicare is 0.9 % of the whole bonus, because all pay of the year is above 200,000.
#[test]
fn a_bonus_after_a_later_period_gives_no_contribution_back() {
    let bonus = bonus_after_a_later_period("US", 200_000_000);
    let expected = json!({
        "federal_income_tax_supplemental": 22_000, "medicare": 1_450, "additional_medicare": 900,
        "medicare_employer": 1_450,
    });
    assert_eq!(bonus, expected);
}

/// 45 % of 1,000.00: the pay is above all thresholds, in each month that it can count in.
#[test]
fn a_british_bonus_after_a_later_period_has_the_marginal_rate() {
    let bonus = bonus_after_a_later_period("GB", 20_000_000);
    assert_eq!(bonus["income_tax"], 45_000);
}
