//! Subcommands that print and end, and failures of commands.

use std::io::Read;
use std::net::TcpListener;
use std::process::Stdio;

use crate::harness::command;

use super::{ended, run};

#[test]
fn version_and_help_name_the_important_flags() {
    let (code, out, err) = run(&["--version"]);
    assert_eq!(
        (code, out.as_str(), err.as_str()),
        (0, concat!("sandbox ", env!("CARGO_PKG_VERSION"), "\n"), "")
    );
    let (code, out, err) = run(&["--help"]);
    assert_eq!((code, err.as_str()), (0, ""));
    for word in [
        "--seed",
        "--port",
        "--clock",
        "--api-key",
        "SANDBOX_SEED",
        "gross-to-net",
        "healthcheck",
        "Examples:",
        "Exit codes:",
    ] {
        assert!(out.contains(word), "--help does not mention {word}");
    }
    for subcommand in ["serve", "world", "openapi", "gross-to-net", "healthcheck", "completions"] {
        let (code, out, _) = run(&[subcommand, "--help"]);
        assert!(code == 0 && out.contains("Usage: sandbox"), "{subcommand}: {out}");
    }
}

#[test]
fn wrong_usage_is_exit_code_two_with_the_reason() {
    for (arguments, named) in [
        (vec!["--no-such-flag"], "--no-such-flag"),
        (vec!["explain", ""], "expected an id"),
        (vec!["diff", "", "key"], "the first key must have"),
        (vec!["scenario", "test", "happy-path", "--junit", "-"], "expected the name of a file"),
        (vec!["open", "-", "--check", "--api-key", "sk_live_x"], "must not look like a live key"),
        (vec!["no-such-command"], "no-such-command"),
        (vec!["--seed", "forty-two"], "forty-two"),
        (vec!["--seed", "-1"], "-1"),
        (vec!["--port", "70000"], "70000"),
        (vec!["--clock", "sundial"], "instant, manual"),
        (vec!["--clock", "real:0"], "real:0"),
        (vec!["--clock", "manual:2"], "manual:2"),
        (vec!["--start", "yesterday"], "yesterday"),
        (vec!["--countries", "NG,XX"], "XX"),
        (vec!["--employees-per-company", "99999999999999999999"], "expected a whole number from 0"),
        (vec!["--log", "xml"], "xml"),
        (vec!["--port", "0", "--log-filter", "debugg"], "did you mean debug?"),
        (vec!["--port", "0", "--log-filter", "sandbox::requst=debug"], "mean sandbox::request?"),
        (vec!["--port", "0", "--log-filter", "warn,nosuch=debug"], "expected a level"),
        (vec!["world", "--countries", "Nigeria"], "NIGERIA"),
        (vec!["gross-to-net", "--country", "Nigeria", "--gross", "1"], "NIGERIA"),
        (vec!["gross-to-net", "--country", "QQ", "--gross", "1"], "there is no country \"QQ\""),
        (
            vec!["gross-to-net", "--country", "GB", "--gross", "1", "--date", "2026-13-01"],
            "expected a day such as 2026-06-30",
        ),
        (
            vec![
                "gross-to-net",
                "--country",
                "GB",
                "--component",
                "basic=90071992547409.00",
                "--component",
                "bonus=1.00",
            ],
            "the maximum is 90071992547409.91",
        ),
        (vec!["healthcheck", "--port", "none"], "expected a port from 0 to 65535"),
        (vec!["--port", "tcp://10.0.0.1:4747"], "expected a port from 0 to 65535"),
        (vec!["gross-to-net", "--country", "GB", "--gross", "-5"], "`-5` is not an amount"),
        (vec!["gross-to-net", "--country", "GB", "--gross", "abc"], "`abc` is not an amount"),
        (vec!["scenario", "new", ""], "a scenario needs a name"),
        (vec!["scenario", "new", ".."], "a scenario needs a name"),
        (vec!["mcp", "--api-key", "sk_live_9"], "must not look like a live key"),
        (vec!["exam", "--case", "zzzzzzzzz", "--", "true"], "expected one of "),
        (vec!["diff", "/dev/null", "test_key"], "it is not a regular file"),
    ] {
        let (code, out, err) = run(&arguments);
        assert_eq!((code, out.as_str()), (2, ""), "{arguments:?}: {err}");
        assert!(err.contains(named), "{arguments:?}: {err}");
        assert!(!err.contains("panicked"), "{err}");
    }
}

