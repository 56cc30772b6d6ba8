//! Aged receivables and payables agree with the ledger at every date.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::bills::{approved, bill, company_of, wallet};
use super::{ENTRIES, entry, report};
use crate::harness::Caller;
use crate::harness::http::pointers;
use crate::harness::world::{id, number};

const BUCKETS: [&str; 5] =
    ["not_due", "days_1_to_30", "days_31_to_60", "days_61_to_90", "days_over_90"];

/// The report, after a comparison of its sums with one another and with the trial balance.
fn aged(caller: &Caller, company: &str, name: &str, account: &str, day: &str) -> Value {
    let aged = report(caller, name, company, &format!("as_of={day}"));
    assert_eq!(aged["account"], account);
    let trial = report(caller, "trial-balance", company, &format!("as_of={day}"));
    let mut balances: BTreeMap<&str, i64> = BTreeMap::new();
    for row in trial["accounts"].as_array().unwrap().iter().filter(|row| row["account"] == account)
    {
        let net = number(&row["debit_balance"]) - number(&row["credit_balance"]);
        let side = if account == "accounts_receivable" { 1 } else { -1 };
        balances.insert(row["currency"].as_str().unwrap(), side * net);
    }
    balances.retain(|_, balance| *balance != 0);
    let totals = aged["totals"].as_array().unwrap();
    assert_eq!(totals.len(), balances.len(), "{aged}");
    for total in totals {
        let currency = total["currency"].as_str().unwrap();
        assert_eq!(number(&total["balance"]), balances[currency], "{day} {total}");
        let outstanding = number(&total["outstanding"]);
        assert_eq!(outstanding + number(&total["unallocated"]), balances[currency]);
        let of_currency =
            || aged["parties"].as_array().unwrap().iter().filter(|it| it["currency"] == currency);
        for bucket in BUCKETS {
            let sum: i64 = of_currency().map(|party| number(&party[bucket])).sum();
            assert_eq!(number(&total[bucket]), sum, "{day} {bucket}");
        }
        let items = of_currency().flat_map(|party| party["items"].as_array().unwrap());
        assert_eq!(items.map(|item| number(&item["amount"])).sum::<i64>(), outstanding);
        assert_eq!(BUCKETS.map(|bucket| number(&total[bucket])).iter().sum::<i64>(), outstanding);
    }
    aged
}

fn receivables(caller: &Caller, company: &str, day: &str) -> Value {
    aged(caller, company, "aged-receivables", "accounts_receivable", day)
}

fn payables(caller: &Caller, company: &str, day: &str) -> Value {
    aged(caller, company, "aged-payables", "accounts_payable", day)
}

/// The amounts of the only currency, by bucket.
fn buckets(report: &Value) -> [i64; 5] {
    BUCKETS.map(|bucket| number(&report["totals"][0][bucket]))
}

/// Source: the definition of an aging schedule (IFRS 9, B5.5.35, provision matrix): outstanding amounts by days past due.
#[test]
fn aged_receivables_of_the_history_agree_with_the_ledger_and_the_invoices() {
    for country in ["NG", "GB", "US"] {
        let (_server, caller, company) = company_of(country);
        for day in ["2025-01-31", "2025-06-30", "2025-12-31", "2026-01-01", "2026-03-31"] {
            let report = receivables(&caller, &company, day);
            assert_eq!(report["totals"][0]["unallocated"], 0, "{country} {day}");
        }
        // The invoices, which are independent of the journal, have the same sums.
        let mut expected = [0; 5];
        let today = jiff::civil::date(2026, 1, 1);
        for invoice in caller.all(&format!("/api/payments/invoices?company_id={company}")) {
            let due: jiff::civil::Date = invoice["due_date"].as_str().unwrap().parse().unwrap();
            let days = today.since(due).unwrap().get_days();
            let bucket = usize::try_from((days + 29).clamp(0, 149) / 30).unwrap().min(4);
            expected[bucket] += number(&invoice["amount_due"]);
        }
        assert_eq!(buckets(&receivables(&caller, &company, "2026-01-01")), expected, "{country}");
    }
}

