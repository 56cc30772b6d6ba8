use std::sync::Arc;

use serde_json::{Value, json};

use crate::accounting::{ENTRIES, available, currency, entry, line, of, report};
use crate::harness::http::pointers;
use crate::harness::world::{id, number};
use crate::harness::{Caller, Server};

fn names(caller: &Caller) -> Vec<String> {
    let events = caller.events();
    let names = events.iter().map(|event| event["type"].as_str().expect("a type").to_owned());
    names.collect()
}

fn reverse(caller: &Caller, entry: &Value, body: &Value) -> crate::harness::http::Answer {
    caller.post(&format!("{ENTRIES}/{}/reverse", id(entry)), body)
}

#[test]
fn a_posted_entry_is_its_own_source_and_counts_on_its_day() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let own = currency(&caller, &company);
    let november = "from=2025-11-01&to=2025-11-30";
    let before = report(&caller, "profit-and-loss", &company, november);
    let body = entry(&company, "2025-11-15", "rent", "refunds_payable", 120_000, &own);
    let posted = caller.post(ENTRIES, &body).expect(201)["data"].take();
    assert_eq!(posted["status"], "posted");
    assert_eq!(posted["effective_on"], "2025-11-15");
    assert_eq!(posted["source"], json!({"type": "journal_entry", "id": posted["id"]}));
    let after = report(&caller, "profit-and-loss", &company, november);
    let net = |report: &Value| number(&report["net_profit"]);
    assert_eq!(net(&before) - net(&after), 120_000);
    let listed = caller.all(&format!("{ENTRIES}?company_id={company}&source_type=journal_entry"));
    assert_eq!(listed, [posted]);
    assert_eq!(names(&caller), ["journal_entry.posted"]);
    caller.audit();
}

#[test]
fn a_line_on_available_cash_moves_the_wallet_and_shows_on_its_statement() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let own = currency(&caller, &company);
    let before = available(&caller, &company);
    let paid_in = entry(&company, "2026-01-01", "cash_available", "owner_equity", 700, &own);
    caller.post(ENTRIES, &paid_in).expect(201);
    let paid_out = entry(&company, "2026-01-01", "fees", "cash_available", 200, &own);
    let posted = caller.post(ENTRIES, &paid_out).expect(201)["data"].take();
    assert_eq!(available(&caller, &company) - before, 500);
    let wallet = caller.all(&format!("/api/payments/wallets?company_id={company}")).remove(0);
    let statement = caller.all(&format!("/api/payments/wallets/{}/transactions", id(&wallet)));
    let last = statement.last().expect("a line");
    assert_eq!(last["journal_entry_id"], posted["id"]);
    assert_eq!((last["type"].as_str(), number(&last["amount"])), (Some("debit"), 200));
    assert_eq!(
        names(&caller),
        ["journal_entry.posted", "wallet.credited", "journal_entry.posted", "wallet.debited"]
    );
    let events = caller.events();
    let told = events.iter().filter(|event| event["data"]["object"]["id"] == wallet["id"]);
    let previous: Vec<&Value> = told.map(|event| &event["data"]["previous"]).collect();
    let balances = [&previous[0]["available"], &previous[1]["available"]].map(number);
    assert_eq!(balances, [before, before + 700]);
    assert_eq!(previous[0]["pending"], Value::Null, "it did not change");
    let log = caller.all(&format!("/api/business/audit-logs?resource_id={}", id(&wallet)));
    assert_eq!(log[0]["changed_fields"], json!(["available", "updated_at"]));
    caller.audit();
}

#[test]
fn an_entry_that_would_overdraw_a_wallet_is_refused() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let own = currency(&caller, &company);
    let short = available(&caller, &company) + 1;
    let body = entry(&company, "2026-01-01", "purchases", "cash_available", short, &own);
    let digest = caller.digest();
    caller.post(ENTRIES, &body).refused(402, "insufficient_funds");
    let body = entry(&company, "2026-01-01", "purchases", "cash_available", short - 1, &own);
    assert_eq!(caller.digest(), digest);
    caller.post(ENTRIES, &body).expect(201);
    assert_eq!(available(&caller, &company), 0);
    caller.audit();
}

