//! Collections, and the reactions of payers.

use serde_json::{Value, json};

use super::{
    COLLECTIONS, ask, at, booked, collection, moved, settled, statuses, told, wallet, wanted,
};
use crate::harness::Caller;
use crate::harness::http::pointers;
use crate::harness::world::{id, number};

#[test]
fn a_card_payment_is_pending_then_available_less_the_fee() {
    let caller = Caller::manual();
    let before = number(&wallet(&caller, "NGN")["available"]);
    let answer = ask(&caller, &json!({"metadata": {"order": "1"}}));
    let location = answer.header("location").unwrap().to_owned();
    let asked = answer.made();
    assert_eq!(asked["status"], "pending");
    assert!(
        asked["checkout_url"].as_str().unwrap().starts_with("https://checkout.sandbox.invalid/")
    );
    assert_eq!(caller.get(&location).data(), asked);
    caller.advance(&json!({"by": "1m"}));
    let paid = collection(&caller, &asked);
    assert_eq!(statuses(&paid), ["pending", "processing", "succeeded"]);
    assert_eq!(paid["amount_received"], 25_000);
    let money = wallet(&caller, "NGN");
    assert_eq!((number(&money["available"]), number(&money["pending"])), (before, 25_000));
    caller.advance(&json!({"by": "5d"}));
    let paid = collection(&caller, &asked);
    let fee = number(&paid["fee"]);
    assert_eq!((paid["status"].as_str(), fee), (Some("settled"), 375)); // 1.5 %
    let money = wallet(&caller, "NGN");
    assert_eq!(
        (number(&money["available"]), number(&money["pending"])),
        (before + 25_000 - fee, 0)
    );
    let books = [at("cash_available", 24_625), at("fees", 375), at("sales", -25_000)];
    assert_eq!(booked(&caller, id(&asked)), books);
    let names =
        ["created", "processing", "succeeded", "settled"].map(|name| format!("collection.{name}"));
    assert_eq!(told(&caller, id(&asked)), names);
    caller.audit();
}

#[test]
fn every_method_has_its_own_way_and_time() {
    let caller = Caller::manual();
    let ways: [(&str, &str, &[&str]); 4] = [
        ("card", "12s", &["pending", "processing", "succeeded"]),
        ("mobile_money", "150s", &["pending", "requires_action", "processing", "succeeded"]),
        ("bank_transfer", "6d", &["pending", "processing", "succeeded", "settled"]),
        ("direct_debit", "1m", &["pending", "processing"]),
    ];
    for (method, by, way) in ways {
        let caller = Caller::manual();
        let asked = ask(&caller, &json!({"method": method})).made();
        caller.advance(&json!({"by": by}));
        assert_eq!(statuses(&collection(&caller, &asked)), way, "{method}");
    }
    let debit = ask(&caller, &json!({"method": "direct_debit"})).made();
    assert_eq!((&debit["virtual_account"], &debit["checkout_url"]), (&Value::Null, &Value::Null));
    caller.advance(&json!({"by": "12d"}));
    assert_eq!(collection(&caller, &debit)["status"], "settled");
}

#[test]
fn a_virtual_account_has_right_check_digits_and_the_companys_name() {
    let caller = Caller::manual();
    let (nigerian, british) = (caller.company(0), caller.company(1));
    let of = |company: &str, currency: &str| {
        let more = json!({"method": "bank_transfer", "company_id": company, "currency": currency});
        ask(&caller, &more).made()["virtual_account"].take()
    };
    let account = of(&nigerian, "NGN");
    let text = |account: &Value, name: &str| account[name].as_str().unwrap().to_owned();
    let digits: Vec<u32> =
        format!("{}{}", text(&account, "bank_code"), text(&account, "account_number"))
            .chars()
            .map(|digit| digit.to_digit(10).unwrap())
            .collect();
    let weights = [3, 7, 3, 3, 7, 3, 3, 7, 3, 3, 7, 3];
    let sum: u32 = digits.iter().zip(weights).map(|(digit, weight)| digit * weight).sum();
    assert_eq!((10 - sum % 10) % 10, digits[12], "{account}");
    let company = caller.get(&format!("/api/business/companies/{nigerian}")).data();
    assert_eq!(account["account_name"], company["legal_name"]);
    let iban = text(&of(&british, "GBP"), "iban");
    let turned = format!("{}{}", &iban[4..], &iban[..4]);
    let rest = turned.chars().fold(0_u64, |rest, letter| {
        let value = u64::from(letter.to_digit(36).unwrap());
        (rest * if value > 9 { 100 } else { 10 } + value) % 97
    });
    assert_eq!(rest, 1, "{iban}");
}

