//! Issue 14, section 2: grown US companies pay biweekly, the others monthly.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::civil::{Date, Weekday};
use sandbox::model::payroll::{PayInput, PayPeriod, YearToDate, library};
use serde_json::{Value, json};

use crate::harness::world::{id, number};
use crate::harness::{Caller, Server};

use super::text;

const SCHEDULES: &str = "/api/business/pay-schedules";
const RUNS: &str = "/api/business/payroll-runs";
const PAYSLIPS: &str = "/api/business/payslips";

/// The places of the companies that pay biweekly, in a world with the six countries in turn.
const AMERICAN: [usize; 2] = [2, 8];

fn world(flags: &[&str]) -> Caller {
    let all = ["--clock", "manual", "--companies", "9"].iter().chain(flags).copied();
    Caller::of(&Arc::new(Server::start(&all.collect::<Vec<_>>())))
}

fn day(value: &Value) -> Date {
    value.as_str().unwrap().parse().unwrap()
}

fn runs(caller: &Caller, company: &str) -> Vec<Value> {
    caller.all(&format!("{RUNS}?company_id={company}&sort=created_at"))
}

fn payslips(caller: &Caller, filter: &str) -> Vec<Value> {
    caller.all(&format!("{PAYSLIPS}?{filter}&sort=created_at"))
}

#[test]
fn companies_of_the_united_states_have_a_biweekly_schedule_and_others_none() {
    let caller = world(&[]);
    let all = caller.all(SCHEDULES);
    assert_eq!(all.len(), AMERICAN.len());
    for (schedule, place) in all.iter().zip(AMERICAN) {
        let company =
            caller.get(&format!("/api/business/companies/{}", text(schedule, "company_id")));
        let company = company.data();
        assert_eq!((id(&company), &company["country"]), (&*caller.company(place), &json!("US")));
        assert_eq!(
            (&schedule["frequency"], &schedule["status"]),
            (&json!("biweekly"), &json!("active"))
        );
        assert_eq!(caller.get(&format!("{SCHEDULES}/{}", id(schedule))).data(), *schedule);
        let own = caller.all(&format!("{SCHEDULES}?company_id={}", id(&company)));
        assert_eq!(own, std::slice::from_ref(schedule));
        assert_eq!(
            caller.all(&format!("{SCHEDULES}?frequency=weekly&company_id={}", id(&company))).len(),
            0
        );
    }
    assert_eq!(caller.all(&format!("{SCHEDULES}?company_id={}", caller.company(0))).len(), 0);
    // The same id in another world of the seed, with fewer companies.
    let other = Caller::manual().all(SCHEDULES);
    assert_eq!(other[..], all[..1]);
}

/// The pay dates are those of the schedule; 2025 has 26, three of them in October.
#[test]
fn a_year_has_26_pay_periods_without_gaps() {
    let caller = world(&[]);
    for place in AMERICAN {
        let company = caller.company(place);
        let schedule = caller.all(&format!("{SCHEDULES}?company_id={company}")).remove(0);
        let path = format!("{SCHEDULES}/{}/periods", id(&schedule));
        let first = text(&schedule, "first_day");
        let periods = caller.get(&format!("{path}?from={first}&limit=27")).data()["periods"].take();
        let periods = periods.as_array().unwrap();
        let runs = runs(&caller, &company);
        assert_eq!(runs.len(), 26);
        let mut next = day(&schedule["first_day"]);
        let mut months: BTreeMap<String, u32> = BTreeMap::new();
        for (run, period) in runs.iter().zip(periods) {
            let span = &run["pay_period"];
            assert_eq!(
                (day(&span["start"]), day(&span["start"]).weekday()),
                (next, Weekday::Monday)
            );
            next = day(&span["end"]).tomorrow().unwrap();
            for member in ["start", "end", "frequency"] {
                assert_eq!(span[member], period[member]);
            }
            assert_eq!(
                (&run["period"], &run["pay_date"]),
                (&period["period"], &period["pay_date"])
            );
            assert_eq!(run["status"], "paid");
            assert_eq!(run["period"], text(span, "end")[..7]);
            *months.entry(text(run, "pay_date")[..7].to_owned()).or_default() += 1;
        }
        assert_eq!(months.len(), 12);
        assert_eq!(months["2025-10"], 3, "Fridays the 3rd, 17th and 31st");
        assert!(months.values().all(|count| (2..=3).contains(count)));
        assert_eq!(runs[25]["pay_date"], "2025-12-26");
        assert_eq!(periods[26]["pay_date"], "2026-01-09", "the first pay date after the start");
    }
    for place in [0, 1, 3, 4, 5, 6] {
        let runs = runs(&caller, &caller.company(place));
        assert_eq!(runs.len(), 12);
        assert!(runs.iter().all(|run| run.get("pay_period").is_none_or(Value::is_null)));
    }
}

