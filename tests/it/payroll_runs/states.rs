//! Taxes of a region beside those of the country, for employees whose attributes name one.

use serde_json::{Value, json};

use super::changed::amount;
use super::law::{payable_in, set_pay};
use super::moved::{company_of, slip};
use super::{draft, edit, verb};
use crate::harness::Caller;
use crate::harness::server::{command, finish};
use crate::harness::world::{id, number};

/// The payable employees of the American company.
fn people(caller: &Caller) -> (String, Vec<String>) {
    let company = caller.company(2);
    let people = caller.payable(&company);
    (company, people)
}

fn set(caller: &Caller, employee: &str, attributes: &Value) {
    let path = format!("/api/business/employees/{employee}");
    caller.patch(&path, &json!({"tax_attributes": attributes})).expect(200);
}

/// The company in the United States with its employees, the first of whom works in California.
fn californian(caller: &Caller) -> (String, Vec<String>) {
    let (company, people) = people(caller);
    let attributes = json!({
        "state": "CA", "state.filing_status": "married", "state.allowances": "1",
        "filing_status": "single",
    });
    set(caller, &people[0], &attributes);
    (company, people)
}

/// The payslip of an amount that is paid outside the regular runs.
fn pay(caller: &Caller, company: &str, employee: &str, month: &str, amount: i64) -> Value {
    let body = json!({
        "company_id": company, "period": month, "type": "off_cycle", "employee_ids": [employee],
    });
    let run = draft(caller, &body);
    let earnings = json!([{"id": "fee", "label": "Fee", "amount": amount}]);
    let items = json!({"items": [{"employee_id": employee, "earnings": earnings}]});
    edit(caller, &run, &items).expect(200);
    verb(caller, &run, "calculate", &json!({})).expect(202);
    verb(caller, &run, "approve", &json!({})).expect(200);
    caller.all(&format!("/api/business/payslips?payroll_run_id={}", id(&run))).remove(0)
}

/// The amount of a line; 0 if there is none.
fn line(payslip: &Value, id: &str) -> i64 {
    let members = ["taxes", "contributions", "employer_contributions"];
    let lines = members.iter().flat_map(|member| payslip[*member].as_array().unwrap());
    lines.filter(|line| line["id"] == *id).map(|line| number(&line["amount"])).sum()
}

/// California EDD, 26methb and DE 202 (2026): SDI 1.3 % without a limit; UI 3.4 % and ETT 0.1 % on the first 7,000 of the year.
#[test]
fn californian_taxes_are_on_the_payslip_beside_the_federal_ones() {
    let caller = Caller::instant();
    let (company, people) = californian(&caller);
    let first = pay(&caller, &company, &people[0], "2026-01", 400_000);
    assert_eq!(first["regional_pack"]["code"], "US-CA");
    assert_eq!(first["regional_pack"]["in_force"], true);
    assert_eq!(first["pack"]["code"], "US");
    assert_eq!(line(&first, "sdi"), 5_200);
    assert_eq!(line(&first, "state_unemployment"), 13_600);
    assert_eq!(line(&first, "employment_training"), 400);
    assert_eq!(line(&first, "social_security"), 24_800);
    let arguments = [
        "gross-to-net",
        "--pack",
        "US-CA",
        "--period",
        "biweekly",
        "--number",
        "1",
        "--gross",
        "4000.00",
        "--attr",
        "filing_status=married",
        "--attr",
        "allowances=1",
        "--json",
    ];
    let output = finish(&mut command(&arguments));
    let alone: Value = serde_json::from_slice(&output.stdout).unwrap();
    let state_tax = line(&first, "state_income_tax");
    assert_eq!(alone["lines"]["state_income_tax"], state_tax, "the pack alone");
    assert!(state_tax > 0);
    let kept: i64 = ["taxes", "contributions"]
        .iter()
        .flat_map(|member| first[*member].as_array().unwrap())
        .map(|line| number(&line["amount"]))
        .sum();
    assert_eq!(number(&first["net"]), 400_000 - kept);
    assert_eq!(first["ytd"]["sdi"], 5_200);

    let second = pay(&caller, &company, &people[0], "2026-03", 400_000);
    assert_eq!(line(&second, "sdi"), 5_200);
    assert_eq!(line(&second, "state_unemployment"), 10_200, "3,000 of 7,000 are left");
    assert_eq!(second["ytd"]["sdi"], 10_400);
    let net = number(&first["net"]) + number(&second["net"]);
    assert_eq!(
        number(&second["ytd"]["net"]),
        number(&first["ytd"]["net"]) - number(&first["net"]) + net
    );
}

