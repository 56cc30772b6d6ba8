//! Transfers between wallets of two currencies.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::harness::world::{id, number};
use crate::harness::{Caller, Server};

use super::{
    TRANSFERS, code, company, give, nets, quote, quote_of, read, reports_close, transfer,
    transfer_of, violations, wallet, wallets,
};

#[test]
fn a_transfer_debits_now_and_credits_a_minute_later() {
    let caller = Caller::manual();
    let company = company(&caller);
    let before = wallet(&caller, &company, "NGN");
    let quote = quote(&caller, 25_000_000);
    let made = transfer(&caller, &quote);
    assert_eq!(made["status"], "processing");
    let types: Vec<Value> = caller.events().iter().map(|event| event["type"].clone()).collect();
    let expected = ["fx_quote.created", "wallet.created", "fx_transfer.created", "wallet.debited"];
    assert_eq!(types, expected);
    let (ngn, gbp) = (wallet(&caller, &company, "NGN"), wallet(&caller, &company, "GBP"));
    let moved = |member: &str| number(&ngn[member]) - number(&before[member]);
    assert_eq!((moved("available"), moved("reserved")), (-25_000_000, 25_000_000));
    assert_eq!((number(&gbp["available"]), number(&gbp["reserved"])), (0, 0));
    assert_eq!(gbp["id"], made["target_wallet_id"]);
    caller.audit();
    let came = caller.advance(&json!({"by": "60s"}));
    assert_eq!(came, ["fx_transfer.completed", "wallet.credited"]);
    let (ngn, gbp) = (wallet(&caller, &company, "NGN"), wallet(&caller, &company, "GBP"));
    assert_eq!(ngn["reserved"], before["reserved"]);
    assert_eq!(gbp["available"], quote["target_amount"]);
    assert_eq!(read(&caller, &made)["status"], "completed");
    let nets = nets(&caller, &company);
    let of = |currency: &str, account: &str| {
        nets.get(&(currency.to_owned(), account.to_owned())).copied().unwrap_or(0)
    };
    let fee = number(&quote["fee_amount"]);
    assert!(fee > 0);
    assert_eq!(of("NGN", "world:fx"), 25_000_000 - fee);
    assert_eq!(of("GBP", "world:fx"), -number(&quote["target_amount"]));
    assert_eq!(of("GBP", "cash_available"), number(&quote["target_amount"]));
    reports_close(&caller, &company);
    let lines = caller.all(&format!("/api/payments/wallets/{}/transactions", id(&gbp)));
    assert_eq!(lines.len(), 1);
    assert_eq!(
        (&lines[0]["balance_after"], &lines[0]["source"]["id"]),
        (&gbp["available"], &made["id"])
    );
}

#[test]
fn a_failed_transfer_gives_the_money_back() {
    let caller = Caller::manual();
    let company = company(&caller);
    let before = wallet(&caller, &company, "NGN");
    let quote = quote(&caller, 25_000_000);
    let body = json!({"quote_id": id(&quote), "source_wallet_id": id(&before)});
    let request =
        caller.request("POST", TRANSFERS).header("Sandbox-Scenario", "fx_transfer.settle=failed");
    let made = caller.send(&request.json(&body)).expect(201)["data"].take();
    let came = caller.advance(&json!({"by": "60s"}));
    assert_eq!(came, ["fx_transfer.failed", "wallet.credited"]);
    let failed = read(&caller, &made);
    assert_eq!(
        (&failed["status"], &failed["failure"]["code"]),
        (&json!("failed"), &json!("rail_unavailable"))
    );
    let after = wallet(&caller, &company, "NGN");
    assert_eq!(
        (&after["available"], &after["reserved"]),
        (&before["available"], &before["reserved"])
    );
    let of_fx =
        nets(&caller, &company).into_iter().filter(|((_, account), _)| account == "world:fx");
    assert_eq!(of_fx.count(), 0);
    reports_close(&caller, &company);
    // The quote remains used.
    assert_eq!(code(&transfer_of(&caller, &quote)), "invalid_state_transition");
}

