//! Recipes for errors that need a special state, and the lists of errors without a recipe.

use serde_json::json;

use crate::harness::world::id;
use crate::harness::{Answer, Caller};

/// Codes of the wire, which any row can return and which other tests check.
pub(super) const ELSEWHERE: &[(&str, &str)] = &[
    ("missing_credentials", "tests/it/errors/keys.rs"),
    ("invalid_api_key", "tests/it/errors/keys.rs"),
    ("live_key_refused", "tests/it/errors/keys.rs"),
    ("invalid_header", "tests/it/headers.rs"),
    // Rows that cannot have two valid bodies; the others are produced here.
    ("idempotency_key_reused", "tests/it/idempotency.rs"),
    ("unknown_scenario", "tests/it/outside"),
    ("rate_limited", "tests/it/faults/limits.rs"),
    ("internal_error", "a bug, or a fault: tests/it/faults"),
    ("upstream_rail_error", "by a fault alone: tests/it/faults"),
    ("upstream_timeout", "by a fault alone: tests/it/faults"),
    ("maintenance", "by a fault alone: tests/it/faults"),
    ("overloaded", "by a fault alone, or a full server: src/io/tests"),
    ("request_timeout", "a body that drips: src/io/tests/time.rs"),
    ("idempotency_request_in_progress", "two calls at one moment: tests/it/idempotency.rs"),
];

/// Operation, code, and the calls that end in it.
type Recipe = (&'static str, &'static str, fn(&Caller) -> Answer);

pub(super) const RECIPES: &[Recipe] = &[
    ("resolveAmlAlert", "precondition_failed", |caller| {
        let path = alert_after(caller, "aml_alert.opened");
        let request = caller.request("POST", &path);
        caller.send(&request.header("If-Match", "\"stale\"").json(&dismissal()))
    }),
    ("resolveAmlAlert", "invalid_state_transition", |caller| {
        let path = alert_after(caller, "aml_alert.dismissed");
        caller.post(&path, &dismissal())
    }),
    ("respondToDispute", "precondition_failed", |caller| {
        let cause = json!({"type": "dispute.created"});
        caller.post("/_sandbox/trigger", &cause).expect(200);
        let disputes = caller.get("/api/payments/disputes").expect(200);
        let path = format!("/api/payments/disputes/{}/respond", id(&disputes["data"][0]));
        let request = caller.request("POST", &path).header("If-Match", "\"stale\"");
        caller.send(&request.json(&json!({"action": "accept"})))
    }),
    ("respondToOffer", "resource_not_found", |caller| {
        let path = "/api/capital/offers/ofr_0000000000000/respond";
        caller.post(path, &json!({"decision": "decline"}))
    }),
    ("getLoan", "resource_not_found", |caller| caller.get("/api/capital/loans/lon_0000000000000")),
    ("createLoanRepayment", "resource_not_found", |caller| {
        let wallets = caller.get("/api/payments/wallets").expect(200);
        let path = "/api/capital/loans/lon_0000000000000/repayments";
        let body = json!({"amount": 1, "wallet_id": id(&wallets["data"][0])});
        caller.post(path, &body)
    }),
    ("createLoanRepayment", "precondition_failed", |caller| {
        let cause = json!({"type": "loan.disbursed"});
        caller.post("/_sandbox/trigger", &cause).expect(200);
        let loans = caller.get("/api/capital/loans").expect(200);
        let loan = &loans["data"][0];
        let path = format!("/api/capital/loans/{}/repayments", id(loan));
        let request = caller.request("POST", &path);
        let request = request.header("If-Match", "\"stale\"");
        caller.send(&request.json(&json!({"amount": 1, "wallet_id": loan["wallet_id"]})))
    }),
    ("runPayroll", "payroll_period_already_run", |caller| {
        let company = caller.company(0);
        caller.run_payroll(&company, "2026-01");
        run(caller, &company, "/v1/payroll/run")
    }),
    ("createPayrollRun", "payroll_period_already_run", |caller| {
        let company = caller.company(0);
        caller.run_payroll(&company, "2026-01");
        run(caller, &company, "/api/business/payroll-runs")
    }),
    ("runPayroll", "employee_not_payable", |caller| {
        not_payable(caller, "/v1/payroll/run", "employees")
    }),
    ("createPayrollRun", "employee_not_payable", |caller| {
        not_payable(caller, "/api/business/payroll-runs", "employee_ids")
    }),
    ("runPayroll", "company_suspended", |caller| {
        let company = caller.company(0);
        suspend(caller, &company);
        run(caller, &company, "/v1/payroll/run")
    }),
    ("runPayroll", "compliance_blocked", |caller| {
        let body = json!({"legal_name": "Lagos Bakery Ltd", "country": "NG", "currency": "NGN"});
        let company = caller.post("/api/business/companies", &body).expect(201);
        run(caller, id(&company["data"]), "/v1/payroll/run")
    }),
    ("createPayrollRun", "cutoff_passed", |caller| {
        let body =
            json!({"company_id": caller.company(0), "period": "2026-01", "pay_date": "2025-12-30"});
        caller.post("/api/business/payroll-runs", &body)
    }),
    ("createEmployee", "currency_mismatch", |caller| {
        let pay = json!({"amount": 100_000, "currency": "JPY", "interval": "month"});
        let body = json!({"company_id": caller.company(0), "name": "Ada Obi", "role": "Cook", "department": "Kitchen",
            "start_date": "2026-02-02", "compensation": pay});
        caller.post("/api/business/employees", &body)
    }),
    ("createFxTransfer", "compliance_blocked", |caller| {
        let body = json!({"legal_name": "Lagos Bakery Ltd", "country": "NG", "currency": "NGN"});
        let company = caller.post("/api/business/companies", &body).expect(201)["data"].take();
        let quote = json!({"company_id": id(&company), "source_currency": "NGN", "target_currency": "GBP", "source_amount": 5_000_000});
        let quote = caller.post("/api/payments/fx-quotes", &quote).expect(201)["data"].take();
        let wallets = format!("/api/payments/wallets?company_id={}", id(&company));
        let wallet = caller.get(&wallets).data()[0].take();
        let body = json!({"quote_id": id(&quote), "source_wallet_id": id(&wallet)});
        caller.post("/api/payments/fx-transfers", &body)
    }),
    ("createJournalEntry", "unbalanced_entry", |caller| {
        let line = |account, direction, amount| json!({"account": account, "direction": direction, "amount": amount, "currency": "NGN"});
        let lines = [line("rent", "debit", 200), line("fees", "credit", 100)];
        let body = json!({"company_id": caller.company(0), "effective_on": "2026-01-01", "memo": "Half", "lines": lines});
        caller.post("/api/business/journal-entries", &body)
    }),
];

