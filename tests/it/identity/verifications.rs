//! Verification cases: every path, and its effects for subjects and companies.

use serde_json::{Value, json};

use super::{CASES, case, document, open, person, review, statuses, subject, submit, submitted};
use crate::harness::Caller;
use crate::harness::http::pointers;
use crate::harness::world::id;

/// Submits a case, and chooses the bureau's reply.
fn submit_for(caller: &Caller, case: &Value, reply: &str) {
    let request = caller
        .request("POST", &format!("{CASES}/{}/submit", id(case)))
        .header("sandbox-scenario", &format!("bureau.reply={reply}"))
        .json(&json!({"consent": true}));
    caller.send(&request).expect(202);
}

#[test]
fn an_approved_business_activates_its_company() {
    let caller = Caller::manual();
    let (company, bakery) = super::business(&caller);
    let papers = document(&caller, &bakery, "cac_certificate", "tok_ok");
    let kyb = open(&caller, &bakery, "standard");
    assert_eq!(kyb["status"], "created");
    let asked = submit(&caller, &kyb, &[&papers]).expect(202);
    assert_eq!(asked["data"]["status"], "processing");
    assert_eq!(subject(&caller, &bakery)["kyc_status"], "pending");
    let happened = caller.advance(&json!({"by": "1m"}));
    assert_eq!(
        happened,
        [
            "subject.updated",
            "aml_screening.completed",
            "document.accepted",
            "subject.updated",
            "verification.approved",
            "compliance_requirement.resolved",
            "company.status_changed",
        ]
    );
    let company = caller.get(&format!("/api/business/companies/{company}")).data();
    assert_eq!(company["status"], "active");
    assert_eq!(company["blockers"], json!([]));
    let approved = case(&caller, &kyb);
    assert_eq!(approved["result"], "approved");
    let checks = approved["checks"].as_array().unwrap();
    assert!(checks.iter().all(|check| check["status"] == "passed"));
    assert_eq!(subject(&caller, &bakery)["verified_level"], "standard");
    caller.audit();
}

#[test]
fn a_case_is_submitted_once() {
    let caller = Caller::manual();
    let (_, case) = submitted(&caller, "Obi");
    let refused = submit(&caller, &case, &[]).refused(409, "invalid_state_transition");
    assert_eq!(refused["current"], "processing");
    let allowed = ["approved", "declined", "in_review", "resubmission_requested", "expired"];
    assert_eq!(refused["allowed"], json!(allowed));
    caller.advance(&json!({"by": "2s"}));
    let refused = submit(&caller, &case, &[]).refused(409, "invalid_state_transition");
    assert_eq!(refused["allowed"], json!([]));
}

#[test]
fn a_reserved_name_chooses_the_whole_way() {
    let caller = Caller::manual();
    let way = |last: &str, spans: &[&str]| {
        let (registered, opened) = submitted(&caller, last);
        for span in spans {
            caller.advance(&json!({"by": span}));
        }
        let (now, who) = (case(&caller, &opened), subject(&caller, &registered));
        let status = who["kyc_status"].as_str().unwrap().to_owned();
        let passed: Vec<String> = statuses(&now).iter().map(|one| (*one).to_owned()).collect();
        (passed.join(" "), status)
    };
    let is = |found: (String, String), passed: &str, status: &str| {
        assert_eq!((found.0.as_str(), found.1.as_str()), (passed, status));
    };
    is(way("Obi", &["2s"]), "created processing approved", "approved");
    is(way("Decline", &["2s"]), "created processing declined", "declined");
    is(way("Review", &["2s"]), "created processing in_review", "in_review");
    is(way("Review", &["2s", "1d"]), "created processing in_review approved", "approved");
    is(way("Expire", &["23h"]), "created processing", "pending");
    is(way("Expire", &["1d"]), "created processing expired", "unverified");
    is(way("Offline", &["5h"]), "created processing", "pending");
    is(way("OFFLINE", &["6h"]), "created processing approved", "approved");
    is(way("Retry", &["2s"]), "created processing resubmission_requested", "pending");
    is(
        way("Retry", &["2s", "1d"]),
        "created processing resubmission_requested expired",
        "unverified",
    );
    caller.audit();
}

