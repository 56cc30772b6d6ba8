//! Decisions about a row, and every transition of both lifecycles.

use serde_json::{Value, json};

use super::{Account, MATCHES, STATEMENTS, counted, line_of};
use crate::harness::http::{Answer, pointers};
use crate::harness::world::{id, number};

/// An account with a matched line, a suggestion, a fee, and missing lines: the statement and its rows.
fn prepared() -> (Account, Value, Vec<Value>) {
    let account = Account::instant();
    let all = account.transactions();
    let lines = [
        line_of(&all[0], &json!({})),
        line_of(&all[1], &json!({"reference": "SOMETHING ELSE"})),
        json!({"date": "2025-12-31", "amount": 4200, "direction": "debit", "description": "Transfer charge"}),
    ];
    let (statement, rows) = account.lines(&lines);
    (account, statement, rows)
}

fn act(account: &Account, row: &Value, action: &str) -> Answer {
    account.resolve(row, &json!({"action": action}))
}

#[track_caller]
fn refused(answer: &Answer, current: &str, allowed: &[&str]) {
    let answer = answer.refused(409, "invalid_state_transition");
    assert_eq!(answer["current"], current, "{answer}");
    assert_eq!(answer["allowed"], json!(allowed), "{answer}");
}

#[test]
fn every_move_of_a_row_is_made_and_every_other_refused() {
    let (account, statement, rows) = prepared();
    let (matched, suggested, fee, missing) = (&rows[0], &rows[1], &rows[2], &rows[3]);
    refused(&act(&account, matched, "confirm"), "matched", &["unmatched"]);
    refused(&act(&account, matched, "ignore"), "matched", &["unmatched"]);
    refused(&act(&account, fee, "confirm"), "exception", &["matched", "ignored"]);
    refused(&act(&account, fee, "reject"), "exception", &["matched", "ignored"]);
    for action in ["confirm", "reject"] {
        refused(&act(&account, missing, action), "exception", &["ignored"]);
    }
    let ids = json!({"action": "match", "transaction_ids": missing["transaction_ids"]});
    refused(&account.resolve(missing, &ids), "exception", &["ignored"]);
    let confirmed =
        account.resolve(suggested, &json!({"action": "confirm", "note": "That is it"})).data();
    assert_eq!(confirmed["status"], "matched");
    assert_eq!(confirmed["note"], "That is it");
    assert_eq!(confirmed["confidence"], suggested["confidence"]);
    let rejected = act(&account, suggested, "reject").data();
    assert_eq!(rejected["status"], "unmatched");
    assert_eq!(rejected["transaction_ids"], json!([]));
    assert_eq!(rejected["confidence"], Value::Null);
    refused(
        &act(&account, suggested, "confirm"),
        "unmatched",
        &["suggested", "matched", "exception", "ignored"],
    );
    refused(
        &act(&account, suggested, "reject"),
        "unmatched",
        &["suggested", "matched", "exception", "ignored"],
    );
    let by_hand = json!({"action": "match", "transaction_ids": suggested["transaction_ids"]});
    let again = account.resolve(suggested, &by_hand).data();
    assert_eq!(again["status"], "matched");
    assert_eq!(again["reasons"], json!(["sum_equal", "by_hand"]));
    act(&account, suggested, "reject").expect(200);
    assert_eq!(act(&account, suggested, "ignore").data()["status"], "ignored");
    assert_eq!(act(&account, missing, "ignore").data()["status"], "ignored");
    assert_eq!(act(&account, fee, "ignore").data()["status"], "ignored");
    for action in ["confirm", "reject", "ignore"] {
        refused(&act(&account, fee, action), "ignored", &[]);
    }
    let statement = account.caller.get(&format!("{STATEMENTS}/{}", id(&statement))).data();
    assert_eq!(statement["matches"], counted(&account.rows(&statement)));
    let resolved = account.caller.events();
    let resolved = resolved.iter().filter(|event| event["type"] == "reconciliation_match.resolved");
    assert_eq!(resolved.count(), 8 - 1);
    account.audit();
}

