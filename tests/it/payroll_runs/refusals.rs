//! Refusals of drafts, edits and reversals, which change nothing.

use serde_json::{Value, json};

use super::{RUNS, calculated, draft_of, edit, verb};
use crate::harness::Caller;
use crate::harness::http::pointers;
use crate::harness::world::id;

#[test]
fn a_draft_is_held_to_its_schema_and_its_world() {
    let caller = Caller::manual();
    let (company, other) = (caller.company(0), caller.company(1));
    let (ours, theirs) = (caller.payable(&company), caller.payable(&other));
    let good = json!({"company_id": company, "period": "2026-01", "type": "off_cycle", "employee_ids": [ours[0]]});
    let digest = caller.digest();
    let rows: &[(&str, Value, u16, &str)] = &[
        ("company_id", json!(null), 422, "validation_failed"),
        ("company_id", json!("com_0000000000000"), 404, "resource_not_found"),
        ("period", json!("2026-13"), 422, "validation_failed"),
        ("type", json!("weekly"), 422, "validation_failed"),
        ("pay_date", json!("2026-02-30"), 422, "validation_failed"),
        ("pay_date", json!("2025-12-31"), 409, "cutoff_passed"),
        ("pay_date", json!("2026-01-10"), 422, "validation_failed"),
        ("employee_ids", json!([]), 422, "validation_failed"),
        ("employee_ids", json!([ours[0], ours[0]]), 422, "validation_failed"),
        ("employee_ids", json!(["emp_0000000000000"]), 404, "resource_not_found"),
        ("employee_ids", json!([theirs[0]]), 422, "validation_failed"),
        ("type", json!("termination"), 422, "employee_not_payable"),
        ("notes", json!("x".repeat(1001)), 422, "validation_failed"),
        ("unknown", json!(1), 422, "validation_failed"),
    ];
    for (member, value, status, code) in rows {
        let mut body = good.clone();
        body[*member] = value.clone();
        caller.post(RUNS, &body).refused(*status, code);
    }
    for member in ["company_id", "period"] {
        let mut body = good.clone();
        body.as_object_mut().unwrap().remove(member);
        caller.post(RUNS, &body).refused(422, "validation_failed");
    }
    assert_eq!(caller.digest(), digest);
}

#[test]
fn a_month_before_the_books_is_not_run() {
    let caller = Caller::manual();
    let company = caller.company(0);
    let digest = caller.digest();
    for path in ["/v1/payroll/run", RUNS] {
        for month in ["2019-01", "2024-12"] {
            let body = json!({"company_id": company, "period": month});
            let problem = caller.post(path, &body).refused(422, "validation_failed");
            assert_eq!(problem["errors"][0]["pointer"], "/period", "{problem}");
            assert_eq!(
                problem["errors"][0]["detail"], "the books start on 2025-01-01",
                "{problem}"
            );
        }
    }
    assert_eq!(caller.digest(), digest);
}

