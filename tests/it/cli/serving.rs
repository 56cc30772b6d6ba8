//! The server: ready line, banner, variables, health, signals.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::Arc;

use serde_json::{Value, json};

use crate::harness::{Caller, Request, Server, command, finish};

use super::{ended, run};

const WEBHOOK_SECRET: &str = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";

#[test]
fn the_ready_line_is_all_of_stdout_and_quiet_leaves_nothing_else() {
    let server = Server::start(&["--seed", "42"]);
    let ready = format!("listening on http://127.0.0.1:{}\n", server.port());
    assert_eq!(server.ready_line(), ready);
    let answer = Request::new("GET", "/_sandbox/health").send(server.port());
    assert_eq!(answer.data(), serde_json::json!({"status": "ok"}));
    let (out, err) = server.stop();
    assert_eq!((out.as_str(), err.as_str()), ("", ""));
}

#[test]
fn the_banner_names_the_address_the_companies_and_a_curl_line_that_works() {
    let server = Server::spawn(&mut command(&["serve", "--port", "0", "--seed", "42"]));
    let caller = Caller::with_key(&Arc::new(Server::start(&["--seed", "42"])), "test");
    let port = server.port();
    let listed = caller.get("/api/business/companies").data();
    let (out, banner) = server.stop();
    assert_eq!(out, "");
    assert!(banner.contains(&format!("http://127.0.0.1:{port}")), "{banner}");
    for company in listed.as_array().unwrap() {
        for member in ["id", "legal_name"] {
            assert!(banner.contains(company[member].as_str().unwrap()), "{banner}");
        }
    }
    assert!(banner.contains("/docs") && banner.contains("/openapi.json"), "{banner}");
    let curl = banner.lines().find(|line| line.trim_start().starts_with("curl ")).unwrap();
    let key = curl.split("Bearer ").nth(1).unwrap().split('\'').next().unwrap();
    let target = curl.split(&format!(":{port}")).nth(1).unwrap().trim_end_matches('\'');
    Request::new("GET", target).key(key).send(caller.port()).expect(200);
}

#[test]
fn the_port_file_holds_the_port_when_the_server_listens() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("port");
    let server = Server::start(&["--port-file", file.to_str().unwrap()]);
    let port: u16 = std::fs::read_to_string(&file).unwrap().trim().parse().unwrap();
    assert_eq!(port, server.port());
}

#[test]
fn every_flag_is_a_variable_too_and_the_flag_wins() {
    let mut prepared = command(&["--quiet", "--companies", "4"]);
    prepared.envs([
        ("SANDBOX_SEED", "7"),
        ("SANDBOX_PORT", "0"),
        ("SANDBOX_COMPANIES", "2"),
        ("SANDBOX_EMPLOYEES_PER_COMPANY", "5"),
        ("SANDBOX_COUNTRIES", "GB"),
        ("SANDBOX_START", "2025-03-01T00:00:00Z"),
        ("SANDBOX_CLOCK", "manual"),
        ("SANDBOX_API_KEY", "test_one,test_two"),
    ]);
    let server = Arc::new(Server::spawn(&mut prepared));
    let caller = Caller::with_key(&server, "test_two");
    let info = caller.get("/_sandbox/info").data();
    assert_eq!((&info["seed"], &info["clock"]), (&Value::from(7), &Value::from("manual")));
    assert_eq!(
        (&info["companies"], &info["employees_per_company"]),
        (&Value::from(4), &Value::from(5))
    );
    assert_eq!(caller.now(), "2025-03-01T00:00:00.000Z");
    let companies = caller.get("/api/business/companies").data();
    assert!(companies.as_array().unwrap().iter().all(|company| company["country"] == "GB"));
    Caller::with_key(&server, "test_three")
        .get("/api/business/companies")
        .refused(401, "invalid_api_key");
}

#[test]
fn the_variable_of_a_switch_is_true_false_or_refused() {
    for name in
        ["SANDBOX_INSECURE_NO_AUTH", "SANDBOX_QUIET", "SANDBOX_EXIT_WITH_STDIN", "SANDBOX_WATCH"]
    {
        let mut open = command(&["--host", "0.0.0.0", "--port", "0"]);
        let (code, _, err) = ended(&finish(open.env(name, "flase")));
        assert!(code == 2 && err.contains("expected true or false"), "{name}: {err}");
    }
    let mut private = command(&["--host", "0.0.0.0", "--port", "0"]);
    for value in ["No", "0", ""] {
        let (code, _, err) = ended(&finish(private.env("SANDBOX_INSECURE_NO_AUTH", value)));
        assert!(code == 2 && err.contains("--admin-token"), "{value}: {err}");
    }
    drop(Server::spawn(
        command(&["--host", "0.0.0.0", "--port", "0"]).env("SANDBOX_INSECURE_NO_AUTH", "Yes"),
    ));
}

