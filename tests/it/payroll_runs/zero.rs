//! Pay of zero, because of deductions, taxes or unpaid leave: a payslip without a payment.

use serde_json::{Value, json};

use super::{calculated, draft, edit, items, paid, verb};
use crate::harness::Caller;
use crate::harness::world::{id, number};

const SUMS: [&str; 3] = ["gross", "net", "employer_cost"];

fn payslips(caller: &Caller, run: &Value) -> Vec<Value> {
    caller.all(&format!("/api/business/payslips?payroll_run_id={}", id(run)))
}

/// A draft of the first company in which a loan takes the whole pay of the first employee.
fn drafted(caller: &Caller, people: &[String]) -> Value {
    let body = json!({
        "company_id": caller.company(0), "period": "2026-01", "employee_ids": people,
    });
    let run = draft(caller, &body);
    let loan = json!({"label": "Loan", "amount": 900_000_000_000_i64, "timing": "post_tax"});
    let body = json!({"items": [{"employee_id": people[0], "deductions": [loan]}]});
    edit(caller, &run, &body).expect(200);
    calculated(caller, &run)
}

fn payouts(caller: &Caller, run: &Value) -> usize {
    items(caller, run).iter().filter(|item| item["payout_id"].is_string()).count()
}

/// The employer must issue a pay statement for all wages earned, even if deductions take all of them (Labour Act, Nigeria, s. 1 and 5). No
/// payment is counted or made.
#[test]
fn pay_that_a_deduction_takes_completely_has_a_payslip_and_no_payment() {
    let caller = Caller::manual();
    let people = caller.payable(&caller.company(0));
    let run = paid(&caller, &drafted(&caller, &people[..2]));
    assert_eq!(run["status"], "paid");
    assert_eq!(run["settlement"], json!({"paid": 1, "failed": 0, "pending": 0}));
    assert_eq!(payouts(&caller, &run), 1);
    let issued = payslips(&caller, &run);
    assert_eq!(issued.len(), 2);
    let nothing = issued.iter().find(|it| it["employee_id"] == *people[0]).unwrap();
    assert_eq!(nothing["net"], 0);
    assert_eq!(nothing["status"], "issued");
    let item = items(&caller, &run).into_iter().find(|it| it["employee_id"] == *people[0]);
    let item = item.unwrap();
    assert_eq!((&item["status"], &item["payslip_id"]), (&json!("skipped"), &nothing["id"]));
    for member in SUMS {
        let sum: i64 = issued.iter().map(|it| number(&it[member])).sum();
        assert_eq!(run["totals"][member], sum, "{member}");
    }
    caller.audit();
}

#[test]
fn a_run_without_any_net_pay_is_paid_and_its_taxes_are_due() {
    for caller in [Caller::manual(), Caller::instant()] {
        let people = caller.payable(&caller.company(0));
        let drafted = drafted(&caller, &people[..1]);
        verb(&caller, &drafted, "approve", &json!({})).expect(200);
        if caller.get("/_sandbox/clock").data()["mode"] == "manual" {
            caller.advance(&json!({"by": "40d"}));
        }
        let run = caller.run(id(&drafted));
        assert_eq!(run["status"], "paid");
        assert_eq!(run["settlement"], json!({"paid": 0, "failed": 0, "pending": 0}));
        assert_eq!(payouts(&caller, &run), 0);
        assert_eq!(payslips(&caller, &run).len(), 1);
        let owed = caller.all(&format!(
            "/api/business/tax-liabilities?company_id={}&authority=SIRS",
            caller.company(0)
        ));
        assert_eq!(owed[0]["amount"], run["totals"]["taxes"]);
        caller.audit();
    }
}

/// If the only payment fails, the pay that needed none still counts.
#[test]
fn a_failed_payment_does_not_undo_pay_that_needed_none() {
    let caller = Caller::manual();
    let people = caller.payable(&caller.company(0));
    let run = drafted(&caller, &people[..2]);
    let target = format!("/api/business/payroll-runs/{}/approve", id(&run));
    let request = caller.request("POST", &target).json(&json!({}));
    caller.send(&request.header("Sandbox-Scenario", "payout.settle=failed")).expect(200);
    caller.advance(&json!({"by": "40d"}));
    let run = caller.run(id(&run));
    assert_eq!(run["status"], "partially_paid");
    assert_eq!(run["settlement"], json!({"paid": 0, "failed": 1, "pending": 0}));
    let issued = payslips(&caller, &run);
    assert_eq!((issued.len(), &issued[0]["status"]), (1, &json!("issued")));
    caller.audit();
}

