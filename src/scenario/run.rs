//! The runner of a scenario's steps: against whatever can be called, told what came of each.
//!
//! Pure: the server, the clock and the receiver of webhooks are behind [`Runner`]. Of the events only those of the resources
//! that `[expect]` names are looked at, so that a list of a run's states is not disturbed by its payouts.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::{Map, Value};

use crate::api::json::quoted;
use crate::api::operation::Operation;
use crate::scenario::members::Reference;
use crate::scenario::parts::ANY;
use crate::scenario::vocabulary::{Places, vocabulary};
use crate::value::Span;
use crate::world::script::{CallStep, Expectation, Reaction, Scenario, Step};

/// What steps are run against: a fresh world with the scenario loaded. An error ends the run.
pub(crate) trait Runner {
    /// Calls an operation with an input without references.
    fn call(
        &mut self,
        operation: &'static Operation,
        input: &Map<String, Value>,
        headers: &BTreeMap<String, String>,
    ) -> Result<Came, String>;

    /// The id of what stands at that place of its kind, from 1: as the world counts them, so that a timeline means the same.
    fn nth(&mut self, kind: &str, places: Places, place: u64) -> Result<Option<String>, String>;

    /// Moves the clock on.
    fn advance(&mut self, by: Span) -> Result<(), String>;

    /// Moves the clock until nothing is due.
    fn idle(&mut self) -> Result<(), String>;

    /// The whole log.
    fn events(&mut self) -> Result<Vec<Value>, String>;

    /// Deliveries by type of event, once there are as many as wanted or nothing more comes.
    fn deliveries(
        &mut self,
        wanted: &BTreeMap<String, u64>,
    ) -> Result<BTreeMap<String, u64>, String>;

    /// How often each row of the scenario has acted.
    fn coverage(&mut self) -> Result<Vec<RowHits>, String>;
}

/// How an exchange ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Came {
    Reply(Reply),
    /// Without a whole reply.
    Lost,
}

/// A whole reply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    /// By lower-case name.
    pub(crate) headers: BTreeMap<String, String>,
    /// What is no JSON is a text.
    pub(crate) body: Value,
}

/// How often a row has acted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct RowHits {
    /// `partial-failure.toml:14`.
    pub(crate) source: String,
    pub(crate) hits: u64,
    /// Why what it did was refused.
    pub(crate) refused: Option<String>,
}

/// What came of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct RunReport {
    pub(crate) steps: Vec<Ran>,
    /// What `[expect]` says and what came.
    pub(crate) differences: Vec<Difference>,
    /// Rows of the scenario and how often each has acted.
    pub(crate) rows: Vec<RowHits>,
    #[serde(skip)]
    pub(crate) events: Vec<Value>,
}

/// What came of a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Ran {
    /// `partial-failure.toml:20`.
    pub(crate) source: String,
    /// `runPayroll`, `advance 10d`.
    pub(crate) step: String,
    /// The status, or `lost`; none if no reply was waited for.
    pub(crate) came: Option<String>,
    pub(crate) differences: Vec<Difference>,
}

/// What was expected at a place, and what came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Difference {
    /// `status`, `body/data/status`, `header Retry-After`, `events`.
    pub(crate) at: String,
    pub(crate) expected: String,
    pub(crate) came: String,
}

impl Difference {
    fn new(at: impl Into<String>, expected: impl Into<String>, came: impl Into<String>) -> Self {
        Self { at: at.into(), expected: expected.into(), came: came.into() }
    }
}

impl RunReport {
    /// Whether everything came as expected.
    pub(crate) fn passed(&self) -> bool {
        self.differences() == 0
    }

    /// How much did not.
    pub(crate) fn differences(&self) -> usize {
        let of_steps = self.steps.iter().map(|step| step.differences.len());
        of_steps.sum::<usize>() + self.differences.len()
    }
}