/// Operation, code, and the test that produces it in its own world.
pub(super) const BY_A_TEST: &[(&str, &str, &str)] = &[
    ("createCollection", "company_suspended", "tests/it/collections/asked.rs"),
    ("createCollection", "compliance_blocked", "tests/it/collections/asked.rs"),
    ("createCollection", "duplicate_reference", "tests/it/collections/asked.rs"),
    ("createCollection", "limit_exceeded", "tests/it/collections/asked.rs"),
    ("createCollection", "currency_mismatch", "tests/it/collections/invoices.rs"),
    ("createCollection", "invalid_state_transition", "tests/it/collections/invoices.rs"),
    ("sendInvoice", "company_suspended", "tests/it/collections/invoices.rs"),
    ("sendInvoice", "compliance_blocked", "tests/it/collections/invoices.rs"),
    ("sendInvoice", "duplicate_reference", "tests/it/collections/invoices.rs"),
    ("sendInvoice", "limit_exceeded", "tests/it/collections/invoices.rs"),
    ("createRefund", "insufficient_funds", "tests/it/collections/refunds.rs"),
    ("createRefund", "invalid_state_transition", "tests/it/collections/refunds.rs"),
    ("respondToDispute", "invalid_state_transition", "tests/it/collections/disputes.rs"),
    ("setEmployeeCompensation", "currency_mismatch", "tests/it/employees/terms.rs"),
    ("updatePayrollRun", "cutoff_passed", "tests/it/payroll_runs/refusals.rs"),
    ("updatePayrollRun", "employee_not_payable", "tests/it/payroll_runs/refusals.rs"),
    ("updatePayrollRun", "payroll_period_already_run", "tests/it/payroll_runs/refusals.rs"),
    ("approvePayrollRun", "company_suspended", "tests/it/payroll_runs/refusals.rs"),
    ("approvePayrollRun", "compliance_blocked", "tests/it/payroll_runs/refusals.rs"),
    ("retryPayrollItem", "employee_not_payable", "tests/it/payroll_runs/undone.rs"),
    ("retryPayrollItem", "insufficient_funds", "tests/it/payroll_runs/undone.rs"),
    ("createFxTransfer", "quote_expired", "tests/it/fx/quotes.rs"),
    ("createFxTransfer", "currency_mismatch", "tests/it/fx/transfers.rs"),
    ("createFxTransfer", "insufficient_funds", "tests/it/fx/transfers.rs"),
    ("createFxTransfer", "limit_exceeded", "tests/it/fx/transfers.rs"),
    ("createFxTransfer", "company_suspended", "tests/it/fx/transfers.rs"),
    ("submitTaxFiling", "insufficient_funds", "tests/it/tax_filings/amended.rs"),
    ("createJournalEntry", "insufficient_funds", "tests/it/accounting/entries.rs"),
    ("createJournalEntry", "limit_exceeded", "tests/it/accounting/entries.rs"),
    ("reverseJournalEntry", "insufficient_funds", "tests/it/accounting/entries.rs"),
    ("reverseJournalEntry", "limit_exceeded", "tests/it/accounting/entries.rs"),
    ("createApplication", "compliance_blocked", "tests/it/capital/refusals.rs"),
    ("createApplication", "company_suspended", "tests/it/capital/refusals.rs"),
    ("createApplication", "currency_mismatch", "tests/it/capital/refusals.rs"),
    ("respondToOffer", "currency_mismatch", "tests/it/capital/refusals.rs"),
    ("respondToOffer", "limit_exceeded", "tests/it/capital/refusals.rs"),
    ("respondToOffer", "compliance_blocked", "tests/it/capital/refusals.rs"),
    ("respondToOffer", "company_suspended", "tests/it/capital/refusals.rs"),
    ("createLoanRepayment", "invalid_state_transition", "tests/it/capital/refusals.rs"),
    ("createLoanRepayment", "currency_mismatch", "tests/it/capital/refusals.rs"),
    ("createLoanRepayment", "insufficient_funds", "tests/it/capital/refusals.rs"),
    ("openDueDiligenceCase", "invalid_state_transition", "tests/it/capital/due_diligence.rs"),
    ("openDueDiligenceCase", "duplicate_reference", "tests/it/capital/due_diligence.rs"),
    ("createDueDiligenceRequest", "invalid_state_transition", "tests/it/capital/due_diligence.rs"),
    ("createDeal", "currency_mismatch", "tests/it/capital/deals.rs"),
    ("advanceDeal", "stage_guard_failed", "tests/it/capital/deals.rs"),
    ("closeDeal", "compliance_blocked", "tests/it/capital/deals.rs"),
    ("closeDeal", "company_suspended", "tests/it/capital/deals.rs"),
    ("closeDeal", "limit_exceeded", "tests/it/capital/deals.rs"),
    ("createReadinessAssessment", "currency_mismatch", "tests/it/capital/refusals.rs"),
    ("createInsuranceRiskScore", "currency_mismatch", "tests/it/capital/refusals.rs"),
    ("createPayout", "company_suspended", "tests/it/payouts/refusals.rs"),
    ("createPayout", "compliance_blocked", "tests/it/payouts/refusals.rs"),
    ("createPayout", "currency_mismatch", "tests/it/payouts/refusals.rs"),
    ("createPayout", "insufficient_funds", "tests/it/payouts/refusals.rs"),
    ("approvePayout", "company_suspended", "tests/it/payouts/refusals.rs"),
    ("approvePayout", "compliance_blocked", "tests/it/payouts/refusals.rs"),
    ("approvePayout", "forbidden", "tests/it/payouts/words.rs"),
    ("cancelPayout", "limit_exceeded", "tests/it/payouts/refusals.rs"),
    ("createEscrow", "currency_mismatch", "tests/it/escrows/refusals.rs"),
    ("fundEscrow", "company_suspended", "tests/it/escrows/refusals.rs"),
    ("fundEscrow", "compliance_blocked", "tests/it/escrows/refusals.rs"),
    ("fundEscrow", "insufficient_funds", "tests/it/escrows/refusals.rs"),
    ("releaseEscrow", "company_suspended", "tests/it/escrows/refusals.rs"),
    ("releaseEscrow", "compliance_blocked", "tests/it/escrows/refusals.rs"),
    ("releaseEscrow", "invalid_state_transition", "tests/it/escrows/states.rs"),
    ("refundEscrow", "limit_exceeded", "tests/it/escrows/refusals.rs"),
];

