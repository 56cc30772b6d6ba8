//! Refusals of malformed input to each employee operation. A refusal changes nothing.

use serde_json::{Value, json};

use super::{act, hire, path};
use crate::harness::Caller;
use crate::harness::http::{Answer, pointers};

fn ask(caller: &Caller, method: &str, target: &str, body: &Value) -> Answer {
    caller.send(&caller.request(method, target).json(body))
}

/// A call, and the members of its body that are pointed at: method, path, body, members.
type Malformed = (&'static str, String, Value, Vec<&'static str>);

fn too_long(most: usize) -> Value {
    json!("x".repeat(most + 1))
}

fn malformed_hires() -> Vec<Malformed> {
    let hiring = "/api/business/employees".to_owned();
    vec![
        (
            "POST",
            hiring.clone(),
            json!({}),
            vec!["/company_id", "/name", "/role", "/department", "/start_date"],
        ),
        (
            "POST",
            hiring,
            json!({
                "company_id": 1, "name": "", "role": too_long(100), "department": "\u{7}",
                "start_date": "02/02/2026", "email": "ada", "employment_type": "intern",
                "compensation": 7, "payment_method": {}, "tax_id": "", "year_to_date": [],
                "metadata": {"k": 1}, "status": "active",
            }),
            vec![
                "/company_id",
                "/name",
                "/role",
                "/department",
                "/start_date",
                "/email",
                "/employment_type",
                "/compensation",
                "/payment_method/type",
                "/payment_method/bank_code",
                "/payment_method/account_number",
                "/tax_id",
                "/year_to_date",
                "/metadata/k",
                "/status",
            ],
        ),
    ]
}

fn malformed_changes(ada: &str) -> Vec<Malformed> {
    let of = |verb: &str| format!("{}/{verb}", path(ada));
    vec![
        (
            "PATCH",
            path(ada),
            json!({"name": too_long(200), "email": 1, "tax_id": too_long(64), "status": "active", "start_date": "2026-01-01"}),
            vec!["/name", "/email", "/tax_id", "/start_date", "/status"],
        ),
        (
            "POST",
            of("activate"),
            json!({"effective_on": "2026-02-30", "reason": "x"}),
            vec!["/effective_on", "/reason"],
        ),
        ("POST", of("suspend"), json!({}), vec!["/reason"]),
        ("POST", of("suspend"), json!({"reason": too_long(500)}), vec!["/reason"]),
        ("POST", of("terminate"), json!({"reason": 1}), vec!["/reason", "/last_working_day"]),
        (
            "POST",
            of("terminate"),
            json!({"reason": "x", "last_working_day": "2200-01-01"}),
            vec!["/last_working_day"],
        ),
        ("PUT", of("payment-method"), json!({}), vec!["/type", "/bank_code", "/account_number"]),
        (
            "PUT",
            of("payment-method"),
            json!({"type": "cash", "bank_code": "", "account_number": too_long(34), "account_name": "", "iban": "x"}),
            vec!["/type", "/bank_code", "/account_number", "/account_name", "/iban"],
        ),
        (
            "POST",
            of("verify-payroll"),
            json!({"checks": ["tax_id", 1], "force": true}),
            vec!["/checks/1", "/force"],
        ),
    ]
}

#[test]
fn every_malformed_member_is_pointed_at() {
    let caller = Caller::instant();
    let ada = hire(&caller, &caller.company(0), &json!({}));
    let before = caller.digest();
    for (method, target, body, expected) in
        malformed_hires().into_iter().chain(malformed_changes(&ada))
    {
        let refused = ask(&caller, method, &target, &body).refused(422, "validation_failed");
        let (mut found, mut expected) = (pointers(&refused), expected);
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected, "{method} {target} {body}");
    }
    assert_eq!(caller.digest(), before);
}

