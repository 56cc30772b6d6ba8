//! A log that cannot be written: refused calls, calls that continue, and the recovery.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::receiver::{Reaction, Receiver};
use crate::harness::{Caller, Server};

use super::write_ahead_log::{file, serve_logged, until};
use super::{hire, path, run, serve};

/// A file may not grow beyond this many blocks of 512 bytes, which is as if the disk was full.
fn with_little_space(log: &Path, blocks: u32) -> Arc<Server> {
    let (program, log) = (env!("CARGO_BIN_EXE_sandbox"), path(log));
    // The signal that comes with this limit is not ignored: the process itself must survive it.
    let script =
        format!("ulimit -S -f {blocks}; exec '{program}' --port 0 --quiet --journal '{log}'");
    Arc::new(Server::spawn(Command::new("sh").args(["-c", &script])))
}

/// Limits the size of the file.
fn limit(server: &Server, bytes: &str) {
    let process = server.pid().to_string();
    let mut prlimit = Command::new("prlimit");
    let done = prlimit.args(["--pid", &process, &format!("--fsize={bytes}:")]).status();
    assert!(done.expect("prlimit is a program").success());
}

/// Removes the limit on file sizes.
fn make_space(server: &Server) {
    limit(server, "unlimited");
}

/// Nothing more can be written to the log.
fn fill(server: &Server, folder: &Path) {
    limit(server, &std::fs::metadata(file(folder)).unwrap().len().to_string());
}

/// Worlds of a recording are in memory, and stay as they are.
#[test]
fn a_recording_that_cannot_be_written_loses_no_world() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("full.ndjson");
    let (server, caller) = serve(&["--record", path(&file)], "test_recorded");
    let company = caller.company(0);
    hire(&caller, &company, "Ada Obi").expect(201);
    let size = || std::fs::metadata(&file).unwrap().len();
    until("the recording has an input", || {
        std::fs::read_to_string(&file).unwrap().contains("Ada Obi")
    });
    limit(&server, &(size() + 10).to_string());
    let answer = hire(&caller, &company, "Ben Obi");
    let expected = if answer.status == 201 { 2 } else { 1 };
    until("the failure is noticed", || hire(&caller, &company, "Cem Obi").status == 503);
    make_space(&server);
    std::thread::sleep(Duration::from_millis(200));
    let hired = caller.events().iter().filter(|event| event["type"] == "employee.created").count();
    assert!(hired >= expected, "{hired}");
    let refused = hire(&caller, &company, "Dan Obi").refused(503, "log_unavailable");
    assert!(refused["detail"].as_str().unwrap().contains("recording"), "{refused}");
    drop((server, caller));
}

#[test]
fn a_full_disk_refuses_writes_until_there_is_space() {
    let folder = tempfile::tempdir().unwrap();
    let server = with_little_space(folder.path(), 6);
    let caller = Caller::with_key(&server, "test_full");
    let company = caller.company(0);
    let other = Caller::with_key(&server, "test_other");
    other.get("/api/business/companies").expect(200);
    let (mut acknowledged, mut digest) = (0, caller.digest());
    let refusal = loop {
        let answer = hire(&caller, &company, "Ada Obi");
        if answer.status != 201 {
            break answer;
        }
        acknowledged += 1;
        digest = caller.digest();
    };
    assert!(acknowledged > 0);
    let problem = refusal.refused(503, "log_unavailable");
    assert_eq!(refusal.header("retry-after"), Some("1"));
    assert_eq!(problem["retryable"], true);
    // Reads, health and other worlds continue, without the input that could not be stored.
    assert_eq!(caller.digest(), digest);
    caller.get("/api/business/companies").expect(200);
    other.get("/api/business/companies").expect(200);
    hire(&other, &company, "Ada Obi").refused(503, "log_unavailable");
    let health = other.get("/_sandbox/health").data();
    assert_eq!(health["journal"]["writable"], false, "{health}");
    assert_eq!(caller.events().len(), acknowledged);

    make_space(&server);
    until("writes are accepted again", || hire(&caller, &company, "Ben Obi").status == 201);
    hire(&other, &company, "Ada Obi").expect(201);
    let health = other.get("/_sandbox/health").data();
    assert_eq!(health["journal"]["writable"], true, "{health}");
    let digests = [caller.digest(), other.digest()];
    drop((caller, other));
    let (_, err) = Arc::into_inner(server).expect("the only owner").stop();
    assert!(err.contains("inputs cannot be written"), "{err}");
    assert!(err.contains("inputs can be written again"), "{err}");

    let (server, caller) = serve_logged(folder.path(), &[]);
    assert_eq!(caller.get("/_sandbox/events").expect(200)["meta"]["total"], 0);
    let again = ["test_full", "test_other"].map(|key| Caller::with_key(&server, key).digest());
    assert_eq!(again, digests);
    drop((server, caller));
    let (code, _, err) = run(&["replay", path(&file(folder.path()))]);
    assert_eq!(code, 0, "{err}");
}

