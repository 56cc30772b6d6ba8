//! A move by hand to the state that the waiting answer leads to leaves what the clock leaves.

use serde_json::{Value, json};

use super::hand_moves::{by_hand, queued_payout};
use super::{people, rule};
use crate::harness::Caller;
use crate::harness::world::id;
use crate::payouts::{BENEFICIARIES, GOOD};

/// What is moved, and the resources that are compared.
struct Waiting {
    id: String,
    shown: Vec<String>,
}

impl Waiting {
    fn at(path: &str, resource: &Value) -> Self {
        let id = id(resource).to_owned();
        Self { shown: vec![format!("{path}/{id}")], id }
    }

    fn and(mut self, path: String) -> Self {
        self.shown.push(path);
        self
    }
}

fn beneficiary(caller: &Caller, more: &Value) -> Value {
    let account =
        json!({"bank_code": "011", "account_number": GOOD, "country": "NG", "currency": "NGN"});
    let body = json!({"company_id": caller.company(0), "name": "Ada Obi", "type": "individual", "account": account});
    caller.post(BENEFICIARIES, &crate::payouts::with(body, more)).made()
}

fn checked_beneficiary(caller: &Caller) -> Waiting {
    Waiting::at(BENEFICIARIES, &beneficiary(caller, &json!({})))
}

fn beneficiary_with_deposits(caller: &Caller) -> Waiting {
    let made = beneficiary(caller, &json!({"verification": "micro_deposits"}));
    let wallet = crate::payouts::wallet(caller, &caller.company(0));
    let path = format!("{BENEFICIARIES}/{}/micro-deposits", id(&made));
    caller.post(&path, &json!({"wallet_id": wallet})).expect(200);
    caller.advance(&json!({"by": "5d"}));
    Waiting::at(BENEFICIARIES, &made)
}

fn person(caller: &Caller) -> Value {
    let body = json!({"type": "person", "name": {"first": "Ada", "last": "Obi"}, "country": "NG",
        "date_of_birth": "1990-01-01"});
    caller.post("/api/identity/subjects", &body).made()
}

fn forged(caller: &Caller, subject: &Value) -> Value {
    let path = format!("/api/identity/subjects/{}/documents", id(subject));
    let body = json!({"type": "passport", "document_token": "tok_forged"});
    caller.post(&path, &body).made()
}

fn screening(caller: &Caller) -> Waiting {
    let body = json!({"subject_id": person(caller)["id"]});
    let made = caller.post("/api/identity/aml-screenings", &body).expect(202);
    Waiting::at("/api/identity/aml-screenings", &made["data"])
}

/// A submitted case with a forged document.
fn case_with_forgery(caller: &Caller) -> Waiting {
    let subject = person(caller);
    let document = forged(caller, &subject);
    let body = json!({"subject_id": subject["id"], "type": "kyc", "level": "standard"});
    let case = caller.post("/api/identity/verifications", &body).made();
    let path = format!("/api/identity/verifications/{}/submit", id(&case));
    let body = json!({"consent": true, "document_ids": [document["id"]]});
    caller.post(&path, &body).expect(202);
    let subject = format!("/api/identity/subjects/{}", id(&subject));
    Waiting::at("/api/identity/verifications", &case).and(subject)
}

fn checked_employee(caller: &Caller) -> Waiting {
    let person = people(caller, 1).remove(0);
    let path = format!("/api/business/employees/{person}/payment-method");
    let method = json!({"type": "bank", "bank_code": "058", "account_number": GOOD});
    caller.send(&caller.request("PUT", &path).json(&method)).expect(200);
    let shown = vec![format!("/api/business/employees/{person}")];
    Waiting { id: person, shown }
}

fn collection(caller: &Caller) -> Waiting {
    let body = json!({"company_id": caller.company(0), "amount": 10_000, "currency": "NGN",
        "method": "card", "reference": "r1", "payer": {"name": "Ada"}});
    let made = caller.post("/api/payments/collections", &body).made();
    Waiting::at("/api/payments/collections", &made)
}

