//! Tests of restores and forks: a restored world continues as if nothing had come between; forks are
//! independent; a bounded log keeps its positions.

use http::Response;

use super::*;
use crate::api::operation::Call;
use crate::value::ApiError;

/// The steps of a walk over every row that acts only on a world, with some repeated idempotency keys.
pub(super) fn walk(engine: &Engine, seed: u64, numbers: std::ops::Range<u64>) -> Vec<String> {
    let rows = api::product().chain(api::control());
    let rows: Vec<&Operation> = rows
        .filter(|row| !matches!(row.call, Call::Tester(_)) && row.name != "reset_world")
        .collect();
    let step = |number| {
        let key = Key::new(seed).with("walk").at(number);
        let row = rows[key.below(rows.len() as u64) as usize];
        let (target, body) = step(engine, row, key);
        let mut request = request(row.method.name(), &target, Some(KEY), &body);
        if row.method == Method::Post {
            let value = format!("key-{}", key.with("idempotency").below(12));
            let value = value.parse().expect("ASCII");
            request.headers_mut().insert("idempotency-key", value);
        }
        shown(&engine.call(request))
    };
    numbers.map(step).collect()
}

/// The parts of an answer that a caller sees.
fn shown(response: &Response<Bytes>) -> String {
    let (head, body) = (response.headers(), response.body());
    format!("{} {head:?} {}", response.status(), String::from_utf8_lossy(body))
}

fn snapshot(engine: &Engine) -> String {
    let taken = call(engine, "POST", "/_sandbox/snapshots", "{}");
    assert_eq!(taken.status(), 201);
    parsed(&taken)["data"]["id"].as_str().expect("an id").to_owned()
}

fn restore(engine: &Engine, id: &str) {
    let target = format!("/_sandbox/snapshots/{id}/restore");
    assert_eq!(call(engine, "POST", &target, "").status(), 200);
}

#[test]
fn a_restored_world_behaves_like_an_uninterrupted_one() {
    for (seed, mode) in [
        (11, ClockMode::Instant),
        (12, ClockMode::Manual),
        (13, ClockMode::Instant),
        (14, ClockMode::Manual),
    ] {
        println!("walk of seed {seed}");
        let (straight, crooked) = (engine(seed, mode), engine(seed, mode));
        assert_eq!(walk(&straight, seed, 0..60), walk(&crooked, seed, 0..60));
        let id = snapshot(&crooked);
        let at_snapshot = digest(&crooked);
        walk(&crooked, seed, 1_000..1_120);
        assert_ne!(digest(&crooked), at_snapshot, "the other walk changed the world");
        restore(&crooked, &id);
        assert_eq!(digest(&crooked), at_snapshot);
        let answers = walk(&straight, seed, 60..120);
        assert_eq!(answers, walk(&crooked, seed, 60..120));
        assert_eq!(digest(&straight), digest(&crooked));
        let findings = crooked.with_world(KEY, |world| world.audit().findings).expect("open");
        assert!(findings.is_empty(), "{findings:?}");
    }
}

/// Snapshots that were taken later remain after a restore, and idempotency answers follow the restored world.
#[test]
fn a_later_snapshot_can_be_restored_with_its_idempotency_keys() {
    let engine = engine(3, ClockMode::Manual);
    let company = first_id(&engine, "/api/business/companies");
    let body = json!({ "company_id": company, "period": "2026-01" }).to_string();
    let run = || {
        let mut request = request("POST", "/v1/payroll/run", Some(KEY), &body);
        let key = "january".parse().expect("ASCII");
        request.headers_mut().insert("idempotency-key", key);
        engine.call(request)
    };
    let replayed =
        |response: &Response<Bytes>| response.headers().contains_key("idempotent-replayed");
    let before = snapshot(&engine);
    let first = run();
    assert_eq!(first.status(), 201);
    let after = snapshot(&engine);
    let digest_after = digest(&engine);
    restore(&engine, &before);
    let second = run();
    assert!(!replayed(&second), "the call is undone");
    assert_eq!(shown(&first), shown(&second));
    restore(&engine, &before);
    restore(&engine, &after);
    assert_eq!(digest(&engine), digest_after);
    assert!(replayed(&run()), "the call is there again");
}

