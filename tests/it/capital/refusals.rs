//! The refusals of the capital operations: each declared error, and amounts at every limit.

use serde_json::json;

use super::{
    APPLICATIONS, SCORES, ask, decided, lent, newcomer, offer, repay, respond, sell, wallet,
};
use crate::harness::Caller;
use crate::harness::http::pointers;
use crate::harness::world::{id, number};

const UNKNOWN: &str = "com_0000000000000";

fn body(company: &str) -> serde_json::Value {
    json!({"company_id": company, "product": "term_loan", "amount": 1_000_000, "currency": "NGN"})
}

#[test]
fn a_score_needs_exactly_one_existing_subject() {
    let caller = Caller::instant();
    let company = caller.company(0);
    for wrong in [json!({}), json!({"company_id": company, "subject_id": "sub_0000000000000"})] {
        let problem = caller.post(SCORES, &wrong).refused(422, "validation_failed");
        assert_eq!(problem["errors"][0]["code"], "one_of");
    }
    let problem = caller.post(SCORES, &json!({"company_id": UNKNOWN}));
    let problem = problem.refused(404, "resource_not_found");
    assert_eq!(pointers(&problem), ["/company_id"]);
    let problem = caller.post(SCORES, &json!({"subject_id": "sub_0000000000000"}));
    let problem = problem.refused(404, "resource_not_found");
    assert_eq!(pointers(&problem), ["/subject_id"]);
    let person =
        json!({"type": "person", "name": {"first": "Ada", "last": "Obi"}, "country": "NG"});
    let person = caller.post("/api/identity/subjects", &person).expect(201);
    let problem = caller.post(SCORES, &json!({"subject_id": person["data"]["id"]}));
    let problem = problem.refused(422, "validation_failed");
    assert_eq!(problem["errors"][0]["code"], "no_company");
}

#[test]
fn a_company_that_may_not_pay_may_not_borrow() {
    let caller = Caller::instant();
    let fresh = json!({"legal_name": "Lagos Bakery Ltd", "country": "NG", "currency": "NGN"});
    let fresh = caller.post("/api/business/companies", &fresh).expect(201);
    let pending = id(&fresh["data"]).to_owned();
    let asked = caller.post(APPLICATIONS, &body(&pending));
    asked.refused(403, "compliance_blocked");
    let company = caller.company(0);
    let offer = offer(&caller, &decided(&caller, &company, 1_000, "approved"));
    super::moved(&caller, &company, "suspended").expect(200);
    let asked = caller.post(APPLICATIONS, &body(&company));
    asked.refused(403, "company_suspended");
    let accept = json!({"decision": "accept", "wallet_id": id(&wallet(&caller, &company))});
    respond(&caller, &offer, &accept).refused(403, "company_suspended");
}

#[test]
fn a_company_with_an_open_requirement_accepts_no_offer() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let offer = offer(&caller, &decided(&caller, &company, 1_000, "approved"));
    super::moved(&caller, &company, "closed").expect(200);
    let accept = json!({"decision": "accept", "wallet_id": id(&wallet(&caller, &company))});
    respond(&caller, &offer, &accept).refused(403, "compliance_blocked");
}

#[test]
fn an_application_is_in_a_currency_that_the_company_has() {
    let caller = Caller::instant();
    let mut other = body(&caller.company(0));
    other["currency"] = "JPY".into();
    let problem = caller.post(APPLICATIONS, &other).refused(422, "currency_mismatch");
    assert_eq!(pointers(&problem), ["/currency"]);
}

#[test]
fn terms_and_amounts_are_refused_at_their_edges() {
    let caller = Caller::instant();
    let company = caller.company(0);
    for (product, most) in
        [("term_loan", 60), ("revenue_advance", 24), ("invoice_finance", 12), ("payroll_bridge", 3)]
    {
        let mut asked = body(&company);
        asked["product"] = product.into();
        asked["term_months"] = most.into();
        caller.post(APPLICATIONS, &asked).expect(201);
        asked["term_months"] = (most + 1).into();
        let problem = caller.post(APPLICATIONS, &asked).refused(422, "validation_failed");
        assert_eq!(pointers(&problem), ["/term_months"]);
    }
    let mut both = body(&company);
    (both["product"], both["term_months"], both["amount"]) =
        ("payroll_bridge".into(), 4.into(), 3.into());
    let problem = caller.post(APPLICATIONS, &both).refused(422, "validation_failed");
    assert_eq!(pointers(&problem), ["/term_months", "/amount"]);
    for amount in [
        json!(0),
        json!(-1),
        json!(1_000_000_000_000_001_i64),
        json!(i64::MAX),
        json!(u64::MAX),
        json!(1.5),
    ] {
        let mut asked = body(&company);
        asked["amount"] = amount;
        let problem = caller.post(APPLICATIONS, &asked);
        let problem = problem.refused(422, "validation_failed");
        assert_eq!(pointers(&problem), ["/amount"]);
    }
    for months in [0, 61, -1] {
        let mut asked = body(&company);
        asked["term_months"] = months.into();
        caller.post(APPLICATIONS, &asked).refused(422, "validation_failed");
    }
}

