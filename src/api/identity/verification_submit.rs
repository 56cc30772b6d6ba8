//! Submitting a case: its requirements, and the time of the bureau's answer.

use crate::api::identity::documents::EXAMINATION;
use crate::api::identity::screenings::{self, SCREENING};
use crate::api::identity::subjects;
use crate::api::identity::verification_clock::SUBMISSION_PERIOD;
use crate::api::prelude::*;
use crate::model::decision::BUREAU_REPLY;
use crate::model::identity::{
    BureauAnswer, CaseCheckName, CaseCheckStatus, Document, DocumentStatus, DocumentType,
    KycStatus, Subject, Verification, levels,
};

/// From a submission without documents to the answer.
const DATA: Span = Span::seconds(2);
/// The processing time of an offline bureau.
const OFFLINE: Span = Span::seconds(6 * 60 * 60);

#[derive(Deserialize, JsonSchema)]
pub(crate) struct SubmitVerification {
    /// The case.
    verification_id: Id<Verification>,
    /// The subject's documents to decide by, up to 20, each at most once.
    #[schemars(length(max = 20), extend("uniqueItems" = true))]
    document_ids: Option<Vec<Id<Document>>>,
    /// The subject's consent; required to be true.
    consent: bool,
}

pub(super) fn submit_verification(
    world: &mut World,
    input: SubmitVerification,
) -> Result<Single<Verification>> {
    let mut case = (*world.get(input.verification_id)?).clone();
    let ids = input.document_ids.unwrap_or_default();
    let documents = documents(world, &ids)?;
    let status = step("submit", "the verification", case.id, case.status)?;
    let mut wrong = unusable(&case, &documents);
    if !input.consent {
        let detail = "the subject's consent is required";
        wrong.push(Violation::new("/consent", "consent", detail));
    }
    wrong.extend(missing(&case, &documents));
    ApiError::if_any(wrong)?;
    let subject = world.get(case.subject_id)?;
    let magic = magic(&subject, &case);
    let now = world.now();
    case.document_ids = ids;
    case.submissions += 1;
    case.submitted_at = Some(now);
    case.expires_at = None;
    case.reject_labels.clear();
    case.reject_type = None;
    case.check_all(CaseCheckStatus::Pending);
    case.enter(status, now);
    world.forget_timers(AnyId::of(case.id));
    // The screening starts before the request to the bureau, because the bureau's answer must not arrive first.
    if case.makes(CaseCheckName::Aml) {
        screenings::begin_for(world, &case);
    }
    let answer = world.decide(&BUREAU_REPLY, AnyId::of(case.id), magic);
    if answer.choice == "expired" {
        case.expires_at = Some(world.after(answer.after.unwrap_or(SUBMISSION_PERIOD), None));
    }
    let begins = subject.status.may_become(KycStatus::Pending);
    if begins || subject.changed {
        let mut pending = (*subject).clone();
        pending.changed = false;
        if begins {
            pending.enter(KycStatus::Pending, now);
        }
        subjects::update(world, &subject, pending);
    }
    let case = world.record("verification.submitted", case);
    ask_bureau(world, &case, answer);
    Ok(Data(Shown(case)))
}

/// Sets the timer for the bureau's answer.
fn ask_bureau(world: &mut World, case: &Verification, answer: DecisionAnswer) {
    if let Some(at) = case.expires_at {
        return world.remind_at(at, Task::ExpireCase(case.id));
    }
    let normal = if !case.document_ids.is_empty() {
        EXAMINATION
    } else if case.makes(CaseCheckName::Aml) {
        SCREENING
    } else {
        DATA
    };
    let named = match answer.choice {
        "offline" => Some(answer.after.unwrap_or(OFFLINE)),
        _ => answer.after,
    };
    let task = Task::AnswerCase(case.id, BureauAnswer::of(answer.choice));
    world.settle_when(normal, named, task);
}

/// The documents named in a submission.
fn documents(world: &World, ids: &[Id<Document>]) -> Result<Vec<Arc<Document>>> {
    let (mut found, mut unknown) = (Vec::new(), Vec::new());
    for (place, id) in (0..).zip(ids) {
        let place: usize = place;
        let detail = "no document with this id exists in this key's world";
        let missing = || Violation::new(format!("/document_ids/{place}"), "not_found", detail);
        match world.find(*id) {
            Some(document) => found.push(document),
            None => unknown.push(missing()),
        }
    }
    if unknown.is_empty() {
        return Ok(found);
    }
    Err(ApiError::not_found("document").with_errors(unknown))
}

/// Documents that cannot be submitted: those of other subjects, and rejected ones that the bureau has already seen in this case.
fn unusable(case: &Verification, documents: &[Arc<Document>]) -> Vec<Violation> {
    let mut wrong = Vec::new();
    for (place, document) in (0..).zip(documents) {
        let place: usize = place;
        let pointer = format!("/document_ids/{place}");
        if document.subject_id != case.subject_id {
            let detail = format!("{} belongs to another subject", document.id);
            wrong.push(Violation::new(pointer, "foreign_document", detail));
        } else if document.status == DocumentStatus::Rejected
            && case.document_ids.contains(&document.id)
        {
            let detail = format!("{} was rejected: add another document", document.id);
            wrong.push(Violation::new(pointer, "document_rejected", detail));
        }
    }
    wrong
}

/// The groups of documents that the level requires and that are missing.
fn missing(case: &Verification, documents: &[Arc<Document>]) -> Vec<Violation> {
    let has = |group: &&Vec<DocumentType>| documents.iter().any(|one| group.contains(&one.kind));
    let groups = levels::row(case.kind, case.level).documents.iter();
    let lacking = groups.filter(|group| !has(group)).map(|group| {
        let names: Vec<&str> = group.iter().map(|kind| kind.name()).collect();
        let detail = format!("this level requires a document: {}", names.join(" or "));
        Violation::new("/document_ids", "document_required", detail)
    });
    lacking.collect()
}

/// Reserved last names choose the bureau's answer.
fn magic(subject: &Subject, case: &Verification) -> Option<(DecisionAnswer, String)> {
    let word = subject.reserved_word();
    let is = |reserved: &str| word.eq_ignore_ascii_case(reserved);
    let choice = if is("Review") {
        "in_review"
    } else if is("Decline") {
        "declined"
    } else if is("Retry") && case.submissions == 0 {
        "resubmission_requested"
    } else if is("Expire") {
        "expired"
    } else if is("Offline") {
        "offline"
    } else {
        return None;
    };
    let answer = DecisionAnswer::plain(&BUREAU_REPLY, choice);
    Some((answer, format!("last name {word}")))
}
