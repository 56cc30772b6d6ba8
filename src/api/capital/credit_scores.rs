//! Credit scores: requested, calculated from the world's data, and stored.

use crate::api::capital::measures::Look;
use crate::api::capital::underwriting;
use crate::api::prelude::*;
use crate::model::capital::credit_score::{DAYS_NEEDED, ScoreFailure, ScoreFailureCode, formula};
use crate::model::capital::scorecard::total;
use crate::model::capital::{CreditScore, ScoreStatus};
use crate::model::identity::Subject;

pub(crate) const OPERATIONS: &[Operation] = &Domain::Capital.table([
    Operation {
        path: "/api/capital/credit-scores",
        summary: "List credit scores",
        description: "Lists credit scores, newest first.",
        ..operation!(read list_credit_scores)
    },
    Operation {
        path: "/api/capital/credit-scores",
        summary: "Score a company's credit",
        description: "Requests a score from 300 to 850; a higher score is better. The score is \
            calculated five seconds later from the company's own books, payroll, taxes and loans. \
            The score is the sum of its `factors`, and each factor names the calls that show its \
            value. A company with less than thirty days of revenue or expenses gets no score: the \
            status becomes `failed` with the code `insufficient_data`.",
        example: r#"{"company_id":"@company:1","purpose":"working capital"}"#,
        success: 202,
        emits: &["credit_score.created"],
        starts: &[TaskKind::CompleteCreditScore],
        long: true,
        ..operation!(write create_credit_score)
    },
    Operation {
        path: "/api/capital/credit-scores/{credit_score_id}",
        summary: "Read a credit score",
        description: "Returns the score, its band, the probability of default, and the factors.",
        ..operation!(get get_credit_score: CreditScore)
    },
]);

list! {
    fn list_credit_scores(ListCreditScores) -> CreditScore, of company_id;
    filter company_id: Id<Company>, subject_id: Id<Subject>, status: ScoreStatus;
    sort created_at, score;
    newest first;
}

/// The bureau's processing time.
const CALCULATION: Span = Span::seconds(5);

#[derive(Deserialize, JsonSchema)]
pub(crate) struct CreateCreditScore {
    /// The company to score. Give this or `subject_id`.
    company_id: Option<Id<Company>>,
    /// A subject of the company to score. Give this or `company_id`.
    subject_id: Option<Id<Subject>>,
    /// The purpose of the score.
    purpose: Option<Text<200>>,
    /// The caller's reference to the company's consent.
    consent_id: Option<Text<64>>,
    /// Key-value pairs set by the caller.
    metadata: Option<Metadata>,
}

fn create_credit_score(world: &mut World, input: CreateCreditScore) -> Result<Single<CreditScore>> {
    let company = whose(world, input.company_id, input.subject_id)?;
    let score = CreditScore {
        subject_id: input.subject_id,
        purpose: input.purpose.map(Text::into_string),
        consent_id: input.consent_id.map(Text::into_string),
        metadata: input.metadata.unwrap_or_default(),
        ..blank(world, &company)
    };
    let score = world.record("credit_score.created", score);
    world.settle_after(CALCULATION, Task::CompleteCreditScore(score.id));
    Ok(Data(Shown(score)))
}

/// The named company, or the subject's company.
fn whose(
    world: &World,
    company: Option<Id<Company>>,
    subject: Option<Id<Subject>>,
) -> Result<Arc<Company>> {
    let subject = match (company, subject) {
        (Some(company), None) => return existing(world, company, "/company_id"),
        (None, Some(subject)) => subject,
        _ => {
            let detail = "expected exactly one of company_id and subject_id";
            return Err(ApiError::of_member("", "one_of", detail));
        }
    };
    let found = existing(world, subject, "/subject_id")?;
    let company = found.company_id.and_then(|company| world.find(company));
    company.ok_or_else(|| {
        let detail = "the subject belongs to no company: only a company can be scored";
        ApiError::of_member("/subject_id", "no_company", detail)
    })
}

fn blank(world: &World, company: &Company) -> CreditScore {
    let now = world.now();
    CreditScore {
        id: world.next_id(company.id.bits()),
        object: Object::NAME,
        company_id: company.id,
        subject_id: None,
        status: ScoreStatus::Processing,
        score: None,
        band: None,
        probability_of_default_bp: None,
        factors: Vec::new(),
        formula: None,
        as_of: None,
        failure: None,
        purpose: None,
        consent_id: None,
        created_at: now,
        updated_at: now,
        metadata: Metadata::default(),
        status_history: [StatusChange::plain(ScoreStatus::Processing, now)].into(),
    }
}

/// The bureau has finished.
pub(crate) fn complete(world: &mut World, id: Id<CreditScore>) {
    let open = world.find(id);
    let Some(score) = open.filter(|score| score.status == ScoreStatus::Processing) else { return };
    let score = calculate(world, (*score).clone());
    if score.status == ScoreStatus::Completed {
        underwriting::take_up(world, score.company_id);
    }
}

/// A score calculated at once, for an underwriter.
pub(super) fn fresh(world: &mut World, company: &Company, purpose: String) -> Arc<CreditScore> {
    let score = CreditScore { purpose: Some(purpose), ..blank(world, company) };
    calculate(world, score)
}

/// Calculates a score from the company's current data.
fn calculate(world: &mut World, mut score: CreditScore) -> Arc<CreditScore> {
    let company = world.find(score.company_id);
    let company = company.expect("a score is of a company, and nothing is deleted");
    let look = Look::at(world, &company);
    let now = world.now();
    score.as_of = Some(world.today());
    score.formula = Some(formula().card.version.clone());
    if look.days() < DAYS_NEEDED {
        let detail = format!(
            "there are {} days of revenue or expenses, but {DAYS_NEEDED} are required",
            look.days()
        );
        score.failure =
            Some(ScoreFailure { code: ScoreFailureCode::InsufficientData, detail: detail.clone() });
        score.enter_because(ScoreStatus::Failed, now, Some(detail));
        return world.record("credit_score.failed", score);
    }
    score.factors = formula().card.factors(&look.measures());
    let points = total(&score.factors);
    score.score = Some(points);
    score.band = Some(formula().band(points));
    score.probability_of_default_bp = Some(formula().default_bp(points));
    score.enter(ScoreStatus::Completed, now);
    world.record("credit_score.completed", score)
}
