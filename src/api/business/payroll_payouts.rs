//! Effects of a run's payouts on its items, its payslips and the run.
//!
//! Deliberately absent: the actions of rails and receiving banks (`payout_rail`), and the creation of payouts
//! (`payroll_funding`).

use crate::api::business::employee_verbs::{end_final_pay, enter_payroll};
use crate::api::business::payroll_clock::{get, items};
use crate::api::business::payroll_undo::{credit_paid, unwind, void_liabilities};
use crate::api::business::tax_clock;
use crate::api::prelude::*;
use crate::model::business::{
    HoldReason, ItemStatus, PayrollItem, PayrollRun, PayrollStatus, Payslip, PayslipStatus,
    RunStatus, RunType, Settlement,
};
use crate::model::payments::{Payout, PayoutStatus, Pays};
use crate::model::{Account, posting};

/// The wages paid by a payout: an item and its run, looked up once for each step of the payout.
pub(crate) struct Wages {
    pub(crate) item: Arc<PayrollItem>,
    pub(crate) run: Arc<PayrollRun>,
}

impl Wages {
    /// The wages paid by this payout; `None` if it does not pay wages.
    pub(crate) fn of(world: &World, payout: &Payout) -> Option<Self> {
        let source = payout.source.filter(|_| payout.pays() == Pays::Wages)?;
        let item = get(world, Id::<PayrollItem>::from_bits(source.bits));
        let run = get(world, item.payroll_run_id);
        Some(Self { item, run })
    }

    /// The payable account that a payout settles, by its wages.
    pub(crate) fn payable(of: Option<&Self>) -> Account {
        of.map_or(Account::WagesPayable, |wages| posting::payable(&wages.item.calculation))
    }
}

/// Wages have arrived.
pub(crate) fn arrived(world: &mut World, payout: &Payout, wages: &Wages) {
    let after = follow(world, wages, payout);
    count(world, wages, after);
}

/// Wages failed or were returned.
pub(crate) fn bounced(world: &mut World, payout: &Payout, wages: &Wages) {
    let after = follow(world, wages, payout);
    if payout.status == PayoutStatus::Returned {
        hold_employee(world, wages.item.employee_id);
    }
    count(world, wages, after);
}

/// Sets an item to the result of its payouts once all of them have ended; `one` is the payout that has just changed.
/// Returns the changed item.
fn follow(world: &mut World, wages: &Wages, one: &Payout) -> Option<Arc<PayrollItem>> {
    let Wages { item, run } = wages;
    if one.status == PayoutStatus::Paid && item.payouts().eq([one.id]) {
        return item.status.may_become(ItemStatus::Paid).then(|| item_paid(world, run, item));
    }
    let payouts: Vec<_> = item.payouts().map(|id| get(world, id)).collect();
    let ended = |status: PayoutStatus| status == PayoutStatus::Paid || status.has_bounced();
    if !payouts.iter().all(|payout| ended(payout.status)) {
        return None;
    }
    let with = |status| payouts.iter().find(move |payout| payout.status == status);
    let (status, bounced) = match (with(PayoutStatus::Returned), with(PayoutStatus::Failed)) {
        (Some(returned), _) => (ItemStatus::Returned, Some(returned)),
        (None, Some(failed)) => (ItemStatus::Failed, Some(failed)),
        (None, None) => (ItemStatus::Paid, None),
    };
    if !item.status.may_become(status) {
        return None; // another part has already failed
    }
    let Some(bounced) = bounced else { return Some(item_paid(world, run, item)) };
    let mut item = (**item).clone();
    item.enter(status, world.now());
    item.failure.clone_from(&bounced.failure);
    Some(world.stage(item))
}

/// The employee's bank refused the wages at once. As after a return, they are sent again only after a check of the
/// account.
pub(crate) fn refused(world: &mut World, wages: &Wages) {
    hold_employee(world, wages.item.employee_id);
}

/// Returned wages are sent again only after a check of the account.
fn hold_employee(world: &mut World, id: Id<Employee>) {
    let employee = get(world, id);
    if employee.payroll_status.may_become(PayrollStatus::OnHold) {
        let why = Some(HoldReason::ReturnedPayout);
        enter_payroll(world, &employee, PayrollStatus::OnHold, why);
    }
}

