use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::accounting::{ENTRIES, currency, entry, of, report};
use crate::harness::Caller;
use crate::harness::http::pointers;
use crate::harness::world::number;

/// A company with a year of history and a month of calls: a run, incoming money, posted entries, one of them
/// reversed.
fn busy(caller: &Caller) -> String {
    let company = caller.company(0);
    let own = currency(caller, &company);
    caller.run_payroll(&company, "2026-01");
    caller.post(
        "/_sandbox/inbound/bank_transfer",
        &json!({
            "company_id": company, "amount": 5_000_000, "from": "customer",
        }),
    );
    for (day, debit, credit, amount, currency) in [
        ("2025-03-31", "rent", "refunds_payable", 777, own.as_str()),
        ("2025-07-01", "cash_available", "loans_payable", 9_000_000, &own),
        ("2025-10-10", "interest", "cash_available", 12_345, &own),
        ("2025-12-31", "tax_payable:vat", "cash_available", 333, &own),
    ] {
        let body = entry(&company, day, debit, credit, amount, currency);
        let posted = caller.post(ENTRIES, &body).expect(201);
        if debit == "interest" {
            let target =
                format!("{ENTRIES}/{}/reverse", posted["data"]["id"].as_str().expect("an id"));
            caller.post(&target, &json!({"reason": "A bank's mistake"})).expect(201);
        }
    }
    company
}

/// Days within and outside the company's books.
const DAYS: [&str; 12] = [
    "2024-12-31",
    "2025-01-01",
    "2025-01-31",
    "2025-03-30",
    "2025-03-31",
    "2025-06-15",
    "2025-10-10",
    "2025-12-31",
    "2026-01-01",
    "2026-01-31",
    "2026-02-28",
    "2027-01-01",
];

fn next_day(day: &str) -> String {
    let date: calendar::Day = calendar::parse(day);
    calendar::next(date)
}

/// The next date of a list.
mod calendar {
    pub(super) type Day = (i32, u32, u32);

    pub(super) fn parse(day: &str) -> Day {
        let mut parts = day.split('-');
        let mut next = || parts.next().expect("three parts");
        (
            next().parse().expect("a year"),
            next().parse().expect("a month"),
            next().parse().expect("a day"),
        )
    }

    pub(super) fn next((year, month, day): Day) -> String {
        let last = match month {
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        };
        let (year, month, day) = match (month, day) {
            (12, 31) => (year + 1, 1, 1),
            (_, day) if day == last => (year, month + 1, 1),
            _ => (year, month, day + 1),
        };
        format!("{year:04}-{month:02}-{day:02}")
    }
}

/// Debits less credits by account up to a day, from the journal.
fn fold(journal: &[Value], last: &str) -> BTreeMap<String, i64> {
    let mut nets = BTreeMap::new();
    let counted = journal
        .iter()
        .filter(|entry| entry["effective_on"].as_str().is_some_and(|day| day <= last));
    for line in counted.flat_map(|entry| entry["lines"].as_array().expect("lines")) {
        let sign = if line["direction"] == "debit" { 1 } else { -1 };
        let account = line["account"].as_str().expect("a code").to_owned();
        *nets.entry(account).or_default() += sign * number(&line["amount"]);
    }
    nets
}

const CASH: [&str; 5] = [
    "cash_available",
    "cash_reserved",
    "payouts_in_transit",
    "collections_in_transit",
    "escrow_held",
];

