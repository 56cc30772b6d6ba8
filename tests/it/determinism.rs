//! The same seed and the same calls return the same bytes. No other input changes an answer.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::harness::world::id;
use crate::harness::{Answer, Caller, Server, command};

/// The seeds whose digests are in the golden file.
const SEEDS: [u64; 8] = [0, 1, 2, 7, 42, 1_000, 4_294_967_296, u64::MAX];

/// An answer without the `Date` of the wall clock.
fn bytes(answer: &Answer) -> (u16, Vec<(String, String)>, String) {
    let headers = answer.headers.iter().filter(|(name, _)| name != "date");
    (answer.status, headers.cloned().collect(), answer.text().to_owned())
}

/// A session of reads, writes and refusals; `between` runs before each call.
fn session(caller: &Caller, mut between: impl FnMut(usize)) -> Vec<Answer> {
    let company = caller.company(0);
    let hire = json!({"company_id": company, "name": "Ada Obi", "role": "Baker", "department": "Kitchen", "start_date": "2026-02-02"});
    let calls: Vec<(&str, String, Option<Value>)> = vec![
        ("GET", "/api/business/employees?per_page=100".into(), None),
        (
            "POST",
            "/v1/payroll/run".into(),
            Some(json!({"company_id": company, "period": "2026-01"})),
        ),
        (
            "POST",
            "/v1/payroll/run".into(),
            Some(json!({"company_id": company, "period": "2026-01"})),
        ),
        ("POST", "/api/business/employees".into(), Some(hire)),
        (
            "PATCH",
            format!("/api/business/companies/{company}"),
            Some(json!({"payroll_settings": {"pay_day": 28}})),
        ),
        (
            "POST",
            "/v1/payroll/run".into(),
            Some(json!({"company_id": company, "period": "2026-02"})),
        ),
        ("GET", format!("/api/business/payroll-runs?company_id={company}&sort=-created_at"), None),
        ("GET", "/api/business/payslips?sort=-created_at".into(), None),
        ("GET", "/api/payments/payouts?sort=-created_at".into(), None),
        (
            "GET",
            format!("/api/business/journal-entries?company_id={company}&from=2026-01-01"),
            None,
        ),
        (
            "GET",
            format!("/api/business/reports/balance-sheet?company_id={company}&as_of=2026-12-31"),
            None,
        ),
        ("POST", "/_sandbox/clock/advance".into(), Some(json!({"by": "10bd"}))),
        ("GET", "/_sandbox/events?per_page=100&page=2".into(), None),
        ("GET", "/api/payments/wallets".into(), None),
        ("GET", "/_sandbox/clock".into(), None),
        ("GET", "/api/business/employees?page=0".into(), None),
    ];
    let send = |(place, (method, path, body)): (usize, (&str, String, Option<Value>))| {
        between(place);
        let request = caller.request(method, &path);
        caller.send(&body.map_or(request.clone(), |body| request.json(&body)))
    };
    calls.into_iter().enumerate().map(send).collect()
}

#[track_caller]
fn same(one: &[Answer], other: &[Answer]) {
    assert_eq!(one.len(), other.len());
    for (place, (one, other)) in one.iter().zip(other).enumerate() {
        assert_eq!(bytes(one), bytes(other), "call {place}");
    }
}

#[test]
fn two_processes_give_the_same_bytes() {
    let start = || Arc::new(Server::start(&["--seed", "7"]));
    let (one, other) = (Caller::of(&start()), Caller::of(&start()));
    same(&session(&one, |_| ()), &session(&other, |_| ()));
    assert_eq!(one.digest(), other.digest());
}

#[test]
fn two_keys_of_one_process_give_the_same_bytes() {
    let (one, other) = (Caller::instant(), Caller::instant());
    same(&session(&one, |_| ()), &session(&other, |_| ()));
    assert_eq!(one.digest(), other.digest());
}

