//! Regulatory reports: they agree with the records, and the regulator answers.

use serde_json::{Value, json};

use super::hire;
use crate::harness::Caller;
use crate::harness::http::{Answer, pointers};
use crate::harness::world::{id, number};

const REPORTS: &str = "/api/business/regulatory-reports";

fn create(caller: &Caller, company: &str, kind: &str, period: &str) -> Answer {
    let body = json!({"company_id": company, "type": kind, "period": period});
    caller.post(REPORTS, &body)
}

fn contents(caller: &Caller, company: &str, kind: &str, period: &str) -> Value {
    let report = create(caller, company, kind, period).expect(201)["data"].take();
    assert_eq!((&report["status"], &report["type"]), (&json!("compiled"), &json!(kind)));
    assert_eq!(report["contents"]["type"], kind);
    report["contents"].clone()
}

fn submit(caller: &Caller, report: &Value, header: Option<&str>) -> Answer {
    let target = format!("{REPORTS}/{}/submit", id(report));
    let request = caller.request("POST", &target).json(&json!({"declaration": "Ada Obi"}));
    caller.send(&match header {
        Some(outcome) => request.header("Sandbox-Scenario", outcome),
        None => request,
    })
}

fn listed(caller: &Caller, query: &str) -> Vec<Value> {
    caller.all(&format!("{REPORTS}?{query}"))
}

fn sum(rows: &[Value], member: &str) -> i64 {
    rows.iter().map(|row| number(&row[member])).sum()
}

#[test]
fn a_payroll_summary_is_the_sum_of_what_was_paid() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let people = caller.payable(&company);
    let body = json!({"company_id": company, "period": "2026-01", "employees": people[..3]});
    let request = caller.request("POST", "/v1/payroll/run").json(&body);
    let some = caller.send(&request.header("Sandbox-Scenario", "payout.settle=failed")).expect(201);
    let body = json!({"company_id": company, "period": "2026-01", "employees": people[3..]});
    let others = caller.post("/v1/payroll/run", &body).expect(201);
    for period in ["2026-01", "2025-12"] {
        let said = contents(&caller, &company, "payroll_summary", period);
        let runs = caller.all(&format!(
            "/api/business/payroll-runs?company_id={company}&period={period}&sort=created_at"
        ));
        let mut all = Vec::new();
        for (run, summary) in runs.iter().zip(said["runs"].as_array().unwrap()) {
            assert_eq!(summary["payroll_run_id"], run["id"]);
            assert_eq!(summary["status"], run["status"]);
            let items = format!("/api/business/payroll-runs/{}/items?status=paid", id(run));
            let items = caller.all(&items);
            for member in
                ["gross", "taxes", "employee_contributions", "employer_contributions", "net"]
            {
                assert_eq!(number(&summary[member]), sum(&items, member), "{member}");
            }
            assert_eq!(summary["employees_paid"], items.len());
            all.extend(items);
        }
        assert_eq!(said["runs"].as_array().unwrap().len(), runs.len());
        assert_eq!(said["totals"]["employees_paid"], all.len());
        assert_eq!(number(&said["totals"]["net"]), sum(&all, "net"));
        assert!(!all.is_empty());
    }
    assert_eq!(caller.run(id(&some["data"]))["status"], "failed");
    assert_eq!(caller.run(id(&others["data"]))["status"], "paid");
}

#[test]
fn a_pension_schedule_is_what_the_payslips_say() {
    let caller = Caller::instant();
    for (place, period) in [(0, "2026-01"), (0, "2025-12"), (2, "2025-12")] {
        let company = caller.company(place);
        if period == "2026-01" {
            caller.run_payroll(&company, period);
        }
        let said = contents(&caller, &company, "pension_schedule", period);
        let entries = said["entries"].as_array().unwrap();
        if place == 2 {
            assert_eq!(
                entries.len(),
                0,
                "the federal taxes of the United States have no pension fund"
            );
            continue;
        }
        let runs = caller.all(&format!(
            "/api/business/payroll-runs?company_id={company}&period={period}&sort=created_at"
        ));
        let payslips = format!("/api/business/payslips?payroll_run_id={}", id(&runs[0]));
        let payslips = caller.all(&payslips);
        assert_eq!(entries.len(), payslips.len());
        let part = |payslip: &Value, list: &str, line: &str| -> i64 {
            let lines = payslip[list].as_array().unwrap().iter();
            lines.filter(|one| one["id"] == line).map(|one| number(&one["amount"])).sum()
        };
        for entry in entries {
            let payslip = payslips.iter().find(|one| one["employee_id"] == entry["employee_id"]);
            let payslip = payslip.expect("a paid employee");
            let withheld = part(payslip, "contributions", "pension");
            let on_top = part(payslip, "employer_contributions", "pension_employer");
            assert_eq!(number(&entry["employee_contribution"]), withheld);
            assert_eq!(number(&entry["employer_contribution"]), on_top);
            assert_eq!(entry["gross"], payslip["gross"]);
            assert!(withheld > 0 && on_top > 0);
        }
        assert_eq!(number(&said["employee_contributions"]), sum(entries, "employee_contribution"));
        assert_eq!(number(&said["employer_contributions"]), sum(entries, "employer_contribution"));
    }
}

