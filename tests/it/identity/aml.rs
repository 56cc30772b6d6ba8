//! Screenings and alerts: hits, and the effects of a decision.

use serde_json::{Value, json};

use super::{ALERTS, case, document, open, person, resolve, screen, screening, subject, submit};
use crate::harness::Caller;
use crate::harness::http::pointers;
use crate::harness::world::id;

/// The alert that a screening opened.
fn alert_of(caller: &Caller, of: &Value) -> String {
    screening(caller, of)["alert_id"].as_str().unwrap().to_owned()
}

#[test]
fn a_person_on_no_list_is_clear_after_five_seconds() {
    let caller = Caller::manual();
    let ada = person(&caller, "Obi", &json!({}));
    let asked = screen(&caller, &ada, &json!({}));
    assert_eq!(caller.advance(&json!({"by": "4s"})), [""; 0]);
    assert_eq!(
        caller.advance(&json!({"by": "1s"})),
        ["subject.updated", "aml_screening.completed"]
    );
    let clear = screening(&caller, &asked);
    assert_eq!((&clear["status"], &clear["risk_score"]), (&json!("clear"), &json!(0)));
    assert_eq!(subject(&caller, &ada)["risk_level"], "low");
}

#[test]
fn a_watchlist_name_is_found_in_every_spelling() {
    let caller = Caller::instant();
    for (first, last, kind) in [
        ("Nevnund", "Gleigleiz", "exact"),
        ("GLEIGLEIZ", "Nevnund", "reordered"),
        ("Nevnúnd", "Gleigleiz", "transliterated"),
        ("Nevnund", "Gleigleis", "transliterated"),
        ("Nevnunt", "Gleigleiz", "near"),
    ] {
        let body =
            json!({"type": "person", "name": {"first": first, "last": last}, "country": "NG"});
        let registered = caller.post(super::SUBJECTS, &body).made();
        let asked = screen(&caller, &registered, &json!({}));
        let found = screening(&caller, &asked);
        assert_eq!(found["status"], "needs_review", "{first} {last}");
        let hit = &found["hits"][0];
        assert_eq!(hit["match_type"], kind, "{first} {last}");
        assert_eq!(hit["list"], "sanctions");
        let score = hit["match_score"].as_i64().unwrap();
        assert!((85..=100).contains(&score));
        assert_eq!(found["risk_score"], score);
    }
    let body = json!({"type": "person", "name": {"first": "Nevnunt", "last": "Gleigleiz"}, "country": "NG"});
    let registered = caller.post(super::SUBJECTS, &body).made();
    for narrow in [json!({"fuzziness": 0}), json!({"lists": ["pep"]})] {
        let asked = screen(&caller, &registered, &narrow);
        assert_eq!(screening(&caller, &asked)["status"], "clear");
    }
    caller.audit();
}

#[test]
fn reserved_names_are_found_on_their_lists() {
    let caller = Caller::instant();
    for (last, list, score, level) in [
        ("Sanctioned", "sanctions", 100, "high"),
        ("Pep", "pep", 100, "medium"),
        ("Lookalike", "sanctions", 87, "high"),
    ] {
        let registered = person(&caller, last, &json!({}));
        let asked = screen(&caller, &registered, &json!({}));
        let hit = screening(&caller, &asked)["hits"][0].take();
        assert_eq!((&hit["list"], &hit["match_score"]), (&json!(list), &json!(score)));
        assert_eq!(subject(&caller, &registered)["risk_level"], level);
        let alert = caller.get(&format!("{ALERTS}/{}", alert_of(&caller, &asked))).data();
        assert_eq!((&alert["status"], &alert["severity"]), (&json!("open"), &json!(level)));
    }
    assert_eq!(caller.all(&format!("{ALERTS}?severity=high&status=open")).len(), 2);
}

#[test]
fn a_dismissed_alert_clears_its_screening() {
    let caller = Caller::instant();
    let registered = person(&caller, "Lookalike", &json!({}));
    let asked = screen(&caller, &registered, &json!({}));
    let alert = alert_of(&caller, &asked);
    assert_eq!(resolve(&caller, &alert, "escalate").data()["status"], "escalated");
    resolve(&caller, &alert, "escalate").refused(409, "invalid_state_transition");
    assert_eq!(resolve(&caller, &alert, "false_positive").data()["status"], "dismissed");
    let clear = screening(&caller, &asked);
    assert_eq!(clear["status"], "clear");
    assert_eq!(clear["hits"][0]["status"], "dismissed");
    assert_eq!(subject(&caller, &registered)["risk_level"], "low");
    let refused =
        resolve(&caller, &alert, "true_positive").refused(409, "invalid_state_transition");
    assert_eq!((&refused["current"], &refused["allowed"]), (&json!("dismissed"), &json!([])));
    caller.audit();
}

#[test]
fn a_case_of_a_listed_person_waits_and_is_declined_with_the_alert() {
    let caller = Caller::manual();
    let registered = person(&caller, "Sanctioned", &json!({}));
    let passport = document(&caller, &registered, "passport", "tok_ok");
    let kyc = open(&caller, &registered, "standard");
    submit(&caller, &kyc, &[&passport]).expect(202);
    caller.advance(&json!({"by": "1m"}));
    let waiting = case(&caller, &kyc);
    assert_eq!(waiting["status"], "in_review");
    assert_eq!(waiting["reject_labels"], json!(["watchlist_match"]));
    let alerts = caller.all(&format!("{ALERTS}?subject_id={}", id(&registered)));
    resolve(&caller, id(&alerts[0]), "true_positive").expect(200);
    assert_eq!(case(&caller, &kyc)["status"], "declined");
    let registered = subject(&caller, &registered);
    assert_eq!(
        (&registered["kyc_status"], &registered["risk_level"]),
        (&json!("declined"), &json!("high"))
    );
    caller.audit();
}

