//! Sending wages again after a failure.

use crate::api::business::payroll_clock::{get, items};
use crate::api::business::payroll_funding::{Payee, fee_month, salary};
use crate::api::payments::payout_rail::hand_over;
use crate::api::prelude::*;
use crate::model::business::payment_method::Part;
use crate::model::business::{
    EmployeeStatus, ItemStatus, PayrollItem, PayrollRun, PayrollStatus, RunStatus,
};
use crate::model::payments::{Payout, Rail};
use crate::model::posting::{self, RunCost};

pub(crate) const OPERATIONS: &[Operation] = &Domain::Business.table([Operation {
    path: "/api/business/payroll-runs/{payroll_run_id}/items/{payroll_item_id}/retry",
    summary: "Send an item's wages again",
    description: "Creates a new payout after the previous payout failed or was returned. The new \
        payout is sent at once to the employee's current account. If the net pay is split, only \
        the parts that failed or were returned are sent again. The money is still reserved, unless \
        the wallet did not cover the item: then the money is reserved now, and the platform fee is \
        charged. When the last item is paid, a `partially_paid` run becomes `paid`. If the whole \
        run failed, create another run instead.",
    errors: &[
        ErrorCode::InvalidStateTransition,
        ErrorCode::EmployeeNotPayable,
        ErrorCode::InsufficientFunds,
    ],
    emits: &[
        "payroll_item.retried",
        "payout.created",
        "payout.processing",
        "payout.sent",
        "payout.on_hold",
    ],
    starts: &[TaskKind::SettlePayout, TaskKind::ReleasePayout],
    ..operation!(write retry_payroll_item)
}]);

#[derive(Deserialize, JsonSchema)]
pub(crate) struct RetryItem {
    /// The run.
    payroll_run_id: Id<PayrollRun>,
    /// The employee's payroll item.
    payroll_item_id: Id<PayrollItem>,
}

fn retry_payroll_item(world: &mut World, input: RetryItem) -> Result<Single<PayrollItem>> {
    let mut run = (*world.get(input.payroll_run_id)?).clone();
    let mut item = (*world.get(input.payroll_item_id)?).clone();
    if item.payroll_run_id != run.id {
        let detail =
            format!("{} is an item of {}, not of {}", item.id, item.payroll_run_id, run.id);
        return Err(ApiError::new(ErrorCode::ResourceNotFound, detail).about(item.id));
    }
    if !matches!(run.status, RunStatus::Processing | RunStatus::PartiallyPaid | RunStatus::Paid) {
        let detail = format!(
            "the run is {}: wages can be sent again while it is processing, partially_paid or paid",
            run.status.name()
        );
        return Err(refused(run.id, run.status, detail));
    }
    let status = step("pay_again", "the item", item.id, item.status)?;
    let employee = world.get(item.employee_id)?;
    // These wages must also be paid to an employee who has left.
    let left = employee.status == EmployeeStatus::Terminated
        && employee.payroll_status == PayrollStatus::Closed;
    if let Some(why) = employee.not_payable().filter(|_| !left) {
        let error = ApiError::new(ErrorCode::EmployeeNotPayable, why);
        return Err(error.about(employee.id));
    }
    let company = world.get(run.company_id)?;
    let month = fee_month(world, &run);
    let funding = run.funding.as_mut().expect("a run that sends wages is funded");
    let rail = company.payroll_settings.speed;
    let wallet = funding.wallet_id;
    let mut payouts = Vec::new();
    if item.payout_id.is_some() {
        payouts = replace_bounced(world, &mut item, wallet, rail);
    } else {
        // The wallet did not cover it when the run was funded.
        let cost = added_reserve(world, run.id, &item);
        let sent = item.sending_takes();
        let charge = month.meter(world).charge(sent);
        let fee = charge.amount;
        let available = world.balances(run.company_id, run.currency).available;
        if available < cost + fee {
            return Err(short(&run, &item, available, cost + fee));
        }
        funding.reserved += cost;
        funding.platform_fee += fee;
        funding.shortfall -= (cost + fee).min(funding.shortfall);
        let (source, currency) = (AnyId::of(item.id), run.currency);
        let reserve = posting::reserved("Payroll funded", source, currency, cost);
        world.post(run.company_id, reserve);
        let fee = posting::platform_fee("Platform fee", source, currency, fee);
        world.post(run.company_id, fee);
        month.count(world, sent);
        // A run that fails as a whole refunds all its fees.
        month.charged(world, AnyId::of(run.id), charge);
        let payee = Payee::of(world, item.employee_id);
        for part in payee.parts(&item) {
            let payout = salary(world, &item, wallet, rail, (&payee, part));
            payouts.push(world.stage(payout));
        }
        let ids: Vec<_> = payouts.iter().map(|payout| payout.id).collect();
        item.set_payouts(&ids);
    }
    item.enter(status, world.now());
    run.settlement.failed -= 1;
    run.settlement.pending += 1;
    run.updated_at = world.now();
    world.stage(run);
    let item = world.record("payroll_item.retried", item);
    for payout in payouts {
        world.emit("payout.created", &payout);
        hand_over(world, payout.id);
    }
    Ok(Data(Shown(world.get(item.id)?)))
}

/// The additional amount that a run must reserve for an item that was not covered.
fn added_reserve(world: &World, run: Id<PayrollRun>, item: &PayrollItem) -> i64 {
    let all = items(world, run);
    let covered = all.iter().filter(|it| it.status != ItemStatus::Reversed && it.is_covered());
    let mut cost = RunCost::of(covered.map(AsRef::as_ref));
    let before = cost.to_reserve();
    cost.add_item(item);
    cost.to_reserve() - before
}

/// Stages a new payout for each part of the net pay that failed or was returned.
fn replace_bounced(
    world: &mut World,
    item: &mut PayrollItem,
    wallet: Id<Wallet>,
    rail: Rail,
) -> Vec<Arc<Payout>> {
    let (mut ids, mut payouts) = (item.payouts().collect::<Vec<_>>(), Vec::new());
    let payee = Payee::of(world, item.employee_id);
    for id in &mut ids {
        let old = get(world, *id);
        if !old.status.has_bounced() {
            continue;
        }
        let part = Part { split: old.split, amount: old.amount };
        let mut payout =
            salary(world, item, wallet, rail, (&payee, (part, old.fx.as_deref().copied())));
        payout.supersedes = Some(old.id);
        let mut old = (*old).clone();
        old.superseded_by = Some(payout.id);
        old.updated_at = world.now();
        world.stage(old);
        *id = payout.id;
        payouts.push(world.stage(payout));
    }
    item.set_payouts(&ids);
    payouts
}

fn short(run: &PayrollRun, item: &PayrollItem, available: i64, cost: i64) -> ApiError {
    let shown = |minor| run.currency.display(minor);
    let detail = format!(
        "the available balance is {}, but {} is required, including the platform fee",
        shown(available),
        shown(cost)
    );
    ApiError::new(ErrorCode::InsufficientFunds, detail).about(item.id)
}
