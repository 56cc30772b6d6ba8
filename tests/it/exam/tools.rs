//! Features of the control plane that the exam uses and any test can use.

use std::io::Write;
use std::net::TcpStream;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::harness::receiver::{Delivered, Receiver};
use crate::harness::{Answer, Caller, Server};
use crate::payouts::{PAYOUTS, Payer};

/// A server of its own, because the test forks to fixed keys.
fn caller() -> Caller {
    Caller::of(&Arc::new(Server::start(&["--seed", "42"])))
}

fn made(answer: &Answer) -> Value {
    answer.expect(201)["data"].take()
}

fn text(value: &Value) -> String {
    value.as_str().expect("text").to_owned()
}

/// The caller of a fork of the present state.
fn fork(caller: &Caller, server: &Arc<Server>, key: &str, more: &Value) -> Caller {
    let snapshot = text(&made(&caller.post("/_sandbox/snapshots", &json!({})))["id"]);
    let mut body = more.clone();
    body["key"] = key.into();
    caller.post(&format!("/_sandbox/snapshots/{snapshot}/fork"), &body).expect(201);
    Caller::with_key(server, key)
}

#[test]
fn a_fork_keeps_the_replies_of_keys_and_the_endpoints_if_it_is_told_to() {
    let server = Arc::new(Server::start(&["--seed", "42"]));
    let (caller, receiver) = (Caller::of(&server), Receiver::taking());
    caller.post("/_sandbox/webhook-endpoints", &json!({"url": receiver.url()})).expect(201);
    let payer = Payer::of(caller);
    let pay = |caller: &Caller| {
        let request = caller.request("POST", PAYOUTS).header("Idempotency-Key", "bill-1");
        caller.send(&request.json(&payer.body(70_000)))
    };
    pay(&payer.caller).expect(201);
    let keeping =
        fork(&payer.caller, &server, "test_keeping", &json!({"answers": true, "endpoints": true}));
    let plain = fork(&payer.caller, &server, "test_plain", &json!({}));
    assert_eq!(pay(&keeping).header("idempotent-replayed"), Some("true"));
    assert_eq!(pay(&plain).header("idempotent-replayed"), None);
    let endpoints = |caller: &Caller| caller.all("/_sandbox/webhook-endpoints").len();
    assert_eq!((endpoints(&keeping), endpoints(&plain)), (1, 0));
    let before = receiver.seen().len();
    keeping.post(PAYOUTS, &payer.body(80_000)).expect(201);
    let is_new = |delivered: &Delivered| delivered.event()["data"]["object"]["amount"] == 80_000;
    receiver.wait_until(|seen| seen.iter().skip(before).any(is_new));
}

#[test]
fn a_rule_changes_deliveries_until_it_is_removed() {
    let (caller, receiver) = (caller(), Receiver::taking());
    caller.post("/_sandbox/webhook-endpoints", &json!({"url": receiver.url()})).expect(201);
    let rule = json!({"match": {"event": "beneficiary.created"}, "shape": "duplicate"});
    let rule = made(&caller.post("/_sandbox/rules", &rule));
    assert_eq!(
        (&rule["event"], &rule["shape"]),
        (&json!("beneficiary.created"), &json!("duplicate"))
    );
    let payer = Payer::of(caller);
    let of =
        |seen: &[Delivered]| seen.iter().filter(|one| one.name() == "beneficiary.created").count();
    receiver.wait_until(|seen| of(seen) == 2);
    let path = format!("/_sandbox/rules/{}", text(&rule["id"]));
    let remove = || payer.caller.send(&payer.caller.request("DELETE", &path));
    remove().expect(200);
    remove().expect(404);
    payer.payee("9999999902");
    receiver.wait_until(|seen| {
        seen.iter().filter(|one| one.name() == "beneficiary.verified").count() == 2
    });
    assert_eq!(of(&receiver.seen()), 3);
    for (wrong, pointer) in [
        (json!({"match": {"event": "payout.pad"}, "shape": "duplicate"}), "/match/event"),
        (json!({"match": {"event": "*"}, "shape": "drop", "delay": "5m"}), "/delay"),
        (json!({"match": {"event": "*"}, "shape": "delay"}), "/delay"),
        (json!({"match": {"event": "*"}, "shape": "duplicate", "times": 101}), "/times"),
        (json!({"match": {"event": "*"}}), ""),
        (json!({"match": {"operation": "*"}, "shape": "drop"}), ""),
    ] {
        let problem = payer.caller.post("/_sandbox/rules", &wrong).expect(422);
        assert_eq!(problem["errors"][0]["pointer"], pointer, "{wrong}");
    }
}

