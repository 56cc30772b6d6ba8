//! Pass, fail with the nearest miss, and unknown.

use serde_json::{Value, json};

use super::{EMPLOYEES, REQUESTS, keeping, run};
use crate::harness::Caller;
use crate::harness::http::pointers;

fn verify(caller: &Caller, what: &Value) -> Value {
    caller.post(&format!("{REQUESTS}/verify"), what).data()
}

#[test]
fn a_sent_request_passes_and_a_missing_one_fails_with_the_nearest_miss() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let answer = caller.send(&run(&caller, &company, "k"));
    let passed = verify(
        &caller,
        &json!({
            "operation": "runPayroll",
            "match": {"status": 201, "body": {"period": "2026-01", "company_id": "…"}, "idempotency": "fresh"},
            "times": 1,
        }),
    );
    assert_eq!((&passed["verdict"], &passed["matched"]), (&json!("pass"), &json!(1)));
    assert_eq!(passed["ids"], json!([answer.header("request-id").unwrap()]));
    assert_eq!(passed["nearest"], Value::Null);
    let wanted =
        json!({"operation": "runPayroll", "match": {"status": 201, "body": {"period": "2026-02"}}});
    let failed = verify(&caller, &wanted);
    assert_eq!(failed["verdict"], "fail");
    assert_eq!(
        failed["nearest"],
        json!({
            "id": answer.header("request-id").unwrap(),
            "differences": [{"pointer": "/body/period", "expected": "2026-02", "actual": "2026-01"}],
        })
    );
    for (times, verdict) in [
        (json!(0), "fail"),
        (json!({"at_least": 1}), "pass"),
        (json!({"at_most": 1}), "pass"),
        (json!({"at_least": 2}), "fail"),
    ] {
        let found = verify(&caller, &json!({"operation": "runPayroll", "times": times}));
        assert_eq!(found["verdict"], verdict, "{times}");
    }
}

#[test]
fn dropped_requests_make_a_verdict_unknown() {
    let caller = keeping("2");
    for page in 1..=3 {
        caller.get(&format!("{EMPLOYEES}?page={page}")).expect(200);
    }
    for (what, verdict) in [
        (json!({"operation": "listEmployees"}), "pass"),
        (json!({"operation": "listEmployees", "times": 2}), "unknown"),
        (json!({"operation": "listEmployees", "times": 3}), "unknown"),
        (json!({"operation": "listEmployees", "times": 4}), "fail"),
        (json!({"operation": "listEmployees", "times": 1}), "fail"),
        (json!({"operation": "runPayroll"}), "unknown"),
        (json!({"operation": "runPayroll", "times": 0}), "unknown"),
        (json!({"operation": "runPayroll", "times": 2}), "fail"),
    ] {
        let found = verify(&caller, &what);
        assert_eq!((&found["verdict"], &found["evicted"]), (&json!(verdict), &json!(1)), "{what}");
    }
    caller.send(&caller.request("DELETE", REQUESTS)).expect(200);
    let none = verify(&caller, &json!({"operation": "runPayroll", "times": 0}));
    assert_eq!(none["verdict"], "pass", "a cleared request log is complete again");
}

#[test]
fn without_a_request_log_every_verdict_is_unknown() {
    let caller = keeping("0");
    caller.get(EMPLOYEES).expect(200);
    let found = verify(&caller, &json!({"operation": "listEmployees"}));
    assert_eq!(found["verdict"], "unknown");
    assert_eq!(caller.all(REQUESTS), Vec::<Value>::new());
}

#[test]
fn a_pattern_that_cannot_match_is_refused_with_the_nearest_word() {
    let caller = Caller::instant();
    for (what, pointer, near) in [
        (json!({"operation": "runPayrol"}), "/operation", "runPayroll"),
        (json!({"match": {"statsu": 201}}), "/match/statsu", "status"),
        (json!({"times": {"at_least": 2, "at_most": 1}}), "/times", ""),
    ] {
        let answer = caller.post(&format!("{REQUESTS}/verify"), &what);
        let problem = answer.refused(422, "validation_failed");
        assert_eq!(pointers(&problem), [pointer]);
        assert!(answer.text().contains(near), "{}", answer.text());
    }
}

#[test]
fn events_are_verified_by_content_and_order() {
    let caller = Caller::instant();
    let company = caller.company(0);
    caller.run_payroll(&company, "2026-01");
    let verify = |what: &Value| caller.post("/_sandbox/events/verify", what).data();
    let one = json!({"type": "payroll_run.created", "match": {"company_id": company, "livemode": false}, "times": 1});
    assert_eq!(verify(&one)["verdict"], "pass");
    let other = json!({"type": "payroll_run.created", "match": {"data": {"object": {"period": "2026-02"}}}});
    let failed = verify(&other);
    assert_eq!(failed["verdict"], "fail");
    assert_eq!(failed["nearest"]["differences"][0]["pointer"], "/data/object/period");
    let order =
        json!({"in_order": ["payroll_run.created", "payroll_run.approved", "payroll_run.paid"]});
    assert_eq!(verify(&order)["verdict"], "pass");
    let wrong = verify(&json!({"in_order": ["payroll_run.paid", "payroll_run.created"]}));
    assert_eq!(wrong["verdict"], "fail");
    assert_eq!(wrong["out_of_order"], json!({"index": 1, "expected": "payroll_run.created"}));
    let answer = caller.post("/_sandbox/events/verify", &json!({"type": "payroll_run.payed"}));
    answer.refused(422, "validation_failed");
    assert!(answer.text().contains("payroll_run.paid"), "{}", answer.text());
}
