//! A document: a token that stands for a paper of a subject's. There are no files, and nothing of anybody's body.

use crate::model::identity::Subject;
use crate::model::prelude::*;

states! {
    /// Where a document stands.
    DocumentStatus { Received "received", Accepted "accepted", Rejected "rejected" }
    "accept": Received => Accepted;
    "reject": Received | Accepted => Rejected;
}

/// What a document is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DocumentType {
    Passport,
    NationalId,
    DriversLicence,
    ProofOfAddress,
    CacCertificate,
}

impl DocumentType {
    /// The word on the wire.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Passport => "passport",
            Self::NationalId => "national_id",
            Self::DriversLicence => "drivers_licence",
            Self::ProofOfAddress => "proof_of_address",
            Self::CacCertificate => "cac_certificate",
        }
    }
}

/// What is wrong with a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DocumentFault {
    /// It cannot be read: another picture may help.
    Unreadable,
    /// It is no longer valid: another document is needed.
    Expired,
    /// It is not genuine.
    Forged,
}

/// The reserved tokens, and what each brings about. Every other token is accepted.
pub(crate) const TOKENS: &[(&str, Option<DocumentFault>)] = &[
    ("tok_ok", None),
    ("tok_blurry", Some(DocumentFault::Unreadable)),
    ("tok_expired", Some(DocumentFault::Expired)),
    ("tok_forged", Some(DocumentFault::Forged)),
];

/// A paper of a subject's, by a token.
#[expect(clippy::struct_field_names, reason = "the word of the wire")]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Document {
    /// The document's id.
    pub(crate) id: Id<Document>,
    /// Always `document`.
    pub(crate) object: Object<Document>,
    /// The subject's company; null where it has none.
    pub(crate) company_id: Option<Id<Company>>,
    /// Whose it is.
    pub(crate) subject_id: Id<Subject>,
    /// What it is.
    #[serde(rename = "type")]
    pub(crate) kind: DocumentType,
    /// The token that stands for it.
    pub(crate) document_token: String,
    /// Who issued it, ISO 3166-1 alpha-2; the subject's country unless another was named.
    pub(crate) country: String,
    /// The last day on which it is valid, where it has one.
    pub(crate) expires_on: Option<Date>,
    /// Where it stands: looked at within a minute.
    pub(crate) status: DocumentStatus,
    /// What is wrong with it; null unless it was rejected.
    pub(crate) fault: Option<DocumentFault>,
    /// When it was created, in virtual time.
    pub(crate) created_at: Timestamp,
    /// When it last changed, in virtual time.
    pub(crate) updated_at: Timestamp,
    /// The caller's own pairs.
    pub(crate) metadata: Metadata,
    /// Every status it had.
    pub(crate) status_history: Vec<StatusChange<DocumentStatus>>,
}

impl Document {
    pub(crate) const fn parent_bits(&self) -> u64 {
        self.subject_id.bits()
    }

    pub(crate) fn company_of(&self) -> Id<Company> {
        self.company_id.unwrap_or(Id::UNKNOWN)
    }

    /// What looking at it on that day finds.
    pub(crate) fn examined(&self, today: Date) -> Option<DocumentFault> {
        let reserved = TOKENS.iter().find(|(token, _)| *token == self.document_token);
        let by_token = reserved.and_then(|(_, fault)| *fault);
        let over = self.expires_on.is_some_and(|last| last < today);
        by_token.or_else(|| over.then_some(DocumentFault::Expired))
    }
}

stateful!(Document: DocumentStatus);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_of_a_document_can_be_reached() {
        crate::model::lifecycle::assert_sound(DocumentStatus::Received);
    }
}
