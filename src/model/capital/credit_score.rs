//! A credit score: what a company's own books, payroll, taxes and loans say about its credit. The formula is data:
//! `fixtures/credit_score.toml`.

use std::sync::LazyLock;

use crate::model::capital::{Factor, Scorecard};
use crate::model::identity::Subject;
use crate::model::prelude::*;

states! {
    /// Where a score stands.
    ScoreStatus { Processing "processing", Completed "completed", Failed "failed" }
    "complete": Processing => Completed;
    "fail": Processing => Failed;
}

/// Days of activity below which there is nothing to score.
pub(crate) const DAYS_NEEDED: i64 = 30;

/// How good a score is.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "CreditBand")]
pub(crate) enum Band {
    Poor,
    Fair,
    Good,
    VeryGood,
    Excellent,
}

/// Why there is no score.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ScoreFailure {
    /// `insufficient_data`: less than thirty days of revenue or expenses.
    pub(crate) code: ScoreFailureCode,
    /// The same in a sentence.
    pub(crate) detail: String,
}

/// What keeps a company from being scored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ScoreFailureCode {
    InsufficientData,
}

/// A company's credit score on a day.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct CreditScore {
    /// The score's id.
    pub(crate) id: Id<CreditScore>,
    /// Always `credit_score`.
    pub(crate) object: Object<CreditScore>,
    /// The company that is scored.
    pub(crate) company_id: Id<Company>,
    /// The subject that it was asked about, where it was not the company itself.
    pub(crate) subject_id: Option<Id<Subject>>,
    /// Where it stands.
    pub(crate) status: ScoreStatus,
    /// 300 to 850, higher is better: the sum of its factors' points. Null until completed, and where there is too little to go by.
    #[schemars(range(min = 300, max = 850))]
    pub(crate) score: Option<i64>,
    /// How good that is.
    pub(crate) band: Option<Band>,
    /// How likely a default within a year is, in basis points: a table of the formula, by score.
    pub(crate) probability_of_default_bp: Option<i64>,
    /// What it sums up, the base first.
    pub(crate) factors: Vec<Factor>,
    /// The version of the formula.
    pub(crate) formula: Option<String>,
    /// The day to whose end it looked.
    pub(crate) as_of: Option<Date>,
    /// Why there is no score.
    pub(crate) failure: Option<ScoreFailure>,
    /// What it is asked for, in the caller's words.
    pub(crate) purpose: Option<String>,
    /// The caller's reference to the company's consent.
    pub(crate) consent_id: Option<String>,
    /// When it was asked for, in virtual time.
    pub(crate) created_at: Timestamp,
    /// When it last changed, in virtual time.
    pub(crate) updated_at: Timestamp,
    /// The caller's own pairs.
    pub(crate) metadata: Metadata,
    /// Every status it had.
    pub(crate) status_history: Vec<StatusChange<ScoreStatus>>,
}

impl CreditScore {
    pub(crate) const fn parent_bits(&self) -> u64 {
        self.company_id.bits()
    }

    pub(crate) const fn company_of(&self) -> Id<Company> {
        self.company_id
    }
}

stateful!(CreditScore: ScoreStatus);

/// The formula and what its scores mean.
#[derive(Debug)]
pub(crate) struct Formula {
    pub(crate) card: Scorecard,
    bands: Vec<BandRow>,
    default_bp: Vec<DefaultRow>,
}

/// From which score on a band holds.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct BandRow {
    from: i64,
    band: Band,
}

/// From which score on a default is that likely.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct DefaultRow {
    from: i64,
    basis_points: i64,
}

/// The tables beside the formula.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Meaning {
    bands: Vec<BandRow>,
    default_bp: Vec<DefaultRow>,
}

static FORMULA: LazyLock<Formula> = LazyLock::new(|| {
    let meaning: Meaning = toml::from_str(include_str!("../../../fixtures/credit_bands.toml"))
        .expect("the embedded bands are whole: a test reads them");
    Formula {
        card: Scorecard::read(include_str!("../../../fixtures/credit_score.toml")),
        bands: meaning.bands,
        default_bp: meaning.default_bp,
    }
});

/// The formula.
pub(crate) fn formula() -> &'static Formula {
    &FORMULA
}

impl Formula {
    /// How good a score is.
    pub(crate) fn band(&self, score: i64) -> Band {
        let mut rows = self.bands.iter().rev();
        let row = rows.find(|row| score >= row.from);
        row.map_or(Band::Poor, |row| row.band)
    }

    /// How likely a default is at that score, in basis points.
    pub(crate) fn default_bp(&self, score: i64) -> i64 {
        let mut rows = self.default_bp.iter().rev();
        let row = rows.find(|row| score >= row.from);
        row.map_or(10_000, |row| row.basis_points)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEAST: i64 = 300;
    const MOST: i64 = 850;

    #[test]
    fn every_status_of_a_credit_score_can_be_reached() {
        crate::model::lifecycle::assert_sound(ScoreStatus::Processing);
    }

    #[test]
    fn the_worst_and_the_best_company_score_300_and_850() {
        assert_eq!(formula().card.bounds(), (LEAST, MOST));
    }

    #[test]
    fn a_better_score_is_never_in_a_worse_band_nor_likelier_to_default() {
        let at = |score| (formula().band(score), -formula().default_bp(score));
        for score in LEAST..MOST {
            let (one, better) = (at(score), at(score + 1));
            assert!(one.0 <= better.0 && one.1 <= better.1, "{score}");
        }
        assert_eq!(formula().band(LEAST), Band::Poor);
        assert_eq!(formula().band(MOST), Band::Excellent);
    }
}
