//! Pay periods whose pay dates are in one month or week, because a pay is late or moved to a business day.

use serde_json::{Value, json};

use super::law::{payable_in, set_pay};
use super::{calculated, draft, items, paid, verb};
use crate::harness::Caller;
use crate::harness::world::{id, number};

pub(super) fn company_of(caller: &Caller, person: &str) -> String {
    let employee = caller.get(&format!("/api/business/employees/{person}")).data();
    employee["company_id"].as_str().unwrap().to_owned()
}

/// The calculated regular run of that month for one employee.
pub(super) fn regular(caller: &Caller, person: &str, period: &str) -> Value {
    let company = company_of(caller, person);
    let body = json!({"company_id": company, "period": period, "employee_ids": [person]});
    calculated(caller, &draft(caller, &body))
}

fn withheld(caller: &Caller, run: &Value) -> (i64, i64) {
    let item = items(caller, run).remove(0);
    (number(&item["taxes"]), number(&item["employee_contributions"]))
}

fn line(slip: &Value, list: &str, id: &str) -> i64 {
    let lines = slip[list].as_array().unwrap();
    number(&lines.iter().find(|line| line["id"] == id).unwrap()["amount"])
}

/// Fourth Schedule to the Income Tax Act 58 of 1962 (ZA), para. 9, and Unemployment Insurance Contributions Act 4 of 2002, s. 6: tax and the ceiling
/// are those of the period for which the pay is. CRA, T4127 (CA): tax and the basic exemption are those of the pay period.
#[test]
fn two_months_that_are_paid_in_one_are_taxed_as_two() {
    for (country, pay) in [("CA", Some(600_000)), ("ZA", None)] {
        let (caller, person) = payable_in(country);
        if let Some(amount) = pay {
            set_pay(&caller, &person, amount, &json!([]));
        }
        caller.advance(&json!({"to": "2026-02-02T08:00:00Z"}));
        let january = regular(&caller, &person, "2026-01");
        assert!(january["pay_date"].as_str().unwrap().starts_with("2026-02"), "{january}");
        verb(&caller, &january, "approve", &json!({})).expect(200);
        caller.advance(&json!({"to": "2026-02-12T08:00:00Z"}));
        let february = regular(&caller, &person, "2026-02");
        assert!(february["pay_date"].as_str().unwrap().starts_with("2026-02"), "{february}");
        let (one, two) = (withheld(&caller, &january), withheld(&caller, &february));
        assert!(one.0 > 0 && one.1 > 0, "{one:?}");
        assert_eq!(one, two, "{country}");
        // A bonus for February is taxed together with its regular pay, and with no other one.
        paid(&caller, &february);
        caller.audit();
    }
}

/// A world of one company that starts on that day, with an employee who earns `amount` a month.
pub(crate) fn hired(country: &str, start: &str, amount: i64) -> (Caller, String, String) {
    let caller = Caller::manual();
    let body = json!({
        "seed": 42, "countries": [country], "companies": 1, "employees_per_company": 4,
        "start": format!("{start}T00:00:00.000Z"),
    });
    caller.post("/_sandbox/reset", &body).expect(200);
    let company = caller.company(0);
    let money = json!({"company_id": company, "amount": 10_000_000_000_i64});
    caller.post("/_sandbox/inbound/bank_transfer", &money).expect(200);
    let person = hire(&caller, &company, start, amount);
    (caller, company, person)
}

/// A new employee of that company, with the account of another one.
pub(super) fn hire(caller: &Caller, company: &str, start: &str, amount: i64) -> String {
    hire_with(caller, company, (start, amount), &json!({}))
}

