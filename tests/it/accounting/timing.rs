//! When an amount counts: wages in the month of the work, payments on the pay date, exchange differences at each date.

use serde_json::{Value, json};

use crate::accounting::{ENTRIES, currency, entry, of, report};
use crate::harness::Caller;
use crate::harness::world::{id, number};

fn wages(caller: &Caller, company: &str, days: &str) -> i64 {
    of(&report(caller, "profit-and-loss", company, days), "expenses", "wages")
}

fn owed(caller: &Caller, company: &str, day: &str) -> i64 {
    let sheet = report(caller, "balance-sheet", company, &format!("as_of={day}"));
    of(&sheet, "liabilities", "wages_payable")
}

const JANUARY: &str = "from=2026-01-01&to=2026-01-31";
const FEBRUARY: &str = "from=2026-02-01&to=2026-02-28";

/// Source: IAS 19, paragraph 11: wages are an expense, and a liability if unpaid, of the period in which the employees worked.
#[test]
fn wages_of_a_run_that_is_made_in_the_next_month_count_in_the_month_of_the_work() {
    let caller = Caller::manual();
    let company = caller.company(0);
    caller.advance(&json!({"to": "2026-02-03T08:00:00Z"}));
    assert_eq!(wages(&caller, &company, JANUARY), 0);
    let run = caller.run_payroll(&company, "2026-01");
    caller.advance(&json!({"by": "1h"}));
    let run = caller.run(id(&run));
    let (gross, net) = (number(&run["totals"]["gross"]), number(&run["totals"]["net"]));
    assert!(run["pay_date"].as_str().unwrap() >= "2026-02-03", "{run}");
    assert_eq!(wages(&caller, &company, JANUARY), gross);
    assert_eq!(wages(&caller, &company, FEBRUARY), 0);
    assert_eq!(owed(&caller, &company, "2026-01-31"), net);
    caller.advance(&json!({"by": "20d"}));
    assert_eq!(caller.run(id(&run))["status"], "paid");
    assert_eq!(owed(&caller, &company, "2026-01-31"), net);
    assert_eq!(owed(&caller, &company, "2026-02-28"), 0);
    caller.audit();
}

/// A run that is cancelled has no wages in any month.
#[test]
fn a_cancelled_run_leaves_no_wages_in_the_month_of_the_work() {
    let caller = Caller::manual();
    let company = caller.company(0);
    caller.advance(&json!({"to": "2026-02-03T08:00:00Z"}));
    let body = json!({"company_id": company, "period": "2026-01"});
    let request = caller.request("POST", "/v1/payroll/run").json(&body);
    let request = request.header("sandbox-scenario", "payroll_run.fund=insufficient_funds");
    let run = caller.send(&request).expect(201)["data"].take();
    caller.advance(&json!({"to": "2026-02-05T06:00:00Z"}));
    assert_eq!(caller.run(id(&run))["status"], "funding_failed");
    assert_ne!(wages(&caller, &company, JANUARY), 0);
    let path = format!("/api/business/payroll-runs/{}/cancel", id(&run));
    caller.post(&path, &json!({"reason": "Wrong month"})).expect(200);
    for days in [JANUARY, FEBRUARY] {
        assert_eq!(wages(&caller, &company, days), 0, "{days}");
    }
    assert_eq!(owed(&caller, &company, "2026-01-31"), 0);
}

/// The books of the month are closed: the wages count today.
#[test]
fn wages_of_a_closed_month_count_when_the_run_is_approved() {
    let caller = Caller::manual();
    let company = caller.company(0);
    caller.advance(&json!({"to": "2026-02-03T08:00:00Z"}));
    let body = json!({"company_id": company, "period": "2026-01"});
    caller.post("/api/business/accounting-periods", &body).expect(201);
    let run = caller.run_payroll(&company, "2026-01");
    caller.advance(&json!({"by": "1h"}));
    assert_eq!(wages(&caller, &company, JANUARY), 0);
    let gross = number(&caller.run(id(&run))["totals"]["gross"]);
    assert_eq!(wages(&caller, &company, FEBRUARY), gross);
    caller.audit();
}

/// Source: IAS 7, paragraph 6: a cash flow is money that was paid. Under the instant clock the bank answers at once, but wages are paid on the
/// pay date.
#[test]
fn the_books_show_a_run_as_paid_on_its_pay_date() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let run = caller.run_payroll(&company, "2026-01");
    let run = caller.run(id(&run));
    assert_eq!(run["status"], "paid");
    let (pay_date, net) = (run["pay_date"].as_str().unwrap(), number(&run["totals"]["net"]));
    assert!(pay_date > "2026-01-02", "{run}");
    for day in (1..=31).map(|day| format!("2026-01-{day:02}")) {
        let paid = day.as_str() >= pay_date;
        assert_eq!(owed(&caller, &company, &day), if paid { 0 } else { net }, "{day}");
        let flow = report(&caller, "cash-flow", &company, &format!("from=2026-01-01&to={day}"));
        let lines = flow["operating"]["lines"].as_array().unwrap();
        let to_employees = lines.iter().find(|line| line["activity"] == "payments_to_employees");
        let amount = to_employees.map_or(0, |line| number(&line["amount"]));
        assert_eq!(amount, if paid { -net } else { 0 }, "{day}");
    }
    caller.audit();
}

