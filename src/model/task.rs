//! What the clock does: the closed list of timers that a world can hold.

use crate::model::business::{
    BankAnswer, ComplianceRequirement, Employee, LeaveRequest, PayrollRun, PayrollVerification,
    RegulatoryReport, TaxFiling, TaxLiability,
};
use crate::model::capital::{
    Application, CreditScore, Deal, DueDiligenceRequest, InsuranceRiskScore, Loan, Offer,
    ReadinessAssessment,
};
use crate::model::identity::{
    AmlScreening, BureauAnswer, Document, ListAnswer, TrustScore, Verification,
};
use crate::model::payments::{
    BankStatement, Beneficiary, Collection, Dispute, Escrow, FxQuote, FxTransfer, Invoice, Payment,
    Payout, Refund, ReturnCode,
};
use crate::model::prelude::*;

/// Something that falls due. Each is a system row of the operation table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "task", content = "subject")]
pub(crate) enum Task {
    /// Gross to net of every employee of the run, then approval where nobody has to ask.
    CalculateRun(Id<PayrollRun>),
    /// Gross to net of every employee of a draft.
    PreviewRun(Id<PayrollRun>),
    /// Reserve the run's money and open its payouts.
    FundRun(Id<PayrollRun>),
    /// The run's money has come, late.
    FundRunLate(Id<PayrollRun>),
    /// Hand the run's payouts to the rail.
    SendRunPayouts(Id<PayrollRun>),
    /// The rail has looked at a payout that it held, and lets it go.
    ReleasePayout(Id<Payout>, Fate),
    /// The receiving bank's answer to one payout.
    SettlePayout(Id<Payout>, Fate),
    /// The answers to an employee's payroll checks.
    FinishVerification(Id<PayrollVerification>),
    /// The tax office's word that it has a return.
    AcknowledgeFiling(Id<TaxFiling>),
    /// The tax office takes a return.
    AcceptFiling(Id<TaxFiling>),
    /// The tax office does not take a return.
    RejectFiling(Id<TaxFiling>),
    /// The last day for what is owed to an authority has come.
    LiabilityDue(Id<TaxLiability>),
    /// That day is over.
    LiabilityLate(Id<TaxLiability>),
    /// The last day to meet a requirement is over.
    RequirementOverdue(Id<ComplianceRequirement>),
    /// The regulator takes a report.
    AcknowledgeReport(Id<RegulatoryReport>),
    /// The regulator does not take a report.
    RejectReport(Id<RegulatoryReport>),
    /// The first day of work of somebody who was hired.
    BeginEmployment(Id<Employee>),
    /// The first day of pay terms.
    ChangePay(Id<Employee>),
    /// The first day of approved leave.
    BeginLeave(Id<LeaveRequest>),
    /// The day after the last one of approved leave.
    EndLeave(Id<LeaveRequest>),
    /// An employment whose last day is over ends.
    EndEmployment(Id<Employee>),
    /// A quote's half hour is over.
    ExpireFxQuote(Id<FxQuote>),
    /// The other currency of a conversion arrives.
    CompleteFxTransfer(Id<FxTransfer>),
    /// A conversion does not come about.
    FailFxTransfer(Id<FxTransfer>),
    /// A payout's turn with the rail has come.
    SendPayout(Id<Payout>),
    /// The rail has looked at a payout that pays no wages, and lets it go.
    ReleaseVendorPayout(Id<Payout>, Fate),
    /// The receiving bank's answer to a payout that pays no wages.
    SettleVendorPayout(Id<Payout>, Fate),
    /// The date on which an escrow releases itself.
    ReleaseEscrow(Id<Escrow>),
    /// An escrow's last day is over.
    ExpireEscrow(Id<Escrow>),
    /// The bank's answer about a beneficiary's account.
    ResolveBeneficiary(Id<Beneficiary>, BankAnswer),
    /// The last day to answer a dispute is over.
    DisputeUnanswered(Id<Dispute>),
    /// Whether a dispute is won.
    DecideDispute(Id<Dispute>, bool),
    /// The same two of a dispute about an escrow, whose end moves what it holds.
    EscrowDisputeUnanswered(Id<Dispute>),
    /// Won or lost.
    DecideEscrowDispute(Id<Dispute>, bool),
    /// Somebody has looked at a document.
    ExamineDocument(Id<Document>),
    /// The last day on which a document was valid is over.
    ExpireDocument(Id<Document>),
    /// The bureau's answer to a case.
    AnswerCase(Id<Verification>, BureauAnswer),
    /// A case was not submitted in time, or not answered.
    ExpireCase(Id<Verification>),
    /// A case was not looked at in time.
    ReviewCase(Id<Verification>),
    /// The payer is asked on the phone.
    PromptPayer(Id<Collection>),
    /// The payer acts.
    PayCollection(Id<Collection>, Payment),
    /// The rail has the payment, or does not get it.
    FinishCollection(Id<Collection>, Payment),
    /// What was paid arrives in the wallet.
    SettleCollection(Id<Collection>),
    /// The payer had time enough.
    ExpireCollection(Id<Collection>),
    /// The payer's bank wants the money back.
    ChargeBack(Id<Collection>),
    /// The last day to pay an invoice is over.
    InvoiceOverdue(Id<Invoice>),
    /// The payer's bank has a refund, or does not take it.
    SettleRefund(Id<Refund>, Option<ReturnCode>),
    /// A bank statement is read, and its lines are compared with the books.
    ImportStatement(Id<BankStatement>),
    /// The bureau has looked at a company.
    CompleteCreditScore(Id<CreditScore>),
    /// A company's readiness is reckoned.
    CompleteAssessment(Id<ReadinessAssessment>),
    /// A company's insurance risk is reckoned.
    CompleteRiskScore(Id<InsuranceRiskScore>),
    /// An underwriter takes an application up.
    ReviewApplication(Id<Application>),
    /// The underwriter decides.
    DecideApplication(Id<Application>, UnderwriterDecision),
    /// The last day for the information that an underwriter wants is over.
    WithdrawApplication(Id<Application>),
    /// An offer's two weeks are over.
    ExpireOffer(Id<Offer>),
    /// A loan's money is paid out.
    DisburseLoan(Id<Loan>),
    /// The day of an instalment has come.
    InstalmentDue(Id<Loan>, u32),
    /// That day is over.
    MissInstalment(Id<Loan>, u32),
    /// An instalment was not paid for so long that the loan is given up.
    DefaultLoan(Id<Loan>, u32),
    /// A reviewer takes an answer of due diligence up.
    TakeUpRequest(Id<DueDiligenceRequest>),
    /// The last day to answer a request of due diligence is over.
    MissRequest(Id<DueDiligenceRequest>),
    /// An investor replies, and passes or does not.
    ReplyToDeal(Id<Deal>, bool),
    /// What the lists say of a subject.
    CompleteScreening(Id<AmlScreening>, ListAnswer),
    /// The day of the next screening has come.
    ScreenAgain(Id<AmlScreening>),
    /// A trust score is reckoned.
    CompleteTrustScore(Id<TrustScore>),
    /// Row of the running scenarios' timeline.
    Scripted(u32),
}

