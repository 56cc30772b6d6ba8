//! Checkpoints of worlds with many inputs: the worlds are loaded without a replay of earlier inputs, and are
//! unchanged.

use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use serde_json::{Value, json};

use super::long::change_checks;
use super::write_ahead_log::{crc32, file, frames, serve_logged, until};
use super::{hire, path, run};
use crate::harness::receiver::{Reaction, Receiver};
use crate::harness::world::id;
use crate::harness::{Answer, Caller, Server};

/// A world with fewer inputs gets no checkpoint.
const LEAST: usize = 10_000;
const CLIENTS: usize = 4;

/// The only checkpoint in a folder, if there is one.
fn checkpoint(folder: &Path) -> Option<PathBuf> {
    let files = fs::read_dir(folder.join("checkpoints")).into_iter().flatten();
    let mut files = files.map(|file| file.unwrap().path());
    files.find(|file| file.extension().is_some_and(|extension| extension == "checkpoint"))
}

/// Makes many cheap inputs, and some that change resources among them.
fn fill(server: &Arc<Server>, caller: &Caller) -> String {
    let company = caller.company(0);
    hire(caller, &company, "Ada Obi").expect(201);
    caller.run_payroll(&company, "2026-01");
    let early = caller.post("/_sandbox/snapshots", &json!({"name": "early"})).made();
    let early = format!("/_sandbox/snapshots/{}", id(&early));
    caller.send(&caller.request("DELETE", &early)).expect(200);
    tick(server, caller, LEAST);
    hire(caller, &company, "Ben Obi").expect(201);
    company
}

/// Makes inputs that are all alike.
fn tick(server: &Arc<Server>, caller: &Caller, inputs: usize) {
    let clients = (0..CLIENTS).map(|_| {
        let caller = Caller::with_key(server, caller.key());
        thread::spawn(move || {
            for _ in 0..inputs / CLIENTS {
                caller.advance(&json!({"by": "1s"}));
            }
        })
    });
    let clients: Vec<_> = clients.collect();
    for client in clients {
        client.join().unwrap();
    }
}

/// A server with a world that has a checkpoint.
fn long_world(folder: &Path) -> (Arc<Server>, Caller, String) {
    let (server, caller) = serve_logged(folder, &["--clock", "manual"]);
    let company = fill(&server, &caller);
    until("the checkpoint is stored", || checkpoint(folder).is_some());
    (server, caller, company)
}

fn again(folder: &Path) -> (Arc<Server>, Caller) {
    serve_logged(folder, &["--clock", "manual"])
}

/// Tells a server to end, and waits until it has ended.
fn end(server: Arc<Server>, caller: Caller) {
    drop(caller);
    Arc::into_inner(server).expect("no caller is left").end();
}

fn hire_once(caller: &Caller, company: &str) -> Answer {
    let body = json!({"company_id": company, "name": "Cy Obi", "role": "Baker", "department": "Kitchen", "start_date": "2026-03-02"});
    let request = caller.request("POST", "/api/business/employees").json(&body);
    caller.send(&request.header("Idempotency-Key", "once"))
}

fn pages_of_events(caller: &Caller) -> Vec<Value> {
    let mut events = Vec::new();
    loop {
        let page = caller.get(&format!("/_sandbox/events?after={}&per_page=100", events.len()));
        let page = page.expect(200)["data"].as_array().unwrap().clone();
        if page.is_empty() {
            return events;
        }
        events.extend(page);
    }
}