#[test]
fn a_resubmission_is_approved() {
    let caller = Caller::instant();
    let (registered, opened) = submitted(&caller, "Retry");
    let asked = case(&caller, &opened);
    assert_eq!(asked["reject_type"], "retry");
    submit(&caller, &opened, &[]).expect(202);
    let done = case(&caller, &opened);
    assert_eq!((&done["status"], &done["submissions"]), (&json!("approved"), &json!(2)));
    assert_eq!(done["reject_labels"], json!([]));
    assert_eq!(subject(&caller, &registered)["kyc_status"], "approved");
}

#[test]
fn a_case_that_is_not_submitted_expires_after_a_day() {
    let caller = Caller::manual();
    let ada = person(&caller, "Obi", &json!({}));
    let opened = open(&caller, &ada, "basic");
    assert_eq!(caller.advance(&json!({"by": "23h"})), [""; 0]);
    assert_eq!(caller.advance(&json!({"by": "1h"})), ["verification.expired"]);
    assert_eq!(case(&caller, &opened)["status"], "expired");
    assert_eq!(subject(&caller, &ada)["kyc_status"], "unverified");
}

#[test]
fn a_level_asks_for_its_documents_and_a_case_for_consent() {
    let caller = Caller::instant();
    let ada = person(&caller, "Obi", &json!({}));
    let opened = open(&caller, &ada, "enhanced");
    let target = format!("{CASES}/{}/submit", id(&opened));
    let refused = caller.post(&target, &json!({"consent": false}));
    let refused = refused.refused(422, "validation_failed");
    assert_eq!(pointers(&refused), ["/consent", "/document_ids", "/document_ids"]);
    let passport = document(&caller, &ada, "passport", "tok_ok");
    let blurry = document(&caller, &ada, "proof_of_address", "tok_blurry");
    submit(&caller, &opened, &[&passport, &blurry]).expect(202);
    assert_eq!(case(&caller, &opened)["status"], "resubmission_requested");
    let refused = submit(&caller, &opened, &[&passport, &blurry]);
    let refused = refused.refused(422, "validation_failed");
    assert_eq!(refused["errors"][0]["code"], "document_rejected");
    let other = person(&caller, "Eze", &json!({}));
    let foreign = document(&caller, &other, "proof_of_address", "tok_ok");
    let refused = submit(&caller, &opened, &[&passport, &foreign]);
    let refused = refused.refused(422, "validation_failed");
    assert_eq!(refused["errors"][0]["code"], "foreign_document");
    let unknown = json!({"consent": true, "document_ids": ["doc_none"]});
    let refused = caller.post(&target, &unknown).refused(404, "resource_not_found");
    assert_eq!(pointers(&refused), ["/document_ids/0"]);
    let letter = document(&caller, &ada, "proof_of_address", "tok_ok");
    submit(&caller, &opened, &[&passport, &letter]).expect(202);
    assert_eq!(case(&caller, &opened)["status"], "approved");
}

#[test]
fn a_faulty_document_comes_before_the_bureaus_decision() {
    for (token, status, label) in [
        ("tok_blurry", "resubmission_requested", "document_unreadable"),
        ("tok_expired", "resubmission_requested", "document_expired"),
        ("tok_forged", "declined", "document_forged"),
    ] {
        // The document is examined after the submission, before it, and immediately.
        for (caller, before) in
            [(Caller::manual(), "0s"), (Caller::manual(), "1m"), (Caller::instant(), "0s")]
        {
            let ada = person(&caller, "Obi", &json!({}));
            let opened = open(&caller, &ada, "standard");
            let passport = document(&caller, &ada, "passport", token);
            caller.advance(&json!({"by": before}));
            submit(&caller, &opened, &[&passport]).expect(202);
            caller.advance(&json!({"by": "1m"}));
            let found = case(&caller, &opened);
            assert_eq!(found["status"], status);
            assert_eq!(found["reject_labels"], json!([label]));
            caller.audit();
        }
    }
}