/// The EDD's quarterly return is DE 9, due on the last day of the month after the quarter. Form W-2 has the state in boxes 15 to 17.
#[test]
fn californian_taxes_are_filed_with_the_state_and_shown_on_the_w2() {
    let caller = Caller::instant();
    let (company, people) = californian(&caller);
    let first = pay(&caller, &company, &people[0], "2026-01", 400_000);
    let second = pay(&caller, &company, &people[0], "2026-03", 400_000);
    let state_tax = line(&first, "state_income_tax");
    let path = format!("/api/business/tax-liabilities?company_id={company}&authority=EDD");
    let owed = caller.all(&path);
    let of_state = |payslip: &Value| -> i64 {
        let lines = ["state_income_tax", "sdi", "state_unemployment", "employment_training"];
        lines.iter().map(|id| line(payslip, id)).sum()
    };
    let amounts: Vec<i64> = owed.iter().map(|it| number(&it["amount"])).collect();
    assert_eq!(amounts, [of_state(&first), of_state(&second)]);
    assert_eq!(owed[0]["form"], "DE 9 and DE 9C");
    assert_eq!(
        (&owed[0]["due_on"], &owed[0]["jurisdiction"]),
        (&json!("2026-04-30"), &json!("US"))
    );
    let filing = json!({
        "company_id": company, "tax_type": "EDD", "period": "2026-01", "jurisdiction": "US",
    });
    let filing = caller.post("/api/business/tax-filings", &filing).made();
    assert_eq!((&filing["form"], &filing["period"]), (&json!("DE 9 and DE 9C"), &json!("2026-03")));
    assert_eq!(number(&filing["amount"]), amounts.iter().sum::<i64>());
    let submit = format!("/api/business/tax-filings/{}/submit", id(&filing));
    caller.post(&submit, &json!({"declaration": "Ada Obi"})).expect(202);
    let w2 = format!(
        "/api/business/tax-documents/W-2?company_id={company}&period=2026&employee_id={}",
        people[0]
    );
    let w2 = caller.get(&w2).data();
    let [of_state] = &w2["rows"].as_array().unwrap()[..] else { panic!("one state: {w2}") };
    assert_eq!(in_box(of_state, "15")["text"], "CA");
    assert_eq!(in_box(of_state, "16")["amount"], 800_000);
    let tax = state_tax + line(&second, "state_income_tax");
    assert_eq!(in_box(of_state, "17")["amount"], tax);
    assert_eq!(in_box(&w2, "14 SDI")["amount"], 10_400);
    caller.audit();
}

fn in_box<'a>(part: &'a Value, name: &str) -> &'a Value {
    part["boxes"].as_array().unwrap().iter().find(|it| it["box"] == *name).unwrap()
}

/// IRS, General Instructions for Forms W-2 and W-3, boxes 15 to 20: wages and tax of each state are on a line of their own.
#[test]
fn a_w2_has_a_line_for_each_state() {
    let caller = Caller::instant();
    let (company, people) = californian(&caller);
    let path = format!("/api/business/employees/{}", people[0]);
    let california = pay(&caller, &company, &people[0], "2026-01", 400_000);
    let moved = json!({"tax_attributes": {"effective_from": "2026-03-01", "state": "NY"}});
    caller.patch(&path, &moved).expect(200);
    let new_york = pay(&caller, &company, &people[0], "2026-03", 300_000);
    let w2 = format!(
        "/api/business/tax-documents/W-2?company_id={company}&period=2026&employee_id={}",
        people[0]
    );
    let w2 = caller.get(&w2).data();
    let rows = w2["rows"].as_array().unwrap().iter();
    let rows: Vec<_> = rows
        .map(|row| {
            let amount = |name| number(&in_box(row, name)["amount"]);
            (in_box(row, "15")["text"].as_str().unwrap(), amount("16"), amount("17"))
        })
        .collect();
    let tax = |payslip| line(payslip, "state_income_tax");
    assert_eq!(rows, [("CA", 400_000, tax(&california)), ("NY", 300_000, tax(&new_york))]);
}

/// A second pay of a month is taxed as an addition to the first, by the state as by the country. A reversal gives both back.
#[test]
fn a_second_pay_and_a_reversal_count_for_the_state_too() {
    let caller = Caller::instant();
    let (company, people) = people(&caller);
    for employee in &people[..2] {
        set(&caller, employee, &json!({"state": "CA"}));
    }
    let parts =
        [250_000, 150_000].map(|amount| pay(&caller, &company, &people[0], "2026-01", amount));
    let whole = pay(&caller, &company, &people[1], "2026-01", 400_000);
    for id in ["state_income_tax", "sdi", "state_unemployment", "federal_income_tax"] {
        let sum: i64 = parts.iter().map(|part| line(part, id)).sum();
        assert_eq!(sum, line(&whole, id), "{id}");
    }
    let run = whole["payroll_run_id"].as_str().unwrap();
    let reverse = format!("/api/business/payroll-runs/{run}/reverse");
    caller.post(&reverse, &json!({"reason": "Wrong month"})).expect(200);
    let path = format!("/api/business/tax-liabilities?company_id={company}&authority=EDD");
    let owed: i64 = caller
        .all(&path)
        .iter()
        .filter(|it| it["status"] != "void")
        .map(|it| number(&it["amount"]))
        .sum();
    let lines = ["state_income_tax", "sdi", "state_unemployment", "employment_training"];
    let expected: i64 = parts.iter().flat_map(|part| lines.map(|id| line(part, id))).sum();
    assert_eq!(owed, expected);
    let again = pay(&caller, &company, &people[1], "2026-03", 400_000);
    assert_eq!(line(&again, "state_unemployment"), 13_600, "what was reversed does not count");
    caller.audit();
}

