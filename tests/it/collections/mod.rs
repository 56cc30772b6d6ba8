//! Incoming money: collections and their payers, invoices, refunds, disputes, and inbound calls.

mod asked;
mod disputes;
mod history;
mod inbound;
mod invoices;
mod mandates;
mod rail_codes;
mod refunds;

use serde_json::{Value, json};

use crate::harness::Caller;
use crate::harness::http::Answer;
use crate::harness::world::id;

const COLLECTIONS: &str = "/api/payments/collections";
const INVOICES: &str = "/api/payments/invoices";
const DISPUTES: &str = "/api/payments/disputes";

/// The body of a card collection of 250.00 of the first company, with these changes.
fn wanted(caller: &Caller, more: &Value) -> Value {
    let mut body = json!({
        "company_id": caller.company(0), "amount": 25_000, "currency": "NGN", "method": "card", "reference": "ORDER-1",
    });
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    body
}

fn ask(caller: &Caller, more: &Value) -> Answer {
    caller.post(COLLECTIONS, &wanted(caller, more))
}

/// The current state of a collection.
fn collection(caller: &Caller, of: &Value) -> Value {
    caller.get(&format!("{COLLECTIONS}/{}", id(of))).data()
}

/// A settled collection.
fn settled(caller: &Caller, more: &Value) -> Value {
    let asked = ask(caller, more).made();
    caller.advance(&json!({"by": "9d"}));
    let settled = collection(caller, &asked);
    assert_eq!(settled["status"], "settled");
    settled
}

fn statuses(of: &Value) -> Vec<&str> {
    let history = of["status_history"].as_array().unwrap().iter();
    history.map(|change| change["status"].as_str().unwrap()).collect()
}

fn wallet(caller: &Caller, currency: &str) -> Value {
    let company = caller.company(0);
    let path = format!("/api/payments/wallets?company_id={company}&currency={currency}");
    caller.all(&path).remove(0)
}

/// Debits less credits of a resource's entries on each account.
fn booked(caller: &Caller, source: &str) -> Vec<(String, i64)> {
    let path = format!(
        "/api/business/journal-entries?company_id={}&source_id={source}",
        caller.company(0)
    );
    let mut sums = std::collections::BTreeMap::new();
    for entry in caller.all(&path) {
        for line in entry["lines"].as_array().unwrap() {
            let amount = line["amount"].as_i64().unwrap();
            let account = line["account"].as_str().unwrap().to_owned();
            let sum = sums.entry(account).or_insert(0);
            *sum += if line["direction"] == "debit" { amount } else { -amount };
        }
    }
    sums.into_iter().filter(|(_, sum)| *sum != 0).collect()
}

fn at(account: &str, amount: i64) -> (String, i64) {
    (account.to_owned(), amount)
}

/// Types of the events about one resource, in order.
fn told(caller: &Caller, of: &str) -> Vec<String> {
    let about = |event: &&Value| event["data"]["object"]["id"] == of;
    let name = |event: &Value| event["type"].as_str().unwrap().to_owned();
    caller.events().iter().filter(about).map(name).collect()
}

fn respond(caller: &Caller, dispute: &Value, body: &Value) -> Answer {
    caller.post(&format!("{DISPUTES}/{}/respond", id(dispute)), body)
}

fn moved(caller: &Caller, of: &str, to: &str) -> Answer {
    let target = format!("/_sandbox/resources/{of}/transition");
    caller.post(&target, &json!({"to": to}))
}
