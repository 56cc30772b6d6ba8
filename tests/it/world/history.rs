//! The twelve months of books before the start: they are realistic and consistent.
//!
//! Issue 14, points 7 (every obligation keeps its own day) and 14 (seeded history).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Value, json};

use crate::harness::world::{id, number};
use crate::harness::{Caller, Server};

use super::{companies, printed, text};

const FILINGS: &str = "/api/business/tax-filings";

fn started(flags: &[&str]) -> Caller {
    let flags: Vec<&str> = ["--clock", "manual"].iter().chain(flags).copied().collect();
    Caller::of(&Arc::new(Server::start(&flags)))
}

fn list(caller: &Caller, of: &str, company: &str) -> Vec<Value> {
    let sort = if of.ends_with("payroll-runs") { "&sort=created_at" } else { "" };
    caller.all(&format!("{of}?company_id={company}{sort}"))
}

fn lines(entries: &[Value]) -> impl Iterator<Item = (&Value, &Value)> {
    entries.iter().flat_map(|entry| {
        let lines = entry["lines"].as_array().unwrap().iter();
        lines.map(move |line| (entry, line))
    })
}

/// Debits less credits of an account, of entries that `of` accepts.
fn sum(entries: &[Value], account: &str, of: impl Fn(&Value) -> bool) -> i64 {
    let of_account = lines(entries).filter(|(entry, line)| line["account"] == account && of(entry));
    let signed = of_account.map(|(_, line)| {
        let amount = number(&line["amount"]);
        if line["direction"] == "debit" { amount } else { -amount }
    });
    signed.sum()
}

#[test]
fn people_join_leave_get_raises_and_a_bonus() {
    let caller = Caller::manual();
    let mut joined_of = Vec::new();
    for company in 0..3 {
        let company = caller.company(company);
        let people = list(&caller, "/api/business/employees", &company);
        let full =
            |person: &Value| caller.get(&format!("/api/business/employees/{}", id(person))).data();
        let people: Vec<Value> = people.iter().map(full).collect();
        let raised: Vec<&Value> =
            people.iter().filter(|it| it["compensation_history"].is_array()).collect();
        assert!(raised.len() > 8, "{} raises", raised.len());
        let joined = people.iter().filter(|it| {
            it["status"] == "active"
                && ("2025-01-02".."2025-12-02").contains(&text(it, "start_date"))
        });
        joined_of.push(joined.count());
        let left: Vec<&Value> = people.iter().filter(|it| it["status"] == "terminated").collect();
        let ends: Vec<&str> = left.iter().map(|it| text(it, "end_date")).collect();
        assert!(ends.len() == 1 && ("2025-03".."2026").contains(&ends[0]), "{ends:?}");

        let mut bonus_months = BTreeSet::new();
        let mut counts = BTreeSet::new();
        for run in list(&caller, "/api/business/payroll-runs", &company) {
            let items = caller.all(&format!("/api/business/payslips?payroll_run_id={}", id(&run)));
            assert_eq!(i64::try_from(items.len()).unwrap(), number(&run["employee_count"]));
            counts.insert(items.len());
            for item in &items {
                let earnings = item["earnings"].as_array().unwrap();
                if earnings.iter().any(|line| line["id"] == "bonus") {
                    bonus_months.insert(text(&run, "period").to_owned());
                }
                let person = people.iter().find(|it| it["id"] == item["employee_id"]).unwrap();
                assert_eq!(regular(item), pay_by_terms(person, item), "{person}");
            }
            let gross: i64 = items.iter().map(|item| number(&item["gross"])).sum();
            assert_eq!(gross, number(&run["totals"]["gross"]));
        }
        assert_eq!(bonus_months.len(), 1, "{bonus_months:?}");
        assert!(counts.len() > 1, "the number of people changes: {counts:?}");
    }
    assert!(joined_of.iter().sum::<usize>() > 4, "{joined_of:?}");
    assert!(joined_of.iter().max() > joined_of.iter().min(), "{joined_of:?}");
    caller.audit();
}

/// The salary on a payslip, without the bonus.
fn regular(item: &Value) -> i64 {
    let earnings = item["earnings"].as_array().unwrap().iter();
    earnings.filter(|line| line["id"] != "bonus").map(|line| number(&line["amount"])).sum()
}