/// A company in dollars with a claim in pounds; sterling is at 1.3126 in December and 1.3329 in January, as published.
fn with_pounds(caller: &Caller) -> String {
    let company = caller.company(2);
    assert_eq!(currency(caller, &company), "USD");
    let body =
        entry(&company, "2025-12-01", "accounts_receivable", "owner_equity", 1_000_000, "GBP");
    caller.post(ENTRIES, &body).expect(201);
    company
}

/// Source: IAS 21, paragraphs 23 and 28: monetary items are translated at the closing rate, and the difference is profit or loss.
#[test]
fn rates_of_balances_in_other_currencies_change_profit_or_loss() {
    let caller = Caller::instant();
    let company = caller.company(2);
    let before = report(&caller, "balance-sheet", &company, "as_of=2026-01-01");
    let company = with_pounds(&caller);
    let days = "from=2025-12-01&to=2026-01-01";
    let profit = report(&caller, "profit-and-loss", &company, days);
    assert_eq!(of(&profit, "revenue", "exchange_gains"), 1_332_900 - 1_312_600);
    let sheet = report(&caller, "balance-sheet", &company, "as_of=2026-01-01");
    assert_eq!(sheet["translation_difference"], 0);
    let more = |name: &str| number(&sheet[name]) - number(&before[name]);
    assert_eq!(more("current_earnings"), 20_300);
    assert_eq!(
        of(&sheet, "equity", "owner_equity") - of(&before, "equity", "owner_equity"),
        1_312_600
    );
    // Ranges of days add up, and the cash basis has no such gain.
    let gain = |from: &str, to: &str| -> i64 {
        let report = report(&caller, "profit-and-loss", &company, &format!("from={from}&to={to}"));
        of(&report, "revenue", "exchange_gains") - of(&report, "expenses", "exchange_losses")
    };
    assert_eq!(gain("2025-12-01", "2025-12-15") + gain("2025-12-16", "2026-01-01"), 20_300);
    let cash = report(&caller, "profit-and-loss", &company, &format!("{days}&basis=cash"));
    assert_eq!(of(&cash, "revenue", "exchange_gains"), 0);
    // A closed year keeps its exchange gain.
    let december = gain("2025-12-01", "2025-12-31");
    let earned = number(
        &report(&caller, "profit-and-loss", &company, "from=2025-01-01&to=2025-12-31")["net_profit"],
    );
    caller
        .post("/api/business/accounting-years", &json!({"company_id": company, "year": 2025}))
        .expect(201);
    let closed = report(&caller, "balance-sheet", &company, "as_of=2026-01-01");
    let retained = |sheet: &Value| of(sheet, "equity", "retained_earnings");
    assert_eq!(retained(&closed) - retained(&sheet), earned);
    assert_eq!(number(&closed["current_earnings"]), 20_300 - december);
    assert_eq!(closed["total_equity"], sheet["total_equity"]);
    caller.audit();
}

/// Source: IAS 21, paragraphs 39 and 41: the difference of showing a report in another currency is a part of equity, not of profit.
#[test]
fn a_report_in_another_currency_has_its_difference_in_equity() {
    let caller = Caller::instant();
    let company = caller.company(2);
    let shown = |name: &str, days: &str| -> Value { report(&caller, name, &company, days) };
    let dollars = shown("balance-sheet", "as_of=2026-01-01");
    let pounds = shown("balance-sheet", "as_of=2026-01-01&currency=GBP");
    assert_eq!((&pounds["currency"], &dollars["currency"]), (&json!("GBP"), &json!("USD")));
    // Balances at the rate of the day, 1.3329.
    let total = number(&dollars["total_assets"]);
    let (shown_total, expected) = (number(&pounds["total_assets"]), total * 10_000 / 13_329);
    assert!((shown_total - expected).abs() < 20, "{shown_total} {expected}");
    let sum = |name: &str| number(&pounds[name]);
    assert_eq!(sum("total_assets"), sum("total_liabilities") + sum("total_equity"));
    let equity: i64 =
        pounds["equity"].as_array().unwrap().iter().map(|line| number(&line["amount"])).sum();
    assert_ne!(sum("translation_difference"), 0);
    assert_eq!(
        equity + sum("current_earnings") + sum("translation_difference"),
        sum("total_equity")
    );
    // Revenue is translated at the rates of its days, so it is not part of the difference.
    let year = "from=2025-01-01&to=2026-01-01&currency=GBP";
    let profit = shown("profit-and-loss", year);
    assert_eq!(number(&profit["net_profit"]), sum("current_earnings"));
    let path = format!("/api/business/reports/balance-sheet?company_id={company}&as_of=2026-01-01");
    let refused = caller.get(&format!("{path}&currency=XXX"));
    assert_eq!(refused.status, 422);
}
