//! Deals: guards that list missing requirements, money that arrives once, and replies of investors.

mod investors;

use serde_json::{Value, json};

use super::{moved, net, newcomer, wallet};
use crate::harness::contract::product;
use crate::harness::http::pointers;
use crate::harness::world::{id, number};
use crate::harness::{Answer, Caller};

pub(super) const DEALS: &str = "/api/capital/deals";
const UNKNOWN: &str = "del_0000000000000";

/// The body of a new deal of a company.
fn body(company: &str, instrument: &str) -> Value {
    json!({"company_id": company, "name": "Seed round", "instrument": instrument, "target_amount": 500_000_000, "currency": "NGN",
        "investor": {"name": "Palm Ventures"}})
}

/// A new deal of the first company.
#[track_caller]
pub(super) fn made(caller: &Caller, instrument: &str) -> Value {
    let body = body(&caller.company(0), instrument);
    caller.post(DEALS, &body).expect(201)["data"].take()
}

fn read(caller: &Caller, deal: &Value) -> Value {
    caller.get(&format!("{DEALS}/{}", id(deal))).data()
}

fn advance(caller: &Caller, deal: &Value, body: &Value) -> Answer {
    caller.post(&format!("{DEALS}/{}/advance", id(deal)), body)
}

pub(super) fn close(caller: &Caller, deal: &Value, body: &Value) -> Answer {
    caller.post(&format!("{DEALS}/{}/close", id(deal)), body)
}

/// Verifies the business of a company.
#[track_caller]
fn verify(caller: &Caller, company: &str) -> Value {
    let subject = json!({"type": "business", "legal_name": "Palm Foods Ltd", "country": "NG", "company_id": company});
    let subject = caller.post("/api/identity/subjects", &subject).expect(201)["data"].take();
    let case = json!({"subject_id": id(&subject), "type": "kyb", "level": "basic"});
    let case = caller.post("/api/identity/verifications", &case).expect(201)["data"].take();
    let path = format!("/api/identity/verifications/{}/submit", id(&case));
    caller.post(&path, &json!({"consent": true})).expect(202);
    subject
}

fn assess(caller: &Caller, company: &str) {
    let path = "/api/capital/readiness-assessments";
    caller.post(path, &json!({"company_id": company})).expect(202);
}

/// Moves a deal to a stage by manual transition.
fn at_stage(caller: &Caller, deal: &Value, stage: &str) {
    for next in ["screening", "due_diligence", "term_sheet", "closing"] {
        if read(caller, deal)["stage"] == stage {
            return;
        }
        moved(caller, id(deal), next).expect(200);
    }
}

fn guards(problem: &Value) -> Vec<&str> {
    let errors = problem["errors"].as_array().unwrap().iter();
    errors.map(|error| error["code"].as_str().unwrap()).collect()
}

fn names(caller: &Caller) -> Vec<String> {
    let events = caller.events();
    let names = events.iter().map(|event| event["type"].as_str().unwrap());
    names.map(str::to_owned).collect()
}