#[test]
fn a_delayed_transfer_waits_for_its_time() {
    let caller = Caller::instant();
    let quote = quote(&caller, 25_000_000);
    let wallet = wallet(&caller, &company(&caller), "NGN");
    let body = json!({"quote_id": id(&quote), "source_wallet_id": id(&wallet)});
    let request = caller
        .request("POST", TRANSFERS)
        .header("Sandbox-Scenario", "fx_transfer.settle=delayed;after=3h");
    let made = caller.send(&request.json(&body)).expect(201)["data"].take();
    caller.advance(&json!({"by": "179m"}));
    assert_eq!(read(&caller, &made)["status"], "processing");
    caller.advance(&json!({"by": "2m"}));
    assert_eq!(read(&caller, &made)["status"], "completed");
}

#[test]
fn a_manual_transition_completes_or_fails_a_transfer_once() {
    for (to, credited) in [("completed", "GBP"), ("failed", "NGN")] {
        let caller = Caller::manual();
        let made = transfer(&caller, &quote(&caller, 25_000_000));
        let path = format!("/_sandbox/resources/{}/transition", id(&made));
        let moved = caller.post(&path, &json!({"to": to})).expect(200);
        assert_eq!(moved["data"]["status"], to);
        let last = caller.events().pop().unwrap();
        assert_eq!(last["type"], "wallet.credited");
        assert_eq!(last["data"]["object"]["currency"], credited);
        let again = caller.post(&path, &json!({"to": "completed"}));
        assert_eq!((again.status, again.json()["allowed"].clone()), (409, json!([])));
        assert_eq!(caller.advance(&json!({"by": "1d"})), [""; 0]);
        caller.audit();
    }
}

#[test]
fn wallets_must_be_the_companys_and_of_the_quotes_currencies() {
    let caller = Caller::manual();
    let (own, other) = (company(&caller), caller.company(1));
    let quote = quote(&caller, 25_000_000);
    let (ngn, gbp) = (wallets(&caller, &own).remove(0), wallets(&caller, &other).remove(0));
    let before = caller.digest();
    let send = |source: &Value, target: &Value| {
        let body = json!({"quote_id": id(&quote), "source_wallet_id": id(source), "target_wallet_id": id(target)});
        caller.post(TRANSFERS, &body)
    };
    let foreign = send(&gbp, &gbp);
    assert_eq!(foreign.status, 422);
    let pointers = ["/source_wallet_id", "/target_wallet_id"];
    let all = |code: &str| pointers.map(|pointer| (pointer.to_owned(), code.to_owned())).to_vec();
    assert_eq!(violations(&foreign), all("foreign_wallet"));
    let mismatch = send(&ngn, &ngn);
    assert_eq!((mismatch.status, code(&mismatch).as_str()), (422, "currency_mismatch"));
    assert_eq!(violations(&mismatch), all("currency_mismatch")[1..]);
    let missing = json!({"quote_id": id(&quote), "source_wallet_id": "wal_0000000000000"});
    let missing = caller.post(TRANSFERS, &missing);
    assert_eq!((missing.status, violations(&missing)[0].0.as_str()), (404, "/source_wallet_id"));
    let quoteless = json!({"quote_id": "fxq_0000000000000", "source_wallet_id": id(&ngn)});
    assert_eq!(caller.post(TRANSFERS, &quoteless).status, 404);
    assert_eq!(caller.digest(), before);
}

#[test]
fn a_short_wallet_is_refused_and_nothing_happens() {
    let caller = Caller::manual();
    let company = company(&caller);
    let available = number(&wallet(&caller, &company, "NGN")["available"]);
    let quote = quote(&caller, available + 1);
    let before = caller.digest();
    let short = transfer_of(&caller, &quote);
    assert_eq!((short.status, code(&short).as_str()), (402, "insufficient_funds"));
    assert_eq!(caller.digest(), before);
    give(&caller, &company, 1, "NGN");
    transfer(&caller, &quote);
    assert_eq!(wallet(&caller, &company, "NGN")["available"], 0);
    caller.audit();
}