/// 5 USC 6103: 4 July 2025 and 25 December 2026 are Fridays.
#[test]
fn pay_dates_on_a_holiday_move_to_the_business_day_before() {
    for (start, before) in [("2026-07-01", "2025-07-03"), ("2027-01-01", "2026-12-24")] {
        let caller = world(&["--start", &format!("{start}T00:00:00Z")]);
        let company = caller.company(2);
        let dates: Vec<Value> =
            runs(&caller, &company).iter().map(|run| run["pay_date"].clone()).collect();
        assert_eq!(dates.len(), 26);
        let near = |date: &&Value| date.as_str().unwrap().starts_with(&before[..9]);
        println!("{start}: {:?}", dates.iter().filter(near).collect::<Vec<_>>());
        let holidays = ["2025-07-04", "2025-12-25", "2026-06-19", "2026-12-25"];
        assert!(dates.iter().all(|date| !holidays.contains(&date.as_str().unwrap())), "{dates:?}");
        caller.audit();
    }
}

/// IRS Publication 15-T, percentage method with 26 pay periods; 26 USC 3101: 6.2 % and 1.45 %.
#[test]
fn payslips_of_the_history_are_those_of_26_pay_periods() {
    let caller = world(&[]);
    let company = caller.company(2);
    for run in [0, 7, 25].map(|place| runs(&caller, &company).remove(place)) {
        let paid = payslips(&caller, &format!("payroll_run_id={}", id(&run)));
        assert_eq!(paid.len(), usize::try_from(number(&run["employee_count"])).unwrap());
        let total: i64 = paid.iter().map(|it| number(&it["gross"])).sum();
        assert_eq!(total, number(&run["totals"]["gross"]));
        for payslip in &paid {
            assert_eq!(payslip["pay_period"], run["pay_period"]);
            assert_eq!(payslip["pay_date"], run["pay_date"]);
            let (gross, to_date) = (number(&payslip["gross"]), number(&payslip["ytd"]["gross"]));
            let earnings = payslip["earnings"].as_array().unwrap();
            if earnings.len() > 1 || to_date > 17_610_000 {
                continue; // a bonus, or beyond the contribution base
            }
            let day = day(&payslip["pay_date"]);
            let pack = library().in_force("US", day).pack;
            let attributes = payslip["tax_attributes"].as_object().unwrap().iter();
            let attributes =
                attributes.map(|(name, value)| (name.as_str(), value.as_str().unwrap()));
            let profile = pack.profile(attributes).unwrap();
            let basic = pack.component("basic");
            let pay = pack.evaluate(&PayInput {
                period: PayPeriod::Biweekly,
                number: pack.period_number(PayPeriod::Biweekly, day),
                attributes: profile.attributes,
                inputs: &profile.inputs,
                on: None,
                earnings: &[(basic, gross)],
                ytd: &YearToDate::start(),
            });
            let line = |of: &str, name: &str| {
                let lines = payslip[of].as_array().unwrap().iter();
                lines
                    .filter(|line| line["id"] == name)
                    .map(|line| number(&line["amount"]))
                    .sum::<i64>()
            };
            assert_eq!(line("taxes", "federal_income_tax"), pay.unwrap().tax, "{payslip}");
            let percent = |ten_thousandths: i64| (gross * ten_thousandths + 5_000) / 10_000;
            assert_eq!(line("contributions", "social_security"), percent(620), "{payslip}");
            assert_eq!(line("contributions", "medicare"), percent(145), "{payslip}");
        }
    }
}

#[test]
fn a_year_of_fortnights_is_the_annual_salary() {
    let caller = world(&[]);
    let company = caller.company(2);
    let mut whole_years = 0;
    for person in caller.payable(&company) {
        let person = caller.get(&format!("/api/business/employees/{person}")).data();
        let paid = payslips(&caller, &format!("employee_id={}", id(&person)));
        let mut gross = 0;
        for payslip in &paid {
            let earnings = payslip["earnings"].as_array().unwrap().iter();
            let basic: i64 =
                earnings.filter(|it| it["id"] == "basic").map(|it| number(&it["amount"])).sum();
            let mut terms = person["compensation_history"].as_array().into_iter().flatten();
            let end = text(&payslip["pay_period"], "end");
            let begun = terms.rfind(|terms| text(terms, "effective_from") <= end);
            let month = number(&begun.unwrap_or(&person["compensation"])["amount"]);
            assert_eq!(basic, (month * 12 * 2 + 26) / 52, "{payslip}");
            gross += number(&payslip["gross"]);
        }
        if text(&person, "start_date") < "2025" {
            whole_years += 1;
            assert_eq!(paid.len(), 26);
            assert_eq!(number(&paid[25]["ytd"]["gross"]), gross);
        } else if let Some(first) = paid.first() {
            let days = first["pay_period"]["start"].as_str()..=first["pay_period"]["end"].as_str();
            assert!(days.contains(&person["start_date"].as_str()), "{person}");
        }
    }
    assert!(whole_years > 10, "{whole_years}");
}

