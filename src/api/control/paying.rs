//! Payouts, escrows, beneficiaries and reconciled rows moved by hand.

use crate::api::business::payroll_payouts::Wages;
use crate::api::control::hand_move::{Wanted, answer_now, refused, run_now, target};
use crate::api::payments::escrow_clock::{self, Part};
use crate::api::payments::reconciliation::{self, MatchAction};
use crate::api::payments::{
    dispute_clock, escrow_verbs, micro_deposits, payout_moves, payout_verbs,
};
use crate::api::prelude::*;
use crate::model::business::{BankAnswer, ItemStatus};
use crate::model::payments::beneficiary::AccountCheck;
use crate::model::payments::{
    Beneficiary, BeneficiaryStatus, DisputeStatus, Escrow, EscrowStatus, MatchStatus,
    MilestoneStatus, Payout, PayoutStatus, Pays, RaisedBy, ReconciliationMatch, Side,
};

/// A payout is moved one state at a time, and the rail goes on from the new state.
pub(super) fn payout(world: &mut World, id: Id<Payout>, to: &str, wanted: Wanted) -> Result<()> {
    let payout = world.get(id)?;
    if is_recalled(world, &payout) {
        let detail = format!("{id} stays paid: a reversal has recalled its wages into the wallet");
        return Err(refused(AnyId::of(id), payout.status.name(), Vec::new(), detail));
    }
    let by_hand = |state| match payout.pays() {
        Pays::Wages => !matches!(state, PayoutStatus::Cancelled | PayoutStatus::Queued),
        Pays::Escrow => state != PayoutStatus::Cancelled,
        // Payouts of the months before the world's start are final.
        Pays::Vendor => payout.beneficiary_id.is_some(),
    };
    let to = target(AnyId::of(id), payout.status, to, by_hand)?;
    payout_verbs::may_come_back(world, &payout, to)?;
    match to {
        PayoutStatus::Queued => payout_verbs::approve(world, &payout, None)?,
        PayoutStatus::Cancelled => payout_verbs::cancel(world, id, wanted.reason),
        PayoutStatus::Processing
        | PayoutStatus::OnHold
        | PayoutStatus::Sent
        | PayoutStatus::Paid
        | PayoutStatus::Failed
        | PayoutStatus::Returned => {
            payout_moves::force(world, id, to, wanted.code.as_deref(), wanted.reason);
        }
        PayoutStatus::PendingApproval => unreachable!("no transition leads to the first state"),
    }
    Ok(())
}

/// Whether a reversal has recalled the wages that this payout paid.
fn is_recalled(world: &World, payout: &Payout) -> bool {
    let is_reversed = |wages: Wages| wages.item.status == ItemStatus::Reversed;
    payout.status == PayoutStatus::Paid && Wages::of(world, payout).is_some_and(is_reversed)
}

/// The buyer, the date or the verdict moves it now. A part is released only by the next milestone.
pub(super) fn escrow(world: &mut World, id: Id<Escrow>, to: &str, wanted: Wanted) -> Result<()> {
    let escrow = world.get(id)?;
    let parts = escrow.pending().count();
    let by_hand = |state| state != EscrowStatus::PartiallyReleased || parts > 1;
    let to = target(AnyId::of(id), escrow.status, to, by_hand)?;
    let reason = wanted.reason.unwrap_or_else(|| "by hand".to_owned());
    match (to, escrow.dispute_id.filter(|_| escrow.status == EscrowStatus::Disputed)) {
        (EscrowStatus::Funded, _) => escrow_verbs::fund(world, &escrow, None)?,
        (EscrowStatus::Disputed, _) => {
            escrow_verbs::dispute(world, &escrow, RaisedBy::Seller, reason)?;
        }
        (EscrowStatus::Released, Some(dispute)) => {
            dispute_clock::end(world, dispute, DisputeStatus::Lost, Some(reason));
        }
        (EscrowStatus::PartiallyReleased, _) => {
            let mut parts = escrow.milestones.iter();
            let next = parts.position(|part| part.status == MilestoneStatus::Pending);
            let part = Part::Milestone(next.expect("more than one part is pending"));
            escrow_verbs::may_release(world, &escrow)?;
            escrow_clock::release(world, &escrow, part, Some(reason));
        }
        (EscrowStatus::Released, None) => {
            escrow_verbs::may_release(world, &escrow)?;
            escrow_clock::release(world, &escrow, Part::Rest, Some(reason));
        }
        (EscrowStatus::Expired, _) => run_now(world, Task::ExpireEscrow(id)),
        (EscrowStatus::Refunded | EscrowStatus::Cancelled, _) => {
            escrow_verbs::take_back(world, &escrow, None, reason)?;
        }
        (EscrowStatus::Created, _) => unreachable!("no transition leads to the first state"),
    }
    Ok(())
}

/// The bank answers now, or the end of the micro-deposits comes. Of a refusal, `reason` may be the code.
pub(super) fn beneficiary(
    world: &mut World,
    id: Id<Beneficiary>,
    to: &str,
    wanted: &Wanted,
) -> Result<()> {
    let beneficiary = world.get(id)?;
    let is_verified = match target(AnyId::of(id), beneficiary.status, to, |_| true)? {
        BeneficiaryStatus::Verified => true,
        BeneficiaryStatus::Rejected => false,
        BeneficiaryStatus::Pending => unreachable!("no transition leads to the first state"),
    };
    if beneficiary.verification == AccountCheck::MicroDeposits {
        if is_verified {
            micro_deposits::verify(world, &beneficiary);
        } else {
            run_now(world, Task::ExpireMicroDeposits(id));
        }
        return Ok(());
    }
    let coded = match wanted.reason.as_deref().filter(|_| !is_verified) {
        Some("account_closed") => Some(BankAnswer::AccountClosed),
        Some("account_not_found") => Some(BankAnswer::AccountNotFound),
        Some("name_mismatch") => Some(BankAnswer::NameMismatch),
        _ => None,
    };
    let usual = if is_verified { BankAnswer::Match } else { BankAnswer::NameMismatch };
    let chosen = Task::ResolveBeneficiary(id, coded.unwrap_or(usual));
    answer_now(world, chosen, |_, waiting| {
        let leads = |answer: BankAnswer| answer.result().is_ok() == is_verified;
        coded.is_none() && matches!(waiting, Task::ResolveBeneficiary(_, answer) if leads(answer))
    });
    Ok(())
}

/// Confirms or rejects the match. A match by hand needs the operation, because its body names the entry.
pub(super) fn reconciliation(
    world: &mut World,
    id: Id<ReconciliationMatch>,
    to: &str,
    wanted: Wanted,
) -> Result<()> {
    let row = world.get(id)?;
    let by_hand = |state| match state {
        MatchStatus::Matched => row.status == MatchStatus::Suggested,
        MatchStatus::Unmatched => row.side == Side::Bank,
        MatchStatus::Ignored => true,
        MatchStatus::Suggested | MatchStatus::Exception => false,
    };
    let action = match target(AnyId::of(id), row.status, to, by_hand)? {
        MatchStatus::Matched => MatchAction::Confirm,
        MatchStatus::Unmatched => MatchAction::Reject,
        MatchStatus::Ignored => MatchAction::Ignore,
        MatchStatus::Suggested | MatchStatus::Exception => unreachable!("not by hand"),
    };
    reconciliation::resolve(world, id, action, None, wanted.reason)
}
