//! The two published operations, exactly as specified (§2, §4), and the sandbox's assumptions for details
//! that the specification leaves open.

use serde_json::{Value, json};

use crate::harness::Caller;
use crate::harness::http::pointers;
use crate::harness::world::id;

const RUN: &str = "/v1/payroll/run";
const EMPLOYEES: &str = "/api/business/employees";

fn names(object: &Value) -> Vec<&str> {
    object.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn the_employee_list_has_exactly_the_published_members_in_their_order() {
    let caller = Caller::instant();
    let answer = caller.get(EMPLOYEES);
    assert_eq!(answer.header("content-type"), Some("application/json"));
    let body = answer.expect(200);
    assert_eq!(names(&body), ["data", "meta"]);
    assert_eq!(names(&body["meta"]), ["total", "page"]);
    assert_eq!(body["meta"], json!({"total": 75, "page": 1}));
    let rows = body["data"].as_array().unwrap();
    assert_eq!(rows.len(), 25);
    for row in rows {
        assert_eq!(names(row), ["id", "name", "role", "department", "status", "payroll_status"]);
        assert!(row.as_object().unwrap().values().all(Value::is_string), "{row}");
    }
}

#[test]
fn created_and_changed_employees_keep_the_published_members() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let hire = json!({"company_id": company, "name": "Zoë \"Q\" Ünal\\", "role": "Baker", "department": "Kitchen",
        "start_date": "2026-02-02"});
    let created = caller.post(EMPLOYEES, &hire).expect(201);
    let first = caller.get(EMPLOYEES).data()[0]["id"].as_str().unwrap().to_owned();
    caller.patch(&format!("{EMPLOYEES}/{first}"), &json!({"role": "Chair"})).expect(200);
    let rows = caller.all(EMPLOYEES);
    assert_eq!(rows.len(), 76);
    let last = rows.last().unwrap();
    let expected = json!({"id": id(&created["data"]), "name": "Zoë \"Q\" Ünal\\", "role": "Baker",
        "department": "Kitchen", "status": "pending", "payroll_status": "not_enrolled"});
    assert_eq!(*last, expected);
    assert_eq!(names(last), names(&rows[1]));
    assert_eq!((id(&rows[0]), &rows[0]["role"]), (first.as_str(), &json!("Chair")));
}

#[test]
fn a_run_of_named_employees_includes_them_as_they_were_sent() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let mut employees = caller.payable(&company);
    employees.truncate(3);
    employees.reverse();
    let body = json!({"company_id": company, "period": "2026-01", "employees": employees});
    let answer = caller.post(RUN, &body);
    let run = answer.expect(201)["data"].take();
    assert_eq!(run["employees"], json!(employees));
    assert_eq!(run["employee_count"], 3);
    assert_eq!(run["company_id"], json!(company));
    assert_eq!(run["period"], "2026-01");
    assert_eq!(run["type"], "regular");
    assert_eq!(run["status"], "calculating");
    let location = format!("/api/business/payroll-runs/{}", id(&run));
    assert_eq!(answer.header("location"), Some(location.as_str()));
    assert_eq!(caller.run(id(&run))["employees"], json!(employees));
    caller.audit();
}

#[test]
fn a_run_without_employees_includes_everyone_payable() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let payable = caller.payable(&company);
    assert!((10..25).contains(&payable.len()), "some are payable, some are not");
    let run = caller.run_payroll(&company, "2026-01");
    assert_eq!(run["employees"], json!(payable));
    assert_eq!(run["employee_count"], payable.len());
}

#[test]
fn a_run_without_employees_is_refused() {
    refused(
        |company, _| json!({"company_id": company, "period": "2026-01", "employees": []}),
        422,
        "validation_failed",
        &["/employees"],
    );
}

#[test]
fn an_unknown_employee_is_a_404_that_points_at_it() {
    let stranger = "emp_0000000000000";
    let body = |company: &str, people: &[String]| json!({"company_id": company, "period": "2026-01", "employees": [people[0], stranger]});
    refused(body, 404, "resource_not_found", &["/employees/1"]);
}

#[test]
fn a_foreign_employee_is_named_with_the_employer() {
    let caller = Caller::instant();
    let (company, other) = (caller.company(0), caller.company(1));
    let (own, foreign) = (caller.payable(&company).remove(0), caller.payable(&other).remove(0));
    let before = caller.digest();
    let body = json!({"company_id": company, "period": "2026-01", "employees": [own, foreign]});
    let problem = caller.post(RUN, &body).refused(422, "validation_failed");
    assert_eq!(pointers(&problem), ["/employees/1"]);
    assert!(problem["errors"][0]["detail"].as_str().unwrap().contains(&other), "{problem}");
    assert_eq!(caller.digest(), before);
}

#[test]
fn a_duplicate_employee_is_refused() {
    let body = |company: &str, people: &[String]| json!({"company_id": company, "period": "2026-01", "employees": [people[0], people[1], people[0]]});
    refused(body, 422, "validation_failed", &["/employees/2"]);
}

