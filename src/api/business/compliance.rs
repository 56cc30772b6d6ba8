//! Compliance requirements: items that companies must provide, and their resolution.

use crate::api::business::companies::blockers;
use crate::api::prelude::*;
use crate::model::business::{
    CompanyStatus, ComplianceRequirement, Evidence, RequirementStatus, RequirementType,
};

/// Number of days to resolve a requirement.
const DAYS_TO_MEET: i32 = 30;

pub(crate) const OPERATIONS: &[Operation] = &Domain::Business.table([
    Operation {
        path: "/api/business/compliance-requirements",
        summary: "List compliance requirements",
        description: "Lists compliance requirements in creation order: what a company must \
            provide, how to resolve the requirement, and the due date. A company with open \
            `blocking` requirements cannot pay.",
        ..operation!(read list_compliance_requirements)
    },
    Operation {
        path: "/api/business/compliance-requirements/{compliance_requirement_id}/resolve",
        summary: "Resolve a compliance requirement",
        description: "Resolves a requirement with evidence: a document or a value. Any evidence is \
            accepted. A `pending` company without open blocking requirements becomes `active`. An \
            `overdue_filing` is resolved automatically when the filing is submitted.",
        example: r#"{"evidence":{"value":"RC 1234567"}}"#,
        errors: &[ErrorCode::InvalidStateTransition],
        emits: &["compliance_requirement.resolved", "company.status_changed"],
        ..operation!(write resolve_compliance_requirement)
    },
]);

list! {
    fn list_compliance_requirements(ListComplianceRequirements) -> ComplianceRequirement;
    filter
        company_id: Id<Company>,
        /// Filter by subject type, such as `company` or `tax_liability`.
        subject_type: Text<64> => |name, requirement| requirement.subject.kind.name() == name.as_str(),
        status: RequirementStatus,
        /// Filter by whether the requirement blocks payments.
        blocking: bool;
    sort created_at, due_on;
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct ResolveComplianceRequirement {
    /// The requirement.
    compliance_requirement_id: Id<ComplianceRequirement>,
    /// What proves that the requirement is met: a document or a value.
    evidence: EvidenceInput,
}

/// Evidence: exactly one of the two members.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "RequirementEvidenceInput")]
pub(crate) struct EvidenceInput {
    /// The id of a document. The sandbox does not check the id.
    #[schemars(regex(pattern = "^doc_[0-9a-z]{1,64}$"))]
    document_id: Option<String>,
    /// A registration number, a name or a reference.
    value: Option<Text<500>>,
}

fn resolve_compliance_requirement(
    world: &mut World,
    input: ResolveComplianceRequirement,
) -> Result<Single<ComplianceRequirement>> {
    let requirement = world.get(input.compliance_requirement_id)?;
    let evidence = Evidence {
        document_id: input.evidence.document_id,
        value: input.evidence.value.map(Text::into_string),
    };
    if evidence.document_id.is_some() == evidence.value.is_some() {
        let detail = "expected exactly one of document_id and value".to_owned();
        return Err(ApiError::of_member("/evidence", "one_of", detail));
    }
    step("resolve", "the requirement", requirement.id, requirement.status)?;
    let resolved = close(world, &requirement, Some(evidence), None);
    if resolved.blocking {
        activate(world, resolved.company_id, None);
    }
    Ok(Data(Shown(resolved)))
}

/// The business is verified: the company's requirement is resolved, and it may become active.
pub(crate) fn admit(
    world: &mut World,
    company: Id<Company>,
    evidence: Option<Evidence>,
    reason: Option<String>,
) {
    let asks = open(world, company)
        .find(|requirement| requirement.kind == RequirementType::BusinessVerification);
    if let Some(requirement) = asks {
        close(world, &requirement, evidence, reason.clone());
    }
    activate(world, company, reason);
}

/// Activates a company without open blocking requirements.
fn activate(world: &mut World, id: Id<Company>, reason: Option<String>) {
    if blockers(world, id).next().is_some() {
        return;
    }
    let pending = world.find(id).filter(|company| company.status == CompanyStatus::Pending);
    if let Some(company) = pending {
        let mut company = (*company).clone();
        company.enter_because(CompanyStatus::Active, world.now(), reason);
        world.record("company.status_changed", company);
    }
}

/// A requirement to open.
pub(crate) struct Requirement {
    pub(crate) company: Id<Company>,
    pub(crate) kind: RequirementType,
    pub(crate) subject: AnyId,
    pub(crate) blocking: bool,
    pub(crate) description: Cow<'static, str>,
    pub(crate) unblocked_by: Cow<'static, str>,
}

impl Requirement {
    /// A new company must prove its identity.
    pub(crate) fn business_verification(company: Id<Company>) -> Self {
        Self {
            company,
            kind: RequirementType::BusinessVerification,
            subject: AnyId::of(company),
            blocking: true,
            description: "verify the business: its registration and its owners".into(),
            unblocked_by:
                "resolveComplianceRequirement with evidence, such as the registration number".into(),
        }
    }
}

/// Opens a requirement and sets its timer.
pub(crate) fn require(world: &mut World, wanted: Requirement) -> Arc<ComplianceRequirement> {
    let now = world.now();
    let due_on = world.today().plus_days(DAYS_TO_MEET);
    let requirement = world.record(
        "compliance_requirement.created",
        ComplianceRequirement {
            id: world.next_id(wanted.company.bits()),
            object: Object::NAME,
            company_id: wanted.company,
            kind: wanted.kind,
            subject: wanted.subject,
            status: RequirementStatus::Open,
            blocking: wanted.blocking,
            description: wanted.description,
            unblocked_by: wanted.unblocked_by,
            due_on,
            evidence: None,
            created_at: now,
            updated_at: now,
            metadata: Metadata::default(),
            status_history: [StatusChange::plain(RequirementStatus::Open, now)].into(),
        },
    );
    let over = due_on.plus_days(1).at_hour(0);
    world.remind_at(over, Task::RequirementOverdue(requirement.id));
    requirement
}

/// A company's open requirements.
pub(crate) fn open(
    world: &World,
    company: Id<Company>,
) -> impl Iterator<Item = Arc<ComplianceRequirement>> {
    world
        .children::<ComplianceRequirement>(company.bits())
        .filter_map(|id| world.find(id))
        .filter(|requirement| requirement.status != RequirementStatus::Resolved)
}

/// The last day to resolve a requirement has passed.
pub(crate) fn miss(world: &mut World, id: Id<ComplianceRequirement>) {
    let open = world.find(id).filter(|requirement| requirement.status == RequirementStatus::Open);
    if let Some(requirement) = open {
        let mut requirement = (*requirement).clone();
        requirement.enter(RequirementStatus::Overdue, world.now());
        world.record("compliance_requirement.overdue", requirement);
    }
}

/// Closes a requirement, because of evidence or of an event.
pub(crate) fn close(
    world: &mut World,
    requirement: &ComplianceRequirement,
    evidence: Option<Evidence>,
    reason: Option<String>,
) -> Arc<ComplianceRequirement> {
    let mut requirement = requirement.clone();
    requirement.evidence = evidence.map(Box::new);
    requirement.enter_because(RequirementStatus::Resolved, world.now(), reason);
    world.forget_timers(AnyId::of(requirement.id));
    world.record("compliance_requirement.resolved", requirement)
}
