//! Refused payouts, which change nothing.

use serde_json::{Value, json};

use super::{BENEFICIARIES, PAYOUTS, Payer, faults, wallet, with};
use crate::harness::world::{id, number};

#[test]
fn every_invalid_amount_of_a_payout_is_refused() {
    let payer = Payer::instant();
    let before = payer.balance("available");
    for (amount, status) in [
        (json!(0), 422),
        (json!(-1), 422),
        (json!(1.5), 422),
        (json!("1"), 422),
        (json!(null), 422),
        (json!(1_000_000_000_000_001_i64), 422),
        (json!(i64::MAX), 422),
        (json!(u64::MAX), 422),
        (json!(1e300), 422),
        (json!(1_000_000_000_000_000_i64), 402),
        (json!(before), 402),
        (json!(before + 1), 402),
        (json!(1), 201),
    ] {
        let digest = payer.caller.digest();
        let body = with(payer.body(1), &json!({"amount": amount}));
        let answer = payer.caller.post(PAYOUTS, &body);
        assert_eq!(answer.status, status, "{amount}: {}", answer.text());
        match status {
            422 => {
                let problem = answer.refused(422, "validation_failed");
                assert_eq!(faults(&problem)[0].0, "/amount", "{amount}");
            }
            402 => {
                let problem = answer.refused(402, "insufficient_funds");
                assert_eq!(problem["resource_id"], *payer.wallet);
                assert_eq!(problem["retryable"], true);
            }
            _ => continue,
        }
        assert_eq!(payer.caller.digest(), digest, "{amount}");
    }
    payer.caller.audit();
}

#[test]
fn a_retry_after_the_wallet_got_the_money_is_executed() {
    let payer = Payer::manual();
    let body = payer.body(payer.balance("available") + 1_000);
    let request = payer.caller.request("POST", PAYOUTS).json(&body);
    let request = request.header("idempotency-key", "pay-1");
    let refused = payer.caller.send(&request).refused(402, "insufficient_funds");
    assert_eq!(refused["retryable"], true);
    payer.receive(1_000_000_000).expect(200);
    let paid = payer.caller.send(&request);
    assert_eq!((paid.status, paid.header("idempotent-replayed")), (201, None), "{}", paid.text());
    assert_eq!(payer.caller.send(&request).header("idempotent-replayed"), Some("true"));
}

#[test]
fn the_last_unit_can_be_paid_and_no_more() {
    let payer = Payer::manual();
    let mut amount = payer.balance("available");
    // The fee is smaller than the amount: the search ends at the largest affordable amount.
    let mut step = amount / 2;
    while step > 0 {
        let digest = payer.caller.digest();
        if payer.ask(amount, &json!({})).status == 402 {
            assert_eq!(payer.caller.digest(), digest);
            amount -= step;
        } else {
            amount = payer.balance("available");
        }
        step = (step / 2).min(amount);
    }
    assert!(payer.balance("available") >= 0);
    let beyond = payer.ask(payer.balance("available") + 1, &json!({}));
    beyond.refused(402, "insufficient_funds");
    payer.caller.advance(&json!({"by": "1d"}));
    payer.caller.audit();
}

#[test]
fn all_missing_members_of_a_body_are_listed_together() {
    let payer = Payer::instant();
    let problem = payer.caller.post(PAYOUTS, &json!({"rail": "pigeon", "colour": "red"}));
    let problem = problem.refused(422, "validation_failed");
    let mut found: Vec<&str> = faults(&problem).into_iter().map(|(at, _)| at).collect();
    found.sort_unstable();
    let wanted = [
        "/amount",
        "/beneficiary_id",
        "/colour",
        "/company_id",
        "/currency",
        "/rail",
        "/reference",
        "/wallet_id",
    ];
    assert_eq!(found, wanted, "{problem}");
    for (member, value) in [
        ("reference", json!("")),
        ("reference", json!("x".repeat(141))),
        ("reference", json!("a\u{0}b")),
        ("maker", json!("")),
        ("currency", json!("naira")),
        ("metadata", json!({"a": 1})),
    ] {
        let problem = payer.ask(1, &json!({member: value})).refused(422, "validation_failed");
        let (at, _) = faults(&problem)[0];
        assert!(at.starts_with(&format!("/{member}")), "{problem}");
    }
}

