//! Insurance risk scores: a company's risk for a line of cover, and the price of one year.

use crate::api::business::figures;
use crate::api::capital::measures::Look;
use crate::api::prelude::*;
use crate::model::capital::insurance_risk_score::{LineOfCover, card, hazard, premium, price};
use crate::model::capital::scorecard::total;
use crate::model::capital::{Evidence, InsuranceRiskScore, Measured, RiskScoreStatus};

pub(crate) const OPERATIONS: &[Operation] = &Domain::Capital.table([
    Operation {
        path: "/api/capital/insurance-risk-scores",
        summary: "List insurance risk scores",
        description: "Lists insurance risk scores, newest first.",
        ..operation!(read list_insurance_risk_scores)
    },
    Operation {
        path: "/api/capital/insurance-risk-scores",
        summary: "Score an insurance risk",
        description: "Requests a score from 0 to 100; a higher score means a higher risk. The \
            score is calculated five seconds later from the company's industry, books, payroll and \
            taxes. The result includes the insurer's tier and the premium for one year. The \
            premium is an estimate, not an offer.",
        example: r#"{"company_id":"@company:1","line":"group_life"}"#,
        success: 202,
        errors: &[ErrorCode::CurrencyMismatch],
        emits: &["insurance_risk_score.created"],
        starts: &[TaskKind::CompleteRiskScore],
        ..operation!(write create_insurance_risk_score)
    },
    Operation {
        path: "/api/capital/insurance-risk-scores/{insurance_risk_score_id}",
        summary: "Read an insurance risk score",
        description: "Returns the score, tier, estimated premium, and the drivers of the score.",
        ..operation!(get get_insurance_risk_score: InsuranceRiskScore)
    },
]);

list! {
    fn list_insurance_risk_scores(ListInsuranceRiskScores) -> InsuranceRiskScore, of company_id;
    filter company_id: Id<Company>, line: LineOfCover, status: RiskScoreStatus;
    sort created_at, score;
    newest first;
}

/// The duration of the calculation.
const CALCULATION: Span = Span::seconds(5);

#[derive(Deserialize, JsonSchema)]
pub(crate) struct CreateInsuranceRiskScore {
    /// The company whose risk is scored.
    company_id: Id<Company>,
    /// The line of cover.
    line: LineOfCover,
    /// Sum insured in minor units. Default: one year's wages (`group_life`, `health`) or one year's sales (`property`, `liability`).
    sum_insured: Option<Amount>,
    /// The currency. Default: the company's own.
    currency: Option<Currency>,
    /// Key-value pairs set by the caller.
    metadata: Option<Metadata>,
}

fn create_insurance_risk_score(
    world: &mut World,
    input: CreateInsuranceRiskScore,
) -> Result<Single<InsuranceRiskScore>> {
    let company = existing(world, input.company_id, "/company_id")?;
    let currency = input.currency.unwrap_or(company.currency);
    let mut rates = figures::rates(world);
    let known = rates.translate(1, company.currency, currency, world.today());
    if known.is_none() {
        let detail = format!("{} has no reference rate to {currency}", company.currency);
        return Err(ApiError::new(ErrorCode::CurrencyMismatch, detail).at("/currency", "currency"));
    }
    let now = world.now();
    let score = InsuranceRiskScore {
        id: world.next_id(company.id.bits()),
        object: Object::NAME,
        company_id: company.id,
        status: RiskScoreStatus::Processing,
        line: input.line,
        sum_insured: input.sum_insured.map(Amount::minor),
        currency,
        score: None,
        tier: None,
        rate_bp: None,
        indicative_premium: None,
        drivers: Vec::new(),
        formula: None,
        as_of: None,
        created_at: now,
        updated_at: now,
        metadata: input.metadata.unwrap_or_default(),
        status_history: [StatusChange::plain(RiskScoreStatus::Processing, now)].into(),
    };
    let score = world.record("insurance_risk_score.created", score);
    world.settle_after(CALCULATION, Task::CompleteRiskScore(score.id));
    Ok(Data(Shown(score)))
}

/// The calculation is finished.
pub(crate) fn complete(world: &mut World, id: Id<InsuranceRiskScore>) {
    let open = world.find(id);
    let Some(open) = open.filter(|score| score.status == RiskScoreStatus::Processing) else {
        return;
    };
    let mut score = (*open).clone();
    let company = world.find(score.company_id);
    let company = company.expect("a score is of a company, and nothing is deleted");
    let look = Look::at(world, &company);
    let mut measures = look.measures();
    let evidence = Evidence {
        operation: "getCompany".to_owned(),
        params: [("company_id".to_owned(), company.id.to_string())].into(),
        resources: Vec::new(),
    };
    let industry =
        Measured { value: hazard(company.industry.as_deref()), evidence: vec![evidence] };
    measures.insert("hazard", industry);
    score.drivers = card().factors(&measures);
    let points = total(&score.drivers);
    let (tier, rate_bp) = price(points, score.line);
    let sum_insured =
        score.sum_insured.unwrap_or_else(|| usual_sum(world, &company, &look, &score));
    score.sum_insured = Some(sum_insured);
    score.score = Some(points);
    score.tier = Some(tier);
    score.rate_bp = Some(rate_bp);
    score.indicative_premium = Some(premium(sum_insured, rate_bp));
    score.formula = Some(card().version.clone());
    score.as_of = Some(world.today());
    score.enter(RiskScoreStatus::Completed, world.now());
    world.record("insurance_risk_score.completed", score);
}

/// One year's wages or sales in the score's currency, at most the maximum of an amount.
fn usual_sum(world: &World, company: &Company, look: &Look, of: &InsuranceRiskScore) -> i64 {
    let own = if of.line.is_about_people() { look.yearly_payroll() } else { look.yearly_sales() };
    let mut rates = figures::rates(world);
    let sum = rates.translate(own.max(0), company.currency, of.currency, world.today());
    let sum = sum.unwrap_or(0).min(i128::from(Amount::MAX));
    i64::try_from(sum).expect("it is at most what a caller may name")
}
