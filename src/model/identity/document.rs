//! A document of a subject, represented by a token. There are no files and no biometric data.

use crate::model::identity::Subject;
use crate::model::prelude::*;

states! {
    /// Status of a document.
    DocumentStatus { Received "received", Accepted "accepted", Rejected "rejected" }
    "accept": Received => Accepted;
    "reject": Received | Accepted => Rejected;
}

/// The type of a document.
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
    /// The name in requests and responses.
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
    /// The document cannot be read. A better image may help.
    Unreadable,
    /// The document is no longer valid. Another document is required.
    Expired,
    /// The document is not genuine.
    Forged,
}

/// The reserved tokens and their results. Every other token is accepted.
pub(crate) const TOKENS: &[(&str, Option<DocumentFault>)] = &[
    ("tok_ok", None),
    ("tok_blurry", Some(DocumentFault::Unreadable)),
    ("tok_expired", Some(DocumentFault::Expired)),
    ("tok_forged", Some(DocumentFault::Forged)),
];

resource! {
    /// A document of a subject, represented by a token.
    #[expect(clippy::struct_field_names, reason = "the member's name in responses")]
    Document: DocumentStatus {
        /// The subject's company, or null if it has none.
        company_id: Option<Id<Company>>,
        /// The subject that the document belongs to.
        subject_id: Id<Subject>,
        /// The type of document.
        #[serde(rename = "type")]
        kind: DocumentType,
        /// The token that represents the document.
        document_token: String,
        /// The issuing country, ISO 3166-1 alpha-2. Default: the subject's country.
        country: String,
        /// The last day of validity, if there is one.
        expires_on: Option<Date>,
        /// Current status. A new document is examined within a minute.
        status: DocumentStatus,
        /// What is wrong with the document; null unless it was rejected.
        fault: Option<DocumentFault>,
    }
}

impl Document {
    pub(crate) const fn parent_bits(&self) -> u64 {
        self.subject_id.bits()
    }

    pub(crate) fn company_of(&self) -> Id<Company> {
        self.company_id.unwrap_or(Id::UNKNOWN)
    }

    /// The fault found on that day, if any.
    pub(crate) fn examined(&self, today: Date) -> Option<DocumentFault> {
        let reserved = TOKENS.iter().find(|(token, _)| *token == self.document_token);
        let by_token = reserved.and_then(|(_, fault)| *fault);
        let over = self.expires_on.is_some_and(|last| last < today);
        by_token.or_else(|| over.then_some(DocumentFault::Expired))
    }
}
