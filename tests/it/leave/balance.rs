//! Paid leave accrues, is taken, and is paid out when an employment ends.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::harness::Caller;
use crate::harness::http::pointers;
use crate::harness::server::Server;
use crate::harness::world::{id, number};

/// A world with a company in each of three countries: US, GB, NG.
fn world() -> Caller {
    let flags = ["--companies", "3", "--employees-per-company", "10", "--countries", "US,GB,NG"];
    Caller::of(&Arc::new(Server::start(&[&flags[..], &["--clock", "manual"]].concat())))
}

fn balance(caller: &Caller, person: &str, day: &str) -> Value {
    caller.get(&format!("/api/business/employees/{person}/leave-balance?as_of={day}")).data()
}

fn days(balance: &Value) -> [i64; 4] {
    ["opening", "accrued", "taken", "balance"]
        .map(|member| number(&balance[&format!("{member}_hundredths")]))
}

fn set(caller: &Caller, person: &str, leave: &Value) -> Value {
    let path = format!("/api/business/employees/{person}");
    caller.patch(&path, &json!({"paid_leave": leave})).data()
}

fn take(caller: &Caller, person: &str, kind: &str, first: &str, last: &str) {
    let body = json!({
        "employee_id": person, "type": kind, "start_date": first, "end_date": last,
    });
    let request = caller.post("/api/business/leave-requests", &body).made();
    let path = format!("/api/business/leave-requests/{}/decide", id(&request));
    caller.post(&path, &json!({"decision": "approve"})).expect(200);
}

/// Working Time Regulations 1998 (GB) reg. 15A: leave accrues at a twelfth of the year's days in each month. A public holiday is no day of
/// leave that was taken.
#[test]
fn a_twelfth_accrues_each_month_and_leave_that_is_taken_reduces_it() {
    let caller = world();
    let company = caller.company(1);
    let person = caller.payable(&company).remove(0);
    assert_eq!(days(&balance(&caller, &person, "2026-06-30")), [0; 4]);
    let setting = json!({"paid_leave": {"days_per_year": 28, "accrues_from": "2026-01-01"}});
    let path = format!("/api/business/companies/{company}");
    let changed = caller.patch(&path, &json!({"payroll_settings": setting})).data();
    let shown = json!({"days_per_year": 28, "accrues_from": "2026-01-01", "opening_hundredths": 0});
    assert_eq!(changed["payroll_settings"]["paid_leave"], shown);
    assert_eq!(days(&balance(&caller, &person, "2026-01-30")), [0; 4]);
    assert_eq!(days(&balance(&caller, &person, "2026-01-31")), [0, 233, 0, 233]);
    assert_eq!(days(&balance(&caller, &person, "2026-12-31")), [0, 2_800, 0, 2_800]);
    // Thursday 2 to Tuesday 7 April: Good Friday and Easter Monday are holidays.
    take(&caller, &person, "annual", "2026-04-02", "2026-04-07");
    take(&caller, &person, "sick", "2026-05-11", "2026-05-12");
    assert_eq!(balance(&caller, &person, "2026-03-31")["planned_hundredths"], 200);
    assert_eq!(days(&balance(&caller, &person, "2026-04-02")), [0, 700, 100, 600]);
    assert_eq!(days(&balance(&caller, &person, "2026-05-31")), [0, 1_166, 200, 966]);
    let own = json!({"days_per_year": 12, "accrues_from": "2026-05-01", "opening_hundredths": 733});
    assert_eq!(set(&caller, &person, &own)["paid_leave"], own);
    assert_eq!(days(&balance(&caller, &person, "2026-05-31")), [733, 100, 0, 833]);
    caller.audit();
}

