//! `--journal`: its refusals, its repair of a torn end, and its continuation after a restart.

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::json;

use crate::harness::{Caller, Request, Server, command};

use super::{hire, path, run, serve, session};

pub(super) fn file(folder: &Path) -> PathBuf {
    folder.join("journal.sandbox")
}

/// Serves with a write-ahead log until the server is dropped, which kills it.
pub(super) fn serve_logged(folder: &Path, flags: &[&str]) -> (Arc<Server>, Caller) {
    serve(&[&["--journal", path(folder)], flags].concat(), "test_secret_key")
}

#[test]
fn a_killed_server_restarts_in_the_same_state() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("made/when/needed");
    for clock in ["instant", "manual"] {
        let folder = folder.join(clock);
        let flags = ["--clock", clock];
        let (server, caller) = serve_logged(&folder, &flags);
        session(&caller);
        let request = caller.request("POST", "/_sandbox/clock/advance");
        caller.send(&request.json(&json!({"by": "1h"}))).expect(200);
        let company = caller.company(0);
        let hire_once = |caller: &Caller| {
            let body = json!({"company_id": company, "name": "Once Only", "role": "Baker", "department": "Kitchen", "start_date": "2026-02-02"});
            let request = caller.request("POST", "/api/business/employees").json(&body);
            caller.send(&request.header("Idempotency-Key", "once"))
        };
        let first = hire_once(&caller);
        let (digest, events) = (caller.digest(), caller.events());
        drop((server, caller));

        let bytes = std::fs::read(file(&folder)).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains("test_secret_key"), "a key is in the write-ahead log");

        let (server, caller) = serve_logged(&folder, &flags);
        assert_eq!(caller.digest(), digest);
        assert_eq!(caller.events(), events);
        // A retry after the crash is still a retry.
        let again = hire_once(&caller);
        assert_eq!(again.header("idempotent-replayed"), Some("true"));
        assert_eq!(again.body, first.body);
        assert_eq!(caller.digest(), digest);
        // It continues from there, over another restart.
        hire(&caller, &company, "Second Life").expect(201);
        let digest = caller.digest();
        drop((server, caller));
        let (server, caller) = serve_logged(&folder, &flags);
        assert_eq!(caller.digest(), digest);
        caller.audit();
        drop((server, caller));
        let (code, out, err) = run(&["replay", path(&file(&folder))]);
        assert_eq!(code, 0, "{err}");
        assert!(out.contains(&digest), "{out}");
    }
}

#[test]
fn a_wall_clock_continues_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let flags = ["--clock", "real:1000000"]; // eleven days a second
    let (server, caller) = serve_logged(folder.path(), &flags);
    let run = caller.run_payroll(&caller.company(0), "2026-01");
    let id = crate::harness::world::id(&run).to_owned();
    let status = |caller: &Caller| caller.run(&id)["status"].as_str().unwrap().to_owned();
    until("the run is paid", || status(&caller) == "paid");
    let (now, events) = (caller.now(), caller.events());
    drop((server, caller));
    let (_server, caller) = serve_logged(folder.path(), &flags);
    // All events that a client has seen still exist, with their times.
    assert_eq!(status(&caller), "paid");
    assert_eq!(caller.events()[..events.len()], events);
    until("the time moves", || caller.now() > now);
    caller.audit();
}

#[track_caller]
pub(super) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let started = std::time::Instant::now();
    while !holds() {
        assert!(started.elapsed().as_secs() < 60, "{what}: this never happened");
        std::thread::yield_now();
    }
}

#[test]
fn a_write_ahead_log_has_one_process_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let (server, caller) = serve_logged(folder.path(), &[]);
    let (code, _, err) = run(&["--port", "0", "--journal", path(folder.path())]);
    assert_eq!(code, 1);
    assert!(err.contains("in use by another sandbox"), "{err}");
    hire(&caller, &caller.company(0), "Still Served").expect(201);
    drop((server, caller));
    serve_logged(folder.path(), &[]); // the end of the process releases the lock
}

#[test]
fn a_start_waits_for_the_lock_of_a_process_that_ends() {
    let folder = tempfile::tempdir().unwrap();
    let (server, caller) = serve_logged(folder.path(), &[]);
    let before = caller.digest();
    drop(caller);
    let ending = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(1_500));
        drop(server);
    });
    let (_server, caller) = serve_logged(folder.path(), &[]);
    assert_eq!(caller.digest(), before);
    ending.join().unwrap();
}

#[cfg(unix)]
#[test]
fn only_its_owner_enters_a_new_folder() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let new = folder.path().join("new");
    let _served = serve_logged(&new, &[]);
    assert_eq!(std::fs::metadata(&new).unwrap().permissions().mode() & 0o777, 0o700);
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_of_zeros_is_refused_without_reading_it_into_memory() {
    let folder = tempfile::tempdir().unwrap();
    for (name, start) in [("text", &b""[..]), ("recording", b"{\"recording\":")] {
        let file = folder.path().join(name);
        std::fs::write(&file, start).unwrap();
        std::fs::OpenOptions::new().append(true).open(&file).unwrap().set_len(20 << 30).unwrap();
        // The address space has room for the longest line, and for nothing near the size of the file.
        let script = format!(
            "ulimit -v 2000000; exec '{}' replay '{}'",
            env!("CARGO_BIN_EXE_sandbox"),
            path(&file)
        );
        let done = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(1), "{said}");
        assert!(said.contains("line 1: it is longer than any line"), "{said}");
    }
}

