//! A payroll run: one pay day of one company, from gross pay to settled payouts.

use std::collections::BTreeMap;

use crate::model::business::{Calculation, Deduction, Employee, PayLine, PaySpan, PayrollItem};
use crate::model::payments::Wallet;
use crate::model::prelude::*;

states! {
    /// Status of a run.
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

/// The type of a run. An employee can be in at most one regular run per pay period.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RunType {
    Regular,
    OffCycle,
    Correction,
    Termination,
}

impl RunType {
    /// Whether the run pays the regular salary, not only single amounts.
    pub(crate) const fn pays_by_terms(self) -> bool {
        matches!(self, Self::Regular | Self::Termination)
    }
}

// Lists are shared, because a run is saved once for each payout and the log keeps every version.
fn is_empty<T>(list: &Arc<Vec<T>>) -> bool {
    list.is_empty()
}

resource! {
    /// One pay day of one company.
    PayrollRun: RunStatus {
        /// The company that pays.
        company_id: Id<Company>,
        /// The month of the pay.
        period: Period,
        /// The days that the run pays, if they are not the whole month.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pay_period: Option<PaySpan>,
        /// The type of run.
        #[serde(rename = "type")]
        kind: RunType,
        /// Current status.
        status: RunStatus,
        /// The employees in the run: those given, or all payable employees if none were given. Empty for runs before the world's start with
        /// more than 1,000 employees: list the items instead.
        employees: Arc<Vec<Id<Employee>>>,
        /// The number of employees in the run.
        employee_count: u64,
        /// The day on which wages are due.
        pay_date: Date,
        /// The currency of the run's amounts: the company's. Items are in the employees' currencies.
        currency: Currency,
        /// Sums over all employees; null until the run is calculated.
        totals: Option<RunTotals>,
        /// How the run is funded; null until it is approved.
        funding: Option<Funding>,
        /// How many employees were paid, and how many were not.
        settlement: Settlement,
        /// What blocks the run, one sentence each.
        blockers: Vec<String>,
        /// Possible mistakes that do not block the run.
        #[serde(default, skip_serializing_if = "is_empty")]
        warnings: Arc<Vec<RunWarning>>,
        /// Amounts for single employees in addition to their pay terms, as provided.
        #[serde(default, skip_serializing_if = "is_empty")]
        inputs: Arc<Vec<RunInput>>,
        /// Notes by the caller.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        notes: Option<String>,
        /// The run that this one reverses, fully or partly.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reverses: Option<Id<PayrollRun>>,
        /// Runs that reverse this one, fully or partly.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        reversed_by: Vec<Id<PayrollRun>>,
    }
}

impl PayrollRun {
    /// The days that the run pays.
    pub(crate) fn span(&self) -> PaySpan {
        self.pay_period.unwrap_or_else(|| PaySpan::month(self.period))
    }

    /// The regular hours that the run was given, by employee.
    pub(crate) fn regular_hours(&self) -> BTreeMap<Id<Employee>, &HoursWorked> {
        let inputs = self.inputs.iter().flat_map(|input| {
            let regular = input.hours.iter().filter(|worked| worked.kind == HoursWorked::REGULAR);
            regular.map(|worked| (input.employee_id, worked))
        });
        inputs.collect()
    }

    /// When the run last entered a status.
    pub(crate) fn entered(&self, status: RunStatus) -> Option<Timestamp> {
        let mut changes = self.status_history.iter().rev();
        changes.find(|change| change.status == status).map(|change| change.at)
    }

    /// Whether the run began as a draft. A run created in one call pays the employees selected then.
    pub(crate) fn is_drafted(&self) -> bool {
        self.status_history.first().is_some_and(|change| change.status == RunStatus::Draft)
    }

    /// Whether the run is void: its pay does not count, and another run of the period may include its employees.
    pub(crate) const fn is_void(&self) -> bool {
        matches!(self.status, RunStatus::Cancelled | RunStatus::Failed | RunStatus::Reversed)
    }
}

/// A possible mistake in a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct RunWarning {
    /// The kind of warning.
    pub(crate) code: WarningCode,
    /// The employee concerned.
    pub(crate) employee_id: Id<Employee>,
    /// Description of the warning in one sentence.
    pub(crate) detail: String,
}

