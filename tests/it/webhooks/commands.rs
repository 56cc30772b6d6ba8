//! `sandbox listen` and `sandbox webhook-test`.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};

use super::run_payroll;
use crate::harness::receiver::{Reaction, Receiver};
use crate::harness::world::id;
use crate::harness::{Caller, Server, command, finish};

const SECRET: &str = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";

/// `sandbox listen` with these flags, and its URL.
fn listen(flags: &[&str]) -> (Server, String) {
    let server = Server::spawn(command(&["listen", "--port", "0"]).args(flags));
    let url = format!("http://127.0.0.1:{}/", server.port());
    (server, url)
}

fn webhook_test(target: &str, more: &[&str]) -> (Option<i32>, String) {
    let arguments = ["webhook-test", "--target", target, "--secret", SECRET];
    let output = finish(command(&arguments).args(more));
    let out = String::from_utf8(output.stdout).unwrap();
    (output.status.code(), out)
}

#[test]
fn listen_checks_signatures_and_prints_events_as_they_come() {
    let (listener, url) = listen(&["--secret", SECRET, "--filter", "payroll_run.*"]);
    let caller = Caller::manual();
    let body = json!({"url": url, "secret": SECRET});
    caller.post("/_sandbox/webhook-endpoints", &body).expect(201);
    let wrong = json!({"url": url});
    caller.post("/_sandbox/webhook-endpoints", &wrong).expect(201);
    run_payroll(&caller);
    caller.advance(&json!({"by": "2s"}));
    let (out, err) = listener.stop();
    assert!(
        out.lines().any(|line| line.contains("  valid ") && line.contains("payroll_run.created")),
        "{out}"
    );
    assert!(out.lines().any(|line| line.contains("INVALID")), "{out}");
    assert!(!out.contains("payout.") && !out.contains('\x1b'), "{out}");
    assert!(
        err.contains("curl -X POST") && err.contains(&format!("--webhook-secret {SECRET}")),
        "{err}"
    );
}

#[test]
fn listen_without_a_secret_prints_one_and_checks_it() {
    let (listener, url) = listen(&[]);
    let caller = Caller::manual();
    let other = json!({"url": url, "secret": SECRET});
    caller.post("/_sandbox/webhook-endpoints", &other).expect(201);
    run_payroll(&caller);
    caller.advance(&json!({"by": "1s"}));
    let (out, err) = listener.stop();
    assert!(out.contains("INVALID"), "{out}");
    let (_, rest) = err.split_once("--webhook-secret ").expect("a secret");
    let secret = rest.split_whitespace().next().unwrap();
    assert!(err.contains(&format!("\"secret\":\"{secret}\"")), "{err}");

    let (listener, url) = listen(&[]);
    let caller = Caller::manual();
    let same = json!({"url": url, "secret": secret});
    caller.post("/_sandbox/webhook-endpoints", &same).expect(201);
    run_payroll(&caller);
    caller.advance(&json!({"by": "1s"}));
    let (out, _) = listener.stop();
    assert!(out.contains("  valid ") && !out.contains("INVALID"), "{out}");
}

#[test]
fn listen_forwards_deliveries_and_returns_the_answers() {
    let target = Receiver::start(|_, _| Reaction::status(418));
    let (_listener, url) = listen(&["--forward-to", &target.url(), "--secret", SECRET]);
    let caller = Caller::manual();
    let body = json!({"url": url, "secret": SECRET, "events": ["payroll_run.created"]});
    caller.post("/_sandbox/webhook-endpoints", &body).expect(201);
    run_payroll(&caller);
    let passed = &target.wait_for(1)[0];
    assert_eq!(passed.good_signatures(SECRET), 1);
    caller.advance(&json!({"by": "1s"}));
    let rows = caller.all("/_sandbox/deliveries");
    assert_eq!(rows[0]["attempts"][0]["http_status"], 418);
}