#[test]
fn a_write_ahead_log_is_not_served_with_other_worlds() {
    let folder = tempfile::tempdir().unwrap();
    let (server, caller) = serve_logged(folder.path(), &["--seed", "5"]);
    hire(&caller, &caller.company(0), "Ada Obi").expect(201);
    drop((server, caller));
    let before = std::fs::read(file(folder.path())).unwrap();
    for (flags, said) in [
        (vec!["--seed", "6"], "--seed 5 (given: 6)"),
        (vec!["--seed", "5", "--clock", "manual"], "--clock instant (given: manual)"),
        (vec!["--seed", "5", "--companies", "4"], "--companies 3 (given: 4)"),
        (vec!["--seed", "5", "--max-events", "9"], "--max-events 1000000 (given: 9)"),
        (vec!["--seed", "5", "--countries", "NG"], "--countries NG,GB,US,KE,ZA,CA (given: NG)"),
        // It sets the clock and the number of companies.
        (
            vec!["--seed", "5", "--scenario", "late-return"],
            "start with the former scenarios and imports: none (now: late-return), or name another",
        ),
    ] {
        let (code, _, err) =
            run(&[&["--port", "0", "--journal", path(folder.path())], &flags[..]].concat());
        assert_eq!(code, 1, "{err}");
        assert!(err.contains(said), "{said:?} is not in {err}");
    }
    assert_eq!(std::fs::read(file(folder.path())).unwrap(), before);
}

#[test]
fn a_changed_scenario_file_is_named_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let (log, mine) = (folder.path().join("log"), folder.path().join("mine.toml"));
    let write = |then: &str| {
        let text = format!("title = \"A\"\n\n[[outcome]]\non = \"payout.settle\"\n{then}\n");
        std::fs::write(&mine, text).unwrap();
    };
    write("then = \"failed\"");
    let flags = ["--scenario", path(&mine)];
    drop(serve_logged(&log, &flags));
    write("then = \"returned\"\ncode = \"R02\"");
    let (code, _, err) = run(&[&["--port", "0", "--journal", path(&log)], &flags[..]].concat());
    assert_eq!(code, 1, "{err}");
    let said = "start with the former text of the scenario \"mine\" (its text has changed), or name another";
    assert!(err.contains(said), "{err}");
    write("then = \"failed\"");
    drop(serve_logged(&log, &flags));
}

#[test]
fn a_log_that_cannot_be_read_is_not_reported_as_absent() {
    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().join("other");
    std::fs::write(&other, "").unwrap();
    let (code, _, err) = run(&["journal", "inspect", path(folder.path())]);
    assert!(code == 1 && err.contains("has no write-ahead log"), "{err}");
    let below = other.join("folder");
    let (code, _, err) = run(&["journal", "inspect", path(&below)]);
    assert!(code == 1 && err.contains("cannot read") && err.contains("journal.sandbox: "), "{err}");
    let (code, _, err) = run(&["journal", "inspect", path(&other)]);
    assert!(code == 1 && err.contains("other is a file: name the folder of the log"), "{err}");
}

#[test]
fn health_and_readiness_do_not_need_the_world_of_the_key() {
    let folder = tempfile::tempdir().unwrap();
    let (server, caller) = serve_logged(folder.path(), &[]);
    hire(&caller, &caller.company(0), "Ada Obi").expect(201);
    drop((server, caller));
    let whole = std::fs::read(file(folder.path())).unwrap();
    let mut changed = whole[..8].to_vec();
    for (_, payload) in frames(&whole) {
        let payload = String::from_utf8(payload.to_vec()).unwrap();
        changed.extend(frame(payload.replace("Ada Obi", "Ada Obo").as_bytes()));
    }
    assert_ne!(changed, whole);
    std::fs::write(file(folder.path()), changed).unwrap();
    let (server, caller) = serve_logged(folder.path(), &[]);
    let other = Caller::with_key(&server, "test_other");
    for _ in 0..2 {
        for path in ["/_sandbox/health", "/_sandbox/ready"] {
            caller.get(path).expect(200);
            other.get(path).expect(200);
        }
        let info = Request::new("GET", "/_sandbox/info").send(server.port()).data();
        assert_eq!(info["worlds"], 0, "a probe opened a world");
        caller.get("/api/business/companies").refused(500, "internal_error");
    }
}

/// The frame of a payload, calculated without the code under test.
pub(super) fn frame(payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_le_bytes();
    let sum = |bytes: &[u8]| crc32(bytes).to_le_bytes();
    [&length[..], &sum(&length), payload, &sum(payload)].concat()
}

