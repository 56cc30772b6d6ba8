//! Leave requests, decisions and refusals.

use serde_json::{Value, json};

use super::{REQUESTS, act, approved, ask, at_work, decide, request};
use crate::harness::Caller;
use crate::harness::http::pointers;
use crate::harness::world::id;

fn fault(answer: &Value) -> (&str, &str) {
    let error = &answer["errors"][0];
    (error["pointer"].as_str().unwrap(), error["code"].as_str().unwrap())
}

#[test]
fn leave_is_requested_and_decided_once() {
    let caller = Caller::instant();
    let ada = at_work(&caller, 0).remove(0);
    let more = json!({"reason": "Family visit", "metadata": {"form": "7"}});
    let answer = ask(&caller, &ada, ["2026-02-09", "2026-02-13"], &more);
    let location = answer.header("location").unwrap().to_owned();
    let asked = answer.expect(201)["data"].take();
    assert_eq!(asked["status"], "pending");
    assert_eq!(asked["reason"], "Family visit");
    assert_eq!(asked["metadata"]["form"], "7");
    assert_eq!(caller.get(&location).data(), asked);
    let target = format!("{location}/decide");
    let body = json!({"decision": "approve", "note": "Enjoy it"});
    let decided = caller.post(&target, &body).data();
    assert_eq!(decided["status"], "approved");
    assert_eq!(decided["note"], "Enjoy it");
    assert_eq!(decided["status_history"][1]["reason"], "Enjoy it");
    for again in ["approve", "decline"] {
        let refused = decide(&caller, &asked, again).refused(409, "invalid_state_transition");
        assert_eq!(refused["current"], "approved");
        assert_eq!(refused["allowed"], json!([]));
    }
    let names: Vec<Value> = caller.events().iter().map(|event| event["type"].clone()).collect();
    assert_eq!(names, ["leave_request.created", "leave_request.decided"]);
    caller.audit();
}

#[test]
fn declined_leave_leaves_its_days_free() {
    let caller = Caller::instant();
    let ada = at_work(&caller, 0).remove(0);
    let days = ["2026-02-09", "2026-02-13"];
    let asked = ask(&caller, &ada, days, &json!({})).expect(201);
    let declined = decide(&caller, &asked["data"], "decline").data();
    assert_eq!(declined["status"], "declined");
    caller.advance(&json!({"to": "2026-02-10T00:00:00Z"}));
    assert_eq!(super::employee(&caller, &ada)["status"], "active");
    ask(&caller, &ada, days, &json!({})).expect(201);
}

#[test]
fn days_out_of_order_or_out_of_the_employment_are_refused() {
    let caller = Caller::instant();
    let ada = at_work(&caller, 0).remove(0);
    let refused = |days, pointer, code| {
        let answer = ask(&caller, &ada, days, &json!({})).refused(422, "validation_failed");
        assert_eq!(fault(&answer), (pointer, code), "{answer}");
    };
    refused(["2026-02-13", "2026-02-12"], "/end_date", "before_start");
    refused(["1990-01-01", "2026-02-12"], "/start_date", "before_employment");
    refused(["2026-02-13", "2199-12-31"], "/end_date", "range");
    let end = json!({"reason": "Resignation", "last_working_day": "2026-03-31"});
    act(&caller, &ada, "terminate", &end).expect(200);
    refused(["2026-03-30", "2026-04-01"], "/end_date", "after_employment");
    ask(&caller, &ada, ["2026-03-31", "2026-03-31"], &json!({})).expect(201);
    let both = ask(&caller, &ada, ["1990-01-02", "1990-01-01"], &json!({})).expect(422);
    assert_eq!(pointers(&both), ["/end_date", "/start_date"]);
}

#[test]
fn a_day_of_leave_cannot_be_requested_twice() {
    let caller = Caller::instant();
    let people = at_work(&caller, 0);
    let first = ask(&caller, &people[0], ["2026-02-09", "2026-02-13"], &json!({}));
    let first = first.expect(201)["data"].take();
    for days in
        [["2026-02-09", "2026-02-09"], ["2026-02-13", "2026-02-20"], ["2026-02-01", "2026-02-28"]]
    {
        let more = json!({"type": "sick"});
        let answer = ask(&caller, &people[0], days, &more).refused(422, "validation_failed");
        assert_eq!(fault(&answer), ("/start_date", "overlap"));
        let detail = answer["errors"][0]["detail"].as_str().unwrap();
        assert!(detail.contains(id(&first)), "{detail}");
    }
    decide(&caller, &first, "approve").expect(200);
    let answer = ask(&caller, &people[0], ["2026-02-10", "2026-02-10"], &json!({}));
    answer.refused(422, "validation_failed");
    ask(&caller, &people[0], ["2026-02-14", "2026-02-14"], &json!({})).expect(201);
    ask(&caller, &people[1], ["2026-02-10", "2026-02-10"], &json!({})).expect(201);
}

#[test]
fn leave_after_the_end_of_an_employment_is_refused() {
    let caller = Caller::instant();
    let ada = at_work(&caller, 0).remove(0);
    let days = ["2026-02-09", "2026-02-13"];
    let asked = ask(&caller, &ada, days, &json!({})).expect(201)["data"].take();
    let end = json!({"reason": "Resignation", "last_working_day": "2025-12-31"});
    act(&caller, &ada, "terminate", &end).expect(200);
    let refused = ask(&caller, &ada, days, &json!({})).refused(409, "invalid_state_transition");
    assert_eq!(refused["current"], "terminated");
    assert_eq!(refused["resource_id"], *ada);
    let refused = decide(&caller, &asked, "approve").refused(409, "invalid_state_transition");
    assert_eq!(refused["current"], "terminated");
    let declined = decide(&caller, &asked, "decline").data();
    assert_eq!(declined["status"], "declined");
}

