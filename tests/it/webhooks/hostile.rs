//! Receivers that hang, send slowly, send too much or reset: the server still answers other callers, and
//! waits at most one deadline for such a receiver.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{deliveries, endpoint, run_payroll};
use crate::harness::receiver::{Reaction, Receiver};
use crate::harness::{Caller, Server};

/// Resident kilobytes of a process.
#[cfg(target_os = "linux")]
fn resident_kb(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn receivers_of_every_bad_kind_cost_one_deadline_and_little_memory() {
    let server = Arc::new(Server::start(&["--clock", "manual"]));
    let caller = Caller::with_key(&server, "test_hostile");
    let only = json!({"events": ["payroll_run.created"]});
    let bad = [Reaction::Hang, Reaction::Drip, Reaction::Flood, Reaction::Reset];
    let ids: Vec<String> = bad
        .map(|reaction| {
            let receiver = Receiver::start(move |_, _| reaction.clone());
            endpoint(&caller, &receiver, &only).0
        })
        .into();
    let good = Receiver::taking();
    endpoint(&caller, &good, &json!({}));
    run_payroll(&caller);
    let (waiting, started) = (caller.clone(), Instant::now());
    let advance = std::thread::spawn(move || {
        waiting.post("/_sandbox/clock/advance", &json!({"by": "30d"})).data()
    });
    // Meanwhile the correct receiver gets its deliveries, and callers their answers.
    good.wait_for(1);
    let other = Caller::with_key(&server, "test_other");
    for _ in 0..50 {
        let asked = Instant::now();
        other.get("/api/business/companies").expect(200);
        caller.get("/api/business/companies").expect(200);
        assert!(asked.elapsed() < Duration::from_secs(5));
    }
    let advanced = advance.join().unwrap();
    let took = started.elapsed();
    assert!(took < Duration::from_secs(40), "{took:?}");
    assert_eq!(&advanced["now"].as_str().unwrap()[..10], "2026-01-31");
    let attempt = |id: &String| -> Value { deliveries(&caller, id)[0]["attempts"][0].clone() };
    let [hang, drip, flood, reset] = [0, 1, 2, 3].map(|place| attempt(&ids[place]));
    for slow in [&hang, &drip] {
        let error = slow["error"].as_str().unwrap();
        assert!(error.contains("within 15 s"), "{error}");
        assert!(slow["duration_ms"].as_u64().unwrap() >= 15_000);
    }
    assert_eq!(flood["http_status"], 200, "its status came before its flood");
    assert_eq!(flood["response"].as_str().unwrap().len(), 16 * 1_024);
    assert_eq!(reset["http_status"], Value::Null);
    assert_eq!(good.seen().len(), caller.events().len());
    #[cfg(target_os = "linux")]
    assert!(resident_kb(server.pid()) < 400_000, "{}", resident_kb(server.pid()));
}
