//! Reduces an outcome that fails to the smallest outcome that fails in the same way.

use std::sync::Arc;

use crate::cli::explore::outcome::Rule;
use crate::cli::explore::trial::{Broken, Explored};
use crate::cli::failure::Failure;
use crate::cli::lab::{Growth, Site};
use crate::world::script::Scenario;

/// The most runs for one failure.
const MOST_RUNS: usize = 64;

/// The smallest outcome that was found.
pub(super) struct Minimal {
    pub(super) rules: Vec<Rule>,
    pub(super) growth: Option<Growth>,
}

/// The state of a reduction, with the number of remaining runs.
struct Shrinking<'a> {
    explored: &'a Explored,
    broken: &'a Broken,
    left: usize,
}

/// Whether the outcome fails in two more runs as in the first.
pub(super) fn is_stable(
    explored: &Explored,
    rules: &[Rule],
    broken: &Broken,
) -> Result<bool, Failure> {
    for _ in 0..2 {
        if !explored.run(rules)?.broken.is_some_and(|again| again.is_like(broken)) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Removes rules, then places and delays of rules, then people and companies, as long as the failure is the same.
pub(super) fn shrink(
    explored: &Explored,
    rules: &[Rule],
    broken: &Broken,
    steps: Option<&Arc<Scenario>>,
) -> Result<Minimal, Failure> {
    let mut shrinking = Shrinking { explored, broken, left: MOST_RUNS };
    let mut rules = rules.to_vec();
    let mut place = 0;
    while rules.len() > 1 && place < rules.len() {
        let mut fewer = rules.clone();
        fewer.remove(place);
        if shrinking.fails(&fewer)? {
            (rules, place) = (fewer, 0);
        } else {
            place += 1;
        }
    }
    for place in 0..rules.len() {
        for simpler in simpler(&rules[place]) {
            let mut candidate = rules.clone();
            candidate[place] = simpler;
            if shrinking.fails(&candidate)? {
                rules = candidate;
            }
        }
    }
    let growth = shrinking.smaller_world(&rules, steps)?;
    Ok(Minimal { rules, growth })
}

/// Simpler forms of a rule: without its place (so for every decision of its name), and without its delay.
fn simpler(rule: &Rule) -> Vec<Rule> {
    let mut all = Vec::new();
    if rule.nth.is_some() {
        all.push(Rule { nth: None, ..rule.clone() });
    }
    if rule.after.is_some() {
        all.push(Rule { after: None, ..rule.clone() });
    }
    all
}

impl Shrinking<'_> {
    /// Whether these rules fail in the same way.
    fn fails(&mut self, rules: &[Rule]) -> Result<bool, Failure> {
        let explored = self.explored;
        self.fails_in(explored, rules)
    }

    fn fails_in(&mut self, explored: &Explored, rules: &[Rule]) -> Result<bool, Failure> {
        if self.left == 0 {
            return Ok(false);
        }
        self.left -= 1;
        Ok(explored.run(rules)?.broken.is_some_and(|again| again.is_like(self.broken)))
    }

    /// A world with fewer people and companies in which the rules fail in the same way.
    fn smaller_world(
        &mut self,
        rules: &[Rule],
        steps: Option<&Arc<Scenario>>,
    ) -> Result<Option<Growth>, Failure> {
        let Some(mut growth) = self.explored.growth.clone() else { return Ok(None) };
        if growth.scenarios.iter().any(|scenario| !scenario.world.is_empty()) {
            return Ok(Some(growth)); // its `[world]` says how large it is
        }
        for employees in [10, 5, 2] {
            let mut smaller = growth.clone();
            smaller.shape.employees_per_company = employees;
            let is_smaller = employees < growth.shape.employees_per_company;
            if is_smaller && self.fails_there(&smaller, rules, steps)? {
                growth = smaller;
            }
        }
        let mut smaller = growth.clone();
        smaller.shape.companies = 1;
        if growth.shape.companies > 1 && self.fails_there(&smaller, rules, steps)? {
            growth = smaller;
        }
        Ok(Some(growth))
    }

    fn fails_there(
        &mut self,
        growth: &Growth,
        rules: &[Rule],
        steps: Option<&Arc<Scenario>>,
    ) -> Result<bool, Failure> {
        if self.left < 3 {
            return Ok(false);
        }
        self.left -= 2;
        // A world in which the command fails without an outcome cannot be used.
        match Explored::open(&Site::Own(growth.clone()), &self.explored.options, steps) {
            Ok(smaller) => self.fails_in(&smaller, rules),
            Err(Failure::Report(_)) => Ok(false),
            Err(failure) => Err(failure),
        }
    }
}
