//! Calculates wages and taxes again: runs from their items, payslips from their lines, years to date from all
//! earlier pay, liabilities from
//! accruals.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::books::{Books, Company};
use super::kept_back::{is_posted, kept_back};
use super::ledger::{sums, text, wide};
use crate::harness::world::id;

fn array(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn total(rows: &Value) -> i128 {
    array(rows).iter().map(|row| wide(&row["amount"])).sum()
}

/// The first day that is not history.
const START: &str = "2026-01-01";

/// Counts of the checked resources, so that a walk without payroll does not pass.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Looked {
    pub(super) payslips: usize,
    pub(super) years: usize,
    pub(super) runs: usize,
    pub(super) liabilities: usize,
    pub(super) payouts: usize,
}

pub(super) fn findings(books: &Books, found: &mut Vec<String>) -> Looked {
    let mut looked = Looked::default();
    runs(books, found, &mut looked);
    payslips(books, found, &mut looked);
    years(books, found, &mut looked);
    for company in &books.companies {
        owed(company, books, found, &mut looked);
    }
    payouts(books, found, &mut looked);
    looked
}

fn runs(books: &Books, found: &mut Vec<String>, looked: &mut Looked) {
    for (run, items) in &books.runs {
        let totals = &run["totals"];
        if totals.is_null() || items.is_empty() {
            continue;
        }
        looked.runs += 1;
        if items.iter().any(|item| !item["fx"].is_null()) {
            abroad(run, items, found);
            continue;
        }
        for member in ["gross", "taxes", "employee_contributions", "employer_contributions", "net"]
        {
            let sum: i128 = items.iter().map(|item| wide(&item[member])).sum();
            if wide(&totals[member]) != sum {
                found.push(format!("{} has {member} {}, its items {sum}", id(run), totals[member]));
            }
        }
        let cost = wide(&totals["gross"]) + wide(&totals["employer_contributions"]);
        if wide(&totals["employer_cost"]) < cost {
            found.push(format!("{} costs {}, not {cost}", id(run), totals["employer_cost"]));
        }
    }
}

/// A run with an employee paid in another currency counts that pay at the rate of the item, and still sums.
fn abroad(run: &Value, items: &[Value], found: &mut Vec<String>) {
    let totals = |member: &str| wide(&run["totals"][member]);
    let net = |item: &Value| match &item["fx"] {
        Value::Null => wide(&item["net"]),
        fx => wide(&fx["source_amount"]) - wide(&fx["fee_amount"]),
    };
    let sum: i128 = items.iter().map(net).sum();
    let kept = totals("taxes") + totals("employee_contributions") + totals("deductions");
    let left = totals("gross") - kept + totals("reimbursements");
    if (totals("net"), totals("net")) != (sum, left) {
        found.push(format!("{} nets {}, its items {sum}, its sums {left}", id(run), totals("net")));
    }
}

fn payslips(books: &Books, found: &mut Vec<String>, looked: &mut Looked) {
    let items: BTreeMap<&str, &Value> =
        books.runs.iter().flat_map(|(_, items)| items).map(|item| (id(item), item)).collect();
    for payslip in &books.payslips {
        looked.payslips += 1;
        let lines = total(&payslip["earnings"]);
        let kept = total(&payslip["taxes"]) + total(&payslip["contributions"]);
        let net = wide(&payslip["gross"]) - kept - total(&payslip["deductions"])
            + total(&payslip["reimbursements"]);
        if wide(&payslip["gross"]) != lines || wide(&payslip["net"]) != net {
            found.push(format!("{} does not add up: {payslip}", id(payslip)));
        }
        let Some(item) = items.get(text(&payslip["payroll_item_id"])) else {
            continue;
        };
        for (of_item, of_slip) in [
            ("gross", wide(&payslip["gross"])),
            ("net", wide(&payslip["net"])),
            ("taxes", total(&payslip["taxes"])),
            ("employee_contributions", total(&payslip["contributions"])),
            ("employer_contributions", total(&payslip["employer_contributions"])),
        ] {
            if wide(&item[of_item]) != of_slip {
                found.push(format!(
                    "{} has {of_item} {of_slip}, its item {}",
                    id(payslip),
                    item[of_item]
                ));
            }
        }
    }
}

/// Pay of one employee by one run.
struct Pay<'a> {
    run: &'a str,
    pay_date: &'a str,
    gross: i128,
    net: i128,
    /// Positions in the event log of its first and its last calculation; 0 for history.
    first: usize,
    last: usize,
    /// The position at which its run ended without effect.
    void: usize,
}

