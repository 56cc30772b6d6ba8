//! Claims of an employee that end by law.

use serde_json::{Value, json};

use super::changed::{amount, extra};
use super::moved::{hire, hire_with, hired};
use crate::harness::Caller;
use crate::harness::world::number;

fn state(caller: &Caller, person: &str, attributes: &Value) {
    let path = format!("/api/business/employees/{person}");
    caller.patch(&path, &json!({"tax_attributes": attributes})).expect(200);
}

/// Income tax on a fee of 6,000.00 that is paid on that day.
fn withheld(caller: &Caller, company: &str, person: &str, pay_date: &str) -> i64 {
    let fee = json!({"id": "fee", "label": "Fee", "amount": 600_000});
    let item = json!({"employee_id": person, "earnings": [fee]});
    let slip = extra(caller, company, (&pay_date[..7], pay_date), &item);
    amount(&slip, "taxes", "federal_income_tax")
}

/// Publication 15, section 9: an exemption ends on 15 February of the next year. Without a new form, the employee then counts as single with no
/// other entries. The next form counts again.
#[test]
fn an_exemption_from_withholding_ends_in_february_of_the_next_year() {
    let (caller, company, person) = hired("US", "2025-12-01", 600_000);
    caller.pay_monthly(&company);
    let plain = hire(&caller, &company, "2025-12-01", 600_000);
    state(&caller, &person, &json!({"exempt": true, "credits": 220_000}));
    let of = |person: &str, day: &str| withheld(&caller, &company, person, day);
    assert_eq!(of(&person, "2025-12-30"), 0);
    assert_eq!(of(&person, "2026-02-13"), 0);
    // A change of the state is no new Form W-4.
    state(&caller, &person, &json!({"effective_from": "2026-03-01", "state": "TX"}));
    let single = of(&plain, "2026-03-13");
    assert!(single > 0);
    assert_eq!(of(&person, "2026-03-20"), single);
    state(&caller, &person, &json!({"effective_from": "2026-04-01", "exempt": true}));
    assert_eq!(of(&person, "2026-04-10"), 0);
    state(&caller, &person, &json!({"effective_from": "2026-05-01", "exempt": false}));
    assert!((1..single).contains(&of(&person, "2026-05-08")));
    caller.audit();
}

/// A form without a day is of the day on which the sandbox learned of it, not of the first day of work.
#[test]
fn an_exemption_of_an_earlier_hire_is_of_the_day_on_which_it_was_stated() {
    let (caller, company, _) = hired("US", "2025-12-01", 600_000);
    caller.pay_monthly(&company);
    let exempt = json!({"exempt": true});
    let person = hire_with(&caller, &company, ("2020-01-01", 600_000), &exempt);
    assert_eq!(withheld(&caller, &company, &person, "2025-12-30"), 0);
    caller.audit();
}

/// CRA, T4127 ch. 6: CPP2 begins above 74,600.00 of pensionable earnings of the year, and pay under an exemption is not pensionable.
#[test]
fn pay_under_an_exemption_does_not_count_for_cpp2() {
    let (caller, company, person) = hired("CA", "2026-01-01", 1_000_000);
    caller.pay_monthly(&company);
    let attributes = json!([
        {"effective_from": "2026-01-01", "cpp_exempt": true},
        {"effective_from": "2026-02-15", "cpp_exempt": false},
    ]);
    state(&caller, &person, &attributes);
    let paid = |month: &str, amount: i64| {
        let fee = json!({"id": "fee", "label": "Fee", "amount": amount});
        let item = json!({"employee_id": person, "earnings": [fee]});
        extra(&caller, &company, (month, &format!("{month}-20")), &item)
    };
    let exempt = paid("2026-01", 6_000_000);
    assert_eq!(
        [amount(&exempt, "contributions", "cpp"), number(&exempt["ytd"]["pensionable"])],
        [0; 2]
    );
    let second = paid("2026-02", 2_000_000);
    assert!(amount(&second, "contributions", "cpp") > 0);
    assert_eq!(amount(&second, "contributions", "cpp2"), 0);
    assert_eq!(number(&second["ytd"]["pensionable"]), 2_000_000);
    // 80,000.00 less 74,600.00, at 4 %.
    assert_eq!(amount(&paid("2026-03", 6_000_000), "contributions", "cpp2"), 21_600);
    caller.audit();
}
