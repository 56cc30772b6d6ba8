//! A payroll run from the call to the payslips: its lifecycle by either clock, and figures that agree wherever they are shown.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::harness::Caller;
use crate::harness::world::{id, number};

/// What a run goes through when nothing goes wrong.
const LIFE: [&str; 6] = [
    "calculating",
    "calculated",
    "approved",
    "funding",
    "processing",
    "paid",
];

fn statuses(resource: &Value) -> Vec<&str> {
    let history = resource["status_history"].as_array().unwrap();
    history
        .iter()
        .map(|change| change["status"].as_str().unwrap())
        .collect()
}

fn sum(rows: &[Value], member: &str) -> i64 {
    rows.iter().map(|row| number(&row[member])).sum()
}

fn lines(value: &Value) -> i64 {
    sum(value.as_array().unwrap(), "amount")
}

fn wallet(caller: &Caller, company: &str) -> Value {
    let wallets = caller.all(&format!("/api/payments/wallets?company_id={company}"));
    let [wallet] = wallets.as_slice() else {
        panic!("{wallets:?}")
    };
    wallet.clone()
}

fn items(caller: &Caller, run: &Value) -> Vec<Value> {
    caller.all(&format!("/api/business/payroll-runs/{}/items", id(run)))
}

fn payslips(caller: &Caller, run: &Value) -> Vec<Value> {
    caller.all(&format!(
        "/api/business/payslips?payroll_run_id={}",
        id(run)
    ))
}

fn count(events: &[String], name: &str) -> usize {
    events.iter().filter(|event| *event == name).count()
}

/// Balances of a company's accounts by code.
fn balances(caller: &Caller, company: &str) -> BTreeMap<String, i64> {
    let accounts = caller.all(&format!(
        "/api/business/ledger-accounts?company_id={company}"
    ));
    let balance = |account: &Value| {
        let code = account["code"].as_str().unwrap().to_owned();
        let (debits, credits) = (number(&account["debits"]), number(&account["credits"]));
        let net = if account["normal_side"] == "debit" {
            debits - credits
        } else {
            credits - debits
        };
        assert_eq!(number(&account["balance"]), net, "{account}");
        (code, net)
    };
    accounts.iter().map(balance).collect()
}

#[test]
fn in_an_instant_world_a_run_is_paid_before_the_next_request() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let accepted = caller.run_payroll(&company, "2026-01");
    assert_eq!(statuses(&accepted), ["calculating"]);
    let run = caller.run(id(&accepted));
    assert_eq!(run["status"], "paid");
    assert_eq!(statuses(&run), LIFE);
    let settled = json!({"paid": accepted["employee_count"], "failed": 0, "pending": 0});
    assert_eq!(run["settlement"], settled);
    assert_eq!(run["blockers"], json!([]));
    let times: Vec<&str> = run["status_history"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| c["at"].as_str().unwrap())
        .collect();
    assert!(times.is_sorted(), "{times:?}");
    let clock = caller.get("/_sandbox/clock").expect(200);
    assert_eq!(clock["pending"], 0);
    caller.audit();
}

#[test]
fn a_runs_sums_are_those_of_its_items_in_every_country() {
    let caller = Caller::instant();
    for company in 0..3 {
        let company = caller.company(company);
        let accepted = caller.run_payroll(&company, "2026-01");
        let run = caller.run(id(&accepted));
        let (items, totals) = (items(&caller, &run), &run["totals"]);
        assert_eq!(items.len(), run["employees"].as_array().unwrap().len());
        for (item, employee) in items.iter().zip(run["employees"].as_array().unwrap()) {
            assert_eq!(item["employee_id"], *employee);
            assert_eq!(
                (&item["status"], &item["period"]),
                (&json!("paid"), &json!("2026-01"))
            );
            assert_eq!(item["currency"], run["currency"]);
            let withheld = number(&item["taxes"]) + number(&item["employee_contributions"]);
            assert_eq!(
                number(&item["gross"]),
                number(&item["net"]) + withheld,
                "{item}"
            );
        }
        for member in [
            "gross",
            "taxes",
            "employee_contributions",
            "employer_contributions",
            "net",
        ] {
            assert_eq!(number(&totals[member]), sum(&items, member), "{member}");
        }
        let cost = number(&totals["gross"]) + number(&totals["employer_contributions"]);
        assert_eq!(number(&totals["employer_cost"]), cost);
        assert_eq!(number(&run["funding"]["required"]), cost);
        assert!(
            number(&totals["net"]) > 0 && number(&totals["taxes"]) > 0,
            "{totals}"
        );
    }
}