#[test]
fn a_deal_that_passes_every_guard_funds_the_wallet() {
    for (instrument, account, template) in [
        ("equity", "owner_equity", "standard"),
        ("safe", "owner_equity", "lite"),
        ("debt", "loans_payable", "credit"),
        ("revenue_share", "loans_payable", "credit"),
    ] {
        let caller = Caller::instant();
        let company = caller.company(0);
        let deal = made(&caller, instrument);
        assert_eq!((&deal["status"], &deal["stage"]), (&json!("open"), &json!("sourced")));
        verify(&caller, &company);
        assess(&caller, &company);
        let note = json!({"to_stage": "screening", "note": "A first call went well"});
        let at = advance(&caller, &deal, &note).expect(200)["data"].take();
        assert_eq!(at["stage_history"][1]["note"], "A first call went well");
        let at = advance(&caller, &deal, &json!({})).expect(200)["data"].take();
        let case = at["due_diligence_case_id"].as_str().unwrap();
        let path = format!("/api/capital/due-diligence-cases/{case}");
        let opened = caller.get(&path).data();
        assert_eq!((&opened["template"], &opened["deal_id"]), (&json!(template), &deal["id"]));
        moved(&caller, case, "completed").expect(200);
        advance(&caller, &deal, &json!({})).expect(200);
        let at = advance(&caller, &deal, &json!({"to_stage": "closing"})).expect(200);
        assert_eq!(at["data"]["stage"], "closing");
        let (before, owed) = (wallet(&caller, &company), net(&caller, &company, account));
        let body = json!({"outcome": "won", "amount": 450_000_001, "reason": "Signed"});
        let won = close(&caller, &deal, &body).expect(200)["data"].take();
        assert_eq!((&won["status"], &won["amount"]), (&json!("won"), &json!(450_000_001)));
        assert_eq!(won["wallet_id"], before["id"]);
        assert_eq!(won["status_history"][1]["reason"], "Signed");
        assert_eq!(won["stage_history"].as_array().unwrap().len(), 5);
        let after = wallet(&caller, &company);
        assert_eq!(number(&after["available"]) - number(&before["available"]), 450_000_001);
        assert_eq!(net(&caller, &company, account) - owed, -450_000_001, "{instrument}");
        let events = names(&caller);
        assert_eq!(events[events.len() - 2..], ["deal.won", "wallet.credited"]);
        let entries =
            format!("/api/business/journal-entries?company_id={company}&source_id={}", id(&deal));
        let entries = caller.all(&entries);
        assert_eq!((entries.len(), &entries[0]["source"]["type"]), (1, &json!("deal")));
        caller.audit();
    }
}

#[test]
fn every_guard_that_is_not_met_is_named_with_what_meets_it() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let deal = made(&caller, "equity");
    let problem = advance(&caller, &deal, &json!({})).refused(409, "stage_guard_failed");
    assert_eq!(guards(&problem), ["kyb_approved"]);
    assert_eq!((&problem["current"], &problem["resource_id"]), (&json!("sourced"), &deal["id"]));
    at_stage(&caller, &deal, "term_sheet");
    let all = ["kyb_approved", "due_diligence_completed", "readiness"];
    let before = caller.digest();
    let problem = advance(&caller, &deal, &json!({})).refused(409, "stage_guard_failed");
    assert_eq!(guards(&problem), all);
    assert_eq!(caller.digest(), before);
    let document = serde_json::to_string(&product()["paths"]).unwrap();
    let named = ["submitVerification", "reviewDueDiligenceRequest", "createReadinessAssessment"];
    for (error, operation) in problem["errors"].as_array().unwrap().iter().zip(named) {
        let detail = error["detail"].as_str().unwrap();
        assert!(detail.contains(operation), "{detail}");
        assert!(document.contains(&format!("\"operationId\":\"{operation}\"")));
    }
    let subject = verify(&caller, &company);
    let problem = advance(&caller, &deal, &json!({})).refused(409, "stage_guard_failed");
    assert_eq!(guards(&problem), all[1..]);
    let case = read(&caller, &deal)["due_diligence_case_id"].clone();
    moved(&caller, case.as_str().unwrap(), "completed").expect(200);
    let problem = advance(&caller, &deal, &json!({})).refused(409, "stage_guard_failed");
    assert_eq!(guards(&problem), all[2..]);
    assess(&caller, &company);
    // A met guard can fail again: a new name requires a new verification.
    let path = format!("/api/identity/subjects/{}", id(&subject));
    caller.patch(&path, &json!({"legal_name": "Palm Foods and Sons Ltd"})).expect(200);
    let problem = advance(&caller, &deal, &json!({})).refused(409, "stage_guard_failed");
    assert_eq!(guards(&problem), all[..1]);
    verify(&caller, &company);
    let at = advance(&caller, &deal, &json!({})).expect(200);
    assert_eq!(at["data"]["stage"], "closing");
}