/// The control run of the four tests here: another seed and another call are noticed.
#[test]
fn another_seed_or_another_call_gives_other_bytes() {
    let one = Caller::instant();
    let other = Caller::of(&Arc::new(Server::start(&["--seed", "43"])));
    let (first, second) = (session(&one, |_| ()), session(&other, |_| ()));
    assert_ne!(bytes(&first[0]), bytes(&second[0]));
    assert_ne!(one.digest(), other.digest());
    let before = one.digest();
    let company = one.company(2);
    one.patch(&format!("/api/business/companies/{company}"), &json!({"metadata": {"a": "b"}}))
        .expect(200);
    assert_ne!(one.digest(), before);
}

#[test]
fn reads_and_refusals_between_calls_change_no_byte() {
    let (quiet, loud) = (Caller::instant(), Caller::instant());
    let noise = |place: usize| {
        loud.get("/api/business/companies");
        loud.get(&format!("/api/business/employees?page={}", place + 1));
        loud.get("/api/business/payslips/psl_0000000000000").refused(404, "resource_not_found");
        loud.post("/v1/payroll/run", &json!({"period": "x"})).refused(422, "validation_failed");
        loud.post("/v1/payroll/run", &json!({"company_id": "com_0", "period": "2026-01"}))
            .refused(404, "resource_not_found");
        loud.send(&loud.request("POST", "/v1/payroll/run").bytes(b"{"))
            .refused(415, "unsupported_media_type");
        loud.get("/_sandbox/ledger/check").expect(200);
        loud.get("/nowhere").refused(404, "route_not_found");
    };
    same(&session(&quiet, |_| ()), &session(&loud, noise));
    assert_eq!(quiet.digest(), loud.digest());
}

#[test]
fn calls_with_other_keys_change_no_byte() {
    let (quiet, watched) = (Caller::instant(), Caller::instant());
    let other = Caller::instant();
    let noise = |place: usize| {
        let company = other.company(place % 3);
        let body = json!({"company_id": company, "period": format!("2027-{:02}", place % 12 + 1)});
        other.post("/v1/payroll/run", &body);
        other.post("/_sandbox/clock/advance", &json!({"by": "1h"})).expect(200);
    };
    same(&session(&quiet, |_| ()), &session(&watched, noise));
}

/// A write to another company takes a position in the event log and a millisecond of the clock. So it changes
/// the numbers that depend on them: ids of events and requests, and `sequence`. Ids of resources, amounts and
/// all other values are unchanged.
#[test]
fn an_unrelated_write_shifts_only_places_in_the_log_and_times() {
    let (quiet, busy) = (Caller::instant(), Caller::instant());
    let aside = busy.company(2);
    let noise = |place: usize| {
        let hire = json!({"company_id": aside, "name": format!("Extra {place}"), "role": "Clerk", "department": "Office", "start_date": "2026-02-02"});
        busy.post("/api/business/employees", &hire).expect(201);
    };
    let (one, two) = (session(&quiet, |_| ()), session(&busy, noise));
    // Lists of all companies also show the extra employees or their events. Single resources and lists of
    // company 0 must not.
    for place in [1, 2, 3, 4, 5, 6, 9, 10] {
        let (mut one, mut two) = (one[place].json(), two[place].json());
        assert_eq!(one["status"], two["status"]);
        forget_times(&mut one);
        forget_times(&mut two);
        assert_eq!(one, two, "call {place}");
    }
    let totals = |caller: &Caller| {
        let mut wallets = caller.get("/api/payments/wallets").data();
        forget_times(&mut wallets);
        wallets
    };
    assert_eq!(totals(&quiet), totals(&busy));
}

/// Removes instants and numbers of the event log.
fn forget_times(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for name in [
                "created_at",
                "updated_at",
                "posted_at",
                "at",
                "request_id",
                "instance",
                "sequence",
            ] {
                members.remove(name);
            }
            members.values_mut().for_each(forget_times);
        }
        Value::Array(items) => items.iter_mut().for_each(forget_times),
        _ => {}
    }
}

