//! Imports of a caller's own companies: over HTTP, by the command line, and at the start of a server.

mod commands;
mod starting;

use std::fmt::Write;
use std::path::Path;

use serde_json::json;

use crate::harness::{Answer, Caller};

/// A company with its wallets, a customer, and this number of employees.
fn company(people: usize) -> String {
    let mut text = "[[company]]\nid = \"acme\"\nlegal_name = \"Acme Ltd\"\ncountry = \"NG\"\ncurrency = \"NGN\"\n\
        registration_number = \"RC1\"\npayroll_settings = { pay_day = 28, paid_leave = { days_per_year = 20 } }\n\
        payment_settings = { low_balance = 5 }\nmetadata = { tier = \"gold\" }\n\
        address = { line1 = \"1 Road\", city = \"Lagos\", country = \"NG\" }\n\n\
        [[wallet]]\ncompany = \"acme\"\nbalance = 900000000000\n\n\
        [[wallet]]\ncompany = \"acme\"\ncurrency = \"USD\"\nbalance = 12345\n\n\
        [[customer]]\nid = \"buyer\"\nlegal_name = \"Buyer Ltd\"\ncountry = \"NG\"\n\n\
        [[customer]]\nid = \"owner\"\ntype = \"person\"\nname = { first = \"Ada\", last = \"Eze\" }\ncountry = \"NG\"\n\
        company_id = \"@ext:acme\"\n"
        .to_owned();
    for number in 1..=people {
        let _ = write!(
            text,
            "\n[[employee]]\nid = \"E-{number}\"\ncompany = \"acme\"\nname = \"Person \\\"{number}\\\"\"\nrole = \"Baker\"\n\
            department = \"Bakery\"\nstart_date = 2024-01-01\ntax_id = \"10{number:08}\"\n\
            compensation = {{ amount = {}, currency = \"NGN\", interval = \"month\" }}\n\
            payment_method = {{ type = \"bank\", bank_code = \"058\", account_number = \"9999999900\" }}\n",
            20_000_000 + number
        );
    }
    text
}

fn import(caller: &Caller, text: &str) -> Answer {
    caller.post("/_sandbox/import", &json!({ "text": text }))
}

fn exported(caller: &Caller) -> String {
    caller.get("/_sandbox/export").data()["text"].as_str().unwrap().to_owned()
}

fn id_of(caller: &Caller, reference: &str) -> String {
    let found = caller.get(&format!("/_sandbox/external-ids?reference={reference}")).data();
    found[0]["id"].as_str().unwrap().to_owned()
}

#[test]
fn an_import_creates_all_by_ordinary_calls_and_the_books_balance() {
    let caller = Caller::instant();
    let answer = import(&caller, &company(3));
    answer.expect(201);
    caller.audit();
    let data = &answer.json()["data"];
    assert_eq!(
        (&data["companies"], &data["employees"], &data["customers"]),
        (&json!(1), &json!(3), &json!(2))
    );
    let company = id_of(&caller, "acme");
    let read = caller.get(&format!("/api/business/companies/{company}")).data();
    assert_eq!(
        (&read["status"], &read["metadata"]["external_id"]),
        (&json!("active"), &json!("acme"))
    );
    let wallets = caller.get(&format!("/api/payments/wallets?company_id={company}")).data();
    let balances: Vec<(&str, i64)> = wallets
        .as_array()
        .unwrap()
        .iter()
        .map(|wallet| (wallet["currency"].as_str().unwrap(), wallet["available"].as_i64().unwrap()))
        .collect();
    assert_eq!(balances, [("NGN", 900_000_000_000), ("USD", 12_345)]);
    let employees = caller.get(&format!("/api/business/employees?company_id={company}")).data();
    for employee in employees.as_array().unwrap() {
        assert_eq!(
            (&employee["status"], &employee["payroll_status"]),
            (&json!("active"), &json!("verified"))
        );
    }
    let run = json!({ "company_id": company, "period": "2026-01" });
    let run = caller.post("/v1/payroll/run", &run);
    run.expect(201);
    caller.post("/_sandbox/clock/advance", &json!({ "by": "40d" })).expect(200);
    let path = format!("/api/business/payroll-runs?company_id={company}");
    assert_eq!(caller.get(&path).data()[0]["status"], "paid");
    caller.audit();
}

