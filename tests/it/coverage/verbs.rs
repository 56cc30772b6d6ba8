//! The calls that a state can refuse, each with its lifecycle.

use std::collections::BTreeSet;

use serde_json::Value;

use super::machines::Machine;
use super::operations;

/// A call that begins in some states only.
pub(super) struct Verb {
    pub(super) operation: &'static str,
    pub(super) kind: &'static str,
    /// The member with the state that the call depends on.
    pub(super) machine: &'static str,
    /// The member of its input that names the resource.
    pub(super) member: &'static str,
    /// What it does, in the words of the lifecycle.
    pub(super) verbs: &'static [&'static str],
    /// Further states in which the call is accepted: it has no effect there, or another effect.
    pub(super) also: &'static [&'static str],
    /// Its body, where the document's example would be another verb.
    pub(super) with: &'static str,
}

const BLANK: Verb = Verb {
    operation: "",
    kind: "",
    machine: "status",
    member: "",
    verbs: &[],
    also: &[],
    with: "",
};

macro_rules! verb {
    ($operation:literal $kind:literal $member:literal $($verb:literal)* $(, $field:ident: $value:expr)*) => {
        Verb {
            operation: $operation,
            kind: $kind,
            member: $member,
            verbs: &[$($verb),*],
            $($field: $value,)*
            ..BLANK
        }
    };
}

impl Verb {
    /// Its body, with ids of another world where it is the document's example.
    pub(super) fn body(&self) -> Value {
        if !self.with.is_empty() {
            return serde_json::from_str(self.with).unwrap();
        }
        let content = &operations()[self.operation]["requestBody"]["content"]["application/json"];
        let examples = content["examples"].as_object().into_iter().flatten();
        let mut values = examples.map(|(_, example)| example["value"].clone());
        values.next().unwrap_or_else(|| serde_json::json!({}))
    }
}

