//! Pay schedules: pay periods other than months, their taxes, and the runs that the clock drafts.

use sandbox::model::payroll::{PayInput, PayPeriod, YearToDate, library};
use serde_json::{Value, json};

use super::{calculated, draft, items, paid};
use crate::harness::Caller;
use crate::harness::http::pointers;
use crate::harness::world::{id, number};

const SCHEDULES: &str = "/api/business/pay-schedules";

/// A company of this country with an employee who earns `amount` a month, in a manual world of 1 January 2026.
fn payable_in(country: &str, amount: i64) -> (Caller, String, String) {
    let caller = Caller::manual();
    let companies = caller.all("/api/business/companies");
    let company = companies.iter().find(|company| company["country"] == country).unwrap();
    let company = id(company).to_owned();
    let person = caller.payable(&company).remove(0);
    set_pay(&caller, &person, amount, "2026-01-01");
    (caller, company, person)
}

fn set_pay(caller: &Caller, person: &str, amount: i64, from: &str) {
    let path = format!("/api/business/employees/{person}");
    let currency = caller.get(&path).data()["compensation"]["currency"].clone();
    let body = json!({
        "amount": amount, "currency": currency, "interval": "month", "effective_from": from,
    });
    caller.send(&caller.request("PUT", &format!("{path}/compensation")).json(&body)).expect(200);
}

fn scheduled(caller: &Caller, company: &str, frequency: &str, more: &Value) -> Value {
    let mut body =
        json!({"company_id": company, "frequency": frequency, "first_day": "2026-01-01"});
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    caller.post(SCHEDULES, &body).made()
}

/// The published call for one employee.
fn run(caller: &Caller, company: &str, person: &str, period: &str) -> Value {
    let body = json!({"company_id": company, "period": period, "employees": [person]});
    caller.post("/v1/payroll/run", &body).made()
}

fn days(run: &Value) -> (&str, &str) {
    let text = |member: &str| run["pay_period"][member].as_str().unwrap();
    (text("start"), text("end"))
}

fn payslips(caller: &Caller, run: &Value) -> Vec<Value> {
    caller.all(&format!("/api/business/payslips?payroll_run_id={}", id(run)))
}

/// IRS Publication 15-T (2026), Worksheet 1A with 26 pay periods a year.
#[test]
fn a_run_pays_the_next_unpaid_pay_period_that_ends_in_its_month() {
    let (caller, company, person) = payable_in("US", 433_333);
    scheduled(&caller, &company, "biweekly", &json!({}));
    let made = ["2026-01", "2026-01"].map(|month| run(&caller, &company, &person, month));
    assert_eq!(days(&made[0]), ("2026-01-01", "2026-01-14"));
    assert_eq!(days(&made[1]), ("2026-01-15", "2026-01-28"));
    // The 19th, five days after the first pay period, is a holiday: Martin Luther King Day.
    assert_eq!(made[0]["pay_date"], "2026-01-16");
    assert_eq!(made[1]["pay_date"], "2026-02-02");
    let body = json!({"company_id": company, "period": "2026-01", "employees": [person]});
    caller.post("/v1/payroll/run", &body).refused(409, "payroll_period_already_run");
    caller.advance(&json!({"by": "40d"}));
    let later = run(&caller, &company, &person, "2026-02");
    assert_eq!(days(&later), ("2026-01-29", "2026-02-11"));
    let payslip = payslips(&caller, &made[0]).remove(0);
    let attributes = payslip["tax_attributes"].as_object().unwrap().iter();
    let attributes = attributes.map(|(name, value)| (name.as_str(), value.as_str().unwrap()));
    let pack = library().pack("US").unwrap();
    let profile = pack.profile(attributes).unwrap();
    let basic = pack.component("basic");
    let pay = pack.evaluate(&PayInput {
        period: PayPeriod::Biweekly,
        number: 2,
        attributes: profile.attributes,
        inputs: &profile.inputs,
        on: None,
        earnings: &[(basic, 200_000)],
        ytd: &YearToDate::start(),
    });
    assert_eq!(payslip["gross"], 200_000, "a month's pay of 4,333.33 is 2,000.00 a fortnight");
    assert_eq!(payslip["pay_period"]["frequency"], "biweekly");
    let tax = number(&payslip["taxes"][0]["amount"]);
    assert_eq!(tax, pay.unwrap().tax);
    let second = payslips(&caller, &made[1]).remove(0);
    assert_eq!(second["ytd"]["gross"], 400_000);
    caller.audit();
}

