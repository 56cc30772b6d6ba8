//! Leave by the clock: it begins on its first day and ends after its last day.

use serde_json::json;

use super::{act, approved, ask, at_work, decide, employee, history, request};
use crate::harness::Caller;
use crate::harness::world::id;

fn status(caller: &Caller, person: &str) -> String {
    employee(caller, person)["status"].as_str().unwrap().to_owned()
}

#[test]
fn an_employee_is_away_from_the_first_day_to_the_last() {
    for caller in [Caller::instant(), Caller::manual()] {
        let ada = at_work(&caller, 0).remove(0);
        let leave = approved(&caller, &ada, ["2026-02-09", "2026-02-13"], "annual");
        assert!(leave["started_at"].is_null());
        caller.advance(&json!({"to": "2026-02-08T23:59:58Z"}));
        assert_eq!(status(&caller, &ada), "active");
        assert_eq!(caller.advance(&json!({"by": "2s"})), ["employee.leave_started"]);
        assert_eq!(status(&caller, &ada), "on_leave");
        assert!(request(&caller, &leave)["started_at"].is_string());
        assert_eq!(caller.advance(&json!({"to": "2026-02-13T23:59:58Z"})), [""; 0]);
        assert_eq!(caller.advance(&json!({"by": "2s"})), ["employee.leave_ended"]);
        assert_eq!(status(&caller, &ada), "active");
        let over = request(&caller, &leave);
        assert!(over["ended_at"].is_string() && over["returned_on"].is_null());
        assert_eq!(over["status"], "approved");
        let expected = [("on_leave", "annual leave"), ("active", "annual leave has ended")]
            .map(|(status, why)| (status.to_owned(), why.to_owned()));
        assert_eq!(history(&caller, &ada), expected);
        caller.audit();
    }
}

#[test]
fn leave_that_has_begun_begins_when_it_is_approved() {
    let caller = Caller::manual();
    let ada = at_work(&caller, 0).remove(0);
    let leave = approved(&caller, &ada, ["2025-12-29", "2026-01-02"], "sick");
    assert!(leave["started_at"].is_string(), "{leave}");
    assert_eq!(status(&caller, &ada), "on_leave");
    let came = caller.advance(&json!({"to": "2026-01-03T00:00:00Z"}));
    assert_eq!(came, ["employee.leave_ended"]);
}

#[test]
fn leave_that_is_over_changes_no_status() {
    let caller = Caller::manual();
    let ada = at_work(&caller, 0).remove(0);
    let leave = approved(&caller, &ada, ["2025-12-22", "2025-12-31"], "unpaid");
    assert_eq!(leave["status"], "approved");
    assert!(leave["started_at"].is_null());
    assert_eq!(status(&caller, &ada), "active");
    assert_eq!(caller.advance(&json!({"by": "10d"})), [""; 0]);
}

#[test]
fn leave_after_leave_is_two_leaves() {
    let caller = Caller::manual();
    let ada = at_work(&caller, 0).remove(0);
    // Approved in the other order: the second leave begins before the timer of the first would end it.
    let second = ask(&caller, &ada, ["2026-02-06", "2026-02-06"], &json!({}));
    let second = second.expect(201)["data"].take();
    decide(&caller, &second, "approve").expect(200);
    approved(&caller, &ada, ["2026-02-02", "2026-02-05"], "parental");
    let came = caller.advance(&json!({"to": "2026-02-28T00:00:00Z"}));
    let expected = [
        "employee.leave_started",
        "employee.leave_ended",
        "employee.leave_started",
        "employee.leave_ended",
    ];
    assert_eq!(came, expected);
    let said: Vec<String> = history(&caller, &ada).into_iter().map(|it| it.1).collect();
    let expected =
        ["parental leave", "parental leave has ended", "annual leave", "annual leave has ended"];
    assert_eq!(said, expected);
    assert_eq!(status(&caller, &ada), "active");
}

#[test]
fn the_clock_does_not_restart_leave_after_an_early_return() {
    let caller = Caller::manual();
    let ada = at_work(&caller, 0).remove(0);
    let leave = approved(&caller, &ada, ["2026-02-02", "2026-02-27"], "unpaid");
    caller.advance(&json!({"to": "2026-02-10T09:00:00Z"}));
    assert_eq!(status(&caller, &ada), "on_leave");
    let back = json!({"effective_on": "2026-02-09"});
    assert_eq!(act(&caller, &ada, "activate", &back).data()["status"], "active");
    let ended = request(&caller, &leave);
    assert_eq!(ended["returned_on"], "2026-02-09");
    assert!(ended["ended_at"].is_string());
    // The remaining days can be requested again, and the end of the first leave has no effect any more.
    approved(&caller, &ada, ["2026-02-25", "2026-03-06"], "annual");
    let came = caller.advance(&json!({"to": "2026-03-06T00:00:00Z"}));
    assert_eq!(came, ["employee.leave_started"]);
    assert_eq!(status(&caller, &ada), "on_leave");
    caller.advance(&json!({"by": "1d"}));
    assert_eq!(status(&caller, &ada), "active");
    caller.audit();
}

