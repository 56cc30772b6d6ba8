//! Wages of a pay period that is no month: they count in the months in which the employees worked.
//!
//! Source: IAS 19, paragraph 11: wages are an expense, and a liability if unpaid, of the period in which the employees worked.

use std::collections::BTreeMap;

use jiff::civil::{Date, Weekday};
use serde_json::{Value, json};

use crate::accounting::{ENTRIES, entry, of, report};
use crate::harness::Caller;
use crate::harness::world::{id, number};

const MONTHS: [(&str, &str); 4] = [
    ("2025-12", "from=2025-12-01&to=2025-12-31"),
    ("2026-01", "from=2026-01-01&to=2026-01-31"),
    ("2026-02", "from=2026-02-01&to=2026-02-28"),
    ("2026-03", "from=2026-03-01&to=2026-03-31"),
];

/// The wages, contractors' fees and employer contributions of each month.
fn expensed(caller: &Caller, company: &str) -> [[i64; 3]; 4] {
    MONTHS.map(|(_, days)| {
        let profit = report(caller, "profit-and-loss", company, days);
        ["wages", "contractors", "employer_contributions"].map(|name| of(&profit, "expenses", name))
    })
}

fn more(now: [[i64; 3]; 4], before: [[i64; 3]; 4]) -> [[i64; 3]; 4] {
    core::array::from_fn(|month| {
        core::array::from_fn(|line| now[month][line] - before[month][line])
    })
}

fn owed(caller: &Caller, company: &str, day: &str) -> i64 {
    let sheet = report(caller, "balance-sheet", company, &format!("as_of={day}"));
    of(&sheet, "liabilities", "wages_payable")
}

/// An American company, which pays biweekly, on 10 February.
fn on_10_february() -> (Caller, String) {
    let caller = Caller::manual();
    let company = caller.company(2);
    caller.advance(&json!({"to": "2026-02-10T08:00:00Z"}));
    (caller, company)
}

/// The cost of a run: wages, fees, contributions.
fn cost(run: &Value) -> [i64; 3] {
    [number(&run["totals"]["gross"]), 0, number(&run["totals"]["employer_contributions"])]
}

fn made(caller: &Caller, company: &str, month: &str, span: [&str; 2]) -> Value {
    let run = caller.run_payroll(company, month);
    caller.advance(&json!({"by": "1m"}));
    let run = caller.run(id(&run));
    let days = &run["pay_period"];
    assert_eq!((&days["start"], &days["end"]), (&json!(span[0]), &json!(span[1])));
    run
}

#[test]
fn a_fortnight_is_divided_between_its_months_by_working_days() {
    let (caller, company) = on_10_february();
    let nothing = [0; 3];
    let before = expensed(&caller, &company);
    let accrued = owed(&caller, &company, "2025-12-31");
    // Eight working days in December, two in January.
    let run = made(&caller, &company, "2026-01", ["2025-12-22", "2026-01-04"]);
    let december = cost(&run).map(|amount| amount * 8 / 10);
    let january = core::array::from_fn(|line| cost(&run)[line] - december[line]);
    let after = expensed(&caller, &company);
    assert_eq!(more(after, before), [december, january, nothing, nothing]);
    let [wages, _, contributions] = december;
    assert_eq!(owed(&caller, &company, "2025-12-31") - accrued, wages + contributions);
    made(&caller, &company, "2026-01", ["2026-01-05", "2026-01-18"]);
    // Every working day is in January, though the pay period ends on Sunday, 1 February.
    let before = expensed(&caller, &company);
    let run = made(&caller, &company, "2026-02", ["2026-01-19", "2026-02-01"]);
    let after = expensed(&caller, &company);
    assert_eq!(more(after, before), [nothing, cost(&run), nothing, nothing]);
    let run = made(&caller, &company, "2026-02", ["2026-02-02", "2026-02-15"]);
    let last = expensed(&caller, &company);
    assert_eq!(more(last, after), [nothing, nothing, cost(&run), nothing]);
    caller.advance(&json!({"by": "20d"}));
    assert_eq!(caller.run(id(&run))["status"], "paid");
    assert_eq!(owed(&caller, &company, "2026-03-02"), 0);
    assert_eq!(expensed(&caller, &company), last);
    caller.audit();
}

