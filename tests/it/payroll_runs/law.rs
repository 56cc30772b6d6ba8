//! Tax attributes by date, typed earnings and deductions: set by callers, validated by the pack, shown on payslips.

use std::sync::{Arc, LazyLock};

use serde_json::{Value, json};

use super::{calculated, draft, items, paid, verb};
use crate::harness::Caller;
use crate::harness::server::Server;
use crate::harness::world::{id, number};

/// A manual world with a payable employee of a company in this country.
pub(super) fn payable_in(country: &str) -> (Caller, String) {
    static SERVER: LazyLock<Arc<Server>> = LazyLock::new(|| {
        let flags = ["--companies", "6", "--employees-per-company", "5", "--clock", "manual"];
        let countries = ["--countries", "US,GB,NG,CA,KE,ZA"];
        Arc::new(Server::start(&[&flags[..], &countries].concat()))
    });
    let caller = Caller::of(&SERVER);
    let companies = caller.all("/api/business/companies");
    let company = companies.iter().find(|company| company["country"] == country).unwrap();
    caller.pay_monthly(id(company));
    let person = caller.payable(id(company)).remove(0);
    (caller, person)
}

fn path(person: &str) -> String {
    format!("/api/business/employees/{person}")
}

pub(super) fn set_pay(caller: &Caller, person: &str, amount: i64, deductions: &Value) {
    let currency = caller.get(&path(person)).data()["compensation"]["currency"].clone();
    let body = json!({
        "amount": amount, "currency": currency, "interval": "month", "effective_from": "2026-01-01",
        "deductions": deductions,
    });
    let request = caller.request("PUT", &format!("{}/compensation", path(person))).json(&body);
    caller.send(&request).expect(200);
}

/// A draft of the regular run with only this person.
fn draft_of(caller: &Caller, person: &str) -> Value {
    let company = caller.get(&path(person)).data()["company_id"].clone();
    let body = json!({
        "company_id": company, "period": "2026-01", "type": "regular", "employee_ids": [person],
    });
    draft(caller, &body)
}

fn payslip(caller: &Caller, run: &Value) -> Value {
    caller.all(&format!("/api/business/payslips?payroll_run_id={}", id(run))).remove(0)
}

fn line(list: &Value, id: &str) -> i64 {
    let lines = list.as_array().unwrap();
    number(&lines.iter().find(|line| line["id"] == id).unwrap()["amount"])
}

/// PAYE regulations: the code in force on the pay date applies.
#[test]
fn a_payslip_uses_the_tax_code_in_force_on_its_pay_date() {
    let (caller, person) = payable_in("GB");
    let body = json!({"tax_attributes": [
        {"effective_from": "2026-01-01", "tax_code": "BR", "tax_basis": "w1m1"},
        {"effective_from": "2026-02-15", "tax_code": "K475"},
    ]});
    let set = caller.patch(&path(&person), &body).data();
    assert_eq!(set["tax_attributes"]["tax_code"], "BR");
    set_pay(&caller, &person, 300_000, &json!([]));
    let run = paid(&caller, &calculated(&caller, &draft_of(&caller, &person)));
    let payslip = payslip(&caller, &run);
    assert_eq!(payslip["tax_attributes"]["tax_code"], "BR");
    assert_eq!(line(&payslip["taxes"], "income_tax"), 60_000);
    caller.advance(&json!({"by": "10d"}));
    let later = caller.get(&path(&person)).data();
    assert_eq!(later["tax_attributes"], json!({"tax_code": "K475", "tax_basis": "w1m1"}));
    let history = later["tax_attributes_history"].as_array().unwrap();
    assert_eq!(history.last().unwrap()["effective_from"], "2026-02-15");
    caller.audit();
}

