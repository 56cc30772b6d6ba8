//! The decisions of the underwriter, and the ends of offers.

use serde_json::{Value, json};

use super::{
    APPLICATIONS, application, ask, decided, lent, loan, moved, newcomer, offer, respond, score,
    sell, wallet,
};
use crate::harness::Caller;
use crate::harness::world::{id, number};

/// Codes of the reasons of a decision.
fn reasons(application: &Value) -> Vec<&str> {
    let reasons = application["decision"]["reasons"].as_array().unwrap();
    reasons.iter().map(|reason| reason["code"].as_str().unwrap()).collect()
}

/// Statuses that a resource had.
fn history(resource: &Value) -> Vec<&str> {
    let history = resource["status_history"].as_array().unwrap();
    history.iter().map(|change| change["status"].as_str().unwrap()).collect()
}

#[test]
fn an_underwriter_decides_a_business_day_later_by_a_fresh_score() {
    let caller = Caller::manual();
    let company = caller.company(0);
    let made = ask(&caller, &company, 50_000_000, "by_score").expect(201);
    let made = &made["data"];
    assert_eq!(caller.advance(&json!({"by": "1m"})), ["application.under_review"]);
    let came = caller.advance(&json!({"by": "6d"}));
    assert_eq!(came, ["credit_score.completed", "application.approved", "offer.created"]);
    let done = application(&caller, id(made));
    assert_eq!(history(&done), ["submitted", "under_review", "approved"]);
    assert_eq!(reasons(&done), ["score_sufficient"]);
    let seen = done["decision"]["credit_score_id"].as_str().unwrap();
    let seen = caller.get(&format!("/api/capital/credit-scores/{seen}")).data();
    assert_eq!(seen["status"], "completed");
    let offer = offer(&caller, &done);
    assert_eq!(offer["id"], done["offer_id"]);
    assert_eq!((&offer["amount"], &offer["status"]), (&json!(50_000_000), &json!("pending")));
    assert!(number(&offer["total_repayable"]) > 50_000_000);
    caller.audit();
}

#[test]
fn an_offer_is_limited_by_the_sales() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let whole = decided(&caller, &company, 1_000_000_000_000_000, "by_score");
    assert_eq!(whole["status"], "approved");
    assert_eq!(reasons(&whole), ["score_sufficient", "amount_reduced"]);
    let first = offer(&caller, &whole);
    assert!(number(&first["amount"]) < 1_000_000_000_000_000);
    let body = json!({"decision": "accept", "wallet_id": id(&wallet(&caller, &company))});
    respond(&caller, &first, &body).expect(200);
    // The current debt reaches the limit.
    let more = decided(&caller, &company, 100_000, "by_score");
    assert_eq!((more["status"].as_str(), reasons(&more)), (Some("rejected"), vec!["no_capacity"]));
}

#[test]
fn open_offers_count_as_debt() {
    let caller = Caller::manual();
    let company = caller.company(0);
    let huge = 1_000_000_000_000_000;
    let asked = [0, 1].map(|_| ask(&caller, &company, huge, "by_score").made());
    caller.advance(&json!({"by": "5d"}));
    let [first, second] = asked.each_ref().map(|one| application(&caller, id(one)));
    assert_eq!(reasons(&first), ["score_sufficient", "amount_reduced"]);
    assert_eq!(reasons(&second), ["no_capacity"]);
    // Nor later. A declined offer frees its amount.
    let made = offer(&caller, &first);
    let body = json!({"decision": "accept", "wallet_id": id(&wallet(&caller, &company))});
    let mut third = ask(&caller, &company, huge, "by_score").made();
    caller.advance(&json!({"by": "2d"}));
    third = application(&caller, id(&third));
    assert_eq!(reasons(&third), ["no_capacity"]);
    respond(&caller, &made, &json!({"decision": "decline"})).expect(200);
    respond(&caller, &made, &body).refused(409, "invalid_state_transition");
    let fourth = ask(&caller, &company, huge, "by_score").made();
    caller.advance(&json!({"by": "2d"}));
    let fourth = application(&caller, id(&fourth));
    assert_eq!(reasons(&fourth), ["score_sufficient", "amount_reduced"]);
}

#[test]
fn a_company_that_is_suspended_meanwhile_is_refused() {
    let caller = Caller::manual();
    let company = caller.company(0);
    let asked = ask(&caller, &company, 100_000, "approved").made();
    moved(&caller, &company, "suspended").expect(200);
    caller.advance(&json!({"by": "5d"}));
    let done = application(&caller, id(&asked));
    assert_eq!(
        (done["status"].as_str(), reasons(&done)),
        (Some("rejected"), vec!["company_not_active"])
    );
}

#[test]
fn a_rejection_for_history_or_score_has_reasons() {
    let caller = Caller::instant();
    let company = newcomer(&caller);
    let early = decided(&caller, &company, 100_000, "by_score");
    assert_eq!(early["status"], "rejected");
    assert_eq!(reasons(&early), ["insufficient_data"]);
    sell(&caller, &company, 100).expect(200);
    caller.advance(&json!({"by": "31d"}));
    let body = json!({"company_id": company, "effective_on": "2026-01-31", "memo": "Losses", "lines": [
        {"account": "wages", "direction": "debit", "amount": 90_000, "currency": "NGN"},
        {"account": "wages_payable", "direction": "credit", "amount": 90_000, "currency": "NGN"}]});
    caller.post("/api/business/journal-entries", &body).expect(201);
    let poor = score(&caller, &company);
    assert_eq!(poor["band"], "poor", "{poor}");
    let late = decided(&caller, &company, 100_000, "by_score");
    assert_eq!(reasons(&late), ["score_too_low"]);
    assert_eq!(late["status_history"][2]["reason"], late["decision"]["reasons"][0]["detail"]);
}

