//! All effects of a call carry its `traceparent`, and `GET /_sandbox/trace/{id}` shows the chain.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};

use super::endpoint;
use crate::harness::receiver::{Delivered, Receiver};
use crate::harness::{Answer, Caller, Server};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const TRACEPARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

/// Runs a payroll with these headers.
fn run(caller: &Caller, company: usize, headers: &[(&str, &str)]) -> Answer {
    let body = json!({"company_id": caller.company(company), "period": "2026-01"});
    let request = caller.request("POST", "/v1/payroll/run").json(&body);
    let request =
        headers.iter().fold(request, |request, (name, value)| request.header(name, value));
    let answer = caller.send(&request);
    answer.expect(201);
    answer
}

fn request_id(answer: &Answer) -> String {
    answer.header("request-id").unwrap().to_owned()
}

fn chain(caller: &Caller, id: &str) -> Vec<Value> {
    caller.all(&format!("/_sandbox/trace/{id}"))
}

/// The ids of the events that arrived with a trace.
fn traced(seen: &[Delivered]) -> BTreeSet<&str> {
    let traced = seen.iter().filter(|one| one.header("traceparent") == TRACEPARENT);
    traced.map(|one| one.header("webhook-id")).collect()
}

/// The ids of the events in a chain.
fn events(chain: &[Value]) -> BTreeSet<&str> {
    let events = chain.iter().filter(|step| step["type"] == "event");
    events.map(|event| event["id"].as_str().unwrap()).collect()
}

#[test]
fn all_webhooks_of_a_call_have_its_trace_and_no_others() {
    let (caller, receiver) = (Caller::manual(), Receiver::taking());
    endpoint(&caller, &receiver, &json!({}));
    let request = request_id(&run(&caller, 0, &[("traceparent", TRACEPARENT)]));
    run(&caller, 1, &[]);
    caller.advance(&json!({"by": "40d"}));
    let seen = receiver.seen();
    let chain = chain(&caller, TRACE);
    assert_eq!(traced(&seen), events(&chain));
    let without = seen.iter().filter(|one| one.header("traceparent").is_empty()).count();
    assert_eq!(without + events(&chain).len(), seen.len());
    assert!(without > 10, "the other call has events, too");
    let days: BTreeSet<&str> =
        chain.iter().map(|step| &step["at"].as_str().unwrap()[..10]).collect();
    assert!(days.len() > 1, "events of later days belong to the call: {days:?}");
    assert!(chain.iter().any(|step| step["name"] == "payroll_run.paid" && step["later"] == true));
    assert!(chain.is_sorted_by_key(|step| step["at"].as_str().unwrap().to_owned()));
    assert_eq!((&chain[0]["type"], &chain[0]["id"]), (&json!("request"), &json!(request)));
    assert_eq!((&chain[0]["name"], &chain[0]["http_status"]), (&json!("runPayroll"), &json!(201)));
    let delivered = chain.iter().filter(|step| step["delivery_status"] == "delivered").count();
    assert_eq!(delivered, events(&chain).len());
}

#[test]
fn a_trace_changes_neither_replies_nor_digests() {
    let server = Server::manual();
    let (traced, plain) = (Caller::of(&server), Caller::of(&server));
    let with = run(&traced, 0, &[("traceparent", TRACEPARENT)]);
    let without = run(&plain, 0, &[]);
    assert_eq!(with.body, without.body);
    for caller in [&traced, &plain] {
        caller.advance(&json!({"by": "40d"}));
    }
    assert_eq!(traced.digest(), plain.digest());
    assert_eq!(traced.events(), plain.events());
}

