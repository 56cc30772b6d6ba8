//! Return codes of collections and refunds, by country and method. Each case names its source.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{COLLECTIONS, INVOICES, collection};
use crate::harness::world::id;
use crate::harness::{Caller, Server};

fn caller(country: &str) -> Caller {
    let flags = ["--countries", country, "--companies", "1", "--employees-per-company", "4"];
    Caller::of(&Arc::new(Server::start(&[&flags[..], &["--clock", "manual"]].concat())))
}

fn wanted(caller: &Caller, currency: &str, method: &str) -> Value {
    json!({"company_id": caller.company(0), "amount": 25_000, "currency": currency, "method": method,
        "reference": format!("ORDER {method}")})
}

fn send(caller: &Caller, body: &Value, scenario: &str) -> Value {
    let request = caller.request("POST", COLLECTIONS).json(body);
    caller.send(&request.header("Sandbox-Scenario", scenario)).made()
}

/// ACH: R01 (Nacha). Bacs: the ARUDD report. SEPA: AM04 (EPC SDD Core). Canada: 901 (CPA Standard 005, Rule H1).
/// South Africa: 02 (Bankserv schedule of unpaids). Cards: 51 (ISO 8583). M-Pesa: result code 1. NIP: 51. Faster Payments: 1172.
#[test]
fn missing_money_has_the_code_of_the_payers_rail() {
    for (country, currency, method, rail, code) in [
        ("US", "USD", "direct_debit", "us_ach_debit", json!("R01")),
        ("US", "USD", "card", "card", json!("51")),
        ("US", "USD", "bank_transfer", "us_ach_credit", Value::Null),
        ("GB", "GBP", "direct_debit", "gb_bacs_debit", json!("ARUDD 0")),
        ("GB", "GBP", "bank_transfer", "gb_faster_payments", json!("1172")),
        ("DE", "EUR", "direct_debit", "eu_sepa_sdd_core", json!("AM04")),
        ("CA", "CAD", "direct_debit", "ca_eft_debit", json!("901")),
        ("ZA", "ZAR", "direct_debit", "za_eft_debit", json!("02")),
        ("KE", "KES", "mobile_money", "ke_mpesa_c2b", json!("1")),
        ("NG", "NGN", "card", "card", json!("51")),
        ("NG", "NGN", "bank_transfer", "ng_nip", json!("51")),
        ("NG", "NGN", "direct_debit", "direct_debit", json!("AM04")),
    ] {
        let caller = caller(country);
        let body = wanted(&caller, currency, method);
        let asked = send(&caller, &body, "collection.pay=declined");
        assert_eq!(asked["payment_rail"], rail, "{country} {method}");
        caller.advance(&json!({"by": "9d"}));
        let failed = collection(&caller, &asked);
        assert_eq!(failed["status"], "failed", "{country} {method}");
        assert_eq!(failed["failure"]["return_code"], code, "{country} {method}");
        assert_eq!(failed["failure"]["code"], "insufficient_funds");
        assert_eq!(failed["failure"]["retry"], "later", "{country} {method}");
    }
}

/// A card that was reported stolen must not be tried again (ISO 8583 code 43, Visa category 1).
#[test]
fn card_declines_have_card_codes() {
    let caller = caller("US");
    for (number, (named, code, reason, retry)) in (1..).zip([
        ("05", "05", "refused_by_bank", "later"),
        ("43", "43", "card_lost_or_stolen", "no"),
        ("54", "54", "card_expired", "after_fix"),
        ("R02", "46", "account_closed", "no"),
    ]) {
        let mut body = wanted(&caller, "USD", "card");
        body["reference"] = format!("ORDER {number}").into();
        let asked = send(&caller, &body, &format!("collection.pay=declined;code={named}"));
        caller.advance(&json!({"by": "1m"}));
        let failure = collection(&caller, &asked)["failure"].clone();
        let shown = ["return_code", "code", "retry"].map(|member| failure[member].clone());
        assert_eq!(shown, [json!(code), json!(reason), json!(retry)]);
    }
    let mut body = wanted(&caller, "USD", "card");
    body["payer"] = json!({"account_number": "9999999901"});
    let asked = caller.post(COLLECTIONS, &body).made();
    caller.advance(&json!({"by": "1m"}));
    assert_eq!(collection(&caller, &asked)["failure"]["return_code"], "51");
}

#[test]
fn a_refund_goes_back_by_the_rail_of_its_payment() {
    for (country, currency, method, rail, code) in [
        ("US", "USD", "card", "card", "46"),
        ("US", "USD", "direct_debit", "us_ach_credit", "R02"),
        ("GB", "GBP", "direct_debit", "gb_faster_payments", "1160"),
        ("KE", "KES", "mobile_money", "ke_mpesa_c2b", "1032"),
    ] {
        let caller = caller(country);
        let asked = caller.post(COLLECTIONS, &wanted(&caller, currency, method)).made();
        caller.advance(&json!({"by": "15d"}));
        let path = format!("{COLLECTIONS}/{}/refunds", id(&asked));
        let request = caller.request("POST", &path).json(&json!({"amount": 100, "reason": "Late"}));
        let refund =
            caller.send(&request.header("Sandbox-Scenario", "refund.settle=failed")).made();
        assert_eq!(refund["payment_rail"], rail, "{country} {method}");
        caller.advance(&json!({"by": "15d"}));
        let failed = caller.get(&format!("/api/payments/refunds/{}", id(&refund))).data();
        assert_eq!(failed["failure"]["return_code"], code, "{country} {method}");
        caller.audit();
    }
}

#[test]
fn a_payers_reserved_account_names_a_code_of_debits() {
    let caller = Caller::manual();
    let mut body = wanted(&caller, "NGN", "card");
    body["payer"] = json!({"account_number": "9999999923"});
    let problem = caller.post(COLLECTIONS, &body).refused(422, "validation_failed");
    assert_eq!(problem["errors"][0]["pointer"], "/payer/account_number");
    let invoice = json!({"company_id": caller.company(0), "currency": "NGN", "due_date": "2026-02-01",
        "customer": {"name": "Harbour Foods", "email": "a@example.com", "account_number": "9999999923"},
        "lines": [{"description": "Freight", "quantity": 1, "unit_amount": 100}]});
    let problem = caller.post(INVOICES, &invoice).refused(422, "validation_failed");
    assert_eq!(problem["errors"][0]["pointer"], "/customer/account_number");
}
