//! Requirements that block, their resolution, and requirements that the clock opens.

use serde_json::{Value, json};

use super::{REQUIREMENTS, create_company, events_after, hire, resolve};
use crate::harness::Caller;
use crate::harness::http::pointers;
use crate::harness::world::id;

fn requirements(caller: &Caller, query: &str) -> Vec<Value> {
    caller.all(&format!("{REQUIREMENTS}?{query}"))
}

#[test]
fn a_company_that_is_created_is_verified_funded_and_pays_its_people() {
    for caller in [Caller::instant(), Caller::manual()] {
        let (company, requirement) = create_company(&caller);
        assert_eq!(requirement["type"], "business_verification");
        assert_eq!(requirement["subject"], json!({"type": "company", "id": company}));
        assert_eq!(requirement["blocking"], true);
        let met_by = requirement["unblocked_by"].as_str().unwrap();
        assert!(met_by.contains("resolveComplianceRequirement"), "{met_by}");
        let person = hire(&caller, &company, "9999999900");
        caller.advance(&json!({"by": "30s"}));
        let run = json!({"company_id": company, "period": "2026-01"});
        let blocked = caller.post("/v1/payroll/run", &run).refused(403, "compliance_blocked");
        assert!(blocked["detail"].as_str().unwrap().contains("verify the business"));

        let logged = caller.events().len();
        let evidence = json!({"value": "RC 1234567"});
        let resolved = resolve(&caller, &requirement, &evidence).data();
        assert_eq!(resolved["status"], "resolved");
        assert_eq!(resolved["evidence"], evidence);
        let expected = ["compliance_requirement.resolved", "company.status_changed"];
        assert_eq!(events_after(&caller, logged), expected);
        let active = caller.get(&format!("/api/business/companies/{company}")).data();
        assert_eq!(active["status"], "active");
        assert_eq!(active["blockers"], json!([]));

        let money = json!({"company_id": company, "amount": 100_000_000, "from": "owner"});
        caller.post("/_sandbox/inbound/bank_transfer", &money).expect(200);
        let run = caller.post("/v1/payroll/run", &run).expect(201)["data"].take();
        assert_eq!(run["employees"], json!([person]));
        caller.advance(&json!({"to": "2026-02-01T00:00:00Z"}));
        let paid = caller.run(id(&run));
        assert_eq!(paid["status"], "paid", "{paid}");
        assert_eq!(paid["totals"]["gross"], 45_000_000);
        caller.audit();
    }
}

#[test]
fn evidence_is_a_document_or_a_value_and_is_taken_once() {
    let caller = Caller::instant();
    let (_, requirement) = create_company(&caller);
    let target = format!("{REQUIREMENTS}/{}/resolve", id(&requirement));
    let faults = [
        (json!({}), "/evidence"),
        (json!({"evidence": "RC 1"}), "/evidence"),
        (json!({"evidence": {"value": "RC 1"}, "colour": "red"}), "/colour"),
        (json!({"evidence": {"value": "RC 1", "colour": "red"}}), "/evidence/colour"),
        (json!({"evidence": {"value": ""}}), "/evidence/value"),
        (json!({"evidence": {"value": 7}}), "/evidence/value"),
        (json!({"evidence": {"value": "x".repeat(501)}}), "/evidence/value"),
        (json!({"evidence": {"document_id": "emp_1"}}), "/evidence/document_id"),
        (json!({"evidence": {}}), "/evidence"),
        (json!({"evidence": {"value": "RC 1", "document_id": "doc_0123456789abc"}}), "/evidence"),
    ];
    for (body, pointer) in faults {
        let refused = caller.post(&target, &body).refused(422, "validation_failed");
        assert_eq!(pointers(&refused), [pointer], "{body}");
    }
    let unknown = format!("{REQUIREMENTS}/crq_0000000000000/resolve");
    caller
        .post(&unknown, &json!({"evidence": {"value": "RC 1"}}))
        .refused(404, "resource_not_found");
    let document = json!({"document_id": "doc_0123456789abc"});
    let resolved = resolve(&caller, &requirement, &document).data();
    assert_eq!(resolved["evidence"], document);
    let twice = resolve(&caller, &requirement, &document).refused(409, "invalid_state_transition");
    assert_eq!((&twice["current"], &twice["allowed"]), (&json!("resolved"), &json!([])));
}

