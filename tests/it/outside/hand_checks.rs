//! A move by hand is refused where the operation is refused, and a refusal says what is possible and why.

use serde_json::{Value, json};

use super::hand_moves::{by_hand, made, waiting_payout};
use super::people;
use crate::harness::Caller;
use crate::harness::world::{id, number};
use crate::payouts::{GOOD, Payer};

fn funded_escrow(caller: &Caller) -> String {
    made(caller, "escrow.funded")
}

/// A funded escrow with three parts.
fn escrow_in_parts(caller: &Caller) -> String {
    let payer = Payer::of(caller.with(caller.key()));
    let part = |name: &str| json!({"name": name, "amount": 10_000});
    let body = json!({"company_id": payer.company, "buyer_wallet_id": payer.wallet,
        "seller_beneficiary_id": payer.beneficiary, "amount": 30_000, "currency": "NGN",
        "milestones": [part("a"), part("b"), part("c")]});
    let escrow = caller.post("/api/payments/escrows", &body).made();
    by_hand(caller, id(&escrow), "funded").expect(200);
    id(&escrow).to_owned()
}

fn closing_deal(caller: &Caller) -> String {
    let deal = made(caller, "deal.created");
    for stage in ["screening", "due_diligence", "term_sheet", "closing"] {
        by_hand(caller, &deal, stage).expect(200);
    }
    deal
}

