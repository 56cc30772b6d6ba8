//! The content of the default world.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::harness::Caller;
use crate::harness::world::{id, number};

use super::{companies, distinct, employees, printed, text};

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
        for member in ["name", "role", "department", "email", "start_date", "country"] {
            assert!(text(employee, member).len() > 1, "{member}");
        }
        assert!(text(employee, "name").contains(' '));
        assert!(text(employee, "email").ends_with(".example.com"), "no real address is used");
    }
    assert!(distinct(employees(&world), "name").len() > 70, "names hardly repeat");
}

#[test]
fn the_printed_world_is_the_served_world() {
    let (world, caller) = (printed(&[]), Caller::instant());
    let served = caller.all("/api/business/employees");
    let printed: Vec<&str> = employees(&world).map(id).collect();
    assert_eq!(served.iter().map(id).collect::<Vec<_>>(), printed);
    for company in companies(&world) {
        let read = caller.get(&format!("/api/business/companies/{}", id(company))).data();
        for (name, value) in
            read.as_object().unwrap().iter().filter(|(name, _)| *name != "blockers")
        {
            assert_eq!(company[name], *value, "{name}");
        }
    }
    for employee in employees(&world).step_by(9) {
        let read = caller.get(&format!("/api/business/employees/{}", id(employee))).data();
        assert_eq!(read, *employee);
    }
}

#[test]
fn the_first_company_has_employees_in_every_status_and_most_are_payable() {
    for seed in ["42", "7", "1"] {
        let world = printed(&["--seed", seed]);
        let first = companies(&world)[0]["employees"].as_array().unwrap();
        let statuses = ["active", "on_leave", "pending", "suspended", "terminated"];
        assert_eq!(distinct(first.iter(), "status"), statuses.map(str::to_owned).into());
        let payroll = ["closed", "failed", "not_enrolled", "on_hold", "pending", "verified"];
        assert_eq!(distinct(first.iter(), "payroll_status"), payroll.map(str::to_owned).into());
        let count =
            |member: &str, wanted: &str| employees(&world).filter(|e| e[member] == wanted).count();
        assert!(count("status", "active") * 4 > 75 * 3, "most are active");
        assert!(count("payroll_status", "verified") * 3 > 75 * 2, "most are verified");
    }
}

#[test]
fn heads_earn_more_than_most_and_every_employee_has_a_wage() {
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
                parts.iter().map(|part| number(&part["amount"])).sum::<i64>(),
                pay(employee)
            );
        }
    }
}

