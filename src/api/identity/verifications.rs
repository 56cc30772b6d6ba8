//! Verifications: cases, opened, submitted, reviewed by hand, cancelled. What the bureau makes of them is `verification_clock`.

use crate::api::identity::verification_clock::{self, CaseOutcome};
use crate::api::identity::verification_submit::submit_verification;
use crate::api::prelude::*;
use crate::model::identity::verification::CaseCheck;
use crate::model::identity::{
    CaseCheckName, CaseCheckStatus, CaseStatus, Level, RejectLabel, Subject, SubjectType,
    Verification, VerificationType, levels,
};
use crate::model::{Object, State, refused, step};

/// How long a case waits to be submitted.
pub(crate) const PATIENCE: Span = Span::seconds(24 * 60 * 60);

pub(crate) const OPERATIONS: &[Operation] = &[
    Operation {
        method: Method::Get,
        path: "/api/identity/verifications",
        domain: Domain::Identity,
        contract: Contract::Assumed,
        summary: "List verifications",
        description: "Every case, in creation order.",
        ..operation!(read list_verifications)
    },
    Operation {
        method: Method::Post,
        path: "/api/identity/verifications",
        domain: Domain::Identity,
        contract: Contract::Assumed,
        summary: "Open a verification",
        description: "`kyc` of a person, `kyb` of a business; its level says which checks are made and which documents are needed. It \
            expires after 24 hours unless it is submitted. A subject has one open case at a time.",
        example: r#"{"subject_id":"@subject:1","type":"kyb","level":"basic"}"#,
        success: 201,
        errors: &[ErrorCode::InvalidStateTransition],
        emits: &["verification.created"],
        starts: &["expire_case"],
        ..operation!(write create_verification)
    },
    Operation {
        method: Method::Get,
        path: "/api/identity/verifications/{verification_id}",
        domain: Domain::Identity,
        contract: Contract::Assumed,
        summary: "Read a verification",
        description: "Each check, what the case came to, and why not if so.",
        ..operation!(read get_verification)
    },
    Operation {
        method: Method::Post,
        path: "/api/identity/verifications/{verification_id}/submit",
        domain: Domain::Identity,
        contract: Contract::Assumed,
        summary: "Submit a verification",
        description: "Sends it to the bureau, with the documents that its level asks for. The answer comes after 2 seconds, after 60 \
            where documents are looked at. Approval of a business makes its `pending` company `active` and resolves its \
            `business_verification`. A list that has the subject sends the case into review.",
        example: r#"{"consent":true}"#,
        success: 202,
        errors: &[ErrorCode::InvalidStateTransition],
        emits: &["verification.submitted", "aml_screening.created"],
        starts: &["answer_case", "expire_case", "complete_screening"],
        ..operation!(write submit_verification)
    },
    Operation {
        method: Method::Post,
        path: "/api/identity/verifications/{verification_id}/review",
        domain: Domain::Identity,
        contract: Contract::Assumed,
        summary: "Review a verification",
        description: "Decides a case that is `in_review` by hand. What nobody decides the bureau does after 24 hours: it approves, and \
            declines where an alert about the subject is not dismissed.",
        example: r#"{"decision":"approve","note":"The papers are in order"}"#,
        errors: &[ErrorCode::InvalidStateTransition],
        emits: verification_clock::CONCLUDES,
        starts: &["expire_case"],
        ..operation!(write review_verification)
    },
    Operation {
        method: Method::Post,
        path: "/api/identity/verifications/{verification_id}/cancel",
        domain: Domain::Identity,
        contract: Contract::Assumed,
        summary: "Cancel a verification",
        description: "Abandons a case that the bureau is not busy with. The subject is what it was before.",
        example: r#"{"reason":"The customer left"}"#,
        errors: &[ErrorCode::InvalidStateTransition],
        emits: &["verification.cancelled"],
        ..operation!(write cancel_verification)
    },
];

#[derive(Deserialize, JsonSchema)]
pub(crate) struct ListVerifications {
    #[serde(flatten)]
    paging: Paging,
    sort: Option<Sort<Verification>>,
    /// Only those of that subject.
    subject_id: Option<Id<Subject>>,
    /// Only those that stand there.
    status: Option<CaseStatus>,
    /// Only those of people, or of businesses.
    #[serde(rename = "type")]
    kind: Option<VerificationType>,
}

impl Sortable for Verification {
    const KEYS: &'static [(&'static str, fn(&Self) -> SortKey)] = &[
        ("created_at", |case| SortKey::Number(case.created_at.millis())),
        ("updated_at", |case| SortKey::Number(case.updated_at.millis())),
    ];
}

fn list_verifications(
    world: &World,
    input: ListVerifications,
) -> Result<List<Shown<Verification>>, ApiError> {
    let none = |_| None;
    let candidates = match input.subject_id {
        Some(subject) => Candidates::new(0, none, world.children(subject.bits())),
        None => Candidates::new(0, none, world.created()),
    };
    if input.status.is_none() && input.kind.is_none() {
        return candidates.page(world, input.paging, input.sort.as_ref());
    }
    let keep = |case: &Verification| {
        is(input.status.as_ref(), &case.status) && is(input.kind.as_ref(), &case.kind)
    };
    candidates.page_where(world, input.paging, input.sort.as_ref(), keep)
}

