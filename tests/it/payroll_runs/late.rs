//! Runs that are approved after their pay date.

use serde_json::{Value, json};

use super::{calculated, draft, edit, items, verb};
use crate::harness::Caller;
use crate::harness::world::{id, number};

/// A company of this country, with a draft of January 2026 for one employee, calculated on 1 January.
fn drafted(country: &str) -> (Caller, Value) {
    let caller = Caller::manual();
    let companies = caller.all("/api/business/companies");
    let company = companies.iter().find(|company| company["country"] == country).unwrap();
    let person = caller.payable(id(company)).remove(0);
    let body = json!({
        "company_id": company["id"], "period": "2026-01", "employee_ids": [person],
    });
    let run = draft(&caller, &body);
    let run = calculated(&caller, &run);
    assert!(run["pay_date"].as_str().unwrap() < "2026-02", "{run}");
    (caller, run)
}

fn approved(caller: &Caller, run: &Value, at: &str) -> Value {
    caller.advance(&json!({"to": at}));
    verb(caller, run, "approve", &json!({})).data()
}

fn liabilities(caller: &Caller, run: &Value) -> Vec<Value> {
    let company = run["company_id"].as_str().unwrap();
    let all = caller.all(&format!("/api/business/tax-liabilities?company_id={company}"));
    all.into_iter().filter(|it| it["payroll_run_id"] == run["id"]).collect()
}

/// ITEPA 2003, s. 686: income is paid when the payment is made; Income Tax (PAYE) Regulations 2003, reg. 69: it is due after the tax month of the
/// payment.
#[test]
fn a_run_that_is_approved_late_is_paid_and_taxed_on_that_day() {
    let (caller, early) = drafted("GB");
    let run = approved(&caller, &early, "2026-03-10T08:00:00Z");
    assert_eq!(run["pay_date"], "2026-03-10");
    for liability in liabilities(&caller, &run) {
        assert_eq!(liability["status"], "accrued", "{liability}");
        assert!(liability["due_on"].as_str().unwrap() > "2026-04-01", "{liability}");
    }
    // Equal to a run that is made in one call on that day.
    let (other, never) = drafted("GB");
    verb(&other, &never, "cancel", &json!({"reason": "Too late"})).expect(200);
    other.advance(&json!({"to": "2026-03-10T08:00:00Z"}));
    let body = json!({
        "company_id": run["company_id"], "period": "2026-01", "employees": run["employees"],
    });
    let at_once = other.post("/v1/payroll/run", &body).made();
    other.advance(&json!({"by": "2s"}));
    let at_once = other.run(id(&at_once));
    assert_eq!(at_once["pay_date"], run["pay_date"]);
    assert_eq!(at_once["totals"], run["totals"]);
    caller.advance(&json!({"by": "10d"}));
    assert_eq!(caller.run(id(&run))["status"], "paid");
    let payslips = caller.all(&format!("/api/business/payslips?payroll_run_id={}", id(&run)));
    assert_eq!(payslips[0]["pay_date"], "2026-03-10");
    let names: Vec<_> = caller.events().iter().map(|event| event["type"].clone()).collect();
    assert_eq!(names.iter().filter(|name| **name == "payroll_run.calculated").count(), 2);
    caller.audit();
}

/// ITEPA 2003, s. 686: pay of January that is paid on 20 April 2026 belongs to the tax year 2026-27. The year to date begins with it.
#[test]
fn a_run_that_is_approved_in_the_next_tax_year_belongs_to_it() {
    let (caller, early) = drafted("GB");
    let before = items(&caller, &early).remove(0);
    // Monday, after the cut-off: the next business day.
    let run = approved(&caller, &early, "2026-04-20T20:00:00Z");
    assert_eq!(run["pay_date"], "2026-04-21");
    assert_eq!(items(&caller, &run)[0]["id"], before["id"]);
    assert_eq!(items(&caller, &run)[0]["gross"], before["gross"]);
    caller.advance(&json!({"by": "10d"}));
    let path = format!("/api/business/payslips?payroll_run_id={}", id(&run));
    let payslip = caller.all(&path).remove(0);
    assert_eq!(payslip["pay_date"], "2026-04-21");
    assert_eq!(payslip["pack"]["tax_year"], "2026-27");
    assert_eq!(payslip["ytd"]["gross"], payslip["gross"]);
    let sum: i64 = liabilities(&caller, &run).iter().map(|it| number(&it["amount"])).sum();
    let totals = &run["totals"];
    let kept = ["taxes", "employee_contributions", "employer_contributions"];
    let kept: i64 = kept.iter().map(|member| number(&totals[*member])).sum();
    let items = items(&caller, &run);
    let pensions = items.iter().filter_map(|item| item.get("employer_benefits")).map(number);
    assert_eq!(sum, kept - pensions.sum::<i64>(), "the pension provider is no authority");
    caller.audit();
}

