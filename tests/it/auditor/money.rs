//! Conservation of money: the balances of a world's wallets, with the money in transit, equal the first
//! balances plus incoming less outgoing money. The
//! sums are calculated for each currency from the resources that moved money (payouts, collections, bills, refunds,
//! disputes, filings, conversions), in their last
//! state of the event log. The ledger is read only for entries that callers posted.

use std::collections::BTreeMap;

use serde_json::Value;

use super::books::Books;
use super::ledger::{text, wide};

/// The start of a world.
const START: &str = "2026-01-01";

/// By currency.
pub(super) type Money = BTreeMap<String, i128>;

fn add(money: &mut Money, currency: &Value, amount: i128) {
    *money.entry(text(currency).to_owned()).or_default() += amount;
}

/// The totals of a world's wallets, reserved money included.
pub(super) fn held<'a>(wallets: impl Iterator<Item = &'a Value>) -> Money {
    let mut money = Money::new();
    for wallet in wallets {
        let parts = ["available", "pending", "reserved", "escrow"];
        let sum = parts.iter().map(|part| wide(&wallet[*part])).sum();
        add(&mut money, &wallet["currency"], sum);
    }
    money
}

/// The last state of every resource in the event log, by kind.
fn latest(books: &Books) -> BTreeMap<&str, BTreeMap<&str, &Value>> {
    let mut latest: BTreeMap<&str, BTreeMap<&str, &Value>> = BTreeMap::new();
    for event in &books.events {
        let object = &event["data"]["object"];
        let (Some(kind), Some(id)) = (object["object"].as_str(), object["id"].as_str()) else {
            continue;
        };
        latest.entry(kind).or_default().insert(id, object);
    }
    latest
}

/// Whether it entered this status after the world's start.
fn since(object: &Value, status: &str) -> bool {
    let mut history = object["status_history"].as_array().into_iter().flatten();
    history.any(|change| change["status"] == status && text(&change["at"]) >= START)
}

fn amount(object: &Value, name: &str) -> i128 {
    if object[name].is_null() { 0 } else { wide(&object[name]) }
}

/// Incoming less outgoing money, and money in transit, since the start of the walk.
fn moved(books: &Books) -> (Money, Money) {
    let latest = latest(books);
    let of = |kind: &str| latest.get(kind).into_iter().flat_map(BTreeMap::values);
    let (mut moved, mut on_its_way) = (books.paid_in.clone(), Money::new());
    for payout in of("payout") {
        payout_moved(payout, &mut moved, &mut on_its_way);
    }
    for run in of("payroll_run") {
        let kept = ["processing", "paid", "partially_paid", "reversed"];
        if kept.contains(&text(&run["status"])) && run["funding"].is_object() {
            add(&mut moved, &run["currency"], -amount(&run["funding"], "platform_fee"));
        }
    }
    // Net pay that had arrived and was reversed.
    for (_, items) in &books.runs {
        for item in items.iter().filter(|item| item["status"] == "reversed") {
            if item_was_paid(item) {
                add(&mut moved, &item["currency"], amount(item, "net"));
            }
        }
    }
    for filing in of("tax_filing") {
        // Amounts that were paid before the world's start, or by the amended return, are not payments of this
        // return.
        let before = match filing["amends"].as_str() {
            Some(amended) => amount(latest["tax_filing"][amended], "amount_paid"),
            None if since(filing, "submitted") => 0,
            None => amount(filing, "amount_paid"),
        };
        let paid = amount(filing, "amount_paid") - before;
        add(&mut moved, &filing["currency"], -paid);
    }
    for collection in of("collection") {
        let currency = &collection["currency"];
        if since(collection, "succeeded") {
            add(&mut moved, currency, amount(collection, "amount_received"));
        }
        if collection["returned"].is_object() {
            add(&mut moved, currency, -amount(&collection["returned"], "taken"));
        }
        if since(collection, "settled") {
            add(&mut moved, currency, -amount(collection, "fee"));
        }
    }
    for bill in of("bill") {
        add(&mut moved, &bill["currency"], -amount(bill, "amount_paid"));
    }
    for refund in of("refund").filter(|refund| refund["status"] == "succeeded") {
        add(&mut moved, &refund["currency"], -amount(refund, "amount"));
    }
    for dispute in of("dispute").filter(|dispute| dispute["source"]["type"] == "collection") {
        if ["lost", "accepted"].contains(&text(&dispute["status"])) {
            add(&mut moved, &dispute["currency"], -taken(books, dispute));
        }
    }
    for transfer in of("fx_transfer").filter(|transfer| transfer["status"] == "completed") {
        let (from, to) = (&transfer["source_currency"], &transfer["target_currency"]);
        add(&mut moved, from, -amount(transfer, "source_amount"));
        add(&mut moved, to, amount(transfer, "target_amount"));
    }
    for payee in of("beneficiary").filter(|payee| payee["micro_deposits"].is_object()) {
        add(&mut moved, &payee["account"]["currency"], -amount(&payee["micro_deposits"], "total"));
    }
    for loan in of("loan").filter(|loan| loan["disbursed_at"].is_string()) {
        let repaid = amount(&loan["balances"], "principal_paid")
            + amount(&loan["balances"], "interest_paid");
        add(&mut moved, &loan["currency"], amount(loan, "amount") - repaid);
    }
    for deal in of("deal").filter(|deal| deal["status"] == "won") {
        add(&mut moved, &deal["currency"], amount(deal, "amount"));
    }
    entered_by_hand(books, &mut moved);
    (moved, on_its_way)
}

