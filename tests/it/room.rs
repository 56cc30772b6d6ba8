//! Worlds in memory: the limits, the calls that free a place, and the reload of a world from the write-ahead log.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::{Answer, Caller, Server, command, finish};

fn company(caller: &Caller, name: &str) -> Answer {
    let body = json!({"legal_name": name, "country": "GB", "currency": "GBP"});
    caller.post("/api/business/companies", &body)
}

fn delete(caller: &Caller, path: &str) -> Value {
    caller.send(&caller.request("DELETE", path)).data()
}

fn resident(caller: &Caller) -> usize {
    caller.get("/_sandbox/worlds").expect(200)["data"].as_array().unwrap().len()
}

#[track_caller]
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < Duration::from_secs(60), "{what}: this never happened");
        std::thread::yield_now();
    }
}

#[test]
fn a_full_server_says_what_to_do_and_a_deleted_or_reset_world_frees_its_place() {
    let server = Arc::new(Server::start(&["--max-worlds", "2"]));
    let key = |name: &str| Caller::with_key(&server, name);
    let (one, two, three) = (key("test_1"), key("test_2"), key("test_3"));
    company(&one, "One Ltd").expect(201);
    company(&two, "Two Ltd").expect(201);
    let full = company(&three, "Three Ltd").refused(503, "overloaded");
    let detail = full["detail"].as_str().unwrap();
    for named in ["--max-worlds", "DELETE /_sandbox/world", "reset", "--idle-ttl", "--journal"] {
        assert!(detail.contains(named), "{named} is not in {detail}");
    }
    // A read of an untouched world needs no place.
    assert_eq!(three.get("/api/business/employees").expect(200)["meta"]["total"], 75);
    company(&three, "Three Ltd").refused(503, "overloaded");

    assert_eq!(delete(&one, "/_sandbox/world"), json!({"deleted": true}));
    company(&three, "Three Ltd").expect(201);
    company(&one, "One Ltd").refused(503, "overloaded");
    two.post("/_sandbox/reset", &json!({})).expect(200);
    company(&one, "One Ltd").expect(201);
    // The deleted world starts as a new one, and the others are unchanged.
    let names = |caller: &Caller| caller.all("/api/business/companies").len();
    assert_eq!((names(&one), names(&two), names(&three)), (4, 3, 4));
}

#[test]
fn a_world_that_left_memory_makes_a_verification_unknown() {
    let server = Arc::new(Server::start(&["--max-worlds", "2"]));
    let verdict = |caller: &Caller| {
        let body = json!({"operation": "listEmployees", "times": 1});
        caller.post("/_sandbox/requests/verify", &body).data()["verdict"].clone()
    };
    let read = Caller::with_key(&server, "test_read");
    read.get("/api/business/employees").expect(200);
    for number in 0..3 {
        Caller::with_key(&server, &format!("test_{number}"))
            .get("/api/business/employees")
            .expect(200);
    }
    assert_eq!(verdict(&read), "unknown");
    let fresh = Caller::with_key(&server, "test_never_used");
    assert_eq!(verdict(&fresh), "fail");
}

#[test]
fn an_idle_world_is_dropped() {
    let server = Arc::new(Server::start(&["--idle-ttl", "1s"]));
    let (idle, busy) =
        (Caller::with_key(&server, "test_idle"), Caller::with_key(&server, "test_busy"));
    company(&idle, "Idle Ltd").expect(201);
    until("the idle world leaves", || resident(&busy) == 1);
    assert_eq!(idle.all("/api/business/companies").len(), 3);
    for wrong in ["0s", "soon", "-1d"] {
        let ended = finish(&mut command(&["--port", "0", "--idle-ttl", wrong]));
        assert_eq!(ended.status.code(), Some(2), "{wrong}");
    }
}

#[test]
fn worlds_beyond_the_limit_return_from_the_log_with_the_same_digest() {
    let folder = tempfile::tempdir().unwrap();
    let journal = folder.path().to_str().unwrap();
    let server = Arc::new(Server::start(&["--journal", journal, "--max-worlds", "10"]));
    let key = |number: usize| Caller::with_key(&server, &format!("test_{number}"));
    let digests: Vec<String> = (0..60)
        .map(|number| {
            let caller = key(number);
            company(&caller, &format!("Number {number} Ltd")).expect(201);
            if number % 7 == 0 {
                caller.post("/_sandbox/snapshots", &json!({"name": "kept"})).expect(201);
                caller.advance(&json!({"by": "10d"}));
            }
            assert!(resident(&caller) <= 10);
            caller.digest()
        })
        .collect();
    // In an order in which every request is for a world that has left.
    for step in [1, 7, 11, 59] {
        for place in 0..60 {
            let number = place * step % 60;
            assert_eq!(key(number).digest(), digests[number], "{number}");
        }
    }
    let snapshots = key(7).get("/_sandbox/snapshots").expect(200);
    assert_eq!(snapshots["data"][0]["name"], "kept", "{snapshots}");
    // A write after the return continues the same world, over a kill.
    company(&key(3), "Second Ltd").expect(201);
    let digest = key(3).digest();
    drop(server);
    let server = Arc::new(Server::start(&["--journal", journal, "--max-worlds", "10"]));
    assert_eq!(Caller::with_key(&server, "test_3").digest(), digest);
    assert_eq!(Caller::with_key(&server, "test_4").digest(), digests[4]);
}