#[test]
fn import_export_import_reaches_the_same_digest() {
    let (first, second) = (Caller::instant(), Caller::instant());
    import(&first, &company(5)).expect(201);
    let text = exported(&first);
    import(&second, &text).expect(201);
    assert_eq!(first.digest(), second.digest(), "{text}");
    assert_eq!(exported(&second), text);
    let fresh = Caller::instant();
    assert_ne!(fresh.digest(), first.digest());
}

#[test]
fn an_exported_company_of_the_seed_can_be_imported() {
    let (first, second) = (Caller::instant(), Caller::instant());
    let id = first.company(1);
    let export = first.get(&format!("/_sandbox/export?company_id={id}")).data();
    let answer = import(&second, export["text"].as_str().unwrap());
    answer.expect(201);
    let imported = &answer.json()["data"];
    assert_eq!(
        (&imported["companies"], &imported["employees"]),
        (&export["companies"], &export["employees"])
    );
    let cash = |caller: &Caller, company: &str| {
        let wallets = caller.get(&format!("/api/payments/wallets?company_id={company}")).data();
        let wallets = wallets.as_array().unwrap().iter();
        wallets.map(|wallet| wallet["available"].as_i64().unwrap()).sum::<i64>()
    };
    assert_eq!(cash(&second, &id_of(&second, &id)), cash(&first, &id));
    second.audit();
}

#[test]
fn every_member_of_an_employee_survives_an_export() {
    let text = "[[company]]\nid = \"a\"\nlegal_name = \"A\"\ncountry = \"GB\"\ncurrency = \"GBP\"\nstatus = \"active\"\n\n\
        [[employee]]\nid = \"full\"\ncompany = \"a\"\nname = \"Nia Long\"\nrole = \"R\"\ndepartment = \"D\"\nstart_date = 2025-04-06\n\
        email = \"n@example.com\"\nemployment_type = \"part_time\"\ntax_id = \"QQ123456C\"\nstatus = \"suspended\"\n\
        metadata = { \"a b\" = \"c\" }\npaid_leave = { days_per_year = 28, accrues_from = 2025-04-06, opening_hundredths = 50 }\n\
        tax_attributes = { tax_code = \"1257L\" }\n\
        compensation = { amount = 3600000, currency = \"GBP\", interval = \"year\", allowances = [{ label = \"Car\", amount = 100 }], \
        deductions = [{ label = \"Union\", amount = 50, timing = \"post_tax\" }, { label = \"Pension\", amount = 5001, type = \"pension_relief_at_source\" }] }\n\
        payment_method = { type = \"bank\", bank_code = \"200000\", account_number = \"9999999900\", splits = [{ rate_bp = 100, type = \"bank\", \
        bank_code = \"200000\", account_number = \"9999999900\", account_name = \"Nia Long\" }] }\n\n\
        [[employee]]\nid = \"later\"\ncompany = \"a\"\nname = \"L\"\nrole = \"R\"\ndepartment = \"D\"\nstart_date = 2027-01-01\n\n\
        [[employee]]\nid = \"waits\"\ncompany = \"a\"\nname = \"W\"\nrole = \"R\"\ndepartment = \"D\"\nstart_date = 2024-01-01\nstatus = \"pending\"\n";
    let (first, second) = (Caller::manual(), Caller::manual());
    import(&first, text).expect(201);
    let written = exported(&first);
    import(&second, &written).expect(201);
    assert_eq!(first.digest(), second.digest(), "{written}");
    let id = id_of(&first, "full");
    let read = first.get(&format!("/api/business/employees/{id}")).data();
    assert_eq!(
        (&read["status"], &read["payroll_status"]),
        (&json!("suspended"), &json!("on_hold"))
    );
}

#[test]
fn a_refused_import_changes_nothing_and_names_line_and_column() {
    let caller = Caller::instant();
    let before = caller.digest();
    let broken = company(2).replace("start_date = 2024-01-01", "start_date = 2024-13-01");
    let account = company(2).replacen("9999999900", "12", 1);
    for text in [broken.as_str(), account.as_str(), "[[company]]\nid = 1\n", "", "x = 1\n"] {
        let answer = import(&caller, text);
        assert_eq!(answer.status, 422, "{text}");
        assert_eq!(caller.digest(), before);
    }
    let answer = import(&caller, &account).json();
    let detail = answer["detail"].as_str().unwrap();
    assert!(
        detail.contains("--> import.toml:") && detail.contains("payment_method.account_number"),
        "{detail}"
    );
    let first = answer["errors"][0]["detail"].as_str().unwrap();
    assert!(first.starts_with("import.toml: line "), "{first}");
    assert_eq!(caller.get("/_sandbox/external-ids").data(), json!([]));
}

