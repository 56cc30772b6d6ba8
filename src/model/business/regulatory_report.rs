//! A regulatory report: what a company reports to a regulator for one month, compiled from its records.

use crate::model::business::{Employee, PayLine, PayrollRun, RunStatus};
use crate::model::prelude::*;
use crate::model::{TransactionType, WalletTransaction};

states! {
    /// Status of a report.
    ReportStatus { Compiled "compiled", Submitted "submitted", Acknowledged "acknowledged", Rejected "rejected" }
    "submit": Compiled | Rejected => Submitted;
    "acknowledge": Submitted => Acknowledged;
    "reject": Submitted => Rejected;
}

/// The type of report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ReportType {
    SuspiciousActivity,
    LargeTransactions,
    PayrollSummary,
    PensionSchedule,
}

resource! {
    /// What a company reports to a regulator for one month.
    RegulatoryReport: ReportStatus {
        /// The company that the report is about.
        company_id: Id<Company>,
        /// The type of report.
        #[serde(rename = "type")]
        kind: ReportType,
        /// The reported month.
        period: Period,
        /// Current status.
        status: ReportStatus,
        /// The company's currency. `large_transactions` and `suspicious_activity` state the currency of each amount.
        currency: Currency,
        /// The contents of the report, from the records at the time of compilation.
        contents: Contents,
        /// Name of the person who declared the report correct; null until submitted.
        declaration: Option<String>,
        /// When the regulator accepted the report.
        acknowledged_at: Option<Timestamp>,
        /// Why the regulator rejected the report.
        rejection_reason: Option<String>,
    }
}

/// The contents of a report. The members depend on its type.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[schemars(rename = "ReportContents")]
pub(crate) enum Contents {
    /// Returned or failed payments, accounts shared by several employees, and amounts just below the threshold.
    SuspiciousActivity {
        /// The findings, by rule and then in order of time.
        findings: Vec<Finding>,
    },
    /// Wallet transactions at or above the threshold.
    LargeTransactions {
        /// One threshold for each currency in which the company has a wallet.
        thresholds: Vec<Threshold>,
        /// The transactions, in order of time.
        transactions: Vec<LargeTransaction>,
    },
    /// What the runs of the month paid.
    PayrollSummary {
        /// Sums over all runs.
        totals: PaidSums,
        /// Each run of the month, except cancelled runs and reversals.
        runs: Vec<RunSummary>,
    },
    /// Contributions to pension funds, by employee.
    PensionSchedule {
        /// Withheld from pay, in minor units.
        employee_contributions: i64,
        /// Paid by the employer in addition, in minor units.
        employer_contributions: i64,
        /// The contributions, one entry for each employee.
        entries: Vec<PensionEntry>,
    },
}

/// Sums over employees who have been paid, in minor units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct PaidSums {
    /// Number of payroll items that are paid.
    pub(crate) employees_paid: u64,
    /// Gross pay, in minor units.
    pub(crate) gross: i64,
    /// Taxes withheld, in minor units.
    pub(crate) taxes: i64,
    /// Social contributions withheld.
    pub(crate) employee_contributions: i64,
    /// Taxes and contributions that the employer pays in addition to gross pay.
    pub(crate) employer_contributions: i64,
    /// Net pay received by the employees.
    pub(crate) net: i64,
}

impl PaidSums {
    /// Both sums.
    pub(crate) const fn plus(self, other: Self) -> Self {
        Self {
            employees_paid: self.employees_paid + other.employees_paid,
            gross: self.gross + other.gross,
            taxes: self.taxes + other.taxes,
            employee_contributions: self.employee_contributions + other.employee_contributions,
            employer_contributions: self.employer_contributions + other.employer_contributions,
            net: self.net + other.net,
        }
    }
}

/// What one run paid.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct RunSummary {
    /// The run.
    pub(crate) payroll_run_id: Id<PayrollRun>,
    /// Status of the run when the report was compiled.
    pub(crate) status: RunStatus,
    /// The day on which wages were due.
    pub(crate) pay_date: Date,
    /// Sums over the run's paid items.
    #[serde(flatten)]
    pub(crate) sums: PaidSums,
}

/// One employee's contributions to pension funds.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct PensionEntry {
    /// The employee.
    pub(crate) employee_id: Id<Employee>,
    /// The name on the payslip.
    pub(crate) employee_name: String,
    /// Gross pay of the month, in minor units.
    pub(crate) gross: i64,
    /// Withheld from gross pay, in minor units.
    pub(crate) employee_contribution: i64,
    /// Paid by the employer in addition, in minor units.
    pub(crate) employer_contribution: i64,
}

/// The amount from which a transaction is large.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ReportingThreshold")]
pub(crate) struct Threshold {
    /// The currency of the threshold.
    pub(crate) currency: Currency,
    /// The smallest amount of a large transaction, in minor units.
    pub(crate) amount: i64,
}