#[test]
fn a_deleted_world_stays_deleted_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let journal = folder.path().to_str().unwrap();
    let server = Arc::new(Server::start(&["--journal", journal]));
    let caller = Caller::with_key(&server, "test_key");
    let fresh = caller.digest();
    company(&caller, "Gone Ltd").expect(201);
    delete(&caller, "/_sandbox/world");
    assert_eq!(caller.digest(), fresh);
    company(&caller, "Next Ltd").expect(201);
    let digest = caller.digest();
    drop((server, caller));
    let server = Arc::new(Server::start(&["--journal", journal]));
    let caller = Caller::with_key(&server, "test_key");
    assert_eq!(caller.digest(), digest);
    delete(&caller, "/_sandbox/world");
    drop((server, caller));
    let server = Arc::new(Server::start(&["--journal", journal]));
    let caller = Caller::with_key(&server, "test_key");
    assert_eq!(caller.digest(), fresh);
    drop((server, caller));
    let file = folder.path().join("journal.sandbox");
    let replayed = finish(&mut command(&["replay", file.to_str().unwrap()]));
    assert_eq!(replayed.status.code(), Some(0), "{replayed:?}");
}

#[test]
fn a_deleted_world_is_in_a_recording() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.rec");
    let server = Server::start(&["--record", file.to_str().unwrap()]);
    let server = Arc::new(server);
    let caller = Caller::with_key(&server, "test_key");
    company(&caller, "Gone Ltd").expect(201);
    delete(&caller, "/_sandbox/world");
    company(&caller, "Next Ltd").expect(201);
    let digest = caller.digest();
    drop(caller);
    Arc::into_inner(server).unwrap().end();
    let replayed = finish(&mut command(&["replay", file.to_str().unwrap()]));
    let out = String::from_utf8_lossy(&replayed.stdout).into_owned();
    assert!(replayed.status.success() && out.contains(&digest), "{replayed:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn the_process_stays_within_its_memory() {
    let folder = tempfile::tempdir().unwrap();
    let journal = folder.path().to_str().unwrap();
    let flags = ["--journal", journal, "--max-resident-bytes", "48MiB"];
    let server = Arc::new(Server::start(&flags));
    let size = || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", server.pid())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1_024
    };
    let key = |number: usize| Caller::with_key(&server, &format!("test_{number}"));
    let (mut largest, mut worlds) = (0, 0);
    // Builds differ in the memory of a world.
    while worlds < 150 || (worlds < 1_500 && resident(&key(0)) == worlds) {
        let caller = key(worlds);
        company(&caller, "Some Ltd").expect(201);
        caller.run_payroll(&caller.company(0), "2026-01");
        largest = largest.max(size());
        worlds += 1;
    }
    assert!(largest < 160, "{largest} MiB");
    assert!(resident(&key(0)) < worlds, "all {worlds} worlds are in memory");
    assert_eq!(key(1).all("/api/business/companies").len(), 4);
}

