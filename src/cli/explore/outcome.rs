//! An outcome: the decisions of the outside world that differ from the usual run, and their scenario file.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::cli::lab::Growth;
use crate::model::decision::{DECISIONS, Decision};
use crate::world::ClockMode;
use crate::world::script::{Limits, OutcomeRule, Range, Scenario};

/// The delay of choices that have one, if the clock is instant: the app has ended by then.
const LATER: &str = "10d";

/// One decision that is not the usual one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Rule {
    /// The decision, such as `payout.settle`.
    pub(super) on: String,
    /// The choice.
    pub(super) then: String,
    /// The place among the decisions of this name, from 1; `None` for all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) nth: Option<u64>,
    /// The delay of the choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) after: Option<String>,
}

/// A decision of a run in which the outside world has other choices.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Site {
    /// The decision, such as `payout.settle`.
    pub(super) on: String,
    /// Its place among the decisions of this name, from 1.
    pub(super) nth: u64,
    pub(super) chosen: String,
}

impl Rule {
    fn of(site: &Site, then: &str, clock: ClockMode) -> Self {
        let decision = Decision::find(&site.on);
        let has_delay =
            decision.and_then(|row| row.choice(then)).is_some_and(|it| it.after.is_some());
        Self {
            on: site.on.clone(),
            then: then.to_owned(),
            nth: Some(site.nth),
            after: (has_delay && clock == ClockMode::Instant).then(|| LATER.to_owned()),
        }
    }

    /// Whether a run decided as this rule says.
    pub(super) fn acted(&self, sites: &[Site]) -> bool {
        sites.iter().any(|site| {
            site.on == self.on && self.nth == Some(site.nth) && site.chosen == self.then
        })
    }

    /// Whether the other rule equals this one or is a special case of it.
    pub(super) fn covers(&self, other: &Self) -> bool {
        self.on == other.on
            && self.then == other.then
            && (self.nth.is_none() || self.nth == other.nth)
    }

    /// The body of `POST /_sandbox/rules`.
    pub(super) fn body(&self) -> Value {
        let mut body = json!({"match": {"decision": self.on}, "outcome": {"then": self.then}});
        if let Some(nth) = self.nth {
            body["nth"] = nth.into();
            body["times"] = 1.into();
        }
        if let Some(after) = &self.after {
            body["outcome"]["after"] = after.as_str().into();
        }
        body
    }

    /// `payout.settle: returned_late (the 2nd)`, without its delay.
    pub(super) fn words(&self) -> String {
        match self.nth {
            Some(nth) => format!("{} number {nth}: {}", self.on, self.then),
            None => format!("every {}: {}", self.on, self.then),
        }
    }
}

/// The bodies of `POST /_sandbox/rules` for a scenario of outcomes; `None` if rules cannot express the whole
/// scenario.
pub(super) fn as_rules(scenario: &Scenario) -> Option<Vec<Value>> {
    let Scenario { webhooks, faults, timeline, limits, .. } = scenario;
    let is_more = !webhooks.is_empty() || !faults.is_empty() || !timeline.is_empty();
    if is_more || *limits != Limits::default() {
        return None;
    }
    scenario.outcomes.iter().map(as_rule).collect()
}

fn as_rule(row: &OutcomeRule) -> Option<Value> {
    let mut body = json!({
        "match": {"decision": row.on, "where": row.when.conditions()},
        "outcome": {"then": row.then},
    });
    match row.when.nth.as_slice() {
        [] => {}
        [one] if *one == Range::only(one.first) => body["nth"] = one.first.into(),
        _ => return None,
    }
    if row.when.chance_ppm.is_some() {
        return None;
    }
    if let Some(times) = row.when.times {
        body["times"] = times.into();
    }
    if let Some(code) = &row.code {
        body["outcome"]["code"] = code.as_str().into();
    }
    if let Some(after) = row.after {
        body["outcome"]["after"] = after.to_string().into();
    }
    Some(body)
}

/// The other choices at these sites, in the order of the trials: one site of each decision and choice in turn. Of the
/// sites of one decision, first the first, then the last, then the others.
pub(super) fn alternatives(sites: &[Site], clock: ClockMode) -> Vec<Rule> {
    let mut by_decision: BTreeMap<usize, Vec<&Site>> = BTreeMap::new();
    for site in sites {
        let place = DECISIONS.iter().position(|row| row.name == site.on);
        by_decision.entry(place.unwrap_or(usize::MAX)).or_default().push(site);
    }
    let mut queues: Vec<Vec<Rule>> = Vec::new();
    for (place, sites) in by_decision {
        let Some(decision) = DECISIONS.get(place) else { continue };
        for choice in decision.choices {
            let other = |place: usize| {
                let site = sites[place];
                (site.chosen != choice.name).then(|| Rule::of(site, choice.name, clock))
            };
            queues.push(spread(sites.len()).into_iter().filter_map(other).collect());
        }
    }
    let longest = queues.iter().map(Vec::len).max().unwrap_or(0);
    let nth = |place: usize| {
        queues.iter().filter_map(move |queue| queue.get(place).cloned()).collect::<Vec<_>>()
    };
    (0..longest).flat_map(nth).collect()
}

