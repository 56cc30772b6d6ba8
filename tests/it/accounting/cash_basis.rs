//! Profit and loss on the cash basis: payments count as what they are for.

use serde_json::{Value, json};

use crate::accounting::bills::{approved, bill, company_of, verb, wallet};
use crate::accounting::{ENTRIES, entry, of, report};
use crate::harness::Caller;
use crate::harness::world::number;

fn profit(caller: &Caller, company: &str, basis: &str, days: [&str; 2]) -> Value {
    let [from, to] = days;
    report(caller, "profit-and-loss", company, &format!("from={from}&to={to}&basis={basis}"))
}

/// IAS 7.14: a payment to a landlord is a payment for rent.
#[test]
fn a_paid_bill_counts_as_its_own_expenses() {
    let (_server, caller, company) = company_of("GB");
    let days = ["2026-01-01", "2026-01-31"];
    let names = ["rent", "insurance", "purchases"];
    let expenses = || {
        let report = profit(&caller, &company, "cash", days);
        names.map(|name| of(&report, "expenses", name))
    };
    let lines = json!([
        {"description": "Office", "quantity": 1, "unit_amount": 30_000, "account": "rent", "tax_rate": 0},
        {"description": "Fire", "quantity": 1, "unit_amount": 60_000, "account": "insurance", "tax_rate": 0},
        {"description": "Ink", "quantity": 1, "unit_amount": 10_000},
    ]);
    let before = expenses();
    let more = || {
        let after = expenses();
        [0, 1, 2].map(|place| after[place] - before[place])
    };
    let approved = approved(&caller, &bill(&company, "GBP", &lines));
    assert_eq!(more(), [0; 3]);
    let wallet = wallet(&caller, &company);
    let pay = |amount: i64| {
        verb(&caller, &approved, "pay", &json!({"wallet_id": wallet, "amount": amount}))
            .expect(200);
    };
    // 102,000 with the tax on the ink; a half of it.
    pay(51_000);
    assert_eq!(more(), [15_000, 30_000, 6_000]);
    pay(51_000);
    assert_eq!(more(), [30_000, 60_000, 12_000]);
    // A payment without a bill has no known purpose.
    let body = entry(&company, "2026-01-01", "accounts_payable", "cash_available", 777, "GBP");
    caller.post(ENTRIES, &body).expect(201);
    assert_eq!(more(), [30_000, 60_000, 12_777]);
    caller.audit();
}

/// Tax counts as paid for its purchase, even if the company deducts it later.
#[test]
fn the_tax_of_a_bill_is_paid_with_the_line_that_it_is_on() {
    for (country, currency) in [("GB", "GBP"), ("NG", "NGN"), ("US", "USD")] {
        let (_server, caller, company) = company_of(country);
        let days = ["2026-01-01", "2026-01-31"];
        let expenses = || {
            let report = profit(&caller, &company, "cash", days);
            ["rent", "insurance"].map(|name| of(&report, "expenses", name))
        };
        let lines = json!([
            {"description": "Office", "quantity": 1, "unit_amount": 100_000, "account": "rent", "tax_rate": 2_000},
            {"description": "Fire", "quantity": 1, "unit_amount": 100_000, "account": "insurance", "tax_rate": 0},
        ]);
        let before = expenses();
        let approved = approved(&caller, &bill(&company, currency, &lines));
        assert_eq!(approved["total"], 220_000, "{country}");
        let body = json!({"wallet_id": wallet(&caller, &company)});
        verb(&caller, &approved, "pay", &body).expect(200);
        let after = expenses();
        let more = [0, 1].map(|place| after[place] - before[place]);
        assert_eq!(more, [120_000, 100_000], "{country}");
    }
}

