//! Manual transitions of documents, cases, screenings, alerts and trust scores.

use crate::api::control::hand_move::{Wanted, run_now, take, target};
use crate::api::identity::verification_clock::CaseOutcome;
use crate::api::identity::{alerts, documents, verification_clock, verifications};
use crate::api::prelude::*;
use crate::model::identity::{
    AmlAlert, AmlScreening, CaseStatus, Document, DocumentFault, DocumentStatus, ListAnswer,
    RejectLabel, ScreeningStatus, Verification,
};

/// The document is examined now, or its last day passes now.
pub(super) fn document(world: &mut World, id: Id<Document>, to: &str) -> Result<()> {
    let document = world.get(id)?;
    let to = target(AnyId::of(id), document.status, to, |_| true)?;
    let fault = match (document.status, to) {
        (DocumentStatus::Accepted, DocumentStatus::Rejected) => {
            run_now(world, Task::ExpireDocument(id));
            return Ok(());
        }
        (_, DocumentStatus::Accepted) => None,
        (_, DocumentStatus::Rejected) => Some(DocumentFault::Unreadable),
        (_, DocumentStatus::Received) => unreachable!("no transition leads to the first state"),
    };
    take(world, Task::ExamineDocument(id));
    documents::conclude(world, &document, fault);
    Ok(())
}

/// The bureau answers now, or the case is given up.
pub(super) fn case(
    world: &mut World,
    id: Id<Verification>,
    to: &str,
    wanted: Wanted,
) -> Result<()> {
    let case = world.get(id)?;
    // Only a submission, which requires consent, starts the bureau.
    let by_hand = |state| state != CaseStatus::Processing;
    let to = target(AnyId::of(id), case.status, to, by_hand)?;
    let label = match to {
        CaseStatus::Cancelled => {
            verifications::cancel(world, &case, wanted.reason);
            return Ok(());
        }
        CaseStatus::Expired => {
            verification_clock::end(world, &case, to, wanted.reason);
            return Ok(());
        }
        CaseStatus::Approved => None,
        CaseStatus::ResubmissionRequested => Some(RejectLabel::DocumentUnreadable),
        CaseStatus::Declined | CaseStatus::InReview => Some(RejectLabel::DataMismatch),
        CaseStatus::Created | CaseStatus::Processing => unreachable!("a call leads there"),
    };
    if case.status == CaseStatus::InReview {
        verifications::decide(world, &case, to, Vec::new(), wanted.reason);
        return Ok(());
    }
    let outcome = CaseOutcome { to, labels: label.into_iter().collect(), note: wanted.reason };
    verification_clock::conclude(world, &case, outcome);
    Ok(())
}

/// The provider replies now. The decision about a hit is made on its alert.
pub(super) fn screening(world: &mut World, id: Id<AmlScreening>, to: &str) -> Result<()> {
    let screening = world.get(id)?;
    let asked = screening.status == ScreeningStatus::Processing;
    let to = target(AnyId::of(id), screening.status, to, |_| asked)?;
    let answer = match to {
        ScreeningStatus::Clear => ListAnswer::Clear,
        ScreeningStatus::NeedsReview => ListAnswer::Sanctioned,
        ScreeningStatus::Processing | ScreeningStatus::ConfirmedMatch => {
            unreachable!("no transition leads there from processing")
        }
    };
    run_now(world, Task::CompleteScreening(id, answer));
    Ok(())
}

/// The alert is resolved now.
pub(super) fn alert(world: &mut World, id: Id<AmlAlert>, to: &str, wanted: Wanted) -> Result<()> {
    let alert = world.get(id)?;
    let to = target(AnyId::of(id), alert.status, to, |_| true)?;
    alerts::resolve(world, &alert, to, wanted.reason);
    Ok(())
}
