//! Worlds of other sizes, countries and starts.

use std::sync::Arc;

use serde_json::Value;

use crate::harness::world::{id, number};
use crate::harness::{Caller, Server};

use super::{companies, printed, text};

#[test]
fn the_world_has_the_requested_shape() {
    let world = printed(&[
        "--companies",
        "5",
        "--employees-per-company",
        "7",
        "--countries",
        "KE,ZA",
        "--start",
        "2024-07-01T00:00:00Z",
    ]);
    let countries: Vec<&str> =
        companies(&world).iter().map(|company| text(company, "country")).collect();
    assert_eq!(countries, ["KE", "ZA", "KE", "ZA", "KE"]);
    for company in companies(&world) {
        assert_eq!(company["employees"].as_array().unwrap().len(), 7);
        let runs = company["payroll_runs"].as_array().unwrap();
        assert_eq!((text(&runs[0], "period"), text(&runs[11], "period")), ("2023-07", "2024-06"));
    }
    let server = Server::start(&[
        "--companies",
        "2",
        "--employees-per-company",
        "3",
        "--countries",
        "GB",
        "--start",
        "2024-07-01T00:00:00Z",
    ]);
    let caller = Caller::of(&Arc::new(server));
    assert_eq!(caller.now(), "2024-07-01T00:00:00.000Z");
    assert_eq!(caller.all("/api/business/employees").len(), 6);
    let run = caller.run_payroll(&caller.company(1), "2024-07");
    assert_eq!(caller.run(id(&run))["status"], "paid", "even a company of three can pay");
    caller.audit();
}

#[test]
fn every_country_can_run_its_payroll() {
    let countries = "NG,GB,US,KE,ZA,CA";
    let server = Server::start(&["--companies", "6", "--countries", countries]);
    let caller = Caller::of(&Arc::new(server));
    for company in 0..6 {
        let run = caller.run_payroll(&caller.company(company), "2026-01");
        let run = caller.run(id(&run));
        assert_eq!(run["status"], "paid", "{run}");
        assert!(number(&run["totals"]["taxes"]) > 0, "{run}");
    }
    caller.audit();
}

/// Their history differs, because its streams have a position in the list of all months of all companies as
/// their key.
#[test]
fn more_companies_do_not_change_the_existing_ones() {
    let (few, many) = (printed(&["--companies", "2"]), printed(&["--companies", "4"]));
    for (one, other) in companies(&few).iter().zip(companies(&many)) {
        let history = |name: &str| matches!(name, "wallet" | "payroll_runs" | "journal_entries");
        for (name, value) in one.as_object().unwrap().iter().filter(|(name, _)| !history(name)) {
            assert_eq!(*value, other[name], "{name}");
        }
    }
}

/// A linear cost in the number of people would exceed the client's patience here: the last page of ten
/// million, a filter, and one of its people.
#[test]
fn a_world_of_ten_million_opens_and_serves_any_page() {
    let flags = ["--companies", "400", "--employees-per-company", "25000"];
    let caller = Caller::of(&Arc::new(Server::start(&flags)));
    let page = caller.get("/api/business/employees?page=399999&per_page=25").expect(200);
    assert_eq!(page["meta"]["total"], 10_000_000);
    let rows = page["data"].as_array().unwrap();
    assert_eq!(rows.len(), 25);
    let last = caller.get("/api/business/employees?page=400000").expect(200);
    assert_eq!(last["data"].as_array().unwrap().len(), 25);
    assert_eq!(
        caller.get("/api/business/employees?page=400001").expect(200)["data"]
            .as_array()
            .unwrap()
            .len(),
        0
    );
    let person = caller.get(&format!("/api/business/employees/{}", id(&rows[7]))).data();
    assert_eq!(person["name"], rows[7]["name"]);
    assert_eq!(
        person["company_id"].as_str().unwrap(),
        caller.get("/api/business/companies?page=400&per_page=1").data()[0]["id"]
    );
    let active = caller.get("/api/business/employees?status=active&page=200000").expect(200);
    assert!(active["data"].as_array().unwrap().iter().all(|row| row["status"] == "active"));
    let company = text(&person, "company_id");
    let people = [id(&rows[0]), id(&rows[1])];
    let run = serde_json::json!({"company_id": company, "period": "2026-01", "employees": people});
    let answer = caller.post("/v1/payroll/run", &run);
    assert!(matches!(answer.status, 201 | 422), "{}", answer.text());
}

#[test]
fn a_world_without_people_is_empty_and_whole() {
    let caller = Caller::of(&Arc::new(Server::start(&["--employees-per-company", "0"])));
    assert_eq!(caller.all("/api/business/employees"), [Value::Null; 0]);
    assert_eq!(caller.all("/api/business/payslips"), [Value::Null; 0]);
    caller.audit();
    let new =
        serde_json::json!({"legal_name": "Lagos Bakery Ltd", "country": "NG", "currency": "NGN"});
    caller.post("/api/business/companies", &new).expect(201);
    for company in caller.all("/api/business/companies") {
        let body = serde_json::json!({"company_id": id(&company), "period": "2026-01"});
        assert!(matches!(caller.post("/v1/payroll/run", &body).status, 403 | 422));
    }
    caller.audit();
}