/// What is moved, the target, and the operation of the same move with its body.
type Row = (fn(&Caller) -> String, &'static str, &'static str, &'static str);

#[test]
fn a_move_by_hand_is_refused_like_the_operation_if_the_company_may_not_pay() {
    const ROWS: &[Row] = &[
        (waiting_payout, "queued", "/api/payments/payouts/{}/approve", "{}"),
        (funded_escrow, "released", "/api/payments/escrows/{}/release", "{}"),
        (
            escrow_in_parts,
            "partially_released",
            "/api/payments/escrows/{}/release",
            r#"{"milestone_id":"milestone_1"}"#,
        ),
        (
            closing_deal,
            "won",
            "/api/capital/deals/{}/close",
            r#"{"outcome":"won","amount":1000000}"#,
        ),
    ];
    for (status, code) in [("suspended", "company_suspended"), ("closed", "compliance_blocked")] {
        for (start, to, path, body) in ROWS {
            let caller = Caller::manual();
            let resource = start(&caller);
            by_hand(&caller, &caller.company(0), status).expect(200);
            let digest = caller.digest();
            let body: Value = serde_json::from_str(body).unwrap();
            let by_call = caller.post(&path.replace("{}", &resource), &body);
            let by_call = by_call.refused(403, code)["detail"].clone();
            let moved = by_hand(&caller, &resource, to).refused(403, code);
            assert_eq!(moved["detail"], by_call, "{path} and by hand to {to}");
            assert_eq!(caller.digest(), digest);
        }
    }
}

#[test]
fn money_does_not_return_to_a_full_wallet_by_hand() {
    for targets in [
        &["cancelled"][..],
        &["processing", "sent", "failed"],
        &["processing", "sent", "returned"],
        &["processing", "sent", "paid", "returned"],
    ] {
        let payer = Payer::manual();
        let payout = payer.pay(1_000_000, &json!({}));
        payer.fill();
        let (last, first) = targets.split_last().unwrap();
        for to in first {
            by_hand(&payer.caller, id(&payout), to).expect(200);
        }
        let digest = payer.caller.digest();
        by_hand(&payer.caller, id(&payout), last).refused(402, "limit_exceeded");
        assert_eq!(payer.caller.digest(), digest, "{targets:?}");
    }
}

/// A subject with a confirmed alert; `more` adds members.
fn condemned(caller: &Caller, more: &Value) -> Value {
    let body =
        json!({"type": "person", "name": {"first": "Ada", "last": "Sanctioned"}, "country": "NG"});
    let subject = caller.post("/api/identity/subjects", &crate::payouts::with(body, more)).made();
    let body = json!({"subject_id": subject["id"]});
    caller.post("/api/identity/aml-screenings", &body).expect(202);
    caller.advance(&json!({"by": "1m"}));
    let mut events = caller.events().into_iter();
    let opened = events.rfind(|event| event["type"] == "aml_alert.opened").unwrap();
    by_hand(caller, id(&opened["data"]["object"]), "confirmed").expect(200);
    subject
}

#[test]
fn a_confirmed_alert_prevents_checks_and_approvals_by_hand() {
    let caller = Caller::manual();
    let person = people(&caller, 1).remove(0);
    condemned(&caller, &json!({"employee_id": person, "company_id": caller.company(0)}));
    let path = format!("/api/business/employees/{person}/verify-payroll");
    let by_call = caller.post(&path, &json!({})).refused(409, "invalid_state_transition");
    let moved = by_hand(&caller, &person, "pending").refused(409, "invalid_state_transition");
    assert_eq!(moved["detail"], by_call["detail"]);
    assert_eq!(
        moved["allowed"],
        json!(["on_leave", "suspended", "terminated", "verified", "closed"])
    );

    let subject = condemned(&caller, &json!({}));
    let case = json!({"subject_id": subject["id"], "type": "kyc", "level": "basic"});
    let case = caller.post("/api/identity/verifications", &case).made();
    let path = format!("/api/identity/verifications/{}/submit", id(&case));
    caller.post(&path, &json!({"consent": true})).expect(202);
    let refused = by_hand(&caller, id(&case), "approved").refused(409, "invalid_state_transition");
    let detail = refused["detail"].as_str().unwrap();
    assert!(detail.contains("would become declined, not approved: an alert"), "{detail}");
    by_hand(&caller, id(&case), "declined").expect(200);
}

fn leave(caller: &Caller, person: &str, kind: &str, days: [&str; 2]) -> String {
    let body =
        json!({"employee_id": person, "type": kind, "start_date": days[0], "end_date": days[1]});
    let asked = caller.post("/api/business/leave-requests", &body).made();
    by_hand(caller, id(&asked), "approved").expect(200);
    id(&asked).to_owned()
}

fn leaves(caller: &Caller, person: &str) -> Vec<Value> {
    caller.all(&format!("/api/business/leave-requests?employee_id={person}"))
}

#[test]
fn leave_that_is_begun_early_by_hand_is_unpaid_from_then_until_work_resumes() {
    let caller = Caller::manual();
    let ada = people(&caller, 1).remove(0);
    leave(&caller, &ada, "unpaid", ["2026-02-02", "2026-02-13"]);
    by_hand(&caller, &ada, "on_leave").expect(200);
    caller.advance(&json!({"to": "2026-01-03T09:00:00Z"}));
    let path = format!("/api/business/employees/{ada}/activate");
    caller.post(&path, &json!({})).expect(200);
    let ended = leaves(&caller, &ada).remove(0);
    assert_eq!(
        (&ended["start_date"], &ended["returned_on"]),
        (&json!("2026-01-01"), &json!("2026-01-03"))
    );
    assert!(ended["ended_at"].is_string());
    let gross = |period: &str| {
        let body =
            json!({"company_id": caller.company(0), "period": period, "employee_ids": [ada]});
        let run = caller.post("/api/business/payroll-runs", &body).made();
        let path = format!("/api/business/payroll-runs/{}/calculate", id(&run));
        caller.post(&path, &json!({})).expect(202);
        caller.advance(&json!({"by": "1h"}));
        number(&caller.run(id(&run))["totals"]["gross"])
    };
    let [january, february] = ["2026-01", "2026-02"].map(gross);
    assert!(january < february, "two days of January are unpaid: {january}, {february}");
    assert_eq!(caller.advance(&json!({"by": "60d"})), [""; 0]);
    caller.audit();
}

/// A pending request can have days before the planned ones of the leave that begins.
#[test]
fn a_request_for_days_of_leave_that_was_begun_early_can_only_be_declined() {
    let caller = Caller::manual();
    let ada = people(&caller, 1).remove(0);
    let body = json!({"employee_id": ada, "type": "unpaid", "start_date": "2026-01-12", "end_date": "2026-01-13"});
    let asked = caller.post("/api/business/leave-requests", &body).made();
    leave(&caller, &ada, "unpaid", ["2026-02-02", "2026-02-13"]);
    by_hand(&caller, &ada, "on_leave").expect(200);
    let path = format!("/api/business/leave-requests/{}/decide", id(&asked));
    let refused = caller.post(&path, &json!({"decision": "approve"}));
    let refused = refused.refused(409, "invalid_state_transition");
    let detail = refused["detail"].as_str().unwrap();
    assert!(
        detail.ends_with("is leave from 2026-01-01 to 2026-02-13: decline the request"),
        "{detail}"
    );
    by_hand(&caller, id(&asked), "approved").refused(409, "invalid_state_transition");
    by_hand(&caller, id(&asked), "declined").expect(200);
}

#[test]
fn the_next_leave_begins_by_hand_whichever_was_requested_first() {
    let caller = Caller::manual();
    let ada = people(&caller, 1).remove(0);
    let later = leave(&caller, &ada, "annual", ["2026-03-02", "2026-03-06"]);
    let next = leave(&caller, &ada, "annual", ["2026-02-02", "2026-02-06"]);
    by_hand(&caller, &ada, "on_leave").expect(200);
    let running = |of: &str| {
        let leaves = leaves(&caller, &ada);
        leaves.iter().any(|leave| id(leave) == of && leave["started_at"].is_string())
    };
    assert!(running(&next) && !running(&later));
    caller.advance(&json!({"to": "2026-03-10T00:00:00Z"}));
    let ended = leaves(&caller, &ada).iter().all(|leave| leave["ended_at"].is_string());
    assert!(ended, "both were taken");
}

#[test]
fn a_company_that_becomes_active_by_hand_has_no_open_requirement() {
    let caller = Caller::manual();
    let body = json!({"legal_name": "Zed Ltd", "country": "NG", "currency": "NGN"});
    let company = caller.post("/api/business/companies", &body).made();
    by_hand(&caller, id(&company), "active").expect(200);
    let now = caller.get(&format!("/api/business/companies/{}", id(&company))).data();
    assert_eq!((&now["status"], &now["blockers"]), (&json!("active"), &json!([])));
    let came = caller.advance(&json!({"by": "40d"}));
    assert!(!came.contains(&"compliance_requirement.overdue".to_owned()), "{came:?}");
}

#[test]
fn each_part_of_an_escrow_is_released_by_hand() {
    let caller = Caller::manual();
    let escrow = escrow_in_parts(&caller);
    for released in [10_000, 20_000] {
        let moved = by_hand(&caller, &escrow, "partially_released").data();
        assert_eq!(number(&moved["released"]), released);
    }
    let refused = by_hand(&caller, &escrow, "partially_released");
    let refused = refused.refused(409, "invalid_state_transition");
    assert_eq!(refused["allowed"], json!(["released", "disputed", "refunded"]));
    assert_eq!(number(&by_hand(&caller, &escrow, "released").data()["released"]), 30_000);
    caller.audit();
}

/// An approved run of a month of unpaid leave.
fn run_without_pay(caller: &Caller) -> String {
    let ada = people(caller, 1).remove(0);
    leave(caller, &ada, "unpaid", ["2026-01-01", "2026-01-31"]);
    let body = json!({"company_id": caller.company(0), "period": "2026-01", "employee_ids": [ada]});
    let run = caller.post("/api/business/payroll-runs", &body).made();
    let path = format!("/api/business/payroll-runs/{}", id(&run));
    caller.post(&format!("{path}/calculate"), &json!({})).expect(202);
    caller.advance(&json!({"by": "10s"}));
    caller.post(&format!("{path}/approve"), &json!({})).expect(200);
    id(&run).to_owned()
}

#[test]
fn a_run_without_pay_to_send_is_paid_by_hand() {
    let caller = Caller::manual();
    let run = run_without_pay(&caller);
    let refused = by_hand(&caller, &run, "processing").refused(409, "invalid_state_transition");
    assert_eq!(refused["allowed"], json!(["paid"]));
    assert_eq!(by_hand(&caller, &run, "paid").data()["status"], "paid");
    caller.audit();
}

fn approved_run(caller: &Caller) -> String {
    made(caller, "payroll_run.approved")
}

/// The debt that a bill lowers to less than zero.
fn tax_credit(caller: &Caller) -> String {
    let came = caller.post("/_sandbox/trigger", &json!({"type": "bill.approved"})).data();
    let mut events = came["events"].as_array().unwrap().iter();
    let owed = events.find(|event| event["type"] == "tax_liability.created").unwrap();
    id(&owed["data"]["object"]).to_owned()
}

fn loan_of_closed_company(caller: &Caller) -> String {
    let loan = made(caller, "loan.created");
    let company = caller.get(&format!("/api/capital/loans/{loan}")).data()["company_id"].take();
    by_hand(caller, company.as_str().unwrap(), "closed").expect(200);
    loan
}

fn score(caller: &Caller) -> String {
    made(caller, "credit_score.created")
}

fn suspect(caller: &Caller) -> String {
    let person = people(caller, 1).remove(0);
    condemned(caller, &json!({"employee_id": person, "company_id": caller.company(0)}));
    person
}

fn checked(caller: &Caller) -> String {
    let person = people(caller, 1).remove(0);
    let path = format!("/api/business/employees/{person}/payment-method");
    let method = json!({"type": "bank", "bank_code": "058", "account_number": GOOD});
    caller.send(&caller.request("PUT", &path).json(&method)).expect(200);
    person
}

fn draft(caller: &Caller) -> String {
    let body = json!({"company_id": caller.company(0), "period": "2026-01"});
    id(&caller.post("/api/business/payroll-runs", &body).made()).to_owned()
}

fn offer(caller: &Caller) -> String {
    made(caller, "offer.created")
}

#[test]
fn a_refused_move_names_the_possible_ones_and_the_reason() {
    type Refusal = (fn(&Caller) -> String, &'static str, &'static str, Value);
    let of_employee = |payroll: &[&str]| {
        let employment = ["on_leave", "suspended", "terminated"];
        json!([&employment[..], payroll].concat())
    };
    let rows: [Refusal; 8] = [
        (approved_run, "funding_failed", "would become processing", json!(["processing"])),
        (tax_credit, "due", "would stay accrued: there is nothing to pay", json!([])),
        (
            loan_of_closed_company,
            "active",
            "would stay pending_disbursement: the company is closed",
            json!([]),
        ),
        (score, "failed", "would become completed, not failed", json!(["completed"])),
        (suspect, "verified", "would stay on_hold: ama", of_employee(&["pending", "closed"])),
        (
            checked,
            "pending",
            "payroll_status pending; it cannot become",
            of_employee(&["verified", "failed", "closed"]),
        ),
        (draft, "calculated", "by this operation: calculatePayrollRun", json!([])),
        (offer, "accepted", "by this operation: respondToOffer", json!(["expired"])),
    ];
    for (start, to, said, allowed) in rows {
        let caller = Caller::manual();
        let resource = start(&caller);
        let digest = caller.digest();
        let refused = by_hand(&caller, &resource, to).refused(409, "invalid_state_transition");
        let detail = refused["detail"].as_str().unwrap();
        assert!(detail.contains(said), "{detail}");
        assert_eq!(refused["allowed"], allowed, "{detail}");
        assert_eq!(caller.digest(), digest, "{detail}");
    }
}

#[test]
fn a_return_code_is_refused_where_no_payment_fails() {
    let payer = Payer::manual();
    let payout = payer.pay(500, &json!({}));
    for (resource, to) in [(id(&payout), "processing"), (payer.company.as_str(), "suspended")] {
        let body = json!({"to": to, "return_code": "R02"});
        let problem = payer.transition(resource, &body).refused(422, "validation_failed");
        assert_eq!(crate::payouts::faults(&problem), [("/return_code", "unexpected")]);
    }
}

#[test]
fn an_event_is_no_resource_that_can_be_moved() {
    let caller = Caller::manual();
    made(&caller, "escrow.created");
    let event = caller.events().pop().unwrap();
    let problem = by_hand(&caller, id(&event), "paid").refused(404, "resource_not_found");
    assert_eq!(problem["detail"], "an event has no status that this operation can change");
}

#[test]
fn a_loan_that_is_defaulted_by_hand_has_the_reason_of_the_caller() {
    let caller = Caller::manual();
    for (reason, expected) in
        [(Some("asked by a test"), "asked by a test"), (None, "instalment 1 is unpaid")]
    {
        let loan = made(&caller, "loan.late");
        let mut body = json!({"to": "defaulted"});
        if let Some(reason) = reason {
            body["reason"] = json!(reason);
        }
        let path = format!("/_sandbox/resources/{loan}/transition");
        let moved = caller.post(&path, &body).data();
        let history = moved["status_history"].as_array().unwrap();
        assert_eq!(history.last().unwrap()["reason"], expected);
    }
}