#[test]
fn payers_are_late_short_absent_or_declined_by_their_account() {
    let of = |account: &str, more: Value, by: &str| {
        let caller = Caller::manual();
        let mut body = more;
        body["payer"] = json!({"name": "Ngozi Eze", "account_number": account});
        let asked = ask(&caller, &body).made();
        caller.advance(&json!({"by": by}));
        let now = collection(&caller, &asked);
        caller.audit();
        now
    };
    assert_eq!(of("9999999900", json!({}), "1m")["status"], "succeeded");
    assert_eq!(of("9999999990", json!({}), "5h")["status"], "pending");
    assert_eq!(of("9999999990", json!({}), "7h")["status"], "succeeded");
    let short = of("9999999993", json!({"amount": 25_001}), "1m");
    assert_eq!(
        (&short["status"], &short["amount_received"]),
        (&json!("succeeded"), &json!(12_500))
    );
    let least = of("9999999993", json!({"amount": 1}), "9d");
    assert_eq!((&least["amount_received"], &least["fee"]), (&json!(1), &json!(0)));
    let never = of("9999999994", json!({}), "23h");
    assert_eq!(never["status"], "pending");
    assert_eq!(of("9999999994", json!({}), "25h")["status"], "expired");
    let prompted = of("9999999994", json!({"method": "mobile_money"}), "25h");
    assert_eq!(statuses(&prompted), ["pending", "requires_action", "expired"]);
    let until = json!({"method": "bank_transfer", "expires_at": "2026-01-03T00:00:00Z"});
    assert_eq!(statuses(&of("9999999990", until, "20d")), ["pending", "expired"]);
    let declined = of("9999999902", json!({}), "1m");
    assert_eq!(statuses(&declined), ["pending", "processing", "failed"]);
    assert_eq!(declined["failure"]["code"], "account_closed");
    assert_eq!(declined["failure"]["return_code"], "46");
    assert_eq!(of("9999999992", json!({}), "1m")["status"], "succeeded");
}

#[test]
fn a_header_decides_for_the_payer_and_the_bank() {
    let caller = Caller::manual();
    let send = |scenario: &str, reference: &str| {
        let body = wanted(&caller, &json!({"reference": reference}));
        let request = caller.request("POST", COLLECTIONS).header("Sandbox-Scenario", scenario);
        caller.send(&request.json(&body)).made()
    };
    let declined = send("collection.pay=declined;code=R09;after=1h", "A");
    let late = send("collection.settle=delayed;after=10d", "B");
    caller.advance(&json!({"by": "59m"}));
    assert_eq!(collection(&caller, &declined)["status"], "pending");
    caller.advance(&json!({"by": "2m"}));
    let failed = collection(&caller, &declined);
    assert_eq!(
        (&failed["status"], &failed["failure"]["retryable"]),
        (&json!("failed"), &json!(true))
    );
    caller.advance(&json!({"by": "9d"}));
    assert_eq!(collection(&caller, &late)["status"], "succeeded");
    caller.advance(&json!({"by": "1d"}));
    assert_eq!(collection(&caller, &late)["status"], "settled");
}

#[test]
fn in_an_instant_world_a_collection_is_settled_before_the_next_request() {
    let caller = Caller::instant();
    for (number, method) in
        ["card", "bank_transfer", "direct_debit", "mobile_money"].iter().enumerate()
    {
        let more = json!({"method": method, "reference": format!("R{number}")});
        let asked = ask(&caller, &more).made();
        assert_eq!(collection(&caller, &asked)["status"], "settled", "{method}");
    }
    caller.audit();
}

#[test]
fn another_currency_opens_its_wallet_when_money_comes() {
    let caller = Caller::manual();
    let paid = settled(&caller, &json!({"currency": "USD", "amount": 10_000}));
    let wallet = wallet(&caller, "USD");
    assert_eq!(number(&wallet["available"]), 10_000 - number(&paid["fee"]));
    caller.audit();
}

#[test]
fn a_reference_is_taken_while_its_collection_is_open() {
    let caller = Caller::manual();
    let first = ask(&caller, &json!({"payer": {"account_number": "9999999994"}})).made();
    let refused = ask(&caller, &json!({})).refused(409, "duplicate_reference");
    assert_eq!(refused["resource_id"], first["id"]);
    assert_eq!(pointers(&refused), ["/reference"]);
    let other = json!({"company_id": caller.company(1), "currency": "GBP"});
    ask(&caller, &other).expect(201);
    caller.post(&format!("{COLLECTIONS}/{}/cancel", id(&first)), &json!({})).expect(200);
    ask(&caller, &json!({})).expect(201);
}

#[test]
fn only_an_unpaid_collection_can_be_cancelled() {
    let caller = Caller::manual();
    let cancel = |of: &Value| {
        caller.post(&format!("{COLLECTIONS}/{}/cancel", id(of)), &json!({"reason": "Paid in cash"}))
    };
    let card = ask(&caller, &json!({})).made();
    let phone = ask(&caller, &json!({"method": "mobile_money", "reference": "B", "payer": {"account_number": "9999999994"}})).made();
    let gone = cancel(&card).data();
    assert_eq!(gone["status_history"][1]["reason"], "Paid in cash");
    let refused = cancel(&card).refused(409, "invalid_state_transition");
    assert_eq!((&refused["current"], &refused["allowed"]), (&json!("cancelled"), &json!([])));
    caller.advance(&json!({"by": "1h"}));
    assert_eq!(collection(&caller, &card)["status"], "cancelled");
    assert_eq!(statuses(&cancel(&phone).data()), ["pending", "requires_action", "cancelled"]);
    let debit = ask(&caller, &json!({"method": "direct_debit", "reference": "C"})).made();
    caller.advance(&json!({"by": "1m"}));
    let refused = cancel(&debit).refused(409, "invalid_state_transition");
    assert_eq!(refused["allowed"], json!(["succeeded", "failed"]));
}