#[test]
fn a_manual_transition_to_active_ends_the_leave() {
    let caller = Caller::manual();
    let ada = at_work(&caller, 0).remove(0);
    let leave = approved(&caller, &ada, ["2026-01-01", "2026-02-27"], "annual");
    let path = format!("/_sandbox/resources/{ada}/transition");
    caller.post(&path, &json!({"to": "active"})).expect(200);
    assert_eq!(request(&caller, &leave)["returned_on"], "2026-01-01");
    assert_eq!(caller.advance(&json!({"by": "90d"})), [""; 0]);
}

#[test]
fn a_suspended_employee_does_not_go_on_leave_and_is_active_after_return() {
    let caller = Caller::manual();
    let ada = at_work(&caller, 0).remove(0);
    let leave = approved(&caller, &ada, ["2026-01-05", "2026-01-30"], "annual");
    act(&caller, &ada, "suspend", &json!({"reason": "Enquiry"})).expect(200);
    assert_eq!(caller.advance(&json!({"to": "2026-01-12T09:00:00Z"})), [""; 0]);
    assert_eq!(status(&caller, &ada), "suspended");
    act(&caller, &ada, "activate", &json!({})).expect(200);
    assert_eq!(request(&caller, &leave)["returned_on"], "2026-01-12");
    assert_eq!(caller.advance(&json!({"by": "30d"})), [""; 0]);
    assert_eq!(status(&caller, &ada), "active");
}

#[test]
fn the_end_of_an_employment_is_the_end_of_its_leave() {
    let caller = Caller::manual();
    let people = at_work(&caller, 0);
    let away = approved(&caller, &people[0], ["2026-01-01", "2026-01-30"], "annual");
    let ahead = approved(&caller, &people[1], ["2026-01-05", "2026-01-30"], "annual");
    let end = json!({"reason": "Resignation", "last_working_day": "2026-01-01"});
    for person in &people[..2] {
        let gone = act(&caller, person, "terminate", &end).data();
        assert_eq!(gone["status"], "terminated");
    }
    assert!(request(&caller, &away)["ended_at"].is_string());
    assert!(request(&caller, &ahead)["ended_at"].is_null());
    assert_eq!(caller.advance(&json!({"by": "60d"})), [""; 0]);
    caller.audit();
}

#[test]
fn leave_of_a_newcomer_begins_with_the_work() {
    let caller = Caller::manual();
    let body = json!({
        "company_id": caller.company(0), "name": "Ada Obi", "role": "Baker", "department": "Kitchen",
        "start_date": "2026-02-02",
    });
    let ada = caller.post("/api/business/employees", &body).expect(201)["data"].take();
    let leave = approved(&caller, id(&ada), ["2026-02-02", "2026-02-03"], "parental");
    let came = caller.advance(&json!({"to": "2026-02-28T00:00:00Z"}));
    let expected = ["employee.activated", "employee.leave_started", "employee.leave_ended"];
    assert_eq!(came, expected);
    assert!(request(&caller, &leave)["ended_at"].is_string());
}

#[test]
fn a_manual_transition_decides_leave() {
    let caller = Caller::manual();
    let people = at_work(&caller, 0);
    let days = ["2026-01-01", "2026-01-02"];
    let asked: Vec<_> = people[..2]
        .iter()
        .map(|person| ask(&caller, person, days, &json!({})).expect(201)["data"].take())
        .collect();
    let path = |of: usize| format!("/_sandbox/resources/{}/transition", id(&asked[of]));
    let body = json!({"to": "approved", "reason": "by hand"});
    let moved = caller.post(&path(0), &body).expect(200);
    assert_eq!(request(&caller, &asked[0])["note"], "by hand", "{moved}");
    assert_eq!(status(&caller, &people[0]), "on_leave");
    let refused = caller.post(&path(1), &json!({"to": "pending"})).expect(409);
    assert_eq!(refused["allowed"], json!(["approved", "declined"]));
    caller.post(&path(1), &json!({"to": "declined"})).expect(200);
    assert_eq!(status(&caller, &people[1]), "active");
}

#[test]
fn every_event_of_leave_can_be_triggered_again_and_again() {
    let caller = Caller::instant();
    for _ in 0..2 {
        for name in [
            "leave_request.created",
            "leave_request.decided",
            "employee.leave_started",
            "employee.leave_ended",
        ] {
            let done = caller.post("/_sandbox/trigger", &json!({"type": name})).data();
            assert_eq!(done["event"]["type"], name);
        }
    }
    caller.audit();
}
