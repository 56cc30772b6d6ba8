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

/// Variables configure the server of a job; they must not forbid an exam in the same job.
#[cfg(unix)]
#[test]
fn a_variable_without_a_meaning_is_ignored_and_its_flag_is_refused() {
    let url = ["--url", "http://127.0.0.1:1", "--api-key", "k", "--", "true"];
    let own = ["--", "true"];
    for (variable, flags, tool, why) in [
        ("SANDBOX_SEED", &url[..], "exam", "no sandbox answers"),
        ("SANDBOX_START", &url, "exam", "no sandbox answers"),
        ("SANDBOX_COMPANIES", &url, "explore", "no sandbox answers"),
        ("SANDBOX_EXAM_KEY", &own, "exam", "no call that changes something"),
        ("SANDBOX_EXAM_KEY", &own, "explore", "decided nothing"),
    ] {
        let value = if variable == "SANDBOX_START" { "2026-03-02T00:00:00Z" } else { "7" };
        let mut command = command(&[&[tool], flags].concat());
        let said = finish(command.env(variable, value)).stderr;
        let said = String::from_utf8(said).expect("text");
        assert!(said.contains(why), "{variable} {tool}: {said}");
    }
    for tool in ["exam", "explore"] {
        let flag = refused(&[&[tool, "--seed", "7"], &url[..]].concat());
        assert!(flag.contains("--seed cannot be used with --url"), "{flag}");
        let keyed = refused(&[&[tool, "--api-key", "k"], &own[..]].concat());
        assert!(keyed.contains("--api-key needs --url"), "{keyed}");
    }
}

#[cfg(unix)]
#[test]
fn what_a_command_prints_does_not_control_the_terminal() {
    let hostile =
        r"printf '\033[2J\033]0;title\007\ttab\n'; head -c 20000 /dev/zero | tr '\0' x; exit 3";
    let said = refused(&["exam", "--", "sh", "-c", hostile]);
    assert!(said.contains("[2J") && said.contains("    tab"), "{said:?}");
    assert!(!said.contains(|letter: char| letter.is_control() && letter != '\n'), "{said:?}");
    let longest = said.lines().map(|line| line.chars().count()).max();
    assert!(longest.is_some_and(|longest| longest < 250), "{longest:?}");
}

#[cfg(unix)]
#[test]
fn two_runs_that_differ_are_described_in_words() {
    if !has_python() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let app = folder.path().join("app.py");
    let apps = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/exam/apps.py");
    let text = std::fs::read_to_string(apps).expect("a file");
    let (begin, _) = text.split_once("# --- correct designs").expect("its parts");
    let random = "to = call('POST', '/api/payments/beneficiaries', payee(), 'supplier')['id']\n\
        call('POST', '/api/payments/payouts', payout(to, random.randrange(10**4, 10**6), 'bill'), 'bill')\n";
    std::fs::write(&app, format!("{begin}\n{random}")).expect("a file");
    let app = app.display().to_string();
    let said = refused(&["exam", "--", "python3", &app, "random"]);
    assert!(said.contains("end in different states"), "{said}");
    let line = said.lines().find(|line| line.contains("only in the first run: payout of "));
    let line = line.unwrap_or_else(|| panic!("{said}"));
    assert!(line.ends_with(" NGN (Ada Supplies), paid"), "{said}");
}

#[cfg(unix)]
#[test]
fn an_exam_without_a_judgement_leaves_earlier_reports() {
    let folder = tempfile::tempdir().expect("a folder");
    let [old, new] = ["old.json", "new.xml"].map(|name| folder.path().join(name));
    std::fs::write(&old, "{}").expect("a file");
    let [json, junit] = [&old, &new].map(|path| path.display().to_string());
    refused(&["exam", "--json", &json, "--junit", &junit, "--", "true"]);
    assert_eq!(std::fs::read_to_string(&old).expect("a file"), "{}");
    assert!(!new.exists());
    let dash = refused(&["exam", "--junit", "-", "--", "true"]);
    assert!(dash.contains("--junit -: expected the name of a file"), "{dash}");
}

/// Waits until the sandbox has a snapshot and a fork of the command, interrupts the command, and looks at what is left.
#[cfg(unix)]
#[test]
fn an_interrupted_command_leaves_nothing_in_a_running_sandbox() {
    for tool in ["exam", "explore"] {
        let server = Arc::new(Server::start(&["--seed", "7"]));
        let url = format!("http://127.0.0.1:{}", server.port());
        let key = "test_mine";
        let caller = Caller::with_key(&server, key);
        caller.company(0);
        let [snapshots, worlds] = ["/_sandbox/snapshots", "/_sandbox/worlds"]
            .map(|path| || caller.get(path).expect(200)["data"].as_array().expect("rows").len());
        let temporary = tempfile::tempdir().expect("a folder");
        let mut command = command(&[tool, "--url", &url, "--api-key", key, "--", "sleep", "100"]);
        command.env("TMPDIR", temporary.path()).current_dir(temporary.path());
        let mut child = command.spawn().expect("the binary starts");
        while snapshots() == 0 || worlds() < 2 {
            assert!(child.try_wait().expect("a child").is_none(), "{tool} ended too early");
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        let id = child.id().to_string();
        let sent = std::process::Command::new("kill").args(["-INT", &id]).status();
        assert!(sent.expect("kill is a program").success());
        assert_eq!(child.wait().expect("a child").code(), Some(130), "{tool}");
        assert_eq!((snapshots(), worlds()), (0, 1), "{tool}");
        let left = std::fs::read_dir(temporary.path()).expect("a folder");
        let left: Vec<_> = left.map(|entry| entry.expect("an entry").file_name()).collect();
        assert!(left.iter().all(|name| name == "sandbox-findings"), "{tool}: {left:?}");
    }
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
    // The longest key: the keys of its forks are not longer.
    let key = format!("test_{}", "k".repeat(250));
    let caller = Caller::with_key(&server, &key);
    let company = caller.company(0);
    let body = json!({"company_id": company, "name": "Ada Obi", "role": "Baker", "department": "Kitchen", "start_date": "2026-02-02"});
    caller.post("/api/business/employees", &body).expect(201);
    let before = caller.digest();
    let url = format!("http://127.0.0.1:{}", server.port());
    let examined = exam("one_key", &["--url", &url, "--key", &key, "--case", "lost_reply"]);
    examined.assert_no_finding("one_key");
    assert_eq!(examined.report["world"]["seed"], 7);
    assert_eq!(caller.digest(), before);
    let worlds = caller.get("/_sandbox/worlds").expect(200)["data"].as_array().expect("rows").len();
    assert_eq!(worlds, 1, "the forks are closed");
}