#[test]
fn a_refusal_for_readiness_names_the_score_and_the_minimum() {
    let caller = Caller::instant();
    let company = newcomer(&caller);
    let deal = caller.post(DEALS, &body(&company, "debt")).expect(201)["data"].take();
    verify(&caller, &company);
    at_stage(&caller, &deal, "term_sheet");
    let case = read(&caller, &deal)["due_diligence_case_id"].clone();
    moved(&caller, case.as_str().unwrap(), "completed").expect(200);
    assess(&caller, &company);
    let problem = advance(&caller, &deal, &json!({})).refused(409, "stage_guard_failed");
    assert_eq!(guards(&problem), ["readiness"]);
    let detail = problem["errors"][0]["detail"].as_str().unwrap();
    assert!(detail.contains("60 is required"), "{detail}");
}

#[test]
fn a_confirmed_alert_of_the_company_ends_what_may_become_of_a_deal() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let deal = made(&caller, "equity");
    verify(&caller, &company);
    let owner = json!({"type": "person", "name": {"first": "Ada", "last": "Sanctioned"}, "country": "NG", "company_id": company});
    let owner = caller.post("/api/identity/subjects", &owner).expect(201)["data"].take();
    let asked = caller.post("/api/identity/aml-screenings", &json!({"subject_id": owner["id"]}));
    asked.expect(202);
    at_stage(&caller, &deal, "due_diligence");
    let guarded = || {
        let problem = advance(&caller, &deal, &json!({})).refused(409, "stage_guard_failed");
        guards(&problem).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(guarded(), ["due_diligence_completed"]);
    let alert =
        caller.all(&format!("/api/identity/aml-alerts?subject_id={}", id(&owner))).remove(0);
    let body = json!({"resolution": "true_positive", "note": "It is her"});
    caller.post(&format!("/api/identity/aml-alerts/{}/resolve", id(&alert)), &body).expect(200);
    assert_eq!(guarded(), ["aml_clear", "due_diligence_completed"]);
}

#[test]
fn a_stage_is_neither_skipped_nor_entered_twice() {
    let caller = Caller::instant();
    verify(&caller, &caller.company(0));
    let deal = made(&caller, "equity");
    for stage in ["sourced", "due_diligence", "term_sheet", "closing"] {
        let problem = advance(&caller, &deal, &json!({"to_stage": stage}));
        let problem = problem.refused(409, "invalid_state_transition");
        assert_eq!(
            (&problem["current"], &problem["allowed"]),
            (&json!("sourced"), &json!(["screening"]))
        );
    }
    at_stage(&caller, &deal, "closing");
    for body in [json!({}), json!({"to_stage": "closing"})] {
        let problem = advance(&caller, &deal, &body).refused(409, "invalid_state_transition");
        assert_eq!((&problem["current"], &problem["allowed"]), (&json!("closing"), &json!([])));
    }
    let path = format!("{DEALS}/{UNKNOWN}/advance");
    caller.post(&path, &json!({})).refused(404, "resource_not_found");
}

#[test]
fn a_deal_ends_once_and_is_won_from_the_last_stage_alone() {
    let caller = Caller::instant();
    let won = json!({"outcome": "won", "amount": 1});
    for (place, outcome) in ["lost", "withdrawn", "lost", "withdrawn"].into_iter().enumerate() {
        let deal = made(&caller, "safe");
        let stage = ["sourced", "screening", "due_diligence", "term_sheet"][place];
        at_stage(&caller, &deal, stage);
        let before = caller.digest();
        let problem = close(&caller, &deal, &won).refused(409, "invalid_state_transition");
        assert_eq!(problem["current"], stage);
        assert_eq!(caller.digest(), before);
        let body = json!({"outcome": outcome, "reason": "Too early"});
        let ended = close(&caller, &deal, &body).expect(200)["data"].take();
        assert_eq!((&ended["status"], &ended["stage"]), (&json!(outcome), &json!(stage)));
        assert_eq!((&ended["amount"], &ended["wallet_id"]), (&Value::Null, &Value::Null));
        assert_eq!(ended["status_history"][1]["reason"], "Too early");
        for again in [&won, &json!({"outcome": "lost"}), &json!({"outcome": "withdrawn"})] {
            let problem = close(&caller, &deal, again).refused(409, "invalid_state_transition");
            assert_eq!((&problem["current"], &problem["allowed"]), (&json!(outcome), &json!([])));
        }
        let problem = advance(&caller, &deal, &json!({}));
        problem.refused(409, "invalid_state_transition");
    }
    let deal = made(&caller, "safe");
    at_stage(&caller, &deal, "closing");
    close(&caller, &deal, &won).expect(200);
    close(&caller, &deal, &won).refused(409, "invalid_state_transition");
    let path = format!("{DEALS}/{UNKNOWN}/close");
    caller.post(&path, &won).refused(404, "resource_not_found");
    caller.audit();
}