#[test]
fn a_full_wallet_takes_no_more() {
    let caller = Caller::manual();
    let company = company(&caller);
    transfer(&caller, &quote(&caller, 25_000_000));
    caller.advance(&json!({"by": "60s"}));
    // More pounds than nine quadrillion kobo are worth.
    let body =
        json!({"company_id": company, "amount": 1_000_000_000_000_000_i64, "currency": "GBP"});
    let refused = caller.post("/_sandbox/inbound/bank_transfer", &body);
    assert_eq!((refused.status, code(&refused).as_str()), (402, "limit_exceeded"));
    for _ in 0..9 {
        give(&caller, &company, 1_000_000_000_000_000, "NGN");
    }
    let pounds = json!({"source_currency": "GBP", "target_currency": "NGN", "source_amount": 300_000_000_000_i64});
    give(&caller, &company, 300_000_000_000, "GBP");
    let quote = quote_of(&caller, &pounds).expect(201)["data"].take();
    let source = wallet(&caller, &company, "GBP");
    let body = json!({"quote_id": id(&quote), "source_wallet_id": id(&source)});
    let refused = caller.post(TRANSFERS, &body);
    assert_eq!((refused.status, code(&refused).as_str()), (402, "limit_exceeded"));
    reports_close(&caller, &company);
}

#[test]
fn a_wallet_that_was_filled_meanwhile_sends_the_money_back() {
    let caller = Caller::manual();
    let company = company(&caller);
    transfer(&caller, &quote(&caller, 25_000_000));
    caller.advance(&json!({"by": "60s"}));
    give(&caller, &company, 100_000_000_000, "GBP");
    let body = json!({"source_currency": "GBP", "target_currency": "NGN", "source_amount": 100_000_000_000_i64});
    let quote = quote_of(&caller, &body).expect(201)["data"].take();
    let source = wallet(&caller, &company, "GBP");
    let body = json!({"quote_id": id(&quote), "source_wallet_id": id(&source)});
    let made = caller.post(TRANSFERS, &body).expect(201)["data"].take();
    for _ in 0..9 {
        give(&caller, &company, 1_000_000_000_000_000, "NGN");
    }
    let room = i64::MAX / 1_000 - number(&wallet(&caller, &company, "NGN")["available"]);
    give(&caller, &company, room, "NGN");
    let came = caller.advance(&json!({"by": "60s"}));
    assert_eq!(came, ["fx_transfer.failed", "wallet.credited"]);
    assert_eq!(read(&caller, &made)["failure"]["code"], "limit_exceeded");
    assert_eq!(wallet(&caller, &company, "GBP")["available"], source["available"]);
    reports_close(&caller, &company);
}

#[test]
fn a_company_that_may_not_pay_converts_nothing() {
    let caller = Caller::manual();
    let company = company(&caller);
    let quote = quote(&caller, 25_000_000);
    let path = format!("/_sandbox/resources/{company}/transition");
    caller.post(&path, &json!({"to": "suspended"})).expect(200);
    let refused = transfer_of(&caller, &quote);
    assert_eq!((refused.status, code(&refused).as_str()), (403, "company_suspended"));
}

#[test]
fn of_many_transfers_at_one_moment_as_many_succeed_as_the_wallet_holds() {
    let server = Arc::new(Server::start(&["--clock", "instant"]));
    let caller = Caller::of(&server);
    let company = company(&caller);
    let available = number(&wallet(&caller, &company, "NGN")["available"]);
    let share = available / 5;
    let quotes: Vec<Value> = (0..16).map(|_| quote(&caller, share)).collect();
    let source = wallet(&caller, &company, "NGN");
    let send = |quote: Value| {
        let (caller, source) = (caller.clone(), id(&source).to_owned());
        std::thread::spawn(move || {
            let body = json!({"quote_id": id(&quote), "source_wallet_id": source});
            caller.post(TRANSFERS, &body).status
        })
    };
    let threads: Vec<_> = quotes.into_iter().map(send).collect();
    let statuses: Vec<u16> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    let of = |wanted: u16| statuses.iter().filter(|status| **status == wanted).count();
    assert_eq!((of(201), of(402)), (5, 11), "{statuses:?}");
    reports_close(&caller, &company);
}

#[test]
fn one_quote_raced_is_used_once() {
    let caller = Caller::instant();
    let quote = quote(&caller, 25_000_000);
    let send = |_| {
        let (caller, quote) = (caller.clone(), quote.clone());
        std::thread::spawn(move || transfer_of(&caller, &quote).status)
    };
    let threads: Vec<_> = (0..8).map(send).collect();
    let mut statuses: Vec<u16> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 409, 409, 409, 409, 409, 409, 409]);
}
