//! The operations: tables of rows, the types of their inputs, and their handlers.
//!
//! May import `value`, `model`, `world` and `tester`. Deliberately absent: headers, keys, sockets. A handler sees only a world and a
//! decoded input; a control handler also sees the tester.

pub(crate) mod bind;
pub(crate) mod business;
pub(crate) mod capital;
pub(crate) mod check;
pub(crate) mod control;
pub(crate) mod crud;
pub(crate) mod host;
pub(crate) mod identity;
pub(crate) mod json;
pub(crate) mod list;
pub(crate) mod operation;
pub(crate) mod pay_history;
pub(crate) mod payments;
pub(crate) mod pdf;
pub(crate) mod prelude;
pub(crate) mod reply;
pub(crate) mod scripted;
pub(crate) mod system;
pub(crate) mod timers;

use crate::api::business::{
    accounting, audit_logs, cash_flow, companies, compliance, employee_pay, employee_verbs,
    employees, journal_entries, leave, pay_terms, payroll, payroll_draft, payroll_retry,
    payroll_reverse, payroll_verbs, payslips, regulatory_reports, reports, tax_amend, tax_filings,
    tax_liabilities, tax_submit,
};
use crate::api::capital::{
    applications, credit_scores, deal_verbs, deals, due_diligence, due_diligence_answers,
    insurance, loans, offers, readiness, repayments,
};
use crate::api::control::{
    clock, decisions, deliveries, diff, events, faults, inbound, intervene, limits, process,
    request_log, scenarios, snapshots, statement_truth, trigger, verify, webhooks, worlds,
};
use crate::api::identity::{
    alerts, bank_accounts, documents, screenings, subjects, trust_scores, verifications,
};
use crate::api::operation::Operation;
use crate::api::payments::{
    bank_statements, beneficiaries, collections, disputes, escrow_verbs, escrows, fx_quotes,
    fx_rates, fx_transfers, invoices, payout_create, payout_verbs, payouts, reconciliation,
    refunds, wallets,
};

/// The operations of the simulated product, by domain.
pub(crate) fn product() -> impl Iterator<Item = &'static Operation> {
    let tables = [
        companies::OPERATIONS,
        employees::OPERATIONS,
        employee_verbs::OPERATIONS,
        pay_terms::OPERATIONS,
        employee_pay::OPERATIONS,
        leave::OPERATIONS,
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
        compliance::OPERATIONS,
        audit_logs::OPERATIONS,
        regulatory_reports::OPERATIONS,
        accounting::OPERATIONS,
        journal_entries::OPERATIONS,
        reports::OPERATIONS,
        cash_flow::OPERATIONS,
        wallets::OPERATIONS,
        payouts::OPERATIONS,
        collections::OPERATIONS,
        invoices::OPERATIONS,
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

/// The operations of the control API under `/_sandbox`.
pub(crate) fn control() -> impl Iterator<Item = &'static Operation> {
    let tables = [
        process::OPERATIONS,
        clock::OPERATIONS,
        events::OPERATIONS,
        decisions::OPERATIONS,
        scenarios::OPERATIONS,
        intervene::OPERATIONS,
        trigger::OPERATIONS,
        inbound::OPERATIONS,
        statement_truth::OPERATIONS,
        webhooks::OPERATIONS,
        deliveries::OPERATIONS,
        snapshots::OPERATIONS,
        worlds::OPERATIONS,
        diff::OPERATIONS,
        faults::OPERATIONS,
        limits::OPERATIONS,
        request_log::OPERATIONS,
        verify::OPERATIONS,
    ];
    tables.into_iter().flatten()
}