fn run(caller: &Caller, company: &str, path: &str) -> Answer {
    caller.post(path, &json!({"company_id": company, "period": "2026-01"}))
}

/// The path that resolves the alert of that event.
fn alert_after(caller: &Caller, event: &str) -> String {
    caller.post("/_sandbox/trigger", &json!({"type": event})).expect(200);
    let alert = caller.all("/api/identity/aml-alerts").remove(0);
    format!("/api/identity/aml-alerts/{}/resolve", id(&alert))
}

fn dismissal() -> serde_json::Value {
    json!({"resolution": "false_positive", "note": "Another person"})
}

fn suspend(caller: &Caller, company: &str) {
    let path = format!("/_sandbox/resources/{company}/transition");
    let body = json!({"to": "suspended", "reason": "asked by a test"});
    caller.post(&path, &body).expect(200);
}

/// An employee of the first company whose payroll is not verified.
fn not_payable(caller: &Caller, path: &str, member: &str) -> Answer {
    let company = caller.company(0);
    let people = caller.all(&format!("/api/business/employees?company_id={company}"));
    let one = people.iter().find(|one| one["payroll_status"] != "verified");
    let one = id(one.expect("an employee is not verified")).to_owned();
    caller.post(path, &json!({"company_id": company, "period": "2026-01", member: [one]}))
}