#[test]
fn a_world_returns_from_its_checkpoint_and_continues_as_before() {
    let folder = tempfile::tempdir().unwrap();
    let (server, caller, company) = long_world(folder.path());
    let kept = hire_once(&caller, &company);
    kept.expect(201);
    let fault = json!({"on": "createEmployee", "times": 1, "status": 503});
    caller.post("/_sandbox/faults", &fault).expect(201);
    hire(&caller, &company, "Eve Obi").refused(503, "maintenance");
    let stored = fs::metadata(checkpoint(folder.path()).unwrap()).unwrap().modified().unwrap();
    for _ in 0..2_000 {
        caller.advance(&json!({"by": "1s"}));
    }
    hire(&caller, &company, "Flo Obi").expect(201);
    let (digest, events) = (caller.digest(), pages_of_events(&caller));
    end(server, caller);
    let latest = fs::metadata(checkpoint(folder.path()).unwrap()).unwrap().modified().unwrap();
    assert!(latest > stored, "the end of the process stores another checkpoint");

    let (server, caller) = again(folder.path());
    assert_eq!(caller.digest(), digest);
    let repeated = hire_once(&caller, &company);
    assert_eq!(repeated.header("idempotent-replayed"), Some("true"));
    assert_eq!(repeated.body, kept.body);
    assert_eq!(pages_of_events(&caller), events, "also those before the checkpoint");
    hire(&caller, &company, "Eve Obi").expect(201);
    let early = events[1]["id"].as_str().unwrap();
    let fork = json!({"key": "test_early"});
    caller.post(&format!("/_sandbox/events/{early}/fork"), &fork).refused(422, "validation_failed");
    let late = events.last().unwrap()["id"].as_str().unwrap();
    caller.post(&format!("/_sandbox/events/{late}/fork"), &json!({"key": "test_late"})).expect(201);
    // Its id is the same in a replay, which includes the earlier snapshot.
    let snapshot = caller.post("/_sandbox/snapshots", &json!({"name": "late"})).made();
    caller.post(&format!("/_sandbox/snapshots/{}/restore", id(&snapshot)), &json!({})).expect(200);
    hire(&caller, &company, "Gil Obi").expect(201);
    caller.audit();
    let digest = caller.digest();
    drop((server, caller));

    // Inputs after the checkpoint are replayed.
    let (server, caller) = again(folder.path());
    assert_eq!(caller.digest(), digest);
    let late = Caller::with_key(&server, "test_late");
    hire(&late, &company, "Eve Obi").expect(201);
    drop((server, caller, late));

    // The world is that of its inputs.
    fs::remove_dir_all(folder.path().join("checkpoints")).unwrap();
    let (_server, caller) = again(folder.path());
    assert_eq!(caller.digest(), digest);
    assert_eq!(pages_of_events(&caller)[..events.len()], events[..]);
}

/// Makes the checkpoint one of the inputs in the log.
fn follow_log(folder: &Path) {
    let (path, log) = (checkpoint(folder).unwrap(), fs::read(file(folder)).unwrap());
    let mut stored = fs::read(&path).unwrap();
    let tail = stored.split_off(stored.len() - 8);
    let length = u32::from_le_bytes(tail[..4].try_into().unwrap()) as usize;
    let end = stored.split_off(stored.len() - length);
    let mut footer: Value = serde_json::from_slice(&end).unwrap();
    let inputs = footer["position"]["inputs"].as_u64().unwrap();
    let of_world = frames(&log).filter(|(_, payload)| payload.starts_with(b"{\"input\""));
    let of_world = of_world.take(usize::try_from(inputs).unwrap());
    let history = of_world.flat_map(|(offset, payload)| [&offset.to_le_bytes(), payload].concat());
    footer["history"] = crc32(&history.collect::<Vec<u8>>()).into();
    let end = footer.to_string().into_bytes();
    let length = u32::try_from(end.len()).unwrap().to_le_bytes();
    fs::write(path, [&stored[..], &end, &length, &crc32(&end).to_le_bytes()].concat()).unwrap();
}

#[test]
fn inputs_that_lead_to_another_world_are_found_after_the_first_reply() {
    let folder = tempfile::tempdir().unwrap();
    let (server, caller, _) = long_world(folder.path());
    let digest = caller.digest();
    drop((server, caller));
    change_checks(folder.path(), &[3]);
    follow_log(folder.path());

    let (_server, caller) = again(folder.path());
    assert_eq!(caller.digest(), digest, "it was not replayed before the first reply");
    until("the input that differs is found", || {
        let answer = caller.get("/api/business/companies");
        answer.status == 500 && String::from_utf8_lossy(&answer.body).contains("input 3 ")
    });
    assert_eq!(checkpoint(folder.path()), None);
}