#[test]
fn unknown_and_foreign_resources_are_refused() {
    let payer = Payer::instant();
    let unknown = json!({"company_id": "com_0000000000000", "wallet_id": "x", "beneficiary_id": "ben_0000000000000"});
    let problem = payer.ask(1, &unknown).refused(404, "resource_not_found");
    let wanted = [
        ("/company_id", "not_found"),
        ("/wallet_id", "not_found"),
        ("/beneficiary_id", "not_found"),
    ];
    assert_eq!(faults(&problem), wanted);
    let other = payer.caller.company(1);
    let theirs = with(payer.payee_body("9999999900"), &json!({"company_id": other}));
    let theirs = payer.caller.post(BENEFICIARIES, &theirs).made();
    let strange =
        json!({"wallet_id": wallet(&payer.caller, &other), "beneficiary_id": id(&theirs)});
    let problem = payer.ask(1, &strange).refused(422, "validation_failed");
    let wanted = [
        ("/wallet_id", "foreign_wallet"),
        ("/beneficiary_id", "foreign_beneficiary"),
        ("/currency", "currency"),
    ];
    assert_eq!(faults(&problem), wanted);
}

#[test]
fn only_a_verified_beneficiary_is_paid() {
    let payer = Payer::manual();
    let made = payer.caller.post(BENEFICIARIES, &payer.payee_body("9999999900")).made();
    let to = json!({"beneficiary_id": id(&made)});
    let refused = |status: &str| {
        let problem = payer.ask(1, &to).refused(422, "validation_failed");
        assert_eq!(faults(&problem), [("/beneficiary_id", "not_verified")]);
        assert!(problem["detail"].as_str().unwrap().contains(status), "{problem}");
    };
    refused("pending");
    payer.transition(id(&made), &json!({"to": "rejected"})).expect(200);
    refused("rejected");
}

#[test]
fn currencies_that_differ_are_refused() {
    let payer = Payer::manual();
    let problem = payer.ask(1, &json!({"currency": "EUR"})).refused(422, "currency_mismatch");
    assert_eq!(faults(&problem), [("/currency", "currency")]);
    let mut euro = payer.payee_body("DE89370400440532013000");
    euro["account"] =
        json!({"account_number": "DE89370400440532013000", "country": "DE", "currency": "EUR"});
    let euro = payer.caller.post(BENEFICIARIES, &euro).made();
    payer.caller.advance(&json!({"by": "1m"}));
    let problem = payer.ask(1, &json!({"beneficiary_id": id(&euro)}));
    let problem = problem.refused(422, "currency_mismatch");
    assert_eq!(faults(&problem), [("/currency", "currency")]);
}

#[test]
fn payouts_of_a_blocked_company_are_refused() {
    let payer = Payer::manual();
    payer.settings(&json!({"approval_required": true}));
    let waits = payer.pay(1, &json!({}));
    payer.transition(&payer.company, &json!({"to": "suspended"})).expect(200);
    payer.ask(1, &json!({})).refused(403, "company_suspended");
    payer.verb(&waits, "approve", &json!({})).refused(403, "company_suspended");
    payer.transition(&payer.company, &json!({"to": "closed"})).expect(200);
    payer.ask(1, &json!({})).refused(403, "compliance_blocked");
    payer.verb(&waits, "approve", &json!({})).refused(403, "compliance_blocked");
    let before = payer.balance("available");
    payer.verb(&waits, "cancel", &json!({})).expect(200);
    assert!(payer.balance("available") > before);
}

#[test]
fn an_unverified_company_may_add_beneficiaries_but_not_pay() {
    let payer = Payer::instant();
    let body = json!({"legal_name": "Lagos Bakery Ltd", "country": "NG", "currency": "NGN"});
    let company = payer.caller.post("/api/business/companies", &body).made();
    let mine = json!({"company_id": id(&company)});
    let theirs = with(payer.payee_body("9999999900"), &mine);
    let theirs = payer.caller.post(BENEFICIARIES, &theirs).made();
    let more = json!({"company_id": id(&company), "beneficiary_id": id(&theirs),
        "wallet_id": wallet(&payer.caller, id(&company))});
    payer.ask(1, &more).refused(403, "compliance_blocked");
}

#[test]
fn a_full_wallet_refuses_a_manual_return() {
    let payer = Payer::manual();
    let asked = payer.pay(1_000_000, &json!({}));
    payer.fill();
    let full = payer.balance("available");
    payer.verb(&asked, "cancel", &json!({})).refused(402, "limit_exceeded");
    assert_eq!(payer.balance("available"), full);
    let spent = payer.pay(2_000_000, &json!({}));
    assert!(number(&spent["fee"]) > 0);
    let cancelled: Value = payer.verb(&asked, "cancel", &json!({})).data();
    assert_eq!(cancelled["status"], "cancelled");
    payer.caller.audit();
}
