//! Verifications: cases that are opened, submitted, reviewed by a caller, and cancelled. The
//! bureau's answers are in `verification_clock`.

use crate::api::identity::verification_clock;
use crate::api::identity::verification_clock::{CaseOutcome, SUBMISSION_PERIOD};
use crate::api::identity::verification_submit::submit_verification;
use crate::api::prelude::*;
use crate::model::identity::verification::CaseCheck;
use crate::model::identity::{
    CaseCheckName, CaseCheckStatus, CaseStatus, Level, RejectLabel, Subject, SubjectType,
    Verification, VerificationType, levels,
};

pub(crate) const OPERATIONS: &[Operation] = &Domain::Identity.table([
    Operation {
        path: "/api/identity/verifications",
        summary: "List verifications",
        description: "Lists verification cases in creation order.",
        ..operation!(read list_verifications)
    },
    Operation {
        path: "/api/identity/verifications",
        summary: "Open a verification",
        description: "Opens a case: `kyc` for a person, `kyb` for a business. The level determines \
            the checks and the required documents. The case expires if it is not submitted within \
            24 hours. A subject can have one open case at a time.",
        example: r#"{"subject_id":"@subject:1","type":"kyb","level":"basic"}"#,
        success: 201,
        errors: &[ErrorCode::InvalidStateTransition],
        emits: &["verification.created"],
        starts: &[TaskKind::ExpireCase],
        ..operation!(write create_verification)
    },
    Operation {
        path: "/api/identity/verifications/{verification_id}",
        summary: "Read a verification",
        description: "Returns a case with each check, the result, and the reasons for a rejection.",
        ..operation!(get get_verification: Verification)
    },
    Operation {
        path: "/api/identity/verifications/{verification_id}/submit",
        summary: "Submit a verification",
        description: "Submits the case to the bureau, with the documents that its level requires. \
            The answer arrives after 2 seconds, or after 60 if there are documents. Approval of a \
            business makes its `pending` company `active` and resolves its \
            `business_verification`. A watchlist hit sends the case into review.",
        example: r#"{"consent":true}"#,
        success: 202,
        errors: &[ErrorCode::InvalidStateTransition],
        emits: &["verification.submitted", "aml_screening.created", "subject.updated"],
        starts: &[TaskKind::AnswerCase, TaskKind::ExpireCase, TaskKind::CompleteScreening],
        ..operation!(write submit_verification)
    },
    Operation {
        path: "/api/identity/verifications/{verification_id}/review",
        summary: "Review a verification",
        description: "Decides a case that is `in_review`. Without a decision, the bureau decides \
            after 24 hours: it approves, or declines if an alert about the subject is not \
            dismissed.",
        example: r#"{"decision":"approve","note":"The papers are in order"}"#,
        errors: &[ErrorCode::InvalidStateTransition],
        emits: verification_clock::CONCLUDES,
        starts: &[TaskKind::ExpireCase],
        ..operation!(write review_verification)
    },
    Operation {
        path: "/api/identity/verifications/{verification_id}/cancel",
        summary: "Cancel a verification",
        description: "Cancels a case that the bureau is not processing. The subject gets its \
            previous status.",
        example: r#"{"reason":"The customer left"}"#,
        errors: &[ErrorCode::InvalidStateTransition],
        emits: &["verification.cancelled", "subject.updated"],
        ..operation!(write cancel_verification)
    },
]);

list! {
    fn list_verifications(ListVerifications) -> Verification, of subject_id;
    filter
        subject_id: Id<Subject>,
        company_id: Id<Company>,
        status: CaseStatus,
        kind as "type": VerificationType;
    sort created_at, updated_at;
}

/// A new case.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct CreateVerification {
    /// The subject that is verified.
    subject_id: Id<Subject>,
    /// `kyc` for a person, `kyb` for a business.
    #[serde(rename = "type")]
    kind: VerificationType,
    /// The verification level.
    level: Level,
    /// Checks in addition to those of the level, each at most once.
    #[schemars(length(max = 6), extend("uniqueItems" = true))]
    checks: Option<Vec<CaseCheckName>>,
    /// Key-value pairs set by the caller.
    metadata: Option<Metadata>,
}

