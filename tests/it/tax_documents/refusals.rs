//! A document that does not exist is refused, and the member that is wrong is named.

use super::{DOCUMENTS, of, world};
use crate::harness::Caller;

#[track_caller]
fn refused(caller: &Caller, query: &str, pointer: &str, code: &str) {
    let answer = caller.get(&format!("{DOCUMENTS}/{query}")).refused(422, "validation_failed");
    assert_eq!(answer["errors"][0]["pointer"], pointer, "{query}: {answer}");
    assert_eq!(answer["errors"][0]["code"], code, "{query}: {answer}");
}

#[test]
fn a_document_that_does_not_exist_names_the_wrong_member() {
    let caller = world(&[]);
    let (british, american) = (caller.company(1), caller.company(2));
    let employee = caller.payable(&american).remove(0);
    let stranger = caller.payable(&british).remove(0);
    let us = format!("company_id={american}");
    let rows = [
        (format!("W-9?{us}&period=2025"), "/form", "unknown_form"),
        (format!("w-2?{us}&period=2025"), "/form", "unknown_form"),
        (format!("FPS?{us}&period=2025-12-23"), "/form", "foreign_form"),
        (format!("941?{us}"), "/period", "required"),
        (format!("941?{us}&period=2025"), "/period", "invalid_value"),
        (format!("941?{us}&period=2025-Q5"), "/period", "invalid_value"),
        (format!("941?{us}&period=2019-Q1"), "/period", "no_payslips"),
        (format!("941?{us}&period=2027-Q1"), "/period", "no_payslips"),
        (format!("941?{us}&period=2025-Q1&employee_id={employee}"), "/employee_id", "not_allowed"),
        (format!("W-2?{us}&period=2025"), "/employee_id", "required"),
        (
            format!("W-2?{us}&period=2025&employee_id={stranger}"),
            "/employee_id",
            "foreign_employee",
        ),
        (format!("W-2?{us}&period=2031&employee_id={employee}"), "/period", "no_payslips"),
        (format!("941?{us}&period=2025-Q1-extra"), "/period", "length"),
    ];
    let before = caller.digest();
    for (query, pointer, code) in rows {
        if code == "length" {
            caller.get(&format!("{DOCUMENTS}/{query}")).refused(422, "validation_failed");
            continue;
        }
        refused(&caller, &query, pointer, code);
    }
    assert_eq!(caller.digest(), before);
    let unknown = format!("{DOCUMENTS}/941?company_id=com_0000000000000&period=2025-Q1");
    caller.get(&unknown).refused(404, "resource_not_found");
}

#[test]
fn an_employee_without_pay_in_the_period_has_no_document() {
    let caller = world(&[]);
    let company = caller.company(2);
    let employee = caller.payable(&company).remove(0);
    caller.run_payroll(&company, "2026-01");
    let body = serde_json::json!({
        "company_id": company, "name": "Ada Obi", "role": "Engineer", "department": "Engineering",
        "employment_type": "full_time", "start_date": "2026-01-01", "email": "ada@example.com",
    });
    let hired = caller.post("/api/business/employees", &body).expect(201)["data"].take();
    let hired = hired["id"].as_str().unwrap();
    let answer =
        of(&caller, "W-2", &company, "2026", Some(hired)).refused(422, "validation_failed");
    assert_eq!(answer["errors"][0]["pointer"], "/employee_id");
    assert_eq!(answer["errors"][0]["code"], "no_payslips");
    of(&caller, "W-2", &company, "2026", Some(&employee)).expect(200);
}
