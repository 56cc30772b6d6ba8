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
