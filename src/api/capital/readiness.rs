//! Readiness assessments: a company's readiness for investment, from its books, payroll, taxes and record, with
//! recommendations.

use crate::api::business::{compliance, figures};
use crate::api::capital::measures::{Look, Measures};
use crate::api::identity::subjects::{businesses, kyb_approved};
use crate::api::prelude::*;
use crate::model::business::CompanyStatus;
use crate::model::capital::readiness_assessment::{Stage, card, summed};
use crate::model::capital::scorecard::total;
use crate::model::capital::{AssessmentStatus, Evidence, Measured, ReadinessAssessment};

pub(crate) const OPERATIONS: &[Operation] = &Domain::Capital.table([
    Operation {
        path: "/api/capital/readiness-assessments",
        summary: "List readiness assessments",
        description: "Lists readiness assessments, newest first.",
        ..operation!(read list_readiness_assessments)
    },
    Operation {
        path: "/api/capital/readiness-assessments",
        summary: "Assess investment readiness",
        description: "Requests a score from 0 to 100; a higher score is better. The score is \
            calculated five seconds later from the company's books, payroll, taxes, verification \
            and record. The result has five pillars, the gaps that cost points, and the operations \
            that close the gaps.",
        example: r#"{"company_id":"@company:1","stage":"series_a"}"#,
        success: 202,
        errors: &[ErrorCode::CurrencyMismatch],
        emits: &["readiness_assessment.created"],
        starts: &[TaskKind::CompleteAssessment],
        long: true,
        ..operation!(write create_readiness_assessment)
    },
    Operation {
        path: "/api/capital/readiness-assessments/{readiness_assessment_id}",
        summary: "Read a readiness assessment",
        description: "Returns the score, pillars, gaps and next steps.",
        ..operation!(get get_readiness_assessment: ReadinessAssessment)
    },
]);

list! {
    fn list_readiness_assessments(ListReadinessAssessments) -> ReadinessAssessment, of company_id;
    filter company_id: Id<Company>, stage: Stage, status: AssessmentStatus;
    sort created_at, score;
    newest first;
}

/// The duration of the calculation.
const CALCULATION: Span = Span::seconds(5);

#[derive(Deserialize, JsonSchema)]
pub(crate) struct CreateReadinessAssessment {
    /// The company to assess.
    company_id: Id<Company>,
    /// The investment round. Default: `seed`.
    stage: Option<Stage>,
    /// The amount to raise, in minor units.
    target_amount: Option<Amount>,
    /// The currency, which must have a reference rate. Default: the company's own.
    currency: Option<Currency>,
    /// Key-value pairs set by the caller.
    metadata: Option<Metadata>,
}

fn create_readiness_assessment(
    world: &mut World,
    input: CreateReadinessAssessment,
) -> Result<Single<ReadinessAssessment>> {
    let company = existing(world, input.company_id, "/company_id")?;
    let currency = input.currency.unwrap_or(company.currency);
    let mut rates = figures::rates(world);
    let known = rates.translate(1, currency, company.currency, world.today());
    if known.is_none() {
        let detail = format!("{currency} has no reference rate to {}", company.currency);
        return Err(ApiError::new(ErrorCode::CurrencyMismatch, detail).at("/currency", "currency"));
    }
    let (now, stage) = (world.now(), input.stage.unwrap_or_default());
    let assessment = ReadinessAssessment {
        id: world.next_id(company.id.bits()),
        object: Object::NAME,
        company_id: company.id,
        status: AssessmentStatus::Processing,
        stage,
        target_amount: input.target_amount.map(Amount::minor),
        currency,
        score: None,
        threshold: stage.threshold(),
        ready: None,
        pillars: Vec::new(),
        gaps: Vec::new(),
        next_steps: Vec::new(),
        formula: None,
        as_of: None,
        created_at: now,
        updated_at: now,
        metadata: input.metadata.unwrap_or_default(),
        status_history: [StatusChange::plain(AssessmentStatus::Processing, now)].into(),
    };
    let assessment = world.record("readiness_assessment.created", assessment);
    world.settle_after(CALCULATION, Task::CompleteAssessment(assessment.id));
    Ok(Data(Shown(assessment)))
}

