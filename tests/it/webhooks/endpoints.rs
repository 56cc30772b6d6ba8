//! Endpoints: created, changed, refused; given at the start.

use std::sync::Arc;

use serde_json::json;

use super::{endpoint, run_payroll};
use crate::harness::http::pointers;
use crate::harness::receiver::Receiver;
use crate::harness::{Caller, Server, command};

const ENDPOINTS: &str = "/_sandbox/webhook-endpoints";
const SECRET: &str = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";

#[test]
fn an_endpoint_is_made_shown_changed_and_deleted() {
    let (caller, receiver) = (Caller::manual(), Receiver::taking());
    let more = json!({"description": "mine", "events": ["payout.*"], "ordered": false});
    let (id, secret) = endpoint(&caller, &receiver, &more);
    assert!(id.starts_with("whe_") && secret.starts_with("whsec_"));
    let path = format!("{ENDPOINTS}/{id}");
    let shown = caller.get(&path).data();
    assert_eq!(shown["url"], receiver.url());
    assert_eq!(shown["events"], json!(["payout.*"]));
    assert_eq!((&shown["ordered"], &shown["retries"]), (&json!(false), &json!("virtual")));
    assert!(!shown.to_string().contains(&secret[6..]), "the secret is shown once");
    for events in [json!([]), json!(["*", "no"])] {
        let refused = caller.patch(&path, &json!({"events": events}));
        refused.refused(422, "validation_failed");
    }
    let changed = caller.patch(&path, &json!({"events": ["*"], "ordered": true}));
    assert_eq!(changed.data()["events"], json!(["*"]));
    assert_eq!(caller.all(ENDPOINTS).len(), 1);
    let deleted = caller.send(&caller.request("DELETE", &path)).data();
    assert_eq!(deleted["deleted"], true);
    caller.get(&path).refused(404, "resource_not_found");
    run_payroll(&caller);
    caller.advance(&json!({"by": "1d"}));
    assert_eq!(receiver.seen().len(), 0);
}

#[test]
fn an_empty_list_of_events_is_refused_and_the_default_is_every_event() {
    let (caller, receiver) = (Caller::manual(), Receiver::taking());
    let none = json!({"url": receiver.url(), "events": []});
    let problem = caller.post(ENDPOINTS, &none).refused(422, "validation_failed");
    assert_eq!(pointers(&problem), ["/events"]);
    let (id, _) = endpoint(&caller, &receiver, &json!({}));
    let path = format!("{ENDPOINTS}/{id}");
    assert_eq!(caller.get(&path).data()["events"], json!(["*"]));
    run_payroll(&caller);
    caller.advance(&json!({"by": "1s"}));
    assert!(!receiver.seen().is_empty());
}

#[test]
fn an_old_secret_is_not_announced_after_its_end() {
    let (caller, receiver) = (Caller::manual(), Receiver::taking());
    let (id, _) = endpoint(&caller, &receiver, &json!({}));
    let path = format!("{ENDPOINTS}/{id}");
    caller.post(&format!("{path}/rotate-secret"), &json!({})).expect(200);
    let until = caller.get(&path).data()["previous_secret_until"].clone();
    assert_eq!(until, "2026-01-02T00:00:00.000Z");
    caller.advance(&json!({"by": "24h"}));
    assert_eq!(caller.get(&path).data()["previous_secret_until"], json!(null));
}

#[test]
fn endpoints_of_one_key_are_not_those_of_another() {
    let (one, other) = (Caller::manual(), Caller::manual());
    let receiver = Receiver::taking();
    let (id, _) = endpoint(&one, &receiver, &json!({}));
    other.get(&format!("{ENDPOINTS}/{id}")).refused(404, "resource_not_found");
    run_payroll(&other);
    other.advance(&json!({"by": "1d"}));
    assert_eq!(receiver.seen().len(), 0);
}