/// 26 USC 3402(a) and 3102(a): tax is deducted from wages, so at most the wages are withheld. Social Security and Medicare come first
/// (Publication 15, section 6).
#[test]
fn no_more_than_the_pay_is_withheld() {
    let caller = Caller::manual();
    let company = caller.company(2);
    let person = caller.payable(&company).remove(0);
    let path = format!("/api/business/employees/{person}");
    let extra = json!({"tax_attributes": {"extra_withholding": 100_000_000}});
    caller.patch(&path, &extra).expect(200);
    let body = json!({
        "company_id": company, "period": "2026-01", "type": "off_cycle", "employee_ids": [person],
    });
    let run = draft(&caller, &body);
    let earnings = json!([{"id": "fee", "label": "Fee", "amount": 300_000}]);
    let body = json!({"items": [{"employee_id": person, "earnings": earnings}]});
    edit(&caller, &run, &body).expect(200);
    let run = paid(&caller, &calculated(&caller, &run));
    assert_eq!(run["status"], "paid");
    assert_eq!(run["settlement"], json!({"paid": 0, "failed": 0, "pending": 0}));
    let payslip = payslips(&caller, &run).remove(0);
    assert_eq!(payslip["net"], 0);
    let amount = |member: &str, id: &str| {
        let lines = payslip[member].as_array().unwrap().iter();
        lines.filter(|line| line["id"] == *id).map(|line| number(&line["amount"])).sum::<i64>()
    };
    assert_eq!(amount("contributions", "social_security"), 18_600);
    assert_eq!(amount("contributions", "medicare"), 4_350);
    assert_eq!(amount("taxes", "federal_income_tax"), 300_000 - 18_600 - 4_350);
    assert_eq!(payslip["ytd"]["federal_income_tax"], 300_000 - 18_600 - 4_350);
    caller.audit();
}

/// Pay of zero is a pay: its taxes and its year to date are reversed like those of another, and the employee can be paid again. No payment
/// is recalled.
#[test]
fn pay_of_zero_is_reversed_without_a_payment() {
    let caller = Caller::manual();
    let people = caller.payable(&caller.company(0));
    let before = super::balances(&caller);
    let run = paid(&caller, &drafted(&caller, &people[..2]));
    let liabilities = format!("/api/business/tax-liabilities?company_id={}", caller.company(0));
    let owed = |caller: &Caller| -> i64 {
        let open = caller
            .all(&liabilities)
            .into_iter()
            .filter(|it| it["payroll_run_id"] == run["id"] && it["status"] != "void");
        open.map(|it| number(&it["amount"])).sum()
    };
    let whole = owed(&caller);
    let item = items(&caller, &run).into_iter().find(|it| it["employee_id"] == *people[0]).unwrap();
    let body = json!({"reason": "The loan was repaid", "employee_ids": [people[0]]});
    let reversal = verb(&caller, &run, "reverse", &body).data();
    assert_eq!(reversal["settlement"], json!({"paid": 0, "failed": 0, "pending": 0}));
    assert_eq!(number(&reversal["totals"]["gross"]), -number(&item["gross"]));
    let sums = ["taxes", "employee_contributions", "employer_contributions"];
    let undone: i64 = sums.iter().map(|member| number(&item[member])).sum();
    assert_eq!(owed(&caller), whole - undone);
    let of_person = payslips(&caller, &run);
    let of_person = of_person.iter().find(|it| it["employee_id"] == *people[0]).unwrap();
    assert_eq!(of_person["status"], "voided");
    caller.audit();
    let rest = verb(&caller, &run, "reverse", &json!({"reason": "All of it"})).data();
    assert_eq!(rest["settlement"]["paid"], 1);
    let fees = |all: Vec<(Value, Value)>| {
        all.into_iter()
            .filter(|(code, _)| *code != "fees" && *code != "cash_available")
            .collect::<Vec<_>>()
    };
    assert_eq!(fees(super::balances(&caller)), fees(before));
    assert_eq!(caller.run(id(&run))["status"], "reversed");
    let again = paid(
        &caller,
        &calculated(
            &caller,
            &draft(
                &caller,
                &json!({
                    "company_id": caller.company(0), "period": "2026-01", "employee_ids": people[..1],
                }),
            ),
        ),
    );
    assert_eq!(again["status"], "paid");
    assert_eq!(payslips(&caller, &again)[0]["ytd"]["gross"], item["gross"]);
    caller.audit();
}

