//! Stored inputs: recordings whose replay agrees, and write-ahead logs that lose nothing.

#[cfg(target_os = "linux")]
mod checkpoints;
mod contracts;
mod deliveries;
#[cfg(target_os = "linux")]
mod forks;
mod full_disk;
mod kills;
mod long;
mod races;
mod recording;
mod restart;
mod scenario_files;
mod write_ahead_log;

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::harness::{Caller, Server, command, finish};

/// Runs a subcommand to its end: exit code, stdout, stderr.
fn run(arguments: &[&str]) -> (i32, String, String) {
    let output = finish(&mut command(arguments));
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

/// A server with these flags, and the caller of a key in it.
fn serve(flags: &[&str], key: &str) -> (Arc<Server>, Caller) {
    let server = Arc::new(Server::start(flags));
    let caller = Caller::with_key(&server, key);
    (server, caller)
}

/// Writes, refusals, moves of the clock and a reset, with reads between them.
fn session(caller: &Caller) {
    let company = caller.company(0);
    let run = json!({"company_id": company, "period": "2026-01"});
    let keyed = |key: &str| {
        let request = caller.request("POST", "/v1/payroll/run").json(&run);
        caller.send(&request.header("Idempotency-Key", key))
    };
    keyed("first").expect(201);
    keyed("first").expect(201); // a replayed answer is no input
    keyed("second").refused(409, "payroll_period_already_run");
    caller.post("/v1/payroll/run", &json!({})).refused(422, "validation_failed");
    caller.advance(&json!({"by": "10bd"}));
    caller.post("/_sandbox/reset", &json!({})).expect(200);
    hire(caller, &company, "Ada Obi").expect(201);
    caller.run_payroll(&company, "2026-01");
    caller.advance(&json!({"until": "idle"}));
    caller.audit();
}

fn hire(caller: &Caller, company: &str, name: &str) -> crate::harness::Answer {
    let body = json!({"company_id": company, "name": name, "role": "Baker", "department": "Kitchen", "start_date": "2026-02-02"});
    caller.post("/api/business/employees", &body)
}

/// The lines of a recording.
fn lines(file: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(file).unwrap();
    let line = |line| serde_json::from_str(line).unwrap();
    text.lines().map(line).collect()
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}
