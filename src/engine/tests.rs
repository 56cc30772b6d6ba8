//! Tests of the engine in the process: the order of refusal, the undoing of changes, and random
//! calls to every operation with an audit after each.

#![expect(clippy::cast_possible_truncation, reason = "draws below the lengths of short lists")]

mod checkpoint;
mod snapshots;

use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};
use serde_json::{Value, json};

use super::contract::Overlay;
use super::recording::Recorder;
use super::{Config, Engine, Library};
use crate::api;
use crate::api::operation::{Method, Operation};
use crate::value::Key;
use crate::world::{ClockMode, Shape, World};

const KEY: &str = "test_key";

fn engine(seed: u64, mode: ClockMode) -> Engine {
    engine_with(seed, mode, None)
}

pub(super) fn engine_with(
    seed: u64,
    mode: ClockMode,
    recorder: Option<Arc<dyn Recorder>>,
) -> Engine {
    let shape = Shape { employees_per_company: 7, ..Shape::default() };
    Engine::new(Config {
        seed,
        shape,
        mode,
        api_keys: Vec::new(),
        contract: Overlay::default(),
        max_worlds: 100,
        max_events: None,
        pages: |_, _, _| None,
        scenarios: Vec::new(),
        library: Library::EMPTY,
        recorder,
    })
}

fn request(method: &str, target: &str, key: Option<&str>, body: &str) -> Request<Bytes> {
    let mut request = Request::builder().method(method).uri(target).header("host", "localhost");
    if let Some(key) = key {
        request = request.header("authorization", format!("Bearer {key}"));
    }
    if !body.is_empty() {
        request =
            request.header("content-type", "application/json").header("content-length", body.len());
    }
    request.body(Bytes::copy_from_slice(body.as_bytes())).expect("a request of the test")
}

fn call(engine: &Engine, method: &str, target: &str, body: &str) -> Response<Bytes> {
    engine.call(request(method, target, Some(KEY), body))
}

fn parsed(response: &Response<Bytes>) -> Value {
    serde_json::from_slice(response.body()).expect("every answer is JSON")
}

fn first_id(engine: &Engine, target: &str) -> String {
    parsed(&call(engine, "GET", target, ""))["data"][0]["id"]
        .as_str()
        .expect("the list has a row")
        .to_owned()
}

fn digest(engine: &Engine) -> String {
    engine.with_world(KEY, World::digest).expect("a key that opens a world")
}

#[test]
fn a_large_process_loses_a_tenth_of_its_worlds() {
    let engine = engine(1, ClockMode::Instant);
    for number in 0..9 {
        engine.with_world(&format!("test_{number}"), World::digest).expect("there is room");
    }
    for left in [8, 7, 6, 5, 4, 3, 2, 1, 0] {
        engine.fit(2, 1);
        assert_eq!(engine.worlds.count(), left);
    }
}

#[test]
fn a_world_that_leaves_is_dropped_after_the_lock_is_released() {
    let engine = engine(1, ClockMode::Instant);
    engine.with_world(KEY, World::digest).expect("there is room");
    let slot = Arc::downgrade(&engine.worlds.resident_slots()[0]);
    let mut open = engine.worlds.open_mut();
    assert!(open.remove(KEY).is_some() && open.is_empty());
    assert!(slot.upgrade().is_some(), "it was dropped under the lock");
    drop(open);
    assert!(slot.upgrade().is_none());
}

