//! Reversed runs, and wages that are sent again.

use serde_json::{Value, json};

use super::{RUNS, balances, calculated, draft_of, edit, items, paid, verb};
use crate::harness::Caller;
use crate::harness::world::{id, number, platform_fee};

fn payslips(caller: &Caller, run: &Value) -> Vec<Value> {
    caller.all(&format!("/api/business/payslips?payroll_run_id={}", id(run)))
}

fn account(caller: &Caller, person: &str, number: &str) {
    let path = format!("/api/business/employees/{person}/payment-method");
    let body = json!({"type": "bank", "bank_code": "058", "account_number": number});
    caller.send(&caller.request("PUT", &path).json(&body)).expect(200);
}

#[test]
fn a_reversed_run_leaves_the_books_as_they_were_and_its_people_free() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let people = &caller.payable(&company)[..3];
    let before = balances(&caller);
    let body = json!({"company_id": company, "period": "2026-01", "employees": people});
    let run = caller.post("/v1/payroll/run", &body).made();
    assert_eq!(caller.run(id(&run))["status"], "paid");
    let reversal = verb(&caller, &run, "reverse", &json!({"reason": "Paid twice"})).data();
    assert_eq!((&reversal["type"], &reversal["reverses"]), (&json!("correction"), &run["id"]));
    let original = caller.run(id(&run));
    assert_eq!(original["status"], "reversed");
    assert_eq!(original["reversed_by"], json!([reversal["id"]]));
    assert_eq!(number(&original["totals"]["net"]), -number(&reversal["totals"]["net"]));
    assert!(payslips(&caller, &run).iter().all(|payslip| payslip["status"] == "voided"));
    assert!(items(&caller, &run).iter().all(|item| item["status"] == "reversed"));
    let events = caller.events();
    let void = events.iter().filter(|event| {
        event["type"] == "tax_liability.updated" && event["data"]["object"]["status"] == "void"
    });
    let liabilities = caller.all(&format!("/api/business/tax-liabilities?company_id={company}"));
    let voided = liabilities.iter().filter(|liability| liability["status"] == "void").count();
    assert!(voided > 0);
    assert_eq!(void.count(), voided);
    // The reversed wages had been paid, so the service keeps its fee.
    let fee = platform_fee(&original);
    let with_fee = before.into_iter().map(|(code, balance)| match code.as_str() {
        Some("cash_available") => (code, json!(number(&balance) - fee)),
        Some("fees") => (code, json!(number(&balance) + fee)),
        _ => (code, balance),
    });
    let mut expected: Vec<_> = with_fee.collect();
    if !expected.iter().any(|(code, _)| code == "fees") {
        expected.push((json!("fees"), json!(fee)));
    }
    let by_code = |rows: &mut Vec<(Value, Value)>| rows.sort_by_key(|(code, _)| code.to_string());
    let mut now = balances(&caller);
    by_code(&mut now);
    by_code(&mut expected);
    assert_eq!(now, expected);
    verb(&caller, &run, "reverse", &json!({"reason": "Again"}))
        .refused(409, "invalid_state_transition");
    verb(&caller, &reversal, "reverse", &json!({"reason": "Back"}))
        .refused(409, "invalid_state_transition");
    let again = caller.post("/v1/payroll/run", &body).made();
    let (first, second) = (items(&caller, &run), items(&caller, &again));
    for (first, second) in first.iter().zip(&second) {
        assert_eq!(first["net"], second["net"], "what was reversed counts in no year to date");
    }
    caller.audit();
}

/// The run of two people, whose payouts have arrived. Its reversal recalls their wages.
fn recalled(caller: &Caller, outcome: &str) -> Value {
    let company = caller.company(0);
    let people = &caller.payable(&company)[..2];
    let body = json!({"company_id": company, "period": "2026-01", "employees": people});
    let request = caller.request("POST", "/v1/payroll/run").json(&body);
    let run = caller.send(&request.header("Sandbox-Scenario", outcome)).made();
    caller.advance(&json!({"to": "2026-02-02T00:00:00Z"}));
    assert_eq!(caller.run(id(&run))["status"], "paid");
    verb(caller, &run, "reverse", &json!({"reason": "Paid twice"})).expect(200);
    run
}

