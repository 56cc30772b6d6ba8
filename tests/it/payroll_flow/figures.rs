//! Amounts: sums, payslips, year to date, wallet, ledger, reports.

use serde_json::{Value, json};

use crate::harness::Caller;
use crate::harness::world::{id, number, platform_fee};

use super::{balances, items, lines, payslips, sum, wallet};

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
            assert_eq!((&item["status"], &item["period"]), (&json!("paid"), &json!("2026-01")));
            assert_eq!(item["currency"], run["currency"]);
            let withheld = number(&item["taxes"])
                + number(&item["employee_contributions"])
                + number(&item["deductions"]);
            assert_eq!(number(&item["gross"]), number(&item["net"]) + withheld, "{item}");
        }
        for member in ["gross", "taxes", "employee_contributions", "employer_contributions", "net"]
        {
            assert_eq!(number(&totals[member]), sum(&items, member), "{member}");
        }
        let cost = number(&totals["gross"]) + number(&totals["employer_contributions"]);
        assert_eq!(number(&totals["employer_cost"]), cost);
        // Deductions and the employer's parts are paid from the available balance.
        let added = |item: &Value| item.get("employer_benefits").map_or(0, number);
        let later = sum(&items, "deductions") + items.iter().map(added).sum::<i64>();
        assert_eq!(number(&run["funding"]["required"]), cost - later);
        assert!(number(&totals["net"]) > 0 && number(&totals["taxes"]) > 0, "{totals}");
    }
}

#[test]
fn a_payslip_adds_up_and_agrees_with_its_item_and_payout() {
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
                caller.get(&format!("/api/business/payslips/{}", id(payslip))).data(),
                *payslip
            );
            assert_eq!(number(&payslip["gross"]), lines(&payslip["earnings"]));
            let deductions = lines(&payslip["taxes"])
                + lines(&payslip["contributions"])
                + lines(&payslip["deductions"]);
            let net = number(&payslip["net"]);
            assert_eq!(net + deductions, number(&payslip["gross"]), "{payslip}");
            let cost = number(&payslip["gross"]) + lines(&payslip["employer_contributions"]);
            assert_eq!(cost, number(&payslip["employer_cost"]));
            assert_eq!(
                (number(&item["taxes"]), number(&item["net"])),
                (lines(&payslip["taxes"]), net)
            );
            let payout = item["payout_id"].as_str().unwrap();
            let payout = caller.get(&format!("/api/payments/payouts/{payout}")).data();
            assert_eq!(number(&payout["amount"]), net);
            assert_eq!(payout["status"], "paid");
            assert_eq!(payout["source"], json!({"type": "payroll_item", "id": id(item)}));
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
                assert_eq!(number(&two["ytd"][name]), before + number(&line["amount"]), "{name}");
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
    // The United Kingdom's tax year begins on 6 April: January is its tenth month, after nine others for people who were there.
    let run = caller.run_payroll(&caller.company(1), "2026-01");
    for payslip in payslips(&caller, &run) {
        let path = format!("/api/business/employees/{}", payslip["employee_id"].as_str().unwrap());
        let employee = caller.get(&path).data();
        let was_there = employee["start_date"].as_str().unwrap() < "2025-04-06";
        let many = number(&payslip["ytd"]["gross"]) > 8 * number(&payslip["gross"]);
        assert_eq!(many, was_there, "{payslip}");
    }
}

#[test]
fn the_wallet_pays_the_employer_cost_and_reserves_the_liabilities() {
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
        cost + platform_fee(&run)
    );
    assert_eq!(run["funding"]["platform_fee"], platform_fee(&run));
    let kept = number(&after["reserved"]) - number(&before["reserved"]);
    assert_eq!(kept, cost - number(&totals["net"]));
    assert_eq!((&after["pending"], &after["escrow"]), (&before["pending"], &before["escrow"]));
    let change = |account: &str| owing[account] - owed.get(account).copied().unwrap_or(0);
    assert_eq!(change("wages"), number(&totals["gross"]));
    assert_eq!(change("employer_contributions"), number(&totals["employer_contributions"]));
    assert_eq!(change("wages_payable"), 0, "every employee was paid");
    let payable =
        owing.keys().filter(|code| code.starts_with("tax_payable:") || *code == "pension_payable");
    assert_eq!(payable.map(|code| change(code)).sum::<i64>(), kept);
    let transactions = format!("/api/payments/wallets/{}/transactions", id(&after));
    let statement = caller.all(&transactions);
    let last = statement.last().unwrap();
    assert_eq!(number(&last["balance_after"]), number(&after["available"]), "{last}");
    let mut balance = 0;
    for line in &statement {
        let sign = if line["type"] == "credit" { 1 } else { -1 };
        balance += sign * number(&line["amount"]).abs();
        assert_eq!(number(&line["balance_after"]), balance, "{line}");
    }
    let by_run = caller.all(&format!("{transactions}?source_id={}", id(&run)));
    assert_eq!(by_run.len(), 2);
    assert_eq!(number(&by_run[0]["amount"]).abs(), cost);
    assert_eq!(number(&by_run[1]["amount"]), platform_fee(&run));
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
    let entries = caller.all(&format!("/api/business/journal-entries?company_id={company}"));
    let side = |entry: &Value, direction: &str| {
        let lines = entry["lines"].as_array().unwrap().iter();
        lines
            .filter(|line| line["direction"] == direction)
            .map(|line| number(&line["amount"]))
            .sum::<i64>()
    };
    for entry in &entries {
        assert_eq!(side(entry, "debit"), side(entry, "credit"), "{entry}");
        assert!(entry["lines"].as_array().unwrap().iter().all(|line| number(&line["amount"]) > 0));
    }
    let of_run = caller
        .all(&format!("/api/business/journal-entries?company_id={company}&source_id={}", id(&run)));
    let memos: Vec<&str> = of_run.iter().map(|entry| entry["memo"].as_str().unwrap()).collect();
    assert_eq!(memos, ["Payroll approved", "Payroll funded", "Platform fee"]);
}

#[test]
fn reports_agree_with_the_ledger_and_with_one_another() {
    let caller = Caller::instant();
    for company in 0..3 {
        let company = caller.company(company);
        let report = |name: &str, days: &str| {
            caller.get(&format!("/api/business/reports/{name}?company_id={company}&{days}")).data()
        };
        caller.pay_monthly(&company);
        let month = "from=2026-01-01&to=2026-01-31";
        let quiet = report("profit-and-loss", month);
        assert_eq!(quiet["total_expenses"], 0, "nothing has happened in January yet: {quiet}");
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
        assert_eq!(number(&profit["total_expenses"]), lines(&profit["expenses"]));
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
        for (lines_of, total_of) in
            [("assets", "total_assets"), ("liabilities", "total_liabilities")]
        {
            assert_eq!(lines(&sheet[lines_of]), total(total_of));
        }
        let trial = report("trial-balance", "as_of=2026-01-31");
        assert_eq!(trial["balanced"], true, "{trial}");
        let sides = |row: &Value| number(&row["debits"]) - number(&row["credits"]);
        let accounts = trial["accounts"].as_array().unwrap();
        assert!(accounts.len() > 5);
        assert_eq!(accounts.iter().map(sides).sum::<i64>(), 0);
        let total = &trial["totals"][0];
        assert_eq!(number(&total["debit_balances"]), sum(accounts, "debit_balance"));
        assert_eq!(number(&total["credit_balances"]), sum(accounts, "credit_balance"));
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
