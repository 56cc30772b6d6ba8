//! Directors: the annual earnings period of the year of appointment, and the settlement of the last pay.

use serde_json::{Value, json};

use super::changed::amount;
use super::moved::{company_of, hire, hired, slip};
use super::{calculated, draft, paid, verb};
use crate::harness::Caller;
use crate::harness::world::{id, number};
use crate::payroll_runs::law::payable_in;

fn pay_from(caller: &Caller, person: &str, amount: i64, day: &str) {
    let body = json!({
        "amount": amount, "currency": "GBP", "interval": "month", "effective_from": day, "deductions": [],
    });
    let path = format!("/api/business/employees/{person}/compensation");
    caller.send(&caller.request("PUT", &path).json(&body)).expect(200);
}

fn attributes(caller: &Caller, person: &str, values: &Value) {
    let path = format!("/api/business/employees/{person}");
    caller.patch(&path, &json!({"tax_attributes": values})).expect(200);
}

/// National Insurance of the employee and the employer on the regular pay of a month.
fn insurance(caller: &Caller, person: &str, month: &str) -> (i64, i64) {
    let employee = caller.get(&format!("/api/business/employees/{person}")).data();
    let body = json!({
        "company_id": employee["company_id"], "period": month, "type": "regular",
        "employee_ids": [person],
    });
    let run = paid(caller, &calculated(caller, &draft(caller, &body)));
    let payslip = caller.all(&format!("/api/business/payslips?payroll_run_id={}", id(&run)));
    let of = |member: &str, name: &str| {
        let lines = payslip[0][member].as_array().unwrap();
        lines.iter().find(|line| line["id"] == *name).map_or(0, |line| number(&line["amount"]))
    };
    (
        of("contributions", "national_insurance"),
        of("employer_contributions", "national_insurance_employer"),
    )
}

/// The contributions on a payslip.
fn contributions(slip: &Value) -> (i64, i64) {
    let employer = amount(slip, "employer_contributions", "national_insurance_employer");
    (amount(slip, "contributions", "national_insurance"), employer)
}

/// Social Security (Contributions) Regulations 2001 reg. 8(2): thresholds are in proportion to the weeks left only in the year of appointment.
/// The figures for 48 weeks are those of HMRC's test data for directors: 11,604 and, rounded up, 4,616 for the employer.
#[test]
fn weeks_of_appointment_end_with_the_tax_year() {
    let (caller, person) = payable_in("GB");
    pay_from(&caller, &person, 1_300_000, "2026-01-01");
    let first = json!([{"effective_from": "2026-01-01", "director": "annual", "director_weeks": 14,
        "ni_category": "A"}]);
    attributes(&caller, &person, &first);
    caller.advance(&json!({"to": "2026-04-07T00:00:00Z"}));
    // 8 % of 13,000 - 12,570, and 15 % of 13,000 - 5,000
    assert_eq!(insurance(&caller, &person, "2026-04"), (3_440, 120_000));
    let again = json!([
        {"effective_from": "2026-01-01", "director_weeks": 14},
        {"effective_from": "2026-05-01", "director_weeks": 48},
    ]);
    attributes(&caller, &person, &again);
    // 8 % of 26,000 - 11,604 less 34.40; 15 % of 26,000 - 4,616 less 1,200
    assert_eq!(insurance(&caller, &person, "2026-05"), (111_728, 200_760));
    caller.audit();
}

/// Social Security (Contributions) Regulations 2001 reg. 8(2), and HMRC manual NIM12022: the earnings period begins
/// with the week of appointment. Earlier pay is pay of an employee.
#[test]
fn pay_before_the_appointment_of_a_director_does_not_count() {
    let (caller, company, annual) = hired("GB", "2026-07-01", 300_000);
    let [other, late] = [(); 2].map(|()| hire(&caller, &company, "2026-07-01", 300_000));
    for (person, method) in [(&annual, "annual"), (&other, "alternative")] {
        let appointed = json!([
            {"effective_from": "2026-07-01", "director": "no"},
            {"effective_from": "2026-10-05", "director": method, "director_weeks": 26},
        ]);
        attributes(&caller, person, &appointed);
    }
    let of_month = |month: &str| {
        let body =
            json!({"company_id": company, "period": month, "employee_ids": [annual, other, late]});
        let run = calculated(&caller, &draft(&caller, &body));
        verb(&caller, &run, "approve", &json!({})).expect(200);
        let path = format!("/api/business/payslips?payroll_run_id={}", id(&run));
        caller.advance(&json!({"to": format!("{}T00:00:00Z", run["pay_date"].as_str().unwrap())}));
        let mut days = (0..7).map(|_| {
            caller.advance(&json!({"by": "1d"}));
            caller.all(&path)
        });
        let slips = days.find(|slips| !slips.is_empty()).unwrap();
        [&annual, &late, &other].map(|person| {
            let of_person = |slip: &&Value| slip["employee_id"] == **person;
            contributions(slips.iter().find(of_person).unwrap())
        })
    };
    // 8 % of 3,000 - 1,048, and 15 % of 3,000 - 417
    let employee = (15_616, 38_745);
    for month in ["2026-07", "2026-08", "2026-09"] {
        assert_eq!(of_month(month), [employee; 3], "{month}");
    }
    caller.advance(&json!({"to": "2026-10-05T00:00:00Z"}));
    attributes(&caller, &late, &json!({"director": "annual", "director_weeks": 26}));
    let body = json!({
        "reason": "Resignation", "last_working_day": "2026-12-31", "final_pay": {"mode": "next_run"},
    });
    let path = format!("/api/business/employees/{other}/terminate");
    assert!(caller.post(&path, &body).status < 300);
    // Thresholds of 26 weeks are 6,285 and 2,500: 15 % of 3,000 - 2,500; later 15 % of 3,000, and 8 % of 9,000 - 6,285.
    let october = (0, 7_500);
    assert_eq!(of_month("2026-10"), [october, october, employee]);
    let november = (0, 45_000);
    assert_eq!(of_month("2026-11"), [november, november, employee]);
    // The alternative method settles the same amounts at the last pay.
    let (december, settled) =
        ((21_720, 45_000), (21_720 - 2 * employee.0, 97_500 - 2 * employee.1));
    assert_eq!(of_month("2026-12"), [december, december, settled]);
    let slips = caller.all(&format!("/api/business/payslips?employee_id={annual}"));
    let to_date = slips.iter().map(|slip| number(&slip["ytd"]["ni_pay"])).max();
    assert_eq!(to_date, Some(6 * 300_000), "totals to date are those of the tax year");
    caller.audit();
}

