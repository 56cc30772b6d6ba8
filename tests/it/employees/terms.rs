//! Pay terms: their first day, their parts, and their refusals.

use serde_json::{Value, json};

use super::{act, employee, hire, pay, put};
use crate::harness::Caller;
use crate::harness::http::{Answer, pointers};

fn set(caller: &Caller, person: &str, amount: i64, from: Option<&str>) -> Answer {
    let mut terms = json!({"amount": amount, "currency": "NGN", "interval": "month"});
    if let Some(day) = from {
        terms["effective_from"] = json!(day);
    }
    put(caller, person, "compensation", &terms)
}

/// First days and amounts of an employee's history of terms.
fn history(person: &Value) -> Vec<(String, i64)> {
    let terms = person["compensation_history"].as_array();
    let lines = terms.into_iter().flatten().map(|terms| {
        let day = terms["effective_from"].as_str().unwrap().to_owned();
        (day, terms["amount"].as_i64().unwrap())
    });
    lines.collect()
}

fn lines(expected: &[(&str, i64)]) -> Vec<(String, i64)> {
    let line = |(day, amount): &(&str, i64)| ((*day).to_owned(), *amount);
    expected.iter().map(line).collect()
}

/// A payable employee of the first company who had no raise in the history.
fn unraised(caller: &Caller) -> String {
    let people = caller.payable(&caller.company(0)).into_iter();
    let mut unraised = people.filter(|it| employee(caller, it)["compensation_history"].is_null());
    unraised.next().unwrap()
}

#[test]
fn terms_of_a_future_day_wait_for_it() {
    for caller in [Caller::instant(), Caller::manual()] {
        let ada = unraised(&caller);
        let before = employee(&caller, &ada)["compensation"].take();
        assert!(before["recorded_on"].is_null());
        let set = set(&caller, &ada, 50_000_000, Some("2026-03-01")).data();
        assert_eq!(set["compensation"], before, "in force today");
        let all = set["compensation_history"].as_array().unwrap();
        assert_eq!((all.len(), &all[0]), (2, &before));
        assert_eq!(all[1]["amount"], 50_000_000);
        assert_eq!(all[1]["recorded_on"], "2026-01-01");
        assert_eq!(caller.advance(&json!({"to": "2026-02-28T23:59:58Z"})), [""; 0]);
        assert_eq!(employee(&caller, &ada)["compensation"], before);
        assert_eq!(caller.advance(&json!({"by": "2s"})), ["employee.compensation_changed"]);
        let after = employee(&caller, &ada);
        assert_eq!(after["compensation"], all[1]);
        assert_eq!(after["compensation_history"], json!(all));
        caller.audit();
    }
}

#[test]
fn terms_are_in_force_until_the_next_ones() {
    let caller = Caller::manual();
    let ada = unraised(&caller);
    let grown = employee(&caller, &ada)["compensation"]["effective_from"].clone();
    let grown = (grown.as_str().unwrap().to_owned(), {
        let amount = &employee(&caller, &ada)["compensation"]["amount"];
        amount.as_i64().unwrap()
    });
    set(&caller, &ada, 3, Some("2026-03-01")).expect(200);
    set(&caller, &ada, 2, Some("2026-02-01")).expect(200);
    let past = set(&caller, &ada, 1, Some("2025-12-01")).data();
    assert_eq!(past["compensation"]["amount"], 1);
    let mut expected = vec![grown.clone()];
    expected.extend(lines(&[("2025-12-01", 1), ("2026-02-01", 2), ("2026-03-01", 3)]));
    assert_eq!(history(&past), expected);
    // The same day again: the terms are replaced, and no day appears twice.
    let again = set(&caller, &ada, 4, Some("2026-02-01")).data();
    expected[2].1 = 4;
    assert_eq!(history(&again), expected);
    let changed = "employee.compensation_changed";
    let came = caller.advance(&json!({"to": "2026-02-15T00:00:00Z"}));
    assert_eq!(came, [changed]);
    assert_eq!(employee(&caller, &ada)["compensation"]["amount"], 4);
    // Terms from today, with future terms: the future ones remain.
    set(&caller, &ada, 5, None).expect(200);
    assert_eq!(employee(&caller, &ada)["compensation"]["amount"], 5);
    assert_eq!(caller.advance(&json!({"by": "30d"})), [changed]);
    assert_eq!(employee(&caller, &ada)["compensation"]["amount"], 3);
    caller.audit();
}

#[test]
fn terms_before_the_start_are_those_of_the_first_day() {
    let caller = Caller::manual();
    let ada = hire(&caller, &caller.company(0), &json!({"compensation": pay()}));
    let hired = employee(&caller, &ada);
    assert_eq!(hired["compensation"]["effective_from"], "2026-02-02");
    assert_eq!(hired["compensation"]["recorded_on"], "2026-01-01");
    let set = set(&caller, &ada, 46_000_000, None).data();
    assert_eq!(set["compensation"]["amount"], 46_000_000);
    assert_eq!(set["compensation"]["effective_from"], "2026-02-02");
    assert!(set["compensation_history"].is_null());
    let came = caller.advance(&json!({"to": "2026-02-03T00:00:00Z"}));
    assert_eq!(came, ["employee.activated"]);
    assert_eq!(employee(&caller, &ada)["compensation"], set["compensation"]);
}

