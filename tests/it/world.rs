//! The grown world: believable, of the shape that was asked for, and quick to open however large.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use crate::harness::world::{id, number};
use crate::harness::{Caller, Server, command};

/// The world of those flags, as `sandbox world` prints it.
fn printed(flags: &[&str]) -> Value {
    let output = command(&["world"]).args(flags).output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).unwrap()
}

fn text<'a>(value: &'a Value, member: &str) -> &'a str {
    value[member]
        .as_str()
        .unwrap_or_else(|| panic!("no {member} in {value}"))
}

fn employees(world: &Value) -> impl Iterator<Item = &Value> {
    companies(world)
        .iter()
        .flat_map(|company| company["employees"].as_array().unwrap())
}

fn companies(world: &Value) -> &[Value] {
    world["data"].as_array().unwrap()
}

fn distinct<'a>(rows: impl Iterator<Item = &'a Value>, member: &str) -> BTreeSet<String> {
    rows.map(|row| text(row, member).to_owned()).collect()
}

#[test]
fn the_default_world_is_three_companies_of_twenty_five_people() {
    let world = printed(&[]);
    assert_eq!(world["seed"], 42);
    assert_eq!(companies(&world).len(), 3);
    for company in companies(&world) {
        assert_eq!(company["employees"].as_array().unwrap().len(), 25);
        assert_eq!(company["status"], "active");
        for member in ["legal_name", "registration_number", "tax_id", "industry"] {
            assert!(text(company, member).len() > 3, "{member}");
        }
        assert!(company["address"]["line1"].is_string());
    }
    for member in ["country", "currency", "industry", "legal_name"] {
        assert_eq!(
            distinct(companies(&world).iter(), member).len(),
            3,
            "the three differ in {member}"
        );
    }
    for employee in employees(&world) {
        for member in [
            "name",
            "role",
            "department",
            "email",
            "start_date",
            "country",
        ] {
            assert!(text(employee, member).len() > 1, "{member}");
        }
        assert!(text(employee, "name").contains(' '));
        assert!(
            text(employee, "email").ends_with(".example.com"),
            "nobody real is written to"
        );
    }
    assert!(
        distinct(employees(&world), "name").len() > 70,
        "names hardly repeat"
    );
}

#[test]
fn what_is_printed_is_what_is_served() {
    let (world, caller) = (printed(&[]), Caller::instant());
    let served = caller.all("/api/business/employees");
    let printed: Vec<&str> = employees(&world).map(id).collect();
    assert_eq!(served.iter().map(id).collect::<Vec<_>>(), printed);
    for company in companies(&world) {
        let read = caller
            .get(&format!("/api/business/companies/{}", id(company)))
            .data();
        for (name, value) in read
            .as_object()
            .unwrap()
            .iter()
            .filter(|(name, _)| *name != "blockers")
        {
            assert_eq!(company[name], *value, "{name}");
        }
    }
    for employee in employees(&world).step_by(9) {
        let read = caller
            .get(&format!("/api/business/employees/{}", id(employee)))
            .data();
        assert_eq!(read, *employee);
    }
}

#[test]
fn the_first_company_has_people_in_every_status_and_most_can_be_paid() {
    for seed in ["42", "7", "1"] {
        let world = printed(&["--seed", seed]);
        let first = companies(&world)[0]["employees"].as_array().unwrap();
        let statuses = ["active", "on_leave", "pending", "suspended", "terminated"];
        assert_eq!(
            distinct(first.iter(), "status"),
            statuses.map(str::to_owned).into()
        );
        let payroll = [
            "closed",
            "failed",
            "not_enrolled",
            "on_hold",
            "pending",
            "verified",
        ];
        assert_eq!(
            distinct(first.iter(), "payroll_status"),
            payroll.map(str::to_owned).into()
        );
        let count =
            |member: &str, wanted: &str| employees(&world).filter(|e| e[member] == wanted).count();
        assert!(count("status", "active") * 4 > 75 * 3, "most are active");
        assert!(
            count("payroll_status", "verified") * 3 > 75 * 2,
            "most are verified"
        );
    }
}