#[test]
fn an_unreviewed_case_is_declined_while_an_alert_is_open() {
    let caller = Caller::manual();
    let registered = person(&caller, "Lookalike", &json!({}));
    let passport = document(&caller, &registered, "passport", "tok_ok");
    let kyc = open(&caller, &registered, "standard");
    submit(&caller, &kyc, &[&passport]).expect(202);
    caller.advance(&json!({"by": "2d"}));
    assert_eq!(case(&caller, &kyc)["status"], "declined");
}

#[test]
fn a_name_added_to_a_watchlist_is_found_the_next_day() {
    let caller = Caller::instant();
    let ada = person(&caller, "Obi", &json!({}));
    let asked = screen(&caller, &ada, &json!({"ongoing": true}));
    assert_eq!(screening(&caller, &asked)["status"], "clear");
    assert_eq!(caller.advance(&json!({"by": "3d"})), [""; 0]);
    let inbound = |body: &Value| caller.post("/_sandbox/inbound/watchlist_hit", body);
    inbound(&json!({"list": "watchlist", "subject_id": id(&ada)})).expect(200);
    assert_eq!(screening(&caller, &asked)["status"], "clear");
    let happened = caller.advance(&json!({"by": "1d"}));
    assert_eq!(happened, ["subject.updated", "aml_screening.completed", "aml_alert.opened"]);
    let found = screening(&caller, &asked);
    assert_eq!(found["risk_score"], 80);
    resolve(&caller, found["alert_id"].as_str().unwrap(), "false_positive").expect(200);
    // A dismissed hit is not found again.
    assert_eq!(caller.advance(&json!({"by": "3d"})), [""; 0]);
    for wrong in [
        json!({"list": "watchlist"}),
        json!({"list": "watchlist", "subject_id": id(&ada), "name": "Ada Obi"}),
    ] {
        inbound(&wrong).refused(422, "validation_failed");
    }
    inbound(&json!({"list": "pep", "subject_id": "sub_none"})).refused(404, "resource_not_found");
    caller.audit();
}

#[test]
fn a_screening_and_a_resolution_need_what_they_name() {
    let caller = Caller::instant();
    let body = json!({"subject_id": "sub_none"});
    let refused = caller.post(super::SCREENINGS, &body).refused(404, "resource_not_found");
    assert_eq!(pointers(&refused), ["/subject_id"]);
    resolve(&caller, "ama_none", "escalate").refused(404, "resource_not_found");
    let ada = person(&caller, "Obi", &json!({}));
    for wrong in [json!({"fuzziness": 41}), json!({"lists": []}), json!({"lists": ["pep", "pep"]})]
    {
        let mut body = json!({"subject_id": id(&ada)});
        for (name, value) in wrong.as_object().unwrap() {
            body[name] = value.clone();
        }
        caller.post(super::SCREENINGS, &body).refused(422, "validation_failed");
    }
}

#[test]
fn screenings_and_alerts_accept_manual_transitions() {
    let caller = Caller::manual();
    let go = |of: &str, to: &str| {
        let target = format!("/_sandbox/resources/{of}/transition");
        caller.post(&target, &json!({"to": to}))
    };
    let ada = person(&caller, "Obi", &json!({}));
    for to in ["clear", "needs_review"] {
        let asked = screen(&caller, &ada, &json!({}));
        go(id(&asked), to).expect(200);
        assert_eq!(screening(&caller, &asked)["status"], to);
    }
    let alert = caller.all(ALERTS).remove(0);
    go(id(&alert), "escalated").expect(200);
    go(id(&alert), "confirmed").expect(200);
    assert_eq!(subject(&caller, &ada)["risk_level"], "high");
    caller.audit();
}

#[test]
fn a_confirmed_alert_declines_regardless_of_open_cases_and_other_screenings() {
    let caller = Caller::manual();
    let registered = person(&caller, "Sanctioned", &json!({}));
    let asked = screen(&caller, &registered, &json!({}));
    caller.advance(&json!({"by": "5s"}));
    let opened = open(&caller, &registered, "basic");
    resolve(&caller, &alert_of(&caller, &asked), "true_positive").expect(200);
    let kyc = || subject(&caller, &registered)["kyc_status"].take();
    assert_eq!(kyc(), "declined");
    caller.advance(&json!({"by": "1d"}));
    assert_eq!(case(&caller, &opened)["status"], "expired");
    assert_eq!(kyc(), "declined");
    let narrow = screen(&caller, &registered, &json!({"lists": ["adverse_media"]}));
    caller.advance(&json!({"by": "5s"}));
    assert_eq!(screening(&caller, &narrow)["status"], "clear");
    assert_eq!(subject(&caller, &registered)["risk_level"], "high");
    let again = open(&caller, &registered, "basic");
    submit(&caller, &again, &[]).expect(202);
    assert_eq!(kyc(), "pending");
    caller.advance(&json!({"by": "2s"}));
    assert_eq!(case(&caller, &again)["reject_labels"], json!(["watchlist_match"]));
    assert_eq!(kyc(), "declined");
    caller.audit();
}

#[test]
fn the_risk_of_an_open_alert_remains_after_a_narrower_screening() {
    let caller = Caller::instant();
    let registered = person(&caller, "Sanctioned", &json!({}));
    let risk = || subject(&caller, &registered)["risk_level"].take();
    let wide = screen(&caller, &registered, &json!({}));
    screen(&caller, &registered, &json!({"lists": ["pep"]}));
    assert_eq!(risk(), "high");
    resolve(&caller, &alert_of(&caller, &wide), "false_positive").expect(200);
    assert_eq!(risk(), "low");
}