/// Texas and Florida have no income tax; New York withholds family leave and disability insurance (N.Y. Workers' Compensation Law s. 209).
#[test]
fn each_state_has_its_own_lines_and_authorities() {
    let caller = Caller::instant();
    let (company, people) = people(&caller);
    let rows = [
        ("TX", vec!["TWC"], false),
        ("FL", vec!["FDOR"], false),
        ("IL", vec!["IDOR"], true),
        ("NY", vec!["NYS", "NYSIF"], true),
    ];
    for (employee, (state, authorities, has_income_tax)) in people.iter().zip(rows) {
        set(&caller, employee, &json!({"state": state}));
        let payslip = pay(&caller, &company, employee, "2026-01", 400_000);
        assert_eq!(line(&payslip, "state_income_tax") > 0, has_income_tax, "{state}");
        for authority in authorities {
            let path =
                format!("/api/business/tax-liabilities?company_id={company}&authority={authority}");
            assert_eq!(caller.all(&path).len(), 1, "{authority}");
        }
    }
    let without = pay(&caller, &company, &people[5], "2026-01", 400_000);
    assert!(without.get("regional_pack").is_none());
    assert_eq!(line(&without, "state_unemployment"), 0);
    caller.audit();
}

#[test]
fn an_attribute_of_a_state_is_validated_by_its_pack() {
    let caller = Caller::instant();
    let (_, people) = people(&caller);
    let path = format!("/api/business/employees/{}", people[0]);
    let rows = [
        (json!({"state": "WA"}), "/tax_attributes/state", "invalid_value"),
        (
            json!({"state": "CA", "state.allowances": "99"}),
            "/tax_attributes/state.allowances",
            "invalid_value",
        ),
        (
            json!({"state": "CA", "state.children": "2"}),
            "/tax_attributes/state.children",
            "unknown_attribute",
        ),
        (
            json!({"state": "TX", "state.allowances": "1"}),
            "/tax_attributes/state.allowances",
            "unknown_attribute",
        ),
        (
            json!({"state": "none", "state.allowances": "1"}),
            "/tax_attributes/state.allowances",
            "unknown_attribute",
        ),
        (json!({"county.rate": "1"}), "/tax_attributes/county.rate", "unknown_attribute"),
    ];
    let before = caller.digest();
    for (attributes, pointer, code) in rows {
        let body = json!({"tax_attributes": attributes});
        let refused = caller.patch(&path, &body).refused(422, "validation_failed");
        assert_eq!(refused["errors"][0]["pointer"], pointer, "{body}");
        assert_eq!(refused["errors"][0]["code"], code, "{body}");
    }
    assert_eq!(caller.digest(), before);
}

/// California, Revenue and Taxation Code 17131.4: contributions to a health savings account are no exclusion from income, also those of the employer. EDD, DE
/// 231TP: they are wages for income tax, and the federal wages are less by the employee's part.
#[test]
fn what_an_employer_adds_to_a_health_savings_account_is_wages_in_california() {
    let (caller, person) = payable_in("US");
    set(&caller, &person, &json!({"state": "CA"}));
    let plan = |employer: i64| {
        let part = json!({"amount": employer});
        json!([{"label": "HSA", "type": "hsa_s125", "amount": 10_000, "employer": part}])
    };
    let of_month = |period: &str, employer: i64| {
        set_pay(&caller, &person, 500_000, &plan(employer));
        let slip = slip(&caller, &person, period);
        let tax = |id: &str| amount(&slip, "taxes", id);
        (tax("federal_income_tax"), tax("state_income_tax"))
    };
    let (with, without) = (of_month("2026-01", 20_000), of_month("2026-02", 1));
    assert_eq!(with.0, without.0);
    assert!(with.1 > without.1, "{with:?} {without:?}");
    let company = company_of(&caller, &person);
    let path = format!("/api/business/tax-documents/W-2?company_id={company}&period=2026");
    let w2 = caller.get(&format!("{path}&employee_id={person}")).data();
    let found = |boxes: &Value, id: &str| {
        let boxes = boxes.as_array().unwrap();
        number(&boxes.iter().find(|it| it["box"] == *id).unwrap()["amount"])
    };
    assert_eq!(found(&w2["boxes"], "1"), 980_000);
    assert_eq!(found(&w2["rows"][0]["boxes"], "16"), 1_020_001);
}