#[test]
fn manual_transitions_of_a_collection_follow_its_lifecycle() {
    let caller = Caller::manual();
    let way = |number: usize, steps: &[&str]| {
        let never = json!({"payer": {"account_number": "9999999994"}, "reference": format!("R{number}"), "method": "bank_transfer"});
        let asked = ask(&caller, &never).made();
        for to in steps {
            moved(&caller, id(&asked), to).expect(200);
        }
        let now = collection(&caller, &asked);
        assert_eq!(statuses(&now)[1..], *steps);
        now
    };
    let done = way(1, &["requires_action", "processing", "succeeded", "settled"]);
    way(2, &["processing", "failed"]);
    way(3, &["expired"]);
    way(4, &["requires_action", "expired"]);
    way(5, &["cancelled"]);
    way(6, &["requires_action", "cancelled"]);
    let refused = moved(&caller, id(&done), "pending").refused(409, "invalid_state_transition");
    assert_eq!((&refused["current"], &refused["allowed"]), (&json!("settled"), &json!([])));
    caller.audit();
}

#[test]
fn bad_collections_are_refused_with_every_fault() {
    let caller = Caller::manual();
    let before = caller.digest();
    let refused = ask(&caller, &json!({"expires_at": "2025-12-31T00:00:00Z"}))
        .refused(422, "validation_failed");
    assert_eq!(pointers(&refused), ["/expires_at"]);
    for amount in
        [json!(0), json!(-1), json!(i64::MAX), json!(1_000_000_000_000_001_i64), json!(1.5)]
    {
        let refused = ask(&caller, &json!({"amount": amount})).refused(422, "validation_failed");
        assert_eq!(pointers(&refused), ["/amount"]);
    }
    ask(&caller, &json!({"company_id": "com_0000000000000"})).refused(404, "resource_not_found");
    ask(&caller, &json!({"invoice_id": "inv_0000000000000"})).refused(404, "resource_not_found");
    assert_eq!(caller.digest(), before);
}

#[test]
fn a_company_that_may_not_pay_may_not_collect() {
    let caller = Caller::manual();
    let body = json!({"legal_name": "New Ltd", "country": "GB", "currency": "GBP"});
    let new = caller.post("/api/business/companies", &body).made();
    let more = json!({"company_id": new["id"], "currency": "GBP"});
    ask(&caller, &more).refused(403, "compliance_blocked");
    let company = caller.company(0);
    moved(&caller, &company, "suspended").expect(200);
    ask(&caller, &json!({})).refused(403, "company_suspended");
}

#[test]
fn a_collection_cannot_exceed_the_limit_of_the_wallet() {
    let caller = Caller::manual();
    let most = 1_000_000_000_000_000_i64;
    // In the company's own currency the amount exceeds the limit, although the wallet is not open yet.
    let dollars = json!({"amount": most, "currency": "USD", "reference": "USD"});
    ask(&caller, &dollars).refused(402, "limit_exceeded");
    for number in 0..12 {
        let more = json!({"amount": most, "reference": format!("R{number}")});
        ask(&caller, &more).expect(201);
    }
    caller.advance(&json!({"by": "1m"}));
    let path = |status: &str| {
        let company = caller.company(0);
        format!("{COLLECTIONS}?company_id={company}&status={status}&method=card")
    };
    assert_eq!(caller.all(&path("succeeded")).len(), 9);
    let failed = caller.all(&path("failed"));
    assert_eq!(failed.len(), 3);
    assert_eq!(failed[0]["failure"]["code"], "refused_by_receiver");
    let more = json!({"amount": most, "reference": "MORE"});
    ask(&caller, &more).refused(402, "limit_exceeded");
    caller.advance(&json!({"by": "9d"}));
    assert_eq!(wallet(&caller, "NGN")["pending"], 0);
    caller.audit();
}

#[test]
fn lists_of_collections_filter_by_what_they_name() {
    let caller = Caller::manual();
    let company = caller.company(0);
    ask(&caller, &json!({"reference": "ONLY", "method": "mobile_money"})).expect(201);
    let count = |query: &str| caller.all(&format!("{COLLECTIONS}?{query}")).len();
    assert_eq!(count(&format!("company_id={company}")), 97);
    assert_eq!(count("method=mobile_money"), 1);
    assert_eq!(count("reference=ONLY"), 1);
    assert_eq!(count("reference=INV-2025-0001"), 3);
    let invoice = caller.get("/api/payments/invoices?per_page=1").data()[0]["id"].clone();
    assert_eq!(count(&format!("invoice_id={}", invoice.as_str().unwrap())), 1);
    let sorted = caller.all(&format!("{COLLECTIONS}?company_id={company}&sort=-amount"));
    assert!(sorted.windows(2).all(|pair| number(&pair[0]["amount"]) >= number(&pair[1]["amount"])));
}
