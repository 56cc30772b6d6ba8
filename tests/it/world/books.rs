//! A company's debts at the start of its world: to suppliers and to the pension provider. The resources, the ledger
//! and the reports agree.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::harness::world::{id, number};
use crate::harness::{Caller, Server};

use super::{companies, employees, printed, text};

const DAY: &str = "2025-12-31";

fn started(flags: &[&str]) -> Caller {
    let flags: Vec<&str> = ["--clock", "manual"].iter().chain(flags).copied().collect();
    Caller::of(&Arc::new(Server::start(&flags)))
}

fn of_company(caller: &Caller, path: &str, company: &str) -> Vec<Value> {
    caller.all(&format!("{path}?company_id={company}"))
}

fn balance(caller: &Caller, company: &str, code: &str) -> i64 {
    let accounts = of_company(caller, "/api/business/ledger-accounts", company);
    let found = accounts.iter().find(|account| account["code"] == code);
    number(&found.unwrap_or_else(|| panic!("no {code}"))["balance"])
}

#[test]
fn open_bills_are_the_payables_of_ledger_and_report_on_every_day() {
    let caller = started(&["--companies", "6"]);
    let mut overdue = 0;
    for company in (0..6).map(|company| caller.company(company)) {
        let bills = of_company(&caller, "/api/payments/bills", &company);
        let open: i64 = bills.iter().map(|bill| number(&bill["amount_due"])).sum();
        assert!(open > 0 && bills.len() > 90, "{} bills, {open} open", bills.len());
        assert_eq!(open, balance(&caller, &company, "accounts_payable"));
        for day in ["2025-01-01", "2025-05-31", "2025-09-30", DAY] {
            let report = caller.get(&format!(
                "/api/business/reports/aged-payables?company_id={company}&as_of={day}"
            ));
            let total = &report.data()["totals"][0];
            assert!(number(&total["outstanding"]) > 0, "{day}: {total}");
            assert_eq!(total["outstanding"], total["balance"], "{day}");
            assert_eq!(number(&total["unallocated"]), 0, "{day}");
        }
        for bill in &bills {
            let is_due = text(bill, "due_date") < "2026-01-01";
            let is_owed = number(&bill["amount_due"]) > 0;
            assert_eq!(bill["overdue"], is_due && is_owed, "{bill}");
            assert_eq!(bill["status"], if is_owed { "approved" } else { "paid" });
            overdue += i64::from(is_due && is_owed);
        }
    }
    assert!(overdue > 0, "some suppliers wait for their money");
    caller.audit();
}

#[test]
fn a_payout_to_a_supplier_pays_a_bill_and_an_open_bill_can_be_paid() {
    let caller = Caller::manual();
    let company = caller.company(0);
    let bills = of_company(&caller, "/api/payments/bills", &company);
    let payouts =
        caller.all(&format!("/api/payments/payouts?company_id={company}&source_type=bill"));
    assert_eq!(payouts.len(), 96);
    for payout in &payouts {
        let bill = bills.iter().find(|bill| bill["id"] == payout["source"]["id"]);
        let bill = bill.unwrap_or_else(|| panic!("no bill of {payout}"));
        assert_eq!((&bill["total"], &bill["status"]), (&payout["amount"], &"paid".into()));
        assert_eq!(bill["vendor"]["name"], payout["recipient"]["name"]);
        assert!(text(bill, "issued_on") < &text(payout, "created_at")[..10]);
    }
    let open = bills.iter().find(|bill| bill["status"] == "approved").unwrap();
    let wallet = of_company(&caller, "/api/payments/wallets", &company).remove(0);
    let before = balance(&caller, &company, "accounts_payable");
    let path = format!("/api/payments/bills/{}", id(open));
    let paid = caller.post(&format!("{path}/pay"), &json!({"wallet_id": wallet["id"]}));
    assert_eq!(paid.expect(200)["data"]["status"], "paid");
    let after = balance(&caller, &company, "accounts_payable");
    assert_eq!(before - after, number(&open["total"]));
    let other = bills.iter().rfind(|bill| bill["status"] == "approved").unwrap();
    let due = text(other, "due_date").to_owned();
    caller.advance(&json!({"to": format!("{due}T23:00:00Z")}));
    let path = format!("/api/payments/bills/{}", id(other));
    assert_eq!(caller.get(&path).data()["overdue"], false);
    caller.advance(&json!({"by": "1h"}));
    assert_eq!(caller.get(&path).data()["overdue"], true, "the due date has passed");
    caller.audit();
}