/// Runs a subcommand that cannot write more than 512 bytes to a file.
fn run_without_space(arguments: &[&str]) -> (Option<i32>, String) {
    let script = "trap '' XFSZ; ulimit -S -f 1; exec \"$0\" \"$@\"";
    let mut shell = Command::new("sh");
    let done = shell.args(["-c", script, env!("CARGO_BIN_EXE_sandbox")]).args(arguments).output();
    let done = done.unwrap();
    (done.status.code(), String::from_utf8(done.stderr).unwrap())
}

#[test]
fn a_command_that_cannot_write_its_file_leaves_no_part_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let (log, out) = (folder.path().join("log"), folder.path().join("out"));
    let (server, caller) = serve_logged(&log, &[]);
    let company = caller.company(0);
    for _ in 0..5 {
        hire(&caller, &company, "Ada Obi").expect(201);
    }
    let digest = caller.digest();
    drop((server, caller));
    let before = std::fs::read(file(&log)).unwrap();
    let left = log.join("journal.compacting");
    let recording = file(&log);
    for arguments in [
        &["journal", "compact", path(&log)][..],
        &["journal", "export", path(&log), "--out", path(&out)],
        &["bundle", "--recording", path(&recording), "--out", path(&out)],
    ] {
        let (code, err) = run_without_space(arguments);
        assert_eq!(code, Some(1), "{arguments:?}: {err}");
        assert!(err.contains("cannot write"), "{arguments:?}: {err}");
        assert!(!left.exists() && !out.exists(), "{arguments:?} left a file");
    }
    assert_eq!(std::fs::read(file(&log)).unwrap(), before);
    // A killed command cannot remove it, so the next start does.
    std::fs::write(&left, "SANDBX01").unwrap();
    let (_server, caller) = serve_logged(&log, &[]);
    assert!(!left.exists());
    assert_eq!(caller.digest(), digest);
}

#[test]
fn no_webhook_leaves_before_its_input_is_stored() {
    let folder = tempfile::tempdir().unwrap();
    let server = with_little_space(folder.path(), 12);
    let caller = Caller::with_key(&server, "test_full");
    let receiver = Receiver::taking();
    caller.post("/_sandbox/webhook-endpoints", &json!({"url": receiver.url()})).expect(201);
    let company = caller.company(0);
    let mut acknowledged = 0;
    while hire(&caller, &company, "Ada Obi").status == 201 {
        acknowledged += 1;
    }
    let events = caller.events();
    assert_eq!(events.len(), acknowledged);
    make_space(&server);
    until("writes are accepted again", || hire(&caller, &company, "Ben Obi").status == 201);
    let events = caller.events();
    let known = |id: &str| events.iter().any(|event| event["id"] == id);
    let last = events.last().unwrap()["id"].as_str().unwrap();
    let seen = receiver.wait_until(|seen| seen.iter().any(|one| one.header("webhook-id") == last));
    for delivery in &seen {
        assert!(known(delivery.header("webhook-id")), "{:?} never happened", delivery.event());
    }
    for event in &events {
        let sent = seen.iter().any(|one| event["id"] == one.header("webhook-id"));
        assert!(sent, "{event} was not sent");
    }
}

fn is_writable(caller: &Caller) -> Value {
    caller.get("/_sandbox/health").data()["journal"]["writable"].clone()
}