/// The salary of a payslip's pay period, by the terms in force at its end. There are 26 fortnights in a year.
fn pay_by_terms(person: &Value, payslip: &Value) -> i64 {
    let fortnight = payslip["pay_period"]["end"].as_str();
    let day = fortnight.unwrap_or(text(payslip, "pay_date"));
    let mut history = person["compensation_history"].as_array().into_iter().flatten();
    let begun = history.rfind(|terms| text(terms, "effective_from") <= day);
    let month = number(&begun.unwrap_or(&person["compensation"])["amount"]);
    if fortnight.is_some() { (month * 12 * 2 + 26) / 52 } else { month }
}

/// United States Census Bureau, Monthly Retail Trade Survey, factors of clothing stores: December is 1.59 times the trend.
#[test]
fn decembers_of_retail_are_far_above_its_average_month() {
    for seed in ["42", "7"] {
        let world = printed(&["--seed", seed, "--companies", "10"]);
        let mut seen = 0;
        for company in companies(&world) {
            let entries = company["journal_entries"].as_array().unwrap();
            let of = |month: String| {
                -sum(entries, "sales", |entry| text(entry, "effective_on").starts_with(&month))
            };
            let months: Vec<i64> = (1..=12).map(|month| of(format!("2025-{month:02}"))).collect();
            let mean = months.iter().sum::<i64>() / 12;
            let percent = |month: usize| months[month - 1] * 100 / mean;
            if company["industry"] == "retail" {
                assert!((140..=190).contains(&percent(12)), "{}", percent(12));
                assert!(percent(1) < 90, "{}", percent(1));
                seen += 1;
            }
            let (least, most) = (months.iter().min().unwrap(), months.iter().max().unwrap());
            assert!(most * 100 > least * 110, "{}: {months:?}", company["industry"]);
        }
        assert_eq!(seen, 1);
    }
}

#[test]
fn customers_differ_and_some_pay_late_or_never() {
    let (mut late, mut never) = (0, 0);
    for seed in ["42", "7", "1000"] {
        let caller = started(&["--seed", seed]);
        for company in 0..3 {
            let company = caller.company(company);
            let invoices = list(&caller, "/api/payments/invoices", &company);
            assert_eq!(invoices.len(), 96);
            let mut customers: BTreeMap<&str, i64> = BTreeMap::new();
            for invoice in &invoices {
                *customers.entry(text(&invoice["customer"], "id")).or_default() += 1;
            }
            let most = customers.values().max().unwrap();
            let once = customers.values().filter(|count| **count == 1).count();
            assert!(*most >= 8 && once >= 12, "{customers:?}");
            for invoice in &invoices {
                let is_due = text(invoice, "due_date") < "2026-01-01";
                let is_owed = number(&invoice["amount_due"]) > 0;
                assert_eq!(invoice["overdue"], is_due && is_owed);
                never += i64::from(is_owed && text(invoice, "issued_on") < "2025-09-01");
                let paid = invoice["status_history"].as_array().unwrap().last().unwrap();
                let paid_on = &text(paid, "at")[..10];
                late += i64::from(!is_owed && paid_on > text(invoice, "due_date"));
            }
            let owed: i64 = invoices.iter().map(|invoice| number(&invoice["amount_due"])).sum();
            let accounts = list(&caller, "/api/business/ledger-accounts", &company);
            let receivable = accounts.iter().find(|it| it["code"] == "accounts_receivable");
            assert_eq!(number(&receivable.unwrap()["balance"]), owed);
        }
        caller.audit();
    }
    assert!(late > 50 && never > 5, "{late} late, {never} never");
}

#[test]
fn profit_and_loss_has_more_than_four_expenses_and_december_pay_is_before_the_holidays() {
    let caller = Caller::manual();
    // Saturday the 20th moves back; the American company pays biweekly.
    for (company, pay_date) in [(0, "2025-12-19"), (1, "2025-12-19"), (2, "2025-12-12")] {
        let company = caller.company(company);
        let report = caller.get(&format!(
            "/api/business/reports/profit-and-loss?company_id={company}&from=2025-01-01&to=2025-12-31"
        ));
        let report = report.data();
        let expenses = report["expenses"].as_array().unwrap();
        assert!(expenses.len() >= 8, "{report}");
        let runs = list(&caller, "/api/business/payroll-runs", &company);
        let december = runs.iter().find(|run| run["period"] == "2025-12").unwrap();
        assert_eq!(december["pay_date"], pay_date);
    }
}

