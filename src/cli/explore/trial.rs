//! One run in a fork: its outcomes, its end, and its decisions.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::cli::explore::args::{Options, Subject};
use crate::cli::explore::outcome::{self, Rule, Site};
use crate::cli::failure::Failure;
use crate::cli::lab::canon::{Canon, Masks};
use crate::cli::lab::command::End;
use crate::cli::lab::{self, Fork, Growth, Lab, said, text};
use crate::cli::scenario::Client;
use crate::scenario;
use crate::world::log_hashes;
use crate::world::script::Scenario;

/// The name of a replayed scenario that is more than outcomes.
const REPLAYED: &str = "replayed";
/// Differences that a message shows.
const SHOWN: usize = 6;

/// The command that runs in every fork, and the usual run for comparison.
pub(super) struct Explored {
    pub(super) options: Options,
    lab: Lab,
    /// The world, if it is of this process.
    pub(super) growth: Option<Growth>,
    steps: Option<Arc<Scenario>>,
    /// The latest decision before a run.
    decided: u64,
    masks: Masks,
    /// The effects of the run without outcomes.
    usual: Canon,
    /// The decisions of the run without outcomes.
    pub(super) sites: Vec<Site>,
    /// Identifies the state after the run without outcomes.
    pub(super) node: String,
}

/// The failure of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Broken {
    /// `the check ends with exit code 1`.
    pub(super) how: String,
    /// The expected and the actual values of the steps, which depend on the number of subjects.
    pub(super) detail: String,
    /// The kinds of resources and the accounts that differ from those of the usual run.
    pub(super) kinds: BTreeSet<String>,
}

/// The results of a run.
pub(super) struct Seen {
    pub(super) broken: Option<Broken>,
    /// Its decisions, in order.
    pub(super) sites: Vec<Site>,
    /// Two runs with equal nodes are the same: records, events, timers and requests.
    pub(super) node: String,
    /// A hash of its effects.
    pub(super) effects: String,
    /// The last lines that its commands printed.
    pub(super) printed: String,
    canon: Canon,
}

impl Broken {
    /// Whether both failures are the same.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.how == other.how && self.kinds == other.kinds
    }

    pub(super) fn words(&self) -> String {
        format!("{}{}", self.how, self.detail)
    }
}

impl Explored {
    /// Opens the world, and runs twice without outcomes. Both runs must end well and have the same effects.
    pub(super) fn open(
        site: &lab::Site,
        options: &Options,
        steps: Option<&Arc<Scenario>>,
    ) -> Result<Self, Failure> {
        let growth = match site {
            lab::Site::Own(growth) => Some(growth.clone()),
            lab::Site::Running { .. } => None,
        };
        let mut explored = Self {
            options: options.clone(),
            lab: Lab::open(site)?,
            growth,
            steps: steps.map(Arc::clone),
            decided: 0,
            masks: Masks::default(),
            usual: Canon::default(),
            sites: Vec::new(),
            node: String::new(),
        };
        explored.decided = explored.latest_decision()?;
        let (one, two) = (explored.run(&[])?, explored.run(&[])?);
        for seen in [&one, &two] {
            if let Some(broken) = &seen.broken {
                return Err(Failure::Report(format!(
                    "error: without any outcome, {}, so nothing can be explored{}",
                    broken.words(),
                    said(&seen.printed)
                )));
            }
        }
        explored.masks = Masks::between(&one.canon, &two.canon);
        if !one.canon.equals(&two.canon, &explored.masks) {
            let differences = one.canon.differences(&two.canon, &explored.masks);
            let shown: Vec<String> =
                differences.iter().take(SHOWN).map(|line| format!("  {line}\n")).collect();
            return Err(Failure::Report(format!(
                "error: two runs without any outcome end in different states, so nothing can be explored\n{}",
                shown.concat()
            )));
        }
        explored.usual = one.canon;
        explored.sites = one.sites;
        explored.node = one.node;
        Ok(explored)
    }

    /// The effects of the usual run are hashed with the masks, which are known only after two runs.
    pub(super) fn usual_effects(&self) -> String {
        self.usual.digest(&self.masks)
    }

    fn latest_decision(&self) -> Result<u64, Failure> {
        let fork = self.lab.fork()?;
        let latest = fork.rows("/_sandbox/decisions")?.last().map_or(0, sequence);
        fork.close()?;
        Ok(latest)
    }

    /// Runs with these outcomes.
    pub(super) fn run(&self, rules: &[Rule]) -> Result<Seen, Failure> {
        let fork = self.lab.fork()?;
        // The latest rule has the highest priority, as in the scenario file.
        for rule in rules {
            fork.call("POST", "/_sandbox/rules", &rule.body())?;
        }
        let seen = self.finish(&fork)?;
        fork.close()?;
        Ok(seen)
    }

    /// Runs with a scenario, in addition to those of the world. None if none of its rows acted.
    pub(super) fn run_scenario(
        &self,
        scenario: &Scenario,
        text: &str,
    ) -> Result<Option<Seen>, Failure> {
        let fork = self.lab.fork()?;
        let mut rules = BTreeSet::new();
        if let Some(bodies) = outcome::as_rules(scenario) {
            // As in the search, they have priority over the rows of the world's scenarios. The latest rule has the
            // highest priority.
            for body in bodies.iter().rev() {
                let rule = fork.call("POST", "/_sandbox/rules", body)?;
                rules.insert(format!("rule {}", self::text(&rule["id"])));
            }
        } else {
            let body = json!({"name": REPLAYED, "text": text, "keep_world": true, "add": true});
            fork.call("POST", "/_sandbox/scenarios", &body)?;
        }
        let seen = self.finish(&fork)?;
        let coverage = fork.call("GET", "/_sandbox/scenarios/coverage", &Value::Null)?;
        let mut rows = coverage["rows"].as_array().into_iter().flatten();
        let is_of_file = |source: &str| {
            rules.contains(source) || source.starts_with(&format!("{REPLAYED}.toml:"))
        };
        let has_acted = rows.any(|row| {
            row["hits"].as_u64() > Some(0) && row["source"].as_str().is_some_and(is_of_file)
        });
        fork.close()?;
        Ok(has_acted.then_some(seen))
    }