#[test]
fn the_smallest_loan_is_paid_back() {
    let caller = Caller::instant();
    let lent = lent(&caller, 12);
    let rows = lent["schedule"].as_array().unwrap();
    let principal: i64 = rows.iter().map(|row| number(&row["principal"])).sum();
    assert_eq!((rows.len(), principal), (12, 12));
    repay(&caller, &lent, 1).expect(201);
    let over = super::loan(&caller, id(&lent));
    let settlement = number(&over["settlement_amount"]);
    repay(&caller, &lent, settlement).expect(201);
    assert_eq!(super::loan(&caller, id(&lent))["status"], "repaid");
    caller.audit();
}

#[test]
fn an_offer_needs_a_wallet_to_be_accepted_and_none_to_be_declined() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let offer = offer(&caller, &decided(&caller, &company, 1_000, "approved"));
    let own = wallet(&caller, &company);
    let refused = |body: serde_json::Value, code: &str| {
        let problem = respond(&caller, &offer, &body).refused(422, "validation_failed");
        assert_eq!(
            (pointers(&problem), problem["errors"][0]["code"].as_str()),
            (vec!["/wallet_id"], Some(code))
        );
    };
    refused(json!({"decision": "accept"}), "required");
    refused(json!({"decision": "decline", "wallet_id": id(&own)}), "not_taken");
    let foreign = wallet(&caller, &caller.company(1));
    refused(json!({"decision": "accept", "wallet_id": id(&foreign)}), "foreign_wallet");
    let unknown = json!({"decision": "accept", "wallet_id": "wal_0000000000000"});
    respond(&caller, &offer, &unknown).refused(404, "resource_not_found");
    let none = json!({"id": "ofr_0000000000000"});
    respond(&caller, &none, &json!({"decision": "decline"})).refused(404, "resource_not_found");
}

/// Opens a second wallet of the company in another currency, by a small conversion.
fn other_wallet(caller: &Caller, company: &str) -> String {
    let own = wallet(caller, company);
    let quote = json!({"company_id": company, "source_currency": "NGN", "target_currency": "USD", "source_amount": 50_000_000});
    let quote = caller.post("/api/payments/fx-quotes", &quote).expect(201);
    let transfer = json!({"quote_id": quote["data"]["id"], "source_wallet_id": id(&own)});
    let transfer = caller.post("/api/payments/fx-transfers", &transfer).expect(201);
    transfer["data"]["target_wallet_id"].as_str().unwrap().to_owned()
}

#[test]
fn a_wallet_in_another_currency_neither_gets_nor_repays_a_loan() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let dollars = other_wallet(&caller, &company);
    let offer = offer(&caller, &decided(&caller, &company, 1_000, "approved"));
    let body = json!({"decision": "accept", "wallet_id": dollars});
    respond(&caller, &offer, &body).refused(422, "currency_mismatch");
    let own = json!({"decision": "accept", "wallet_id": id(&wallet(&caller, &company))});
    let taken = respond(&caller, &offer, &own).expect(200);
    let path =
        format!("/api/capital/loans/{}/repayments", taken["data"]["loan_id"].as_str().unwrap());
    let problem = caller.post(&path, &json!({"amount": 1, "wallet_id": dollars}));
    problem.refused(422, "currency_mismatch");
}

#[test]
fn a_full_wallet_refuses_a_loan() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let offer = offer(&caller, &decided(&caller, &company, 1_000_000_000_000_000, "approved"));
    for _ in 0..9 {
        sell(&caller, &company, 1_000_000_000_000_000).expect(200);
    }
    let before = caller.digest();
    let body = json!({"decision": "accept", "wallet_id": id(&wallet(&caller, &company))});
    respond(&caller, &offer, &body).refused(402, "limit_exceeded");
    assert_eq!(caller.digest(), before);
}

