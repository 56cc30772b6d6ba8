//! Requests of one key that arrive together while its world is deleted, reset, or leaves memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;

use crate::harness::{Caller, Server};

use super::{hire, path};

/// Runs an action while others read with these keys.
fn while_read(server: &Arc<Server>, keys: &[&str], act: impl FnOnce()) {
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for key in keys {
            let (caller, ended) = (Caller::with_key(server, key), &ended);
            scope.spawn(move || {
                while !ended.load(Ordering::SeqCst) {
                    caller.send(&caller.request("GET", "/api/business/companies"));
                }
            });
        }
        act();
        ended.store(true, Ordering::SeqCst);
    });
}

#[test]
fn a_deleted_world_does_not_return_to_requests_that_come_during_the_deletion() {
    let folder = tempfile::tempdir().unwrap();
    let flags = ["--journal", path(folder.path())];
    let server = Arc::new(Server::start(&flags));
    let caller = Caller::with_key(&server, "test_key");
    let company = caller.company(0);
    let fresh = caller.digest();
    for round in 0..40 {
        hire(&caller, &company, "Ada Obi").expect(201);
        while_read(&server, &["test_key"; 4], || {
            caller.send(&caller.request("DELETE", "/_sandbox/world")).expect(200);
        });
        assert_eq!(caller.digest(), fresh, "after deletion {round}");
    }
    hire(&caller, &company, "Ben Obi").expect(201);
    let digest = caller.digest();
    drop((server, caller));
    let server = Arc::new(Server::start(&flags));
    assert_eq!(Caller::with_key(&server, "test_key").digest(), digest);
}

#[test]
fn a_world_does_not_leave_memory_while_its_reset_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let flags = ["--journal", path(folder.path()), "--max-worlds", "1"];
    let server = Arc::new(Server::start(&flags));
    let caller = Caller::with_key(&server, "test_key");
    let company = caller.company(0);
    // While another request needs the only place, a write may find no room.
    let insist = |send: &dyn Fn() -> crate::harness::Answer| {
        loop {
            let answer = send();
            if answer.status != 503 {
                assert!(answer.status < 300, "{answer:?}");
                return answer;
            }
        }
    };
    while_read(&server, &["test_key", "test_key", "test_1", "test_2"], || {
        for round in 0..100 {
            insist(&|| hire(&caller, &company, "Ada Obi"));
            insist(&|| caller.post("/_sandbox/reset", &json!({})));
            let found = insist(&|| caller.get("/api/business/employees?per_page=1")).json();
            assert_eq!(found["meta"]["total"], 75, "after reset {round}");
        }
    });
    insist(&|| hire(&caller, &company, "Ben Obi"));
    let digest = caller.digest();
    drop((server, caller));
    let server = Arc::new(Server::start(&flags));
    assert_eq!(Caller::with_key(&server, "test_key").digest(), digest);
}
