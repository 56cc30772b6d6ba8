//! Many concurrent requests for the same money.

use std::thread;

use serde_json::json;

use super::{PAYOUTS, Payer};

/// The number of concurrent callers.
const CALLERS: usize = 64;

/// Each requests a tenth of the balance, and the fee is between 0.5 % and 1.5 %. The wallet covers nine
/// tenths with their fees, but not ten.
#[test]
fn of_64_clients_exactly_as_many_are_paid_as_the_balance_allows() {
    let payer = Payer::manual();
    let before = payer.balance("available");
    let body = payer.body(before / 10);
    let answers: Vec<(u16, String)> = thread::scope(|scope| {
        let calls: Vec<_> = (0..CALLERS)
            .map(|_| {
                scope.spawn(|| {
                    let answer = payer.caller.post(PAYOUTS, &body);
                    (answer.status, answer.text().to_owned())
                })
            })
            .collect();
        calls.into_iter().map(|call| call.join().unwrap()).collect()
    });
    let paid = answers.iter().filter(|(status, _)| *status == 201).count();
    let short = answers
        .iter()
        .filter(|(status, body)| *status == 402 && body.contains("insufficient_funds"));
    assert_eq!((paid, short.count()), (9, CALLERS - 9));
    let left = payer.balance("available");
    assert!(left >= 0 && left < before / 10, "{left}");
    let listed = payer.caller.all(&format!("{PAYOUTS}?status=queued"));
    assert_eq!(listed.len(), 9);
    payer.caller.advance(&json!({"by": "1d"}));
    payer.caller.audit();
}

#[test]
fn one_key_sends_one_payout_however_often_it_is_asked() {
    let payer = Payer::manual();
    let before = payer.balance("available");
    let request = payer.caller.request("POST", PAYOUTS).json(&payer.body(5_000));
    let request = request.header("Idempotency-Key", "invoice-7");
    let first = payer.caller.send(&request);
    let second = payer.caller.send(&request);
    assert_eq!(first.made(), second.made());
    assert_eq!(second.header("idempotent-replayed"), Some("true"));
    assert!(before - payer.balance("available") < 10_000);
}
