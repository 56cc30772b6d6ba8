//! A readiness assessment: how far a company is from being one that investors put money into. The formula is data:
//! `fixtures/readiness.toml`.

use std::sync::LazyLock;

use crate::model::capital::{Factor, Scorecard};
use crate::model::prelude::*;

states! {
    /// Where an assessment stands.
    AssessmentStatus { Processing "processing", Completed "completed" }
    "complete": Processing => Completed;
}

/// The round of investment that it is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "ReadinessStage")]
pub(crate) enum Stage {
    #[default]
    Seed,
    SeriesA,
    Growth,
}

impl Stage {
    /// The score from which on a company is ready for it.
    pub(crate) const fn threshold(self) -> i64 {
        match self {
            Self::Seed => 50,
            Self::SeriesA => 65,
            Self::Growth => 80,
        }
    }

    /// Months of history that it asks for.
    pub(crate) const fn months(self) -> i64 {
        match self {
            Self::Seed => 3,
            Self::SeriesA => 12,
            Self::Growth => 24,
        }
    }
}

/// A part of an assessment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ReadinessPillar")]
pub(crate) struct Pillar {
    /// `financials`, `compliance`, `kyc`, `payroll` or `governance`.
    pub(crate) name: String,
    /// The points of its factors.
    pub(crate) score: i64,
    /// The most that they can come to.
    pub(crate) max_score: i64,
    /// What it sums up.
    pub(crate) factors: Vec<Factor>,
}

/// Something that keeps points back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ReadinessGap")]
pub(crate) struct Gap {
    /// The pillar that it is in.
    pub(crate) pillar: String,
    /// The factor that it is about.
    pub(crate) factor: String,
    /// What is missing.
    pub(crate) detail: String,
    /// Points that it keeps back.
    pub(crate) points: i64,
}

/// What closes a gap.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ReadinessStep")]
pub(crate) struct NextStep {
    /// The operation to call: `submitTaxFiling`.
    pub(crate) operation: String,
    /// The gap that it closes, by its factor.
    pub(crate) closes: String,
    /// Points that it would bring at most.
    pub(crate) points: i64,
}

/// How ready a company is for investment.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ReadinessAssessment {
    /// The assessment's id.
    pub(crate) id: Id<ReadinessAssessment>,
    /// Always `readiness_assessment`.
    pub(crate) object: Object<ReadinessAssessment>,
    /// The company that is assessed.
    pub(crate) company_id: Id<Company>,
    /// Where it stands.
    pub(crate) status: AssessmentStatus,
    /// The round that it is about.
    pub(crate) stage: Stage,
    /// What is to be raised, in minor units.
    pub(crate) target_amount: Option<i64>,
    /// Its currency.
    pub(crate) currency: Currency,
    /// 0 to 100, higher is readier: the sum of its pillars. Null until completed.
    pub(crate) score: Option<i64>,
    /// The score from which on a company is ready for the round.
    pub(crate) threshold: i64,
    /// Whether it reaches that.
    pub(crate) ready: Option<bool>,
    /// What it sums up.
    pub(crate) pillars: Vec<Pillar>,
    /// What keeps points back, the most first.
    pub(crate) gaps: Vec<Gap>,
    /// Operations that close gaps, the most points first.
    pub(crate) next_steps: Vec<NextStep>,
    /// The version of the formula.
    pub(crate) formula: Option<String>,
    /// The day to whose end it looked.
    pub(crate) as_of: Option<Date>,
    /// When it was asked for, in virtual time.
    pub(crate) created_at: Timestamp,
    /// When it last changed, in virtual time.
    pub(crate) updated_at: Timestamp,
    /// The caller's own pairs.
    pub(crate) metadata: Metadata,
    /// Every status it had.
    pub(crate) status_history: Vec<StatusChange<AssessmentStatus>>,
}

impl ReadinessAssessment {
    pub(crate) const fn parent_bits(&self) -> u64 {
        self.company_id.bits()
    }

    pub(crate) const fn company_of(&self) -> Id<Company> {
        self.company_id
    }
}

stateful!(ReadinessAssessment: AssessmentStatus);

static CARD: LazyLock<Scorecard> =
    LazyLock::new(|| Scorecard::read(include_str!("../../../fixtures/readiness.toml")));

/// The formula.
pub(crate) fn card() -> &'static Scorecard {
    &CARD
}

/// Its factors by pillar, and what keeps points back.
pub(crate) fn summed(factors: Vec<Factor>) -> (Vec<Pillar>, Vec<Gap>, Vec<NextStep>) {
    let (mut pillars, mut gaps, mut steps) = (Vec::<Pillar>::new(), Vec::new(), Vec::new());
    for (weighing, factor) in card().factors.iter().zip(factors) {
        let name = weighing.pillar.clone().unwrap_or_default();
        let missing = factor.max_points - factor.points;
        if missing > 0 {
            gaps.push(Gap {
                pillar: name.clone(),
                factor: factor.name.clone(),
                detail: factor.reason.clone(),
                points: missing,
            });
        }
        let next = weighing.bin(factor.value).next.as_ref();
        if let Some(operation) = next.filter(|_| missing > 0) {
            steps.push(NextStep {
                operation: operation.clone(),
                closes: factor.name.clone(),
                points: missing,
            });
        }
        if pillars.last().is_none_or(|pillar| pillar.name != name) {
            pillars.push(Pillar { name, score: 0, max_score: 0, factors: Vec::new() });
        }
        let pillar = pillars.last_mut().expect("one was pushed");
        pillar.score += factor.points;
        pillar.max_score += factor.max_points;
        pillar.factors.push(factor);
    }
    gaps.sort_by_key(|gap| core::cmp::Reverse(gap.points)); // stable: equal ones as the formula has them
    steps.sort_by_key(|step| core::cmp::Reverse(step.points));
    (pillars, gaps, steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_of_an_assessment_can_be_reached() {
        crate::model::lifecycle::assert_sound(AssessmentStatus::Processing);
    }

    #[test]
    fn readiness_reaches_from_0_to_100_and_each_pillar_stands_together() {
        assert_eq!(card().bounds(), (0, 100));
        let pillars = card().factors.iter().map(|factor| factor.pillar.as_deref());
        let mut pillars: Vec<&str> = pillars.map(|name| name.expect("a pillar")).collect();
        pillars.dedup();
        assert_eq!(pillars, ["financials", "compliance", "kyc", "payroll", "governance"]);
    }
}
