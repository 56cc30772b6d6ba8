//! Undoing a run in the books: reverses its accrual and its liabilities.

use crate::api::business::accounting_periods::is_open;
use crate::api::business::payroll_clock::{cost_of, owe};
use crate::api::business::tax_liabilities::of_run;
use crate::api::prelude::*;
use crate::model::business::tax_return::account_of;
use crate::model::business::{LiabilityStatus, PayrollRun, TaxLiability};
use crate::model::{JournalEntry, posting};

/// Stages the reversal of an approved run's accrual. Its unpaid liabilities become void.
pub(crate) fn mirror(
    world: &mut World,
    run: &PayrollRun,
    memo: &'static str,
) -> Option<Arc<JournalEntry>> {
    let cost = cost_of(world, run.id);
    let mirror = posting::run_mirrored(memo, AnyId::of(run.id), run.currency, &cost);
    let mirror = world.post_on(run.company_id, mirror, day_of_accrual(world, run));
    let liabilities: Vec<_> = of_run(world, run.id).collect();
    for liability in liabilities {
        if liability.status.may_become(LiabilityStatus::Void) {
            let mut liability = (*liability).clone();
            liability.enter(LiabilityStatus::Void, world.now());
            world.stage(liability);
        }
    }
    mirror
}

/// The accounting date of the accrual that is reversed, so that no month has wages of a run that was never paid; today if it is closed.
fn day_of_accrual(world: &World, run: &PayrollRun) -> Date {
    let source = AnyId::of(run.id);
    let mut entries = world.book(run.company_id).into_iter().flat_map(|book| &book.entries);
    let accrual = entries.find(|entry| entry.source == source);
    let day = accrual.map_or(world.today(), |entry| entry.effective_on);
    if is_open(world, run.company_id, day) { day } else { world.today() }
}

/// A run that paid no employee is undone: its accrual is reversed, and reserved and charged amounts are available again. Taxes that were
/// paid meanwhile stay with the authorities; see [`credit_paid`].
pub(crate) fn unwind(world: &mut World, run: &PayrollRun) {
    mirror(world, run, "Payroll failed");
    let paid: i64 = paid(world, run).iter().map(|liability| liability.amount.max(0)).sum();
    let reserved = run.funding.map_or(0, |funding| funding.reserved - paid);
    let source = AnyId::of(run.id);
    let released = posting::released("Payroll money released", source, run.currency, reserved);
    world.post(run.company_id, released);
    let charged = run.funding.map_or(0, |funding| funding.platform_fee);
    let memo = "Platform fee given back";
    let back = posting::platform_fee(memo, source, run.currency, -charged);
    world.post(run.company_id, back);
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