#[test]
fn a_short_wallet_repays_nothing() {
    let caller = Caller::instant();
    let company = caller.company(0);
    // Nearly all of the money goes back to the owner.
    let lent = lent(&caller, 1_000_000);
    let available = number(&wallet(&caller, &company)["available"]);
    let line = |account, direction| json!({"account": account, "direction": direction, "amount": available - 10, "currency": "NGN"});
    let lines = [line("owner_equity", "debit"), line("cash_available", "credit")];
    let body = json!({"company_id": company, "effective_on": "2026-01-01", "memo": "Taken out", "lines": lines});
    caller.post("/api/business/journal-entries", &body).expect(201);
    let before = caller.digest();
    repay(&caller, &lent, 11).refused(402, "insufficient_funds");
    assert_eq!(caller.digest(), before);
    repay(&caller, &lent, 10).expect(201);
    caller.audit();
}

#[test]
fn a_repayment_names_a_wallet_of_the_company_and_a_loan_that_is_open() {
    let caller = Caller::instant();
    let lent = lent(&caller, 1_000_000);
    let path = format!("/api/capital/loans/{}/repayments", id(&lent));
    let foreign = wallet(&caller, &caller.company(1));
    let problem = caller.post(&path, &json!({"amount": 1, "wallet_id": id(&foreign)}));
    let problem = problem.refused(422, "validation_failed");
    assert_eq!(problem["errors"][0]["code"], "foreign_wallet");
    let problem = caller.post(&path, &json!({"amount": 1, "wallet_id": "wal_0000000000000"}));
    problem.refused(404, "resource_not_found");
    let none = caller.post(
        "/api/capital/loans/lon_0000000000000/repayments",
        &json!({"amount": 1, "wallet_id": id(&foreign)}),
    );
    none.refused(404, "resource_not_found");
    for amount in [json!(0), json!(-5), json!(i64::MAX), json!(1_000_000_000_000_001_i64)] {
        let body = json!({"amount": amount, "wallet_id": lent["wallet_id"]});
        caller.post(&path, &body).refused(422, "validation_failed");
    }
    let beyond = json!({"amount": 1_000_000_000_000_000_i64, "wallet_id": lent["wallet_id"]});
    let problem = caller.post(&path, &beyond).refused(422, "validation_failed");
    assert_eq!(problem["errors"][0]["code"], "beyond_balance");
}

#[test]
fn a_loan_that_is_not_paid_out_is_not_repaid() {
    let caller = Caller::manual();
    let company = caller.company(0);
    let made = ask(&caller, &company, 1_000, "approved").expect(201)["data"].take();
    caller.advance(&json!({"by": "7d"}));
    let offer = offer(&caller, &super::application(&caller, id(&made)));
    let own = wallet(&caller, &company);
    let body = json!({"decision": "accept", "wallet_id": id(&own)});
    let taken = respond(&caller, &offer, &body).expect(200);
    let waiting = json!({"id": taken["data"]["loan_id"], "wallet_id": id(&own)});
    let problem = repay(&caller, &waiting, 1).refused(409, "invalid_state_transition");
    assert_eq!(
        (&problem["current"], &problem["allowed"]),
        (&json!("pending_disbursement"), &json!(["active"]))
    );
}

#[test]
fn currencies_without_a_reference_rate_are_refused() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let body =
        json!({"company_id": company, "target_amount": 1, "currency": "PLN", "line": "health"});
    let mut readiness = body.clone();
    readiness.as_object_mut().unwrap().remove("line");
    let path = "/api/capital/readiness-assessments";
    caller.post(path, &readiness).refused(422, "currency_mismatch");
    let mut risk = body;
    risk.as_object_mut().unwrap().remove("target_amount");
    let path = "/api/capital/insurance-risk-scores";
    caller.post(path, &risk).refused(422, "currency_mismatch");
}

#[test]
fn a_newcomer_is_assessed_and_insured_without_history() {
    let caller = Caller::instant();
    let company = newcomer(&caller);
    let made = caller.post(
        "/api/capital/insurance-risk-scores",
        &json!({"company_id": company, "line": "property"}),
    );
    let made = made.expect(202)["data"].take();
    let path = format!("/api/capital/insurance-risk-scores/{}", id(&made));
    let risk = caller.get(&path).data();
    assert_eq!((&risk["sum_insured"], &risk["indicative_premium"]), (&json!(0), &json!(0)));
}