#[test]
fn no_terms_begin_after_the_employment_or_its_end() {
    let caller = Caller::manual();
    let ada = caller.payable(&caller.company(0)).remove(0);
    set(&caller, &ada, 2, Some("2026-02-01")).expect(200);
    let end = json!({"reason": "Resignation", "last_working_day": "2026-01-15"});
    act(&caller, &ada, "terminate", &end).expect(200);
    let refused = set(&caller, &ada, 1, Some("2026-01-16")).refused(422, "validation_failed");
    assert_eq!(pointers(&refused), ["/effective_from"]);
    assert_eq!(refused["errors"][0]["code"], "after_employment");
    set(&caller, &ada, 1, Some("2026-01-15")).expect(200);
    let came = caller.advance(&json!({"to": "2026-03-01T00:00:00Z"}));
    let expected =
        ["employee.compensation_changed", "employee.terminated", "employee.payroll_status_changed"];
    assert_eq!(came, expected);
    let refused = set(&caller, &ada, 1, None).refused(409, "invalid_state_transition");
    assert_eq!(refused["current"], "terminated");
}

#[test]
fn allowances_and_deductions_belong_to_the_terms() {
    let caller = Caller::instant();
    let mut terms = pay();
    terms["allowances"] = json!([
        {"label": "Night shift", "amount": 1_500_000},
        {"id": "fuel", "label": "Fuel", "amount": 0},
    ]);
    terms["deductions"] = json!([
        {"label": "Staff loan", "amount": 900, "timing": "post_tax"},
        {"id": "union-dues", "label": "Union", "amount": 1, "timing": "pre_tax"},
    ]);
    let ada = hire(&caller, &caller.company(0), &json!({"compensation": terms}));
    let kept = employee(&caller, &ada)["compensation"].take();
    let expected = json!([
        {"id": "night_shift", "label": "Night shift", "amount": 1_500_000},
        {"id": "fuel", "label": "Fuel", "amount": 0},
    ]);
    assert_eq!(kept["allowances"], expected);
    let expected = json!([
        {"id": "staff_loan", "label": "Staff loan", "amount": 900, "timing": "post_tax"},
        {"id": "union-dues", "label": "Union", "amount": 1, "timing": "pre_tax"},
    ]);
    assert_eq!(kept["deductions"], expected);
    let without = put(&caller, &ada, "compensation", &pay()).data();
    assert!(without["compensation"]["allowances"].is_null());
    assert!(without["compensation"]["deductions"].is_null());
}

#[test]
fn malformed_terms_are_refused_with_every_pointer() {
    let caller = Caller::instant();
    let ada = caller.payable(&caller.company(0)).remove(0);
    let refused = |body: &Value, expected: &[&str]| {
        let answer = put(&caller, &ada, "compensation", body).refused(422, "validation_failed");
        assert_eq!(pointers(&answer), expected, "{answer}");
    };
    refused(&json!({}), &["/amount", "/currency", "/interval"]);
    let with = |name: &str, value: Value| {
        let mut terms = pay();
        terms[name] = value;
        terms
    };
    refused(&with("amount", json!(0)), &["/amount"]);
    refused(&with("interval", json!("week")), &["/interval"]);
    refused(&with("effective_from", json!("soon")), &["/effective_from"]);
    refused(&with("colour", json!("red")), &["/colour"]);
    let line = json!({"label": "Fuel", "amount": 1});
    refused(&with("allowances", json!(vec![line; 21])), &["/allowances"]);
    let wrong = json!([{"id": "Fuel", "label": "", "amount": -1, "colour": "red"}]);
    let expected =
        ["/allowances/0/id", "/allowances/0/label", "/allowances/0/amount", "/allowances/0/colour"];
    refused(&with("allowances", wrong), &expected);
    let long = json!([{"id": "x".repeat(41), "label": "Fuel", "amount": 1}]);
    refused(&with("allowances", long), &["/allowances/0/id"]);
    let wrong = json!([{"label": "Loan", "amount": 1, "timing": "never"}, {}]);
    let expected = ["/deductions/0/timing", "/deductions/1/label"];
    refused(&with("deductions", wrong), &expected);
    let untimed = json!([{"label": "Loan", "amount": 1}]);
    refused(&with("deductions", untimed), &["/deductions/0/timing"]);
    let line = json!({"id": "fuel", "label": "Fuel", "amount": 1});
    let twice = json!([line, line]);
    refused(&with("allowances", twice), &["/allowances/1/id"]);
    let dollars = with("currency", json!("USD"));
    put(&caller, &ada, "compensation", &dollars).refused(422, "currency_mismatch");
    put(&caller, "emp_0000000000000", "compensation", &pay()).refused(404, "resource_not_found");
}

#[test]
fn an_employee_has_a_hundred_terms_at_most() {
    let caller = Caller::instant();
    let ada = unraised(&caller);
    let day = |place: i64| format!("{:04}-01-01", 2027 + place);
    for place in 0..99 {
        set(&caller, &ada, 1_000 + place, Some(&day(place))).expect(200);
    }
    let refused = set(&caller, &ada, 1, Some(&day(99))).refused(422, "validation_failed");
    assert_eq!(refused["errors"][0]["code"], "too_many");
    set(&caller, &ada, 1, Some(&day(98))).expect(200);
}
