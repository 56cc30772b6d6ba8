//! Due diligence: checklists, answers, reviews, and overdue requests.

use serde_json::{Value, json};

use super::deals::{self, close, made};
use super::moved;
use crate::harness::contract::product;
use crate::harness::http::pointers;
use crate::harness::world::{id, number};
use crate::harness::{Answer, Caller};

const CASES: &str = "/api/capital/due-diligence-cases";
const UNKNOWN: &str = "ddc_0000000000000";

/// A new case of the first company with this checklist.
#[track_caller]
fn opened(caller: &Caller, template: &str) -> Value {
    let body = json!({"company_id": caller.company(0), "template": template});
    caller.post(CASES, &body).expect(201)["data"].take()
}

fn read(caller: &Caller, case: &Value) -> Value {
    caller.get(&format!("{CASES}/{}", id(case))).data()
}

fn requests(case: &Value) -> &Vec<Value> {
    case["requests"].as_array().unwrap()
}

/// The current request with this number of a case.
fn request(caller: &Caller, case: &Value, place: usize) -> Value {
    read(caller, case)["requests"][place].take()
}

fn act(caller: &Caller, request: &Value, verb: &str, body: &Value) -> Answer {
    let path = format!("/api/capital/due-diligence-requests/{}/{verb}", id(request));
    caller.post(&path, body)
}

fn submit(caller: &Caller, request: &Value) -> Answer {
    act(caller, request, "submit", &json!({"answer": "Attached"}))
}

fn review(caller: &Caller, request: &Value, decision: &str) -> Answer {
    act(caller, request, "review", &json!({"decision": decision}))
}

/// A checked document of a subject of this company.
fn document(caller: &Caller, company: Option<&str>, token: &str) -> String {
    let subject = json!({"type": "business", "legal_name": "Palm Foods Ltd", "country": "NG", "company_id": company});
    let subject = caller.post("/api/identity/subjects", &subject).expect(201);
    let path = format!("/api/identity/subjects/{}/documents", id(&subject["data"]));
    let body = json!({"type": "cac_certificate", "document_token": token});
    id(&caller.post(&path, &body).expect(201)["data"]).to_owned()
}

#[test]
fn a_case_is_completed_when_nothing_mandatory_is_open() {
    for template in ["lite", "standard", "credit"] {
        let caller = Caller::instant();
        let case = opened(&caller, template);
        let asked = requests(&case);
        let mandatory: Vec<&Value> = asked.iter().filter(|one| one["mandatory"] == true).collect();
        let progress = &case["progress"];
        assert_eq!(number(&progress["total"]), i64::try_from(asked.len()).unwrap());
        assert_eq!(number(&progress["mandatory"]), i64::try_from(mandatory.len()).unwrap());
        assert_eq!((&case["status"], &progress["percent"]), (&json!("open"), &json!(0)));
        assert!(asked.len() > mandatory.len() && !mandatory.is_empty());
        assert!(asked.iter().all(|one| one["due_on"] == case["due_on"]));
        for (place, one) in mandatory.iter().enumerate() {
            assert_eq!(read(&caller, &case)["status"], "open");
            let verb = if place % 2 == 0 { "accept" } else { "waive" };
            submit(&caller, one).expect(200);
            review(&caller, one, verb).expect(200);
        }
        let done = read(&caller, &case);
        assert_eq!(
            (&done["status"], &done["progress"]["percent"]),
            (&json!("completed"), &json!(100))
        );
        let waived = done["findings"].as_array().unwrap();
        assert_eq!(waived.len(), mandatory.len() / 2);
        assert!(waived.iter().all(|finding| finding["type"] == "waived"));
        let events = caller.events();
        let completed = |event: &&Value| event["type"] == "due_diligence_case.completed";
        let completed: Vec<&Value> = events.iter().filter(completed).collect();
        assert_eq!(completed.len(), 1);
        let settled = &completed[0]["data"]["previous"]["progress"]["mandatory_settled"];
        assert_eq!(number(settled), number(&progress["mandatory"]) - 1);
        // Optional requests can still be answered; no further request can be added.
        let rest = asked.iter().find(|one| one["mandatory"] == false).unwrap();
        submit(&caller, rest).expect(200);
        review(&caller, rest, "accept").expect(200);
        let more = json!({"category": "other", "title": "One thing more"});
        let path = format!("{CASES}/{}/requests", id(&case));
        let problem = caller.post(&path, &more).refused(409, "invalid_state_transition");
        assert_eq!((&problem["current"], &problem["allowed"]), (&json!("completed"), &json!([])));
        assert_eq!(read(&caller, &case)["status"], "completed");
    }
}