/// The year to date of a payslip is its own pay and all pay calculated before it in the same tax year that
/// was still valid. Other tests cover pay that
/// a correction took back.
fn years(books: &Books, found: &mut Vec<String>, looked: &mut Looked) {
    let mut undone: BTreeSet<&str> = BTreeSet::new();
    let pays = pays(books, &mut undone);
    // The known days of each tax year, by pack.
    let year =
        |payslip: &Value| (payslip["pack"].to_string(), text(&payslip["currency"]).to_owned());
    let mut days: BTreeMap<(String, String), BTreeSet<&str>> = BTreeMap::new();
    for payslip in &books.payslips {
        days.entry(year(payslip)).or_default().insert(text(&payslip["pay_date"]));
    }
    for payslip in books.payslips.iter().filter(|payslip| payslip["pack"]["in_force"] == true) {
        let employee = text(&payslip["employee_id"]);
        let (Some(pays), false) = (pays.get(employee), undone.contains(employee)) else {
            continue;
        };
        let Some(own) = pays.iter().find(|pay| payslip["payroll_run_id"] == pay.run) else {
            continue;
        };
        let in_year = |days: &BTreeSet<&str>, day: &str| {
            let (first, last) = (days.first().copied(), days.last().copied());
            first <= Some(day) && Some(day) <= last
        };
        let (mut gross, mut net, mut clear) = (own.gross, own.net, true);
        for pay in pays.iter().filter(|pay| pay.run != own.run) {
            if pay.void < own.last || (pay.first, pay.pay_date) > (own.last, own.pay_date) {
                continue;
            }
            let years = days.iter().filter(|((_, currency), days)| {
                payslip["currency"] == currency.as_str() && in_year(days, pay.pay_date)
            });
            let years: Vec<&(String, String)> = years.map(|(year, _)| year).collect();
            // Calculated again since, or paid on a day that no payslip assigns to a year.
            clear &= pay.last <= own.last && !years.is_empty();
            if years.contains(&&year(payslip)) {
                gross += pay.gross;
                net += pay.net;
            }
        }
        if !clear {
            continue;
        }
        looked.years += 1;
        let ytd = &payslip["ytd"];
        if (wide(&ytd["gross"]), wide(&ytd["net"])) != (gross, net) {
            found.push(format!(
                "{} of {employee}: {} and {} to date, not {gross} and {net}",
                id(payslip),
                ytd["gross"],
                ytd["net"]
            ));
        }
    }
}

/// All pay by employee, and the employees whose pay was taken back.
fn pays<'a>(books: &'a Books, undone: &mut BTreeSet<&'a str>) -> BTreeMap<&'a str, Vec<Pay<'a>>> {
    let mut calculated: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let mut void: BTreeMap<&str, usize> = BTreeMap::new();
    for (place, event) in books.events.iter().enumerate() {
        let run = &event["data"]["object"];
        if run["object"] != "payroll_run" {
            continue;
        }
        if event["type"] == "payroll_run.calculated" {
            calculated.entry(id(run)).or_insert((place + 1, 0)).1 = place + 1;
        }
        // Such an event can concern some of its employees; the status concerns the whole run.
        if matches!(text(&run["status"]), "cancelled" | "failed" | "reversed") {
            void.entry(id(run)).or_insert(place + 1);
        }
    }
    let mut pays: BTreeMap<&str, Vec<Pay<'_>>> = BTreeMap::new();
    for (run, items) in &books.runs {
        let (first, last) = calculated.get(id(run)).copied().unwrap_or_default();
        for item in items {
            let employee = text(&item["employee_id"]);
            if !run["reverses"].is_null() || item["status"] == "reversed" {
                undone.insert(employee);
            }
            if item["status"] == "blocked" {
                continue;
            }
            pays.entry(employee).or_default().push(Pay {
                run: id(run),
                pay_date: text(&run["pay_date"]),
                gross: wide(&item["gross"]),
                net: wide(&item["net"]),
                first,
                last,
                void: void.get(id(run)).copied().unwrap_or(usize::MAX),
            });
        }
    }
    pays
}

/// The account of liabilities to an authority.
fn account(authority: &str) -> String {
    match authority {
        "pension" => "pension_payable".to_owned(),
        authority => format!("tax_payable:{authority}"),
    }
}

/// The key of tax on sales, which has no run.
const SALES: &str = "sales";

/// Whether an entry's source charges tax on sales, or gives it back.
fn is_sale(source: &str) -> bool {
    ["inv_", "rfd_", "bil_"].iter().any(|prefix| source.starts_with(prefix))
}

/// Tax on purchases lowers what is due, and is an account of its own until a return deducts it.
fn is_tax(account: &str, of: &str) -> bool {
    of == account || (account == "tax_payable:vat" && of == "vat_recoverable")
}

/// The movements of each source on each account since that day, credits first. A correction counts for the
/// run that it reverses.
fn moved<'a>(
    company: &'a Company,
    roots: &BTreeMap<&'a str, &'a str>,
    since: &str,
) -> BTreeMap<(&'a str, String), i128> {
    let mut moved: BTreeMap<(&str, String), i128> = BTreeMap::new();
    // Entries can be dated before the day on which they are posted.
    let since = |entry: &&Value| text(&entry["posted_at"]) >= since;
    for entry in company.entries.iter().filter(since) {
        let cause = text(&entry["source"]["id"]);
        let cause = roots.get(cause).copied().unwrap_or(cause);
        for ((account, _), (debits, credits)) in sums([entry].into_iter()) {
            *moved.entry((cause, account)).or_default() += credits - debits;
        }
    }
    moved
}