/// Pensions Act 2008 (GB), s. 20, and the Occupational Pension Schemes (Scheme Administration) Regulations 1996, reg. 18: a payment schedule has the
/// contributions of the employees and of the employer. They are 5 % and 3 % of the same earnings.
#[test]
fn a_pension_schedule_has_the_deductions_of_british_employees() {
    let caller = Caller::instant();
    let company = caller.company(1);
    let said = contents(&caller, &company, "pension_schedule", "2025-12");
    let entries = said["entries"].as_array().unwrap();
    let path = format!("/api/business/payslips?company_id={company}&period=2025-12");
    let payslips = caller.all(&path);
    let own = |payslip: &Value| -> i64 {
        let lines = payslip["deductions"].as_array().unwrap().iter();
        let pension =
            |line: &&Value| line["type"].as_str().is_some_and(|it| it.contains("pension"));
        lines.filter(pension).map(|line| number(&line["amount"])).sum()
    };
    let withheld: i64 = payslips.iter().map(own).sum();
    assert!(withheld > 0 && !entries.is_empty());
    assert_eq!(number(&said["employee_contributions"]), withheld);
    assert!(number(&said["employer_contributions"]) > 0);
}

#[test]
fn large_transactions_are_wallet_movements_from_the_threshold() {
    let caller = Caller::manual();
    let company = caller.company(0);
    for amount in [999_999_999, 1_000_000_000] {
        let money = json!({"company_id": company, "amount": amount, "from": "customer"});
        caller.post("/_sandbox/inbound/bank_transfer", &money).expect(200);
    }
    let wallet = caller.all(&format!("/api/payments/wallets?company_id={company}")).remove(0);
    for (period, from, to) in
        [("2026-01", "2026-01-01", "2026-01-31"), ("2025-11", "2025-11-01", "2025-11-30")]
    {
        let said = contents(&caller, &company, "large_transactions", period);
        assert_eq!(said["thresholds"], json!([{"currency": "NGN", "amount": 1_000_000_000}]));
        let moved = caller.all(&format!(
            "/api/payments/wallets/{}/transactions?from={from}&to={to}",
            id(&wallet)
        ));
        let large = moved.iter().filter(|one| number(&one["amount"]) >= 1_000_000_000);
        let large: Vec<&Value> = large.map(|one| &one["id"]).collect();
        let found = said["transactions"].as_array().unwrap().iter();
        let found: Vec<&Value> = found.map(|one| &one["wallet_transaction_id"]).collect();
        assert_eq!(found, large);
        assert!(!found.is_empty());
    }
}

#[test]
fn suspicious_activity_is_what_the_rules_find() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let none = contents(&caller, &company, "suspicious_activity", "2026-01");
    assert_eq!(none["findings"], json!([]));
    let twins = [hire(&caller, &company, "9999999900"), hire(&caller, &company, "9999999900")];
    for _ in 0..3 {
        let money = json!({"company_id": company, "amount": 950_000_000});
        caller.post("/_sandbox/inbound/bank_transfer", &money).expect(200);
    }
    let person = caller.payable(&company).remove(0);
    let body = json!({"company_id": company, "period": "2026-01", "employees": [person]});
    let request = caller.request("POST", "/v1/payroll/run").json(&body);
    caller.send(&request.header("Sandbox-Scenario", "payout.settle=returned_late")).expect(201);
    let payout = caller.all("/api/payments/payouts?status=returned").remove(0);

    let said = contents(&caller, &company, "suspicious_activity", "2026-01");
    let findings = said["findings"].as_array().unwrap();
    let rules: Vec<&Value> = findings.iter().map(|finding| &finding["rule"]).collect();
    assert_eq!(rules, ["returned_payout", "shared_account", "below_threshold"]);
    assert_eq!(findings[0]["resources"][0]["id"], payout["id"]);
    assert_eq!(findings[0]["amount"], payout["amount"]);
    let shared: Vec<&Value> = findings[1]["resources"]
        .as_array()
        .unwrap()
        .iter()
        .map(|resource| &resource["id"])
        .collect();
    assert_eq!(shared, twins.each_ref());
    assert_eq!(findings[2]["amount"], 2_850_000_000_i64);
    assert_eq!(findings[2]["resources"].as_array().unwrap().len(), 3);
}