#[test]
fn a_request_is_answered_taken_up_rejected_answered_again_and_accepted() {
    let caller = Caller::manual();
    let case = opened(&caller, "lite");
    let first = &requests(&case)[0];
    let sent = submit(&caller, first).expect(200)["data"].take();
    assert_eq!((&sent["status"], &sent["answer"]), (&json!("submitted"), &json!("Attached")));
    assert_eq!(caller.advance(&json!({"by": "59s"})), [""; 0]);
    assert_eq!(caller.advance(&json!({"by": "1s"})), ["due_diligence_request.in_review"]);
    let note = json!({"decision": "reject", "note": "It is of another company"});
    let rejected = act(&caller, first, "review", &note).expect(200)["data"].take();
    assert_eq!((&rejected["status"], &rejected["overdue"]), (&json!("rejected"), &json!(false)));
    let finding = read(&caller, &case)["findings"][0].take();
    assert_eq!(
        (&finding["type"], &finding["note"]),
        (&json!("rejected"), &json!("It is of another company"))
    );
    assert_eq!(finding["due_diligence_request_id"], first["id"]);
    let again = json!({"report_ref": {"report": "trial-balance", "as_of": "2025-12-31"}});
    let again = act(&caller, first, "submit", &again).expect(200)["data"].take();
    assert_eq!((&again["status"], &again["answer"]), (&json!("submitted"), &Value::Null));
    let accepted = review(&caller, first, "accept").expect(200)["data"].take();
    let history = accepted["status_history"].as_array().unwrap().iter();
    let history: Vec<&str> = history.map(|change| change["status"].as_str().unwrap()).collect();
    assert_eq!(
        history,
        ["requested", "submitted", "in_review", "rejected", "submitted", "accepted"]
    );
    // The review came before the timer, so the timer has no effect.
    assert_eq!(caller.advance(&json!({"by": "1h"})), [""; 0]);
    let progress = read(&caller, &case)["progress"].take();
    assert_eq!((&progress["mandatory_settled"], &progress["percent"]), (&json!(1), &json!(33)));
    assert_eq!((&progress["accepted"], &progress["unanswered"]), (&json!(1), &json!(3)));
}