/// Runs every step and compares what came.
pub(crate) fn run(scenario: &Scenario, runner: &mut dyn Runner) -> Result<RunReport, String> {
    let mut outcome = RunReport::default();
    let mut saves = BTreeMap::new();
    for step in &scenario.steps {
        let ran = match step {
            Step::Call(step) => call(step, &mut saves, runner)?,
            Step::Advance { by, source } => {
                runner.advance(*by)?;
                moved(source, format!("advance {by}"))
            }
            Step::Idle { source } => {
                runner.idle()?;
                moved(source, "idle".to_owned())
            }
        };
        outcome.steps.push(ran);
    }
    let deliveries = runner.deliveries(&scenario.expect.deliveries)?;
    outcome.events = runner.events()?;
    let names = outcome.events.iter().filter_map(|event| event["type"].as_str());
    outcome.differences = expectation(&scenario.expect, names, &deliveries);
    outcome.rows = runner.coverage()?;
    Ok(outcome)
}

fn moved(source: &str, step: String) -> Ran {
    Ran { source: source.to_owned(), step, came: None, differences: Vec::new() }
}

type Saves = BTreeMap<String, Value>;

fn call(step: &CallStep, saves: &mut Saves, runner: &mut dyn Runner) -> Result<Ran, String> {
    let mut ran = Ran {
        source: step.source.clone(),
        step: step.call.clone(),
        came: None,
        differences: Vec::new(),
    };
    let found = vocabulary().operations.get(&step.call);
    let operation = found.ok_or_else(|| format!("no operation is called {}", step.call))?;
    let mut missing = Vec::new();
    let input = resolve(&step.with, saves, runner, &mut missing)?;
    let body = match &step.expect.body {
        Some(body) => Some(resolve(body, saves, runner, &mut missing)?),
        None => None,
    };
    if !missing.is_empty() {
        // What an earlier step did not save cannot be sent; that is what is wrong here.
        ran.differences = missing;
        return Ok(ran);
    }
    let Value::Object(input) = input else {
        return Err(format!("{}: the input is no table", step.source));
    };
    let came = runner.call(operation.operation, &input, &step.headers)?;
    ran.came = Some(match &came {
        Came::Reply(reply) => reply.status.to_string(),
        Came::Lost => "lost".to_owned(),
    });
    ran.differences = reaction(&step.expect, body.as_ref(), &came);
    if let (Some(name), Came::Reply(reply)) = (&step.save, came) {
        saves.insert(name.clone(), reply.body);
    }
    Ok(ran)
}

/// The value without references; what refers to nothing is told in `missing`.
fn resolve(
    value: &Value,
    saves: &Saves,
    runner: &mut dyn Runner,
    missing: &mut Vec<Difference>,
) -> Result<Value, String> {
    let mut each = |value: &Value| resolve(value, saves, runner, missing);
    Ok(match value {
        Value::Array(items) => items.iter().map(each).collect::<Result<_, _>>()?,
        Value::Object(members) => {
            let resolved = members.iter().map(|(name, value)| Ok((name.clone(), each(value)?)));
            Value::Object(resolved.collect::<Result<_, String>>()?)
        }
        Value::String(text) => match Reference::read(text) {
            None | Some(Err(_)) => value.clone(),
            Some(Ok(reference)) => {
                let found = referred(&reference, saves, runner)?;
                found.unwrap_or_else(|| {
                    missing.push(Difference::new(text, "something there", "nothing"));
                    Value::Null
                })
            }
        },
        _ => value.clone(),
    })
}

fn referred(
    reference: &Reference,
    saves: &Saves,
    runner: &mut dyn Runner,
) -> Result<Option<Value>, String> {
    match reference {
        Reference::Literal(text) => Ok(Some(Value::from(text.as_str()))),
        Reference::Nth { kind, place } => match vocabulary().kinds.get(kind.as_str()) {
            Some(&places) => Ok(runner.nth(kind, places, *place)?.map(Value::from)),
            None => Ok(None),
        },
        Reference::Saved { name, path } => {
            let inside = |value: &'_ Value, part: &String| match value {
                Value::Array(items) => items.get(part.parse::<usize>().ok()?).cloned(),
                other => other.get(part).cloned(),
            };
            let root = saves.get(name).cloned();
            Ok(path.iter().try_fold(root, |value, part| Some(inside(&value?, part))).flatten())
        }
    }
}

