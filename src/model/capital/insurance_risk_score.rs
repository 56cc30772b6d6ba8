//! An insurance risk score for a line of cover, with an indicative premium. The formulae are data: `fixtures/insurance_risk.toml`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::model::capital::{Factor, Scorecard};
use crate::model::fx::half_even;
use crate::model::prelude::*;

states! {
    /// Status of a risk score.
    RiskScoreStatus { Processing "processing", Completed "completed" }
    "complete": Processing => Completed;
}

/// The line of cover.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub(crate) enum LineOfCover {
    /// Life insurance of the employees.
    GroupLife,
    /// Health insurance of the employees.
    Health,
    /// The company's property.
    Property,
    /// Claims of others against the company.
    Liability,
}

impl LineOfCover {
    /// Whether it insures people, not property or liability.
    pub(crate) const fn is_about_people(self) -> bool {
        matches!(self, Self::GroupLife | Self::Health)
    }
}

/// The insurer's risk tier.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "RiskTier")]
pub(crate) enum Tier {
    Preferred,
    Standard,
    Substandard,
    /// Accepted at a price after a manual review.
    Referred,
}

resource! {
    /// A company's insurance risk on one day.
    InsuranceRiskScore: RiskScoreStatus {
        /// The company whose risk is scored.
        company_id: Id<Company>,
        /// Current status.
        status: RiskScoreStatus,
        /// The line of cover.
        line: LineOfCover,
        /// Sum insured in minor units: as sent, or one year's wages (group life, health) or one year's sales (property, liability).
        sum_insured: Option<i64>,
        /// Currency of the sum insured and the premium.
        currency: Currency,
        /// Score from 0 to 100, higher is riskier: the sum of the drivers' points. Null until completed.
        score: Option<i64>,
        /// The insurer's risk tier.
        tier: Option<Tier>,
        /// The rate for the tier and line: basis points of the sum insured per year.
        rate_bp: Option<i64>,
        /// Estimated premium per year in minor units: the rate times the sum insured, rounded half to even. It is not an offer.
        indicative_premium: Option<i64>,
        /// The factors of the score; the base comes first.
        drivers: Vec<Factor>,
        /// The version of the formula.
        formula: Option<String>,
        /// The last day of the data used.
        as_of: Option<Date>,
    }
}

/// The formula, the tiers and their rates.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Prices {
    tiers: Vec<TierRow>,
    /// Hazard level of an industry, 0 to 3.
    hazards: BTreeMap<String, i64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TierRow {
    from: i64,
    tier: Tier,
    /// Basis points per year, by line of cover.
    rate_bp: BTreeMap<LineOfCover, i64>,
}

static CARD: LazyLock<Scorecard> =
    LazyLock::new(|| Scorecard::read(include_str!("../../../fixtures/insurance_risk.toml")));

static PRICES: LazyLock<Prices> = LazyLock::new(|| {
    toml::from_str(include_str!("../../../fixtures/insurance_prices.toml"))
        .expect("the embedded prices are whole: a test reads them")
});

/// The hazard level of an industry that the table does not contain.
const UNKNOWN_HAZARD: i64 = 1;

/// The formula.
pub(crate) fn card() -> &'static Scorecard {
    &CARD
}

/// The hazard level of an industry, 0 to 3.
pub(crate) fn hazard(industry: Option<&str>) -> i64 {
    let known = industry.and_then(|industry| PRICES.hazards.get(industry));
    known.copied().unwrap_or(UNKNOWN_HAZARD)
}

/// The risk tier of a score, and its rate for a line in basis points.
pub(crate) fn price(score: i64, line: LineOfCover) -> (Tier, i64) {
    let mut rows = PRICES.tiers.iter().rev();
    let row = rows.find(|row| score >= row.from).expect("the first tier holds from 0");
    (row.tier, row.rate_bp.get(&line).copied().unwrap_or(0))
}

/// The premium for one year.
pub(crate) fn premium(sum_insured: i64, rate_bp: i64) -> i64 {
    let premium = half_even(i128::from(sum_insured) * i128::from(rate_bp), 10_000);
    i64::try_from(premium).expect("a rate is a share of the sum")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn risk_scores_range_from_0_to_100_and_a_higher_score_never_costs_less() {
        assert_eq!(card().bounds(), (0, 100));
        let lines = [
            LineOfCover::GroupLife,
            LineOfCover::Health,
            LineOfCover::Property,
            LineOfCover::Liability,
        ];
        for line in lines {
            for score in 0..100 {
                let (one, riskier) = (price(score, line), price(score + 1, line));
                assert!(one.0 <= riskier.0 && one.1 <= riskier.1, "{line:?} {score}");
                assert!(one.1 > 0);
            }
        }
    }

    #[test]
    fn premiums_are_rounded_half_to_even() {
        assert_eq!(premium(10_000, 25), 25);
        assert_eq!(premium(200, 25), 0);
        assert_eq!(premium(600, 25), 2);
        assert_eq!(premium(i64::MAX / 1_000, 10_000), i64::MAX / 1_000);
    }

    #[test]
    fn every_grown_branch_of_business_has_a_hazard() {
        for industry in crate::model::growth::industries::all().map(|it| it.id) {
            assert!(PRICES.hazards.contains_key(industry), "{industry}");
        }
    }
}
