//! Compares the operation table with the catalogue of the service's operations. None is missing, and
//! additional ones are listed.

use std::collections::BTreeSet;

use crate::harness::contract::product;

/// `operationId METHOD path` of every operation of the catalogue, in its order.
const CATALOGUE: &str = include_str!("goldens/catalogue.txt");

/// Operations beyond the catalogue, by name: they read resources that an operation of the catalogue returns or names, or belong to an area
/// that it does not have.
const BEYOND: &[&str] = &[
    "approveBill POST /api/payments/bills/{}/approve",
    "closeAccountingPeriod POST /api/business/accounting-periods",
    "closeAccountingYear POST /api/business/accounting-years",
    "confirmMicroDeposits POST /api/payments/beneficiaries/{}/micro-deposits/confirm",
    "createBill POST /api/payments/bills",
    "createMandate POST /api/payments/mandates",
    "createPaySchedule POST /api/business/pay-schedules",
    "endPaySchedule POST /api/business/pay-schedules/{}/end",
    "getAccountingPeriod GET /api/business/accounting-periods/{}",
    "getAgedPayables GET /api/business/reports/aged-payables",
    "getAgedReceivables GET /api/business/reports/aged-receivables",
    "getBankStatement GET /api/payments/bank-statements/{}",
    "getBill GET /api/payments/bills/{}",
    "getInvoicePdf GET /api/payments/invoices/{}/pdf",
    "getLeaveBalance GET /api/business/employees/{}/leave-balance",
    "getLeaveRequest GET /api/business/leave-requests/{}",
    "getLoanRepayment GET /api/capital/loan-repayments/{}",
    "getMandate GET /api/payments/mandates/{}",
    "getPaySchedule GET /api/business/pay-schedules/{}",
    "getPayrollVerification GET /api/business/payroll-verifications/{}",
    "getPayslipPdf GET /api/business/payslips/{}/pdf",
    "getTaxDocument GET /api/business/tax-documents/{}",
    "getTaxDocumentPdf GET /api/business/tax-documents/{}/pdf",
    "listAccountingPeriods GET /api/business/accounting-periods",
    "listBills GET /api/payments/bills",
    "listCreditScores GET /api/capital/credit-scores",
    "listFxTransfers GET /api/payments/fx-transfers",
    "listInsuranceRiskScores GET /api/capital/insurance-risk-scores",
    "listLoanRepayments GET /api/capital/loans/{}/repayments",
    "listMandates GET /api/payments/mandates",
    "listPayPeriods GET /api/business/pay-schedules/{}/periods",
    "listPaySchedules GET /api/business/pay-schedules",
    "listReadinessAssessments GET /api/capital/readiness-assessments",
    "listRefunds GET /api/payments/refunds",
    "listTaxDocuments GET /api/business/tax-documents",
    "listTrustScores GET /api/identity/trust-scores",
    "payBill POST /api/payments/bills/{}/pay",
    "reopenAccountingPeriod POST /api/business/accounting-periods/{}/reopen",
    "revokeMandate POST /api/payments/mandates/{}/revoke",
    "sendMicroDeposits POST /api/payments/beneficiaries/{}/micro-deposits",
    "voidBill POST /api/payments/bills/{}/void",
    "writeOffInvoice POST /api/payments/invoices/{}/write-off",
];

/// A path without the names of its parameters, because names may differ.
fn shape(path: &str) -> String {
    let nameless = |part| {
        if str::starts_with(part, '{') { "{}" } else { part }
    };
    let parts = path.split('/').map(nameless);
    parts.collect::<Vec<_>>().join("/")
}

#[test]
fn every_operation_of_the_catalogue_is_served_and_others_are_listed() {
    let catalogue: BTreeSet<String> = CATALOGUE.lines().map(shape).collect();
    let mut served = BTreeSet::new();
    for (path, methods) in product()["paths"].as_object().unwrap() {
        for (method, row) in methods.as_object().unwrap() {
            let name = row["operationId"].as_str().unwrap();
            served.insert(format!("{name} {} {}", method.to_uppercase(), shape(path)));
        }
    }
    assert_eq!(catalogue.len(), 134, "the number that the catalogue states");
    let missing: Vec<_> = catalogue.difference(&served).collect();
    assert!(missing.is_empty(), "not served: {missing:#?}");
    let beyond: Vec<_> = served.difference(&catalogue).collect();
    assert_eq!(beyond, BEYOND.iter().collect::<Vec<_>>());
}