/// What a caller may say about a new case.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct CreateVerification {
    /// Who is verified.
    subject_id: Id<Subject>,
    /// `kyc` of a person, `kyb` of a business.
    #[serde(rename = "type")]
    kind: VerificationType,
    /// How thorough it is.
    level: Level,
    /// Checks to make beyond those of the level, each once.
    #[schemars(length(max = 6), extend("uniqueItems" = true))]
    checks: Option<Vec<CaseCheckName>>,
    /// The caller's own pairs.
    metadata: Option<Metadata>,
}

fn create_verification(
    world: &mut World,
    input: CreateVerification,
) -> Result<Data<Shown<Verification>>, ApiError> {
    let subject = world.get(input.subject_id).map_err(|error| {
        let detail = "no subject of this key's world has this id";
        error.with_errors(vec![Violation::new("/subject_id", "not_found", detail)])
    })?;
    let wanted = input.checks.unwrap_or_default();
    let wrong = unfit(&subject, input.kind, &wanted);
    if !wrong.is_empty() {
        return Err(ApiError::invalid(wrong));
    }
    if let Some(open) = open_case(world, subject.id) {
        let detail = format!("{} is open: submit it, or cancel it", open.id);
        return Err(refused(open.id, open.status, detail));
    }
    let mut names = levels::row(input.kind, input.level).checks.clone();
    let more = wanted.iter().filter(|name| !names.contains(name));
    names.extend(more.copied().collect::<Vec<_>>());
    names.sort_unstable();
    let checks = names.into_iter().map(|name| CaseCheck { name, status: CaseCheckStatus::Pending });
    let now = world.now();
    let expires_at = now.plus(PATIENCE);
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
        status_history: vec![StatusChange::plain(CaseStatus::Created, now)],
    };
    let case = world.record("verification.created", case);
    world.remind_at(expires_at, Task::ExpireCase(case.id));
    Ok(Data(Shown(case)))
}

/// What does not go with that kind of subject.
fn unfit(subject: &Subject, kind: VerificationType, checks: &[CaseCheckName]) -> Vec<Violation> {
    let mut wrong = Vec::new();
    let fits = match subject.kind {
        SubjectType::Person => VerificationType::Kyc,
        SubjectType::Business => VerificationType::Kyb,
    };
    if fits != kind {
        let detail = "expected kyc of a person, kyb of a business";
        wrong.push(Violation::new("/type", "subject_type", detail));
        return wrong;
    }
    let made = &levels::row(kind, Level::Enhanced).checks;
    for (place, _) in (0..).zip(checks).filter(|(_, name)| !made.contains(name)) {
        let detail = "this kind of verification has no such check";
        let pointer = format!("/checks/{place}");
        wrong.push(Violation::new(pointer, "subject_type", detail));
    }
    wrong
}

/// The subject's case of which something is still to come.
pub(crate) fn open_case(world: &World, subject: Id<Subject>) -> Option<Arc<Verification>> {
    let latest = world.children::<Verification>(subject.bits()).next_back();
    latest.and_then(|id| world.find(id)).filter(|case| case.status.is_open())
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct OneVerificationCase {
    /// The case.
    verification_id: Id<Verification>,
}

fn get_verification(
    world: &World,
    input: OneVerificationCase,
) -> Result<Data<Shown<Verification>>, ApiError> {
    show(world, input.verification_id)
}

/// What whoever reviews a case makes of it.
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
    /// What is made of it.
    decision: ReviewDecision,
    /// Why not, each once; `manual_decline` if absent. Not of an approval.
    #[schemars(length(max = 6), extend("uniqueItems" = true))]
    reject_labels: Option<Vec<RejectLabel>>,
    /// What the reviewer says.
    note: Option<Text<500>>,
}

fn review_verification(
    world: &mut World,
    input: ReviewVerification,
) -> Result<Data<Shown<Verification>>, ApiError> {
    let case = world.get(input.verification_id)?;
    let verb = match input.decision {
        ReviewDecision::Approve => "approve",
        ReviewDecision::Decline => "decline",
        ReviewDecision::RequestResubmission => "request_resubmission",
    };
    // The bureau's own rows of these verbs begin at processing, which no hand decides.
    if case.status != CaseStatus::InReview {
        let detail =
            format!("the verification is {}: it would have to be in_review", case.status.name());
        return Err(refused(case.id, case.status, detail));
    }
    let to = step(verb, "the verification", case.id, case.status)?;
    let labels = input.reject_labels.unwrap_or_default();
    if to == CaseStatus::Approved && !labels.is_empty() {
        let detail = "an approval has no labels";
        return Err(ApiError::of_member("/reject_labels", "unexpected", detail));
    }
    let note = input.note.map(Text::into_string);
    decide(world, &case, to, labels, note);
    show(world, input.verification_id)
}

/// Somebody decides a case by hand.
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
    /// Why.
    reason: Option<Text<500>>,
}

fn cancel_verification(
    world: &mut World,
    input: CancelVerification,
) -> Result<Data<Shown<Verification>>, ApiError> {
    let case = world.get(input.verification_id)?;
    step("cancel", "the verification", case.id, case.status)?;
    let reason = input.reason.map(Text::into_string);
    cancel(world, &case, reason);
    show(world, input.verification_id)
}

/// A case is abandoned.
pub(crate) fn cancel(world: &mut World, case: &Verification, reason: Option<String>) {
    verification_clock::end(world, case, CaseStatus::Cancelled, reason);
}
