//! Lines that apply from a number of employees or a payroll on read them from the company.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{calculated, draft, items};
use crate::harness::Caller;
use crate::harness::server::Server;
use crate::harness::world::{id, number};

/// A world with one company of `people` employees in that country.
fn world(country: &str, people: &str) -> Caller {
    let flags = ["--companies", "1", "--employees-per-company", people, "--countries", country];
    Caller::of(&Arc::new(Server::start(&flags)))
}

/// The employer's lines of the pay of one employee, as calculated now.
fn employer_contributions(caller: &Caller, person: &str, month: &str) -> i64 {
    let company = caller.company(0);
    let body = json!({"company_id": company, "period": month, "employee_ids": [person]});
    let run = calculated(caller, &draft(caller, &body));
    let amount = number(&items(caller, &run)[0]["employer_contributions"]);
    caller.post(&format!("{}/{}/cancel", super::RUNS, id(&run)), &json!({})).expect(200);
    amount
}

fn pay(caller: &Caller, person: &str, amount: i64, currency: &str) {
    let terms = json!({
        "amount": amount, "currency": currency, "interval": "month", "effective_from": "2026-01-01",
    });
    let path = format!("/api/business/employees/{person}/compensation");
    let answer = caller.send(&caller.request("PUT", &path).json(&terms));
    assert!(answer.status < 300, "{}", answer.text());
}

fn hire(caller: &Caller, kind: &str) -> String {
    let body = json!({
        "company_id": caller.company(0), "name": "Ada Obi", "role": "Designer",
        "department": "Marketing", "start_date": "2026-01-01", "employment_type": kind,
        "compensation": {"amount": 10_000_000, "currency": "NGN", "interval": "month"},
        "payment_method": {"type": "bank", "bank_code": "058", "account_number": "9999999900"},
    });
    let created: Value = caller.post("/api/business/employees", &body).expect(201)["data"].take();
    id(&created).to_owned()
}

/// Industrial Training Funds (Amendment) Act 2011 (Nigeria), s. 6(1): 1 % of the payroll of an employer with five or more employees.
/// Contractors, people who have not started and people who have left do not count.
#[test]
fn a_levy_begins_with_the_fifth_employee() {
    let caller = world("NG", "4");
    let person = caller.payable(&caller.company(0)).remove(0);
    let gross = 40_000_000;
    pay(&caller, &person, gross, "NGN");
    let four = employer_contributions(&caller, &person, "2026-01");
    let fifth = hire(&caller, "full_time");
    assert_eq!(employer_contributions(&caller, &person, "2026-01"), four, "not started");
    let agency = hire(&caller, "contractor");
    for of in [&agency, &fifth] {
        assert_eq!(employer_contributions(&caller, &person, "2026-01"), four);
        let path = format!("/api/business/employees/{of}/activate");
        caller.post(&path, &json!({})).expect(200);
    }
    let five = employer_contributions(&caller, &person, "2026-01");
    assert_eq!(five - four, gross / 100);
    let path = format!("/api/business/employees/{fifth}/terminate");
    let body =
        json!({"last_working_day": "2026-01-01", "reason": "Left", "final_pay": {"mode": "none"}});
    assert!(caller.post(&path, &body).status < 300);
    caller.advance(&json!({"by": "1d"}));
    assert_eq!(employer_contributions(&caller, &person, "2026-01"), four);
    caller.audit();
}

/// Pension Reform Act 2014 (Nigeria), s. 2(2) and (3): employees of employers with fewer than three may join, and need not.
#[test]
fn a_pension_is_for_employers_of_three_unless_it_was_chosen() {
    for (people, in_scheme) in [("2", false), ("3", true)] {
        let caller = world("NG", people);
        let person = caller.payable(&caller.company(0)).remove(0);
        let contributions = |caller: &Caller| employer_contributions(caller, &person, "2026-01");
        let choose = |chosen: bool| {
            let body = json!({"tax_attributes": {"pension": chosen}});
            caller.patch(&format!("/api/business/employees/{person}"), &body).expect(200);
        };
        let by_law = contributions(&caller);
        choose(true);
        let with = contributions(&caller);
        choose(false);
        let without = contributions(&caller);
        assert!(with > without);
        assert_eq!(by_law, if in_scheme { with } else { without });
    }
}

/// Skills Development Levies Act 9 of 1999 (South Africa), s. 4(b): no levy while a year's pay of all employees is at most 500,000.
#[test]
fn a_levy_begins_above_a_years_payroll() {
    let caller = world("ZA", "2");
    let people = caller.payable(&caller.company(0));
    pay(&caller, &people[0], 2_000_000, "ZAR");
    pay(&caller, &people[1], 2_166_600, "ZAR");
    let at_most = employer_contributions(&caller, &people[0], "2026-01");
    pay(&caller, &people[1], 2_166_700, "ZAR");
    let above = employer_contributions(&caller, &people[0], "2026-01");
    assert_eq!(above - at_most, 20_000);
}
