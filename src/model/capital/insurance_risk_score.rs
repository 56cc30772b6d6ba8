//! An insurance risk score for a line of cover, and what the cover would cost. The formulae are data: `fixtures/insurance_risk.toml`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::model::capital::{Factor, Scorecard};
use crate::model::fx::half_even;
use crate::model::prelude::*;

states! {
    /// Where a risk score stands.
    RiskScoreStatus { Processing "processing", Completed "completed" }
    "complete": Processing => Completed;
}

/// What is insured.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub(crate) enum LineOfCover {
    /// The lives of the employees.
    GroupLife,
    /// Their health.
    Health,
    /// What the company has.
    Property,
    /// What others may claim from it.
    Liability,
}

impl LineOfCover {
    /// Whether it insures people, and not things.
    pub(crate) const fn is_about_people(self) -> bool {
        matches!(self, Self::GroupLife | Self::Health)
    }
}

/// How an insurer would take it.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "RiskTier")]
pub(crate) enum Tier {
    Preferred,
    Standard,
    Substandard,
    /// At a price, and after somebody has looked at it.
    Referred,
}

/// A company's insurance risk on a day.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct InsuranceRiskScore {
    /// The score's id.
    pub(crate) id: Id<InsuranceRiskScore>,
    /// Always `insurance_risk_score`.
    pub(crate) object: Object<InsuranceRiskScore>,
    /// The company whose risk it is.
    pub(crate) company_id: Id<Company>,
    /// Where it stands.
    pub(crate) status: RiskScoreStatus,
    /// What is insured.
    pub(crate) line: LineOfCover,
    /// Minor units that are insured: as sent, or a year's wages (group life, health) or a year's sales (property, liability).
    pub(crate) sum_insured: Option<i64>,
    /// Their currency.
    pub(crate) currency: Currency,
    /// 0 to 100, higher is riskier: the sum of its drivers' points. Null until completed.
    pub(crate) score: Option<i64>,
    /// How an insurer would take it.
    pub(crate) tier: Option<Tier>,
    /// The rate of the tier and line: basis points of the sum insured, a year.
    pub(crate) rate_bp: Option<i64>,
    /// What a year's cover would cost, in minor units: the rate of the sum insured, rounded half to even. No offer.
    pub(crate) indicative_premium: Option<i64>,
    /// What it sums up, the base first.
    pub(crate) drivers: Vec<Factor>,
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
    pub(crate) status_history: Vec<StatusChange<RiskScoreStatus>>,
}

impl InsuranceRiskScore {
    pub(crate) const fn parent_bits(&self) -> u64 {
        self.company_id.bits()
    }

    pub(crate) const fn company_of(&self) -> Id<Company> {
        self.company_id
    }
}

stateful!(InsuranceRiskScore: RiskScoreStatus);

/// The formula, the tiers and their rates.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Prices {
    tiers: Vec<TierRow>,
    /// How dangerous a branch of business is, 0 to 3.
    hazards: BTreeMap<String, i64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TierRow {
    from: i64,
    tier: Tier,
    /// Basis points a year by line.
    rate_bp: BTreeMap<LineOfCover, i64>,
}

static CARD: LazyLock<Scorecard> =
    LazyLock::new(|| Scorecard::read(include_str!("../../../fixtures/insurance_risk.toml")));

static PRICES: LazyLock<Prices> = LazyLock::new(|| {
    toml::from_str(include_str!("../../../fixtures/insurance_prices.toml"))
        .expect("the embedded prices are whole: a test reads them")
});

/// Where a branch of business stands that the table does not know.
const UNKNOWN_HAZARD: i64 = 1;

/// The formula.
pub(crate) fn card() -> &'static Scorecard {
    &CARD
}

/// How dangerous a branch of business is: 0 to 3.
pub(crate) fn hazard(industry: Option<&str>) -> i64 {
    let known = industry.and_then(|industry| PRICES.hazards.get(industry));
    known.copied().unwrap_or(UNKNOWN_HAZARD)
}

/// The tier of a score, and its rate for a line in basis points.
pub(crate) fn price(score: i64, line: LineOfCover) -> (Tier, i64) {
    let mut rows = PRICES.tiers.iter().rev();
    let row = rows.find(|row| score >= row.from).expect("the first tier holds from 0");
    (row.tier, row.rate_bp.get(&line).copied().unwrap_or(0))
}

/// A year's premium.
pub(crate) fn premium(sum_insured: i64, rate_bp: i64) -> i64 {
    let premium = half_even(i128::from(sum_insured) * i128::from(rate_bp), 10_000);
    i64::try_from(premium).expect("a rate is a share of the sum")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_of_a_risk_score_can_be_reached() {
        crate::model::lifecycle::assert_sound(RiskScoreStatus::Processing);
    }

    #[test]
    fn risk_reaches_from_0_to_100_and_a_higher_one_never_costs_less() {
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
        for industry in crate::model::growth::industries::all().iter().map(|it| it.id) {
            assert!(PRICES.hazards.contains_key(industry), "{industry}");
        }
    }
}