#[test]
fn recalled_wages_are_not_returned_a_second_time() {
    let caller = Caller::manual();
    let run = recalled(&caller, "payout.settle=returned_late;after=20d");
    let before = balances(&caller);
    assert!(!before.iter().any(|(code, _)| code == "wages_payable"), "{before:?}");
    let happened = caller.advance(&json!({"by": "20d"}));
    assert!(!happened.iter().any(|name| name == "payout.returned"), "{happened:?}");
    assert_eq!(balances(&caller), before);
    assert!(items(&caller, &run).iter().all(|item| item["status"] == "reversed"));
    caller.audit();
}

#[test]
fn a_payout_of_recalled_wages_is_not_moved_by_hand() {
    let caller = Caller::manual();
    let run = recalled(&caller, "payout.settle=paid");
    let grown = caller.all(&format!("{RUNS}?period=2025-12")).remove(0);
    verb(&caller, &grown, "reverse", &json!({"reason": "Paid by mistake"})).expect(200);
    let before = balances(&caller);
    for run in [run, grown] {
        let payout = items(&caller, &run)[0]["payout_id"].take();
        let path = format!("/_sandbox/resources/{}/transition", payout.as_str().unwrap());
        let refused = caller.post(&path, &json!({"to": "returned"}));
        let refused = refused.refused(409, "invalid_state_transition");
        assert_eq!((&refused["current"], &refused["allowed"]), (&json!("paid"), &json!([])));
        assert!(refused["detail"].as_str().unwrap().contains("recalled"), "{refused}");
    }
    assert_eq!(balances(&caller), before);
    caller.audit();
}

#[test]
fn a_part_of_a_run_can_be_reversed_without_the_rest() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let people = &caller.payable(&company)[..3];
    let body = json!({"company_id": company, "period": "2026-01", "employees": people});
    let run = caller.post("/v1/payroll/run", &body).made();
    let one = json!({"reason": "Wrong person", "employee_ids": [people[1]]});
    verb(&caller, &run, "reverse", &one).expect(200);
    assert_eq!(caller.run(id(&run))["status"], "paid");
    let states: Vec<_> = items(&caller, &run).iter().map(|item| item["status"].clone()).collect();
    assert_eq!(states, ["paid", "reversed", "paid"]);
    let refused = verb(&caller, &run, "reverse", &one).refused(422, "validation_failed");
    assert_eq!(refused["errors"][0]["pointer"], "/employee_ids/0");
    let owed: i64 = caller
        .all(&format!("/api/business/tax-liabilities?company_id={company}&status=accrued"))
        .iter()
        .map(|liability| number(&liability["amount"]))
        .sum();
    let left = items(&caller, &run);
    let expected: i64 = [&left[0], &left[2]]
        .iter()
        .map(|item| {
            number(&item["taxes"])
                + number(&item["employee_contributions"])
                + number(&item["employer_contributions"])
        })
        .sum();
    assert_eq!(owed, expected);
    let again = json!({"company_id": company, "period": "2026-01", "employees": [people[1]]});
    caller.post("/v1/payroll/run", &again).expect(201);
    verb(&caller, &run, "reverse", &json!({"reason": "All of it"})).expect(200);
    assert_eq!(caller.run(id(&run))["status"], "reversed");
    caller.audit();
}

#[test]
fn a_run_of_the_months_before_the_start_can_be_reversed() {
    let caller = Caller::instant();
    let run = caller.all(&format!("{RUNS}?period=2025-12")).remove(0);
    let reversal = verb(&caller, &run, "reverse", &json!({"reason": "Paid by mistake"})).data();
    assert_eq!(number(&reversal["totals"]["gross"]), -number(&run["totals"]["gross"]));
    assert!(payslips(&caller, &run).iter().all(|payslip| payslip["status"] == "voided"));
    caller.audit();
}