/// Value Added Tax Act 1994, section 25: the tax on purchases is deducted from the tax on sales.
#[test]
fn a_return_of_tax_on_sales_deducts_the_tax_on_bills() {
    let caller = Caller::manual();
    for company in (0..3).map(|company| caller.company(company)) {
        let tax = |path: &str, member: &str| -> i64 {
            of_company(&caller, path, &company).iter().map(|it| number(&it[member])).sum()
        };
        let sold = tax("/api/payments/invoices", "tax_total");
        let bills = of_company(&caller, "/api/payments/bills", &company);
        let of_history = bills.iter().filter(|bill| text(bill, "issued_on") >= "2025-01-01");
        let bought: i64 = of_history.map(|bill| number(&bill["tax_recoverable"])).sum();
        let filings = of_company(&caller, "/api/business/tax-filings", &company);
        let vat = filings.iter().filter(|filing| filing["tax_type"] == "vat");
        let declared: i64 = vat.map(|filing| number(&filing["amount"])).sum();
        assert_eq!(declared, sold - bought);
        assert_eq!(balance(&caller, &company, "vat_recoverable"), 0);
    }
}

/// The tax that a company deducts on a new bill of 10,000.00 with that expense.
fn deducted(caller: &Caller, company: &Value, account: &str, day: &str) -> (i64, i64) {
    let body = json!({
        "company_id": company["id"], "vendor": {"name": "Northern Supplies"},
        "currency": company["currency"], "issued_on": day, "due_date": "2026-02-28",
        "lines": [{
            "description": "Supplies", "quantity": 1, "unit_amount": 1_000_000,
            "account": account,
        }],
    });
    let bill = caller.post("/api/payments/bills", &body).expect(201)["data"].take();
    (number(&bill["tax_recoverable"]), number(&bill["tax_total"]))
}

/// Value Added Tax Act (Nigeria), section 17: tax on services and overheads is not deducted. Nigeria Tax Act 2025: it is since 1 January 2026.
#[test]
fn nigerian_companies_deduct_tax_on_services_since_2026() {
    let caller = started(&["--companies", "10", "--countries", "NG"]);
    let mut on_goods = 0;
    for company in caller.all("/api/business/companies") {
        for bill in of_company(&caller, "/api/payments/bills", id(&company)) {
            if number(&bill["tax_recoverable"]) == 0 {
                continue;
            }
            on_goods += 1;
            let line = &bill["lines"][0];
            assert_eq!(line["account"], "purchases");
            let services = ["Courier services", "Subcontractors", "Software licences", "Freight"];
            let what = text(line, "description");
            assert!(!services.iter().any(|it| what.starts_with(it)), "{bill}");
        }
        let is_exempt = ["healthcare", "education"].iter().any(|it| company["industry"] == **it);
        let (part, tax) = deducted(&caller, &company, "purchases", "2025-12-31");
        assert_eq!(part < tax, is_exempt, "{company}");
        assert_eq!(deducted(&caller, &company, "professional_fees", "2025-12-31").0, 0);
        // Medical services and tuition are zero-rated since then: section 187.
        for account in ["purchases", "professional_fees"] {
            let (part, tax) = deducted(&caller, &company, account, "2026-01-01");
            assert_eq!(part, tax, "{company}");
        }
    }
    assert!(on_goods > 50, "{on_goods}");
}

/// Value Added Tax Act 2013 (Kenya), section 17(6), and Value-Added Tax Act 89 of 1991 (ZA), section 17(1): the tax on purchases of a company with taxable
/// and exempt sales is parted by turnover. Bills of the history and new ones have one rule.
#[test]
fn companies_with_exempt_sales_deduct_a_part_of_the_tax_on_all_bills() {
    let caller = started(&["--companies", "24", "--countries", "NG,GB,KE,ZA"]);
    let mut mixed = BTreeSet::new();
    for company in caller.all("/api/business/companies") {
        let (country, industry) = (text(&company, "country"), text(&company, "industry"));
        let is_exempt = match industry {
            "healthcare" => ["GB", "KE"].contains(&country),
            "education" => ["KE", "ZA"].contains(&country),
            _ => false,
        };
        if country == "NG" {
            continue;
        }
        let invoices = of_company(&caller, "/api/payments/invoices", id(&company));
        let sum = |wanted: fn(&&Value) -> bool| -> i64 {
            invoices.iter().filter(wanted).map(|it| number(&it["net_total"])).sum()
        };
        let (all, taxed) = (sum(|_| true), sum(|it| number(&it["tax_total"]) > 0));
        // Nothing that these two industries sell is zero-rated.
        let share = if is_exempt { taxed * 10_000 / all } else { 10_000 };
        if is_exempt {
            mixed.insert(country.to_owned());
        }
        for bill in of_company(&caller, "/api/payments/bills", id(&company)) {
            let (tax, part) = (number(&bill["tax_total"]), number(&bill["tax_recoverable"]));
            assert!((tax * share - part * 10_000).abs() <= 5_000, "{share}: {bill}");
        }
        let (part, tax) = deducted(&caller, &company, "purchases", "2026-01-01");
        assert!((tax * share - part * 10_000).abs() <= 5_000, "{share}: {part} of {tax}");
    }
    assert!(mixed.contains("KE") && mixed.contains("ZA"), "{mixed:?}");
    // A company without a history sells what its industry sells.
    for (industry, part) in [("healthcare", 26_656), ("software", 160_000)] {
        let body = json!({
            "legal_name": "Savanna Clinic Ltd", "country": "KE", "currency": "KES",
            "industry": industry,
        });
        let company = caller.post("/api/business/companies", &body).expect(201)["data"].take();
        let found = deducted(&caller, &company, "purchases", "2026-01-01");
        assert_eq!(found, (part, 160_000), "{industry}");
    }
    caller.audit();
}

