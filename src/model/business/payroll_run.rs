//! A payroll run: one payday of one company, from gross pay to settled payouts.

use crate::model::business::{Calculation, Deduction, Employee, PayLine, PayrollItem};
use crate::model::payments::Wallet;
use crate::model::prelude::*;

states! {
    /// Where a run stands.
    RunStatus {
        Draft "draft", Calculating "calculating", Calculated "calculated", PendingApproval "pending_approval",
        Approved "approved", Funding "funding", FundingFailed "funding_failed", Processing "processing", Paid "paid",
        PartiallyPaid "partially_paid", Failed "failed", Cancelled "cancelled", Reversed "reversed",
    }
    "calculate": Draft => Calculating;
    "calculated": Calculating => Calculated;
    "edit": Calculated => Draft;
    "ask": Calculated => PendingApproval;
    "approve": Calculated | PendingApproval => Approved;
    "fund": Approved => Funding;
    "retry": FundingFailed => Funding;
    "fund_fails": Funding => FundingFailed;
    "process": Funding => Processing;
    "settle_all": Processing | PartiallyPaid => Paid;
    "settle_some": Processing => PartiallyPaid;
    "settle_none": Processing => Failed;
    "cancel": Draft | Calculating | Calculated | PendingApproval | Approved | FundingFailed => Cancelled;
    "reverse": Paid | PartiallyPaid => Reversed;
}

/// The kind of a run. An employee is in at most one regular run a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RunType {
    Regular,
    OffCycle,
    Correction,
    Termination,
}

impl RunType {
    /// Whether it pays what the terms of pay say, and not single sums alone.
    pub(crate) const fn pays_by_terms(self) -> bool {
        matches!(self, Self::Regular | Self::Termination)
    }
}

// Lists are shared: a run is written once for each of its payouts, and the log keeps every version.
fn is_empty<T>(list: &Arc<Vec<T>>) -> bool {
    list.is_empty()
}

/// One payday of one company.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct PayrollRun {
    /// The run's id.
    pub(crate) id: Id<PayrollRun>,
    /// Always `payroll_run`.
    pub(crate) object: Object<PayrollRun>,
    /// The company that pays.
    pub(crate) company_id: Id<Company>,
    /// The month that is paid.
    pub(crate) period: Period,
    /// What kind of run it is.
    #[serde(rename = "type")]
    pub(crate) kind: RunType,
    /// Where it stands.
    pub(crate) status: RunStatus,
    /// The employees included: as sent, or all payable ones where none were named. Empty for a run of the months before the
    /// world's start with more than a thousand: they are its items.
    pub(crate) employees: Arc<Vec<Id<Employee>>>,
    /// How many they are.
    pub(crate) employee_count: u64,
    /// The day on which wages are due.
    pub(crate) pay_date: Date,
    /// The currency of every amount of the run: the company's. Its items are in their employees' currencies.
    pub(crate) currency: Currency,
    /// Sums over the employees; null until calculated.
    pub(crate) totals: Option<RunTotals>,
    /// Where the money comes from; null until approved.
    pub(crate) funding: Option<Funding>,
    /// How many employees were paid, and how many were not.
    pub(crate) settlement: Settlement,
    /// What stands in the way, in sentences.
    pub(crate) blockers: Vec<String>,
    /// What may be wrong and stands in nobody's way.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub(crate) warnings: Arc<Vec<RunWarning>>,
    /// What single employees are paid beside their terms, as it was sent.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub(crate) inputs: Arc<Vec<RunInput>>,
    /// What the run is for, in the caller's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) notes: Option<String>,
    /// The run that this one takes back, wholly or in part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reverses: Option<Id<PayrollRun>>,
    /// Runs that took this one back, wholly or in part.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) reversed_by: Vec<Id<PayrollRun>>,
    /// When it was created, in virtual time.
    pub(crate) created_at: Timestamp,
    /// When it last changed, in virtual time.
    pub(crate) updated_at: Timestamp,
    /// The caller's own pairs.
    pub(crate) metadata: Metadata,
    /// Every status it had.
    pub(crate) status_history: Vec<StatusChange<RunStatus>>,
}

impl PayrollRun {
    pub(crate) const fn parent_bits(&self) -> u64 {
        self.company_id.bits()
    }

    pub(crate) const fn company_of(&self) -> Id<Company> {
        self.company_id
    }

