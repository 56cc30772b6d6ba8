//! Worlds are independent: a long call of one key delays no other key.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::{Caller, Server};

/// A company whose payroll takes a second or more, even in a release build. The pauses of a busy machine are short
/// compared with that.
const LARGE: [&str; 4] = ["--companies", "1", "--employees-per-company", "20000"];

/// The longest time that a read of this world takes until `ended` is set, and the number of reads.
fn slowest_read(caller: &Caller, ended: &AtomicBool) -> (Duration, u32) {
    let (mut slowest, mut reads) = (Duration::ZERO, 0);
    while !ended.load(Ordering::Relaxed) {
        let start = Instant::now();
        caller.get("/api/business/employees?per_page=1").expect(200);
        slowest = slowest.max(start.elapsed());
        reads += 1;
    }
    (slowest, reads)
}

#[test]
fn a_long_payroll_delays_no_other_key() {
    let server = Arc::new(Server::start(&LARGE));
    let busy = Caller::of(&server);
    let company = busy.company(0);
    let others: Vec<Caller> = (0..4).map(|_| Caller::of(&server)).collect();
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let readers: Vec<_> =
            others.iter().map(|other| scope.spawn(|| slowest_read(other, &ended))).collect();
        // Reads of the busy world wait for its step, each on a thread that serves no other connection.
        let waiting = scope.spawn(|| slowest_read(&busy, &ended));
        let start = Instant::now();
        busy.run_payroll(&company, "2026-01");
        busy.get("/_sandbox/fingerprint").expect(200);
        let took = start.elapsed();
        ended.store(true, Ordering::Relaxed);
        for reader in readers {
            let (slowest, reads) = reader.join().unwrap();
            assert!(reads > 20, "{reads} reads in {took:?}");
            assert!(slowest < took / 4, "a read took {slowest:?} of {took:?}");
        }
        waiting.join().unwrap();
    });
}

#[test]
fn an_advance_returns_counts_and_the_first_events_and_lists_the_others() {
    let caller = Caller::manual();
    caller.run_payroll(&caller.company(0), "2026-01");
    let before = caller.events().len();
    let advanced =
        caller.post("/_sandbox/clock/advance", &json!({"by": "10d", "events_limit": 3})).data();
    let shown = advanced["events"].as_array().unwrap();
    assert_eq!(shown.len(), 3);
    let after = advanced["events_after"].as_u64().unwrap();
    assert_eq!(after, before as u64 + 3);
    let others = caller.all(&format!("/_sandbox/events?after={after}"));
    let all: Vec<&Value> = shown.iter().chain(&others).collect();
    assert_eq!(caller.events()[before..].iter().collect::<Vec<_>>(), all);
    let counts = advanced["event_counts"].as_object().unwrap();
    assert_eq!(counts.values().map(|count| count.as_u64().unwrap()).sum::<u64>(), all.len() as u64);
    for (name, count) in counts {
        let same = all.iter().filter(|event| event["type"] == **name).count();
        assert_eq!(*count, same, "{name}");
    }
    let rest = caller.post("/_sandbox/clock/advance", &json!({"by": "1d"})).data();
    assert_eq!(rest["events_after"], Value::Null);
    let refused = caller.post("/_sandbox/clock/advance", &json!({"by": "1d", "events_limit": -1}));
    refused.refused(422, "validation_failed");
}

#[test]
fn a_server_without_room_for_another_world_says_when_to_retry() {
    let server = Arc::new(Server::start(&["--max-worlds", "1"]));
    let (first, second) = (Caller::of(&server), Caller::of(&server));
    first.run_payroll(&first.company(0), "2026-01");
    second.get("/api/business/employees").expect(200); // a read of an untouched world needs no room
    let refused = second.post("/_sandbox/clock/advance", &json!({"by": "1s"}));
    refused.refused(503, "overloaded");
    assert_eq!(refused.header("retry-after"), Some("1"));
}

#[test]
fn a_full_server_opens_a_world_as_soon_as_one_is_reset() {
    let server = Arc::new(Server::start(&["--max-worlds", "1000"]));
    let change = |key: &str| {
        Caller::with_key(&server, key).post("/_sandbox/clock/advance", &json!({"by": "1d"}))
    };
    for number in 0..1000 {
        change(&format!("test_{number}")).expect(200);
    }
    for number in 0..5 {
        change(&format!("test_new_{number}")).refused(503, "overloaded");
    }
    Caller::with_key(&server, "test_7").post("/_sandbox/reset", &json!({})).expect(200);
    change("test_new_1").expect(200);
}

#[test]
fn a_full_server_answers_while_a_world_with_a_snapshot_is_forked() {
    let server = Arc::new(Server::start(&["--max-worlds", "1"]));
    let key = |name: &str| Caller::with_key(&server, name);
    let snapshot = key("test_a").post("/_sandbox/snapshots", &json!({})).made();
    let fork = format!("/_sandbox/snapshots/{}/fork", snapshot["id"].as_str().unwrap());
    key("test_a").post(&fork, &json!({"key": "test_b"})).refused(503, "overloaded");
    key("test_c").get("/api/business/employees?per_page=1").expect(200);
}
