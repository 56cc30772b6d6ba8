//! All outcomes in a fixed order: each alone, then combined. Outcomes that lead to the same state are extended only
//! once.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::IsTerminal as _;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Instant;

use crate::cli::explore::args::Budget;
use crate::cli::explore::outcome::{Rule, Site, alternatives, scenario};
use crate::cli::explore::shrink::{is_stable, shrink};
use crate::cli::explore::state::{Finding, Finished, Outcome, State};
use crate::cli::explore::trial::{Broken, Explored, Seen};
use crate::cli::failure::Failure;
use crate::world::ClockMode;
use crate::world::script::Scenario;

/// An outcome that passed. Its later decisions can be varied in addition.
struct Parent {
    rules: Vec<Rule>,
    sites: Vec<Site>,
    /// Its effects are those of an earlier run.
    is_behind: bool,
}

/// The numbers of tried outcomes.
#[derive(Default)]
struct Counts {
    /// By the number of rules, from one.
    tried: Vec<usize>,
    failed: usize,
    not_reached: usize,
    same: usize,
    not_stable: Vec<(Vec<Rule>, String)>,
    /// Outcomes that were known, but not tried within the budget.
    left: usize,
}

/// An exploration.
pub(super) struct Search<'a> {
    explored: &'a Explored,
    steps: Option<&'a Arc<Scenario>>,
    state: State,
    pub(super) findings: Vec<Finding>,
    /// The outcomes that failed. An outcome that contains a failed one is not tried.
    failed: Vec<Vec<Rule>>,
    nodes: BTreeSet<String>,
    effects: BTreeSet<String>,
    counts: Counts,
    began: Instant,
    /// Outcomes that this process ran.
    ran: usize,
}

impl<'a> Search<'a> {
    pub(super) fn new(
        explored: &'a Explored,
        steps: Option<&'a Arc<Scenario>>,
        state: State,
    ) -> Self {
        Self {
            explored,
            steps,
            state,
            findings: Vec::new(),
            failed: Vec::new(),
            nodes: BTreeSet::from([explored.node.clone()]),
            effects: BTreeSet::from([explored.usual_effects()]),
            counts: Counts::default(),
            began: Instant::now(),
            ran: 0,
        }
    }

    /// Tries all outcomes, or those within the budget.
    pub(super) fn run(&mut self) -> Result<(), Failure> {
        let clock = self.clock();
        let mut level: Vec<Vec<Rule>> =
            alternatives(&self.explored.sites, clock).into_iter().map(|rule| vec![rule]).collect();
        for depth in 1..=self.explored.options.depth {
            let parents = self.sweep(&level)?;
            if self.counts.left > 0 || depth == self.explored.options.depth {
                break;
            }
            level = self.children(&parents, clock);
        }
        self.end_progress();
        Ok(())
    }

    fn clock(&self) -> ClockMode {
        self.explored.growth.as_ref().map_or(ClockMode::Manual, |growth| growth.clock)
    }

    /// One more rule for each parent: the first choice of each parent, then the second, and so on. Parents without new effects come last.
    fn children(&self, parents: &[Parent], clock: ClockMode) -> Vec<Vec<Rule>> {
        let mut all = Vec::new();
        for (place, parent) in parents.iter().enumerate() {
            for (rank, rule) in alternatives(&parent.sites, clock).into_iter().enumerate() {
                let mut rules = parent.rules.clone();
                rules.push(rule);
                let fails = |part: &Vec<Rule>| part.iter().all(|rule| rules.contains(rule));
                if !self.failed.iter().any(fails) {
                    all.push(((parent.is_behind, rank, place), rules));
                }
            }
        }
        all.sort_by_key(|(order, _)| *order);
        all.into_iter().map(|(_, rules)| rules).collect()
    }

    /// Runs all outcomes of a level, several at a time. They are recorded in their order, so that nothing depends on the number of jobs.
    fn sweep(&mut self, level: &[Vec<Rule>]) -> Result<Vec<Parent>, Failure> {
        let mut parents = Vec::new();
        let mut begin = 0;
        while begin < level.len()
            && self.state.known.front().is_some_and(|known| known.rules == level[begin])
        {
            let Some(known) = self.state.known.pop_front() else { break };
            self.record(known, &mut parents);
            begin += 1;
        }
        let rest = &level[begin..];
        let explored = self.explored;
        let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
        let mut done = 0;
        let ended = std::thread::scope(|scope| {
            let (send, receive) = mpsc::channel();
            for _ in 0..explored.options.jobs.min(rest.len()) {
                let (send, next, stop) = (send.clone(), &next, &stop);
                scope.spawn(move || {
                    while !stop.load(Ordering::Relaxed) {
                        let place = next.fetch_add(1, Ordering::Relaxed);
                        let Some(rules) = rest.get(place) else { return };
                        if send.send((place, explored.run(rules))).is_err() {
                            return;
                        }
                    }
                });
            }
            drop(send);
            let mut waiting = BTreeMap::new();
            let ended = self.record_all(rest, &receive, &mut waiting, &mut done, &mut parents);
            stop.store(true, Ordering::Relaxed);
            ended
        });
        ended?;
        self.counts.left += rest.len() - done;
        Ok(parents)
    }

