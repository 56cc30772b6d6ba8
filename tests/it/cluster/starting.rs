//! One process over a database: the state after a restart, and faults that prevent a start.

use std::sync::Arc;

use serde_json::json;

use crate::harness::{Caller, command, finish};

use super::postgres::{Database, Postgres};
use super::{arrived, company, digest, is_moving, names, process, process_with, until};

#[test]
fn worlds_return_from_the_database_after_a_kill() {
    let Some(database) = Database::new() else { return };
    let server = process(&database);
    let one = Caller::with_key(&server, "test_one");
    company(&one, "One Ltd").expect(201);
    one.run_payroll(&one.company(0), "2026-01");
    one.advance(&json!({"by": "10bd"}));
    let taken = one.post("/_sandbox/snapshots", &json!({})).made();
    company(&one, "Two Ltd").expect(201);
    let fork = format!("/_sandbox/snapshots/{}/fork", taken["id"].as_str().unwrap());
    one.post(&fork, &json!({"key": "test_fork"})).expect(201);
    one.post(&fork, &json!({"key": "test_fork"})).refused(409, "duplicate_reference");
    let forked = Caller::with_key(&server, "test_fork");
    company(&forked, "Three Ltd").expect(201);
    let gone = Caller::with_key(&server, "test_gone");
    let fresh = gone.digest();
    company(&gone, "Four Ltd").expect(201);
    gone.send(&gone.request("DELETE", "/_sandbox/world")).expect(200);
    assert_eq!(gone.digest(), fresh);
    one.post(&fork, &json!({"key": "test_again"})).expect(201);
    let again = Caller::with_key(&server, "test_again");
    again.send(&again.request("DELETE", "/_sandbox/world")).expect(200);
    one.post(&fork, &json!({"key": "test_again"})).expect(201);
    let keys = ["test_one", "test_fork", "test_gone", "test_again"];
    let before = keys.map(|key| Caller::with_key(&server, key).digest());
    drop((one, forked, gone, again));
    drop(server); // a kill

    let server = process_with(&database, &["--max-worlds", "2"]);
    for round in 0..3 {
        let after = keys.map(|key| digest(&Caller::with_key(&server, key)));
        assert_eq!(after, before, "round {round}");
    }
    let forked = Caller::with_key(&server, "test_fork");
    assert_eq!(names(&forked).len(), 5, "the fork has no company of after its snapshot");
    company(&forked, "Five Ltd").expect(201);
    forked.audit();
    // No row of the log has a gap before it, and no key is in the database.
    let gaps = "select count(*) from sandbox_log l where seq > 1 and not exists \
                (select from sandbox_log p where p.world = l.world and p.seq + p.n = l.seq)";
    assert_eq!(database.sql(gaps), "0");
    assert_eq!(
        database.sql("select count(*) from sandbox_log where frames like '%test_fork%'"),
        "0"
    );
}

#[test]
fn a_failed_start_reports_the_reason() {
    let Some(database) = Database::new() else { return };
    drop(process(&database));
    let start = |url: &str, flags: &[&str]| {
        let flags = [&["--port", "0", "--quiet", "--store", url], flags].concat();
        let ended = finish(&mut command(&flags));
        let said = String::from_utf8(ended.stderr).unwrap();
        assert!(!said.contains("secret") && !said.contains("panicked"), "{said}");
        (ended.status.code().unwrap(), said)
    };
    let refused = |url: &str, flags: &[&str], code: i32, words: &[&str]| {
        let (exit, said) = start(url, flags);
        assert_eq!(exit, code, "{said}");
        for word in words {
            assert!(said.contains(word), "{word:?} is not in {said}");
        }
    };
    let url = database.url();
    refused("mysql://localhost/worlds", &[], 2, &["postgres://USER:PASSWORD@HOST"]);
    refused("postgres://sandbox@127.0.0.1:1/worlds", &[], 1, &["is PostgreSQL running there?"]);
    refused(&database.url_with("wrong", None), &[], 1, &["check the user and the password"]);
    let missing = database.url_with("not%20a%20secret", Some("missing"));
    refused(&missing, &[], 1, &["create the database first"]);
    refused(&url, &["--seed", "7"], 1, &["--seed 42 (given: 7)"]);
    refused(&url, &["--journal", "/nowhere"], 2, &["cannot be used with"]);
    refused(&url, &["--store-lease", "0"], 2, &["--store-lease"]);
    database.set_read_only("on");
    refused(&url, &[], 1, &["read-only; if it is a standby"]);
    assert!(!start(&url, &[]).1.contains("is PostgreSQL running"));
    database.set_read_only("off");
    database.sql("alter table sandbox_log rename to former_log");
    refused(&url, &[], 1, &["these tables are missing: sandbox_log; restore the database"]);
    database.sql("alter table former_log rename to sandbox_log");
    database.sql("update sandbox_cluster set format = 99");
    refused(&url, &[], 1, &["tables of version 99", "another database"]);
    database.sql("update sandbox_cluster set format = 1");
    drop(process(&database));
}

#[test]
fn a_process_with_a_new_scenario_file_joins_a_store() {
    let Some(database) = Database::new() else { return };
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str| std::fs::write(folder.path().join(name), "title = \"A\"\n").unwrap();
    let flags = ["--scenario-dir", folder.path().to_str().unwrap()];
    write("one.toml");
    let first = process_with(&database, &flags);
    write("two.toml");
    let second = process_with(&database, &flags);
    let load = |name: &str| {
        let caller = Caller::with_key(&second, "test_one");
        arrived(|| caller.post(&format!("/_sandbox/scenarios/{name}/load"), &json!({})))
    };
    load("one").expect(200);
    load("two").refused(404, "resource_not_found");
    let expected = Caller::with_key(&second, "test_one").digest();
    assert_eq!(digest(&Caller::with_key(&first, "test_one")), expected);
}

#[test]
fn a_database_that_ends_refuses_writes_and_returns() {
    let Some(server) = Postgres::start() else { return };
    let database = Database::of(Arc::new(server));
    let server = process(&database);
    let caller = Caller::with_key(&server, "test_one");
    company(&caller, "One Ltd").expect(201);
    let digest = caller.digest();
    database.server.kill();
    let refusal = company(&caller, "Two Ltd");
    assert!(is_moving(&refusal), "{}", refusal.text());
    until("writes are refused for the log", || {
        let answer = company(&caller, "Two Ltd");
        assert!(is_moving(&answer), "{}", answer.text());
        answer.json()["code"] == "log_unavailable"
    });
    caller.get("/_sandbox/health").expect(200);
    until("the process is not ready", || caller.get("/_sandbox/ready").status == 503);
    database.server.begin();
    until("the process is ready", || caller.get("/_sandbox/ready").status == 200);
    assert_eq!(super::digest(&caller), digest);
    arrived(|| company(&caller, "Three Ltd")).expect(201);
    assert_eq!(names(&caller).iter().filter(|name| *name == "Two Ltd").count(), 0);
}