#[test]
fn an_entry_beyond_the_maximum_turnover_of_an_account_is_refused() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let own = currency(&caller, &company);
    let most = 1_000_000_000_000_000_i64;
    let body = entry(&company, "2026-01-01", "rent", "refunds_payable", most, &own);
    for _ in 0..8 {
        caller.post(ENTRIES, &body).expect(201);
    }
    let last = caller.post(ENTRIES, &body).made();
    caller.post(ENTRIES, &body).refused(402, "limit_exceeded");
    // The mirror entry uses the other sides, and its mirror the original sides again.
    let mirror = reverse(&caller, &last, &json!({"reason": "Wrong"})).made();
    reverse(&caller, &mirror, &json!({"reason": "Right"})).refused(402, "limit_exceeded");
    // A pound is worth many naira: the limit applies to the amount in the company's currency.
    let pounds = entry(&company, "2026-01-01", "fees", "loans_payable", most, "GBP");
    caller.post(ENTRIES, &pounds).refused(402, "limit_exceeded");
    caller.audit();
}

#[test]
fn an_unbalanced_entry_is_refused_with_the_difference_in_each_currency() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let body = json!({
        "company_id": company, "effective_on": "2026-01-01",
        "lines": [line("rent", "debit", 700, "USD"), line("fees", "credit", 500, "USD"), line("fees", "credit", 1, "EUR")],
    });
    let refused = caller.post(ENTRIES, &body).refused(422, "unbalanced_entry");
    assert_eq!(pointers(&refused), ["/lines", "/lines"]);
    let details = refused["errors"].to_string();
    for part in ["in EUR", "by 1", "in USD", "by 200"] {
        assert!(details.contains(part), "{details}");
    }
}

#[test]
fn mistakes_in_lines_of_an_entry_are_reported_by_line() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let refused = |lines: Value, day: &str| {
        let body = json!({ "company_id": company, "effective_on": day, "lines": lines });
        let refused = caller.post(ENTRIES, &body).refused(422, "validation_failed");
        let errors = refused["errors"].as_array().expect("violations").clone();
        let told = errors.iter().map(|error| {
            let part = |member: &str| error[member].as_str().expect("text").to_owned();
            (part("pointer"), part("code"))
        });
        told.collect::<Vec<_>>()
    };
    let pair = |debit: &str, credit: &str, currency: &str| {
        json!([line(debit, "debit", 5, currency), line(credit, "credit", 5, currency)])
    };
    let one = |pointer: &str, code: &str| vec![(pointer.to_owned(), code.to_owned())];
    let day = "2026-01-01";
    for closed in ["cash_reserved", "payouts_in_transit", "collections_in_transit", "escrow_held"] {
        assert_eq!(
            refused(pair(closed, "sales", "USD"), day),
            one("/lines/0/account", "account_not_open")
        );
    }
    assert_eq!(refused(pair("rent", "nowhere", "USD"), day), one("/lines/1/account", "enum"));
    assert_eq!(
        refused(pair("cash_available", "sales", "USD"), day),
        one("/lines/0/currency", "no_wallet")
    );
    assert_eq!(
        refused(pair("rent", "sales", "PLN"), day),
        [
            one("/lines/0/currency", "no_reference_rate"),
            one("/lines/1/currency", "no_reference_rate")
        ]
        .concat()
    );
    let own = currency(&caller, &company);
    assert_eq!(
        refused(pair("cash_available", "cash_available", &own), day),
        one("/lines/1/account", "moves_twice")
    );
    for day in ["2026-01-02", "2024-12-31"] {
        assert_eq!(refused(pair("rent", "sales", "USD"), day), one("/effective_on", "range"));
    }
    let lonely = json!([line("rent", "debit", 5, "USD")]);
    assert_eq!(refused(lonely, day)[0].0, "/lines");
    let crowd: Vec<Value> = (0..101).map(|_| line("rent", "debit", 5, "USD")).collect();
    assert_eq!(refused(json!(crowd), day)[0].0, "/lines");
    let mut extra = line("rent", "debit", 5, "USD");
    extra["note"] = "?".into();
    assert_eq!(
        refused(json!([extra, line("rent", "credit", 5, "USD")]), day)[0].0,
        "/lines/0/note"
    );
    for amount in [json!(0), json!(-5), json!(5.5), json!("5")] {
        let mut wrong = line("rent", "debit", 5, "USD");
        wrong["amount"] = amount;
        let lines = json!([wrong, line("rent", "credit", 5, "USD")]);
        assert_eq!(refused(lines, day)[0].0, "/lines/0/amount");
    }
}

#[test]
fn every_required_member_of_an_entry_is_missed() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let whole = entry(&company, "2026-01-01", "rent", "sales", 5, "USD");
    for member in ["company_id", "effective_on", "lines"] {
        let mut body = whole.clone();
        body.as_object_mut().expect("an object").remove(member);
        let refused = caller.post(ENTRIES, &body).refused(422, "validation_failed");
        assert_eq!(pointers(&refused), [format!("/{member}")]);
    }
    let mut body = whole.clone();
    body["company_id"] = "com_0000000000000".into();
    caller.post(ENTRIES, &body).refused(404, "resource_not_found");
    let mut body = whole;
    body["remark"] = "?".into();
    let refused = caller.post(ENTRIES, &body).refused(422, "validation_failed");
    assert_eq!(pointers(&refused), ["/remark"]);
}

