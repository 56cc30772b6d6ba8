//! The sandbox in the process of a test: `sandbox::Sandbox`.

use std::io::Write;
use std::net::TcpStream;
use std::process::{Command, Stdio};

use sandbox::{Sandbox, Verification};
use serde_json::{Value, json};

use crate::harness::http::read_answer;

#[test]
fn a_test_that_panics_prints_what_happened_in_its_worlds() {
    const TEST_TO_FAIL: &str = "TEST_TO_FAIL";
    if std::env::var_os(TEST_TO_FAIL).is_some() {
        let sandbox = Sandbox::builder().start().unwrap();
        for _ in 0..2 {
            sandbox.trigger("test_key", "payroll_run.paid").unwrap(); // more events than a report has rows
        }
        let mut stream = TcpStream::connect(&sandbox.url()["http://".len()..]).unwrap();
        let head =
            "GET /v1/nowhere HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer test_key\r\n\r\n";
        stream.write_all(head.as_bytes()).unwrap();
        assert_eq!(read_answer(&mut stream, false).unwrap().status, 404);
        let wanted = json!({"body": {"period": "1999-01"}});
        let paid = sandbox.verify("test_key", "runPayroll", &wanted, 1).unwrap();
        assert_eq!(paid, Verification::Pass, "one run of 1999");
    }
    let failed = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "embedded::a_test_that_panics_prints_what_happened_in_its_worlds"])
        .env(TEST_TO_FAIL, "1")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(!failed.status.success());
    let report = String::from_utf8(failed.stdout).unwrap();
    let (_, report) = report.split_once("world test_key of http://127.0.0.1:").expect(&report);
    let (events, report) = report.split_once("last decisions:\n").unwrap();
    assert!(events.contains("last events:\n") && events.contains(" payroll_run.paid prn_"));
    assert_eq!(events.lines().filter(|line| line.starts_with("  2026-")).count(), 30, "{events}");
    let (decisions, report) = report.split_once("refused calls:\n").unwrap();
    assert!(decisions.contains(" payout.settle=paid by default pyo_"), "{decisions}");
    let (calls, misses) = report.split_once("near misses:\n").unwrap();
    assert!(calls.contains("  GET /v1/nowhere 404 route_not_found"), "{calls}");
    assert!(misses.contains("1999-01") && misses.contains("fail, matched 0, nearest"), "{misses}");
}

#[test]
fn any_control_route_can_be_called_and_a_refusal_is_an_error() {
    let sandbox = Sandbox::builder().start().unwrap();
    let fault = json!({"on": "listEmployees", "status": 503, "times": 1});
    let made = sandbox.control("test_key", "POST", "/faults", &fault).unwrap();
    let listed = sandbox.control("test_key", "GET", "/faults", &Value::Null).unwrap();
    assert_eq!(listed["data"][0]["id"], made["data"]["id"]);
    assert_eq!(listed["meta"]["total"], 1);
    let refused = sandbox.control("test_key", "POST", "/faults", &json!({"on": "nothing"}));
    assert!(refused.unwrap_err().to_string().contains("\n  /on: "));
}