#[test]
fn reads_continue_while_the_log_cannot_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let (server, caller) = serve_logged(folder.path(), &[]);
    let company = caller.company(0);
    hire(&caller, &company, "Ada Obi").expect(201);
    fill(&server, folder.path());
    // The use of a new key cannot be stored, but its read is answered.
    Caller::with_key(&server, "test_new").get("/api/business/companies").expect(200);
    hire(&caller, &company, "Ben Obi").refused(503, "log_unavailable");
    for key in ["test_secret_key", "test_new", "test_newer"] {
        let caller = Caller::with_key(&server, key);
        for read in [
            "/api/business/companies",
            "/_sandbox/worlds",
            "/_sandbox/snapshots",
            "/_sandbox/clock",
        ] {
            caller.get(read).expect(200);
        }
        let body = json!({"operation": "runPayroll", "times": 0});
        caller.post("/_sandbox/requests/verify", &body).expect(200);
        caller
            .post("/_sandbox/webhook-endpoints", &json!({"url": "http://127.0.0.1:9/"}))
            .refused(503, "log_unavailable");
    }
    // The log is tried each second, and no request is used for it.
    std::thread::sleep(Duration::from_millis(1_300));
    assert_eq!(is_writable(&caller), false);
    let before = std::fs::read(file(folder.path())).unwrap();
    make_space(&server);
    until("the log is writable", || is_writable(&caller) == true);
    assert_eq!(std::fs::read(file(folder.path())).unwrap(), before, "a try leaves nothing");
    hire(&caller, &company, "Ben Obi").expect(201);
}

#[test]
fn a_world_of_the_wall_clock_is_read_while_the_log_cannot_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let (server, caller) = serve_logged(folder.path(), &["--clock", "real:100000"]);
    let company = caller.company(0);
    caller.run_payroll(&company, "2026-01");
    fill(&server, folder.path());
    until("a write fails", || hire(&caller, &company, "Ada Obi").status == 503);
    for _ in 0..20 {
        caller.get("/api/business/companies").expect(200);
        std::thread::sleep(Duration::from_millis(50));
    }
    let now = caller.now();
    make_space(&server);
    until("time goes on", || caller.now() > now);
}

#[test]
fn a_fork_that_cannot_be_stored_has_no_effect() {
    let folder = tempfile::tempdir().unwrap();
    let (server, caller) = serve_logged(folder.path(), &[]);
    let company = caller.company(0);
    hire(&caller, &company, "Ada Obi").expect(201);
    let taken = caller.post("/_sandbox/snapshots", &json!({})).made();
    let fork = format!("/_sandbox/snapshots/{}/fork", taken["id"].as_str().unwrap());
    fill(&server, folder.path());
    caller.post(&fork, &json!({"key": "test_fork"})).refused(503, "log_unavailable");
    // The key has the world of a new key, and not the fork.
    let forked = Caller::with_key(&server, "test_fork");
    let fresh = Caller::with_key(&server, "test_fresh").digest();
    assert_eq!(forked.digest(), fresh);
    make_space(&server);
    until("the log is writable", || is_writable(&caller) == true);
    hire(&forked, &company, "Ben Obi").expect(201);
    caller.post(&fork, &json!({"key": "test_other"})).expect(201);
    let other = Caller::with_key(&server, "test_other");
    assert_eq!(other.digest(), caller.digest());
    hire(&other, &company, "Cem Obi").expect(201);
    let digests = [caller.digest(), forked.digest(), other.digest()];
    drop((server, caller, forked, other));
    let (server, _caller) = serve_logged(folder.path(), &[]);
    let keys = ["test_secret_key", "test_fork", "test_other"];
    assert_eq!(keys.map(|key| Caller::with_key(&server, key).digest()), digests);
}

#[test]
fn a_world_that_lost_an_input_leaves_and_its_webhooks_are_sent() {
    let folder = tempfile::tempdir().unwrap();
    let (works, accepted) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let (reacts, notes) = (Arc::clone(&works), Arc::clone(&accepted));
    let receiver = Receiver::start(move |_, _| {
        let works = reacts.load(Ordering::SeqCst);
        notes.fetch_or(works, Ordering::SeqCst);
        Reaction::status(if works { 200 } else { 500 })
    });
    let flags = ["--journal", path(folder.path()), "--max-worlds", "1"];
    let (server, caller) = serve(&flags, "test_lost");
    caller.post("/_sandbox/webhook-endpoints", &json!({"url": receiver.url()})).expect(201);
    let company = caller.company(0);
    hire(&caller, &company, "Ada Obi").expect(201);
    receiver.wait_for(1);
    fill(&server, folder.path());
    hire(&caller, &company, "Ben Obi").refused(503, "log_unavailable");
    works.store(true, Ordering::SeqCst);
    // Without a call, the world is read again, and its delivery is made.
    until("the webhook is delivered", || accepted.load(Ordering::SeqCst));
    make_space(&server);
    let other = Caller::with_key(&server, "test_other");
    until("another world finds room", || hire(&other, &company, "Cem Obi").status == 201);
}
