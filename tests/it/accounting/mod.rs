//! The books: entries posted by callers, their reversals, and reports that agree with one another at every
//! date.

mod aged;
mod bad_debts;
mod bills;
mod cash_basis;
mod cash_flow;
mod comparison;
mod entries;
mod months;
mod periods;
mod reports;
mod timing;
mod translation;

use serde_json::{Value, json};

use crate::harness::Caller;
use crate::harness::world::number;

const ENTRIES: &str = "/api/business/journal-entries";

/// One side of an entry.
fn line(account: &str, direction: &str, amount: i64, currency: &str) -> Value {
    json!({ "account": account, "direction": direction, "amount": amount, "currency": currency })
}

/// An entry of two lines.
fn entry(
    company: &str,
    day: &str,
    debit: &str,
    credit: &str,
    amount: i64,
    currency: &str,
) -> Value {
    json!({
        "company_id": company,
        "effective_on": day,
        "memo": "By hand",
        "lines": [line(debit, "debit", amount, currency), line(credit, "credit", amount, currency)],
    })
}

fn report(caller: &Caller, name: &str, company: &str, days: &str) -> Value {
    caller.get(&format!("/api/business/reports/{name}?company_id={company}&{days}")).data()
}

/// The row of one account in a section of a report.
fn of(report: &Value, kind: &str, account: &str) -> i64 {
    let lines = report[kind].as_array().expect("lines");
    let line = lines.iter().find(|line| line["account"] == account);
    line.map_or(0, |line| number(&line["amount"]))
}

fn currency(caller: &Caller, company: &str) -> String {
    let company = caller.get(&format!("/api/business/companies/{company}")).data();
    company["currency"].as_str().expect("a currency").to_owned()
}

fn available(caller: &Caller, company: &str) -> i64 {
    let wallets = caller.all(&format!("/api/payments/wallets?company_id={company}"));
    number(&wallets[0]["available"])
}
