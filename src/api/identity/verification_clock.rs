//! The bureau's answer to a submitted case, and its effects on the subject and its company.
//!
//! The bureau's decision is made at submission. The simulator's own state has priority over it: a forged document is a fact.

use crate::api::business::compliance;
use crate::api::business::payroll_clock::get;
use crate::api::identity::screenings::{self, SCREENING};
use crate::api::identity::{alert_facts, documents, subjects};
use crate::api::prelude::*;
use crate::model::business::Evidence;
use crate::model::identity::verification::{CaseResult, RejectType};
use crate::model::identity::{
    BureauAnswer, CaseCheckName, CaseCheckStatus, CaseStatus, DocumentFault, KycStatus,
    RejectLabel, ScreeningStatus, Subject, Verification, VerificationType,
};

/// The events of a bureau's answer.
pub(crate) const ANSWERED: &[&str] = &[
    "document.accepted",
    "document.rejected",
    "subject.updated",
    "verification.approved",
    "verification.declined",
    "verification.in_review",
    "verification.resubmission_requested",
    "compliance_requirement.resolved",
    "company.status_changed",
];

/// The time limit for a manual review.
const REVIEW: Span = Span::seconds(24 * 60 * 60);

/// The time limit for the submission of a case.
pub(crate) const SUBMISSION_PERIOD: Span = Span::seconds(24 * 60 * 60);

/// The events that the end of a case, or its next step, can cause.
pub(crate) const CONCLUDES: &[&str] = &[
    "subject.updated",
    "verification.approved",
    "verification.declined",
    "verification.resubmission_requested",
    "compliance_requirement.resolved",
    "company.status_changed",
];

/// The result of a case, and the reason.
pub(crate) struct CaseOutcome {
    pub(crate) to: CaseStatus,
    pub(crate) labels: Vec<RejectLabel>,
    /// The note of the reviewer or bureau.
    pub(crate) note: Option<String>,
}

impl CaseOutcome {
    fn plain(to: CaseStatus, label: Option<RejectLabel>) -> Self {
        Self { to, labels: label.into_iter().collect(), note: None }
    }
}

pub(crate) fn answer(world: &mut World, id: Id<Verification>, answer: BureauAnswer) {
    let case = get(world, id);
    if case.status != CaseStatus::Processing {
        return; // another step has already done this
    }
    if screening_status(world, &case) == Some(ScreeningStatus::Processing) {
        // The bureau was hurried, or the watchlists delayed: it waits for them.
        return world.settle_after(SCREENING, Task::AnswerCase(id, answer));
    }
    answer_because(world, &case, answer, None);
}

/// The bureau answers, with a note if there is one. It examines the documents first.
pub(crate) fn answer_because(
    world: &mut World,
    case: &Verification,
    answer: BureauAnswer,
    note: Option<String>,
) {
    for id in &case.document_ids {
        documents::examine(world, *id);
        world.drop_timers(Task::ExamineDocument(*id));
    }
    let outcome = outcome_of(world, case, answer);
    conclude(world, case, CaseOutcome { note, ..outcome });
}

fn screening_status(world: &World, case: &Verification) -> Option<ScreeningStatus> {
    screenings::of_case(world, case).map(|screening| screening.status)
}

/// The state that a case whose documents are examined would enter by that answer.
pub(crate) fn state_by(world: &World, case: &Verification, answer: BureauAnswer) -> CaseStatus {
    outcome_of(world, case, answer).to
}

/// The result by that answer, the documents, the screening, and the alerts about the subject.
fn outcome_of(world: &World, case: &Verification, answer: BureauAnswer) -> CaseOutcome {
    let faults = case.document_ids.iter().filter_map(|id| get(world, *id).fault);
    let faults: Vec<DocumentFault> = faults.collect();
    let condemned = alert_facts::condemn(world, case.subject_id);
    outcome(answer, &faults, condemned, screening_status(world, case))
}

fn outcome(
    answer: BureauAnswer,
    faults: &[DocumentFault],
    condemned: bool,
    screening: Option<ScreeningStatus>,
) -> CaseOutcome {
    if condemned {
        return CaseOutcome::plain(CaseStatus::Declined, Some(RejectLabel::WatchlistMatch));
    }
    if faults.contains(&DocumentFault::Forged) {
        return CaseOutcome::plain(CaseStatus::Declined, Some(RejectLabel::DocumentForged));
    }
    if answer == BureauAnswer::Declined {
        return CaseOutcome::plain(CaseStatus::Declined, Some(RejectLabel::DataMismatch));
    }
    if !faults.is_empty() {
        let mut labels: Vec<RejectLabel> = faults.iter().map(|fault| label(*fault)).collect();
        labels.sort_unstable();
        labels.dedup();
        return CaseOutcome {
            labels,
            ..CaseOutcome::plain(CaseStatus::ResubmissionRequested, None)
        };
    }
    if screening == Some(ScreeningStatus::NeedsReview) && answer == BureauAnswer::Approved {
        return CaseOutcome::plain(CaseStatus::InReview, Some(RejectLabel::WatchlistMatch));
    }
    match answer {
        BureauAnswer::ResubmissionRequested => {
            let label = RejectLabel::DocumentUnreadable;
            CaseOutcome::plain(CaseStatus::ResubmissionRequested, Some(label))
        }
        BureauAnswer::InReview => {
            CaseOutcome::plain(CaseStatus::InReview, Some(RejectLabel::DataMismatch))
        }
        BureauAnswer::Approved | BureauAnswer::Declined => {
            CaseOutcome::plain(CaseStatus::Approved, None)
        }
    }
}

