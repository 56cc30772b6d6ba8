//! The clock and webhooks: advancing waits for due deliveries, and a world with a wall clock sends by itself.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde_json::{Value, json};

use super::{deliveries, endpoint, run_payroll};
use crate::harness::receiver::{Reaction, Receiver};
use crate::harness::{Caller, Request, Server};

const ADVANCE: &str = "/_sandbox/clock/advance";

#[test]
fn advancing_returns_every_attempt_on_the_way() {
    let caller = Caller::manual();
    let receiver =
        Receiver::start(|_, number| Reaction::status(if number == 2 { 500 } else { 200 }));
    let (id, _) = endpoint(&caller, &receiver, &json!({"events": ["payroll_run.*"]}));
    run_payroll(&caller);
    receiver.wait_for(1);
    let advanced = caller.post(ADVANCE, &json!({"until": "idle"})).data();
    let rows = advanced["deliveries"].as_array().unwrap();
    let failed = rows.iter().position(|row| row["http_status"] == 500).unwrap();
    assert_eq!(rows[failed]["status"], "failed");
    assert_eq!(rows[failed]["endpoint_id"], id);
    let retried = &rows[failed + 1];
    assert_eq!(retried["id"], rows[failed]["id"]);
    assert_eq!((&retried["attempt"], &retried["status"]), (&json!(2), &json!("delivered")));
    let events = advanced["events"].as_array().unwrap();
    let last = |rows: &[Value], member: &str| rows.last().unwrap()[member].clone();
    assert_eq!(last(rows, "type"), last(events, "type"));
    assert!(deliveries(&caller, &id).iter().all(|row| row["status"] == "delivered"));
}

#[test]
fn an_advance_ends_when_its_world_is_deleted() {
    let caller = Caller::manual();
    let pause = Duration::from_millis(300);
    let receiver = Receiver::start(move |_, _| {
        std::thread::sleep(pause);
        Reaction::status(200)
    });
    endpoint(&caller, &receiver, &json!({}));
    for number in 0..6 {
        let body =
            json!({"legal_name": format!("{number} Ltd"), "country": "GB", "currency": "GBP"});
        caller.post("/api/business/companies", &body).expect(201); // with three events
    }
    std::thread::scope(|scope| {
        let advance = scope.spawn(|| caller.post(ADVANCE, &json!({"by": "1d"})));
        std::thread::sleep(pause);
        caller.send(&caller.request("DELETE", "/_sandbox/world")).expect(200);
        advance.join().unwrap().refused(404, "resource_not_found");
    });
    assert!(receiver.seen().len() < 18, "the advance did not wait for deliveries");
    caller.get("/api/business/companies").expect(200);
}

#[test]
fn the_clock_lists_deliveries_that_are_due() {
    let caller = Caller::manual();
    let receiver = Receiver::start(|_, _| Reaction::status(500));
    endpoint(&caller, &receiver, &json!({"events": ["payroll_run.created"]}));
    run_payroll(&caller);
    caller.advance(&json!({"by": "6s"}));
    let clock = caller.get("/_sandbox/clock").data();
    assert_eq!(clock["pending_deliveries"], 1);
    let next = &clock["next_deliveries"][0];
    assert_eq!((&next["type"], &next["attempt"]), (&json!("payroll_run.created"), &json!(3)));
    assert_eq!(&next["at"].as_str().unwrap()[..19], "2026-01-01T00:05:05");
}

#[test]
fn a_delivery_that_waits_for_another_is_not_due_before_it() {
    let caller = Caller::manual();
    let receiver = Receiver::start(|_, _| Reaction::status(500));
    let (endpoint, _) = endpoint(&caller, &receiver, &json!({}));
    run_payroll(&caller);
    caller.advance(&json!({"by": "1m"}));
    let clock = caller.get("/_sandbox/clock").data();
    let next = clock["next_deliveries"].as_array().unwrap();
    assert!(next.len() > 2, "{clock}");
    assert!(next.iter().all(|next| next["at"] == "2026-01-01T00:05:05.000Z"), "{clock}");
    let waiting = deliveries(&caller, &endpoint);
    assert!(waiting.iter().all(|row| row["next_at"] == "2026-01-01T00:05:05.000Z"), "{waiting:?}");
}

#[test]
fn the_clock_does_not_go_back_and_the_refusal_names_snapshots() {
    let caller = Caller::manual();
    let receiver = Receiver::taking();
    endpoint(&caller, &receiver, &json!({}));
    caller.advance(&json!({"by": "1d"}));
    let problem = caller
        .post(ADVANCE, &json!({"to": "2026-01-01T00:00:00Z"}))
        .refused(422, "validation_failed");
    assert!(problem["detail"].as_str().unwrap().contains("snapshot"), "{problem}");
}