#[test]
fn a_payslip_adds_up_and_says_what_its_item_and_payout_say() {
    let caller = Caller::instant();
    for company in 0..3 {
        let company = caller.company(company);
        let run = caller.run_payroll(&company, "2026-01");
        let (items, payslips) = (items(&caller, &run), payslips(&caller, &run));
        assert_eq!(payslips.len(), items.len());
        for (item, payslip) in items.iter().zip(&payslips) {
            assert_eq!(
                (&item["payslip_id"], &item["id"]),
                (&payslip["id"], &payslip["payroll_item_id"])
            );
            assert_eq!(
                caller
                    .get(&format!("/api/business/payslips/{}", id(payslip)))
                    .data(),
                *payslip
            );
            assert_eq!(number(&payslip["gross"]), lines(&payslip["earnings"]));
            let deductions = lines(&payslip["taxes"]) + lines(&payslip["contributions"]);
            let net = number(&payslip["net"]);
            assert_eq!(net + deductions, number(&payslip["gross"]), "{payslip}");
            let cost = number(&payslip["gross"]) + lines(&payslip["employer_contributions"]);
            assert_eq!(cost, number(&payslip["employer_cost"]));
            assert_eq!(
                (number(&item["taxes"]), number(&item["net"])),
                (lines(&payslip["taxes"]), net)
            );
            let payout = item["payout_id"].as_str().unwrap();
            let payout = caller
                .get(&format!("/api/payments/payouts/{payout}"))
                .data();
            assert_eq!(number(&payout["amount"]), net);
            assert_eq!(payout["status"], "paid");
            assert_eq!(
                payout["source"],
                json!({"type": "payroll_item", "id": id(item)})
            );
        }
    }
}

#[test]
fn year_to_date_adds_up_over_the_periods() {
    let caller = Caller::instant();
    for company in 0..3 {
        let company = caller.company(company);
        let first = caller.run_payroll(&company, "2026-01");
        let second = caller.run_payroll(&company, "2026-02");
        let (first, second) = (payslips(&caller, &first), payslips(&caller, &second));
        assert_eq!(first.len(), second.len());
        for (one, two) in first.iter().zip(&second) {
            assert_eq!(one["employee_id"], two["employee_id"]);
            assert_eq!(one["pack"]["tax_year"], two["pack"]["tax_year"]);
            for member in ["gross", "net"] {
                let sum = number(&one["ytd"][member]) + number(&two[member]);
                assert_eq!(number(&two["ytd"][member]), sum, "{member}: {one} {two}");
            }
            for line in two["taxes"].as_array().unwrap() {
                let name = line["id"].as_str().unwrap();
                let before = one["ytd"].get(name).map_or(0, number);
                assert_eq!(
                    number(&two["ytd"][name]),
                    before + number(&line["amount"]),
                    "{name}"
                );
            }
        }
    }
}

#[test]
fn a_new_tax_year_begins_its_totals_anew() {
    let caller = Caller::instant();
    // Nigeria's tax year is the calendar year: January is its first month.
    let run = caller.run_payroll(&caller.company(0), "2026-01");
    for payslip in payslips(&caller, &run) {
        assert_eq!(payslip["ytd"]["gross"], payslip["gross"]);
        assert_eq!(payslip["ytd"]["net"], payslip["net"]);
    }
    // The United Kingdom's begins on 6 April: January is its tenth month, and nine lie behind it.
    let run = caller.run_payroll(&caller.company(1), "2026-01");
    for payslip in payslips(&caller, &run) {
        assert!(
            number(&payslip["ytd"]["gross"]) > 5 * number(&payslip["gross"]),
            "{payslip}"
        );
    }
}