#[test]
fn unanswered_requests_become_overdue_after_their_day() {
    let caller = Caller::manual();
    let case = opened(&caller, "lite");
    assert_eq!(case["due_on"], "2026-01-08");
    let asked = requests(&case);
    let path = format!("{CASES}/{}/requests", id(&case));
    let late = json!({"category": "tax", "title": "A certificate", "due_on": "2026-01-01", "mandatory": false});
    let late = caller.post(&path, &late).expect(201)["data"].take();
    let overdue = "due_diligence_request.overdue";
    assert_eq!(caller.advance(&json!({"to": "2026-01-01T23:59:59Z"})), [""; 0]);
    assert_eq!(caller.advance(&json!({"by": "1s"})), [overdue]);
    assert_eq!(request(&caller, &case, 4)["overdue"], true);
    assert_eq!(request(&caller, &case, 4)["id"], late["id"]);
    for one in &asked[..2] {
        submit(&caller, one).expect(200);
    }
    review(&caller, &asked[0], "accept").expect(200);
    caller.advance(&json!({"to": "2026-01-08T23:59:59Z"}));
    // Two were answered; the mandatory third and the optional fourth were not.
    assert_eq!(caller.advance(&json!({"by": "1s"})), [overdue, overdue]);
    assert_eq!(read(&caller, &case)["progress"]["overdue"], 3);
    // An answer that is rejected after the due day is overdue at once.
    let rejected = review(&caller, &asked[1], "reject").expect(200);
    assert_eq!(
        (&rejected["data"]["status"], &rejected["data"]["overdue"]),
        (&json!("rejected"), &json!(true))
    );
    submit(&caller, &asked[1]).expect(200);
    review(&caller, &asked[1], "accept").expect(200);
    review(&caller, &asked[2], "waive").expect(200);
    let done = read(&caller, &case);
    assert_eq!((&done["status"], &done["progress"]["overdue"]), (&json!("completed"), &json!(2)));
    let types = done["findings"].as_array().unwrap().iter();
    let types: Vec<&str> = types.map(|finding| finding["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["rejected", "overdue", "waived", "overdue", "overdue", "overdue"]);
}

#[test]
fn requests_of_a_completed_case_or_a_closed_deal_do_not_become_overdue() {
    let caller = Caller::manual();
    moved(&caller, id(&opened(&caller, "lite")), "completed").expect(200);
    let deal = made(&caller, "safe");
    let body = json!({"company_id": caller.company(0), "deal_id": deal["id"], "template": "lite"});
    caller.post(CASES, &body).expect(201);
    close(&caller, &deal, &json!({"outcome": "lost"})).expect(200);
    assert_eq!(caller.advance(&json!({"by": "9d"})), [""; 0]);
}

#[test]
fn a_request_in_the_wrong_state_is_refused_with_the_allowed_states() {
    let caller = Caller::manual();
    let case = opened(&caller, "lite");
    let refused = |request: &Value, verb: &str, current: &str, allowed: Value| {
        let before = caller.digest();
        let answer = match verb {
            "submit" => submit(&caller, request),
            decision => review(&caller, request, decision),
        };
        let problem = answer.refused(409, "invalid_state_transition");
        assert_eq!((&problem["current"], &problem["allowed"]), (&json!(current), &allowed));
        assert_eq!(caller.digest(), before);
    };
    let one = &requests(&case)[0];
    let open = json!(["submitted", "waived"]);
    refused(one, "accept", "requested", open.clone());
    refused(one, "reject", "requested", open.clone());
    submit(&caller, one).expect(200);
    refused(one, "submit", "submitted", json!(["in_review", "accepted", "rejected", "waived"]));
    caller.advance(&json!({"by": "2m"}));
    refused(one, "submit", "in_review", json!(["accepted", "rejected", "waived"]));
    review(&caller, one, "reject").expect(200);
    refused(one, "reject", "rejected", open.clone());
    refused(one, "accept", "rejected", open);
    review(&caller, one, "waive").expect(200);
    let two = &requests(&case)[1];
    submit(&caller, two).expect(200);
    review(&caller, two, "accept").expect(200);
    for (done, status) in [(one, "waived"), (two, "accepted")] {
        for verb in ["submit", "accept", "reject", "waive"] {
            refused(done, verb, status, json!([]));
        }
    }
}

#[test]
fn an_answer_has_content_and_names_only_the_companys_documents() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let case = opened(&caller, "lite");
    let one = &requests(&case)[0];
    for nothing in [json!({}), json!({"document_ids": []})] {
        let problem = act(&caller, one, "submit", &nothing).refused(422, "validation_failed");
        assert_eq!(problem["errors"][0]["code"], "at_least_one");
    }
    let good = document(&caller, Some(&company), "tok_ok");
    let forged = document(&caller, Some(&company), "tok_forged");
    let other = document(&caller, Some(&caller.company(1)), "tok_ok");
    let missing = document(&caller, None, "tok_ok");
    let before = caller.digest();
    let body = json!({"document_ids": [good, "doc_0000000000000"]});
    let problem = act(&caller, one, "submit", &body).refused(404, "resource_not_found");
    assert_eq!(pointers(&problem), ["/document_ids/1"]);
    let body = json!({"document_ids": [good, forged, other, missing, good],
        "report_ref": {"report": "balance-sheet", "from": "2026-01-01", "as_of": "2026-01-02"}});
    let problem = act(&caller, one, "submit", &body).refused(422, "validation_failed");
    let codes = problem["errors"].as_array().unwrap().iter();
    let codes: Vec<&str> = codes.map(|error| error["code"].as_str().unwrap()).collect();
    let expected = [
        "rejected_document",
        "foreign_document",
        "foreign_document",
        "duplicate",
        "in_the_future",
        "not_taken",
    ];
    assert_eq!(codes, expected);
    assert_eq!(pointers(&problem)[4..], ["/report_ref/as_of", "/report_ref/from"]);
    let many = json!({"document_ids": vec![good.clone(); 21]});
    let problem = act(&caller, one, "submit", &many).refused(422, "validation_failed");
    assert_eq!(pointers(&problem), ["/document_ids"]);
    assert_eq!(caller.digest(), before);
    let sent = act(&caller, one, "submit", &json!({"document_ids": [good]})).expect(200);
    assert_eq!(sent["data"]["document_ids"], json!([good]));
}

#[test]
fn a_report_is_named_by_the_days_that_it_has_and_its_call_shows_it() {
    let caller = Caller::instant();
    let case = opened(&caller, "standard");
    let faults = |report: Value| {
        let body = json!({"report_ref": report});
        let problem = act(&caller, &requests(&case)[0], "submit", &body);
        let problem = problem.refused(422, "validation_failed");
        let errors = problem["errors"].as_array().unwrap().iter();
        let told = errors.map(|error| {
            format!("{} {}", error["pointer"].as_str().unwrap(), error["code"].as_str().unwrap())
        });
        told.collect::<Vec<String>>()
    };
    assert_eq!(faults(json!({"report": "balance-sheet"})), ["/report_ref/as_of required"]);
    let missing = ["/report_ref/from required", "/report_ref/to required"];
    assert_eq!(faults(json!({"report": "cash-flow"})), missing);
    let turned = json!({"report": "profit-and-loss", "from": "2025-12-31", "to": "2025-12-01"});
    assert_eq!(faults(turned), ["/report_ref/to before_from"]);
    let turned = json!({"report": "profit-and-loss", "from": "2025-12-31", "to": "2025-12-31", "as_of": "2025-12-31"});
    assert_eq!(faults(turned), ["/report_ref/as_of not_taken"]);
    let day = json!({"as_of": "2025-12-31"});
    let days = json!({"from": "2025-12-01", "to": "2025-12-31"});
    let reports = [
        ("balance-sheet", &day),
        ("trial-balance", &day),
        ("profit-and-loss", &days),
        ("cash-flow", &days),
    ];
    for (place, (report, of)) in reports.into_iter().enumerate() {
        let mut named = of.clone();
        named["report"] = report.into();
        let sent = act(&caller, &requests(&case)[place], "submit", &json!({"report_ref": named}));
        let shown_by = sent.expect(200)["data"]["report_ref"]["shown_by"].take();
        let (path, _) = product()["paths"]
            .as_object()
            .unwrap()
            .iter()
            .find(|(_, rows)| rows["get"]["operationId"] == shown_by["operation"])
            .expect("an operation of the document");
        let params = shown_by["params"].as_object().unwrap().iter();
        let query: Vec<String> =
            params.map(|(name, value)| format!("{name}={}", value.as_str().unwrap())).collect();
        let shown = caller.get(&format!("{path}?{}", query.join("&"))).data();
        assert_eq!(shown["company_id"], case["company_id"]);
        assert!(path.ends_with(report));
    }
}

#[test]
fn a_deal_has_one_case_and_it_is_of_its_company() {
    let caller = Caller::instant();
    let (company, deal) = (caller.company(0), made(&caller, "equity"));
    let of = |company: &str, deal: &str| json!({"company_id": company, "deal_id": deal, "template": "lite"});
    let problem = caller.post(CASES, &of(&company, "del_0000000000000"));
    assert_eq!(pointers(&problem.refused(404, "resource_not_found")), ["/deal_id"]);
    let problem = caller.post(CASES, &of("com_0000000000000", id(&deal)));
    assert_eq!(pointers(&problem.refused(404, "resource_not_found")), ["/company_id"]);
    let mut both = of(&caller.company(1), id(&deal));
    both["due_on"] = "2025-12-31".into();
    let problem = caller.post(CASES, &both).refused(422, "validation_failed");
    assert_eq!(pointers(&problem), ["/deal_id", "/due_on"]);
    let case = caller.post(CASES, &of(&company, id(&deal))).expect(201)["data"].take();
    let of_deal = || caller.get(&format!("{}/{}", deals::DEALS, id(&deal))).data();
    assert_eq!(of_deal()["due_diligence_case_id"], case["id"]);
    let problem = caller.post(CASES, &of(&company, id(&deal))).refused(409, "duplicate_reference");
    assert_eq!(problem["resource_id"], case["id"]);
    // The deal keeps its case.
    for stage in ["screening", "due_diligence"] {
        moved(&caller, id(&deal), stage).expect(200);
    }
    assert_eq!(of_deal()["due_diligence_case_id"], case["id"]);
    let opened =
        caller.events().iter().filter(|event| event["type"] == "due_diligence_case.opened").count();
    assert_eq!(opened, 1);
    let over = made(&caller, "equity");
    close(&caller, &over, &json!({"outcome": "withdrawn"})).expect(200);
    let problem = caller.post(CASES, &of(&company, id(&over)));
    problem.refused(409, "invalid_state_transition");
}

#[test]
fn days_to_answer_and_requests_of_a_case_have_bounds() {
    let caller = Caller::instant();
    let case = opened(&caller, "lite");
    let path = format!("{CASES}/{}/requests", id(&case));
    let ask = |due_on: Option<&str>| {
        let mut body = json!({"category": "people", "title": "A list"});
        if let Some(day) = due_on {
            body["due_on"] = day.into();
        }
        caller.post(&path, &body)
    };
    for wrong in ["2025-12-31", "2035-12-31", "9999-12-31"] {
        let problem = ask(Some(wrong)).refused(422, "validation_failed");
        assert_eq!(pointers(&problem), ["/due_on"]);
    }
    ask(Some("2035-12-30")).expect(201);
    ask(Some("2026-01-01")).expect(201);
    let usual = ask(None).expect(201);
    assert_eq!(
        (&usual["data"]["due_on"], &usual["data"]["mandatory"]),
        (&json!("2026-01-08"), &json!(true))
    );
    for _ in 7..50 {
        ask(None).expect(201);
    }
    let problem = ask(None).refused(422, "validation_failed");
    assert_eq!(problem["errors"][0]["code"], "too_many");
    assert_eq!(requests(&read(&caller, &case)).len(), 50);
    let path = format!("{CASES}/{UNKNOWN}");
    caller.get(&path).refused(404, "resource_not_found");
    let asked =
        caller.post(&format!("{path}/requests"), &json!({"category": "tax", "title": "A list"}));
    asked.refused(404, "resource_not_found");
}

#[test]
fn manual_transitions_of_cases_and_requests_act_like_a_review() {
    let caller = Caller::manual();
    let case = opened(&caller, "standard");
    let one = &requests(&case)[0];
    let problem = moved(&caller, id(one), "submitted").refused(409, "invalid_state_transition");
    assert_eq!(problem["allowed"], json!(["waived"]));
    submit(&caller, one).expect(200);
    moved(&caller, id(one), "in_review").expect(200);
    assert_eq!(caller.advance(&json!({"by": "5m"})), [""; 0]);
    moved(&caller, id(one), "rejected").expect(200);
    submit(&caller, one).expect(200);
    moved(&caller, id(one), "accepted").expect(200);
    moved(&caller, id(&requests(&case)[1]), "waived").expect(200);
    moved(&caller, id(&case), "completed").expect(200);
    let done = read(&caller, &case);
    assert_eq!((&done["status"], &done["progress"]["accepted"]), (&json!("completed"), &json!(1)));
    let problem = moved(&caller, id(&case), "completed").refused(409, "invalid_state_transition");
    assert_eq!((&problem["current"], &problem["allowed"]), (&json!("completed"), &json!([])));
}