#[test]
fn an_edit_is_held_to_its_schema_and_to_the_runs_state() {
    let caller = Caller::manual();
    let company = caller.company(0);
    let people = &caller.payable(&company)[..2];
    let run = draft_of(&caller, "off_cycle", &people[..1]);
    let digest = caller.digest();
    let item = |lines: Value| json!({"items": [{"employee_id": people[0], "earnings": lines}]});
    let rows = [
        (item(json!([{"label": "Bonus", "amount": -1}])), "/items/0/earnings/0/amount"),
        (item(json!([{"label": "Bonus"}])), "/items/0/earnings/0/amount"),
        (item(json!([{"label": "", "amount": 1}])), "/items/0/earnings/0/label"),
        (
            item(
                json!([{"id": "a", "label": "A", "amount": 1}, {"id": "a", "label": "B", "amount": 1}]),
            ),
            "/items/0/earnings/1/id",
        ),
        (
            json!({"items": [{"employee_id": people[0]}, {"employee_id": people[0]}]}),
            "/items/1/employee_id",
        ),
        (
            json!({"items": [{"employee_id": people[0], "deductions": [{"label": "A", "amount": 1}]}]}),
            "/items/0/deductions/0/timing",
        ),
        (json!({"status": "paid"}), "/status"),
    ];
    for (body, pointer) in rows {
        let refused = edit(&caller, &run, &body).refused(422, "validation_failed");
        assert_eq!(pointers(&refused), [pointer], "{body}");
    }
    assert_eq!(caller.digest(), digest);
    assert_eq!(edit(&caller, &run, &json!({})).data()["status"], "draft");
    let stale =
        caller.request("PATCH", &format!("{RUNS}/{}", id(&run))).header("If-Match", "\"old\"");
    caller
        .send(&stale.json(&json!({"pay_date": "2026-01-30"})))
        .refused(412, "precondition_failed");
    let run = calculated(&caller, &run);
    verb(&caller, &run, "calculate", &json!({})).refused(409, "invalid_state_transition");
    verb(&caller, &run, "reverse", &json!({"reason": "x"}))
        .refused(409, "invalid_state_transition");
    verb(&caller, &run, "reverse", &json!({})).refused(422, "validation_failed");
    verb(&caller, &run, "approve", &json!({})).expect(200);
    let refused = edit(&caller, &run, &json!({"pay_date": "2026-01-30"}));
    let refused = refused.refused(409, "invalid_state_transition");
    assert_eq!(refused["current"], "approved");
}

#[test]
fn a_draft_without_employees_cannot_be_calculated() {
    let caller = Caller::manual();
    let body = json!({"company_id": caller.company(0), "period": "2026-01", "type": "off_cycle"});
    let run = caller.post(RUNS, &body).made();
    assert_eq!(run["employee_count"], 0);
    verb(&caller, &run, "calculate", &json!({})).refused(409, "invalid_state_transition");
}

#[test]
fn regular_drafts_of_one_person_and_period_exclude_each_other() {
    let caller = Caller::manual();
    let people = &caller.payable(&caller.company(0))[..2];
    let first = draft_of(&caller, "regular", &people[..1]);
    let second = draft_of(&caller, "regular", &people[1..]);
    let refused = edit(&caller, &second, &json!({"employee_ids": people}))
        .refused(409, "payroll_period_already_run");
    assert_eq!(refused["resource_id"], first["id"]);
    assert_eq!(pointers(&refused), ["/employee_ids/0"]);
    edit(&caller, &first, &json!({"employee_ids": [people[0]]})).expect(200);
}

#[test]
fn an_edit_checks_pay_date_and_employees_like_a_new_draft() {
    let caller = Caller::manual();
    let people = &caller.payable(&caller.company(0))[..2];
    let run = draft_of(&caller, "off_cycle", &people[..1]);
    let late = edit(&caller, &run, &json!({"pay_date": "2025-12-31"}));
    late.refused(409, "cutoff_passed");
    let path = format!("/api/business/employees/{}/suspend", people[1]);
    caller.post(&path, &json!({"reason": "Investigation"})).expect(200);
    let bonus = json!({"items": [{"employee_id": people[1], "earnings": [{"label": "Bonus", "amount": 1}]}]});
    let refused = edit(&caller, &run, &bonus).refused(422, "employee_not_payable");
    assert_eq!(pointers(&refused), ["/items/0"]);
}

#[test]
fn a_company_that_may_not_pay_approves_nothing() {
    for (state, code) in [("suspended", "company_suspended"), ("closed", "compliance_blocked")] {
        let caller = Caller::manual();
        let people = &caller.payable(&caller.company(0))[..1];
        let run = calculated(&caller, &draft_of(&caller, "regular", people));
        let path = format!("/_sandbox/resources/{}/transition", caller.company(0));
        caller.post(&path, &json!({"to": state})).expect(200);
        verb(&caller, &run, "approve", &json!({})).refused(403, code);
    }
}
