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

/// Maximum number of earlier movements that a rule reads.
pub(crate) const WINDOW: usize = 64;
const HOUR: i64 = 60 * 60 * 1_000;
const DAY: i64 = 24 * HOUR;

pub(crate) static RULES: LazyLock<Rules> = LazyLock::new(|| {
    let text = include_str!("../../../fixtures/aml_rules.toml");
    toml::from_str(text).unwrap_or_else(|error| panic!("fixtures/aml_rules.toml: {error}"))
});

/// A movement of money.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Movement {
    /// The source of the movement: a paid payout or a settled collection.
    pub(crate) of: AnyId,
    pub(crate) amount: i64,
    pub(crate) currency: Currency,
    /// The time of the request, which does not depend on the speed of the rail.
    pub(crate) at: Timestamp,
}

/// A finding of a rule.
#[derive(Clone, Debug)]
pub(crate) struct Suspicion {
    pub(crate) rule: AlertRule,
    pub(crate) severity: Severity,
    pub(crate) detail: String,
    /// The earlier movements of the same suspicion, the newest first.
    pub(crate) others: Vec<Movement>,
}

impl Movement {
    /// Whether another movement was requested at most `window` milliseconds before or after this one.
    const fn is_within(self, window: i64, other: Self) -> bool {
        (self.at.millis() - other.at.millis()).abs() < window
    }
}

impl Rules {
    fn is_just_below(&self, one: Movement) -> bool {
        let threshold = Threshold::of(one.currency).amount;
        let least = threshold - threshold * self.structuring.within_percent / 100;
        (least..threshold).contains(&one.amount)
    }

    fn is_large(&self, one: Movement) -> bool {
        let threshold = Threshold::of(one.currency).amount;
        one.amount >= threshold * self.sudden_change.from_percent / 100
    }

    /// The suspicions about a movement. The earlier movements are in order, the oldest first. `is_silent` is true for
    /// a rule that must not report again within its window in milliseconds.
    pub(crate) fn judge(
        &self,
        now: Movement,
        before: &[Movement],
        country: Option<&str>,
        is_silent: impl Fn(AlertRule, i64) -> bool,
    ) -> Vec<Suspicion> {
        let may = |rule: AlertRule, window: i64| !is_silent(rule, window);
        let mut found = Vec::new();
        found.extend(self.structured(now, before, may));
        found.extend(self.fast(now, before, may));
        found.extend(self.sudden(now, before, may));
        found.extend(self.corridor(country, may));
        found
    }

    fn structured(
        &self,
        now: Movement,
        before: &[Movement],
        may: impl Fn(AlertRule, i64) -> bool,
    ) -> Option<Suspicion> {
        let rule = &self.structuring;
        if !self.is_just_below(now) {
            return None;
        }
        let window = rule.days * DAY;
        let like = before.iter().rev().filter(|one| {
            one.currency == now.currency
                && now.is_within(window, **one)
                && self.is_just_below(**one)
        });
        let others: Vec<Movement> = like.copied().collect();
        let count = others.len() + 1;
        let found = count >= rule.count && may(AlertRule::Structuring, window);
        found.then(|| Suspicion {
            rule: AlertRule::Structuring,
            severity: rule.severity,
            detail: format!(
                "{count} amounts within {} days are just below {}",
                rule.days,
                now.currency.display(Threshold::of(now.currency).amount)
            ),
            others,
        })
    }

    fn fast(
        &self,
        now: Movement,
        before: &[Movement],
        may: impl Fn(AlertRule, i64) -> bool,
    ) -> Option<Suspicion> {
        let rule = &self.velocity;
        let window = rule.hours * HOUR;
        let recent = || before.iter().rev().filter(|one| now.is_within(window, **one));
        let count = recent().count() + 1;
        let found = count >= rule.count && may(AlertRule::Velocity, window);
        found.then(|| Suspicion {
            rule: AlertRule::Velocity,
            severity: rule.severity,
            detail: format!("{count} or more transactions in {} hours", rule.hours),
            others: recent().copied().collect(),
        })
    }

