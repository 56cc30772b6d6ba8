//! Tax returns: liabilities, filings and payments with both clocks, and those of the months before the
//! world's start.

mod amended;
mod deadlines;
mod forms;
mod repaid;
mod sales_tax;

use serde_json::{Value, json};

use crate::harness::Caller;
use crate::harness::http::Answer;
use crate::harness::world::{id, number};

const FILINGS: &str = "/api/business/tax-filings";

fn prepare(caller: &Caller, company: &str, tax_type: &str) -> Answer {
    let body = json!({
        "company_id": company, "tax_type": tax_type, "period": "2026-01", "jurisdiction": "NG",
    });
    caller.post(FILINGS, &body)
}

fn submit(caller: &Caller, filing: &Value) -> Answer {
    let target = format!("{FILINGS}/{}/submit", id(filing));
    caller.post(&target, &json!({"declaration": "Ada Obi"}))
}

fn filing(caller: &Caller, of: &Value) -> Value {
    caller.get(&format!("{FILINGS}/{}", id(of))).data()
}

fn wallet(caller: &Caller, company: &str, balance: &str) -> i64 {
    let wallets = caller.all(&format!("/api/payments/wallets?company_id={company}"));
    number(&wallets[0][balance])
}

fn owed(caller: &Caller, company: &str, account: &str) -> i64 {
    let accounts = caller.all(&format!("/api/business/ledger-accounts?company_id={company}"));
    let account = accounts.iter().find(|one| one["code"] == account);
    account.map_or(0, |account| number(&account["balance"]))
}

#[test]
fn a_return_pays_what_the_runs_reserved() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let before = owed(&caller, &company, "tax_payable:SIRS");
    caller.run_payroll(&company, "2026-01");
    let owing = format!("/api/business/tax-liabilities?company_id={company}&authority=SIRS");
    let liability = caller.all(&owing).remove(0);
    assert_eq!(owed(&caller, &company, "tax_payable:SIRS") - before, number(&liability["amount"]));
    let prepared = prepare(&caller, &company, "SIRS").expect(201)["data"].take();
    assert_eq!(prepared["status"], "pending");
    assert_eq!(prepared["amount"], liability["amount"]);
    assert_eq!(prepared["due_on"], "2026-02-10");
    assert_eq!(prepared["tax_liability_ids"], json!([liability["id"]]));
    let again = prepare(&caller, &company, "SIRS").expect(422);
    assert_eq!(again["errors"][0]["code"], "nothing_owed");
    assert!(again["detail"].as_str().unwrap().contains("pension"), "{again}");

    let (available, reserved) =
        (wallet(&caller, &company, "available"), wallet(&caller, &company, "reserved"));
    let sent = submit(&caller, &prepared).expect(202)["data"].take();
    assert_eq!(sent["status"], "submitted");
    assert_eq!(sent["amount_paid"], liability["amount"]);
    assert_eq!(wallet(&caller, &company, "available"), available);
    assert_eq!(reserved - wallet(&caller, &company, "reserved"), number(&liability["amount"]));
    assert_eq!(owed(&caller, &company, "tax_payable:SIRS"), before);
    let filed = filing(&caller, &prepared);
    assert_eq!(filed["status"], "filed");
    assert!(filed["acknowledged_at"].is_string());
    let paid = caller.all(&owing).remove(0);
    assert_eq!(paid["status"], "paid");
    assert_eq!(paid["tax_filing_id"], prepared["id"]);
    let twice = submit(&caller, &prepared).expect(409);
    assert_eq!((&twice["current"], &twice["allowed"]), (&json!("filed"), &json!(["amended"])));
    caller.audit();
}

#[test]
fn the_tax_office_answers_with_the_clock() {
    let caller = Caller::manual();
    let company = caller.company(0);
    caller.run_payroll(&company, "2026-01");
    caller.advance(&json!({"until": "idle"}));
    let prepared = prepare(&caller, &company, "pension").expect(201)["data"].take();
    assert_eq!(prepared["form"], "Pension schedule");
    submit(&caller, &prepared).expect(202);
    assert_eq!(filing(&caller, &prepared)["status"], "submitted");
    assert_eq!(caller.advance(&json!({"by": "59m"})), [""; 0]);
    assert_eq!(caller.advance(&json!({"by": "1m"})), ["tax_filing.acknowledged"]);
    assert_eq!(caller.advance(&json!({"by": "1bd"})), [""; 0]);
    assert_eq!(caller.advance(&json!({"by": "1bd"})), ["tax_filing.filed"]);
    assert_eq!(filing(&caller, &prepared)["status"], "filed");
    caller.audit();
}

#[test]
fn a_return_is_blocked_until_its_runs_have_money() {
    let caller = Caller::manual();
    let company = caller.company(0);
    caller.run_payroll(&company, "2026-01");
    caller.advance(&json!({"by": "2s"}));
    let blocked = prepare(&caller, &company, "SIRS").expect(201)["data"].take();
    assert_eq!(blocked["status"], "blocked");
    assert_eq!(blocked["blocked_reasons"].as_array().unwrap().len(), 1);
    let refused = submit(&caller, &blocked).expect(409);
    assert_eq!(refused["current"], "blocked");
    caller.advance(&json!({"until": "idle"}));
    let sent = submit(&caller, &blocked).expect(202)["data"].take();
    assert_eq!(sent["status"], "submitted");
    assert_eq!(sent["blocked_reasons"], json!([]));
    let statuses: Vec<&Value> =
        sent["status_history"].as_array().unwrap().iter().map(|c| &c["status"]).collect();
    assert_eq!(statuses, ["pending", "blocked", "pending", "submitted"]);
    caller.audit();
}