#[test]
fn invalid_amounts_of_a_deal_are_refused_without_a_change() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let deal = made(&caller, "equity");
    at_stage(&caller, &deal, "closing");
    let before = caller.digest();
    for amount in [
        json!(0),
        json!(-1),
        json!(1_000_000_000_000_001_i64),
        json!(i64::MAX),
        json!(u64::MAX),
        json!(1.5),
    ] {
        let problem = close(&caller, &deal, &json!({"outcome": "won", "amount": amount}));
        let problem = problem.refused(422, "validation_failed");
        assert_eq!(pointers(&problem), ["/amount"]);
    }
    let problem =
        close(&caller, &deal, &json!({"outcome": "won"})).refused(422, "validation_failed");
    assert_eq!(problem["errors"][0]["code"], "required");
    for outcome in ["lost", "withdrawn"] {
        let problem = close(&caller, &deal, &json!({"outcome": outcome, "amount": 1}));
        let problem = problem.refused(422, "validation_failed");
        assert_eq!(problem["errors"][0]["code"], "not_taken");
    }
    assert_eq!(caller.digest(), before);
    // A full wallet accepts no more money, by call or by manual transition.
    let most = json!({"company_id": company, "amount": 1_000_000_000_000_000_i64});
    for _ in 0..9 {
        caller.post("/_sandbox/inbound/bank_transfer", &most).expect(200);
    }
    let before = caller.digest();
    let problem =
        close(&caller, &deal, &json!({"outcome": "won", "amount": 1_000_000_000_000_000_i64}));
    let problem = problem.refused(402, "limit_exceeded");
    assert_eq!(problem["resource_id"], wallet(&caller, &company)["id"]);
    assert_eq!(caller.digest(), before);
    let won = close(&caller, &deal, &json!({"outcome": "won", "amount": 1})).expect(200);
    assert_eq!(won["data"]["amount"], 1);
    caller.audit();
}

#[test]
fn a_company_that_may_not_pay_receives_no_deal_money() {
    let caller = Caller::instant();
    let won = json!({"outcome": "won", "amount": 1});
    let fresh = json!({"legal_name": "Lagos Bakery Ltd", "country": "NG", "currency": "NGN"});
    let fresh = caller.post("/api/business/companies", &fresh).expect(201);
    let deal = caller.post(DEALS, &body(id(&fresh["data"]), "equity")).expect(201);
    at_stage(&caller, &deal["data"], "closing");
    close(&caller, &deal["data"], &won).refused(403, "compliance_blocked");
    let deal = made(&caller, "equity");
    at_stage(&caller, &deal, "closing");
    moved(&caller, &caller.company(0), "suspended").expect(200);
    close(&caller, &deal, &won).refused(403, "company_suspended");
    close(&caller, &deal, &json!({"outcome": "lost"})).expect(200);
}

