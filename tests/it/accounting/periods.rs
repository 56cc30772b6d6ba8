use serde_json::{Value, json};

use crate::accounting::{ENTRIES, currency, entry, of, report};
use crate::harness::Caller;
use crate::harness::http::pointers;
use crate::harness::world::{id, number};

const PERIODS: &str = "/api/business/accounting-periods";
const YEARS: &str = "/api/business/accounting-years";

fn close_month(caller: &Caller, company: &str, month: &str) -> Value {
    let body = json!({"company_id": company, "period": month});
    caller.post(PERIODS, &body).expect(201)["data"].clone()
}

fn close_year(caller: &Caller, company: &str, year: i64) -> Value {
    let body = json!({"company_id": company, "year": year});
    caller.post(YEARS, &body).expect(201)["data"].clone()
}

fn reopen(caller: &Caller, period: &Value) -> Value {
    let path = format!("{PERIODS}/{}/reopen", id(period));
    caller.post(&path, &json!({"reason": "An invoice was missing"})).data()
}

fn fingerprint(caller: &Caller) -> Value {
    caller.get("/_sandbox/fingerprint").data()
}

fn rent(caller: &Caller, company: &str, day: &str) -> Value {
    entry(company, day, "rent", "refunds_payable", 777, &currency(caller, company))
}

/// Source: `GoBD` (Federal Ministry of Finance of Germany, 28 November 2019), paragraphs 107 to 112: records of a closed period do not
/// change.
#[test]
fn a_closed_month_refuses_entries_and_changes_nothing() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let posted =
        caller.post(ENTRIES, &rent(&caller, &company, "2025-11-30")).expect(201)["data"].clone();
    let month = close_month(&caller, &company, "2025-12");
    assert_eq!((&month["first_day"], &month["type"]), (&json!("2025-12-01"), &json!("month")));
    let before = fingerprint(&caller);
    for day in ["2025-12-01", "2025-12-31"] {
        let refused = caller.post(ENTRIES, &rent(&caller, &company, day));
        let problem = refused.refused(409, "accounting_period_closed");
        assert_eq!(problem["resource_id"], month["id"]);
    }
    let reverse = format!("{ENTRIES}/{}/reverse", id(&posted));
    let body = json!({"reason": "Posted twice", "effective_on": "2025-12-15"});
    caller.post(&reverse, &body).refused(409, "accounting_period_closed");
    let again = json!({"company_id": company, "period": "2025-12"});
    caller.post(PERIODS, &again).refused(409, "accounting_period_closed");
    assert_eq!(fingerprint(&caller), before);
    // Other days and other companies are open.
    for day in ["2025-11-30", "2026-01-01"] {
        caller.post(ENTRIES, &rent(&caller, &company, day)).expect(201);
    }
    let other = caller.company(1);
    caller.post(ENTRIES, &rent(&caller, &other, "2025-12-31")).expect(201);
    // An open month takes entries again, and can be closed again: it is the same resource.
    assert_eq!(reopen(&caller, &month)["status"], "open");
    caller.post(ENTRIES, &rent(&caller, &company, "2025-12-31")).expect(201);
    assert_eq!(close_month(&caller, &company, "2025-12")["id"], month["id"]);
    let listed = caller.all(&format!("{PERIODS}?company_id={company}&type=month&status=closed"));
    assert_eq!(listed.len(), 1);
    caller.audit();
}

#[test]
fn only_ended_periods_of_the_books_are_closed() {
    let caller = Caller::instant(); // 1 January 2026, with books since January 2025
    let company = caller.company(0);
    let before = fingerprint(&caller);
    for month in ["2026-01", "2026-02", "2024-12"] {
        let refused = caller.post(PERIODS, &json!({"company_id": company, "period": month}));
        assert_eq!(pointers(&refused.refused(422, "validation_failed")), ["/period"], "{month}");
    }
    for year in [2026, 2027, 2024, 0, 3000] {
        let refused = caller.post(YEARS, &json!({"company_id": company, "year": year}));
        assert_eq!(pointers(&refused.refused(422, "validation_failed")), ["/year"], "{year}");
    }
    let refused =
        caller.post(PERIODS, &json!({"company_id": company, "period": "2025-11", "x": 1}));
    assert_eq!(pointers(&refused.refused(422, "validation_failed")), ["/x"]);
    let missing = json!({"company_id": "com_0000000000000", "period": "2025-11"});
    caller.post(PERIODS, &missing).refused(404, "resource_not_found");
    assert_eq!(fingerprint(&caller), before);
}

