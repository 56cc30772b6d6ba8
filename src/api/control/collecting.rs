//! Manual transitions of collections, refunds and disputes.

use crate::api::control::hand_move::{Wanted, answer_now, run_now, take, target};
use crate::api::payments::{
    collection_clock, collections, debit_returns, dispute_clock, mandates, wallets,
};
use crate::api::prelude::*;
use crate::model::payments::{
    Collection, CollectionStatus, Dispute, DisputeStatus, Late, Mandate, MandateStatus, Payment,
    RailId, Refund, RefundStatus, Refusal, Scope,
};

/// The payer or the payer's bank acts now.
pub(super) fn collection(
    world: &mut World,
    id: Id<Collection>,
    to: &str,
    wanted: Wanted,
) -> Result<()> {
    let collection = world.get(id)?;
    let of = AnyId::of(id);
    let code = wanted.code.as_deref();
    let back =
        return_of(world, &collection, code.filter(|_| to == CollectionStatus::Returned.name()));
    let kept = debit_returns::kept(world, &collection, back);
    let by_hand = |state| state != CollectionStatus::Returned || kept.is_none();
    let to = target(of, collection.status, to, by_hand).map_err(|mut error| {
        if let Some(why) = kept.as_ref().filter(|_| to == CollectionStatus::Returned.name()) {
            error.detail = format!("{}: {why}", error.detail);
        }
        error
    })?;
    let whole = Payment::Pays(collection.amount);
    match to {
        CollectionStatus::RequiresAction => run_now(world, Task::PromptPayer(id)),
        CollectionStatus::Processing => {
            answer_now(world, Task::PayCollection(id, whole), |_, _| true);
        }
        CollectionStatus::Succeeded => {
            let amount = world.waiting(of).find_map(|task| match task {
                Task::FinishCollection(_, Payment::Pays(amount)) => Some(amount),
                _ => None,
            });
            let amount = amount.unwrap_or(collection.amount);
            wallets::fits(world, collection.company_id, collection.currency, amount)?;
            answer_now(world, Task::FinishCollection(id, whole), |_, waiting| !fails(waiting));
        }
        CollectionStatus::Returned => run_now(world, Task::ReturnCollection(id, back)),
        CollectionStatus::Settled => run_now(world, Task::SettleCollection(id)),
        CollectionStatus::Failed => {
            let rail = (collection.payment_rail, Scope::Collections);
            let refusal = refusal(rail, code, "insufficient_funds");
            let refusal = collection_clock::by_payer(&collection, refusal);
            let chosen = Task::FinishCollection(id, Payment::Fails(refusal));
            answer_now(world, chosen, |_, waiting| code.is_none() && fails(waiting));
        }
        CollectionStatus::Cancelled => {
            collections::cancel(world, &collection, wanted.reason);
        }
        CollectionStatus::Expired => run_now(world, Task::ExpireCollection(id)),
        CollectionStatus::Pending => unreachable!("no transition leads to the first state"),
    }
    Ok(())
}

/// Whether a payment that waits fails.
const fn fails(task: Task) -> bool {
    matches!(task, Task::FinishCollection(_, Payment::Fails(_)))
}

/// The refusal of a return now: with that code, or else the one that waits.
fn return_of(world: &World, collection: &Collection, code: Option<&str>) -> Refusal {
    let waiting = world.waiting(AnyId::of(collection.id)).find_map(|task| match task {
        Task::ReturnCollection(_, refusal) => Some(refusal),
        _ => None,
    });
    let waiting = waiting.filter(|_| code.is_none());
    waiting.unwrap_or_else(|| debit_returns::refusal(collection, code))
}

/// The payer's bank answers about a mandate now, the payer revokes it, or its last day is over.
pub(super) fn mandate(world: &mut World, id: Id<Mandate>, to: &str, wanted: Wanted) -> Result<()> {
    let mandate = world.get(id)?;
    let refused = Task::AnswerMandate(id, false);
    let is_refused = world.waiting(AnyId::of(id)).any(|task| task == refused);
    match target(AnyId::of(id), mandate.status, to, |_| true)? {
        MandateStatus::Active => run_now(world, Task::AnswerMandate(id, true)),
        MandateStatus::Revoked if is_refused => run_now(world, refused),
        MandateStatus::Revoked => {
            mandates::revoke(world, &mandate, wanted.reason);
        }
        MandateStatus::Expired => run_now(world, Task::ExpireMandate(id)),
        MandateStatus::Pending => unreachable!("no transition leads to the first state"),
    }
    Ok(())
}

/// The payer's bank answers about a refund now.
pub(super) fn refund(world: &mut World, id: Id<Refund>, to: &str, wanted: &Wanted) -> Result<()> {
    let refund = world.get(id)?;
    let failed = match target(AnyId::of(id), refund.status, to, |_| true)? {
        RefundStatus::Succeeded => None,
        RefundStatus::Failed => {
            let rail = (refund.payment_rail, Scope::Refunds);
            Some(refusal(rail, wanted.code.as_deref(), "account_closed"))
        }
        RefundStatus::Pending => unreachable!("no transition leads to the first state"),
    };
    answer_now(world, Task::SettleRefund(id, failed), |_, waiting| {
        let fails = matches!(waiting, Task::SettleRefund(_, Some(_)));
        wanted.code.is_none() && fails == failed.is_some()
    });
    Ok(())
}

/// The refusal with the given code, or for the usual reason.
fn refusal((rail, scope): (RailId, Scope), code: Option<&str>, reason: &str) -> Refusal {
    match code {
        Some(code) => Refusal::with_code(rail, code, scope, Late::No),
        None => Refusal::because(rail, reason, Late::No),
    }
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
        let verdict = match take(world, task) {
            Some(Task::DecideDispute(_, won) | Task::DecideEscrowDispute(_, won)) => Some(won),
            _ => None,
        };
        if verdict.is_some_and(|won| won != (to == DisputeStatus::Won)) {
            world.forget_decision();
        }
    }
    dispute_clock::end(world, id, to, wanted.reason);
    Ok(())
}
