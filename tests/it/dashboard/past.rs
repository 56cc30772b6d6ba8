//! `Sandbox-As-Of` and `POST /_sandbox/events/{event_id}/fork`: a world as it was after a past event.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::harness::receiver::Receiver;
use crate::harness::world::{id, number};
use crate::harness::{Answer, Caller, Server};

/// The reads of a screen of the dashboard.
fn pages(caller: &Caller) -> Vec<String> {
    let company = caller.company(0);
    vec![
        format!("/api/payments/wallets?company_id={company}"),
        format!("/api/business/ledger-accounts?company_id={company}&per_page=100"),
        format!("/api/business/payroll-runs?company_id={company}"),
        format!("/api/payments/payouts?company_id={company}&sort=-created_at"),
        "/api/business/compliance-requirements".to_owned(),
        "/_sandbox/ledger/check".to_owned(),
    ]
}

fn as_of(caller: &Caller, path: &str, event: &str) -> Answer {
    caller.send(&caller.request("GET", path).header("Sandbox-As-Of", event))
}

/// A state of a world: the latest event, the contents of the pages, the digest.
struct Moment {
    sequence: u64,
    event: String,
    shown: Vec<Value>,
    digest: String,
}

fn now(caller: &Caller) -> Moment {
    let latest = &caller.get("/_sandbox/events?per_page=1").expect(200)["data"][0];
    Moment {
        sequence: latest["sequence"].as_u64().unwrap(),
        event: id(latest).to_owned(),
        shown: pages(caller).iter().map(|page| caller.get(page).expect(200)).collect(),
        digest: caller.digest(),
    }
}

fn check(caller: &Caller, moment: &Moment) {
    for (page, shown) in pages(caller).iter().zip(&moment.shown) {
        for event in [moment.event.clone(), moment.sequence.to_string()] {
            let answer = as_of(caller, page, &event);
            assert_eq!(&answer.expect(200), shown, "{page} as of {event}");
            assert_eq!(answer.header("sandbox-as-of"), Some(&*moment.sequence.to_string()));
        }
    }
}

fn fork(caller: &Caller, event: &str, key: &str) -> Answer {
    caller.post(&format!("/_sandbox/events/{event}/fork"), &json!({ "key": key }))
}

fn hire(caller: &Caller, name: &str) -> String {
    let body = json!({
        "company_id": caller.company(0), "name": name, "role": "Baker", "department": "Kitchen", "start_date": "2026-02-02",
    });
    let answer = caller.post("/api/business/employees", &body);
    id(&answer.expect(201)["data"]).to_owned()
}

/// Moments of a world, each just after a call.
fn live(caller: &Caller) -> Vec<Moment> {
    let mut moments = Vec::new();
    hire(caller, "Ada Obi");
    moments.push(now(caller));
    let rule = json!({"match": {"decision": "payout.settle"}, "times": 2, "outcome": {"then": "returned", "code": "R02"}});
    caller.post("/_sandbox/rules", &rule).expect(201);
    caller.run_payroll(&caller.company(0), "2026-01");
    moments.push(now(caller));
    caller.post("/_sandbox/clock/advance", &json!({"until": "idle"})).expect(200);
    hire(caller, "Ben Obi");
    moments.push(now(caller));
    caller.post("/_sandbox/trigger", &json!({"type": "invoice.paid"})).expect(200);
    hire(caller, "Cem Obi");
    moments.push(now(caller));
    caller.post("/_sandbox/clock/advance", &json!({"by": "40d"})).expect(200);
    moments
}

#[test]
fn a_read_shows_the_world_as_of_a_past_event() {
    for caller in [Caller::manual(), Caller::instant()] {
        let moments = live(&caller);
        moments.iter().rev().chain(&moments).for_each(|moment| check(&caller, moment));
        let digest = caller.digest();
        assert_ne!(digest, moments[0].digest);
        assert_eq!(caller.digest(), digest, "a read changes nothing");
    }
}

