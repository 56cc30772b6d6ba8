//! Capital: scores that a test calculates again, an underwriter, offers and loans.

mod applications;
mod by_hand;
mod deals;
mod due_diligence;
mod loans;
mod metamorphic;
mod readiness;
mod refusals;
mod repaid;
mod scores;
mod worked;

use serde_json::{Value, json};

use crate::harness::world::{id, number};
use crate::harness::{Answer, Caller};

const SCORES: &str = "/api/capital/credit-scores";
const APPLICATIONS: &str = "/api/capital/applications";

/// A completed score of a company.
#[track_caller]
fn score(caller: &Caller, company: &str) -> Value {
    let made = caller.post(SCORES, &json!({"company_id": company}));
    let made = made.expect(202)["data"].take();
    assert_eq!(made["status"], "processing");
    caller.get(&format!("{SCORES}/{}", id(&made))).data()
}

/// Submits the returns that were open when the world began.
fn file_pending(caller: &Caller, company: &str) {
    let path = "/api/business/tax-filings";
    for filing in caller.all(&format!("{path}?company_id={company}&status=pending")) {
        let submit = format!("{path}/{}/submit", id(&filing));
        caller.post(&submit, &json!({"declaration": "Ada Obi"})).expect(202);
    }
}

/// The value and the points of a factor of a score.
#[track_caller]
fn factor(score: &Value, name: &str) -> (i64, i64) {
    let factors = score["factors"].as_array().unwrap();
    let found = factors.iter().find(|factor| factor["name"] == name);
    let found = found.unwrap_or_else(|| panic!("no factor {name} in {score}"));
    (number(&found["value"]), number(&found["points"]))
}

/// The company's first wallet.
fn wallet(caller: &Caller, company: &str) -> Value {
    let path = format!("/api/payments/wallets?company_id={company}");
    caller.all(&path).remove(0)
}

/// Applies for a term loan of a year in the first company's currency, with this answer of the underwriter.
fn ask(caller: &Caller, company: &str, amount: i64, reply: &str) -> Answer {
    let body = json!({"company_id": company, "product": "term_loan", "amount": amount, "currency": "NGN", "term_months": 12});
    let header = format!("underwriter.reply={reply}");
    let request = caller.request("POST", APPLICATIONS).header("Sandbox-Scenario", &header);
    caller.send(&request.json(&body))
}

/// A settled application in an instant world.
#[track_caller]
fn decided(caller: &Caller, company: &str, amount: i64, reply: &str) -> Value {
    let made = ask(caller, company, amount, reply).expect(201)["data"].take();
    assert_eq!(made["status"], "submitted");
    application(caller, id(&made))
}

fn application(caller: &Caller, id: &str) -> Value {
    caller.get(&format!("{APPLICATIONS}/{id}")).data()
}

/// The offer on an application.
#[track_caller]
fn offer(caller: &Caller, application: &Value) -> Value {
    let path = format!("{APPLICATIONS}/{}/offers", id(application));
    let mut offers = caller.all(&path);
    assert_eq!(offers.len(), 1, "{application}");
    offers.remove(0)
}

fn respond(caller: &Caller, offer: &Value, body: &Value) -> Answer {
    caller.post(&format!("/api/capital/offers/{}/respond", id(offer)), body)
}

/// A disbursed loan of this amount of the first company.
#[track_caller]
fn lent(caller: &Caller, amount: i64) -> Value {
    let company = caller.company(0);
    let application = decided(caller, &company, amount, "approved");
    let offer = offer(caller, &application);
    let wallet = wallet(caller, &company);
    let body = json!({"decision": "accept", "wallet_id": id(&wallet)});
    let taken = respond(caller, &offer, &body).expect(200)["data"].take();
    loan(caller, taken["loan_id"].as_str().unwrap())
}

fn loan(caller: &Caller, id: &str) -> Value {
    caller.get(&format!("/api/capital/loans/{id}")).data()
}

/// Repays an amount of a loan from the first company's wallet.
fn repay(caller: &Caller, loan: &Value, amount: i64) -> Answer {
    let body = json!({"amount": amount, "wallet_id": loan["wallet_id"]});
    caller.post(&format!("/api/capital/loans/{}/repayments", id(loan)), &body)
}

/// Moves a resource along its lifecycle.
fn moved(caller: &Caller, id: &str, to: &str) -> Answer {
    caller.post(&format!("/_sandbox/resources/{id}/transition"), &json!({"to": to}))
}

/// A resource after a manual transition.
#[track_caller]
fn led(caller: &Caller, id: &str, to: &str) -> Value {
    let led = moved(caller, id, to).data();
    assert_eq!(led["status"], to);
    led
}

/// A new company, verified, without history.
fn newcomer(caller: &Caller) -> String {
    let body = json!({"legal_name": "Lagos Bakery Ltd", "country": "NG", "currency": "NGN"});
    let company = caller.post("/api/business/companies", &body).expect(201);
    let company = &company["data"];
    let open = id(&company["blockers"][0]);
    let path = format!("/api/business/compliance-requirements/{open}/resolve");
    let evidence = json!({"evidence": {"value": "RC 1234567"}});
    caller.post(&path, &evidence).expect(200);
    id(company).to_owned()
}

/// A customer pays a company.
fn sell(caller: &Caller, company: &str, amount: i64) -> Answer {
    let body = json!({"company_id": company, "amount": amount, "from": "customer"});
    caller.post("/_sandbox/inbound/bank_transfer", &body)
}

/// Debits less credits of an account of the company.
fn net(caller: &Caller, company: &str, account: &str) -> i64 {
    let day = caller.now();
    let path =
        format!("/api/business/reports/trial-balance?company_id={company}&as_of={}", &day[..10]);
    let balance = caller.get(&path).data();
    let rows = balance["accounts"].as_array().unwrap();
    let row = rows.iter().find(|row| row["account"] == account);
    row.map_or(0, |row| number(&row["debit_balance"]) - number(&row["credit_balance"]))
}
