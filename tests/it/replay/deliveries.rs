//! Deliveries of webhooks after a restart: what had ended is not made again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::json;

use crate::harness::receiver::{Delivered, Reaction, Receiver};

use super::{hire, path, serve};

const KEY: &str = "test_deliveries";
const NAMES: [&str; 5] = ["Ada Obi", "Ben Obi", "Cem Obi", "Dan Obi", "Eve Obi"];

fn hired(delivered: &Delivered) -> String {
    delivered.event()["data"]["object"]["name"].as_str().unwrap().to_owned()
}

/// Restarts a server when at least this number of events were delivered. An endpoint without order never takes that of Ada before the
/// restart. Returns the names that are delivered after it.
fn again(ordered: bool, answers_after: Duration, least: usize) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let is_stopped = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&is_stopped);
    let receiver = Receiver::start(move |delivered, _| {
        std::thread::sleep(answers_after);
        let fails = !ordered && hired(delivered) == NAMES[0] && !stopped.load(Ordering::SeqCst);
        Reaction::status(if fails { 500 } else { 200 })
    });
    let flags = ["--journal", path(folder.path())];
    let (server, caller) = serve(&flags, KEY);
    let company = caller.company(0);
    let body = json!({"url": receiver.url(), "events": ["employee.created"], "ordered": ordered});
    let id = caller.post("/_sandbox/webhook-endpoints", &body).made()["endpoint"]["id"].clone();
    for name in NAMES {
        hire(&caller, &company, name).expect(201);
    }
    let endpoint = format!("/_sandbox/webhook-endpoints/{}", id.as_str().unwrap());
    let delivered =
        || caller.get(&endpoint).data()["deliveries"]["delivered"].as_u64().unwrap_or_default();
    while delivered() < least as u64 {
        std::thread::sleep(Duration::from_millis(20));
    }
    let ended = usize::try_from(delivered()).unwrap();
    drop(caller);
    Arc::into_inner(server).unwrap().stop();
    let before = receiver.seen().len();
    is_stopped.store(true, Ordering::SeqCst);

    let (_server, caller) = serve(&flags, KEY);
    hire(&caller, &company, "Fay Obi").expect(201);
    let seen = receiver.wait_until(|seen| seen[before..].iter().any(|it| hired(it) == "Fay Obi"));
    let seen: Vec<String> = seen[before..].iter().map(hired).collect();
    assert!(seen.len() >= NAMES.len() + 1 - ended, "nothing is lost: {ended} ended, then {seen:?}");
    seen
}

#[test]
fn ended_deliveries_after_a_failing_one_are_not_made_again() {
    let again = again(false, Duration::ZERO, NAMES.len() - 1);
    for name in &NAMES[1..] {
        assert!(!again.contains(&(*name).to_owned()), "{again:?}");
    }
}

#[test]
fn a_slow_receiver_gets_only_the_last_deliveries_again() {
    let again = again(true, Duration::from_millis(600), 3);
    assert!(!again.contains(&NAMES[0].to_owned()), "it ended more than a second before: {again:?}");
}