#[test]
fn returned_wages_are_sent_again_to_another_account() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let people = &caller.payable(&company)[..2];
    account(&caller, &people[0], "9999999902");
    let body = json!({"company_id": company, "period": "2026-01", "employees": people});
    let run = caller.post("/v1/payroll/run", &body).made();
    assert_eq!(caller.run(id(&run))["status"], "partially_paid");
    let item = items(&caller, &run).remove(0);
    let retry = format!("items/{}/retry", id(&item));
    verb(&caller, &run, &retry, &json!({})).refused(422, "employee_not_payable");
    account(&caller, &people[0], "9999999900");
    let sent = verb(&caller, &run, &retry, &json!({})).data();
    assert_eq!(sent["status"], "processing");
    assert_ne!(sent["payout_id"], item["payout_id"]);
    let run = caller.run(id(&run));
    assert_eq!(
        (&run["status"], &run["settlement"]),
        (&json!("paid"), &json!({"paid": 2, "failed": 0, "pending": 0}))
    );
    let payout =
        |id: &Value| caller.get(&format!("/api/payments/payouts/{}", id.as_str().unwrap())).data();
    assert_eq!(payout(&item["payout_id"])["superseded_by"], sent["payout_id"]);
    assert_eq!(payout(&sent["payout_id"])["supersedes"], item["payout_id"]);
    assert_eq!(payslips(&caller, &run).len(), 2);
    verb(&caller, &run, &retry, &json!({})).refused(409, "invalid_state_transition");
    let other = caller
        .post(
            "/v1/payroll/run",
            &json!({"company_id": company, "period": "2026-02", "employees": people}),
        )
        .made();
    verb(&caller, &other, &retry, &json!({})).refused(404, "resource_not_found");
    caller.audit();
}

#[test]
fn wages_returned_late_are_sent_again_without_a_second_payslip() {
    let caller = Caller::instant();
    let people = &caller.payable(&caller.company(0))[..1];
    account(&caller, &people[0], "9999999999");
    let body = json!({"company_id": caller.company(0), "period": "2026-01", "employees": people});
    let run = caller.post("/v1/payroll/run", &body).made();
    caller.advance(&json!({"by": "30d"}));
    let item = items(&caller, &run).remove(0);
    assert_eq!(item["status"], "returned");
    account(&caller, &people[0], "9999999900");
    verb(&caller, &run, &format!("items/{}/retry", id(&item)), &json!({})).expect(200);
    assert_eq!(items(&caller, &run)[0]["status"], "paid");
    assert_eq!(payslips(&caller, &run).len(), 1);
    caller.audit();
}

#[test]
fn a_run_that_paid_no_employee_leaves_no_entries_in_the_books() {
    let caller = Caller::instant();
    let people = &caller.payable(&caller.company(0))[..1];
    account(&caller, &people[0], "9999999902");
    let before = balances(&caller);
    let body = json!({"company_id": caller.company(0), "period": "2026-01", "employees": people});
    let run = caller.post("/v1/payroll/run", &body).made();
    assert_eq!(caller.run(id(&run))["status"], "failed");
    assert_eq!(balances(&caller), before);
    let item = items(&caller, &run).remove(0);
    let retry = format!("items/{}/retry", id(&item));
    let refused = verb(&caller, &run, &retry, &json!({})).refused(409, "invalid_state_transition");
    assert_eq!(refused["allowed"], json!([]));
    account(&caller, &people[0], "9999999900");
    caller.post("/v1/payroll/run", &body).expect(201);
    caller.audit();
}

#[test]
fn a_correction_marks_the_payslip_that_it_corrects() {
    let caller = Caller::instant();
    let people = &caller.payable(&caller.company(0))[..1];
    let body = json!({"company_id": caller.company(0), "period": "2026-01", "employees": people});
    let first = caller.post("/v1/payroll/run", &body).made();
    let run = draft_of(&caller, "correction", people);
    let body = json!({"items": [{"employee_id": people[0], "earnings": [{"label": "Forgotten overtime", "amount": 300_000}]}]});
    edit(&caller, &run, &body).expect(200);
    let run = paid(&caller, &calculated(&caller, &run));
    assert_eq!(run["status"], "paid");
    let old = payslips(&caller, &first).remove(0);
    assert_eq!(old["status"], "corrected");
    assert_eq!(payslips(&caller, &run)[0]["status"], "issued");
    let year = |payslip: &Value| number(&payslip["ytd"]["gross"]);
    assert_eq!(year(&payslips(&caller, &run)[0]), year(&old) + 300_000);
    assert!(caller.events().iter().any(|event| event["type"] == "payslip.corrected"));
}

/// A run of two people, of whom the second one's pay is beyond the balance of the wallet.
fn partly_paid(caller: &Caller, company: &str) -> Value {
    let people = caller.two_with_one_beyond_the_balance(company);
    let body = json!({"company_id": company, "period": "2026-01", "employees": people});
    let run = caller.run(id(&caller.post("/v1/payroll/run", &body).made()));
    assert_eq!(run["status"], "partially_paid");
    run
}

