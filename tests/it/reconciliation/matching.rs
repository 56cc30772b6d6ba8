//! The results of the matching, over TCP.

use serde_json::{Value, json};

use super::{Account, MATCHES, counted, each, line_of};
use crate::harness::world::{id, number};

#[test]
fn lines_are_matched_suggested_or_explained_and_missing_ones_are_listed() {
    let account = Account::instant();
    let all = account.transactions();
    let (first, second, third) = (&all[0], &all[1], &all[2]);
    let lines = [
        line_of(first, &json!({})),
        line_of(second, &json!({"reference": null, "description": null})),
        line_of(first, &json!({})),
        json!({"date": "2025-12-31", "amount": 4200, "direction": "debit", "description": "Stamp duty"}),
        line_of(third, &json!({"amount": number(&third["amount"]) + 1})),
        json!({"date": "2025-12-31", "amount": 77, "direction": "credit", "description": "A stranger"}),
    ];
    let lines: Vec<Value> = lines.into_iter().map(without_nulls).collect();
    let (statement, rows) = account.lines(&lines);
    assert_eq!(
        each(&rows[..6], "status"),
        ["matched", "suggested", "exception", "exception", "exception", "exception"]
    );
    assert_eq!(
        each(&rows[..6], "exception"),
        [
            Value::Null,
            Value::Null,
            json!("duplicate_line"),
            json!("bank_fee"),
            json!("amount_differs"),
            json!("not_in_books")
        ]
    );
    assert_eq!(rows[0]["transaction_ids"], json!([first["id"]]));
    assert_eq!(rows[1]["transaction_ids"], json!([second["id"]]));
    assert_eq!(rows[2]["transaction_ids"], json!([first["id"]]));
    assert_eq!(rows[4]["transaction_ids"], json!([third["id"]]));
    assert!(number(&rows[0]["confidence"]) >= 95);
    assert!((60..95).contains(&number(&rows[1]["confidence"])));
    let missing = &rows[6..];
    assert_eq!(missing.len(), all.len() - 3, "what no line has, and no exception is about");
    assert!(
        missing.iter().all(|row| row["exception"] == "missing_line" && row["side"] == "ledger")
    );
    assert_eq!(statement["matches"], counted(&rows));
    assert_eq!(statement["line_count"], 6);
    let names: Vec<Value> = each(&account.caller.events(), "type");
    assert_eq!(
        names[..5],
        [
            "bank_statement.created",
            "bank_statement.imported",
            "reconciliation_match.matched",
            "reconciliation_match.suggested",
            "reconciliation_match.exception"
        ]
    );
    account.audit();
}

fn without_nulls(mut line: Value) -> Value {
    line.as_object_mut().unwrap().retain(|_, value| !value.is_null());
    line
}

#[test]
fn a_transaction_is_matched_once_over_all_statements() {
    let account = Account::instant();
    let all = account.transactions();
    let one = line_of(&all[0], &json!({}));
    let (_, rows) = account.lines(std::slice::from_ref(&one));
    assert_eq!(rows[0]["status"], "matched");
    let missed = rows.iter().filter(|row| row["side"] == "ledger").count();
    assert_eq!(missed, all.len() - 1);
    // A missing line is reported once.
    let (_, again) = account.lines(&[one]);
    assert_eq!(each(&again, "exception"), ["duplicate_line"]);
    // A later line ends the row that reported it as missing.
    let late = line_of(&all[1], &json!({}));
    let (_, later) = account.lines(&[late]);
    assert_eq!(each(&later, "status"), ["matched"]);
    let ended = rows.iter().find(|row| row["transaction_ids"] == json!([all[1]["id"]])).unwrap();
    let ended = account.row(ended);
    assert_eq!(ended["status"], "ignored");
    let history = ended["status_history"].as_array().unwrap();
    assert_eq!(history.last().unwrap()["reason"], format!("a line arrived: {}", id(&later[0])));
    let statement = account.caller.get(&format!(
        "{}/{}",
        super::STATEMENTS,
        rows[0]["statement_id"].as_str().unwrap()
    ));
    let statement = statement.data();
    assert_eq!(statement["matches"], counted(&account.rows(&statement)));
}

#[test]
fn rows_of_a_reconciliation_are_filtered() {
    let account = Account::instant();
    let all = account.transactions();
    let lines =
        [line_of(&all[0], &json!({})), line_of(&all[1], &json!({"reference": "SOMETHING ELSE"}))];
    let (statement, rows) = account.lines(&lines);
    let list = |filter: &str| account.caller.all(&format!("{MATCHES}?{filter}"));
    assert_eq!(list(&format!("company_id={}", account.company)), rows);
    assert_eq!(list(&format!("company_id={}", account.caller.company(1))), Vec::<Value>::new());
    assert_eq!(list("status=matched"), rows[..1]);
    assert_eq!(list("status=suggested"), rows[1..2]);
    assert_eq!(list("min_confidence=95"), rows[..1]);
    assert_eq!(list("min_confidence=1"), rows[..2]);
    assert_eq!(list("sort=-confidence")[..2], rows[..2]);
    assert_eq!(list(&format!("statement_id={}&status=exception", id(&statement))), rows[2..]);
    assert_eq!(list("statement_id=bst_0000000000000"), Vec::<Value>::new());
    account.caller.get(&format!("{MATCHES}?min_confidence=101")).refused(422, "validation_failed");
    account.caller.get(&format!("{MATCHES}?status=open")).refused(422, "validation_failed");
}
