//! The audit log: actors, changes, and the hash chain that a client can verify with the API alone.

use std::fmt::Write;
use std::sync::Arc;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{create_company, resolve};
use crate::harness::world::id;
use crate::harness::{Caller, Server};

const LOG: &str = "/api/business/audit-logs";

/// JSON without white space and with sorted members, written from the documented recipe.
fn canonical(value: &Value, out: &mut String) {
    match value {
        Value::Array(items) => {
            out.push('[');
            for (place, item) in items.iter().enumerate() {
                out.push_str(if place > 0 { "," } else { "" });
                canonical(item, out);
            }
            out.push(']');
        }
        Value::Object(members) => {
            let mut names: Vec<&String> = members.keys().collect();
            names.sort();
            out.push('{');
            for (place, name) in names.into_iter().enumerate() {
                out.push_str(if place > 0 { "," } else { "" });
                write!(out, "{}:", json!(name)).unwrap();
                canonical(&members[name], out);
            }
            out.push('}');
        }
        plain => write!(out, "{plain}").unwrap(),
    }
}

fn hash(record: &Value) -> String {
    let mut record = record.clone();
    record.as_object_mut().unwrap().remove("hash");
    let mut text = String::new();
    canonical(&record, &mut text);
    let bytes = Sha256::digest(text.as_bytes());
    bytes.iter().fold(String::new(), |mut hex, byte| {
        write!(hex, "{byte:02x}").unwrap();
        hex
    })
}

fn records(caller: &Caller) -> Vec<Value> {
    let rows = caller.all(LOG);
    let whole = |row: &Value| caller.get(&format!("{LOG}/{}", id(row))).data();
    rows.iter().map(whole).collect()
}

/// The position of the first record whose hash does not continue the previous record.
fn broken(records: &[Value], mut previous: String) -> Option<usize> {
    records.iter().position(|record| {
        let follows = record["previous_hash"] == previous && record["hash"] == hash(record);
        previous = hash(record);
        !follows
    })
}

fn nothing_before() -> String {
    "0".repeat(64)
}

#[test]
fn the_hash_chain_can_be_calculated_from_the_api_alone() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let people = &caller.payable(&company)[..3];
    let body = json!({"company_id": company, "period": "2026-01", "employees": people});
    caller.post("/v1/payroll/run", &body).expect(201);
    create_company(&caller);
    let metadata =
        json!({"metadata": {"ünïcode": "\u{1F600} \"quoted\" \\ back/slash", "b": "", "a": "1"}});
    caller.patch(&format!("/api/business/companies/{company}"), &metadata).expect(200);
    let mut all = records(&caller);
    assert!(all.len() > 30, "{}", all.len());
    assert_eq!(broken(&all, nothing_before()), None);
    assert!((1..).zip(&all).all(|(place, record)| record["sequence"] == place));
    assert_eq!(records(&caller), all, "a record never changes");
    // The control runs: a changed or missing record breaks the chain at its position.
    let mut without = all.clone();
    without.remove(10);
    assert_eq!(broken(&without, nothing_before()), Some(10));
    all[20]["after"]["amount"] = json!(1);
    assert_eq!(broken(&all, nothing_before()), Some(20));
}

#[test]
fn a_record_has_the_actor_the_operation_and_the_changes() {
    let caller = Caller::manual();
    let company = caller.company(0);
    let change = caller.request("PATCH", &format!("/api/business/companies/{company}"));
    let answer = caller
        .send(&change.header("If-Match", "*").json(&json!({"payroll_settings": {"pay_day": 28}})));
    let request = answer.header("request-id").unwrap().to_owned();
    let row = caller.all(LOG).remove(0);
    assert_eq!(
        row["actor"],
        json!({"type": "caller", "request_id": request, "idempotency_key": null})
    );
    assert_eq!(
        (&row["operation"], &row["event"]),
        (&json!("updateCompany"), &json!("company.updated"))
    );
    assert_eq!(row["resource"], json!({"type": "company", "id": company}));
    assert_eq!(row["changed_fields"], json!(["payroll_settings", "updated_at"]));
    assert_eq!(row.get("hash"), None);
    let whole = caller.get(&format!("{LOG}/{}", id(&row))).data();
    assert_eq!(whole["before"]["payroll_settings"]["pay_day"], 25);
    assert_eq!(whole["after"]["payroll_settings"]["pay_day"], 28);
    assert_eq!(whole["changes"], json!([]));

    let body = json!({"company_id": company, "period": "2026-01"});
    let run = caller.request("POST", "/v1/payroll/run").json(&body);
    let answer = caller.send(&run.header("Idempotency-Key", "january"));
    let request = answer.header("request-id").unwrap().to_owned();
    caller.advance(&json!({"by": "2s"}));
    let rows = caller.all(&format!("{LOG}?operation=runPayroll"));
    assert_eq!(rows[0]["actor"]["type"], "caller");
    assert_eq!(rows[0]["actor"]["idempotency_key"], "january");
    assert_eq!(rows[1]["actor"]["type"], "clock");
    assert_eq!(rows[1]["actor"]["request_id"], request);
    assert_eq!(rows[1]["event"], "payroll_run.calculated");
    let whole = caller.get(&format!("{LOG}/{}", id(&rows[1]))).data();
    let items = whole["changes"].as_array().unwrap();
    assert_eq!(items.len(), 19);
    assert_eq!(items[0]["resource"]["type"], "payroll_item");
    assert!(items[0]["before"].is_null());
    let posted = caller.get(&format!("{LOG}/{}", id(&rows[2]))).data();
    assert_eq!(posted["changes"][0]["resource"]["type"], "journal_entry");
}

