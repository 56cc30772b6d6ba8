//! From a verified business to a disbursed loan, through all four domains. Every step reads what the earlier
//! ones wrote. Then the same path with a scenario that
//! breaks each of its steps.

use serde_json::{Value, json};

use super::business::{file, hire};
use super::{Path, twice};
use crate::harness::world::{id, number};

const IDENTITY: &str = "/api/identity";
const CAPITAL: &str = "/api/capital";

/// The loan that the bakery applies for.
const WANTED: i64 = 20_000_000;

fn walk() -> Path {
    let mut path = Path::begin();
    let (company, case) = founded(&mut path);
    verified(&mut path, &company, &case);
    let wallet = sold(&mut path, &company);
    assert!(number(&wallet["available"]) > 200_000_000, "{wallet}");
    hire(&mut path, &company, "verified");
    let run = paid(&mut path, &company);
    assert_eq!((&run["status"], &run["settlement"]["paid"]), (&json!("paid"), &json!(3)));
    let payslips = path.get(&format!("/api/business/payslips?payroll_run_id={}", id(&run)));
    assert_eq!(payslips.as_array().unwrap().len(), 3);
    let before = scored(&mut path, &company);
    file(&mut path, &company);
    let profit = path.get(&format!(
        "/api/business/reports/profit-and-loss?company_id={}&from=2026-01-01&to=2026-01-31",
        id(&company)
    ));
    let wages = profit["expenses"].as_array().unwrap();
    let wages = wages.iter().find(|line| line["account"] == "wages");
    assert_eq!(wages.unwrap()["amount"], 60_000_000);
    let after = scored(&mut path, &company);
    assert!(number(&after["score"]) > number(&before["score"]), "filed in time: {before} {after}");
    let application = asked(&mut path, &company);
    assert_eq!(application["status"], "approved");
    let offer = offered(&mut path, &application);
    let held = number(&wallet_of(&mut path, &company)["available"]);
    let accept = json!({"decision": "accept", "wallet_id": wallet["id"]});
    let respond = format!("{CAPITAL}/offers/{}/respond", id(&offer));
    let taken = path.post(200, &respond, &accept);
    path.advance("4d");
    let loan = path.get(&format!("{CAPITAL}/loans/{}", taken["loan_id"].as_str().unwrap()));
    assert_eq!((&loan["status"], &loan["amount"]), (&json!("active"), &offer["amount"]));
    assert_eq!(
        number(&wallet_of(&mut path, &company)["available"]),
        held + number(&loan["amount"]),
        "the loan is in the wallet, and nothing else"
    );
    path.caller.audit();
    path
}

/// A bakery that waits for its verification, and its submitted case.
fn founded(path: &mut Path) -> (Value, String) {
    let company = json!({"legal_name": "Lagos Bakery Ltd", "country": "NG", "currency": "NGN"});
    let company = path.post(201, "/api/business/companies", &company);
    assert_eq!(company["status"], "pending");
    let subject = json!({
        "type": "business", "legal_name": "Lagos Bakery Ltd", "country": "NG", "company_id": company["id"],
        "id_numbers": [{"type": "registration_number", "value": "RC1234567", "country": "NG"}],
    });
    let subject = path.post(201, &format!("{IDENTITY}/subjects"), &subject);
    let document = json!({"type": "cac_certificate", "document_token": "tok_ok"});
    let documents = format!("{IDENTITY}/subjects/{}/documents", id(&subject));
    let document = path.post(201, &documents, &document);
    let case = json!({"subject_id": subject["id"], "type": "kyb", "level": "standard"});
    let case = path.post(201, &format!("{IDENTITY}/verifications"), &case);
    let submit = format!("{IDENTITY}/verifications/{}/submit", id(&case));
    let papers = json!({"document_ids": [document["id"]], "consent": true});
    path.post(202, &submit, &papers);
    path.advance("2m");
    (company, id(&case).to_owned())
}

/// The bureau has approved, and the company is active.
fn verified(path: &mut Path, company: &Value, case: &str) {
    let case = path.get(&format!("{IDENTITY}/verifications/{case}"));
    assert_eq!(case["status"], "approved");
    let company = path.get(&format!("/api/business/companies/{}", id(company)));
    assert_eq!(company["status"], "active");
}

fn wallet_of(path: &mut Path, company: &Value) -> Value {
    let wallets = format!("/api/payments/wallets?company_id={}", id(company));
    path.get(&wallets)[0].clone()
}

/// An invoice is sent, and five days pass for its payment: returns the wallet.
fn sold(path: &mut Path, company: &Value) -> Value {
    let invoice = json!({
        "company_id": company["id"], "customer": {"name": "Harbour Foods", "email": "pay@harbour.example"},
        "currency": "NGN", "due_date": "2026-01-20",
        "lines": [{"description": "Bread for a year", "quantity": 1200, "unit_amount": 250_000}],
    });
    let invoice = path.post(201, "/api/payments/invoices", &invoice);
    let send = format!("/api/payments/invoices/{}/send", id(&invoice));
    path.post(200, &send, &json!({}));
    path.advance("5d");
    wallet_of(path, company)
}