#[test]
fn csv_files_of_the_body_are_read_and_others_are_named() {
    let caller = Caller::instant();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/import");
    let file = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let (text, people) = (file("acme.toml"), file("people.csv"));
    let missing = import(&caller, &text).json();
    assert!(missing["detail"].as_str().unwrap().contains("people.csv"), "{missing}");
    for (files, pointer) in [
        (json!({}), "/paths/0"),
        (json!({ "acme.toml": text, "people.csv": format!("{people}x\n") }), "/files"),
    ] {
        let body = json!({ "paths": ["acme.toml"], "files": files });
        let refused = caller.post("/_sandbox/import", &body).refused(422, "validation_failed");
        assert_eq!(refused["errors"][0]["pointer"], pointer, "{refused}");
    }
    let body = json!({ "text": text, "files": { "people.csv": people } });
    caller.post("/_sandbox/import", &body).expect(201);
    let id = id_of(&caller, "employee:E-3");
    let read = caller.get(&format!("/api/business/employees/{id}")).data();
    assert_eq!(read["compensation"]["amount"], 19_500_050);
    assert_eq!(
        caller.request("GET", "/_sandbox/external-ids?reference=E-9").send(caller.port()).status,
        404
    );
}

#[test]
fn a_reset_repeats_the_import_and_a_load_keeps_it() {
    let caller = Caller::instant();
    import(&caller, &company(2)).expect(201);
    let (imported, company) = (caller.digest(), id_of(&caller, "acme"));
    let settings = json!({ "payroll_settings": { "pay_day": 1 } });
    caller.patch(&format!("/api/business/companies/{company}"), &settings).expect(200);
    assert_ne!(caller.digest(), imported);
    caller.post("/_sandbox/reset", &json!({})).expect(200);
    assert_eq!((caller.digest(), id_of(&caller, "acme")), (imported, company));
    caller.post("/_sandbox/scenarios/late-return/load", &json!({})).expect(200);
    assert!(id_of(&caller, "acme").starts_with("com_"));
    let ended = caller.request("DELETE", "/_sandbox/scenarios/current").send(caller.port()).data();
    assert_eq!(ended["ended"], json!(["late-return"]));
    caller.post("/_sandbox/reset", &json!({ "seed": 7, "scenario": null })).expect(200);
    assert!(id_of(&caller, "E-2").starts_with("emp_"));
}

#[test]
fn references_to_own_ids_choose_the_subject_of_a_trigger_and_of_a_rule() {
    let caller = Caller::instant();
    import(&caller, &company(2)).expect(201);
    let trigger =
        json!({ "type": "employee.suspended", "override": { "employee_id": "@ext:E-2" } });
    let answer = caller.post("/_sandbox/trigger", &trigger);
    answer.expect(200);
    assert_eq!(answer.data()["event"]["data"]["object"]["id"], json!(id_of(&caller, "E-2")));
    let wrong = json!({ "type": "employee.suspended", "override": { "employee_id": "@ext:E-22" } });
    let refused = caller.post("/_sandbox/trigger", &wrong).json();
    assert!(refused["detail"].as_str().unwrap().contains("did you mean @ext:E-2"), "{refused}");
    let rows = "[[outcome]]\non = \"payout.settle\"\nwhere = { employee = \"@ext:E-1\" }\nthen = \"failed\"\n";
    let scenario = json!({ "name": "own", "text": rows });
    caller.post("/_sandbox/scenarios", &scenario).expect(201);
    let company = id_of(&caller, "acme");
    caller
        .post("/v1/payroll/run", &json!({ "company_id": company, "period": "2026-01" }))
        .expect(201);
    caller.post("/_sandbox/clock/advance", &json!({ "by": "40d" })).expect(200);
    let decided = caller.get("/_sandbox/decisions?decision=payout.settle&why=rule").data();
    assert_eq!(decided.as_array().unwrap().len(), 1, "{decided}");
}
