use crate::accounting::{ENTRIES, currency, entry, report};
use crate::harness::Caller;
use crate::harness::http::pointers;

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
