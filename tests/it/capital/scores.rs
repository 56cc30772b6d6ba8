//! Calls that change a credit score, and calls that do not.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{SCORES, factor, newcomer, score, sell};
use crate::harness::contract::product;
use crate::harness::world::{id, number};
use crate::harness::{Caller, Server};

/// The path of an operation.
fn path_of(operation: &str) -> String {
    let paths = product()["paths"].as_object().unwrap();
    let found = paths.iter().find_map(|(path, methods)| {
        let rows = methods.as_object().unwrap();
        let row = rows.values().find(|row| row["operationId"] == operation)?;
        row.is_object().then(|| path.clone())
    });
    found.unwrap_or_else(|| panic!("there is no operation {operation}"))
}

/// Calls the operation in a factor's evidence.
fn follow(caller: &Caller, evidence: &Value) {
    let mut path = path_of(evidence["operation"].as_str().unwrap());
    let mut query = Vec::new();
    for (name, value) in evidence["params"].as_object().unwrap() {
        let value = value.as_str().unwrap();
        let part = format!("{{{name}}}");
        if path.contains(&part) {
            path = path.replace(&part, value);
        } else {
            query.push(format!("{name}={value}"));
        }
    }
    let answer = caller.get(&format!("{path}?{}", query.join("&")));
    answer.expect(200);
}

#[test]
fn factors_sum_to_the_score_and_every_evidence_can_be_called() {
    let caller = Caller::instant();
    for number_of_company in 0..3 {
        let score = score(&caller, &caller.company(number_of_company));
        assert_eq!(score["status"], "completed");
        let factors = score["factors"].as_array().unwrap();
        let sum: i64 = factors.iter().map(|factor| number(&factor["points"])).sum();
        assert_eq!(sum, number(&score["score"]));
        assert!((300..=850).contains(&sum), "{sum}");
        assert_eq!(factors[0]["name"], "base");
        for factor in &factors[1..] {
            assert!(number(&factor["points"]) <= number(&factor["max_points"]));
            for evidence in factor["evidence"].as_array().unwrap() {
                follow(&caller, evidence);
            }
        }
    }
}

#[test]
fn a_company_without_history_gets_no_number() {
    let caller = Caller::instant();
    let company = newcomer(&caller);
    let none = score(&caller, &company);
    assert_eq!(
        (&none["status"], &none["score"], &none["failure"]["code"]),
        (&json!("failed"), &Value::Null, &json!("insufficient_data"))
    );
    assert_eq!(none["factors"], json!([]));
    // A month after its first sale there is enough history.
    sell(&caller, &company, 5_000_000).expect(200);
    assert_eq!(score(&caller, &company)["status"], "failed");
    caller.advance(&json!({"by": "29d"}));
    assert_eq!(score(&caller, &company)["status"], "failed");
    caller.advance(&json!({"by": "1d"}));
    let some = score(&caller, &company);
    assert_eq!(some["status"], "completed", "{some}");
    let names: Vec<Value> = caller.events().iter().map(|e| e["type"].clone()).collect();
    assert!(names.contains(&json!("credit_score.failed")));
    assert!(names.contains(&json!("credit_score.completed")));
}

#[test]
fn a_score_takes_five_seconds_of_the_clock() {
    let caller = Caller::manual();
    let body = json!({"company_id": caller.company(0), "purpose": "a loan", "consent_id": "c-1"});
    let made = caller.post(SCORES, &body).expect(202)["data"].take();
    assert_eq!((&made["status"], &made["score"]), (&json!("processing"), &Value::Null));
    assert_eq!(caller.advance(&json!({"by": "5s"})), ["credit_score.completed"]);
    let done = caller.get(&format!("{SCORES}/{}", id(&made))).data();
    assert_eq!(
        (&done["status"], &done["purpose"], &done["consent_id"]),
        (&json!("completed"), &json!("a loan"), &json!("c-1"))
    );
}

/// Runs a payroll whose funding fails at first, and returns the run.
fn run_without_money(caller: &Caller, company: &str, period: &str) -> String {
    let request = caller
        .request("POST", "/v1/payroll/run")
        .header("Sandbox-Scenario", "payroll_run.fund=insufficient_funds");
    let body = json!({"company_id": company, "period": period});
    let run = caller.send(&request.json(&body)).expect(201)["data"].take();
    id(&run).to_owned()
}