#[test]
fn all_faults_of_an_endpoint_are_listed_and_a_secret_is_not_repeated() {
    let caller = Caller::manual();
    let body = json!({
        "url": "https://example.com/",
        "events": ["payroll_run.*", "payrol_run.paid", "payroll_run.payd"],
        "secret": "whsec_not_base64!",
    });
    let problem = caller.post(ENDPOINTS, &body).refused(422, "validation_failed");
    assert_eq!(pointers(&problem), ["/url", "/events/1", "/events/2", "/secret"]);
    let text = problem.to_string();
    assert!(text.contains("TLS is not supported") && text.contains("payroll_run.paid"), "{text}");
    assert!(!text.contains("not_base64"), "{text}");
}

#[test]
fn addresses_that_no_webhook_may_reach_are_refused_with_the_reason() {
    let caller = Caller::manual();
    let own = format!("http://localhost:{}/", caller.port());
    for (url, reason) in [
        (own.as_str(), "itself"),
        ("http://169.254.169.254/latest/meta-data", "link-local"),
        ("http://[::ffff:169.254.169.254]/", "link-local"),
        ("http://2852039166/", "spelling"),
        ("http://user:pass@example.com/", "a user or a password"),
    ] {
        let problem =
            caller.post(ENDPOINTS, &json!({"url": url})).refused(422, "validation_failed");
        assert_eq!(pointers(&problem), ["/url"]);
        let detail = problem["errors"][0]["detail"].as_str().unwrap();
        assert!(detail.contains(reason), "{url}: {detail}");
    }
}

#[test]
fn a_world_has_a_bounded_number_of_endpoints() {
    let (caller, receiver) = (Caller::manual(), Receiver::taking());
    for _ in 0..64 {
        endpoint(&caller, &receiver, &json!({}));
    }
    caller.post(ENDPOINTS, &json!({"url": receiver.url()})).refused(402, "limit_exceeded");
}

#[test]
fn endpoints_of_the_flags_belong_to_every_key_and_their_secret_is_not_shown() {
    let (all, paid) = (Receiver::taking(), Receiver::taking());
    let filtered = format!("{}=payroll_run.paid,payout.paid", paid.url());
    let flags = ["--clock", "manual", "--webhook", &all.url(), "--webhook", &filtered];
    let mut prepared = command(&["--port", "0"]);
    let server = Server::spawn(prepared.args(flags).env("SANDBOX_WEBHOOK_SECRET", SECRET));
    let server = Arc::new(server);
    for key in ["test_a", "test_b"] {
        let caller = Caller::with_key(&server, key);
        run_payroll(&caller);
        caller.advance(&json!({"until": "idle"}));
        let listed = caller.get(ENDPOINTS);
        assert_eq!(listed.data().as_array().unwrap().len(), 2);
        assert!(!listed.text().contains(&SECRET[6..]));
    }
    assert!(all.seen().iter().all(|one| one.good_signatures(SECRET) == 1));
    let companies = |receiver: &Receiver| receiver.seen().len();
    assert!(companies(&all) > companies(&paid) && companies(&paid) > 0);
    assert!(paid.names().iter().all(|name| name.split('.').nth(1) == Some("paid")));
    let (out, err) = Arc::into_inner(server).unwrap().stop();
    assert!(!out.contains(&SECRET[6..]) && !err.contains(&SECRET[6..]), "{err}");
}

#[test]
fn a_wrong_webhook_flag_is_wrong_usage() {
    for (flags, word) in [
        (["--webhook", "https://example.com"], "TLS is not supported"),
        (["--webhook", "http://h/=payrol.run"], "payroll_run"),
        (["--webhook", "http://h/a,http://h/b"], "separate several URLs by spaces"),
        (["--webhook-secret", "whsec_oh_no"], "whsec_ followed by base64"),
        (["--webhook-retries", "often"], "compressed"),
    ] {
        let mut prepared = command(&["--port", "0", "--quiet"]);
        let output = crate::harness::finish(prepared.args(flags));
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{err}");
        assert!(err.contains(word) && !err.contains("oh_no"), "{err}");
    }
}