#[test]
fn a_log_is_inspected_compacted_and_exported() {
    let folder = tempfile::tempdir().unwrap();
    let journal = folder.path().to_str().unwrap();
    let server = Arc::new(Server::start(&["--journal", journal]));
    let key = |server: &Arc<Server>, name: &str| Caller::with_key(server, name);
    let (kept, gone) = (key(&server, "test_kept"), key(&server, "test_gone"));
    company(&gone, "Source Ltd").expect(201);
    let taken = gone.post("/_sandbox/snapshots", &json!({})).made();
    let fork = format!("/_sandbox/snapshots/{}/fork", taken["id"].as_str().unwrap());
    gone.post(&fork, &json!({"key": "test_fork"})).expect(201);
    for number in 0..50 {
        company(&gone, &format!("Number {number} Ltd")).expect(201);
    }
    company(&kept, "Kept Ltd").expect(201);
    company(&key(&server, "test_fork"), "Forked Ltd").expect(201);
    delete(&gone, "/_sandbox/world");
    // The key of a deleted world is written again, and so is that of a deleted fork.
    let again = key(&server, "test_again");
    company(&again, "Source Ltd").expect(201);
    let taken = again.post("/_sandbox/snapshots", &json!({})).made();
    let fork = format!("/_sandbox/snapshots/{}/fork", taken["id"].as_str().unwrap());
    for forked in ["test_fork_2", "test_fork_1"] {
        again.post(&fork, &json!({"key": forked})).expect(201);
    }
    delete(&again, "/_sandbox/world");
    delete(&key(&server, "test_fork_2"), "/_sandbox/world");
    for (name, number) in [("test_again", 2), ("test_fork_2", 1)] {
        for _ in 0..number {
            company(&key(&server, name), "New Ltd").expect(201);
        }
    }
    key(&server, "test_reader").get("/api/business/companies").expect(200);
    let keys = ["test_kept", "test_fork", "test_gone", "test_again", "test_fork_1", "test_fork_2"];
    let digests = keys.map(|name| key(&server, name).digest());
    drop((server, kept, gone, again));

    let run = |arguments: &[&str]| {
        let ended = finish(&mut command(&[&["journal"], arguments].concat()));
        assert!(ended.status.success(), "{ended:?}");
        String::from_utf8(ended.stdout).unwrap()
    };
    let inspect =
        || -> Value { serde_json::from_str(&run(&["inspect", journal, "--json"])).unwrap() };
    let before = inspect();
    assert_eq!(
        (&before["inputs"], &before["worlds"], &before["forks"]),
        (&json!(62), &json!(5), &json!(2))
    );
    assert!(run(&["inspect", journal]).contains("inputs 62, worlds 5"));
    run(&["compact", journal]);
    let after = inspect();
    assert_eq!((&after["inputs"], &after["worlds"]), (&json!(12), &json!(5)), "{after}");
    assert!(after["bytes"].as_u64().unwrap() * 3 < before["bytes"].as_u64().unwrap(), "{after}");

    let out = folder.path().join("out.rec");
    run(&["export", journal, "--out", out.to_str().unwrap()]);
    let printed = run(&["export", journal, "--out", "-"]);
    assert!(printed.into_bytes() == std::fs::read(&out).unwrap(), "both are the same recording");
    let replayed = finish(&mut command(&["replay", out.to_str().unwrap()]));
    assert!(replayed.status.success(), "{replayed:?}");
    let server = Arc::new(Server::start(&["--journal", journal]));
    assert_eq!(keys.map(|name| key(&server, name).digest()), digests);
    company(&key(&server, "test_fork"), "Next Ltd").expect(201);
    // The use of a key is kept, because verifications need it.
    let body = json!({"operation": "listCompanies", "times": 1});
    let verified = key(&server, "test_reader").post("/_sandbox/requests/verify", &body).data();
    assert_eq!(verified["verdict"], "unknown");
}

#[test]
fn a_compacted_log_keeps_the_time_of_the_wall_clock() {
    let folder = tempfile::tempdir().unwrap();
    let flags = ["--journal", folder.path().to_str().unwrap(), "--clock", "real:1000000"];
    let server = Arc::new(Server::start(&flags));
    let caller = Caller::with_key(&server, "test_key");
    company(&caller, "Gone Ltd").expect(201);
    let from = caller.now();
    until("time passes", || caller.now() > from);
    company(&caller, "Late Ltd").expect(201);
    let now = caller.now();
    delete(&caller, "/_sandbox/world");
    company(&Caller::with_key(&server, "test_other"), "Some Ltd").expect(201);
    delete(&Caller::with_key(&server, "test_other"), "/_sandbox/world");
    drop((server, caller));
    let compacted = finish(&mut command(&["journal", "compact", flags[1]]));
    assert!(compacted.status.success(), "{compacted:?}");
    let server = Arc::new(Server::start(&flags));
    assert!(Caller::with_key(&server, "test_key").now() >= now);
}

#[test]
fn info_of_a_stored_world_is_refused_while_there_is_no_room_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let flags = ["--journal", folder.path().to_str().unwrap(), "--max-worlds", "1"];
    let server = Arc::new(Server::start(&flags));
    let key = |name: &str| Caller::with_key(&server, name);
    let (stored, waits) = (key("test_stored"), key("test_waits"));
    company(&stored, "Stored Ltd").expect(201);
    waits.post("/_sandbox/webhook-endpoints", &json!({"url": "http://127.0.0.1:9/"})).expect(201);
    company(&waits, "Waiting Ltd").expect(201);
    stored.get("/_sandbox/info").refused(503, "overloaded");
    stored.get("/_sandbox/health").expect(200);
    assert_eq!(waits.get("/_sandbox/info").data()["worlds"], 1);
}

#[test]
fn an_idle_world_with_a_waiting_delivery_stays() {
    let server = Arc::new(Server::start(&["--idle-ttl", "1s"]));
    let (waits, other) =
        (Caller::with_key(&server, "test_waits"), Caller::with_key(&server, "test_other"));
    let endpoint = json!({"url": "http://127.0.0.1:9/"});
    waits.post("/_sandbox/webhook-endpoints", &endpoint).expect(201);
    company(&waits, "Waiting Ltd").expect(201);
    company(&Caller::with_key(&server, "test_idle"), "Idle Ltd").expect(201);
    until("the idle world leaves", || resident(&other) == 2);
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(resident(&other), 2);
    assert_eq!(waits.all("/api/business/companies").len(), 4);
}