#[test]
fn a_checkpoint_is_a_copy_that_a_world_does_not_need() {
    let folder = tempfile::tempdir().unwrap();
    let (server, caller, _) = long_world(folder.path());
    let digest = caller.digest();
    drop((server, caller));
    let file = checkpoint(folder.path()).unwrap();
    let whole = fs::read(&file).unwrap();
    let flipped = |place: usize| {
        let mut bytes = whole.clone();
        bytes[place] ^= 1;
        bytes
    };
    let damaged = [
        Vec::new(),
        whole[..whole.len() / 2].to_vec(),
        flipped(0),
        flipped(100),
        flipped(whole.len() / 2),
        flipped(whole.len() - 20),
        flipped(whole.len() - 1),
    ];
    for bytes in damaged {
        fs::write(&file, bytes).unwrap();
        let (server, caller) = again(folder.path());
        assert_eq!(caller.digest(), digest);
        drop((server, caller));
    }
    let (code, _, stderr) = run(&["journal", "compact", path(folder.path())]);
    assert_eq!((code, checkpoint(folder.path())), (0, None), "{stderr}");

    let (server, caller) = again(folder.path());
    assert_eq!(caller.digest(), digest);
    until("the replayed world gets a checkpoint", || checkpoint(folder.path()).is_some());
    caller.send(&caller.request("DELETE", "/_sandbox/world")).expect(200);
    assert_eq!(checkpoint(folder.path()), None, "a deleted world has none");
    drop((server, caller));
    fs::write(&file, whole).unwrap(); // as if the process had been killed before the removal
    let (_server, caller) = again(folder.path());
    assert_eq!(checkpoint(folder.path()), None, "a start removes it");
    assert!(pages_of_events(&caller).is_empty());
}

#[test]
fn a_checkpoint_of_another_history_is_not_used() {
    let folder = tempfile::tempdir().unwrap();
    let (server, caller) = again(folder.path());
    tick(&server, &caller, LEAST - 100);
    drop((server, caller));
    let log = file(folder.path());
    let kept = fs::metadata(&log).unwrap().len();
    // The input that differs has the same size, and the inputs after it are equal.
    let go_on = |name: &str| {
        let (server, caller) = again(folder.path());
        hire(&caller, &caller.company(0), name).expect(201);
        tick(&server, &caller, 200);
        (server, caller)
    };
    let (server, caller) = go_on("Old Obi");
    until("the checkpoint is stored", || checkpoint(folder.path()).is_some());
    drop((server, caller));
    let stored = checkpoint(folder.path()).unwrap();
    let earlier = fs::read(&stored).unwrap();
    OpenOptions::new().write(true).open(&log).unwrap().set_len(kept).unwrap();

    let (server, caller) = go_on("New Obi");
    let digest = caller.digest();
    drop((server, caller));
    fs::write(&stored, earlier).unwrap();
    let (_server, caller) = again(folder.path());
    assert_eq!(caller.digest(), digest);
}

#[test]
fn endpoints_continue_after_a_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    let receiver = Receiver::start(|_, _| Reaction::status(200));
    let (server, caller) = again(folder.path());
    let endpoint = json!({"url": receiver.url(), "events": ["employee.*"]});
    let made = caller.post("/_sandbox/webhook-endpoints", &endpoint).made();
    let company = fill(&server, &caller);
    until("the checkpoint is stored", || checkpoint(folder.path()).is_some());
    let before = receiver.seen().len();
    assert!(before > 0);
    drop((server, caller));

    let (_server, caller) = again(folder.path());
    hire(&caller, &company, "Eve Obi").expect(201);
    until("the next event is delivered", || receiver.seen().len() > before);
    let seen = receiver.seen();
    assert_eq!(seen.len(), before + 1, "no event is delivered twice");
    let endpoints = caller.get("/_sandbox/webhook-endpoints").expect(200);
    assert_eq!(endpoints["data"][0]["id"], made["endpoint"]["id"]);
}
