//! Quotes: their amounts, refusals and ends.

use serde_json::json;

use crate::harness::Caller;
use crate::harness::world::{id, number};

use super::{QUOTES, code, quote, quote_of, transfer_of, violations};

/// A decimal string as a number of parts of 10^12.
fn parts(rate: &serde_json::Value) -> i128 {
    let text = rate.as_str().unwrap();
    let (whole, digits) = text.split_once('.').unwrap_or((text, ""));
    format!("{whole}{digits:0<12}").parse().unwrap()
}

/// Rounds to the nearest whole number, halves to the even one.
fn nearest(numerator: i128, denominator: i128) -> i128 {
    let (whole, rest) = (numerator / denominator, numerator % denominator);
    match (rest * 2).cmp(&denominator) {
        std::cmp::Ordering::Less => whole,
        std::cmp::Ordering::Greater => whole + 1,
        std::cmp::Ordering::Equal => whole + whole % 2,
    }
}

#[test]
fn a_quotes_amounts_follow_from_its_rate() {
    let caller = Caller::manual();
    for (source, target, exponents) in [
        ("NGN", "GBP", (2, 2)),
        ("GBP", "UGX", (2, 0)),
        ("JPY", "EUR", (0, 2)),
        ("UGX", "JPY", (0, 0)),
        ("KWD", "JPY", (3, 0)),
        ("VND", "BHD", (0, 3)),
    ] {
        for amount in [7_777_777_i64, 1_000_000_001] {
            let body = json!({"source_currency": source, "target_currency": target, "source_amount": amount});
            let quote = quote_of(&caller, &body).expect(201)["data"].take();
            let scale = 10_i128.pow(12 + exponents.0);
            let numerator = i128::from(amount) * parts(&quote["rate"]) * 10_i128.pow(exponents.1);
            let expected = nearest(numerator, scale);
            assert_eq!(i128::from(number(&quote["target_amount"])), expected, "{quote}");
            let spread = i128::from(number(&quote["spread_bp"]));
            let worse = nearest(parts(&quote["mid_rate"]) * (10_000 - spread), 10_000);
            assert_eq!(parts(&quote["rate"]), worse);
            let fee = nearest(i128::from(amount) * spread, 10_000);
            assert_eq!(i128::from(number(&quote["fee_amount"])), fee);
        }
    }
    let target = quote_of(&caller, &json!({"target_amount": 10_000})).expect(201)["data"].take();
    assert_eq!(target["target_amount"], 10_000);
    let numerator = 10_000 * 10_i128.pow(12);
    let expected = nearest(numerator, parts(&target["rate"]));
    assert_eq!(i128::from(number(&target["source_amount"])), expected);
}

#[test]
fn an_invalid_quote_is_refused_with_all_its_mistakes() {
    let caller = Caller::manual();
    let before = caller.digest();
    let refused = |body: serde_json::Value| {
        let answer = quote_of(&caller, &body);
        assert_eq!(answer.status, 422, "{}", answer.text());
        violations(&answer)
    };
    let of = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
        let pairs = pairs.iter();
        pairs.map(|(at, code)| ((*at).to_owned(), (*code).to_owned())).collect()
    };
    assert_eq!(refused(json!({})), of(&[("", "one_of")]));
    let both = json!({"source_amount": 5, "target_amount": 5});
    assert_eq!(refused(both), of(&[("", "one_of")]));
    let same = json!({"target_currency": "NGN", "source_amount": 5});
    assert_eq!(refused(same), of(&[("/target_currency", "same_currency")]));
    let unknown = json!({"source_currency": "PLN", "target_currency": "PLN"});
    let all = [
        ("/source_currency", "unknown_currency"),
        ("/target_currency", "unknown_currency"),
        ("/target_currency", "same_currency"),
        ("", "one_of"),
    ];
    assert_eq!(refused(unknown), of(&all));
    // A kobo is far less than half a penny.
    let nothing = json!({"source_amount": 1});
    assert_eq!(refused(nothing), of(&[("/source_amount", "too_small")]));
    let most = json!({"source_currency": "GBP", "target_currency": "NGN", "source_amount": 1_000_000_000_000_000_i64});
    assert_eq!(refused(most), of(&[("/source_amount", "too_large")]));
    let target = json!({"target_amount": 1_000_000_000_000_000_i64});
    assert_eq!(refused(target), of(&[("/target_amount", "too_large")]));
    for amount in [json!(0), json!(-1), json!(i64::MAX), json!(u64::MAX), json!(1.5), json!("5")] {
        assert_eq!(refused(json!({"source_amount": amount})).len(), 1);
    }
    let missing = json!({"company_id": "com_0000000000000", "source_currency": "NGN", "target_currency": "GBP", "source_amount": 5});
    let answer = caller.post(QUOTES, &missing);
    assert_eq!((answer.status, code(&answer).as_str()), (404, "resource_not_found"));
    assert_eq!(caller.digest(), before);
}

#[test]
fn a_quote_expires_after_half_an_hour_in_every_world() {
    for caller in [Caller::manual(), Caller::instant()] {
        let quote = quote(&caller, 25_000_000);
        assert_eq!(quote["status"], "open");
        assert_eq!(caller.advance(&json!({"by": "29m"})), [""; 0]);
        assert_eq!(caller.advance(&json!({"by": "1m"})), ["fx_quote.expired"]);
        let answer = transfer_of(&caller, &quote);
        assert_eq!((answer.status, code(&answer).as_str()), (422, "quote_expired"));
        assert_eq!(answer.json()["resource_id"], quote["id"]);
    }
}

#[test]
fn a_used_quote_does_not_expire() {
    let caller = Caller::manual();
    let quote = quote(&caller, 25_000_000);
    super::transfer(&caller, &quote);
    let came = caller.advance(&json!({"by": "1h"}));
    assert_eq!(came, ["fx_transfer.completed", "wallet.credited"]);
}

#[test]
fn a_manual_transition_can_only_expire_a_quote() {
    let caller = Caller::manual();
    let quote = quote(&caller, 25_000_000);
    let path = format!("/_sandbox/resources/{}/transition", id(&quote));
    let used = caller.post(&path, &json!({"to": "used"}));
    assert_eq!((used.status, code(&used).as_str()), (409, "invalid_state_transition"));
    assert_eq!(used.json()["allowed"], json!(["expired"]));
    let moved = caller.post(&path, &json!({"to": "expired"})).expect(200);
    assert_eq!(moved["data"]["status"], "expired");
    let again = caller.post(&path, &json!({"to": "expired"}));
    assert_eq!((again.json()["current"].as_str(), again.status), (Some("expired"), 409));
    assert_eq!(caller.advance(&json!({"by": "1h"})), [""; 0]);
}