#[test]
fn each_stage_refuses_before_the_next_one() {
    let engine = engine(42, ClockMode::Instant);
    let code = |request: Request<Bytes>| {
        let response = engine.call(request);
        (response.status().as_u16(), parsed(&response)["code"].as_str().expect("a code").to_owned())
    };
    let run = "/v1/payroll/run";
    let bad_body = "{\"company_id\":";
    let stages = [
        (code(request("POST", "/v1/payrol/run", None, bad_body)), 404, "route_not_found"),
        (code(request("GET", run, None, "")), 405, "method_not_allowed"),
        (code(request("POST", run, None, bad_body)), 401, "missing_credentials"),
        (code(request("POST", run, Some("sk_live_1"), bad_body)), 401, "live_key_refused"),
        (code(request("POST", run, Some(KEY), bad_body)), 400, "malformed_json"),
        (code(request("POST", run, Some(KEY), "{}")), 422, "validation_failed"),
        (
            code(request("POST", run, Some(KEY), r#"{"company_id":"com_1","period":"2026-01"}"#)),
            404,
            "resource_not_found",
        ),
    ];
    for ((status, code), expected_status, expected_code) in stages {
        assert_eq!((status, code.as_str()), (expected_status, expected_code));
    }
}

#[test]
fn a_refused_write_leaves_the_digest_as_it_was() {
    let engine = engine(7, ClockMode::Instant);
    let before = digest(&engine);
    let company = first_id(&engine, "/api/business/companies");
    for body in [
        json!({ "company_id": company, "period": "2025-12" }),
        json!({ "company_id": company, "period": "2026-01", "employees": ["emp_1"] }),
        json!({ "company_id": company, "period": "2026-01", "employees": [] }),
    ] {
        let response = call(&engine, "POST", "/v1/payroll/run", &body.to_string());
        assert!(response.status().is_client_error(), "{body}");
    }
    assert_eq!(digest(&engine), before);
}

/// One step of the walk: a row, called with its example, with ids of the world, with random input, or with
/// nothing.
fn step(engine: &Engine, row: &Operation, key: Key) -> (String, String) {
    let ids: Vec<String> = ["companies", "employees", "payroll-runs", "payslips", "tax-filings"]
        .iter()
        .filter_map(|list| {
            let page = key.with(list).below(4) + 1;
            let answer = call(
                engine,
                "GET",
                &format!("/api/business/{list}?per_page=5&page={page}&sort=-created_at"),
                "",
            );
            Some(parsed(&answer)["data"].as_array()?.first()?["id"].as_str()?.to_owned())
        })
        .collect();
    let any = |key: Key| {
        ids.get(key.below(ids.len() as u64 + 1) as usize).map_or("nothing_0", String::as_str)
    };
    let fitting = |name: &str, key: Key| {
        let prefix = match name {
            "company_id" => "com_",
            "employee_id" => "emp_",
            "payroll_run_id" => "prn_",
            "payslip_id" => "psl_",
            "tax_filing_id" => "txf_",
            _ => "",
        };
        let fits = ids.iter().find(|id| !prefix.is_empty() && id.starts_with(prefix));
        fits.filter(|_| key.below(8) > 0)
            .map_or_else(|| any(key.with("any")).to_owned(), Clone::clone)
    };
    let mut path = row.path.to_owned();
    for name in row.path_parameters() {
        path = path.replace(&format!("{{{name}}}"), &fitting(name, key.with(name)));
    }
    if !row.method.has_body() {
        let query =
            ["", "?page=2", "?page=0", "?sort=-created_at", "?status=active", "?nonsense=1"];
        let mut query = query[key.with("query").below(6) as usize].to_owned();
        if path.contains("reports") || path.contains("ledger-accounts") || path.contains("journal")
        {
            let company = fitting("company_id", key.with("company"));
            query = format!("?company_id={company}&from=2025-06-01&to=2026-06-30&as_of=2026-06-30");
            if path.contains("profit") || path.contains("journal") {
                query = query.replace("&as_of=2026-06-30", "");
            } else {
                query = query.replace("&from=2025-06-01&to=2026-06-30", "");
            }
        }
        return (path + &query, String::new());
    }
    let body = match key.with("body").below(8) {
        0 => "{}".to_owned(),
        1 => r#"{"unknown":1}"#.to_owned(),
        _ => {
            let month = key.with("month").below(14) + 1;
            let days = key.with("days").below(40);
            row.example
                .replace("@company:1", &fitting("company_id", key.with("company")))
                .replace("2026-01\"", &format!("2026-{month:02}\""))
                .replace("10d", &format!("{days}d"))
        }
    };
    (path, body)
}

#[test]
fn every_event_that_a_control_operation_causes_has_a_known_type() {
    let types = api::system::event_types();
    for row in api::control() {
        let caused = api::system::events_of(row);
        assert!(caused.iter().all(|name| types.contains(name)), "{}", row.name);
    }
    assert!(api::control().any(|row| !api::system::events_of(row).is_empty()));
}

#[test]
fn a_random_walk_over_the_table_never_breaks_an_invariant() {
    for (seed, mode) in [
        (1, ClockMode::Instant),
        (2, ClockMode::Manual),
        (3, ClockMode::Instant),
        (4, ClockMode::Manual),
    ] {
        println!("walk of seed {seed}");
        let engine = engine(seed, mode);
        let rows: Vec<&Operation> = api::product().chain(api::control()).collect();
        let (mut writes, mut refused) = (0, 0);
        for number in 0..400 {
            let key = Key::new(seed).with("walk").at(number);
            let row = rows[key.below(rows.len() as u64) as usize];
            let (target, body) = step(&engine, row, key);
            let before = digest(&engine);
            let response = call(&engine, row.method.name(), &target, &body);
            let status = response.status().as_u16();
            assert!(
                status < 500,
                "step {number}: {} {target} {body}: {:?}",
                row.name,
                response.body()
            );
            if status >= 400 {
                refused += 1;
                assert_eq!(digest(&engine), before, "step {number}: {} {target} {body}", row.name);
                let code = parsed(&response)["code"].as_str().expect("a code").to_owned();
                assert!(may_refuse(row, &code), "step {number}: {} refused with {code}", row.name);
            } else if row.method != Method::Get {
                writes += 1;
            }
            let findings = engine.with_world(KEY, |world| world.audit().findings).expect("open");
            assert!(
                findings.is_empty(),
                "step {number}: {} {target} {body}: {findings:?}",
                row.name
            );
        }
        assert!(writes > 20 && refused > 20, "{writes} writes and {refused} refusals are too few");
    }
}

/// The codes that every row may return, and the row's own codes.
fn may_refuse(row: &Operation, code: &str) -> bool {
    ["validation_failed", "resource_not_found", "malformed_json"].contains(&code)
        || row.errors.iter().any(|declared| declared.code() == code)
}

#[test]
fn the_audit_notices_a_world_that_was_tampered_with() {
    let engine = engine(5, ClockMode::Instant);
    let company = first_id(&engine, "/api/business/companies");
    let body = json!({ "company_id": company, "period": "2026-01" }).to_string();
    assert_eq!(call(&engine, "POST", "/v1/payroll/run", &body).status(), 201);
    let mut value = engine
        .with_world(KEY, |world| serde_json::to_value(world).expect("it serialises"))
        .expect("open");
    let entry = value["books"].as_object_mut().expect("books by company");
    let book = entry.values_mut().next().expect("the run posted");
    let amount = &mut book["entries"][0]["lines"][0]["amount"];
    *amount = json!(amount.as_i64().expect("minor units") + 1);
    let tampered: World = serde_json::from_value(value).expect("it reads back");
    assert!(!tampered.audit().findings.is_empty());
}

/// Year-to-date gross pay on the payslips of the company's first employee, by period.
fn gross_to_date(engine: &Engine, employee: &str) -> Vec<(String, i64)> {
    let target = format!("/api/business/payslips?employee_id={employee}&per_page=100");
    let payslips = parsed(&call(engine, "GET", &target, ""));
    let rows = payslips["data"].as_array().expect("a list").iter();
    let row = |payslip: &Value| {
        let period = payslip["period"].as_str().expect("a period").to_owned();
        (period, payslip["ytd"]["gross"].as_i64().expect("minor units"))
    };
    rows.map(row).collect()
}

#[test]
fn the_year_to_date_is_what_was_paid_in_any_order_and_clock() {
    for (mode, months) in [
        (ClockMode::Instant, ["03", "01", "02"]),
        (ClockMode::Manual, ["01", "02", "03"]),
        (ClockMode::Manual, ["02", "03", "01"]),
    ] {
        let shape = Shape { countries: vec!["GB".to_owned()], ..Shape::default() };
        let engine = Engine::new(Config {
            seed: 42,
            shape,
            mode,
            api_keys: Vec::new(),
            contract: Overlay::default(),
            max_worlds: 1,
            max_events: None,
            pages: |_, _, _| None,
            scenarios: Vec::new(),
            library: Library::EMPTY,
            recorder: None,
        });
        let company = first_id(&engine, "/api/business/companies");
        let employee = first_id(&engine, "/api/business/employees");
        for month in months {
            let body = json!({ "company_id": company, "period": format!("2026-{month}"), "employees": [employee] });
            assert_eq!(call(&engine, "POST", "/v1/payroll/run", &body.to_string()).status(), 201);
        }
        call(&engine, "POST", "/_sandbox/clock/advance", r#"{"until":"idle"}"#);
        let history = gross_to_date(&engine, &employee);
        let before = history.iter().find(|(period, _)| period == "2025-12").expect("history").1;
        let mut since: Vec<i64> = history
            .iter()
            .filter(|(period, _)| period.starts_with("2026"))
            .map(|(_, gross)| *gross)
            .collect();
        since.sort_unstable();
        let month = (since[2] - before) / 3;
        assert!(month > before / 18, "a month of nine, of which one may have had a bonus");
        assert_eq!(since, [before + month, before + 2 * month, before + 3 * month], "{months:?}");
    }
}
