//! `sandbox exam`: refused arguments, processes that it ends, and state that it does not change.

use std::sync::Arc;

use serde_json::json;

use crate::exam::{exam, has_python};
use crate::harness::server::{command, finish};
use crate::harness::{Caller, Server};

fn refused(arguments: &[&str]) -> String {
    let output = finish(&mut command(arguments));
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    String::from_utf8(output.stderr).expect("text")
}

#[test]
fn wrong_use_is_refused_with_the_nearest_name() {
    let near = refused(&["exam", "--case", "lost_replay", "--", "true"]);
    assert!(near.contains("did you mean lost_reply?"), "{near}");
    let near = refused(&["exam", "--on", "createPayuot", "--", "true"]);
    assert!(near.contains("did you mean createPayout?"), "{near}");
    let needs = refused(&["exam", "--case", "hook_late", "--", "true"]);
    assert!(needs.contains("needs --webhook URL"), "{needs}");
    let jobs = refused(&["exam", "--webhook", "http://127.0.0.1:9/", "--jobs", "2", "--", "true"]);
    assert!(jobs.contains("{port}"), "{jobs}");
    refused(&["exam", "--key", "k", "--", "true"]);
    refused(&["exam", "--api-key", "k", "--", "true"]);
    refused(&["exam"]);
}

#[cfg(unix)]
#[test]
fn a_command_that_cannot_be_judged_is_exit_2() {
    let failed = refused(&["exam", "--", "sh", "-c", "echo what went wrong; exit 3"]);
    assert!(failed.contains("exit code 3") && failed.contains("| what went wrong"), "{failed}");
    let silent = refused(&["exam", "--", "sh", "-c", "exit 3"]);
    assert!(silent.trim_end().ends_with("; it printed nothing"), "{silent}");
    let nothing = refused(&["exam", "--", "true"]);
    assert!(nothing.contains("no call that changes something"), "{nothing}");
    let absent = refused(&["exam", "--", "no-such-command"]);
    assert!(absent.contains("cannot run no-such-command"), "{absent}");
}

#[test]
fn a_command_that_never_ends_is_ended_with_its_group() {
    if !has_python() {
        return;
    }
    let examined = exam("never_ends", &["--timeout", "3s", "--case", "cut_before"]);
    assert_eq!(examined.failures(), ["createBeneficiary#1 cut_before app.never_ends"]);
    assert_eq!(examined.report["cases"][0]["exit"], json!(null));
}

#[test]
fn the_world_of_a_running_sandbox_does_not_change() {
    if !has_python() {
        return;
    }
    let server = Arc::new(Server::start(&["--seed", "7"]));
    let caller = Caller::with_key(&server, "test_mine");
    let company = caller.company(0);
    let body = json!({"company_id": company, "name": "Ada Obi", "role": "Baker", "department": "Kitchen", "start_date": "2026-02-02"});
    caller.post("/api/business/employees", &body).expect(201);
    let before = caller.digest();
    let url = format!("http://127.0.0.1:{}", server.port());
    let examined = exam("one_key", &["--url", &url, "--key", "test_mine", "--case", "lost_reply"]);
    examined.assert_no_finding("one_key");
    assert_eq!(examined.report["world"]["seed"], 7);
    assert_eq!(caller.digest(), before);
    let worlds = caller.get("/_sandbox/worlds").expect(200)["data"].as_array().expect("rows").len();
    assert_eq!(worlds, 1, "the forks are closed");
}
