//! From a new company to filed returns and a profit and loss that shows the wages.

use serde_json::{Value, json};

use super::{Path, twice};
use crate::harness::world::{id, number};

fn walk() -> Path {
    let mut path = Path::begin();
    let company = path.company();
    let run = json!({"company_id": company["id"], "period": "2026-01"});
    let people = hire(&mut path, &company, "verified");
    let run = path.post(201, "/v1/payroll/run", &run);
    path.caller.advance(&json!({"to": "2026-01-28T12:00:00Z"}));
    let run = path.get(&format!("/api/business/payroll-runs/{}?expand=items", id(&run)));
    assert_eq!((&run["status"], &run["settlement"]["paid"]), (&json!("paid"), &json!(3)));
    for person in &people {
        let payslips = path.get(&format!("/api/business/payslips?employee_id={person}"));
        assert_eq!(payslips[0]["gross"], 20_000_000);
    }
    file(&mut path, &company);
    let profit = path.get(&format!(
        "/api/business/reports/profit-and-loss?company_id={}&from=2026-01-01&to=2026-01-31",
        id(&company)
    ));
    let wages = profit["expenses"].as_array().unwrap();
    let wages = wages.iter().find(|line| line["account"] == "wages").unwrap();
    assert_eq!(wages["amount"], 60_000_000);
    assert_eq!(wages["amount"], run["totals"]["gross"]);
    for report in ["balance-sheet", "trial-balance"] {
        path.get(&format!(
            "/api/business/reports/{report}?company_id={}&as_of=2026-03-31",
            id(&company)
        ));
    }
    path.get(&format!("/api/business/audit-logs?company_id={}&per_page=100", id(&company)));
    path.caller.audit();
    path
}

/// Three employees, and the bank's answers about their accounts.
pub(super) fn hire(path: &mut Path, company: &Value, payroll_status: &str) -> Vec<String> {
    let mut people = Vec::new();
    for (name, account) in
        [("Ada Obi", "9999999900"), ("Ben Ade", "9999999900"), ("Chi Eze", "9999999900")]
    {
        let person = json!({
            "company_id": company["id"], "name": name, "role": "Baker", "department": "Bakery",
            "start_date": "2026-01-01", "tax_id": "1023456789",
            "compensation": {"amount": 20_000_000, "currency": "NGN", "interval": "month"},
        });
        let person = path.post(201, "/api/business/employees", &person);
        let at = format!("/api/business/employees/{}", id(&person));
        path.post(200, &format!("{at}/activate"), &json!({}));
        let method = json!({"type": "bank", "bank_code": "058", "account_number": account});
        let request = path.caller.request("PUT", &format!("{at}/payment-method")).json(&method);
        path.send(200, &request);
        people.push(id(&person).to_owned());
    }
    path.caller.advance(&json!({"by": "30s"}));
    for person in &people {
        let person = path.get(&format!("/api/business/employees/{person}"));
        assert_eq!(
            (&person["status"], &person["payroll_status"]),
            (&json!("active"), &json!(payroll_status))
        );
    }
    people
}

/// Files and pays the taxes of the run on their due day.
pub(super) fn file(path: &mut Path, company: &Value) {
    let list = format!("/api/business/tax-liabilities?company_id={}", id(company));
    let owed = path.get(&list);
    let owed = owed.as_array().unwrap();
    assert!(owed.len() >= 2, "{owed:?}");
    path.caller.advance(&json!({"to": "2026-02-02T08:00:00Z"}));
    let mut filings = Vec::new();
    for liability in owed {
        let filing = json!({
            "company_id": company["id"], "tax_type": liability["authority"],
            "period": "2026-01", "jurisdiction": "NG",
        });
        let filing = path.post(201, "/api/business/tax-filings", &filing);
        let submit = format!("/api/business/tax-filings/{}/submit", id(&filing));
        path.post(202, &submit, &json!({"declaration": "Ada Obi"}));
        filings.push(filing);
    }
    path.caller.advance(&json!({"by": "5d"}));
    let mut paid = 0;
    for filing in filings {
        let filing = path.get(&format!("/api/business/tax-filings/{}", id(&filing)));
        assert_eq!(filing["status"], "filed");
        paid += number(&filing["amount_paid"]);
    }
    assert_eq!(paid, owed.iter().map(|one| number(&one["amount"])).sum::<i64>());
    let owed = path.get(&list);
    assert!(owed.as_array().unwrap().iter().all(|one| one["status"] == "paid"));
}

#[test]
fn the_golden_path_leads_from_a_new_company_to_filed_returns_twice_in_the_same_bytes() {
    twice(walk);
}
