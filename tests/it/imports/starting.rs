//! `--import`: every world begins with the import, also after a restart and in a replay.

use std::sync::Arc;

use crate::harness::{Caller, Server, command, finish};

use super::{company, id_of, import};

#[test]
fn every_key_begins_with_the_import_as_if_it_had_been_sent() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("acme.toml");
    std::fs::write(&file, company(3)).unwrap();
    let file = file.to_str().unwrap();
    let server = Arc::new(Server::start(&["--seed", "42", "--import", file]));
    let (first, second) = (Caller::of(&server), Caller::of(&server));
    assert_eq!(id_of(&first, "E-3"), id_of(&second, "E-3"));
    let sent = Caller::of(&Arc::new(Server::start(&["--seed", "42"])));
    import(&sent, &company(3)).expect(201);
    assert_eq!(first.digest(), sent.digest());
    assert_eq!(id_of(&first, "E-3"), id_of(&sent, "E-3"));
    let begun = first.digest();
    first.post("/_sandbox/trigger", &serde_json::json!({ "type": "company.created" })).expect(200);
    first.post("/_sandbox/reset", &serde_json::json!({})).expect(200);
    assert_eq!(first.digest(), begun);
}

#[test]
fn a_recording_and_a_journal_contain_the_import() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (file, tape, journal) = (path("acme.toml"), path("tape.jsonl"), path("journal"));
    std::fs::write(&file, company(2)).unwrap();
    let flags = ["--seed", "42", "--import", &file, "--record", &tape];
    let server = Arc::new(Server::start(&flags));
    let caller = Caller::with_key(&server, "test_tape");
    let run = serde_json::json!({ "company_id": id_of(&caller, "acme"), "period": "2026-01" });
    caller.post("/v1/payroll/run", &run).expect(201);
    let other =
        "[[company]]\nid = \"other\"\nlegal_name = \"O\"\ncountry = \"GB\"\ncurrency = \"GBP\"\n";
    import(&caller, other).expect(201);
    let at_end = caller.digest();
    drop(caller);
    Arc::into_inner(server).unwrap().end();
    let replayed = finish(&mut command(&["replay", &tape]));
    let out = String::from_utf8(replayed.stdout).unwrap();
    assert!(replayed.status.success() && out.contains(&at_end), "{out}");
    let flags = ["--seed", "42", "--import", &file, "--journal", &journal];
    let server = Arc::new(Server::start(&flags));
    let caller = Caller::with_key(&server, "test_journal");
    caller.post("/v1/payroll/run", &run).expect(201);
    let before = caller.digest();
    drop(caller);
    Arc::into_inner(server).unwrap().end();
    let server = Arc::new(Server::start(&flags));
    assert_eq!(Caller::with_key(&server, "test_journal").digest(), before);
}

#[test]
fn a_fork_of_an_event_of_the_import_is_refused_with_that_reason() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("acme.toml");
    std::fs::write(&file, company(1)).unwrap();
    let flags = ["--seed", "42", "--import", file.to_str().unwrap()];
    let caller = Caller::of(&Arc::new(Server::start(&flags)));
    for _ in 0..2 {
        let first = caller.events()[0]["id"].as_str().unwrap().to_owned();
        let path = format!("/_sandbox/events/{first}/fork");
        let body = serde_json::json!({ "key": "test_fork_of_import" });
        let problem = caller.post(&path, &body).refused(422, "validation_failed");
        assert_eq!(problem["errors"][0]["pointer"], "/event_id", "{problem}");
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.contains("the import that worlds of this server begin with"), "{detail}");
        let made = serde_json::json!({ "type": "company.created" });
        caller.post("/_sandbox/trigger", &made).expect(200);
    }
}