/// What an underwriter goes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum UnderwriterDecision {
    /// The score and the sales.
    ByScore,
    /// It is approved, whatever the score.
    Approved,
    /// It is not, whatever the score.
    Rejected,
    /// Something is to be shown first.
    InformationRequested,
}

/// What becomes of a payout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Fate {
    /// The money arrives.
    Paid,
    /// The rail gives up.
    Failed(ReturnCode),
    /// The money comes back.
    Returned(ReturnCode),
    /// The money arrives, and comes back so much later.
    PaidThenReturned(ReturnCode, Span),
}

impl Task {
    /// One of each kind, about nothing: whose rows are asked for.
    pub(crate) const ONE_OF_EACH: &'static [Self] = &[
        Self::CalculateRun(Id::UNKNOWN),
        Self::PreviewRun(Id::UNKNOWN),
        Self::FundRun(Id::UNKNOWN),
        Self::FundRunLate(Id::UNKNOWN),
        Self::SendRunPayouts(Id::UNKNOWN),
        Self::ReleasePayout(Id::UNKNOWN, Fate::Paid),
        Self::SettlePayout(Id::UNKNOWN, Fate::Paid),
        Self::FinishVerification(Id::UNKNOWN),
        Self::AcknowledgeFiling(Id::UNKNOWN),
        Self::AcceptFiling(Id::UNKNOWN),
        Self::RejectFiling(Id::UNKNOWN),
        Self::LiabilityDue(Id::UNKNOWN),
        Self::LiabilityLate(Id::UNKNOWN),
        Self::RequirementOverdue(Id::UNKNOWN),
        Self::AcknowledgeReport(Id::UNKNOWN),
        Self::RejectReport(Id::UNKNOWN),
        Self::BeginEmployment(Id::UNKNOWN),
        Self::ChangePay(Id::UNKNOWN),
        Self::BeginLeave(Id::UNKNOWN),
        Self::EndLeave(Id::UNKNOWN),
        Self::EndEmployment(Id::UNKNOWN),
        Self::SendPayout(Id::UNKNOWN),
        Self::ReleaseVendorPayout(Id::UNKNOWN, Fate::Paid),
        Self::SettleVendorPayout(Id::UNKNOWN, Fate::Paid),
        Self::ResolveBeneficiary(Id::UNKNOWN, BankAnswer::Match),
        Self::DisputeUnanswered(Id::UNKNOWN),
        Self::DecideDispute(Id::UNKNOWN, true),
        Self::EscrowDisputeUnanswered(Id::UNKNOWN),
        Self::DecideEscrowDispute(Id::UNKNOWN, true),
        Self::PromptPayer(Id::UNKNOWN),
        Self::PayCollection(Id::UNKNOWN, Payment::Pays(1)),
        Self::FinishCollection(Id::UNKNOWN, Payment::Pays(1)),
        Self::SettleCollection(Id::UNKNOWN),
        Self::ExpireCollection(Id::UNKNOWN),
        Self::ChargeBack(Id::UNKNOWN),
        Self::InvoiceOverdue(Id::UNKNOWN),
        Self::SettleRefund(Id::UNKNOWN, None),
        Self::ImportStatement(Id::UNKNOWN),
        Self::ExpireFxQuote(Id::UNKNOWN),
        Self::CompleteFxTransfer(Id::UNKNOWN),
        Self::FailFxTransfer(Id::UNKNOWN),
        Self::ReleaseEscrow(Id::UNKNOWN),
        Self::ExpireEscrow(Id::UNKNOWN),
        Self::ExamineDocument(Id::UNKNOWN),
        Self::ExpireDocument(Id::UNKNOWN),
        Self::AnswerCase(Id::UNKNOWN, BureauAnswer::Approved),
        Self::ExpireCase(Id::UNKNOWN),
        Self::ReviewCase(Id::UNKNOWN),
        Self::CompleteCreditScore(Id::UNKNOWN),
        Self::CompleteAssessment(Id::UNKNOWN),
        Self::CompleteRiskScore(Id::UNKNOWN),
        Self::ReviewApplication(Id::UNKNOWN),
        Self::DecideApplication(Id::UNKNOWN, UnderwriterDecision::ByScore),
        Self::WithdrawApplication(Id::UNKNOWN),
        Self::ExpireOffer(Id::UNKNOWN),
        Self::DisburseLoan(Id::UNKNOWN),
        Self::InstalmentDue(Id::UNKNOWN, 1),
        Self::MissInstalment(Id::UNKNOWN, 1),
        Self::DefaultLoan(Id::UNKNOWN, 1),
        Self::TakeUpRequest(Id::UNKNOWN),
        Self::MissRequest(Id::UNKNOWN),
        Self::ReplyToDeal(Id::UNKNOWN, false),
        Self::CompleteScreening(Id::UNKNOWN, ListAnswer::ByName),
        Self::ScreenAgain(Id::UNKNOWN),
        Self::CompleteTrustScore(Id::UNKNOWN),
        Self::Scripted(0),
    ];

    /// Whether it comes by the calendar alone, and not because somebody outside takes his time.
    pub(crate) const fn is_deadline(self) -> bool {
        matches!(
            self,
            Self::LiabilityDue(_)
                | Self::LiabilityLate(_)
                | Self::RequirementOverdue(_)
                | Self::ReleaseEscrow(_)
                | Self::ExpireEscrow(_)
                | Self::ExpireFxQuote(_)
                | Self::DisputeUnanswered(_)
                | Self::EscrowDisputeUnanswered(_)
                | Self::WithdrawApplication(_)
                | Self::ExpireOffer(_)
                | Self::InstalmentDue(..)
                | Self::MissInstalment(..)
                | Self::DefaultLoan(..)
                | Self::MissRequest(_)
                | Self::ExpireDocument(_)
                | Self::ExpireCase(_)
                | Self::ScreenAgain(_)
                | Self::ExpireCollection(_)
                | Self::InvoiceOverdue(_)
        )
    }

    /// The resource that it is about; a scenario's row is about none.
    pub(crate) fn subject(self) -> Option<AnyId> {
        match self {
            Self::CalculateRun(run)
            | Self::PreviewRun(run)
            | Self::FundRun(run)
            | Self::FundRunLate(run)
            | Self::SendRunPayouts(run) => Some(AnyId::of(run)),
            Self::SendPayout(payout)
            | Self::ReleasePayout(payout, _)
            | Self::ReleaseVendorPayout(payout, _)
            | Self::SettleVendorPayout(payout, _)
            | Self::SettlePayout(payout, _) => Some(AnyId::of(payout)),
            Self::ReleaseEscrow(escrow) | Self::ExpireEscrow(escrow) => Some(AnyId::of(escrow)),
            Self::ResolveBeneficiary(beneficiary, _) => Some(AnyId::of(beneficiary)),
            Self::FinishVerification(verification) => Some(AnyId::of(verification)),
            Self::AcknowledgeFiling(filing)
            | Self::AcceptFiling(filing)
            | Self::RejectFiling(filing) => Some(AnyId::of(filing)),
            Self::LiabilityDue(liability) | Self::LiabilityLate(liability) => {
                Some(AnyId::of(liability))
            }
            Self::RequirementOverdue(requirement) => Some(AnyId::of(requirement)),
            Self::AcknowledgeReport(report) | Self::RejectReport(report) => Some(AnyId::of(report)),
            Self::BeginEmployment(employee)
            | Self::ChangePay(employee)
            | Self::EndEmployment(employee) => Some(AnyId::of(employee)),
            Self::BeginLeave(leave) | Self::EndLeave(leave) => Some(AnyId::of(leave)),
            Self::ExpireFxQuote(quote) => Some(AnyId::of(quote)),
            Self::CompleteFxTransfer(transfer) | Self::FailFxTransfer(transfer) => {
                Some(AnyId::of(transfer))
            }
            Self::DisputeUnanswered(dispute)
            | Self::DecideDispute(dispute, _)
            | Self::EscrowDisputeUnanswered(dispute)
            | Self::DecideEscrowDispute(dispute, _) => Some(AnyId::of(dispute)),
            Self::ExamineDocument(document) | Self::ExpireDocument(document) => {
                Some(AnyId::of(document))
            }
            Self::AnswerCase(case, _) | Self::ExpireCase(case) | Self::ReviewCase(case) => {
                Some(AnyId::of(case))
            }
            Self::PromptPayer(collection)
            | Self::PayCollection(collection, _)
            | Self::FinishCollection(collection, _)
            | Self::SettleCollection(collection)
            | Self::ExpireCollection(collection)
            | Self::ChargeBack(collection) => Some(AnyId::of(collection)),
            Self::InvoiceOverdue(invoice) => Some(AnyId::of(invoice)),
            Self::SettleRefund(refund, _) => Some(AnyId::of(refund)),
            Self::ImportStatement(statement) => Some(AnyId::of(statement)),
            Self::CompleteCreditScore(score) => Some(AnyId::of(score)),
            Self::CompleteAssessment(assessment) => Some(AnyId::of(assessment)),
            Self::CompleteRiskScore(score) => Some(AnyId::of(score)),
            Self::ReviewApplication(application)
            | Self::DecideApplication(application, _)
            | Self::WithdrawApplication(application) => Some(AnyId::of(application)),
            Self::ExpireOffer(offer) => Some(AnyId::of(offer)),
            Self::DisburseLoan(loan)
            | Self::InstalmentDue(loan, _)
            | Self::MissInstalment(loan, _)
            | Self::DefaultLoan(loan, _) => Some(AnyId::of(loan)),
            Self::TakeUpRequest(request) | Self::MissRequest(request) => Some(AnyId::of(request)),
            Self::ReplyToDeal(deal, _) => Some(AnyId::of(deal)),
            Self::CompleteScreening(screening, _) | Self::ScreenAgain(screening) => {
                Some(AnyId::of(screening))
            }
            Self::CompleteTrustScore(score) => Some(AnyId::of(score)),
            Self::Scripted(_) => None,
        }
    }
}