/// HMRC manual NIM12024: the annual earnings period of a person who ceases to be a director lasts to the end of the tax year.
#[test]
fn a_director_who_ceases_has_the_annual_period_to_its_end() {
    let (caller, _, person) = hired("GB", "2026-05-01", 1_300_000);
    let ceased = json!([
        {"effective_from": "2026-05-01", "director": "annual", "director_weeks": 48},
        {"effective_from": "2026-06-01", "director": null, "director_weeks": null},
    ]);
    attributes(&caller, &person, &ceased);
    // 8 % of 13,000 - 11,604, and 15 % of 13,000 - 4,616
    assert_eq!(contributions(&slip(&caller, &person, "2026-05")), (11_168, 125_760));
    let june = slip(&caller, &person, "2026-06");
    assert_eq!(contributions(&june), (104_000, 195_000), "8 % and 15 % of 13,000");
    assert_eq!(june["tax_attributes"]["director"], "annual");
    caller.advance(&json!({"to": "2027-04-07T00:00:00Z"}));
    // 8 % of 4,189 - 1,048 and 2 % of 13,000 - 4,189; 15 % of 13,000 - 417
    let april = slip(&caller, &person, "2027-04");
    assert_eq!(contributions(&april), (25_128 + 17_622, 188_745));
    caller.audit();
}

/// HMRC manual NIM12022: under the alternative arrangements, the last pay settles the annual earnings period; also of a director who leaves.
#[test]
fn the_last_pay_of_a_director_settles_the_year() {
    let (caller, person) = payable_in("GB");
    pay_from(&caller, &person, 1_300_000, "2026-01-01");
    let all =
        json!([{"effective_from": "2026-01-01", "director": "alternative", "ni_category": "A"}]);
    attributes(&caller, &person, &all);
    caller.advance(&json!({"to": "2026-04-07T00:00:00Z"}));
    // 8 % of 4,189 - 1,048 and 2 % of 13,000 - 4,189; 15 % of 13,000 - 417
    assert_eq!(insurance(&caller, &person, "2026-04"), (25_128 + 17_622, 188_745));
    pay_from(&caller, &person, 300_000, "2026-05-01");
    let body = json!({
        "reason": "Resignation", "last_working_day": "2026-05-31", "final_pay": {"mode": "next_run"},
    });
    let path = format!("/api/business/employees/{person}/terminate");
    assert!(caller.post(&path, &body).status < 300);
    // 8 % of 16,000 - 12,570 is 274.40, and 15 % of 16,000 - 5,000 is 1,650.00: less earlier contributions
    assert_eq!(insurance(&caller, &person, "2026-05"), (27_440 - 42_750, 165_000 - 188_745));
    caller.audit();
}

/// HMRC, CA44, change of category letter: earnings that were paid under the earlier letter keep its rates. Over pension age (C) an employee pays
/// nothing, and gets nothing back; for employees under 21 (M) the employer pays nothing up to 50,270.00.
#[test]
fn a_new_letter_of_a_director_leaves_earlier_contributions() {
    let (caller, _, person) = hired("GB", "2026-04-06", 600_000);
    let letters = |first: &str, then: &str| {
        json!([
            {"effective_from": "2026-04-06", "director": "annual", "ni_category": first},
            {"effective_from": "2026-07-01", "director": "annual", "ni_category": then},
        ])
    };
    attributes(&caller, &person, &letters("A", "C"));
    let other = hire(&caller, &company_of(&caller, &person), "2026-04-06", 600_000);
    attributes(&caller, &other, &letters("M", "A"));
    let (mut older, mut young) = ((0, 0), (0, 0));
    for month in ["2026-04", "2026-05", "2026-06"] {
        let one = contributions(&slip(&caller, &person, month));
        older = (older.0 + one.0, older.1 + one.1);
        let one = contributions(&slip(&caller, &other, month));
        young = (young.0 + one.0, young.1 + one.1);
    }
    assert!(older.0 > 0 && young == (older.0, 0), "{older:?} {young:?}");
    for month in ["2026-07", "2026-08"] {
        // 15 % of 6,000.00; over pension age nothing of the employee.
        assert_eq!(contributions(&slip(&caller, &person, month)), (0, 90_000), "{month}");
        let (own, employer) = contributions(&slip(&caller, &other, month));
        assert_eq!((own, employer), (48_000, 90_000), "{month}");
    }
    caller.audit();
}