/// A refusal names the member and changes nothing.
#[test]
fn a_tax_attribute_that_the_pack_does_not_have_is_refused() {
    let (caller, person) = payable_in("GB");
    let before = caller.get(&path(&person)).data();
    let rows = [
        (json!({"tax_code": "1257"}), "/tax_attributes/tax_code"),
        (json!({"tax_cod": "1257L"}), "/tax_attributes/tax_cod"),
        (json!({"tax_code.region": "S"}), "/tax_attributes/tax_code.region"),
        (json!({"ni_category": "Q"}), "/tax_attributes/ni_category"),
        (json!({"director_weeks": 54}), "/tax_attributes/director_weeks"),
        (json!({"starter_declaration": "D"}), "/tax_attributes/starter_declaration"),
        (json!({"tax_code": ["1257L"]}), "/tax_attributes/tax_code"),
        (json!({"effective_from": "soon"}), "/tax_attributes/effective_from"),
        (json!([{"tax_code": "BR"}, {"tax_code": "X"}]), "/tax_attributes/1/tax_code"),
        (
            json!([
                {"effective_from": "2026-02-01", "tax_code": "BR"},
                {"effective_from": "2026-02-01", "tax_code": "D0"},
            ]),
            "/tax_attributes/1/effective_from",
        ),
    ];
    for (attributes, pointer) in rows {
        let refused =
            caller.patch(&path(&person), &json!({"tax_attributes": attributes})).expect(422);
        assert_eq!(refused["errors"][0]["pointer"], pointer, "{refused}");
    }
    assert_eq!(caller.get(&path(&person)).data(), before);
}

/// Form W-4 of 2026: a new hire states it.
#[test]
fn a_new_employee_can_have_tax_attributes() {
    let (caller, person) = payable_in("US");
    let company = caller.get(&path(&person)).data()["company_id"].clone();
    let mut body = json!({
        "company_id": company, "name": "Ada Obi", "role": "Accountant", "department": "Finance",
        "start_date": "2026-01-05",
        "tax_attributes": {"filing_status": "married", "multiple_jobs": true, "credits": 220_000},
    });
    let created = caller.post("/api/business/employees", &body).made();
    let expected =
        json!({"filing_status": "married", "multiple_jobs": "true", "credits": "220000"});
    assert_eq!(created["tax_attributes"], expected);
    body["tax_attributes"] = json!({"filing_status": "widowed"});
    let refused = caller.post("/api/business/employees", &body).expect(422);
    assert_eq!(refused["errors"][0]["pointer"], "/tax_attributes/filing_status");
}

/// 26 USC 3121(v)(1): a 401(k) of 500 on 5,000 leaves Social Security at 310.00; and 26 CFR 31.3402(g)-1 for the bonus.
#[test]
fn typed_deductions_and_earnings_follow_the_pack() {
    let (caller, person) = payable_in("US");
    let deductions = json!([{"label": "401(k)", "amount": 50_000, "type": "401k"}]);
    caller
        .patch(&path(&person), &json!({"tax_attributes": {"filing_status": "single"}}))
        .expect(200);
    set_pay(&caller, &person, 500_000, &deductions);
    let run = draft_of(&caller, &person);
    let target = format!("/api/business/payroll-runs/{}", id(&run));
    let bonus = |more: Value| {
        let mut line = json!({"label": "Extra", "amount": 1_000_000});
        for (name, value) in more.as_object().unwrap() {
            line[name] = value.clone();
        }
        json!({"items": [{"employee_id": person, "earnings": [line]}]})
    };
    for (line, member) in [
        (json!({"type": "tip_jar"}), "type"),
        (json!({"type": "bonus", "method": "daily"}), "method"),
        (json!({"method": "flat"}), "method"),
    ] {
        let refused = caller.patch(&target, &bonus(line)).expect(422);
        assert_eq!(refused["errors"][0]["pointer"], format!("/items/0/earnings/0/{member}"));
    }
    caller.patch(&target, &bonus(json!({"type": "bonus", "method": "flat"}))).expect(200);
    let payslip = payslip(&caller, &paid(&caller, &calculated(&caller, &run)));
    assert_eq!(line(&payslip["contributions"], "social_security"), 31_000 + 62_000);
    assert_eq!(line(&payslip["taxes"], "federal_income_tax"), 35_833);
    assert_eq!(line(&payslip["taxes"], "federal_income_tax_supplemental"), 220_000);
    assert_eq!(payslip["deductions"][0]["type"], "401k");
    caller.audit();
}

