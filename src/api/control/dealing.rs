//! Manual transitions of deals, due diligence cases and their requests. The next step of the company, the reviewer or
//! the investor happens now, and no requirement is checked. So a test of the last stage does not need all earlier
//! ones.

use crate::api::capital::due_diligence::requests_of;
use crate::api::capital::{deal_verbs, due_diligence_answers};
use crate::api::control::hand_move::{Wanted, refused, run_now, target};
use crate::api::prelude::*;
use crate::model::capital::{
    CaseStatus, Deal, DealStatus, DueDiligenceCase, DueDiligenceRequest, RequestStatus,
};

/// Moves to the next stage or to an end. A deal that is won by manual transition pays its target amount.
pub(super) fn deal(world: &mut World, id: Id<Deal>, to: &str, wanted: Wanted) -> Result<()> {
    let deal = world.get(id)?;
    let next = deal.stage.next();
    if deal.status == DealStatus::Open
        && let Some(stage) = next.filter(|stage| stage.name() == to)
    {
        deal_verbs::advance(world, &deal, stage, wanted.reason);
        return Ok(());
    }
    // A deal has two lifecycles, so a refusal lists the states that either allows.
    let by_hand = |status| status != DealStatus::Won || next.is_none();
    let ended = target(AnyId::of(id), deal.status, to, by_hand).map_err(|error| {
        let open = next.filter(|_| deal.status == DealStatus::Open);
        let stage = open.map(State::name);
        let allowed = stage.into_iter().chain(error.allowed.unwrap_or_default());
        let (status, at) = (deal.status.name(), deal.stage.name());
        let detail = format!(
            "{id} has the status {status} and the stage {at}; it cannot become \
            {to:?}"
        );
        refused(AnyId::of(id), status, allowed.collect(), detail)
    })?;
    match ended {
        DealStatus::Won => deal_verbs::win(world, &deal, deal.target_amount, wanted.reason)?,
        DealStatus::Lost | DealStatus::Withdrawn => {
            deal_verbs::end(world, &deal, ended, wanted.reason)
        }
        DealStatus::Open => unreachable!("no transition leads to the first state"),
    };
    Ok(())
}

/// Waives all open mandatory requests.
pub(super) fn case(
    world: &mut World,
    id: Id<DueDiligenceCase>,
    to: &str,
    wanted: &Wanted,
) -> Result<()> {
    let case = world.get(id)?;
    target(AnyId::of(id), case.status, to, |at| at == CaseStatus::Completed)?;
    for request in requests_of(world, id) {
        if request.mandatory && !request.status.is_settled() {
            let (waived, why) = (RequestStatus::Waived, wanted.reason.clone());
            due_diligence_answers::conclude(world, request.id, waived, why);
        }
    }
    Ok(())
}

/// The reviewer starts or decides the review now. Only the company can answer a request.
pub(super) fn request(
    world: &mut World,
    id: Id<DueDiligenceRequest>,
    to: &str,
    wanted: Wanted,
) -> Result<()> {
    let before = world.get(id)?.status;
    let to: RequestStatus = target(AnyId::of(id), before, to, |at| at != RequestStatus::Submitted)?;
    match to {
        RequestStatus::InReview => run_now(world, Task::TakeUpRequest(id)),
        RequestStatus::Accepted | RequestStatus::Rejected | RequestStatus::Waived => {
            due_diligence_answers::conclude(world, id, to, wanted.reason);
        }
        RequestStatus::Requested | RequestStatus::Submitted => {
            unreachable!("the company leads there")
        }
    }
    Ok(())
}
