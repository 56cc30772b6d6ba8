//! Statements: the same lines for every form of request, and a balance that equals the ledger's.

use serde_json::{Value, json};

use crate::harness::Caller;
use crate::harness::world::{id, number};

use super::{code, company, give, quote, transfer, wallet, wallets};

fn lines(caller: &Caller, wallet: &Value, query: &str) -> Vec<Value> {
    caller.all(&format!("/api/payments/wallets/{}/transactions?{query}", id(wallet)))
}

/// A world with all kinds of movements in the company's wallets.
fn busy(caller: &Caller) -> String {
    let company = company(caller);
    for amount in 1..=6 {
        give(caller, &company, amount, "NGN");
        transfer(caller, &quote(caller, 25_000_000 + amount));
        caller.advance(&json!({"by": "7h"}));
        give(caller, &company, amount, "GBP");
    }
    caller.run_payroll(&company, "2026-01");
    caller.advance(&json!({"by": "40d"}));
    company
}

#[test]
fn a_running_balance_is_the_ledgers() {
    let caller = Caller::manual();
    let company = busy(&caller);
    for wallet in wallets(&caller, &company) {
        let mut balance = 0;
        for line in lines(&caller, &wallet, "") {
            let sign = if line["type"] == "credit" { 1 } else { -1 };
            balance += sign * number(&line["amount"]);
            assert_eq!(number(&line["balance_after"]), balance, "{line}");
            assert_eq!(
                (&line["wallet_id"], &line["currency"]),
                (&wallet["id"], &wallet["currency"])
            );
        }
        assert_eq!(number(&wallet["available"]), balance);
    }
    caller.audit();
}

#[test]
fn newest_first_is_the_same_statement() {
    let caller = Caller::manual();
    let company = busy(&caller);
    for wallet in wallets(&caller, &company) {
        let mut expected = lines(&caller, &wallet, "");
        // Stable: lines of one instant keep their order.
        expected
            .sort_by(|one, other| other["created_at"].as_str().cmp(&one["created_at"].as_str()));
        assert_eq!(lines(&caller, &wallet, "sort=-created_at"), expected);
        assert_eq!(lines(&caller, &wallet, "sort=created_at"), lines(&caller, &wallet, ""));
    }
}

#[test]
fn days_select_lines_even_if_they_are_out_of_order() {
    let caller = Caller::manual();
    let company = busy(&caller);
    let wallet = wallet(&caller, &company, "NGN");
    for by_hand in [false, true] {
        if by_hand {
            // An entry for a past day: from here on the statement is not in the order of its days.
            let line = |account, direction| json!({"account": account, "direction": direction, "amount": 500, "currency": "NGN"});
            let body = json!({"company_id": company, "effective_on": "2026-01-03", "memo": "Late",
                "lines": [line("rent", "debit"), line("cash_available", "credit")]});
            caller.post("/api/business/journal-entries", &body).expect(201);
        }
        let all = lines(&caller, &wallet, "");
        let on = |line: &Value| line["effective_on"].as_str().unwrap().to_owned();
        assert_eq!(all.iter().map(on).is_sorted(), !by_hand);
        for (from, to) in [
            ("2026-01-01", "2026-01-02"),
            ("2025-06-01", "2026-01-03"),
            ("2027-01-01", "2027-02-01"),
        ] {
            let wanted = |line: &&Value| on(line).as_str() >= from && on(line).as_str() <= to;
            let expected: Vec<Value> = all.iter().filter(wanted).cloned().collect();
            let query = format!("from={from}&to={to}");
            assert_eq!(lines(&caller, &wallet, &query), expected, "{query}");
            let mut turned = expected.clone();
            turned.sort_by(|one, other| {
                other["created_at"].as_str().cmp(&one["created_at"].as_str())
            });
            assert_eq!(lines(&caller, &wallet, &format!("{query}&sort=-created_at")), turned);
        }
        let debits: Vec<Value> =
            all.iter().filter(|line| line["type"] == "debit").cloned().collect();
        assert_eq!(lines(&caller, &wallet, "type=debit"), debits);
    }
    assert!(lines(&caller, &wallet, "from=2026-02-01&to=2026-01-01").is_empty());
}

#[test]
fn a_wallet_opened_by_a_conversion_has_times_of_its_own() {
    let caller = Caller::manual();
    let company = company(&caller);
    caller.advance(&json!({"by": "5d"}));
    transfer(&caller, &quote(&caller, 25_000_000));
    let gbp = wallet(&caller, &company, "GBP");
    assert_eq!(gbp["created_at"], gbp["updated_at"]);
    assert_eq!(lines(&caller, &gbp, "").len(), 0);
    let missing = caller.get("/api/payments/wallets/wal_0000000000000/transactions");
    assert_eq!((missing.status, code(&missing).as_str()), (404, "resource_not_found"));
}

#[test]
fn a_refused_request_leaves_the_statement_as_it_was() {
    let caller = Caller::manual();
    let company = busy(&caller);
    let before: Vec<Vec<Value>> =
        wallets(&caller, &company).iter().map(|one| lines(&caller, one, "")).collect();
    let snapshot = caller.post("/_sandbox/snapshots", &json!({})).made();
    transfer(&caller, &quote(&caller, 30_000_000));
    caller.advance(&json!({"by": "1d"}));
    let path = format!("/_sandbox/snapshots/{}/restore", snapshot["id"].as_str().unwrap());
    caller.post(&path, &json!({})).expect(200);
    let after: Vec<Vec<Value>> =
        wallets(&caller, &company).iter().map(|one| lines(&caller, one, "")).collect();
    assert_eq!(before, after);
    caller.audit();
}
