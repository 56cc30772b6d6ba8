//! Contractors are paid by runs, without withholding, contributions and returns.

use serde_json::{Value, json};

use super::{balances, calculated, draft_of, edit, items, paid};
use crate::harness::Caller;
use crate::harness::http::pointers;
use crate::harness::world::{id, number};

/// A verified contractor of the first company, for 500,000.00 a month.
fn contractor(caller: &Caller) -> String {
    let body = json!({
        "company_id": caller.company(0), "name": "Ada Obi", "role": "Designer",
        "department": "Marketing", "start_date": "2026-01-01", "employment_type": "contractor",
        "tax_id": "1023456789",
        "compensation": {"amount": 50_000_000, "currency": "NGN", "interval": "month"},
        "payment_method": {"type": "bank", "bank_code": "058", "account_number": "9999999900"},
    });
    let created = caller.post("/api/business/employees", &body).expect(201)["data"].take();
    let path = format!("/api/business/employees/{}", id(&created));
    caller.post(&format!("{path}/activate"), &json!({})).expect(200);
    caller.post(&format!("{path}/verify-payroll"), &json!({})).expect(202);
    caller.advance(&json!({"by": "30s"}));
    assert_eq!(caller.get(&path).data()["payroll_status"], "verified");
    id(&created).to_owned()
}

fn balance(caller: &Caller, account: &str) -> i64 {
    let all = balances(caller);
    all.iter().find(|(code, _)| code == account).map_or(0, |(_, balance)| number(balance))
}

/// IRS, "Independent contractor (self-employed) or employee?": the payer withholds nothing and pays no taxes on the payment.
#[test]
fn a_contractor_is_paid_in_full_without_any_liability() {
    let caller = Caller::manual();
    let person = contractor(&caller);
    let (wages, fees) = (balance(&caller, "wages"), balance(&caller, "contractors"));
    let liabilities = format!("/api/business/tax-liabilities?company_id={}", caller.company(0));
    let before = caller.all(&liabilities);
    let run = calculated(&caller, &draft_of(&caller, "regular", core::slice::from_ref(&person)));
    let item = items(&caller, &run).remove(0);
    assert_eq!((number(&item["gross"]), number(&item["net"])), (50_000_000, 50_000_000));
    for nothing in ["taxes", "employee_contributions", "employer_contributions", "deductions"] {
        assert_eq!(item[nothing], 0, "{nothing}");
    }
    let run = paid(&caller, &run);
    assert_eq!(run["status"], "paid");
    assert_eq!(caller.all(&liabilities), before, "there is no payroll return for a fee");
    assert_eq!(balance(&caller, "wages"), wages);
    assert_eq!(balance(&caller, "contractors"), fees + 50_000_000);
    let statement = caller.all(&format!("/api/business/payslips?employee_id={person}")).remove(0);
    assert_eq!(statement["type"], "contractor_statement");
    assert_eq!(statement["pack"]["code"], "XC");
    assert_eq!(statement["pack"]["in_force"], true);
    for empty in ["taxes", "contributions", "employer_contributions", "deductions"] {
        assert_eq!(statement[empty], json!([]), "{empty}");
    }
    assert_eq!(statement["ytd"]["gross"], 50_000_000);
    caller.audit();
}

#[test]
fn a_run_of_employees_and_contractors_withholds_only_from_employees() {
    let caller = Caller::manual();
    let person = contractor(&caller);
    let employee = caller.payable(&caller.company(0)).remove(0);
    let run = calculated(&caller, &draft_of(&caller, "regular", &[employee, person.clone()]));
    let [of_employee, of_contractor] = &items(&caller, &run)[..] else { panic!("{run}") };
    assert!(number(&of_employee["taxes"]) > 0);
    assert_eq!(of_contractor["employee_id"], json!(person));
    assert_eq!(of_contractor["net"], 50_000_000);
    assert_eq!(run["totals"]["taxes"], of_employee["taxes"]);
    paid(&caller, &run);
    let types = caller.all(&format!("/api/business/payslips?payroll_run_id={}", id(&run)));
    let types: Vec<&Value> = types.iter().map(|payslip| &payslip["type"]).collect();
    assert_eq!(types, ["payslip", "contractor_statement"]);
    caller.audit();
}

#[test]
fn members_for_employees_only_are_refused_for_contractors() {
    let caller = Caller::manual();
    let person = contractor(&caller);
    let path = format!("/api/business/employees/{person}");
    let wrong = caller.patch(&path, &json!({"tax_attributes": {"nhf": true}}));
    let wrong = wrong.refused(422, "validation_failed");
    assert_eq!(pointers(&wrong), ["/tax_attributes/nhf"]);
    let run = draft_of(&caller, "off_cycle", core::slice::from_ref(&person));
    let with = |earning: Value| {
        edit(&caller, &run, &json!({"items": [{"employee_id": person, "earnings": [earning]}]}))
    };
    let earning = json!({"label": "Overtime", "amount": 1, "type": "overtime"});
    with(earning).refused(422, "validation_failed");
    with(json!({"label": "Prize", "amount": 100, "type": "bonus"})).expect(200);
    assert_eq!(number(&items(&caller, &calculated(&caller, &run))[0]["net"]), 100);
}

/// IAS 7.14 and cash accounting: a payment counts as what it pays. A fee does not count as wages, in reports by cash
/// and by accrual.
#[test]
fn a_fee_that_is_paid_is_no_wage_in_a_report_by_cash() {
    let caller = Caller::manual();
    let person = contractor(&caller);
    let company = caller.company(0);
    let expense = |basis: &str, account: &str| {
        let path = format!(
            "/api/business/reports/profit-and-loss?company_id={company}&from=2026-01-01&to=2026-12-31&basis={basis}"
        );
        let report = caller.get(&path).data();
        let lines = report["expenses"].as_array().unwrap().clone();
        lines.iter().find(|it| it["account"] == *account).map_or(0, |it| number(&it["amount"]))
    };
    let wages = expense("cash", "wages");
    let run = calculated(&caller, &draft_of(&caller, "regular", &[person]));
    let approved = super::verb(&caller, &run, "approve", &json!({}));
    approved.expect(200);
    assert_eq!(balance(&caller, "contractors_payable"), 50_000_000);
    assert_eq!(
        (expense("cash", "contractors"), expense("accrual", "contractors")),
        (0, 50_000_000)
    );
    caller.advance(&json!({"by": "40d"}));
    assert_eq!(balance(&caller, "contractors_payable"), 0);
    assert_eq!(expense("cash", "contractors"), 50_000_000);
    assert_eq!(expense("cash", "wages"), wages);
    super::verb(&caller, &run, "reverse", &json!({"reason": "Paid by mistake"})).expect(200);
    assert_eq!(expense("cash", "contractors"), 0);
    assert_eq!(balance(&caller, "contractors_payable"), 0);
    caller.audit();
}
