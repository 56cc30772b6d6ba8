//! Snapshots, forks, diffs and fingerprints, over HTTP.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::harness::http::Answer;
use crate::harness::world::{id, number};
use crate::harness::{Caller, Server};

const SNAPSHOTS: &str = "/_sandbox/snapshots";

fn take(caller: &Caller, name: &str) -> String {
    let taken = caller.post(SNAPSHOTS, &json!({"name": name})).made();
    assert_eq!(taken["name"], name);
    id(&taken).to_owned()
}

fn restore(caller: &Caller, snapshot: &str) {
    let path = format!("{SNAPSHOTS}/{snapshot}/restore");
    caller.post(&path, &json!({})).expect(200);
}

fn fork(caller: &Caller, snapshot: &str, key: &str) -> Answer {
    let path = format!("{SNAPSHOTS}/{snapshot}/fork");
    caller.post(&path, &json!({"key": key}))
}

fn diff(caller: &Caller, query: &str) -> Value {
    caller.get(&format!("/_sandbox/diff?{query}")).expect(200)
}

fn hire(caller: &Caller, name: &str) -> Value {
    let company = caller.company(0);
    let body = json!({"company_id": company, "name": name, "role": "Baker", "department": "Kitchen", "start_date": "2026-02-02"});
    caller.post("/api/business/employees", &body).expect(201)["data"].take()
}

/// An answer without the date of the wall clock.
fn lasting(answer: &Answer) -> (u16, Vec<(String, String)>, String) {
    let headers = answer.headers.iter().filter(|(name, _)| name != "date");
    let headers = headers.cloned().collect();
    (answer.status, headers, answer.text().to_owned())
}

#[test]
fn after_a_restore_the_same_call_gets_the_same_bytes() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let body = json!({"company_id": company, "period": "2026-01"});
    let run = || {
        let request = caller.request("POST", "/v1/payroll/run");
        caller.send(&request.header("Idempotency-Key", "january").json(&body))
    };
    let fresh = caller.digest();
    let before = take(&caller, "before");
    let first = (lasting(&run()), caller.events(), caller.digest());
    assert_eq!(first.0.0, 201);
    restore(&caller, &before);
    assert_eq!(caller.digest(), fresh);
    assert_eq!(caller.events(), Vec::<Value>::new());
    assert_eq!((lasting(&run()), caller.events(), caller.digest()), first);
    assert_eq!(run().header("idempotent-replayed"), Some("true"));
    caller.audit();
}

#[test]
fn reads_are_not_stale_after_a_restore() {
    let caller = Caller::instant();
    let total = || number(&caller.get("/api/business/employees").expect(200)["meta"]["total"]);
    let before = take(&caller, "before");
    let fresh = total();
    hire(&caller, "Ada Obi");
    assert_eq!([total(), total(), total()], [fresh + 1; 3]);
    restore(&caller, &before);
    assert_eq!([total(), total(), total()], [fresh; 3]);
}

#[test]
fn a_fork_and_its_origin_are_independent() {
    let server = Arc::new(Server::start(&[]));
    let one = Caller::with_key(&server, "test_one");
    let other = Caller::with_key(&server, "test_other");
    hire(&one, "Ada Obi");
    let snapshot = take(&one, "with Ada");
    let forked = fork(&one, &snapshot, "test_other");
    forked.expect(201);
    assert!(!forked.text().contains("test_other"), "{}", forked.text());
    assert_eq!(one.digest(), other.digest());
    hire(&other, "Bola Eze");
    assert_ne!(one.digest(), other.digest());
    let listed = other.get(SNAPSHOTS).expect(200);
    assert_eq!(listed["data"], json!([]), "snapshots are the origin's");
    other
        .post(&format!("{SNAPSHOTS}/{snapshot}/restore"), &json!({}))
        .refused(404, "resource_not_found");
    let same = hire(&one, "Bola Eze");
    let twin = other.all("/api/business/employees");
    assert_eq!(same["id"], twin.last().unwrap()["id"], "both went the same way");
    assert_eq!(one.digest(), other.digest());
}