#[test]
fn an_overdue_tax_rejects_a_loan_despite_the_underwriter() {
    let caller = Caller::instant();
    let company = caller.company(0);
    caller.run_payroll(&company, "2026-01");
    caller.advance(&json!({"to": "2026-02-25T12:00:00Z"}));
    let asked = decided(&caller, &company, 100_000, "approved");
    assert_eq!(asked["status"], "rejected");
    assert_eq!(reasons(&asked), ["overdue_filings"]);
    assert!(asked["offer_id"].is_null());
}

#[test]
fn the_underwriter_may_refuse_with_any_score() {
    let caller = Caller::instant();
    let asked = decided(&caller, &caller.company(0), 100_000, "rejected");
    assert_eq!(asked["status"], "rejected");
    assert_eq!(reasons(&asked), ["underwriter_decision"]);
}

#[test]
fn a_new_score_is_the_information_that_was_requested() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let asked = decided(&caller, &company, 100_000, "information_requested");
    assert_eq!(asked["status"], "information_requested");
    assert_eq!(reasons(&asked), ["fresh_score_needed"]);
    assert!(asked["information_requested"][0].as_str().unwrap().contains("createCreditScore"));
    score(&caller, &caller.company(1));
    assert_eq!(application(&caller, id(&asked))["status"], "information_requested");
    score(&caller, &company);
    let done = application(&caller, id(&asked));
    assert_eq!(
        history(&done),
        ["submitted", "under_review", "information_requested", "under_review", "approved"]
    );
    assert_eq!(
        (&done["information_requested"], &done["information_due_by"]),
        (&json!([]), &Value::Null)
    );
    // The day of its withdrawal has no effect any more.
    caller.advance(&json!({"by": "20d"}));
    assert_eq!(application(&caller, id(&asked))["status"], "approved");
}

#[test]
fn without_the_information_an_application_is_withdrawn_after_two_weeks() {
    let caller = Caller::instant();
    let asked = decided(&caller, &caller.company(0), 100_000, "information_requested");
    assert!(!caller.advance(&json!({"by": "335h"})).contains(&"application.withdrawn".to_owned()));
    let came = caller.advance(&json!({"by": "1h"}));
    assert!(came.contains(&"application.withdrawn".to_owned()), "{came:?}");
    assert_eq!(application(&caller, id(&asked))["status"], "withdrawn");
}

#[test]
fn an_offer_expires_after_two_weeks() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let made = offer(&caller, &decided(&caller, &company, 100_000, "approved"));
    let came = caller.advance(&json!({"by": "14d"}));
    assert!(came.contains(&"offer.expired".to_owned()), "{came:?}");
    let body = json!({"decision": "accept", "wallet_id": id(&wallet(&caller, &company))});
    let problem = respond(&caller, &made, &body).refused(409, "invalid_state_transition");
    assert_eq!((&problem["current"], &problem["allowed"]), (&json!("expired"), &json!([])));
}

#[test]
fn an_offer_is_declined_once() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let made = offer(&caller, &decided(&caller, &company, 100_000, "approved"));
    let declined = respond(&caller, &made, &json!({"decision": "decline"})).expect(200);
    assert_eq!(declined["data"]["status"], "declined");
    assert!(declined["data"]["loan_id"].is_null());
    let again = respond(&caller, &made, &json!({"decision": "decline"}));
    again.refused(409, "invalid_state_transition");
    assert!(caller.all("/api/capital/loans").is_empty());
    let path = format!("{APPLICATIONS}/{}/offers", made["application_id"].as_str().unwrap());
    assert_eq!(caller.all(&format!("{path}?status=pending")).len(), 0);
    assert_eq!(caller.all(&format!("{path}?status=declined")).len(), 1);
}

#[test]
fn an_offer_is_accepted_once_and_makes_one_loan() {
    let caller = Caller::instant();
    let lent = lent(&caller, 1_000_000);
    let made = json!({"id": lent["offer_id"]});
    let body = json!({"decision": "accept", "wallet_id": lent["wallet_id"]});
    let problem = respond(&caller, &made, &body).refused(409, "invalid_state_transition");
    assert_eq!(problem["current"], "accepted");
    assert_eq!(caller.all("/api/capital/loans").len(), 1);
    assert_eq!(loan(&caller, id(&lent))["status"], "active");
}

#[test]
fn applications_and_loans_are_filtered() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let lent = lent(&caller, 1_000_000);
    decided(&caller, &company, 2_000_000, "rejected");
    let count = |query: &str| caller.all(&format!("{APPLICATIONS}?{query}")).len();
    assert_eq!(count("status=approved"), 1);
    assert_eq!(count(&format!("company_id={company}&status=rejected")), 1);
    assert_eq!(count(&format!("company_id={}", caller.company(1))), 0);
    assert_eq!(count("product=payroll_bridge"), 0);
    let sorted = caller.all(&format!("{APPLICATIONS}?sort=-amount"));
    assert_eq!(sorted[0]["amount"], 2_000_000);
    let loans = |query: &str| caller.all(&format!("/api/capital/loans?{query}")).len();
    assert_eq!((loans("status=active"), loans("status=repaid")), (1, 0));
    assert_eq!(loans(&format!("company_id={}", lent["company_id"].as_str().unwrap())), 1);
}
