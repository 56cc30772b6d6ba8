//! A payroll item: one employee's pay in a run.

use crate::model::business::pay_abroad::{self, PayValue};
use crate::model::business::tax_return::DueTo;
use crate::model::business::{
    Calculation, Employee, PayConversion, PayrollRun, Payslip, Proration,
};
use crate::model::payments::{Failure, Payout};
use crate::model::prelude::*;

states! {
    /// Status of one employee's pay.
    ItemStatus {
        Ready "ready", Blocked "blocked", Processing "processing", Paid "paid", Failed "failed", Returned "returned",
        Skipped "skipped", Reversed "reversed",
    }
    "block": Ready => Blocked;
    "unblock": Blocked => Ready;
    "pay": Ready => Processing;
    "pay_again": Failed | Returned => Processing;
    "settle": Processing => Paid;
    "fail": Processing => Failed;
    "return": Paid | Processing => Returned;
    "skip": Ready | Blocked => Skipped;
    "reverse": Paid | Failed | Returned | Skipped => Reversed;
}

/// One employee's pay in a run, as stored in a world.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PayrollItem {
    pub(crate) id: Id<PayrollItem>,
    pub(crate) payroll_run_id: Id<PayrollRun>,
    pub(crate) company_id: Id<Company>,
    pub(crate) employee_id: Id<Employee>,
    pub(crate) employee_name: Arc<str>,
    pub(crate) period: Period,
    pub(crate) status: ItemStatus,
    pub(crate) currency: Currency,
    /// Present if the employee's currency is not the company's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) fx: Option<PayConversion>,
    /// Shared with the payslip, which shows the same figures.
    pub(crate) calculation: Arc<Calculation>,
    pub(crate) payout_id: Option<Id<Payout>>,
    /// All payouts, if the net pay is split.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) payout_ids: Vec<Id<Payout>>,
    pub(crate) payslip_id: Option<Id<Payslip>>,
    /// Boxed, because few items have a failure and every state of an item is stored.
    pub(crate) failure: Option<Box<Failure>>,
    pub(crate) created_at: Timestamp,
    pub(crate) status_history: StatusHistory<ItemStatus>,
}

impl PayrollItem {
    /// The pay in the run's currency.
    pub(crate) fn value(&self) -> PayValue {
        PayValue::of(&self.calculation, self.currency, self.fx.as_ref())
    }

    /// The amounts payable to third parties, in the run's currency.
    pub(crate) fn owed(&self) -> impl Iterator<Item = (DueTo, i64)> {
        pay_abroad::owed(&self.calculation, self.currency, self.fx.as_ref())
    }

    /// The payouts of the net pay. A payout that was sent again is replaced.
    pub(crate) fn payouts(&self) -> impl Iterator<Item = Id<Payout>> {
        let only = self.payout_id.filter(|_| self.payout_ids.is_empty());
        only.into_iter().chain(self.payout_ids.iter().copied())
    }

    /// Sets the payouts of the net pay.
    pub(crate) fn set_payouts(&mut self, ids: &[Id<Payout>]) {
        self.payout_id = ids.first().copied();
        self.payout_ids = if ids.len() > 1 { ids.to_vec() } else { Vec::new() };
    }

    /// Whether the wallet covered the item when its run was funded, or at a retry. An item with net pay of zero needs
    /// no payout.
    pub(crate) fn is_covered(&self) -> bool {
        self.payout_id.is_some() || self.status == ItemStatus::Skipped
    }

    /// The cost of sending the net pay, in the run's currency.
    pub(crate) fn sending_takes(&self) -> i64 {
        self.fx.map_or(self.calculation.net, |fx| fx.source_amount)
    }
}

stateful!(PayrollItem: ItemStatus, without updated_at);

shown! {
    /// One employee's pay in a run.
    #[schemars(rename = "PayrollItem")]
    PayrollItemShape<'a> of PayrollItem, |it| {
        /// The run.
        payroll_run_id: Id<PayrollRun>;
        /// The company that pays.
        company_id: Id<Company>;
        /// The employee.
        employee_id: Id<Employee>;
        /// The employee's name when the run was calculated.
        employee_name: &'a str = &it.employee_name;
        /// The month of the pay.
        period: Period;
        /// Current status.
        status: ItemStatus;
        /// The currency of every amount: the employee's currency.
        currency: Currency;
        /// The currency conversion; null if the employee's currency is the company's.
        #[serde(skip_serializing_if = "Option::is_none")]
        fx: Option<PayConversion>;
        /// Gross pay in minor units.
        gross: i64 = it.calculation.gross;
        /// Taxes withheld from pay, in minor units.
        taxes: i64 = it.calculation.taxes;
        /// Social contributions withheld.
        employee_contributions: i64 = it.calculation.employee_contributions;
        /// Taxes, contributions and benefits that the employer pays in addition to gross pay, in
        /// minor units.
        employer_contributions: i64 = it.calculation.on_top();
        /// The part of `employer_contributions` that the employer adds to deductions; absent if there is none.
        #[serde(skip_serializing_if = "Option::is_none")]
        employer_benefits: Option<i64> = Some(it.calculation.employer_benefits()).filter(|sum| *sum != 0);
        /// Deductions other than taxes and contributions.
        deductions: i64 = it.calculation.deductions();
        /// Reimbursed expenses, not part of gross pay.
        reimbursements: i64 = it.calculation.reimbursed();
        /// Net pay in minor units: gross, less taxes, contributions and deductions, plus
        /// reimbursements.
        net: i64 = it.calculation.net;
        /// The part of the month that is paid, if it is not the whole month.
        #[serde(skip_serializing_if = "Option::is_none")]
        proration: Option<Proration> = it.calculation.extras().and_then(|extras| extras.proration);
        /// The payout of the net pay; null until the run is funded. The first one if the net pay is split.
        payout_id: Option<Id<Payout>>;
        /// All payouts, if the employee's payment method splits the net pay; otherwise absent.
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        payout_ids: &'a [Id<Payout>] = &it.payout_ids;
        /// The payslip; null until the item is paid.
        payslip_id: Option<Id<Payslip>>;
        /// Why the last payout failed or was returned.
        failure: Option<&'a Failure> = it.failure.as_deref();
        /// When it was created, in virtual time.
        created_at: Timestamp;
        /// When it last changed, in virtual time.
        updated_at: Timestamp = it.status_history.last().map_or(it.created_at, |change| change.at);
        /// Always empty: items are created by the run.
        metadata: Cow<'a, Metadata> = Cow::Owned(Metadata::default());
        /// Every status the resource has had, oldest first.
        status_history: &'a [StatusChange<ItemStatus>] = &it.status_history;
    }
}