/// Each payment is divided, and the rounded parts of all payments are the bill.
#[test]
fn the_parts_of_instalments_add_up_to_the_bill() {
    let (_server, caller, company) = company_of("US");
    caller.advance(&json!({"to": "2026-03-01T08:00:00Z"}));
    let expenses = |from: &str, to: &str| {
        let report = profit(&caller, &company, "cash", [from, to]);
        ["rent", "utilities"].map(|name| of(&report, "expenses", name))
    };
    let lines = json!([
        {"description": "Office", "quantity": 1, "unit_amount": 100, "account": "rent", "tax_rate": 0},
        {"description": "Power", "quantity": 1, "unit_amount": 200, "account": "utilities", "tax_rate": 0},
    ]);
    let body = json!({
        "company_id": company, "vendor": {"name": "Northern Power plc"}, "currency": "USD",
        "lines": lines, "due_date": "2026-03-31",
    });
    let approved = approved(&caller, &body);
    let wallet = wallet(&caller, &company);
    assert_eq!(expenses("2026-03-01", "2026-03-31"), [0, 0]);
    for day in 0..30 {
        let body = json!({"wallet_id": wallet, "amount": 10});
        verb(&caller, &approved, "pay", &body).expect(200);
        if day % 2 == 0 {
            caller.advance(&json!({"by": "1d"}));
        }
    }
    assert_eq!(expenses("2026-03-01", "2026-03-31"), [100, 200]);
    // The sum of the days equals the sum of any two consecutive ranges.
    let mut sum = [0; 2];
    for day in (1..=31).map(|day| format!("2026-03-{day:02}")) {
        let [until, since, one] =
            [expenses("2026-03-01", &day), expenses(&day, "2026-03-31"), expenses(&day, &day)];
        sum = [0, 1].map(|place| sum[place] + one[place]);
        assert_eq!(sum, until, "{day}");
        let both = [0, 1].map(|place| until[place] + since[place] - one[place]);
        assert_eq!(both, [100, 200], "{day}");
    }
}

/// Tax and contributions that are withheld from employees are a part of their wages. They are paid to others, and later.
#[test]
fn tax_that_was_withheld_is_paid_as_wages() {
    let (_server, caller, company) = company_of("GB");
    let year = ["2025-01-01", "2025-12-31"];
    let [cash, accrual] = ["cash", "accrual"].map(|basis| profit(&caller, &company, basis, year));
    for account in ["wages", "employer_contributions"] {
        let [paid, earned] = [&cash, &accrual].map(|it| of(it, "expenses", account));
        assert!(
            earned > 0 && paid * 10 > earned * 8 && paid * 10 < earned * 11,
            "{account}: {paid} of {earned}"
        );
    }
    // These two lines contain all payments from payroll accounts, and each month has its part.
    let owed = ["wages_payable", "deductions_payable", "pension_payable", "tax_payable:HMRC"];
    let journal = caller.all(&format!("{ENTRIES}?company_id={company}"));
    let has_cash = |entry: &&Value| {
        let mut lines = entry["lines"].as_array().unwrap().iter();
        lines.any(|line| {
            ["cash_available", "cash_reserved", "payouts_in_transit"]
                .iter()
                .any(|it| line["account"] == *it)
        })
    };
    let of_year =
        journal.iter().filter(|it| it["effective_on"].as_str().unwrap() < "2026").filter(has_cash);
    let lines = of_year.flat_map(|entry| entry["lines"].as_array().unwrap());
    let paid: i64 = lines
        .filter(|line| owed.iter().any(|it| line["account"] == *it))
        .map(|line| {
            let sign = if line["direction"] == "debit" { 1 } else { -1 };
            sign * number(&line["amount"])
        })
        .sum();
    let both =
        |it: &Value| ["wages", "employer_contributions"].map(|name| of(it, "expenses", name));
    assert_eq!(both(&cash).iter().sum::<i64>(), paid);
    let mut sums = [0; 2];
    for month in 1..=12 {
        let days: jiff::civil::Date = format!("2025-{month:02}-01").parse().unwrap();
        let days = [days.to_string(), days.last_of_month().to_string()];
        let of_month =
            both(&profit(&caller, &company, "cash", days.each_ref().map(String::as_str)));
        sums = [0, 1].map(|place| sums[place] + of_month[place]);
    }
    assert_eq!(sums, both(&cash));
}