#[test]
fn an_answer_from_before_a_restore_is_not_stored() {
    use crate::engine::idempotency::{Answers, IdempotencyKey, SeenKeys};
    let head = request("POST", "/v1/payroll/run", Some(KEY), "{}");
    let (mut head, _) = head.into_parts();
    let key = "k".parse().expect("ASCII");
    head.headers.insert("idempotency-key", key);
    let key =
        IdempotencyKey::of(&head, "/v1/payroll/run", false).expect("well-formed").expect("there");
    let (mut seen, now) = (SeenKeys::default(), Shape::default().start);
    seen.begin(&key, b"{}", now);
    let age = seen.age();
    seen.exchange(Answers::default());
    assert_ne!(seen.age(), age);
}

#[test]
fn a_bounded_log_keeps_its_positions_and_its_books() {
    let most = 40;
    let bounded = Engine::new(Config {
        max_events: Some(most),
        ..engine(6, ClockMode::Instant).config.clone()
    });
    let whole = engine(6, ClockMode::Instant);
    for engine in [&bounded, &whole] {
        let company = first_id(engine, "/api/business/companies");
        for month in 1..=3 {
            let body = json!({ "company_id": company, "period": format!("2026-{month:02}") });
            let response = call(engine, "POST", "/v1/payroll/run", &body.to_string());
            assert_eq!(response.status(), 201);
        }
    }
    let see = |target: &str| {
        let answers = [&bounded, &whole].map(|engine| parsed(&call(engine, "GET", target, "")));
        let [one, other] = answers;
        (one, other)
    };
    let (lists, wholes) = see("/_sandbox/events?per_page=1&sort=sequence");
    let (kept, all) = (&lists["meta"]["total"], wholes["meta"]["total"].as_u64());
    let all = all.expect("a number");
    assert_eq!(*kept, most);
    assert!(all > 2 * most, "{all} events are too few");
    assert_eq!(lists["data"][0]["sequence"], all - most + 1);
    for target in [
        format!("/_sandbox/events?after={}", all - 5),
        "/api/business/payslips?per_page=100".to_owned(),
        "/api/payments/wallets".to_owned(),
    ] {
        let (one, other) = see(&target);
        assert_eq!(one, other, "{target}");
    }
    let (partial, full) = see("/_sandbox/ledger/check");
    let (partial, full) = (&partial["data"], &full["data"]);
    assert_eq!((&partial["ok"], &full["ok"]), (&json!(true), &json!(true)));
    assert_eq!(partial["log_begins_at"], all - most + 1);
    assert_eq!(full["log_begins_at"], Value::Null);
    let events = |engine: &Engine| engine.with_world(KEY, |world| world.log().len());
    assert_eq!(events(&bounded).expect("open"), all);
    assert_eq!(call(&bounded, "POST", "/_sandbox/reset", "{}").status(), 200);
    assert_eq!(events(&bounded).expect("open"), 0);
}

#[test]
fn a_fork_copies_its_world_and_does_not_change_the_other() {
    let engine = engine(8, ClockMode::Manual);
    let forked = engine.at_tester(KEY, |session| {
        let (world, part) = (session.world.clone(), session.tester.part());
        session.host.open("test_fork", world, part)
    });
    forked.expect("a new key");
    let taken = engine.at_tester(KEY, |session| -> Result<(), ApiError> {
        let world = session.world.clone();
        session.host.open("test_fork", world, session.tester.part())
    });
    let refusal = taken.expect_err("the key has a world");
    assert!(!refusal.detail.contains("test_fork"), "keys are not repeated");
    let before = digest(&engine);
    let company = first_id(&engine, "/api/business/companies");
    let body = json!({ "company_id": company, "period": "2026-01" }).to_string();
    let run = request("POST", "/v1/payroll/run", Some("test_fork"), &body);
    assert_eq!(engine.call(run).status(), 201);
    assert_eq!(digest(&engine), before);
}
