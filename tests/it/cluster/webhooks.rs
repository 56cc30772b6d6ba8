//! Webhooks of worlds that move between processes: each is sent, under the same id, and only if its input
//! is stored.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;

use crate::harness::Caller;
use crate::harness::receiver::{Reaction, Receiver};

use super::postgres::Database;
use super::{arrived, company, process, process_with, until};

const KEY: &str = "test_webhooks";

/// A receiver that refuses everything until it works.
fn receiver(works: &Arc<AtomicBool>) -> Receiver {
    let works = Arc::clone(works);
    Receiver::start(move |_, _| {
        Reaction::status(if works.load(Ordering::SeqCst) { 200 } else { 500 })
    })
}

#[test]
fn the_webhooks_of_a_killed_process_are_sent_by_another_without_a_call() {
    let Some(database) = Database::new() else { return };
    let works = Arc::new(AtomicBool::new(false));
    let receiver = receiver(&works);
    let (first, _second) = (process(&database), process(&database));
    let caller = Caller::with_key(&first, KEY);
    caller.post("/_sandbox/webhook-endpoints", &json!({"url": receiver.url()})).expect(201);
    for number in 0..3 {
        company(&caller, &format!("Number {number} Ltd")).expect(201);
    }
    let events = caller.events();
    let ids: BTreeSet<&str> = events.iter().map(|event| event["id"].as_str().unwrap()).collect();
    receiver.wait_for(1);
    drop((caller, first)); // a kill
    let before = receiver.seen().len();
    works.store(true, Ordering::SeqCst);
    let seen = receiver.wait_until(|seen| {
        let sent = seen[before..].iter().map(|one| one.header("webhook-id"));
        sent.collect::<BTreeSet<_>>() == ids
    });
    assert!(seen.iter().all(|one| ids.contains(one.header("webhook-id"))), "{ids:?}");
}

#[test]
fn endpoints_come_with_their_world() {
    let Some(database) = Database::new() else { return };
    let receiver = Receiver::taking();
    let (first, second) = (process(&database), process(&database));
    let (here, there) = (Caller::with_key(&first, KEY), Caller::with_key(&second, KEY));
    here.post("/_sandbox/webhook-endpoints", &json!({"url": receiver.url()})).expect(201);
    company(&here, "One Ltd").expect(201);
    let sent = receiver.wait_for(1).len();
    arrived(|| company(&there, "Two Ltd")).expect(201);
    let last = there.events().last().unwrap()["id"].as_str().unwrap().to_owned();
    until("the webhook of the other process arrives", || {
        receiver.seen()[sent..].iter().any(|one| one.header("webhook-id") == last)
    });
    let ids: Vec<String> =
        receiver.seen().iter().map(|one| one.header("webhook-id").to_owned()).collect();
    let once: BTreeSet<&String> = ids.iter().collect();
    assert!(once.len() >= 2, "{ids:?}");
}

#[test]
fn a_trace_comes_with_its_world() {
    const TRACEPARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let Some(database) = Database::new() else { return };
    let receiver = Receiver::taking();
    let flags = ["--clock", "manual"];
    let (first, second) = (process_with(&database, &flags), process_with(&database, &flags));
    let (here, there) = (Caller::with_key(&first, KEY), Caller::with_key(&second, KEY));
    let body = json!({"url": receiver.url(), "events": ["payroll_run.paid"]});
    here.post("/_sandbox/webhook-endpoints", &body).expect(201);
    let run = json!({"company_id": here.company(0), "period": "2026-01"});
    let request = here.request("POST", "/v1/payroll/run").json(&run);
    here.send(&request.header("traceparent", TRACEPARENT)).expect(201);
    arrived(|| there.post("/_sandbox/clock/advance", &json!({"by": "40d"}))).expect(200);
    assert_eq!(receiver.wait_for(1)[0].header("traceparent"), TRACEPARENT);
}
