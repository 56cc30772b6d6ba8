//! The calls that a state can refuse, each with the lifecycle that it asks.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::api;
use crate::api::operation::Operation;
use crate::cli::scenario::lives::machines::Machine;
use crate::model::Kind;
use crate::value::ErrorCode;

/// A call that begins in some states only.
pub(super) struct Verb {
    pub(super) operation: &'static str,
    pub(super) kind: Kind,
    /// The member with the state that it asks.
    pub(super) machine: &'static str,
    /// The member of its input that names the resource.
    pub(super) member: &'static str,
    /// What it does, as the rows of the lifecycle call it.
    pub(super) verbs: &'static [&'static str],
    /// Further states in which it begins: it moves nothing there, or something else.
    pub(super) also: &'static [&'static str],
    /// Its input, where its own example would be another verb.
    pub(super) with: &'static str,
}

const BLANK: Verb = Verb {
    operation: "",
    kind: Kind::Company,
    machine: "status",
    member: "",
    verbs: &[],
    also: &[],
    with: "",
};

macro_rules! verb {
    ($operation:literal $kind:ident $member:literal $($verb:literal)* $(, $field:ident: $value:expr)*) => {
        Verb {
            operation: $operation,
            kind: Kind::$kind,
            member: $member,
            verbs: &[$($verb),*],
            $($field: $value,)*
            ..BLANK
        }
    };
}

impl Verb {
    /// Its input, but for the resource.
    pub(super) fn input(&self, row: &Operation) -> Value {
        let text = match (self.with, row.example) {
            ("", "") => "{}",
            ("", example) => example,
            (with, _) => with,
        };
        serde_json::from_str(text).expect("an input is JSON")
    }
}