/// January's payroll on the day after its pay date.
fn paid(path: &mut Path, company: &Value) -> Value {
    let run = json!({"company_id": company["id"], "period": "2026-01"});
    let run = path.post(201, "/v1/payroll/run", &run);
    path.caller.advance(&json!({"to": "2026-02-01T12:00:00Z"}));
    path.get(&format!("/api/business/payroll-runs/{}", id(&run)))
}

fn scored(path: &mut Path, company: &Value) -> Value {
    let scores = format!("{CAPITAL}/credit-scores");
    let score = path.post(202, &scores, &json!({"company_id": company["id"]}));
    path.advance("10s");
    path.get(&format!("{scores}/{}", id(&score)))
}

/// An application after the decision of the underwriter.
fn asked(path: &mut Path, company: &Value) -> Value {
    let application = json!({
        "company_id": company["id"], "product": "term_loan", "amount": WANTED, "currency": "NGN", "term_months": 12,
    });
    let applications = format!("{CAPITAL}/applications");
    let application = path.post(201, &applications, &application);
    path.advance("6d");
    path.get(&format!("{applications}/{}", id(&application)))
}

/// The one offer on an application.
fn offered(path: &mut Path, application: &Value) -> Value {
    let offers = path.get(&format!("{CAPITAL}/applications/{}/offers", id(application)));
    assert_eq!(offers.as_array().unwrap().len(), 1, "{offers}");
    offers[0].clone()
}

#[test]
fn the_golden_path_leads_from_a_subject_to_a_loan_twice_in_the_same_bytes() {
    twice(walk);
}

/// The underwriter's decision about an application.
fn reasons(application: &Value) -> Vec<&str> {
    let reasons = application["decision"]["reasons"].as_array().unwrap();
    let codes = reasons.iter().map(|reason| reason["code"].as_str());
    codes.map(Option::unwrap).collect()
}

/// The points of a factor of a score.
fn points(score: &Value, factor: &str) -> i64 {
    let factors = score["factors"].as_array().unwrap();
    let found = factors.iter().find(|one| one["name"] == factor);
    number(&found.unwrap()["points"])
}

#[test]
fn a_declined_business_cannot_pay_or_borrow() {
    let mut path = Path::ruined("[[outcome]]\non = \"bureau.reply\"\nthen = \"declined\"");
    let (company, case) = founded(&mut path);
    let case = path.get(&format!("{IDENTITY}/verifications/{case}"));
    assert_eq!(case["status"], "declined");
    let run = json!({"company_id": company["id"], "period": "2026-01"});
    let application = json!({
        "company_id": company["id"], "product": "term_loan", "amount": WANTED, "currency": "NGN", "term_months": 12,
    });
    for (target, body) in [("/v1/payroll/run", run), ("/api/capital/applications", application)] {
        let answer = path.caller.post(target, &body);
        answer.refused(403, "compliance_blocked");
    }
}

#[test]
fn a_customer_who_never_pays_leaves_the_payroll_without_funds() {
    let mut path = Path::ruined("[[outcome]]\non = \"collection.pay\"\nthen = \"never\"");
    let (company, case) = founded(&mut path);
    verified(&mut path, &company, &case);
    assert_eq!(sold(&mut path, &company)["available"], 0);
    hire(&mut path, &company, "verified");
    let run = paid(&mut path, &company);
    assert_eq!(run["status"], "funding_failed");
    // The company owes wages, and its sales are unpaid. The lender checks its payroll.
    let score = scored(&mut path, &company);
    assert_eq!(points(&score, "payroll_paid"), 0);
}

#[test]
fn an_employee_with_another_persons_account_is_not_paid() {
    let mut path =
        Path::ruined("[[outcome]]\non = \"bank_account.check\"\nthen = \"name_mismatch\"");
    let (company, case) = founded(&mut path);
    verified(&mut path, &company, &case);
    sold(&mut path, &company);
    let people = hire(&mut path, &company, "failed");
    let run = json!({"company_id": company["id"], "period": "2026-01", "employees": people});
    let answer = path.caller.post("/v1/payroll/run", &run);
    answer.refused(422, "employee_not_payable");
}

#[test]
fn a_returned_payout_does_not_issue_its_payslip() {
    let mut path = Path::ruined(
        "[[outcome]]\non = \"payout.settle\"\nnth = 2\nthen = \"returned\"\ncode = \"R03\"",
    );
    let (company, case) = founded(&mut path);
    verified(&mut path, &company, &case);
    sold(&mut path, &company);
    hire(&mut path, &company, "verified");
    let run = paid(&mut path, &company);
    assert_eq!((&run["status"], &run["settlement"]["paid"]), (&json!("partially_paid"), &json!(2)));
    let payslips = path.get(&format!("/api/business/payslips?payroll_run_id={}", id(&run)));
    assert_eq!(payslips.as_array().unwrap().len(), 2);
}