#[test]
fn the_request_log_knows_when_a_client_left() {
    let caller = caller();
    let company = caller.company(0);
    let body = json!({"company_id": company, "period": "2026-01"});
    let fault = json!({"on": "runPayroll", "nth": 1, "latency": "5m"});
    caller.post("/_sandbox/faults", &fault).expect(201);
    let request = caller.request("POST", "/v1/payroll/run").json(&body);
    let mut stream = TcpStream::connect(("127.0.0.1", caller.port())).unwrap();
    stream.write_all(&request.wire()).unwrap();
    let logged = || caller.all("/_sandbox/requests?wall=true&operation=runPayroll");
    while logged().is_empty() {}
    assert_eq!(logged()[0]["wall"]["client_left"], false);
    assert_eq!(logged()[0]["wall"]["replied_ms"], Value::Null);
    drop(stream);
    while logged()[0]["wall"]["client_left"] != true {}
    let quiet = caller.all("/_sandbox/requests");
    assert!(quiet.iter().all(|row| row.get("wall").is_none()), "times are shown only on request");
}

#[test]
fn two_orders_of_the_same_payments_have_the_same_canonical_difference() {
    let server = Arc::new(Server::start(&["--seed", "42"]));
    let payer = Payer::of(Caller::of(&server));
    let effects = |key: &str, amounts: [i64; 2]| {
        let fork = fork(&payer.caller, &server, key, &json!({}));
        let from = text(&made(&fork.post("/_sandbox/snapshots", &json!({})))["id"]);
        for amount in amounts {
            fork.post(PAYOUTS, &payer.body(amount)).expect(201);
        }
        fork.post("/_sandbox/clock/advance", &json!({"until": "idle"})).expect(200);
        let found = fork.get(&format!("/_sandbox/diff?from={from}&canonical=true")).expect(200);
        let mut found = found["meta"]["canonical"].clone();
        for object in found["objects"].as_array_mut().expect("objects") {
            assert!(object["value"].get("id").is_none() || object["kind"] == "company", "{object}");
            object["id"] = Value::Null;
        }
        found
    };
    let (one, other) =
        (effects("test_one", [70_000, 90_000]), effects("test_other", [90_000, 70_000]));
    assert_eq!(one, other);
    assert_ne!(one, effects("test_more", [70_000, 70_000]));
}

/// The clock `instant` does not skip a time that a rule sets.
#[test]
fn a_return_after_a_given_time_waits_under_the_instant_clock() {
    let payer = Payer::instant();
    let rule = json!({"match": {"decision": "payout.settle"}, "times": 1, "outcome": {"then": "returned_late", "after": "10d"}});
    payer.caller.post("/_sandbox/rules", &rule).expect(201);
    let asked = payer.pay(70_000, &json!({}));
    assert_eq!(payer.payout(&asked)["status"], "paid");
    payer.caller.advance(&json!({"by": "9d"}));
    assert_eq!(payer.payout(&asked)["status"], "paid");
    payer.caller.advance(&json!({"by": "2d"}));
    let payout = payer.payout(&asked);
    assert_eq!(payout["status"], "returned");
    let at = |place: usize| payout["status_history"][place]["at"].clone();
    assert_ne!(at(3), at(4), "{payout}");
    payer.caller.audit();
}