/// The numbers below `count`: the first, the last, then the middle of each gap.
fn spread(count: usize) -> Vec<usize> {
    let mut order = Vec::with_capacity(count);
    if count > 0 {
        order.push(0);
    }
    if count > 1 {
        order.push(count - 1);
    }
    let mut gaps = std::collections::VecDeque::from([(0, count.saturating_sub(1))]);
    while let Some((low, high)) = gaps.pop_front() {
        if high - low < 2 {
            continue;
        }
        let middle = low + (high - low) / 2;
        order.push(middle);
        gaps.extend([(low, middle), (middle, high)]);
    }
    order
}

/// `payout-settle-returned-late`, of all rules.
pub(super) fn slug(rules: &[Rule]) -> String {
    let names = rules.iter().map(|rule| format!("{}-{}", rule.on, rule.then));
    names.collect::<Vec<_>>().join("-and-").replace(['.', '_'], "-")
}

/// The scenario file of an outcome. A world that is not of this process has no `[world]`.
pub(super) fn scenario(rules: &[Rule], about: &str, growth: Option<&Growth>) -> String {
    let text = |text: &str| toml::Value::from(text).to_string();
    let title: Vec<String> = rules.iter().map(Rule::words).collect();
    let mut file = format!("title = {}\nabout = {}\n", text(&title.join(", ")), text(about));
    if let Some(growth) = growth {
        let shape = &growth.shape;
        // A larger number is no integer of TOML.
        let seed = match i64::try_from(growth.seed) {
            Ok(seed) => seed.to_string(),
            Err(_) => text(&growth.seed.to_string()),
        };
        let countries: Vec<String> = shape.countries.iter().map(|code| text(code)).collect();
        let _ = write!(
            file,
            "\n[world]\nseed = {seed}\ncompanies = {}\nemployees_per_company = {}\ncountries = [{}]\nstart = \"{}\"\nclock = \"{}\"\n",
            shape.companies,
            shape.employees_per_company,
            countries.join(", "),
            shape.start,
            growth.clock.name()
        );
    }
    // A new rule has priority over earlier rules, and the rows of a file are in the order of priority.
    for rule in rules.iter().rev() {
        let _ =
            write!(file, "\n[[outcome]]\non = {}\nthen = {}\n", text(&rule.on), text(&rule.then));
        if let Some(nth) = rule.nth {
            let _ = write!(file, "nth = {nth}\ntimes = 1\n");
        }
        if let Some(after) = &rule.after {
            let _ = writeln!(file, "after = {}", text(after));
        }
    }
    file
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(on: &str, nth: u64) -> Site {
        let chosen = Decision::find(on).expect("a decision").choices[0].name.to_owned();
        Site { on: on.to_owned(), nth, chosen }
    }

    #[test]
    fn the_first_and_the_last_come_before_the_middle() {
        assert_eq!(spread(0), Vec::<usize>::new());
        assert_eq!(spread(1), [0]);
        assert_eq!(spread(2), [0, 1]);
        assert_eq!(spread(7), [0, 6, 3, 1, 4, 2, 5]);
    }

    #[test]
    fn every_kind_of_failure_is_tried_before_a_second_subject() {
        let sites =
            [site("payout.settle", 1), site("payout.settle", 2), site("payroll_run.fund", 1)];
        let rules = alternatives(&sites, ClockMode::Manual);
        let first_round = rules.iter().take_while(|rule| rule.nth == Some(1)).count();
        assert!(rules[..first_round].iter().any(|rule| rule.on == "payout.settle"));
        assert!(rules[..first_round].iter().any(|rule| rule.on == "payroll_run.fund"));
        assert!(rules[first_round..].iter().all(|rule| rule.nth == Some(2)));
        assert!(rules.iter().all(|rule| rule.then != "paid" && rule.after.is_none()));
        let late = alternatives(&sites, ClockMode::Instant);
        assert!(
            late.iter()
                .any(|rule| rule.then == "returned_late" && rule.after.as_deref() == Some(LATER))
        );
    }

    #[test]
    fn the_file_of_an_outcome_is_a_scenario() {
        let rules =
            alternatives(&[site("payout.settle", 1), site("payout.settle", 3)], ClockMode::Instant);
        for (rule, seed) in rules.iter().zip([7, i64::MAX.cast_unsigned(), u64::MAX].iter().cycle())
        {
            let (seed, shape) = (*seed, crate::world::Shape::default());
            let growth = Growth { seed, shape, clock: ClockMode::Instant, scenarios: Vec::new() };
            let rules = [rule.clone(), Rule { nth: None, after: None, ..rule.clone() }];
            let text = scenario(&rules, "It \"failed\".", Some(&growth));
            let checked = crate::scenario::check_text("found", &text);
            let scenario = checked.scenario.as_ref().unwrap_or_else(|| panic!("{text}"));
            assert_eq!((scenario.outcomes.len(), scenario.world.seed), (2, Some(seed)));
        }
    }
}
