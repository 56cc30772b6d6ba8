//! Readiness and insurance: sums, gaps that a call closes, and a premium that follows from the table.

use serde_json::{Value, json};

use crate::harness::Caller;
use crate::harness::contract::product;
use crate::harness::world::{id, number};

const READINESS: &str = "/api/capital/readiness-assessments";
const RISKS: &str = "/api/capital/insurance-risk-scores";

fn assessed(caller: &Caller, body: &Value) -> Value {
    let made = caller.post(READINESS, body).expect(202)["data"].take();
    assert_eq!((&made["status"], &made["score"]), (&json!("processing"), &Value::Null));
    caller.get(&format!("{READINESS}/{}", id(&made))).data()
}

fn insured(caller: &Caller, body: &Value) -> Value {
    let made = caller.post(RISKS, body).expect(202)["data"].take();
    assert_eq!(made["status"], "processing");
    caller.get(&format!("{RISKS}/{}", id(&made))).data()
}

#[test]
fn pillars_sum_to_the_score_and_what_is_missing_is_a_gap() {
    let caller = Caller::instant();
    for place in 0..3 {
        let done =
            assessed(&caller, &json!({"company_id": caller.company(place), "stage": "series_a"}));
        assert_eq!((&done["status"], &done["threshold"]), (&json!("completed"), &json!(65)));
        let pillars = done["pillars"].as_array().unwrap();
        let sum = |member: &str| -> i64 { pillars.iter().map(|p| number(&p[member])).sum() };
        let score = number(&done["score"]);
        assert_eq!((sum("score"), sum("max_score")), (score, 100));
        for pillar in pillars {
            let factors = pillar["factors"].as_array().unwrap();
            let points: i64 = factors.iter().map(|it| number(&it["points"])).sum();
            assert_eq!(points, number(&pillar["score"]));
        }
        let gaps = done["gaps"].as_array().unwrap();
        let missing: i64 = gaps.iter().map(|gap| number(&gap["points"])).sum();
        assert_eq!(missing, 100 - score);
        assert_eq!(done["ready"], score >= 65);
    }
}

#[test]
fn every_next_step_is_an_operation_and_taking_one_closes_its_gap() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let before = assessed(&caller, &json!({"company_id": company}));
    let document = serde_json::to_string(&product()["paths"]).unwrap();
    for step in before["next_steps"].as_array().unwrap() {
        let name = format!("\"operationId\":{}", step["operation"]);
        assert!(document.contains(&name), "{step}");
    }
    let steps = before["next_steps"].as_array().unwrap();
    let step = steps.iter().find(|step| step["closes"] == "approval").unwrap();
    assert_eq!(step["operation"], "updateCompany");
    let body = json!({"payroll_settings": {"approval_required": true}});
    caller.patch(&format!("/api/business/companies/{company}"), &body).expect(200);
    let after = assessed(&caller, &json!({"company_id": company}));
    assert_eq!(number(&after["score"]), number(&before["score"]) + number(&step["points"]));
    let steps = after["next_steps"].as_array().unwrap();
    assert!(!steps.iter().any(|step| step["closes"] == "approval"));
}

#[test]
fn a_target_beyond_the_business_and_a_later_stage_cost_points() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let score = |body: Value| number(&assessed(&caller, &body)["score"]);
    let plain = score(json!({"company_id": company}));
    let modest = score(json!({"company_id": company, "target_amount": 1}));
    let bold = score(json!({"company_id": company, "target_amount": 1_000_000_000_000_000_i64}));
    let dollars = score(
        json!({"company_id": company, "target_amount": 1_000_000_000_000_000_i64, "currency": "USD"}),
    );
    assert_eq!((plain, plain - 5, plain - 5), (modest, bold, dollars));
    let growth = score(json!({"company_id": company, "stage": "growth"}));
    assert_eq!(growth, plain - 5);
}

#[test]
fn an_assessment_and_a_risk_score_take_five_seconds_of_the_clock() {
    let caller = Caller::manual();
    let company = caller.company(0);
    caller.post(READINESS, &json!({"company_id": company})).expect(202);
    caller.post(RISKS, &json!({"company_id": company, "line": "health"})).expect(202);
    assert_eq!(caller.advance(&json!({"by": "4s"})), [""; 0]);
    let came = caller.advance(&json!({"by": "1s"}));
    let done = ["readiness_assessment.completed", "insurance_risk_score.completed"];
    assert_eq!(came, done);
}

