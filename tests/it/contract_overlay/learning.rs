//! `sandbox contract learn`: differences in traffic and documents are named, and the written contract removes them.

use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::{Request, Server, command, finish};

/// A service that differs from the sandbox.
const SERVICE: &str = r#"base_path = "/finance"

[operations.runPayroll]
status = 202

[errors]
format = "envelope"

[paging]
per_page_default = 20
per_page_max = 50

[idempotency]
required = true

[headers]
request_id = "x-correlation-id"
idempotency_key = "X-Idempotency-Key"
"#;

/// A secret that no output may contain.
const KEY: &str = "test_secret_of_a_recording";

/// Traffic with a service, as HAR.
struct Traffic {
    port: u16,
    base: &'static str,
    idempotency: &'static str,
    entries: Vec<Value>,
}

impl Traffic {
    fn call(&mut self, method: &str, path: &str, body: Option<&Value>, key: Option<&str>) -> Value {
        let path = format!("{}{path}", self.base);
        let mut request = Request::new(method, &path);
        let mut sent = Vec::new();
        let mut header = |request: Request, name: &str, value: &str| {
            sent.push(json!({ "name": name, "value": value }));
            request.header(name, value)
        };
        request = header(request, "Authorization", &format!("Bearer {KEY}"));
        if let Some(key) = key {
            request = header(request, self.idempotency, key);
        }
        if let Some(body) = body {
            request = request.json(body);
        }
        let answer = request.send(self.port);
        let headers: Vec<Value> = answer
            .headers
            .iter()
            .map(|(name, value)| json!({ "name": name, "value": value }))
            .collect();
        let mut entry = json!({
            "request": { "method": method, "url": format!("https://api.example.com{path}"), "headers": sent },
            "response": {
                "status": answer.status,
                "headers": headers,
                "content": { "mimeType": "application/json", "text": answer.text() },
            },
        });
        if let Some(body) = body {
            entry["request"]["postData"] =
                json!({ "mimeType": "application/json", "text": body.to_string() });
        }
        self.entries.push(entry);
        answer.json()
    }

    /// A file with calls to a server with this contract.
    fn with(server: &Server, base: &'static str, idempotency: &'static str, file: &Path) {
        let mut traffic = Self { port: server.port(), base, idempotency, entries: Vec::new() };
        let companies = traffic.call("GET", "/api/business/companies", None, None);
        let company = companies["data"][0]["id"].clone();
        let first = traffic.call("GET", "/api/business/employees", None, None);
        traffic.call("GET", "/api/business/employees?per_page=100", None, None);
        traffic.call("GET", "/api/business/employees?page=90", None, None);
        let employee = first["data"][0]["id"].as_str().unwrap();
        traffic.call("GET", &format!("/api/business/employees/{employee}"), None, None);
        traffic.call("GET", "/api/business/employees/emp_0000000000000", None, None);
        let run = json!({ "company_id": company, "period": "2026-01" });
        traffic.call("POST", "/v1/payroll/run", Some(&run), Some("k1"));
        traffic.call("POST", "/v1/payroll/run", Some(&run), None);
        traffic.call("GET", "/api/payments/wallets", None, None);
        std::fs::write(file, json!({ "log": { "entries": traffic.entries } }).to_string()).unwrap();
    }
}

pub(super) fn learn(folder: &TempDir, arguments: &[&str]) -> (i32, String, String) {
    let mut learn = command(&[&["contract", "learn"], arguments].concat());
    let Output { status, stdout, stderr } = finish(learn.current_dir(folder.path()));
    let (out, err) = (String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap());
    assert!(!out.contains(KEY) && !err.contains(KEY), "{out}{err}");
    (status.code().unwrap(), out, err)
}

pub(super) fn put(folder: &TempDir, name: &str, text: &str) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    path
}

pub(super) fn read(folder: &TempDir, name: &str) -> String {
    std::fs::read_to_string(folder.path().join(name)).unwrap()
}