/// Working Time Regulations 1998 (GB) reg. 14: leave that was not taken is paid when the employment ends. A day is a year's pay through 260.
#[test]
fn unused_leave_is_paid_once_when_the_employment_ends() {
    for (number_of, currency, kind) in [(0, "USD", "leave_pay_out"), (1, "GBP", "holiday_pay")] {
        let caller = world();
        let company = caller.company(number_of);
        caller.pay_monthly(&company);
        let person = caller.payable(&company).remove(0);
        let path = format!("/api/business/employees/{person}");
        let terms = json!({
            "amount": 260_000, "currency": currency, "interval": "month", "effective_from": "2026-01-01",
        });
        caller
            .send(&caller.request("PUT", &format!("{path}/compensation")).json(&terms))
            .expect(200);
        set(
            &caller,
            &person,
            &json!({"days_per_year": 24, "accrues_from": "2026-01-01", "opening_hundredths": 350}),
        );
        take(&caller, &person, "annual", "2026-01-12", "2026-01-13");
        let end = json!({
            "last_working_day": "2026-01-31", "reason": "New job", "final_pay": {"mode": "next_run"},
        });
        assert!(caller.post(&format!("{path}/terminate"), &end).status < 300);
        let body = json!({
            "company_id": company, "period": "2026-01", "type": "termination", "employee_ids": [person],
        });
        let pay = |caller: &Caller| {
            let run = caller.post("/api/business/payroll-runs", &body).made();
            let path = format!("/api/business/payroll-runs/{}", id(&run));
            caller.post(&format!("{path}/calculate"), &json!({})).expect(202);
            caller.advance(&json!({"by": "2s"}));
            caller.post(&format!("{path}/approve"), &json!({})).expect(200);
            caller.advance(&json!({"by": "40d"}));
            caller.all(&format!("/api/business/payslips?payroll_run_id={}", id(&run)))
        };
        let payslip = pay(&caller).remove(0);
        let earnings = payslip["earnings"].as_array().unwrap();
        let unused = earnings.iter().find(|line| line["id"] == "unused_leave").unwrap();
        assert_eq!(unused["label"], "Unused leave (3.50 days)");
        assert_eq!((&unused["type"], &unused["amount"]), (&json!(kind), &json!(42_000)));
        let gross: i64 = earnings.iter().map(|line| number(&line["amount"])).sum();
        assert_eq!((number(&payslip["gross"]), gross), (302_000, 302_000));
        // A later run may give back tax, and pays no leave again.
        assert!(pay(&caller).iter().all(|payslip| payslip["gross"] == 0));
        caller.audit();
    }
}

#[test]
fn a_wrong_setting_is_refused_and_contractors_have_none() {
    let caller = world();
    let company = caller.company(0);
    let person = caller.payable(&company).remove(0);
    let path = format!("/api/business/employees/{person}");
    let before = caller.digest();
    let rows = [
        (json!({}), "/paid_leave/days_per_year"),
        (json!({"days_per_year": -1}), "/paid_leave/days_per_year"),
        (json!({"days_per_year": 367}), "/paid_leave/days_per_year"),
        (json!({"days_per_year": 1, "accrues_from": "2026-02-30"}), "/paid_leave/accrues_from"),
        (json!({"days_per_year": 1, "opening_hundredths": -1}), "/paid_leave/opening_hundredths"),
    ];
    for (leave, pointer) in rows {
        let refused = caller.patch(&path, &json!({"paid_leave": leave}));
        assert_eq!(pointers(&refused.refused(422, "validation_failed")), [pointer]);
    }
    let contractor = json!({
        "company_id": company, "name": "Ada Obi", "role": "Designer", "department": "Marketing",
        "start_date": "2026-01-01", "employment_type": "contractor", "paid_leave": {"days_per_year": 20},
    });
    let refused = caller.post("/api/business/employees", &contractor);
    assert_eq!(pointers(&refused.refused(422, "validation_failed")), ["/paid_leave"]);
    assert_eq!(caller.digest(), before);
}

/// Working Time Regulations 1998 (GB) reg. 13: leave that an employee has been promised for the first day of work counts from that day.
#[test]
fn opening_leave_days_of_a_later_start_are_kept() {
    let caller = world();
    let company = caller.company(1);
    let leave = json!({"days_per_year": 28, "opening_hundredths": 500});
    let body = json!({
        "company_id": company, "name": "Ada Obi", "role": "Clerk", "department": "Finance",
        "start_date": "2026-02-02", "paid_leave": leave,
        "compensation": {"amount": 260_000, "currency": "GBP", "interval": "month"},
    });
    let person = caller.post("/api/business/employees", &body).made();
    assert_eq!(days(&balance(&caller, id(&person), "2026-02-28")), [500, 0, 0, 500]);
}