/// The receiver calls the world that is being advanced.
#[test]
fn a_receiver_may_call_back_while_the_clock_is_advanced() {
    static CALLER: OnceLock<Caller> = OnceLock::new();
    let caller = CALLER.get_or_init(Caller::manual);
    let receiver = Receiver::start(|delivered, _| {
        if delivered.name() == "payroll_run.calculated" {
            let caller = CALLER.get().unwrap();
            let id = delivered.event()["data"]["object"]["id"].as_str().unwrap().to_owned();
            assert_eq!(caller.run(&id)["id"], id.as_str());
            caller.run_payroll(&caller.company(1), "2026-01");
        }
        Reaction::status(200)
    });
    endpoint(caller, &receiver, &json!({"events": ["payroll_run.*"]}));
    caller.run_payroll(&caller.company(0), "2026-01");
    caller.post(ADVANCE, &json!({"by": "60d"})).expect(200);
    let created = |name: &String| name == "payroll_run.created";
    assert!(receiver.names().iter().filter(|name| created(name)).count() >= 2);
    caller.audit();
}

#[test]
fn a_year_with_an_unreachable_receiver_passes_quickly() {
    let caller = Caller::manual();
    let made =
        caller.post("/_sandbox/webhook-endpoints", &json!({"url": "http://127.0.0.1:9/"})).made();
    let id = made["endpoint"]["id"].as_str().unwrap();
    run_payroll(&caller);
    let advanced = caller.post(ADVANCE, &json!({"by": "365d"})).data();
    assert_eq!(&advanced["now"].as_str().unwrap()[..10], "2027-01-01");
    let attempts = advanced["deliveries"].as_array().unwrap().len();
    assert!(attempts > 500, "{attempts}");
    let rows = deliveries(&caller, id);
    assert_eq!(rows[0]["status"], "exhausted");
    let error = rows[0]["attempts"][0]["error"].as_str().unwrap();
    assert!(error.contains("cannot connect to 127.0.0.1:9"), "{error}");
}

#[test]
fn a_world_with_a_wall_clock_sends_by_itself() {
    let server = Arc::new(Server::start(&["--clock", "real:1000000"]));
    let (caller, receiver) = (Caller::with_key(&server, "test_real"), Receiver::taking());
    endpoint(&caller, &receiver, &json!({"events": ["payroll_run.*"]}));
    run_payroll(&caller);
    receiver.wait_until(|seen| seen.iter().any(|one| one.name() == "payroll_run.paid"));
}

#[test]
fn a_reset_cancels_the_waiting_deliveries() {
    let caller = Caller::manual();
    let receiver = Receiver::start(|_, _| Reaction::status(500));
    let (id, _) = endpoint(&caller, &receiver, &json!({"events": ["payroll_run.created"]}));
    run_payroll(&caller);
    receiver.wait_for(1);
    caller.post("/_sandbox/reset", &json!({})).expect(200);
    caller.advance(&json!({"by": "30d"}));
    assert_eq!(receiver.seen().len(), 1);
    assert_eq!(deliveries(&caller, &id)[0]["status"], "cancelled");
}

#[test]
fn in_a_tests_own_process_advancing_waits_for_deliveries_too() {
    let sandbox = sandbox::Sandbox::builder().clock(sandbox::ClockMode::Manual).start().unwrap();
    let port: u16 = sandbox.url().rsplit(':').next().unwrap().parse().unwrap();
    let receiver =
        Receiver::start(|_, number| Reaction::status(if number == 1 { 500 } else { 200 }));
    let make = |path: &str, body: &Value| {
        let request = Request::new("POST", path).key("test_key").json(body);
        request.send(port).expect(201)
    };
    let get = |path: &str| Request::new("GET", path).key("test_key").send(port).data();
    make("/_sandbox/webhook-endpoints", &json!({"url": receiver.url()}));
    let company = get("/api/business/companies")[0]["id"].clone();
    make("/v1/payroll/run", &json!({"company_id": company, "period": "2026-01"}));
    sandbox.advance("test_key", "30d").unwrap();
    let events = get("/_sandbox/events?type=payroll_run.paid");
    assert_eq!(events.as_array().unwrap().len(), 1);
    assert_eq!(receiver.names().last(), Some(&"payroll_run.paid".to_owned()));
}
