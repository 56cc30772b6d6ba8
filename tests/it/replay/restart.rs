//! State other than worlds after `kill -9` and a restart: used-up faults, endpoints, scenarios and pending
//! deliveries; and state that is lost.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use crate::harness::receiver::{Delivered, Reaction, Receiver};
use crate::harness::{Caller, Server};

use super::{hire, path, run, serve};

const KEY: &str = "test_restart";

fn start(folder: &Path) -> (Arc<Server>, Caller) {
    serve(&["--journal", path(folder)], KEY)
}

fn endpoint(caller: &Caller, receiver: &Receiver) -> Value {
    let body = json!({"url": receiver.url(), "events": ["employee.*"], "description": "kept"});
    caller.post("/_sandbox/webhook-endpoints", &body).made()["endpoint"].clone()
}

fn ids(seen: &[Delivered]) -> BTreeSet<String> {
    seen.iter().map(|delivery| delivery.header("webhook-id").to_owned()).collect()
}

#[test]
fn a_used_up_fault_stays_used_up() {
    let folder = tempfile::tempdir().unwrap();
    let (server, caller) = start(folder.path());
    let company = caller.company(0);
    let fault = json!({"on": "createEmployee", "times": 1, "status": 503});
    caller.post("/_sandbox/faults", &fault).expect(201);
    let later = json!({"on": "listEmployees", "nth": 3, "status": 502});
    caller.post("/_sandbox/faults", &later).expect(201);
    hire(&caller, &company, "Ada Obi").refused(503, "maintenance");
    caller.get("/api/business/employees").expect(200);
    drop((server, caller));

    // It is used up although nothing was written after it, and reads count as well.
    let (server, caller) = start(folder.path());
    hire(&caller, &company, "Ada Obi").expect(201);
    let faults = caller.get("/_sandbox/faults").expect(200);
    assert_eq!(faults["data"][0]["hits"], 1, "{faults}");
    caller.get("/api/business/employees").expect(200);
    drop((server, caller));
    let (_server, caller) = start(folder.path());
    caller.get("/api/business/employees").refused(502, "upstream_rail_error");
    caller.get("/api/business/employees").expect(200);
    hire(&caller, &company, "Ben Obi").expect(201);
}

#[test]
fn a_verification_after_a_restart_is_unknown_if_requests_are_missing() {
    let folder = tempfile::tempdir().unwrap();
    let (server, caller) = start(folder.path());
    let verify = |caller: &Caller, operation: &str, times: &Value| {
        let body = json!({"operation": operation, "times": times});
        let verified = caller.post("/_sandbox/requests/verify", &body).data();
        verified["verdict"].as_str().unwrap().to_owned()
    };
    for _ in 0..2 {
        caller.get("/api/business/employees").expect(200);
    }
    assert_eq!(verify(&caller, "listEmployees", &json!(2)), "pass");
    let writer = Caller::with_key(&server, "test_writer");
    hire(&writer, &writer.company(0), "Ada Obi").expect(201);
    drop((server, caller, writer));

    let (server, caller) = start(folder.path());
    let writer = Caller::with_key(&server, "test_writer");
    for caller in [&caller, &writer] {
        assert_eq!(verify(caller, "listEmployees", &json!(2)), "unknown");
        assert_eq!(verify(caller, "createEmployee", &json!(1)), "unknown");
        assert_eq!(verify(caller, "runPayroll", &json!(0)), "unknown");
    }
    hire(&writer, &writer.company(0), "Ben Obi").expect(201);
    assert_eq!(verify(&writer, "createEmployee", &json!({"at_least": 1})), "pass");
    assert_eq!(verify(&writer, "createEmployee", &json!({"at_most": 1})), "unknown");
    // From a cleared log on, it is certain again.
    writer.send(&writer.request("DELETE", "/_sandbox/requests")).expect(200);
    assert_eq!(verify(&writer, "createEmployee", &json!(0)), "pass");
    // Nothing is unknown about a key that was not used before.
    let fresh = Caller::with_key(&server, "test_fresh");
    assert_eq!(verify(&fresh, "listEmployees", &json!(0)), "pass");
    assert_eq!(verify(&fresh, "listEmployees", &json!(1)), "fail");
}