/// The clock posts on the current day, whose month cannot be closed.
#[test]
fn the_clock_posts_after_every_ended_month_is_closed() {
    let caller = Caller::manual();
    let company = caller.company(0);
    caller.run_payroll(&company, "2026-01");
    for month in 1..=12 {
        close_month(&caller, &company, &format!("2025-{month:02}"));
    }
    caller.advance(&json!({"to": "2026-02-10T00:00:00Z"}));
    close_month(&caller, &company, "2026-01");
    caller.advance(&json!({"by": "30d"}));
    let runs =
        caller.all(&format!("/api/business/payroll-runs?company_id={company}&period=2026-01"));
    assert_eq!(runs[0]["status"], "paid");
    caller.audit();
}

/// Source: IAS 1, paragraph 106 (d): profit or loss is a change of retained earnings. IAS 1, paragraph 54 (r).
#[test]
fn a_closed_year_moves_its_result_to_retained_earnings_and_reports_agree() {
    let caller = Caller::instant();
    let company = caller.company(2);
    assert_eq!(currency(&caller, &company), "USD");
    let sale = |day: &str, amount: i64, currency: &str| {
        let body = entry(&company, day, "accounts_receivable", "sales", amount, currency);
        caller.post(ENTRIES, &body).expect(201);
    };
    sale("2025-06-30", 1_000_000, "GBP");
    sale("2025-12-31", 500, "USD");
    sale("2026-01-01", 900, "USD");
    let year = "from=2025-01-01&to=2025-12-31";
    let sheet = |day: &str| report(&caller, "balance-sheet", &company, &format!("as_of={day}"));
    let profit = || report(&caller, "profit-and-loss", &company, year);
    let days = ["2025-06-30", "2025-12-30", "2025-12-31", "2026-01-01"];
    let before: Vec<Value> = days.iter().map(|day| sheet(day)).collect();
    let (profit_before, result) = (profit(), number(&profit()["net_profit"]));
    let closed = close_year(&caller, &company, 2025);
    let ids = closed["closing_entry_ids"].as_array().expect("ids").clone();
    let entries = caller.all(&format!("{ENTRIES}?company_id={company}&source_id={}", id(&closed)));
    assert_eq!(entries.iter().map(|entry| entry["id"].clone()).collect::<Vec<_>>(), ids);
    assert_eq!(entries.len(), 2, "one for each currency");
    assert!(entries.iter().all(|entry| entry["effective_on"] == "2025-12-31"));
    // Profit and loss shows the year, and assets, liabilities and equity are unchanged.
    assert_eq!(profit(), profit_before);
    for (day, before) in days.iter().zip(&before) {
        let after = sheet(day);
        for name in ["total_assets", "total_liabilities", "total_equity", "translation_difference"]
        {
            assert_eq!(after[name], before[name], "{day} {name}");
        }
        let kept = if *day >= "2025-12-31" { result } else { 0 };
        let more = |name: &str| number(&after[name]) - number(&before[name]);
        assert_eq!(more("current_earnings"), -kept, "{day}");
        let retained = |sheet: &Value| of(sheet, "equity", "retained_earnings");
        assert_eq!(retained(&after) - retained(before), kept, "{day}");
    }
    // The accounts of the year have no balance at its end.
    let trial = report(&caller, "trial-balance", &company, "as_of=2025-12-31");
    for row in trial["accounts"].as_array().expect("accounts") {
        let is_result = ["sales", "wages", "rent", "purchases", "fees", "employer_contributions"];
        if is_result.contains(&row["account"].as_str().expect("a code")) {
            assert_eq!(row["debits"], row["credits"], "{row}");
        }
    }
    caller.audit();
    // A closed year refuses entries and a second closing; reopening reverses the entries.
    let late = entry(&company, "2025-03-31", "rent", "refunds_payable", 1, "USD");
    caller.post(ENTRIES, &late).refused(409, "accounting_period_closed");
    let again = json!({"company_id": company, "year": 2025});
    caller.post(YEARS, &again).refused(409, "accounting_period_closed");
    let month = json!({"company_id": company, "period": "2025-05"});
    caller.post(PERIODS, &month).refused(409, "accounting_period_closed");
    assert_eq!(reopen(&caller, &closed)["closing_entry_ids"], json!([]));
    let events = caller.events();
    let reversed = events.iter().find(|event| event["type"] == "journal_entry.reversed");
    let data = &reversed.expect("the closing entry is reversed")["data"];
    assert_eq!(data["object"]["id"], closed["closing_entry_ids"][0]);
    assert_eq!(
        (&data["object"]["status"], &data["previous"]["status"]),
        (&json!("reversed"), &json!("posted"))
    );
    for (day, before) in days.iter().zip(&before) {
        assert_eq!(&sheet(day), before, "{day}");
    }
    assert_eq!(profit(), profit_before);
    caller.post(ENTRIES, &late).expect(201);
    let closed = close_year(&caller, &company, 2025);
    let kept = of(&sheet("2025-12-31"), "equity", "retained_earnings");
    assert_eq!(kept - of(&before[2], "equity", "retained_earnings"), result - 1);
    assert_eq!(closed["status"], "closed");
    caller.audit();
}

