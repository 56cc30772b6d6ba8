//! Accepted and refused statements.

use serde_json::{Value, json};

use super::{Account, STATEMENTS, counted, each, line_of};
use crate::harness::http::pointers;
use crate::harness::world::{id, number};

const CAMT: &str = include_str!("../../../fixtures/statements/camt053.xml");
const MT940: &str = include_str!("../../../fixtures/statements/mt940.txt");

#[test]
fn a_statement_is_processed_and_imported_five_seconds_later() {
    let account = Account::manual();
    let answer = account.import(&json!({"metadata": {"bank": "first"}}));
    let taken = answer.expect(202)["data"].take();
    assert_eq!(taken["status"], "processing");
    assert_eq!(taken["source"], "simulated");
    assert_eq!(taken["metadata"]["bank"], "first");
    assert_eq!(account.rows(&taken), Vec::<Value>::new());
    assert_eq!(account.caller.advance(&json!({"by": "4s"})), [""; 0]);
    let happened = account.caller.advance(&json!({"by": "1s"}));
    assert_eq!(happened[0], "bank_statement.imported");
    let path = format!("{STATEMENTS}/{}", id(&taken));
    let statement = account.caller.get(&path).data();
    assert_eq!(statement["status"], "imported");
    let rows = account.rows(&statement);
    assert_eq!(happened.len(), rows.len() + 1);
    assert_eq!(statement["matches"], counted(&rows));
    let bank = rows.iter().filter(|row| row["side"] == "bank");
    assert_eq!(statement["line_count"], bank.count());
    let moved = number(&statement["credit_total"]) - number(&statement["debit_total"]);
    let balances = number(&statement["closing_balance"]) - number(&statement["opening_balance"]);
    assert_eq!(moved, balances);
    account.audit();
}

#[test]
fn a_clean_statement_is_the_wallet_and_everything_is_found() {
    let account = Account::instant();
    let request = account.caller.request("POST", STATEMENTS);
    let request = request.header("Sandbox-Scenario", "bank_statement.noise=clean");
    let taken = account.caller.send(&request.json(&account.body(&json!({}))));
    assert_eq!(taken.header("sandbox-decision"), Some("bank_statement.noise=clean;why=header"));
    let statement = taken.expect(202)["data"].take();
    let transactions = account.transactions();
    assert_eq!(statement["line_count"], transactions.len());
    assert_eq!(statement["closing_balance"], transactions.last().unwrap()["balance_after"]);
    let rows = account.rows(&statement);
    assert!(rows.iter().all(|row| row["status"] == "matched"), "{rows:#?}");
    let matched: Vec<Value> = rows.iter().map(|row| row["transaction_ids"][0].clone()).collect();
    assert_eq!(matched, each(&transactions, "id"));
    let truth = account.caller.get(&format!("/_sandbox/bank-statements/{}/truth", id(&statement)));
    let truth = truth.data();
    let right = transactions.len();
    assert_eq!(
        truth["score"],
        json!({"lines": right, "matched": right, "matched_right": right, "suggested": 0, "suggested_right": 0})
    );
}

#[test]
fn heavy_noise_leaves_exceptions_and_the_truth_explains_them() {
    let account = Account::instant();
    let rule = json!({"match": {"decision": "bank_statement.noise"}, "outcome": {"then": "heavy"}});
    account.caller.post("/_sandbox/rules", &rule).expect(201);
    let statement = account.imported(&json!({"from": "2025-01-01"}));
    let truth = account.caller.get(&format!("/_sandbox/bank-statements/{}/truth", id(&statement)));
    let truth = truth.data();
    let noise: Vec<String> =
        truth["lines"].as_array().unwrap().iter().map(|line| line["noise"].to_string()).collect();
    for kind in ["merged", "shifted", "reference_cut", "duplicate", "fee"] {
        assert!(noise.iter().any(|line| line.contains(kind)), "{kind}: {noise:?}");
    }
    let score = &truth["score"];
    assert_eq!(score["matched"], score["matched_right"], "{score}");
    let rows = account.rows(&statement);
    let fees = rows.iter().filter(|row| row["exception"] == "bank_fee");
    assert_eq!(fees.count(), noise.iter().filter(|line| line.contains("fee")).count());
    let missing: Vec<&Value> =
        rows.iter().filter(|row| row["exception"] == "missing_line").collect();
    assert!(missing.iter().all(|row| row["side"] == "ledger" && row["line"].is_null()));
    let left_out = truth["left_out"].as_array().unwrap();
    assert!(!left_out.is_empty());
    for id in left_out {
        // Of payments with the same day and amount, any one can be the missing one.
        let names = |row: &&&Value| row["transaction_ids"].as_array().unwrap().contains(id);
        let left = rows.iter().find(|row| names(&row)).unwrap();
        let same = |row: &&Value| {
            ["date", "amount", "direction"].iter().all(|member| row[*member] == left[*member])
        };
        assert!(missing.iter().copied().any(|row| same(&row)), "{id}");
    }
    account.audit();
}