#[test]
fn paying_payroll_late_never_raises_the_score() {
    for number_of_company in 0..3 {
        let (prompt, tardy) = (Caller::instant(), Caller::instant());
        let company = prompt.company(number_of_company);
        prompt.run_payroll(&company, "2026-01");
        let run = run_without_money(&tardy, &company, "2026-01");
        let both = |day: &str| {
            for caller in [&prompt, &tardy] {
                caller.advance(&json!({"to": format!("{day}T12:00:00Z")}));
            }
            let scores = [&prompt, &tardy].map(|caller| score(caller, &company));
            let [one, other] = scores.each_ref().map(|score| number(&score["score"]));
            assert!(other <= one, "{day}: {other} paid late, {one} in time");
            scores
        };
        both("2026-01-20");
        both("2026-01-31");
        let retry = format!("/api/business/payroll-runs/{run}/retry-funding");
        tardy.advance(&json!({"to": "2026-02-05T12:00:00Z"}));
        tardy.post(&retry, &json!({})).expect(200);
        assert_eq!(tardy.run(&run)["status"], "paid");
        let [one, other] = both("2026-02-20");
        assert_eq!(factor(&other, "payroll_late").0, factor(&one, "payroll_late").0 + 1);
        assert!(number(&other["score"]) < number(&one["score"]));
        both("2026-03-31");
    }
}

#[test]
fn a_payroll_that_is_run_after_its_month_was_late() {
    let caller = Caller::instant();
    let company = caller.company(0);
    caller.advance(&json!({"to": "2026-02-10T12:00:00Z"}));
    let missed = score(&caller, &company);
    caller.run_payroll(&company, "2026-01");
    caller.advance(&json!({"to": "2026-02-20T12:00:00Z"}));
    let paid = score(&caller, &company);
    for name in ["payroll_late", "payroll_paid"] {
        assert_eq!(factor(&paid, name), factor(&missed, name), "{name}");
    }
    assert_eq!(factor(&paid, "payroll_late"), (1, 25));
}

#[test]
fn wages_that_are_due_and_not_booked_count_as_if_they_were() {
    let (prompt, tardy) = (Caller::instant(), Caller::instant());
    let company = prompt.company(0);
    prompt.run_payroll(&company, "2026-01");
    for caller in [&prompt, &tardy] {
        caller.advance(&json!({"to": "2026-01-27T12:00:00Z"}));
    }
    let scores = [&prompt, &tardy].map(|caller| score(caller, &company));
    for name in ["revenue_level", "revenue_trend", "profitability"] {
        let [one, other] = scores.each_ref().map(|score| factor(score, name).0);
        // An unknown month counts as much as the most expensive month, that of the bonus.
        assert!((one - 20..=one).contains(&other), "{name}: {one} and {other}");
    }
}

#[test]
fn another_pay_day_makes_no_payroll_of_the_past_late() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let path = format!("/api/business/companies/{company}");
    for day in [1, 5, 28] {
        let body = json!({"payroll_settings": {"pay_day": day}});
        caller.patch(&path, &body).expect(200);
        assert_eq!(factor(&score(&caller, &company), "payroll_late"), (0, 50), "{day}");
    }
}

#[test]
fn a_month_without_payroll_is_missed() {
    let caller = Caller::instant();
    let company = caller.company(0);
    assert_eq!(factor(&score(&caller, &company), "payroll_late"), (0, 50));
    caller.advance(&json!({"to": "2026-02-10T12:00:00Z"}));
    let missed = score(&caller, &company);
    assert_eq!(factor(&missed, "payroll_late"), (1, 25));
    let factors = missed["factors"].as_array().unwrap();
    let late = factors.iter().find(|it| it["name"] == "payroll_late");
    assert_eq!(late.unwrap()["evidence"][0]["resources"], json!(["2026-01"]));
}

