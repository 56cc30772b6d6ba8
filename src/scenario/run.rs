//! The runner of a scenario's steps.
//!
//! It does no IO: the server, the clock and the receiver of webhooks are behind [`Runner`]. Only events of
//! the resources that `[expect]` names are
//! compared, so that a list of a run's states is not mixed with its payouts.

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

/// Runs the steps in a fresh world with the scenario loaded. An error ends the run.
pub(crate) trait Runner {
    /// Calls an operation with an input without references.
    fn call(
        &mut self,
        operation: &'static Operation,
        input: &Map<String, Value>,
        headers: &BTreeMap<String, String>,
    ) -> Result<Came, String>;

    /// The id of the resource at a position of its kind, from 1, in the same order as in timelines.
    fn nth(&mut self, kind: &str, places: Places, place: u64) -> Result<Option<String>, String>;

    /// The id of the resource with the caller's own id, or why there is none.
    fn external(&mut self, name: &str) -> Result<Result<String, String>, String>;

    /// Advances the clock.
    fn advance(&mut self, by: Span) -> Result<(), String>;

    /// Advances the clock until no work is pending.
    fn idle(&mut self) -> Result<(), String>;

    /// All events.
    fn events(&mut self) -> Result<Vec<Value>, String>;

    /// Deliveries by event type. Returns when the expected number has arrived, or when no more will
    /// arrive.
    fn deliveries(
        &mut self,
        wanted: &BTreeMap<String, u64>,
    ) -> Result<BTreeMap<String, u64>, String>;

    /// How often each row of the scenario acted.
    fn coverage(&mut self) -> Result<Vec<RowHits>, String>;
}

/// The end of an exchange.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Came {
    Reply(Reply),
    /// Without a complete reply.
    Lost,
}

/// With a complete reply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    /// By lower-case name.
    pub(crate) headers: BTreeMap<String, String>,
    /// The body; text if it is not JSON.
    pub(crate) body: Value,
}

/// How often a row acted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct RowHits {
    /// `partial-failure.toml:14`.
    pub(crate) source: String,
    pub(crate) hits: u64,
    /// Why its call was refused.
    pub(crate) refused: Option<String>,
}

/// The result of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct RunReport {
    pub(crate) steps: Vec<Ran>,
    /// The differences from `[expect]`.
    pub(crate) differences: Vec<Difference>,
    /// The rows of the scenario and how often each acted.
    pub(crate) rows: Vec<RowHits>,
    #[serde(skip)]
    pub(crate) events: Vec<Value>,
}

/// The result of a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Ran {
    /// `partial-failure.toml:20`.
    pub(crate) source: String,
    /// `runPayroll`, `advance 10d`.
    pub(crate) step: String,
    /// The status, or `lost`; none if the step waits for no reply.
    pub(crate) came: Option<String>,
    pub(crate) differences: Vec<Difference>,
}

/// An expected value and the actual one, at a position.
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
    /// Whether there is no difference.
    pub(crate) fn passed(&self) -> bool {
        self.differences() == 0
    }

    /// The number of differences.
    pub(crate) fn differences(&self) -> usize {
        let of_steps = self.steps.iter().map(|step| step.differences.len());
        of_steps.sum::<usize>() + self.differences.len()
    }
}

/// Runs every step and compares the results. The report has all events, and how often each row acted.
pub(crate) fn run(scenario: &Scenario, runner: &mut dyn Runner) -> Result<RunReport, String> {
    let mut outcome = judge(scenario, runner)?;
    if scenario.expect.events.is_empty() {
        outcome.events = runner.events()?;
    }
    outcome.rows = runner.coverage()?;
    Ok(outcome)
}

/// Runs and compares a scenario, without the details for a report.
pub(crate) fn judge(scenario: &Scenario, runner: &mut dyn Runner) -> Result<RunReport, String> {
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
    if !scenario.expect.events.is_empty() {
        outcome.events = runner.events()?;
    }
    let names = outcome.events.iter().filter_map(|event| event["type"].as_str());
    outcome.differences = expectation(&scenario.expect, names, &deliveries);
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
    let operation = found.ok_or_else(|| format!("there is no operation {}", step.call))?;
    let mut missing = Vec::new();
    let input = resolve(&step.with, saves, runner, &mut missing)?;
    let body = match &step.expect.body {
        Some(body) => Some(resolve(body, saves, runner, &mut missing)?),
        None => None,
    };
    if !missing.is_empty() {
        // A reference to a value that no earlier step saved cannot be sent, so it is reported as a
        // difference.
        ran.differences = missing;
        return Ok(ran);
    }
    let Value::Object(input) = input else {
        return Err(format!("{}: the input must be a table", step.source));
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

/// The value with its references resolved. Unresolved ones are added to `missing`.
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
            Some(Ok(reference)) => referred(&reference, saves, runner)?.unwrap_or_else(|why| {
                missing.push(Difference::new(text, "a value", why));
                Value::Null
            }),
        },
        _ => value.clone(),
    })
}

/// The value of a reference, or why there is none.
fn referred(
    reference: &Reference,
    saves: &Saves,
    runner: &mut dyn Runner,
) -> Result<Result<Value, String>, String> {
    let found = match reference {
        Reference::Literal(text) => Some(Value::from(text.as_str())),
        Reference::External(name) => return Ok(runner.external(name)?.map(Value::from)),
        Reference::Nth { kind, place } => match vocabulary().kinds.get(kind.as_str()) {
            Some(&places) => runner.nth(kind, places, *place)?.map(Value::from),
            None => None,
        },
        Reference::Saved { name, path } => {
            let inside = |value: &'_ Value, part: &String| match value {
                Value::Array(items) => items.get(part.parse::<usize>().ok()?).cloned(),
                other => other.get(part).cloned(),
            };
            let root = saves.get(name).cloned();
            path.iter().try_fold(root, |value, part| Some(inside(&value?, part))).flatten()
        }
    };
    Ok(found.ok_or_else(|| "no value".to_owned()))
}

/// The differences of a reply from the expected one.
fn reaction(expected: &Reaction, body: Option<&Value>, came: &Came) -> Vec<Difference> {
    let reply = match (came, expected.lost) {
        (Came::Lost, true) => return Vec::new(),
        (Came::Lost, false) => {
            let wanted = expected.status.map_or_else(|| "a reply".to_owned(), |it| it.to_string());
            return vec![Difference::new("status", wanted, "no complete reply")];
        }
        (Came::Reply(reply), true) => {
            let came = reply.status.to_string();
            return vec![Difference::new("status", "no complete reply", came)];
        }
        (Came::Reply(reply), false) => reply,
    };
    let mut found = Vec::new();
    if let Some(status) = expected.status.filter(|&status| status != reply.status) {
        // The reader needs the reason of the refusal.
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

/// Every expected member must exist, and lists must have the same length.
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

/// A value in short form, for a difference.
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

/// Whether the names are in this order and complete; `…` matches any number of names.
fn follows(pattern: &[String], names: &[&str]) -> bool {
    // As in the matching of `*`: after a mismatch, the last gap is extended by one name.
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