#[test]
fn a_reversal_mirrors_an_entry_and_marks_it() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let own = currency(&caller, &company);
    let before = report(&caller, "trial-balance", &company, "as_of=2026-12-31")["accounts"].take();
    let cash = available(&caller, &company);
    let body = entry(&company, "2025-12-15", "cash_available", "sales", 900, &own);
    let posted = caller.post(ENTRIES, &body).expect(201)["data"].take();
    let reason = json!({"reason": "Posted twice", "effective_on": "2025-12-20"});
    let mirror = reverse(&caller, &posted, &reason).expect(201)["data"].take();
    assert_eq!(mirror["reverses"], posted["id"]);
    assert_eq!(mirror["effective_on"], "2025-12-20");
    assert_eq!(mirror["memo"], "Reversal: Posted twice");
    assert_eq!(mirror["source"]["id"], posted["id"]);
    assert_eq!(mirror["lines"][0], line("cash_available", "credit", 900, &own));
    let listed = caller.all(&format!("{ENTRIES}?company_id={company}&source_type=journal_entry"));
    assert_eq!(listed[0]["status"], "reversed");
    assert_eq!(listed[0]["reversed_by"], mirror["id"]);
    assert_eq!(listed[1]["status"], "posted");
    assert_eq!(available(&caller, &company), cash);
    let after = report(&caller, "trial-balance", &company, "as_of=2026-12-31")["accounts"].take();
    let nets = |accounts: &Value| -> Vec<(String, i64)> {
        let rows = accounts.as_array().expect("accounts").iter();
        rows.map(|row| {
            let net = number(&row["debit_balance"]) - number(&row["credit_balance"]);
            (row["account"].to_string(), net)
        })
        .collect()
    };
    assert_eq!(nets(&before), nets(&after));
    assert_eq!(
        names(&caller),
        ["journal_entry.posted", "wallet.credited", "journal_entry.reversed", "wallet.debited"]
    );
    caller.audit();
}

#[test]
fn an_entry_is_reversed_once_and_only_if_a_caller_posted_it() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let own = currency(&caller, &company);
    let reason = json!({"reason": "Wrong"});
    let body = entry(&company, "2025-12-15", "rent", "sales", 900, &own);
    let posted = caller.post(ENTRIES, &body).expect(201)["data"].take();
    for (day, status) in [("2025-12-14", 422), ("2026-01-02", 422), ("2025-12-15", 201)] {
        let body = json!({"reason": "Wrong", "effective_on": day});
        assert_eq!(reverse(&caller, &posted, &body).status, status, "{day}");
    }
    let again = reverse(&caller, &posted, &reason).refused(409, "invalid_state_transition");
    assert_eq!(again["current"], "reversed");
    assert_eq!(again["allowed"], json!([]));
    assert_eq!(again["resource_id"], posted["id"]);

    let grown = caller.all(&format!("{ENTRIES}?company_id={company}&source_type=payroll_run"));
    let refused = reverse(&caller, &grown[0], &reason).refused(409, "invalid_state_transition");
    assert!(refused["detail"].as_str().expect("text").contains("prn_"), "{refused}");
    caller.run_payroll(&company, "2026-01");
    let live = caller.all(&format!("{ENTRIES}?company_id={company}&from=2026-01-01"));
    let of_run = live.iter().find(|entry| entry["source"]["type"] == "payroll_run");
    reverse(&caller, of_run.expect("an entry"), &reason).refused(409, "invalid_state_transition");

    let missing = format!("{ENTRIES}/jne_0000000000000/reverse");
    caller.post(&missing, &reason).refused(404, "resource_not_found");
    let wordless = reverse(&caller, &posted, &json!({})).refused(422, "validation_failed");
    assert_eq!(pointers(&wordless), ["/reason"]);
    caller.audit();
}

#[test]
fn a_reversal_takes_back_no_money_that_is_spent() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let own = currency(&caller, &company);
    let body = entry(&company, "2026-01-01", "cash_available", "owner_equity", 900, &own);
    let posted = caller.post(ENTRIES, &body).expect(201)["data"].take();
    let all = available(&caller, &company);
    let spent = entry(&company, "2026-01-01", "purchases", "cash_available", all - 899, &own);
    caller.post(ENTRIES, &spent).expect(201);
    reverse(&caller, &posted, &json!({"reason": "Wrong"})).refused(402, "insufficient_funds");
    caller.audit();
}

