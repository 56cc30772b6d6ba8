//! The release or refund of an escrow's money, by a call, by date, or by a decision.

use crate::api::business::payroll_clock::get;
use crate::api::payments::payout_create::{self, Parties};
use crate::api::prelude::*;
use crate::model::payments::{Dispute, Escrow, EscrowStatus, MilestoneStatus, Rail};
use crate::model::posting::payouts as posting;

/// The rail for released money.
const RAIL: Rail = Rail::Standard;

/// The part of an escrow that is released.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// The whole held amount.
    Rest,
    /// The milestone at that position, from 0.
    Milestone(usize),
    /// An amount in minor units, of an escrow without milestones.
    Amount(i64),
}

/// The date of the automatic release has arrived.
pub(crate) fn release_by_date(world: &mut World, id: Id<Escrow>) {
    let escrow = get(world, id);
    // Not for a disputed escrow: its decision moves the money.
    let holds = matches!(escrow.status, EscrowStatus::Funded | EscrowStatus::PartiallyReleased);
    if holds {
        let reason = "released on its date".to_owned();
        release(world, &escrow, Part::Rest, Some(reason));
    }
}

/// The escrow's last day has passed: without funding it expires, otherwise the held amount returns to the buyer.
pub(crate) fn expire(world: &mut World, id: Id<Escrow>) {
    let escrow = get(world, id);
    match escrow.status {
        EscrowStatus::Created => {
            let mut escrow = (*escrow).clone();
            escrow.enter(EscrowStatus::Expired, world.now());
            world.record("escrow.expired", escrow);
        }
        EscrowStatus::Funded | EscrowStatus::PartiallyReleased => {
            refund(world, &escrow, "expired".to_owned());
        }
        _ => {}
    }
}

/// A dispute about an escrow has ended: the held amount goes to one party.
pub(crate) fn settle_dispute(world: &mut World, dispute: &Dispute, to_seller: bool) {
    let escrow = get(world, Id::<Escrow>::from_bits(dispute.source.bits));
    if escrow.status != EscrowStatus::Disputed {
        return; // it was settled otherwise
    }
    let reason = format!("dispute {}", dispute.status.name());
    if to_seller {
        release(world, &escrow, Part::Rest, Some(reason));
    } else {
        refund(world, &escrow, reason);
    }
}

/// Releases a part of the held amount to the seller; the caller has checked that it is possible.
pub(crate) fn release(
    world: &mut World,
    escrow: &Escrow,
    part: Part,
    reason: Option<String>,
) -> Arc<Escrow> {
    let mut escrow = escrow.clone();
    let amount = match part {
        Part::Rest => escrow.held,
        Part::Milestone(place) => escrow.milestones[place].amount,
        Part::Amount(amount) => amount,
    };
    let company = get(world, escrow.company_id);
    let (wallet, seller) =
        (get(world, escrow.buyer_wallet_id), get(world, escrow.seller_beneficiary_id));
    let parties = Parties {
        company: &company,
        wallet: (&wallet, ""),
        beneficiary: (&seller, ""),
        currency: escrow.currency,
    };
    let mut payout = parties.payout(world, amount, RAIL, format!("Escrow {}", escrow.id));
    payout.source = Some(AnyId::of(escrow.id));
    for (place, milestone) in escrow.milestones.iter_mut().enumerate() {
        let goes = matches!(part, Part::Rest) || part == Part::Milestone(place);
        if goes && milestone.status == MilestoneStatus::Pending {
            milestone.status = MilestoneStatus::Released;
            milestone.payout_id = Some(payout.id);
        }
    }
    escrow.held -= amount;
    escrow.released += amount;
    escrow.payout_id = Some(payout.id);
    let (status, name) = if escrow.held == 0 {
        (EscrowStatus::Released, "escrow.released")
    } else {
        (EscrowStatus::PartiallyReleased, "escrow.partially_released")
    };
    escrow.enter_because(status, world.now(), reason);
    let escrow = world.record(name, escrow);
    payout_create::open(world, payout);
    escrow
}

/// Refunds everything that is held to the buyer; the caller has checked that it is possible.
pub(crate) fn refund(world: &mut World, escrow: &Escrow, reason: String) -> Arc<Escrow> {
    let mut escrow = escrow.clone();
    let amount = escrow.held;
    escrow.refunded += amount;
    escrow.held = 0;
    escrow.enter_because(EscrowStatus::Refunded, world.now(), Some(reason));
    let escrow = world.stage(escrow);
    let back = posting::escrow_refunded(AnyId::of(escrow.id), escrow.currency, amount);
    world.post(escrow.company_id, back);
    world.emit("escrow.refunded", &escrow);
    let wallet = get(world, escrow.buyer_wallet_id);
    world.emit_wallet("wallet.credited", &wallet);
    escrow
}
