use serde_json::json;

use crate::accounting::{ENTRIES, currency, entry, report};
use crate::harness::Caller;
use crate::harness::http::pointers;

/// A month or a quarter is compared with a whole one, not with its number of days.
#[test]
fn whole_months_are_compared_with_whole_months() {
    let caller = Caller::instant();
    let company = caller.company(0);
    for (from, to, period, year) in [
        ("2026-03-01", "2026-03-31", ["2026-02-01", "2026-02-28"], ["2025-03-01", "2025-03-31"]),
        ("2026-02-01", "2026-02-28", ["2026-01-01", "2026-01-31"], ["2025-02-01", "2025-02-28"]),
        ("2026-04-01", "2026-06-30", ["2026-01-01", "2026-03-31"], ["2025-04-01", "2025-06-30"]),
        ("2028-01-01", "2028-12-31", ["2027-01-01", "2027-12-31"], ["2027-01-01", "2027-12-31"]),
        ("2028-02-01", "2028-02-29", ["2028-01-01", "2028-01-31"], ["2027-02-01", "2027-02-28"]),
        ("2029-02-01", "2029-02-28", ["2029-01-01", "2029-01-31"], ["2028-02-01", "2028-02-29"]),
        ("2029-01-01", "2029-02-28", ["2028-11-01", "2028-12-31"], ["2028-01-01", "2028-02-29"]),
        // Other ranges: the same number of days before, and the same days a year earlier.
        ("2026-03-02", "2026-03-31", ["2026-01-31", "2026-03-01"], ["2025-03-02", "2025-03-31"]),
        ("2026-03-01", "2026-03-30", ["2026-01-30", "2026-02-28"], ["2025-03-01", "2025-03-30"]),
        ("2029-02-28", "2029-02-28", ["2029-02-27", "2029-02-27"], ["2028-02-28", "2028-02-28"]),
        ("2028-02-29", "2028-02-29", ["2028-02-28", "2028-02-28"], ["2027-02-28", "2027-02-28"]),
    ] {
        for (compare, expected) in [("previous_period", period), ("previous_year", year)] {
            let days = format!("from={from}&to={to}&compare={compare}");
            let report = report(&caller, "profit-and-loss", &company, &days);
            let compared = &report["comparison"];
            assert_eq!(json!([compared["from"], compared["to"]]), json!(expected), "{days}");
        }
    }
    // The figures equal those of a report for these days.
    let shown = |days: &str| report(&caller, "profit-and-loss", &company, days);
    let quarter = shown("from=2025-10-01&to=2025-12-31&compare=previous_period");
    assert_eq!(quarter["comparison"], {
        let mut before = shown("from=2025-07-01&to=2025-09-30");
        let members = before.as_object_mut().unwrap();
        members.retain(|name, _| quarter["comparison"].get(name).is_some());
        before
    });
}

/// 10^15 US cents are more thousandths of Iraqi dinars than 64 bits can hold.
#[test]
fn a_report_whose_sums_are_too_large_in_its_currency_is_refused() {
    let caller = Caller::instant();
    let company = caller.company(2);
    assert_eq!(currency(&caller, &company), "USD");
    let most = 1_000_000_000_000_000;
    let body = entry(&company, "2025-12-31", "accounts_receivable", "sales", most, "USD");
    caller.post(ENTRIES, &body).expect(201);
    let path = "/api/business/reports/";
    for days in [
        "profit-and-loss?from=2025-12-01&to=2025-12-31",
        "profit-and-loss?from=2026-01-01&to=2026-01-31&compare=previous_period",
        "balance-sheet?as_of=2025-12-31",
    ] {
        let target = format!("{path}{days}&company_id={company}");
        let problem = caller.get(&format!("{target}&currency=IQD"));
        let problem = problem.refused(422, "validation_failed");
        assert_eq!(pointers(&problem), ["/currency"]);
        assert_eq!(problem["errors"][0]["code"], "range");
        for currency in ["EUR", "USD"] {
            caller.get(&format!("{target}&currency={currency}")).expect(200);
        }
    }
    let before = format!("{path}profit-and-loss?company_id={company}&currency=IQD");
    caller.get(&format!("{before}&from=2025-11-01&to=2025-11-30")).expect(200);
}