fn create_verification(
    world: &mut World,
    input: CreateVerification,
) -> Result<Single<Verification>> {
    let subject = existing(world, input.subject_id, "/subject_id")?;
    let wanted = input.checks.unwrap_or_default();
    let wrong = unfit(&subject, input.kind, &wanted);
    ApiError::if_any(wrong)?;
    if let Some(open) = open_case(world, subject.id) {
        let detail = format!("{} is open: submit or cancel it", open.id);
        return Err(refused(open.id, open.status, detail));
    }
    let mut names = levels::row(input.kind, input.level).checks.clone();
    let more = wanted.iter().filter(|name| !names.contains(name));
    names.extend(more.copied().collect::<Vec<_>>());
    names.sort_unstable();
    let checks = names.into_iter().map(|name| CaseCheck { name, status: CaseCheckStatus::Pending });
    let now = world.now();
    let expires_at = now.plus(SUBMISSION_PERIOD);
    let case = Verification {
        id: world.next_id(subject.id.bits()),
        object: Object::NAME,
        company_id: subject.company_id,
        subject_id: subject.id,
        kind: input.kind,
        level: input.level,
        status: CaseStatus::Created,
        checks: checks.collect(),
        document_ids: Vec::new(),
        result: None,
        reject_labels: Vec::new(),
        reject_type: None,
        note: None,
        submissions: 0,
        expires_at: Some(expires_at),
        submitted_at: None,
        created_at: now,
        updated_at: now,
        metadata: input.metadata.unwrap_or_default(),
        status_history: [StatusChange::plain(CaseStatus::Created, now)].into(),
    };
    let case = world.record("verification.created", case);
    world.remind_at(expires_at, Task::ExpireCase(case.id));
    Ok(Data(Shown(case)))
}

/// The violations of the input for the type of subject.
fn unfit(subject: &Subject, kind: VerificationType, checks: &[CaseCheckName]) -> Vec<Violation> {
    let mut wrong = Vec::new();
    let fits = match subject.kind {
        SubjectType::Person => VerificationType::Kyc,
        SubjectType::Business => VerificationType::Kyb,
    };
    if fits != kind {
        let detail = "expected kyc for a person, kyb for a business";
        wrong.push(Violation::new("/type", "subject_type", detail));
        return wrong;
    }
    let made = &levels::row(kind, Level::Enhanced).checks;
    for (place, _) in (0..).zip(checks).filter(|(_, name)| !made.contains(name)) {
        let detail = "this type of verification does not have this check";
        let pointer = format!("/checks/{place}");
        wrong.push(Violation::new(pointer, "subject_type", detail));
    }
    wrong
}

/// The subject's case that has not ended.
pub(crate) fn open_case(world: &World, subject: Id<Subject>) -> Option<Arc<Verification>> {
    let latest = world.children::<Verification>(subject.bits()).next_back();
    latest.and_then(|id| world.find(id)).filter(|case| case.status.is_open())
}

/// The reviewer's decision about a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ReviewDecision {
    Approve,
    Decline,
    RequestResubmission,
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct ReviewVerification {
    /// The case.
    verification_id: Id<Verification>,
    /// Whether to approve or decline the case, or to request another submission.
    decision: ReviewDecision,
    /// Reasons for a rejection, each at most once. Default: `manual_decline`. Not allowed for an approval.
    #[schemars(length(max = 6), extend("uniqueItems" = true))]
    reject_labels: Option<Vec<RejectLabel>>,
    /// The reviewer's note.
    note: Option<Text<500>>,
}

fn review_verification(
    world: &mut World,
    input: ReviewVerification,
) -> Result<Single<Verification>> {
    let case = world.get(input.verification_id)?;
    let verb = match input.decision {
        ReviewDecision::Approve => "approve",
        ReviewDecision::Decline => "decline",
        ReviewDecision::RequestResubmission => "request_resubmission",
    };
    // The lifecycle allows these verbs from processing, too, but only for the bureau.
    if case.status != CaseStatus::InReview {
        let detail = format!("the verification is {}: it must be in_review", case.status.name());
        return Err(refused(case.id, case.status, detail));
    }
    let to = step(verb, "the verification", case.id, case.status)?;
    let labels = input.reject_labels.unwrap_or_default();
    if to == CaseStatus::Approved && !labels.is_empty() {
        let detail = "reject_labels is not allowed for an approval";
        return Err(ApiError::of_member("/reject_labels", "unexpected", detail));
    }
    let note = input.note.map(Text::into_string);
    decide(world, &case, to, labels, note);
    show(world, input.verification_id)
}

/// Decides a case by hand.
pub(crate) fn decide(
    world: &mut World,
    case: &Verification,
    to: CaseStatus,
    labels: Vec<RejectLabel>,
    note: Option<String>,
) {
    let labels = match (to, labels.is_empty()) {
        (CaseStatus::Approved, _) => Vec::new(),
        (_, true) => vec![RejectLabel::ManualDecline],
        (_, false) => labels,
    };
    let outcome = CaseOutcome { to, labels, note };
    verification_clock::conclude(world, case, outcome);
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct CancelVerification {
    /// The case.
    verification_id: Id<Verification>,
    /// The reason, stored in `status_history`.
    reason: Option<Text<500>>,
}

fn cancel_verification(
    world: &mut World,
    input: CancelVerification,
) -> Result<Single<Verification>> {
    let case = world.get(input.verification_id)?;
    step("cancel", "the verification", case.id, case.status)?;
    let reason = input.reason.map(Text::into_string);
    cancel(world, &case, reason);
    show(world, input.verification_id)
}

pub(crate) fn cancel(world: &mut World, case: &Verification, reason: Option<String>) {
    verification_clock::end(world, case, CaseStatus::Cancelled, reason);
}
