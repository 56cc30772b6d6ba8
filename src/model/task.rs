//! The registry of timers: one row for each kind of timer.
//!
//! `api::timers` has one row for each row here, with the function, events, timers and states.

use crate::model::business::{
    BankAnswer, ComplianceRequirement, Employee, LeaveRequest, PaySchedule, PayrollRun,
    PayrollVerification, RegulatoryReport, TaxFiling, TaxLiability,
};
use crate::model::capital::{
    Application, CreditScore, Deal, DueDiligenceRequest, InsuranceRiskScore, Loan, Offer,
    ReadinessAssessment,
};
use crate::model::identity::{
    AmlScreening, BureauAnswer, Document, ListAnswer, TrustScore, Verification,
};
use crate::model::kind::OfKind;
use crate::model::payments::{
    BankStatement, Beneficiary, Bill, Collection, Dispute, Escrow, FxQuote, FxTransfer, Invoice,
    Mandate, Payment, Payout, Refund, Refusal,
};
use crate::model::prelude::*;

/// Declares the timers: the type of the subject, the type of the answer that it carries (if any), its name, and
/// `deadline` if only the calendar makes it run. The other timers model the answer of a party outside the company.
macro_rules! timers {
    ($($(#[$doc:meta])* $task:ident($subject:ident $(, $answer:ty)?) $name:literal $($when:ident)?;)*) => {
        /// A timer with its subject.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case", tag = "task", content = "subject")]
        pub(crate) enum Task {
            $($(#[$doc])* $task(Id<$subject> $(, $answer)?),)*
            /// Row of the running scenario's timeline.
            Scripted(u32),
        }

        /// A timer without its subject: what operations and timers declare that they start.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub(crate) enum TaskKind {
            $($(#[$doc])* $task,)*
            /// Row of the running scenario's timeline.
            Scripted,
        }

        impl TaskKind {
            /// Every timer.
            pub(crate) const ALL: &'static [Self] = &[$(Self::$task,)* Self::Scripted];

            /// The name that callers see.
            pub(crate) const fn name(self) -> &'static str {
                match self { $(Self::$task => $name,)* Self::Scripted => "scenario_timeline" }
            }

            /// Whether only the calendar makes it run.
            pub(crate) const fn is_deadline(self) -> bool {
                match self { $(Self::$task => timers!(@when $($when)?),)* Self::Scripted => false }
            }

            /// The kind of its subject; a scenario's row has no subject.
            pub(crate) const fn subject(self) -> Option<Kind> {
                match self { $(Self::$task => Some(<$subject as OfKind>::KIND),)* Self::Scripted => None }
            }

            /// This timer for the given resource; `None` if the timer needs an answer.
            pub(crate) fn about(self, bits: u64) -> Option<Task> {
                match self {
                    $(Self::$task => timers!(@about bits, $task $(, $answer)?),)*
                    Self::Scripted => None,
                }
            }
        }

        impl Task {
            /// The timer without its subject.
            pub(crate) const fn kind(self) -> TaskKind {
                match self { $(Self::$task(..) => TaskKind::$task,)* Self::Scripted(_) => TaskKind::Scripted }
            }

            /// The resource that it is about; a scenario's row is about none.
            pub(crate) fn subject(self) -> Option<AnyId> {
                match self { $(Self::$task(id, ..) => Some(AnyId::of(id)),)* Self::Scripted(_) => None }
            }
        }
    };
    (@when) => { false };
    (@when deadline) => { true };
    (@about $bits:ident, $task:ident) => { Some(Task::$task(Id::from_bits($bits))) };
    (@about $bits:ident, $task:ident, $answer:ty) => { None };
}

timers! {
    /// Calculates gross to net for every employee of the run, then requests approval if the company requires it.
    CalculateRun(PayrollRun) "calculate_run";
    /// Calculates gross to net for every employee of a draft.
    PreviewRun(PayrollRun) "preview_run";
    /// The day on which the next run of a pay schedule is drafted.
    DraftScheduledRun(PaySchedule) "draft_scheduled_run" deadline;
    /// One business day before a drafted run must be approved.
    RemindOfApproval(PayrollRun) "remind_of_approval" deadline;
    /// The last moment to approve a drafted run for its pay date.
    MissApproval(PayrollRun) "miss_approval" deadline;
    /// Reserves the run's money and creates its payouts.
    FundRun(PayrollRun) "fund_run";
    /// The money of the run arrives late.
    FundRunLate(PayrollRun) "fund_run";
    /// Sends the run's payouts to the rail.
    SendRunPayouts(PayrollRun) "send_run_payouts";
    /// The rail releases or refuses a payout that it held.
    ReleasePayout(Payout, Fate) "release_payout";
    /// The receiving bank's answer to a payout.
    SettlePayout(Payout, Fate) "settle_payout";
    /// The answers to an employee's payroll checks.
    FinishVerification(PayrollVerification) "finish_verification";
    /// The tax office confirms that it received a return.
    AcknowledgeFiling(TaxFiling) "acknowledge_filing";
    /// The tax office accepts a return.
    AcceptFiling(TaxFiling) "accept_filing";
    /// The tax office rejects a return.
    RejectFiling(TaxFiling) "reject_filing";
    /// A tax liability is due.
    LiabilityDue(TaxLiability) "fall_due" deadline;
    /// The due date of a tax liability is over.
    LiabilityLate(TaxLiability) "miss_liability" deadline;
    /// The last day to meet a requirement is over.
    RequirementOverdue(ComplianceRequirement) "miss_requirement" deadline;
    /// The regulator accepts a report.
    AcknowledgeReport(RegulatoryReport) "acknowledge_report";
    /// The regulator rejects a report.
    RejectReport(RegulatoryReport) "reject_report";
    /// The first day of work of a new employee.
    BeginEmployment(Employee) "begin_employment";
    /// The first day of pay terms.
    ChangePay(Employee) "change_pay";
    /// The first day of approved leave.
    BeginLeave(LeaveRequest) "begin_leave";
    /// The day after the last one of approved leave.
    EndLeave(LeaveRequest) "end_leave";
    /// The day after the last day of an employment.
    EndEmployment(Employee) "end_employment";
    /// A quote expires.
    ExpireFxQuote(FxQuote) "expire_fx_quote" deadline;
    /// The other currency of a conversion arrives.
    CompleteFxTransfer(FxTransfer) "complete_fx_transfer";
    /// A conversion fails.
    FailFxTransfer(FxTransfer) "fail_fx_transfer";
    /// A queued payout goes to the rail.
    SendPayout(Payout) "send_payout";
    /// The rail releases or refuses a payout that it held and that pays no wages.
    ReleaseVendorPayout(Payout, Fate) "release_vendor_payout";
    /// The receiving bank's answer to a payout that pays no wages.
    SettleVendorPayout(Payout, Fate) "settle_vendor_payout";
    /// The date on which an escrow releases itself.
    ReleaseEscrow(Escrow) "release_escrow" deadline;
    /// An escrow's last day is over.
    ExpireEscrow(Escrow) "expire_escrow" deadline;
    /// The bank's answer about a beneficiary's account.
    ResolveBeneficiary(Beneficiary, BankAnswer) "resolve_beneficiary";
    /// The amounts sent to a beneficiary arrive.
    ArriveMicroDeposits(Beneficiary) "arrive_micro_deposits";
    /// The time to confirm the amounts sent to a beneficiary is over.
    ExpireMicroDeposits(Beneficiary) "expire_micro_deposits" deadline;
    /// The last day to answer a dispute is over.
    DisputeUnanswered(Dispute) "miss_evidence" deadline;
    /// Whether a dispute is won.
    DecideDispute(Dispute, bool) "decide_dispute";
    /// The last day to answer a dispute about an escrow is over. The end of the dispute moves the escrow's money.
    EscrowDisputeUnanswered(Dispute) "miss_escrow_evidence" deadline;
    /// Whether a dispute about an escrow is won.
    DecideEscrowDispute(Dispute, bool) "decide_escrow_dispute";
    /// The check of a document ends.
    ExamineDocument(Document) "examine_document";
    /// The last day on which a document is valid is over.
    ExpireDocument(Document) "expire_document" deadline;
    /// The bureau's answer to a case.
    AnswerCase(Verification, BureauAnswer) "answer_case";
    /// A case was not submitted or not answered in time.
    ExpireCase(Verification) "expire_case" deadline;
    /// A case was not reviewed in time.
    ReviewCase(Verification) "review_case";
    /// The payer gets a prompt on the phone.
    PromptPayer(Collection) "prompt_payer";
    /// The payer acts.
    PayCollection(Collection, Payment) "pay_collection";
    /// The payment succeeds or fails.
    FinishCollection(Collection, Payment) "finish_collection";
    /// The money arrives in the wallet.
    SettleCollection(Collection) "settle_collection";
    /// The time to pay is over.
    ExpireCollection(Collection) "expire_collection" deadline;
    /// The payer's bank answers about a mandate: whether it confirms it.
    AnswerMandate(Mandate, bool) "answer_mandate";
    /// The last day of a mandate is over.
    ExpireMandate(Mandate) "expire_mandate" deadline;
    /// The payer's bank sends a direct debit back.
    ReturnCollection(Collection, Refusal) "return_collection";
    /// The payer's bank charges the payment back.
    ChargeBack(Collection) "charge_back";
    /// The last day to pay a bill is over.
    BillOverdue(Bill) "miss_bill" deadline;
    /// The last day to pay an invoice is over.
    InvoiceOverdue(Invoice) "miss_invoice" deadline;
    /// The first day on which the tax of a bad debt is taken back.
    RelieveInvoice(Invoice) "relieve_bad_debt" deadline;
    /// The payer's bank accepts or refuses a refund.
    SettleRefund(Refund, Option<Refusal>) "settle_refund";
    /// A bank statement is read, and its lines are compared with the books.
    ImportStatement(BankStatement) "import_statement";
    /// The bureau completes a company's credit score.
    CompleteCreditScore(CreditScore) "complete_credit_score";
    /// A company's readiness assessment is complete.
    CompleteAssessment(ReadinessAssessment) "complete_assessment";
    /// A company's insurance risk score is complete.
    CompleteRiskScore(InsuranceRiskScore) "complete_risk_score";
    /// An underwriter starts to review an application.
    ReviewApplication(Application) "review_application";
    /// The underwriter decides.
    DecideApplication(Application, UnderwriterDecision) "decide_application";
    /// The last day to send the requested information is over.
    WithdrawApplication(Application) "withdraw_application" deadline;
    /// The two weeks of an offer are over.
    ExpireOffer(Offer) "expire_offer" deadline;
    /// A loan's money is paid out.
    DisburseLoan(Loan) "disburse_loan";
    /// Retries the disbursement of a loan that was blocked before.
    RetryDisbursement(Loan) "retry_disbursement" deadline;
    /// The interest of a day accrues; days count from the disbursement.
    AccrueInterest(Loan, u32) "accrue_interest" deadline;
    /// An instalment is due.
    InstalmentDue(Loan, u32) "instalment_due" deadline;
    /// The due date of an instalment is over.
    MissInstalment(Loan, u32) "miss_instalment" deadline;
    /// The loan enters default because an instalment has been unpaid for too long.
    DefaultLoan(Loan, u32) "default_loan" deadline;
    /// A reviewer starts to review the answer to a due diligence request.
    TakeUpRequest(DueDiligenceRequest) "take_up_request";
    /// The last day to answer a due diligence request is over.
    MissRequest(DueDiligenceRequest) "miss_request" deadline;
    /// An investor replies, and passes or does not.
    ReplyToDeal(Deal, bool) "reply_to_deal";
    /// The lists answer about a subject.
    CompleteScreening(AmlScreening, ListAnswer) "complete_screening";
    /// The date of the next screening.
    ScreenAgain(AmlScreening) "screen_again" deadline;
    /// A trust score is complete.
    CompleteTrustScore(TrustScore) "complete_trust_score";
}

/// The decision of an underwriter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum UnderwriterDecision {
    /// By the score and the sales.
    ByScore,
    /// Approved, without regard to the score.
    Approved,
    /// Rejected, without regard to the score.
    Rejected,
    /// More information is required first.
    InformationRequested,
}

/// The outcome of a payout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Fate {
    /// The money arrives.
    Paid,
    /// The rail cannot deliver the payout.
    Failed(Refusal),
    /// The receiving bank refuses at once, on an instant rail.
    Refused(Refusal),
    /// The money is returned.
    Returned(Refusal),
    /// The money arrives, and is returned after the given time.
    PaidThenReturned(Refusal, Span),
    /// Like `PaidThenReturned`, but the time was set by an outcome rule, so it applies in every clock mode.
    PaidThenReturnedAfter(Refusal, Span),
    /// The money arrives, and after the given time the bank reports corrected account details.
    PaidThenCorrected(Refusal, Span),
    /// The bank reports corrected account details.
    Corrected(Refusal),
}