#[test]
fn the_pay_periods_of_a_schedule_are_listed_with_their_runs() {
    let (caller, company, person) = payable_in("GB", 300_000);
    let more = json!({"first_day": "2026-01-05", "pay_days_after": 3});
    let made = scheduled(&caller, &company, "weekly", &more);
    let path = format!("{SCHEDULES}/{}/periods", id(&made));
    let listed = caller.get(&format!("{path}?limit=2")).data();
    let first = json!({
        "start": "2026-01-05", "end": "2026-01-11", "frequency": "weekly", "period": "2026-01",
        "pay_date": "2026-01-14", "approval_deadline": listed["periods"][0]["approval_deadline"],
        "payroll_run_ids": [],
    });
    assert_eq!(listed["periods"][0], first);
    assert!(first["approval_deadline"].as_str().unwrap().starts_with("2026-01-14T"));
    assert_eq!(listed["periods"][1]["start"], "2026-01-12");
    // The days before the schedule are a pay period of the month.
    let days_before = run(&caller, &company, &person, "2026-01");
    assert_eq!(days(&days_before), ("2026-01-01", "2026-01-04"));
    assert_eq!(days_before["pay_period"]["frequency"], "monthly");
    let first_week = run(&caller, &company, &person, "2026-01");
    let listed = caller.get(&format!("{path}?from=2026-01-05&limit=1")).data();
    assert_eq!(listed["periods"][0]["payroll_run_ids"], json!([first_week["id"]]));
    caller.advance(&json!({"by": "30d"}));
    // Two of the 22 working days of January are before the schedule.
    assert_eq!(payslips(&caller, &days_before)[0]["gross"], 27_273);
    assert_eq!(payslips(&caller, &first_week)[0]["gross"], 69_231);
    caller.audit();
}

#[test]
fn late_raises_and_final_pay_follow_the_pay_periods() {
    let (caller, company, person) = payable_in("GB", 300_000);
    scheduled(&caller, &company, "weekly", &json!({}));
    run(&caller, &company, &person, "2026-01");
    caller.advance(&json!({"by": "20d"}));
    set_pay(&caller, &person, 390_000, "2026-01-01");
    let second = run(&caller, &company, &person, "2026-01");
    let end = json!({"reason": "Resigned", "last_working_day": "2026-01-27", "final_pay": {"mode": "none"}});
    caller.post(&format!("/api/business/employees/{person}/terminate"), &end).expect(200);
    caller.advance(&json!({"by": "1d"}));
    // A week by the new terms, and the difference for the first one.
    assert_eq!(items(&caller, &second)[0]["gross"], 90_000 + 90_000 - 69_231);
    let body = json!({
        "company_id": company, "period": "2026-01", "type": "termination",
        "employee_ids": [person],
    });
    let last = draft(&caller, &body);
    assert_eq!(days(&last), ("2026-01-22", "2026-01-28"));
    let last = calculated(&caller, &last);
    // Four of the five working days of the week.
    assert_eq!(items(&caller, &last)[0]["gross"], 72_000);
    caller.audit();
}

