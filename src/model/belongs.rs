//! The parent of each kind that has a `company_id`: a created resource is numbered below its parent.
//!
//! The other kinds define their parent in their own files.

use crate::model::business::{
    AccountingPeriod, ComplianceRequirement, Employee, LeaveRequest, PaySchedule, PayrollItem,
    PayrollRun, PayrollVerification, Payslip, RegulatoryReport, TaxFiling,
};
use crate::model::capital::{
    Application, CreditScore, Deal, DueDiligenceCase, DueDiligenceRequest, InsuranceRiskScore,
    Loan, LoanRepayment, Offer, ReadinessAssessment,
};
use crate::model::ledger::{JournalEntry, WalletTransaction};
use crate::model::payments::{
    BankStatement, Beneficiary, Bill, Collection, Dispute, Escrow, FxQuote, FxTransfer, Invoice,
    Mandate, Payout, ReconciliationMatch, Refund, Wallet,
};
use crate::value::Id;

macro_rules! belongs {
    ($($parent:ident: $($kind:ident)*;)*) => {$($(
        impl $kind {
            pub(crate) const fn parent_bits(&self) -> u64 {
                self.$parent.bits()
            }

            pub(crate) const fn company_of(&self) -> Id<$crate::model::business::Company> {
                self.company_id
            }
        }
    )*)*};
}

belongs! {
    application_id: Offer;
    collection_id: Refund;
    company_id:
        AccountingPeriod Application Beneficiary Bill Collection ComplianceRequirement CreditScore
        Deal Dispute DueDiligenceCase Employee Escrow
        FxQuote FxTransfer InsuranceRiskScore Invoice JournalEntry
        Loan Mandate PaySchedule Payout PayrollRun ReadinessAssessment RegulatoryReport
        TaxFiling Wallet;
    due_diligence_case_id: DueDiligenceRequest;
    employee_id: LeaveRequest PayrollVerification Payslip;
    loan_id: LoanRepayment;
    payroll_run_id: PayrollItem;
    statement_id: ReconciliationMatch;
    wallet_id: BankStatement WalletTransaction;
}