#[test]
fn the_wallet_pays_the_employer_cost_and_keeps_what_is_owed_in_reserve() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let (before, owed) = (wallet(&caller, &company), balances(&caller, &company));
    let run = caller.run_payroll(&company, "2026-01");
    let run = caller.run(id(&run));
    let (after, owing) = (wallet(&caller, &company), balances(&caller, &company));
    let totals = &run["totals"];
    let cost = number(&totals["employer_cost"]);
    assert_eq!(
        number(&before["available"]) - number(&after["available"]),
        cost
    );
    let kept = number(&after["reserved"]) - number(&before["reserved"]);
    assert_eq!(kept, cost - number(&totals["net"]));
    assert_eq!(
        (&after["pending"], &after["escrow"]),
        (&before["pending"], &before["escrow"])
    );
    let change = |account: &str| owing[account] - owed.get(account).copied().unwrap_or(0);
    assert_eq!(change("wages"), number(&totals["gross"]));
    assert_eq!(
        change("employer_contributions"),
        number(&totals["employer_contributions"])
    );
    assert_eq!(change("wages_payable"), 0, "everybody was paid");
    let payable = owing
        .keys()
        .filter(|code| code.starts_with("tax_payable:") || *code == "pension_payable");
    assert_eq!(payable.map(|code| change(code)).sum::<i64>(), kept);
    let transactions = format!("/api/payments/wallets/{}/transactions", id(&after));
    let statement = caller.all(&transactions);
    let last = statement.last().unwrap();
    assert_eq!(
        number(&last["balance_after"]),
        number(&after["available"]),
        "{last}"
    );
    let mut balance = 0;
    for line in &statement {
        let sign = if line["type"] == "credit" { 1 } else { -1 };
        balance += sign * number(&line["amount"]).abs();
        assert_eq!(number(&line["balance_after"]), balance, "{line}");
    }
    let by_run = caller.all(&format!("{transactions}?source_id={}", id(&run)));
    assert_eq!(by_run.len(), 1);
    assert_eq!(number(&by_run[0]["amount"]).abs(), cost);
}

#[test]
fn tax_liabilities_are_those_of_the_ledger() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let before = balances(&caller, &company);
    let run = caller.run_payroll(&company, "2026-01");
    let after = balances(&caller, &company);
    let events = caller.events();
    let created: Vec<&Value> = events
        .iter()
        .filter(|event| event["type"] == "tax_liability.created")
        .map(|event| &event["data"]["object"])
        .collect();
    assert!(!created.is_empty());
    for liability in &created {
        assert_eq!(liability["payroll_run_id"], run["id"]);
        assert_eq!(liability["status"], "accrued");
        let authority = liability["authority"].as_str().unwrap();
        let account = if authority == "pension" {
            "pension_payable".to_owned()
        } else {
            format!("tax_payable:{authority}")
        };
        let change = after[&account] - before.get(&account).copied().unwrap_or(0);
        assert_eq!(number(&liability["amount"]), change, "{account}");
    }
}

#[test]
fn every_journal_entry_balances_and_the_runs_entries_name_it() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let run = caller.run_payroll(&company, "2026-01");
    let entries = caller.all(&format!(
        "/api/business/journal-entries?company_id={company}"
    ));
    let side = |entry: &Value, direction: &str| {
        let lines = entry["lines"].as_array().unwrap().iter();
        lines
            .filter(|line| line["direction"] == direction)
            .map(|line| number(&line["amount"]))
            .sum::<i64>()
    };
    for entry in &entries {
        assert_eq!(side(entry, "debit"), side(entry, "credit"), "{entry}");
        assert!(
            entry["lines"]
                .as_array()
                .unwrap()
                .iter()
                .all(|line| number(&line["amount"]) > 0)
        );
    }
    let of_run = caller.all(&format!(
        "/api/business/journal-entries?company_id={company}&source_id={}",
        id(&run)
    ));
    let memos: Vec<&str> = of_run
        .iter()
        .map(|entry| entry["memo"].as_str().unwrap())
        .collect();
    assert_eq!(memos, ["Payroll approved", "Payroll funded"]);
}