/// All such calls, by resource.
#[expect(clippy::needless_update, reason = "one of the rows sets every field")]
pub(super) const VERBS: &[Verb] = &[
    verb!("suspendEmployee" "employee" "employee_id" "suspend"),
    verb!("activateEmployee" "employee" "employee_id" "activate"),
    verb!("terminateEmployee" "employee" "employee_id" "terminate"),
    verb!("setEmployeeCompensation" "employee" "employee_id" "terminate"),
    verb!("createLeaveRequest" "employee" "employee_id" "terminate"),
    verb!("verifyEmployeePayroll" "employee" "employee_id" "verify", machine: "payroll_status"),
    verb!("setEmployeePaymentMethod" "employee" "employee_id" "set_payment_method", machine: "payroll_status"),
    verb!("decideLeaveRequest" "leave_request" "leave_request_id" "approve"),
    verb!("decideLeaveRequest" "leave_request" "leave_request_id" "decline", with: r#"{"decision":"decline"}"#),
    verb!("endPaySchedule" "pay_schedule" "pay_schedule_id" "end"),
    verb!("updatePayrollRun" "payroll_run" "payroll_run_id" "calculate" "edit", with: "{}"),
    verb!("calculatePayrollRun" "payroll_run" "payroll_run_id" "calculate"),
    verb!("approvePayrollRun" "payroll_run" "payroll_run_id" "approve"),
    verb!("cancelPayrollRun" "payroll_run" "payroll_run_id" "cancel"),
    verb!("retryPayrollFunding" "payroll_run" "payroll_run_id" "retry"),
    verb!("reversePayrollRun" "payroll_run" "payroll_run_id" "reverse"),
    verb!("retryPayrollItem" "payroll_item" "payroll_item_id" "pay_again"),
    verb!("submitTaxFiling" "tax_filing" "tax_filing_id" "submit" "unblock"),
    verb!("amendTaxFiling" "tax_filing" "tax_filing_id" "amend"),
    verb!("submitRegulatoryReport" "regulatory_report" "regulatory_report_id" "submit"),
    verb!("resolveComplianceRequirement" "compliance_requirement" "compliance_requirement_id" "resolve"),
    verb!("reverseJournalEntry" "journal_entry" "journal_entry_id" "reverse"),
    verb!("reopenAccountingPeriod" "accounting_period" "accounting_period_id" "reopen"),
    verb!("approvePayout" "payout" "payout_id" "queue"),
    verb!("cancelPayout" "payout" "payout_id" "cancel"),
    verb!("fundEscrow" "escrow" "escrow_id" "fund"),
    verb!("releaseEscrow" "escrow" "escrow_id" "release_part" "release", with: "{}"),
    verb!("refundEscrow" "escrow" "escrow_id" "refund" "cancel"),
    verb!("disputeEscrow" "escrow" "escrow_id" "dispute"),
    verb!("respondToDispute" "dispute" "dispute_id" "contest"),
    verb!("respondToDispute" "dispute" "dispute_id" "accept", with: r#"{"action":"accept"}"#),
    // An expired quote has a refusal of its own: 422.
    verb!("createFxTransfer" "fx_quote" "quote_id" "use", also: &["expired"]),
    verb!("cancelCollection" "collection" "collection_id" "cancel"),
    verb!("createRefund" "collection" "collection_id" "settle", also: &["settled"]),
    verb!("createCollection" "invoice" "invoice_id" "pay_part" "pay"),
    verb!("createCollection" "mandate" "mandate_id", also: &["active"], with: r#"{"company_id":"-","amount":100,"currency":"GBP","method":"direct_debit","reference":"BY-MANDATE"}"#),
    // A pending beneficiary can also be one whose bank is asked, or whose amounts are on their way.
    verb!("sendMicroDeposits" "beneficiary" "beneficiary_id" "verify"),
    verb!("confirmMicroDeposits" "beneficiary" "beneficiary_id" "verify"),
    verb!("revokeMandate" "mandate" "mandate_id" "revoke"),
    verb!("sendInvoice" "invoice" "invoice_id" "send"),
    verb!("voidInvoice" "invoice" "invoice_id" "void"),
    verb!("writeOffInvoice" "invoice" "invoice_id" "write_off"),
    verb!("approveBill" "bill" "bill_id" "approve"),
    verb!("voidBill" "bill" "bill_id" "void"),
    verb!("payBill" "bill" "bill_id" "pay_part" "pay"),
    verb!("resolveReconciliationMatch" "reconciliation_match" "match_id" "ignore"),
    verb!("resolveReconciliationMatch" "reconciliation_match" "match_id" "confirm", with: r#"{"action":"confirm"}"#),
    verb!("resolveReconciliationMatch" "reconciliation_match" "match_id" "reject", with: r#"{"action":"reject"}"#),
    // A subject whose verification is open is refused with the state of that verification.
    verb!("createVerification" "subject" "subject_id" "submit", also: &["approved"]),
    verb!("submitVerification" "verification" "verification_id" "submit"),
    verb!("reviewVerification" "verification" "verification_id", also: &["in_review"]),
    verb!("cancelVerification" "verification" "verification_id" "cancel"),
    verb!("resolveAmlAlert" "aml_alert" "alert_id" "dismiss"),
    verb!("resolveAmlAlert" "aml_alert" "alert_id" "confirm", with: r#"{"resolution":"true_positive","note":"The same"}"#),
    verb!("resolveAmlAlert" "aml_alert" "alert_id" "escalate", with: r#"{"resolution":"escalate","note":"Have a look"}"#),
    verb!("respondToOffer" "offer" "offer_id" "accept"),
    verb!("respondToOffer" "offer" "offer_id" "decline", with: r#"{"decision":"decline"}"#),
    verb!("createLoanRepayment" "loan" "loan_id" "repay"),
    // An open deal is refused for its stage, another one for its status.
    verb!("advanceDeal" "deal" "deal_id", also: &["open"]),
    verb!("advanceDeal" "deal" "deal_id" "advance", machine: "stage", with: "{}"),
    verb!("closeDeal" "deal" "deal_id" "lose", with: r#"{"outcome":"lost"}"#),
    verb!("closeDeal" "deal" "deal_id" "withdraw"),
    verb!("closeDeal" "deal" "deal_id" "win", with: r#"{"outcome":"won","amount":1}"#),
    verb!("closeDeal" "deal" "deal_id", machine: "stage", also: &["closing"], with: r#"{"outcome":"won","amount":1}"#),
    verb!("openDueDiligenceCase" "deal" "deal_id", also: &["open"]),
    verb!("createDueDiligenceRequest" "due_diligence_case" "due_diligence_case_id", also: &["open"]),
    verb!("submitDueDiligenceRequest" "due_diligence_request" "due_diligence_request_id" "submit"),
    verb!("reviewDueDiligenceRequest" "due_diligence_request" "due_diligence_request_id" "waive"),
    verb!("reviewDueDiligenceRequest" "due_diligence_request" "due_diligence_request_id" "accept", with: r#"{"decision":"accept"}"#),
    verb!("reviewDueDiligenceRequest" "due_diligence_request" "due_diligence_request_id" "reject", with: r#"{"decision":"reject"}"#),
];

/// The states in which a call must be refused.
pub(super) fn wrong_states(verb: &Verb, machine: &Machine) -> Vec<&'static str> {
    let starts = machine.starts(verb.verbs);
    let states = machine.states.iter().copied();
    states.filter(|state| !starts.contains(state) && !verb.also.contains(state)).collect()
}

#[test]
fn the_list_has_every_call_that_a_state_can_refuse() {
    let refuses = |row: &Value| row.to_string().contains("\"invalid_state_transition\"");
    let rows = operations().into_iter().filter(|(_, row)| refuses(&row["responses"]));
    let refusing: BTreeSet<&str> = rows.map(|(name, _)| name).collect();
    let listed: BTreeSet<&str> = VERBS.iter().map(|verb| verb.operation).collect();
    assert_eq!(listed, refusing);
}