/// Labour Act (Nigeria) s. 5: deductions by law come before loans, and what does not fit is carried.
#[test]
fn deductions_are_taken_in_legal_order_and_the_rest_is_carried() {
    let (caller, person) = payable_in("NG");
    let deductions = json!([
        {"id": "loan", "label": "Loan", "amount": 30_000_000, "type": "loan_repayment"},
        {"id": "court", "label": "Court order", "amount": 20_000_000, "type": "court_order"},
    ]);
    set_pay(&caller, &person, 40_000_000, &deductions);
    let run = calculated(&caller, &draft_of(&caller, &person));
    let item = items(&caller, &run).remove(0);
    assert_eq!(number(&item["net"]), 0, "the pay covers the order and a part of the loan");
    let kept = number(&item["taxes"]) + number(&item["employee_contributions"]);
    assert_eq!(number(&item["deductions"]), 40_000_000 - kept);
    assert_eq!(run["warnings"][0]["code"], "deductions_capped");
    let refused = caller
        .send(&caller.request("PUT", &format!("{}/compensation", path(&person))).json(&json!({
            "amount": 1_000, "currency": "NGN", "interval": "month",
            "deductions": [{"label": "Tithe", "amount": 1, "type": "tithe"}],
        })))
        .expect(422);
    assert_eq!(refused["errors"][0]["pointer"], "/deductions/0/type");
}