#[test]
fn bills_grow_older_until_they_are_paid() {
    let (_server, caller, company) = company_of("GB");
    let days = [
        ("2026-01-31", 0),
        ("2026-02-01", 1),
        ("2026-03-02", 1),
        ("2026-03-03", 2),
        ("2026-04-01", 2),
        ("2026-04-02", 3),
        ("2026-05-01", 3),
        ("2026-05-02", 4),
    ];
    // The bills of the history grow older, too.
    let of_history = days.map(|(day, _)| buckets(&payables(&caller, &company, day)));
    let lines = json!([{"description": "Electricity", "quantity": 1, "unit_amount": 10_000}]);
    let owed = approved(&caller, &bill(&company, "GBP", &lines));
    let euros = approved(&caller, &bill(&company, "EUR", &lines));
    for ((day, bucket), mut expected) in days.into_iter().zip(of_history) {
        let report = payables(&caller, &company, day);
        let totals = report["totals"].as_array().unwrap();
        assert_eq!(totals.len(), 2);
        let pounds = totals.iter().find(|total| total["currency"] == "GBP").unwrap();
        expected[bucket] += 12_000;
        assert_eq!(BUCKETS.map(|name| number(&pounds[name])), expected, "{day}");
    }
    caller.advance(&json!({"to": "2026-02-10T08:00:00Z"}));
    let pay = json!({"wallet_id": wallet(&caller, &company), "amount": 2_000});
    caller.post(&format!("/api/payments/bills/{}/pay", id(&owed)), &pay).expect(200);
    let void = json!({"reason": "Returned"});
    caller.post(&format!("/api/payments/bills/{}/void", id(&euros)), &void).expect(200);
    // The day before shows what was outstanding then.
    let before = payables(&caller, &company, "2026-02-09");
    assert_eq!(before["totals"].as_array().unwrap().len(), 2);
    let after = payables(&caller, &company, "2026-02-10");
    assert_eq!(after["totals"].as_array().unwrap().len(), 1);
    let mut parties = after["parties"].as_array().unwrap().iter();
    let party = parties.find(|party| party["name"] == "Northern Power plc").unwrap();
    let item = &party["items"][0];
    assert_eq!((&item["source"]["id"], &item["amount"]), (&owed["id"], &json!(10_000)));
    assert_eq!(item["days_overdue"], 10);
    // A manual entry belongs to no bill.
    let by_hand = entry(&company, "2026-02-10", "rent", "accounts_payable", 500, "GBP");
    caller.post(ENTRIES, &by_hand).expect(201);
    assert_eq!(payables(&caller, &company, "2026-02-10")["totals"][0]["unallocated"], 500);
    let missing = caller.get(&format!("/api/business/reports/aged-payables?company_id={company}"));
    assert_eq!(pointers(&missing.refused(422, "validation_failed")), ["/as_of"]);
}

/// Payments, write-offs, recoveries and void invoices leave the report and the ledger equal on each day.
#[test]
fn aged_receivables_follow_payments_write_offs_and_recoveries() {
    let (_server, caller, company) = company_of("GB");
    let mut sent = Vec::new();
    for account in ["9999999993", "9999999994", "9999999900", "9999999990"] {
        let body = json!({
            "company_id": company, "currency": "GBP", "due_date": "2026-01-31",
            "customer": {"name": account, "email": "a@harbour.example.com", "account_number": account},
            "lines": [{"description": "Consulting", "quantity": 1, "unit_amount": 99_999}],
        });
        let invoice = caller.post("/api/payments/invoices", &body).made();
        let path = format!("/api/payments/invoices/{}", id(&invoice));
        caller.post(&format!("{path}/send"), &json!({})).expect(200);
        sent.push(path);
    }
    caller.advance(&json!({"to": "2026-02-20T08:00:00Z"}));
    for path in &sent[..2] {
        caller.post(&format!("{path}/write-off"), &json!({"reason": "Insolvent"})).expect(200);
    }
    let number_of = caller.get(&sent[1]).data()["number"].clone();
    let transfer = json!({"company_id": company, "amount": 1_000, "reference": number_of});
    caller.post("/_sandbox/inbound/bank_transfer", &transfer).expect(200);
    for day in ["2026-01-01", "2026-01-05", "2026-02-10", "2026-02-19", "2026-02-20"] {
        assert_eq!(receivables(&caller, &company, day)["totals"][0]["unallocated"], 0, "{day}");
    }
    caller.audit();
}
