//! Transitions by hand of documents, cases, screenings, alerts and trust scores.

use crate::api::control::transitions::{Wanted, target};
use crate::api::identity::verification_clock::CaseOutcome;
use crate::api::identity::{
    alerts, documents, screenings, trust_scores, verification_clock, verifications,
};
use crate::api::prelude::*;
use crate::model::identity::{
    AmlAlert, AmlScreening, CaseStatus, Document, DocumentFault, DocumentStatus, ListAnswer,
    RejectLabel, ScreeningStatus, TrustScore, Verification,
};

/// The document is examined now, or its last day passes now.
pub(super) fn document(world: &mut World, id: Id<Document>, to: &str) -> Result<(), ApiError> {
    let document = world.get(id)?;
    let to = target(AnyId::of(id), document.status, to, |_| true)?;
    let fault = match (document.status, to) {
        (_, DocumentStatus::Accepted) => None,
        (DocumentStatus::Accepted, _) => Some(DocumentFault::Expired),
        _ => Some(DocumentFault::Unreadable),
    };
    let examined = Task::ExamineDocument(id);
    world.drop_timers(|task| task == examined);
    documents::conclude(world, &document, fault);
    Ok(())
}

/// The bureau answers now, or the case is given up.
pub(super) fn case(
    world: &mut World,
    id: Id<Verification>,
    to: &str,
    wanted: Wanted,
) -> Result<(), ApiError> {
    let case = world.get(id)?;
    // Only a submission, which requires consent, starts the bureau.
    let by_hand = |state| state != CaseStatus::Processing;
    let to = target(AnyId::of(id), case.status, to, by_hand)?;
    match to {
        CaseStatus::Cancelled => verifications::cancel(world, &case, wanted.reason),
        CaseStatus::Expired => verification_clock::end(world, &case, to, wanted.reason),
        _ => {
            let label = match to {
                CaseStatus::Approved => None,
                CaseStatus::ResubmissionRequested => Some(RejectLabel::DocumentUnreadable),
                _ => Some(RejectLabel::DataMismatch),
            };
            let outcome =
                CaseOutcome { to, labels: label.into_iter().collect(), note: wanted.reason };
            verification_clock::conclude(world, &case, outcome);
        }
    }
    Ok(())
}

/// The provider replies now. The decision about a hit is made on its alert.
pub(super) fn screening(world: &mut World, id: Id<AmlScreening>, to: &str) -> Result<(), ApiError> {
    let screening = world.get(id)?;
    let asked = screening.status == ScreeningStatus::Processing;
    let to = target(AnyId::of(id), screening.status, to, |_| asked)?;
    world.forget_timers(AnyId::of(id));
    let answer = match to {
        ScreeningStatus::Clear => ListAnswer::Clear,
        _ => ListAnswer::Sanctioned,
    };
    screenings::complete(world, id, answer);
    Ok(())
}

/// The alert is resolved now.
pub(super) fn alert(
    world: &mut World,
    id: Id<AmlAlert>,
    to: &str,
    wanted: Wanted,
) -> Result<(), ApiError> {
    let alert = world.get(id)?;
    let to = target(AnyId::of(id), alert.status, to, |_| true)?;
    alerts::resolve(world, &alert, to, wanted.reason);
    Ok(())
}

/// The score is calculated now.
pub(super) fn trust(world: &mut World, id: Id<TrustScore>, to: &str) -> Result<(), ApiError> {
    let score = world.get(id)?;
    target(AnyId::of(id), score.status, to, |_| true)?;
    world.forget_timers(AnyId::of(id));
    trust_scores::complete(world, id);
    Ok(())
}