/// The offsets and payloads of the frames in a file.
pub(super) fn frames(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut offset = 8;
    std::iter::from_fn(move || {
        let rest = bytes.get(offset..).filter(|rest| !rest.is_empty())?;
        let length = u32::from_le_bytes(rest[..4].try_into().unwrap()) as usize;
        let place = offset;
        offset += length + 12;
        Some((place, &rest[8..8 + length]))
    })
}

/// IEEE 802.3, bit by bit.
pub(super) fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            (crc >> 1) ^ if crc & 1 == 1 { 0xEDB8_8320 } else { 0 }
        })
    })
}

#[test]
fn a_write_ahead_log_of_a_newer_sandbox_is_refused_and_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    drop(serve_logged(folder.path(), &[]));
    let bytes = std::fs::read(file(folder.path())).unwrap();
    let header = String::from_utf8(bytes[16..bytes.len() - 4].to_vec()).unwrap();
    assert_eq!(bytes, [b"SANDBX01", &frame(header.as_bytes())[..]].concat());
    let version = env!("CARGO_PKG_VERSION");
    for (from, to, said) in [
        (
            format!("\"engine\":\"{version}\""),
            "\"engine\":\"999.0.0\"".to_owned(),
            "newer than this sandbox",
        ),
        ("\"format\":4".to_owned(), "\"format\":5".to_owned(), "format 5"),
        ("\"world_version\":9".to_owned(), "\"world_version\":999".to_owned(), "world version 999"),
    ] {
        assert!(header.contains(&from), "{from} is not in {header}");
        let newer = frame(header.replace(&from, &to).as_bytes());
        let newer = [b"SANDBX01", &newer[..], b"torn"].concat();
        std::fs::write(file(folder.path()), &newer).unwrap();
        let (code, _, err) = run(&["--port", "0", "--journal", path(folder.path())]);
        assert_eq!(code, 1, "{err}");
        assert!(err.contains(said) && err.contains("byte 8"), "{err}");
        assert_eq!(std::fs::read(file(folder.path())).unwrap(), newer);
    }
    std::fs::write(file(folder.path()), b"SANDBX02 and more").unwrap();
    let (code, _, err) = run(&["--port", "0", "--journal", path(folder.path())]);
    assert_eq!(code, 1);
    assert!(err.contains("another format version"), "{err}");
}

/// Unit tests try every byte of the last three frames; this test checks the behaviour of the process.
#[test]
fn a_torn_end_is_cut_off_and_damage_is_refused_with_its_offset() {
    let folder = tempfile::tempdir().unwrap();
    let log = file(folder.path());
    let (server, caller) = serve_logged(folder.path(), &[]);
    let company = caller.company(0);
    let mut states = Vec::new();
    for name in ["Ada Obi", "Ben Obi", "Cem Obi"] {
        hire(&caller, &company, name).expect(201);
        states.push((std::fs::metadata(&log).unwrap().len(), caller.digest()));
    }
    drop((server, caller));
    let whole = std::fs::read(&log).unwrap();
    assert_eq!(whole.len() as u64, states[2].0, "an answer was sent before its frame was written");
    for torn in [states[2].0 - 1, states[1].0 + 9, states[1].0 + 1] {
        let file = OpenOptions::new().write(true).open(&log).unwrap();
        file.set_len(torn).unwrap();
        let (server, caller) = serve_logged(folder.path(), &[]);
        assert_eq!(caller.digest(), states[1].1);
        hire(&caller, &company, "Dan Obi").expect(201);
        let digest = caller.digest();
        drop((server, caller));
        let (server, caller) = serve_logged(folder.path(), &[]);
        assert_eq!(caller.digest(), digest, "entries after the cut are stored");
        drop((server, caller));
        std::fs::write(&log, &whole).unwrap();
    }
    let start = usize::try_from(states[1].0).unwrap();
    for flipped in [start + 1, start + 5, start + 40, whole.len() - 1] {
        let mut damaged = whole.clone();
        damaged[flipped] ^= 0x10;
        std::fs::write(&log, &damaged).unwrap();
        let (code, _, err) = run(&["--port", "0", "--journal", path(folder.path())]);
        assert_eq!(code, 1, "{err}");
        assert!(err.contains(&format!("byte {start}")), "{err}");
        assert_eq!(std::fs::read(&log).unwrap(), damaged, "the file is unchanged");
    }
}

#[test]
fn a_write_ahead_log_that_cannot_be_created_stops_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let in_the_way = folder.path().join("file");
    std::fs::write(&in_the_way, "").unwrap();
    for (place, why) in [
        (in_the_way.join("folder"), "cannot create the folder of"),
        (in_the_way, "is a file: name the folder of the log"),
    ] {
        let (code, _, err) = run(&["--port", "0", "--journal", path(&place)]);
        assert_eq!(code, 1);
        assert!(err.contains(why), "{err}");
    }
    let mut both = command(&["--record", "a", "--journal", "b"]);
    assert_eq!(crate::harness::finish(&mut both).status.code(), Some(2));
}