#[test]
fn endpoints_scenarios_and_pending_deliveries_survive() {
    let folder = tempfile::tempdir().unwrap();
    let works = Arc::new(AtomicBool::new(false));
    let reacts = Arc::clone(&works);
    let receiver = Receiver::start(move |delivery, _| {
        let first = delivery.event()["data"]["object"]["name"] == "Ada Obi";
        let works = reacts.load(Ordering::SeqCst);
        Reaction::status(if works || first { 200 } else { 500 })
    });
    let (server, caller) = start(folder.path());
    let company = caller.company(0);
    let made = endpoint(&caller, &receiver);
    caller
        .post("/_sandbox/scenarios/partial-failure/load", &json!({"keep_world": true}))
        .expect(200);
    let body = |name: &str| hire(&caller, &company, name).expect(201);
    body("Ada Obi");
    receiver.wait_for(1);
    let delivered = format!("/_sandbox/webhook-endpoints/{}", made["id"].as_str().unwrap());
    while caller.get(&delivered).data()["deliveries"]["delivered"] != 1 {
        std::thread::yield_now();
    }
    body("Ben Obi");
    body("Cem Obi");
    receiver.wait_for(2);
    let events = caller.events();
    let scenarios = caller.get("/_sandbox/scenarios").expect(200);
    // The progress of the first delivery is on disk once a later input is.
    drop((server, caller));
    let before = receiver.seen().len();
    works.store(true, Ordering::SeqCst);

    // The deliveries are made without a call.
    let (_server, caller) = start(folder.path());
    let hired = |event: &Value| event["type"] == "employee.created";
    let all: BTreeSet<String> = events
        .iter()
        .filter(|event| hired(event))
        .map(|event| event["id"].as_str().unwrap().to_owned())
        .collect();
    let seen = receiver.wait_until(|seen| ids(seen) == all);
    let again: Vec<_> = seen[before..].iter().map(Delivered::name).collect();
    assert_eq!(again.len(), 2, "what had ended is not sent again: {again:?}");
    let kept = caller.get(&delivered).data();
    for member in ["id", "url", "events", "description", "created_at", "ordered"] {
        assert_eq!(kept[member], made[member], "{member}");
    }
    assert_eq!(caller.get("/_sandbox/scenarios").expect(200), scenarios);
    // Its secret still signs, and the numbers of its deliveries continue.
    let secret = made_secret(&caller, made["id"].as_str().unwrap());
    hire(&caller, &company, "Dan Obi").expect(201);
    let last = receiver.wait_until(|seen| ids(seen).len() == 4).pop().unwrap();
    assert!(last.good_signatures(&secret) >= 1, "it is signed with the new secret");
}

#[test]
fn endpoints_of_the_command_line_get_what_is_pending_and_nothing_from_before() {
    let folder = tempfile::tempdir().unwrap();
    let (server, caller) = start(folder.path());
    let company = caller.company(0);
    hire(&caller, &company, "Ada Obi").expect(201);
    drop((server, caller));
    let works = Arc::new(AtomicBool::new(false));
    let reacts = Arc::clone(&works);
    let receiver = Receiver::start(move |_, _| {
        Reaction::status(if reacts.load(Ordering::SeqCst) { 200 } else { 500 })
    });
    let (url, journal) = (receiver.url(), path(folder.path()));
    let flags = ["--journal", journal, "--webhook", &url];
    let (server, caller) = serve(&flags, KEY);
    hire(&caller, &company, "Ben Obi").expect(201);
    receiver.wait_for(1);
    drop((server, caller));
    let before = receiver.seen().len();
    works.store(true, Ordering::SeqCst);
    let (_server, caller) = serve(&flags, KEY);
    let ben = caller.events().pop().unwrap();
    receiver.wait_for(before + 1);
    hire(&caller, &company, "Cem Obi").expect(201);
    let seen = receiver.wait_until(|seen| ids(seen).len() == 2);
    assert!(ids(&seen).contains(ben["id"].as_str().unwrap()));
}

fn made_secret(caller: &Caller, id: &str) -> String {
    let path = format!("/_sandbox/webhook-endpoints/{id}/rotate-secret");
    caller.post(&path, &json!({})).data()["secret"].as_str().unwrap().to_owned()
}

