//! Translation of reports into other currencies: rounding, and currencies that are left out.

use serde_json::{Value, json};

use crate::accounting::{ENTRIES, currency, entry, of, report};
use crate::harness::Caller;
use crate::harness::world::{id, number};

/// The movements of an account on one day are translated as one sum, even if some belong to the grown
/// history.
#[test]
fn a_day_is_translated_as_a_whole() {
    let caller = Caller::instant();
    let company = caller.company(1);
    assert_eq!(currency(&caller, &company), "GBP");
    let journal = caller.all(&format!("{ENTRIES}?company_id={company}&account=rent"));
    let day = journal[0]["effective_on"].as_str().expect("a day");
    let shown = |account: &str, currency: &str| {
        let days = format!("from={day}&to={day}&currency={currency}");
        of(&report(&caller, "profit-and-loss", &company, &days), "expenses", account)
    };
    let post = |account: &str, amount: i64| {
        let body = entry(&company, day, account, "owner_equity", amount, "GBP");
        caller.post(ENTRIES, &body).expect(201);
    };
    // The rate, to fifteen digits.
    let many = 1_000_000_000_000_000;
    post("depreciation", many);
    assert_eq!(shown("depreciation", "GBP"), many);
    let (rate, grown) = (shown("depreciation", "USD"), shown("rent", "GBP"));
    for posted in 1..=16 {
        post("rent", 1);
        let exact = i128::from(grown + posted) * i128::from(rate);
        let expected = (exact + i128::from(many / 2)) / i128::from(many);
        assert_eq!(i128::from(shown("rent", "USD")), expected, "{posted} more");
    }
}

/// The ngultrum has no reference rate.
const UNKNOWN: &str = "BTN";

fn without_rate(report: &Value) -> &Value {
    &report["untranslated"]
}

#[test]
fn a_comparison_names_the_currencies_that_it_leaves_out() {
    let caller = Caller::manual();
    let company = caller.company(1);
    let body = json!({
        "company_id": company, "currency": UNKNOWN, "due_date": "2026-01-20",
        "customer": {"name": "Harbour Foods Ltd", "email": "a@harbour.example.com"},
        "lines": [{"description": "Consulting", "quantity": 1, "unit_amount": 100_000, "tax_rate": 0}],
    });
    let invoice = caller.post("/api/payments/invoices", &body).made();
    caller.post(&format!("/api/payments/invoices/{}/send", id(&invoice)), &json!({})).expect(200);
    caller.advance(&json!({"to": "2026-04-01T08:00:00Z"}));
    for (days, named) in [
        ("from=2026-01-01&to=2026-01-31", true),
        ("from=2026-03-01&to=2026-03-31", false),
        ("from=2026-03-01&to=2026-03-31&compare=previous_period", false),
        ("from=2026-01-01&to=2026-01-31&compare=previous_year", true),
        ("from=2026-02-01&to=2026-02-28&compare=previous_period", true),
        ("from=2026-01-01&to=2026-02-28&compare=previous_period", true),
        ("from=2027-01-01&to=2027-01-31&compare=previous_year", true),
    ] {
        let report = report(&caller, "profit-and-loss", &company, days);
        let expected = if named { json!([UNKNOWN]) } else { Value::Null };
        assert_eq!(*without_rate(&report), expected, "{days}");
    }
}

/// A payment that goes back before it has settled leaves nothing in any account.
#[test]
fn a_cash_flow_names_currencies_with_a_zero_balance() {
    let caller = Caller::manual();
    let company = caller.company(1);
    let body = json!({
        "company_id": company, "amount": 100_000, "currency": UNKNOWN, "method": "direct_debit",
        "reference": "DEBIT-1",
    });
    let request = caller.request("POST", "/api/payments/collections").json(&body);
    let request = request.header(
        "sandbox-scenario",
        "collection.return=returned, collection.settle=delayed;after=30d",
    );
    let asked = caller.send(&request).made();
    caller.advance(&json!({"to": "2026-03-01T08:00:00Z"}));
    let path = format!("/api/payments/collections/{}", id(&asked));
    let returned = caller.get(&path).data();
    assert_eq!(returned["status"], "returned", "{returned}");
    let history = returned["status_history"].as_array().expect("states");
    let day_of = |status: &str| {
        let state = history.iter().find(|state| state["status"] == status).expect("the state");
        state["at"].as_str().expect("a time")[..10].to_owned()
    };
    let (paid, back) = (day_of("succeeded"), day_of("returned"));
    assert!(paid < back && !history.iter().any(|state| state["status"] == "settled"), "{returned}");
    let trial = report(&caller, "trial-balance", &company, "as_of=2026-03-01");
    let rows = trial["accounts"].as_array().expect("accounts").iter();
    let left: i64 = rows
        .filter(|row| row["currency"] == UNKNOWN)
        .map(|row| number(&row["debit_balance"]) + number(&row["credit_balance"]))
        .sum();
    assert_eq!(left, 0);
    for (from, to, named) in [
        ("2026-01-01", "2026-03-01", true),
        (back.as_str(), "2026-03-01", true),
        (paid.as_str(), paid.as_str(), true),
        ("2026-02-28", "2026-03-01", false),
        ("2025-12-01", "2025-12-31", false),
    ] {
        let flow = report(&caller, "cash-flow", &company, &format!("from={from}&to={to}"));
        let expected = if named { json!([UNKNOWN]) } else { Value::Null };
        assert_eq!(*without_rate(&flow), expected, "{from} {to}");
    }
}