#[test]
fn a_reversal_in_steps_takes_back_what_each_month_has() {
    let (caller, company) = on_10_february();
    let before = expensed(&caller, &company);
    let run = made(&caller, &company, "2026-01", ["2025-12-22", "2026-01-04"]);
    let people = run["employees"].as_array().unwrap().clone();
    assert!(people.len() >= 3, "{run}");
    caller.advance(&json!({"by": "20d"}));
    assert_eq!(caller.run(id(&run))["status"], "paid");
    let reverse = |body: &Value| {
        caller.post(&format!("/api/business/payroll-runs/{}/reverse", id(&run)), body).data()
    };
    let mut reversed = cost(&run);
    for person in &people[..2] {
        let part = reverse(&json!({"reason": "Twice", "employee_ids": [person]}));
        reversed = core::array::from_fn(|line| reversed[line] + cost(&part)[line]);
        let december = reversed.map(|amount| amount * 8 / 10);
        let january = core::array::from_fn(|line| reversed[line] - december[line]);
        let [first, second, ..] = more(expensed(&caller, &company), before);
        assert_eq!([first, second], [december, january]);
    }
    reverse(&json!({"reason": "All of it"}));
    assert_eq!(expensed(&caller, &company), before);
    caller.audit();
}

#[test]
fn a_run_that_fails_or_is_cancelled_leaves_no_wages_in_any_month() {
    let (caller, company) = on_10_february();
    let before = expensed(&caller, &company);
    let body = json!({"company_id": company, "period": "2026-01"});
    for (scenario, status) in
        [("payroll_run.fund=insufficient_funds", "cancelled"), ("payout.settle=failed", "failed")]
    {
        let request = caller.request("POST", "/v1/payroll/run").json(&body);
        let request = request.header("sandbox-scenario", scenario);
        let run = caller.send(&request).expect(201)["data"].take();
        caller.advance(&json!({"by": "1m"}));
        let [december, january, ..] = more(expensed(&caller, &company), before);
        assert!(december[0] > january[0] && january[0] > 0, "{december:?} {january:?}");
        caller.advance(&json!({"by": "10d"}));
        if status == "cancelled" {
            let path = format!("/api/business/payroll-runs/{}/cancel", id(&run));
            caller.post(&path, &json!({"reason": "Wrong period"})).expect(200);
        }
        assert_eq!(caller.run(id(&run))["status"], status);
        assert_eq!(expensed(&caller, &company), before);
    }
    caller.audit();
}

/// IAS 1.27 and 19.11: pay for a part of a pay period counts in the months of its paid days. A joiner's pay counts
/// from the first day of work.
#[test]
fn pay_for_a_part_of_a_pay_period_counts_in_the_months_of_its_own_days() {
    let (caller, company) = on_10_february();
    let people = caller.payable(&company);
    let (away, whole) = (&people[0], &people[1]);
    let body = json!({
        "employee_id": away, "type": "unpaid", "start_date": "2025-12-22", "end_date": "2025-12-31",
    });
    let asked = caller.post("/api/business/leave-requests", &body).made();
    let path = format!("/api/business/leave-requests/{}/decide", id(&asked));
    caller.post(&path, &json!({"decision": "approve"})).expect(200);
    let hire = json!({
        "company_id": company, "name": "Ada Obi", "role": "Clerk", "department": "Finance",
        "start_date": "2026-01-01", "tax_id": "801234567",
        "compensation": {"amount": 400_000, "currency": "USD", "interval": "month"},
        "payment_method": {"type": "bank", "bank_code": "021000021", "account_number": "123456789"},
    });
    let joiner = caller.post("/api/business/employees", &hire).made();
    let path = format!("/api/business/employees/{}/verify-payroll", id(&joiner));
    caller.post(&path, &json!({})).expect(202);
    let path = format!("/api/business/employees/{}/activate", id(&joiner));
    caller.post(&path, &json!({})).expect(200);
    caller.advance(&json!({"by": "2d"}));
    let before = expensed(&caller, &company);
    let body = json!({
        "company_id": company, "period": "2026-01", "employees": [away, whole, id(&joiner)],
    });
    let run = caller.post("/v1/payroll/run", &body).made();
    caller.advance(&json!({"by": "1m"}));
    let run = caller.run(id(&run));
    let items = caller.all(&format!("/api/business/payroll-runs/{}/items", id(&run)));
    let of = |person: &str| items.iter().find(|item| item["employee_id"] == *person).unwrap();
    // 4,000 a month is 1,846.15 a fortnight; two of its ten working days are 369.23.
    assert_eq!(of(id(&joiner))["gross"], 36_923);
    assert_eq!(of(away)["proration"], json!({"paid_days": 2, "days": 10}));
    let december = ["gross", "employer_contributions"].map(|it| number(&of(whole)[it]) * 8 / 10);
    let [first, second, ..] = more(expensed(&caller, &company), before);
    assert_eq!([first[0], first[2]], december, "two of the three did not work in December");
    assert_eq!(first[0] + second[0], cost(&run)[0]);
    caller.advance(&json!({"by": "20d"}));
    let reverse = |people: &[&str]| {
        let body = json!({"reason": "Twice", "employee_ids": people});
        caller.post(&format!("/api/business/payroll-runs/{}/reverse", id(&run)), &body).expect(200);
    };
    reverse(&[id(&joiner)]);
    let [first, ..] = more(expensed(&caller, &company), before);
    assert_eq!([first[0], first[2]], december, "no wages of the joiner in December");
    reverse(&[away, whole]);
    assert_eq!(expensed(&caller, &company), before);
    caller.audit();
}