#[test]
fn heads_earn_more_than_most_and_everybody_earns_a_wage() {
    let world = printed(&[]);
    for company in companies(&world) {
        let people = company["employees"].as_array().unwrap();
        let pay = |employee: &Value| number(&employee["compensation"]["amount"]);
        let mut wages: Vec<i64> = people.iter().map(pay).collect();
        let head = wages[0];
        wages.sort_unstable();
        assert!(wages[0] > 0 && wages[24] < wages[0] * 40, "{wages:?}");
        assert!(head >= wages[20], "{head} against {wages:?}");
        for employee in people {
            assert_eq!(employee["compensation"]["currency"], company["currency"]);
            let parts = employee["compensation"]["components"].as_array().unwrap();
            assert_eq!(
                parts
                    .iter()
                    .map(|part| number(&part["amount"]))
                    .sum::<i64>(),
                pay(employee)
            );
        }
    }
}

/// ISO 13616: the first four characters moved to the end, letters as numbers from 10, the whole modulo 97 is 1.
fn iban_holds(iban: &str) -> bool {
    let (head, tail) = iban.split_at(4);
    let digits = tail
        .chars()
        .chain(head.chars())
        .map(|c| c.to_digit(36).unwrap());
    let remainder = digits.fold(0, |sum, digit| {
        (if digit > 9 { sum * 100 } else { sum * 10 } + digit) % 97
    });
    remainder == 1
}

/// The Central Bank of Nigeria's rule for account numbers: weights 3, 7, 3 over bank code and serial number.
fn nuban_holds(bank: &str, account: &str) -> bool {
    let digits: Vec<u32> = bank
        .chars()
        .chain(account.chars())
        .map(|c| c.to_digit(10).unwrap())
        .collect();
    let (check, body) = digits.split_last().unwrap();
    let sum: u32 = body
        .iter()
        .zip([3, 7, 3].iter().cycle())
        .map(|(digit, weight)| digit * weight)
        .sum();
    bank.len() == 3 && account.len() == 10 && (10 - sum % 10) % 10 == *check
}

/// The American Bankers Association's rule for routing numbers: weights 3, 7, 1.
fn routing_holds(number: &str) -> bool {
    let weights = [3, 7, 1].iter().cycle();
    let sum: u32 = number
        .chars()
        .zip(weights)
        .map(|(digit, weight)| digit.to_digit(10).unwrap() * weight)
        .sum();
    number.len() == 9 && sum % 10 == 0
}

/// The control run of the three rules: published examples hold, and no longer with one digit changed.
#[test]
fn the_check_digit_rules_tell_right_from_wrong() {
    assert!(iban_holds("GB82WEST12345698765432") && !iban_holds("GB82WEST12345698765431"));
    assert!(iban_holds("DE89370400440532013000") && !iban_holds("DE98370400440532013000"));
    assert!(nuban_holds("011", "0000014579") && !nuban_holds("011", "0000014578"));
    assert!(routing_holds("021000021") && !routing_holds("021000012"));
}

#[test]
fn account_numbers_have_right_check_digits_and_none_is_a_magic_value() {
    let world = printed(&[
        "--companies",
        "12",
        "--countries",
        "NG,GB,US",
        "--employees-per-company",
        "40",
    ]);
    let mut seen = (0, 0, 0);
    for employee in employees(&world).filter(|employee| !employee["payment_method"].is_null()) {
        let method = &employee["payment_method"];
        let account = text(method, "account_number");
        assert!(!account.starts_with("99999999"), "{account} is reserved");
        match text(employee, "country") {
            "NG" => {
                assert!(nuban_holds(text(method, "bank_code"), account), "{method}");
                seen.0 += 1;
            }
            "GB" => {
                assert!(iban_holds(text(method, "iban")), "{method}");
                assert!(text(method, "iban").ends_with(account));
                seen.1 += 1;
            }
            _ => {
                assert!(routing_holds(text(method, "bank_code")), "{method}");
                seen.2 += 1;
            }
        }
    }
    assert!(seen.0 > 100 && seen.1 > 100 && seen.2 > 100, "{seen:?}");
}

#[test]
fn wallets_hold_three_months_of_payroll() {
    for seed in ["42", "7", "1000"] {
        let world = printed(&["--seed", seed, "--companies", "6"]);
        for company in companies(&world) {
            let runs = company["payroll_runs"].as_array().unwrap();
            let dearest = runs
                .iter()
                .map(|run| number(&run["totals"]["employer_cost"]))
                .max()
                .unwrap();
            let available = number(&company["wallet"]["available"]);
            assert!(
                available >= 3 * dearest,
                "{seed} {}: {available} against {dearest}",
                text(company, "legal_name")
            );
        }
    }
}