#[test]
fn a_partial_run_pays_whom_the_wallet_covers_and_the_others_when_there_is_more() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let run = partly_paid(&caller, &company);
    assert!(number(&run["funding"]["shortfall"]) > 0);
    let item = items(&caller, &run).remove(1);
    assert_eq!(
        (&item["status"], &item["failure"]["code"]),
        (&json!("failed"), &json!("insufficient_funds"))
    );
    assert_eq!(item["payout_id"], json!(null));
    let retry = format!("items/{}/retry", id(&item));
    verb(&caller, &run, &retry, &json!({})).refused(402, "insufficient_funds");
    let more = json!({"company_id": company, "amount": 200_000_000_000_i64, "from": "owner"});
    caller.post("/_sandbox/inbound/bank_transfer", &more).expect(200);
    verb(&caller, &run, &retry, &json!({})).expect(200);
    let run = caller.run(id(&run));
    assert_eq!((&run["status"], &run["funding"]["shortfall"]), (&json!("paid"), &json!(0)));
    caller.audit();
}

/// Pay As You Earn Regulations (Nigeria), reg. 6, and Personal Income Tax Act, s. 82: the employer owes the tax of
/// each employee who is in the return. Money that other returns need is not available for it.
#[test]
fn the_return_of_a_run_that_is_paid_in_part_waits_for_the_rest() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let run = partly_paid(&caller, &company);
    let all = caller.all(&format!("/api/business/tax-liabilities?company_id={company}"));
    let owed = all.iter().find(|it| it["payroll_run_id"] == run["id"] && it["amount"] != 0);
    let owed = owed.expect("a tax of the run");
    let filing = json!({
        "company_id": company, "tax_type": owed["authority"], "period": owed["period"],
        "jurisdiction": owed["jurisdiction"], "form": owed["form"],
    });
    let filing = caller.post("/api/business/tax-filings", &filing).made();
    assert_eq!(filing["status"], "blocked", "{filing}");
    let submit = format!("/api/business/tax-filings/{}/submit", id(&filing));
    let declared = json!({"declaration": "Ada Obi"});
    caller.post(&submit, &declared).refused(409, "invalid_state_transition");
    let more = json!({"company_id": company, "amount": 200_000_000_000_i64, "from": "owner"});
    caller.post("/_sandbox/inbound/bank_transfer", &more).expect(200);
    let item = items(&caller, &run).remove(1);
    verb(&caller, &run, &format!("items/{}/retry", id(&item)), &json!({})).expect(200);
    caller.post(&submit, &declared).expect(202);
    caller.audit();
}

/// The statuses of the run's liabilities, as their last events show them and as they are.
fn liabilities(caller: &Caller, run: &Value) -> [Vec<String>; 2] {
    let path = format!("/api/business/tax-liabilities?company_id={}", caller.company(0));
    let mut all = caller.all(&path);
    all.retain(|liability| liability["payroll_run_id"] == run["id"]);
    let events = caller.events();
    let last = |liability: &Value| {
        let of_it = |event: &&Value| event["data"]["object"]["id"] == liability["id"];
        events.iter().rfind(of_it).unwrap()["data"]["object"].clone()
    };
    let status = |liability: &Value| liability["status"].as_str().unwrap().to_owned();
    let told = all.iter().map(|liability| status(&last(liability))).collect();
    [told, all.iter().map(status).collect()]
}

#[test]
fn a_run_that_is_cancelled_or_fails_says_that_its_liabilities_are_void() {
    let caller = Caller::manual();
    let people = &caller.payable(&caller.company(0))[..2];
    let body = json!({"company_id": caller.company(0), "period": "2026-01", "employees": people});
    let cancelled = caller.post("/v1/payroll/run", &body).made();
    caller.advance(&json!({"by": "1h"}));
    verb(&caller, &cancelled, "cancel", &json!({})).expect(200);
    let request = caller.request("POST", "/v1/payroll/run").json(&body);
    let failed = caller.send(&request.header("Sandbox-Scenario", "payout.settle=failed")).made();
    caller.advance(&json!({"by": "40d"}));
    for (run, status) in [(cancelled, "cancelled"), (failed, "failed")] {
        assert_eq!(caller.run(id(&run))["status"], status);
        let [told, are] = liabilities(&caller, &run);
        assert!(!are.is_empty() && are.iter().all(|status| status == "void"), "{are:?}");
        assert_eq!(told, are, "{status}");
    }
    caller.audit();
}
