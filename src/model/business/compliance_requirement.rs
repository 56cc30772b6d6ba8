//! A compliance requirement: what a company still has to show before it may act.

use crate::model::prelude::*;

states! {
    /// Whether it is met.
    RequirementStatus { Open "open", Overdue "overdue", Resolved "resolved" }
    "miss": Open => Overdue;
    "resolve": Open | Overdue => Resolved;
}

/// What a company has to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RequirementType {
    /// Who is new here says who they are.
    BusinessVerification,
    /// A return is late.
    OverdueFiling,
}

/// What was shown for a requirement: a document, or a word.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Evidence {
    /// A document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) document_id: Option<String>,
    /// A number, a name, a reference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) value: Option<String>,
}

/// Something a company still has to show before it may act.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ComplianceRequirement {
    /// The requirement's id.
    pub(crate) id: Id<ComplianceRequirement>,
    /// Always `compliance_requirement`.
    pub(crate) object: Object<ComplianceRequirement>,
    /// Who has to show it.
    pub(crate) company_id: Id<Company>,
    /// What has to be shown.
    #[serde(rename = "type")]
    pub(crate) kind: RequirementType,
    /// What it is about.
    pub(crate) subject: AnyId,
    /// Whether it is met.
    pub(crate) status: RequirementStatus,
    /// Whether payroll and payouts wait for it.
    pub(crate) blocking: bool,
    /// The same in a sentence.
    pub(crate) description: String,
    /// What meets it, in a sentence that names the operation.
    pub(crate) unblocked_by: String,
    /// The last day on which it can be met in time.
    pub(crate) due_on: Date,
    /// What was shown; null until it is resolved, and where it resolved itself.
    pub(crate) evidence: Option<Evidence>,
    /// When it was created, in virtual time.
    pub(crate) created_at: Timestamp,
    /// When it last changed, in virtual time.
    pub(crate) updated_at: Timestamp,
    /// The caller's own pairs.
    pub(crate) metadata: Metadata,
    /// Every status it had.
    pub(crate) status_history: Vec<StatusChange<RequirementStatus>>,
}

impl ComplianceRequirement {
    pub(crate) const fn parent_bits(&self) -> u64 {
        self.company_id.bits()
    }

    pub(crate) const fn company_of(&self) -> Id<Company> {
        self.company_id
    }
}

stateful!(ComplianceRequirement: RequirementStatus);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_of_a_requirement_can_be_reached() {
        crate::model::lifecycle::assert_sound(RequirementStatus::Open);
    }
}