#[test]
fn the_clock_drafts_runs_and_reminds_of_their_approval() {
    let (caller, company, person) = payable_in("US", 500_000);
    let more = json!({"pay_days_after": 1, "draft_days_before": 2});
    let schedule = scheduled(&caller, &company, "semimonthly", &more);
    assert_eq!(schedule["next_draft"]["on"], "2026-01-14");
    assert_eq!(caller.advance(&json!({"to": "2026-01-13T23:59:59Z"})), [""; 0]);
    let drafted = caller.advance(&json!({"by": "1s"}));
    assert_eq!(drafted, ["payroll_run.created", "pay_schedule.updated"]);
    let runs =
        caller.all(&format!("/api/business/payroll-runs?company_id={company}&sort=-created_at"));
    let draft = &runs[0];
    assert_eq!(draft["status"], "draft");
    assert_eq!(draft["pay_date"], "2026-01-16");
    assert_eq!(days(draft), ("2026-01-01", "2026-01-15"));
    assert!(draft["employees"].as_array().unwrap().contains(&json!(person)));
    assert_eq!(
        caller.advance(&json!({"to": "2026-01-17T00:00:00Z"})),
        ["payroll_run.approval_due", "payroll_run.approval_overdue"]
    );
    let path = format!("{SCHEDULES}/{}", id(&schedule));
    assert_eq!(caller.get(&path).data()["next_draft"]["on"], "2026-01-28");
    let calculated = calculated(&caller, draft);
    assert_eq!(paid(&caller, &calculated)["status"], "paid");
    let events = caller.events();
    let overdue = events.iter().filter(|event| event["type"] == "payroll_run.approval_overdue");
    assert!(overdue.count() > 1, "the next drafts were not approved in time");
    caller.audit();
}

#[test]
fn an_ended_schedule_leaves_the_other_days_to_the_month() {
    let (caller, company, person) = payable_in("GB", 300_000);
    let made = scheduled(&caller, &company, "biweekly", &json!({"draft_days_before": 31}));
    let path = format!("{SCHEDULES}/{}", id(&made));
    for _ in 0..2 {
        run(&caller, &company, &person, "2026-01");
    }
    let end = |body: Value| caller.post(&format!("{path}/end"), &body);
    assert_eq!(pointers(&end(json!({})).refused(422, "validation_failed")), ["/last_day"]);
    let ended = end(json!({"last_day": "2026-01-20"})).data();
    assert_eq!((&ended["status"], &ended["last_day"]), (&json!("ended"), &json!("2026-01-28")));
    end(json!({})).refused(409, "invalid_state_transition");
    let rest = run(&caller, &company, &person, "2026-01");
    assert_eq!(days(&rest), ("2026-01-29", "2026-01-31"));
    let month = run(&caller, &company, &person, "2026-02");
    assert!(month["pay_period"].is_null());
    let body = json!({"company_id": company, "frequency": "weekly", "first_day": "2026-02-10"});
    let refused = caller.post(SCHEDULES, &body).refused(422, "validation_failed");
    assert_eq!(pointers(&refused), ["/first_day"]);
    scheduled(&caller, &company, "weekly", &json!({"first_day": "2026-03-01"}));
}

#[test]
fn a_wrong_schedule_is_refused_by_its_member() {
    let (caller, company, _) = payable_in("GB", 300_000);
    let wrong = |more: Value, at: &str| {
        let mut body =
            json!({"company_id": company, "frequency": "weekly", "first_day": "2026-01-01"});
        for (name, value) in more.as_object().unwrap() {
            body[name] = value.clone();
        }
        let refused = caller.post(SCHEDULES, &body).refused(422, "validation_failed");
        assert_eq!(pointers(&refused), [at], "{more}");
    };
    wrong(json!({"frequency": "fortnightly"}), "/frequency");
    wrong(json!({"frequency": "daily"}), "/frequency");
    wrong(json!({"frequency": "monthly", "first_day": "2026-01-02"}), "/first_day");
    wrong(json!({"first_day": "2025-12-31"}), "/first_day");
    wrong(json!({"pay_days_after": 32}), "/pay_days_after");
    wrong(json!({"draft_days_before": 0}), "/draft_days_before");
    let made = scheduled(&caller, &company, "weekly", &json!({}));
    let body = json!({"company_id": company, "frequency": "weekly", "first_day": "2027-01-01"});
    let next = caller.post(SCHEDULES, &body).made();
    let path = |schedule: &Value| format!("{SCHEDULES}/{}", id(schedule));
    let ended = caller.get(&path(&made)).data();
    assert_eq!((&ended["status"], &ended["last_day"]), (&json!("ended"), &json!("2026-12-30")));
    let companies = caller.all("/api/business/companies");
    let nigerian = companies.iter().find(|company| company["country"] == "NG").unwrap();
    let mut body = body;
    body["company_id"] = nigerian["id"].clone();
    let refused = caller.post(SCHEDULES, &body).refused(422, "validation_failed");
    assert_eq!(pointers(&refused), ["/frequency"]);
    let own = caller.all(&format!("{SCHEDULES}?company_id={company}"));
    assert_eq!(own, [ended, next.clone()]);
    let target = format!("/_sandbox/resources/{}/transition", id(&next));
    let moved = caller.post(&target, &json!({"to": "ended"})).expect(200);
    assert_eq!(moved["data"]["status"], "ended");
}