/// Counts an item's new result in its run. The run ends with the last item.
fn count(world: &mut World, before: &Wages, item: Option<Arc<PayrollItem>>) {
    let Some(item) = item else { return };
    let mut run = (*before.run).clone();
    match before.item.status {
        ItemStatus::Paid => run.settlement.paid -= 1,
        _ => run.settlement.pending -= 1,
    }
    let name = match item.status {
        ItemStatus::Paid => {
            run.settlement.paid += 1;
            "payroll_item.paid"
        }
        ItemStatus::Returned => {
            run.settlement.failed += 1;
            "payroll_item.returned"
        }
        _ => {
            run.settlement.failed += 1;
            "payroll_item.failed"
        }
    };
    run.updated_at = world.now();
    let ends = match run.status {
        RunStatus::Processing => run.settlement.pending == 0,
        // Payouts that were sent again.
        RunStatus::PartiallyPaid => run.settlement.pending == 0 && run.settlement.failed == 0,
        _ => false,
    };
    let run = world.stage(run);
    // The event of the payslip or of the employee contains the change.
    world.emit_changed(name, Arc::clone(&before.item), &item);
    if ends {
        finish(world, &run);
    }
}

/// The item is paid. Its payslip is issued, unless that happened before the money was returned. A payslip that it corrects is marked.
fn item_paid(world: &mut World, run: &PayrollRun, item: &PayrollItem) -> Arc<PayrollItem> {
    let mut item = item.clone();
    item.enter(ItemStatus::Paid, world.now());
    item.failure = None;
    if item.payslip_id.is_some() {
        return world.stage(item);
    }
    issue(world, run, item)
}

/// Issues the payslip of an item of that run. A payslip that it corrects is marked.
pub(crate) fn issue(
    world: &mut World,
    run: &PayrollRun,
    mut item: PayrollItem,
) -> Arc<PayrollItem> {
    let payslip = Payslip {
        id: world.next_id(item.employee_id.bits()),
        company_id: item.company_id,
        employee_id: item.employee_id,
        employee_name: Arc::clone(&item.employee_name),
        payroll_run_id: item.payroll_run_id,
        payroll_item_id: item.id,
        status: PayslipStatus::Issued,
        period: item.period,
        pay_period: run.pay_period,
        pay_date: run.pay_date,
        currency: item.currency,
        calculation: Arc::clone(&item.calculation),
        created_at: world.now(),
        changes: StatusHistory::default(),
    };
    // A correction without an amount changes no earlier payslip.
    let corrects = run.kind == RunType::Correction && item.calculation.employer_cost() != 0;
    let corrected = corrects.then(|| issued(world, &item));
    item.payslip_id = Some(payslip.id);
    let item = world.stage(item);
    world.record("payslip.issued", payslip);
    for payslip in corrected.into_iter().flatten() {
        let mut payslip = (*payslip).clone();
        payslip.enter(PayslipStatus::Corrected, world.now());
        world.record("payslip.corrected", payslip);
    }
    end_final_pay(world, item.employee_id);
    item
}

/// The valid payslips of the employee and month.
fn issued(world: &World, item: &PayrollItem) -> Vec<Arc<Payslip>> {
    let base = world.base();
    let place = base.index_of(item.company_id).zip(base.index_of(item.employee_id));
    let grown = place.into_iter().flat_map(|(company, employee)| {
        let number = employee % base.shape().employees_per_company;
        let pays = base.plan(company).pays.pays();
        let pays = pays.filter(|pay| base.pay(*pay).span.period() == item.period);
        pays.filter_map(move |pay| world.at::<Payslip>(base.item(base.run(pay, company), number)))
    });
    let created =
        world.children::<Payslip>(item.employee_id.bits()).filter_map(|id| world.find(id));
    let all = grown.chain(created);
    all.filter(|payslip| payslip.period == item.period && payslip.status == PayslipStatus::Issued)
        .collect()
}

/// Whether a run without a paid item still has valid pay: pay of zero after deductions needs no payment, and one of
/// several payouts of an item can arrive alone.
fn has_other_pay(world: &World, run: &PayrollRun) -> bool {
    items(world, run.id).iter().any(|item| {
        item.status == ItemStatus::Skipped && item.payslip_id.is_some()
            || item.payouts().any(|id| get(world, id).status == PayoutStatus::Paid)
    })
}

/// Every payout has a result.
pub(crate) fn finish(world: &mut World, run: &PayrollRun) {
    let (status, name) = match run.settlement {
        Settlement { failed: 0, .. } => (RunStatus::Paid, "payroll_run.paid"),
        Settlement { paid: 0, .. } if !has_other_pay(world, run) => {
            (RunStatus::Failed, "payroll_run.failed")
        }
        _ => (RunStatus::PartiallyPaid, "payroll_run.partially_paid"),
    };
    if status == RunStatus::Failed {
        unwind(world, run);
    }
    let mut run = run.clone();
    run.enter(status, world.now());
    let run = world.record(name, run);
    if status == RunStatus::Failed {
        let void = void_liabilities(world, run.id);
        credit_paid(world, &run);
        tax_clock::relieve(world, &void);
    }
    if let Some(funding) = run.funding.filter(|_| status == RunStatus::Failed) {
        let wallet = get(world, funding.wallet_id);
        world.emit_wallet("wallet.credited", &wallet);
    }
}