const fn label(fault: DocumentFault) -> RejectLabel {
    match fault {
        DocumentFault::Unreadable => RejectLabel::DocumentUnreadable,
        DocumentFault::Expired => RejectLabel::DocumentExpired,
        DocumentFault::Forged => RejectLabel::DocumentForged,
    }
}

/// Moves a case on, with all effects.
pub(crate) fn conclude(world: &mut World, case: &Verification, outcome: CaseOutcome) {
    let now = world.now();
    let mut case = case.clone();
    world.forget_timers(AnyId::of(case.id));
    checked(&mut case, &outcome);
    case.reject_labels = outcome.labels;
    let (event, result, reject_type, subject_status) = match outcome.to {
        CaseStatus::Approved => {
            ("verification.approved", Some(CaseResult::Approved), None, KycStatus::Approved)
        }
        CaseStatus::Declined => (
            "verification.declined",
            Some(CaseResult::Declined),
            Some(RejectType::Final),
            KycStatus::Declined,
        ),
        CaseStatus::InReview => ("verification.in_review", None, None, KycStatus::InReview),
        CaseStatus::ResubmissionRequested => (
            "verification.resubmission_requested",
            None,
            Some(RejectType::Retry),
            KycStatus::Pending,
        ),
        other => unreachable!("a case is not concluded as {}", other.name()),
    };
    case.result = result;
    case.reject_type = reject_type;
    let why = outcome.note.clone();
    if outcome.note.is_some() {
        case.note = outcome.note;
    }
    case.enter_because(outcome.to, now, why);
    let due = match outcome.to {
        CaseStatus::ResubmissionRequested => Some((SUBMISSION_PERIOD, Task::ExpireCase(case.id))),
        CaseStatus::InReview => Some((REVIEW, Task::ReviewCase(case.id))),
        _ => None,
    };
    case.expires_at = match due {
        Some((patience, Task::ExpireCase(_))) => Some(now.plus(patience)),
        _ => None,
    };
    move_subject(world, &case, subject_status);
    let case = world.record(event, case);
    if let Some((patience, task)) = due {
        world.remind_at(now.plus(patience), task);
    }
    if case.status == CaseStatus::Approved && case.kind == VerificationType::Kyb {
        let evidence = Evidence { document_id: None, value: Some(case.id.to_string()) };
        if let Some(company) = case.company_id {
            compliance::admit(world, company, Some(evidence), None);
        }
    }
}

/// Sets the result of each check from the result of the case.
fn checked(case: &mut Verification, outcome: &CaseOutcome) {
    let bad = match outcome.to {
        CaseStatus::Approved => return case.check_all(CaseCheckStatus::Passed),
        CaseStatus::InReview => CaseCheckStatus::Review,
        _ => CaseCheckStatus::Failed,
    };
    case.check_all(CaseCheckStatus::Passed);
    for label in &outcome.labels {
        let name = match label {
            RejectLabel::DocumentUnreadable
            | RejectLabel::DocumentExpired
            | RejectLabel::DocumentForged => CaseCheckName::Document,
            RejectLabel::WatchlistMatch => CaseCheckName::Aml,
            RejectLabel::DataMismatch | RejectLabel::ManualDecline => match case.kind {
                VerificationType::Kyc => CaseCheckName::IdentityData,
                VerificationType::Kyb => CaseCheckName::Registry,
            },
        };
        let name = if case.makes(name) { name } else { case.checks[0].name };
        case.check(name, bad);
    }
}

/// Sets the subject's new status. An approved subject stays approved, at its highest level, until a case declines it.
fn move_subject(world: &mut World, case: &Verification, to: KycStatus) {
    let before = get(world, case.subject_id);
    let mut subject: Subject = (*before).clone();
    let now = world.now();
    if to == KycStatus::Approved {
        let kept = subject.level.filter(|_| subject.status == KycStatus::Approved);
        subject.level = kept.max(Some(case.level));
        subject.updated_at = now;
    }
    let keeps = subject.status == KycStatus::Approved && to != KycStatus::Declined;
    if !keeps && subject.status.may_become(to) {
        subject.enter(to, now);
        if to == KycStatus::Approved && subject.changed {
            subject.outdate(now);
        }
    }
    subjects::update(world, &before, subject);
}

/// Ends a case without a result: the subject gets its previous status.
pub(crate) fn end(world: &mut World, case: &Verification, to: CaseStatus, reason: Option<String>) {
    let now = world.now();
    let mut case = case.clone();
    world.forget_timers(AnyId::of(case.id));
    case.expires_at = None;
    case.enter_because(to, now, reason);
    let subject = get(world, case.subject_id);
    if matches!(subject.status, KycStatus::Pending | KycStatus::InReview) {
        let mut ended = (*subject).clone();
        ended.enter(subject.before_pending(), now);
        subjects::update(world, &subject, ended);
    }
    let event = match to {
        CaseStatus::Expired => "verification.expired",
        _ => "verification.cancelled",
    };
    world.record(event, case);
}

/// A case's time has passed.
pub(crate) fn expire(world: &mut World, id: Id<Verification>) {
    let case = get(world, id);
    if case.status.may_become(CaseStatus::Expired) {
        end(world, &case, CaseStatus::Expired, None);
    }
}

/// There was no manual review for a day: the bureau decides.
pub(crate) fn review(world: &mut World, id: Id<Verification>) {
    let case = get(world, id);
    if case.status != CaseStatus::InReview {
        return; // another step has already done this
    }
    let outcome = if alert_facts::stand(world, case.subject_id) {
        CaseOutcome::plain(CaseStatus::Declined, Some(RejectLabel::WatchlistMatch))
    } else {
        CaseOutcome::plain(CaseStatus::Approved, None)
    };
    let note = Some("not reviewed within a day: the bureau decided".to_owned());
    let outcome = CaseOutcome { note, ..outcome };
    conclude(world, &case, outcome);
}