#[test]
fn reports_agree_with_the_journal_and_with_one_another_at_every_date() {
    let caller = Caller::instant();
    let company = busy(&caller);
    let journal = caller.all(&format!("{ENTRIES}?company_id={company}"));
    let sheets: Vec<Value> = DAYS
        .iter()
        .map(|day| report(&caller, "balance-sheet", &company, &format!("as_of={day}")))
        .collect();
    for (day, sheet) in DAYS.iter().zip(&sheets) {
        let nets = fold(&journal, day);
        let total = |name: &str| number(&sheet[name]);
        assert_eq!(
            total("total_assets"),
            total("total_liabilities") + total("total_equity"),
            "{day}"
        );
        assert_eq!(total("translation_difference"), 0, "{day}");
        for kind in ["assets", "liabilities", "equity"] {
            let sign = if kind == "assets" { 1 } else { -1 };
            for line in sheet[kind].as_array().expect("lines") {
                let account = line["account"].as_str().expect("a code");
                assert_eq!(number(&line["amount"]), sign * nets[account], "{day} {account}");
            }
        }
        let cash: i64 = CASH.iter().filter_map(|account| nets.get(*account)).sum();
        assert_eq!(total("cash"), cash, "{day}");
        let trial = report(&caller, "trial-balance", &company, &format!("as_of={day}"));
        assert_eq!(trial["balanced"], true);
        for row in trial["accounts"].as_array().expect("accounts") {
            let net = number(&row["debit_balance"]) - number(&row["credit_balance"]);
            assert_eq!(net, nets[row["account"].as_str().expect("a code")], "{day}");
        }
    }
    for (first, opening) in sheets.iter().enumerate() {
        for (last, closing) in sheets.iter().enumerate().skip(first + 1) {
            let days = format!("from={}&to={}", next_day(DAYS[first]), DAYS[last]);
            let flow = report(&caller, "cash-flow", &company, &days);
            assert_eq!(flow["opening_cash"], opening["cash"], "{days}");
            assert_eq!(flow["closing_cash"], closing["cash"], "{days}");
            assert_eq!(flow["exchange_difference"], 0, "{days}");
            let moved = number(&flow["operating"]["total"]) + number(&flow["financing"]["total"]);
            assert_eq!(number(&flow["net_change"]), moved, "{days}");
            assert_eq!(number(&closing["cash"]) - number(&opening["cash"]), moved, "{days}");
            let profit = report(&caller, "profit-and-loss", &company, &days);
            let earned =
                number(&closing["current_earnings"]) - number(&opening["current_earnings"]);
            assert_eq!(number(&profit["net_profit"]), earned, "{days}");
        }
    }
    caller.audit();
}

#[test]
fn cash_flow_shows_the_reasons_of_cash_movements() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let own = currency(&caller, &company);
    let day = "from=2026-01-01&to=2026-01-01";
    let empty = report(&caller, "cash-flow", &company, day);
    let post = |debit: &str, credit: &str, amount: i64| {
        caller
            .post(ENTRIES, &entry(&company, "2026-01-01", debit, credit, amount, &own))
            .expect(201);
    };
    post("cash_available", "accounts_receivable", 100_000);
    post("refunds_payable", "cash_available", 1_000);
    post("rent", "cash_available", 2_000);
    post("purchases", "cash_available", 3_000);
    post("wages_payable", "cash_available", 4_000);
    post("tax_payable:vat", "cash_available", 5_000);
    post("pension_payable", "cash_available", 6_000);
    post("fees", "cash_available", 7_000);
    post("interest", "cash_available", 8_000);
    post("cash_available", "owner_equity", 9_000);
    post("cash_available", "loans_payable", 10_000);
    post("rent", "refunds_payable", 99_999); // no cash in it
    let flow = report(&caller, "cash-flow", &company, day);
    let amounts = |section: &str| -> BTreeMap<String, i64> {
        let lines = |report: &Value| report[section]["lines"].as_array().expect("lines").clone();
        let mut found = BTreeMap::new();
        for (sign, line) in lines(&empty)
            .iter()
            .map(|line| (-1, line))
            .chain(lines(&flow).iter().map(|line| (1, line)))
        {
            let activity = line["activity"].as_str().expect("a word").to_owned();
            *found.entry(activity).or_default() += sign * number(&line["amount"]);
        }
        found
    };
    let expected = [
        ("receipts_from_customers", 99_000),
        ("payments_to_suppliers", -5_000),
        ("payments_to_employees", -4_000),
        ("payments_to_authorities", -11_000),
        ("fees_paid", -7_000),
        ("interest_paid", -8_000),
    ];
    assert_eq!(
        amounts("operating"),
        expected.map(|(name, amount)| (name.to_owned(), amount)).into()
    );
    let expected = [("owners", 9_000), ("loans", 10_000)];
    assert_eq!(
        amounts("financing"),
        expected.map(|(name, amount)| (name.to_owned(), amount)).into()
    );
}

