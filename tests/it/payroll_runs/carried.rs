//! Deductions that a pay does not cover: the next pay takes them once, even in the same pay period.

use serde_json::{Value, json};

use super::changed::{amount, bonus, extra};
use super::law::set_pay;
use super::moved::{company_of, hired, slip, slip_of};
use super::{calculated, draft, edit};
use crate::harness::Caller;

/// A Canadian employee with 3,000.00 a month, whose pay of January has covered 2,497.58 of a loan of 3,000.00.
fn with_a_loan() -> (Caller, String, String) {
    let (caller, company, person) = hired("CA", "2026-01-01", 300_000);
    let run = january(&caller, &person);
    assert_eq!(loan(&slip_of(&caller, &calculated(&caller, &run))), 249_758);
    (caller, company, person)
}

fn january(caller: &Caller, person: &str) -> Value {
    let company = company_of(caller, person);
    let body = json!({"company_id": company, "period": "2026-01", "employee_ids": [person]});
    let run = draft(caller, &body);
    let loan = json!({"label": "Loan", "amount": 300_000, "type": "loan_repayment"});
    let items = json!({"items": [{"employee_id": person, "deductions": [loan]}]});
    edit(caller, &run, &items).expect(200);
    run
}

fn loan(slip: &Value) -> i64 {
    amount(slip, "deductions", "loan")
}

#[test]
fn two_pays_of_the_next_pay_period_take_a_carried_deduction_once() {
    let (caller, company, person) = with_a_loan();
    assert_eq!(loan(&slip(&caller, &person, "2026-02")), 50_242);
    let second = extra(&caller, &company, ("2026-02", "2026-03-02"), &bonus(&person, 300_000));
    assert_eq!(loan(&second), 0, "{second}");
    assert_eq!(loan(&slip(&caller, &person, "2026-03")), 0);
    caller.audit();
}

#[test]
fn a_second_pay_takes_what_the_first_one_of_its_pay_period_did_not_cover() {
    let (caller, company, person) = with_a_loan();
    let second = extra(&caller, &company, ("2026-01", "2026-01-30"), &bonus(&person, 10_000));
    assert_eq!((loan(&second), &second["net"]), (7_481, &json!(0)));
    assert_eq!(loan(&slip(&caller, &person, "2026-02")), 50_242 - 7_481);
    assert_eq!(loan(&slip(&caller, &person, "2026-03")), 0);
    caller.audit();
}

/// Pays count in the order in which they are calculated.
#[test]
fn an_early_draft_takes_a_carried_deduction_once() {
    let (caller, company, person) = hired("CA", "2026-01-01", 300_000);
    let body = json!({"company_id": company, "period": "2026-02", "employee_ids": [person]});
    let february = draft(&caller, &body);
    let run = january(&caller, &person);
    slip_of(&caller, &calculated(&caller, &run));
    assert_eq!(loan(&slip_of(&caller, &calculated(&caller, &february))), 50_242);
    assert_eq!(loan(&slip(&caller, &person, "2026-03")), 0);
    caller.audit();
}

/// 15 USC 1673(a): a quarter of disposable pay, first for the order that was served first. What a later order did not get must not precede it.
#[test]
fn the_rest_of_a_later_order_does_not_precede_an_earlier_order() {
    let (caller, company, person) = hired("US", "2026-01-01", 350_000);
    caller.pay_monthly(&company);
    let order = |id: &str, amount: i64| json!({"id": id, "label": id, "type": "garnishment", "amount": amount});
    set_pay(&caller, &person, 350_000, &json!([order("first", 30_000), order("second", 200_000)]));
    let taken = ["2026-01", "2026-02", "2026-03"].map(|period| {
        let slip = slip(&caller, &person, period);
        ["first", "second"].map(|id| amount(&slip, "deductions", id))
    });
    assert_eq!(taken[0][0], 30_000);
    assert!((1..200_000).contains(&taken[0][1]), "{taken:?}");
    assert_eq!(taken, [taken[0]; 3]);
    caller.audit();
}