    fn sudden(
        &self,
        now: Movement,
        before: &[Movement],
        may: impl Fn(AlertRule, i64) -> bool,
    ) -> Option<Suspicion> {
        let rule = &self.sudden_change;
        if !self.is_large(now) {
            return None;
        }
        let alike = before.iter().rev().filter(|one| one.currency == now.currency);
        let usual: Vec<i128> = alike.take(rule.last).map(|one| i128::from(one.amount)).collect();
        let count = i128::try_from(usual.len()).unwrap_or(i128::MAX);
        let sum: i128 = usual.iter().sum();
        let beyond = i128::from(now.amount) * count >= sum * rule.times;
        let found = usual.len() >= rule.at_least && beyond && may(AlertRule::SuddenChange, DAY);
        found.then(|| Suspicion {
            rule: AlertRule::SuddenChange,
            severity: rule.severity,
            detail: format!(
                "{} is at least {} times the usual amount",
                now.currency.display(now.amount),
                rule.times
            ),
            others: Vec::new(),
        })
    }

    fn corridor(
        &self,
        country: Option<&str>,
        may: impl Fn(AlertRule, i64) -> bool,
    ) -> Option<Suspicion> {
        let rule = &self.high_risk_corridor;
        let country = country.filter(|code| rule.countries.iter().any(|one| one == code))?;
        may(AlertRule::HighRiskCorridor, rule.days * DAY).then(|| Suspicion {
            rule: AlertRule::HighRiskCorridor,
            severity: rule.severity,
            detail: format!("money to a bank in {country}"),
            others: Vec::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn movement(amount: i64, hours: i64) -> Movement {
        Movement {
            of: AnyId { kind: Kind::Payout, bits: 1 },
            amount,
            currency: Currency::new("GBP").expect("a currency"),
            at: Timestamp::from_millis(1_000_000_000_000 + hours * HOUR),
        }
    }

    fn found(now: Movement, before: &[Movement], country: Option<&str>) -> Vec<AlertRule> {
        let judged = RULES.judge(now, before, country, |_, _| false);
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
        for far in [-24 * 6, 24 * 6] {
            let then = [movement(below(), -24), movement(below(), far)];
            assert_eq!(found(movement(below(), 0), &then, None), []);
        }
        assert_eq!(found(movement(below() / 2, 0), &then, None), []);
    }

    #[test]
    fn forty_of_a_day_are_too_fast() {
        let then: Vec<Movement> = (1..40).map(|_| movement(100, -1)).collect();
        let judged = RULES.judge(movement(100, 0), &then, None, |_, _| false);
        assert_eq!(judged.len(), 1);
        assert_eq!((judged[0].rule, judged[0].others.len()), (AlertRule::Velocity, 39));
        assert_eq!(found(movement(100, 0), &then[1..], None), []);
        // The rule is silent for as long as its window.
        let silent = |rule, window| (rule, window) == (AlertRule::Velocity, DAY);
        assert!(RULES.judge(movement(100, 0), &then, None, silent).is_empty());
    }

    #[test]
    fn ten_times_the_usual_amount_is_a_sudden_change() {
        let usual = below() / 20;
        let then: Vec<Movement> = (1..=5).map(|n| movement(usual, -48 * n)).collect();
        assert_eq!(found(movement(usual * 10, 0), &then, None), [AlertRule::SuddenChange]);
        assert_eq!(found(movement(usual * 10 - 1, 0), &then, None), []);
        assert_eq!(found(movement(usual * 10, 0), &then[1..], None), []);
        // Only the last twenty count.
        let then: Vec<Movement> =
            (0..30).map(|n| movement(if n < 10 { usual * 9 } else { usual }, -48)).collect();
        assert_eq!(found(movement(usual * 10, 0), &then, None), [AlertRule::SuddenChange]);
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
