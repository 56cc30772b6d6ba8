//! Every lifecycle of the product by kind and member, as names.

use crate::model::business::{
    CompanyStatus, EmployeeStatus, FilingStatus, ItemStatus, LeaveStatus, LiabilityStatus,
    PayrollStatus, PayslipStatus, ReportStatus, RequirementStatus, RunStatus, VerificationStatus,
};
use crate::model::capital::{
    ApplicationStatus, AssessmentStatus, CaseStatus as DiligenceStatus, DealStage, DealStatus,
    LoanStatus, OfferStatus, RepaymentStatus, RequestStatus, RiskScoreStatus, ScoreStatus,
};
use crate::model::identity::{
    AlertStatus, CaseStatus, DocumentStatus, KycStatus, ScreeningStatus, TrustStatus,
};
use crate::model::payments::wallet::WalletStatus;
use crate::model::payments::{
    BeneficiaryStatus, CollectionStatus, DisputeStatus, EscrowStatus, FxTransferStatus,
    InvoiceStatus, MatchStatus, PayoutStatus, QuoteStatus, RefundStatus, StatementStatus,
};
use crate::model::{EntryStatus, Kind, State};

/// One arrow of a machine, from one state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Arrow {
    pub(super) kind: &'static str,
    /// `status`, unless a kind has a second machine.
    pub(super) member: &'static str,
    pub(super) from: &'static str,
    pub(super) to: &'static str,
}

/// A lifecycle, as names.
pub(super) struct Machine {
    pub(super) kind: Kind,
    pub(super) member: &'static str,
    /// The name of its type.
    pub(super) name: &'static str,
    pub(super) states: Vec<&'static str>,
    /// What leads where: verb, start and end.
    pub(super) rows: Vec<(&'static str, &'static str, &'static str)>,
}

impl Machine {
    fn of<S: State>(kind: Kind, member: &'static str) -> Self {
        let name = std::any::type_name::<S>();
        let rows = S::ROWS.iter().flat_map(|row| {
            let starts = row.from.iter();
            starts.map(|from| (row.verb, from.name(), row.to.name()))
        });
        Self {
            kind,
            member,
            name: name.rsplit("::").next().unwrap_or(name),
            states: S::STATES.iter().map(|(_, name)| *name).collect(),
            rows: rows.collect(),
        }
    }

    /// Its own word for a state, if it is one.
    pub(super) fn state(&self, name: &str) -> Option<&'static str> {
        self.states.iter().copied().find(|state| *state == name)
    }

    /// From one state to another.
    pub(super) const fn arrow(&self, from: &'static str, to: &'static str) -> Arrow {
        Arrow { kind: self.kind.name(), member: self.member, from, to }
    }

    /// Every arrow that it has.
    pub(super) fn arrows(&self) -> impl Iterator<Item = Arrow> {
        self.rows.iter().map(|(_, from, to)| self.arrow(from, to))
    }

    /// The other states that can be reached from this one in one step.
    pub(super) fn allowed(&self, from: &str) -> Vec<&'static str> {
        let mut found = Vec::new();
        for (_, start, to) in &self.rows {
            if *start == from && *to != from && !found.contains(to) {
                found.push(*to);
            }
        }
        found
    }

    /// The states in which these verbs may start.
    pub(super) fn starts(&self, verbs: &[&str]) -> Vec<&'static str> {
        let rows = self.rows.iter();
        rows.filter(|(verb, ..)| verbs.contains(verb)).map(|(_, from, _)| *from).collect()
    }
}