#[test]
fn years_are_closed_in_order_and_reopened_in_the_opposite_order() {
    let caller = Caller::manual();
    let company = caller.company(0);
    caller.advance(&json!({"to": "2027-01-02T00:00:00Z"}));
    let refused = caller.post(YEARS, &json!({"company_id": company, "year": 2026}));
    assert_eq!(pointers(&refused.refused(422, "validation_failed")), ["/year"]);
    let month = close_month(&caller, &company, "2026-05");
    let first = caller.post(YEARS, &json!({"company_id": company, "year": 2025}));
    let path = format!("{PERIODS}/{}", id(&first.made()));
    assert_eq!(first.header("location"), Some(&*path));
    let first = caller.get(&path).data();
    let second = close_year(&caller, &company, 2026);
    let body = json!({"reason": "A mistake"});
    for earlier in [&first, &month] {
        let path = format!("{PERIODS}/{}/reopen", id(earlier));
        caller.post(&path, &body).refused(409, "accounting_period_closed");
    }
    reopen(&caller, &second);
    reopen(&caller, &month);
    reopen(&caller, &first);
    caller.audit();
}

/// The balances of a closed month begin with the result of the year before it.
#[test]
fn a_year_before_a_closed_month_is_reopened_after_the_month() {
    let caller = Caller::manual();
    let company = caller.company(0);
    caller.advance(&json!({"to": "2026-03-02T00:00:00Z"}));
    let inside = close_month(&caller, &company, "2025-12");
    let year = close_year(&caller, &company, 2025);
    let [first, last] = ["2026-01", "2026-02"].map(|it| close_month(&caller, &company, it));
    let sheet = || report(&caller, "balance-sheet", &company, "as_of=2026-02-28");
    let before = sheet();
    let body = json!({"reason": "A mistake"});
    let path = format!("{PERIODS}/{}/reopen", id(&year));
    for (month, day) in [(&last, "2026-02-28"), (&first, "2026-01-31")] {
        let problem = caller.post(&path, &body).refused(409, "accounting_period_closed");
        assert_eq!(problem["resource_id"], month["id"]);
        assert!(problem["detail"].as_str().unwrap().contains(day), "{problem}");
        assert_eq!(sheet(), before);
        reopen(&caller, month);
    }
    // A month within the year stays closed.
    reopen(&caller, &year);
    assert_eq!(caller.get(&format!("{PERIODS}/{}", id(&inside))).data()["status"], "closed");
    caller.audit();
}
