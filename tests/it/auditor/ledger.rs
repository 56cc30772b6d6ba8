//! Calculates the ledger again, from its entries alone: balances, wallets and reports.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::books::{Books, Company};
use crate::harness::world::{id, number};

/// Debits and credits of an account in a currency.
type Sums = BTreeMap<(String, String), (i128, i128)>;

pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}"))
}

pub(super) fn wide(value: &Value) -> i128 {
    i128::from(number(value))
}

fn array(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

pub(super) fn findings(books: &Books, found: &mut Vec<String>) {
    if books.check["ok"] != true {
        found.push(format!("the sandbox's own check: {}", books.check));
    }
    for company in &books.companies {
        let mut of_company = Vec::new();
        entries(company, &mut of_company);
        accounts(company, &mut of_company);
        wallets(company, &mut of_company);
        reports(company, &mut of_company);
        let name = id(&company.company);
        found.extend(of_company.into_iter().map(|finding| format!("{name}: {finding}")));
    }
}

/// The sum of the entries that count.
pub(super) fn sums<'a>(entries: impl Iterator<Item = &'a Value>) -> Sums {
    let mut sums = Sums::new();
    for line in entries.flat_map(|entry| array(&entry["lines"])) {
        let key = (text(&line["account"]).to_owned(), text(&line["currency"]).to_owned());
        let sum = sums.entry(key).or_default();
        match text(&line["direction"]) {
            "debit" => sum.0 += wide(&line["amount"]),
            "credit" => sum.1 += wide(&line["amount"]),
            other => panic!("a line is {other}"),
        }
    }
    sums
}

fn until<'a>(company: &'a Company, day: &'a str) -> impl Iterator<Item = &'a Value> {
    let by_then = move |entry: &&Value| text(&entry["effective_on"]) <= day;
    company.entries.iter().filter(by_then)
}

fn entries(company: &Company, found: &mut Vec<String>) {
    let mut met = BTreeSet::new();
    for entry in &company.entries {
        let of = id(entry);
        if !met.insert(of) {
            found.push(format!("{of} appears twice"));
        }
        if array(&entry["lines"]).len() < 2 {
            found.push(format!("{of} has fewer than two lines"));
        }
        if array(&entry["lines"]).iter().any(|line| number(&line["amount"]) <= 0) {
            found.push(format!("{of} has an amount that is not positive"));
        }
        let mut by_currency: BTreeMap<String, i128> = BTreeMap::new();
        for ((_, currency), (debits, credits)) in sums([entry].into_iter()) {
            *by_currency.entry(currency).or_default() += debits - credits;
        }
        if by_currency.values().any(|rest| *rest != 0) {
            found.push(format!("{of} does not balance: {by_currency:?}"));
        }
    }
}

fn accounts(company: &Company, found: &mut Vec<String>) {
    let mut expected = sums(company.entries.iter());
    for account in &company.accounts {
        let key = (text(&account["code"]).to_owned(), text(&account["currency"]).to_owned());
        let (debits, credits) = expected.remove(&key).unwrap_or_default();
        let shown = (wide(&account["debits"]), wide(&account["credits"]));
        let side = if matches!(text(&account["type"]), "asset" | "expense") { 1 } else { -1 };
        let balance = side * (debits - credits);
        if shown != (debits, credits) || wide(&account["balance"]) != balance {
            found.push(format!(
                "account {key:?} shows {shown:?}, its entries say {debits} and {credits}"
            ));
        }
    }
    expected.retain(|_, (debits, credits)| (*debits, *credits) != (0, 0));
    if !expected.is_empty() {
        found.push(format!("entries of accounts that are not shown: {expected:?}"));
    }
}

fn wallets(company: &Company, found: &mut Vec<String>) {
    let sums = sums(company.entries.iter());
    for (wallet, lines) in &company.wallets {
        let currency = text(&wallet["currency"]);
        for (member, account) in [
            ("available", "cash_available"),
            ("reserved", "cash_reserved"),
            ("pending", "collections_in_transit"),
            ("escrow", "escrow_held"),
        ] {
            let key = (account.to_owned(), currency.to_owned());
            let (debits, credits) = sums.get(&key).copied().unwrap_or_default();
            if wide(&wallet[member]) != debits - credits {
                let (shown, of) = (&wallet[member], id(wallet));
                found.push(format!("{of} shows {shown} {member}, the ledger {}", debits - credits));
            }
        }
        let mut balance = 0;
        for line in lines {
            let sign = if line["type"] == "credit" { 1 } else { -1 };
            balance += sign * wide(&line["amount"]);
            if wide(&line["balance_after"]) != balance {
                found.push(format!(
                    "{}: {} after it, not {balance}",
                    id(line),
                    line["balance_after"]
                ));
            }
        }
        if balance != wide(&wallet["available"]) {
            found.push(format!("{}: its transactions end at {balance}", id(wallet)));
        }
    }
}

