//! Forks and deleted worlds: their state after a restart, and the webhooks that are sent.

use std::io::Write;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::json;

use super::write_ahead_log::{serve_logged, until};
use super::{hire, path, serve};
use crate::harness::http::read_answer;
use crate::harness::receiver::{Reaction, Receiver};
use crate::harness::world::id;
use crate::harness::{Caller, Server};

const ENDPOINTS: &str = "/_sandbox/webhook-endpoints";

/// A receiver that refuses everything until it is repaired.
fn broken() -> (Receiver, Arc<AtomicBool>) {
    let works = Arc::new(AtomicBool::new(false));
    let reacts = Arc::clone(&works);
    let receiver = Receiver::start(move |_, _| {
        Reaction::status(if reacts.load(Ordering::SeqCst) { 200 } else { 500 })
    });
    (receiver, works)
}

#[test]
fn a_read_of_a_forked_event_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (server, caller) = serve_logged(folder.path(), &[]);
    caller.post("/_sandbox/trigger", &json!({"type": "payout.paid"})).expect(200);
    let first = caller.events().remove(0);
    let fork = format!("/_sandbox/events/{}/fork", id(&first));
    caller.post(&fork, &json!({"key": "test_fork"})).expect(201);
    let forked = Caller::with_key(&server, "test_fork");
    let digest = forked.digest();
    let verify = json!({"type": "payout.paid"});
    forked.post("/_sandbox/events/verify", &verify).expect(200);
    for read in ["/_sandbox/clock", "/_sandbox/snapshots"] {
        forked.get(read).expect(200);
    }
    assert_eq!(forked.events().len(), 1);
    assert_eq!(forked.digest(), digest);
    let company = forked.company(0);
    hire(&forked, &company, "Ada Obi").expect(201);
    let digest = forked.digest();
    drop((server, caller, forked));
    let (server, caller) = serve_logged(folder.path(), &[]);
    assert_eq!(Caller::with_key(&server, "test_fork").digest(), digest);
    drop(caller);
}

/// An advance to the next event may end between two timers of one instant, and the deliveries of webhooks divide it into parts.
#[test]
fn an_event_of_an_advance_in_parts_is_forked_also_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let receiver = Receiver::taking();
    let (server, caller) = serve_logged(folder.path(), &[]);
    let company = json!({"legal_name": "One Ltd", "country": "GB", "currency": "GBP"});
    caller.post("/api/business/companies", &company).expect(201);
    caller.post(ENDPOINTS, &json!({"url": receiver.url()})).expect(201);
    caller.post("/_sandbox/clock/advance", &json!({"until": "next_event"})).expect(200);
    caller.post("/api/business/companies", &company).expect(201);
    caller.post("/_sandbox/clock/advance", &json!({"by": "3d"})).expect(200);
    let inputs = caller.get("/_sandbox/inputs").data();
    let events = caller.events();
    let mut forks = Vec::new();
    for (number, event) in events.iter().enumerate() {
        let fork = format!("/_sandbox/events/{}/fork", id(event));
        caller.post(&fork, &json!({"key": format!("test_{number}")})).expect(201);
        let forked = Caller::with_key(&server, &format!("test_{number}"));
        assert!(forked.events().len() > number, "event {number}");
        forks.push((number, forked.digest()));
    }
    let digest = caller.digest();
    drop((server, caller));
    let (server, caller) = serve_logged(folder.path(), &[]);
    assert_eq!(caller.digest(), digest);
    for (number, digest) in forks {
        let forked = Caller::with_key(&server, &format!("test_{number}"));
        assert_eq!(forked.digest(), digest, "fork of event {number}");
    }
    let after = caller.get("/_sandbox/inputs").data();
    let kept = inputs["inputs"].as_array().unwrap();
    assert_eq!(kept[..], after["inputs"].as_array().unwrap()[..kept.len()]);
}