#[test]
fn reports_agree_with_the_ledger_and_with_one_another() {
    let caller = Caller::instant();
    for company in 0..3 {
        let company = caller.company(company);
        let report = |name: &str, days: &str| {
            caller
                .get(&format!(
                    "/api/business/reports/{name}?company_id={company}&{days}"
                ))
                .data()
        };
        let month = "from=2026-01-01&to=2026-01-31";
        let quiet = report("profit-and-loss", month);
        assert_eq!(
            quiet["total_expenses"], 0,
            "nothing has happened in January yet: {quiet}"
        );
        let run = caller.run_payroll(&company, "2026-01");
        let run = caller.run(id(&run));
        let profit = report("profit-and-loss", month);
        let expense = |code: &str| {
            let lines = profit["expenses"].as_array().unwrap();
            lines
                .iter()
                .find(|line| line["account"] == code)
                .map_or(0, |line| number(&line["amount"]))
        };
        assert_eq!(expense("wages"), number(&run["totals"]["gross"]));
        assert_eq!(
            expense("employer_contributions"),
            number(&run["totals"]["employer_contributions"])
        );
        assert_eq!(
            number(&profit["total_expenses"]),
            lines(&profit["expenses"])
        );
        assert_eq!(number(&profit["total_revenue"]), lines(&profit["revenue"]));
        let net = number(&profit["total_revenue"]) - number(&profit["total_expenses"]);
        assert_eq!(number(&profit["net_profit"]), net);

        let year = report("profit-and-loss", "from=2025-01-01&to=2025-12-31");
        assert!(
            number(&year["total_revenue"]) > 0 && number(&year["total_expenses"]) > 0,
            "{year}"
        );
        let sheet = report("balance-sheet", "as_of=2026-01-31");
        let total = |member: &str| number(&sheet[member]);
        assert_eq!(
            total("total_assets"),
            total("total_liabilities") + total("total_equity"),
            "{sheet}"
        );
        for (lines_of, total_of) in [
            ("assets", "total_assets"),
            ("liabilities", "total_liabilities"),
        ] {
            assert_eq!(lines(&sheet[lines_of]), total(total_of));
        }
        let trial = report("trial-balance", "as_of=2026-01-31");
        assert_eq!(trial["balanced"], true, "{trial}");
        let sides = |row: &Value| number(&row["debits"]) - number(&row["credits"]);
        let accounts = trial["accounts"].as_array().unwrap();
        assert!(accounts.len() > 5);
        assert_eq!(accounts.iter().map(sides).sum::<i64>(), 0);
        let total = &trial["totals"][0];
        assert_eq!(
            number(&total["debit_balances"]),
            sum(accounts, "debit_balance")
        );
        assert_eq!(
            number(&total["credit_balances"]),
            sum(accounts, "credit_balance")
        );
        assert_eq!(total["debit_balances"], total["credit_balances"]);
        let wallet = wallet(&caller, &company);
        let cash = sheet["assets"]
            .as_array()
            .unwrap()
            .iter()
            .find(|line| line["account"] == "cash_available");
        assert_eq!(cash.unwrap()["amount"], wallet["available"]);
    }
    caller.audit();
}