    /// Records runs in their order until all are recorded or the budget ends.
    fn record_all(
        &mut self,
        rest: &[Vec<Rule>],
        receive: &mpsc::Receiver<(usize, Result<Seen, Failure>)>,
        waiting: &mut BTreeMap<usize, Result<Seen, Failure>>,
        done: &mut usize,
        parents: &mut Vec<Parent>,
    ) -> Result<(), Failure> {
        while *done < rest.len() && !self.is_over() {
            let Ok((place, seen)) = receive.recv() else { break };
            waiting.insert(place, seen);
            while let Some(seen) = waiting.remove(done) {
                if self.is_over() {
                    return Ok(());
                }
                let finished = self.finish(&rest[*done], seen?)?;
                self.state.write(&finished)?;
                self.record(finished, parents);
                *done += 1;
                self.ran += 1;
                self.show_progress(rest.len() - *done);
            }
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        match self.explored.options.budget {
            Budget::Time(time) => self.began.elapsed() >= time,
            Budget::Outcomes(most) => self.ran >= most,
        }
    }

    /// The result of a run. A failure is run again and made smaller.
    fn finish(&self, rules: &[Rule], seen: Seen) -> Result<Finished, Failure> {
        let is_reached = rules.iter().all(|rule| rule.acted(&seen.sites));
        let result = match &seen.broken {
            None if is_reached => Outcome::Passed,
            None => Outcome::NotReached,
            Some(broken) => self.failure(rules, broken, &seen)?,
        };
        let last = seen
            .sites
            .iter()
            .rposition(|site| rules.iter().any(|rule| rule.acted(core::slice::from_ref(site))));
        let sites = match result {
            Outcome::Passed => seen.sites[last.map_or(0, |last| last + 1)..].to_vec(),
            _ => Vec::new(),
        };
        Ok(Finished {
            rules: rules.to_vec(),
            result,
            node: seen.node,
            effects: seen.effects,
            sites,
        })
    }

    fn failure(&self, rules: &[Rule], broken: &Broken, seen: &Seen) -> Result<Outcome, Failure> {
        let explains = |finding: &&Finding| {
            let is_case = |rule: &Rule| rules.iter().any(|case| rule.covers(case));
            finding.broken.how == broken.how && finding.rules.iter().all(is_case)
        };
        if let Some(finding) = self.findings.iter().find(explains) {
            return Ok(Outcome::Failed(finding.clone()));
        }
        if !is_stable(self.explored, rules, broken)? {
            return Ok(Outcome::NotStable { how: broken.words() });
        }
        let minimal = shrink(self.explored, rules, broken, self.steps)?;
        let about = format!(
            "Found by sandbox explore: {}. Without this outcome, it does not fail.",
            broken.words()
        );
        Ok(Outcome::Failed(Finding {
            text: scenario(&minimal.rules, &about, minimal.growth.as_ref()),
            rules: minimal.rules,
            broken: broken.clone(),
            printed: seen.printed.clone(),
        }))
    }

    fn record(&mut self, finished: Finished, parents: &mut Vec<Parent>) {
        let Finished { rules, result, node, effects, sites } = finished;
        let together = rules.len();
        if self.counts.tried.len() < together {
            self.counts.tried.resize(together, 0);
        }
        self.counts.tried[together - 1] += 1;
        match result {
            Outcome::NotReached => self.counts.not_reached += 1,
            Outcome::NotStable { how } => self.counts.not_stable.push((rules, how)),
            Outcome::Failed(finding) => {
                self.counts.failed += 1;
                self.failed.push(rules);
                if self.findings.iter().all(|known| known.rules != finding.rules) {
                    self.findings.push(finding);
                }
            }
            Outcome::Passed if !self.nodes.insert(node) => self.counts.same += 1,
            Outcome::Passed => {
                let is_behind = !self.effects.insert(effects);
                parents.push(Parent { rules, sites, is_behind });
            }
        }
    }

    fn show_progress(&self, left: usize) {
        if std::io::stderr().is_terminal() {
            let rate = self.rate();
            eprint!(
                "\r{} outcomes, {left} waiting, {} failures, {rate} a second ",
                self.counts.tried.iter().sum::<usize>(),
                self.counts.failed
            );
        }
    }

    /// Outcomes a second, with one decimal.
    fn rate(&self) -> String {
        let tenths = self.ran as u128 * 10_000 / self.began.elapsed().as_millis().max(1);
        format!("{}.{}", tenths / 10, tenths % 10)
    }

    /// The rate is not part of the report, which is the same for every run.
    fn end_progress(&self) {
        if std::io::stderr().is_terminal() {
            eprint!("\r{:70}\r", "");
        }
        eprintln!(
            "{} outcomes in {} ms: {} a second",
            self.ran,
            self.began.elapsed().as_millis(),
            self.rate()
        );
    }

    /// The last lines of the report.
    pub(super) fn summary(&self) -> String {
        let Counts { tried, failed, not_reached, same, not_stable, left } = &self.counts;
        let mut text = String::new();
        for (rules, how) in not_stable {
            let words: Vec<String> = rules.iter().map(Rule::words).collect();
            let _ = writeln!(
                text,
                "not stable: {}: {how} in one run, and not in all others",
                words.join(", ")
            );
        }
        let by_depth = tried.iter().enumerate().map(|(place, count)| match place {
            0 => format!("{count} single"),
            1 => format!("{count} pairs"),
            more => format!("{count} of {}", more + 1),
        });
        let by_depth: Vec<String> = by_depth.collect();
        let all: usize = tried.iter().sum();
        let _ = writeln!(
            text,
            "{all} outcomes ({}): {failed} failed, {} found; {not_reached} not reached, {same} like an earlier one, {} not stable. Exit {}.",
            by_depth.join(", "),
            self.findings.len(),
            not_stable.len(),
            u8::from(!self.findings.is_empty()),
        );
        if *left > 0 {
            let _ = writeln!(
                text,
                "The budget ended before {left} further outcomes. A larger --budget tries more. With --state FILE, the same command tries the next ones."
            );
        }
        text
    }
}