#[test]
fn differences_of_traffic_are_named_and_the_written_contract_removes_them() {
    let folder = tempfile::tempdir().unwrap();
    let real = put(&folder, "real.toml", SERVICE);
    let contract = real.to_str().unwrap();
    let service = Server::start(&["--seed", "42", "--contract", contract]);
    Traffic::with(&service, "/finance", "X-Idempotency-Key", &folder.path().join("real.har"));
    let (code, out, err) = learn(&folder, &["real.har"]);
    assert_eq!((code, err.as_str()), (1, ""), "{out}");
    for expected in [
        "runPayroll returns 202 (real.har, entry 7)",
        "paths begin with /finance",
        "a page has 20 rows without `per_page` (real.har, entry 2)",
        "a page has at most 50 rows (real.har, entry 3)",
        "contract: errors.format = \"envelope\"",
        "contract: idempotency.required = true",
        "contract: headers.request_id = \"x-correlation-id\"",
        "contract: headers.idempotency_key = \"X-Idempotency-Key\"",
        "keys of the contract cover 8 of 8 differences",
    ] {
        assert!(out.contains(expected), "{expected}\n{out}");
    }
    let (code, ..) = learn(&folder, &["real.har", "--out", "learned.toml"]);
    assert_eq!((code, read(&folder, "learned.toml").as_str()), (0, SERVICE));
    let (code, out, _) = learn(&folder, &["real.har", "--contract", "learned.toml"]);
    assert_eq!(code, 0, "{out}");
    assert!(out.contains(" 0 different"), "{out}");
    // A sandbox with this contract has no further differences.
    let learned = folder.path().join("learned.toml");
    let sandbox = Server::start(&["--seed", "7", "--contract", learned.to_str().unwrap()]);
    Traffic::with(&sandbox, "/finance", "X-Idempotency-Key", &folder.path().join("own.har"));
    assert_eq!(learn(&folder, &["own.har", "--contract", "learned.toml"]).0, 0);
    // The file is not replaced.
    let (code, _, err) = learn(&folder, &["own.har", "--out", "learned.toml"]);
    assert_eq!(code, 1);
    assert!(err.contains("cannot write learned.toml"), "{err}");
    assert_eq!(read(&folder, "learned.toml"), SERVICE);
}

