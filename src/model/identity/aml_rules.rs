//! Monitoring rules for payouts and collections (`fixtures/aml_rules.toml`). Pure: the caller passes the movements.

use std::sync::LazyLock;

use crate::model::business::Threshold;
use crate::model::identity::{AlertRule, Severity};
use crate::model::prelude::*;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rules {
    structuring: Structuring,
    velocity: Velocity,
    sudden_change: SuddenChange,
    high_risk_corridor: HighRiskCorridor,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Structuring {
    days: i64,
    count: usize,
    within_percent: i64,
    severity: Severity,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Velocity {
    hours: i64,
    count: usize,
    severity: Severity,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SuddenChange {
    times: i128,
    last: usize,
    at_least: usize,
    from_percent: i64,
    severity: Severity,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct HighRiskCorridor {
    days: i64,
    countries: Vec<String>,
    severity: Severity,
}

/// Maximum number of earlier movements that a rule looks at, newest first.
pub(crate) const WINDOW: usize = 64;
const HOUR: i64 = 60 * 60 * 1_000;
const DAY: i64 = 24 * HOUR;

pub(crate) static RULES: LazyLock<Rules> = LazyLock::new(|| {
    let text = include_str!("../../../fixtures/aml_rules.toml");
    toml::from_str(text).unwrap_or_else(|error| panic!("fixtures/aml_rules.toml: {error}"))
});

/// A movement of money.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Movement {
    pub(crate) amount: i64,
    pub(crate) currency: Currency,
    pub(crate) at: Timestamp,
}

/// A finding of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Suspicion {
    pub(crate) rule: AlertRule,
    pub(crate) severity: Severity,
    pub(crate) detail: String,
    /// Positions of the earlier movements that belong to it.
    pub(crate) places: Vec<usize>,
    /// How long the rule stays silent afterwards, in milliseconds.
    pub(crate) silent: i64,
}

impl Rules {
    /// The rules that a movement may break, and how long each stays silent after an alert, in milliseconds. Most amounts concern no rule.
    pub(crate) fn concerned(
        &self,
        now: Movement,
        nth_before: Option<Timestamp>,
        country: Option<&str>,
    ) -> impl Iterator<Item = (AlertRule, i64)> {
        let rules = [
            (self.is_just_below(now), AlertRule::Structuring, self.structuring.days * DAY),
            (self.is_fast(now, nth_before), AlertRule::Velocity, self.velocity.hours * HOUR),
            (self.is_large(now), AlertRule::SuddenChange, DAY),
            (
                self.corridor(country).is_some(),
                AlertRule::HighRiskCorridor,
                self.high_risk_corridor.days * DAY,
            ),
        ];
        rules.into_iter().filter(|(concerns, ..)| *concerns).map(|(_, rule, silent)| (rule, silent))
    }

    /// The number of earlier movements from which there are too many.
    pub(crate) const fn velocity_count(&self) -> usize {
        self.velocity.count
    }

    fn is_just_below(&self, one: Movement) -> bool {
        let threshold = Threshold::of(one.currency).amount;
        let least = threshold - threshold * self.structuring.within_percent / 100;
        (least..threshold).contains(&one.amount)
    }

    fn is_large(&self, one: Movement) -> bool {
        let threshold = Threshold::of(one.currency).amount;
        one.amount >= threshold * self.sudden_change.from_percent / 100
    }

    fn is_fast(&self, now: Movement, nth_before: Option<Timestamp>) -> bool {
        nth_before.is_some_and(|then| now.at.millis() - then.millis() < self.velocity.hours * HOUR)
    }

    /// The suspicions about a movement, given the earlier ones, newest first, and the destination country.
    pub(crate) fn judge(
        &self,
        now: Movement,
        before: &[Movement],
        country: Option<&str>,
    ) -> Vec<Suspicion> {
        let mut found = Vec::new();
        found.extend(self.structured(now, before));
        found.extend(self.fast(now, before));
        found.extend(self.sudden(now, before));
        found.extend(self.corridor(country));
        found
    }

    fn structured(&self, now: Movement, before: &[Movement]) -> Option<Suspicion> {
        let rule = &self.structuring;
        if !self.is_just_below(now) {
            return None;
        }
        let window = rule.days * DAY;
        let like = (0..).zip(before).filter(|(_, one)| {
            one.currency == now.currency
                && now.at.millis() - one.at.millis() < window
                && self.is_just_below(**one)
        });
        let places: Vec<usize> = like.map(|(place, _)| place).collect();
        let count = places.len() + 1;
        (count >= rule.count).then(|| Suspicion {
            rule: AlertRule::Structuring,
            severity: rule.severity,
            detail: format!(
                "{count} amounts within {} days are just below {}",
                rule.days,
                now.currency.display(Threshold::of(now.currency).amount)
            ),
            places,
            silent: window,
        })
    }

    fn fast(&self, now: Movement, before: &[Movement]) -> Option<Suspicion> {
        let rule = &self.velocity;
        let window = rule.hours * HOUR;
        let recent = before.iter().take_while(|one| now.at.millis() - one.at.millis() < window);
        let places: Vec<usize> = (0..recent.count()).collect();
        let count = places.len() + 1;
        (count >= rule.count).then(|| Suspicion {
            rule: AlertRule::Velocity,
            severity: rule.severity,
            detail: format!("{count} or more transactions in {} hours", rule.hours),
            places,
            silent: window,
        })
    }

    fn sudden(&self, now: Movement, before: &[Movement]) -> Option<Suspicion> {
        let rule = &self.sudden_change;
        if !self.is_large(now) {
            return None;
        }
        let alike = before.iter().filter(|one| one.currency == now.currency);
        let usual: Vec<i128> = alike.take(rule.last).map(|one| i128::from(one.amount)).collect();
        let count = i128::try_from(usual.len()).unwrap_or(i128::MAX);
        let sum: i128 = usual.iter().sum();
        let beyond = i128::from(now.amount) * count >= sum * rule.times;
        (usual.len() >= rule.at_least && beyond).then(|| Suspicion {
            rule: AlertRule::SuddenChange,
            severity: rule.severity,
            detail: format!(
                "{} is at least {} times the usual amount",
                now.currency.display(now.amount),
                rule.times
            ),
            places: Vec::new(),
            silent: DAY,
        })
    }

    fn corridor(&self, country: Option<&str>) -> Option<Suspicion> {
        let rule = &self.high_risk_corridor;
        let country = country.filter(|code| rule.countries.iter().any(|one| one == code))?;
        Some(Suspicion {
            rule: AlertRule::HighRiskCorridor,
            severity: rule.severity,
            detail: format!("money to a bank in {country}"),
            places: Vec::new(),
            silent: rule.days * DAY,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn movement(amount: i64, hours: i64) -> Movement {
        Movement {
            amount,
            currency: Currency::new("GBP").expect("a currency"),
            at: Timestamp::from_millis(1_000_000_000_000 + hours * HOUR),
        }
    }

    fn found(now: Movement, before: &[Movement], country: Option<&str>) -> Vec<AlertRule> {
        let judged = RULES.judge(now, before, country);
        judged.iter().map(|one| one.rule).collect()
    }

    fn below() -> i64 {
        Threshold::of(movement(1, 0).currency).amount - 1
    }

    #[test]
    fn three_amounts_just_below_the_threshold_within_five_days_are_structuring() {
        let then = [movement(below(), -24), movement(below(), -48)];
        assert_eq!(found(movement(below(), 0), &then, None), [AlertRule::Structuring]);
        assert_eq!(found(movement(below(), 0), &then[..1], None), []);
        let long_ago = [movement(below(), -24), movement(below(), -24 * 6)];
        assert_eq!(found(movement(below(), 0), &long_ago, None), []);
        assert_eq!(found(movement(below() / 2, 0), &then, None), []);
    }

    #[test]
    fn forty_of_a_day_are_too_fast() {
        let then: Vec<Movement> = (1..40).map(|_| movement(100, -1)).collect();
        let judged = RULES.judge(movement(100, 0), &then, None);
        assert_eq!(judged.len(), 1);
        assert_eq!((judged[0].rule, judged[0].places.len()), (AlertRule::Velocity, 39));
        assert_eq!(found(movement(100, 0), &then[1..], None), []);
    }

    #[test]
    fn ten_times_the_usual_is_sudden_where_there_is_a_usual() {
        let usual = below() / 20;
        let then: Vec<Movement> = (1..=5).map(|n| movement(usual, -48 * n)).collect();
        assert_eq!(found(movement(usual * 10, 0), &then, None), [AlertRule::SuddenChange]);
        assert_eq!(found(movement(usual * 10 - 1, 0), &then, None), []);
        assert_eq!(found(movement(usual * 10, 0), &then[1..], None), []);
    }

    #[test]
    fn money_to_a_country_of_the_list_is_noticed() {
        assert_eq!(found(movement(1, 0), &[], Some("KP")), [AlertRule::HighRiskCorridor]);
        assert_eq!(found(movement(1, 0), &[], Some("NG")), []);
    }

    #[test]
    fn the_largest_amounts_are_judged_without_overflow() {
        let then: Vec<Movement> = (1..=20).map(|_| movement(i64::MAX, -1)).collect();
        assert_eq!(found(movement(i64::MAX, 0), &then, None), []);
    }
}
