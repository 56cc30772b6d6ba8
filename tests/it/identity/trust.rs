//! Trust scores, which can be calculated by hand, and checks of bank accounts.

use serde_json::{Value, json};

use super::{document, open, person, submit};
use crate::harness::Caller;
use crate::harness::http::pointers;
use crate::harness::world::id;

const SCORES: &str = "/api/identity/trust-scores";
const ACCOUNTS: &str = "/api/identity/bank-account-verifications";

fn score(caller: &Caller, subject: &Value, more: &Value) -> Value {
    let mut body = json!({"subject_id": id(subject)});
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    let asked = caller.post(SCORES, &body).expect(202)["data"].take();
    assert_eq!(asked["status"], "processing");
    caller.get(&format!("{SCORES}/{}", id(&asked))).data()
}

#[test]
fn a_score_is_the_sum_of_its_reasons_and_can_be_calculated_by_hand() {
    let caller = Caller::instant();
    let ada = person(&caller, "Obi", &json!({"email": "ada@example.com"}));
    // kyc 400 x 10 %, aml 300 x 40 %, payments 75 x 50 %, payroll 75 x 50 %, profile 100 x 20 %, signals 50 x 0 %.
    let first = score(&caller, &ada, &json!({}));
    assert_eq!(first["score"], 40 + 120 + 37 + 37 + 20);
    assert_eq!(first["band"], "low");
    let points = first["reasons"].as_array().unwrap().iter();
    assert_eq!(points.map(|one| one["points"].as_i64().unwrap()).sum::<i64>(), 254);
    let passport = document(&caller, &ada, "passport", "tok_ok");
    let kyc = open(&caller, &ada, "standard");
    submit(&caller, &kyc, &[&passport]).expect(202);
    // kyc 400 x 85 %, aml 300 x 100 %.
    let second = score(&caller, &ada, &json!({}));
    assert_eq!(second["score"], 340 + 300 + 37 + 37 + 20);
    assert_eq!(second["previous_score"], 254);
    let events = caller.events();
    let names = events.iter().map(|event| event["type"].as_str().unwrap());
    let trust: Vec<&str> = names.filter(|name| name.starts_with("trust")).collect();
    assert_eq!(
        trust,
        [
            "trust_score.created",
            "trust_score.completed",
            "trust_score.created",
            "trust_score.completed",
            "trust_score.changed",
        ]
    );
    assert_eq!(super::subject(&caller, &ada)["trust_score"]["score"], 734);
    caller.audit();
}

#[test]
fn each_context_weighs_in_its_own_way_and_signals_count() {
    let caller = Caller::instant();
    let ada = person(&caller, "Obi", &json!({}));
    // kyc 250 x 10 %, aml 250 x 40 %, payments 300 x 50 %, payroll 100 x 50 %, signals 50 x 60 %.
    let signals = json!({"context": "payout", "signals": {"email_verified": true, "device_known": true, "phone_verified": false}});
    assert_eq!(score(&caller, &ada, &signals)["score"], 25 + 100 + 150 + 50 + 30);
    let body = json!({"subject_id": "sub_none"});
    caller.post(SCORES, &body).refused(404, "resource_not_found");
    let odd = json!({"subject_id": id(&ada), "signals": {"mood": true}});
    caller.post(SCORES, &odd).refused(422, "validation_failed");
}

#[test]
fn a_fully_paid_payroll_raises_the_score_and_a_partly_paid_one_lowers_it() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let owner = person(&caller, "Obi", &json!({"company_id": company}));
    let before = score(&caller, &owner, &json!({"context": "credit"}));
    caller.run_payroll(&company, "2026-01");
    caller.advance(&json!({"to": "2026-02-10T00:00:00Z"}));
    let paid = score(&caller, &owner, &json!({"context": "credit"}));
    assert!(paid["score"].as_i64() > before["score"].as_i64(), "{before} {paid}");
    let body = json!({"company_id": company, "period": "2026-02"});
    let request = caller
        .request("POST", "/v1/payroll/run")
        .header("sandbox-scenario", "payroll_run.fund=insufficient_funds")
        .json(&body);
    caller.send(&request).expect(201);
    caller.advance(&json!({"to": "2026-03-10T00:00:00Z"}));
    let short = score(&caller, &owner, &json!({"context": "credit"}));
    assert!(short["score"].as_i64() < paid["score"].as_i64(), "{paid} {short}");
}

#[test]
fn a_score_takes_two_seconds_or_a_manual_transition() {
    let caller = Caller::manual();
    let ada = person(&caller, "Obi", &json!({}));
    let asked = caller.post(SCORES, &json!({"subject_id": id(&ada)})).expect(202);
    let target = format!("/_sandbox/resources/{}/transition", id(&asked["data"]));
    caller.post(&target, &json!({"to": "completed"})).expect(200);
    assert_eq!(caller.advance(&json!({"by": "2s"})), [""; 0]);
    let again = caller.post(SCORES, &json!({"subject_id": id(&ada)})).expect(202);
    assert_eq!(again["data"]["score"], Value::Null);
    assert_eq!(caller.advance(&json!({"by": "2s"})), ["subject.updated", "trust_score.completed"]);
}

fn check(caller: &Caller, number: &str, scenario: Option<&str>) -> Value {
    let body = json!({"bank_code": "011", "account_number": number, "expected_name": "Ada Okafor", "country": "NG"});
    let mut request = caller.request("POST", ACCOUNTS).json(&body);
    if let Some(scenario) = scenario {
        request = request.header("sandbox-scenario", scenario);
    }
    caller.send(&request).data()
}

#[test]
fn a_bank_names_the_account_holder_at_once() {
    let caller = Caller::manual();
    let found = check(&caller, "0000014579", None);
    assert_eq!((&found["result"], &found["match_score"]), (&json!("match"), &json!(100)));
    assert_eq!(found["account_last4"], "4579");
    for result in ["partial_match", "no_match", "not_found"] {
        let scenario = format!("bank_account.resolve={result}");
        let found = check(&caller, "0000014579", Some(&scenario));
        assert_eq!(found["result"], result);
        assert_eq!(found["account_name"].is_null(), result == "not_found");
    }
    assert_eq!(check(&caller, "9999999903", None)["result"], "not_found");
    let body =
        json!({"bank_code": "011", "account_number": "0000014578", "expected_name": "Ada Okafor"});
    let refused = caller.post(ACCOUNTS, &body).refused(422, "validation_failed");
    assert_eq!(pointers(&refused), ["/account_number"]);
    let events = caller.events();
    assert!(events.iter().all(|event| event["type"] == "bank_account_verification.completed"));
    assert_eq!(events.len(), 5);
    caller.audit();
}