/// Every one of them, by the resource that is asked.
#[expect(clippy::needless_update, reason = "one of the rows says all")]
pub(super) const VERBS: &[Verb] = &[
    verb!("suspend_employee" Employee "employee_id" "suspend"),
    verb!("activate_employee" Employee "employee_id" "activate"),
    verb!("terminate_employee" Employee "employee_id" "terminate"),
    verb!("set_employee_compensation" Employee "employee_id" "terminate"),
    verb!("create_leave_request" Employee "employee_id" "terminate"),
    verb!("verify_employee_payroll" Employee "employee_id" "verify", machine: "payroll_status"),
    verb!("set_employee_payment_method" Employee "employee_id" "set_payment_method", machine: "payroll_status"),
    verb!("decide_leave_request" LeaveRequest "leave_request_id" "approve"),
    verb!("decide_leave_request" LeaveRequest "leave_request_id" "decline", with: r#"{"decision":"decline"}"#),
    verb!("update_payroll_run" PayrollRun "payroll_run_id" "calculate" "edit", with: "{}"),
    verb!("calculate_payroll_run" PayrollRun "payroll_run_id" "calculate"),
    verb!("approve_payroll_run" PayrollRun "payroll_run_id" "approve"),
    verb!("cancel_payroll_run" PayrollRun "payroll_run_id" "cancel"),
    verb!("retry_payroll_funding" PayrollRun "payroll_run_id" "retry"),
    verb!("reverse_payroll_run" PayrollRun "payroll_run_id" "reverse"),
    verb!("retry_payroll_item" PayrollItem "payroll_item_id" "pay_again"),
    verb!("submit_tax_filing" TaxFiling "tax_filing_id" "submit" "unblock"),
    verb!("amend_tax_filing" TaxFiling "tax_filing_id" "amend"),
    verb!("submit_regulatory_report" RegulatoryReport "regulatory_report_id" "submit"),
    verb!("resolve_compliance_requirement" ComplianceRequirement "compliance_requirement_id" "resolve"),
    verb!("reverse_journal_entry" JournalEntry "journal_entry_id" "reverse"),
    verb!("approve_payout" Payout "payout_id" "queue"),
    verb!("cancel_payout" Payout "payout_id" "cancel"),
    verb!("fund_escrow" Escrow "escrow_id" "fund"),
    verb!("release_escrow" Escrow "escrow_id" "release_part" "release", with: "{}"),
    verb!("refund_escrow" Escrow "escrow_id" "refund" "cancel"),
    verb!("dispute_escrow" Escrow "escrow_id" "dispute"),
    verb!("respond_to_dispute" Dispute "dispute_id" "contest"),
    verb!("respond_to_dispute" Dispute "dispute_id" "accept", with: r#"{"action":"accept"}"#),
    // What has expired is a 422 of its own.
    verb!("create_fx_transfer" FxQuote "quote_id" "use", also: &["expired"]),
    verb!("cancel_collection" Collection "collection_id" "cancel"),
    verb!("create_refund" Collection "collection_id" "settle", also: &["settled"]),
    verb!("create_collection" Invoice "invoice_id" "pay_part" "pay"),
    verb!("send_invoice" Invoice "invoice_id" "send"),
    verb!("void_invoice" Invoice "invoice_id" "void"),
    verb!("resolve_reconciliation_match" ReconciliationMatch "match_id" "ignore"),
    verb!("resolve_reconciliation_match" ReconciliationMatch "match_id" "confirm", with: r#"{"action":"confirm"}"#),
    verb!("resolve_reconciliation_match" ReconciliationMatch "match_id" "reject", with: r#"{"action":"reject"}"#),
    // A subject whose case is open: where that stands.
    verb!("create_verification" Subject "subject_id" "submit", also: &["approved"]),
    verb!("submit_verification" Verification "verification_id" "submit"),
    verb!("review_verification" Verification "verification_id", also: &["in_review"]),
    verb!("cancel_verification" Verification "verification_id" "cancel"),
    verb!("resolve_aml_alert" AmlAlert "alert_id" "dismiss"),
    verb!("resolve_aml_alert" AmlAlert "alert_id" "confirm", with: r#"{"resolution":"true_positive","note":"The same"}"#),
    verb!("resolve_aml_alert" AmlAlert "alert_id" "escalate", with: r#"{"resolution":"escalate","note":"Have a look"}"#),
    verb!("respond_to_offer" Offer "offer_id" "accept"),
    verb!("respond_to_offer" Offer "offer_id" "decline", with: r#"{"decision":"decline"}"#),
    verb!("create_loan_repayment" Loan "loan_id" "repay"),
    // Of a deal that is open its stage is asked, of another one its end.
    verb!("advance_deal" Deal "deal_id", also: &["open"]),
    verb!("advance_deal" Deal "deal_id" "advance", machine: "stage", with: "{}"),
    verb!("close_deal" Deal "deal_id" "lose", with: r#"{"outcome":"lost"}"#),
    verb!("close_deal" Deal "deal_id" "withdraw"),
    verb!("close_deal" Deal "deal_id" "win", with: r#"{"outcome":"won","amount":1}"#),
    verb!("close_deal" Deal "deal_id", machine: "stage", also: &["closing"], with: r#"{"outcome":"won","amount":1}"#),
    verb!("open_due_diligence_case" Deal "deal_id", also: &["open"]),
    verb!("create_due_diligence_request" DueDiligenceCase "due_diligence_case_id", also: &["open"]),
    verb!("submit_due_diligence_request" DueDiligenceRequest "due_diligence_request_id" "submit"),
    verb!("review_due_diligence_request" DueDiligenceRequest "due_diligence_request_id" "waive"),
    verb!("review_due_diligence_request" DueDiligenceRequest "due_diligence_request_id" "accept", with: r#"{"decision":"accept"}"#),
    verb!("review_due_diligence_request" DueDiligenceRequest "due_diligence_request_id" "reject", with: r#"{"decision":"reject"}"#),
];

/// The states in which a call has to be refused.
pub(super) fn wrong_states(verb: &Verb, machine: &Machine) -> Vec<&'static str> {
    let starts = machine.starts(verb.verbs);
    let states = machine.states.iter().copied();
    states.filter(|state| !starts.contains(state) && !verb.also.contains(state)).collect()
}

#[test]
fn the_list_has_every_call_that_a_state_can_refuse() {
    let refusing =
        api::product().filter(|row| row.errors.contains(&ErrorCode::InvalidStateTransition));
    let refusing: BTreeSet<&str> = refusing.map(|row| row.name).collect();
    let listed: BTreeSet<&str> = VERBS.iter().map(|verb| verb.operation).collect();
    assert_eq!(listed, refusing);
}