#[test]
fn files_of_banks_are_taken() {
    for (format, content) in [("camt053", CAMT), ("mt940", MT940)] {
        let account = euros();
        let more = json!({"content": content, "format": format, "to": "2026-01-01"});
        let statement = account.imported(&more);
        assert_eq!(statement["source"], "file");
        assert_eq!(statement["format"], format);
        assert_eq!(statement["opening_balance"], 1_000_000);
        let rows = account.rows(&statement);
        assert_eq!(rows[0]["line"]["reference"], "INV-2025-0042");
        assert_eq!(rows[0]["line"]["amount"], 150_000);
        assert_eq!(rows[1]["exception"], "bank_fee");
    }
}

#[test]
fn a_bad_file_is_refused_with_its_line_and_column() {
    let account = euros();
    let refused = |content: &str, format: &str, detail: &str| {
        let more = json!({
            "content": content, "format": format, "to": "2026-01-01", "check_balances": true,
        });
        let answer = account.import(&more).refused(422, "validation_failed");
        assert_eq!(pointers(&answer), ["/content"]);
        assert_eq!(answer["errors"][0]["code"], "malformed");
        let told = answer["errors"][0]["detail"].as_str().unwrap();
        assert!(told.starts_with(detail), "{told}");
    };
    refused(
        &MT940.replace("1500,00", "1500,001"),
        "mt940",
        "line 6, column 21: expected at most 2 decimals for EUR",
    );
    refused(
        &MT940.replace("EUR11243,95", "EUR11243,96"),
        "mt940",
        "line 18, column 16: expected 11243.95 EUR",
    );
    refused(&CAMT.replace("EUR", "USD"), "camt053", "line 12, column 9: expected EUR");
    let lines: Vec<&str> = MT940.split_inclusive("\r\n").collect();
    for end in 1..lines.len() {
        refused(&lines[..end].concat(), "mt940", "line ");
    }
    let lines: Vec<&str> = CAMT.split_inclusive('\n').collect();
    for end in 1..lines.len() {
        refused(&lines[..end].concat(), "camt053", "line ");
    }
    // A day of the file outside the statement's days.
    let more = json!({"content": MT940, "format": "mt940", "to": "2025-12-31"});
    let answer = account.import(&more).refused(422, "validation_failed");
    let told = answer["errors"][0]["detail"].as_str().unwrap();
    assert!(told.starts_with("line 14, column 11: expected a day of the statement"), "{told}");
    let events = account.caller.events();
    let taken = |event: &&Value| event["type"] == "bank_statement.created";
    assert_eq!(events.iter().filter(taken).count(), 0);
}

/// A company whose wallet is in euros.
fn euros() -> Account {
    let account = Account::instant();
    let body = json!({"legal_name": "Berlin Bakery GmbH", "country": "DE", "currency": "EUR"});
    let made = account.caller.post("/api/business/companies", &body).expect(201);
    let company = id(&made["data"]).to_owned();
    let wallets = account.caller.get(&format!("/api/payments/wallets?company_id={company}"));
    let wallet = id(&wallets.data()[0]).to_owned();
    Account { company, wallet, ..account }
}

/// A line of a statement, with other values for some of its members.
fn line(more: Value) -> Value {
    let mut line = json!({"date": "2025-12-02", "amount": 1, "direction": "credit"});
    for (name, value) in more.as_object().unwrap() {
        line[name] = value.clone();
    }
    line
}

