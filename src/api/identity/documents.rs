//! Documents of subjects: added by a token, examined within a minute.

use crate::api::business::companies::Country;
use crate::api::business::payroll_clock::get;
use crate::api::prelude::*;
use crate::model::identity::{Document, DocumentFault, DocumentStatus, DocumentType, Subject};

/// From a document to the result of its examination.
pub(crate) const EXAMINATION: Span = Span::seconds(60);

pub(crate) const OPERATIONS: &[Operation] = &Domain::Identity.table([Operation {
    path: "/api/identity/subjects/{subject_id}/documents",
    summary: "Add a document",
    description: "Adds a document. A token represents the document; no file is uploaded. The \
        document is `accepted` or `rejected` after 60 seconds, and `rejected` when `expires_on` \
        has passed. The tokens `tok_blurry`, `tok_expired` and `tok_forged` are rejected; all \
        others are accepted.",
    example: r#"{"type":"cac_certificate","document_token":"tok_ok"}"#,
    success: 201,
    emits: &["document.received"],
    starts: &[TaskKind::ExamineDocument, TaskKind::ExpireDocument],
    ..operation!(write add_subject_document)
}]);

/// A new document.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct AddSubjectDocument {
    /// The subject that the document belongs to.
    subject_id: Id<Subject>,
    /// The type of document.
    #[serde(rename = "type")]
    kind: DocumentType,
    /// The token that represents the document.
    #[schemars(regex(pattern = "^tok_[A-Za-z0-9_-]{1,60}$"))]
    document_token: String,
    /// The issuing country, ISO 3166-1 alpha-2. Default: the subject's country.
    country: Option<Country>,
    /// The last day of validity.
    expires_on: Option<Date>,
    /// Key-value pairs set by the caller.
    metadata: Option<Metadata>,
}

fn add_subject_document(world: &mut World, input: AddSubjectDocument) -> Result<Single<Document>> {
    let subject = world.get(input.subject_id)?;
    let now = world.now();
    let document = Document {
        id: world.next_id(subject.id.bits()),
        object: Object::NAME,
        company_id: subject.company_id,
        subject_id: subject.id,
        kind: input.kind,
        document_token: input.document_token,
        country: input.country.map_or_else(|| subject.country.clone(), |country| country.0),
        expires_on: input.expires_on,
        status: DocumentStatus::Received,
        fault: None,
        created_at: now,
        updated_at: now,
        metadata: input.metadata.unwrap_or_default(),
        status_history: [StatusChange::plain(DocumentStatus::Received, now)].into(),
    };
    let document = world.record("document.received", document);
    world.settle_after(EXAMINATION, Task::ExamineDocument(document.id));
    let last = document.expires_on.filter(|last| *last >= world.today());
    if let Some(last) = last.filter(|last| *last < Timestamp::MAX.date()) {
        let over = last.plus_days(1).midnight();
        world.remind_at(over, Task::ExpireDocument(document.id));
    }
    Ok(Data(Shown(document)))
}

/// The document has been examined.
pub(crate) fn examine(world: &mut World, id: Id<Document>) {
    let document = get(world, id);
    if document.status == DocumentStatus::Received {
        let fault = document.examined(world.today());
        conclude(world, &document, fault);
    }
}

/// The last day of validity has passed.
pub(crate) fn expire(world: &mut World, id: Id<Document>) {
    let document = get(world, id);
    if document.status.may_become(DocumentStatus::Rejected) {
        let fault = match document.status {
            // Its examination comes too late, but the fault of its token counts.
            DocumentStatus::Received => document.examined(world.today()),
            _ => Some(DocumentFault::Expired),
        };
        conclude(world, &document, fault);
    }
}

/// Sets the result of an examination.
pub(crate) fn conclude(
    world: &mut World,
    document: &Document,
    fault: Option<DocumentFault>,
) -> Arc<Document> {
    let mut document = document.clone();
    document.fault = fault;
    let (status, event) = match fault {
        None => (DocumentStatus::Accepted, "document.accepted"),
        Some(_) => (DocumentStatus::Rejected, "document.rejected"),
    };
    let why = fault.map(|fault| {
        let why = match fault {
            DocumentFault::Unreadable => "it cannot be read",
            DocumentFault::Expired => "it is no longer valid",
            DocumentFault::Forged => "it is not genuine",
        };
        why.to_owned()
    });
    document.enter_because(status, world.now(), why);
    world.record(event, document)
}