#[test]
fn records_are_found_by_company_resource_operation_and_day() {
    let caller = Caller::manual();
    let company = caller.company(0);
    caller.run_payroll(&company, "2026-01");
    let (created, requirement) = create_company(&caller);
    caller.advance(&json!({"to": "2026-01-10T00:00:00Z"}));
    resolve(&caller, &requirement, &json!({"value": "RC 1"})).expect(200);
    let count = |query: &str| caller.all(&format!("{LOG}?{query}")).len();
    let all = count("");
    assert_eq!(all, caller.events().len());
    assert_eq!(count(&format!("company_id={created}")), 5);
    assert_eq!(count(&format!("company_id={company}")), all - 5);
    assert_eq!(count("resource_type=compliance_requirement"), 2);
    assert_eq!(count(&format!("resource_id={}", id(&requirement))), 2);
    assert_eq!(count("operation=createCompany"), 3);
    assert_eq!(count("from=2026-01-10&to=2026-01-10"), 2);
    assert_eq!(count("from=2026-01-11"), 0);
    assert_eq!(count("to=2026-01-09"), all - 2);
    assert_eq!(count("resource_type=nothing"), 0);
    let page = caller.get(&format!("{LOG}?per_page=2&page=2")).expect(200);
    assert_eq!(page["meta"], json!({"total": all, "page": 2}));
    assert_eq!(page["data"][0]["sequence"], 3);
    let refused = caller.get(&format!("{LOG}?from=2026-02-01&to=2026-01-01"));
    let refused = refused.refused(422, "validation_failed");
    assert_eq!(refused["errors"][0]["pointer"], "/to");
    for wrong in ["from=yesterday", "colour=red", "sort=at"] {
        caller.get(&format!("{LOG}?{wrong}")).refused(422, "validation_failed");
    }
    for missing in ["aud_0000000000000", "emp_1", "aud_"] {
        caller.get(&format!("{LOG}/{missing}")).refused(404, "resource_not_found");
    }
}

#[test]
fn a_hash_chain_continues_after_its_oldest_records_are_dropped() {
    let bounded = Server::start(&["--seed", "42", "--clock", "manual", "--max-events", "10"]);
    let (whole, bounded) = (Caller::manual(), Caller::of(&Arc::new(bounded)));
    for caller in [&whole, &bounded] {
        caller.run_payroll(&caller.company(0), "2026-01");
        caller.advance(&json!({"to": "2026-01-23T12:00:00Z"}));
    }
    let (all, kept) = (records(&whole), records(&bounded));
    assert_eq!(kept.len(), 10);
    let dropped = all.len() - 10;
    assert_eq!(kept[0]["sequence"], dropped + 1);
    // Request ids, and so hashes, differ between keys: the test compares the chain itself.
    let before = kept[0]["previous_hash"].as_str().unwrap().to_owned();
    assert_ne!(before, nothing_before());
    assert_eq!(broken(&kept, before), None);
    let again = Server::start(&["--seed", "42", "--clock", "manual"]);
    let same = Caller::with_key(&Arc::new(again), "one");
    let trimmed = Server::start(&["--seed", "42", "--clock", "manual", "--max-events", "10"]);
    let trimmed = Caller::with_key(&Arc::new(trimmed), "one");
    for caller in [&same, &trimmed] {
        caller.run_payroll(&caller.company(0), "2026-01");
        caller.advance(&json!({"to": "2026-01-23T12:00:00Z"}));
    }
    let all = records(&same);
    assert_eq!(records(&trimmed)[..], all[all.len() - 10..]);
}