#[test]
fn unknown_employee_ids_are_404() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let end = json!({"reason": "x", "last_working_day": "2026-01-01"});
    for stranger in ["emp_0000000000000", company.as_str(), "nobody"] {
        caller.get(&path(stranger)).refused(404, "resource_not_found");
        for (verb, body) in [
            ("activate", json!({})),
            ("suspend", json!({"reason": "x"})),
            ("terminate", end.clone()),
            ("verify-payroll", json!({})),
        ] {
            act(&caller, stranger, verb, &body).refused(404, "resource_not_found");
        }
        let hire = json!({
            "company_id": stranger, "name": "Ada", "role": "Cook", "department": "Kitchen",
            "start_date": "2026-02-02",
        });
        if stranger != company {
            let answer = caller.post("/api/business/employees", &hire);
            answer.refused(404, "resource_not_found");
        }
    }
}

#[test]
fn days_that_cannot_be_are_refused() {
    let caller = Caller::instant();
    let ada = caller.payable(&caller.company(0)).remove(0);
    let refused = |verb: &str, body: Value, pointer: &str, code: &str| {
        let answer = act(&caller, &ada, verb, &body).refused(422, "validation_failed");
        assert_eq!(pointers(&answer), [pointer]);
        assert_eq!(answer["errors"][0]["code"], code);
    };
    let ahead = json!({"effective_on": "2026-01-02"});
    refused("activate", ahead, "/effective_on", "in_the_future");
    let end = |day: &str| json!({"reason": "x", "last_working_day": day});
    let pointer = "/last_working_day";
    refused("terminate", end("1990-01-01"), pointer, "before_start");
    refused("terminate", end("2199-12-31"), pointer, "range");
}

#[test]
fn every_state_refuses_invalid_transitions_and_names_the_valid_ones() {
    let caller = Caller::manual();
    let company = caller.company(0);
    let end = json!({"reason": "x", "last_working_day": "2026-01-01"});
    let why = json!({"reason": "x"});
    let refused = |person: &str, verb: &str, body: &Value, current: &str, allowed: Value| {
        let answer = act(&caller, person, verb, body).refused(409, "invalid_state_transition");
        assert_eq!(answer["current"], current, "{verb}");
        assert_eq!(answer["allowed"], allowed, "{verb}");
        assert_eq!(answer["resource_id"], person);
    };
    let ada = hire(&caller, &company, &json!({}));
    let next = json!(["active", "terminated"]);
    refused(&ada, "suspend", &why, "pending", next.clone());
    act(&caller, &ada, "activate", &json!({})).expect(200);
    let next_of_active = json!(["on_leave", "suspended", "terminated"]);
    refused(&ada, "activate", &json!({}), "active", next_of_active);
    act(&caller, &ada, "suspend", &why).expect(200);
    refused(&ada, "suspend", &why, "suspended", next);
    act(&caller, &ada, "terminate", &end).expect(200);
    for (verb, body) in [("activate", &json!({})), ("suspend", &why), ("terminate", &end)] {
        refused(&ada, verb, body, "terminated", json!([]));
    }
    refused(&ada, "verify-payroll", &json!({}), "closed", json!([]));
    let away = caller.all(&format!("/api/business/employees?company_id={company}&status=on_leave"));
    let away = crate::harness::world::id(&away[0]);
    let next = json!(["active", "terminated"]);
    refused(away, "suspend", &why, "on_leave", next);
    act(&caller, away, "activate", &json!({})).expect(200);
}

#[test]
fn every_event_of_an_employee_can_be_triggered() {
    for caller in [Caller::instant(), Caller::manual()] {
        for name in [
            "employee.created",
            "employee.updated",
            "employee.activated",
            "employee.payroll_status_changed",
            "employee.suspended",
            "employee.terminated",
            "employee.compensation_changed",
            "employee.payment_method_updated",
            "bank_account_verification.completed",
            "employee.leave_started",
            "employee.leave_ended",
        ] {
            let body = json!({"type": name});
            let done = caller.post("/_sandbox/trigger", &body).data();
            assert_eq!(done["event"]["type"], name);
        }
        caller.audit();
    }
}