#[test]
fn each_event_of_one_instant_has_the_state_of_its_step() {
    let caller = Caller::manual();
    caller.run_payroll(&caller.company(0), "2026-01");
    caller.advance(&json!({"until": "idle"}));
    let events = caller.events();
    let paid = events.iter().filter(|event| event["type"] == "payout.paid");
    let paid: Vec<&Value> = paid.collect();
    assert_eq!(paid[0]["timestamp"], paid[1]["timestamp"], "at once");
    let list = "/api/payments/payouts?status=paid&per_page=1";
    let earlier = number(&as_of(&caller, list, "1").expect(200)["meta"]["total"]);
    for (place, event) in paid.iter().enumerate() {
        let paid = as_of(&caller, list, id(event)).expect(200)["meta"]["total"].clone();
        assert_eq!(number(&paid) - earlier, i64::try_from(place + 1).unwrap(), "{event}");
    }
    assert!(paid.len() > 10);
}

#[test]
fn a_fork_from_a_past_event_is_that_world_and_continues_like_it() {
    for caller in [Caller::manual(), Caller::instant()] {
        let moments = live(&caller);
        for (place, moment) in moments.iter().enumerate() {
            let key = format!("{}_past_{place}", caller.key());
            let made = fork(&caller, &moment.event, &key).expect(201);
            assert_eq!(made["data"]["sequence"], moment.sequence, "{made}");
            let forked = caller.with(&key);
            assert_eq!(forked.digest(), moment.digest, "moment {place}");
            forked.audit();
        }
        // The same calls lead to the same world.
        let first = caller.with(&format!("{}_past_1", caller.key()));
        first.post("/_sandbox/clock/advance", &json!({"until": "idle"})).expect(200);
        hire(&first, "Ben Obi");
        assert_eq!(first.digest(), moments[2].digest);
        // A fork has its own past, from its beginning on.
        let later = now(&first);
        hire(&first, "Dan Obi");
        check(&first, &later);
        as_of(&first, "/api/business/companies", "1").refused(422, "validation_failed");
        let taken = fork(&caller, &moments[0].event, first.key());
        taken.refused(409, "duplicate_reference");
    }
}

#[test]
fn after_a_restored_snapshot_a_position_is_an_event_of_the_present() {
    let caller = Caller::manual();
    hire(&caller, "Ada Obi");
    let snapshot = caller.post("/_sandbox/snapshots", &json!({})).expect(201);
    hire(&caller, "Ben Obi");
    let dropped = now(&caller);
    check(&caller, &dropped);
    let restore = format!("/_sandbox/snapshots/{}/restore", id(&snapshot["data"]));
    caller.post(&restore, &json!({})).expect(200);
    let cem = hire(&caller, "Cem Obi");
    let kept = now(&caller);
    assert_eq!(kept.sequence, dropped.sequence);
    hire(&caller, "Dan Obi");
    check(&caller, &kept);
    let path = format!("/api/business/employees/{cem}");
    assert_eq!(as_of(&caller, &path, &kept.event).data()["name"], "Cem Obi");
    caller.post("/_sandbox/reset", &json!({"seed": 7})).expect(200);
    hire(&caller, "Eve Obi");
    let moment = now(&caller);
    hire(&caller, "Fay Obi");
    check(&caller, &moment);
}

#[test]
fn a_wrong_event_or_operation_is_refused() {
    let caller = Caller::manual();
    hire(&caller, "Ada Obi");
    let list = "/api/business/companies";
    as_of(&caller, list, "evt_0000000000000").refused(422, "validation_failed");
    as_of(&caller, list, "999").refused(422, "validation_failed");
    for value in ["yesterday", "", "com_0000000000000"] {
        as_of(&caller, list, value).refused(400, "invalid_header");
    }
    as_of(&caller, "/_sandbox/requests", "1").refused(400, "invalid_header");
    let body = json!({"company_id": caller.company(0), "period": "2026-01"});
    let post = caller.request("POST", "/v1/payroll/run").json(&body).header("Sandbox-As-Of", "1");
    caller.send(&post).refused(400, "invalid_header");
    fork(&caller, "evt_0000000000000", "test_nothing").refused(404, "resource_not_found");
}

#[test]
fn a_list_of_the_past_is_also_a_table() {
    let caller = Caller::manual();
    hire(&caller, "Ada Obi");
    let moment = now(&caller);
    hire(&caller, "Ben Obi");
    let path = format!("/api/business/employees?company_id={}", caller.company(0));
    let table = |event: &str| {
        let request = caller.request("GET", &path).header("Accept", "text/csv");
        request.header("Sandbox-As-Of", event).send(caller.port()).text().to_owned()
    };
    let past = table(&moment.event);
    assert!(past.contains("Ada Obi") && !past.contains("Ben Obi"));
}