#[test]
fn in_a_manual_world_a_run_waits_for_the_clock_at_every_step() {
    let caller = Caller::manual();
    let company = caller.company(0);
    let accepted = caller.run_payroll(&company, "2026-01");
    let people = accepted["employee_count"].as_u64().unwrap() as usize;
    let status = || {
        caller.run(id(&accepted))["status"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(
        caller.run(id(&accepted)),
        accepted,
        "nothing moves by itself"
    );

    assert_eq!(caller.advance(&json!({"by": "1s"})), [""; 0]);
    assert_eq!(status(), "calculating");
    let calculated = caller.advance(&json!({"by": "1s"}));
    assert_eq!(
        calculated[..2],
        ["payroll_run.calculated", "payroll_run.approved"]
    );
    assert!(
        calculated[2..]
            .iter()
            .all(|name| name == "tax_liability.created"),
        "{calculated:?}"
    );
    let run = caller.run(id(&accepted));
    assert_eq!(run["status"], "approved");
    assert_eq!(
        run["pay_date"], "2026-01-23",
        "the 25th is a Sunday: wages come on the Friday before"
    );
    assert_eq!(run["funding"]["reserved"], 0);
    assert!(
        items(&caller, &run)
            .iter()
            .all(|item| item["status"] == "ready" && item["payout_id"].is_null())
    );

    assert_eq!(
        caller.advance(&json!({"to": "2026-01-22T15:59:59.999Z"})),
        [""; 0]
    );
    let before = wallet(&caller, &company);
    let funded = caller.advance(&json!({"to": "2026-01-22T16:00:00.000Z"}));
    assert_eq!(funded[..2], ["payroll_run.funded", "wallet.debited"]);
    assert_eq!(count(&funded, "payout.created"), people);
    assert_eq!(funded.last().unwrap(), "payroll_run.processing");
    assert_eq!(status(), "processing");
    let cost = number(&caller.run(id(&accepted))["totals"]["employer_cost"]);
    let reserved = wallet(&caller, &company);
    assert_eq!(
        number(&before["available"]) - number(&reserved["available"]),
        cost
    );
    assert_eq!(
        number(&reserved["reserved"]) - number(&before["reserved"]),
        cost
    );

    let sent = caller.advance(&json!({"to": "2026-01-23T09:00:00.000Z"}));
    assert_eq!(count(&sent, "payout.processing"), people);
    assert_eq!(count(&sent, "payout.sent"), people);
    assert_eq!(sent.len(), 2 * people);
    assert_eq!(
        payslips(&caller, &accepted).len(),
        0,
        "a payslip is issued when its item is paid"
    );

    let weekend = caller.advance(&json!({"to": "2026-01-27T08:59:59.999Z"}));
    assert_eq!(weekend, [""; 0], "two business days end on Tuesday");
    let paid = caller.advance(&json!({"until": "idle"}));
    for name in ["payout.paid", "payslip.issued", "payroll_item.paid"] {
        assert_eq!(count(&paid, name), people, "{name}");
    }
    assert_eq!(paid.last().unwrap(), "payroll_run.paid");
    assert_eq!(caller.now(), "2026-01-27T09:00:00.000Z");
    assert_eq!(statuses(&caller.run(id(&accepted))), LIFE);
    assert_eq!(payslips(&caller, &accepted).len(), people);
    caller.audit();
}

#[test]
fn until_next_event_stops_at_each_thing_that_falls_due() {
    let caller = Caller::manual();
    let run = caller.run_payroll(&caller.company(0), "2026-01");
    let next = json!({"until": "next_event"});
    assert_eq!(caller.advance(&next)[0], "payroll_run.calculated");
    assert_eq!(caller.advance(&next)[0], "payroll_run.funded");
    assert_eq!(caller.advance(&next)[0], "payout.processing");
    assert_eq!(
        caller.advance(&next),
        ["payout.paid", "payslip.issued", "payroll_item.paid"]
    );
    assert_eq!(caller.run(id(&run))["settlement"]["paid"], 1);
}

#[test]
fn a_run_in_both_clocks_comes_to_the_same_figures() {
    let (instant, manual) = (Caller::instant(), Caller::manual());
    let company = instant.company(0);
    let one = instant.run_payroll(&company, "2026-01");
    let two = manual.run_payroll(&company, "2026-01");
    manual.advance(&json!({"until": "idle"}));
    assert_eq!(one["id"], two["id"]);
    let (one, two) = (instant.run(id(&one)), manual.run(id(&two)));
    assert_eq!(one["totals"], two["totals"]);
    assert_eq!(statuses(&one), statuses(&two));
    let names = |caller: &Caller| -> Vec<String> {
        let mut names: Vec<String> = caller
            .events()
            .iter()
            .map(|e| e["type"].to_string())
            .collect();
        names.sort();
        names
    };
    assert_eq!(names(&instant), names(&manual));
}

#[test]
fn a_short_wallet_fails_the_funding_and_pays_nobody() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let run = (0..60)
        .map(|month| format!("{}-{:02}", 2026 + month / 12, month % 12 + 1))
        .map(|period| caller.run(id(&caller.run_payroll(&company, &period))))
        .find(|run| run["status"] != "paid")
        .expect("no wallet lasts for five years without income");
    assert_eq!(run["status"], "funding_failed");
    assert!(
        run["period"].as_str().unwrap() > "2026-03",
        "three months are in the wallet: {run}"
    );
    assert_eq!(
        statuses(&run),
        [
            "calculating",
            "calculated",
            "approved",
            "funding",
            "funding_failed"
        ]
    );
    let wallet = wallet(&caller, &company);
    let funding = &run["funding"];
    assert_eq!(funding["required"], run["totals"]["employer_cost"]);
    assert_eq!(funding["reserved"], 0);
    let shortfall = number(&funding["required"]) - number(&wallet["available"]);
    assert_eq!(number(&funding["shortfall"]), shortfall);
    let blockers = run["blockers"].as_array().unwrap();
    assert_eq!(blockers.len(), 1);
    assert!(
        blockers[0].as_str().unwrap().contains(id(&wallet)),
        "{blockers:?}"
    );
    assert_eq!(payslips(&caller, &run).len(), 0);
    assert!(
        items(&caller, &run)
            .iter()
            .all(|item| item["status"] == "ready")
    );
    let events = caller.events();
    let last = &events.last().unwrap();
    assert_eq!(last["type"], "payroll_run.funding_failed");
    assert_eq!(last["data"]["object"]["id"], run["id"]);
    caller.audit();
}

#[test]
fn a_company_that_asks_for_approval_stops_there() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let change = json!({"payroll_settings": {"approval_required": true}});
    caller
        .patch(&format!("/api/business/companies/{company}"), &change)
        .expect(200);
    let run = caller.run_payroll(&company, "2026-01");
    let run = caller.run(id(&run));
    assert_eq!(
        statuses(&run),
        ["calculating", "calculated", "pending_approval"]
    );
    assert!(run["funding"].is_null());
    assert_eq!(
        caller.events().last().unwrap()["type"],
        "payroll_run.pending_approval"
    );
    caller.audit();
}