#[test]
fn the_journal_is_filtered_by_account_cause_and_day() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let all = caller.all(&format!("{ENTRIES}?company_id={company}"));
    let wages = caller.all(&format!("{ENTRIES}?company_id={company}&account=wages"));
    assert_eq!(wages.len(), 12);
    assert!(wages.iter().all(|entry| all.contains(entry)));
    let source = wages[3]["source"]["id"].as_str().expect("an id");
    let of_run = caller.all(&format!("{ENTRIES}?company_id={company}&source_id={source}"));
    assert_eq!(of_run.len(), all.iter().filter(|entry| entry["source"]["id"] == source).count());
    let may = caller.all(&format!("{ENTRIES}?company_id={company}&from=2025-05-01&to=2025-05-31"));
    assert!(!may.is_empty());
    let in_may = |entry: &&Value| {
        entry["effective_on"].as_str().is_some_and(|day| day.starts_with("2025-05"))
    };
    assert_eq!(may.len(), all.iter().filter(in_may).count());
    let refused = caller.get(&format!("{ENTRIES}?company_id={company}&account=nowhere"));
    assert_eq!(pointers(&refused.refused(422, "validation_failed")), ["/account"]);
    let refused =
        caller.get(&format!("{ENTRIES}?company_id={company}&from=2025-05-02&to=2025-05-01"));
    assert_eq!(pointers(&refused.refused(422, "validation_failed")), ["/to"]);
    let last = caller.all(&format!("{ENTRIES}?company_id={company}&sort=-created_at"));
    assert_eq!(last.len(), all.len());
    assert_eq!(last[0]["created_at"], all[all.len() - 1]["created_at"]);
}

#[test]
fn a_restored_world_has_no_entries_posted_after_the_snapshot() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let own = currency(&caller, &company);
    let body = entry(&company, "2025-12-15", "rent", "sales", 900, &own);
    let posted = caller.post(ENTRIES, &body).expect(201)["data"].take();
    let snapshot = caller.post("/_sandbox/snapshots", &json!({})).made();
    let (digest, sheet) =
        (caller.digest(), report(&caller, "balance-sheet", &company, "as_of=2025-12-31"));
    reverse(&caller, &posted, &json!({"reason": "Wrong"})).expect(201);
    let snapshot = snapshot["id"].as_str().expect("an id");
    caller.post(&format!("/_sandbox/snapshots/{snapshot}/restore"), &json!({})).expect(200);
    assert_eq!(caller.digest(), digest);
    assert_eq!(report(&caller, "balance-sheet", &company, "as_of=2025-12-31"), sheet);
    let listed = caller.all(&format!("{ENTRIES}?company_id={company}&source_type=journal_entry"));
    assert_eq!(listed, [posted]);
    caller.audit();
}

/// After the start of a world, no timer pays these amounts.
#[test]
fn an_entry_pays_the_pension_contributions_and_a_bank_loan_of_the_history() {
    let flags = ["--seed", "42", "--companies", "8", "--clock", "manual"];
    let caller = Caller::of(&Arc::new(Server::start(&flags)));
    let company = caller.company(7);
    let own = currency(&caller, &company);
    let owed = |account: &str, day: &str| {
        let report = report(&caller, "balance-sheet", &company, &format!("as_of={day}"));
        of(&report, "liabilities", account)
    };
    let pension = owed("deductions_payable", "2026-01-01");
    let loan = owed("loans_payable", "2026-01-01");
    assert!(pension > 0 && loan > 0, "a British logistics company with a bank loan");
    caller.advance(&json!({"to": "2026-02-01T12:00:00Z"}));
    assert_eq!(owed("deductions_payable", "2026-01-31"), pension);
    assert_eq!(owed("loans_payable", "2026-01-31"), loan);
    let before = available(&caller, &company);
    let paid = entry(&company, "2026-01-19", "deductions_payable", "cash_available", pension, &own);
    caller.post(ENTRIES, &paid).expect(201);
    let instalment = json!({
        "company_id": company, "effective_on": "2026-01-30", "memo": "Bank loan, January",
        "lines": [
            line("loans_payable", "debit", 200_000, &own),
            line("interest", "debit", 100_000, &own),
            line("cash_available", "credit", 300_000, &own),
        ],
    });
    caller.post(ENTRIES, &instalment).expect(201);
    assert_eq!(owed("deductions_payable", "2026-01-19"), 0);
    assert_eq!(owed("loans_payable", "2026-01-30"), loan - 200_000);
    assert_eq!(before - available(&caller, &company), pension + 300_000);
    caller.audit();
}