#[test]
fn another_key_sees_nothing_of_a_world() {
    let (one, other) = (Caller::instant(), Caller::instant());
    let before = session(&Caller::instant(), |_| ()).remove(0);
    let company = one.company(0);
    let run = one.run_payroll(&company, "2026-01");
    let new = json!({"legal_name": "Lagos Bakery Ltd", "country": "NG", "currency": "NGN"});
    let created = one.post("/api/business/companies", &new).expect(201)["data"].take();
    other
        .get(&format!("/api/business/payroll-runs/{}", id(&run)))
        .refused(404, "resource_not_found");
    other
        .get(&format!("/api/business/companies/{}", id(&created)))
        .refused(404, "resource_not_found");
    assert_eq!(other.events(), [Value::Null; 0]);
    assert_eq!(other.get("/api/business/employees?per_page=100").body, before.body);
    assert_eq!(
        other.get("/api/payments/payouts").expect(200)["meta"],
        Caller::instant().get("/api/payments/payouts").expect(200)["meta"]
    );
    assert_ne!(one.digest(), other.digest());
}

#[test]
fn reset_begins_the_world_again() {
    let caller = Caller::instant();
    let fresh = caller.digest();
    let first = session(&caller, |_| ());
    assert_ne!(caller.digest(), fresh);
    caller.post("/_sandbox/reset", &json!({})).expect(200);
    assert_eq!(caller.digest(), fresh);
    same(&first, &session(&caller, |_| ()));
    let reseeded = caller.post("/_sandbox/reset", &json!({"seed": 43})).data();
    assert_eq!(reseeded["seed"], 43);
    let other = Caller::of(&Arc::new(Server::start(&["--seed", "43"])));
    assert_eq!(caller.digest(), other.digest());
    assert_eq!(
        bytes(&caller.get("/api/business/employees")),
        bytes(&other.get("/api/business/employees"))
    );
}

fn digest(seed: u64, environment: &[(&str, &str)]) -> String {
    let seed = seed.to_string();
    let mut command = command(&["world", "--seed", &seed, "--digest"]);
    let output = command.envs(environment.iter().copied()).output().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    let digest = text.trim_end().to_owned();
    assert!(digest.len() == 64 && digest.bytes().all(|b| b.is_ascii_hexdigit()), "{digest}");
    digest
}

/// A change of these digests is a new world version, and the changelog says so. Then
/// `SANDBOX_TEST_REGENERATE=1` writes them again.
#[test]
fn the_digests_of_eight_seeds_are_those_of_the_golden_file() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/goldens/digests.txt");
    let line = |&seed: &u64| format!("{seed} {}", digest(seed, &[]));
    let now = SEEDS.iter().map(line).collect::<Vec<_>>().join("\n") + "\n";
    if std::env::var_os("SANDBOX_TEST_REGENERATE").is_some() {
        std::fs::write(&path, &now).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap();
    assert_eq!(now, golden, "the seeds produce another world: see the comment of this test");
}

#[test]
fn the_digest_is_the_same_in_every_locale_and_time_zone() {
    let expected = digest(42, &[]);
    for environment in [
        [("LANG", "de_DE.UTF-8"), ("LC_ALL", "de_DE.UTF-8"), ("TZ", "Pacific/Kiritimati")],
        [("LANG", "C"), ("LC_ALL", "C"), ("TZ", "America/Adak")],
        [("LANG", "tr_TR.UTF-8"), ("LC_ALL", "ar_EG.UTF-8"), ("TZ", ":nonsense")],
    ] {
        assert_eq!(digest(42, &environment), expected, "{environment:?}");
    }
}

#[test]
fn the_digest_is_the_same_with_one_worker_thread() {
    let one = Arc::new(Server::spawn(
        command(&["--port", "0", "--quiet", "--seed", "42"]).env("TOKIO_WORKER_THREADS", "1"),
    ));
    let (single, many) = (Caller::of(&one), Caller::instant());
    same(&session(&single, |_| ()), &session(&many, |_| ()));
    assert_eq!(single.digest(), many.digest());
}
