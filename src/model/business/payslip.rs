//! A payslip: earnings, deductions, and totals of the tax year.

use std::collections::BTreeMap;

use crate::model::business::calculation::Calculation;
use crate::model::business::earnings::{PackUsed, PayLine};
use crate::model::business::employee::Employee;
use crate::model::business::pay_extras::Proration;
use crate::model::business::pay_schedule::PaySpan;
use crate::model::business::payroll_item::PayrollItem;
use crate::model::business::payroll_run::PayrollRun;
use crate::model::prelude::*;

states! {
    /// Whether a payslip is still valid.
    PayslipStatus { Issued "issued", Corrected "corrected", Voided "voided" }
    "correct": Issued => Corrected;
    "void": Issued => Voided;
}

/// What a payslip documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PayslipType {
    /// The pay of an employee.
    Payslip,
    /// The fee of a contractor, without withholding.
    ContractorStatement,
}

impl PayslipType {
    pub(crate) fn of(pay: &Calculation) -> Self {
        if pay.is_fee() { Self::ContractorStatement } else { Self::Payslip }
    }
}

/// A payslip, as stored in a world.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Payslip {
    pub(crate) id: Id<Payslip>,
    pub(crate) company_id: Id<Company>,
    pub(crate) employee_id: Id<Employee>,
    pub(crate) employee_name: Arc<str>,
    pub(crate) payroll_run_id: Id<PayrollRun>,
    pub(crate) payroll_item_id: Id<PayrollItem>,
    pub(crate) status: PayslipStatus,
    pub(crate) period: Period,
    /// The days of the pay, if they are not the whole month.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) pay_period: Option<PaySpan>,
    pub(crate) pay_date: Date,
    pub(crate) currency: Currency,
    pub(crate) calculation: Arc<Calculation>,
    pub(crate) created_at: Timestamp,
    /// Status changes since it was issued.
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    pub(crate) changes: StatusHistory<PayslipStatus>,
}

impl crate::model::lifecycle::Stateful for Payslip {
    type Status = PayslipStatus;

    fn standing(&mut self) -> crate::model::lifecycle::Standing<'_, PayslipStatus> {
        crate::model::lifecycle::Standing {
            status: &mut self.status,
            updated_at: None,
            history: &mut self.changes,
        }
    }
}

impl Payslip {
    /// The day on which the pay counts for taxes.
    pub(crate) fn counts_on(&self) -> Date {
        self.calculation.counts_on.unwrap_or(self.pay_date)
    }

    fn status_history(&self) -> Vec<StatusChange<PayslipStatus>> {
        let issued = StatusChange::plain(PayslipStatus::Issued, self.created_at);
        core::iter::once(issued).chain(self.changes.iter().cloned()).collect()
    }
}

shown! {
    /// Earnings, deductions, and totals of the tax year.
    #[schemars(rename = "Payslip")]
    PayslipShape<'a> of Payslip, |it| {
        /// The employer.
        company_id: Id<Company>;
        /// The employee.
        employee_id: Id<Employee>;
        /// The employee's name on the payslip.
        employee_name: &'a str = &it.employee_name;
        /// The run.
        payroll_run_id: Id<PayrollRun>;
        /// The employee's payroll item.
        payroll_item_id: Id<PayrollItem>;
        /// Whether the payslip documents an employee's pay or a contractor's fee.
        #[serde(rename = "type")]
        kind: PayslipType = PayslipType::of(&it.calculation);
        /// Whether the payslip is still valid.
        status: PayslipStatus;
        /// The month of the pay.
        period: Period;
        /// The days of the pay, if they are not the whole month.
        #[serde(skip_serializing_if = "Option::is_none")]
        pay_period: Option<PaySpan>;
        /// The day on which wages were due.
        pay_date: Date;
        /// The currency of every amount.
        currency: Currency;
        /// The payroll pack that was applied, and whether it was in force on the pay date.
        pack: PackUsed = it.calculation.pack_used();
        /// The payroll pack of the employee's region, such as a state, which was also applied.
        #[serde(skip_serializing_if = "Option::is_none")]
        regional_pack: Option<PackUsed> = it.calculation.regional_pack_used();
        /// The employee's tax attributes on the pay date. Absent attributes had the pack's defaults.
        #[serde(skip_serializing_if = "BTreeMap::is_empty")]
        tax_attributes: &'a BTreeMap<String, String> = &it.calculation.tax_attributes;
        /// The parts of gross pay.
        earnings: Vec<PayLine> = it.calculation.earnings();
        /// Benefits that are taxed and not paid in money.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        benefits: Vec<PayLine> = it.calculation.benefit_lines();
        /// The taxes that were withheld, one line for each.
        taxes: Vec<PayLine> = it.calculation.tax_lines();
        /// Social contributions that were withheld, and deductions for loans and orders by the rules of the payroll pack.
        contributions: Vec<PayLine> = it.calculation.contribution_lines();
        /// Taxes, contributions and parts of deductions that the employer pays in addition.
        employer_contributions: Vec<PayLine> = it.calculation.employer_lines();
        /// Deductions other than taxes and contributions.
        deductions: Vec<PayLine> = it.calculation.deduction_lines();
        /// Reimbursed expenses, not part of gross pay.
        reimbursements: Vec<PayLine> = it.calculation.reimbursement_lines();
        /// The part of the month that is paid, if it is not the whole month.
        #[serde(skip_serializing_if = "Option::is_none")]
        proration: Option<Proration> = it.calculation.extras().and_then(|extras| extras.proration);
        /// Sum of earnings, in minor units.
        gross: i64 = it.calculation.gross;
        /// The taxable amount of this period, in minor units.
        taxable: i64 = it.calculation.taxable;
        /// Net pay in minor units: the amount that the employee receives.
        net: i64 = it.calculation.net;
        /// Gross pay, employer contributions and reimbursements, in minor units.
        employer_cost: i64 = it.calculation.employer_cost();
        /// Totals of the tax year in minor units, including this payslip: by line id, with `gross`
        /// and `net`.
        ytd: BTreeMap<String, i64> = it.calculation.year_to_date();
        /// When it was issued, in virtual time.
        created_at: Timestamp;
        /// When it last changed, in virtual time.
        updated_at: Timestamp = it.changes.last().map_or(it.created_at, |change| change.at);
        /// Always empty: payslips are created by the run.
        metadata: Cow<'a, Metadata> = Cow::Owned(Metadata::default());
        /// Every status the resource has had, oldest first.
        status_history: Vec<StatusChange<PayslipStatus>> = it.status_history();
    }
}
