//! Refused escrow calls, which change nothing.

use serde_json::{Value, json};

use super::{ESCROWS, act, agree, body, funded, now, parts, sums};
use crate::harness::world::id;
use crate::payouts::{BENEFICIARIES, Payer, faults, with};

#[test]
fn no_more_than_the_held_money_is_released() {
    let payer = Payer::instant();
    let escrow = funded(&payer, &json!({}));
    act(&payer, &escrow, "release", &json!({"amount": 40_000})).expect(200);
    let digest = payer.caller.digest();
    for amount in [50_001, 90_000, 1_000_000_000_000_000_i64] {
        let refused = act(&payer, &escrow, "release", &json!({"amount": amount}));
        let refused = refused.refused(422, "validation_failed");
        assert_eq!(faults(&refused), [("/amount", "more_than_held")]);
        assert!(refused["detail"].as_str().unwrap().contains("50000"), "{refused}");
    }
    for amount in [json!(0), json!(-1), json!(i64::MAX), json!(0.5)] {
        let refused = act(&payer, &escrow, "release", &json!({"amount": amount}));
        refused.refused(422, "validation_failed");
    }
    assert_eq!(payer.caller.digest(), digest);
    assert_eq!(sums(&now(&payer, &escrow)), [50_000, 40_000, 0]);
}

#[test]
fn a_milestone_is_released_once() {
    let payer = Payer::instant();
    let escrow = funded(&payer, &parts());
    act(&payer, &escrow, "release", &json!({"milestone_id": "milestone_1"})).expect(200);
    for (body, fault) in [
        (json!({"milestone_id": "milestone_1"}), ("/milestone_id", "already_released")),
        (json!({"milestone_id": "milestone_3"}), ("/milestone_id", "not_found")),
        (json!({"milestone_id": "milestone_2", "amount": 1}), ("/amount", "not_taken")),
        (json!({"amount": 1}), ("/amount", "has_milestones")),
    ] {
        let refused = act(&payer, &escrow, "release", &body).refused(422, "validation_failed");
        assert_eq!(faults(&refused), [fault]);
    }
    assert_eq!(sums(&now(&payer, &escrow)), [60_000, 30_000, 0]);
}

#[test]
fn all_wrong_milestones_and_dates_are_listed_together() {
    let payer = Payer::instant();
    let most: Vec<Value> =
        (0..50).map(|_| json!({"name": "x", "amount": 1_000_000_000_000_000_i64})).collect();
    for (more, wanted) in [
        (
            json!({"milestones": [{"name": "Design", "amount": 89_999}], "auto_release_at": "2025-01-01T00:00:00Z",
                "expires_at": "2024-01-01T00:00:00Z", "currency": "EUR"}),
            &[
                ("/milestones", "sum"),
                ("/auto_release_at", "in_the_past"),
                ("/expires_at", "in_the_past"),
                ("/auto_release_at", "after_expiry"),
                ("/currency", "currency"),
            ][..],
        ),
        (
            json!({"auto_release_at": "2027-01-01T00:00:00Z", "expires_at": "2027-01-01T00:00:00Z"}),
            &[("/auto_release_at", "after_expiry")],
        ),
        (json!({"milestones": most}), &[("/milestones", "sum")]),
    ] {
        let refused = payer.caller.post(ESCROWS, &with(body(&payer), &more));
        assert_eq!(faults(&refused.refused(422, "validation_failed")), wanted);
    }
    let mismatch = payer.caller.post(ESCROWS, &with(body(&payer), &json!({"currency": "EUR"})));
    let detail = mismatch.refused(422, "currency_mismatch")["detail"].take();
    let both = "the wallet has the currency NGN and the beneficiary's account has the currency NGN";
    assert_eq!(detail, format!("{both}, not EUR"));
}

