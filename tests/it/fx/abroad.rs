//! Employees who work in another country: taxed by its law, paid in its currency, booked in the company's.

use serde_json::{Value, json};

use crate::harness::Caller;
use crate::harness::world::{id, number};

use super::{code, company, nets, reports_close, violations};

/// A payable employee of the Nigerian company who works in Great Britain.
fn abroad(caller: &Caller, company: &str, account: &str) -> String {
    let body = json!({"company_id": company, "name": "Ada Obi", "role": "Engineer", "department": "Engineering",
        "country": "GB", "start_date": "2026-01-01", "tax_id": "QQ123456C",
        "compensation": {"amount": 300_000, "currency": "GBP", "interval": "month"},
        "payment_method": {"type": "bank", "bank_code": "200000", "account_number": account}});
    let employee = caller.post("/api/business/employees", &body).expect(201)["data"].take();
    assert_eq!(employee["country"], "GB");
    let path = format!("/api/business/employees/{}", id(&employee));
    caller.post(&format!("{path}/activate"), &json!({})).expect(200);
    caller.post(&format!("{path}/verify-payroll"), &json!({})).expect(202);
    caller.advance(&json!({"by": "1m"}));
    let employee = caller.get(&path).data();
    assert_eq!(employee["payroll_status"], "verified", "{employee}");
    id(&employee).to_owned()
}

fn run_of(caller: &Caller, company: &str, people: &[String]) -> Value {
    let body = json!({"company_id": company, "period": "2026-01", "employees": people});
    let run = caller.post("/v1/payroll/run", &body).expect(201)["data"].take();
    caller.advance(&json!({"by": "1h"}));
    caller.run(id(&run))
}

fn item(caller: &Caller, run: &Value, person: &str) -> Value {
    let items = caller.all(&format!("/api/business/payroll-runs/{}/items", id(run)));
    items.into_iter().find(|item| item["employee_id"] == person).unwrap()
}

/// The changes of all balances between two readings, without zero changes.
fn moved(before: &super::Nets, after: &super::Nets) -> Vec<(String, String, i64)> {
    let mut keys: Vec<_> = before.keys().chain(after.keys()).collect();
    keys.sort();
    keys.dedup();
    let of = |nets: &super::Nets, key| nets.get(key).copied().unwrap_or(0);
    let changed = keys
        .into_iter()
        .map(|key| (key.0.clone(), key.1.clone(), of(after, key) - of(before, key)));
    changed.filter(|(_, _, net)| *net != 0).collect()
}

fn of(moved: &[(String, String, i64)], currency: &str, account: &str) -> i64 {
    let found = moved.iter().find(|(c, a, _)| c == currency && a == account);
    found.map_or(0, |(_, _, net)| *net)
}

#[test]
fn an_employee_abroad_is_taxed_there_and_paid_in_the_local_currency() {
    let caller = Caller::manual();
    let company = company(&caller);
    let ada = abroad(&caller, &company, "55779911");
    let opening = nets(&caller, &company);
    let mut people = caller.payable(&company);
    people.truncate(1);
    people.push(ada.clone());
    let run = run_of(&caller, &company, &people);
    let (own, hers) = (item(&caller, &run, &people[0]), item(&caller, &run, &ada));
    assert_eq!((&own["currency"], &own["fx"]), (&json!("NGN"), &Value::Null));
    assert_eq!((&hers["currency"], &run["currency"]), (&json!("GBP"), &json!("NGN")));
    // 3,000.00 a month. January 2026 is in the tax year 2025-26: code 1257L and category A.
    assert_eq!(hers["gross"], 300_000);
    let fx = &hers["fx"];
    assert_eq!((&fx["target_amount"], &fx["source_currency"]), (&hers["net"], &json!("NGN")));
    let value = number(&fx["source_amount"]) - number(&fx["fee_amount"]);
    assert!(number(&fx["fee_amount"]) > 0);
    assert_eq!(number(&run["totals"]["net"]), number(&own["net"]) + value);
    let totals = |member: &str| number(&run["totals"][member]);
    assert_eq!(totals("gross"), totals("net") + totals("taxes") + totals("employee_contributions"));
    // Accrued: her pay is payable in pounds.
    let accrued = moved(&opening, &nets(&caller, &company));
    assert_eq!(of(&accrued, "GBP", "wages_payable"), -number(&hers["net"]));
    assert_eq!(of(&accrued, "GBP", "world:fx"), number(&hers["net"]));
    assert_eq!(of(&accrued, "NGN", "world:fx"), -value);
    assert_eq!(of(&accrued, "NGN", "wages"), totals("gross"));
    assert!(of(&accrued, "NGN", "tax_payable:HMRC") < 0);
    reports_close(&caller, &company);
    caller.advance(&json!({"by": "40d"}));
    let run = caller.run(id(&run));
    assert_eq!(run["status"], "paid", "{run}");
    let paid = moved(&opening, &nets(&caller, &company));
    for account in ["wages_payable", "payouts_in_transit", "world:fx"] {
        assert_eq!((of(&paid, "GBP", account), of(&paid, "NGN", account)), (0, 0), "{account}");
    }
    let fee = number(&fx["fee_amount"]) + number(&run["funding"]["platform_fee"]);
    assert_eq!(of(&paid, "NGN", "fees"), fee);
    let taken = number(&own["net"])
        + number(&fx["source_amount"])
        + number(&run["funding"]["platform_fee"]);
    let cash = of(&paid, "NGN", "cash_available") + of(&paid, "NGN", "cash_reserved");
    assert_eq!(cash, -taken);
    let hers = item(&caller, &run, &ada);
    let payout = caller
        .get(&format!("/api/payments/payouts/{}", hers["payout_id"].as_str().unwrap()))
        .data();
    assert_eq!((&payout["currency"], &payout["amount"]), (&json!("GBP"), &hers["net"]));
    assert_eq!(payout["fx"], hers["fx"]);
    let payslip = caller
        .get(&format!("/api/business/payslips/{}", hers["payslip_id"].as_str().unwrap()))
        .data();
    assert_eq!((&payslip["currency"], &payslip["net"]), (&json!("GBP"), &hers["net"]));
    reports_close(&caller, &company);
    let flow = format!(
        "/api/business/reports/cash-flow?company_id={company}&from=2026-01-01&to=2026-02-28"
    );
    let flow = caller.get(&flow).data();
    let lines = flow["operating"]["lines"].as_array().unwrap();
    let employees = lines.iter().find(|line| line["activity"] == "payments_to_employees").unwrap();
    let wages = number(&own["net"]) + value;
    let off = (number(&employees["amount"]) + wages).abs();
    assert!(off * 50 < wages, "{employees} for wages of {wages}"); // rates move between the days
}