#[test]
fn employees_who_cannot_be_paid_are_all_named_with_the_reason() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let rows = caller.all(&format!("{EMPLOYEES}?company_id={company}"));
    let payable = caller.payable(&company);
    let others: Vec<&Value> =
        rows.iter().filter(|row| !payable.contains(&id(row).to_owned())).collect();
    assert!(others.len() > 2);
    let mut employees = vec![payable[0].as_str()];
    employees.extend(others.iter().map(|row| id(row)));
    let before = caller.digest();
    let body = json!({"company_id": company, "period": "2026-01", "employees": employees});
    let problem = caller.post(RUN, &body).refused(422, "employee_not_payable");
    let expected: Vec<String> =
        (1..employees.len()).map(|place| format!("/employees/{place}")).collect();
    assert_eq!(pointers(&problem), expected);
    for (error, row) in problem["errors"].as_array().unwrap().iter().zip(&others) {
        let detail = error["detail"].as_str().unwrap();
        assert!(detail.starts_with(&format!("{}: ", id(row))), "{detail}");
        let reason = match row["status"].as_str().unwrap() {
            "terminated" => "ended",
            "pending" => "not started",
            "suspended" => "suspended",
            _ => row["payroll_status"].as_str().unwrap(),
        };
        assert!(detail.contains(reason), "{row}: {detail}");
    }
    assert_eq!(caller.digest(), before);
}

#[test]
fn an_employee_is_in_at_most_one_regular_run_a_period() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let people = caller.payable(&company);
    let first = json!({"company_id": company, "period": "2026-01", "employees": people[..2]});
    let run = caller.post(RUN, &first).expect(201)["data"].take();
    let before = caller.digest();
    let second =
        json!({"company_id": company, "period": "2026-01", "employees": [people[2], people[1]]});
    let problem = caller.post(RUN, &second).refused(409, "payroll_period_already_run");
    assert_eq!(pointers(&problem), ["/employees/1"]);
    let detail = problem["errors"][0]["detail"].as_str().unwrap();
    assert!(detail.contains(people[1].as_str()) && detail.contains(id(&run)), "{detail}");
    assert_eq!(problem["resource_id"], run["id"]);
    let everyone = json!({"company_id": company, "period": "2026-01"});
    let problem = caller.post(RUN, &everyone).refused(409, "payroll_period_already_run");
    assert_eq!(problem["errors"].as_array().unwrap().len(), 2);
    assert_eq!(caller.digest(), before);
    let rest = json!({"company_id": company, "period": "2026-01", "employees": people[2..]});
    caller.post(RUN, &rest).expect(201);
    let next = json!({"company_id": company, "period": "2026-02", "employees": people[..2]});
    caller.post(RUN, &next).expect(201);
    caller.audit();
}

#[test]
fn a_month_of_the_grown_history_has_been_run_already() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let runs =
        caller.all(&format!("/api/business/payroll-runs?company_id={company}&period=2025-12"));
    let [run] = runs.as_slice() else { panic!("{runs:?}") };
    let problem = caller.post(RUN, &json!({"company_id": company, "period": "2025-12"}));
    let problem = problem.refused(409, "payroll_period_already_run");
    assert_eq!(problem["resource_id"], run["id"]);
}

#[test]
fn a_pending_company_cannot_pay() {
    let caller = Caller::instant();
    let body = json!({"legal_name": "Lagos Bakery Ltd", "country": "NG", "currency": "NGN"});
    let company = caller.post("/api/business/companies", &body).expect(201)["data"].take();
    assert_eq!(company["status"], "pending");
    let before = caller.digest();
    let body = json!({"company_id": id(&company), "period": "2026-01"});
    let problem = caller.post(RUN, &body).refused(403, "compliance_blocked");
    assert_eq!(problem["resource_id"], company["id"]);
    assert_eq!(caller.digest(), before);
}

#[test]
fn an_unknown_company_is_a_404() {
    let body =
        |_: &str, _: &[String]| json!({"company_id": "com_0000000000000", "period": "2026-01"});
    refused(body, 404, "resource_not_found", &["/company_id"]);
}

#[test]
fn a_period_is_a_year_and_a_month() {
    for period in [
        "2026-13",
        "2026-00",
        "2026-1",
        "202601",
        "2026-01-01",
        "26-01",
        "",
        " 2026-01",
        "2026-01\n",
        "２０２６-01",
    ] {
        let body = |company: &str, _: &[String]| json!({"company_id": company, "period": period});
        refused(body, 422, "validation_failed", &["/period"]);
    }
}

#[test]
fn both_missing_members_are_named_at_once() {
    refused(|_, _| json!({}), 422, "validation_failed", &["/company_id", "/period"]);
}

/// The body is refused with this code, and the world does not change.
#[track_caller]
fn refused(body: impl Fn(&str, &[String]) -> Value, status: u16, code: &str, at: &[&str]) {
    let caller = Caller::instant();
    let company = caller.company(0);
    let people = caller.payable(&company);
    let before = caller.digest();
    let body = body(&company, &people);
    let problem = caller.post(RUN, &body).refused(status, code);
    assert_eq!(pointers(&problem), at, "{body}: {problem}");
    assert_eq!(caller.digest(), before);
}
