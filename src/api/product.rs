//! The table of the product: every operation of its domains.

use crate::api::business::{
    accounting, accounting_periods, aged_reports, audit_logs, cash_flow, companies, compliance,
    employee_pay, employee_verbs, employees, journal_entries, leave, leave_balance, pay_schedules,
    pay_terms, payroll, payroll_draft, payroll_retry, payroll_reverse, payroll_verbs, payslips,
    regulatory_reports, reports, tax_amend, tax_documents, tax_filings, tax_liabilities,
    tax_submit, trial_balance,
};
use crate::api::capital::{
    applications, credit_scores, deal_verbs, deals, due_diligence, due_diligence_answers,
    insurance, loans, offers, readiness, repayments,
};
use crate::api::identity::{
    alerts, bank_accounts, documents, screenings, subjects, trust_scores, verifications,
};
use crate::api::operation::Operation;
use crate::api::payments::{
    bad_debts, bank_statements, beneficiaries, bills, collections, disputes, escrow_verbs, escrows,
    fx_quotes, fx_rates, fx_transfers, invoices, payout_create, payout_verbs, payouts,
    reconciliation, refunds, wallets,
};

/// The operations of the simulated product, by domain.
pub(crate) fn product() -> impl Iterator<Item = &'static Operation> {
    let tables = [
        companies::OPERATIONS,
        employees::OPERATIONS,
        employee_verbs::OPERATIONS,
        pay_schedules::OPERATIONS,
        pay_terms::OPERATIONS,
        employee_pay::OPERATIONS,
        leave::OPERATIONS,
        leave_balance::OPERATIONS,
        payroll::OPERATIONS,
        payroll_draft::OPERATIONS,
        payroll_verbs::OPERATIONS,
        payroll_reverse::OPERATIONS,
        payroll_retry::OPERATIONS,
        payslips::OPERATIONS,
        tax_liabilities::OPERATIONS,
        tax_filings::OPERATIONS,
        tax_submit::OPERATIONS,
        tax_amend::OPERATIONS,
        tax_documents::OPERATIONS,
        compliance::OPERATIONS,
        audit_logs::OPERATIONS,
        regulatory_reports::OPERATIONS,
        accounting::OPERATIONS,
        journal_entries::OPERATIONS,
        accounting_periods::OPERATIONS,
        reports::OPERATIONS,
        trial_balance::OPERATIONS,
        aged_reports::OPERATIONS,
        cash_flow::OPERATIONS,
        wallets::OPERATIONS,
        payouts::OPERATIONS,
        collections::OPERATIONS,
        invoices::OPERATIONS,
        bad_debts::OPERATIONS,
        bills::OPERATIONS,
        refunds::OPERATIONS,
        fx_quotes::OPERATIONS,
        fx_transfers::OPERATIONS,
        fx_rates::OPERATIONS,
        beneficiaries::OPERATIONS,
        payout_create::OPERATIONS,
        payout_verbs::OPERATIONS,
        escrows::OPERATIONS,
        escrow_verbs::OPERATIONS,
        disputes::OPERATIONS,
        bank_statements::OPERATIONS,
        reconciliation::OPERATIONS,
        subjects::OPERATIONS,
        documents::OPERATIONS,
        verifications::OPERATIONS,
        readiness::OPERATIONS,
        due_diligence::OPERATIONS,
        due_diligence_answers::OPERATIONS,
        deals::OPERATIONS,
        deal_verbs::OPERATIONS,
        credit_scores::OPERATIONS,
        insurance::OPERATIONS,
        applications::OPERATIONS,
        offers::OPERATIONS,
        loans::OPERATIONS,
        repayments::OPERATIONS,
        screenings::OPERATIONS,
        alerts::OPERATIONS,
        trust_scores::OPERATIONS,
        bank_accounts::OPERATIONS,
    ];
    tables.into_iter().flatten()
}