/// The calculation is finished.
pub(crate) fn complete(world: &mut World, id: Id<ReadinessAssessment>) {
    let open = world.find(id);
    let Some(open) = open.filter(|it| it.status == AssessmentStatus::Processing) else { return };
    let mut assessment = (*open).clone();
    let company = world.find(assessment.company_id);
    let company = company.expect("an assessment is of a company, and nothing is deleted");
    let measures = measures(world, &company, &assessment);
    let factors = card().factors(&measures);
    let score = total(&factors);
    // The base of this formula is zero and belongs to no pillar.
    let factors = factors.into_iter().filter(|factor| factor.name != "base");
    let (pillars, gaps, next_steps) = summed(factors.collect());
    assessment.score = Some(score);
    assessment.ready = Some(score >= assessment.threshold);
    assessment.pillars = pillars;
    assessment.gaps = gaps;
    assessment.next_steps = next_steps;
    assessment.formula = Some(card().version.clone());
    assessment.as_of = Some(world.today());
    assessment.enter(AssessmentStatus::Completed, world.now());
    world.record("readiness_assessment.completed", assessment);
}

/// The measures of all formulas, and those of this one.
fn measures(world: &World, company: &Company, assessment: &ReadinessAssessment) -> Measures {
    let look = Look::at(world, company);
    let mut measures = look.measures();
    let read = |operation: &str, (member, value): (&str, String), resources: Vec<String>| {
        vec![Evidence {
            operation: operation.to_owned(),
            params: [(member.to_owned(), value)].into(),
            resources,
        }]
    };
    let own = || ("company_id", company.id.to_string());
    let company_read = || read("getCompany", own(), Vec::new());
    let as_of = |name| measures.get(name).map_or_else(Vec::new, |it| it.evidence.clone());
    let (age, sales) = (as_of("age"), as_of("revenue_level"));
    let businesses = businesses(world, company.id).map(|subject| subject.id.to_string());
    let businesses = read("listSubjects", ("type", "business".to_owned()), businesses.collect());
    let requirements = compliance::open(world, company.id).count();
    let settings = company.payroll_settings;
    let known = [
        company.registration_number.is_some(),
        company.tax_id.is_some(),
        company.address.is_some(),
        company.contact.is_some(),
    ];
    let known = known.into_iter().filter(|known| *known).count();
    let rows = [
        ("history", look.months() * 100 / assessment.stage.months(), age),
        ("target", target(world, company, assessment, &look), sales),
        (
            "requirements",
            i64::try_from(requirements).unwrap_or(i64::MAX),
            read("listComplianceRequirements", own(), Vec::new()),
        ),
        ("company_active", i64::from(company.status == CompanyStatus::Active), company_read()),
        ("kyb_approved", i64::from(kyb_approved(world, company.id)), businesses),
        ("registration", i64::try_from(known).unwrap_or(0), company_read()),
        ("approval", i64::from(settings.approval_required), company_read()),
    ];
    measures.extend(rows.map(|(name, value, evidence)| (name, Measured { value, evidence })));
    measures
}

/// The amount to raise, in percent of one year's sales, rounded up.
fn target(world: &World, company: &Company, of: &ReadinessAssessment, look: &Look) -> i64 {
    /// The maximum percentage of sales; larger values are limited to it.
    const FAR: i128 = 10_000;
    let Some(amount) = of.target_amount else { return 0 };
    let mut rates = figures::rates(world);
    let today = world.today();
    let amount = rates.translate(amount.into(), of.currency, company.currency, today);
    let (amount, sales) = (amount.unwrap_or(0), look.yearly_sales());
    let percent = if sales > 0 { ((amount * 100 + sales - 1) / sales).min(FAR) } else { FAR };
    i64::try_from(percent).expect("it is cut off far below 64 bits")
}

/// The company's latest completed assessment.
pub(crate) fn latest(world: &World, company: Id<Company>) -> Option<Arc<ReadinessAssessment>> {
    let assessments = world.children::<ReadinessAssessment>(company.bits()).rev();
    let mut assessments = assessments.filter_map(|id| world.find(id));
    assessments.find(|one| one.status == AssessmentStatus::Completed)
}