/// A history ends before the month of the start. No call could pay amounts that were due between the two.
#[test]
fn a_pay_day_before_the_start_is_not_late() {
    let flags = ["--seed", "6", "--countries", "US", "--companies", "6"];
    let start = ["--start", "2024-01-25T00:00:00Z"];
    let caller = Caller::of(&Arc::new(Server::start(&[&flags[..], &start[..]].concat())));
    for company in 0..6 {
        let company = caller.company(company);
        assert_eq!(factor(&score(&caller, &company), "payroll_late").0, 0, "{company}");
    }
    // What is due after the start can be late.
    caller.advance(&json!({"to": "2024-02-10T12:00:00Z"}));
    let late = score(&caller, &caller.company(0));
    let factors = late["factors"].as_array().unwrap();
    let late = factors.iter().find(|it| it["name"] == "payroll_late").unwrap();
    let periods = json!(["2024-01-01 to 2024-01-14", "2024-01-15 to 2024-01-28"]);
    assert_eq!(late["evidence"][0]["resources"], periods);
}

#[test]
fn more_revenue_never_lowers_the_score() {
    let caller = Caller::instant();
    for number_of_company in 0..3 {
        let company = caller.company(number_of_company);
        let mut before = number(&score(&caller, &company)["score"]);
        for zeros in 0..13 {
            sell(&caller, &company, 3 * 10_i64.pow(zeros)).expect(200);
            let after = number(&score(&caller, &company)["score"]);
            assert!(after >= before, "{zeros}: {before} fell to {after}");
            before = after;
        }
    }
}

#[test]
fn more_revenue_in_the_past_never_lowers_the_score() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let mut before = number(&score(&caller, &company)["score"]);
    for day in ["2025-12-30", "2025-11-02", "2025-08-01", "2025-03-03", "2025-01-20"] {
        for amount in [1, 10_000_000_000_i64, 400_000_000_000] {
            let line = |account, direction| json!({"account": account, "direction": direction, "amount": amount, "currency": "NGN"});
            let lines = [line("accounts_receivable", "debit"), line("sales", "credit")];
            let body = json!({"company_id": company, "effective_on": day, "memo": "Found", "lines": lines});
            caller.post("/api/business/journal-entries", &body).expect(201);
            let after = number(&score(&caller, &company)["score"]);
            assert!(after >= before, "{day} {amount}: {before} fell to {after}");
            before = after;
        }
    }
}

#[test]
fn an_invoice_with_sales_tax_never_lowers_the_score() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let before = score(&caller, &company);
    let line = |account, direction, amount: i64| json!({"account": account, "direction": direction, "amount": amount, "currency": "NGN"});
    let lines = [
        line("accounts_receivable", "debit", 107_500_000_000),
        line("sales", "credit", 100_000_000_000),
        line("tax_payable:vat", "credit", 7_500_000_000),
    ];
    let body = json!({"company_id": company, "effective_on": "2026-01-01", "memo": "Sold", "lines": lines});
    caller.post("/api/business/journal-entries", &body).expect(201);
    let after = score(&caller, &company);
    assert!(number(&after["score"]) >= number(&before["score"]));
    assert_eq!(factor(&after, "cash_buffer"), factor(&before, "cash_buffer"));
}

#[test]
fn calls_without_credit_relevance_do_not_change_the_score() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let before = score(&caller, &company);
    let people = caller.all(&format!("/api/business/employees?company_id={company}"));
    let person = format!("/api/business/employees/{}", id(&people[0]));
    let body = json!({"name": "Ada Renamed", "metadata": {"seen": "yes"}});
    caller.patch(&person, &body).expect(200);
    let path = format!("/api/business/companies/{company}");
    caller.patch(&path, &json!({"metadata": {"a": "b"}})).expect(200);
    score(&caller, &caller.company(1));
    assert_eq!(score(&caller, &company)["factors"], before["factors"]);
}