#[test]
fn wallets_hold_three_months_of_payroll() {
    for seed in ["42", "7", "1000"] {
        let world = printed(&["--seed", seed, "--companies", "6"]);
        for company in companies(&world) {
            let runs = company["payroll_runs"].as_array().unwrap();
            let dearest =
                runs.iter().map(|run| number(&run["totals"]["employer_cost"])).max().unwrap();
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
fn every_company_has_a_history_of_twelve_paid_months() {
    let caller = Caller::instant();
    for company in 0..3 {
        let company = caller.company(company);
        let runs =
            caller.all(&format!("/api/business/payroll-runs?company_id={company}&sort=created_at"));
        let mut periods: Vec<&str> = runs.iter().map(|run| text(run, "period")).collect();
        periods.dedup(); // of a company that pays biweekly
        let expected: Vec<String> = (1..=12).map(|month| format!("2025-{month:02}")).collect();
        assert_eq!(periods, expected);
        for run in &runs {
            assert_eq!(run["status"], "paid");
            let items = caller.all(&format!("/api/business/payroll-runs/{}/items", id(run)));
            let net: i64 = items.iter().map(|item| number(&item["net"])).sum();
            assert_eq!(net, number(&run["totals"]["net"]), "{}", text(run, "period"));
        }
        let entries = caller.all(&format!("/api/business/journal-entries?company_id={company}"));
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
            assert!(accounts.contains(account), "nothing was posted to {account}: {accounts:?}");
        }
        assert!(entries.iter().any(|entry| entry["memo"] == "Filing paid"), "taxes were paid");
    }
    for list in ["payslips", "payroll-runs"] {
        assert!(
            number(&caller.get(&format!("/api/business/{list}")).expect(200)["meta"]["total"]) > 30
        );
    }
    assert!(number(&caller.get("/api/payments/payouts").expect(200)["meta"]["total"]) > 500);
    caller.audit();
}

/// Issue 18: e-mail addresses are unique in a world, even if countries are named twice.
#[test]
fn people_and_companies_of_a_world_are_distinct() {
    for countries in ["NG,GB,US,KE,ZA,CA", "GB,IE,GB,AU"] {
        let flags = ["--companies", "48", "--employees-per-company", "30"];
        let world = printed(&[&flags[..], &["--countries", countries]].concat());
        let people = || employees(&world);
        assert_eq!(distinct(people(), "email").len(), people().count(), "{countries}");
        assert_eq!(distinct(companies(&world).iter(), "legal_name").len(), 48, "{countries}");
        for company in companies(&world) {
            let people = company["employees"].as_array().unwrap();
            assert_eq!(distinct(people.iter(), "name").len(), 30);
        }
        let part_time = people().filter(|it| it["employment_type"] == "part_time").count();
        assert!((40..400).contains(&part_time), "{countries}: {part_time}");
    }
}

#[test]
fn companies_are_years_old_and_people_joined_in_all_of_them() {
    let world = printed(&["--companies", "30"]);
    let year = |day: &str| day[..4].parse::<i64>().unwrap();
    let founded = distinct(companies(&world).iter(), "founded_on");
    let years: BTreeSet<i64> = founded.iter().map(|day| year(day)).collect();
    assert!(years.len() > 12 && years.iter().all(|it| (2003..=2023).contains(it)), "{years:?}");
    let mut joined = BTreeSet::new();
    for company in companies(&world) {
        let founded = text(company, "founded_on");
        let people = company["employees"].as_array().unwrap();
        assert_eq!(text(&people[0], "start_date"), founded, "the head began with the company");
        for person in people {
            assert!(text(person, "start_date") >= founded, "{person}");
            joined.insert(year(text(person, "start_date")));
        }
    }
    assert!(joined.len() >= 20, "{joined:?}");
}

/// IAS 16, paragraph 48 (depreciation); IAS 2, paragraph 34 (stock); IAS 12, paragraph 12 (income tax).
#[test]
fn books_begin_with_assets_and_what_was_earned_before() {
    let world = printed(&["--companies", "30"]);
    let mut retained = 0;
    for company in companies(&world) {
        let entries = company["journal_entries"].as_array().unwrap();
        let sum = |account: &str, of: &dyn Fn(&Value) -> bool| -> i64 {
            let lines = entries.iter().filter(|entry| of(entry));
            let lines = lines.flat_map(|entry| entry["lines"].as_array().unwrap());
            let signed = lines.filter(|line| line["account"] == account).map(|line| {
                let amount = number(&line["amount"]);
                if line["direction"] == "debit" { amount } else { -amount }
            });
            signed.sum()
        };
        let begun = |entry: &Value| entry["memo"] == "Opening balance";
        let all = |_: &Value| true;
        let name = text(company, "legal_name");
        assert!(sum("fixed_assets", &begun) > 0 && sum("owner_equity", &begun) < 0, "{name}");
        let value = |of: &dyn Fn(&Value) -> bool| {
            sum("fixed_assets", of) + sum("accumulated_depreciation", of)
        };
        assert!(0 < value(&all) && value(&all) < value(&begun), "{name}");
        assert_eq!(value(&begun) - value(&all), sum("depreciation", &all), "{name}");
        assert!(sum("inventory", &all) >= 0, "{name}");
        assert!(sum("income_tax_payable", &all) <= 0, "{name}");
        let paid = |entry: &Value| entry["memo"] == "Income tax paid";
        let accrued = sum("income_tax", &all) - sum("income_tax_payable", &begun);
        assert_eq!(accrued, sum("income_tax_payable", &paid) - sum("income_tax_payable", &all));
        retained += i64::from(sum("retained_earnings", &begun) < 0);
    }
    assert!(retained >= 20, "{retained} of 30");
}

/// Value Added Tax Act 1994, Schedule 8, Group 1: food of a kind used for human consumption is zero-rated.
#[test]
fn food_is_zero_rated_in_great_britain() {
    let caller = Caller::instant();
    let company = caller.company(1);
    let invoices = caller.all(&format!("/api/payments/invoices?company_id={company}"));
    let (mut food, mut other) = (0, 0);
    for invoice in &invoices {
        let line = &invoice["lines"][0];
        let is_food = ["Fresh produce, weekly", "Grain delivery", "Dairy supply, monthly"]
            .contains(&text(line, "description"));
        let exported = line["description"] == "Export consignment";
        let rate = if is_food || exported { 0 } else { 2_000 };
        assert_eq!(number(&line["tax_rate"]), rate, "{line}");
        let tax = number(&line["amount"]) * rate / 10_000;
        assert!((tax..=tax + 1).contains(&number(&invoice["tax_total"])), "{invoice}");
        (food, other) = (food + i64::from(is_food), other + i64::from(rate > 0));
    }
    assert!(food > 20 && other > 10, "{food} {other}");
}

#[test]
fn a_payslip_has_no_line_without_an_amount() {
    let caller = Caller::instant();
    let lists = ["earnings", "taxes", "contributions", "employer_contributions", "deductions"];
    let payslips = caller.all("/api/business/payslips");
    for payslip in &payslips {
        for line in lists.iter().flat_map(|list| payslip[list].as_array().unwrap()) {
            assert_ne!(number(&line["amount"]), 0, "{line}");
        }
    }
    assert!(payslips.len() > 500);
}
