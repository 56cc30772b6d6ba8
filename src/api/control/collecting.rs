//! Transitions by hand of collections, refunds and disputes.

use crate::api::control::hand_move::{Wanted, run_now, take, target};
use crate::api::payments::{collection_clock, collections, dispute_clock, wallets};
use crate::api::prelude::*;
use crate::model::payments::{
    Collection, CollectionStatus, Dispute, DisputeStatus, Payment, Refund, RefundStatus, ReturnCode,
};

/// The payer or the payer's bank acts now.
pub(super) fn collection(
    world: &mut World,
    id: Id<Collection>,
    to: &str,
    wanted: Wanted,
) -> Result<()> {
    let collection = world.get(id)?;
    let to = target(AnyId::of(id), collection.status, to, |_| true)?;
    let amount = collection.amount;
    if to == CollectionStatus::Succeeded {
        wallets::fits(world, collection.company_id, collection.currency, amount)?;
    }
    let whole = Payment::Pays(amount);
    match to {
        CollectionStatus::RequiresAction => run_now(world, Task::PromptPayer(id)),
        CollectionStatus::Processing => {
            let payment = match take(world, Task::PayCollection(id, whole)) {
                Some(Task::PayCollection(_, payment)) => payment,
                _ => whole,
            };
            collection_clock::pay(world, id, payment);
        }
        CollectionStatus::Succeeded => {
            take(world, Task::FinishCollection(id, whole));
            collection_clock::succeed(world, (*collection).clone(), amount);
        }
        CollectionStatus::Settled => run_now(world, Task::SettleCollection(id)),
        CollectionStatus::Failed => {
            let code = wanted.code.or_else(|| ReturnCode::new(1));
            let code = code.expect("the first return code");
            run_now(world, Task::FinishCollection(id, Payment::Fails(code)));
        }
        CollectionStatus::Cancelled => {
            collections::cancel(world, &collection, wanted.reason);
        }
        CollectionStatus::Expired => run_now(world, Task::ExpireCollection(id)),
        CollectionStatus::Pending => unreachable!("no transition leads to the first state"),
    }
    Ok(())
}

/// The payer's bank answers about a refund now.
pub(super) fn refund(world: &mut World, id: Id<Refund>, to: &str, wanted: &Wanted) -> Result<()> {
    let refund = world.get(id)?;
    let failed = match target(AnyId::of(id), refund.status, to, |_| true)? {
        RefundStatus::Succeeded => None,
        RefundStatus::Failed => wanted.code.or_else(|| ReturnCode::new(2)),
        RefundStatus::Pending => unreachable!("no transition leads to the first state"),
    };
    run_now(world, Task::SettleRefund(id, failed));
    Ok(())
}

/// The decision arrives now, or the deadline for evidence passes now.
pub(super) fn dispute(world: &mut World, id: Id<Dispute>, to: &str, wanted: Wanted) -> Result<()> {
    let dispute = world.get(id)?;
    let by_hand = |state| matches!(state, DisputeStatus::Won | DisputeStatus::Lost);
    let to = target(AnyId::of(id), dispute.status, to, by_hand)?;
    for task in [
        Task::DisputeUnanswered(id),
        Task::EscrowDisputeUnanswered(id),
        Task::DecideDispute(id, true),
        Task::DecideEscrowDispute(id, true),
    ] {
        take(world, task);
    }
    dispute_clock::end(world, id, to, wanted.reason);
    Ok(())
}
