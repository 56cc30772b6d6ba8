//! Runs that are drafted, edited, calculated and reversed; wages that are sent again; pay for a part of a
//! month.

mod arrears;
mod benefits;
mod beside;
mod carried;
mod changed;
mod claims;
mod contractors;
mod directors;
mod drafts;
mod headcount;
mod irregular;
mod late;
mod law;
mod limits;
pub(crate) mod moved;
mod parts;
mod refusals;
mod schedules;
mod splits;
mod states;
mod taken_back;
mod undone;
mod worked_hours;
mod zero;

use serde_json::{Value, json};

use crate::harness::Caller;
use crate::harness::http::Answer;
use crate::harness::world::id;

const RUNS: &str = "/api/business/payroll-runs";

fn draft(caller: &Caller, body: &Value) -> Value {
    caller.post(RUNS, body).made()
}

/// A draft of this type with these employees of the first company.
fn draft_of(caller: &Caller, kind: &str, people: &[String]) -> Value {
    let body = json!({
        "company_id": caller.company(0), "period": "2026-01", "type": kind, "employee_ids": people,
    });
    draft(caller, &body)
}

fn verb(caller: &Caller, run: &Value, verb: &str, body: &Value) -> Answer {
    caller.post(&format!("{RUNS}/{}/{verb}", id(run)), body)
}

fn edit(caller: &Caller, run: &Value, body: &Value) -> Answer {
    caller.patch(&format!("{RUNS}/{}", id(run)), body)
}

/// The calculated run.
fn calculated(caller: &Caller, run: &Value) -> Value {
    verb(caller, run, "calculate", &json!({})).expect(202);
    caller.advance(&json!({"by": "2s"}));
    caller.run(id(run))
}

fn items(caller: &Caller, run: &Value) -> Vec<Value> {
    caller.all(&format!("{RUNS}/{}/items", id(run)))
}

/// Approves a calculated run, and waits for its end.
fn paid(caller: &Caller, run: &Value) -> Value {
    verb(caller, run, "approve", &json!({})).expect(200);
    caller.advance(&json!({"by": "40d"}));
    caller.run(id(run))
}

fn balances(caller: &Caller) -> Vec<(Value, Value)> {
    let company = caller.company(0);
    let accounts = caller.all(&format!("/api/business/ledger-accounts?company_id={company}"));
    let moved = accounts.iter().filter(|account| account["balance"] != 0);
    moved.map(|account| (account["code"].clone(), account["balance"].clone())).collect()
}
