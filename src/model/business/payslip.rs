//! A payslip: earnings, deductions, and totals of the tax year.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::business::calculation::{Calculation, PackUsed};
use crate::model::business::company::Company;
use crate::model::business::earnings::PayLine;
use crate::model::business::employee::Employee;
use crate::model::business::pay_extras::Proration;
use crate::model::business::payroll_item::PayrollItem;
use crate::model::business::payroll_run::PayrollRun;
use crate::model::lifecycle::{StatusChange, states};
use crate::model::{Object, Wire};
use crate::value::id::Id;
use crate::value::money::Currency;
use crate::value::text::Metadata;
use crate::value::time::{Date, Period, Timestamp};

states! {
    /// Whether a payslip is still valid.
    PayslipStatus { Issued "issued", Corrected "corrected", Voided "voided" }
    "correct": Issued => Corrected;
    "void": Issued => Voided;
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
    pub(crate) pay_date: Date,
    pub(crate) currency: Currency,
    pub(crate) calculation: Arc<Calculation>,
    pub(crate) created_at: Timestamp,
    /// Status changes since it was issued.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) changes: Vec<StatusChange<PayslipStatus>>,
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

/// Earnings, deductions, and totals of the tax year.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Payslip")]
pub(crate) struct PayslipShape<'a> {
    /// The payslip's id.
    id: Id<Payslip>,
    /// Always `payslip`.
    object: Object<Payslip>,
    /// The employer.
    company_id: Id<Company>,
    /// The employee.
    employee_id: Id<Employee>,
    /// The employee's name on the payslip.
    employee_name: &'a str,
    /// The run.
    payroll_run_id: Id<PayrollRun>,
    /// The employee's payroll item.
    payroll_item_id: Id<PayrollItem>,
    /// Whether the payslip is still valid.
    status: PayslipStatus,
    /// The month of the pay.
    period: Period,
    /// The day on which wages were due.
    pay_date: Date,
    /// The currency of every amount.
    currency: Currency,
    /// The payroll pack that was applied, and whether it was in force on the pay date.
    pack: PackUsed,
    /// The parts of gross pay.
    earnings: Vec<PayLine>,
    /// Taxes withheld.
    taxes: Vec<PayLine>,
    /// Social contributions withheld.
    contributions: Vec<PayLine>,
    /// Taxes and contributions that the employer pays in addition.
    employer_contributions: Vec<PayLine>,
    /// Deductions other than taxes and contributions.
    deductions: Vec<PayLine>,
    /// Reimbursed expenses, not part of gross pay.
    reimbursements: Vec<PayLine>,
    /// The part of the month that is paid, if it is not the whole month.
    #[serde(skip_serializing_if = "Option::is_none")]
    proration: Option<Proration>,
    /// Sum of earnings, in minor units.
    gross: i64,
    /// The taxable amount of this period.
    taxable: i64,
    /// Net pay: the amount the employee receives.
    net: i64,
    /// Gross pay, employer contributions and reimbursements.
    employer_cost: i64,
    /// Totals of the tax year including this payslip, by line id, with `gross` and `net`.
    ytd: BTreeMap<String, i64>,
    /// When it was issued, in virtual time.
    created_at: Timestamp,
    /// When it last changed, in virtual time.
    updated_at: Timestamp,
    /// Always empty: payslips are created by the run.
    metadata: Cow<'a, Metadata>,
    /// Every status the resource has had, oldest first.
    status_history: Vec<StatusChange<PayslipStatus>>,
}

impl Wire for Payslip {
    type Shape<'a> = PayslipShape<'a>;

    fn wire(&self) -> PayslipShape<'_> {
        let pay = &self.calculation;
        PayslipShape {
            id: self.id,
            object: Object::NAME,
            company_id: self.company_id,
            employee_id: self.employee_id,
            employee_name: &self.employee_name,
            payroll_run_id: self.payroll_run_id,
            payroll_item_id: self.payroll_item_id,
            status: self.status,
            period: self.period,
            pay_date: self.pay_date,
            currency: self.currency,
            pack: pay.pack_used(),
            earnings: pay.earnings(),
            taxes: pay.tax_lines(),
            contributions: pay.contribution_lines(),
            employer_contributions: pay.employer_lines(),
            deductions: pay.deduction_lines(),
            reimbursements: pay.reimbursement_lines(),
            proration: pay.extras().and_then(|extras| extras.proration),
            gross: pay.gross,
            taxable: pay.taxable,
            net: pay.net,
            employer_cost: pay.employer_cost(),
            ytd: pay.year_to_date(),
            created_at: self.created_at,
            updated_at: self.changes.last().map_or(self.created_at, |change| change.at),
            metadata: Cow::Owned(Metadata::default()),
            status_history: [StatusChange::plain(PayslipStatus::Issued, self.created_at)]
                .into_iter()
                .chain(self.changes.iter().cloned())
                .collect(),
        }
    }
}
