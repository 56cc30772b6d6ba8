//! A credit score: a company's credit quality, calculated from its books, payroll, taxes and loans. The formula is data:
//! `fixtures/credit_score.toml`.

use std::sync::LazyLock;

use crate::model::capital::{Factor, Scorecard};
use crate::model::identity::Subject;
use crate::model::prelude::*;

states! {
    /// Status of a score.
    ScoreStatus { Processing "processing", Completed "completed", Failed "failed" }
    "complete": Processing => Completed;
    "fail": Processing => Failed;
}

/// Minimum number of days of activity for a score.
pub(crate) const DAYS_NEEDED: i64 = 30;

/// The quality band of a score.
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

/// Why no score could be calculated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ScoreFailure {
    /// `insufficient_data`: less than thirty days of revenue or expenses.
    pub(crate) code: ScoreFailureCode,
    /// Description of the failure in one sentence.
    pub(crate) detail: String,
}

/// Why a company cannot be scored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ScoreFailureCode {
    InsufficientData,
}

resource! {
    /// A company's credit score on one day.
    CreditScore: ScoreStatus {
        /// The company that is scored.
        company_id: Id<Company>,
        /// The subject that the request named, if it did not name the company.
        subject_id: Option<Id<Subject>>,
        /// Current status.
        status: ScoreStatus,
        /// Score from 300 to 850, higher is better: the sum of the factors' points. Null until completed, and null if there is too little data.
        #[schemars(range(min = 300, max = 850))]
        score: Option<i64>,
        /// The quality band.
        band: Option<Band>,
        /// Probability of a default within a year, in basis points, from the formula's table by score.
        probability_of_default_bp: Option<i64>,
        /// The factors of the score; the base comes first.
        factors: Vec<Factor>,
        /// The version of the formula.
        formula: Option<String>,
        /// The last day of the data used.
        as_of: Option<Date>,
        /// Why no score could be calculated.
        failure: Option<ScoreFailure>,
        /// The purpose, as free text.
        purpose: Option<String>,
        /// The caller's reference to the company's consent.
        consent_id: Option<String>,
    }
}

/// The formula and the tables for its scores.
#[derive(Debug)]
pub(crate) struct Formula {
    pub(crate) card: Scorecard,
    bands: Vec<BandRow>,
    default_bp: Vec<DefaultRow>,
}

/// The minimum score of a band.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct BandRow {
    from: i64,
    band: Band,
}

/// The minimum score for a default probability.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct DefaultRow {
    from: i64,
    basis_points: i64,
}

/// The tables that accompany the formula.
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

pub(crate) fn formula() -> &'static Formula {
    &FORMULA
}

impl Formula {
    /// The quality band of a score.
    pub(crate) fn band(&self, score: i64) -> Band {
        let mut rows = self.bands.iter().rev();
        let row = rows.find(|row| score >= row.from);
        row.map_or(Band::Poor, |row| row.band)
    }

    /// The probability of a default at that score, in basis points.
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