#[test]
fn secrets_are_in_no_recording_and_no_bundle() {
    let folder = tempfile::tempdir().unwrap();
    let (server, caller) = start(folder.path());
    let url = json!({"url": Receiver::taking().url()});
    let made = caller.post("/_sandbox/webhook-endpoints", &url).made();
    hire(&caller, &caller.company(0), "Ada Obi").expect(201);
    drop((server, caller));
    let secret = made["secret"].as_str().unwrap();
    let journal = folder.path().join("journal.sandbox");
    let bundle = folder.path().join("out.bundle");
    let (code, _, err) = run(&["bundle", "--recording", path(&journal), "--out", path(&bundle)]);
    assert_eq!(code, 0, "{err}");
    assert!(!std::fs::read_to_string(&bundle).unwrap().contains(secret));
    let (code, _, err) = run(&["replay", path(&bundle)]);
    assert_eq!(code, 0, "{err}");
}

#[test]
fn a_fork_is_replayed_with_the_world_that_it_was_forked_from() {
    let folder = tempfile::tempdir().unwrap();
    let (server, caller) = start(folder.path());
    let company = caller.company(0);
    hire(&caller, &company, "Ada Obi").expect(201);
    let taken = caller.post("/_sandbox/snapshots", &json!({})).made();
    let fork = format!("/_sandbox/snapshots/{}/fork", taken["id"].as_str().unwrap());
    hire(&caller, &company, "Ben Obi").expect(201);
    for key in ["test_fork_1", "test_fork_2"] {
        caller.post(&fork, &json!({"key": key})).expect(201);
    }
    let other = Caller::with_key(&server, "test_fork_1");
    hire(&other, &company, "Cem Obi").expect(201);
    let digests = |server: &Arc<Server>| {
        let digest = |key| Caller::with_key(server, key).digest();
        ["test_fork_2", "test_fork_1", KEY].map(digest)
    };
    let before = digests(&server);
    drop((server, caller, other));
    let (server, caller) = start(folder.path());
    assert_eq!(digests(&server), before);
    caller.post(&fork, &json!({"key": "test_fork_2"})).refused(409, "duplicate_reference");
}

#[test]
fn a_world_is_replayed_when_its_key_arrives() {
    let folder = tempfile::tempdir().unwrap();
    let (server, caller) = start(folder.path());
    let company = caller.company(0);
    let callers = (0..5).map(|number| Caller::with_key(&server, &format!("test_{number}")));
    let digests: Vec<String> = callers
        .map(|caller| {
            hire(&caller, &company, "Ada Obi").expect(201);
            caller.digest()
        })
        .collect();
    drop((server, caller));
    let (server, caller) = start(folder.path());
    let health = caller.get("/_sandbox/health").data();
    assert_eq!(health["journal"]["worlds"], 5, "{health}");
    assert_eq!(health["journal"]["inputs"], 5, "{health}");
    assert_eq!(caller.get("/_sandbox/worlds").expect(200)["data"].as_array().unwrap().len(), 1);
    // Requests that arrive together wait for one replay.
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| assert_eq!(Caller::with_key(&server, "test_3").digest(), digests[3]));
        }
    });
    assert_eq!(caller.get("/_sandbox/worlds").expect(200)["data"].as_array().unwrap().len(), 2);
}

/// The ids and URLs of the endpoints.
fn endpoints(caller: &Caller) -> Vec<(Value, Value)> {
    let list = caller.get("/_sandbox/webhook-endpoints").expect(200);
    let rows = list["data"].as_array().unwrap().iter();
    rows.map(|row| (row["id"].clone(), row["url"].clone())).collect()
}