#[test]
fn listen_prints_a_forwarded_delivery_whose_sender_has_closed() {
    let target = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let url = format!("http://{}/", target.local_addr().unwrap());
    let mut child = command(&["listen", "--port", "0", "--secret", SECRET, "--forward-to", &url])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let ready = lines.next().unwrap();
    let mut sender =
        TcpStream::connect(ready.strip_prefix("listening on http://").unwrap()).unwrap();
    sender.write_all(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}").unwrap();
    let (mut forwarded, _) = target.accept().unwrap();
    let (mut request, mut part) = (Vec::new(), [0; 1_024]);
    while !request.ends_with(b"{}") {
        let read = forwarded.read(&mut part).unwrap();
        request.extend(&part[..read]);
    }
    drop(sender);
    // The end of the first connection is not the end of the second one.
    forwarded.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    assert!(forwarded.read(&mut part).is_err(), "the forwarding has ended");
    forwarded.write_all(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n").unwrap();
    let line = lines.next().unwrap();
    assert!(line.contains("UNSIGNED") && line.ends_with("  202"), "{line}");
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn listen_prints_only_a_line_of_json_for_each_delivery() {
    let mut child = command(&["listen", "--port", "0", "--json", "--secret", SECRET])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut err = BufReader::new(child.stderr.take().unwrap()).lines();
    let ready = err.find_map(|line| {
        let line = line.unwrap();
        line.strip_prefix("listening on ").map(str::to_owned)
    });
    let (code, _) = webhook_test(&ready.unwrap(), &[]);
    child.kill().unwrap();
    let output = child.wait_with_output().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 12);
    let marks: Vec<&str> = lines.iter().map(|line| line["signature"].as_str().unwrap()).collect();
    let expected = [
        "valid", "valid", "valid", "invalid", "unsigned", "stale", "stale", "valid", "valid",
        "valid", "invalid", "valid",
    ];
    assert_eq!(marks, expected);
    let duplicates: Vec<usize> = (0..12).filter(|&at| lines[at]["duplicate"] == true).collect();
    assert_eq!(duplicates, [1, 11]);
    assert_eq!(code, Some(0), "listen is a correct receiver");
}

#[test]
fn webhook_test_finds_the_mistakes_of_careless_and_strict_receivers() {
    let (code, out) = webhook_test(&Receiver::taking().url(), &["--json"]);
    assert_eq!(code, Some(1));
    let report: Value = serde_json::from_str(&out).unwrap();
    let wrong = |report: &Value| -> Vec<String> {
        let cases = report["cases"].as_array().unwrap().iter();
        let wrong = cases.filter(|case| case["passed"] == false);
        wrong.map(|case| case["case"].as_str().unwrap().to_owned()).collect()
    };
    let forged = [
        "bad_signature",
        "missing_signature",
        "stale_timestamp",
        "future_timestamp",
        "truncated_body",
    ];
    assert_eq!(wrong(&report), forged);
    let refusing = Receiver::start(|_, _| Reaction::status(400));
    let (code, out) = webhook_test(&refusing.url(), &[]);
    assert_eq!(code, Some(1));
    assert_eq!(out.matches("WRONG: must be accepted").count(), 7, "{out}");
}

#[test]
fn webhook_test_sends_resources_that_the_document_describes() {
    let document = crate::harness::contract::product();
    for name in ["payroll_run.paid", "wallet.debited", "payout.returned", "invoice.paid"] {
        let receiver = Receiver::taking();
        webhook_test(&receiver.url(), &["--type", name]);
        let seen = receiver.seen();
        assert_eq!(seen.len(), 12);
        let mut whole = 0;
        for event in seen.iter().filter_map(|one| serde_json::from_slice::<Value>(&one.body).ok()) {
            let own = event["type"].as_str().unwrap();
            let webhook = &document["webhooks"][own]["post"]["requestBody"]["content"];
            let schema = &webhook["application/json"]["schema"];
            if own == "hovercraft.landed" {
                continue;
            }
            whole += usize::from(own == name);
            let wrong = crate::harness::schema::violations(document, schema, &event);
            assert!(wrong.is_empty(), "{own}: {wrong:?}");
        }
        assert!(whole >= 8, "{whole} of {name}");
    }
    let output = finish(&mut command(&[
        "webhook-test",
        "--target",
        "http://127.0.0.1:9/",
        "--type",
        "payout.payed",
    ]));
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("did you mean payout.paid"));
    let typo = ["webhook-test", "--target", "http://127.0.0.1:9/", "--type", "typo"];
    let output = finish(&mut command(&typo));
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && err.len() < 300, "{err}");
    assert!(err.contains("sandbox trigger --list"), "{err}");
}

