//! Limits of deductions: of all pay of a pay period, by pay period, and of the tax year with the history.

use serde_json::{Value, json};

use super::changed::{amount, extra};
use super::moved::{company_of, hired, slip, slip_of};
use super::{calculated, draft, edit};
use crate::harness::Caller;
use crate::harness::world::{id, number};

fn set_pay(caller: &Caller, person: &str, (from, monthly): (&str, i64), deductions: &Value) {
    let path = format!("/api/business/employees/{person}");
    let currency = caller.get(&path).data()["compensation"]["currency"].clone();
    let body = json!({
        "amount": monthly, "currency": currency, "interval": "month", "effective_from": from,
        "deductions": deductions,
    });
    let request = caller.request("PUT", &format!("{path}/compensation")).json(&body);
    caller.send(&request).expect(200);
}

fn order(kind: &str, amount: i64) -> Value {
    json!({"label": kind, "amount": amount, "type": kind})
}

fn with_bonus(person: &str, amount: i64, order: &Value) -> Value {
    let bonus = json!({"label": "Bonus", "amount": amount, "type": "bonus"});
    json!({"employee_id": person, "earnings": [bonus], "deductions": [order]})
}

/// The amounts that a garnishment takes from the regular pay of January and from a bonus, with biweekly pay of
/// `monthly` a month.
fn garnished(monthly: i64, deductions: &Value, bonus: i64) -> (i64, i64) {
    let (caller, company, person) = hired("US", "2026-01-01", monthly);
    set_pay(&caller, &person, ("2026-01-01", monthly), deductions);
    slip(&caller, &person, "2026-01");
    let body = json!({"company_id": company, "period": "2026-01", "employee_ids": [person]});
    let run = draft(&caller, &body);
    let one = json!({"employee_id": person, "deductions": [order("garnishment", 300_000)]});
    edit(&caller, &run, &json!({"items": [one]})).expect(200);
    let regular = slip_of(&caller, &calculated(&caller, &run));
    let item = with_bonus(&person, bonus, &order("garnishment", 300_000));
    let second = extra(&caller, &company, ("2026-01", "2026-01-28"), &item);
    caller.audit();
    (amount(&regular, "deductions", "garnishment"), amount(&second, "deductions", "garnishment"))
}

/// 15 USC 1673(a), 29 CFR 870.11: the limit is that of the disposable earnings of a workweek or pay period, and support counts towards it.
#[test]
fn a_garnishment_takes_its_part_of_all_pay_of_a_pay_period() {
    // 369.40 and 211.05 of disposable pay: 580.45 less 435.00 is more than a quarter, 145.11.
    assert_eq!(garnished(86_667, &json!([]), 30_000), (0, 14_511));
    // Support takes more than a quarter of both pays.
    let support = json!([order("child_support", 387_833)]);
    assert_eq!(garnished(1_000_000, &support, 100_000), (0, 0));
}

/// 15 USC 1677: a stricter law of the state applies. CCP 706.050 (California): 40 % of what exceeds 96 hours of 16.90 in two weeks, if that is less
/// than 20 %. Texas Constitution art. XVI s. 28: nothing.
#[test]
fn a_garnishment_follows_the_law_of_the_state() {
    for state in ["CA", "TX"] {
        let (caller, company, person) = hired("US", "2026-01-01", 600_000);
        let path = format!("/api/business/employees/{person}");
        caller.patch(&path, &json!({"tax_attributes": {"state": state}})).expect(200);
        set_pay(&caller, &person, ("2026-01-01", 600_000), &json!([order("garnishment", 300_000)]));
        slip(&caller, &person, "2026-01");
        let slip = slip(&caller, &person, "2026-01");
        let lines = ["taxes", "contributions"].map(|list| slip[list].as_array().unwrap());
        let by_law = lines.into_iter().flatten().map(|line| number(&line["amount"])).sum::<i64>();
        let excess = number(&slip["gross"]) - by_law - 162_240;
        assert!(excess > 0, "{slip}");
        let expected = if state == "CA" { excess * 2 / 5 } else { 0 };
        assert_eq!(amount(&slip, "deductions", "garnishment"), expected, "{slip}");
        assert_eq!(company_of(&caller, &person), company);
        caller.audit();
    }
}

