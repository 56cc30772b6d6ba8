//! Undoing a run in the books: reverses its accrual, and makes its liabilities void.

use crate::api::business::payroll_clock::{get, items, owe};
use crate::api::business::payroll_months::unaccrue;
use crate::api::business::tax_liabilities::of_run;
use crate::api::payments::platform_fee::FeeMonth;
use crate::api::prelude::*;
use crate::model::business::tax_return::account_of;
use crate::model::business::{LiabilityStatus, PayrollRun, TaxLiability};
use crate::model::posting;

/// A run was cancelled or has failed: its unpaid liabilities are void.
pub(crate) fn void_liabilities(world: &mut World, run: Id<PayrollRun>) -> Vec<Arc<TaxLiability>> {
    let unpaid: Vec<_> = of_run(world, run)
        .filter(|liability| liability.status.may_become(LiabilityStatus::Void))
        .collect();
    let void = unpaid.into_iter().map(|liability| {
        let mut liability = (*liability).clone();
        liability.enter(LiabilityStatus::Void, world.now());
        world.record("tax_liability.updated", liability)
    });
    void.collect()
}

/// A run that paid no employee is undone: its accrual is reversed, and reserved and charged amounts are available
/// again. Taxes paid in the meantime remain with the authorities; see [`credit_paid`].
pub(crate) fn unwind(world: &mut World, run: &PayrollRun) {
    unaccrue(world, run, "Payroll failed");
    let paid: i64 = paid(world, run).iter().map(|liability| liability.amount.max(0)).sum();
    let reserved = run.funding.map_or(0, |funding| funding.reserved - paid);
    let source = AnyId::of(run.id);
    let released = posting::released("Payroll money released", source, run.currency, reserved);
    world.post(run.company_id, released);
    let charged = run.funding.map_or(0, |funding| funding.platform_fee);
    let memo = "Platform fee given back";
    let back = posting::platform_fee(memo, source, run.currency, -charged);
    world.post(run.company_id, back);
    uncount(world, run);
}

/// The wages of a run no longer count for the platform fee. Each counts in the month in which it was charged: when its first payout was created.
fn uncount(world: &mut World, run: &PayrollRun) {
    let source = AnyId::of(run.id);
    for item in items(world, run.id) {
        let Some(mut payout) = item.payout_id.map(|id| get(world, id)) else { continue };
        while let Some(before) = payout.supersedes {
            payout = get(world, before);
        }
        let month = payout.created_at.date().max(run.pay_date).period();
        let fee_month = FeeMonth { company: run.company_id, currency: run.currency, month };
        fee_month.take_back(world, source, item.sending_takes());
    }
}

/// Records a negative liability for each tax of a failed run that was paid, as after a reversal. The next filings declare less.
pub(crate) fn credit_paid(world: &mut World, run: &PayrollRun) {
    for liability in paid(world, run) {
        let account = account_of(&liability.authority).expect("a liability has an account");
        owe(world, run, (account, liability.form.as_deref()), -liability.amount);
    }
}

fn paid(world: &World, run: &PayrollRun) -> Vec<Arc<TaxLiability>> {
    of_run(world, run.id).filter(|liability| liability.status == LiabilityStatus::Paid).collect()
}