#[test]
fn a_fork_with_endpoints_sends_after_a_restart_without_a_call() {
    let folder = tempfile::tempdir().unwrap();
    let (receiver, works) = broken();
    let (server, caller) = serve_logged(folder.path(), &[]);
    caller.post(ENDPOINTS, &json!({"url": receiver.url()})).expect(201);
    let taken = caller.post("/_sandbox/snapshots", &json!({})).made();
    let fork = format!("/_sandbox/snapshots/{}/fork", id(&taken));
    caller.post(&fork, &json!({"key": "test_fork", "endpoints": true})).expect(201);
    let forked = Caller::with_key(&server, "test_fork");
    let company = forked.company(0);
    hire(&forked, &company, "Ada Obi").expect(201);
    receiver.wait_for(1);
    let event = id(&forked.events()[0]).to_owned();
    drop((server, caller, forked));
    works.store(true, Ordering::SeqCst);
    let before = receiver.seen().len();
    let (server, caller) = serve_logged(folder.path(), &[]);
    until("the webhook of the fork is sent", || {
        let seen = receiver.seen();
        seen[before..].iter().any(|one| one.header("webhook-id") == event)
    });
    drop((server, caller));
}

#[test]
fn a_fork_sends_no_event_of_its_source_again() {
    let receiver = Receiver::taking();
    let url = receiver.url();
    let (server, caller) = serve(&["--webhook", url.as_str()], "test_source");
    let company = caller.company(0);
    for name in ["Ada Obi", "Ben Obi"] {
        hire(&caller, &company, name).expect(201);
    }
    receiver.wait_for(2);
    let taken = caller.post("/_sandbox/snapshots", &json!({})).made();
    let fork = format!("/_sandbox/snapshots/{}/fork", id(&taken));
    for (key, endpoints) in [("test_given", false), ("test_both", true)] {
        let before = receiver.seen().len();
        caller.post(&fork, &json!({"key": key, "endpoints": endpoints})).expect(201);
        let forked = Caller::with_key(&server, key);
        hire(&forked, &company, "Cem Obi").expect(201);
        let events = forked.events();
        let last = id(events.last().unwrap());
        receiver.wait_until(|seen| seen.iter().any(|one| one.header("webhook-id") == last));
        std::thread::sleep(Duration::from_millis(200));
        let seen = receiver.seen();
        let new = &seen[before..];
        assert!(new.iter().all(|one| one.header("webhook-id") == last), "{key}: {}", new.len());
    }
}

#[test]
fn a_deleted_world_sends_nothing_and_takes_no_write() {
    for is_logged in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let log = ["--journal", path(folder.path())];
        let (server, caller) = serve(if is_logged { &log } else { &[] }, "test_gone");
        let (receiver, _) = broken();
        caller.post(ENDPOINTS, &json!({"url": receiver.url()})).expect(201);
        let company = caller.company(0);
        hire(&caller, &company, "Ada Obi").expect(201);
        receiver.wait_for(1);
        // The body comes after the deletion.
        let body = json!({"legal_name": "Late Ltd", "country": "GB", "currency": "GBP"});
        let wire = caller.request("POST", "/api/business/companies").json(&body).wire();
        let (head, rest) = wire.split_at(wire.len() - 5);
        let mut late = TcpStream::connect(("127.0.0.1", Server::port(&server))).unwrap();
        late.write_all(head).unwrap();
        std::thread::sleep(Duration::from_millis(100));
        let deletion = caller.request("DELETE", "/_sandbox/world");
        caller.send(&deletion).expect(200);
        let sent = receiver.seen().len();
        late.write_all(rest).unwrap();
        let answer = read_answer(&mut late, false).unwrap();
        assert_eq!(answer.status, 201, "{}", answer.json());
        let made = answer.json()["data"]["id"].as_str().unwrap().to_owned();
        caller.get(&format!("/api/business/companies/{made}")).expect(200);
        std::thread::sleep(Duration::from_millis(1_500));
        assert!(receiver.seen().len() <= sent + 1, "one attempt may have been under way");
    }
}