#[test]
fn events_are_numbered_and_name_the_request_that_caused_them() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let body = json!({"company_id": company, "period": "2026-01"});
    let request = caller
        .request("POST", "/v1/payroll/run")
        .header("Idempotency-Key", "k-1")
        .json(&body);
    let answer = caller.send(&request);
    let run = answer.expect(201)["data"].take();
    let events = caller.events();
    for (place, event) in (1..).zip(&events) {
        assert_eq!(event["sequence"], place);
        assert_eq!(event["livemode"], false);
        assert_eq!(event["company_id"], json!(company));
    }
    let first = &events[0];
    assert_eq!(first["type"], "payroll_run.created");
    assert_eq!(first["data"]["object"], run);
    assert_eq!(first["data"]["previous"], json!({}));
    let origin = json!({"id": answer.header("request-id").unwrap(), "idempotency_key": "k-1"});
    assert_eq!(first["request"], origin);
    assert!(
        events[1]["request"].is_null(),
        "the clock did it: {}",
        events[1]
    );
    assert_eq!(events[1]["type"], "payroll_run.calculated");
    assert_eq!(events[1]["data"]["previous"]["status"], "calculating");
    let of_runs = caller.all("/_sandbox/events?type=payroll_run.*");
    assert!(of_runs.len() > 4 && of_runs.len() < events.len());
    let tail = caller.all("/_sandbox/events?after=3");
    assert_eq!(tail, events[3..]);
}
