//! A second pay of a pay period after a change of attributes, of the number of employees or of the law: the amounts
//! of the first pay are final.

use serde_json::{Value, json};

use super::moved::{hire, hired, slip, slip_of};
use super::{calculated, draft, edit};
use crate::harness::Caller;
use crate::harness::world::number;

/// The payslip of an `off_cycle` run with that item.
pub(super) fn extra(
    caller: &Caller,
    company: &str,
    (period, pay_date): (&str, &str),
    item: &Value,
) -> Value {
    let body = json!({
        "company_id": company, "period": period, "type": "off_cycle", "pay_date": pay_date,
    });
    let run = draft(caller, &body);
    edit(caller, &run, &json!({"items": [item]})).expect(200);
    slip_of(caller, &calculated(caller, &run))
}

pub(super) fn bonus(person: &str, amount: i64) -> Value {
    let line = json!({"label": "Bonus", "amount": amount, "type": "bonus"});
    json!({"employee_id": person, "earnings": [line]})
}

fn set(caller: &Caller, person: &str, attributes: &Value) {
    let path = format!("/api/business/employees/{person}");
    caller.patch(&path, &json!({"tax_attributes": attributes})).expect(200);
}

/// The amount of a line of a payslip; 0 if it has none.
pub(super) fn amount(slip: &Value, list: &str, id: &str) -> i64 {
    let lines = slip[list].as_array().unwrap().iter();
    lines.filter(|line| line["id"] == id).map(|line| number(&line["amount"])).sum()
}

/// The payslip of a bonus that is paid after the regular pay of a month, under attributes that changed in between.
fn after_a_change(
    country: &str,
    (start, period, pay_date): (&str, &str, &str),
    pay: (i64, i64),
    attributes: &Value,
) -> (Value, Value) {
    let (caller, company, person) = hired(country, start, pay.0);
    caller.pay_monthly(&company);
    set(&caller, &person, attributes);
    let regular = slip(&caller, &person, period);
    let second = extra(&caller, &company, (period, pay_date), &bonus(&person, pay.1));
    assert_eq!(second["gross"], pay.1, "{second}");
    caller.audit();
    (regular, second)
}

/// Social Security Contributions and Benefits Act 1992 (GB), s. 6(3) and 8: over pension age, an employee pays no
/// primary contributions. Contributions that were due earlier are not refunded. The regular pay counts on 25 May, a holiday.
#[test]
fn a_bonus_under_another_letter_refunds_no_national_insurance() {
    let letters =
        json!([{"ni_category": "A"}, {"ni_category": "C", "effective_from": "2026-05-26"}]);
    let days = ("2026-05-01", "2026-05", "2026-05-29");
    let (regular, second) = after_a_change("GB", days, (300_000, 10_000), &letters);
    assert_eq!(amount(&regular, "contributions", "national_insurance"), 15_616);
    assert_eq!(amount(&second, "contributions", "national_insurance"), 0);
    // 15 % of the bonus, and 20 % of it.
    assert_eq!(amount(&second, "employer_contributions", "national_insurance_employer"), 1_500);
    assert_eq!(second["net"], 8_000);
}

/// Income Tax (Pay As You Earn) Regulations 2003 (GB), reg. 23(5) and 28: tax is that of the year to date by the new code, at most half of the
/// payment.
#[test]
fn a_new_tax_code_takes_at_most_half_of_the_second_pay() {
    let codes = |code: &str| json!([{"tax_code": "1257L"}, {"tax_code": code, "effective_from": "2026-05-26"}]);
    let tax = |code: &str| {
        let days = ("2026-05-01", "2026-05", "2026-05-29");
        let (_, second) = after_a_change("GB", days, (300_000, 100_000), &codes(code));
        amount(&second, "taxes", "income_tax")
    };
    assert_eq!(tax("K3000"), 50_000);
    // 20 % of 4,000.00 is 800.00, less 180.60 of the regular pay: half of the bonus is less.
    assert_eq!(tax("BR"), 50_000);
    // All tax of the year is repaid.
    assert_eq!(tax("NT"), -18_060);
}