#[test]
fn the_regulator_answers_on_the_next_business_day_and_may_reject() {
    let caller = Caller::manual();
    let company = caller.company(0);
    let report = create(&caller, &company, "payroll_summary", "2025-12").expect(201)["data"].take();
    let sent =
        submit(&caller, &report, Some("regulator.reply=rejected")).expect(202)["data"].take();
    assert_eq!((&sent["status"], &sent["declaration"]), (&json!("submitted"), &json!("Ada Obi")));
    let twice = submit(&caller, &report, None).refused(409, "invalid_state_transition");
    assert_eq!(twice["current"], "submitted");
    assert_eq!(twice["allowed"], json!(["acknowledged", "rejected"]));
    assert_eq!(caller.advance(&json!({"to": "2026-01-01T23:59:00Z"})), [""; 0]);
    assert_eq!(caller.advance(&json!({"by": "1bd"})), ["regulatory_report.rejected"]);
    let rejected = listed(&caller, "status=rejected").remove(0);
    assert!(rejected["rejection_reason"].is_string());
    let again = submit(&caller, &report, None).expect(202)["data"].take();
    assert!(again["rejection_reason"].is_null());
    assert_eq!(caller.advance(&json!({"by": "1bd"})), ["regulatory_report.acknowledged"]);
    let taken = listed(&caller, "status=acknowledged").remove(0);
    assert!(taken["acknowledged_at"].is_string());
    let over = submit(&caller, &report, None).refused(409, "invalid_state_transition");
    assert_eq!(over["allowed"], json!([]));
    let named: Vec<String> =
        caller.events().iter().map(|e| e["type"].as_str().unwrap().to_owned()).collect();
    let expected = ["compiled", "submitted", "rejected", "submitted", "acknowledged"];
    assert_eq!(named, expected.map(|name| format!("regulatory_report.{name}")));
}

#[test]
fn reports_are_listed_by_company_type_period_and_status() {
    let caller = Caller::manual();
    let (one, other) = (caller.company(0), caller.company(1));
    create(&caller, &one, "payroll_summary", "2025-12").expect(201);
    create(&caller, &one, "pension_schedule", "2025-11").expect(201);
    let last = create(&caller, &other, "payroll_summary", "2025-11").expect(201)["data"].take();
    submit(&caller, &last, None).expect(202);
    assert_eq!(listed(&caller, "").len(), 3);
    assert_eq!(listed(&caller, &format!("company_id={one}")).len(), 2);
    assert_eq!(listed(&caller, "type=payroll_summary").len(), 2);
    assert_eq!(listed(&caller, "period=2025-11").len(), 2);
    assert_eq!(listed(&caller, "status=submitted")[0]["id"], last["id"]);
    assert_eq!(listed(&caller, "sort=period")[2]["period"], "2025-12");
    for wrong in ["type=gossip", "status=late", "period=2025", "colour=red"] {
        caller.get(&format!("{REPORTS}?{wrong}")).refused(422, "validation_failed");
    }
}

#[test]
fn a_report_is_of_a_company_and_a_month_that_has_begun() {
    let caller = Caller::manual();
    let company = caller.company(0);
    let refused = create(&caller, &company, "payroll_summary", "2026-02");
    let refused = refused.refused(422, "validation_failed");
    assert_eq!(refused["errors"][0]["code"], "in_the_future");
    assert_eq!(pointers(&refused), ["/period"]);
    create(&caller, &company, "payroll_summary", "2026-01").expect(201);
    let unknown = create(&caller, "com_0000000000000", "payroll_summary", "2025-12");
    assert_eq!(pointers(&unknown.refused(404, "resource_not_found")), ["/company_id"]);
    let faults = [
        (json!({}), vec!["/company_id", "/type", "/period"]),
        (json!({"company_id": company, "type": "gossip", "period": "2025-12"}), vec!["/type"]),
        (json!({"company_id": company, "type": "payroll_summary", "period": 7}), vec!["/period"]),
        (
            json!({"company_id": company, "type": "payroll_summary", "period": "2025-12", "a": 1}),
            vec!["/a"],
        ),
    ];
    for (body, pointer) in faults {
        let refused = caller.post(REPORTS, &body).refused(422, "validation_failed");
        assert_eq!(pointers(&refused), pointer, "{body}");
    }
    let report = create(&caller, &company, "payroll_summary", "2025-12").expect(201)["data"].take();
    let target = format!("{REPORTS}/{}/submit", id(&report));
    for body in [json!({}), json!({"declaration": ""}), json!({"declaration": "x".repeat(201)})] {
        let refused = caller.post(&target, &body).refused(422, "validation_failed");
        assert_eq!(pointers(&refused), ["/declaration"]);
    }
    let missing = format!("{REPORTS}/rgr_0000000000000/submit");
    caller.post(&missing, &json!({"declaration": "Ada"})).refused(404, "resource_not_found");
}