/// A possible mistake in an employee's pay, or an employee whom a run of all payable employees could not include.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum WarningCode {
    /// The pay terms are below the legal minimum wage.
    BelowMinimumWage,
    /// Deductions were reduced to the pay that is available.
    DeductionsCapped,
    /// The net pay is zero.
    NothingToPay,
    /// The run does not include the employee, because the payroll pack of the employee's country has no tables for the pay period.
    NoTablesForPayPeriod,
    /// The pay date is in a year without tax tables. The nearest year's tables were used.
    TaxTablesOfAnotherYear,
}

/// What a run pays an employee in addition to the pay terms.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct RunInput {
    /// The employee concerned.
    pub(crate) employee_id: Id<Employee>,
    /// Taxable additions such as bonus, overtime and commission.
    pub(crate) earnings: Vec<PayLine>,
    /// The hours that the employee worked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) hours: Vec<HoursWorked>,
    /// Amounts to deduct.
    pub(crate) deductions: Vec<Deduction>,
    /// Reimbursed expenses, not part of gross pay.
    pub(crate) reimbursements: Vec<PayLine>,
}

/// Hours of one type that an employee worked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct HoursWorked {
    /// `regular`, or a type of earnings of the payroll pack.
    #[serde(rename = "type")]
    pub(crate) kind: String,
    /// The time worked, in minutes.
    pub(crate) minutes: u32,
    /// The pay of an hour, in percent of the hourly rate.
    pub(crate) rate_percent: u32,
}

impl HoursWorked {
    /// Hours that replace the pay of hourly terms.
    pub(crate) const REGULAR: &str = "regular";
}

/// Sums over the employees of a run, in minor units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct RunTotals {
    /// Gross pay, in minor units.
    pub(crate) gross: i64,
    /// Taxes withheld from employees.
    pub(crate) taxes: i64,
    /// Social contributions withheld from employees.
    pub(crate) employee_contributions: i64,
    /// Taxes and contributions that the employer pays in addition to gross pay.
    pub(crate) employer_contributions: i64,
    /// Deductions other than taxes and contributions.
    #[serde(default)]
    pub(crate) deductions: i64,
    /// Reimbursed expenses, not part of gross pay.
    #[serde(default)]
    pub(crate) reimbursements: i64,
    /// Net pay: gross, less taxes, employee contributions and deductions, plus reimbursements.
    pub(crate) net: i64,
    /// The total cost to the company: gross, employer contributions and reimbursements.
    pub(crate) employer_cost: i64,
}

impl RunTotals {
    /// Adds the pay of a number of employees who earn the same.
    pub(crate) fn add(&mut self, pay: &Calculation, people: i64) {
        self.gross += pay.gross * people;
        self.taxes += pay.taxes * people;
        self.employee_contributions += pay.employee_contributions * people;
        self.employer_contributions += pay.on_top() * people;
        self.deductions += pay.deductions() * people;
        self.reimbursements += pay.reimbursed() * people;
        self.net += pay.net * people;
        self.employer_cost += pay.employer_cost() * people;
    }

    /// Adds one employee's item (`times` 1), or subtracts it (`times` −1).
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

/// How a run is funded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Funding {
    /// The wallet that is debited.
    pub(crate) wallet_id: Id<Wallet>,
    /// The amount that the run needs, in minor units: net pay, the fees of currency conversions, and the amounts of its tax liabilities.
    /// Other deductions, and what the employer adds to them, are not included. They stay available, and the account `deductions_payable`
    /// shows them.
    pub(crate) required: i64,
    /// The amount reserved for the run, in minor units.
    pub(crate) reserved: i64,
    /// The platform fee for the run in minor units, in addition to the reserved amount. It is charged when the run is funded, and refunded if the whole
    /// run fails.
    #[serde(default)]
    pub(crate) platform_fee: i64,
    /// The amount that was missing in the wallet at the last funding attempt, in minor units.
    pub(crate) shortfall: i64,
}

/// How many employees of a run were paid, and how many were not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "RunSettlement")]
pub(crate) struct Settlement {
    /// Number of employees whose wages have arrived. An employee with a net pay of zero is not counted in any of these numbers.
    pub(crate) paid: u64,
    /// Number of employees whose wages failed or were returned.
    pub(crate) failed: u64,
    /// Number of employees whose wages are in progress.
    pub(crate) pending: u64,
}