    /// Whether nothing of it stands: its pay counts nowhere, and its employees may be in another run of the period.
    pub(crate) const fn is_void(&self) -> bool {
        matches!(self.status, RunStatus::Cancelled | RunStatus::Failed | RunStatus::Reversed)
    }
}

stateful!(PayrollRun: RunStatus);

/// Something about a run that may be wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct RunWarning {
    /// What it is.
    pub(crate) code: WarningCode,
    /// Whom it is about.
    pub(crate) employee_id: Id<Employee>,
    /// The same in a sentence.
    pub(crate) detail: String,
}

/// What may be wrong about an employee's pay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum WarningCode {
    /// The terms pay less than the law's minimum.
    BelowMinimumWage,
    /// Deductions were lowered to what the pay leaves.
    DeductionsCapped,
    /// There is nothing to pay.
    NothingToPay,
    /// The pay date is in a year whose tax tables are not known, and the nearest were taken.
    TaxTablesOfAnotherYear,
}

/// What an employee is paid in a run beside the terms.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct RunInput {
    /// Whom it is about.
    pub(crate) employee_id: Id<Employee>,
    /// Paid on top, and taxed: bonus, overtime, commission.
    pub(crate) earnings: Vec<PayLine>,
    /// Kept back.
    pub(crate) deductions: Vec<Deduction>,
    /// Expenses paid back, outside gross pay.
    pub(crate) reimbursements: Vec<PayLine>,
}

/// Sums over the employees of a run, in minor units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct RunTotals {
    /// Gross pay.
    pub(crate) gross: i64,
    /// Taxes withheld from employees.
    pub(crate) taxes: i64,
    /// Social contributions withheld from employees.
    pub(crate) employee_contributions: i64,
    /// Taxes and contributions on top of gross pay.
    pub(crate) employer_contributions: i64,
    /// What is kept back beside them.
    #[serde(default)]
    pub(crate) deductions: i64,
    /// Expenses paid back, outside gross pay.
    #[serde(default)]
    pub(crate) reimbursements: i64,
    /// What employees receive: gross less taxes, employee contributions and deductions, and reimbursements.
    pub(crate) net: i64,
    /// What the company pays in all: gross, employer contributions and reimbursements.
    pub(crate) employer_cost: i64,
}

impl RunTotals {
    /// Adds the pay of so many people who earn the same.
    pub(crate) fn add(&mut self, pay: &Calculation, people: i64) {
        self.gross += pay.gross * people;
        self.taxes += pay.taxes * people;
        self.employee_contributions += pay.employee_contributions * people;
        self.employer_contributions += pay.employer_contributions * people;
        self.deductions += pay.deductions() * people;
        self.reimbursements += pay.reimbursed() * people;
        self.net += pay.net * people;
        self.employer_cost += pay.employer_cost() * people;
    }

    /// Adds one employee's part, `times` being 1, or takes it back, `times` being −1.
    pub(crate) fn add_item(&mut self, item: &PayrollItem, times: i64) {
        let pay = item.value();
        self.gross += pay.gross * times;
        self.taxes += pay.taxes * times;
        self.employee_contributions += pay.employee_contributions * times;
        self.employer_contributions += pay.employer_contributions * times;
        self.deductions += pay.deductions * times;
        self.reimbursements += pay.reimbursed * times;
        self.net += pay.net * times;
        self.employer_cost += (pay.gross + pay.employer_contributions + pay.reimbursed) * times;
    }
}

/// Where a run's money comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Funding {
    /// The wallet that pays.
    pub(crate) wallet_id: Id<Wallet>,
    /// What the run needs: its employer cost.
    pub(crate) required: i64,
    /// What is reserved for it.
    pub(crate) reserved: i64,
    /// What the service charges for paying it, beside what is reserved: taken when the run is funded, given back where it fails as a
    /// whole.
    #[serde(default)]
    pub(crate) platform_fee: i64,
    /// What the wallet was short of at the last attempt.
    pub(crate) shortfall: i64,
}

/// How many employees of a run were paid, and how many were not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Settlement {
    /// Payouts that arrived.
    pub(crate) paid: u64,
    /// Payouts that failed or came back.
    pub(crate) failed: u64,
    /// Payouts on their way.
    pub(crate) pending: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_of_a_run_can_be_reached() {
        crate::model::lifecycle::assert_sound(RunStatus::Draft);
    }
}