#[test]
fn wages_that_bounce_are_converted_back_at_their_own_rate_and_sent_again() {
    let caller = Caller::manual();
    let company = company(&caller);
    let ada = abroad(&caller, &company, "9999999902");
    let opening = nets(&caller, &company);
    let mut people = caller.payable(&company);
    people.truncate(1);
    people.push(ada.clone());
    let run = run_of(&caller, &company, &people);
    caller.advance(&json!({"by": "40d"}));
    assert_eq!(caller.run(id(&run))["status"], "partially_paid");
    let hers = item(&caller, &run, &ada);
    assert_eq!(hers["status"], "returned", "{hers}");
    let bounced = moved(&opening, &nets(&caller, &company));
    assert_eq!(of(&bounced, "GBP", "payouts_in_transit"), 0);
    assert_eq!(of(&bounced, "GBP", "wages_payable"), -number(&hers["net"]));
    assert_eq!(of(&bounced, "GBP", "world:fx"), number(&hers["net"]));
    reports_close(&caller, &company);
    let account = json!({"type": "bank", "bank_code": "200000", "account_number": "9999999900"});
    let path = format!("/api/business/employees/{ada}/payment-method");
    caller.send(&caller.request("PUT", &path).json(&account)).expect(200);
    caller.advance(&json!({"by": "1m"}));
    let path = format!("/api/business/payroll-runs/{}/items/{}/retry", id(&run), id(&hers));
    caller.post(&path, &json!({})).expect(200);
    caller.advance(&json!({"by": "10d"}));
    assert_eq!(caller.run(id(&run))["status"], "paid");
    let paid = moved(&opening, &nets(&caller, &company));
    for account in ["wages_payable", "payouts_in_transit", "world:fx"] {
        assert_eq!((of(&paid, "GBP", account), of(&paid, "NGN", account)), (0, 0), "{account}");
    }
    reports_close(&caller, &company);
}

#[test]
fn a_run_abroad_that_is_reversed_or_comes_back_late_leaves_no_money_on_the_way() {
    for (account, expected) in [("55779911", "paid"), ("9999999999", "failed")] {
        let caller = Caller::manual();
        let company = company(&caller);
        let ada = abroad(&caller, &company, account);
        let opening = nets(&caller, &company);
        let run = run_of(&caller, &company, std::slice::from_ref(&ada));
        caller.advance(&json!({"by": "60d"}));
        let run = caller.run(id(&run));
        if expected == "paid" {
            assert_eq!(run["status"], "paid", "{run}");
            assert_eq!(item(&caller, &run, &ada)["status"], "paid");
        } else {
            assert_eq!(item(&caller, &run, &ada)["status"], "returned");
        }
        let path = format!("/api/business/payroll-runs/{}/reverse", id(&run));
        caller.post(&path, &json!({"reason": "A test"})).expect(200);
        let back = moved(&opening, &nets(&caller, &company));
        for account in ["wages_payable", "payouts_in_transit", "world:fx", "cash_reserved", "wages"]
        {
            assert_eq!(
                (of(&back, "GBP", account), of(&back, "NGN", account)),
                (0, 0),
                "{account} {back:?}"
            );
        }
        let fee = number(&run["funding"]["platform_fee"]);
        assert_eq!(of(&back, "NGN", "cash_available"), -fee);
        reports_close(&caller, &company);
    }
}

