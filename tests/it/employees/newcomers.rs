//! New employees: the first day of work, by the clock or by call, and imported pay of the tax year.

use serde_json::{Value, json};

use super::{act, employee, hire, last_verification, path, pay};
use crate::harness::Caller;
use crate::harness::http::pointers;
use crate::harness::world::id;

fn status(caller: &Caller, person: &str) -> Value {
    employee(caller, person)["status"].take()
}

#[test]
fn work_begins_on_the_first_day() {
    for caller in [Caller::instant(), Caller::manual()] {
        let ada = hire(&caller, &caller.company(0), &json!({}));
        assert_eq!(caller.advance(&json!({"to": "2026-02-01T23:59:58Z"})), [""; 0]);
        assert_eq!(status(&caller, &ada), "pending");
        assert_eq!(caller.advance(&json!({"by": "2s"})), ["employee.activated"]);
        let begun = employee(&caller, &ada);
        assert_eq!(begun["status"], "active");
        assert_eq!(begun["start_date"], "2026-02-02");
        caller.audit();
    }
}

#[test]
fn a_first_day_that_is_not_in_the_future_waits_for_a_call() {
    let caller = Caller::manual();
    for day in ["2026-01-01", "2025-12-01"] {
        let ada = hire(&caller, &caller.company(0), &json!({"start_date": day}));
        assert_eq!(caller.advance(&json!({"by": "40d"})), [""; 0]);
        assert_eq!(status(&caller, &ada), "pending");
        act(&caller, &ada, "activate", &json!({})).expect(200);
    }
}

#[test]
fn employees_who_began_or_left_earlier_are_not_activated_again() {
    let caller = Caller::manual();
    let company = caller.company(0);
    let (ada, obi) = (hire(&caller, &company, &json!({})), hire(&caller, &company, &json!({})));
    act(&caller, &ada, "activate", &json!({})).expect(200);
    act(&caller, &ada, "suspend", &json!({"reason": "Enquiry"})).expect(200);
    let end = json!({"reason": "No show", "last_working_day": "2026-01-01"});
    act(&caller, &obi, "terminate", &end).expect(200);
    assert_eq!(caller.advance(&json!({"by": "40d"})), [""; 0]);
    assert_eq!(status(&caller, &ada), "suspended");
    assert_eq!(status(&caller, &obi), "terminated");
}

#[test]
fn a_short_employment_begins_and_ends_by_the_clock() {
    let caller = Caller::manual();
    let ada = hire(&caller, &caller.company(0), &json!({}));
    let end = |day: &str| json!({"reason": "Seasonal work", "last_working_day": day});
    act(&caller, &ada, "terminate", &end("2026-02-10")).expect(200);
    let later = act(&caller, &ada, "terminate", &end("2026-02-20")).data();
    assert_eq!(
        (&later["end_date"], &later["end_reason"]),
        (&json!("2026-02-20"), &json!("Seasonal work"))
    );
    caller.advance(&json!({"to": "2026-02-20T23:00:00Z"}));
    assert_eq!(status(&caller, &ada), "active");
    let came = caller.advance(&json!({"to": "2026-02-21T00:00:00Z"}));
    assert_eq!(came, ["employee.terminated", "employee.payroll_status_changed"]);
    let gone = employee(&caller, &ada);
    let last = gone["status_history"].as_array().unwrap().last().unwrap();
    assert_eq!(last["reason"], "Seasonal work", "the reason given when it was set");
    assert!(gone["end_reason"].is_null());
    assert_eq!(caller.advance(&json!({"by": "40d"})), [""; 0]);
    caller.audit();
}

#[test]
fn only_the_requested_checks_are_made() {
    let caller = Caller::instant();
    let ada = hire(&caller, &caller.company(0), &json!({"tax_id": "1"}));
    let verify = |checks: Value| act(&caller, &ada, "verify-payroll", &json!({"checks": checks}));
    let names = |verification: &Value| {
        let checks = verification["checks"].as_array().unwrap().iter();
        let names: Vec<String> =
            checks.map(|check| check["name"].as_str().unwrap().to_owned()).collect();
        names
    };
    let accepted = verify(json!(["compensation", "tax_id"])).expect(202);
    assert_eq!(names(&accepted["data"]), ["tax_id", "compensation"]);
    assert_eq!(employee(&caller, &ada)["payroll_status"], "failed");
    let finished = last_verification(&caller);
    assert_eq!(finished["checks"][0]["status"], "passed");
    assert_eq!(finished["checks"][1]["code"], "missing");
    verify(json!(["tax_id"])).expect(202);
    assert_eq!(employee(&caller, &ada)["payroll_status"], "verified");
    assert!(caller.all("/_sandbox/decisions").is_empty(), "no bank was asked");
    for wrong in [json!([]), json!(["kyc"]), json!(["tax_id", "tax_id"]), json!("tax_id")] {
        verify(wrong).refused(422, "validation_failed");
    }
}