fn refund(caller: &Caller) -> Waiting {
    let paid = collection(caller);
    caller.advance(&json!({"by": "4d"}));
    let path = format!("/api/payments/collections/{}/refunds", paid.id);
    let made = caller.post(&path, &json!({"amount": 500, "reason": "Sent back"})).made();
    Waiting::at("/api/payments/refunds", &made)
}

fn mandate(caller: &Caller) -> Waiting {
    let body = json!({"type": "mandate.created"});
    let came = caller.post("/_sandbox/trigger", &body).data();
    Waiting::at("/api/payments/mandates", &came["event"]["data"]["object"])
}

/// A payout that its rail has accepted.
fn payout(caller: &Caller) -> Waiting {
    let id = queued_payout(caller);
    caller.advance(&json!({"to": "2026-01-02T09:00:00Z"}));
    let shown = vec![format!("/api/payments/payouts/{id}")];
    Waiting { id, shown }
}

/// The wages of one employee on an instant rail.
fn wages(caller: &Caller) -> Waiting {
    let company = caller.company(0);
    let settings = json!({"payroll_settings": {"speed": "instant"}});
    caller.patch(&format!("/api/business/companies/{company}"), &settings).expect(200);
    let person = people(caller, 1).remove(0);
    run(caller, &person);
    caller.advance(&json!({"to": "2026-01-23T09:00:05Z"}));
    let sent = caller.all("/api/payments/payouts?status=sent").remove(0);
    let person = format!("/api/business/employees/{person}");
    Waiting::at("/api/payments/payouts", &sent).and(person)
}

fn run(caller: &Caller, person: &str) -> Value {
    let body = json!({"company_id": caller.company(0), "period": "2026-01", "employees": [person]});
    caller.post("/v1/payroll/run", &body).made()
}

/// A run whose bank sends the money later.
fn late_run(caller: &Caller) -> Waiting {
    let run = run(caller, &people(caller, 1)[0]);
    caller.advance(&json!({"to": "2026-01-22T16:00:00Z"}));
    Waiting::at("/api/business/payroll-runs", &run)
}

/// The decision and its outcome, what is moved, and the targets of the moves.
type Row = (&'static str, &'static str, fn(&Caller) -> Waiting, &'static [&'static str]);

