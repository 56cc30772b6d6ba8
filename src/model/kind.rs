//! The registry of resource kinds: one row for each kind. All other code about kinds is generated from it.
//!
//! A row has the kind's type, the prefix of its ids, its name, its module, its status members with their machines, and two words:
//! - `grown` if a new world can contain such resources (then `world` implements `Grow` for the kind), `created` if
//!   only calls create them;
//! - `as_kept` if the stored record is the wire form, `own_wire` if the kind implements [`Wire`](crate::model::Wire)
//!   with another shape.
//!
//! A row without the code that it requires is a compile error, and so is a machine without a row.
//!
//! This file has the rows and the names of kinds. [`registry`](crate::model::registry) generates the code that needs
//! the resource types from the same rows.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::value::Prefixed;

/// Calls a macro with the rows of the registry.
macro_rules! for_each_kind {
    ($callback:ident) => {
        $callback! {
            kept {
                Company "com" "company" (business) { status: CompanyStatus } grown as_kept;
                Employee "emp" "employee" (business) { status: EmployeeStatus, payroll_status: PayrollStatus } grown as_kept;
                PayrollRun "prn" "payroll_run" (business) { status: RunStatus } grown as_kept;
                PayrollItem "pit" "payroll_item" (business) { status: ItemStatus } grown own_wire;
                Payslip "psl" "payslip" (business) { status: PayslipStatus } grown own_wire;
                TaxLiability "txl" "tax_liability" (business) { status: LiabilityStatus } created as_kept;
                ComplianceRequirement "crq" "compliance_requirement" (business) { status: RequirementStatus } created as_kept;
                JournalEntry "jne" "journal_entry" (ledger) { status: EntryStatus } grown as_kept;
                Wallet "wal" "wallet" (payments::wallet) { status: WalletStatus } grown as_kept;
                WalletTransaction "wtx" "wallet_transaction" (ledger) {} created as_kept;
                Payout "pyo" "payout" (payments) { status: PayoutStatus } grown as_kept;
                PayrollVerification "pvr" "payroll_verification" (business) { status: VerificationStatus } created own_wire;
                TaxFiling "txf" "tax_filing" (business) { status: FilingStatus } grown as_kept;
                RegulatoryReport "rgr" "regulatory_report" (business) { status: ReportStatus } created as_kept;
                LeaveRequest "lvr" "leave_request" (business) { status: LeaveStatus } created as_kept;
                PaySchedule "psc" "pay_schedule" (business) { status: ScheduleStatus } grown as_kept;
                FxQuote "fxq" "fx_quote" (payments) { status: QuoteStatus } created as_kept;
                FxTransfer "fxt" "fx_transfer" (payments) { status: FxTransferStatus } created as_kept;
                Beneficiary "ben" "beneficiary" (payments) { status: BeneficiaryStatus } created own_wire;
                Escrow "esc" "escrow" (payments) { status: EscrowStatus } created as_kept;
                Dispute "dsp" "dispute" (payments) { status: DisputeStatus } created as_kept;
                Subject "sub" "subject" (identity) { status: KycStatus } created own_wire;
                Document "doc" "document" (identity) { status: DocumentStatus } created as_kept;
                Verification "ver" "verification" (identity) { status: CaseStatus } created as_kept;
                AmlScreening "ams" "aml_screening" (identity) { status: ScreeningStatus } created as_kept;
                AmlAlert "ama" "aml_alert" (identity) { status: AlertStatus } created as_kept;
                TrustScore "tsc" "trust_score" (identity) { status: TrustStatus } created as_kept;
                BankAccountVerification "bav" "bank_account_verification" (identity) {} created as_kept;
                WatchlistEntry "wle" "watchlist_entry" (identity) {} created as_kept;
                Collection "col" "collection" (payments) { status: CollectionStatus } grown as_kept;
                Invoice "inv" "invoice" (payments) { status: InvoiceStatus } grown as_kept;
                Refund "rfd" "refund" (payments) { status: RefundStatus } created as_kept;
                BankStatement "bst" "bank_statement" (payments) { status: StatementStatus } created own_wire;
                ReconciliationMatch "rcm" "reconciliation_match" (payments) { status: MatchStatus } created as_kept;
                CreditScore "csc" "credit_score" (capital) { status: ScoreStatus } created as_kept;
                ReadinessAssessment "rda" "readiness_assessment" (capital) { status: AssessmentStatus } created as_kept;
                InsuranceRiskScore "irs" "insurance_risk_score" (capital) { status: RiskScoreStatus } created as_kept;
                Application "app" "application" (capital) { status: ApplicationStatus } created as_kept;
                Offer "ofr" "offer" (capital) { status: OfferStatus } created as_kept;
                Loan "lon" "loan" (capital) { status: LoanStatus } created as_kept;
                LoanRepayment "lrp" "loan_repayment" (capital) { status: RepaymentStatus } created as_kept;
                Deal "del" "deal" (capital) { status: DealStatus, stage: DealStage } created as_kept;
                DueDiligenceCase "ddc" "due_diligence_case" (capital) { status: CaseStatus } created as_kept;
                DueDiligenceRequest "ddr" "due_diligence_request" (capital) { status: RequestStatus } created as_kept;
                AccountingPeriod "acp" "accounting_period" (business) { status: PeriodStatus } created as_kept;
                Bill "bil" "bill" (payments) { status: BillStatus } grown as_kept;
                Mandate "mnd" "mandate" (payments) { status: MandateStatus } created as_kept;
            }
            named {
                LedgerAccount "acc" "ledger_account";
                PaymentMethod "pm" "payment_method";
                Event "evt" "event";
                AuditLog "aud" "audit_log";
                Request "req" "request";
            }
        }
    };
}
pub(crate) use for_each_kind;