    fn finish(&self, fork: &Fork<'_>) -> Result<Seen, Failure> {
        let subject = self.subject(fork)?;
        fork.idle()?;
        let books = fork.check_books().err().map(|failure| failure.to_string());
        let checked = match (&subject, &self.options.check) {
            (Ran::TimedOut(_), _) | (_, None) => None,
            (_, Some(check)) => Some(self.check(fork, check)?),
        };
        let plain = |how| (how, String::new());
        let how = books.map(plain).or(match (subject, checked) {
            (Ran::TimedOut(how), _) => Some(plain(how)),
            (_, Some(checked)) => checked.map(plain),
            (Ran::Failed { how, detail }, None) => Some((how, detail)),
            (Ran::Done, None) => None,
        });
        let canon = Canon::of(&fork.effects()?);
        let broken = how.map(|(how, detail)| Broken {
            how,
            detail,
            kinds: canon.differing(&self.usual, &self.masks),
        });
        Ok(Seen {
            broken,
            sites: self.decisions(fork)?,
            node: node(fork)?,
            effects: canon.digest(&self.masks),
            printed: fork.last_lines(),
            canon,
        })
    }

    /// Runs the command or the steps.
    fn subject(&self, fork: &Fork<'_>) -> Result<Ran, Failure> {
        if let Some(steps) = &self.steps {
            let (authority, key) = fork.address();
            let mut client = Client::of(&authority, key).map_err(Failure::Impossible)?;
            let report = scenario::judge(steps, &mut client).map_err(Failure::Impossible)?;
            return Ok(match first_difference(&report) {
                Some((how, detail)) => Ran::Failed { how, detail },
                None => Ran::Done,
            });
        }
        let Subject::Command(command) = &self.options.subject else {
            return Ok(Ran::Done);
        };
        let ended = fork.run(command, &[], self.options.timeout)?;
        Ok(match how("the command", ended) {
            None => Ran::Done,
            Some(how) if ended == End::TimedOut => Ran::TimedOut(how),
            Some(how) => Ran::Failed { how, detail: String::new() },
        })
    }

    fn check(&self, fork: &Fork<'_>, check: &str) -> Result<Option<String>, Failure> {
        let shell = if cfg!(windows) { ["cmd", "/C"] } else { ["sh", "-c"] };
        let command: Vec<String> = shell.into_iter().chain([check]).map(str::to_owned).collect();
        let ended = fork.run(&command, &[], self.options.timeout)?;
        Ok(how("the check", ended))
    }

    /// The decisions since the start of the run.
    fn decisions(&self, fork: &Fork<'_>) -> Result<Vec<Site>, Failure> {
        let mut places: BTreeMap<String, u64> = BTreeMap::new();
        let rows = fork.rows("/_sandbox/decisions")?;
        let rows = rows.iter().filter(|row| sequence(row) > self.decided);
        let site = |row: &Value| {
            let on = text(&row["decision"]);
            let nth = places.entry(on.clone()).or_default();
            *nth += 1;
            Site { on, nth: *nth, chosen: text(&row["chosen"]) }
        };
        Ok(rows.map(site).collect())
    }
}

/// The end of the command or the steps.
enum Ran {
    Done,
    Failed { how: String, detail: String },
    TimedOut(String),
}

/// None if it ended with 0.
fn how(what: &str, ended: End) -> Option<String> {
    match ended {
        End::Code(0) => None,
        End::Code(code) => Some(format!("{what} ends with exit code {code}")),
        End::Killed => Some(format!("{what} is ended by a signal")),
        End::TimedOut => Some(format!("{what} runs longer than --timeout")),
    }
}

/// The first difference between the steps and their expectations.
fn first_difference(report: &scenario::RunReport) -> Option<(String, String)> {
    let of_steps = report.steps.iter().flat_map(|step| {
        step.differences.iter().map(move |it| (format!("{} {}", step.source, step.step), it))
    });
    let of_events = report.differences.iter().map(|it| ("[expect]".to_owned(), it));
    let (place, it) = of_steps.chain(of_events).next()?;
    let detail = format!(": expected {}, got {}", it.expected, it.came);
    Some((format!("the steps fail: {place}: {}", it.at), detail))
}

fn sequence(row: &Value) -> u64 {
    row["sequence"].as_u64().unwrap_or(0)
}

/// Identifies the state of a fork. The whole digest cannot be used, because it includes the rules, which differ in
/// each run.
fn node(fork: &Fork<'_>) -> Result<String, Failure> {
    let print = fork.call("GET", "/_sandbox/fingerprint", &Value::Null)?;
    let parts = ["records", "log", "timers"].map(|part| print["parts"][part].to_string());
    let requests = fork.rows("/_sandbox/requests")?;
    let requests = requests.iter().map(|row| {
        let member = |name: &str| row[name].to_string();
        [member("method"), member("path"), member("status"), member("body")]
    });
    Ok(log_hashes::of(&(parts, requests.collect::<Vec<_>>())))
}
