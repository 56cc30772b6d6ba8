//! The effects of every timer: its function, its events, the timers that it starts, and the states that its subject
//! enters. One row for each timer of `model::task`; a missing row does not compile.

use crate::api::business::{
    compliance, employee_pay, employee_verbs, leave_clock, pay_schedules, pay_terms, payroll_clock,
    payroll_funding, regulatory_reports, tax_clock,
};
use crate::api::capital::{
    credit_scores, deal_verbs, due_diligence_answers, insurance, loan_clock, offers, readiness,
    underwriting,
};
use crate::api::identity::{documents, screenings, trust_scores, verification_clock};
use crate::api::operation::Effects;
use crate::api::payments::{
    bad_debts, beneficiaries, bill_clock, collection_clock, debit_returns, dispute_clock, disputes,
    escrow_clock, fx_quotes, fx_transfers, invoice_due, mandates, micro_deposits, payout_rail,
    refunds, statement_clock,
};
use crate::model::business::{
    EmployeeStatus, FilingStatus, LiabilityStatus, PayrollStatus, ReportStatus, RequirementStatus,
    RunStatus, VerificationStatus,
};
use crate::model::capital::{
    ApplicationStatus, AssessmentStatus, DealStatus, LoanStatus, OfferStatus, RequestStatus,
    RiskScoreStatus, ScoreStatus,
};
use crate::model::identity::{CaseStatus, DocumentStatus, ScreeningStatus, TrustStatus};
use crate::model::lifecycle::Entered;
use crate::model::payments::{
    BeneficiaryStatus, CollectionStatus, DisputeStatus, EscrowStatus, FxTransferStatus,
    MandateStatus, PayoutStatus, QuoteStatus, RefundStatus, StatementStatus,
};
use crate::model::{Task, TaskKind};
use crate::world::World;

macro_rules! timers {
    ($(
        $task:ident |$world:ident, $($argument:ident),*| $call:expr;
        emits $emits:expr,
        starts [$($start:ident),*],
        leads [$($state:expr),*];
    )*) => {
        /// The effects of every timer. A scenario's row has none: it calls an operation, which has its own.
        pub(crate) const EFFECTS: &[Effects] =
            &[$(Effects { emits: $emits, starts: &[$(TaskKind::$start),*] }),*];

        /// The effects of that timer.
        pub(crate) const fn effects(task: TaskKind) -> Effects {
            match task {
                $(TaskKind::$task => Effects { emits: $emits, starts: &[$(TaskKind::$start),*] },)*
                TaskKind::Scripted => Effects { emits: &[], starts: &[] },
            }
        }

        /// The states that the subject of that timer can enter.
        pub(crate) fn entered(task: TaskKind) -> Vec<Entered> {
            match task {
                $(TaskKind::$task => vec![$(Entered::of($state)),*],)*
                TaskKind::Scripted => Vec::new(),
            }
        }

        /// Calls the function of a timer.
        pub(crate) fn call(world: &mut World, task: Task) {
            match task {
                $(Task::$task($($argument),*) => {
                    let $world = world;
                    $call;
                })*
                Task::Scripted(_) => unreachable!("a scenario's row has transactions of its own"),
            }
        }
    };
}