#[test]
fn a_requirement_is_overdue_after_thirty_days_and_can_still_be_met() {
    let caller = Caller::manual();
    let (company, requirement) = create_company(&caller);
    assert_eq!(requirement["due_on"], "2026-01-31");
    assert_eq!(caller.advance(&json!({"to": "2026-01-31T23:59:59Z"})), [""; 0]);
    assert_eq!(caller.advance(&json!({"by": "1s"})), ["compliance_requirement.overdue"]);
    let overdue = requirements(&caller, "status=overdue");
    assert_eq!(overdue[0]["id"], requirement["id"]);
    let read = caller.get(&format!("/api/business/companies/{company}")).data();
    assert_eq!(read["blockers"][0]["status"], "overdue");
    let resolved = resolve(&caller, &requirement, &json!({"value": "RC 1"})).data();
    let statuses = resolved["status_history"].as_array().unwrap();
    let statuses: Vec<&Value> = statuses.iter().map(|change| &change["status"]).collect();
    assert_eq!(statuses, ["open", "overdue", "resolved"]);
    let read = caller.get(&format!("/api/business/companies/{company}")).data();
    assert_eq!(read["status"], "active");
    assert_eq!(caller.advance(&json!({"by": "90d"})), [""; 0]);
}

#[test]
fn a_requirement_that_is_met_in_time_is_never_overdue() {
    let caller = Caller::manual();
    let (_, requirement) = create_company(&caller);
    resolve(&caller, &requirement, &json!({"value": "RC 1"})).expect(200);
    assert_eq!(caller.advance(&json!({"until": "idle"})), [""; 0]);
}

#[test]
fn requirements_are_listed_by_company_subject_status_and_whether_they_block() {
    let caller = Caller::manual();
    let grown = caller.company(0);
    caller.run_payroll(&grown, "2026-01");
    let (company, first) = create_company(&caller);
    create_company(&caller);
    caller.advance(&json!({"to": "2026-02-11T00:00:00Z"}));
    resolve(&caller, &first, &json!({"value": "RC 1"})).expect(200);
    assert_eq!(requirements(&caller, "").len(), 4);
    assert_eq!(requirements(&caller, &format!("company_id={company}")).len(), 1);
    assert_eq!(requirements(&caller, &format!("company_id={grown}")).len(), 2);
    assert_eq!(requirements(&caller, "subject_type=tax_liability&sort=-due_on").len(), 2);
    assert_eq!(requirements(&caller, "subject_type=company").len(), 2);
    assert_eq!(requirements(&caller, "blocking=false").len(), 2);
    assert_eq!(requirements(&caller, "blocking=true&status=resolved").len(), 1);
    assert_eq!(requirements(&caller, "status=open").len(), 2);
    for wrong in ["blocking=perhaps", "status=late", "colour=red", "sort=colour"] {
        caller.get(&format!("{REQUIREMENTS}?{wrong}")).refused(422, "validation_failed");
    }
}

#[test]
fn a_late_return_opens_a_requirement_that_does_not_block_and_resolves_itself() {
    let caller = Caller::manual();
    let company = caller.company(0);
    caller.run_payroll(&company, "2026-01");
    caller.advance(&json!({"to": "2026-02-11T00:00:00Z"}));
    let open = requirements(&caller, "status=open");
    let late = &open[1];
    assert_eq!(late["type"], "overdue_filing");
    assert_eq!((&late["blocking"], &late["due_on"]), (&json!(false), &json!("2026-03-13")));
    let met_by = late["unblocked_by"].as_str().unwrap();
    assert!(met_by.contains("createTaxFiling") && met_by.contains("submitTaxFiling"), "{met_by}");
    caller.run_payroll(&company, "2026-02");

    let filing = json!({
        "company_id": company, "tax_type": "SIRS", "period": "2026-01", "jurisdiction": "NG",
    });
    let filing = caller.post("/api/business/tax-filings", &filing).expect(201)["data"].take();
    assert_eq!(filing["late"], true);
    let logged = caller.events().len();
    let target = format!("/api/business/tax-filings/{}/submit", id(&filing));
    caller.post(&target, &json!({"declaration": "Ada Obi"})).expect(202);
    let expected =
        ["tax_filing.submitted", "tax_liability.paid", "compliance_requirement.resolved"];
    assert_eq!(events_after(&caller, logged), expected);
    let resolved = requirements(&caller, "status=resolved");
    assert_eq!(resolved[0]["id"], late["id"]);
    assert!(resolved[0]["evidence"].is_null());
    let pension = requirements(&caller, "status=open");
    assert_eq!(pension.len(), 1, "the liability to the pension fund is still late");
    caller.audit();
}

