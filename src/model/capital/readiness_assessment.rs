//! A readiness assessment: how ready a company is for investment. The formula is data: `fixtures/readiness.toml`.

use std::sync::LazyLock;

use crate::model::capital::{Factor, Scorecard};
use crate::model::prelude::*;

states! {
    /// Status of an assessment.
    AssessmentStatus { Processing "processing", Completed "completed" }
    "complete": Processing => Completed;
}

/// The investment round.
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
    /// The minimum score to be ready for the round.
    pub(crate) const fn threshold(self) -> i64 {
        match self {
            Self::Seed => 50,
            Self::SeriesA => 65,
            Self::Growth => 80,
        }
    }

    /// Months of history that the round requires.
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
    /// The sum of the factors' points.
    pub(crate) score: i64,
    /// The maximum of `score`.
    pub(crate) max_score: i64,
    /// The factors of the pillar.
    pub(crate) factors: Vec<Factor>,
}

/// A gap: something that costs points.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ReadinessGap")]
pub(crate) struct Gap {
    /// The pillar that the gap belongs to.
    pub(crate) pillar: String,
    /// The factor that the gap belongs to.
    pub(crate) factor: String,
    /// What is missing, in one sentence.
    pub(crate) detail: String,
    /// The points that are lost by the gap.
    pub(crate) points: i64,
}

/// An operation that closes a gap.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ReadinessStep")]
pub(crate) struct NextStep {
    /// The operation to call, such as `submitTaxFiling`.
    pub(crate) operation: String,
    /// The factor of the gap that it closes.
    pub(crate) closes: String,
    /// The maximum number of points to gain.
    pub(crate) points: i64,
}

resource! {
    /// How ready a company is for investment.
    ReadinessAssessment: AssessmentStatus {
        /// The company that is assessed.
        company_id: Id<Company>,
        /// Current status.
        status: AssessmentStatus,
        /// The investment round.
        stage: Stage,
        /// The amount to raise, in minor units.
        target_amount: Option<i64>,
        /// The currency of the amount to raise.
        currency: Currency,
        /// Score from 0 to 100, higher is readier: the sum of the pillars. Null until completed.
        score: Option<i64>,
        /// The minimum score to be ready for the round.
        threshold: i64,
        /// Whether the score reaches the threshold.
        ready: Option<bool>,
        /// The pillars of the assessment.
        pillars: Vec<Pillar>,
        /// What costs points; the gap with the most points is first.
        gaps: Vec<Gap>,
        /// Operations that close gaps; the operation with the most points is first.
        next_steps: Vec<NextStep>,
        /// The version of the formula.
        formula: Option<String>,
        /// The last day of the data used.
        as_of: Option<Date>,
    }
}

static CARD: LazyLock<Scorecard> =
    LazyLock::new(|| Scorecard::read(include_str!("../../../fixtures/readiness.toml")));

/// The formula.
pub(crate) fn card() -> &'static Scorecard {
    &CARD
}

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
    fn readiness_scores_range_from_0_to_100_and_factors_of_a_pillar_are_adjacent() {
        assert_eq!(card().bounds(), (0, 100));
        let pillars = card().factors.iter().map(|factor| factor.pillar.as_deref());
        let mut pillars: Vec<&str> = pillars.map(|name| name.expect("a pillar")).collect();
        pillars.dedup();
        assert_eq!(pillars, ["financials", "compliance", "kyc", "payroll", "governance"]);
    }
}
