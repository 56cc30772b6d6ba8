//! `Idempotency-Key`: a request that is sent twice is one request.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::harness::http::{Answer, pointers};
use crate::harness::world::id;
use crate::harness::{Caller, Request, Server};

const EMPLOYEES: &str = "/api/business/employees";
const RUN: &str = "/v1/payroll/run";

fn hire(caller: &Caller, name: &str) -> Value {
    json!({"company_id": caller.company(0), "name": name, "role": "Baker", "department": "Kitchen", "start_date": "2026-02-02"})
}

fn keyed(caller: &Caller, path: &str, key: &str, body: &Value) -> Request {
    caller.request("POST", path).header("Idempotency-Key", key).json(body)
}

fn send(caller: &Caller, path: &str, key: &str, body: &Value) -> Answer {
    caller.send(&keyed(caller, path, key, body))
}

fn replayed(answer: &Answer) -> bool {
    let header = answer.header("idempotent-replayed");
    assert!(matches!(header, None | Some("true")), "{header:?}");
    header.is_some()
}

/// An answer without the parts that depend on the time of sending.
fn lasting(answer: &Answer) -> (u16, Vec<(String, String)>, &str) {
    let of_the_moment = |name: &str| matches!(name, "date" | "idempotent-replayed");
    let headers = answer.headers.iter().filter(|(name, _)| !of_the_moment(name));
    (answer.status, headers.cloned().collect(), answer.text())
}

#[test]
fn a_repeated_request_is_answered_alike_and_changes_nothing() {
    let caller = Caller::instant();
    let body = json!({"company_id": caller.company(0), "period": "2026-01"});
    let first = send(&caller, RUN, "run-january", &body);
    first.expect(201);
    assert!(!replayed(&first));
    let before = caller.digest();
    let second = send(&caller, RUN, "run-january", &body);
    assert!(replayed(&second));
    assert_eq!(lasting(&first), lasting(&second));
    assert_eq!(caller.digest(), before);
}

/// The bodies are not stored: they are written again for each replay.
#[test]
fn a_replay_shows_the_resource_as_it_was() {
    let caller = Caller::instant();
    let created = send(&caller, EMPLOYEES, "create", &hire(&caller, "Ada Obi"));
    let path = format!("{EMPLOYEES}/{}", id(&created.made()));
    let activate = format!("{path}/activate");
    let activated = send(&caller, &activate, "activate", &json!({}));
    activated.expect(200);
    assert!(activated.header("etag").is_some());
    caller.patch(&path, &json!({"role": "Surveyor"})).expect(200);
    let before = caller.digest();
    for (path, key, body, first) in [
        (EMPLOYEES, "create", hire(&caller, "Ada Obi"), &created),
        (&activate, "activate", json!({}), &activated),
    ] {
        let again = send(&caller, path, key, &body);
        assert!(replayed(&again) && !again.text().contains("Surveyor"));
        assert_eq!(lasting(first), lasting(&again));
    }
    assert_eq!(caller.digest(), before);
}

#[test]
fn the_body_is_compared_as_json_and_not_as_text() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let first = send(&caller, RUN, "k", &json!({"company_id": company, "period": "2026-01"}));
    first.expect(201);
    let text =
        format!("{{ \"period\" : \"2026-\\u0030\\u0031\",\n\t\"company_id\":\"{company}\" }}");
    let request = caller.request("POST", RUN).header("Idempotency-Key", "k");
    let request = request.header("Content-Type", "application/json").bytes(text.as_bytes());
    let second = caller.send(&request);
    assert!(replayed(&second), "{}", second.text());
    assert_eq!(lasting(&first), lasting(&second));
}

#[test]
fn another_body_under_a_used_key_is_refused_with_the_members_that_differ() {
    let caller = Caller::instant();
    let first = hire(&caller, "Ada Obi");
    send(&caller, EMPLOYEES, "k", &first).expect(201);
    let before = caller.digest();
    let mut second = first.clone();
    second["name"] = json!("Ada Eze");
    second["metadata"] = json!({"team": "blue"});
    let problem = send(&caller, EMPLOYEES, "k", &second).refused(422, "idempotency_key_reused");
    let mut differing = pointers(&problem);
    differing.sort_unstable();
    assert_eq!(differing.len(), 2, "{problem}");
    assert!(differing[0].starts_with("/metadata"), "{problem}");
    assert_eq!(differing[1], "/name");
    assert_eq!(caller.digest(), before);
    assert!(replayed(&send(&caller, EMPLOYEES, "k", &first)), "the first answer is still kept");
}