/// A deduction before tax without a type lowers income tax alone: 26 USC 3121(a); Income Tax Act (Canada) s. 8(1)(m) and CPP Regulations s. 2;
/// Social Security (Contributions) Regulations 2001 (GB) reg. 24; Social Health Insurance Act 2023 (Kenya) s. 27; Unemployment Insurance
/// Contributions Act (South Africa) s. 6; Pension Reform Act 2014 (Nigeria) s. 4.
#[test]
fn an_untyped_deduction_before_tax_lowers_no_contribution() {
    type Contributions<'a> = &'a [(&'a str, i64)];
    let rows: [(&str, i64, i64, Contributions<'_>); 6] = [
        ("US", 500_000, 50_000, &[("social_security", 31_000)]),
        ("CA", 600_000, 50_000, &[("cpp", 33_965), ("ei", 9_780)]),
        ("GB", 300_000, 15_000, &[("national_insurance", 15_616)]),
        ("KE", 10_000_000, 1_000_000, &[("shif", 275_000), ("housing_levy", 150_000)]),
        ("ZA", 1_500_000, 300_000, &[("uif", 15_000)]),
        ("NG", 50_000_000, 1_000_000, &[("pension", 4_000_000)]),
    ];
    for (country, amount, deduction, contributions) in rows {
        let pay = |deductions: &Value| {
            let (caller, person) = payable_in(country);
            set_pay(&caller, &person, amount, deductions);
            let run = paid(&caller, &calculated(&caller, &draft_of(&caller, &person)));
            caller.audit();
            payslip(&caller, &run)
        };
        let (plain, lower) = (
            pay(&json!([])),
            pay(&json!([{"label": "Plan", "amount": deduction, "timing": "pre_tax"}])),
        );
        for (id, expected) in contributions {
            assert_eq!(line(&lower["contributions"], id), *expected, "{country} {id}: {lower}");
        }
        assert_eq!(plain["contributions"], lower["contributions"], "{country}");
        let taxes = |payslip: &Value| -> i64 {
            payslip["taxes"].as_array().unwrap().iter().map(|tax| number(&tax["amount"])).sum()
        };
        assert!(taxes(&plain) > taxes(&lower), "{country}");
        assert_eq!(lower["deductions"][0]["amount"], deduction, "{country}");
    }
}

/// An amount that the year's tax could not be calculated with is refused, so that no run stops later.
#[test]
fn a_tax_attribute_is_at_most_the_largest_amount() {
    let most = 1_000_000_000_000_000_i64;
    for (country, name) in [("US", "extra_withholding"), ("CA", "additional_tax")] {
        let (caller, person) = payable_in(country);
        for too_much in [most + 1, i64::MAX] {
            let body = json!({"tax_attributes": {name: too_much}});
            let refused = caller.patch(&path(&person), &body).expect(422);
            assert_eq!(refused["errors"][0]["pointer"], format!("/tax_attributes/{name}"));
        }
        caller.patch(&path(&person), &json!({"tax_attributes": {name: most}})).expect(200);
        let run = calculated(&caller, &draft_of(&caller, &person));
        assert_eq!(number(&items(&caller, &run)[0]["net"]), 0, "{country}");
    }
}

/// Employment Act 2007 (Kenya) s. 19(3): all deductions together leave a third of the wages.
#[test]
fn deductions_leave_the_part_of_wages_that_the_law_protects() {
    let (caller, person) = payable_in("KE");
    let deductions = json!([
        {"label": "SACCO", "amount": 3_000_000, "type": "sacco"},
        {"label": "Canteen", "amount": 900_000, "timing": "post_tax"},
    ]);
    set_pay(&caller, &person, 5_000_000, &deductions);
    let run = calculated(&caller, &draft_of(&caller, &person));
    assert_eq!(number(&items(&caller, &run)[0]["net"]), 1_666_667, "a third, and no cent less");
}

/// The payslip of a run that pays one British employee, with Class 1 contributions of category A and no student loan.
fn british(amount: i64, attributes: &Value, deductions: &Value) -> Value {
    let (caller, person) = payable_in("GB");
    let mut all = json!({
        "tax_code": "BR", "tax_basis": "w1m1", "ni_category": "A", "student_loan": "none",
        "postgraduate_loan": "no",
    });
    let more = attributes.as_object().unwrap().clone();
    all.as_object_mut().unwrap().extend(more);
    caller.patch(&path(&person), &json!({"tax_attributes": all})).expect(200);
    set_pay(&caller, &person, amount, deductions);
    let run = paid(&caller, &calculated(&caller, &draft_of(&caller, &person)));
    caller.audit();
    payslip(&caller, &run)
}

/// DWP, Direct earnings attachment: a guide for employers; Council Tax (Administration and Enforcement) Regulations 1992 reg. 32(1): the tables are
/// of pay less income tax, Class 1 contributions and pension contributions.
#[test]
fn orders_by_a_table_take_from_net_earnings() {
    let none = json!([]);
    let pension = json!([{"label": "Pension", "amount": 50_000, "type": "pension_net_pay"}]);
    let at_source =
        json!([{"label": "Pension", "amount": 50_000, "type": "pension_relief_at_source"}]);
    let rows = [
        // 15 % of 2,500 - 500 - 116.16
        (250_000, "dea_rate", "standard", &none, 28_258),
        (300_000, "dea_rate", "higher", &none, 89_754),
        (300_000, "council_tax_order", "england", &none, 45_532),
        // 11 % of 2,500 - 400 - 116.16 - 500, and 15 % of 2,500 - 500 - 116.16 - 400 less: both below 1,615
        (250_000, "dea_rate", "standard", &pension, 16_322),
        (250_000, "dea_rate", "standard", &at_source, 16_322),
    ];
    for (amount, attribute, value, deductions, expected) in rows {
        let payslip = british(amount, &json!({attribute: value}), deductions);
        let order = if attribute == "dea_rate" { "direct_earnings_attachment" } else { attribute };
        assert_eq!(line(&payslip["contributions"], order), expected, "{payslip}");
    }
}

/// Child Support (Collection and Enforcement) Regulations 1992 reg. 8(5) and 11(2): 40 % of earnings less tax, contributions and pension.
#[test]
fn child_maintenance_takes_from_pay_after_the_pension() {
    let deductions = json!([
        {"id": "pension", "label": "Pension", "amount": 50_000, "type": "pension_net_pay"},
        {"id": "deo", "label": "Child maintenance", "amount": 200_000, "type": "child_maintenance"},
    ]);
    let payslip = british(250_000, &json!({}), &deductions);
    assert_eq!(line(&payslip["deductions"], "deo"), 59_353, "40 % of 1,483.84: {payslip}");
}

/// The amount of a line, 0 if the payslip has none.
fn of_line(payslip: &Value, id: &str) -> i64 {
    let lists = ["contributions", "deductions"].map(|name| payslip[name].as_array().unwrap());
    let lines = lists.into_iter().flatten().filter(|line| line["id"] == id);
    lines.map(|line| number(&line["amount"])).sum()
}

/// DWP, Direct earnings attachment, a guide for employers: with other orders, 60 % of net earnings are protected.
/// Attachment of Earnings Act 1971 Sch. 3 para. 7 and Council Tax (Administration and Enforcement) Regulations 1992
/// reg. 42: a later order is calculated on the pay after earlier orders.
#[test]
fn several_orders_together_leave_sixty_percent_of_net_earnings() {
    let order = |kind: &str, amount: i64| json!([{"id": "order", "label": "Order", "amount": amount, "type": kind}]);
    let none = json!([]);
    let child = order("child_maintenance", 90_000);
    let court = order("court_order", 60_000);
    let (attachment, council) =
        (json!({"dea_rate": "higher"}), json!({"council_tax_order": "england"}));
    let both = json!({"dea_rate": "higher", "council_tax_order": "england"});
    // Net earnings: 2,600 - 520 - 124.16 and 2,500 - 500 - 116.16. Each row: order by amount, council order, attachment.
    let rows = [
        // 17 % of 1,955.84 is 332.49; 40 % is 782.33; the table of the attachment has 30 %, 586.75
        (260_000, &both, &none, [0, 33_249, 44_984]),
        // 40 % of 1,883.84 is 753.53
        (250_000, &attachment, &court, [60_000, 0, 15_353]),
        (250_000, &attachment, &child, [75_353, 0, 0]),
        // 12 % of 1,883.84 - 753.53
        (250_000, &council, &child, [75_353, 13_564, 0]),
        (250_000, &both, &child, [75_353, 13_564, 0]),
        // 12 % of 1,883.84 - 600
        (250_000, &council, &court, [60_000, 15_406, 0]),
    ];
    for (amount, attributes, deductions, expected) in rows {
        let payslip = british(amount, attributes, deductions);
        let names = ["order", "council_tax_order", "direct_earnings_attachment"];
        assert_eq!(names.map(|name| of_line(&payslip, name)), expected, "{payslip}");
    }
}

/// National Minimum Wage Regulations 2015 reg. 8 and 10: pay that is given up is not paid, so it does not count. 12.21 an hour is 2,116.40 a month.
#[test]
fn a_salary_sacrifice_below_the_minimum_wage_is_a_warning() {
    let (caller, person) = payable_in("GB");
    let sacrifice = |amount: i64| {
        let line = json!({"label": "Pension", "amount": amount, "type": "salary_sacrifice"});
        set_pay(&caller, &person, 250_000, &json!([line]));
        let run = calculated(&caller, &draft_of(&caller, &person));
        verb(&caller, &run, "cancel", &json!({"reason": "Another amount"})).expect(200);
        run["warnings"].clone()
    };
    assert_eq!(sacrifice(38_360), Value::Null);
    let warned = sacrifice(60_000);
    assert_eq!(warned[0]["code"], "below_minimum_wage", "{warned}");
    assert!(warned[0]["detail"].as_str().unwrap().contains("1900.00 GBP"), "{warned}");
}
