//! Pay for a part of a month, and months that are paid late.

use serde_json::{Value, json};

use super::{calculated, draft, draft_of, items, paid};
use crate::harness::Caller;
use crate::harness::world::{id, number};

fn employee(caller: &Caller, id: &str) -> Value {
    caller.get(&format!("/api/business/employees/{id}")).data()
}

fn set_pay(caller: &Caller, person: &str, amount: i64, from: &str) {
    let currency = employee(caller, person)["compensation"]["currency"].clone();
    let body = json!({"amount": amount, "currency": currency, "interval": "month", "effective_from": from});
    let path = format!("/api/business/employees/{person}/compensation");
    let request = caller.request("PUT", &path).json(&body);
    caller.send(&request).expect(200);
}

fn terminate(caller: &Caller, person: &str, last: &str, mode: &str) -> Value {
    let path = format!("/api/business/employees/{person}/terminate");
    let body =
        json!({"reason": "Resignation", "last_working_day": last, "final_pay": {"mode": mode}});
    caller.post(&path, &body).data()
}

#[test]
fn terms_that_change_within_the_month_count_on_their_own_days() {
    let caller = Caller::manual();
    let person = &caller.payable(&caller.company(0))[..1];
    set_pay(&caller, &person[0], 440_000_000, "2025-12-01");
    set_pay(&caller, &person[0], 660_000_000, "2026-01-15");
    let run = calculated(&caller, &draft_of(&caller, "regular", person));
    let item = items(&caller, &run).remove(0);
    // January 2026 has 22 working days, ten of them before the 15th. The difference for December is also
    // owed.
    let december =
        caller.all(&format!("/api/business/payslips?employee_id={}&period=2025-12", person[0]));
    let lines = december[0]["earnings"].as_array().unwrap().iter();
    let by_terms = lines.filter(|line| line["id"] != "bonus").map(|line| number(&line["amount"]));
    let arrears = 440_000_000 - by_terms.sum::<i64>();
    assert_eq!(number(&item["gross"]), 200_000_000 + 360_000_000 + arrears);
}

/// Employment Rights Act 1996, s. 14(1)(a), lets an employer take back an overpayment from wages. A payslip itemises
/// the deduction (s. 8(2)), so its lines sum to gross pay. The excess over one pay is taken from the next pays.
#[test]
fn an_overpayment_is_taken_back_from_several_pays_if_one_does_not_cover_it() {
    let caller = Caller::manual();
    let company = caller.company(1);
    let person = caller.payable(&company).remove(0);
    let regular = |period: &str| -> i64 {
        let path = format!("/api/business/payslips?employee_id={person}&period={period}");
        let lines = caller.all(&path)[0]["earnings"].clone();
        let lines = lines.as_array().unwrap().iter().filter(|line| line["id"] != "bonus");
        lines.map(|line| number(&line["amount"])).sum()
    };
    let before = regular("2025-11") + regular("2025-12");
    let month = before / 4;
    set_pay(&caller, &person, month, "2025-11-01");
    let mut paid_since = Vec::new();
    for period in ["2026-01", "2026-02", "2026-03", "2026-04"] {
        let body = json!({"company_id": company, "period": period, "employee_ids": [person]});
        let run = paid(&caller, &calculated(&caller, &draft(&caller, &body)));
        let slips = caller.all(&format!("/api/business/payslips?payroll_run_id={}", id(&run)));
        let lines = slips[0]["earnings"].as_array().unwrap().iter();
        let sum: i64 = lines.map(|line| number(&line["amount"])).sum();
        assert_eq!(slips[0]["gross"], sum, "{}", slips[0]);
        paid_since.push(sum);
    }
    assert_eq!(before + paid_since.iter().sum::<i64>(), 6 * month);
    assert_eq!((paid_since[0], paid_since[3]), (0, month), "{paid_since:?}");
    caller.audit();
}