#[test]
fn a_suggestion_can_be_rejected_and_holds_nothing() {
    let (account, _, rows) = prepared();
    let suggested = &rows[1];
    // Another line with the right reference takes a transaction that was only suggested.
    let wanted = suggested["transaction_ids"][0].clone();
    let all = account.transactions();
    let transaction = all.iter().find(|one| one["id"] == wanted).unwrap();
    let (_, later) = account.lines(&[line_of(transaction, &json!({}))]);
    assert_eq!(later[0]["status"], "matched");
    let answer = act(&account, suggested, "confirm").refused(409, "invalid_state_transition");
    assert!(answer["detail"].as_str().unwrap().contains(id(&later[0])), "{answer}");
    assert_eq!(act(&account, suggested, "reject").data()["status"], "unmatched");
    assert_eq!(act(&account, &later[0], "reject").data()["status"], "unmatched");
    let by_hand = json!({"action": "match", "transaction_ids": [wanted]});
    assert_eq!(account.resolve(suggested, &by_hand).data()["status"], "matched");
    let suggestion = act(&account, &rows[2], "ignore").data();
    assert_eq!(suggestion["status"], "ignored");
}

#[test]
fn a_fee_is_posted_and_matched_by_hand() {
    let (account, _, rows) = prepared();
    let fee = &rows[2];
    let currency = fee["currency"].clone();
    let line = |name: &str, direction: &str| json!({"account": name, "direction": direction, "amount": 4200, "currency": currency});
    let entry = json!({
        "company_id": account.company, "effective_on": "2025-12-31", "memo": "Transfer charge",
        "lines": [line("fees", "debit"), line("cash_available", "credit")],
    });
    account.caller.post("/api/business/journal-entries", &entry).expect(201);
    let transaction = account.transactions().pop().unwrap();
    assert_eq!(transaction["amount"], 4200);
    let by_hand =
        json!({"action": "match", "transaction_ids": [transaction["id"]], "note": "Posted"});
    let matched = account.resolve(fee, &by_hand).data();
    assert_eq!(matched["status"], "matched");
    assert_eq!(matched["exception"], Value::Null);
    assert_eq!(matched["transaction_ids"], json!([transaction["id"]]));
    account.audit();
}

#[test]
fn a_manual_match_needs_free_transactions_that_sum_to_the_amount() {
    let (account, _, rows) = prepared();
    let before = account.caller.digest();
    let fault = |body: Value, pointer: &str, code: &str| {
        let answer = account.resolve(&rows[2], &body).refused(422, "validation_failed");
        assert_eq!(pointers(&answer), [pointer], "{answer}");
        assert_eq!(answer["errors"][0]["code"], code, "{answer}");
    };
    let ids = |ids: &[&Value]| json!({"action": "match", "transaction_ids": ids});
    let taken = &rows[0]["transaction_ids"][0];
    let free = &rows[3]["transaction_ids"][0];
    let missing = json!("wtx_0000000000000");
    fault(json!({"action": "match"}), "/transaction_ids", "required");
    fault(json!({"action": "match", "transaction_ids": []}), "/transaction_ids", "too_few");
    fault(json!({"action": "ignore", "transaction_ids": [free]}), "/transaction_ids", "unknown");
    fault(ids(&[free, free]), "/transaction_ids/1", "duplicate");
    fault(ids(&[&missing]), "/transaction_ids/0", "not_found");
    fault(ids(&[free, taken]), "/transaction_ids/1", "already_matched");
    fault(ids(&[free]), "/transaction_ids", "sum_differs");
    fault(json!({"action": "settle"}), "/action", "enum");
    fault(json!({}), "/action", "required");
    fault(json!({"action": "ignore", "note": ""}), "/note", "length");
    fault(json!({"action": "ignore", "colour": "red"}), "/colour", "unknown_member");
    let path = format!("{MATCHES}/rcm_0000000000000/resolve");
    account.caller.post(&path, &json!({"action": "ignore"})).refused(404, "resource_not_found");
    assert_eq!(account.caller.digest(), before);
    // Several at once.
    let all = account.transactions();
    let of = |row: &Value| {
        all.iter().find(|one| one["id"] == row["transaction_ids"][0]).unwrap().clone()
    };
    let (one, other) = (of(&rows[3]), of(&rows[4]));
    let signed = |one: &Value| {
        if one["type"] == "credit" { number(&one["amount"]) } else { -number(&one["amount"]) }
    };
    let sum = signed(&one) + signed(&other);
    let direction = if sum > 0 { "credit" } else { "debit" };
    let line = json!({"date": "2025-12-31", "amount": sum.abs(), "direction": direction, "description": "Net of two"});
    let (_, later) = account.lines(&[line]);
    assert_eq!(later[0]["status"], "exception", "they are too long ago");
    let named = ids(&[&one["id"], &other["id"]]);
    let matched = account.resolve(&later[0], &named).data();
    assert_eq!(matched["status"], "matched");
    for row in [&rows[3], &rows[4]] {
        assert_eq!(account.row(row)["status"], "ignored", "the line came");
    }
}

