//! Numbers of tax periods and totals to date on the forms of people who are paid by the week.

use serde_json::{Value, json};

use super::{DOCUMENTS, amount, in_box, of};
use crate::harness::Caller;
use crate::payroll_runs::moved::{hired, slip};

fn weekly(caller: &Caller, company: &str, first_day: &str) {
    let body = json!({
        "company_id": company, "frequency": "weekly", "first_day": first_day, "pay_days_after": 4,
    });
    caller.post("/api/business/pay-schedules", &body).expect(201);
}

/// HMRC, RTI data items: the tax month of a pay date does not depend on how often people are paid. P45, box 7: the week number, for pay by the week;
/// its totals are those of box 8 where no other employment came before.
#[test]
fn british_forms_have_the_tax_month_and_the_week_number() {
    let (caller, company, person) = hired("GB", "2026-04-06", 260_000);
    weekly(&caller, &company, "2026-04-06");
    let slips: Vec<Value> = (0..3).map(|_| slip(&caller, &person, "2026-04")).collect();
    for slip in &slips {
        let fps = of(&caller, "FPS", &company, slip["pay_date"].as_str().unwrap(), None).data();
        assert_eq!(in_box(&fps["boxes"], "Tax month"), "1", "{fps}");
    }
    caller.advance(&json!({"to": "2026-05-09T08:00:00Z"}));
    let path = format!("/api/business/employees/{person}/terminate");
    let left = json!({"reason": "Resignation", "last_working_day": "2026-05-09"});
    caller.post(&path, &left).expect(200);
    caller.advance(&json!({"by": "2d"}));
    let p45 = || {
        let path = format!("{DOCUMENTS}/P45?company_id={company}&employee_id={person}");
        caller.get(&path).data()
    };
    assert_eq!(in_box(&p45()["boxes"], "7 week"), "4");
    assert_eq!(*in_box(&p45()["boxes"], "7 month"), Value::Null);
    assert_eq!(amount(&p45(), "7 pay"), 180_000);
    let run = slips[0]["payroll_run_id"].as_str().unwrap();
    let path = format!("/api/business/payroll-runs/{run}/reverse");
    caller.post(&path, &json!({"reason": "Paid by mistake"})).expect(200);
    caller.advance(&json!({"by": "5d"}));
    let p45 = p45();
    assert_eq!((amount(&p45, "7 pay"), amount(&p45, "8 pay")), (120_000, 120_000));
    assert_eq!(amount(&p45, "7 tax"), amount(&p45, "8 tax"));
}

/// SARS, Business Requirements Specification for PAYE, codes 3200 and 3210: the pay periods of the year of assessment, and those in which the
/// employee worked.
#[test]
fn an_irp5_counts_pay_periods_and_not_months() {
    let (caller, company, person) = hired("ZA", "2026-03-02", 3_000_000);
    weekly(&caller, &company, "2026-03-02");
    for _ in 0..3 {
        slip(&caller, &person, "2026-03");
    }
    let irp5 = of(&caller, "IRP5", &company, "2026", Some(&person)).data();
    assert_eq!(in_box(&irp5["boxes"], "3200"), "52");
    assert_eq!(in_box(&irp5["boxes"], "3210"), 3);
}

/// A British employee with 3,000.00 a month from that day, and the tax code 1257L. The company pays on the 6th.
fn paid_on_the_sixth(start: &str) -> (Caller, String, String) {
    let (caller, company, person) = hired("GB", start, 300_000);
    let settings = json!({"payroll_settings": {"pay_day": 6}});
    caller.patch(&format!("/api/business/companies/{company}"), &settings).expect(200);
    (caller, company, person)
}

/// HMRC, CWG2, pay day on a non-banking day: the regular day is the payment date of the FPS. 6 June 2026 is a Saturday, and 5 June is the last day of the tax
/// month before. Income Tax (PAYE) Regulations 2003, reg. 69: tax month 3 is due on 22 July.
#[test]
fn british_pay_before_a_weekend_counts_in_the_tax_month_of_its_regular_day() {
    let (caller, company, person) = paid_on_the_sixth("2026-05-01");
    let slip = slip(&caller, &person, "2026-06");
    assert_eq!(slip["pay_date"], "2026-06-05");
    let fps = of(&caller, "FPS", &company, "2026-06-05", None).data();
    assert_eq!(in_box(&fps["boxes"], "Payment date"), "2026-06-06");
    assert_eq!(in_box(&fps["boxes"], "Tax month"), "3");
    for (month, count) in [("2026-05", 0), ("2026-06", 1)] {
        let path = format!("{DOCUMENTS}?company_id={company}&form=EPS&period={month}");
        assert_eq!(caller.all(&path).len(), count, "{month}");
    }
    let all = caller.all(&format!("/api/business/tax-liabilities?company_id={company}"));
    let is_of_run = |it: &&Value| it["payroll_run_id"] == slip["payroll_run_id"];
    let owed: Vec<&Value> = all.iter().filter(is_of_run).collect();
    assert!(!owed.is_empty());
    for liability in owed.into_iter().filter(|it| it["authority"] == "HMRC") {
        assert_eq!([&liability["period"], &liability["due_on"]], ["2026-06", "2026-07-22"]);
    }
    caller.audit();
}

/// The same. 6 April 2026 is Easter Monday, so the pay is made on Thursday the 2nd, in the tax year before: it is the first pay of 2026-27.
#[test]
fn british_pay_before_easter_counts_in_the_tax_year_of_its_regular_day() {
    let (caller, company, person) = paid_on_the_sixth("2026-03-20");
    let april = slip(&caller, &person, "2026-04");
    assert_eq!(april["pay_date"], "2026-04-02");
    assert_eq!(april["pack"]["tax_year"], "2026-27", "{april}");
    // A month of 1257L: 20 % of 3,000 - 1,048.25, in whole pounds
    let tax =
        april["taxes"].as_array().unwrap().iter().find(|it| it["id"] == "income_tax").unwrap();
    assert_eq!((&tax["amount"], &april["ytd"]["gross"]), (&json!(39_020), &json!(300_000)));
    of(&caller, "P60", &company, "2025", Some(&person)).refused(422, "validation_failed");
    let p60 = of(&caller, "P60", &company, "2026", Some(&person)).data();
    assert_eq!(amount(&p60, "Pay"), 300_000);
    let may = slip(&caller, &person, "2026-05");
    assert_eq!(may["ytd"]["gross"], 600_000);
    assert_eq!(may["taxes"][0]["amount"], 39_040, "{may}");
    caller.audit();
}