#[test]
fn endpoints_of_calls_and_of_the_command_line_have_different_ids() {
    let folder = tempfile::tempdir().unwrap();
    let given = |number: u8| format!("http://127.0.0.1:9/{number}");
    let (one, two) = (given(1), given(2));
    let flags = ["--journal", path(folder.path()), "--webhook", &one, "--webhook", &two];
    let (server, caller) = serve(&flags[..4], KEY);
    caller.post("/_sandbox/webhook-endpoints", &json!({"url": given(3)})).expect(201);
    hire(&caller, &caller.company(0), "Ada Obi").expect(201);
    let before = endpoints(&caller);
    drop((server, caller));
    let (_server, caller) = serve(&flags, KEY);
    let mut after = endpoints(&caller);
    let urls: BTreeSet<_> = after.iter().map(|(_, url)| url.to_string()).collect();
    let ids: BTreeSet<_> = after.iter().map(|(id, _)| id.to_string()).collect();
    assert_eq!((urls.len(), ids.len()), (3, 3), "{after:?}");
    after.retain(|known| before.contains(known));
    assert_eq!(after.len(), 2, "the former ones keep their ids");
}

#[test]
fn the_webhooks_of_more_worlds_than_fit_are_all_made_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let works = Arc::new(AtomicBool::new(false));
    let reacts = Arc::clone(&works);
    let receiver = Receiver::start(move |_, _| {
        Reaction::status(if reacts.load(Ordering::SeqCst) { 200 } else { 500 })
    });
    let (server, caller) = start(folder.path());
    let company = caller.company(0);
    let keys = ["test_1", "test_2", "test_3"];
    let mut owed = BTreeSet::new();
    for key in keys {
        let caller = Caller::with_key(&server, key);
        endpoint(&caller, &receiver);
        hire(&caller, &company, key).expect(201);
        owed.insert(key.to_owned());
    }
    receiver.wait_for(3);
    drop((server, caller));
    let before = receiver.seen().len();
    works.store(true, Ordering::SeqCst);
    let (_server, _) = serve(&["--journal", path(folder.path()), "--max-worlds", "1"], KEY);
    let name = |one: &Delivered| one.event()["data"]["object"]["name"].as_str().unwrap().to_owned();
    receiver.wait_until(|seen| seen[before..].iter().map(name).collect::<BTreeSet<_>>() == owed);
}

/// A call of the control plane and an endpoint let the wall clock drive a world, but not while it is replayed.
#[test]
fn the_wall_clock_moves_no_world_that_is_being_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let receiver = Receiver::taking();
    let flags = ["--journal", path(folder.path()), "--clock", "real:1000000"];
    let (server, caller) = serve(&flags, KEY);
    caller.post("/_sandbox/webhook-endpoints", &json!({"url": receiver.url()})).expect(201);
    let company = json!({"legal_name": "One Ltd", "country": "GB", "currency": "GBP"});
    caller.post("/api/business/companies", &company).expect(201);
    caller.send(&caller.request("PUT", "/_sandbox/limits").json(&json!({}))).expect(200);
    for _ in 0..1_500 {
        caller.post("/api/business/companies", &company).expect(201);
    }
    std::thread::sleep(std::time::Duration::from_secs(1));
    caller.post("/api/business/companies", &company).expect(201);
    drop((server, caller));
    for _ in 0..3 {
        let (_server, caller) = serve(&flags, KEY);
        caller.get("/api/business/companies").expect(200);
    }
}

#[test]
fn timers_of_the_wall_clock_run_after_a_restart_without_a_call() {
    let folder = tempfile::tempdir().unwrap();
    let receiver = Receiver::taking();
    let flags = ["--journal", path(folder.path()), "--clock", "real:100000"];
    let (server, caller) = serve(&flags, KEY);
    caller.post("/_sandbox/webhook-endpoints", &json!({"url": receiver.url()})).expect(201);
    caller.run_payroll(&caller.company(0), "2026-01");
    receiver.wait_for(1);
    // All deliveries so far have ended, and timers are left.
    let waiting = |caller: &Caller| {
        caller.get("/_sandbox/deliveries?status=pending").expect(200)["meta"]["total"] != 0
    };
    while waiting(&caller) {
        std::thread::yield_now();
    }
    let now = caller.now();
    drop((server, caller));
    let seen = receiver.seen();
    assert!(seen.iter().all(|one| one.name() != "payroll_run.paid"), "at {now}");
    let _server = serve(&flags, KEY);
    receiver.wait_until(|seen| seen.iter().any(|one| one.name() == "payroll_run.paid"));
}
