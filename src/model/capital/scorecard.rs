//! Scorecards: the points for measured values, from bins in data files (`fixtures/*_score.toml`). Pure: the caller
//! passes the measured values.
//!
//! A value gets the points of the last bin whose `from` is not greater. A score is the sum of all factors' points,
//! including the base, so that it can be checked by hand.

use std::collections::BTreeMap;

use crate::model::prelude::*;

/// A formula: a base, and factors that add to it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Scorecard {
    /// The version of the formula.
    pub(crate) version: String,
    /// The points that every score starts with.
    pub(crate) base: i64,
    #[serde(rename = "factor")]
    pub(crate) factors: Vec<Weighing>,
}

/// The points for one measured value.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Weighing {
    /// Name of the factor and of its measure.
    pub(crate) name: String,
    /// The measured quantity, and its unit.
    pub(crate) about: String,
    /// The pillar that it belongs to, if the formula has pillars.
    #[serde(default)]
    pub(crate) pillar: Option<String>,
    /// In ascending order; the first bin has no lower bound.
    pub(crate) bins: Vec<Bin>,
}

/// A range of values.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Bin {
    /// The lowest value of the bin; none for the first.
    #[serde(default)]
    from: Option<i64>,
    /// The points of the bin.
    pub(crate) points: i64,
    /// The reason in one sentence.
    pub(crate) reason: String,
    /// The operation that would close the gap, if it is one.
    #[serde(default)]
    pub(crate) next: Option<String>,
}

/// A measured value of a company.
#[derive(Clone, Debug, Default)]
pub(crate) struct Measured {
    pub(crate) value: i64,
    pub(crate) evidence: Vec<Evidence>,
}

/// The source of a value: a call that returns it, and the resources that count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ScoreEvidence")]
pub(crate) struct Evidence {
    /// The operation to call, such as `getProfitAndLoss`.
    pub(crate) operation: String,
    /// The parameters of the call.
    pub(crate) params: BTreeMap<String, String>,
    /// The resources that count, if there are few: late runs, overdue filings, loans.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) resources: Vec<String>,
}

/// A factor of a score.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ScoreFactor")]
pub(crate) struct Factor {
    /// The factor's name; `base` is the start value of every score.
    pub(crate) name: String,
    /// What was measured, and the unit.
    pub(crate) about: String,
    /// Points added to the score. The score is the sum of all factors' points.
    pub(crate) points: i64,
    /// Maximum number of points of the factor.
    pub(crate) max_points: i64,
    /// The measured value, in the unit that `about` names.
    pub(crate) value: i64,
    /// The reason for the points.
    pub(crate) reason: String,
    /// The sources of the value.
    pub(crate) evidence: Vec<Evidence>,
}

impl Weighing {
    /// The bin that contains a value.
    pub(crate) fn bin(&self, value: i64) -> &Bin {
        let held = self.bins.iter().rev();
        let mut held = held.filter(|bin| bin.from.is_none_or(|from| value >= from));
        held.next().expect("the first bin holds every value")
    }

    /// The points of the worst and of the best bin.
    pub(crate) fn range(&self) -> (i64, i64) {
        let points = || self.bins.iter().map(|bin| bin.points);
        (points().min().unwrap_or(0), points().max().unwrap_or(0))
    }
}

impl Scorecard {
    /// Parses the formula of an embedded file.
    ///
    /// # Panics
    ///
    /// If the file is invalid; a test reads each one.
    pub(crate) fn read(text: &str) -> Self {
        let card: Self = toml::from_str(text).expect("an embedded scorecard is whole");
        for factor in &card.factors {
            let bounds: Vec<Option<i64>> = factor.bins.iter().map(|bin| bin.from).collect();
            let sound =
                bounds.first() == Some(&None) && bounds.windows(2).all(|pair| pair[0] < pair[1]);
            assert!(sound, "the bins of {} do not ascend", factor.name);
        }
        card
    }

    /// All factors with their points, base first, for measured values by name. A value that was not measured is 0.
    pub(crate) fn factors(&self, measured: &BTreeMap<&'static str, Measured>) -> Vec<Factor> {
        let base = Factor {
            name: "base".to_owned(),
            about: "the start value of every score".to_owned(),
            points: self.base,
            max_points: self.base,
            value: self.base,
            reason: "equal for every company".to_owned(),
            evidence: Vec::new(),
        };
        let weighed = self.factors.iter().map(|weighing| {
            let found = measured.get(weighing.name.as_str()).cloned();
            let found = found.unwrap_or_default();
            let bin = weighing.bin(found.value);
            Factor {
                name: weighing.name.clone(),
                about: weighing.about.clone(),
                points: bin.points,
                max_points: weighing.range().1,
                value: found.value,
                reason: bin.reason.clone(),
                evidence: found.evidence,
            }
        });
        core::iter::once(base).chain(weighed).collect()
    }

    /// The lowest and the highest possible score.
    #[cfg(test)]
    pub(crate) fn bounds(&self) -> (i64, i64) {
        let ranges = self.factors.iter().map(Weighing::range);
        ranges.fold((self.base, self.base), |(least, most), (worst, best)| {
            (least + worst, most + best)
        })
    }
}

/// The sum of the factors' points.
pub(crate) fn total(factors: &[Factor]) -> i64 {
    factors.iter().map(|factor| factor.points).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CARD: &str = r#"
version = "1"
base = 300
[[factor]]
name = "late"
about = "runs that were late"
bins = [
  { points = 50, reason = "none" },
  { from = 1, points = 20, reason = "one" },
  { from = 3, points = 0, reason = "many" },
]
"#;

    #[test]
    fn a_value_is_in_the_last_bin_whose_start_is_not_greater() {
        let card = Scorecard::read(CARD);
        let points = |value| card.factors[0].bin(value).points;
        assert_eq!([i64::MIN, 0, 1, 2, 3, i64::MAX].map(points), [50, 50, 20, 20, 0, 0]);
        assert_eq!(card.bounds(), (300, 350));
    }

    #[test]
    fn factors_sum_to_the_score_with_the_base() {
        let card = Scorecard::read(CARD);
        let late = Measured { value: 2, ..Measured::default() };
        let factors = card.factors(&BTreeMap::from([("late", late)]));
        assert_eq!(total(&factors), 320);
        assert_eq!(factors[1].max_points, 50);
    }

    #[test]
    #[should_panic(expected = "do not ascend")]
    fn bins_out_of_order_are_refused() {
        Scorecard::read(&CARD.replace("from = 3", "from = 0"));
    }
}