/// A wallet transaction at or above the threshold.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct LargeTransaction {
    /// The id of the wallet transaction.
    pub(crate) wallet_transaction_id: Id<WalletTransaction>,
    /// The direction: in or out.
    #[serde(rename = "type")]
    pub(crate) kind: TransactionType,
    /// Amount in minor units.
    pub(crate) amount: i64,
    /// Currency of the amount.
    pub(crate) currency: Currency,
    /// The effective day of the transaction.
    pub(crate) effective_on: Date,
    /// The description of the wallet transaction.
    pub(crate) description: String,
    /// The resource that caused the transaction.
    pub(crate) source: AnyId,
}

/// The rule that produced a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "ReportRule")]
pub(crate) enum Rule {
    /// A payout was returned or failed.
    ReturnedPayout,
    /// Several employees use the same bank account.
    SharedAccount,
    /// Three or more amounts on one day, each at most a tenth below the threshold.
    BelowThreshold,
    /// A screening or monitoring alert was confirmed.
    ConfirmedAlert,
}

/// A finding of a rule.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ReportFinding")]
pub(crate) struct Finding {
    /// The rule that produced the finding.
    pub(crate) rule: Rule,
    /// Description of the finding in one sentence.
    pub(crate) detail: String,
    /// The amount in question, in minor units; null if no money moved.
    pub(crate) amount: Option<i64>,
    /// The currency of the amount.
    pub(crate) currency: Currency,
    /// The resources in question.
    pub(crate) resources: Vec<AnyId>,
}

/// Reporting thresholds for cash and transfers, in whole units of the currency, in use in 2025 and 2026.
const THRESHOLDS: &[(&str, i64)] = &[
    ("USD", 10_000),
    ("CAD", 10_000),
    ("EUR", 10_000),
    ("GBP", 10_000),
    ("NGN", 10_000_000), // of companies
    ("KES", 1_000_000),
    ("ZAR", 50_000),
];
/// The threshold for other currencies.
const OTHER_THRESHOLD: i64 = 10_000;

impl Threshold {
    /// The threshold of that currency.
    pub(crate) fn of(currency: Currency) -> Self {
        let known = THRESHOLDS.iter().find(|(code, _)| *code == currency.code());
        let major = known.map_or(OTHER_THRESHOLD, |(_, major)| *major);
        Self { currency, amount: major * currency.minor_per_major() }
    }
}

/// Prefixes of payroll pack line ids that are contributions to pension funds.
const PENSION_LINES: &[&str] = &["pension", "nssf", "cpp"];

/// Types of deductions in the payroll packs that are contributions to pension funds.
const PENSION_TYPES: &[&str] = &[
    "401k",
    "403b",
    "pension",
    "pension_net_pay",
    "pension_relief_at_source",
    "provident",
    "retirement",
    "retirement_annuity",
    "roth_401k",
    "rpp",
    "salary_sacrifice",
    "voluntary_pension",
];

/// Whether a payslip line is a contribution to a pension fund: by its type or, without one, by its id. Social insurance that also pays other
/// benefits is not.
pub(crate) fn is_pension(line: &PayLine) -> bool {
    match &line.kind {
        Some(kind) => PENSION_TYPES.contains(&kind.as_str()),
        None => PENSION_LINES.iter().any(|start| line.id.starts_with(start)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::payroll::library;

    #[test]
    fn thresholds_are_in_minor_units_of_their_currency() {
        let of = |code: &str| Threshold::of(Currency::new(code).expect("a currency")).amount;
        assert_eq!(of("USD"), 1_000_000);
        assert_eq!(of("NGN"), 1_000_000_000);
        assert_eq!(of("JPY"), 10_000);
    }

    #[test]
    fn pension_lines_are_those_of_funds() {
        let by_id = |id: &str| is_pension(&PayLine::plain(id.to_owned(), id.to_owned(), 1));
        assert!(by_id("pension_employer") && by_id("nssf_tier_1") && by_id("cpp2"));
        assert!(!by_id("social_security") && !by_id("uif") && !by_id("paye"));
    }

    #[test]
    fn types_of_pension_deductions_are_those_of_the_packs() {
        for kind in PENSION_TYPES {
            let mut packs = library().packs();
            assert!(packs.any(|pack| pack.deduction_type(kind).is_some()), "{kind}");
            let line = PayLine::plain("nest".to_owned(), "Nest".to_owned(), 1);
            assert!(is_pension(&PayLine { kind: Some((*kind).to_owned()), ..line }), "{kind}");
        }
        let dues = PayLine::plain("pension_dues".to_owned(), "Dues".to_owned(), 1);
        assert!(!is_pension(&PayLine { kind: Some("union_dues".to_owned()), ..dues }));
    }
}