#[test]
fn pay_from_earlier_in_the_tax_year_is_imported() {
    let caller = Caller::instant();
    let company = caller.company(1); // GB: its tax year begins in April
    let totals = json!({"gross": 2_000_000, "income_tax": 300_000, "net": 1_600_000});
    let ada = hire(
        &caller,
        &company,
        &json!({"start_date": "2026-02-02", "year_to_date": {"totals": totals}}),
    );
    let kept = employee(&caller, &ada)["brought_in"].take();
    let expected = json!({
        "tax_year_start": "2025-04-06", "totals": {"gross": 2_000_000, "income_tax": 300_000},
    });
    assert_eq!(kept, expected);
    let patch = |totals: Value| caller.patch(&path(&ada), &json!({"year_to_date": totals}));
    let changed = patch(json!({"tax_year_start": "2025-04-06", "totals": {"gross": 7}})).data();
    assert_eq!(changed["brought_in"]["totals"], json!({"gross": 7}));
    let wrong = json!({"tax_year_start": "2026-01-01", "totals": {"gros": 7, "pay": 1}});
    let refused = patch(wrong).refused(422, "validation_failed");
    let expected =
        ["/year_to_date/tax_year_start", "/year_to_date/totals/gros", "/year_to_date/totals/pay"];
    assert_eq!(pointers(&refused), expected);
    for wrong in [
        json!({}),
        json!({"totals": {"gross": 1.5}}),
        json!({"totals": {"gross": "7"}}),
        json!({"totals": {"gross": 1_000_000_000_000_001_i64}}),
        json!({"totals": {}, "colour": "red"}),
    ] {
        patch(wrong).refused(422, "validation_failed");
    }
    assert!(patch(json!({"totals": {}})).data()["brought_in"].is_null());
    let created = caller.all("/_sandbox/events?type=employee.updated&sort=sequence");
    assert_eq!(created.len(), 2);
}

#[test]
fn pay_terms_of_a_new_employee_are_checked_like_others() {
    let caller = Caller::instant();
    let hiring = |terms: Value| {
        let body = json!({
            "company_id": caller.company(0), "name": "Ada", "role": "Cook", "department": "Kitchen",
            "start_date": "2026-01-02", "compensation": terms,
        });
        caller.post("/api/business/employees", &body)
    };
    let mut terms = pay();
    let line = json!({"id": "fuel", "label": "Fuel", "amount": 1});
    terms["allowances"] = json!([line, line]);
    let refused = hiring(terms).refused(422, "validation_failed");
    assert_eq!(pointers(&refused), ["/compensation/allowances/1/id"]);
    let mut terms = pay();
    terms["currency"] = json!("USD");
    let refused = hiring(terms).refused(422, "currency_mismatch");
    assert_eq!(pointers(&refused), ["/compensation/currency"]);
    let body = json!({
        "company_id": caller.company(0), "name": "Ada", "role": "Cook", "department": "Kitchen",
        "start_date": "2026-01-02",
        "compensation": {
            "amount": 1, "currency": "NGN", "interval": "month", "allowances": [line, line],
        },
        "payment_method": {"type": "bank", "bank_code": "058", "account_number": "1"},
        "year_to_date": {"totals": {"gros": 1}},
    });
    let refused = caller.post("/api/business/employees", &body);
    let refused = refused.refused(422, "validation_failed");
    let expected = [
        "/compensation/allowances/1/id",
        "/payment_method/account_number",
        "/year_to_date/totals/gros",
    ];
    assert_eq!(pointers(&refused), expected, "every part is named at once");
    let created = hiring(pay()).expect(201)["data"].take();
    assert!(id(&created).starts_with("emp_"));
}
