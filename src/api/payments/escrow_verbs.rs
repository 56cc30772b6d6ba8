//! Operations on an escrow: fund, release, refund, dispute.

use crate::api::business::payroll_people::may_pay;
use crate::api::payments::disputes::NewDispute;
use crate::api::payments::escrow_clock::Part;
use crate::api::payments::{dispute_clock, disputes, escrow_clock, wallet_level, wallets};
use crate::api::prelude::*;
use crate::model::payments::{DisputeStatus, Escrow, EscrowStatus, MilestoneStatus, RaisedBy};
use crate::model::posting::payouts as posting;

pub(crate) const OPERATIONS: &[Operation] = &Domain::Payments.table([
    Operation {
        path: "/api/payments/escrows/{escrow_id}/fund",
        summary: "Fund an escrow",
        description: "Moves the whole amount from the wallet's available balance into the escrow. \
            There is no platform fee.",
        example: "{}",
        errors: &[
            ErrorCode::ComplianceBlocked,
            ErrorCode::CompanySuspended,
            ErrorCode::InvalidStateTransition,
            ErrorCode::InsufficientFunds,
        ],
        emits: &["escrow.funded", "wallet.debited", "wallet.low_balance"],
        starts: &[TaskKind::ReleaseEscrow],
        ..operation!(write fund_escrow)
    },
    Operation {
        path: "/api/payments/escrows/{escrow_id}/release",
        summary: "Release an escrow",
        description: "Releases money to the seller with a payout (`payout_id`) on the standard \
            rail. The call releases a milestone, an amount if there are no milestones, or \
            everything that is held. If the payout fails or is returned, the money goes to the \
            buyer's wallet; the escrow stays released.",
        example: r#"{"milestone_id":"milestone_1"}"#,
        errors: &[
            ErrorCode::ComplianceBlocked,
            ErrorCode::CompanySuspended,
            ErrorCode::InvalidStateTransition,
        ],
        emits: &["escrow.partially_released", "escrow.released", "payout.created"],
        starts: &[TaskKind::SendPayout],
        ..operation!(write release_escrow)
    },
    Operation {
        path: "/api/payments/escrows/{escrow_id}/refund",
        summary: "Refund an escrow",
        description: "Refunds everything that is held to the buyer's wallet. An unfunded escrow \
            becomes `cancelled`. Refunding a disputed escrow means that the seller accepts the \
            claim: the dispute is `won`.",
        example: r#"{"reason":"The order was cancelled"}"#,
        errors: &[ErrorCode::InvalidStateTransition, ErrorCode::LimitExceeded],
        emits: &["escrow.refunded", "escrow.cancelled", "wallet.credited", "dispute.won"],
        ..operation!(write refund_escrow)
    },
    Operation {
        path: "/api/payments/escrows/{escrow_id}/dispute",
        summary: "Dispute an escrow",
        description: "Freezes the held amount and opens a dispute (`dispute_id`), which \
            `respondToDispute` answers. If the company wins, the money returns to its wallet. If \
            it loses, accepts or does not respond, the money goes to the seller.",
        example: r#"{"raised_by":"buyer","reason":"The goods are broken"}"#,
        errors: &[ErrorCode::InvalidStateTransition],
        emits: &["escrow.disputed", "dispute.created"],
        starts: &[TaskKind::EscrowDisputeUnanswered],
        ..operation!(write dispute_escrow)
    },
]);

#[derive(Deserialize, JsonSchema)]
pub(crate) struct FundEscrow {
    /// The escrow.
    escrow_id: Id<Escrow>,
    /// The amount; if given, it must be the whole amount.
    amount: Option<Amount>,
}

fn fund_escrow(world: &mut World, input: FundEscrow) -> Result<Single<Escrow>> {
    let escrow = world.get(input.escrow_id)?;
    fund(world, &escrow, input.amount.map(Amount::minor))?;
    show(world, escrow.id)
}