#[test]
fn keys_that_cannot_be_opened_are_refused_and_not_repeated() {
    let server = Arc::new(Server::start(&[]));
    let caller = Caller::with_key(&server, "test_origin");
    let snapshot = take(&caller, "origin");
    let used = Caller::with_key(&server, "test_used");
    used.digest();
    for (key, status, code) in [
        ("sk_live_4eC39HqLyjWD", 401, "live_key_refused"),
        ("test_used", 409, "duplicate_reference"),
        ("test_origin", 409, "duplicate_reference"),
        ("two words", 422, "validation_failed"),
    ] {
        let answer = fork(&caller, &snapshot, key);
        answer.refused(status, code);
        assert!(!answer.text().contains(key), "{}", answer.text());
    }
    fork(&caller, "snp_0", "test_new").refused(404, "resource_not_found");
}

#[test]
fn a_deleted_snapshot_is_gone_and_the_others_remain() {
    let caller = Caller::instant();
    let (first, second) = (take(&caller, "first"), take(&caller, "second"));
    let delete = || caller.send(&caller.request("DELETE", &format!("{SNAPSHOTS}/{first}")));
    assert_eq!(delete().data(), json!({"id": first, "deleted": true}));
    delete().refused(404, "resource_not_found");
    let listed = caller.get(SNAPSHOTS).expect(200);
    let rows = listed["data"].as_array().unwrap();
    assert_eq!(rows.iter().map(id).collect::<Vec<_>>(), [second.as_str()]);
    restore(&caller, &second);
}

#[test]
fn a_key_has_at_most_a_hundred_snapshots() {
    let caller = Caller::instant();
    for number in 0..100 {
        take(&caller, &format!("number {number}"));
    }
    let refused = caller.post(SNAPSHOTS, &json!({}));
    let problem = refused.refused(422, "validation_failed");
    assert_eq!(problem["errors"][0]["code"], "too_many");
    assert!(refused.text().contains("100 snapshots"), "{problem}");
}

#[test]
fn differences_are_listed_field_by_field() {
    let caller = Caller::instant();
    let employee = caller.all("/api/business/employees")[0].clone();
    let path = format!("/api/business/employees/{}", id(&employee));
    let before = take(&caller, "before");
    caller.patch(&path, &json!({"role": "Chair"})).expect(200);
    let ada = hire(&caller, "Ada Obi");
    let found = diff(&caller, &format!("from={before}"));
    assert_eq!(
        found["meta"]["kinds"],
        json!({"employee": {"created": 1, "changed": 1, "removed": 0}})
    );
    assert_eq!((&found["meta"]["total"], &found["meta"]["page"]), (&json!(2), &json!(1)));
    let row = |change: &str| {
        let mut rows = found["data"].as_array().unwrap().iter();
        rows.find(|row| row["change"] == change).unwrap()
    };
    let changed = row("changed");
    assert_eq!(id(changed), id(&employee));
    let fields = changed["fields"].as_array().unwrap();
    let role = fields.iter().find(|field| field["field"] == "/role");
    assert_eq!(role.unwrap()["before"], employee["role"]);
    assert_eq!(role.unwrap()["after"], "Chair");
    let created = row("created");
    assert_eq!((id(created), &created["resource"]["name"]), (id(&ada), &ada["name"]));
    let types = found["meta"]["events"]["types"].as_object().unwrap();
    let all: i64 = types.values().map(number).sum();
    assert_eq!(number(&found["meta"]["events"]["added"]), all);
    // In the other direction it is undone.
    let undone = diff(&caller, &format!("from=now&to={before}"));
    assert_eq!(undone["meta"]["kinds"]["employee"]["removed"], 1);
    assert_eq!(undone["meta"]["events"]["removed"], all);
    assert_eq!(diff(&caller, "from=now")["meta"]["total"], 0);
}

#[test]
fn grown_resources_are_changed_and_not_created_in_a_difference() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let all = |path: &str| caller.all(&format!("{path}&company_id={company}"));
    let paid = all("/api/payments/collections?status=settled")[0].clone();
    let mut open = all("/api/payments/invoices?status=open").into_iter();
    let late = open.find(|invoice| invoice["due_date"].as_str().unwrap() < "2026-01-01").unwrap();
    let before = take(&caller, "before");
    let refunds = format!("/api/payments/collections/{}/refunds", id(&paid));
    caller.post(&refunds, &json!({"amount": 100, "reason": "damaged"})).expect(201);
    let write_off = format!("/api/payments/invoices/{}/write-off", id(&late));
    caller.post(&write_off, &json!({"reason": "insolvent"})).expect(200);
    for from in [before.as_str(), "start"] {
        let found = diff(&caller, &format!("from={from}&per_page=100"));
        for (of, member) in [(&paid, "/amount_refunded"), (&late, "/status")] {
            let mut rows = found["data"].as_array().unwrap().iter();
            let row = rows.find(|row| row["id"] == of["id"]).unwrap();
            assert_eq!(row["change"], "changed", "{row}");
            let fields = row["fields"].as_array().unwrap();
            assert!(fields.iter().any(|field| field["field"] == member), "{row}");
        }
        let canonical = diff(&caller, &format!("from={from}&canonical=true"));
        let objects = canonical["meta"]["canonical"]["objects"].as_array().unwrap();
        let obliging = objects.iter().filter(|one| one["obligation"] == true);
        let kinds: Vec<_> = obliging.map(|one| one["kind"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["refund"]);
    }
}