#[test]
fn malformed_leave_is_refused_with_every_pointer() {
    let caller = Caller::instant();
    let ada = at_work(&caller, 0).remove(0);
    let refused = caller.post(REQUESTS, &json!({})).expect(422);
    assert_eq!(pointers(&refused), ["/employee_id", "/type", "/start_date", "/end_date"]);
    let body = json!({
        "employee_id": 7, "type": "holiday", "start_date": "2026-02-30", "end_date": 1,
        "reason": "", "metadata": [], "status": "approved",
    });
    let refused = caller.post(REQUESTS, &body).expect(422);
    let expected =
        ["/employee_id", "/end_date", "/metadata", "/reason", "/start_date", "/status", "/type"];
    let mut found = pointers(&refused);
    found.sort_unstable();
    assert_eq!(found, expected);
    let days = ["2026-02-09", "2026-02-13"];
    ask(&caller, "emp_0000000000000", days, &json!({})).refused(404, "resource_not_found");
    let company = caller.company(0);
    ask(&caller, &company, days, &json!({})).refused(404, "resource_not_found");
    let asked = ask(&caller, &ada, days, &json!({})).expect(201)["data"].take();
    let target = format!("{REQUESTS}/{}/decide", id(&asked));
    for body in [
        json!({}),
        json!({"decision": "maybe"}),
        json!({"decision": "approve", "note": "x".repeat(501)}),
        json!({"decision": "approve", "colour": "red"}),
    ] {
        caller.post(&target, &body).refused(422, "validation_failed");
    }
    let unknown = format!("{REQUESTS}/lvr_0000000000000");
    caller.get(&unknown).refused(404, "resource_not_found");
    let body = json!({"decision": "approve"});
    let missing = caller.post(&format!("{unknown}/decide"), &body);
    missing.refused(404, "resource_not_found");
    assert_eq!(request(&caller, &asked)["status"], "pending");
}

#[test]
fn a_decision_on_what_has_changed_meanwhile_is_refused() {
    let caller = Caller::instant();
    let ada = at_work(&caller, 0).remove(0);
    let asked = ask(&caller, &ada, ["2026-02-09", "2026-02-13"], &json!({})).expect(201);
    let target = format!("{REQUESTS}/{}", id(&asked["data"]));
    let read = caller.get(&target);
    let tag = read.header("etag").unwrap();
    let body = json!({"decision": "approve"});
    let decide = |tag: &str| {
        let request = caller.request("POST", &format!("{target}/decide"));
        caller.send(&request.header("If-Match", tag).json(&body))
    };
    decide("\"stale\"").refused(412, "precondition_failed");
    decide(tag).expect(200);
}

#[test]
fn leave_requests_are_listed_by_person_company_kind_and_status() {
    let caller = Caller::instant();
    let (ours, theirs) = (at_work(&caller, 0), at_work(&caller, 1));
    let first = approved(&caller, &ours[0], ["2026-03-02", "2026-03-03"], "unpaid");
    let sick = json!({"type": "sick"});
    let second = ask(&caller, &ours[1], ["2026-02-02", "2026-02-06"], &sick).expect(201);
    let third = ask(&caller, &theirs[0], ["2026-02-03", "2026-02-04"], &json!({})).expect(201);
    let fourth = ask(&caller, &ours[0], ["2026-01-05", "2026-04-01"], &json!({}));
    fourth.refused(422, "validation_failed");
    let all = [id(&first), id(&second["data"]), id(&third["data"])];
    let listed = |query: &str| {
        let rows = caller.all(&format!("{REQUESTS}?{query}"));
        let found: Vec<usize> =
            rows.iter().map(|row| all.iter().position(|one| *one == id(row)).unwrap()).collect();
        found
    };
    assert_eq!(listed(""), [0, 1, 2]);
    assert_eq!(listed(&format!("employee_id={}", ours[0])), [0]);
    assert_eq!(listed(&format!("company_id={}", caller.company(0))), [0, 1]);
    assert_eq!(listed("status=pending"), [1, 2]);
    assert_eq!(listed("type=unpaid"), [0]);
    let none = format!("employee_id={}&status=declined", ours[0]);
    assert_eq!(listed(&none), [0; 0]);
    assert_eq!(listed("sort=start_date"), [1, 2, 0]);
    assert_eq!(listed("sort=-end_date"), [0, 1, 2]);
    assert_eq!(listed("sort=-created_at"), [2, 1, 0]);
    let page = caller.get(&format!("{REQUESTS}?per_page=2&page=2")).expect(200);
    assert_eq!(page["meta"], json!({"total": 3, "page": 2}));
    assert_eq!(id(&page["data"][0]), all[2]);
    let past = caller.get(&format!("{REQUESTS}?page=9")).expect(200);
    assert_eq!(past["data"], json!([]));
    for query in ["status=gone", "colour=red", "page=0", "sort=reason"] {
        let answer = caller.get(&format!("{REQUESTS}?{query}"));
        answer.refused(422, "validation_failed");
    }
}

#[test]
fn a_repeated_request_for_leave_is_one_request() {
    let caller = Caller::instant();
    let ada = at_work(&caller, 0).remove(0);
    let send = |end: &str| {
        let body = json!({
            "employee_id": ada, "type": "annual", "start_date": "2026-02-09", "end_date": end,
        });
        let request = caller.request("POST", REQUESTS);
        caller.send(&request.header("Idempotency-Key", "leave-1").json(&body))
    };
    let first = send("2026-02-13").expect(201);
    assert_eq!(send("2026-02-13").expect(201), first);
    send("2026-02-14").refused(422, "idempotency_key_reused");
    assert_eq!(caller.all(REQUESTS).len(), 1);
}
