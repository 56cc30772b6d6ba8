//! Scorecards: what a measured value is worth, by bins that are data (`fixtures/*_score.toml`). Pure; the measuring is done elsewhere.
//!
//! A factor's value falls into the last bin whose `from` it reaches, and is worth the points of that bin. A score is the sum of its
//! factors' points, the base being the first of them, so that it can be reckoned by hand.

use std::collections::BTreeMap;

use crate::model::prelude::*;

/// A formula: a base and what is added to it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Scorecard {
    /// Which version of the formula it is.
    pub(crate) version: String,
    /// Where a score begins.
    pub(crate) base: i64,
    /// What is added.
    #[serde(rename = "factor")]
    pub(crate) factors: Vec<Weighing>,
}

/// What one measured value is worth.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Weighing {
    /// The factor's name, which is also the measure's.
    pub(crate) name: String,
    /// What is measured, and in which unit.
    pub(crate) about: String,
    /// What it is a part of, where the formula has parts.
    #[serde(default)]
    pub(crate) pillar: Option<String>,
    /// Ascending; the first one holds from below everything.
    pub(crate) bins: Vec<Bin>,
}

/// Values from one bound to the next.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Bin {
    /// The least value in it; none of the first bin.
    #[serde(default)]
    from: Option<i64>,
    /// What it is worth.
    pub(crate) points: i64,
    /// Why, in a sentence.
    pub(crate) reason: String,
    /// The operation that would close the gap, where it is one.
    #[serde(default)]
    pub(crate) next: Option<String>,
}

/// Something measured of a company.
#[derive(Clone, Debug, Default)]
pub(crate) struct Measured {
    pub(crate) value: i64,
    pub(crate) evidence: Vec<Evidence>,
}

/// Where a value comes from: a call that shows it, and what it found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ScoreEvidence")]
pub(crate) struct Evidence {
    /// The operation to call: `getProfitAndLoss`.
    pub(crate) operation: String,
    /// What to call it with.
    pub(crate) params: BTreeMap<String, String>,
    /// Resources that count, where they are few: late runs, overdue returns, loans.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) resources: Vec<String>,
}

/// What one thing adds to a score.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ScoreFactor")]
pub(crate) struct Factor {
    /// Its name; `base` is where every score begins.
    pub(crate) name: String,
    /// What was measured and in which unit.
    pub(crate) about: String,
    /// What it adds: the points of all factors sum to the score.
    pub(crate) points: i64,
    /// The most that it can add.
    pub(crate) max_points: i64,
    /// What was measured.
    pub(crate) value: i64,
    /// Why it is worth that.
    pub(crate) reason: String,
    /// Where the value comes from.
    pub(crate) evidence: Vec<Evidence>,
}

impl Weighing {
    /// The bin that holds a value.
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
    /// The formula of an embedded file.
    ///
    /// # Panics
    /// If the file is not whole: a test reads each.
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

    /// Every factor, the base first, of what was measured by name. What was not measured is 0.
    pub(crate) fn factors(&self, measured: &BTreeMap<&'static str, Measured>) -> Vec<Factor> {
        let base = Factor {
            name: "base".to_owned(),
            about: "where every score begins".to_owned(),
            points: self.base,
            max_points: self.base,
            value: self.base,
            reason: "the same for everybody".to_owned(),
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

    /// The least and the most that it can come to.
    #[cfg(test)]
    pub(crate) fn bounds(&self) -> (i64, i64) {
        let ranges = self.factors.iter().map(Weighing::range);
        ranges.fold((self.base, self.base), |(least, most), (worst, best)| {
            (least + worst, most + best)
        })
    }
}

/// What factors come to.
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
    fn a_value_falls_into_the_last_bin_that_it_reaches() {
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
