//! The end of a dispute: by a decision, because there was no evidence in time, or because the company accepted it.

use core::cmp::Ordering;

use crate::api::payments::escrow_clock;
use crate::api::payments::wallet_level::debited;
use crate::model::decision::DISPUTE_VERDICT;
use crate::model::lifecycle::Stateful;
use crate::model::payments::collection::Collection;
use crate::model::payments::dispute::{Dispute, DisputeStatus};
use crate::model::task::Task;
use crate::model::{AnyId, Kind, posting};
use crate::value::id::Id;
use crate::value::span::Span;
use crate::world::World;

/// From the evidence to the decision.
const VERDICT: Span = Span::seconds(14 * 24 * 60 * 60);

/// Requests the decision, which arrives later.
pub(super) fn await_verdict(world: &mut World, dispute: &Dispute) {
    let verdict = world.decide(&DISPUTE_VERDICT, AnyId::of(dispute.id), None);
    let won = verdict.choice == "won";
    let task = match dispute.source.kind {
        Kind::Escrow => Task::DecideEscrowDispute(dispute.id, won),
        _ => Task::DecideDispute(dispute.id, won),
    };
    world.settle_when(VERDICT, verdict.after, task);
}

/// The deadline for evidence has passed.
pub(crate) fn miss(world: &mut World, id: Id<Dispute>) {
    let open = world.find(id);
    if open.is_some_and(|dispute| dispute.status == DisputeStatus::NeedsResponse) {
        let reason = "no evidence in time".to_owned();
        end(world, id, DisputeStatus::Lost, Some(reason));
    }
}

/// The decision has arrived.
pub(crate) fn decide(world: &mut World, id: Id<Dispute>, won: bool) {
    let open = world.find(id);
    if open.is_some_and(|dispute| dispute.status == DisputeStatus::UnderReview) {
        let to = if won { DisputeStatus::Won } else { DisputeStatus::Lost };
        end(world, id, to, None);
    }
}

/// Ends a dispute as its lifecycle allows: the withheld amount is released or lost.
pub(crate) fn end(world: &mut World, id: Id<Dispute>, to: DisputeStatus, reason: Option<String>) {
    let Some(dispute) = world.find(id) else { return };
    let mut dispute = (*dispute).clone();
    let now = world.now();
    dispute.resolved_at = Some(now);
    if to == DisputeStatus::Won && dispute.status == DisputeStatus::NeedsResponse {
        // A dispute that is accepted before the deadline was reviewed, too.
        dispute.enter(DisputeStatus::UnderReview, now);
    }
    dispute.enter_because(to, now, reason);
    let (won, event) = match to {
        DisputeStatus::Won => (true, "dispute.won"),
        DisputeStatus::Accepted => (false, "dispute.accepted"),
        _ => (false, "dispute.lost"),
    };
    let chargeback = dispute.source.kind == Kind::Collection;
    let before = world.balances(dispute.company_id, dispute.currency).available;
    if chargeback {
        let charged_back = if won { 0 } else { dispute.amount };
        release_collection(world, Id::from_bits(dispute.source.bits), charged_back);
        post_end(world, &dispute, won, before);
    }
    let dispute = world.record(event, dispute);
    let (company, currency) = (dispute.company_id, dispute.currency);
    let after = world.balances(company, currency).available;
    let wallet = world.wallet_of(company, currency);
    if let (Some(wallet), Some(company)) = (wallet, world.find(company)) {
        match after.cmp(&before) {
            Ordering::Greater => world.emit_wallet("wallet.credited", &wallet),
            Ordering::Less => debited(world, &company, &wallet, before),
            Ordering::Equal => {}
        }
    }
    if dispute.source.kind == Kind::Escrow {
        escrow_clock::settle_dispute(world, &dispute, !won);
    }
}

/// Posts the end of a chargeback.
fn post_end(world: &mut World, dispute: &Dispute, won: bool, available: i64) {
    let (source, currency) = (AnyId::of(dispute.id), dispute.currency);
    let posting = if won {
        posting::released("Dispute won", source, currency, dispute.withheld)
    } else {
        let taken = available.clamp(0, dispute.amount - dispute.withheld);
        posting::collecting::dispute_lost(source, currency, dispute.amount, dispute.withheld, taken)
    };
    world.post(dispute.company_id, posting);
}

/// Ends the dispute about a collection, and records the amount charged back.
fn release_collection(world: &mut World, id: Id<Collection>, charged_back: i64) {
    let collection = world.find(id).expect("a dispute names what exists, and nothing is deleted");
    let mut collection = (*collection).clone();
    collection.disputed = false;
    collection.amount_charged_back += charged_back;
    collection.updated_at = world.now();
    world.stage(collection);
}