#[test]
fn manual_transitions_of_statements_and_matches_follow_their_lifecycles() {
    let account = Account::manual();
    let transition = |id: &str, to: &str| {
        let path = format!("/_sandbox/resources/{id}/transition");
        account.caller.post(&path, &json!({"to": to, "reason": "asked by a test"}))
    };
    let all = account.transactions();
    let lines = [
        line_of(&all[0], &json!({})),
        line_of(&all[1], &json!({"reference": "SOMETHING ELSE"})),
        line_of(&all[2], &json!({"reference": "SOMETHING ELSE"})),
    ];
    let taken = account.import(&json!({"lines": lines})).expect(202)["data"].take();
    refused(&transition(id(&taken), "processing"), "processing", &["imported"]);
    assert_eq!(transition(id(&taken), "imported").expect(200)["data"]["status"], "imported");
    refused(&transition(id(&taken), "imported"), "imported", &[]);
    let rows = account.rows(&taken);
    refused(&transition(id(&rows[0]), "ignored"), "matched", &["unmatched"]);
    assert_eq!(transition(id(&rows[0]), "unmatched").expect(200)["data"]["status"], "unmatched");
    refused(&transition(id(&rows[0]), "matched"), "unmatched", &["ignored"]);
    assert_eq!(transition(id(&rows[0]), "ignored").expect(200)["data"]["status"], "ignored");
    assert_eq!(transition(id(&rows[1]), "matched").expect(200)["data"]["status"], "matched");
    assert_eq!(transition(id(&rows[2]), "ignored").expect(200)["data"]["status"], "ignored");
    let missing = &rows[3];
    refused(&transition(id(missing), "matched"), "exception", &["ignored"]);
    assert_eq!(transition(id(missing), "ignored").expect(200)["data"]["status"], "ignored");
    assert_eq!(
        account.caller.advance(&json!({"by": "10s"})),
        [""; 0],
        "the statement is imported only once"
    );
    account.audit();
}

#[test]
fn a_snapshot_takes_matches_back() {
    let (account, _, rows) = prepared();
    let path = "/_sandbox/snapshots";
    let taken = account.caller.post(path, &json!({"name": "before"})).made();
    let snapshot = taken["id"].as_str().unwrap().to_owned();
    let before = account.caller.digest();
    act(&account, &rows[0], "reject").expect(200);
    act(&account, &rows[1], "confirm").expect(200);
    account.caller.post(&format!("{path}/{snapshot}/restore"), &json!({})).expect(200);
    assert_eq!(account.caller.digest(), before);
    let ids = json!({"action": "match", "transaction_ids": rows[0]["transaction_ids"]});
    let answer = account.resolve(&rows[2], &ids).refused(422, "validation_failed");
    assert_eq!(answer["errors"][0]["code"], "already_matched");
}