#[test]
fn a_difference_that_no_key_covers_is_reported_as_such() {
    let folder = tempfile::tempdir().unwrap();
    let service = Server::start(&["--seed", "42"]);
    let file = folder.path().join("real.har");
    Traffic::with(&service, "", "Idempotency-Key", &file);
    assert_eq!(learn(&folder, &["real.har"]).0, 0);
    let changed = read(&folder, "real.har")
        .replace(r#"\"amount\":"#, r#"\"amount\":0.5,\"old\":"#)
        .replace(r#"\"status\":\"active\""#, r#"\"status\":\"employed\""#);
    std::fs::write(&file, changed).unwrap();
    let (code, out, _) = learn(&folder, &["real.har", "--out", "learned.toml", "--json"]);
    assert_eq!(code, 1);
    let report: Value = serde_json::from_str(&out).unwrap();
    let of = |id: &str| {
        let rows = report["assumptions"].as_array().unwrap();
        let row = rows.iter().find(|row| row["id"] == id).unwrap();
        (row["result"].clone(), row["differences"][0].clone())
    };
    let (result, difference) = of("employee-status");
    assert_eq!(result, "different");
    assert_eq!(
        (&difference["what"], &difference["key"]),
        (&json!("`data.status` can be `employed`"), &Value::Null)
    );
    assert_eq!(of("money").0, "different");
    assert_eq!(of("single-envelope").0, "confirmed");
    assert_eq!(of("event-signature").0, "not_seen");
    assert_eq!(read(&folder, "learned.toml"), "# The assumed contract: nothing is different.\n");
}

#[test]
fn a_document_shows_exactly_the_contract_that_it_was_made_with() {
    let folder = tempfile::tempdir().unwrap();
    let promised = r#"base_path = "/finance"

[operations.runPayroll]
status = 202
aliases = ["/v2/payroll/run"]

[errors]
format = "envelope"

[idempotency]
required = true

[headers]
request_id = "X-Correlation-Id"
idempotency_key = "X-Idempotency-Key"
"#;
    let real = put(&folder, "real.toml", promised);
    for arguments in [&["openapi"][..], &["openapi", "--openapi", "3.0"], &["openapi", "--client"]]
    {
        let mut openapi = command(&[arguments, &["--contract", real.to_str().unwrap()]].concat());
        put(&folder, "api.json", &String::from_utf8(finish(&mut openapi).stdout).unwrap());
        let (code, out, err) = learn(&folder, &["api.json", "--out", "learned.toml"]);
        assert_eq!((code, err.as_str()), (0, ""), "{out}");
        assert_eq!(read(&folder, "learned.toml"), promised);
        std::fs::remove_file(folder.path().join("learned.toml")).unwrap();
        let (code, out, _) = learn(&folder, &["api.json", "--contract", "real.toml"]);
        assert_eq!(code, 0, "{out}");
    }
}

#[test]
fn names_of_headers_absent_operations_and_endpoints_are_learned_from_a_document() {
    let folder = tempfile::tempdir().unwrap();
    let promised = r#"[operations.getPayslip]
enabled = false

[webhooks]
endpoints = "/api/webhook-endpoints"

[headers]
request_id = "X-Rid"
idempotency_key = "X-Idem"
api_version = "X-Ver"
"#;
    let real = put(&folder, "real.toml", promised);
    let mut openapi = command(&["openapi", "--contract", real.to_str().unwrap()]);
    put(&folder, "api.json", &String::from_utf8(finish(&mut openapi).stdout).unwrap());
    let (code, out, err) = learn(&folder, &["api.json", "--out", "learned.toml"]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert_eq!(read(&folder, "learned.toml"), promised, "{out}");
    assert!(
        out.contains(
            "there is no getPayslip, `GET /api/business/payslips/{payslip_id}` (api.json)"
        ),
        "{out}"
    );
    assert!(out.contains("`/api/webhook-endpoints` manages webhook endpoints"), "{out}");
    let (code, out, _) = learn(&folder, &["api.json", "--contract", "learned.toml"]);
    assert_eq!(code, 0, "{out}");
    assert!(out.contains(" 0 different"), "{out}");
    // The two published operations alone.
    let mut openapi = command(&["openapi", "--contract", "published"]);
    put(&folder, "two.json", &String::from_utf8(finish(&mut openapi).stdout).unwrap());
    assert_eq!(learn(&folder, &["two.json", "--out", "two.toml"]).0, 0);
    assert_eq!(read(&folder, "two.toml"), "serve = \"published\"\n");
}

#[test]
fn the_name_of_the_request_id_is_learned_from_its_value() {
    let folder = tempfile::tempdir().unwrap();
    let service = Server::start(&["--seed", "42"]);
    Traffic::with(&service, "", "Idempotency-Key", &folder.path().join("real.har"));
    let changed = read(&folder, "real.har").replace("\"request-id\"", "\"X-Tracking\"");
    put(&folder, "other.har", &changed);
    let (_, out, err) = learn(&folder, &["other.har", "--out", "learned.toml"]);
    let expected = "[headers]\nrequest_id = \"X-Tracking\"\n";
    assert_eq!(read(&folder, "learned.toml"), expected, "{out}{err}");
}

/// A sandbox answered its calls, so it confirms nothing.
#[test]
fn a_recording_shows_on_which_assumptions_an_application_depends() {
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("own.rec");
    let arguments = ["--record", recording.to_str().unwrap(), "--base-path", "/finance"];
    let server = Server::start(&arguments);
    Traffic::with(&server, "/finance", "Idempotency-Key", &folder.path().join("own.har"));
    server.end(); // the recording is complete then
    let (code, out, _) = learn(&folder, &["own.rec"]);
    assert_eq!(code, 0, "{out}");
    assert!(
        out.contains("not seen, and used by the recording: run-status, idempotency\n"),
        "{out}"
    );
    assert!(out.contains("confirmed: none"), "{out}");
    // What the service shows is no longer open.
    let (code, out, _) = learn(&folder, &["own.rec", "own.har", "--out", "real.toml"]);
    assert_eq!((code, read(&folder, "real.toml").as_str()), (0, "base_path = \"/finance\"\n"));
    assert!(!out.contains("used by the recording"), "{out}");
}

#[test]
fn wrong_files_are_refused_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let entry = r#"{"log":{"entries":[{"request":{"method":"GET","url":"https://x/api/business/employees"}}]}}"#;
    for (name, text, expected) in [
        ("cut.har", "{\"log\": {\n\"entries\": [", "cut.har:2:12: not JSON"),
        ("empty.har", r#"{"log":{"entries":[]}}"#, "`log.entries` is empty"),
        ("none.har", r#"{"log":{}}"#, "`log.entries` must be a list"),
        ("entry.har", entry, "entry 1 of `log.entries`: `response.status` must be a whole number"),
        (
            "old.json",
            r#"{"swagger":"2.0"}"#,
            "it is Swagger \"2.0\", and must be OpenAPI 3.0 or 3.1",
        ),
        (
            "api.yaml",
            "openapi: 3.1.0\npaths: {}\n",
            "api.yaml:1:1: it is YAML: convert it to JSON first",
        ),
        ("two.json", r#"{"openapi":"2.9","paths":{}}"#, "must be 3.0 or 3.1"),
        ("paths.json", r#"{"openapi":"3.1.0","paths":[]}"#, "`paths` must be an object"),
        (
            "other.json",
            r#"{"a":1}"#,
            "expected a HAR (`log`), an OpenAPI document (`openapi`), or a recording",
        ),
        (
            "other.har",
            r#"{"log":{"entries":[{"request":{"method":"GET","url":"https://x/other"},"response":{"status":200}}]}}"#,
            "none of the 1 calls is an operation of the product",
        ),
        ("cut.rec", "{\"recording\":{}}\n", "cut.rec"),
    ] {
        put(&folder, name, text);
        let (code, out, err) = learn(&folder, &[name, "--out", "learned.toml"]);
        assert_eq!((code, out.as_str()), (1, ""), "{name}: {err}");
        assert!(err.contains(expected), "{name}: {err}");
        assert!(!folder.path().join("learned.toml").exists(), "{name}");
    }
    let (code, _, err) = learn(&folder, &["absent.har"]);
    assert_eq!(code, 1);
    assert!(err.contains("cannot read absent.har"), "{err}");
    assert_eq!(learn(&folder, &[]).0, 2);
}