const ROWS: &[Row] = &[
    ("beneficiary.check", r#"{"then":"account_closed"}"#, checked_beneficiary, &["rejected"]),
    ("beneficiary.check", r#"{"then":"match"}"#, beneficiary_with_deposits, &["rejected"]),
    ("watchlist.reply", r#"{"then":"pep"}"#, screening, &["needs_review"]),
    ("watchlist.reply", r#"{"then":"lookalike"}"#, screening, &["needs_review"]),
    ("bureau.reply", r#"{"then":"approved"}"#, case_with_forgery, &["declined"]),
    ("bank_account.check", r#"{"then":"account_closed"}"#, checked_employee, &["failed"]),
    ("collection.pay", r#"{"then":"disputed"}"#, collection, &["processing", "succeeded"]),
    ("collection.pay", r#"{"then":"short"}"#, collection, &["processing", "succeeded"]),
    ("collection.pay", r#"{"then":"declined","code":"54"}"#, collection, &["processing", "failed"]),
    ("refund.settle", r#"{"then":"failed","code":"57"}"#, refund, &["failed"]),
    ("mandate.reply", r#"{"then":"refused"}"#, mandate, &["revoked"]),
    ("payout.settle", r#"{"then":"returned_late"}"#, payout, &["paid", "returned"]),
    ("payout.settle", r#"{"then":"paid_then_corrected"}"#, payout, &["paid"]),
    ("payout.settle", r#"{"then":"failed","code":"57"}"#, payout, &["failed"]),
    ("payout.settle", r#"{"then":"held_then_rejected","code":"57"}"#, payout, &["failed"]),
    ("payout.settle", r#"{"then":"returned"}"#, wages, &["failed"]),
    ("payroll_run.fund", r#"{"then":"delayed","after":"2d"}"#, late_run, &["processing"]),
];

/// Without the members whose values depend on the time of the move.
fn timeless(mut value: Value) -> Value {
    match &mut value {
        Value::Object(members) => {
            members.retain(|name, _| name != "at" && !name.ends_with("_at"));
            members.values_mut().for_each(|member| *member = timeless(member.take()));
        }
        Value::Array(all) => all.iter_mut().for_each(|one| *one = timeless(one.take())),
        _ => {}
    }
    value
}

/// The types of all events, each with the decision behind it and the checks of its resource, in the order of these texts.
fn events(caller: &Caller) -> Vec<String> {
    let text = |event: Value| {
        let checks = timeless(event["data"]["object"]["checks"].clone());
        format!("{} {} {checks}", event["type"], event["decision"]["chosen"])
    };
    let mut all: Vec<_> = caller.events().into_iter().map(text).collect();
    all.sort();
    all
}

#[test]
fn a_move_to_the_state_of_the_waiting_answer_leaves_what_the_clock_leaves() {
    for (decision, outcome, start, targets) in ROWS {
        let [moved, waited] = [Caller::manual(), Caller::manual()];
        let outcome: Value = serde_json::from_str(outcome).unwrap();
        let waiting = [&moved, &waited].map(|caller| {
            rule(caller, &json!({ "decision": decision }), &outcome);
            start(caller)
        });
        let [of_move, of_clock] = waiting;
        assert_eq!(of_move.id, of_clock.id, "both worlds are the same");
        for to in *targets {
            by_hand(&moved, &of_move.id, to).expect(200);
        }
        for caller in [&moved, &waited] {
            caller.advance(&json!({"by": "60d"}));
            caller.audit();
        }
        let what = format!("{decision} {outcome}");
        for path in &of_clock.shown {
            let [by_move, by_clock] = [&moved, &waited].map(|it| timeless(it.get(path).data()));
            assert_eq!(by_move, by_clock, "{what}: {path}");
        }
        assert_eq!(events(&moved), events(&waited), "{what}");
    }
}

/// The target of each move contradicts the answer that waits.
#[test]
fn an_event_of_a_move_names_no_decision_that_it_contradicts() {
    let rows: &[Row] = &[
        ("beneficiary.check", r#"{"then":"account_closed"}"#, checked_beneficiary, &["verified"]),
        ("watchlist.reply", r#"{"then":"pep"}"#, screening, &["clear"]),
        ("collection.pay", r#"{"then":"declined"}"#, collection, &["processing", "succeeded"]),
        ("refund.settle", r#"{"then":"failed"}"#, refund, &["succeeded"]),
        ("payout.settle", r#"{"then":"failed"}"#, payout, &["paid"]),
    ];
    for (decision, outcome, start, targets) in rows {
        let caller = Caller::manual();
        let outcome: Value = serde_json::from_str(outcome).unwrap();
        rule(&caller, &json!({ "decision": decision }), &outcome);
        let waiting = start(&caller);
        for to in *targets {
            by_hand(&caller, &waiting.id, to).expect(200);
        }
        let mut events = caller.events().into_iter();
        let last = events.rfind(|event| event["data"]["object"]["id"] == *waiting.id).unwrap();
        assert_eq!(last["decision"], Value::Null, "{decision}: {last}");
    }
}

#[test]
fn a_document_that_is_rejected_by_hand_has_the_fault_of_its_token() {
    let caller = Caller::manual();
    let subject = person(&caller);
    for (token, fault) in
        [("tok_forged", "forged"), ("tok_expired", "expired"), ("tok_ok", "unreadable")]
    {
        let path = format!("/api/identity/subjects/{}/documents", id(&subject));
        let body = json!({"type": "passport", "document_token": token});
        let document = caller.post(&path, &body).made();
        assert_eq!(by_hand(&caller, id(&document), "rejected").data()["fault"], fault, "{token}");
    }
}

#[test]
fn micro_deposits_that_are_confirmed_by_hand_have_no_name_check() {
    let caller = Caller::manual();
    let waiting = beneficiary_with_deposits(&caller);
    let moved = by_hand(&caller, &waiting.id, "verified").data();
    assert_eq!((&moved["status"], &moved["name_match"]), (&json!("verified"), &Value::Null));
}