#[test]
fn a_new_deal_is_of_a_company_in_a_currency_of_its_wallets() {
    let caller = Caller::instant();
    let right = body(&caller.company(0), "equity");
    let refused = |member: &str, value: Value, status, code| {
        let mut wrong = right.clone();
        wrong[member] = value;
        let before = caller.digest();
        let problem = caller.post(DEALS, &wrong).refused(status, code);
        assert_eq!(pointers(&problem), [format!("/{member}")]);
        assert_eq!(caller.digest(), before);
    };
    refused("company_id", json!("com_0000000000000"), 404, "resource_not_found");
    refused("currency", json!("JPY"), 422, "currency_mismatch");
    refused("expected_close_on", json!("2025-12-31"), 422, "validation_failed");
    for amount in
        [json!(0), json!(-1), json!(1_000_000_000_000_001_i64), json!(i64::MAX), json!(u64::MAX)]
    {
        refused("target_amount", amount, 422, "validation_failed");
    }
    for amount in [1, 1_000_000_000_000_000_i64] {
        let mut edge = right.clone();
        edge["target_amount"] = amount.into();
        caller.post(DEALS, &edge).expect(201);
    }
}

#[test]
fn a_pipeline_is_filtered_by_company_stage_status_and_investor() {
    let caller = Caller::instant();
    let (first, second) = (made(&caller, "equity"), made(&caller, "debt"));
    let mut other = body(&newcomer(&caller), "safe");
    other["investor"] = json!({"name": "PALM ventures"});
    let third = caller.post(DEALS, &other).expect(201)["data"].take();
    other["investor"] = json!({"name": "Harbour Capital"});
    let fourth = caller.post(DEALS, &other).expect(201)["data"].take();
    at_stage(&caller, &second, "screening");
    close(&caller, &third, &json!({"outcome": "lost"})).expect(200);
    let ids = |query: String| -> Vec<String> {
        let rows = caller.all(&format!("{DEALS}?{query}"));
        rows.iter().map(|row| id(row).to_owned()).collect()
    };
    let investor = first["investor"]["id"].as_str().unwrap();
    assert_eq!(first["investor"]["id"], third["investor"]["id"]);
    assert_ne!(first["investor"]["id"], fourth["investor"]["id"]);
    assert_eq!(ids(format!("investor_id={investor}")), [id(&first), id(&second), id(&third)]);
    assert_eq!(ids(format!("investor_id={investor}&status=lost")), [id(&third)]);
    assert_eq!(ids("stage=screening".to_owned()), [id(&second)]);
    assert_eq!(ids("status=open".to_owned()), [id(&first), id(&second), id(&fourth)]);
    let company = caller.company(0);
    assert_eq!(ids(format!("company_id={company}&sort=-created_at")), [id(&second), id(&first)]);
    assert_eq!(ids("investor_id=nobody".to_owned()), [""; 0]);
}

#[test]
fn manual_transitions_of_a_deal_skip_its_guards_but_follow_its_lifecycle() {
    let caller = Caller::instant();
    let deal = made(&caller, "equity");
    let before = wallet(&caller, &caller.company(0));
    for to in ["won", "closing", "nowhere", "sourced"] {
        let problem = moved(&caller, id(&deal), to).refused(409, "invalid_state_transition");
        assert_eq!(problem["allowed"], json!(["screening", "lost", "withdrawn"]));
    }
    at_stage(&caller, &deal, "closing");
    assert!(read(&caller, &deal)["due_diligence_case_id"].is_string());
    let problem = moved(&caller, id(&deal), "closing").refused(409, "invalid_state_transition");
    assert_eq!(problem["allowed"], json!(["won", "lost", "withdrawn"]));
    let won = moved(&caller, id(&deal), "won").expect(200);
    assert_eq!(won["data"]["amount"], 500_000_000, "{won}");
    let after = wallet(&caller, &caller.company(0));
    assert_eq!(number(&after["available"]) - number(&before["available"]), 500_000_000);
    let problem = moved(&caller, id(&deal), "lost").refused(409, "invalid_state_transition");
    assert_eq!((&problem["current"], &problem["allowed"]), (&json!("won"), &json!([])));
    for end in ["lost", "withdrawn"] {
        let deal = made(&caller, "equity");
        moved(&caller, id(&deal), end).expect(200);
        assert_eq!(read(&caller, &deal)["status"], end);
    }
    caller.audit();
}
