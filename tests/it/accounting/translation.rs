//! Translation of reports into other currencies: what is rounded.

use crate::accounting::{ENTRIES, currency, entry, of, report};
use crate::harness::Caller;

/// The movements of an account on one day are one sum, also if a part of them is of the grown history.
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