#[test]
fn a_return_whose_run_is_cancelled_declares_nothing_any_more() {
    let caller = Caller::manual();
    let company = caller.company(0);
    let run = caller.run_payroll(&company, "2026-01");
    caller.advance(&json!({"by": "2s"}));
    let blocked = prepare(&caller, &company, "SIRS").expect(201)["data"].take();
    caller.post(&format!("/api/business/payroll-runs/{}/cancel", id(&run)), &json!({})).expect(200);
    let refused = submit(&caller, &blocked).expect(409);
    assert!(refused["detail"].as_str().unwrap().contains("nothing is due"), "{refused}");
    caller.audit();
}

#[test]
fn an_amended_return_pays_nothing_twice() {
    let caller = Caller::instant();
    let company = caller.company(0);
    caller.run_payroll(&company, "2026-01");
    let first = prepare(&caller, &company, "SIRS").expect(201)["data"].take();
    let amend = format!("{FILINGS}/{}/amend", id(&first));
    let early = caller.post(&amend, &json!({"reason": "Typing error"})).expect(409);
    assert_eq!(early["current"], "pending");
    submit(&caller, &first).expect(202);
    let reserved = wallet(&caller, &company, "reserved");
    let second = caller.post(&amend, &json!({"reason": "Typing error"})).expect(201)["data"].take();
    assert_eq!(second["amends"], first["id"]);
    assert_eq!(second["status"], "pending");
    assert_eq!(filing(&caller, &first)["status"], "amended");
    submit(&caller, &second).expect(202);
    assert_eq!(filing(&caller, &second)["status"], "filed");
    assert_eq!(wallet(&caller, &company, "reserved"), reserved);
    caller.audit();
}

#[test]
fn returns_of_the_history_agree_with_the_journal() {
    let caller = Caller::instant();
    for place in 0..3 {
        let company = caller.company(place);
        let filings = caller.all(&format!("{FILINGS}?company_id={company}"));
        assert!(filings.len() >= 12);
        for one in &filings {
            let entries =
                format!("/api/business/journal-entries?company_id={company}&source_id={}", id(one));
            let entries = caller.all(&entries);
            // The tax on bills is deducted before, and no payment.
            let paid = entries.iter().filter(|it| it["memo"] != "Tax on purchases deducted");
            let lines = paid.flat_map(|entry| entry["lines"].as_array().unwrap());
            let signed = |line: &Value| {
                if line["direction"] == "debit" {
                    number(&line["amount"])
                } else {
                    -number(&line["amount"])
                }
            };
            let paid: i64 = lines
                .filter(|line| line["account"].as_str().unwrap().contains("payable"))
                .map(signed)
                .sum();
            assert_eq!(paid, number(&one["amount_paid"]), "{one}");
            let is_sent = one["status"] == "filed";
            assert_eq!(paid, if is_sent { number(&one["amount"]) } else { 0 }, "{one}");
            let is_old = one["period"].as_str().unwrap() < "2025-11";
            assert!(is_sent || !is_old, "{one}");
            assert_eq!(filing(&caller, one), *one);
        }
        assert!(filings.iter().any(|one| one["status"] == "pending"));
    }
}

#[test]
fn the_returns_that_are_open_at_the_start_can_be_sent() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let open = caller.all(&format!("{FILINGS}?company_id={company}&status=pending"));
    let vat = open.iter().filter(|filing| filing["tax_type"] == "vat");
    let vat: i64 = vat.map(|filing| number(&filing["amount"])).sum();
    let available = wallet(&caller, &company, "available");
    assert!(wallet(&caller, &company, "reserved") > 0);
    for filing in &open {
        submit(&caller, filing).expect(202);
    }
    assert_eq!(available - wallet(&caller, &company, "available"), vat);
    assert_eq!(wallet(&caller, &company, "reserved"), 0, "December's withholdings are paid");
    for account in ["tax_payable:SIRS", "tax_payable:vat", "pension_payable"] {
        assert_eq!(owed(&caller, &company, account), 0, "{account}");
    }
    assert!(open.iter().all(|one| filing(&caller, one)["status"] == "filed"));
    caller.audit();
}

#[test]
fn a_return_needs_the_companys_country_and_a_liability() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let body = json!({
        "company_id": company, "tax_type": "SIRS", "period": "2026-01", "jurisdiction": "GB",
    });
    let refused = caller.post(FILINGS, &body).expect(422);
    assert_eq!(refused["errors"][0]["pointer"], "/jurisdiction");
    let refused = prepare(&caller, &company, "SIRS").expect(422);
    assert_eq!(refused["errors"][0]["pointer"], "/tax_type");
}