#[test]
fn a_review_decides_only_what_is_in_review() {
    for (decision, status, kyc) in [
        ("approve", "approved", "approved"),
        ("decline", "declined", "declined"),
        ("request_resubmission", "resubmission_requested", "pending"),
    ] {
        let caller = Caller::instant();
        let (registered, opened) = submitted(&caller, "Review");
        assert_eq!(case(&caller, &opened)["status"], "in_review");
        let decided =
            review(&caller, &opened, &json!({"decision": decision, "note": "Seen"})).data();
        assert_eq!(decided["status"], status);
        assert_eq!(decided["note"], "Seen");
        assert_eq!(subject(&caller, &registered)["kyc_status"], kyc);
        let again = review(&caller, &opened, &json!({"decision": "approve"}));
        again.refused(409, "invalid_state_transition");
        caller.audit();
    }
    let caller = Caller::instant();
    let (_, opened) = submitted(&caller, "Review");
    let labels = json!({"decision": "approve", "reject_labels": ["data_mismatch"]});
    let refused = review(&caller, &opened, &labels).refused(422, "validation_failed");
    assert_eq!(pointers(&refused), ["/reject_labels"]);
}

#[test]
fn a_case_can_be_cancelled_unless_the_bureau_is_busy_with_it() {
    let caller = Caller::manual();
    let cancel = |case: &Value| caller.post(&format!("{CASES}/{}/cancel", id(case)), &json!({}));
    let ada = person(&caller, "Obi", &json!({}));
    let opened = open(&caller, &ada, "basic");
    assert_eq!(cancel(&opened).data()["status"], "cancelled");
    assert_eq!(caller.advance(&json!({"by": "2d"})), [""; 0]);
    let (_, busy) = submitted(&caller, "Obi");
    cancel(&busy).refused(409, "invalid_state_transition");
    let (registered, looked_at) = submitted(&caller, "Review");
    caller.advance(&json!({"by": "2s"}));
    assert_eq!(cancel(&looked_at).data()["status"], "cancelled");
    assert_eq!(subject(&caller, &registered)["kyc_status"], "unverified");
    let (_, again) = submitted(&caller, "Retry");
    caller.advance(&json!({"by": "2s"}));
    assert_eq!(cancel(&again).data()["status"], "cancelled");
}

#[test]
fn a_subject_has_one_open_case_of_the_kind_that_it_is() {
    let caller = Caller::instant();
    let ada = person(&caller, "Obi", &json!({}));
    let body = |kind: &str| json!({"subject_id": id(&ada), "type": kind, "level": "basic"});
    let refused = caller.post(CASES, &body("kyb")).refused(422, "validation_failed");
    assert_eq!(pointers(&refused), ["/type"]);
    let mut odd = body("kyc");
    odd["checks"] = json!(["ownership"]);
    let refused = caller.post(CASES, &odd).refused(422, "validation_failed");
    assert_eq!(pointers(&refused), ["/checks/0"]);
    caller.post(CASES, &body("kyc")).expect(201);
    let refused = caller.post(CASES, &body("kyc"));
    let refused = refused.refused(409, "invalid_state_transition");
    assert_eq!(refused["current"], "created");
    let missing = json!({"subject_id": "sub_none", "type": "kyc", "level": "basic"});
    caller.post(CASES, &missing).refused(404, "resource_not_found");
}

#[test]
fn a_declined_step_up_takes_an_approval_away_and_an_expired_one_does_not() {
    let caller = Caller::instant();
    let (ada, _) = submitted(&caller, "Obi");
    let step_up = open(&caller, &ada, "basic");
    caller.advance(&json!({"by": "1d"}));
    assert_eq!(case(&caller, &step_up)["status"], "expired");
    assert_eq!(subject(&caller, &ada)["kyc_status"], "approved");
    let step_up = open(&caller, &ada, "basic");
    submit_for(&caller, &step_up, "declined");
    assert_eq!(subject(&caller, &ada)["kyc_status"], "declined");
}

#[test]
fn a_lower_approval_replaces_a_level_only_after_a_decline() {
    let caller = Caller::instant();
    let ada = person(&caller, "Obi", &json!({}));
    let papers = document(&caller, &ada, "passport", "tok_ok");
    let level = || subject(&caller, &ada)["verified_level"].clone();
    submit(&caller, &open(&caller, &ada, "standard"), &[&papers]).expect(202);
    assert_eq!(level(), "standard");
    submit(&caller, &open(&caller, &ada, "basic"), &[]).expect(202);
    assert_eq!(level(), "standard");
    let declined = open(&caller, &ada, "basic");
    submit_for(&caller, &declined, "declined");
    submit(&caller, &open(&caller, &ada, "basic"), &[]).expect(202);
    assert_eq!(subject(&caller, &ada)["kyc_status"], "approved");
    assert_eq!(level(), "basic");
}