#[test]
fn an_invalid_trace_is_ignored() {
    let zero = "00-00000000000000000000000000000000-00f067aa0ba902b7-01";
    let twice = [("traceparent", TRACEPARENT), ("traceparent", TRACEPARENT)];
    for headers in [&[("traceparent", zero)][..], &[("traceparent", "x")], &twice] {
        let (caller, receiver) = (Caller::manual(), Receiver::taking());
        endpoint(&caller, &receiver, &json!({"events": ["payroll_run.created"]}));
        run(&caller, 0, headers);
        assert_eq!(receiver.wait_for(1)[0].header("traceparent"), "");
        caller.get(&format!("/_sandbox/trace/{TRACE}")).refused(404, "resource_not_found");
        let logged = caller.all("/_sandbox/requests?operation=runPayroll");
        assert!(logged[0].get("traceparent").is_none());
    }
}

#[test]
fn a_later_version_is_sent_as_the_version_that_is_known() {
    let (caller, receiver) = (Caller::manual(), Receiver::taking());
    endpoint(&caller, &receiver, &json!({"events": ["payroll_run.created"]}));
    let later = format!("cc{}-more", &TRACEPARENT[2..]);
    run(&caller, 0, &[("traceparent", &later)]);
    assert_eq!(receiver.wait_for(1)[0].header("traceparent"), TRACEPARENT);
}

#[test]
fn every_id_of_a_chain_leads_to_it() {
    let (caller, receiver) = (Caller::manual(), Receiver::taking());
    endpoint(&caller, &receiver, &json!({"events": ["payroll_run.*"]}));
    let request = request_id(&run(&caller, 0, &[]));
    caller.advance(&json!({"by": "40d"}));
    let whole = chain(&caller, &request);
    let of = |kind: &str| {
        let found = whole.iter().rfind(|step| step["type"] == kind);
        found.unwrap()["id"].as_str().unwrap().to_owned()
    };
    assert_eq!(chain(&caller, &of("event")), whole);
    assert_eq!(chain(&caller, &of("delivery")), whole);
    let run = whole[0]["subject_id"].as_str().unwrap();
    let of_run = chain(&caller, run);
    let names = |chain: &[Value]| -> Vec<String> {
        let events = chain.iter().filter(|step| step["type"] == "event");
        events.map(|event| event["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&of_run).first().map(String::as_str), Some("payroll_run.created"));
    assert!(names(&of_run).len() < names(&whole).len());
    let entry = whole.iter().find_map(|step| step["journal_entry_ids"][0].as_str()).unwrap();
    assert_eq!(events(&chain(&caller, entry)).len(), 1);
    for unknown in ["req_0000000000000", "evt_0000000000000", "com_0000000000000", "x"] {
        caller.get(&format!("/_sandbox/trace/{unknown}")).refused(404, "resource_not_found");
    }
}

#[test]
fn a_triggered_event_has_the_trace_of_its_call() {
    let (caller, receiver) = (Caller::instant(), Receiver::taking());
    endpoint(&caller, &receiver, &json!({"events": ["payroll_run.paid"]}));
    let body = json!({"type": "payroll_run.paid"});
    let request = caller.request("POST", "/_sandbox/trigger").json(&body);
    caller.send(&request.header("traceparent", TRACEPARENT)).expect(200);
    assert_eq!(receiver.wait_for(1)[0].header("traceparent"), TRACEPARENT);
}

#[test]
fn a_trace_survives_a_kill_with_a_write_ahead_log() {
    let folder = tempfile::tempdir().unwrap();
    let flags = ["--clock", "manual", "--journal", folder.path().to_str().unwrap()];
    let start = || {
        let server = Arc::new(Server::start(&flags));
        Caller::with_key(&server, "test_traced")
    };
    let receiver = Receiver::taking();
    let caller = start();
    endpoint(&caller, &receiver, &json!({}));
    run(&caller, 0, &[("traceparent", TRACEPARENT)]);
    let before = chain(&caller, TRACE);
    drop(caller);

    let caller = start();
    assert_eq!(events(&chain(&caller, TRACE)), events(&before));
    caller.advance(&json!({"by": "40d"}));
    let after = chain(&caller, TRACE);
    assert_eq!(after[0]["id"], before[0]["id"], "the request is known by its events");
    assert!(after.len() > before.len());
    assert_eq!(traced(&receiver.seen()), events(&after));
}