/// Attachment of Earnings Act 1971 (GB), Sch. 3 para. 6: protected earnings are those of the pay day's period. The regular pay has left them.
#[test]
fn protected_earnings_stay_once_in_a_pay_period() {
    let (caller, company, person) = hired("GB", "2026-05-01", 150_000);
    let order = json!({
        "label": "Order", "amount": 60_000, "type": "court_order", "protected": 100_000,
    });
    let deductions = json!([order]);
    set_pay(&caller, &person, ("2026-05-01", 150_000), &deductions);
    let regular = slip(&caller, &person, "2026-05");
    assert_eq!(regular["net"], 100_000);
    let item = with_bonus(&person, 50_000, &order);
    let second = extra(&caller, &company, ("2026-05", "2026-05-29"), &item);
    let left = number(&second["gross"]) - amount(&second, "taxes", "income_tax");
    let left = left - amount(&second, "contributions", "national_insurance");
    assert_eq!((amount(&second, "deductions", "order"), &second["net"]), (left, &json!(0)));
    caller.audit();
}

/// The amounts of pay terms are those of a month: a week has 12 of 52 parts, 230.77 of 1,000.00.
#[test]
fn protected_earnings_of_pay_terms_are_those_of_the_pay_period() {
    let (caller, company, person) = hired("GB", "2026-06-01", 150_000);
    let order = json!({
        "label": "Order", "amount": 60_000, "type": "court_order", "protected": 100_000,
    });
    set_pay(&caller, &person, ("2026-06-01", 150_000), &json!([order]));
    let schedule = json!({
        "company_id": company, "frequency": "weekly", "first_day": "2026-06-01", "pay_days_after": 5,
    });
    caller.post("/api/business/pay-schedules", &schedule).expect(201);
    let week = slip(&caller, &person, "2026-06");
    assert_eq!((number(&week["gross"]), number(&week["net"])), (34_615, 23_077), "{week}");
    caller.audit();
}

/// 26 USC 402(g), Finance Act 2004 (GB), s. 227: a limit of the year includes the amounts of pays before the world's
/// start.
#[test]
fn a_limit_of_the_year_counts_the_history() {
    let caller = Caller::manual();
    let body = json!({
        "seed": 42, "countries": ["GB"], "companies": 1, "employees_per_company": 6,
        "start": "2026-01-01T00:00:00.000Z",
    });
    caller.post("/_sandbox/reset", &body).expect(200);
    let company = caller.company(0);
    let money = json!({"company_id": company, "amount": 10_000_000_000_i64});
    caller.post("/_sandbox/inbound/bank_transfer", &money).expect(200);
    let details = |person: &String| caller.get(&format!("/api/business/employees/{person}")).data();
    let people = caller.payable(&company).into_iter();
    let saver = people.map(|person| details(&person));
    let mut savers = saver.filter(|it| it["compensation"]["deductions"][0]["rate_bp"] == 500);
    let saver = savers.next().unwrap();
    let person = id(&saver);
    let path = format!("/api/business/payslips?employee_id={person}");
    let slips = caller.all(&path);
    let of_year = slips.iter().filter(|slip| slip["pay_date"].as_str().unwrap() > "2025-04-05");
    let taken =
        |list: &'static str| of_year.clone().map(|slip| amount(slip, list, "pension")).sum::<i64>();
    let mut deduction = saver["compensation"]["deductions"][0].clone();
    let (own, employer) = (taken("deductions"), taken("employer_contributions"));
    assert!(own > 0 && employer > 0, "{own} {employer}");
    deduction["annual_limit"] = json!(own + 1_000);
    deduction["employer"]["annual_limit"] = json!(employer + 500);
    for unused in ["amount", "timing"] {
        deduction.as_object_mut().unwrap().remove(unused);
    }
    let monthly = number(&saver["compensation"]["amount"]);
    set_pay(&caller, person, ("2026-01-01", monthly), &json!([deduction]));
    for rest in [(1_000, 500), (0, 0)] {
        let period = if rest.0 > 0 { "2026-01" } else { "2026-02" };
        let slip = slip(&caller, person, period);
        let lines = ["deductions", "employer_contributions"];
        let [own, employer] = lines.map(|list| amount(&slip, list, "pension"));
        assert_eq!((own, employer), rest, "{slip}");
    }
    assert_eq!(company_of(&caller, person), company);
    caller.audit();
}