/// Every machine. A test compares this list with the `states!` of the sources.
pub(super) fn machines() -> Vec<Machine> {
    vec![
        Machine::of::<CompanyStatus>(Kind::Company, "status"),
        Machine::of::<EmployeeStatus>(Kind::Employee, "status"),
        Machine::of::<PayrollStatus>(Kind::Employee, "payroll_status"),
        Machine::of::<RunStatus>(Kind::PayrollRun, "status"),
        Machine::of::<ItemStatus>(Kind::PayrollItem, "status"),
        Machine::of::<PayslipStatus>(Kind::Payslip, "status"),
        Machine::of::<LiabilityStatus>(Kind::TaxLiability, "status"),
        Machine::of::<RequirementStatus>(Kind::ComplianceRequirement, "status"),
        Machine::of::<EntryStatus>(Kind::JournalEntry, "status"),
        Machine::of::<VerificationStatus>(Kind::PayrollVerification, "status"),
        Machine::of::<FilingStatus>(Kind::TaxFiling, "status"),
        Machine::of::<ReportStatus>(Kind::RegulatoryReport, "status"),
        Machine::of::<LeaveStatus>(Kind::LeaveRequest, "status"),
        Machine::of::<WalletStatus>(Kind::Wallet, "status"),
        Machine::of::<PayoutStatus>(Kind::Payout, "status"),
        Machine::of::<BeneficiaryStatus>(Kind::Beneficiary, "status"),
        Machine::of::<EscrowStatus>(Kind::Escrow, "status"),
        Machine::of::<DisputeStatus>(Kind::Dispute, "status"),
        Machine::of::<CollectionStatus>(Kind::Collection, "status"),
        Machine::of::<InvoiceStatus>(Kind::Invoice, "status"),
        Machine::of::<RefundStatus>(Kind::Refund, "status"),
        Machine::of::<QuoteStatus>(Kind::FxQuote, "status"),
        Machine::of::<FxTransferStatus>(Kind::FxTransfer, "status"),
        Machine::of::<StatementStatus>(Kind::BankStatement, "status"),
        Machine::of::<MatchStatus>(Kind::ReconciliationMatch, "status"),
        Machine::of::<KycStatus>(Kind::Subject, "status"),
        Machine::of::<DocumentStatus>(Kind::Document, "status"),
        Machine::of::<CaseStatus>(Kind::Verification, "status"),
        Machine::of::<ScreeningStatus>(Kind::AmlScreening, "status"),
        Machine::of::<AlertStatus>(Kind::AmlAlert, "status"),
        Machine::of::<TrustStatus>(Kind::TrustScore, "status"),
        Machine::of::<ScoreStatus>(Kind::CreditScore, "status"),
        Machine::of::<AssessmentStatus>(Kind::ReadinessAssessment, "status"),
        Machine::of::<RiskScoreStatus>(Kind::InsuranceRiskScore, "status"),
        Machine::of::<ApplicationStatus>(Kind::Application, "status"),
        Machine::of::<OfferStatus>(Kind::Offer, "status"),
        Machine::of::<DealStatus>(Kind::Deal, "status"),
        Machine::of::<DealStage>(Kind::Deal, "stage"),
        Machine::of::<DiligenceStatus>(Kind::DueDiligenceCase, "status"),
        Machine::of::<RequestStatus>(Kind::DueDiligenceRequest, "status"),
        Machine::of::<LoanStatus>(Kind::Loan, "status"),
        Machine::of::<RepaymentStatus>(Kind::LoanRepayment, "status"),
    ]
}

/// The machine of that kind's member.
pub(super) fn machine<'a>(all: &'a [Machine], kind: Kind, member: &str) -> Option<&'a Machine> {
    let mut all = all.iter();
    all.find(|machine| machine.kind == kind && machine.member == member)
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test looks at the repository")]
fn the_list_has_every_machine_of_the_sources() {
    let mut declared = Vec::new();
    let mut folders = vec![concat!(env!("CARGO_MANIFEST_DIR"), "/src/model").into()];
    while let Some(folder) = folders.pop() {
        let folder: std::path::PathBuf = folder;
        for entry in std::fs::read_dir(folder).expect("the sources are part of the repository") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(path).expect("UTF-8");
            for (place, _) in text.match_indices("\nstates! {") {
                let mut lines = text[place..].lines().skip(2).map(str::trim);
                let said = ["///", "#["];
                let line = lines
                    .find(|line| !line.is_empty() && !said.iter().any(|it| line.starts_with(it)));
                let name = line.and_then(|line| line.split_once(' '));
                declared.push(name.expect("a name and its states").0.to_owned());
            }
        }
    }
    declared.sort_unstable();
    let mut listed: Vec<&str> = machines().iter().map(|machine| machine.name).collect();
    listed.sort_unstable();
    assert_eq!(listed, declared);
}
