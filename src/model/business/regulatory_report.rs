//! A regulatory report: what a company tells a regulator about one month, compiled from its records.

use crate::model::business::{Employee, PayrollRun, RunStatus};
use crate::model::prelude::*;
use crate::model::{TransactionType, WalletTransaction};

states! {
    /// Where a report stands.
    ReportStatus { Compiled "compiled", Submitted "submitted", Acknowledged "acknowledged", Rejected "rejected" }
    "submit": Compiled | Rejected => Submitted;
    "acknowledge": Submitted => Acknowledged;
    "reject": Submitted => Rejected;
}

/// What a report is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ReportType {
    SuspiciousActivity,
    LargeTransactions,
    PayrollSummary,
    PensionSchedule,
}

/// What a company tells a regulator about one month.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct RegulatoryReport {
    /// The report's id.
    pub(crate) id: Id<RegulatoryReport>,
    /// Always `regulatory_report`.
    pub(crate) object: Object<RegulatoryReport>,
    /// The company that it is about.
    pub(crate) company_id: Id<Company>,
    /// What it is about.
    #[serde(rename = "type")]
    pub(crate) kind: ReportType,
    /// The month.
    pub(crate) period: Period,
    /// Where it stands.
    pub(crate) status: ReportStatus,
    /// The company's currency; `large_transactions` and `suspicious_activity` name that of each amount.
    pub(crate) currency: Currency,
    /// What it says, as the records stood when it was compiled.
    pub(crate) contents: Contents,
    /// Who declared it to be right, once submitted.
    pub(crate) declaration: Option<String>,
    /// When the regulator took it.
    pub(crate) acknowledged_at: Option<Timestamp>,
    /// Why the regulator did not.
    pub(crate) rejection_reason: Option<String>,
    /// When it was created, in virtual time.
    pub(crate) created_at: Timestamp,
    /// When it last changed, in virtual time.
    pub(crate) updated_at: Timestamp,
    /// The caller's own pairs.
    pub(crate) metadata: Metadata,
    /// Every status it had.
    pub(crate) status_history: Vec<StatusChange<ReportStatus>>,
}

/// What a report says: members by its type.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[schemars(rename = "ReportContents")]
pub(crate) enum Contents {
    /// Payments that came back or failed, accounts that several employees share, and amounts kept just below the threshold.
    SuspiciousActivity {
        /// What was found, by rule and then in the order in which it happened.
        findings: Vec<Finding>,
    },
    /// Money in and out of the wallets, of the threshold and more.
    LargeTransactions {
        /// Of each currency that the company has a wallet in.
        thresholds: Vec<Threshold>,
        /// In the order in which they happened.
        transactions: Vec<LargeTransaction>,
    },
    /// What the runs of the month have paid.
    PayrollSummary {
        /// Over all runs.
        totals: PaidSums,
        /// Each run that is not cancelled and takes no other back.
        runs: Vec<RunSummary>,
    },
    /// Contributions to pension funds, employee by employee.
    PensionSchedule {
        /// Withheld from pay, in minor units.
        employee_contributions: i64,
        /// Paid on top.
        employer_contributions: i64,
        /// Whom they are for.
        entries: Vec<PensionEntry>,
    },
}

/// Sums over employees who have been paid, in minor units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct PaidSums {
    /// Payroll items that are paid.
    pub(crate) employees_paid: u64,
    /// Gross pay.
    pub(crate) gross: i64,
    /// Taxes withheld.
    pub(crate) taxes: i64,
    /// Social contributions withheld.
    pub(crate) employee_contributions: i64,
    /// Taxes and contributions on top of gross pay.
    pub(crate) employer_contributions: i64,
    /// What the employees received.
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

/// What one run has paid.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct RunSummary {
    /// The run.
    pub(crate) payroll_run_id: Id<PayrollRun>,
    /// Where it stood.
    pub(crate) status: RunStatus,
    /// The day on which wages were due.
    pub(crate) pay_date: Date,
    /// Over its items that are paid.
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
    /// Withheld from it.
    pub(crate) employee_contribution: i64,
    /// Paid on top.
    pub(crate) employer_contribution: i64,
}

