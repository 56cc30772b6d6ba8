//! Files in the style of many banks, as bytes. The golden lists every statement and entry that is imported.

use std::fmt::Write as _;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::{Account, STATEMENTS};
use crate::harness::http::pointers;
use crate::harness::world::id;

const MT940: &str = include_str!("../../../fixtures/statements/mt940.txt");

/// The contents of each file: format, currency, balances, and then a line for each entry.
const GOLDEN: &str = include_str!("../goldens/bank_files.txt");

/// Imports a file into a new company with a wallet in its currency.
fn imported(account: &Account, bytes: &[u8], more: &Value) -> (Value, Vec<Value>) {
    let shown = String::from_utf8_lossy(bytes);
    let currency = shown.split(":60F:").nth(1).map_or("EUR", |rest| &rest[7..10]);
    let body = json!({"legal_name": "Bank Files Ltd", "country": "DE", "currency": currency});
    let made = account.caller.post("/api/business/companies", &body).expect(201);
    let company = id(&made["data"]).to_owned();
    let wallets = account.caller.get(&format!("/api/payments/wallets?company_id={company}"));
    let wallets = wallets.data();
    let mut body = json!({
        "company_id": company, "wallet_id": id(&wallets[0]), "from": "2024-01-01", "to": "2026-01-01",
        "content_base64": STANDARD.encode(bytes),
    });
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    let taken = account.caller.post(STATEMENTS, &body).expect(202);
    let statement = account.caller.get(&format!("{STATEMENTS}/{}", id(&taken["data"]))).data();
    let rows = account.rows(&statement);
    (statement, rows)
}

#[test]
fn thirty_mt940_files_in_the_style_of_banks_are_imported() {
    let account = Account::instant();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/statements/mt940");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert_eq!(files.len(), 30);
    let mut found = String::new();
    for path in files {
        let bytes = std::fs::read(&path).unwrap();
        let (statement, rows) = imported(&account, &bytes, &json!({}));
        writeln!(
            found,
            "## {} {} {} {} {}",
            path.file_stem().unwrap().to_string_lossy(),
            statement["format"].as_str().unwrap(),
            statement["currency"].as_str().unwrap(),
            statement["opening_balance"],
            statement["closing_balance"]
        )
        .unwrap();
        for row in rows.iter().filter(|row| row["side"] == "bank") {
            let line = &row["line"];
            let text = |name: &str| line[name].as_str().unwrap_or("-").to_owned();
            let (date, direction) = (text("date"), text("direction"));
            let (reference, description) = (text("reference"), text("description"));
            let amount = &line["amount"];
            writeln!(found, "{date} {direction} {amount} | {reference} | {description}").unwrap();
        }
    }
    if found != GOLDEN {
        let path = std::env::temp_dir().join("bank_files.txt");
        std::fs::write(&path, &found).unwrap();
        panic!("the imported entries differ from the golden: compare it with {}", path.display());
    }
}

#[test]
fn a_statement_that_the_sandbox_writes_is_imported_again_in_every_format() {
    let account = Account::instant();
    let columns = json!({"date": "date", "amount": "amount", "description": "description", "reference": "reference"});
    let first = account.imported(&json!({}));
    let lines = |statement: &Value| -> Vec<Value> {
        let rows = account.rows(statement);
        let bank = rows.into_iter().filter(|row| row["side"] == "bank");
        let plain = |mut row: Value| {
            let mut line = row["line"].take();
            for name in ["id", "number"] {
                line.as_object_mut().unwrap().remove(name);
            }
            line
        };
        bank.map(plain).collect()
    };
    let expected = lines(&first);
    assert!(expected.len() > 3);
    for format in ["camt053", "mt940", "ofx", "bai2", "csv"] {
        let path = format!("/_sandbox/bank-statements/{}/file?format={format}", id(&first));
        let file = account.caller.get(&path).data();
        let mut more = json!({"content": file["content"], "format": format});
        if format == "csv" {
            more["csv"] = json!({"columns": columns});
        }
        let again = account.imported(&more);
        assert_eq!(again["format"], format);
        if ["camt053", "mt940", "bai2"].contains(&format) {
            assert_eq!(again["opening_balance"], first["opening_balance"], "{format}");
        }
        if format != "csv" {
            assert_eq!(again["closing_balance"], first["closing_balance"], "{format}");
        }
        let mut found = lines(&again);
        if format == "ofx" {
            // The bank's id of an entry is its reference if it has no other.
            for (line, of) in found.iter_mut().zip(&expected) {
                if of["reference"].is_null() {
                    line["reference"] = Value::Null;
                }
            }
        }
        assert_eq!(found, expected, "{format}");
    }
    let path = format!("/_sandbox/bank-statements/{}/file", id(&first));
    account.caller.get(&format!("{path}?format=qif")).refused(422, "validation_failed");
    let plain = account.caller.get(&path).data();
    assert_eq!(plain["format"], "mt940");
    account
        .caller
        .get("/_sandbox/bank-statements/bst_0000000000000/file?format=ofx")
        .refused(404, "resource_not_found");
}

