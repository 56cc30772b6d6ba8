//! Payouts moved by a tester along a transition of their lifecycle.
//!
//! Deliberately absent: which moves are possible (`control::paying`), and what a rail does by itself (`payout_rail`).

use crate::api::business::payroll_clock::get;
use crate::api::payments::payout_rail::{conclude, enter, result, reviewed, send_on};
use crate::api::prelude::*;
use crate::model::payments::{Late, Payout, PayoutStatus, Refusal, Scope};
use crate::model::task::Fate;

/// The reason of a failure without a code.
const NO_ACCOUNT: &str = "account_not_found";

/// Moves a payout by hand along a transition of its lifecycle. The answer that waits for it arrives now, if it leads there and no code is
/// given. The rail then goes on as with each other payout; one that is held by hand stays.
pub(crate) fn force(
    world: &mut World,
    id: Id<Payout>,
    to: PayoutStatus,
    code: Option<&str>,
    reason: Option<String>,
) {
    let leads = |task| answer(task).is_some_and(|fate| result(fate) == Some(to));
    let waiting = match code {
        None => world.take_about(AnyId::of(id), leads).and_then(answer),
        Some(_) => None,
    };
    world.forget_timers(AnyId::of(id));
    let payout = get(world, id);
    let plain = |world: &mut World, name| {
        let payout = enter(world, &payout, to);
        world.emit(name, &payout);
    };
    match to {
        PayoutStatus::Processing => {
            plain(world, "payout.processing");
            world.settle_after(Span::seconds(0), reviewed(&payout, Fate::Paid));
        }
        PayoutStatus::OnHold => plain(world, "payout.on_hold"),
        PayoutStatus::Sent => send_on(world, &payout, Fate::Paid),
        PayoutStatus::Paid => conclude(world, &payout, waiting.unwrap_or(Fate::Paid), None),
        PayoutStatus::Failed | PayoutStatus::Returned => {
            let fate = waiting.unwrap_or_else(|| chosen(&payout, to, code));
            conclude(world, &payout, fate, reason);
        }
        PayoutStatus::PendingApproval | PayoutStatus::Queued | PayoutStatus::Cancelled => {
            unreachable!("the company's calls lead there")
        }
    }
}

/// The answer that a timer of a payout carries.
const fn answer(task: Task) -> Option<Fate> {
    match task {
        Task::ReleasePayout(_, fate)
        | Task::ReleaseVendorPayout(_, fate)
        | Task::SettlePayout(_, fate)
        | Task::SettleVendorPayout(_, fate) => Some(fate),
        _ => None,
    }
}

/// The answer that a tester chooses: with that code of the rail, or for an unknown account.
fn chosen(payout: &Payout, to: PayoutStatus, code: Option<&str>) -> Fate {
    let late = if payout.status == PayoutStatus::Paid { Late::Yes } else { Late::No };
    let rail = payout.payment_rail;
    let refusal = match code {
        Some(code) => Refusal::with_code(rail, code, Scope::Payouts, late),
        None => Refusal::because(rail, NO_ACCOUNT, late),
    };
    match to {
        PayoutStatus::Returned => Fate::Returned(refusal),
        _ => Fate::Failed(refusal),
    }
}
