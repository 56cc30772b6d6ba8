//! Manual transitions of documents, cases, screenings, alerts and trust scores.

use crate::api::control::hand_move::{Wanted, answer_now, run_now, run_waiting, take, target};
use crate::api::identity::{alerts, documents, screenings, verification_clock, verifications};
use crate::api::prelude::*;
use crate::model::identity::{
    AmlAlert, AmlScreening, BureauAnswer, CaseStatus, Document, DocumentFault, DocumentStatus,
    ListAnswer, ScreeningStatus, Verification,
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
        (_, DocumentStatus::Rejected) => {
            document.examined(world.today()).or(Some(DocumentFault::Unreadable))
        }
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
    let answer = match to {
        CaseStatus::Cancelled => {
            verifications::cancel(world, &case, wanted.reason);
            return Ok(());
        }
        CaseStatus::Expired => {
            verification_clock::end(world, &case, to, wanted.reason);
            return Ok(());
        }
        _ if case.status == CaseStatus::InReview => {
            verifications::decide(world, &case, to, Vec::new(), wanted.reason);
            return Ok(());
        }
        CaseStatus::Approved => BureauAnswer::Approved,
        CaseStatus::ResubmissionRequested => BureauAnswer::ResubmissionRequested,
        CaseStatus::Declined => BureauAnswer::Declined,
        CaseStatus::InReview => BureauAnswer::InReview,
        CaseStatus::Created | CaseStatus::Processing => unreachable!("a call leads there"),
    };
    // The bureau waits for the documents and the watchlists.
    for document in &case.document_ids {
        run_waiting(world, TaskKind::ExamineDocument, AnyId::of(*document));
    }
    if let Some(screening) = screenings::of_case(world, &case) {
        run_waiting(world, TaskKind::CompleteScreening, AnyId::of(screening.id));
    }
    let answer = match take(world, Task::AnswerCase(id, answer)) {
        Some(Task::AnswerCase(_, waiting))
            if verification_clock::state_by(world, &case, waiting) == to =>
        {
            waiting
        }
        Some(_) => {
            world.forget_decision();
            answer
        }
        None => answer,
    };
    verification_clock::answer_because(world, &case, answer, wanted.reason);
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
    answer_now(world, Task::CompleteScreening(id, answer), |world, waiting| {
        let hits = |answer| screenings::hits(world, &screening, answer);
        matches!(waiting, Task::CompleteScreening(_, answer)
            if hits(answer) == (to == ScreeningStatus::NeedsReview))
    });
    Ok(())
}

/// The alert is resolved now.
pub(super) fn alert(world: &mut World, id: Id<AmlAlert>, to: &str, wanted: Wanted) -> Result<()> {
    let alert = world.get(id)?;
    let to = target(AnyId::of(id), alert.status, to, |_| true)?;
    alerts::resolve(world, &alert, to, wanted.reason);
    Ok(())
}