#[test]
fn taxes_that_are_late_cost_points_until_a_year_is_over() {
    let (prompt, tardy) = (Caller::instant(), Caller::instant());
    let company = prompt.company(0);
    for caller in [&prompt, &tardy] {
        super::file_pending(caller, &company);
        caller.run_payroll(&company, "2026-01");
        caller.advance(&json!({"to": "2026-02-01T12:00:00Z"}));
    }
    let path = format!("/api/business/tax-liabilities?company_id={company}");
    for owed in prompt.all(&path) {
        let body = json!({"company_id": company, "tax_type": owed["authority"], "period": "2026-01", "jurisdiction": "NG"});
        let filing = prompt.post("/api/business/tax-filings", &body).expect(201);
        let path = format!("/api/business/tax-filings/{}/submit", id(&filing["data"]));
        prompt.post(&path, &json!({"declaration": "Ada"})).expect(202);
    }
    for caller in [&prompt, &tardy] {
        caller.advance(&json!({"to": "2026-02-25T12:00:00Z"}));
    }
    let (one, other) = (score(&prompt, &company), score(&tardy, &company));
    let late = prompt.all(&format!("{path}&status=late"));
    assert_eq!(late.len(), 0);
    let late = tardy.all(&format!("{path}&status=late")).len();
    let late = i64::try_from(late).unwrap();
    assert!(late > 0);
    assert_eq!(factor(&other, "tax_late").0, factor(&one, "tax_late").0 + late);
    assert!(factor(&one, "tax_filed").0 > factor(&other, "tax_filed").0);
    assert!(number(&other["score"]) < number(&one["score"]));
}

#[test]
fn a_return_that_is_amended_is_neither_overdue_nor_lost() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let before = score(&caller, &company);
    let path = format!("/api/business/tax-filings?company_id={company}&status=filed");
    let filed = caller.all(&path).remove(0);
    let body = json!({"reason": "A slip"});
    let path = format!("/api/business/tax-filings/{}/amend", id(&filed));
    caller.post(&path, &body).expect(201);
    assert_eq!(score(&caller, &company)["factors"], before["factors"]);
    let asked = super::decided(&caller, &company, 100_000, "by_score");
    assert_eq!(asked["status"], "approved", "{asked}");
}

#[test]
fn a_subject_of_a_company_scores_its_company() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let body =
        json!({"type": "business", "legal_name": "A Ltd", "country": "NG", "company_id": company});
    let subject = caller.post("/api/identity/subjects", &body).expect(201);
    let made = caller.post(SCORES, &json!({"subject_id": subject["data"]["id"]}));
    let made = made.expect(202)["data"].take();
    assert_eq!(made["company_id"], json!(company));
    assert_eq!(made["subject_id"], subject["data"]["id"]);
    let by_subject = caller.get(&format!("{SCORES}/{}", id(&made))).data();
    assert_eq!(by_subject["score"], score(&caller, &company)["score"]);
}

/// The evidence of a factor is a call that shows its value, so exchange gains and losses count as they do there.
#[test]
fn profitability_is_that_of_the_report_with_exchange_gains() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let amount = 2_000_000_000_000_i64;
    let money = json!({"company_id": company, "amount": amount, "from": "owner"});
    caller.post("/_sandbox/inbound/bank_transfer", &money);
    let currency =
        caller.get(&format!("/api/business/companies/{company}")).data()["currency"].clone();
    let wallets = caller.all(&format!("/api/payments/wallets?company_id={company}"));
    let wallet = wallets.iter().find(|wallet| wallet["currency"] == currency).unwrap();
    let quote = json!({
        "company_id": company, "source_currency": currency, "target_currency": "USD", "source_amount": amount,
    });
    let quote = caller.post("/api/payments/fx-quotes", &quote).expect(201)["data"].take();
    let transfer = json!({"quote_id": id(&quote), "source_wallet_id": id(wallet)});
    caller.post("/api/payments/fx-transfers", &transfer).expect(201);
    caller.advance(&json!({"by": "20d"}));
    let score = score(&caller, &company);
    let factors = score["factors"].as_array().unwrap();
    let profitability = factors.iter().find(|factor| factor["name"] == "profitability").unwrap();
    let params = &profitability["evidence"][0]["params"];
    let days = ["from", "to"].map(|day| params[day].as_str().unwrap());
    let path = format!(
        "/api/business/reports/profit-and-loss?company_id={company}&from={}&to={}",
        days[0], days[1]
    );
    let report = caller.get(&path).data();
    let exchange = ["revenue", "expenses"].map(|side| report[side].to_string());
    assert!(exchange.iter().any(|lines| lines.contains("exchange_")), "{report}");
    let (profit, sales) = (number(&report["net_profit"]), number(&report["total_revenue"]));
    assert_eq!(profitability["value"], (profit * 100).div_euclid(sales));
}