/// Value Added Tax Act 2013 (Kenya), section 17(5): tax on purchases beyond the tax on sales is carried to the next return.
#[test]
fn kenyan_returns_carry_what_exceeds_the_tax_on_sales() {
    let caller = started(&["--companies", "20", "--countries", "KE"]);
    let mut carried = 0;
    for company in (0..20).map(|company| caller.company(company)) {
        let filings = of_company(&caller, "/api/business/tax-filings", &company);
        let mut credit = 0;
        for filing in filings.iter().filter(|filing| filing["tax_type"] == "vat") {
            let amount = number(&filing["amount"]);
            let used = if amount > 0 { amount.min(credit) } else { 0 };
            if filing["status"] != "filed" {
                let owed = balance(&caller, &company, "tax_payable:vat");
                assert_eq!(owed, amount - credit, "{filing}");
                // The return that is open at the start uses it, too.
                let path = format!("/api/business/tax-filings/{}/submit", id(filing));
                let sent = caller.post(&path, &json!({"declaration": "Ada Obi"})).expect(202);
                assert_eq!(sent["data"]["credit_used"], used);
                assert_eq!(sent["data"]["amount_paid"], (amount - credit).max(0));
                continue;
            }
            assert_eq!(number(&filing["credit_used"]), used, "{filing}");
            assert_eq!(number(&filing["amount_paid"]), amount.max(0) - used, "{filing}");
            credit += -amount + number(&filing["amount_paid"]);
            carried += i64::from(amount < 0);
        }
        assert!(credit >= 0);
    }
    assert!(carried > 3, "{carried}");
    caller.audit();
}

/// IFRS 9, appendix B: the carrying amount of a loan is the amount lent less repayments. Interest is an expense of
/// its month.
#[test]
fn companies_with_many_fixed_assets_repay_bank_loans() {
    let world = printed(&["--companies", "30"]);
    let mut borrowers = 0;
    for company in companies(&world) {
        let entries = company["journal_entries"].as_array().unwrap();
        let sum = |account: &str, memo: &str| -> i64 {
            let of = entries.iter().filter(|entry| memo.is_empty() || entry["memo"] == memo);
            let lines = of.flat_map(|entry| entry["lines"].as_array().unwrap());
            let lines = lines.filter(|line| line["account"] == account);
            let sign = |line: &Value| if line["direction"] == "debit" { 1 } else { -1 };
            lines.map(|line| sign(line) * number(&line["amount"])).sum()
        };
        let opening = -sum("loans_payable", "Opening balance");
        if opening == 0 {
            assert_eq!(sum("interest", ""), 0);
            continue;
        }
        borrowers += 1;
        let owed = -sum("loans_payable", "");
        assert!(0 < owed && owed < opening, "{owed} of {opening}");
        assert!(opening <= sum("fixed_assets", "") * 2 / 5, "{opening}");
        assert_eq!(sum("interest_payable", ""), 0, "the interest of each month is paid");
        // 11 % a year of a balance that falls: `fixtures/lending.toml`.
        let interest = sum("interest", "");
        assert!(interest * 100 < opening * 11 && interest * 100 > owed * 10, "{interest}");
        let paid = entries.iter().filter(|entry| entry["memo"] == "Loan repaid");
        assert_eq!(paid.count(), 12);
    }
    assert!((5..25).contains(&borrowers), "{borrowers} of 30");
}

/// Excise Tax Act (CA), subsection 165(2): 13 % in Ontario, where the Canadian companies are. Food is zero-rated.
#[test]
fn companies_of_ontario_sell_with_the_harmonised_tax() {
    let world = printed(&["--companies", "6", "--countries", "CA"]);
    assert!(companies(&world).iter().all(|company| company["address"]["region"] == "ON"));
    let caller = started(&["--countries", "CA", "--companies", "6"]);
    for kind in ["invoices", "bills"] {
        let lines = caller.all(&format!("/api/payments/{kind}"));
        let rates: BTreeSet<i64> =
            lines.iter().map(|it| number(&it["lines"][0]["tax_rate"])).collect();
        assert_eq!(rates, [0, 1_300].into(), "{kind}");
    }
    let new = json!({
        "company_id": caller.company(0), "currency": "CAD", "due_date": "2026-02-01",
        "customer": {"name": "Ada Obi", "email": "ada@example.com"},
        "lines": [{"description": "Advice", "quantity": 1, "unit_amount": 10_000}],
    });
    let invoice = caller.post("/api/payments/invoices", &new).expect(201);
    assert_eq!(number(&invoice["data"]["tax_total"]), 1_300);
}