/// Authorities with their due days.
type DueDays<'a> = &'a [(&'a str, Option<&'a str>)];

/// The due days of the payroll packs and of `fixtures/vat.toml`, each with its source there.
#[test]
fn every_return_of_december_has_its_own_day_and_becomes_late_after_it() {
    let caller = Caller::manual();
    let rows: [(usize, DueDays<'_>); 3] = [
        (
            0,
            &[
                ("SIRS", Some("2026-01-10")),
                ("NSITF", Some("2026-01-16")),
                ("vat", Some("2026-01-21")),
            ],
        ),
        (1, &[("HMRC", Some("2026-01-22")), ("vat", Some("2026-02-06"))]),
        (2, &[("IRS", Some("2026-01-15"))]),
    ];
    for (company, rows) in rows {
        let company = caller.company(company);
        let filings = list(&caller, FILINGS, &company);
        for (authority, due_on) in rows {
            let of = |it: &&Value| it["tax_type"] == *authority && it["period"] == "2025-12";
            let filing = filings.iter().find(of).unwrap_or_else(|| panic!("no {authority}"));
            assert_eq!(filing["due_on"], json!(due_on), "{authority}");
            assert_eq!((&filing["status"], &filing["late"]), (&json!("pending"), &json!(false)));
        }
    }
    let late = |caller: &Caller| -> Vec<String> {
        let late = caller.all(FILINGS).into_iter().filter(|filing| filing["late"] == true);
        late.map(|filing| text(&filing, "tax_type").to_owned()).collect()
    };
    caller.advance(&json!({"to": "2026-01-15T23:59:59Z"}));
    assert!(late(&caller).contains(&"SIRS".to_owned()), "{:?}", late(&caller));
    assert!(!late(&caller).contains(&"IRS".to_owned()), "it is due today");
    caller.advance(&json!({"by": "1s"}));
    assert!(late(&caller).contains(&"IRS".to_owned()));
    caller.advance(&json!({"to": "2026-01-22T00:00:00Z"}));
    assert_eq!(late(&caller).iter().filter(|it| *it == "vat").count(), 1, "that of Nigeria");
    // A late return is submitted like any other, and remains marked as late.
    let filing = caller.all(&format!("{FILINGS}?tax_type=IRS&status=pending")).remove(0);
    let target = format!("{FILINGS}/{}", id(&filing));
    caller.post(&format!("{target}/submit"), &json!({"declaration": "Ada Obi"})).expect(202);
    let sent = caller.get(&target).data();
    assert_eq!((&sent["status"], &sent["late"]), (&json!("submitted"), &json!(true)));
    caller.audit();
}

#[test]
fn liabilities_filings_and_payments_of_the_history_agree() {
    for countries in ["NG,GB,US", "KE,ZA,CA", "FR,IN,AE"] {
        let caller = started(&["--countries", countries]);
        for company in 0..3 {
            let company = caller.company(company);
            let filings = list(&caller, FILINGS, &company);
            let entries = list(&caller, "/api/business/journal-entries", &company);
            let authorities: BTreeSet<&str> =
                filings.iter().map(|filing| text(filing, "tax_type")).collect();
            for authority in &authorities {
                let account = match *authority {
                    "pension" => "pension_payable".to_owned(),
                    code => format!("tax_payable:{code}"),
                };
                let of = || filings.iter().filter(|it| it["tax_type"] == *authority);
                let declared: i64 = of().map(|filing| number(&filing["amount"])).sum();
                let paid: i64 = of().map(|filing| number(&filing["amount_paid"])).sum();
                let is_payment = |entry: &Value| entry["memo"] == "Filing paid";
                let accrued = -sum(&entries, &account, |entry| !is_payment(entry));
                assert_eq!(declared, accrued, "{countries} {authority}");
                assert_eq!(paid, sum(&entries, &account, is_payment), "{countries} {authority}");
                for filing in of() {
                    let sent = filing["status"] == "filed";
                    let expected = if sent { number(&filing["amount"]) } else { 0 };
                    assert_eq!(number(&filing["amount_paid"]), expected);
                }
            }
            let open: BTreeSet<String> = lines(&entries)
                .map(|(_, line)| text(line, "account"))
                .filter_map(|account| account.strip_prefix("tax_payable:").map(str::to_owned))
                .collect();
            assert!(open.iter().all(|code| authorities.contains(code.as_str())), "{open:?}");
        }
        caller.audit();
    }
}