#[test]
fn pay_that_was_raised_for_months_gone_by_is_paid_in_arrears_once() {
    let caller = Caller::manual();
    let person = &caller.payable(&caller.company(0))[..1];
    let monthly = number(&employee(&caller, &person[0])["compensation"]["amount"]);
    set_pay(&caller, &person[0], monthly + 1_000_000, "2025-11-01");
    let run = calculated(&caller, &draft_of(&caller, "regular", person));
    let run = paid(&caller, &run);
    let payslip =
        caller.all(&format!("/api/business/payslips?payroll_run_id={}", id(&run))).remove(0);
    let arrears: Vec<_> = payslip["earnings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|line| line["id"] == "arrears")
        .collect();
    assert_eq!(arrears.len(), 2, "{payslip}");
    assert!(arrears.iter().all(|line| line["amount"] == 1_000_000));
    assert_eq!(arrears[0]["label"], "Arrears of 2025-11");
    assert_eq!(number(&payslip["gross"]), monthly + 3_000_000);
    let next = caller.post(
        "/v1/payroll/run",
        &json!({"company_id": caller.company(0), "period": "2026-02", "employees": person}),
    );
    caller.advance(&json!({"by": "2s"}));
    assert_eq!(number(&items(&caller, &next.made())[0]["gross"]), monthly + 1_000_000);
}

/// January 2026 has 22 working days, five of them from the 26th on. The run of January was calculated before the raise was recorded.
#[test]
fn a_raise_that_begins_in_a_paid_month_is_paid_in_arrears_also_if_it_is_recorded_in_time() {
    for day in ["2026-01-26T09:00:00Z", "2026-01-27T09:00:00Z"] {
        let caller = Caller::manual();
        let company = caller.company(1);
        let person = caller.payable(&company).remove(0);
        set_pay(&caller, &person, 440_000, "2026-01-01");
        let gross = |period: &str| {
            let body = json!({"company_id": company, "period": period, "employees": [person]});
            let run = caller.post("/v1/payroll/run", &body).made();
            caller.advance(&json!({"by": "2s"}));
            number(&items(&caller, &run)[0]["gross"])
        };
        assert_eq!(gross("2026-01"), 440_000);
        caller.advance(&json!({"to": day}));
        set_pay(&caller, &person, 660_000, "2026-01-26");
        assert_eq!(gross("2026-02"), 660_000 + 50_000, "{day}");
        assert_eq!(gross("2026-03"), 660_000, "{day}");
        caller.audit();
    }
}

#[test]
fn unpaid_leave_is_not_paid_and_annual_leave_is() {
    let caller = Caller::manual();
    let people = &caller.payable(&caller.company(0))[..2];
    for (person, kind) in people.iter().zip(["unpaid", "annual"]) {
        let body = json!({"employee_id": person, "type": kind, "start_date": "2026-01-12", "end_date": "2026-01-16"});
        let asked = caller.post("/api/business/leave-requests", &body).made();
        let path = format!("/api/business/leave-requests/{}/decide", id(&asked));
        caller.post(&path, &json!({"decision": "approve"})).expect(200);
    }
    let run = calculated(&caller, &draft_of(&caller, "regular", people));
    let items = items(&caller, &run);
    assert_eq!(items[0]["proration"], json!({"paid_days": 17, "days": 22}));
    assert_eq!(items[1].get("proration"), None);
    let monthly = number(&employee(&caller, &people[0])["compensation"]["amount"]);
    assert!((number(&items[0]["gross"]) - monthly * 17 / 22).abs() <= 3);
}

#[test]
fn an_employee_who_joins_within_the_month_is_paid_from_the_first_day() {
    let caller = Caller::instant();
    let body = json!({
        "company_id": caller.company(0), "name": "Ada Obi", "role": "Clerk", "department": "Finance",
        "start_date": "2026-01-19", "tax_id": "1023456789",
        "compensation": {"amount": 44_000_000, "currency": "NGN", "interval": "month"},
        "payment_method": {"type": "bank", "bank_code": "058", "account_number": "9999999900"},
    });
    let hired = caller.post("/api/business/employees", &body).made();
    let person = [id(&hired).to_owned()];
    caller
        .post(&format!("/api/business/employees/{}/verify-payroll", person[0]), &json!({}))
        .expect(202);
    let early = json!({"company_id": caller.company(0), "period": "2026-01", "employees": person});
    caller.post("/v1/payroll/run", &early).refused(422, "employee_not_payable");
    caller.advance(&json!({"to": "2026-01-19T08:00:00Z"}));
    let december =
        json!({"company_id": caller.company(0), "period": "2025-12", "employees": person});
    caller.post("/v1/payroll/run", &december).refused(422, "employee_not_payable");
    let run = calculated(&caller, &draft_of(&caller, "regular", &person));
    let item = items(&caller, &run).remove(0);
    assert_eq!(item["proration"], json!({"paid_days": 10, "days": 22}));
    assert_eq!(item["gross"], 20_000_000);
}

#[test]
fn final_pay_is_a_run_of_its_own_and_then_payroll_is_closed() {
    let caller = Caller::manual();
    let person = caller.payable(&caller.company(0)).remove(0);
    assert_eq!(terminate(&caller, &person, "2026-01-16", "off_cycle")["status"], "active");
    caller.advance(&json!({"to": "2026-01-17T00:00:02Z"}));
    let gone = employee(&caller, &person);
    assert_eq!(
        (&gone["status"], &gone["payroll_status"]),
        (&json!("terminated"), &json!("verified"))
    );
    caller.advance(&json!({"by": "20d"}));
    let gone = employee(&caller, &person);
    assert_eq!(gone["payroll_status"], "closed");
    assert_eq!(gone.get("final_pay"), None);
    let path =
        format!("/api/business/payroll-runs?company_id={}&type=termination", caller.company(0));
    let run = caller.all(&path).remove(0);
    assert_eq!((&run["status"], &run["period"]), (&json!("paid"), &json!("2026-01")));
    assert_eq!(items(&caller, &run)[0]["proration"], json!({"paid_days": 12, "days": 22}));
    caller.audit();
}

#[test]
fn final_pay_can_wait_for_the_months_next_run() {
    let caller = Caller::instant();
    caller.advance(&json!({"to": "2026-01-19T08:00:00Z"}));
    let person = caller.payable(&caller.company(0)).remove(0);
    let gone = terminate(&caller, &person, "2026-01-16", "next_run");
    assert_eq!(
        (&gone["payroll_status"], &gone["final_pay"]),
        (&json!("verified"), &json!("next_run"))
    );
    let body = |period: &str| json!({"company_id": caller.company(0), "period": period, "employees": [person]});
    caller.post("/v1/payroll/run", &body("2026-02")).refused(422, "employee_not_payable");
    let run = caller.post("/v1/payroll/run", &body("2026-01")).made();
    assert_eq!(items(&caller, &run)[0]["proration"]["paid_days"], 12);
    caller.advance(&json!({"by": "20d"}));
    assert_eq!(employee(&caller, &person)["payroll_status"], "closed");
    caller.audit();
}

#[test]
fn pay_below_the_minimum_wage_is_a_warning_and_no_refusal() {
    let caller = Caller::manual();
    let person = &caller.payable(&caller.company(0))[..1];
    set_pay(&caller, &person[0], 5_000_000, "2026-01-01");
    let run = calculated(&caller, &draft_of(&caller, "regular", person));
    assert_eq!(run["warnings"][0]["code"], "below_minimum_wage", "{run}");
    assert_eq!(paid(&caller, &run)["status"], "paid");
}