#[test]
fn a_premium_is_the_rate_of_the_sum_insured() {
    let caller = Caller::instant();
    let company = caller.company(0);
    for line in ["group_life", "health", "property", "liability"] {
        let done = insured(
            &caller,
            &json!({"company_id": company, "line": line, "sum_insured": 1_000_000}),
        );
        let drivers = done["drivers"].as_array().unwrap();
        let sum: i64 = drivers.iter().map(|driver| number(&driver["points"])).sum();
        assert_eq!(sum, number(&done["score"]));
        assert!((0..=100).contains(&sum));
        assert_eq!(number(&done["indicative_premium"]), number(&done["rate_bp"]) * 100);
    }
    let most = insured(
        &caller,
        &json!({"company_id": company, "line": "health", "sum_insured": 1_000_000_000_000_000_i64}),
    );
    assert!(number(&most["indicative_premium"]) > 0);
}

#[test]
fn without_a_sum_a_years_wages_or_sales_are_insured() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let report = format!(
        "/api/business/reports/profit-and-loss?company_id={company}&from=2025-01-02&to=2026-01-01"
    );
    let report = caller.get(&report).data();
    let expenses = report["expenses"].as_array().unwrap();
    let wages = expenses
        .iter()
        .filter(|line| line["account"] == "wages" || line["account"] == "employer_contributions");
    let wages: i64 = wages.map(|line| number(&line["amount"])).sum();
    let life = insured(&caller, &json!({"company_id": company, "line": "group_life"}));
    assert_eq!(number(&life["sum_insured"]), wages);
    let property = insured(&caller, &json!({"company_id": company, "line": "property"}));
    assert_eq!(property["sum_insured"], report["total_revenue"]);
}

#[test]
fn payroll_that_is_missed_is_a_risk() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let ask = json!({"company_id": company, "line": "liability", "sum_insured": 1_000_000});
    let before = insured(&caller, &ask);
    caller.advance(&json!({"to": "2026-03-10T00:00:00Z"}));
    let after = insured(&caller, &ask);
    assert!(number(&after["score"]) > number(&before["score"]));
    assert!(number(&after["indicative_premium"]) >= number(&before["indicative_premium"]));
}

/// The value and the points of a factor of an assessment.
fn weighed(assessment: &Value, name: &str) -> (i64, i64) {
    let pillars = assessment["pillars"].as_array().unwrap().iter();
    let mut factors = pillars.flat_map(|pillar| pillar["factors"].as_array().unwrap());
    let found = factors.find(|factor| factor["name"] == name).unwrap();
    (number(&found["value"]), number(&found["points"]))
}

#[test]
fn a_business_that_is_verified_is_readier() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let body = json!({"company_id": company});
    let before = assessed(&caller, &body);
    assert_eq!(weighed(&before, "kyb_approved"), (0, 0));
    let steps = before["next_steps"].as_array().unwrap();
    let step = steps.iter().find(|step| step["closes"] == "kyb_approved");
    assert_eq!(step.unwrap()["operation"], "createVerification");
    let subject =
        json!({"type": "business", "legal_name": "A Ltd", "country": "NG", "company_id": company});
    let subject = caller.post("/api/identity/subjects", &subject).made();
    let path = format!("/api/identity/subjects/{}/documents", id(&subject));
    let papers = json!({"type": "cac_certificate", "document_token": "tok_ok"});
    let papers = caller.post(&path, &papers).made();
    let case = json!({"subject_id": subject["id"], "type": "kyb", "level": "standard"});
    let case = caller.post("/api/identity/verifications", &case).made();
    let path = format!("/api/identity/verifications/{}/submit", id(&case));
    let body_of_case = json!({"consent": true, "document_ids": [papers["id"]]});
    caller.post(&path, &body_of_case).expect(202);
    let after = assessed(&caller, &body);
    assert_eq!(weighed(&after, "kyb_approved"), (1, 10), "{after}");
    assert_eq!(number(&after["score"]), number(&before["score"]) + 10);
}

#[test]
fn an_overdue_tax_lowers_readiness_and_names_the_next_step() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let before = assessed(&caller, &json!({"company_id": company}));
    caller.run_payroll(&company, "2026-01");
    caller.advance(&json!({"to": "2026-02-25T12:00:00Z"}));
    let after = assessed(&caller, &json!({"company_id": company}));
    assert!(number(&after["score"]) < number(&before["score"]));
    let (overdue, points) = weighed(&after, "tax_overdue");
    assert!(overdue > 0 && points < 12, "{after}");
    let steps = after["next_steps"].as_array().unwrap();
    let step = steps.iter().find(|step| step["closes"] == "tax_overdue");
    assert_eq!(step.unwrap()["operation"], "submitTaxFiling");
}