#[test]
fn all_missing_and_unknown_members_are_listed_together() {
    let payer = Payer::instant();
    let sent =
        json!({"milestones": [], "conditions": "", "colour": "red", "expires_at": "tomorrow"});
    let problem = payer.caller.post(ESCROWS, &sent).refused(422, "validation_failed");
    let mut found: Vec<&str> = faults(&problem).into_iter().map(|(at, _)| at).collect();
    found.sort_unstable();
    let wanted = [
        "/amount",
        "/buyer_wallet_id",
        "/colour",
        "/company_id",
        "/conditions",
        "/currency",
        "/expires_at",
        "/milestones",
        "/seller_beneficiary_id",
    ];
    assert_eq!(found, wanted, "{problem}");
    for amount in [json!(0), json!(i64::MAX), json!("90000")] {
        let refused = payer.caller.post(ESCROWS, &with(body(&payer), &json!({"amount": amount})));
        assert_eq!(faults(&refused.refused(422, "validation_failed"))[0].0, "/amount");
    }
    let missing = json!({"company_id": "com_0000000000000", "buyer_wallet_id": "w", "seller_beneficiary_id": "b"});
    let problem = payer
        .caller
        .post(ESCROWS, &with(body(&payer), &missing))
        .refused(404, "resource_not_found");
    assert_eq!(faults(&problem).len(), 3);
    let none = json!({"id": "esc_0000000000000"});
    for (verb, body) in [
        ("fund", json!({})),
        ("release", json!({})),
        ("refund", json!({"reason": "x"})),
        ("dispute", json!({"raised_by": "buyer", "reason": "x"})),
    ] {
        act(&payer, &none, verb, &body).refused(404, "resource_not_found");
    }
    let escrow = funded(&payer, &json!({}));
    act(&payer, &escrow, "refund", &json!({})).refused(422, "validation_failed");
    let wrong = act(&payer, &escrow, "dispute", &json!({"raised_by": "judge"}));
    let wrong = wrong.refused(422, "validation_failed");
    assert_eq!(faults(&wrong).len(), 2, "{wrong}");
}

#[test]
fn a_seller_must_be_verified_and_the_companys_own() {
    let payer = Payer::manual();
    let made = payer.caller.post(BENEFICIARIES, &payer.payee_body("9999999900")).made();
    let waiting = json!({"seller_beneficiary_id": id(&made)});
    let refused = payer.caller.post(ESCROWS, &with(body(&payer), &waiting));
    let refused = refused.refused(422, "validation_failed");
    assert_eq!(faults(&refused), [("/seller_beneficiary_id", "not_verified")]);
}

#[test]
fn an_escrow_is_funded_whole_by_a_company_with_money_that_may_pay() {
    let payer = Payer::manual();
    let escrow = agree(&payer, &json!({}));
    let refused = act(&payer, &escrow, "fund", &json!({"amount": 89_999}));
    let refused = refused.refused(422, "validation_failed");
    assert_eq!(faults(&refused), [("/amount", "not_the_amount")]);
    let dear = payer.balance("available") + 1;
    let dear = agree(&payer, &json!({"amount": dear}));
    let digest = payer.caller.digest();
    let short = act(&payer, &dear, "fund", &json!({})).refused(402, "insufficient_funds");
    assert_eq!(short["resource_id"], *payer.wallet);
    assert_eq!(payer.caller.digest(), digest);
    let held = funded(&payer, &json!({}));
    for (status, code) in [("suspended", "company_suspended"), ("closed", "compliance_blocked")] {
        payer.transition(&payer.company, &json!({"to": status})).expect(200);
        act(&payer, &escrow, "fund", &json!({})).refused(403, code);
        act(&payer, &held, "release", &json!({})).refused(403, code);
    }
    act(&payer, &held, "refund", &json!({"reason": "x"})).expect(200);
    payer.caller.audit();
}

#[test]
fn the_last_unit_of_a_wallet_can_be_held() {
    let payer = Payer::instant();
    let all = payer.balance("available");
    let escrow = funded(&payer, &json!({"amount": all}));
    assert_eq!((payer.balance("available"), payer.balance("escrow")), (0, all));
    let mut left = act(&payer, &escrow, "refund", &json!({"reason": "x", "amount": all - 1}));
    let refused = left.refused(422, "validation_failed");
    assert_eq!(faults(&refused), [("/amount", "not_what_is_held")]);
    left = act(&payer, &escrow, "refund", &json!({"reason": "x", "amount": all}));
    left.expect(200);
    assert_eq!(payer.balance("available"), all);
    payer.caller.audit();
}

#[test]
fn a_full_wallet_refuses_an_escrow_refund() {
    let payer = Payer::manual();
    let escrow = funded(&payer, &json!({}));
    payer.fill();
    let refused = act(&payer, &escrow, "refund", &json!({"reason": "x"}));
    refused.refused(402, "limit_exceeded");
    assert_eq!(now(&payer, &escrow)["status"], "funded");
    payer.caller.audit();
}