timers! {
    CalculateRun |world, run| payroll_clock::calculate_run(world, run);
        emits &["payroll_run.calculated", "payroll_run.pending_approval", "payroll_run.approved",
            "tax_liability.created"],
        starts [FundRun, LiabilityDue],
        leads [RunStatus::Calculated, RunStatus::PendingApproval, RunStatus::Approved];
    PreviewRun |world, run| payroll_clock::preview_run(world, run);
        emits &["payroll_run.calculated"],
        starts [],
        leads [RunStatus::Calculated];
    FundRun |world, run| payroll_funding::fund_run(world, run, false);
        emits payroll_funding::EMITS,
        starts [FundRunLate, SendRunPayouts],
        leads [RunStatus::Funding, RunStatus::FundingFailed, RunStatus::Processing, RunStatus::Paid,
            RunStatus::PartiallyPaid];
    FundRunLate |world, run| payroll_funding::fund_run(world, run, true);
        emits payroll_funding::EMITS,
        starts [FundRunLate, SendRunPayouts],
        leads [RunStatus::Funding, RunStatus::FundingFailed, RunStatus::Processing, RunStatus::Paid,
            RunStatus::PartiallyPaid];
    DraftScheduledRun |world, schedule| pay_schedules::draft_scheduled_run(world, schedule);
        emits &["payroll_run.created", "pay_schedule.updated"],
        starts [DraftScheduledRun, RemindOfApproval, MissApproval],
        leads [];
    RemindOfApproval |world, run| pay_schedules::remind_of_approval(world, run);
        emits &["payroll_run.approval_due"],
        starts [],
        leads [];
    MissApproval |world, run| pay_schedules::miss_approval(world, run);
        emits &["payroll_run.approval_overdue"],
        starts [],
        leads [];
    SendRunPayouts |world, run| payout_rail::send_run_payouts(world, run);
        emits &["payout.processing", "payout.sent", "payout.on_hold"],
        starts [ReleasePayout, SettlePayout],
        leads [];
    ReleasePayout |world, payout, fate| payout_rail::release_payout(world, payout, fate);
        emits payout_rail::WAGES_RELEASED,
        starts [SettlePayout],
        leads [PayoutStatus::Processing, PayoutStatus::Sent, PayoutStatus::Failed];
    SettlePayout |world, payout, fate| payout_rail::settle_payout(world, payout, fate);
        emits payout_rail::WAGES_SETTLED,
        starts [SettlePayout],
        leads [PayoutStatus::Paid, PayoutStatus::Failed, PayoutStatus::Returned];
    FinishVerification |world, id| employee_pay::finish_verification(world, id);
        emits &["bank_account_verification.completed", "employee.payroll_status_changed"],
        starts [],
        leads [VerificationStatus::Verified, VerificationStatus::Failed];
    AcknowledgeFiling |world, filing| tax_clock::acknowledge_filing(world, filing);
        emits &["tax_filing.acknowledged"],
        starts [],
        leads [];
    AcceptFiling |world, filing| tax_clock::accept_filing(world, filing);
        emits &["tax_filing.filed", "wallet.created", "wallet.credited"],
        starts [],
        leads [FilingStatus::Filed];
    RejectFiling |world, filing| tax_clock::reject_filing(world, filing);
        emits &["tax_filing.rejected"],
        starts [],
        leads [FilingStatus::Rejected];
    LiabilityDue |world, liability| tax_clock::fall_due(world, liability);
        emits &["tax_liability.due", "tax_liability.updated"],
        starts [LiabilityDue, LiabilityLate],
        leads [LiabilityStatus::Due];
    LiabilityLate |world, liability| tax_clock::miss(world, liability);
        emits &["tax_liability.late", "compliance_requirement.created"],
        starts [RequirementOverdue],
        leads [LiabilityStatus::Late];
    RequirementOverdue |world, requirement| compliance::miss(world, requirement);
        emits &["compliance_requirement.overdue"],
        starts [],
        leads [RequirementStatus::Overdue];
    AcknowledgeReport |world, report| regulatory_reports::acknowledge(world, report);
        emits &["regulatory_report.acknowledged"],
        starts [],
        leads [ReportStatus::Acknowledged];
    RejectReport |world, report| regulatory_reports::reject(world, report);
        emits &["regulatory_report.rejected"],
        starts [],
        leads [ReportStatus::Rejected];
    BeginEmployment |world, employee| employee_verbs::begin_employment(world, employee);
        emits &["employee.activated"],
        starts [],
        leads [EmployeeStatus::Active];
    ChangePay |world, employee| pay_terms::change_pay(world, employee);
        emits &["employee.compensation_changed", "employee.updated"],
        starts [],
        leads [];
    BeginLeave |world, leave| leave_clock::begin_leave(world, leave);
        emits &["employee.leave_started", "employee.leave_ended"],
        starts [],
        leads [];
    EndLeave |world, leave| leave_clock::end_leave(world, leave);
        emits &["employee.leave_ended"],
        starts [],
        leads [];
    EndEmployment |world, employee| employee_verbs::end_employment(world, employee);
        emits &["employee.terminated", "employee.payroll_status_changed", "payroll_run.created"],
        starts [CalculateRun],
        leads [EmployeeStatus::Terminated, PayrollStatus::Closed];
    ExpireFxQuote |world, quote| fx_quotes::expire(world, quote);
        emits &["fx_quote.expired"],
        starts [],
        leads [QuoteStatus::Expired];
    CompleteFxTransfer |world, transfer| fx_transfers::complete(world, transfer);
        emits &["fx_transfer.completed", "fx_transfer.failed", "wallet.credited"],
        starts [],
        leads [FxTransferStatus::Completed, FxTransferStatus::Failed];
    FailFxTransfer |world, transfer| fx_transfers::fail(world, transfer);
        emits &["fx_transfer.failed", "wallet.credited"],
        starts [],
        leads [FxTransferStatus::Failed];
    SendPayout |world, payout| payout_rail::send_payout(world, payout);
        emits &["payout.processing", "payout.sent", "payout.on_hold"],
        starts [ReleaseVendorPayout, SettleVendorPayout],
        leads [PayoutStatus::Processing, PayoutStatus::Sent, PayoutStatus::OnHold];
    ReleaseVendorPayout |world, payout, fate| payout_rail::release_payout(world, payout, fate);
        emits &["payout.processing", "payout.sent", "payout.failed", "wallet.credited"],
        starts [SettleVendorPayout],
        leads [PayoutStatus::Processing, PayoutStatus::Sent, PayoutStatus::Failed];
    SettleVendorPayout |world, payout, fate| payout_rail::settle_payout(world, payout, fate);
        emits &["payout.paid", "payout.failed", "payout.returned", "payout.account_corrected", "wallet.credited", "aml_alert.opened", "subject.updated"],
        starts [SettleVendorPayout],
        leads [PayoutStatus::Paid, PayoutStatus::Failed, PayoutStatus::Returned];
    ReleaseEscrow |world, escrow| escrow_clock::release_by_date(world, escrow);
        emits &["escrow.released", "payout.created"],
        starts [SendPayout],
        leads [EscrowStatus::Released];
    ExpireEscrow |world, escrow| escrow_clock::expire(world, escrow);
        emits &["escrow.expired", "escrow.refunded", "wallet.credited"],
        starts [],
        leads [EscrowStatus::Expired, EscrowStatus::Refunded];
    ResolveBeneficiary |world, id, answer| beneficiaries::resolve(world, id, answer);
        emits &["beneficiary.verified", "beneficiary.rejected"],
        starts [],
        leads [BeneficiaryStatus::Verified, BeneficiaryStatus::Rejected];
    ArriveMicroDeposits |world, beneficiary| micro_deposits::arrive(world, beneficiary);
        emits &["beneficiary.micro_deposits_arrived"],
        starts [ExpireMicroDeposits],
        leads [];
    ExpireMicroDeposits |world, beneficiary| micro_deposits::expire(world, beneficiary);
        emits &["beneficiary.rejected"],
        starts [],
        leads [BeneficiaryStatus::Rejected];
    DisputeUnanswered |world, dispute| dispute_clock::miss(world, dispute);
        emits &["dispute.lost", "wallet.debited", "wallet.low_balance"],
        starts [],
        leads [DisputeStatus::Lost];
    DecideDispute |world, dispute, won| dispute_clock::decide(world, dispute, won);
        emits &["dispute.won", "dispute.lost", "wallet.credited", "wallet.debited", "wallet.low_balance"],
        starts [],
        leads [DisputeStatus::Won, DisputeStatus::Lost];
    EscrowDisputeUnanswered |world, dispute| dispute_clock::miss(world, dispute);
        emits &["dispute.lost", "escrow.released", "payout.created"],
        starts [SendPayout],
        leads [DisputeStatus::Lost];
    DecideEscrowDispute |world, dispute, won| dispute_clock::decide(world, dispute, won);
        emits &["dispute.won", "dispute.lost", "escrow.released", "escrow.refunded", "wallet.credited",
            "payout.created"],
        starts [SendPayout],
        leads [DisputeStatus::Won, DisputeStatus::Lost];
    ExamineDocument |world, document| documents::examine(world, document);
        emits &["document.accepted", "document.rejected"],
        starts [],
        leads [DocumentStatus::Accepted, DocumentStatus::Rejected];
    ExpireDocument |world, document| documents::expire(world, document);
        emits &["document.rejected"],
        starts [],
        leads [DocumentStatus::Rejected];
    AnswerCase |world, case, answer| verification_clock::answer(world, case, answer);
        emits verification_clock::ANSWERED,
        starts [AnswerCase, ReviewCase, ExpireCase],
        leads [CaseStatus::Approved, CaseStatus::Declined, CaseStatus::InReview, CaseStatus::ResubmissionRequested];
    ExpireCase |world, case| verification_clock::expire(world, case);
        emits &["verification.expired", "subject.updated"],
        starts [],
        leads [CaseStatus::Expired];
    ReviewCase |world, case| verification_clock::review(world, case);
        emits verification_clock::CONCLUDES,
        starts [],
        leads [CaseStatus::Approved, CaseStatus::Declined, CaseStatus::ResubmissionRequested];
    PromptPayer |world, collection| collection_clock::prompt(world, collection);
        emits &["collection.requires_action"],
        starts [],
        leads [CollectionStatus::RequiresAction];
    PayCollection |world, collection, payment| collection_clock::pay(world, collection, payment);
        emits &["collection.processing"],
        starts [FinishCollection],
        leads [CollectionStatus::Processing];
    FinishCollection |world, collection, payment| collection_clock::finish(world, collection, payment);
        emits collection_clock::FINISHED,
        starts [SettleCollection, ReturnCollection, ChargeBack, LiabilityDue, InvoiceOverdue],
        leads [CollectionStatus::Succeeded, CollectionStatus::Failed];
    SettleCollection |world, collection| collection_clock::settle(world, collection);
        emits collection_clock::SETTLED,
        starts [],
        leads [CollectionStatus::Settled];
    ExpireCollection |world, collection| collection_clock::expire(world, collection);
        emits &["collection.expired"],
        starts [],
        leads [CollectionStatus::Expired];
    AnswerMandate |world, mandate, confirmed| mandates::answer(world, mandate, confirmed);
        emits &["mandate.activated", "mandate.revoked"],
        starts [],
        leads [MandateStatus::Active, MandateStatus::Revoked];
    ExpireMandate |world, mandate| mandates::expire(world, mandate);
        emits &["mandate.expired"],
        starts [],
        leads [MandateStatus::Expired];
    ReturnCollection |world, collection, refusal| debit_returns::send_back(world, collection, refusal);
        emits debit_returns::SENT_BACK,
        starts [RelieveInvoice, InvoiceOverdue],
        leads [CollectionStatus::Returned];
    ChargeBack |world, collection| collection_clock::charge_back(world, collection);
        emits disputes::OPENED,
        starts [DisputeUnanswered],
        leads [];
    BillOverdue |world, bill| bill_clock::miss(world, bill);
        emits &["bill.overdue"],
        starts [],
        leads [];
    InvoiceOverdue |world, invoice| invoice_due::miss(world, invoice);
        emits &["invoice.overdue"],
        starts [],
        leads [];
    RelieveInvoice |world, invoice| bad_debts::relieve(world, invoice);
        emits &["tax_liability.created", "tax_liability.updated"],
        starts [],
        leads [];
    SettleRefund |world, refund, failed| refunds::settle(world, refund, failed);
        emits refunds::SETTLED,
        starts [LiabilityDue],
        leads [RefundStatus::Succeeded, RefundStatus::Failed];
    ImportStatement |world, statement| statement_clock::import(world, statement);
        emits statement_clock::IMPORTED,
        starts [],
        leads [StatementStatus::Imported];
    CompleteCreditScore |world, score| credit_scores::complete(world, score);
        emits &["credit_score.completed", "credit_score.failed", "application.under_review"],
        starts [DecideApplication],
        leads [ScoreStatus::Completed, ScoreStatus::Failed];
    CompleteAssessment |world, assessment| readiness::complete(world, assessment);
        emits &["readiness_assessment.completed"],
        starts [],
        leads [AssessmentStatus::Completed];
    CompleteRiskScore |world, score| insurance::complete(world, score);
        emits &["insurance_risk_score.completed"],
        starts [],
        leads [RiskScoreStatus::Completed];
    ReviewApplication |world, id| underwriting::review(world, id);
        emits &["application.under_review"],
        starts [DecideApplication],
        leads [ApplicationStatus::UnderReview];
    DecideApplication |world, id, verdict| underwriting::decide(world, id, verdict);
        emits underwriting::DECIDED,
        starts [ExpireOffer, WithdrawApplication],
        leads [ApplicationStatus::Approved, ApplicationStatus::Rejected, ApplicationStatus::InformationRequested];
    WithdrawApplication |world, id| underwriting::withdraw(world, id);
        emits &["application.withdrawn"],
        starts [],
        leads [ApplicationStatus::Withdrawn];
    ExpireOffer |world, offer| offers::expire(world, offer);
        emits &["offer.expired"],
        starts [],
        leads [OfferStatus::Expired];
    DisburseLoan |world, loan| loan_clock::disburse(world, loan);
        emits &["loan.disbursed", "wallet.credited"],
        starts [RetryDisbursement, InstalmentDue, AccrueInterest],
        leads [LoanStatus::Active];
    RetryDisbursement |world, loan| loan_clock::disburse(world, loan);
        emits &["loan.disbursed", "wallet.credited"],
        starts [RetryDisbursement, InstalmentDue, AccrueInterest],
        leads [LoanStatus::Active];
    AccrueInterest |world, loan, day| loan_clock::accrue_interest(world, loan, day);
        emits &["loan.interest_accrued"],
        starts [AccrueInterest],
        leads [];
    InstalmentDue |world, loan, number| loan_clock::fall_due(world, loan, number);
        emits loan_clock::DUE,
        starts [InstalmentDue, MissInstalment],
        leads [LoanStatus::Active, LoanStatus::Repaid];
    MissInstalment |world, loan, number| loan_clock::miss(world, loan, number);
        emits &["loan.late"],
        starts [DefaultLoan],
        leads [LoanStatus::Late];
    DefaultLoan |world, loan, number| loan_clock::default(world, loan, number);
        emits &["loan.defaulted"],
        starts [],
        leads [LoanStatus::Defaulted];
    TakeUpRequest |world, request| due_diligence_answers::take_up(world, request);
        emits &["due_diligence_request.in_review"],
        starts [],
        leads [RequestStatus::InReview];
    MissRequest |world, request| due_diligence_answers::miss(world, request);
        emits &["due_diligence_request.overdue"],
        starts [],
        leads [];
    ReplyToDeal |world, deal, passes| deal_verbs::reply_later(world, deal, passes);
        emits &["deal.investor_replied", "deal.lost"],
        starts [],
        leads [DealStatus::Lost];
    CompleteScreening |world, screening, answer| screenings::complete(world, screening, answer);
        emits &["aml_screening.completed", "aml_alert.opened", "subject.updated"],
        starts [ScreenAgain],
        leads [ScreeningStatus::Clear, ScreeningStatus::NeedsReview];
    ScreenAgain |world, screening| screenings::again(world, screening);
        emits &["aml_screening.completed", "aml_alert.opened", "subject.updated"],
        starts [ScreenAgain],
        leads [ScreeningStatus::Clear, ScreeningStatus::NeedsReview];
    CompleteTrustScore |world, score| trust_scores::complete(world, score);
        emits &["trust_score.completed", "trust_score.changed", "subject.updated"],
        starts [],
        leads [TrustStatus::Completed];
}