#[test]
fn a_replay_sends_no_webhook_and_a_restarted_server_knows_the_past() {
    let folder = tempfile::tempdir().unwrap();
    let receiver = Receiver::taking();
    let start = |folder: &Path| {
        let flags = ["--clock", "manual", "--journal", folder.to_str().unwrap()];
        let server = Arc::new(Server::start(&flags));
        let caller = Caller::with_key(&server, "test_past");
        (server, caller)
    };
    let (server, caller) = start(folder.path());
    caller.post("/_sandbox/webhook-endpoints", &json!({"url": receiver.url()})).expect(201);
    hire(&caller, "Ada Obi");
    let moment = now(&caller);
    hire(&caller, "Ben Obi");
    receiver.wait_for(2);
    check(&caller, &moment);
    fork(&caller, &moment.event, "test_forked").expect(201);
    let forked = caller.with("test_forked");
    hire(&forked, "Cem Obi");
    let (digest, ours) = (forked.digest(), caller.digest());
    drop((forked, caller, server));

    let (_server, caller) = start(folder.path());
    assert_eq!(caller.digest(), ours);
    check(&caller, &moment);
    assert_eq!(caller.with("test_forked").digest(), digest, "the fork was replayed");
    hire(&caller, "Dan Obi");
    assert_eq!(receiver.wait_for(3).len(), 3, "each event once");
}

#[test]
fn a_fork_has_the_faults_as_used_up_as_they_were_also_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let start = || {
        let flags = ["--clock", "manual", "--journal", folder.path().to_str().unwrap()];
        let server = Arc::new(Server::start(&flags));
        Caller::with_key(&server, "test_faulted")
    };
    let run = |caller: &Caller, period: &str| {
        let body = json!({"company_id": caller.company(0), "period": period});
        caller.post("/v1/payroll/run", &body)
    };
    let check = |caller: &Caller| {
        for (key, asked, hits) in [("test_unused", 0, 0), ("test_used", 2, 1)] {
            let fault = &caller.with(key).get("/_sandbox/faults").data()[0];
            assert_eq!((&fault["asked"], &fault["hits"]), (&json!(asked), &json!(hits)), "{key}");
        }
    };
    let caller = start();
    let fault = json!({"on": "runPayroll", "status": 503, "times": 1});
    caller.post("/_sandbox/faults", &fault).expect(201);
    hire(&caller, "Ada Obi");
    let unused = now(&caller);
    run(&caller, "2026-01").refused(503, "maintenance");
    run(&caller, "2026-01").expect(201);
    let used = now(&caller);
    fork(&caller, &unused.event, "test_unused").expect(201);
    fork(&caller, &used.event, "test_used").expect(201);
    check(&caller);
    drop(caller);

    let caller = start();
    check(&caller);
    run(&caller.with("test_used"), "2026-02").expect(201);
    run(&caller.with("test_unused"), "2026-02").refused(503, "maintenance");
}

#[test]
fn a_world_of_the_wall_clock_has_a_past() {
    let server = Arc::new(Server::start(&["--clock", "real:500000"]));
    let caller = Caller::with_key(&server, "test_wall");
    caller.run_payroll(&caller.company(0), "2026-01");
    let end = std::time::Instant::now() + std::time::Duration::from_secs(60);
    let paid = loop {
        let events = caller.events();
        if let Some(paid) = events.iter().find(|event| event["type"] == "payroll_run.paid") {
            break paid.clone();
        }
        assert!(std::time::Instant::now() < end, "never paid");
    };
    hire(&caller, "Ada Obi");
    let runs = as_of(&caller, "/api/business/payroll-runs?sort=-created_at", id(&paid)).expect(200);
    assert_eq!(runs["data"][0]["status"], "paid");
    let events = caller.events();
    let at_bank = events.iter().find(|event| event["type"] == "payroll_run.processing").unwrap();
    let runs = "/api/business/payroll-runs?sort=-created_at";
    let runs = as_of(&caller, runs, id(at_bank)).expect(200);
    assert_eq!(runs["data"][0]["status"], "processing", "{}", runs["data"][0]);
}
