//! A move by hand is refused where the operation is refused, and a refusal says what is possible and why.

use serde_json::{Value, json};

use super::hand_moves::by_hand;
use super::people;
use crate::harness::Caller;
use crate::harness::world::{id, number};

fn leave(caller: &Caller, person: &str, kind: &str, days: [&str; 2]) -> String {
    let body =
        json!({"employee_id": person, "type": kind, "start_date": days[0], "end_date": days[1]});
    let asked = caller.post("/api/business/leave-requests", &body).made();
    by_hand(caller, id(&asked), "approved").expect(200);
    id(&asked).to_owned()
}

fn leaves(caller: &Caller, person: &str) -> Vec<Value> {
    caller.all(&format!("/api/business/leave-requests?employee_id={person}"))
}

#[test]
fn leave_that_is_begun_early_by_hand_is_unpaid_from_then_until_work_resumes() {
    let caller = Caller::manual();
    let ada = people(&caller, 1).remove(0);
    leave(&caller, &ada, "unpaid", ["2026-02-02", "2026-02-13"]);
    by_hand(&caller, &ada, "on_leave").expect(200);
    caller.advance(&json!({"to": "2026-01-03T09:00:00Z"}));
    let path = format!("/api/business/employees/{ada}/activate");
    caller.post(&path, &json!({})).expect(200);
    let ended = leaves(&caller, &ada).remove(0);
    assert_eq!(
        (&ended["start_date"], &ended["returned_on"]),
        (&json!("2026-01-01"), &json!("2026-01-03"))
    );
    assert!(ended["ended_at"].is_string());
    let gross = |period: &str| {
        let body =
            json!({"company_id": caller.company(0), "period": period, "employee_ids": [ada]});
        let run = caller.post("/api/business/payroll-runs", &body).made();
        let path = format!("/api/business/payroll-runs/{}/calculate", id(&run));
        caller.post(&path, &json!({})).expect(202);
        caller.advance(&json!({"by": "1h"}));
        number(&caller.run(id(&run))["totals"]["gross"])
    };
    let [january, february] = ["2026-01", "2026-02"].map(gross);
    assert!(january < february, "two days of January are unpaid: {january}, {february}");
    assert_eq!(caller.advance(&json!({"by": "60d"})), [""; 0]);
    caller.audit();
}

/// A pending request can have days before the planned ones of the leave that begins.
#[test]
fn a_request_for_days_of_leave_that_was_begun_early_can_only_be_declined() {
    let caller = Caller::manual();
    let ada = people(&caller, 1).remove(0);
    let body = json!({"employee_id": ada, "type": "unpaid", "start_date": "2026-01-12", "end_date": "2026-01-13"});
    let asked = caller.post("/api/business/leave-requests", &body).made();
    leave(&caller, &ada, "unpaid", ["2026-02-02", "2026-02-13"]);
    by_hand(&caller, &ada, "on_leave").expect(200);
    let path = format!("/api/business/leave-requests/{}/decide", id(&asked));
    let refused = caller.post(&path, &json!({"decision": "approve"}));
    let refused = refused.refused(409, "invalid_state_transition");
    let detail = refused["detail"].as_str().unwrap();
    assert!(
        detail.ends_with("is leave from 2026-01-01 to 2026-02-13: decline the request"),
        "{detail}"
    );
    by_hand(&caller, id(&asked), "approved").refused(409, "invalid_state_transition");
    by_hand(&caller, id(&asked), "declined").expect(200);
}

#[test]
fn the_next_leave_begins_by_hand_whichever_was_requested_first() {
    let caller = Caller::manual();
    let ada = people(&caller, 1).remove(0);
    let later = leave(&caller, &ada, "annual", ["2026-03-02", "2026-03-06"]);
    let next = leave(&caller, &ada, "annual", ["2026-02-02", "2026-02-06"]);
    by_hand(&caller, &ada, "on_leave").expect(200);
    let running = |of: &str| {
        let leaves = leaves(&caller, &ada);
        leaves.iter().any(|leave| id(leave) == of && leave["started_at"].is_string())
    };
    assert!(running(&next) && !running(&later));
    caller.advance(&json!({"to": "2026-03-10T00:00:00Z"}));
    let ended = leaves(&caller, &ada).iter().all(|leave| leave["ended_at"].is_string());
    assert!(ended, "both were taken");
}

#[test]
fn a_company_that_becomes_active_by_hand_has_no_open_requirement() {
    let caller = Caller::manual();
    let body = json!({"legal_name": "Zed Ltd", "country": "NG", "currency": "NGN"});
    let company = caller.post("/api/business/companies", &body).made();
    by_hand(&caller, id(&company), "active").expect(200);
    let now = caller.get(&format!("/api/business/companies/{}", id(&company))).data();
    assert_eq!((&now["status"], &now["blockers"]), (&json!("active"), &json!([])));
    let came = caller.advance(&json!({"by": "40d"}));
    assert!(!came.contains(&"compliance_requirement.overdue".to_owned()), "{came:?}");
}