#[test]
fn a_forged_document_that_expires_before_its_examination_is_forged() {
    let caller = Caller::manual();
    caller.advance(&json!({"to": "2026-01-01T23:59:30Z"}));
    let ada = person(&caller, "Obi", &json!({}));
    let opened = open(&caller, &ada, "standard");
    let target = format!("{}/{}/documents", super::SUBJECTS, id(&ada));
    let body =
        json!({"type": "passport", "document_token": "tok_forged", "expires_on": "2026-01-01"});
    let papers = caller.post(&target, &body).made();
    submit(&caller, &opened, &[&papers]).expect(202);
    caller.advance(&json!({"by": "5m"}));
    let events = caller.events();
    let rejected = events.iter().find(|event| event["type"] == "document.rejected").unwrap();
    assert_eq!(rejected["data"]["object"]["id"], papers["id"]);
    assert_eq!(rejected["data"]["object"]["fault"], "forged");
    assert_eq!(case(&caller, &opened)["status"], "declined");
}

#[test]
fn manual_transitions_of_a_case_cover_its_lifecycle() {
    let caller = Caller::manual();
    let go = |of: &Value, to: &str| {
        let target = format!("/_sandbox/resources/{}/transition", id(of));
        caller.post(&target, &json!({"to": to}))
    };
    for to in ["approved", "declined", "in_review", "resubmission_requested", "expired"] {
        let (_, opened) = submitted(&caller, "Obi");
        go(&opened, to).expect(200);
        assert_eq!(case(&caller, &opened)["status"], to);
    }
    let (_, opened) = submitted(&caller, "Obi");
    let refused = go(&opened, "processing").refused(409, "invalid_state_transition");
    assert_eq!(refused["current"], "processing");
    let ada = person(&caller, "Obi", &json!({}));
    let papers = document(&caller, &ada, "passport", "tok_ok");
    assert_eq!(go(&papers, "rejected").data()["fault"], "unreadable");
    caller.advance(&json!({"to": "2027-01-01T00:00:00Z"}));
    caller.audit();
}

#[test]
fn a_declined_subject_stays_declined_when_the_next_case_expires() {
    let caller = Caller::instant();
    let (registered, _) = submitted(&caller, "Decline");
    let again = open(&caller, &registered, "basic");
    submit_for(&caller, &again, "in_review");
    assert_eq!(case(&caller, &again)["status"], "in_review");
    caller.post(&format!("{CASES}/{}/cancel", id(&again)), &json!({})).expect(200);
    assert_eq!(
        statuses(&subject(&caller, &registered)),
        ["unverified", "pending", "declined", "pending", "in_review", "declined"]
    );
    caller.audit();
}

#[test]
fn a_change_during_a_case_is_not_approved_with_it() {
    let caller = Caller::manual();
    let (registered, opened) = submitted(&caller, "Obi");
    let target = format!("{}/{}", super::SUBJECTS, id(&registered));
    let other = json!({"name": {"first": "Ada", "last": "Eze"}});
    assert_eq!(caller.patch(&target, &other).data()["kyc_status"], "pending");
    caller.advance(&json!({"by": "2s"}));
    assert_eq!(case(&caller, &opened)["status"], "approved");
    assert_eq!(subject(&caller, &registered)["kyc_status"], "reverify_required");
    let again = open(&caller, &registered, "basic");
    submit(&caller, &again, &[]).expect(202);
    caller.advance(&json!({"by": "2s"}));
    assert_eq!(subject(&caller, &registered)["kyc_status"], "approved");
}

#[test]
fn a_person_two_letters_away_from_a_list_entry_is_reviewed() {
    let caller = Caller::manual();
    let decided = |last: &str| {
        let body =
            json!({"type": "person", "name": {"first": "Bryvzyk", "last": last}, "country": "GB"});
        let registered = caller.post(super::SUBJECTS, &body).made();
        let passport = document(&caller, &registered, "passport", "tok_ok");
        let opened = open(&caller, &registered, "standard");
        submit(&caller, &opened, &[&passport]).expect(202);
        caller.advance(&json!({"by": "2m"}));
        case(&caller, &opened)["status"].take()
    };
    // The entry is Bryvzyk Konkroxhaz.
    for last in ["Konkroxhaz", "Konkroxhap", "Kongroxhap", "Konkroxh"] {
        assert_eq!(decided(last), "in_review", "{last}");
    }
    assert_eq!(decided("Mangroxhap"), "approved");
}