/// Funds an escrow, if possible.
pub(crate) fn fund(world: &mut World, escrow: &Escrow, amount: Option<i64>) -> Result<()> {
    let company = world.get(escrow.company_id)?;
    let wallet = world.get(escrow.buyer_wallet_id)?;
    may_pay(world, &company)?;
    let status = step("fund", "the escrow", escrow.id, escrow.status)?;
    if amount.is_some_and(|amount| amount != escrow.amount) {
        let detail = format!("the amount must be the whole {}", escrow.amount);
        return Err(ApiError::of_member("/amount", "not_the_amount", detail));
    }
    let available = world.balances(company.id, escrow.currency).available;
    if available < escrow.amount {
        let shown = |minor| escrow.currency.display(minor);
        let detail = format!(
            "the available balance is {}, but {} is required",
            shown(available),
            shown(escrow.amount)
        );
        return Err(ApiError::new(ErrorCode::InsufficientFunds, detail).about(wallet.id));
    }
    let mut escrow = escrow.clone();
    escrow.held = escrow.amount;
    escrow.enter(status, world.now());
    let escrow = world.stage(escrow);
    let funded = posting::escrow_funded(AnyId::of(escrow.id), escrow.currency, escrow.amount);
    world.post(company.id, funded);
    world.emit("escrow.funded", &escrow);
    wallet_level::debited(world, &company, &wallet, available);
    if let Some(at) = escrow.auto_release_at {
        world.remind_at(at, Task::ReleaseEscrow(escrow.id));
    }
    Ok(())
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct ReleaseEscrow {
    /// The escrow.
    escrow_id: Id<Escrow>,
    /// The milestone to release. Default: everything that is held, if `amount` is absent, too.
    milestone_id: Option<Text<64>>,
    /// Amount to release in minor units; only for an escrow without milestones.
    amount: Option<Amount>,
}

fn release_escrow(world: &mut World, input: ReleaseEscrow) -> Result<Single<Escrow>> {
    let escrow = world.get(input.escrow_id)?;
    may_release(world, &escrow)?;
    let milestone = input.milestone_id.as_ref().map(Text::as_str);
    let part = part(&escrow, milestone, input.amount.map(Amount::minor))?;
    let escrow = escrow_clock::release(world, &escrow, part, None);
    Ok(Data(Shown(escrow)))
}

/// Refuses a release that the company or the escrow's status does not allow.
pub(crate) fn may_release(world: &World, escrow: &Escrow) -> Result<()> {
    may_pay(world, &*world.get(escrow.company_id)?)?;
    step("release_part", "the escrow", escrow.id, escrow.status)?;
    Ok(())
}

/// The requested part, if the escrow holds it.
fn part(escrow: &Escrow, milestone: Option<&str>, amount: Option<i64>) -> Result<Part> {
    let wrong = |pointer: &'static str, code, detail: String| {
        Err(ApiError::of_member(pointer, code, detail))
    };
    match (milestone, amount) {
        (None, None) => Ok(Part::Rest),
        (Some(_), Some(_)) => {
            let detail = "use milestone_id or amount, not both".to_owned();
            wrong("/amount", "not_taken", detail)
        }
        (Some(id), None) => {
            let place = escrow.milestones.iter().position(|part| part.id == id);
            let Some(place) = place else {
                let detail = format!("{} has no milestone {id:?}", escrow.id);
                return wrong("/milestone_id", "not_found", detail);
            };
            if escrow.milestones[place].status == MilestoneStatus::Released {
                let detail = format!("{id} is already released");
                return wrong("/milestone_id", "already_released", detail);
            }
            Ok(Part::Milestone(place))
        }
        (None, Some(_)) if !escrow.milestones.is_empty() => {
            let detail = "this escrow can be released only by milestone".to_owned();
            wrong("/amount", "has_milestones", detail)
        }
        (None, Some(amount)) if amount > escrow.held => {
            let detail = format!("the escrow holds only {}", escrow.held);
            wrong("/amount", "more_than_held", detail)
        }
        (None, Some(amount)) => Ok(Part::Amount(amount)),
    }
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct RefundEscrow {
    /// The escrow.
    escrow_id: Id<Escrow>,
    /// The amount; if given, it must be everything that is held.
    amount: Option<Amount>,
    /// The reason, for the status history.
    reason: Text<500>,
}

fn refund_escrow(world: &mut World, input: RefundEscrow) -> Result<Single<Escrow>> {
    let escrow = world.get(input.escrow_id)?;
    let wanted = input.amount.map(Amount::minor);
    take_back(world, &escrow, wanted, input.reason.into_string())?;
    show(world, escrow.id)
}

/// Refunds the held amount of an escrow to the buyer, or cancels an unfunded one.
pub(crate) fn take_back(
    world: &mut World,
    escrow: &Escrow,
    wanted: Option<i64>,
    reason: String,
) -> Result<()> {
    let verb = match escrow.status {
        EscrowStatus::Created => "cancel",
        _ => "refund",
    };
    step(verb, "the escrow", escrow.id, escrow.status)?;
    if wanted.is_some_and(|wanted| wanted != escrow.held) {
        let detail = format!("the amount must be everything that is held: {}", escrow.held);
        return Err(ApiError::of_member("/amount", "not_what_is_held", detail));
    }
    if escrow.status == EscrowStatus::Created {
        let mut escrow = escrow.clone();
        escrow.enter_because(EscrowStatus::Cancelled, world.now(), Some(reason));
        world.record("escrow.cancelled", escrow);
        return Ok(());
    }
    let wallet = world.get(escrow.buyer_wallet_id)?;
    wallets::room(world, &wallet, escrow.held)?;
    match escrow.dispute_id.filter(|_| escrow.status == EscrowStatus::Disputed) {
        // This also ends the escrow.
        Some(dispute) => dispute_clock::end(world, dispute, DisputeStatus::Won, Some(reason)),
        None => {
            escrow_clock::refund(world, escrow, reason);
        }
    }
    Ok(())
}

/// A party of an escrow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "EscrowParty")]
pub(crate) enum Party {
    Buyer,
    Seller,
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct DisputeEscrow {
    /// The escrow.
    escrow_id: Id<Escrow>,
    /// The party that disputes.
    raised_by: Party,
    /// The reason for the dispute.
    reason: Text<500>,
}

fn dispute_escrow(world: &mut World, input: DisputeEscrow) -> Result<Single<Escrow>> {
    let escrow = world.get(input.escrow_id)?;
    let raised_by = match input.raised_by {
        Party::Buyer => RaisedBy::Buyer,
        Party::Seller => RaisedBy::Seller,
    };
    dispute(world, &escrow, raised_by, input.reason.into_string())?;
    show(world, escrow.id)
}

/// Freezes the held amount of an escrow.
pub(crate) fn dispute(
    world: &mut World,
    escrow: &Escrow,
    raised_by: RaisedBy,
    reason: String,
) -> Result<()> {
    let status = step("dispute", "the escrow", escrow.id, escrow.status)?;
    let new = NewDispute {
        company: escrow.company_id,
        source: AnyId::of(escrow.id),
        amount: escrow.held,
        currency: escrow.currency,
        reason: reason.clone(),
        raised_by,
    };
    let dispute = disputes::open(world, new);
    let mut escrow = escrow.clone();
    escrow.dispute_id = Some(dispute.id);
    escrow.enter_because(status, world.now(), Some(reason));
    world.record("escrow.disputed", escrow);
    Ok(())
}
