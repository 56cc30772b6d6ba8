//! The reasons in refusals of manual transitions: what else moves a resource, and why a move did not reach its target.

use crate::api::business::payroll_people::may_pay;
use crate::api::identity::alert_facts;
use crate::model::business::{Company, LiabilityStatus, RunStatus};
use crate::model::capital::LoanStatus;
use crate::model::identity::RejectLabel;
use crate::model::{AnyId, Kind, Record, TaskKind};
use crate::value::Id;
use crate::world::World;

/// What moves a resource of that kind, other than a manual transition.
pub(super) const fn moved_by(kind: Kind) -> &'static str {
    match kind {
        Kind::Employee => "activateEmployee, suspendEmployee and terminateEmployee move it",
        Kind::LeaveRequest => "decideLeaveRequest moves it",
        Kind::PayrollRun => {
            "calculatePayrollRun, updatePayrollRun, approvePayrollRun, cancelPayrollRun, \
                retryPayrollFunding, reversePayrollRun and its payouts move it"
        }
        Kind::TaxFiling => "submitTaxFiling, amendTaxFiling and its tax liabilities move it",
        Kind::TaxLiability => "submitTaxFiling pays it, and its run or invoice makes it void",
        Kind::ComplianceRequirement => "resolveComplianceRequirement resolves it",
        Kind::RegulatoryReport => "submitRegulatoryReport submits it",
        Kind::FxQuote => "createFxTransfer uses it",
        Kind::Payout => "approvePayout, cancelPayout and cancelPayrollRun move it",
        Kind::Escrow => "fundEscrow, releaseEscrow, refundEscrow and disputeEscrow move it",
        Kind::Collection => "cancelCollection and the payer's bank move it",
        Kind::Dispute => "respondToDispute answers or accepts it",
        Kind::ReconciliationMatch => {
            "resolveReconciliationMatch and the import of its statement move it"
        }
        Kind::Verification => "submitVerification submits it",
        Kind::AmlScreening => "resolveAmlAlert decides about its hits, and it is repeated daily",
        Kind::Application => "createCreditScore answers the request for information",
        Kind::Offer => "respondToOffer accepts or declines it",
        Kind::Loan => "createLoanRepayment repays it",
        Kind::Deal => "advanceDeal and closeDeal move it",
        Kind::DueDiligenceCase | Kind::DueDiligenceRequest => {
            "submitDueDiligenceRequest and reviewDueDiligenceRequest move it"
        }
        Kind::Invoice => {
            "sendInvoice, voidInvoice, writeOffInvoice and payments of its collections move it"
        }
        Kind::Bill => "approveBill, payBill and voidBill move it",
        Kind::JournalEntry => "reverseJournalEntry reverses it",
        Kind::AccountingPeriod => {
            "closeAccountingPeriod, closeAccountingYear and reopenAccountingPeriod move it"
        }
        Kind::PayrollItem | Kind::Payslip => "its run and its payouts move it",
        Kind::PayrollVerification => "a change of its employee's `payroll_status` moves it",
        Kind::Subject => "its verification moves it",
        Kind::Company
        | Kind::PaySchedule
        | Kind::FxTransfer
        | Kind::BankStatement
        | Kind::TrustScore
        | Kind::CreditScore
        | Kind::ReadinessAssessment
        | Kind::InsuranceRiskScore
        | Kind::Beneficiary
        | Kind::Mandate
        | Kind::Refund
        | Kind::Document
        | Kind::AmlAlert => "the clock moves it",
        Kind::Wallet
        | Kind::WalletTransaction
        | Kind::BankAccountVerification
        | Kind::WatchlistEntry
        | Kind::LoanRepayment
        | Kind::LedgerAccount
        | Kind::PaymentMethod
        | Kind::Event
        | Kind::AuditLog
        | Kind::Request => "its status never changes, or it has none",
    }
}

/// Why a resource did not reach the target of a move: the state after the move shows it.
pub(super) fn why_not(world: &World, after: &Record) -> String {
    known(world, after).unwrap_or_else(|| "its data determines the result".to_owned())
}

fn known(world: &World, after: &Record) -> Option<String> {
    match after {
        Record::Company(company) => held_back(world, company.id),
        Record::Employee(employee) => {
            let alert = alert_facts::holding_pay(world, employee)?;
            Some(format!("{} about the employee is confirmed: wages stay on hold", alert.id))
        }
        Record::PayrollRun(run) if run.status == RunStatus::FundingFailed => {
            run.blockers.first().cloned()
        }
        Record::PayrollRun(run) => {
            let mut waiting = world.waiting(AnyId::of(run.id));
            let is_late = waiting.any(|task| task.kind() == TaskKind::FundRunLate);
            is_late.then(|| "the company's bank sends the money later".to_owned())
        }
        Record::TaxLiability(tax) if tax.status == LiabilityStatus::Accrued && tax.amount <= 0 => {
            Some(format!("there is nothing to pay, its amount is {}", tax.amount))
        }
        Record::Verification(case) => {
            let found = match case.reject_labels.first()? {
                RejectLabel::WatchlistMatch => "an alert about the subject is open or confirmed",
                RejectLabel::DocumentForged => "a document is not genuine",
                RejectLabel::DocumentExpired => "a document is no longer valid",
                RejectLabel::DocumentUnreadable => "a document cannot be read",
                RejectLabel::DataMismatch | RejectLabel::ManualDecline => return None,
            };
            Some(found.to_owned())
        }
        Record::Application(application) => {
            let decision = application.decision.as_ref()?;
            decision.reasons.first().map(|reason| reason.detail.clone())
        }
        Record::Loan(loan) if loan.status == LoanStatus::PendingDisbursement => {
            held_back(world, loan.company_id)
        }
        _ => None,
    }
}

/// Why a company may not pay.
fn held_back(world: &World, company: Id<Company>) -> Option<String> {
    let company = world.find(company)?;
    may_pay(world, &company).err().map(|error| error.detail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api;

    #[test]
    fn refusals_name_operations_that_exist() {
        let known: Vec<String> =
            api::product().map(api::operation::Operation::operation_id).collect();
        for kind in Kind::ALL {
            let words = moved_by(*kind).split(|c: char| !c.is_alphanumeric());
            let names = words.filter(|word| word.chars().any(char::is_uppercase));
            for name in names {
                assert!(known.iter().any(|id| id == name), "{name} of {}", kind.name());
            }
        }
    }
}