#[test]
fn other_currencies_are_translated_and_the_difference_is_a_gain() {
    let caller = Caller::instant();
    // A company in dollars, and pounds at 1.3126 in December, 1.3329 in January, as published for the first of each month.
    let company = caller.company(2);
    assert_eq!(currency(&caller, &company), "USD");
    let before = report(&caller, "balance-sheet", &company, "as_of=2026-01-01");
    let december = report(&caller, "profit-and-loss", &company, "from=2025-12-01&to=2025-12-01");
    let body = entry(&company, "2025-12-01", "accounts_receivable", "sales", 1_000_000, "GBP");
    caller.post(ENTRIES, &body).expect(201);
    let sheet = report(&caller, "balance-sheet", &company, "as_of=2026-01-01");
    let profit = report(&caller, "profit-and-loss", &company, "from=2025-12-01&to=2025-12-01");
    let more = |name: &str| number(&sheet[name]) - number(&before[name]);
    assert_eq!(
        of(&sheet, "assets", "accounts_receivable") - of(&before, "assets", "accounts_receivable"),
        1_332_900
    );
    assert_eq!(number(&profit["net_profit"]) - number(&december["net_profit"]), 1_312_600);
    // The gain since December is profit: IAS 21, paragraph 28.
    assert_eq!(more("current_earnings"), 1_332_900);
    assert_eq!(sheet["translation_difference"], 0);
    assert_eq!(
        number(&sheet["total_assets"]),
        number(&sheet["total_liabilities"]) + number(&sheet["total_equity"])
    );
    let opening = report(&caller, "balance-sheet", &company, "as_of=2025-12-01");
    assert_eq!(number(&opening["translation_difference"]), 0);
    let trial = report(&caller, "trial-balance", &company, "as_of=2026-01-01");
    assert_eq!(trial["totals"].as_array().map(Vec::len), Some(2));
    assert_eq!(trial["balanced"], true);
    caller.audit();
}

/// IAS 7.31 and 7.35: paid interest and income tax are cash flows, so profit on the cash basis includes them.
#[test]
fn profit_on_the_cash_basis_has_income_tax_and_interest() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let own = currency(&caller, &company);
    let days = "from=2025-01-01&to=2025-12-31&basis=cash";
    let before = report(&caller, "profit-and-loss", &company, days);
    for (account, amount) in [("income_tax_payable", 7_000), ("interest_payable", 500)] {
        let body = entry(&company, "2025-11-03", account, "cash_available", amount, &own);
        caller.post(ENTRIES, &body).expect(201);
    }
    let after = report(&caller, "profit-and-loss", &company, days);
    let more = |account| of(&after, "expenses", account) - of(&before, "expenses", account);
    assert_eq!((more("income_tax"), more("interest")), (7_000, 500));
    assert_eq!(number(&after["net_profit"]) - number(&before["net_profit"]), -7_500);
    // The history paid income tax, too: the debits of the liability in entries that credit cash.
    let journal = caller.all(&format!("{ENTRIES}?company_id={company}"));
    let of_year = journal.iter().filter(|it| it["effective_on"].as_str().unwrap() < "2026");
    let lines = of_year.flat_map(|it| it["lines"].as_array().unwrap());
    let paid =
        lines.filter(|it| it["account"] == "income_tax_payable" && it["direction"] == "debit");
    let paid: i64 = paid.map(|it| number(&it["amount"])).sum();
    assert!(paid > 7_000);
    assert_eq!(of(&after, "expenses", "income_tax"), paid);
}

#[test]
fn days_that_end_before_they_begin_are_refused() {
    let caller = Caller::instant();
    let company = caller.company(0);
    for name in ["profit-and-loss", "cash-flow"] {
        let path = format!("/api/business/reports/{name}?company_id={company}");
        let refused = caller.get(&format!("{path}&from=2025-12-02&to=2025-12-01"));
        assert_eq!(pointers(&refused.refused(422, "validation_failed")), ["/to"]);
        caller.get(&format!("{path}&from=2025-12-01&to=2025-12-01")).expect(200);
        let refused = caller.get(&format!("{path}&from=2025-02-30"));
        assert_eq!(pointers(&refused.refused(422, "validation_failed")), ["/from", "/to"]);
    }
    for name in ["balance-sheet", "trial-balance"] {
        let refused = caller.get(&format!("/api/business/reports/{name}?company_id={company}"));
        assert_eq!(pointers(&refused.refused(422, "validation_failed")), ["/as_of"]);
        let unknown =
            format!("/api/business/reports/{name}?company_id=com_0000000000000&as_of=2025-12-31");
        caller.get(&unknown).refused(404, "resource_not_found");
    }
}