#[test]
fn a_body_that_differs_in_many_members_or_is_no_object_is_described() {
    let caller = Caller::instant();
    let mut first = hire(&caller, "Ada Obi");
    let team = |word: &str| (0..30).map(|n| (format!("m{n}"), json!(word))).collect::<Value>();
    first["metadata"] = team("a");
    send(&caller, EMPLOYEES, "k", &first).expect(201);
    let mut second = first.clone();
    second["metadata"] = team("b");
    for (body, said) in [(&second, "and possibly at others"), (&json!([]), "one is no object")] {
        let problem = send(&caller, EMPLOYEES, "k", body).refused(422, "idempotency_key_reused");
        assert!(problem["detail"].as_str().unwrap().ends_with(said), "{problem}");
    }
}

#[test]
fn quotes_are_no_part_of_a_key() {
    let caller = Caller::instant();
    let body = hire(&caller, "Ada Obi");
    send(&caller, EMPLOYEES, "\"8e03978e-40d5-43dd-bc93-6894a57f9324\"", &body).expect(201);
    assert!(replayed(&send(&caller, EMPLOYEES, "8e03978e-40d5-43dd-bc93-6894a57f9324", &body)));
}

#[test]
fn a_malformed_key_is_refused() {
    let caller = Caller::instant();
    let body = hire(&caller, "Ada Obi");
    let before = caller.digest();
    let (long, longest) = ("k".repeat(256), "k".repeat(255));
    for key in ["", "\"\"", "two words", "schlüssel", "tab\tbed", long.as_str()] {
        let answer = send(&caller, EMPLOYEES, key, &body);
        answer.refused(400, "idempotency_key_invalid");
    }
    let twice = keyed(&caller, EMPLOYEES, "a", &body).header("Idempotency-Key", "b");
    caller.send(&twice).refused(400, "idempotency_key_invalid");
    assert_eq!(caller.digest(), before);
    send(&caller, EMPLOYEES, &longest, &body).expect(201);
}

#[test]
fn a_key_holds_for_its_path_and_its_world_only() {
    let (caller, other) = (Caller::instant(), Caller::instant());
    let body = hire(&caller, "Ada Obi");
    send(&caller, EMPLOYEES, "k", &body).expect(201);
    assert!(!replayed(&send(&other, EMPLOYEES, "k", &body)));
    let new = json!({"legal_name": "Lagos Bakery Ltd", "country": "NG", "currency": "NGN"});
    let company = send(&caller, "/api/business/companies", "k", &new);
    company.expect(201);
    assert!(!replayed(&company));
}

#[test]
fn only_a_post_takes_a_key() {
    let caller = Caller::instant();
    let first = caller.get(EMPLOYEES).data()[0]["id"].as_str().unwrap().to_owned();
    let path = format!("{EMPLOYEES}/{first}");
    for role in ["Chair", "Founder"] {
        let request = caller
            .request("PATCH", &path)
            .header("Idempotency-Key", "k")
            .json(&json!({"role": role}));
        let answer = caller.send(&request);
        assert!(!replayed(&answer));
        assert_eq!(answer.data()["role"], role);
    }
    let read = caller.send(&caller.request("GET", &path).header("Idempotency-Key", "k"));
    assert_eq!(read.data()["role"], "Founder");
}