/// If no pay of a run needed a payment, the run can be reversed as a whole; an employee whom a run left out has nothing to reverse.
#[test]
fn only_pay_of_zero_can_be_reversed_and_not_who_was_left_out() {
    let caller = Caller::manual();
    let people = caller.payable(&caller.company(0));
    let run = paid(&caller, &drafted(&caller, &people[..1]));
    let reversal = verb(&caller, &run, "reverse", &json!({"reason": "Twice"})).data();
    assert_eq!(reversal["status"], "paid");
    assert_eq!(caller.run(id(&run))["status"], "reversed");
    let drafted = drafted(&caller, &people[1..3]);
    edit(&caller, &drafted, &json!({"employee_ids": [people[1]]})).expect(200);
    let run = paid(&caller, &calculated(&caller, &drafted));
    let body = json!({"reason": "Left out", "employee_ids": [people[2]]});
    verb(&caller, &run, "reverse", &body).refused(422, "validation_failed");
    caller.audit();
}

/// Approved unpaid leave.
pub(super) fn away(caller: &Caller, person: &str, days: [&str; 2]) {
    let body = json!({
        "employee_id": person, "type": "unpaid", "start_date": days[0], "end_date": days[1],
    });
    let asked = caller.post("/api/business/leave-requests", &body).made();
    let path = format!("/api/business/leave-requests/{}/decide", id(&asked));
    caller.post(&path, &json!({"decision": "approve"})).expect(200);
}

/// A pay period without pay is reported and has a payslip: HMRC, "What payroll information to report to HMRC" (an FPS also for employees who
/// earned nothing in the period); Employment Rights Act 1996, s. 8. It holds in every country, even if no contribution is due.
#[test]
fn a_month_of_unpaid_leave_has_a_payslip_and_no_payment() {
    let companies = Caller::manual().all("/api/business/companies");
    let british = companies.iter().find(|it| it["country"] == "GB").map(|it| id(it).to_owned());
    let british = british.unwrap();
    let mut countries = std::collections::BTreeSet::new();
    for company in companies {
        if !countries.insert(company["country"].to_string()) {
            continue;
        }
        let caller = Caller::manual();
        let company = id(&company);
        caller.pay_monthly(company);
        let people = &caller.payable(company)[..2];
        away(&caller, &people[0], ["2026-01-01", "2026-01-31"]);
        let body = json!({"company_id": company, "period": "2026-01", "employees": people});
        let run = caller.post("/v1/payroll/run", &body).made();
        caller.advance(&json!({"by": "40d"}));
        let run = caller.run(id(&run));
        assert_eq!(run["status"], "paid", "{run}");
        let issued = payslips(&caller, &run);
        assert_eq!(issued.len(), 2, "{run}");
        let nothing = issued.iter().find(|it| it["employee_id"] == *people[0]).unwrap();
        assert_eq!((&nothing["gross"], &nothing["status"]), (&json!(0), &json!("issued")));
        // A cumulative tax code pays tax back, and that is a payment (the PAYE Regulations 2003, reg. 23).
        let refund = number(&nothing["net"]);
        assert_eq!(refund != 0, company == british, "{nothing}");
        let paid = 1 + usize::from(refund > 0);
        assert_eq!(run["settlement"], json!({"paid": paid, "failed": 0, "pending": 0}), "{run}");
        let item = items(&caller, &run).into_iter().find(|it| it["employee_id"] == *people[0]);
        let item = item.unwrap();
        assert_eq!(item["payslip_id"], nothing["id"]);
        assert_eq!(item["status"], if refund > 0 { "paid" } else { "skipped" });
        assert_eq!(payouts(&caller, &run), paid);
        for member in SUMS {
            let sum: i64 = issued.iter().map(|it| number(&it[member])).sum();
            assert_eq!(run["totals"][member], sum, "{member}");
        }
        caller.audit();
    }
    assert!(countries.len() >= 3, "{countries:?}");
}

/// An employment that ended before the pay period, after the run was created, has no pay and no payslip in it.
#[test]
fn an_employee_who_left_before_the_pay_period_has_no_payslip_of_it() {
    let caller = Caller::manual();
    let people = caller.payable(&caller.company(0));
    let body = json!({
        "company_id": caller.company(0), "period": "2026-02", "employees": people[..2],
    });
    let run = caller.post("/v1/payroll/run", &body).made();
    let end =
        json!({"reason": "Left", "last_working_day": "2026-01-01", "final_pay": {"mode": "none"}});
    let path = format!("/api/business/employees/{}/terminate", people[0]);
    caller.post(&path, &end).expect(200);
    caller.advance(&json!({"by": "80d"}));
    let run = caller.run(id(&run));
    assert_eq!(run["status"], "paid", "{run}");
    let issued = payslips(&caller, &run);
    assert_eq!(issued.len(), 1);
    assert_eq!(issued[0]["employee_id"], *people[1]);
    caller.audit();
}