/// Hires an employee with tax attributes.
pub(super) fn hire_with(
    caller: &Caller,
    company: &str,
    (start, amount): (&str, i64),
    attributes: &Value,
) -> String {
    let known = caller.payable(company).remove(0);
    let known = caller.get(&format!("/api/business/employees/{known}")).data();
    let method = &known["payment_method"];
    let body = json!({
        "company_id": company, "name": known["name"], "role": "Clerk", "department": "Finance",
        "start_date": start, "tax_id": known["tax_id"], "tax_attributes": attributes,
        "compensation": {
            "amount": amount, "currency": known["compensation"]["currency"], "interval": "month",
        },
        "payment_method": {
            "type": "bank", "bank_code": method["bank_code"],
            "account_number": method["account_number"],
        },
    });
    let person = id(&caller.post("/api/business/employees", &body).made()).to_owned();
    let path = format!("/api/business/employees/{person}");
    caller.post(&format!("{path}/verify-payroll"), &json!({})).expect(202);
    caller.advance(&json!({"by": "60s"}));
    caller.post(&format!("{path}/activate"), &json!({})).expect(200);
    person
}

/// The payslip of the next regular run of that month.
pub(crate) fn slip(caller: &Caller, person: &str, period: &str) -> Value {
    slip_of(caller, &regular(caller, person, period))
}

/// Approves a calculated run of one employee, and waits for the payslip.
pub(super) fn slip_of(caller: &Caller, run: &Value) -> Value {
    verb(caller, run, "approve", &json!({})).expect(200);
    let day = format!("{}T00:00:00.000Z", run["pay_date"].as_str().unwrap());
    if day > caller.now() {
        caller.advance(&json!({"to": day}));
    }
    let path = format!("/api/business/payslips?payroll_run_id={}", id(run));
    for _ in 0..7 {
        caller.advance(&json!({"by": "1d"}));
        if let Some(slip) = caller.all(&path).pop() {
            return slip;
        }
    }
    panic!("no payslip of {run}");
}

/// CRA, T4127, chapter 4: federal tax is calculated for each pay period. 1 November 2026 is a Sunday, so its pay moves to 30 October.
#[test]
fn pay_that_moves_into_the_month_before_is_taxed_as_a_pay_of_its_own() {
    let (caller, company, person) = hired("CA", "2026-09-16", 600_000);
    let settings = json!({"payroll_settings": {"pay_day": 1}});
    caller.patch(&format!("/api/business/companies/{company}"), &settings).expect(200);
    caller.advance(&json!({"to": "2026-09-22T08:00:00Z"}));
    let slips = ["2026-10", "2026-11"].map(|period| slip(&caller, &person, period));
    let days = [&slips[0], &slips[1]].map(|slip| slip["pay_date"].as_str().unwrap());
    assert_eq!(days, ["2026-10-01", "2026-10-30"]);
    for slip in &slips {
        assert_eq!(line(slip, "taxes", "federal_tax"), 63_918, "{slip}");
    }
    caller.audit();
}

/// The Social Security (Contributions) Regulations 2001 (SI 2001/1004), reg. 7: a pay that is made before its regular day, because that is no banking
/// day, counts on the regular day. 31 August 2026 is a holiday, so the pay of that Monday moves to Friday, 28 August.
#[test]
fn weekly_pay_before_a_bank_holiday_has_a_week_of_its_own() {
    let (caller, company, person) = hired("GB", "2026-08-03", 260_000);
    let schedule = json!({
        "company_id": company, "frequency": "weekly", "first_day": "2026-08-03",
        "pay_days_after": 1,
    });
    caller.post("/api/business/pay-schedules", &schedule).expect(201);
    let slips: Vec<_> = (0..4).map(|_| slip(&caller, &person, "2026-08")).collect();
    let days: Vec<_> = slips.iter().map(|slip| slip["pay_date"].as_str().unwrap()).collect();
    assert_eq!(days[..], ["2026-08-10", "2026-08-17", "2026-08-24", "2026-08-28"]);
    for slip in &slips {
        assert_eq!(line(slip, "contributions", "national_insurance"), 2_864, "{slip}");
    }
    caller.audit();
}
