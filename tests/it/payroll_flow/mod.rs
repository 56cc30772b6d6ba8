//! A payroll run from the call to the payslips: its lifecycle with both clocks, and figures that agree in all
//! places.

mod calendar;
mod figures;
mod lifecycle;

use std::collections::BTreeMap;

use serde_json::Value;

use crate::harness::Caller;
use crate::harness::world::{id, number};

/// The events of an undisturbed run.
const LIFE: [&str; 6] = ["calculating", "calculated", "approved", "funding", "processing", "paid"];

fn statuses(resource: &Value) -> Vec<&str> {
    let history = resource["status_history"].as_array().unwrap();
    history.iter().map(|change| change["status"].as_str().unwrap()).collect()
}

fn sum(rows: &[Value], member: &str) -> i64 {
    rows.iter().map(|row| number(&row[member])).sum()
}

fn lines(value: &Value) -> i64 {
    sum(value.as_array().unwrap(), "amount")
}

fn wallet(caller: &Caller, company: &str) -> Value {
    let wallets = caller.all(&format!("/api/payments/wallets?company_id={company}"));
    let [wallet] = wallets.as_slice() else { panic!("{wallets:?}") };
    wallet.clone()
}

fn items(caller: &Caller, run: &Value) -> Vec<Value> {
    caller.all(&format!("/api/business/payroll-runs/{}/items", id(run)))
}

fn payslips(caller: &Caller, run: &Value) -> Vec<Value> {
    caller.all(&format!("/api/business/payslips?sort=created_at&payroll_run_id={}", id(run)))
}

fn count(events: &[String], name: &str) -> usize {
    events.iter().filter(|event| *event == name).count()
}

/// Balances of a company's accounts by code.
fn balances(caller: &Caller, company: &str) -> BTreeMap<String, i64> {
    let accounts = caller.all(&format!("/api/business/ledger-accounts?company_id={company}"));
    let balance = |account: &Value| {
        let code = account["code"].as_str().unwrap().to_owned();
        let (debits, credits) = (number(&account["debits"]), number(&account["credits"]));
        let net =
            if account["normal_side"] == "debit" { debits - credits } else { credits - debits };
        assert_eq!(number(&account["balance"]), net, "{account}");
        (code, net)
    };
    accounts.iter().map(balance).collect()
}
