//! Subjects and their documents: registered, corrected, checked.

use serde_json::{Value, json};

use super::{SUBJECTS, document, open, person, subject, submit};
use crate::harness::Caller;
use crate::harness::http::pointers;
use crate::harness::world::id;

#[test]
fn a_person_has_a_name_and_a_business_a_legal_name() {
    let caller = Caller::instant();
    for (body, wrong) in [
        (
            json!({"type": "person", "legal_name": "X Ltd", "country": "NG"}),
            vec!["/name", "/legal_name"],
        ),
        (
            json!({"type": "business", "name": {"first": "A", "last": "B"}, "country": "NG", "date_of_birth": "1990-01-01"}),
            vec!["/legal_name", "/name", "/date_of_birth"],
        ),
        (
            json!({"type": "person", "name": {"first": "A", "last": "B"}, "country": "NG", "date_of_birth": "2199-01-01"}),
            vec!["/date_of_birth"],
        ),
    ] {
        let refused = caller.post(SUBJECTS, &body).refused(422, "validation_failed");
        assert_eq!(pointers(&refused), wrong, "{body}");
    }
}

#[test]
fn an_employee_is_of_the_company_that_is_named() {
    let caller = Caller::instant();
    let employees =
        caller.all(&format!("/api/business/employees?company_id={}", caller.company(1)));
    let ada = json!({"employee_id": id(&employees[0])});
    let made = person(&caller, "Obi", &ada);
    assert_eq!(made["company_id"], caller.company(1).as_str());
    let body = json!({"type": "person", "name": {"first": "Ada", "last": "Obi"}, "country": "NG",
        "employee_id": id(&employees[0]), "company_id": caller.company(0)});
    let refused = caller.post(SUBJECTS, &body).refused(422, "validation_failed");
    assert_eq!(pointers(&refused), ["/employee_id"]);
    let body = json!({"type": "person", "name": {"first": "Ada", "last": "Obi"}, "country": "NG", "company_id": "com_none"});
    caller.post(SUBJECTS, &body).refused(404, "resource_not_found");
    let body = json!({"type": "person", "name": {"first": "Ada", "last": "Obi"}, "country": "NG", "employee_id": "emp_none"});
    caller.post(SUBJECTS, &body).refused(404, "resource_not_found");
}

#[test]
fn subjects_are_filtered() {
    let caller = Caller::instant();
    person(&caller, "Obi", &json!({"external_id": "a-1"}));
    person(&caller, "Eze", &json!({}));
    let (_, business) = super::business(&caller);
    let ids = |query: &str| -> Vec<String> {
        let found = caller.all(&format!("{SUBJECTS}?{query}"));
        found.iter().map(|one| id(one).to_owned()).collect()
    };
    assert_eq!(ids("type=business"), [id(&business)]);
    assert_eq!(ids("external_id=a-1").len(), 1);
    assert_eq!(ids("kyc_status=unverified").len(), 3);
    assert_eq!(ids("kyc_status=approved").len(), 0);
}

#[test]
fn each_change_of_a_subject_has_its_event() {
    let caller = Caller::instant();
    let (ada, _) = super::submitted(&caller, "Obi");
    caller.post("/api/identity/trust-scores", &json!({"subject_id": id(&ada)})).expect(202);
    let asked = super::screen(&caller, &ada, &json!({}));
    assert_eq!(super::screening(&caller, &asked)["status"], "clear");
    let events = caller.events();
    let changed = events.iter().filter(|event| event["type"] == "subject.updated");
    let names = changed.map(|event| {
        let before = event["data"]["previous"].as_object().unwrap();
        let members = ["kyc_status", "trust_score", "risk_level"];
        members.into_iter().find(|member| before.contains_key(*member)).unwrap()
    });
    assert_eq!(
        names.collect::<Vec<_>>(),
        ["kyc_status", "kyc_status", "trust_score", "risk_level"]
    );
    let last = events.iter().rfind(|event| event["type"] == "subject.updated").unwrap();
    assert_eq!(last["data"]["object"], subject(&caller, &ada));
}

#[test]
fn only_a_material_change_of_an_approved_subject_asks_for_another_verification() {
    let caller = Caller::instant();
    let (ada, _) = super::submitted(&caller, "Obi");
    let target = format!("{SUBJECTS}/{}", id(&ada));
    let status = |body: Value| caller.patch(&target, &body).data()["kyc_status"].clone();
    assert_eq!(status(json!({"phone": "+2348000000000"})), "approved");
    assert_eq!(status(json!({"name": {"first": "Ada", "last": "Obi"}})), "approved");
    assert_eq!(status(json!({"name": {"first": "Ada", "last": "Eze"}})), "reverify_required");
    let refused = caller.patch(&target, &json!({"legal_name": "Obi Ltd"}));
    assert_eq!(pointers(&refused.refused(422, "validation_failed")), ["/legal_name"]);
    let again = open(&caller, &ada, "basic");
    submit(&caller, &again, &[]).expect(202);
    assert_eq!(subject(&caller, &ada)["kyc_status"], "approved");
    caller.audit();
}

#[test]
fn a_document_is_checked_after_a_minute_and_its_token_decides_the_result() {
    let caller = Caller::manual();
    let ada = person(&caller, "Obi", &json!({}));
    for token in ["tok_ok", "tok_anything", "tok_blurry", "tok_expired", "tok_forged"] {
        assert_eq!(document(&caller, &ada, "passport", token)["status"], "received");
    }
    assert_eq!(caller.advance(&json!({"by": "59s"})), [""; 0]);
    let happened = caller.advance(&json!({"by": "1s"}));
    let [yes, no] = ["document.accepted", "document.rejected"];
    assert_eq!(happened, [yes, yes, no, no, no]);
}

#[test]
fn a_document_is_rejected_when_its_last_day_is_over() {
    let caller = Caller::manual();
    let ada = person(&caller, "Obi", &json!({}));
    let target = format!("{SUBJECTS}/{}/documents", id(&ada));
    let over = json!({"type": "passport", "document_token": "tok_ok", "expires_on": "2025-12-31"});
    let soon = json!({"type": "passport", "document_token": "tok_ok", "expires_on": "2026-01-10"});
    caller.post(&target, &over).expect(201);
    assert_eq!(caller.advance(&json!({"by": "1m"})), ["document.rejected"]);
    caller.post(&target, &soon).expect(201);
    let happened = caller.advance(&json!({"to": "2026-01-10T23:00:00Z"}));
    assert_eq!(happened, ["document.accepted"]);
    assert_eq!(caller.advance(&json!({"by": "2h"})), ["document.rejected"]);
    caller.audit();
}

#[test]
fn events_of_a_subject_without_a_company_name_none() {
    let caller = Caller::instant();
    person(&caller, "Obi", &json!({}));
    let events = caller.events();
    assert_eq!(events[0]["company_id"], Value::Null);
    let logs = caller.get("/api/business/audit-logs").json();
    assert_eq!(logs["data"][0]["company_id"], Value::Null);
    let none = caller.get("/api/business/audit-logs?company_id=com_none").json();
    assert_eq!(none["meta"]["total"], 0);
    caller.audit();
}
