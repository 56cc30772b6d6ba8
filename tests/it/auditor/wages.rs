//! Net pay that is payable in the books, against the items whose net pay has not arrived.

use std::collections::BTreeMap;

use serde_json::Value;

use super::books::{Books, Company};
use super::kept_back::is_posted;
use super::ledger::{sums, text, wide};
use crate::harness::world::id;

/// Net pay by currency.
type ByCurrency = BTreeMap<String, i128>;

pub(super) fn findings(books: &Books, found: &mut Vec<String>) {
    let arrived = arrived(books);
    for company in &books.companies {
        let (payable, unpaid) = (payable(company), unpaid(company, books, &arrived));
        if payable != unpaid {
            found.push(format!(
                "{} owes net pay of {payable:?}, its items are unpaid by {unpaid:?}",
                id(&company.company)
            ));
        }
    }
}

/// The net pay that is payable after the entries of runs and payouts. Entries posted by callers are
/// left out.
fn payable(company: &Company) -> ByCurrency {
    let of_payroll = |entry: &&Value| {
        matches!(text(&entry["source"]["type"]), "payroll_run" | "payroll_item" | "payout")
    };
    let mut payable = ByCurrency::new();
    for ((account, currency), (debits, credits)) in sums(company.entries.iter().filter(of_payroll))
    {
        if matches!(account.as_str(), "wages_payable" | "contractors_payable") {
            *payable.entry(currency).or_default() += credits - debits;
        }
    }
    payable.retain(|_, amount| *amount != 0);
    payable
}

/// The amounts of the payouts that have arrived, by item.
fn arrived(books: &Books) -> BTreeMap<&str, i128> {
    let mut last: BTreeMap<&str, &Value> = BTreeMap::new();
    for event in &books.events {
        let object = &event["data"]["object"];
        if object["object"] == "payout" && object["source"]["type"] == "payroll_item" {
            last.insert(id(object), object);
        }
    }
    let mut arrived = BTreeMap::new();
    for payout in last.into_values().filter(|payout| payout["status"] == "paid") {
        *arrived.entry(text(&payout["source"]["id"])).or_default() += wide(&payout["amount"]);
    }
    arrived
}

/// The net pay that has not arrived, of runs whose entries are not reversed.
fn unpaid(company: &Company, books: &Books, arrived: &BTreeMap<&str, i128>) -> ByCurrency {
    let of_company = |run: &Value| run["company_id"] == company.company["id"] && is_posted(run);
    let runs = books.runs.iter().filter(|(run, _)| of_company(run));
    let mut unpaid = ByCurrency::new();
    for item in runs.flat_map(|(_, items)| items) {
        if matches!(text(&item["status"]), "ready" | "processing" | "failed" | "returned") {
            let part = arrived.get(id(item)).copied().unwrap_or_default();
            *unpaid.entry(text(&item["currency"]).to_owned()).or_default() +=
                wide(&item["net"]) - part;
        }
    }
    unpaid.retain(|_, amount| *amount != 0);
    unpaid
}