/// The money that a payout has moved or will move.
fn payout_moved(payout: &Value, moved: &mut Money, on_its_way: &mut Money) {
    let currency = &payout["currency"];
    let wages = payout["source"]["type"] == "payroll_item";
    let status = text(&payout["status"]);
    // Wages leave the reserve when they are sent. Other payouts leave the wallet when they are created.
    let out = match status {
        "sent" => true,
        "pending_approval" | "queued" | "processing" | "on_hold" => !wages,
        _ => false,
    };
    if out {
        add(on_its_way, currency, amount(payout, "amount"));
    }
    if status == "paid" && since(payout, "paid") {
        add(moved, currency, -amount(payout, "amount"));
    }
    // Wages in another currency are converted when they are sent, and back when they are returned.
    if payout["fx"].is_object() && ["sent", "paid"].contains(&status) {
        let fx = &payout["fx"];
        add(moved, &fx["source_currency"], -amount(fx, "source_amount"));
        add(moved, currency, amount(payout, "amount"));
    }
    if !["failed", "cancelled"].contains(&status) {
        add(moved, currency, -amount(payout, "fee"));
    }
}

/// What entries moved that a caller posted.
fn entered_by_hand(books: &Books, moved: &mut Money) {
    for entry in books.companies.iter().flat_map(|company| &company.entries) {
        if entry["source"]["type"] == "journal_entry" {
            for line in entry["lines"].as_array().into_iter().flatten() {
                let sign = if line["direction"] == "debit" { 1 } else { -1 };
                if line["account"] == "cash_available" {
                    add(moved, &line["currency"], sign * amount(line, "amount"));
                }
            }
        }
    }
}

/// The money that a lost dispute took: the whole amount if it was withheld, otherwise the balance of a short
/// wallet, which only the entry shows.
fn taken(books: &Books, dispute: &Value) -> i128 {
    if dispute["withheld"] == dispute["amount"] {
        return amount(dispute, "amount");
    }
    let mut entries = books.companies.iter().flat_map(|company| &company.entries);
    let of =
        |entry: &&Value| entry["source"]["id"] == dispute["id"] && entry["memo"] == "Dispute lost";
    let lines = entries.find(of).map(|entry| &entry["lines"]);
    let lines = lines.and_then(Value::as_array).into_iter().flatten();
    let cash = ["cash_available", "cash_reserved"];
    let cash = lines.filter(|line| cash.contains(&text(&line["account"])));
    cash.map(|line| amount(line, "amount")).sum()
}

fn item_was_paid(item: &Value) -> bool {
    let history = item["status_history"].as_array().into_iter().flatten();
    let states: Vec<&str> = history.map(|change| text(&change["status"])).collect();
    states.len() >= 2 && states[states.len() - 2] == "paid"
}

pub(super) fn findings(books: &Books, found: &mut Vec<String>) {
    let (moved, on_its_way) = moved(books);
    let wallets = books.companies.iter().flat_map(|company| &company.wallets);
    let now = held(wallets.map(|(wallet, _)| wallet));
    let currencies = now.keys().chain(moved.keys()).chain(books.at_first.keys());
    let currencies: std::collections::BTreeSet<&String> = currencies.collect();
    for currency in currencies {
        let of = |money: &Money| money.get(currency).copied().unwrap_or_default();
        let (first, moved, way, now) = (of(&books.at_first), of(&moved), of(&on_its_way), of(&now));
        if first + moved != now + way {
            found.push(format!(
                "{currency}: {first} at first and {moved} since are not {now} in wallets and {way} in transit: a difference of {}",
                now + way - first - moved
            ));
        }
    }
}