/// The published call pays one pay period at a time.
#[test]
fn two_pay_periods_end_in_january_and_a_third_run_is_refused() {
    let caller = world(&[]);
    let company = caller.company(2);
    let body = |month| json!({"company_id": company, "period": month});
    for month in ["2025-12", "2025-10"] {
        caller.post("/v1/payroll/run", &body(month)).refused(409, "payroll_period_already_run");
    }
    let expected =
        [("2025-12-22", "2026-01-04", "2026-01-09"), ("2026-01-05", "2026-01-18", "2026-01-23")];
    for (start, end, pay_date) in expected {
        let run = caller.run_payroll(&company, "2026-01");
        let days = json!({"start": start, "end": end, "frequency": "biweekly"});
        assert_eq!((&run["pay_period"], &run["pay_date"]), (&days, &json!(pay_date)));
    }
    caller.post("/v1/payroll/run", &body("2026-01")).refused(409, "payroll_period_already_run");
    caller.advance(&json!({"to": "2026-02-01T00:00:00Z"}));
    let made: Vec<Value> = runs(&caller, &company).split_off(26);
    assert!(made.iter().all(|run| run["status"] == "paid"), "{made:?}");
    for person in caller.payable(&company) {
        let paid = payslips(&caller, &format!("employee_id={person}"));
        let new: Vec<&Value> = paid.iter().filter(|it| text(it, "pay_date") >= "2026").collect();
        let gross: i64 = new.iter().map(|it| number(&it["gross"])).sum();
        assert_eq!(new.len(), 2);
        assert_eq!(number(&new[1]["ytd"]["gross"]), gross, "the tax year begins on 1 January");
    }
    caller.audit();
}

/// 26 CFR 31.6011(a)-1: the returns of the quarters declare the amounts withheld on the pay dates of the quarter.
#[test]
fn returns_of_the_history_declare_the_pay_dates_of_their_months() {
    let caller = world(&[]);
    for place in AMERICAN {
        let company = caller.company(place);
        let entries = caller.all(&format!("/api/business/journal-entries?company_id={company}"));
        let filings = caller.all(&format!("/api/business/tax-filings?company_id={company}"));
        let declared: i64 = filings.iter().map(|it| number(&it["amount"])).sum();
        let lines = entries.iter().filter(|entry| entry["memo"] != "Filing paid");
        let lines = lines.flat_map(|entry| entry["lines"].as_array().unwrap());
        let owed: i64 = lines
            .filter(|line| text(line, "account").starts_with("tax_payable:"))
            .map(|line| number(&line["amount"]) * if line["direction"] == "debit" { -1 } else { 1 })
            .sum();
        assert_eq!(declared, owed);
        let document = |form: &str, period: &str| {
            let path =
                format!("/api/business/tax-documents/{form}?company_id={company}&period={period}");
            caller.get(&path).data()
        };
        let total = |form: &str, period: &str, name: &str| {
            let boxes = document(form, period)["boxes"].take();
            let found = boxes.as_array().unwrap().iter().find(|it| it["box"] == *name).cloned();
            number(&found.unwrap()["amount"])
        };
        let quarters = ["2025-Q1", "2025-Q2", "2025-Q3", "2025-Q4"];
        let on_941 = quarters.map(|quarter| total("941", quarter, "6")).iter().sum::<i64>();
        let of = |form: &str| -> i64 {
            let of_form = filings.iter().filter(|it| it["form"] == *form);
            of_form.map(|it| number(&it["amount"])).sum()
        };
        assert_eq!(on_941, of("941"));
        assert_eq!(total("940", "2025", "12"), of("940"));
    }
}