/// The part of a closed month counts in the first open month, and a reversal is booked there.
#[test]
fn the_part_of_a_closed_month_counts_in_the_first_open_one() {
    let (caller, company) = on_10_february();
    let periods = "/api/business/accounting-periods";
    let body = json!({"company_id": company, "period": "2025-12"});
    let closed = caller.post(periods, &body).made();
    let before = expensed(&caller, &company);
    let run = made(&caller, &company, "2026-01", ["2025-12-22", "2026-01-04"]);
    let nothing = [0; 3];
    let after = expensed(&caller, &company);
    assert_eq!(more(after, before), [nothing, cost(&run), nothing, nothing]);
    // The month was reopened in the meantime: the reversal is booked in the month of the accrual.
    let path = format!("{periods}/{}/reopen", id(&closed));
    caller.post(&path, &json!({"reason": "An invoice was missing"})).expect(200);
    caller.advance(&json!({"by": "20d"}));
    let path = format!("/api/business/payroll-runs/{}/reverse", id(&run));
    caller.post(&path, &json!({"reason": "Twice"})).expect(200);
    assert_eq!(expensed(&caller, &company), before);
    caller.audit();
}

/// The months that have working days of a pay period, from Monday to Friday.
fn working_days(span: &Value) -> BTreeMap<String, i64> {
    let day = |member: &str| -> Date { span[member].as_str().unwrap().parse().unwrap() };
    let mut months = BTreeMap::new();
    for day in day("start").series(jiff::Span::new().days(1)).take_while(|it| *it <= day("end")) {
        if !matches!(day.weekday(), Weekday::Saturday | Weekday::Sunday) {
            *months.entry(day.to_string()[..7].to_owned()).or_default() += 1;
        }
    }
    months
}

#[test]
fn the_history_has_its_wages_in_the_months_of_the_work_too() {
    let caller = Caller::manual();
    let company = caller.company(2);
    let mut expected: BTreeMap<String, i64> = BTreeMap::new();
    let runs =
        caller.all(&format!("/api/business/payroll-runs?company_id={company}&sort=created_at"));
    assert_eq!(runs.len(), 26);
    for run in &runs {
        let (days, gross) = (working_days(&run["pay_period"]), number(&run["totals"]["gross"]));
        let whole: i64 = days.values().sum();
        let mut left = gross;
        for (month, days) in &days {
            // The books begin with January.
            let month = month.as_str().max("2025-01").to_owned();
            let part = gross * days / whole;
            *expected.entry(month).or_default() += part;
            left -= part;
        }
        let last = days.keys().last().unwrap();
        *expected.get_mut(last).unwrap() += left;
    }
    for (month, gross) in expected {
        let last: Date = format!("{month}-01").parse().unwrap();
        let days = format!("from={month}-01&to={}", last.last_of_month());
        let profit = report(&caller, "profit-and-loss", &company, &days);
        assert_eq!(of(&profit, "expenses", "wages"), gross, "{month}");
    }
    // An entry of a caller does not count as an accrual of a run.
    let body = entry(&company, "2025-12-01", "wages", "owner_equity", 100, "USD");
    caller.post(ENTRIES, &body).expect(201);
    let body = json!({"reason": "Paid by mistake"});
    let before = expensed(&caller, &company);
    let run = runs.last().unwrap();
    caller.post(&format!("/api/business/payroll-runs/{}/reverse", id(run)), &body).expect(200);
    let gross = number(&run["totals"]["gross"]);
    assert_eq!(more(expensed(&caller, &company), before)[0][0], -gross);
    caller.audit();
}