/// Pensions Act 2008, sections 3, 13 and 20: 5 % of the qualifying earnings of each pay, 520 to 4,189 a month, and 3 % of the employer.
#[test]
fn british_employees_are_in_a_workplace_pension() {
    let caller = Caller::manual();
    let company = caller.company(1);
    let (mut members, mut others) = (0, 0);
    for payslip in of_company(&caller, "/api/business/payslips", &company) {
        let of = |list: &str| -> Option<i64> {
            let lines = payslip[list].as_array().unwrap();
            lines.iter().find(|line| line["id"] == "pension").map(|line| number(&line["amount"]))
        };
        let Some(own) = of("deductions") else {
            others += 1;
            continue;
        };
        members += 1;
        let counted = number(&payslip["gross"]).clamp(52_000, 418_900) - 52_000;
        let part = |percent: i64| (counted * percent * 2 + 100) / 200;
        assert_eq!(own, part(5), "{payslip}");
        assert_eq!(of("employer_contributions"), Some(part(3)), "{payslip}");
        let sum = |list: &str| -> i64 {
            payslip[list].as_array().unwrap().iter().map(|line| number(&line["amount"])).sum()
        };
        let kept = sum("taxes") + sum("contributions") + sum("deductions");
        assert_eq!(number(&payslip["net"]), number(&payslip["gross"]) - kept);
    }
    assert!(members > others * 3 && others > 0, "{members} members, {others} others");
    // The contributions of December are paid in January.
    let runs = of_company(&caller, "/api/business/payroll-runs", &company);
    let december = runs.iter().find(|run| run["period"] == "2025-12").unwrap();
    let items = caller.all(&format!("/api/business/payslips?payroll_run_id={}", id(december)));
    let part = |item: &Value, list: &str| -> i64 {
        let lines = item[list].as_array().unwrap();
        lines.iter().filter(|it| it["id"] == "pension").map(|it| number(&it["amount"])).sum()
    };
    let owed = items.iter().map(|it| part(it, "deductions") + part(it, "employer_contributions"));
    let owed: i64 = owed.sum();
    assert_eq!(balance(&caller, &company, "deductions_payable"), owed);
    let funding = &december["funding"];
    let cost = number(&december["totals"]["employer_cost"]);
    assert_eq!(number(&funding["reserved"]), cost - owed);
    caller.audit();
}

/// The next run of a British company takes the same contributions as the history.
#[test]
fn a_run_after_the_start_takes_the_pension_too() {
    let caller = Caller::manual();
    let company = caller.company(1);
    let taken = |run: &Value| number(&run["totals"]["deductions"]);
    let runs = of_company(&caller, "/api/business/payroll-runs", &company);
    let december = runs.iter().find(|run| run["period"] == "2025-12").unwrap();
    let body = json!({"company_id": company, "period": "2026-01"});
    let run = caller.post("/api/business/payroll-runs", &body).made();
    let path = format!("/api/business/payroll-runs/{}", id(&run));
    caller.post(&format!("{path}/calculate"), &json!({})).expect(202);
    caller.advance(&json!({"by": "1h"}));
    let (now, before) = (taken(&caller.get(&path).data()), taken(december));
    assert!(before > 0 && now * 10 > before * 6 && now * 10 <= before * 12, "{now} {before}");
}

#[test]
fn wages_are_in_the_accounts_on_the_pay_date() {
    let caller = Caller::manual();
    for payslip in caller.all("/api/business/payslips").iter().step_by(7) {
        assert_eq!(text(payslip, "pay_date"), &text(payslip, "created_at")[..10]);
    }
}

#[test]
fn people_joined_in_every_recent_year_and_companies_differ() {
    let world = printed(&["--companies", "60"]);
    let mut of_2025 = BTreeSet::new();
    for company in companies(&world) {
        let people = company["employees"].as_array().unwrap();
        let of = |year: &str| {
            people.iter().filter(|it| text(it, "start_date").starts_with(year)).count()
        };
        of_2025.insert(of("2025"));
    }
    assert!(of_2025.len() >= 5, "{of_2025:?}");
    for year in 2015..=2026 {
        let of_year = |it: &&Value| text(it, "start_date").starts_with(&year.to_string());
        let joined = employees(&world).filter(of_year).count();
        assert!(joined > 20, "{year}: {joined}");
    }
}