#[test]
fn a_folder_is_no_scenario() {
    for arguments in [&["scenario", "check", "."][..], &["--scenario", "."]] {
        let (code, _, err) = run(arguments);
        assert_eq!(code, 1, "{err}");
        assert!(err.contains("error: .: it is a folder: name a file"), "{err}");
    }
}

#[test]
fn a_failure_is_exit_code_one_with_the_reason() {
    let taken = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = taken.local_addr().unwrap();
    let port = address.port().to_string();
    let (code, out, err) = run(&["--quiet", "--port", &port]);
    assert_eq!((code, out.as_str()), (1, ""), "{err}");
    assert!(err.contains(&address.to_string()), "the message has the address: {err}");
    let (code, out, err) = run(&["--quiet", "--port", "0", "--port-file", "/nowhere/at/all"]);
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(err.contains("/nowhere/at/all"), "{err}");
}

#[test]
fn a_closed_reader_is_no_failure() {
    let mut child = command(&["world", "--companies", "40"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = child.stdout.take().unwrap();
    out.read_exact(&mut [0; 10]).unwrap();
    drop(out);
    let (code, _, err) = ended(&child.wait_with_output().unwrap());
    assert_eq!((code, err.as_str()), (0, ""));
}

#[test]
fn completions_offer_events_scenarios_and_countries() {
    for shell in ["bash", "zsh", "fish"] {
        let (_, out, _) = run(&["completions", shell]);
        for word in ["payroll_run.paid", "partial-failure", "NG"] {
            assert!(out.contains(word), "{shell}: {word}");
        }
    }
    // Other values are taken, too.
    let (_, out, _) = run(&["trigger", "--help"]);
    assert!(!out.contains("payroll_run.paid"), "{out}");
}

#[test]
fn completions_are_printed_for_the_known_shells() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let (code, out, err) = run(&["completions", shell]);
        assert_eq!(code, 0, "{err}");
        assert!(out.contains("gross-to-net") && out.contains("healthcheck"), "{shell}");
    }
    assert_eq!(run(&["completions", "cobol"]).0, 2);
}

#[test]
fn man_writes_a_page_for_each_subcommand() {
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("share/man1");
    let (code, out, err) = run(&["man", pages.to_str().unwrap()]);
    assert_eq!((code, out.as_str(), err.as_str()), (0, "", ""));
    let page = |name: &str| std::fs::read_to_string(pages.join(name)).unwrap();
    let (main, test) = (page("sandbox.1"), page("sandbox-scenario-test.1"));
    assert!(main.contains("SANDBOX_SEED") && main.contains("gross\\-to\\-net"), "{main}");
    assert!(test.starts_with(".ie") && test.contains("\\-\\-junit"), "{test}");
    assert!(!pages.join("sandbox-man.1").exists(), "a hidden subcommand has no page");
    let (code, out, err) = run(&["man", "/dev/null/man1"]);
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(err.contains("cannot write to /dev/null/man1"), "{err}");
}

#[test]
fn gross_to_net_prints_the_net_pay() {
    let (code, out, err) = run(&["gross-to-net", "--country", "GB", "--gross", "3000.00"]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.contains("2453.64"), "{out}");
}

#[test]
fn the_types_of_events_are_printed_as_lines_or_as_json() {
    let (code, lines, _) = run(&["trigger", "--list"]);
    let (json_code, json, _) = run(&["trigger", "--list", "--json"]);
    let types: Vec<String> = serde_json::from_str(&json).unwrap();
    assert_eq!((code, json_code), (0, 0));
    assert!(types.len() > 100 && types.iter().map(String::as_str).eq(lines.lines()), "{json}");
}

#[test]
fn each_command_about_the_world_of_a_key_has_the_same_flag_for_it() {
    for subcommand in [
        "trigger", "events", "explain", "listen", "import", "export", "share", "open", "mcp",
        "exam", "explore",
    ] {
        let (code, out, _) = run(&[subcommand, "--help"]);
        assert!(code == 0 && out.contains("--api-key <KEY>"), "{subcommand}: {out}");
    }
}