#[test]
fn returns_that_are_rejected_earn_nothing() {
    let mut path = Path::ruined("[[outcome]]\non = \"tax_filing.reply\"\nthen = \"rejected\"");
    let company = solvent(&mut path);
    let before = scored(&mut path, &company);
    let list = format!("/api/business/tax-liabilities?company_id={}", id(&company));
    for liability in path.get(&list).as_array().unwrap() {
        let filing = json!({
            "company_id": company["id"], "tax_type": liability["authority"], "period": "2026-01", "jurisdiction": "NG",
        });
        let filing = path.post(201, "/api/business/tax-filings", &filing);
        let at = format!("/api/business/tax-filings/{}", id(&filing));
        path.post(202, &format!("{at}/submit"), &json!({"declaration": "Ada Obi"}));
        path.advance("5d");
        assert_eq!(path.get(&at)["status"], "rejected");
    }
    let after = scored(&mut path, &company);
    assert_eq!(points(&after, "tax_filed"), points(&before, "tax_filed"));
}

#[test]
fn unpaid_taxes_lower_the_score_and_block_loans() {
    let mut path = Path::begin();
    let company = solvent(&mut path);
    let before = scored(&mut path, &company);
    path.advance("20d");
    let after = scored(&mut path, &company);
    assert!(points(&after, "tax_late") < points(&before, "tax_late"));
    assert!(number(&after["score"]) < number(&before["score"]));
    let application = asked(&mut path, &company);
    assert_eq!(application["status"], "rejected");
    assert_eq!(reasons(&application), ["overdue_filings"]);
}

#[test]
fn a_company_that_has_only_begun_has_no_score_and_no_lender() {
    let mut path = Path::begin();
    let (company, case) = founded(&mut path);
    verified(&mut path, &company, &case);
    sold(&mut path, &company);
    let score = scored(&mut path, &company);
    assert_eq!(score["status"], "failed");
    assert!(score["score"].is_null(), "{score}");
    let application = asked(&mut path, &company);
    assert_eq!(reasons(&application), ["insufficient_data"]);
}

/// The path up to the wages, without faults.
fn solvent(path: &mut Path) -> Value {
    let (company, case) = founded(path);
    verified(path, &company, &case);
    sold(path, &company);
    hire(path, &company, "verified");
    paid(path, &company);
    company
}

/// The path up to the application, without faults.
fn bankable(path: &mut Path) -> Value {
    let company = solvent(path);
    file(path, &company);
    company
}

#[test]
fn an_underwriter_who_refuses_makes_no_offer() {
    let mut path = Path::ruined("[[outcome]]\non = \"underwriter.reply\"\nthen = \"rejected\"");
    let company = bankable(&mut path);
    let application = asked(&mut path, &company);
    assert_eq!(application["status"], "rejected");
    let offers = format!("{CAPITAL}/applications/{}/offers", id(&application));
    assert_eq!(path.get(&offers), json!([]));
}

#[test]
fn an_unanswered_offer_makes_no_loan() {
    let mut path = Path::begin();
    let company = bankable(&mut path);
    let application = asked(&mut path, &company);
    let offer = offered(&mut path, &application);
    let wallet = wallet_of(&mut path, &company);
    path.advance("15d");
    let respond = format!("{CAPITAL}/offers/{}/respond", id(&offer));
    let accept = json!({"decision": "accept", "wallet_id": wallet["id"]});
    let refusal = path.caller.post(&respond, &accept);
    let refusal = refusal.refused(409, "invalid_state_transition");
    assert_eq!(refusal["current"], "expired");
    let loans = format!("{CAPITAL}/loans?company_id={}", id(&company));
    assert_eq!(path.get(&loans), json!([]));
}

#[test]
fn a_confirmed_alert_stops_the_wages_on_their_way() {
    let mut path = Path::begin();
    let (company, case) = founded(&mut path);
    verified(&mut path, &company, &case);
    sold(&mut path, &company);
    hire(&mut path, &company, "verified");
    let case = path.get(&format!("{IDENTITY}/verifications/{case}"));
    let hit = json!({"subject_id": case["subject_id"], "list": "sanctions"});
    path.post(200, "/_sandbox/inbound/watchlist_hit", &hit);
    let screening = json!({"subject_id": case["subject_id"]});
    path.post(202, &format!("{IDENTITY}/aml-screenings"), &screening);
    path.advance("10s");
    let alerts = path.get(&format!("{IDENTITY}/aml-alerts?status=open"));
    let resolve = format!("{IDENTITY}/aml-alerts/{}/resolve", id(&alerts[0]));
    let confirm = json!({"resolution": "true_positive", "note": "It is them"});
    path.post(200, &resolve, &confirm);
    let run = paid(&mut path, &company);
    assert_eq!((&run["status"], &run["settlement"]["paid"]), (&json!("processing"), &json!(0)));
    let payouts =
        path.get(&format!("/api/payments/payouts?company_id={}&status=on_hold", id(&company)));
    assert_eq!(payouts.as_array().unwrap().len(), 3);
}
