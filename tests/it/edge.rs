//! The outer edge: limits that follow from the process and its peers, parser refusals, files, tokens.

use std::io::Write;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::harness::http::exchange;
use crate::harness::{Caller, Request, Server, command, finish};

#[test]
fn an_empty_token_protects_nothing_and_is_refused() {
    let refused = |mut command: std::process::Command| {
        let ended = finish(&mut command);
        assert_eq!(ended.status.code(), Some(2), "{ended:?}");
        assert!(String::from_utf8_lossy(&ended.stderr).contains("--admin-token"), "{ended:?}");
    };
    refused(command(&["--port", "0", "--admin-token", ""]));
    let mut by_variable = command(&["--port", "0"]);
    by_variable.env("SANDBOX_ADMIN_TOKEN", "");
    refused(by_variable);
    refused(command(&["--port", "0", "--admin-token", "two words"]));
}

#[test]
fn health_and_readiness_need_no_token() {
    let server = Server::start(&["--admin-token", "some_token"]);
    let get = |path: &str| Request::new("GET", path).send(server.port());
    assert_eq!(get("/_sandbox/health").data(), json!({"status": "ok"}));
    assert_eq!(get("/_sandbox/ready").data(), json!({"status": "ready"}));
    let refused = get("/_sandbox/worlds").refused(401, "missing_credentials");
    assert_eq!(refused["title"], "The API key or the admin token is missing");
}

#[test]
fn refusals_of_the_parser_are_problem_documents() {
    let caller = Caller::instant();
    let send = |bytes: &[u8]| exchange(caller.port(), bytes, false).unwrap();
    let malformed = send(b"GET /v1/x HTTP/1.1\r\nhost localhost\r\n\r\n");
    malformed.refused(400, "invalid_header");
    assert_eq!(malformed.header("content-type"), Some("application/problem+json"));
    let long = format!("GET / HTTP/1.1\r\nhost: localhost\r\nx: {}\r\n\r\n", "y".repeat(20_000));
    send(long.as_bytes()).refused(431, "head_too_large");
    let coded = b"POST /v1/payroll/run HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n";
    send(coded).refused(501, "not_implemented");
    // A client that begins with HTTP/2, with its settings and more.
    let mut http2 = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0".to_vec();
    http2.resize(100_000, 0);
    let refusal = send(&http2).refused(400, "invalid_header");
    assert!(refusal["detail"].as_str().unwrap().contains("not HTTP/2"), "{refusal}");
    caller.get("/_sandbox/health").expect(200);
}

#[test]
fn a_number_that_is_too_large_is_a_violation_with_its_place() {
    let caller = Caller::instant();
    let body = br#"{"company_id": "com_x", "period": 1e400}"#;
    let request = caller.request("POST", "/v1/payroll/run").bytes(body);
    let problem = caller.send(&request.header("Content-Type", "application/json"));
    let problem = problem.refused(422, "validation_failed");
    assert_eq!(problem["errors"][0]["pointer"], "/period", "{problem}");
}

#[test]
fn names_of_the_local_network_are_served_only_if_allowed() {
    let server = Server::start(&["--allowed-host", "allowed.local"]);
    let status = |host: &str| {
        let request = format!("GET /_sandbox/health HTTP/1.1\r\nhost: {host}\r\n\r\n");
        exchange(server.port(), request.as_bytes(), false).unwrap().status
    };
    assert_eq!((status("allowed.local"), status("printer.local")), (200, 421));
}

#[test]
fn a_path_is_logged_without_what_a_terminal_interprets() {
    let server = Server::start(&["--log-filter", "sandbox::request=debug"]);
    let long = format!("/{}", "x".repeat(5_000));
    Request::new("GET", &long).send(server.port());
    exchange(server.port(), b"GET /\xc2\x9b31m HTTP/1.1\r\nhost: localhost\r\n\r\n", false)
        .unwrap();
    let (_, printed) = server.stop();
    assert!(
        printed.contains("xxx…") && printed.lines().all(|line| line.len() < 1_000),
        "{printed}"
    );
    assert!(!printed.contains('\u{9b}'), "{printed:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn pipes_and_devices_are_refused_as_files() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe.toml");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    for file in [pipe.to_str().unwrap(), "/dev/zero"] {
        for arguments in [
            &["scenario", "check", file][..],
            &["--port", "0", "--contract", file],
            &["replay", file],
            &["contract", "check", file],
        ] {
            let ended = finish(&mut command(arguments));
            assert_eq!(ended.status.code(), Some(1), "{arguments:?}: {ended:?}");
            let err = String::from_utf8_lossy(&ended.stderr).into_owned();
            assert!(err.contains("not a regular file"), "{arguments:?}: {err}");
        }
    }
    std::fs::rename(&pipe, folder.path().join("journal.sandbox")).unwrap();
    let ended =
        finish(&mut command(&["--port", "0", "--journal", folder.path().to_str().unwrap()]));
    let err = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert!(!ended.status.success() && err.contains("not a regular file"), "{err}");
}

#[cfg(unix)]
#[test]
fn only_the_owner_can_read_recordings_bundles_and_logs() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    Server::start(&["--record", &at("run.rec")]).end();
    Server::start(&["--journal", &at("journal")]).end();
    let bundled =
        finish(&mut command(&["bundle", "--recording", &at("run.rec"), "--out", &at("b")]));
    assert!(bundled.status.success(), "{bundled:?}");
    for name in ["run.rec", "journal/journal.sandbox", "b"] {
        let mode = std::fs::metadata(at(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_limit_of_files_bounds_the_connections_and_a_new_client_is_answered() {
    let script = format!(
        "ulimit -n 256; exec '{}' --port 0 --quiet --host 127.0.0.1",
        env!("CARGO_BIN_EXE_sandbox")
    );
    let script = script.replace(" --quiet", "");
    let server = Server::spawn(std::process::Command::new("sh").args(["-c", &script]));
    let held: Vec<TcpStream> =
        (0..250).filter_map(|_| TcpStream::connect(("127.0.0.1", server.port())).ok()).collect();
    let started = Instant::now();
    let answer = exchange(
        server.port(),
        b"GET /_sandbox/health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n",
        false,
    );
    assert_eq!(answer.unwrap().status, 503);
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    for _ in 0..300 {
        drop(TcpStream::connect(("127.0.0.1", server.port())));
    }
    let waited = started.elapsed().as_secs();
    drop(held);
    let (_, printed) = server.stop();
    let reports = printed.lines().filter(|line| line.contains("too many connections"));
    let reports = reports.count() as u64;
    assert!((1..=2 + waited).contains(&reports), "{reports} reports: {printed}");
}

#[cfg(target_os = "linux")]
#[test]
fn clients_that_read_no_replies_take_little_memory() {
    let server = Server::start(&[]);
    let get = "GET /api/business/employees?per_page=75 HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer test_slow\r\n\r\n";
    let many = get.repeat(400);
    let mut held = Vec::new();
    for _ in 0..300 {
        let mut stream = TcpStream::connect(("127.0.0.1", server.port())).unwrap();
        stream.set_write_timeout(Some(Duration::from_millis(5))).unwrap();
        // An error is expected here, because the server has stopped reading.
        let _ = stream.write_all(many.as_bytes());
        held.push(stream);
    }
    let answered = Request::new("GET", "/_sandbox/health").send(server.port());
    answered.expect(200);
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.pid())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    let mebibytes = line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1_024;
    assert!(mebibytes < 150, "{mebibytes} MiB");
}
