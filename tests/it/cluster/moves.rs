//! Two processes over one database: a world moves when its key arrives at the other process, and no process shows an old state.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use crate::harness::Caller;

use super::postgres::Database;
use super::{arrived, company, digest, is_moving, names, process, signal, until};

const KEY: &str = "test_moves";

#[test]
fn a_world_moves_to_the_process_that_its_key_arrives_at() {
    let Some(database) = Database::new() else { return };
    let servers = [process(&database), process(&database)];
    let callers = servers.each_ref().map(|server| Caller::with_key(server, KEY));
    for number in 0..6 {
        let (here, there) = (&callers[number % 2], &callers[(number + 1) % 2]);
        let name = format!("Number {number} Ltd");
        arrived(|| company(here, &name)).expect(201);
        let before = here.digest();
        assert_eq!(digest(there), before, "{name}");
        assert_eq!(names(there).iter().filter(|known| **known == name).count(), 1);
    }
    let fork = |caller: &Caller| {
        let taken = arrived(|| caller.post("/_sandbox/snapshots", &json!({}))).made();
        let path = format!("/_sandbox/snapshots/{}/fork", taken["id"].as_str().unwrap());
        arrived(|| caller.post(&path, &json!({"key": "test_fork"}))).expect(201);
    };
    fork(&callers[0]);
    let forks = servers.each_ref().map(|server| Caller::with_key(server, "test_fork"));
    let expected = digest(&callers[0]);
    assert_eq!(digest(&forks[1]), expected);
    arrived(|| company(&forks[1], "Fork Ltd")).expect(201);
    assert_eq!(digest(&callers[1]), expected);
    assert_eq!(digest(&forks[0]), forks_digest(&forks[0]));
    let epochs = "select count(*) from sandbox_log l join sandbox_log p on p.world = l.world and p.seq < l.seq and p.epoch > l.epoch";
    assert_eq!(database.sql(epochs), "0");
}

fn forks_digest(caller: &Caller) -> String {
    caller.audit();
    caller.digest()
}

#[test]
fn a_probe_with_a_key_moves_no_world() {
    let Some(database) = Database::new() else { return };
    let (first, second) = (process(&database), process(&database));
    let (here, there) = (Caller::with_key(&first, KEY), Caller::with_key(&second, KEY));
    company(&here, "One Ltd").expect(201);
    let claims = || database.sql("select owner, epoch from sandbox_world order by 1, 2");
    let (before, expected) = (claims(), here.digest());
    for path in ["/_sandbox/health", "/_sandbox/ready"] {
        there.get(path).expect(200);
        Caller::with_key(&second, "test_unknown").get(path).expect(200);
    }
    assert_eq!(claims(), before);
    assert_eq!(digest(&there), expected);
    assert_ne!(claims(), before, "a call moves the world");
}

#[test]
fn the_worlds_of_a_killed_process_are_taken_over_after_its_lease() {
    let Some(database) = Database::new() else { return };
    let (first, second) = (process(&database), process(&database));
    let caller = Caller::with_key(&first, KEY);
    company(&caller, "One Ltd").expect(201);
    let before = caller.digest();
    drop((caller, first)); // a kill
    let caller = Caller::with_key(&second, KEY);
    let refusal = caller.get("/api/business/companies");
    assert!(is_moving(&refusal), "the lease still lasts: {}", refusal.text());
    assert_eq!(digest(&caller), before);
    company(&caller, "Two Ltd").expect(201);
}

#[test]
fn a_process_that_was_stopped_beyond_its_lease_shows_no_old_state() {
    let Some(database) = Database::new() else { return };
    let (first, second) = (process(&database), process(&database));
    let (here, there) = (Caller::with_key(&first, KEY), Caller::with_key(&second, KEY));
    company(&here, "One Ltd").expect(201);
    signal(&first, "-STOP");
    arrived(|| company(&there, "Two Ltd")).expect(201);
    let expected = there.digest();
    signal(&first, "-CONT");
    // The very first answer is either a refusal or the present state.
    let answer = here.get("/api/business/companies");
    if !is_moving(&answer) {
        assert!(answer.expect(200).to_string().contains("Two Ltd"), "{}", answer.text());
    }
    assert_eq!(digest(&here), expected);
    arrived(|| company(&here, "Three Ltd")).expect(201);
    assert_eq!(digest(&there), digest(&here));
}

#[test]
fn a_process_releases_its_worlds_at_a_graceful_end() {
    let Some(database) = Database::new() else { return };
    let (first, second) = (process(&database), process(&database));
    let here = Caller::with_key(&first, KEY);
    company(&here, "One Ltd").expect(201);
    let before = here.digest();
    here.get("/_sandbox/ready").expect(200);
    signal(&first, "-TERM");
    until("it is not ready", || here.get("/_sandbox/ready").status == 503);
    here.get("/_sandbox/health").expect(200);
    // It still serves, until a proxy has noticed that it is not ready.
    company(&here, "Two Ltd").expect(201);
    assert_ne!(here.digest(), before);
    let after = here.digest();
    drop(here);
    Arc::into_inner(first).unwrap().ended();
    let started = std::time::Instant::now();
    assert_eq!(Caller::with_key(&second, KEY).digest(), after);
    assert!(started.elapsed() < Duration::from_secs(1), "{:?}", started.elapsed());
}

#[test]
fn an_input_of_an_old_claim_is_refused() {
    let Some(database) = Database::new() else { return };
    let server = process(&database);
    let caller = Caller::with_key(&server, KEY);
    company(&caller, "One Ltd").expect(201);
    for (number, doubt) in
        ["epoch = epoch + 1", "next_seq = next_seq + 1", "owner = '\\x00'::bytea"]
            .into_iter()
            .enumerate()
    {
        let before = database.sql("select max(seq) from sandbox_log");
        database.sql(&format!("update sandbox_world set {doubt}"));
        company(&caller, "Lost Ltd").refused(503, "world_moving");
        assert_eq!(database.sql("select max(seq) from sandbox_log"), before, "{doubt}");
        if doubt.starts_with("next_seq") {
            database.sql("update sandbox_world set next_seq = next_seq - 1, owner = null");
        }
        arrived(|| company(&caller, &format!("Number {number} Ltd"))).expect(201);
    }
    assert!(!names(&caller).contains(&"Lost Ltd".to_owned()));
    caller.audit();
}