/// IRS, Publication 505 and the instructions for Form W-4: exemption from withholding holds from the certificate on. California: DE 4.
#[test]
fn a_bonus_of_an_exempt_employee_refunds_no_income_tax() {
    let attributes = json!([
        {"state": "CA", "effective_from": "2026-01-01"},
        {"exempt": "true", "state.exempt": "true", "effective_from": "2026-02-01"},
    ]);
    let days = ("2026-01-01", "2026-01", "2026-02-05");
    let (regular, second) = after_a_change("US", days, (1_000_000, 10_000), &attributes);
    assert!(amount(&regular, "taxes", "federal_income_tax") > 0, "{regular}");
    assert!(amount(&regular, "taxes", "state_income_tax") > 0, "{regular}");
    assert_eq!(second["taxes"], json!([]), "{second}");
    // 6.2 % and 1.45 % of the bonus.
    assert_eq!(amount(&second, "contributions", "social_security"), 620);
    assert_eq!(amount(&second, "contributions", "medicare"), 145);
}

/// Canada Pension Plan, s. 12(1)(c): no contributions on pay after an election. Fourth Schedule to the Income Tax Act 58 of 1962 (ZA), para. 9 and 11:
/// a directive replaces the tables for the pay to which it applies.
#[test]
fn contributions_and_taxes_of_the_first_pay_stay() {
    let exempt =
        json!([{"cpp_exempt": "false"}, {"cpp_exempt": "true", "effective_from": "2026-01-25"}]);
    let days = ("2026-01-01", "2026-01", "2026-01-29");
    let (regular, second) = after_a_change("CA", days, (600_000, 10_000), &exempt);
    assert_eq!(amount(&regular, "contributions", "cpp"), 33_965);
    assert_eq!(amount(&second, "contributions", "cpp"), 0);
    assert_eq!(amount(&second, "employer_contributions", "cpp_employer"), 0);
    let directive = json!([
        {"age_group": "under_65"},
        {"directive": "percentage", "directive_rate": "2500", "effective_from": "2026-04-26"},
    ]);
    let days = ("2026-04-01", "2026-04", "2026-04-30");
    let (_, second) = after_a_change("ZA", days, (5_000_000, 100_000), &directive);
    assert_eq!(amount(&second, "taxes", "paye"), 25_000);
}

/// Industrial Training Fund Act (NG), s. 6(1): employers of five or more. The pay before the fifth employee is not charged later.
#[test]
fn a_new_employee_adds_nothing_to_the_contributions_of_earlier_pay() {
    let (caller, company, person) = hired("NG", "2026-04-01", 30_000_000);
    let people = caller.all(&format!("/api/business/employees?company_id={company}"));
    for other in people.iter().filter(|other| other["id"] != *person).skip(2) {
        let body = json!({"reason": "Resignation", "last_working_day": "2026-04-01"});
        let path = format!("/api/business/employees/{}/terminate", other["id"].as_str().unwrap());
        assert!(caller.post(&path, &body).status < 300);
    }
    caller.advance(&json!({"to": "2026-04-03T08:00:00Z"}));
    let regular = slip(&caller, &person, "2026-04");
    assert_eq!(amount(&regular, "employer_contributions", "itf"), 0, "{regular}");
    for _ in 0..3 {
        hire(&caller, &company, "2026-04-01", 30_000_000);
    }
    let second = extra(&caller, &company, ("2026-04", "2026-04-30"), &bonus(&person, 1_000_000));
    assert_eq!(amount(&second, "employer_contributions", "itf"), 10_000, "{second}");
}

/// National Social Security Fund Act 2013 (KE), third schedule: the limits are those of the month of the earnings. 72,000 in January 2026.
#[test]
fn late_pay_has_the_limits_of_its_month() {
    let days = ("2026-01-01", "2026-01", "2026-02-03");
    let (regular, second) = after_a_change("KE", days, (10_000_000, 100_000), &json!([]));
    assert_eq!(amount(&regular, "contributions", "nssf_tier_2"), 384_000);
    for line in ["nssf_tier_1", "nssf_tier_2"] {
        assert_eq!(amount(&second, "contributions", line), 0, "{line}");
    }
    assert_eq!(amount(&second, "employer_contributions", "nssf_employer"), 0);
}
