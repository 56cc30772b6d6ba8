//! Operations on a payout: approve, cancel.

use crate::api::business::payroll_payouts::Wages;
use crate::api::business::payroll_people::may_pay;
use crate::api::payments::payout_create::queue;
use crate::api::payments::payout_rail::{arrival, credited, departure};
use crate::api::payments::platform_fee::refunded;
use crate::api::payments::wallets::room;
use crate::api::prelude::*;
use crate::model::payments::{Payout, PayoutStatus, Pays};
use crate::model::posting::payouts as posting;

pub(crate) const OPERATIONS: &[Operation] = &Domain::Payments.table([
    Operation {
        path: "/api/payments/payouts/{payout_id}/approve",
        summary: "Approve a payout",
        description: "Approves a payout of a company whose `payment_settings` require it. If \
            `maker` and `approver` are both given, they must be different people.",
        example: r#"{"approver":"Grace Bello"}"#,
        errors: &[
            ErrorCode::Forbidden,
            ErrorCode::ComplianceBlocked,
            ErrorCode::CompanySuspended,
            ErrorCode::InvalidStateTransition,
        ],
        emits: &["payout.approved"],
        starts: &[TaskKind::SendPayout],
        ..operation!(write approve_payout)
    },
    Operation {
        path: "/api/payments/payouts/{payout_id}/cancel",
        summary: "Cancel a payout",
        description: "Cancels a payout before it is sent. The amount and its fee return to the \
            wallet. Wages are cancelled with their run, and money released from an escrow cannot \
            be cancelled.",
        example: r#"{"reason":"Paid in cash"}"#,
        errors: &[ErrorCode::InvalidStateTransition, ErrorCode::LimitExceeded],
        emits: &["payout.cancelled", "wallet.credited"],
        ..operation!(write cancel_payout)
    },
]);

#[derive(Deserialize, JsonSchema)]
pub(crate) struct ApprovePayout {
    /// The payout.
    payout_id: Id<Payout>,
    /// The person who approves it.
    approver: Option<Text<200>>,
}

fn approve_payout(world: &mut World, input: ApprovePayout) -> Result<Single<Payout>> {
    let payout = world.get(input.payout_id)?;
    let approver = input.approver.map(Text::into_string);
    if let Some((maker, approver)) = payout.maker.as_deref().zip(approver.as_deref())
        && same_person(maker, approver)
    {
        let detail = format!("{maker} requested this payout: another person must approve it");
        return Err(ApiError::new(ErrorCode::Forbidden, detail).about(payout.id));
    }
    approve(world, &payout, approver)?;
    show(world, payout.id)
}

fn same_person(one: &str, other: &str) -> bool {
    one.trim().to_lowercase() == other.trim().to_lowercase()
}

/// Approves a payout that requires it, if the company may pay.
pub(crate) fn approve(world: &mut World, payout: &Payout, approver: Option<String>) -> Result<()> {
    may_pay(world, &*world.get(payout.company_id)?)?;
    let status = step("queue", "the payout", payout.id, payout.status)?;
    let mut payout = payout.clone();
    let leaves = departure(world, payout.company_id, payout.rail);
    payout.estimated_arrival =
        Some(arrival(world, payout.company_id, (payout.payment_rail, payout.rail), leaves));
    let reason = approver.as_ref().map(|approver| format!("by {approver}"));
    payout.approver = approver.map(Arc::from);
    payout.enter_because(status, world.now(), reason);
    let payout = world.record("payout.approved", payout);
    queue(world, &payout);
    Ok(())
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct CancelPayout {
    /// The payout.
    payout_id: Id<Payout>,
    /// The reason, for the status history.
    reason: Option<Text<500>>,
}

fn cancel_payout(world: &mut World, input: CancelPayout) -> Result<Single<Payout>> {
    let payout = world.get(input.payout_id)?;
    step("cancel", "the payout", payout.id, payout.status)?;
    let instead = match payout.pays() {
        Pays::Vendor => None,
        Pays::Wages => Some("this payout pays wages: cancel the payroll run instead"),
        Pays::Escrow => Some("this payout was released from an escrow and cannot be cancelled"),
    };
    if let Some(detail) = instead {
        return Err(refused(payout.id, payout.status, detail.to_owned()));
    }
    may_come_back(world, &payout, PayoutStatus::Cancelled)?;
    cancel(world, payout.id, input.reason.map(Text::into_string));
    show(world, payout.id)
}

/// Refuses a payout's end that returns more to its wallet than the wallet can hold. Wages return to their run.
pub(crate) fn may_come_back(world: &World, payout: &Payout, to: PayoutStatus) -> Result<()> {
    let fee = match (payout.pays(), to) {
        (Pays::Vendor | Pays::Escrow, PayoutStatus::Cancelled | PayoutStatus::Failed) => payout.fee,
        (Pays::Vendor | Pays::Escrow, PayoutStatus::Returned) => None,
        _ => return Ok(()),
    };
    let back = payout.amount + fee.unwrap_or_default();
    room(world, &*world.get(payout.wallet_id)?, back)
}

/// Cancels a payout to a vendor before it is sent.
pub(crate) fn cancel(world: &mut World, id: Id<Payout>, reason: Option<String>) {
    let found = "its status was already checked";
    let mut payout = (*world.find(id).expect(found)).clone();
    let before = payout.status;
    payout.estimated_arrival = None;
    payout.enter_because(PayoutStatus::Cancelled, world.now(), reason);
    let payout = world.stage(payout);
    let wages = Wages::of(world, &payout);
    if let Some(back) = posting::back(&payout, before, Wages::payable(wages.as_ref())) {
        world.post(payout.company_id, back);
    }
    refunded(world, &payout);
    world.emit("payout.cancelled", &payout);
    credited(world, &payout);
}
