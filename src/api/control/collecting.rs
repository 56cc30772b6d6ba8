//! Transitions by hand of collections, refunds and disputes.

use crate::api::control::transitions::{Wanted, target};
use crate::api::payments::{collection_clock, collections, dispute_clock, refunds, wallets};
use crate::model::AnyId;
use crate::model::payments::collection::{Collection, CollectionStatus, Payment};
use crate::model::payments::dispute::{Dispute, DisputeStatus};
use crate::model::payments::refund::{Refund, RefundStatus};
use crate::model::payments::return_code::ReturnCode;
use crate::value::error::ApiError;
use crate::value::id::Id;
use crate::world::World;

/// The payer or the payer's bank acts now.
pub(super) fn collection(
    world: &mut World,
    id: Id<Collection>,
    to: &str,
    wanted: Wanted,
) -> Result<(), ApiError> {
    let collection = world.get(id)?;
    let to = target(AnyId::of(id), collection.status, to, |_| true)?;
    let amount = collection.amount;
    if to == CollectionStatus::Succeeded {
        wallets::fits(world, collection.company_id, collection.currency, amount)?;
    }
    world.forget_timers(AnyId::of(id));
    match to {
        CollectionStatus::RequiresAction => {
            collection_clock::prompt(world, id);
            collection_clock::await_payer(world, &collection, Payment::Pays(amount));
        }
        CollectionStatus::Processing => collection_clock::pay(world, id, Payment::Pays(amount)),
        CollectionStatus::Succeeded => {
            collection_clock::succeed(world, (*collection).clone(), amount);
        }
        CollectionStatus::Settled => collection_clock::settle(world, id),
        CollectionStatus::Failed => {
            let code = wanted.code.or_else(|| ReturnCode::new(1));
            let code = code.expect("the first return code");
            collection_clock::fail(world, (*collection).clone(), code.failure());
        }
        CollectionStatus::Cancelled => {
            collections::cancel(world, &collection, wanted.reason);
        }
        CollectionStatus::Expired | CollectionStatus::Pending => {
            collection_clock::expire(world, id);
        }
    }
    Ok(())
}

/// The payer's bank answers about a refund now.
pub(super) fn refund(
    world: &mut World,
    id: Id<Refund>,
    to: &str,
    wanted: Wanted,
) -> Result<(), ApiError> {
    let refund = world.get(id)?;
    let to = target(AnyId::of(id), refund.status, to, |_| true)?;
    world.forget_timers(AnyId::of(id));
    let code = wanted.code.or_else(|| ReturnCode::new(2));
    let failed = code.filter(|_| to == RefundStatus::Failed);
    refunds::settle(world, id, failed);
    Ok(())
}

/// The decision arrives now, or the deadline for evidence passes now.
pub(super) fn dispute(
    world: &mut World,
    id: Id<Dispute>,
    to: &str,
    wanted: Wanted,
) -> Result<(), ApiError> {
    let dispute = world.get(id)?;
    let by_hand = |state| matches!(state, DisputeStatus::Won | DisputeStatus::Lost);
    let to = target(AnyId::of(id), dispute.status, to, by_hand)?;
    world.forget_timers(AnyId::of(id));
    dispute_clock::end(world, id, to, wanted.reason);
    Ok(())
}
