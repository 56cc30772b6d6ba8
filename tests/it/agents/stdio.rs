//! `sandbox mcp`: one message on each line.

use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::harness::{Caller, command};

/// The command's output for these lines, its exit code, and its stderr.
fn answers(arguments: &[&str], lines: &[String]) -> (Vec<Value>, i32, String) {
    answers_with(("SANDBOX_SEED", ""), arguments, lines)
}

/// The same with a variable.
fn answers_with(
    (variable, value): (&str, &str),
    arguments: &[&str],
    lines: &[String],
) -> (Vec<Value>, i32, String) {
    let mut command = command(&[&["mcp"], arguments].concat());
    command.env(variable, value);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let text = lines.join("\n");
    let writer = std::thread::spawn(move || {
        let _ = input.write_all(text.as_bytes()); // a command that refuses its flags reads nothing
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let printed = printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    (printed, output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
}

fn line(id: u64, method: &str, params: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
}

fn call(id: u64, name: &str, arguments: &Value) -> String {
    line(id, "tools/call", &json!({"name": name, "arguments": arguments}))
}

fn shown(answer: &Value) -> Value {
    serde_json::from_str(answer["result"]["content"][0]["text"].as_str().unwrap()).unwrap()
}

#[test]
fn a_world_of_its_own_answers_until_the_input_ends() {
    let meta = json!({"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"},
        "name": "verify", "arguments": {"about": "ledger"}});
    let lines = [
        line(1, "initialize", &json!({"protocolVersion": "2025-11-25"})),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string(),
        String::new(),
        line(2, "tools/list", &json!({})),
        "x".repeat(2 << 20),
        "{".to_owned(),
        call(3, "call_operation", &json!({"operation": "listEmployees"})),
        line(4, "tools/call", &meta),
    ];
    let (printed, code, stderr) = answers(&["--seed", "42"], &lines);
    assert_eq!((code, stderr.as_str()), (0, ""));
    let ids: Vec<&Value> = printed.iter().map(|answer| &answer["id"]).collect();
    assert_eq!(ids, [&json!(1), &json!(2), &Value::Null, &Value::Null, &json!(3), &json!(4)]);
    assert_eq!(printed[1]["result"]["tools"].as_array().unwrap().len(), 12);
    assert_eq!(printed[2]["error"]["code"], -32600);
    assert_eq!(printed[3]["error"]["code"], -32700);
    assert_eq!(shown(&printed[4])["body"]["meta"]["total"], 75);
    assert_eq!(shown(&printed[5])["ok"], true);
}

fn cancelled(id: u64) -> String {
    let params = json!({"requestId": id, "reason": "too slow"});
    json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}).to_string()
}

#[test]
fn a_slow_call_delays_no_ping_and_can_be_cancelled() {
    let slow = || json!({"operation": "listEmployees"});
    let lines = [
        call(1, "set_fault", &json!({"on": "listEmployees", "latency": "5m"})),
        call(2, "call_operation", &slow()),
        call(3, "call_operation", &slow()),
        line(4, "ping", &json!({})),
        call(5, "verify", &json!({"about": "ledger"})),
        cancelled(3),
        cancelled(2),
        cancelled(99),
    ];
    let (printed, code, stderr) = answers(&["--seed", "42"], &lines);
    assert_eq!((code, stderr.as_str()), (0, ""));
    let mut ids: Vec<u64> = printed.iter().map(|answer| answer["id"].as_u64().unwrap()).collect();
    ids.sort_unstable();
    assert_eq!(ids, [1, 4, 5]);
}

#[test]
fn tools_say_what_is_missing() {
    let lines = [
        call(1, "diff", &json!({})),
        call(2, "call_operation", &json!({"operation": "listEmployees"})),
        call(3, "diff", &json!({"kind": "payouts"})),
        call(4, "reset", &json!({"scenario": "late-return", "confirm": true})),
        call(5, "reset", &json!({"seed": 42, "confirm": true})),
        call(6, "reset", &json!({"scenario": null, "confirm": true})),
        call(7, "find_operation", &json!({"query": "payments", "cursor": "found-10"})),
    ];
    let (printed, code, stderr) = answers(&["--seed", "42"], &lines);
    assert_eq!((code, stderr.as_str()), (0, ""));
    let shown: Vec<Value> = printed.iter().map(shown).collect();
    assert_eq!(
        (&shown[0]["total"], &shown[0]["hint"]),
        (&json!(0), &json!("no call has used this world yet"))
    );
    assert_eq!((&shown[2]["rows"], &shown[2]["changed_kinds"]), (&json!([]), &json!({})));
    assert_eq!(shown[3]["scenarios"], json!(["late-return"]));
    assert_eq!(shown[4]["scenarios"], json!(["late-return"]));
    assert_eq!(shown[5]["scenarios"], json!([]));
    assert_eq!(shown[6]["operations"].as_array().unwrap().len(), 10);
    assert_eq!(shown[6]["next"], "found-20");
}

#[test]
fn a_running_sandbox_is_used_with_its_key() {
    let caller = Caller::instant();
    let url = format!("http://127.0.0.1:{}", caller.port());
    let company = caller.company(0);
    let run = json!({"operation": "runPayroll", "idempotency_key": "k",
        "input": {"company_id": company, "period": "2026-01"}});
    let (printed, code, _) =
        answers(&["--url", &url, "--key", caller.key()], &[call(1, "call_operation", &run)]);
    assert_eq!((code, &shown(&printed[0])["status"]), (0, &json!(201)));
    assert_eq!(caller.all("/_sandbox/requests?operation=runPayroll").len(), 1);
}

#[test]
fn wrong_flags_and_silent_sandboxes_are_named() {
    let (printed, code, stderr) = answers(&["--url", "x"], &[]);
    assert_eq!((printed.len(), code), (0, 2));
    assert!(stderr.contains("--url x: expected a URL"), "{stderr}");
    let (_, code, stderr) = answers(&["--url", "http://127.0.0.1:1", "--seed", "7"], &[]);
    assert_eq!(code, 2);
    assert!(stderr.contains("--seed"), "{stderr}");
    let ping = line(1, "ping", &json!({}));
    let (printed, code, _) = answers(&["--url", "http://127.0.0.1:1"], &[ping]);
    assert_eq!((code, &printed[0]["error"]["code"]), (0, &json!(-32603)));
    let why = printed[0]["error"]["message"].as_str().unwrap();
    assert!(why.contains("no sandbox answers at 127.0.0.1:1"), "{why}");
    // A variable that configures a server has no meaning for a running one.
    let ping = line(1, "ping", &json!({}));
    let running = ["--url", "http://127.0.0.1:1"];
    let (printed, code, stderr) = answers_with(("SANDBOX_SEED", "7"), &running, &[ping]);
    assert_eq!((code, printed.len()), (0, 1), "{stderr}");
    let (_, code, stderr) = answers_with(("SANDBOX_ADMIN_TOKEN", "a b"), &running, &[]);
    assert_eq!(code, 2);
    assert!(stderr.contains("SANDBOX_ADMIN_TOKEN must have"), "{stderr}");
}