/// A type of a row: `typed!((business) Company)`.
macro_rules! typed {
    (($($module:ident)::+) $name:ident) => { $crate::model::$($module)::+::$name };
}
pub(crate) use typed;

/// A resource's type.
pub(crate) trait OfKind: Prefixed {
    /// Its kind.
    const KIND: Kind;
}

macro_rules! is_grown {
    (grown) => {
        true
    };
    (created) => {
        false
    };
}

macro_rules! kinds {
    (
        kept {
            $($kind:ident $prefix:literal $name:literal $module:tt { $($member:ident: $machine:ident),* }
                $growth:ident $wire:ident;)*
        }
        named { $($bare:ident $bare_prefix:literal $bare_name:literal;)* }
    ) => {
        /// Every kind of resource. A kind of the second part has a name and ids, but no stored records.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub(crate) enum Kind { $($kind,)* $($bare,)* }

        impl Kind {
            /// Every kind, in the order of its number.
            pub(crate) const ALL: &'static [Self] = &[$(Self::$kind,)* $(Self::$bare,)*];

            /// Whether a new world can have such resources.
            pub(crate) const fn is_grown(self) -> bool {
                match self {
                    $(Self::$kind => is_grown!($growth),)*
                    Self::LedgerAccount | Self::PaymentMethod => true,
                    Self::Event | Self::AuditLog | Self::Request => false,
                }
            }

            /// The letters before an id's underscore.
            pub(crate) const fn prefix(self) -> &'static str {
                match self { $(Self::$kind => $prefix,)* $(Self::$bare => $bare_prefix,)* }
            }

            /// The name in `object` members and messages.
            pub(crate) const fn name(self) -> &'static str {
                match self { $(Self::$kind => $name,)* $(Self::$bare => $bare_name,)* }
            }
        }
    };
}

for_each_kind!(kinds);

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Kind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = Cow::<'de, str>::deserialize(deserializer)?;
        let found = Self::ALL.iter().find(|kind| kind.name() == name).copied();
        found.ok_or_else(|| de::Error::custom("no kind of resource has this name"))
    }
}