#[test]
fn an_empty_variable_is_absent_and_an_empty_secret_is_refused() {
    let mut server = command(&["--quiet", "--port", "0"]);
    for name in [
        "PORT",
        "SANDBOX_IMPORT",
        "SANDBOX_PORT",
        "SANDBOX_SEED",
        "SANDBOX_SCENARIO",
        "SANDBOX_CONTRACT",
    ] {
        server.env(name, "");
    }
    drop(Server::spawn(&mut server));
    for name in ["SANDBOX_API_KEY", "SANDBOX_ADMIN_TOKEN"] {
        let (code, _, err) = ended(&finish(command(&["--port", "0"]).env(name, "")));
        assert!(code == 2 && err.contains("1 to 255 visible ASCII"), "{name}: {err}");
    }
}

#[test]
fn an_invalid_variable_is_named_unless_the_flag_is_given() {
    for (arguments, name, value, flag) in [
        (&["--quiet"][..], "SANDBOX_PORT", "tcp://10.0.0.1:4747", "--port <P>"),
        (&["--port", "0"], "SANDBOX_WATCH", "flase", "--watch"),
        (&["--port", "0"], "SANDBOX_WEBHOOK_RETRIES", "often", "--webhook-retries <SCHEDULE>"),
        (&["serve", "--port", "0"], "SANDBOX_SEED", "x", "--seed <N>"),
        (&["world"], "SANDBOX_SEED", "x", "--seed <N>"),
        (&["healthcheck"], "SANDBOX_PORT", "tcp://10.0.0.1:4747", "--port <P>"),
        (&["listen", "--port", "0"], "SANDBOX_PORT", "tcp://10.0.0.1:4747", "--port <P>"),
    ] {
        let (code, _, err) = ended(&finish(command(arguments).env(name, value)));
        let named = format!("for '{name} (the variable of {flag})'");
        assert!(code == 2 && err.contains(&named), "{name}: {err}");
    }
    for given in [&["--port", "tcp"][..], &["--port=tcp"], &["-p", "tcp"], &["-ptcp"]] {
        let (code, _, err) = ended(&finish(command(given).env("SANDBOX_PORT", "tcp")));
        assert!(code == 2 && err.contains("for '--port <P>'"), "{given:?}: {err}");
    }
}

#[test]
fn port_is_the_variable_of_platforms_and_the_flag_and_its_own_variable_win() {
    let server = Server::spawn(command(&["--quiet"]).env("PORT", "0"));
    assert_ne!(server.port(), 4747);
    let taken = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    drop(Server::spawn(command(&["--quiet", "--port", "0"]).env("PORT", &port)));
    drop(Server::spawn(command(&["--quiet"]).env("PORT", &port).env("SANDBOX_PORT", "0")));
    let (code, _, err) = ended(&command(&["--quiet"]).env("PORT", "http").output().unwrap());
    assert!(code == 2 && err.contains("PORT"), "{err}");
}

#[test]
fn healthcheck_reports_whether_a_sandbox_serves() {
    let server = Server::start(&[]);
    let port = server.port().to_string();
    let (code, out, err) = run(&["healthcheck", "--port", &port]);
    assert_eq!(code, 0, "{err}");
    assert_eq!(out, format!("the sandbox at 127.0.0.1:{port} is healthy\n"));
    // Port 1 needs privileges, so no test server listens there.
    let (code, out, err) = run(&["healthcheck", "--port", "1"]);
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(err.contains("127.0.0.1:1"), "{err}");
    let stranger = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = stranger.local_addr().unwrap().port().to_string();
    let other = std::thread::spawn(move || {
        let (mut stream, _) = stranger.accept().unwrap();
        let _ = stream.read(&mut [0; 1_024]);
        stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n").unwrap();
    });
    assert_eq!(run(&["healthcheck", "--port", &port]).0, 1, "another server is not a sandbox");
    other.join().unwrap();
}

#[test]
fn healthcheck_needs_no_token_and_may_send_one() {
    let server = Server::start(&["--admin-token", "token_1"]);
    let port = server.port().to_string();
    assert_eq!(run(&["healthcheck", "--port", &port]).0, 0);
    assert_eq!(run(&["healthcheck", "--port", &port, "--admin-token", "token_1"]).0, 0);
}