fn owed(company: &Company, books: &Books, found: &mut Vec<String>, looked: &mut Looked) {
    let runs = books.runs.iter().map(|(run, _)| run);
    let roots: BTreeMap<&str, &str> =
        runs.clone().filter_map(|run| Some((id(run), run["reverses"].as_str()?))).collect();
    let root = |run| roots.get(run).copied().unwrap_or(run);
    // History has accruals without liabilities.
    let (moved, live) = (moved(company, &roots, ""), moved(company, &roots, START));
    let mut accrued: BTreeMap<(&str, String), i128> = BTreeMap::new();
    let mut paid: BTreeMap<&str, i128> = BTreeMap::new();
    for liability in &company.liabilities {
        looked.liabilities += 1;
        let amount = wide(&liability["amount"]);
        let run = liability["payroll_run_id"].as_str().map_or(SALES, root);
        let counts = if liability["status"] == "void" { 0 } else { amount };
        *accrued.entry((run, account(text(&liability["authority"])))).or_default() += counts;
        if liability["status"] == "paid"
            && let Some(filing) = liability["tax_filing_id"].as_str()
        {
            *paid.entry(filing).or_default() += amount;
        }
    }
    for ((run, account), amount) in &accrued {
        let posted = if *run == SALES {
            let of_sales =
                live.iter().filter(|((cause, of), _)| is_sale(cause) && is_tax(account, of));
            of_sales.map(|(_, moved)| moved).sum()
        } else {
            live.get(&(*run, account.clone())).copied().unwrap_or_default()
        };
        if posted != *amount {
            found.push(format!("{run} owes {amount} by its liabilities, {posted} by {account}"));
        }
    }
    let mut gross: BTreeMap<&str, i128> = BTreeMap::new();
    for run in runs.filter(|run| run["company_id"] == company.company["id"]) {
        let amount = if is_posted(run) { wide(&run["totals"]["gross"]) } else { 0 };
        *gross.entry(root(id(run))).or_default() += amount;
    }
    for (run, gross) in gross {
        let expensed = |account: &str| moved.get(&(run, account.to_owned())).copied();
        let wages: i128 = ["wages", "contractors"].into_iter().filter_map(expensed).sum();
        if gross != -wages {
            found.push(format!("{run} is of {gross}, its entries of {}", -wages));
        }
    }
    kept_back(company, books, &roots, &moved, found);
    for filing in company.filings.iter().filter(|filing| filing["amends"].is_null()) {
        let Some(&amount) = paid.get(id(filing)) else {
            continue;
        };
        // A credit with the authority pays a part. A negative amount becomes such a credit.
        let (money, credit) = (wide(&filing["amount_paid"]), wide(&filing["credit_used"]));
        if money + credit != amount && (amount > 0 || money != 0) {
            found.push(format!(
                "{} paid {money} and used {credit}, its liabilities {amount}",
                id(filing)
            ));
        }
    }
}

/// The movements of a payout must agree with its status.
fn payouts(books: &Books, found: &mut Vec<String>, looked: &mut Looked) {
    let mut last: BTreeMap<&str, &Value> = BTreeMap::new();
    for event in &books.events {
        let object = &event["data"]["object"];
        if object["object"] == "payout" {
            last.insert(id(object), object);
        }
    }
    let mut moved: BTreeMap<(&str, String), i128> = BTreeMap::new();
    for entry in books.companies.iter().flat_map(|company| &company.entries) {
        let cause = text(&entry["source"]["id"]);
        if last.contains_key(cause) {
            for ((account, _), (debits, credits)) in sums([entry].into_iter()) {
                *moved.entry((cause, account)).or_default() += debits - credits;
            }
        }
    }
    for (of, payout) in last {
        looked.payouts += 1;
        let amount = wide(&payout["amount"]);
        let on = |account: &str| moved.get(&(of, account.to_owned())).copied().unwrap_or_default();
        // The run reserves wages. Any other payout is in transit from its creation.
        let wages = payout["source"]["type"] == "payroll_item";
        let debts: &[&str] =
            if wages { &["wages_payable", "contractors_payable"] } else { &["purchases"] };
        let paid_for: i128 = debts.iter().map(|account| on(account)).sum();
        let transit = on("payouts_in_transit");
        let expected = match text(&payout["status"]) {
            "sent" => (0, amount),
            "paid" => (amount, 0),
            "pending_approval" | "queued" | "processing" | "on_hold" if !wages => (0, amount),
            _ => (0, 0),
        };
        if (paid_for, transit) != expected {
            let status = &payout["status"];
            found.push(format!("{of} of {amount} is {status}, and moved {paid_for} and {transit}"));
        }
    }
}