/// The account types of the chart of accounts.
fn types(company: &Company) -> BTreeMap<&str, &str> {
    let accounts = company.accounts.iter();
    accounts.map(|account| (text(&account["code"]), text(&account["type"]))).collect()
}

/// The sum of the accounts of one type, on the side on which the type grows, in the company's currency.
fn of_type(company: &Company, sums: &Sums, wanted: &str) -> BTreeMap<String, i128> {
    let (types, currency) = (types(company), text(&company.company["currency"]));
    let side = if matches!(wanted, "asset" | "expense") { 1 } else { -1 };
    let mut found = BTreeMap::new();
    for ((code, of), (debits, credits)) in sums {
        if of == currency && types.get(code.as_str()) == Some(&wanted) && debits != credits {
            found.insert(code.clone(), side * (debits - credits));
        }
    }
    found
}

/// The rows of a report by account, without zero rows.
fn shown(rows: &Value) -> BTreeMap<String, i128> {
    let row = |row: &Value| (text(&row["account"]).to_owned(), wide(&row["amount"]));
    let rows = array(rows).iter().map(row);
    rows.filter(|(_, amount)| *amount != 0).collect()
}

/// Whether its books contain another currency than its own.
pub(super) fn has_foreign_entries(company: &Company) -> bool {
    let home = &company.company["currency"];
    let mut lines = company.entries.iter().flat_map(|entry| array(&entry["lines"]));
    lines.any(|line| line["currency"] != *home)
}

fn reports(company: &Company, found: &mut Vec<String>) {
    if has_foreign_entries(company) {
        return; // other tests check the translation
    }
    for report in &company.profit_and_loss {
        let (from, to) = (text(&report["from"]), text(&report["to"]));
        // Closing a year moves its result; it does not change it.
        let closes = |entry: &&Value| entry["source"]["type"] == "accounting_period";
        let inside =
            |entry: &&Value| (from..=to).contains(&text(&entry["effective_on"])) && !closes(entry);
        let sums = sums(company.entries.iter().filter(inside));
        let (revenue, expenses) =
            (of_type(company, &sums, "revenue"), of_type(company, &sums, "expense"));
        let (earned, spent): (i128, i128) = (revenue.values().sum(), expenses.values().sum());
        let right = shown(&report["revenue"]) == revenue
            && shown(&report["expenses"]) == expenses
            && wide(&report["total_revenue"]) == earned
            && wide(&report["total_expenses"]) == spent
            && wide(&report["net_profit"]) == earned - spent;
        if !right {
            found.push(format!("profit and loss: {report}\nnot {revenue:?} less {expenses:?}"));
        }
    }
    for report in &company.balance_sheets {
        let sums = sums(until(company, text(&report["as_of"])));
        let of = |wanted| of_type(company, &sums, wanted);
        let total = |wanted| of(wanted).values().sum::<i128>();
        let earnings = total("revenue") - total("expense");
        let right = shown(&report["assets"]) == of("asset")
            && shown(&report["liabilities"]) == of("liability")
            && shown(&report["equity"]) == of("equity")
            && wide(&report["total_assets"]) == total("asset")
            && wide(&report["total_liabilities"]) == total("liability")
            && wide(&report["current_earnings"]) == earnings
            && wide(&report["total_equity"]) == total("equity") + earnings
            && total("asset") == total("liability") + total("equity") + earnings;
        if !right {
            found.push(format!("balance sheet: {report}\nnot {:?}", of("asset")));
        }
    }
    for report in &company.trial_balances {
        let mut expected = sums(until(company, text(&report["as_of"])));
        for row in array(&report["accounts"]) {
            let key = (text(&row["account"]).to_owned(), text(&row["currency"]).to_owned());
            let sums = expected.remove(&key).unwrap_or_default();
            if (wide(&row["debits"]), wide(&row["credits"])) != sums {
                found.push(format!("trial balance of {}: {row}, not {sums:?}", report["as_of"]));
            }
        }
        expected.retain(|_, (debits, credits)| (*debits, *credits) != (0, 0));
        if !expected.is_empty() {
            found.push(format!("trial balance of {} lacks {expected:?}", report["as_of"]));
        }
    }
}