#[test]
fn a_file_of_several_accounts_needs_the_name_of_one() {
    let account = Account::instant();
    let file = ":20:A\n:25:111\n:28C:1\n:60F:C251201EUR0,\n:61:251202C1,00NTRF\n:62F:C251202EUR1,\n-\n\
        :20:B\n:25:222\n:28C:1\n:60F:C251201EUR5,\n:62F:C251202EUR5,\n-\n";
    let (statement, _) = imported(&account, file.as_bytes(), &json!({"account": "222"}));
    assert_eq!((&statement["line_count"], &statement["closing_balance"]), (&json!(0), &json!(500)));
    let (statement, _) = imported(&account, file.as_bytes(), &json!({"account": "111"}));
    assert_eq!((&statement["line_count"], &statement["closing_balance"]), (&json!(1), &json!(100)));
    let digest = account.caller.digest();
    let answer = account.import(&json!({"content": file})).refused(422, "validation_failed");
    let detail = answer["errors"][0]["detail"].as_str().unwrap();
    let said = "line 9, column 5: expected statements of one account, 111, but found 222";
    assert!(detail.starts_with(said), "{detail}");
    assert_eq!(account.caller.digest(), digest, "a refused file changes nothing");
}

#[test]
fn every_member_of_a_file_is_checked_and_a_refusal_changes_nothing() {
    let account = Account::instant();
    let digest = account.caller.digest();
    let refused = |more: Value, pointer: &str, code: &str| {
        let answer = account.import(&more).refused(422, "validation_failed");
        assert_eq!(pointers(&answer), [pointer], "{answer}");
        assert_eq!(answer["errors"][0]["code"], code, "{answer}");
    };
    refused(json!({"account": "4711"}), "/content", "required");
    refused(json!({"content": MT940, "account": ""}), "/account", "length");
    refused(json!({"content": MT940, "check_balances": "no"}), "/check_balances", "type");
    refused(json!({"content": MT940, "content_base64": "eA=="}), "/content_base64", "conflict");
    refused(json!({"content_base64": "e"}), "/content_base64", "malformed");
    refused(json!({"content_base64": "?"}), "/content_base64", "pattern");
    let columns = |columns: Value| json!({"content": "a,b\n1,2\n", "csv": {"columns": columns}});
    refused(columns(json!({"date": "a"})), "/csv/columns/amount", "required");
    refused(columns(json!({"date": "a", "debit": "b"})), "/csv/columns/credit", "required");
    refused(columns(json!({"date": "a", "credit": "b"})), "/csv/columns/debit", "required");
    let amounts = json!({"date": "a", "amount": "b", "debit": "b"});
    refused(columns(amounts), "/csv/columns/debit", "conflict");
    refused(columns(json!({"amount": "b"})), "/csv/columns/date", "required");
    let csv = json!({"columns": {"date": "a", "amount": "b"}});
    refused(json!({"content": MT940, "format": "mt940", "csv": csv}), "/csv", "conflict");
    for (name, value, code) in [
        ("delimiter", json!("x"), "enum"),
        ("decimal_mark", json!("x"), "enum"),
        ("date_format", json!("YYYY-QQ"), "pattern"),
        ("skip_lines", json!(101), "range"),
        ("has_heads", json!(1), "type"),
    ] {
        let mut csv = csv.clone();
        csv[name] = value;
        refused(json!({"content": "a,b\n", "csv": csv}), &format!("/csv/{name}"), code);
    }
    assert_eq!(account.caller.digest(), digest);
}
