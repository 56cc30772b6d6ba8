//! Reference rates of a day.

use serde_json::Value;

use crate::harness::Caller;

use super::violations;

const RATES: &str = "/api/payments/fx-rates";

fn rates(caller: &Caller, query: &str) -> Vec<Value> {
    caller.get(&format!("{RATES}?{query}")).data().as_array().unwrap().clone()
}

#[test]
fn the_published_rate_applies_on_the_first_of_its_month() {
    let caller = Caller::manual();
    let rows = rates(&caller, "source_currency=GBP&target_currency=NGN");
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0]["mid_rate"], "1939.8094");
    assert_eq!(rows[0]["as_of"], "2026-01-01");
    assert_eq!(rows[0]["spread_bp"], 120);
    assert_eq!(rows[0]["rate"], "1916.5316872"); // 1939.8094 less 1.2 %
    let december = rates(&caller, "source_currency=GBP&target_currency=NGN&as_of=2025-12-01");
    assert_eq!(december[0]["mid_rate"], "1903.3812");
}

#[test]
fn every_pair_of_currencies_is_listed_once_and_in_order() {
    let caller = Caller::manual();
    let rows = caller.all(RATES);
    assert_eq!(rows.len(), 43 * 42);
    let pair = |row: &Value| {
        let text = |member: &str| row[member].as_str().unwrap().to_owned();
        (text("source_currency"), text("target_currency"))
    };
    assert!(rows.iter().map(pair).is_sorted_by(|one, next| one < next));
    assert!(rows.iter().all(|row| pair(row).0 != pair(row).1));
    assert_eq!(rates(&caller, "target_currency=JPY&per_page=100").len(), 42);
    assert!(rates(&caller, "source_currency=JPY&target_currency=JPY").is_empty());
}

#[test]
fn a_rate_of_a_day_to_come_or_of_an_unknown_currency_is_refused() {
    let caller = Caller::manual();
    let answer =
        caller.get(&format!("{RATES}?source_currency=SEK&target_currency=PLN&as_of=2026-01-02"));
    assert_eq!(answer.status, 422);
    let wanted = [
        ("/source_currency", "unknown_currency"),
        ("/target_currency", "unknown_currency"),
        ("/as_of", "in_the_future"),
    ];
    let wanted = wanted.map(|(pointer, code)| (pointer.to_owned(), code.to_owned()));
    assert_eq!(violations(&answer), wanted);
    assert!(answer.text().contains("AED, AUD"), "{}", answer.text());
}

#[test]
fn days_before_the_table_have_its_first_rate_and_equal_seeds_equal_rates() {
    let caller = Caller::manual();
    let old = rates(&caller, "source_currency=GBP&target_currency=USD&as_of=2019-05-01");
    assert_eq!(old[0]["mid_rate"], "1.3126");
    let query = "source_currency=GBP&target_currency=USD&as_of=2025-12-17";
    let again = Caller::manual();
    assert_eq!(rates(&caller, query), rates(&again, query));
}