#[test]
fn listen_ends_when_the_reader_of_its_output_is_gone() {
    let caller = Caller::manual();
    let url = format!("http://127.0.0.1:{}", caller.port());
    let mut child = command(&["listen", "--sandbox", &url, "--api-key", caller.key()])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut ready = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut ready).unwrap();
    assert!(ready.starts_with("listening on "), "{ready}");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(caller.all("/_sandbox/webhook-endpoints"), [Value::Null; 0]);
}

#[test]
fn listen_does_not_forward_to_itself() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    for host in ["127.0.0.1", "localhost", "[::1]"] {
        let (own, to) = (port.to_string(), format!("http://{host}:{port}/hooks"));
        let output = finish(&mut command(&["listen", "--port", &own, "--forward-to", &to]));
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{err}");
        assert!(err.contains("is this receiver; name the address of your app"), "{err}");
    }
}

#[test]
fn listen_registers_with_a_running_sandbox_and_leaves_it_as_it_was() {
    let caller = Caller::manual();
    let url = format!("http://127.0.0.1:{}", caller.port());
    let key = caller.key().to_owned();
    let (listener, _) =
        listen(&["--sandbox", &url, "--api-key", &key, "--filter", "payroll_run.*"]);
    let endpoints = caller.all("/_sandbox/webhook-endpoints");
    assert_eq!(endpoints.len(), 1);
    assert_eq!(endpoints[0]["events"], json!(["payroll_run.*"]));
    run_payroll(&caller);
    caller.advance(&json!({"by": "2s"}));
    let (out, err) = listener.end_and_read();
    assert!(out.contains("  valid ") && out.contains("payroll_run.created"), "{out}");
    assert!(!err.contains("curl"), "{err}");
    assert!(err.contains(&format!("with {url} as endpoint {}", id(&endpoints[0]))), "{err}");
    assert!(err.contains("for events payroll_run.*"), "{err}");
    assert_eq!(caller.all("/_sandbox/webhook-endpoints"), [Value::Null; 0]);

    let refused = finish(&mut command(&["listen", "--port", "0", "--sandbox", "ftp://x"]));
    assert_eq!(refused.status.code(), Some(2));
    let refused =
        finish(&mut command(&["listen", "--port", "0", "--sandbox", "http://127.0.0.1:9"]));
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        String::from_utf8(refused.stderr).unwrap().contains("no sandbox answers at 127.0.0.1:9")
    );
}

#[test]
fn webhook_test_sends_the_same_set_for_the_same_seed() {
    let bodies = |seed: &str| {
        let receiver = Receiver::taking();
        webhook_test(&receiver.url(), &["--seed", seed]);
        let ids = receiver.seen().into_iter();
        ids.map(|one| one.header("webhook-id").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(bodies("7"), bodies("7"));
    assert_ne!(bodies("7"), bodies("8"));
}

#[test]
fn an_invalid_target_is_wrong_usage_and_an_unreachable_one_a_failure() {
    let (code, _) = webhook_test("https://example.com/", &[]);
    assert_eq!(code, Some(2));
    let output = finish(&mut command(&["webhook-test", "--target", "http://127.0.0.1:9/"]));
    assert_eq!(output.status.code(), Some(1));
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(err.matches("no receiver answers at http://127.0.0.1:9/").count(), 1, "{err}");
    assert!(output.stdout.is_empty());
}