#[test]
fn all_mistakes_of_a_statement_are_listed_together() {
    let account = Account::instant();
    let refused = |more: Value, expected: &[(&str, &str)]| {
        let answer = account.import(&more).refused(422, "validation_failed");
        let errors = answer["errors"].as_array().unwrap().iter();
        let told: Vec<(String, String)> = errors
            .map(|error| {
                let text = |name: &str| error[name].as_str().unwrap().to_owned();
                (text("pointer"), text("code"))
            })
            .collect();
        let expected: Vec<(String, String)> = expected
            .iter()
            .map(|(pointer, code)| ((*pointer).to_owned(), (*code).to_owned()))
            .collect();
        assert_eq!(told, expected, "{answer}");
    };
    refused(json!({"to": "2025-11-30"}), &[("/to", "before_from")]);
    refused(json!({"to": "2026-01-02"}), &[("/to", "in_the_future")]);
    refused(json!({"from": "soon"}), &[("/from", "format")]);
    refused(json!({"lines": []}), &[("/lines", "too_few")]);
    refused(json!({"lines": [line(json!({"amount": 0}))]}), &[("/lines/0/amount", "range")]);
    refused(json!({"lines": [line(json!({"amount": 1.5}))]}), &[("/lines/0/amount", "type")]);
    refused(json!({"lines": [line(json!({"amount": i64::MAX}))]}), &[("/lines/0/amount", "range")]);
    refused(
        json!({"lines": [line(json!({"direction": "in"}))]}),
        &[("/lines/0/direction", "enum")],
    );
    refused(
        json!({"lines": [line(json!({"colour": "red"}))]}),
        &[("/lines/0/colour", "unknown_member")],
    );
    refused(
        json!({"lines": [{}]}),
        &[
            ("/lines/0/date", "required"),
            ("/lines/0/amount", "required"),
            ("/lines/0/direction", "required"),
        ],
    );
    refused(
        json!({"lines": [line(json!({"date": "2026-01-01"}))]}),
        &[("/lines/0/date", "outside")],
    );
    refused(json!({"lines": [line(json!({}))], "content": "x"}), &[("/content", "conflict")]);
    refused(json!({"lines": [line(json!({}))], "format": "mt940"}), &[("/format", "conflict")]);
    refused(json!({"content": "x"}), &[("/format", "required")]);
    refused(json!({"format": "mt940"}), &[("/content", "required")]);
    refused(json!({"content": "x", "format": "csv"}), &[("/csv", "required")]);
    refused(json!({"content": "x", "format": "qif"}), &[("/format", "enum")]);
    let other = account.caller.company(1);
    let both = json!({"company_id": other, "to": "2025-11-30", "lines": [line(json!({}))]});
    refused(
        both,
        &[("/to", "before_from"), ("/wallet_id", "foreign_wallet"), ("/lines/0/date", "outside")],
    );
    let large = vec![line(json!({"amount": 1_000_000_000_000_000_i64})); 9_224];
    refused(json!({"lines": large}), &[("/lines", "sum_too_large")]);
    for (name, value) in [("company_id", "com_0000000000000"), ("wallet_id", "wal_0000000000000")] {
        account.import(&json!({name: value})).refused(404, "resource_not_found");
    }
    account
        .caller
        .get(&format!("{STATEMENTS}/bst_0000000000000"))
        .refused(404, "resource_not_found");
    assert_eq!(account.caller.events().len(), 0);
}

#[test]
fn ten_thousand_lines_fit_and_no_more_and_their_event_stays_small() {
    let account = Account::manual();
    let line = |number: i64| json!({"date": "2025-12-02", "amount": number, "direction": "credit", "reference": format!("pyo_{number:013}")});
    let lines: Vec<Value> = (1..=10_000).map(line).collect();
    let taken = account.import(&json!({"lines": lines})).expect(202)["data"].take();
    assert_eq!(taken["line_count"], 10_000);
    assert_eq!(taken["credit_total"], 50_005_000);
    let event = account.caller.events()[0].to_string();
    assert!(event.len() < 20_000, "{} bytes", event.len());
    let many: Vec<Value> = (1..=10_001).map(line).collect();
    let answer = account.import(&json!({"lines": many})).refused(422, "validation_failed");
    assert_eq!(pointers(&answer), ["/lines"]);
    let long = "x".repeat(1_100_000);
    account.import(&json!({"content": long, "format": "mt940"})).refused(413, "payload_too_large");
}

#[test]
fn an_inbound_call_reports_one_statement_line() {
    let account = Account::instant();
    let inbound = |body: &Value| account.caller.post("/_sandbox/inbound/statement_line", body);
    let transaction = account.transactions().remove(0);
    let mut line = line_of(&transaction, &json!({"wallet_id": account.wallet}));
    let taken = inbound(&line).expect(200)["data"].take();
    assert_eq!(taken["source"], "inbound");
    let rows = account.rows(&taken);
    assert_eq!(each(&rows, "status"), ["matched"], "it says nothing of the rest of its day");
    assert_eq!(rows[0]["transaction_ids"], json!([transaction["id"]]));
    let again = inbound(&line).expect(200)["data"].take();
    assert_eq!(each(&account.rows(&again), "exception"), ["duplicate_line"]);
    line["date"] = json!("2026-01-02");
    let answer = inbound(&line).refused(422, "validation_failed");
    assert_eq!(pointers(&answer), ["/date"]);
    let fee = json!({"wallet_id": account.wallet, "amount": 50, "direction": "debit", "description": "SMS ALERT FEE"});
    let fee = inbound(&fee).expect(200)["data"].take();
    assert_eq!(fee["from"], "2026-01-01");
    assert_eq!(each(&account.rows(&fee), "exception"), ["bank_fee"]);
    inbound(&json!({"wallet_id": "wal_0000000000000", "amount": 50, "direction": "debit"}))
        .refused(404, "resource_not_found");
    let short = inbound(&json!({"wallet_id": account.wallet})).refused(422, "validation_failed");
    assert!(!pointers(&short).is_empty());
}