#[test]
fn a_changed_resource_keeps_its_id_inside_the_canonical_form_of_a_new_one() {
    let caller = Caller::instant();
    let run = caller.run_payroll(&caller.company(0), "2026-01");
    let employee = run["employees"][0].as_str().unwrap();
    let path = format!("/api/business/employees/{employee}");
    caller.patch(&path, &json!({"role": "Chair"})).expect(200);
    let found = diff(&caller, "from=start&canonical=true");
    let objects = found["meta"]["canonical"]["objects"].as_array().unwrap();
    assert!(objects.iter().any(|one| one["id"] == employee), "it has changed");
    let liability = objects.iter().find(|one| one["kind"] == "tax_liability").unwrap();
    let inside = &liability["value"]["payroll_run_id"];
    assert_eq!(inside["object"], "payroll_run", "it is new");
    assert!(inside["employees"].as_array().unwrap().contains(&json!(employee)), "{inside}");
}

#[test]
fn the_canonical_form_of_a_run_grows_in_proportion_to_its_people() {
    let bytes = |people: &str| {
        let caller = Caller::of(&Arc::new(Server::start(&[
            "--companies",
            "1",
            "--employees-per-company",
            people,
        ])));
        caller.run_payroll(&caller.company(0), "2026-01");
        diff(&caller, "from=start&canonical=true&per_page=1").to_string().len()
    };
    let (few, many) = (bytes("250"), bytes("1000"));
    assert!(many < 5 * few, "{few} bytes for 250 people, {many} for 1,000");
}

#[test]
fn a_canonical_form_of_too_many_resources_is_refused() {
    let flags = ["--companies", "1", "--employees-per-company", "30000"];
    let caller = Caller::of(&Arc::new(Server::start(&flags)));
    let company = caller.company(0);
    caller.post("/v1/payroll/run", &json!({"company_id": company, "period": "2026-01"}));
    let path = "/_sandbox/diff?from=start&per_page=1";
    assert!(number(&caller.get(path).expect(200)["meta"]["total"]) > 20_000);
    let refused = caller.get(&format!("{path}&canonical=true")).refused(422, "validation_failed");
    assert_eq!(refused["errors"][0]["code"], "too_many", "{refused}");
}

#[test]
fn differences_of_a_payroll_run_reach_the_wallets_balance() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let balance = || caller.get("/api/payments/wallets").data()[0]["available"].clone();
    let before = balance();
    let run = caller.run_payroll(&company, "2026-01");
    let after = balance();
    let first = diff(&caller, "per_page=1");
    let total = number(&first["meta"]["total"]);
    assert!(total > 50, "{first}");
    assert_eq!(first["data"].as_array().unwrap().len(), 1);
    let kinds = first["meta"]["kinds"].as_object().unwrap();
    let counted: i64 =
        kinds.values().flat_map(|kind| kind.as_object().unwrap().values()).map(number).sum();
    assert_eq!(counted, total);
    assert_eq!(kinds["payroll_run"]["created"], 1);
    assert!(number(&kinds["journal_entry"]["created"]) > 0);
    let pages = (1..=total / 100 + 1).flat_map(|page| {
        let page = diff(&caller, &format!("per_page=100&page={page}"));
        page["data"].as_array().unwrap().clone()
    });
    let rows: Vec<Value> = pages.collect();
    assert_eq!(rows.len(), usize::try_from(total).unwrap());
    assert!(rows.iter().any(|row| id(row) == id(&run)));
    let wallet = rows.iter().find(|row| row["kind"] == "wallet").unwrap();
    let fields = wallet["fields"].as_array().unwrap();
    let field = fields.iter().find(|field| field["field"] == "/available");
    let field = field.unwrap();
    assert_eq!((&field["before"], &field["after"]), (&before, &after));
}

