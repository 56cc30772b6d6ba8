//! A credit score, calculated again from the API and the formula's file alone, as `docs/capital.md` does by
//! hand.

use serde_json::Value;

use super::{factor, score};
use crate::harness::Caller;
use crate::harness::world::number;

/// The points of a value and the reason: the last bin that it reaches.
fn points(card: &toml::Table, name: &str, value: i64) -> (i64, String) {
    let factors = card["factor"].as_array().unwrap();
    let found = factors.iter().find(|it| it["name"].as_str() == Some(name)).unwrap();
    let bins = found["bins"].as_array().unwrap();
    let reached = bins
        .iter()
        .rev()
        .find(|bin| bin.get("from").is_none_or(|from| value >= from.as_integer().unwrap()));
    let bin = reached.unwrap();
    let reason = bin["reason"].as_str().unwrap().to_owned();
    (bin["points"].as_integer().unwrap(), reason)
}

/// An account's amount among the lines of a report.
fn line(report: &Value, side: &str, account: &str) -> i64 {
    let lines = report[side].as_array().unwrap();
    let found = lines.iter().find(|line| line["account"] == account);
    found.map_or(0, |line| number(&line["amount"]))
}

/// The values of every factor, from reports and lists; in the formula's order.
fn measured(caller: &Caller, company: &str) -> Vec<(&'static str, i64)> {
    let profit = |from: &str| {
        let path = format!(
            "/api/business/reports/profit-and-loss?company_id={company}&from={from}&to=2026-01-01"
        );
        caller.get(&path).data()
    };
    let (year, quarter) = (profit("2025-01-02"), profit("2025-10-04"));
    let payroll = |report: &Value| {
        line(report, "expenses", "wages") + line(report, "expenses", "employer_contributions")
    };
    let sales = |report: &Value| number(&report["total_revenue"]);
    let path = format!("/api/business/reports/balance-sheet?company_id={company}&as_of=2026-01-01");
    let sheet = caller.get(&path).data();
    let owed = sheet["liabilities"].as_array().unwrap().iter().filter(|line| {
        let account = line["account"].as_str().unwrap();
        matches!(
            account,
            "wages_payable" | "contractors_payable" | "pension_payable" | "deductions_payable"
        ) || (account.starts_with("tax_payable:") && account != "tax_payable:vat")
    });
    let owed: i64 = owed.map(|line| number(&line["amount"])).sum();
    let free = number(&sheet["cash"]) - owed;
    let count = |path: &str, keep: &dyn Fn(&Value) -> bool| {
        let rows = caller.all(&format!("/api/{path}company_id={company}"));
        i64::try_from(rows.iter().filter(|row| keep(row)).count()).unwrap()
    };
    let paid =
        count("business/payroll-runs?", &|run| run["type"] == "regular" && run["status"] == "paid");
    let filed = count("business/tax-filings?", &|filing| {
        filing["status"] == "filed"
            && filing["late"] == false
            && filing["due_on"].as_str().is_some_and(|day| day >= "2025-01-02")
    });
    let late = count("business/tax-liabilities?status=late&", &|_| true);
    let debt = line(&sheet, "liabilities", "loans_payable");
    // The first revenue or expense of the first company is on the first business day with an invoice.
    let entries = caller.all(&format!(
        "/api/business/journal-entries?company_id={company}&from=2025-01-01&to=2025-02-28"
    ));
    let first = entries.iter().find(|entry| {
        let lines = entry["lines"].as_array().unwrap();
        lines.iter().any(|line| line["account"] == "sales" || line["account"] == "wages")
    });
    let first: jiff::civil::Date =
        first.unwrap()["effective_on"].as_str().unwrap().parse().unwrap();
    let days = jiff::civil::date(2026, 1, 1).since(first).unwrap().get_days();
    let months = i64::from(days) / 30;
    let buffer = i128::from(free) * 10 * i128::from(months.min(12)) / i128::from(payroll(&year));
    vec![
        ("revenue_level", sales(&year) * 100 / payroll(&year)),
        ("revenue_trend", sales(&quarter) * 100 / payroll(&quarter)),
        ("profitability", number(&year["net_profit"]) * 100 / sales(&year)),
        ("cash_buffer", i64::try_from(buffer).unwrap()),
        ("payroll_paid", paid),
        ("payroll_late", 0),
        ("tax_filed", filed),
        ("tax_late", late),
        ("chargebacks", line(&year, "expenses", "chargeback_losses")),
        ("debt", debt),
        ("repayment_late", 0),
        ("loans_repaid", 0),
        ("age", months),
    ]
}

#[test]
fn a_score_can_be_calculated_from_the_api_and_the_formula_alone() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| std::fs::read_to_string(root.join(path)).unwrap();
    let card: toml::Table = read("fixtures/credit_score.toml").parse().unwrap();
    let docs = read("docs/capital.md");
    let caller = Caller::instant();
    let company = caller.company(0);
    let score = score(&caller, &company);
    let mut sum = card["base"].as_integer().unwrap();
    for (name, value) in measured(&caller, &company) {
        let (points, reason) = points(&card, name, value);
        assert_eq!(factor(&score, name), (value, points), "{name}");
        let row = format!("| `{name}` | {value} | {reason} | {points} |");
        assert!(docs.contains(&row), "docs/capital.md lacks: {row}");
        sum += points;
    }
    assert_eq!(number(&score["score"]), sum);
    let said = format!("The sum is {sum}: `{}`", score["band"].as_str().unwrap());
    assert!(docs.contains(&said), "docs/capital.md lacks: {said}");
}