/// From where on money in or out is large.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Threshold {
    /// The currency.
    pub(crate) currency: Currency,
    /// Minor units.
    pub(crate) amount: i64,
}

/// Money in or out, of the threshold and more.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct LargeTransaction {
    /// The wallet's transaction.
    pub(crate) wallet_transaction_id: Id<WalletTransaction>,
    /// In or out.
    #[serde(rename = "type")]
    pub(crate) kind: TransactionType,
    /// Minor units.
    pub(crate) amount: i64,
    /// Their currency.
    pub(crate) currency: Currency,
    /// The day it counts for.
    pub(crate) effective_on: Date,
    /// What it was for.
    pub(crate) description: String,
    /// What caused it.
    pub(crate) source: AnyId,
}

/// Which rule found something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Rule {
    /// A payout came back or failed.
    ReturnedPayout,
    /// One bank account is that of several employees.
    SharedAccount,
    /// Three or more amounts of a day, each below the threshold by a tenth at most.
    BelowThreshold,
    /// An alert of screening or monitoring was confirmed.
    ConfirmedAlert,
}

/// Something that a rule found.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Finding {
    /// The rule.
    pub(crate) rule: Rule,
    /// What was found, in a sentence.
    pub(crate) detail: String,
    /// Money in question, in minor units; null where none moved.
    pub(crate) amount: Option<i64>,
    /// Its currency.
    pub(crate) currency: Currency,
    /// The resources in question.
    pub(crate) resources: Vec<AnyId>,
}

impl RegulatoryReport {
    pub(crate) const fn parent_bits(&self) -> u64 {
        self.company_id.bits()
    }

    pub(crate) const fn company_of(&self) -> Id<Company> {
        self.company_id
    }
}

stateful!(RegulatoryReport: ReportStatus);

/// Where cash and transfers are reported from, in whole units of the currency: reporting thresholds in use in 2025 and 2026.
const THRESHOLDS: &[(&str, i64)] = &[
    ("USD", 10_000),
    ("CAD", 10_000),
    ("EUR", 10_000),
    ("GBP", 10_000),
    ("NGN", 10_000_000), // of companies
    ("KES", 1_000_000),
    ("ZAR", 50_000),
];
/// The same for other currencies.
const OTHER_THRESHOLD: i64 = 10_000;

impl Threshold {
    /// The threshold of that currency.
    pub(crate) fn of(currency: Currency) -> Self {
        let known = THRESHOLDS.iter().find(|(code, _)| *code == currency.code());
        let major = known.map_or(OTHER_THRESHOLD, |(_, major)| *major);
        Self { currency, amount: major * currency.minor_per_major() }
    }
}

/// Lines of payroll packs that are contributions to pension funds, by the beginning of their id.
const PENSION_LINES: &[&str] = &["pension", "nssf", "cpp"];

/// Whether a payslip's line of that id is a contribution to a pension fund. Social insurance that pays other benefits, too, is not.
pub(crate) fn is_pension(line: &str) -> bool {
    PENSION_LINES.iter().any(|start| line.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_of_a_report_can_be_reached() {
        crate::model::lifecycle::assert_sound(ReportStatus::Compiled);
    }

    #[test]
    fn thresholds_are_in_minor_units_of_their_currency() {
        let of = |code: &str| Threshold::of(Currency::new(code).expect("a currency")).amount;
        assert_eq!(of("USD"), 1_000_000);
        assert_eq!(of("NGN"), 1_000_000_000);
        assert_eq!(of("JPY"), 10_000);
    }

    #[test]
    fn pension_lines_are_those_of_funds() {
        assert!(is_pension("pension_employer") && is_pension("nssf_tier_1") && is_pension("cpp2"));
        assert!(!is_pension("social_security") && !is_pension("uif") && !is_pension("paye"));
    }
}