/// The same change after a restore is not a difference, because values are compared.
#[test]
fn the_same_change_made_twice_is_no_difference() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let before = take(&caller, "before");
    caller.run_payroll(&company, "2026-01");
    let after = take(&caller, "after");
    restore(&caller, &before);
    caller.run_payroll(&company, "2026-01");
    let found = diff(&caller, &format!("from={after}"));
    assert_eq!(found["meta"]["total"], 0, "{found}");
    let events = &found["meta"]["events"];
    assert_eq!((&events["added"], &events["removed"]), (&json!(0), &json!(0)));
}

#[test]
fn worlds_of_different_growth_are_not_compared() {
    let caller = Caller::instant();
    let before = take(&caller, "before");
    caller.post("/_sandbox/reset", &json!({"seed": 7})).expect(200);
    let path = format!("/_sandbox/diff?from={before}");
    caller.get(&path).refused(422, "validation_failed");
    restore(&caller, &before);
    assert_eq!(diff(&caller, &format!("from={before}"))["meta"]["total"], 0);
}

#[test]
fn a_fingerprint_shows_which_part_differs() {
    let (one, other) = (Caller::manual(), Caller::manual());
    let print = |caller: &Caller| caller.get("/_sandbox/fingerprint").data();
    assert_eq!(print(&one), print(&other));
    assert_eq!(print(&one)["digest"], one.digest());
    hire(&one, "Ada Obi");
    hire(&other, "Ada Eze");
    let (first, second) = (print(&one), print(&other));
    assert_ne!(first["digest"], second["digest"]);
    let part = |print: &Value, name: &str| print["parts"][name].clone();
    assert_ne!(part(&first, "records"), part(&second, "records"));
    for name in ["frame", "log", "timers", "decisions"] {
        assert_eq!(part(&first, name), part(&second, name), "{name}");
    }
}

#[test]
fn open_worlds_are_listed_without_their_keys() {
    let server = Arc::new(Server::start(&[]));
    let one = Caller::with_key(&server, "test_first_of_two");
    let other = Caller::with_key(&server, "test_second_of_two");
    hire(&one, "Ada Obi");
    take(&one, "one");
    let answer = other.get("/_sandbox/worlds");
    let worlds = answer.expect(200)["data"].take();
    assert!(!answer.text().contains("_of_two"), "{}", answer.text());
    let worlds = worlds.as_array().unwrap();
    let yours: Vec<bool> = worlds.iter().map(|world| world["yours"] == true).collect();
    assert_eq!(yours, [false, true]);
    let shown = |world: &Value| {
        ["opened", "events", "records", "snapshots"].map(|name| number(&world[name]))
    };
    let events = i64::try_from(one.events().len()).unwrap();
    assert_eq!(shown(&worlds[0]), [1, events, 1, 1]);
    assert_eq!(shown(&worlds[1]), [2, 0, 0, 0]);
    assert_eq!(worlds[0]["now"], json!(one.now()));
}

#[test]
fn a_bounded_log_reports_that_its_audit_is_partial() {
    let server = Arc::new(Server::start(&["--max-events", "20"]));
    let caller = Caller::of(&server);
    let company = caller.company(0);
    caller.run_payroll(&company, "2026-01");
    let events = caller.events();
    assert_eq!(events.len(), 20);
    let first = number(&events[0]["sequence"]);
    assert!(first > 20, "{first}");
    let info = caller.get("/_sandbox/info").data();
    assert_eq!((&info["max_events"], &info["world"]["events_kept"]), (&json!(20), &json!(20)));
    assert_eq!(info["world"]["events"], first + 19);
    let check = caller.get("/_sandbox/ledger/check").data();
    assert_eq!((&check["ok"], &check["log_begins_at"]), (&json!(true), &json!(first)));
    assert_eq!(caller.all(&format!("/_sandbox/events?after={}", first + 9)).len(), 10);
}

#[test]
fn a_reset_takes_every_seed_that_the_flag_takes() {
    let caller = Caller::manual();
    let reset = caller.post("/_sandbox/reset", &json!({"seed": u64::MAX})).data();
    assert_eq!(reset["seed"], u64::MAX);
    for seed in [json!(1e20), json!(-1), json!("7")] {
        let problem = caller.post("/_sandbox/reset", &json!({"seed": seed}));
        let problem = problem.refused(422, "validation_failed");
        assert_eq!(problem["errors"][0]["pointer"], "/seed", "{problem}");
    }
}