#[cfg(unix)]
#[test]
fn a_termination_signal_ends_the_process_cleanly() {
    for signal in ["-TERM", "-INT"] {
        let mut child =
            command(&["--port", "0", "--quiet"]).stdout(Stdio::piped()).spawn().unwrap();
        let mut ready = [0; 13];
        child.stdout.as_mut().unwrap().read_exact(&mut ready).unwrap();
        assert_eq!(&ready, b"listening on ");
        let kill = format!("kill {signal} {}", child.id());
        let sent = Command::new("sh").args(["-c", &kill]).status().unwrap();
        assert!(sent.success());
        assert_eq!(child.wait().unwrap().code(), Some(0), "{signal}");
    }
}

/// `nohup` and some runners ignore it, and a child inherits that.
#[cfg(target_os = "linux")]
fn hangup_is_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    u64::from_str_radix(mask.trim(), 16).unwrap() & 1 == 1
}

#[cfg(target_os = "linux")]
#[test]
fn a_closed_terminal_ends_the_process_cleanly_unless_it_is_ignored() {
    let spawn = |program: &mut Command| {
        let mut child = program.stdout(Stdio::piped()).spawn().unwrap();
        let mut ready = [0; 13];
        child.stdout.as_mut().unwrap().read_exact(&mut ready).unwrap();
        assert_eq!(&ready, b"listening on ");
        child
    };
    let send = |signal: &str, child: &std::process::Child| {
        let kill = format!("kill {signal} {}", child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    };
    let arguments = ["--port", "0", "--quiet"];
    if !hangup_is_ignored() {
        let mut child = spawn(&mut command(&arguments));
        send("-HUP", &child);
        assert_eq!(child.wait().unwrap().code(), Some(0));
    }
    let program = command(&arguments);
    let mut ignoring = Command::new("sh");
    ignoring.args(["-c", "trap '' HUP; exec \"$0\" \"$@\""]).arg(program.get_program());
    let mut child = spawn(ignoring.args(program.get_args()));
    send("-HUP", &child);
    // The handler of SIGTERM ends it with 0; SIGHUP would have ended it with 129.
    send("-TERM", &child);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_persistent_connection_serves_many_requests() {
    let server = Server::start(&[]);
    let mut stream = TcpStream::connect(("127.0.0.1", server.port())).unwrap();
    for page in 1..=3 {
        let request = format!(
            "GET /api/business/employees?page={page} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer k\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let answer = crate::harness::http::read_answer(&mut stream, false).unwrap();
        assert_eq!(answer.expect(200)["meta"]["page"], page);
    }
}

#[test]
fn a_folder_of_scenarios_is_offered_and_does_not_run() {
    let folder = tempfile::tempdir().unwrap();
    let text = "title = \"Every payout fails\"\n\n[[outcome]]\non = \"payout.settle\"\nthen = \"failed\"\n";
    std::fs::write(folder.path().join("all-fail.toml"), text).unwrap();
    std::fs::write(folder.path().join("notes.txt"), "no scenario").unwrap();
    let dir = folder.path().to_str().unwrap();
    let caller = Caller::of(&std::sync::Arc::new(Server::start(&["--scenario-dir", dir])));
    let listed = caller.get("/_sandbox/scenarios").expect(200).to_string();
    assert!(listed.contains("all-fail") && !listed.contains("\"running\":true"), "{listed}");
    caller.post("/_sandbox/scenarios/all-fail/load", &serde_json::json!({})).expect(200);
    let listed = caller.get("/_sandbox/scenarios").expect(200).to_string();
    assert_eq!(listed.matches("\"running\":true").count(), 1, "{listed}");

    std::fs::write(folder.path().join("wrong.toml"), text.replace("failed", "eaten")).unwrap();
    let (code, _, err) = run(&["--port", "0", "--scenario-dir", dir]);
    assert_eq!(code, 1);
    assert!(err.contains("wrong.toml") && err.contains("eaten"), "{err}");
    let (code, _, err) = run(&["--port", "0", "--scenario-dir", "/no/such/folder"]);
    assert_eq!(code, 1);
    assert!(err.contains("--scenario-dir /no/such/folder"), "{err}");
}

#[test]
fn flags_without_a_meaning_are_refused_with_what_is_expected() {
    for (flags, expected) in [
        (&["--seed", "-1"][..], "a seed is a whole number from 0"),
        (&["--companies", "0"], "a world has at least 1 company"),
        (&["--companies", "-2"], "--companies"),
        (&["--cors-origin", "foo"], "an origin such as http://localhost:3000"),
        (&["--cors-origin", "http://a.test/path"], "an origin such as"),
        (&["--cors-origin", "http://a.test?x=1"], "an origin such as"),
        (&["--webhook-secret", WEBHOOK_SECRET], "--webhook-secret needs a --webhook"),
        (&["--watch"], "--watch needs a --scenario FILE"),
        (&["--watch", "--scenario", "happy-path"], "--watch needs a --scenario FILE"),
    ] {
        let (code, out, err) = run(&[&["--port", "0"], flags].concat());
        assert_eq!((code, out.as_str()), (2, ""), "{flags:?}: {err}");
        assert!(err.contains(expected) && !err.contains("unexpected"), "{flags:?}: {err}");
    }
    drop(Server::spawn(command(&["--port", "0"]).env("SANDBOX_WEBHOOK_SECRET", WEBHOOK_SECRET)));
    for origin in
        ["http://localhost:3000", "https://app.example.com/", "*", "null", "tauri://localhost"]
    {
        drop(Server::start(&["--cors-origin", origin]));
    }
}

#[test]
fn trigger_prints_five_lines_json_or_the_types() {
    let server = Server::start(&[]);
    let port = server.port().to_string();
    let trigger = |arguments: &[&str]| run(&[&["trigger", "--port", &port], arguments].concat());
    let (code, out, err) = trigger(&["payout.returned"]);
    assert_eq!((code, out.lines().count()), (0, 5), "{out}{err}");
    let lines: Vec<&str> = out.lines().collect();
    assert!(lines[0].starts_with("payout.returned  evt_"), "{out}");
    assert!(
        lines[2].starts_with("  subject  payout pyo_") && lines[2].ends_with(", returned"),
        "{out}"
    );
    assert!(lines[3].contains("payroll_run.created"), "{out}");
    let manual = Server::start(&["--clock", "manual"]);
    let port_of_manual = manual.port().to_string();
    let (_, waits, _) = run(&["trigger", "--port", &port_of_manual, "payroll_run.created"]);
    assert_eq!(waits.lines().count(), 6, "{waits}");
    assert!(
        waits.contains("  waiting  ") && waits.contains("calculate_run at 2026-01-01T00:00:02"),
        "{waits}"
    );
    let (code, out, _) = trigger(&["company.created", "--json"]);
    let whole: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &whole["event"]["type"]), (0, &"company.created".into()));
    let (code, out, _) = run(&["trigger", "--list"]);
    assert!(code == 0 && out.lines().any(|line| line == "payout.returned"), "{out}");
    let (code, out, err) = trigger(&["payout.retuned"]);
    assert_eq!((code, out.as_str()), (1, ""));
    assert_eq!(
        err,
        "error: no event has the type \"payout.retuned\": did you mean payout.returned?\n"
    );
    let (_, _, err) = trigger(&["zzz"]);
    assert_eq!(
        err,
        "error: no event has the type \"zzz\": list the types with sandbox trigger --list\n"
    );
    let caller = Caller::with_key(&Arc::new(server), "test_key");
    let rule = json!({"match": {"decision": "payout.settle"}, "outcome": {"then": "returned"}});
    caller.post("/_sandbox/rules", &rule).made();
    let (code, _, err) = run(&["trigger", "--port", &port, "--api-key", "test_key", "payout.paid"]);
    assert_eq!(code, 1, "{err}");
    assert!(err.contains("payout.paid did not happen: payout.settle was returned"), "{err}");
}

#[test]
fn a_key_or_token_that_a_header_cannot_contain_is_refused_and_not_repeated() {
    let secret = "secret\r\nX-Injected: 1";
    for arguments in [
        &["trigger", "company.created", "--api-key", secret][..],
        &["trigger", "company.created", "--admin-token", secret],
        &["events", "--api-key", secret],
        &["events", "--admin-token", secret],
        &["healthcheck", "--admin-token", secret],
        &["mcp", "--api-key", secret],
        &["mcp", "--api-key", ""],
        &["events", "--api-key", ""],
    ] {
        let (code, out, err) = run(arguments);
        let flag = arguments[arguments.len() - 2];
        let expected = format!("error: {flag} must have 1 to 255 visible ASCII characters\n");
        assert_eq!((code, out.as_str(), err), (2, "", expected), "{arguments:?}");
    }
}

#[test]
fn an_invalid_start_or_host_has_the_same_message_everywhere() {
    for start in ["x", "1970-01-01T00:00:00Z", "2150-01-01T00:00:00Z"] {
        let (code, _, err) = run(&["--port", "0", "--start", start]);
        assert_eq!(code, 2, "{start}: {err}");
        assert!(err.contains("between 2001 and 2098"), "{start}: {err}");
    }
    for host in ["x y", "host:80", "https://host"] {
        let (code, _, err) = run(&["--port", "0", "--allowed-host", host]);
        assert_eq!(code, 2, "{host}: {err}");
        assert!(err.contains("expected the name of a host without a port"), "{host}: {err}");
    }
}