#[test]
fn cancelling_a_run_resolves_the_requirement_for_its_late_taxes() {
    let caller = Caller::manual();
    let company = caller.company(0);
    let rule = json!({
        "match": {"decision": "payroll_run.fund"}, "outcome": {"then": "insufficient_funds"},
    });
    caller.post("/_sandbox/rules", &rule).expect(201);
    let run = caller.run_payroll(&company, "2026-01");
    caller.advance(&json!({"to": "2026-02-12T00:00:00Z"}));
    assert_eq!(requirements(&caller, "status=open").len(), 2);
    let target = format!("/api/business/payroll-runs/{}/cancel", id(&run));
    caller.post(&target, &json!({"reason": "No money"})).expect(200);
    assert_eq!(requirements(&caller, "status=resolved").len(), 2);
    let void = caller.all("/api/business/tax-liabilities?status=void");
    assert_eq!(void.len(), 5);
    assert_eq!(caller.advance(&json!({"until": "idle"})), [""; 0]);
    caller.audit();
}

#[test]
fn manual_transitions_of_requirements_liabilities_and_reports_act_like_the_clock() {
    let caller = Caller::manual();
    let moved = |resource: &str, to: &str| {
        let path = format!("/_sandbox/resources/{resource}/transition");
        caller.post(&path, &json!({"to": to}))
    };
    let (_, requirement) = create_company(&caller);
    let refused = moved(id(&requirement), "resolved").refused(409, "invalid_state_transition");
    assert_eq!(refused["allowed"], json!(["overdue"]));
    moved(id(&requirement), "overdue").expect(200);
    caller.run_payroll(&caller.company(0), "2026-01");
    caller.advance(&json!({"by": "2s"}));
    let owed = caller.all("/api/business/tax-liabilities?authority=SIRS").remove(0);
    let refused = moved(id(&owed), "late").refused(409, "invalid_state_transition");
    assert_eq!((&refused["current"], &refused["allowed"]), (&json!("accrued"), &json!(["due"])));
    moved(id(&owed), "due").expect(200);
    let late = moved(id(&owed), "late").expect(200);
    assert_eq!(late["data"]["status"], "late");
    assert_eq!(requirements(&caller, "subject_type=tax_liability").len(), 1);
    for answer in ["acknowledged", "rejected"] {
        let body = json!({
            "company_id": caller.company(0), "type": "payroll_summary", "period": "2025-12",
        });
        let report = caller.post("/api/business/regulatory-reports", &body).expect(201);
        let report = id(&report["data"]).to_owned();
        moved(&report, answer).refused(409, "invalid_state_transition");
        let target = format!("/api/business/regulatory-reports/{report}/submit");
        caller.post(&target, &json!({"declaration": "Ada Obi"})).expect(202);
        moved(&report, answer).expect(200);
    }
    let events = caller.advance(&json!({"by": "3bd"}));
    assert!(!events.iter().any(|name| name.starts_with("regulatory_report")), "{events:?}");
    caller.audit();
}

#[test]
fn events_of_taxes_requirements_and_reports_come_on_demand() {
    for caller in [Caller::instant(), Caller::manual()] {
        for name in [
            "tax_liability.due",
            "tax_liability.late",
            "tax_liability.paid",
            "tax_filing.created",
            "tax_filing.blocked",
            "tax_filing.submitted",
            "tax_filing.acknowledged",
            "tax_filing.filed",
            "tax_filing.rejected",
            "tax_filing.amended",
            "compliance_requirement.created",
            "compliance_requirement.overdue",
            "compliance_requirement.resolved",
            "company.status_changed",
            "regulatory_report.compiled",
            "regulatory_report.submitted",
            "regulatory_report.acknowledged",
            "regulatory_report.rejected",
        ] {
            let made = caller.post("/_sandbox/trigger", &json!({"type": name})).data();
            assert_eq!(made["event"]["type"], name);
        }
        caller.audit();
    }
    let caller = Caller::manual();
    let made = caller.post("/_sandbox/trigger", &json!({"type": "tax_filing.filed"})).data();
    let late = |event: &&Value| event["type"] == "tax_liability.late";
    assert_eq!(made["events"].as_array().unwrap().iter().find(late), None);
}
