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
    /// A document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) document_id: Option<String>,
    /// A number, name or reference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) value: Option<String>,
}

/// What a company must still provide before it may act.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ComplianceRequirement {
    /// The requirement's id.
    pub(crate) id: Id<ComplianceRequirement>,
    /// Always `compliance_requirement`.
    pub(crate) object: Object<ComplianceRequirement>,
    /// The company that must provide it.
    pub(crate) company_id: Id<Company>,
    /// The type of requirement.
    #[serde(rename = "type")]
    pub(crate) kind: RequirementType,
    /// The resource that the requirement is about.
    pub(crate) subject: AnyId,
    /// Status of a requirement.
    pub(crate) status: RequirementStatus,
    /// Whether payroll and payouts are blocked until the requirement is resolved.
    pub(crate) blocking: bool,
    /// Description of the requirement in one sentence.
    pub(crate) description: String,
    /// How to resolve it, in one sentence that names the operation.
    pub(crate) unblocked_by: String,
    /// The last day on which it can be resolved in time.
    pub(crate) due_on: Date,
    /// The evidence provided; null until it is resolved, and null if it was resolved automatically.
    pub(crate) evidence: Option<Evidence>,
    /// When it was created, in virtual time.
    pub(crate) created_at: Timestamp,
    /// When it last changed, in virtual time.
    pub(crate) updated_at: Timestamp,
    /// Key-value pairs set by the caller.
    pub(crate) metadata: Metadata,
    /// Every status the resource has had, oldest first.
    pub(crate) status_history: Vec<StatusChange<RequirementStatus>>,
}

stateful!(ComplianceRequirement: RequirementStatus);