#[test]
fn a_cancelled_run_abroad_leaves_nothing_in_either_currency() {
    let caller = Caller::manual();
    let company = company(&caller);
    let ada = abroad(&caller, &company, "55779911");
    let opening = nets(&caller, &company);
    let run = run_of(&caller, &company, std::slice::from_ref(&ada));
    assert_eq!(run["status"], "approved");
    let path = format!("/api/business/payroll-runs/{}/cancel", id(&run));
    caller.post(&path, &json!({})).expect(200);
    assert_eq!(moved(&opening, &nets(&caller, &company)), []);
    reports_close(&caller, &company);
}

#[test]
fn taxes_owed_abroad_are_filed_there() {
    let caller = Caller::manual();
    let company = company(&caller);
    let ada = abroad(&caller, &company, "55779911");
    let run = run_of(&caller, &company, std::slice::from_ref(&ada));
    let owed = caller.all(&format!("/api/business/tax-liabilities?company_id={company}"));
    let hmrc = owed.iter().find(|one| one["authority"] == "HMRC").unwrap();
    assert_eq!((&hmrc["jurisdiction"], &hmrc["currency"]), (&json!("GB"), &json!("NGN")));
    assert!(hmrc["due_on"].is_string(), "{hmrc}");
    caller.advance(&json!({"by": "35d"}));
    assert_eq!(caller.run(id(&run))["status"], "paid");
    let body = json!({"company_id": company, "tax_type": "HMRC", "period": "2026-01", "jurisdiction": "GB"});
    let filing = caller.post("/api/business/tax-filings", &body).expect(201)["data"].take();
    assert_eq!(filing["amount"], hmrc["amount"]);
    let foreign = json!({"company_id": company, "tax_type": "KRA", "period": "2026-01", "jurisdiction": "KE"});
    let foreign = caller.post("/api/business/tax-filings", &foreign);
    assert_eq!(violations(&foreign)[0].1, "foreign_jurisdiction");
}

#[test]
fn terms_are_in_the_currency_of_the_place_and_stay_in_it() {
    let caller = Caller::manual();
    let company = company(&caller);
    let with = |country: &str, currency: &str| {
        let body = json!({"company_id": company, "name": "Ada Obi", "role": "Engineer", "department": "Engineering",
            "country": country, "start_date": "2026-01-01",
            "compensation": {"amount": 300_000, "currency": currency, "interval": "month"}});
        caller.post("/api/business/employees", &body)
    };
    for (country, currency) in [("NG", "NGN"), ("GB", "GBP"), ("KE", "KES")] {
        with(country, currency).expect(201);
    }
    for (country, currency) in [("NG", "GBP"), ("GB", "NGN"), ("GB", "USD")] {
        let refused = with(country, currency);
        assert_eq!((refused.status, code(&refused).as_str()), (422, "currency_mismatch"));
        assert_eq!(violations(&refused)[0].0, "/compensation/currency");
    }
    assert_eq!(with("XX", "GBP").status, 422);
    let ada = with("GB", "GBP").expect(201)["data"]["id"].take();
    let path = format!("/api/business/employees/{}/compensation", ada.as_str().unwrap());
    let put = |currency: &str| {
        let body = json!({"amount": 310_000, "currency": currency, "interval": "month"});
        caller.send(&caller.request("PUT", &path).json(&body))
    };
    put("GBP").expect(200);
    assert_eq!(code(&put("NGN")), "currency_mismatch");
}

#[test]
fn pay_beyond_the_limit_of_the_companys_currency_is_left_out() {
    let caller = Caller::manual();
    let company = company(&caller);
    let ada = abroad(&caller, &company, "55779911");
    let path = format!("/api/business/employees/{ada}/compensation");
    let body = json!({"amount": 1_000_000_000_000_000_i64, "currency": "GBP", "interval": "month"});
    caller.send(&caller.request("PUT", &path).json(&body)).expect(200);
    let mut people = caller.payable(&company);
    people.truncate(1);
    people.push(ada.clone());
    let run = run_of(&caller, &company, &people);
    assert!(run["blockers"][0].as_str().unwrap().contains("exceeds the maximum"), "{run}");
    assert_eq!(item(&caller, &run, &ada)["status"], "skipped");
    caller.audit();
}