/// 1 February 2026 is a Sunday: a weekly schedule from Monday leaves one day, and it is no working day.
#[test]
fn a_weekend_before_a_schedule_is_no_pay_period() {
    let (caller, company, person) = payable_in("GB", 433_333);
    run(&caller, &company, &person, "2026-01");
    caller.advance(&json!({"to": "2026-02-01T08:00:00Z"}));
    scheduled(&caller, &company, "weekly", &json!({"first_day": "2026-02-02"}));
    let first = run(&caller, &company, &person, "2026-02");
    assert_eq!(days(&first), ("2026-02-02", "2026-02-08"));
    caller.advance(&json!({"by": "20d"}));
    assert_eq!(payslips(&caller, &first)[0]["gross"], 100_000);
    caller.audit();
}

/// The pack of Nigeria has tables for months only, and the American company pays every two weeks.
#[test]
fn a_run_of_everyone_warns_of_employees_whose_pack_has_no_tables_for_its_pay_period() {
    let (caller, company, american) = payable_in("US", 500_000);
    scheduled(&caller, &company, "biweekly", &json!({}));
    let nigerian = hired_in_nigeria(&caller, &company);
    let warned = |body: &Value| {
        let run = calculated(&caller, &draft(&caller, body));
        assert!(!run["employees"].as_array().unwrap().contains(&json!(nigerian)));
        let warnings = run["warnings"].as_array().cloned().unwrap_or_default();
        let found = warnings.into_iter().find(|warning| warning["employee_id"] == *nigerian);
        let path = format!("/api/business/payroll-runs/{}/cancel", id(&run));
        caller.post(&path, &json!({})).expect(200);
        found
    };
    let body = json!({"company_id": company, "period": "2026-01"});
    let found = warned(&body).expect("the run warns of the employee whom it leaves out");
    assert_eq!(found["code"], "no_tables_for_pay_period");
    assert!(found["detail"].as_str().unwrap().ends_with("has no biweekly tables"), "{found}");
    // A caller who selects the employees is not warned of the others.
    let mut chosen = body;
    chosen["employee_ids"] = json!([american]);
    assert_eq!(warned(&chosen), None);
}

/// An employee of the company with a verified account in Nigeria.
fn hired_in_nigeria(caller: &Caller, company: &str) -> String {
    let companies = caller.all("/api/business/companies");
    let nigerian = companies.iter().find(|company| company["country"] == "NG").unwrap();
    let known = caller.payable(id(nigerian)).remove(0);
    let known = caller.get(&format!("/api/business/employees/{known}")).data();
    let account = &known["payment_method"];
    let body = json!({
        "company_id": company, "name": "Ada Obi", "role": "Engineer", "department": "Engineering",
        "country": "NG", "start_date": "2026-01-01", "tax_id": known["tax_id"],
        "compensation": {"amount": 50_000_000, "currency": "NGN", "interval": "month"},
        "payment_method": {
            "type": "bank", "bank_code": account["bank_code"],
            "account_number": account["account_number"],
        },
    });
    let person = id(&caller.post("/api/business/employees", &body).made()).to_owned();
    let path = format!("/api/business/employees/{person}");
    caller.post(&format!("{path}/activate"), &json!({})).expect(200);
    caller.post(&format!("{path}/verify-payroll"), &json!({})).expect(202);
    caller.advance(&json!({"by": "60s"}));
    person
}