/// A calculated draft shows the day on which it can be paid. A run that is approved in time keeps its day.
#[test]
fn a_draft_that_is_calculated_late_shows_the_day_of_its_payment() {
    let (caller, early) = drafted("NG");
    let pay_date = early["pay_date"].clone();
    let run = approved(&caller, &early, "2026-01-05T08:00:00Z");
    assert_eq!(run["pay_date"], pay_date);
    let (caller, early) = drafted("NG");
    let body = json!({"employee_ids": early["employees"]});
    let run = edit(&caller, &early, &body).data();
    // Saturday.
    caller.advance(&json!({"to": "2026-03-07T08:00:00Z"}));
    let run = calculated(&caller, &run);
    assert_eq!((&run["status"], &run["pay_date"]), (&json!("calculated"), &json!("2026-03-09")));
    let run = approved(&caller, &run, "2026-03-09T06:00:00Z");
    assert_eq!(run["pay_date"], "2026-03-09");
    caller.audit();
}

/// ITEPA 2003, s. 686(1), rule 2: earnings are paid at the latest when the employee is entitled to them, so on the pay date of the approval.
/// The return of that day declares them (Income Tax (PAYE) Regulations 2003, reg. 67B). Money that comes later changes neither.
#[test]
fn a_run_whose_funding_is_retried_keeps_the_pay_date_of_its_approval() {
    let caller = Caller::manual();
    let company = caller.company(1);
    let person = caller.payable(&company).remove(0);
    let terms = json!({
        "amount": 10_000_000_000_i64, "currency": "GBP", "interval": "month",
        "effective_from": "2026-01-01",
    });
    let path = format!("/api/business/employees/{person}/compensation");
    caller.send(&caller.request("PUT", &path).json(&terms)).expect(200);
    let body = json!({"company_id": company, "period": "2026-01", "employees": [person]});
    let run = caller.post("/v1/payroll/run", &body).made();
    caller.advance(&json!({"to": "2026-04-20T08:00:00Z"}));
    let failed = caller.run(id(&run));
    assert_eq!(
        (&failed["status"], &failed["pay_date"]),
        (&json!("funding_failed"), &run["pay_date"])
    );
    let due = liabilities(&caller, &failed);
    let money = json!({"company_id": company, "amount": 20_000_000_000_i64, "from": "owner"});
    caller.post("/_sandbox/inbound/bank_transfer", &money).expect(200);
    let retried = verb(&caller, &failed, "retry-funding", &json!({})).data();
    assert_eq!(retried["status"], "processing");
    caller.advance(&json!({"by": "10d"}));
    let paid = caller.run(id(&run));
    assert_eq!(paid["status"], "paid");
    assert_eq!((&paid["pay_date"], &paid["totals"]), (&run["pay_date"], &failed["totals"]));
    let slips = caller.all(&format!("/api/business/payslips?payroll_run_id={}", id(&run)));
    assert_eq!(slips[0]["pay_date"], run["pay_date"]);
    assert_eq!(slips[0]["pack"]["tax_year"], "2025-26");
    let days =
        |all: &[Value]| -> Vec<Value> { all.iter().map(|it| it["due_on"].clone()).collect() };
    assert_eq!(days(&liabilities(&caller, &paid)), days(&due));
    let sent = caller.all(&format!("/api/payments/payouts?company_id={company}"));
    let salary = sent.iter().find(|it| it["amount"] == slips[0]["net"]).unwrap();
    assert!(salary["updated_at"].as_str().unwrap() > "2026-04-20", "{salary}");
    caller.audit();
}