/// 26 CFR 31.6011(a)-1 and 31.6302-1: wages are declared and deposited for the month in which they are paid. The pay period until 29 March 2026 is
/// paid on 3 April.
#[test]
fn returns_since_the_start_declare_the_pay_dates_of_their_months() {
    let caller = world(&[]);
    let company = caller.company(2);
    let mut paid: BTreeMap<String, i64> = BTreeMap::new();
    for (month, days) in [("2026-01", 2), ("2026-02", 2), ("2026-03", 3)] {
        for _ in 0..days {
            let run = caller.run_payroll(&company, month);
            *paid.entry(text(&run, "pay_date")[..7].to_owned()).or_default() += 1;
        }
    }
    assert_eq!(paid.values().copied().collect::<Vec<_>>(), [2, 2, 2, 1]);
    caller.advance(&json!({"to": "2026-04-06T00:00:00Z"}));
    for (month, due_on) in [("2026-03", "2026-04-15"), ("2026-04", "2026-05-15")] {
        let liabilities = "/api/business/tax-liabilities?authority=IRS&form=941";
        let owed = caller.all(&format!("{liabilities}&company_id={company}&period={month}"));
        assert_eq!(owed.len(), usize::try_from(paid[month]).unwrap(), "{month}");
        let body = json!({
            "company_id": company, "tax_type": "IRS", "form": "941", "period": month,
            "jurisdiction": "US",
        });
        let filing = caller.post("/api/business/tax-filings", &body).expect(201)["data"].take();
        assert_eq!(filing["status"], "pending", "the money of each run is reserved");
        assert_eq!(filing["due_on"], due_on);
        let sum: i64 = owed.iter().map(|it| number(&it["amount"])).sum();
        assert_eq!(number(&filing["amount"]), sum);
    }
    caller.audit();
}

#[test]
fn a_biweekly_company_has_paid_in_time() {
    let caller = world(&[]);
    let scores = "/api/capital/credit-scores";
    for place in AMERICAN {
        let body = json!({"company_id": caller.company(place)});
        let made = caller.post(scores, &body).expect(202)["data"].take();
        caller.advance(&json!({"by": "1h"}));
        let score = caller.get(&format!("{scores}/{}", id(&made))).data();
        let factors = score["factors"].as_array().unwrap();
        for factor in factors.iter().filter(|it| text(it, "name").ends_with("_late")) {
            assert_eq!(number(&factor["value"]), 0, "{factor}");
        }
    }
}

/// Rows of several companies and frequencies, page by page.
#[test]
fn lists_of_all_companies_are_in_the_order_of_creation() {
    let caller = world(&[]);
    let paths = [RUNS, PAYSLIPS, "/api/payments/payouts", "/api/business/tax-filings", SCHEDULES];
    for path in paths {
        let rows = caller.all(&format!("{path}?sort=created_at"));
        let created: Vec<&str> = rows.iter().map(|row| text(row, "created_at")).collect();
        assert!(created.is_sorted(), "{path}");
        let ids: BTreeSet<&str> = rows.iter().map(id).collect();
        assert_eq!(ids.len(), rows.len(), "{path}");
        for row in rows.iter().step_by(97) {
            assert_eq!(caller.get(&format!("{path}/{}", id(row))).data()["id"], row["id"]);
        }
        for place in [2, 3] {
            let company = caller.company(place);
            let own = if path == PAYSLIPS {
                let people = caller.all(&format!("/api/business/employees?company_id={company}"));
                let of = |person: &Value| payslips(&caller, &format!("employee_id={}", id(person)));
                people.iter().flat_map(of).collect()
            } else {
                caller.all(&format!("{path}?company_id={company}"))
            };
            let of_company = rows.iter().filter(|row| row["company_id"] == company);
            assert_eq!(own.len(), of_company.count(), "{path}");
        }
    }
    for (month, ends) in [("2025-08", 3), ("2025-10", 2)] {
        let of_month = caller.all(&format!("{RUNS}?period={month}"));
        assert_eq!(of_month.len(), 7 + AMERICAN.len() * ends, "{month}");
    }
}

#[test]
fn a_grown_schedule_can_be_replaced() {
    let caller = world(&[]);
    let company = caller.company(2);
    let grown = caller.all(&format!("{SCHEDULES}?company_id={company}")).remove(0);
    let monthly = |first: &str| json!({"company_id": company, "frequency": "monthly", "first_day": first, "pay_days_after": 0});
    let refused = caller.post(SCHEDULES, &monthly("2025-12-01"));
    refused.refused(422, "validation_failed");
    caller.post(SCHEDULES, &monthly("2026-02-01")).made();
    let ended = caller.get(&format!("{SCHEDULES}/{}", id(&grown))).data();
    assert_eq!((&ended["status"], &ended["last_day"]), (&json!("ended"), &json!("2026-01-18")));
    let all = caller.all(&format!("{SCHEDULES}?company_id={company}"));
    assert_eq!((all.len(), &all[0]), (2, &ended));
    let ends: Vec<Value> = (0..3)
        .map(|_| caller.run_payroll(&company, "2026-01")["pay_period"]["end"].take())
        .collect();
    assert_eq!(ends, ["2026-01-04", "2026-01-18", "2026-01-31"]);
    let february = caller.run_payroll(&company, "2026-02");
    assert!(february.get("pay_period").is_none_or(Value::is_null), "{february}");
}
