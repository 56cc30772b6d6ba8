//! A manual transition has the same result as the operation or the timer with that target.

use serde_json::{Value, json};

use super::people;
use crate::harness::world::id;
use crate::harness::{Answer, Caller};
use crate::payouts::{BENEFICIARIES, GOOD, PAYOUTS, wallet};

use Start::{Made, Status, Trigger};

const WHY: &str = "asked by a test";

/// The creation of a resource in its first state.
enum Start {
    /// The subject of the event that a trigger causes.
    Trigger(&'static str),
    /// A grown employee with that status.
    Status(&'static str),
    /// A function creates the resource, and returns its id.
    Made(fn(&Caller) -> String),
}

impl Start {
    fn id(&self, caller: &Caller) -> String {
        match self {
            Trigger(event) => made(caller, event),
            Status(status) => of_status(caller, status),
            Made(make) => make(caller),
        }
    }
}

/// Moves a resource by hand.
pub(super) fn by_hand(caller: &Caller, id: &str, to: &str) -> Answer {
    caller.post(&format!("/_sandbox/resources/{id}/transition"), &json!({ "to": to }))
}

/// The subject of an event that a trigger causes.
pub(super) fn made(caller: &Caller, event: &str) -> String {
    let came = caller.post("/_sandbox/trigger", &json!({ "type": event })).data();
    came["event"]["data"]["object"]["id"].as_str().unwrap().to_owned()
}

fn of_status(caller: &Caller, status: &str) -> String {
    let path = format!("/api/business/employees?company_id={}", caller.company(0));
    let all = caller.all(&path);
    let ids = all.iter().map(|person| person["id"].as_str().unwrap());
    let mut people = ids.map(|id| caller.get(&format!("/api/business/employees/{id}")).data());
    let found = people.find(|person| person["status"] == status);
    let found = found.unwrap_or_else(|| panic!("no employee is {status}"));
    found["id"].as_str().unwrap().to_owned()
}

fn hired(caller: &Caller) -> String {
    let body = json!({
        "company_id": caller.company(0), "name": "Ada Obi", "role": "Accountant",
        "department": "Finance", "start_date": "2026-02-02",
    });
    let made = caller.post("/api/business/employees", &body).made();
    made["id"].as_str().unwrap().to_owned()
}

fn active(caller: &Caller) -> String {
    people(caller, 1).remove(0)
}

/// A payout to a new beneficiary, with those settings of the company.
fn payout(caller: &Caller, settings: &Value) -> String {
    let company = caller.company(0);
    let path = format!("/api/business/companies/{company}");
    caller.patch(&path, &json!({ "payment_settings": settings })).expect(200);
    let account =
        json!({"bank_code": "011", "account_number": GOOD, "country": "NG", "currency": "NGN"});
    let payee = json!({"company_id": company, "name": "Adaeze Obi", "type": "individual", "account": account});
    let payee = caller.post(BENEFICIARIES, &payee).made();
    caller.advance(&json!({"by": "30s"}));
    let body = json!({
        "company_id": company, "wallet_id": wallet(caller, &company), "beneficiary_id": payee["id"],
        "amount": 10_000, "currency": "NGN", "rail": "same_day", "reference": "Invoice 7",
    });
    id(&caller.post(PAYOUTS, &body).made()).to_owned()
}

pub(super) fn waiting_payout(caller: &Caller) -> String {
    payout(caller, &json!({"approval_required": true}))
}

pub(super) fn queued_payout(caller: &Caller) -> String {
    payout(caller, &json!({"approval_required": false}))
}

/// A new deal of a company whose business is verified.
fn verified_deal(caller: &Caller) -> String {
    let company = caller.company(0);
    let subject = json!({"type": "business", "legal_name": "Palm Foods Ltd", "country": "NG", "company_id": company});
    let subject = caller.post("/api/identity/subjects", &subject).made();
    let case = json!({"subject_id": subject["id"], "type": "kyb", "level": "basic"});
    let case = caller.post("/api/identity/verifications", &case).made();
    let path = format!("/api/identity/verifications/{}/submit", id(&case));
    caller.post(&path, &json!({"consent": true})).expect(202);
    caller.advance(&json!({"by": "1d"}));
    let deal = json!({"company_id": company, "name": "Seed round", "instrument": "equity",
        "target_amount": 500_000_000, "currency": "NGN", "investor": {"name": "Palm Ventures"}});
    id(&caller.post("/api/capital/deals", &deal).made()).to_owned()
}

/// Start, operation, body, and the state to which the move by hand goes.
const PAIRS: &[(Start, &str, &str, &str)] = &[
    (Made(hired), "/api/business/employees/{}/activate", "{}", "active"),
    (Status("pending"), "/api/business/employees/{}/activate", "{}", "active"),
    (Status("on_leave"), "/api/business/employees/{}/activate", "{}", "active"),
    (Status("suspended"), "/api/business/employees/{}/activate", "{}", "active"),
    (
        Made(active),
        "/api/business/employees/{}/suspend",
        r#"{"reason":"asked by a test"}"#,
        "suspended",
    ),
    (
        Made(active),
        "/api/business/employees/{}/terminate",
        r#"{"reason":"asked by a test","last_working_day":"2026-01-01"}"#,
        "terminated",
    ),
    (
        Made(hired),
        "/api/business/employees/{}/terminate",
        r#"{"reason":"asked by a test","last_working_day":"2026-01-01"}"#,
        "terminated",
    ),
    (
        Status("suspended"),
        "/api/business/employees/{}/terminate",
        r#"{"reason":"asked by a test","last_working_day":"2026-01-01"}"#,
        "terminated",
    ),
    (
        Status("on_leave"),
        "/api/business/employees/{}/terminate",
        r#"{"reason":"asked by a test","last_working_day":"2026-01-01"}"#,
        "terminated",
    ),
    (
        Trigger("leave_request.created"),
        "/api/business/leave-requests/{}/decide",
        r#"{"decision":"approve","note":"asked by a test"}"#,
        "approved",
    ),
    (
        Trigger("leave_request.created"),
        "/api/business/leave-requests/{}/decide",
        r#"{"decision":"decline","note":"asked by a test"}"#,
        "declined",
    ),
    (Made(waiting_payout), "/api/payments/payouts/{}/approve", "{}", "queued"),
    (
        Made(waiting_payout),
        "/api/payments/payouts/{}/cancel",
        r#"{"reason":"asked by a test"}"#,
        "cancelled",
    ),
    (
        Made(queued_payout),
        "/api/payments/payouts/{}/cancel",
        r#"{"reason":"asked by a test"}"#,
        "cancelled",
    ),
    (Trigger("escrow.created"), "/api/payments/escrows/{}/fund", "{}", "funded"),
    (
        Trigger("escrow.created"),
        "/api/payments/escrows/{}/refund",
        r#"{"reason":"asked by a test"}"#,
        "cancelled",
    ),
    (Trigger("escrow.funded"), "/api/payments/escrows/{}/release", "{}", "released"),
    (
        Trigger("escrow.funded"),
        "/api/payments/escrows/{}/refund",
        r#"{"reason":"asked by a test"}"#,
        "refunded",
    ),
    (
        Trigger("escrow.funded"),
        "/api/payments/escrows/{}/dispute",
        r#"{"raised_by":"seller","reason":"asked by a test"}"#,
        "disputed",
    ),
    (
        Trigger("collection.created"),
        "/api/payments/collections/{}/cancel",
        r#"{"reason":"asked by a test"}"#,
        "cancelled",
    ),
    (
        Trigger("mandate.created"),
        "/api/payments/mandates/{}/revoke",
        r#"{"reason":"asked by a test"}"#,
        "revoked",
    ),
    (
        Trigger("aml_alert.opened"),
        "/api/identity/aml-alerts/{}/resolve",
        r#"{"resolution":"false_positive","note":"asked by a test"}"#,
        "dismissed",
    ),
    (
        Trigger("aml_alert.opened"),
        "/api/identity/aml-alerts/{}/resolve",
        r#"{"resolution":"true_positive","note":"asked by a test"}"#,
        "confirmed",
    ),
    (
        Trigger("aml_alert.opened"),
        "/api/identity/aml-alerts/{}/resolve",
        r#"{"resolution":"escalate","note":"asked by a test"}"#,
        "escalated",
    ),
    (
        Trigger("verification.created"),
        "/api/identity/verifications/{}/cancel",
        r#"{"reason":"asked by a test"}"#,
        "cancelled",
    ),
    (
        Trigger("verification.in_review"),
        "/api/identity/verifications/{}/cancel",
        r#"{"reason":"asked by a test"}"#,
        "cancelled",
    ),
    (
        Trigger("verification.in_review"),
        "/api/identity/verifications/{}/review",
        r#"{"decision":"approve","note":"asked by a test"}"#,
        "approved",
    ),
    (
        Trigger("verification.in_review"),
        "/api/identity/verifications/{}/review",
        r#"{"decision":"decline","note":"asked by a test"}"#,
        "declined",
    ),
    (
        Trigger("verification.in_review"),
        "/api/identity/verifications/{}/review",
        r#"{"decision":"request_resubmission","note":"asked by a test"}"#,
        "resubmission_requested",
    ),
    (
        Made(verified_deal),
        "/api/capital/deals/{}/advance",
        r#"{"to_stage":"screening","note":"asked by a test"}"#,
        "screening",
    ),
    (
        Trigger("deal.created"),
        "/api/capital/deals/{}/close",
        r#"{"outcome":"lost","reason":"asked by a test"}"#,
        "lost",
    ),
    (
        Trigger("deal.created"),
        "/api/capital/deals/{}/close",
        r#"{"outcome":"withdrawn","reason":"asked by a test"}"#,
        "withdrawn",
    ),
    (
        Trigger("due_diligence_request.submitted"),
        "/api/capital/due-diligence-requests/{}/review",
        r#"{"decision":"accept","note":"asked by a test"}"#,
        "accepted",
    ),
    (
        Trigger("due_diligence_request.submitted"),
        "/api/capital/due-diligence-requests/{}/review",
        r#"{"decision":"reject","note":"asked by a test"}"#,
        "rejected",
    ),
    (
        Trigger("due_diligence_request.submitted"),
        "/api/capital/due-diligence-requests/{}/review",
        r#"{"decision":"waive","note":"asked by a test"}"#,
        "waived",
    ),
    (
        Trigger("due_diligence_request.created"),
        "/api/capital/due-diligence-requests/{}/review",
        r#"{"decision":"waive","note":"asked by a test"}"#,
        "waived",
    ),
    (
        Trigger("reconciliation_match.suggested"),
        "/api/payments/reconciliation-matches/{}/resolve",
        r#"{"action":"confirm","note":"asked by a test"}"#,
        "matched",
    ),
    (
        Trigger("reconciliation_match.suggested"),
        "/api/payments/reconciliation-matches/{}/resolve",
        r#"{"action":"reject","note":"asked by a test"}"#,
        "unmatched",
    ),
    (
        Trigger("reconciliation_match.exception"),
        "/api/payments/reconciliation-matches/{}/resolve",
        r#"{"action":"ignore","note":"asked by a test"}"#,
        "ignored",
    ),
];

/// The resource at that path. Some kinds cannot be read one by one: their last event shows the resource.
fn read(caller: &Caller, path: &str) -> Value {
    let answer = caller.get(path);
    if answer.status == 200 {
        return answer.data();
    }
    let id = path.rsplit_once('/').unwrap().1;
    let mut objects = caller.events().into_iter().map(|mut event| event["data"]["object"].take());
    objects.rfind(|object| object["id"] == id).unwrap()
}

/// The resource without the reasons in its history, because some operations take no reason.
fn plain(mut resource: Value) -> Value {
    for member in ["status_history", "stage_history"] {
        for change in resource[member].as_array_mut().into_iter().flatten() {
            change.as_object_mut().unwrap().remove("reason");
        }
    }
    resource
}

#[test]
fn a_manual_transition_has_the_effects_of_the_operation() {
    for (start, path, body, to) in PAIRS {
        let [called, moved] = [Caller::manual(), Caller::manual()];
        let ids = [start.id(&called), start.id(&moved)];
        assert_eq!(ids[0], ids[1], "both worlds are the same");
        let path = path.replace("{}", &ids[0]);
        let body: Value = serde_json::from_str(body).unwrap();
        called.post(&path, &body).expect(200);
        let hand = json!({"to": to, "reason": WHY});
        let hand = moved.post(&format!("/_sandbox/resources/{}/transition", ids[0]), &hand);
        let hand = hand.data();
        let target = path.rsplit_once('/').unwrap().0;
        let [by_call, by_hand] = [&called, &moved].map(|caller| read(caller, target));
        assert_eq!(plain(by_hand), plain(by_call), "{path} and by hand to {to}");
        assert_eq!(hand["id"], *ids[0]);
    }
}

#[test]
fn a_kind_that_is_not_moved_by_hand_names_the_operations_that_move_it() {
    let caller = Caller::manual();
    let company = caller.company(0);
    let first = |path: &str| id(&caller.all(&format!("{path}?company_id={company}"))[0]).to_owned();
    let month = json!({"company_id": company, "period": "2025-11"});
    let month = caller.post("/api/business/accounting-periods", &month).made();
    for (resource, said) in [
        (
            first("/api/payments/invoices"),
            "an invoice cannot be moved by this operation: sendInvoice",
        ),
        (first("/api/payments/bills"), "a bill cannot be moved by this operation: approveBill"),
        (
            id(&month).to_owned(),
            "an accounting period cannot be moved by this operation: closeAccountingPeriod",
        ),
        (
            first("/api/business/journal-entries"),
            "a journal entry cannot be moved by this operation: reverse",
        ),
        (first("/api/business/payslips"), "a payslip cannot be moved by this operation: its run"),
    ] {
        let path = format!("/_sandbox/resources/{resource}/transition");
        let refusal = caller.post(&path, &json!({"to": "paid"}));
        let refusal = refusal.refused(409, "invalid_state_transition");
        let detail = refusal["detail"].as_str().unwrap();
        assert!(detail.contains(said), "{detail}");
        assert_eq!(refusal["allowed"], json!([]));
    }
}