#[test]
fn twelve_paid_months_lie_behind_every_company() {
    let caller = Caller::instant();
    for company in 0..3 {
        let company = caller.company(company);
        let runs = caller.all(&format!("/api/business/payroll-runs?company_id={company}"));
        let periods: Vec<&str> = runs.iter().map(|run| text(run, "period")).collect();
        let expected: Vec<String> = (1..=12).map(|month| format!("2025-{month:02}")).collect();
        assert_eq!(periods, expected);
        for run in &runs {
            assert_eq!(run["status"], "paid");
            let items = caller.all(&format!("/api/business/payroll-runs/{}/items", id(run)));
            let net: i64 = items.iter().map(|item| number(&item["net"])).sum();
            assert_eq!(
                net,
                number(&run["totals"]["net"]),
                "{}",
                text(run, "period")
            );
        }
        let entries = caller.all(&format!(
            "/api/business/journal-entries?company_id={company}"
        ));
        let accounts: BTreeSet<&str> = entries
            .iter()
            .flat_map(|entry| entry["lines"].as_array().unwrap())
            .map(|line| text(line, "account"))
            .collect();
        for account in [
            "owner_equity",
            "sales",
            "purchases",
            "rent",
            "wages",
            "cash_available",
            "accounts_receivable",
        ] {
            assert!(
                accounts.contains(account),
                "nothing was posted to {account}: {accounts:?}"
            );
        }
        assert!(
            entries.iter().any(|entry| entry["memo"] == "Filing paid"),
            "taxes were paid"
        );
    }
    for list in ["payslips", "payroll-runs"] {
        assert!(
            number(&caller.get(&format!("/api/business/{list}")).expect(200)["meta"]["total"]) > 30
        );
    }
    assert!(number(&caller.get("/api/payments/payouts").expect(200)["meta"]["total"]) > 500);
    caller.audit();
}

#[test]
fn the_shape_is_the_one_that_was_asked_for() {
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
    let countries: Vec<&str> = companies(&world)
        .iter()
        .map(|company| text(company, "country"))
        .collect();
    assert_eq!(countries, ["KE", "ZA", "KE", "ZA", "KE"]);
    for company in companies(&world) {
        assert_eq!(company["employees"].as_array().unwrap().len(), 7);
        let runs = company["payroll_runs"].as_array().unwrap();
        assert_eq!(
            (text(&runs[0], "period"), text(&runs[11], "period")),
            ("2023-07", "2024-06")
        );
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
    assert_eq!(
        caller.run(id(&run))["status"],
        "paid",
        "even a company of three can pay"
    );
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

#[test]
fn more_companies_leave_those_before_them_as_they_were() {
    let (few, many) = (
        printed(&["--companies", "2"]),
        printed(&["--companies", "4"]),
    );
    assert_eq!(companies(&few), &companies(&many)[..2]);
}

/// What is linear in the number of people would not end within the client's patience here: the last page of ten million, a filter,
/// and a person of it.
#[test]
fn a_world_of_ten_million_opens_and_serves_any_page() {
    let flags = ["--companies", "400", "--employees-per-company", "25000"];
    let caller = Caller::of(&Arc::new(Server::start(&flags)));
    let page = caller
        .get("/api/business/employees?page=399999&per_page=25")
        .expect(200);
    assert_eq!(page["meta"]["total"], 10_000_000);
    let rows = page["data"].as_array().unwrap();
    assert_eq!(rows.len(), 25);
    let last = caller
        .get("/api/business/employees?page=400000")
        .expect(200);
    assert_eq!(last["data"].as_array().unwrap().len(), 25);
    assert_eq!(
        caller
            .get("/api/business/employees?page=400001")
            .expect(200)["data"]
            .as_array()
            .unwrap()
            .len(),
        0
    );
    let person = caller
        .get(&format!("/api/business/employees/{}", id(&rows[7])))
        .data();
    assert_eq!(person["name"], rows[7]["name"]);
    assert_eq!(
        person["company_id"].as_str().unwrap(),
        caller
            .get("/api/business/companies?page=400&per_page=1")
            .data()[0]["id"]
    );
    let active = caller
        .get("/api/business/employees?status=active&page=200000")
        .expect(200);
    assert!(
        active["data"]
            .as_array()
            .unwrap()
            .iter()
            .all(|row| row["status"] == "active")
    );
    let company = text(&person, "company_id");
    let people = [id(&rows[0]), id(&rows[1])];
    let run = serde_json::json!({"company_id": company, "period": "2026-01", "employees": people});
    let answer = caller.post("/v1/payroll/run", &run);
    assert!(matches!(answer.status, 201 | 422), "{}", answer.text());
}
