//! A compliance requirement: what a company must provide before it may act.

use crate::model::prelude::*;

states! {
    /// Status of a requirement.
    RequirementStatus { Open "open", Overdue "overdue", Resolved "resolved" }
    "miss": Open => Overdue;
    "resolve": Open | Overdue => Resolved;
}

/// What a company must provide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RequirementType {
    /// A new company must prove its identity.
    BusinessVerification,
    /// A tax return is late.
    OverdueFiling,
}

/// Evidence for a requirement: a document or a value.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "RequirementEvidence")]
pub(crate) struct Evidence {
    /// The id of a document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) document_id: Option<String>,
    /// A registration number, a name or a reference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) value: Option<String>,
}

resource! {
    /// Something that a company must provide or do. Only a `blocking` requirement prevents payments.
    ComplianceRequirement: RequirementStatus {
        /// The company that must meet the requirement.
        company_id: Id<Company>,
        /// The type of requirement.
        #[serde(rename = "type")]
        kind: RequirementType,
        /// The resource that the requirement is about.
        subject: AnyId,
        /// Status of a requirement.
        status: RequirementStatus,
        /// Whether payroll and payouts are blocked until the requirement is resolved.
        blocking: bool,
        /// Description of the requirement in one sentence.
        description: Cow<'static, str>,
        /// How to resolve the requirement, in one sentence that names the operation.
        unblocked_by: Cow<'static, str>,
        /// The last day on which the requirement can be resolved in time.
        due_on: Date,
        /// The evidence provided; null until it is resolved, and null if it was resolved automatically.
        evidence: Option<Box<Evidence>>,
    }
}