/// What a reply should have been and was not.
fn reaction(expected: &Reaction, body: Option<&Value>, came: &Came) -> Vec<Difference> {
    let reply = match (came, expected.lost) {
        (Came::Lost, true) => return Vec::new(),
        (Came::Lost, false) => {
            let wanted = expected.status.map_or_else(|| "a reply".to_owned(), |it| it.to_string());
            return vec![Difference::new("status", wanted, "no whole reply")];
        }
        (Came::Reply(reply), true) => {
            let came = reply.status.to_string();
            return vec![Difference::new("status", "no whole reply", came)];
        }
        (Came::Reply(reply), false) => reply,
    };
    let mut found = Vec::new();
    if let Some(status) = expected.status.filter(|&status| status != reply.status) {
        // Why it was refused is what whoever reads this wants to know.
        let detail = reply.body["detail"].as_str().map(|why| format!(": {why}"));
        let came = format!("{}{}", reply.status, detail.unwrap_or_default());
        found.push(Difference::new("status", status.to_string(), came));
    }
    for (name, wanted) in &expected.headers {
        let came = reply.headers.get(&name.to_ascii_lowercase());
        if came != Some(wanted) {
            let came = came.map_or_else(|| "no such header".to_owned(), |came| quoted(came));
            found.push(Difference::new(format!("header {name}"), quoted(wanted), came));
        }
    }
    if let Some(body) = body {
        compare(body, &reply.body, "body", &mut found);
    }
    found
}

/// Every member that is wanted must be there; lists must be as long as they are wanted.
fn compare(wanted: &Value, came: &Value, at: &str, found: &mut Vec<Difference>) {
    match (wanted, came) {
        (Value::Object(wanted), Value::Object(came)) => {
            for (name, wanted) in wanted {
                let at = format!("{at}/{name}");
                match came.get(name) {
                    Some(came) => compare(wanted, came, &at, found),
                    None => found.push(Difference::new(at, shown(wanted), "no such member")),
                }
            }
        }
        (Value::Array(wanted), Value::Array(came)) => {
            if wanted.len() != came.len() {
                let count = |items: &[Value]| match items.len() {
                    1 => "1 item".to_owned(),
                    many => format!("{many} items"),
                };
                found.push(Difference::new(at, count(wanted), count(came)));
                return;
            }
            for (place, (wanted, came)) in wanted.iter().zip(came).enumerate() {
                compare(wanted, came, &format!("{at}/{place}"), found);
            }
        }
        _ if wanted == came => {}
        _ => found.push(Difference::new(at, shown(wanted), shown(came))),
    }
}

/// A value as a difference shows it, short.
fn shown(value: &Value) -> String {
    const MOST_CHARACTERS: usize = 80;
    let text = value.to_string();
    match text.char_indices().nth(MOST_CHARACTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

fn expectation<'e>(
    expected: &Expectation,
    events: impl Iterator<Item = &'e str>,
    deliveries: &BTreeMap<String, u64>,
) -> Vec<Difference> {
    let mut found = Vec::new();
    let resource = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
    let named = expected.events.iter().filter(|name| *name != ANY);
    let resources: BTreeSet<String> = named.map(|name| resource(name)).collect();
    let came: Vec<&str> = events.filter(|name| resources.contains(&resource(name))).collect();
    if !expected.events.is_empty() && !follows(&expected.events, &came) {
        let came = if came.is_empty() { "none".to_owned() } else { came.join(", ") };
        found.push(Difference::new("events", expected.events.join(", "), came));
    }
    for (name, wanted) in &expected.deliveries {
        let came = deliveries.get(name).copied().unwrap_or(0);
        if came != *wanted {
            let at = format!("deliveries of {name}");
            found.push(Difference::new(at, wanted.to_string(), came.to_string()));
        }
    }
    found
}

/// Whether the names come in that order and nothing else does, but where `…` lets anything.
fn follows(pattern: &[String], names: &[&str]) -> bool {
    // As a match of `*` goes: after a miss, the last gap takes one more.
    let (mut at, mut place) = (0, 0);
    let mut gap: Option<(usize, usize)> = None;
    while place < names.len() {
        match pattern.get(at) {
            Some(name) if name == ANY => {
                gap = Some((at + 1, place));
                at += 1;
            }
            Some(name) if name == names[place] => {
                at += 1;
                place += 1;
            }
            _ => match gap {
                Some((after, taken)) => {
                    gap = Some((after, taken + 1));
                    at = after;
                    place = taken + 1;
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|name| name == ANY)
}

#[cfg(test)]
mod tests;