#[test]
fn a_request_refused_before_execution_may_be_corrected_under_the_same_key() {
    let caller = Caller::instant();
    let good = json!({"company_id": caller.company(0), "period": "2026-01"});
    let request = caller.request("POST", RUN).header("Idempotency-Key", "k");
    let malformed = request.header("Content-Type", "application/json").bytes(b"{\"company_id\":");
    caller.send(&malformed).refused(400, "malformed_json");
    let shape = json!({"company_id": caller.company(0), "period": "2026-13"});
    send(&caller, RUN, "k", &shape).refused(422, "validation_failed");
    let missing = json!({"company_id": "com_0000000000000", "period": "2026-01"});
    send(&caller, RUN, "k", &missing).refused(404, "resource_not_found");
    let new = json!({"legal_name": "Lagos Bakery Ltd", "country": "NG", "currency": "NGN"});
    let pending = caller.post("/api/business/companies", &new).expect(201);
    let blocked = json!({"company_id": id(&pending["data"]), "period": "2026-01"});
    send(&caller, RUN, "k", &blocked).refused(403, "compliance_blocked");
    let answer = send(&caller, RUN, "k", &good);
    answer.expect(201);
    assert!(!replayed(&answer));
}

#[test]
fn a_conflict_is_kept_like_a_success() {
    let caller = Caller::instant();
    let body = json!({"company_id": caller.company(0), "period": "2026-01"});
    caller.post(RUN, &body).expect(201);
    let first = send(&caller, RUN, "again", &body);
    first.refused(409, "payroll_period_already_run");
    caller.post("/_sandbox/clock/advance", &json!({"by": "1h"})).expect(200);
    let second = send(&caller, RUN, "again", &body);
    assert!(replayed(&second));
    assert_eq!(lasting(&first), lasting(&second));
}

#[test]
fn a_key_is_forgotten_after_twenty_four_virtual_hours() {
    let caller = Caller::manual();
    let body = hire(&caller, "Ada Obi");
    let first = send(&caller, EMPLOYEES, "k", &body);
    caller.post("/_sandbox/clock/advance", &json!({"by": "86399s"})).expect(200);
    let second = send(&caller, EMPLOYEES, "k", &body);
    assert!(replayed(&second));
    assert_eq!(lasting(&first), lasting(&second));
    caller.post("/_sandbox/clock/advance", &json!({"by": "1s"})).expect(200);
    let third = send(&caller, EMPLOYEES, "k", &body);
    assert!(!replayed(&third));
    assert_ne!(first.expect(201)["data"]["id"], third.expect(201)["data"]["id"]);
}

/// A refusal does not change the world, so the reset one has the same version.
#[test]
fn a_reset_world_does_not_know_the_keys_of_refusals() {
    let caller = Caller::instant();
    let employees = caller.get(&format!("{EMPLOYEES}?status=active&per_page=1")).expect(200);
    let active = format!("{EMPLOYEES}/{}/activate", employees["data"][0]["id"].as_str().unwrap());
    let refused = || send(&caller, &active, "k", &json!({}));
    assert!(!replayed(&refused()) && replayed(&refused()));
    caller.post("/_sandbox/reset", &json!({})).expect(200);
    let again = refused();
    assert!(!replayed(&again));
    again.refused(409, "invalid_state_transition");
}

/// Without a log, a world that equals a new one can be evicted.
#[test]
fn a_world_with_keys_of_refusals_does_not_leave_memory() {
    let server = Arc::new(Server::start(&["--max-worlds", "2"]));
    let caller = Caller::of(&server);
    let employees = caller.get(&format!("{EMPLOYEES}?status=active&per_page=1")).expect(200);
    let active = format!("{EMPLOYEES}/{}/activate", employees["data"][0]["id"].as_str().unwrap());
    send(&caller, &active, "k", &json!({})).refused(409, "invalid_state_transition");
    let company = json!({"legal_name": "One Ltd", "country": "GB", "currency": "GBP"});
    Caller::of(&server).post("/api/business/companies", &company).expect(201);
    Caller::of(&server).post("/api/business/companies", &company).refused(503, "overloaded");
    assert!(replayed(&send(&caller, &active, "k", &json!({}))));
}

#[test]
fn a_reset_world_knows_no_keys() {
    let caller = Caller::instant();
    let body = hire(&caller, "Ada Obi");
    let first = send(&caller, EMPLOYEES, "k", &body);
    caller.post("/_sandbox/reset", &json!({})).expect(200);
    let second = send(&caller, EMPLOYEES, "k", &body);
    assert!(!replayed(&second));
    assert_eq!(lasting(&first), lasting(&second), "the world began again, and so did its ids");
}
