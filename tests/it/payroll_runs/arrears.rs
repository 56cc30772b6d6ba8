//! Late pay for earlier pay periods, as the law of each country taxes it.

use serde_json::{Value, json};

use super::law::{payable_in, set_pay};
use super::moved::{company_of, slip};
use super::verb;
use crate::harness::Caller;
use crate::harness::world::number;

/// The payslip of February after a raise that begins in January and is recorded in February.
fn raised_late(country: &str, from: i64, to: i64) -> (Caller, String, Value) {
    let (caller, person) = payable_in(country);
    set_pay(&caller, &person, from, &json!([]));
    slip(&caller, &person, "2026-01");
    set_pay(&caller, &person, to, &json!([]));
    let late = slip(&caller, &person, "2026-02");
    assert_eq!(number(&late["gross"]), to + to - from, "{late}");
    (caller, person, late)
}

fn late_line(slip: &Value) -> &Value {
    let mut lines = slip["earnings"].as_array().unwrap().iter();
    lines.find(|line| line["id"] == "arrears").unwrap()
}

/// T4127 ch. 4: retroactive pay increases are taxed by the bonus method, as the type `retroactive` is.
#[test]
fn canadian_arrears_are_retroactive_pay() {
    let (_, _, late) = raised_late("CA", 600_000, 700_000);
    assert_eq!(late_line(&late)["type"], "retroactive");
}

/// Publication 15, section 7: retroactive pay increases are supplemental wages, taxed at 22 % or by the aggregate method.
#[test]
fn american_arrears_are_supplemental_wages() {
    let (_, _, late) = raised_late("US", 600_000, 700_000);
    assert_eq!(late_line(&late)["type"], "back_pay");
    let taxes = late["taxes"].as_array().unwrap();
    let flat = taxes.iter().find(|line| line["id"] == "federal_income_tax_supplemental").unwrap();
    assert_eq!(flat["amount"], 22_000, "22 % of 1,000.00");
}

/// SARS, guide for codes: code 3605 has annual payments, such as antedated salary.
#[test]
fn south_african_arrears_are_an_annual_payment() {
    let (caller, person, late) = raised_late("ZA", 4_500_000, 5_000_000);
    assert_eq!(late_line(&late)["type"], "back_pay");
    let company = company_of(&caller, &person);
    let path = format!(
        "/api/business/tax-documents/IRP5?company_id={company}&period=2025&employee_id={person}"
    );
    let boxes = caller.get(&path).data()["boxes"].take();
    let annual = boxes.as_array().unwrap().iter().find(|it| it["box"] == "3605").unwrap();
    assert!(number(&annual["amount"]) >= 500_000, "{annual}");
}

/// Pension Reform Act 2014 (NG), s. 4(1): 8 % of monthly emoluments, which are basic salary, housing and transport (s. 120). Pay that comes late is
/// a part of them.
#[test]
fn nigerian_arrears_are_pensionable() {
    let (caller, person, late) = raised_late("NG", 50_000_000, 60_000_000);
    let pension = |slip: &Value| {
        let lines = slip["contributions"].as_array().unwrap().iter();
        lines
            .filter(|line| line["id"] == "pension")
            .map(|line| number(&line["amount"]))
            .sum::<i64>()
    };
    let regular = pension(&slip(&caller, &person, "2026-03"));
    assert_eq!(pension(&late), regular * 70 / 60);
    caller.audit();
}

/// A pay that already contains the new terms needs no arrears, so paid arrears are taken back.
#[test]
fn arrears_of_a_month_that_is_paid_again_are_taken_back() {
    let (caller, person) = payable_in("GB");
    set_pay(&caller, &person, 300_000, &json!([]));
    let first = slip(&caller, &person, "2026-01");
    set_pay(&caller, &person, 330_000, &json!([]));
    let late = slip(&caller, &person, "2026-02");
    assert_eq!(number(&late["gross"]), 360_000);
    let run = caller.run(first["payroll_run_id"].as_str().unwrap());
    verb(&caller, &run, "reverse", &json!({"reason": "Wrong account"})).expect(200);
    caller.advance(&json!({"by": "5d"}));
    assert_eq!(number(&slip(&caller, &person, "2026-01")["gross"]), 330_000);
    let next = slip(&caller, &person, "2026-03");
    assert_eq!(number(&next["gross"]), 300_000, "{next}");
    assert_eq!(number(&late_line(&next)["amount"]), -30_000);
    assert_eq!(number(&slip(&caller, &person, "2026-04")["gross"]), 330_000);
    caller.audit();
}
