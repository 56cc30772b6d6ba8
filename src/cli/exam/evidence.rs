//! Requests and sums in the form of a report: without ids, times, ports and keys, so that two reports are
//! byte-identical.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::api;
use crate::cli::exam::classes::{Class, class, identities};
use crate::cli::exam::learn::Learned;
use crate::cli::exam::trial::{Call, Ran};
use crate::cli::lab::canon::{Group, Groups, Masks, Place};

/// The most requests that a finding shows.
const MOST: usize = 12;

/// A request of the app.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Request {
    /// Its place among the shown ones.
    n: usize,
    method: String,
    path: String,
    /// A letter in the order of first use; null without a key.
    key: Option<String>,
    status: Option<u64>,
    /// The fault that acted on it.
    fault: Option<String>,
    #[serde(skip)]
    about: String,
    #[serde(skip)]
    outcome: String,
}

/// A sum that differs from the run without faults.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Entry {
    account: String,
    counterparty: Option<String>,
    currency: String,
    amount: i64,
    reference_amount: i64,
}

/// The requests of the classes on which a fault acted; all writes if there is none.
pub(super) fn requests(ran: &Ran, learned: &Learned) -> Vec<Request> {
    let known = identities(&ran.calls, &ran.canon, &learned.masks);
    let of = |call: &Call| class(call, &known);
    let hit: BTreeSet<Class> =
        ran.calls.iter().filter(|call| call.fault.is_some()).map(of).collect();
    let about_them = ran
        .calls
        .iter()
        .filter(|call| !call.is_read() && (hit.is_empty() || hit.contains(&of(call))));
    let mut letters: BTreeMap<&str, String> = BTreeMap::new();
    let mut requests = Vec::new();
    for (place, call) in about_them.take(MOST).enumerate() {
        let next = letter(letters.len());
        let key = call.key.as_deref().map(|key| letters.entry(key).or_insert(next).clone());
        let name = learned.classes.get(&of(call)).and_then(|used| used.counterparty.as_deref());
        let name = name.map(|name| shown(name, &learned.masks));
        requests.push(Request {
            n: place + 1,
            method: call.method.clone(),
            path: template(call),
            key,
            status: call.status,
            fault: call.fault.clone(),
            about: about(call, name),
            outcome: outcome(call),
        });
    }
    requests
}

/// The name of a recipient or payer, unless it differs from run to run.
fn shown<'a>(name: &'a str, masks: &Masks) -> &'a str {
    if masks.hide_names() { "a recipient" } else { name }
}

/// A, B, … Z, A1, B1, …
fn letter(place: usize) -> String {
    let letter = char::from(b'A' + u8::try_from(place % 26).unwrap_or_default());
    if place < 26 { letter.to_string() } else { format!("{letter}{}", place / 26) }
}

/// The path of the operation, without ids.
fn template(call: &Call) -> String {
    let wanted = call.operation.as_deref();
    let row = api::product().find(|row| Some(row.operation_id().as_str()) == wanted);
    row.map_or_else(|| "(no route)".to_owned(), |row| row.path.to_owned())
}

/// `500000 NGN to Ada Supplies`.
fn about(call: &Call, name: Option<&str>) -> String {
    let money = call.body["amount"].as_i64().map(|amount| {
        let currency = call.body["currency"].as_str().map(|currency| format!(" {currency}"));
        format!("{amount}{}", currency.unwrap_or_default())
    });
    match (money, name) {
        (Some(money), Some(name)) => format!("{money} to {name}"),
        (Some(money), None) => money,
        (None, Some(name)) => format!("to {name}"),
        (None, None) => String::new(),
    }
}

fn outcome(call: &Call) -> String {
    let status = call.status.map_or_else(|| "-".to_owned(), |status| status.to_string());
    let fault = call.fault.as_deref().unwrap_or_default();
    let what = match fault {
        "" if call.is_replay => "the stored reply again",
        "" => return status,
        "lose=reply" => "the reply was lost",
        "lose=request" => return "cut before the commit".to_owned(),
        "body=truncated" => "the reply was truncated",
        _ if fault.contains("after_commit") => "after the commit",
        _ if fault.contains("retry_after") => "with Retry-After",
        _ if fault.contains("latency") && call.client_left => "the client left before the reply",
        _ if fault.contains("latency") => "late",
        _ => "before the commit",
    };
    format!("{status}, {what}")
}

impl Request {
    /// A line of the text report.
    pub(super) fn line(&self) -> String {
        let key = self.key.as_ref().map_or_else(|| "no key".to_owned(), |key| format!("key {key}"));
        let Self { n, method, path, about, outcome, .. } = self;
        let parts = [format!("{method} {path}"), key, about.clone(), outcome.clone()];
        let parts: Vec<&str> =
            parts.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
        format!("{n}  {}", parts.join("  "))
    }
}

/// The sums of money that differ from the run without faults.
pub(super) fn entries(now: &BTreeMap<Place, i64>, reference: &BTreeMap<Place, i64>) -> Vec<Entry> {
    let places: BTreeSet<&Place> = now.keys().chain(reference.keys()).collect();
    let amount = |sums: &BTreeMap<Place, i64>, place: &Place| sums.get(place).copied().unwrap_or(0);
    let differing = places.into_iter().filter(|place| now.get(place) != reference.get(place));
    let entry = |place: &Place| Entry {
        account: place.account.clone(),
        counterparty: place.counterparty.clone(),
        currency: place.currency.clone(),
        amount: amount(now, place),
        reference_amount: amount(reference, place),
    };
    differing.map(entry).collect()
}

/// `paid: Ada Supplies 500000 NGN, twice (without faults: once)`, for each object that exists more or less often.
pub(super) fn counts(now: &Groups<'_>, reference: &Groups<'_>, masks: &Masks) -> Vec<String> {
    let texts: BTreeSet<&Vec<u8>> = now.keys().chain(reference.keys()).collect();
    let count = |groups: &Groups<'_>, text| groups.get(text).map_or(0, |group| group.count);
    let mut lines = Vec::new();
    for text in texts {
        let (here, there) = (count(now, text), count(reference, text));
        if here != there
            && let Some(Group { sample, .. }) = now.get(text).or_else(|| reference.get(text))
        {
            let verb = match sample.kind.as_str() {
                "payout" => "paid".to_owned(),
                "collection" => "collected".to_owned(),
                "refund" => "refunded".to_owned(),
                kind => kind.replace('_', " "),
            };
            let amount = ["amount", "total", "principal"]
                .iter()
                .find_map(|member| sample.value[*member].as_i64())
                .map(|amount| amount.to_string());
            let currency = sample.value["currency"].as_str().map(str::to_owned);
            let status = match verb.as_str() {
                "paid" | "collected" | "refunded" => sample.value["status"]
                    .as_str()
                    .filter(|status| !["paid", "settled", "succeeded"].contains(status))
                    .map(|status| format!("({status})")),
                _ => None,
            };
            let name = sample.value["name"].as_str().map(str::to_owned);
            let name = sample.counterparty.clone().or(name);
            let name = name.map(|name| shown(&name, masks).to_owned());
            let what: Vec<String> =
                [name, amount, currency, status].into_iter().flatten().collect();
            let what = what.join(" ");
            lines.push(format!(
                "{verb}: {what}, {} (without faults: {})",
                times(here),
                times(there)
            ));
        }
    }
    lines.sort();
    lines
}

fn times(count: usize) -> String {
    match count {
        0 => "never".to_owned(),
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        many => format!("{many} times"),
    }
}
