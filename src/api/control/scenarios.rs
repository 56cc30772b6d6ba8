//! Scenarios of one world: which can be loaded, which run, and which rows have acted.

use crate::api::prelude::*;
use crate::world::script::Scenario;

pub(crate) const OPERATIONS: &[Operation] = &Domain::Sandbox.table([
    Operation {
        path: "/_sandbox/scenarios",
        summary: "List scenarios",
        description: "Lists every scenario that can be loaded, ordered by name, and whether it runs in this \
            key's world.",
        ..operation!(tester list_scenarios)
    },
    Operation {
        method: Method::Post,
        path: "/_sandbox/scenarios/{name}/load",
        summary: "Load a scenario",
        description: "Runs a scenario in this key's world and ends the running ones. If the \
            scenario defines its world, that world replaces the current one, unless `keep_world` \
            is true. A refused load changes nothing.",
        example: r#"{"name":"partial-failure"}"#,
        errors: &[ErrorCode::UnknownScenario],
        long: true,
        ..operation!(tester load_scenario)
    },
    Operation {
        method: Method::Delete,
        path: "/_sandbox/scenarios/current",
        summary: "End the scenario",
        description: "Ends all running scenarios. Past events stay, and so do rules added at run \
            time.",
        ..operation!(tester end_scenario)
    },
    Operation {
        path: "/_sandbox/scenarios/coverage",
        summary: "Read the coverage",
        description: "Lists every row of the running scenarios with its counters. A row with zero \
            hits may be unable to act.",
        long: true,
        ..operation!(tester get_coverage)
    },
]);

/// A scenario.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ScenarioSummary {
    /// The name to load it with.
    name: String,
    /// Its title.
    title: String,
    /// A description.
    about: String,
    /// Whether it runs in this key's world.
    running: bool,
}

fn list_scenarios(session: &mut Session<'_>, _: Nothing) -> Result<List<ScenarioSummary>> {
    let running = |name: &str| session.tester.scenarios.iter().any(|other| other.name == name);
    let all = session.host.scenarios();
    let scenarios = all.iter().map(|scenario| ScenarioSummary {
        name: scenario.name.clone(),
        title: scenario.title.clone(),
        about: scenario.about.clone(),
        running: running(&scenario.name),
    });
    Ok(List::whole(scenarios.collect()))
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct LoadScenario {
    /// The scenario's name.
    name: Text<128>,
    /// Keep the current world, even if the scenario defines one.
    #[serde(default)]
    keep_world: bool,
    /// Keep the running scenarios; the new rows are evaluated after theirs.
    #[serde(default)]
    add: bool,
}

/// A scenario that was loaded.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "LoadedScenario")]
pub(crate) struct Loaded {
    /// Its name.
    name: String,
    /// Its title.
    title: String,
    /// Whether the world was replaced.
    regrown: bool,
    /// Virtual time.
    now: Timestamp,
}

fn load_scenario(session: &mut Session<'_>, input: LoadScenario) -> Result<Plain<Loaded>> {
    let scenario = session.host.scenario(input.name.as_str())?;
    let grown = !input.keep_world && !scenario.world.is_empty();
    let base = grown.then(|| scenario.world.base(session.world.base()));
    let base = base.transpose().map_err(|detail| {
        ApiError::new(
            ErrorCode::ValidationFailed,
            format!("[world] of {}: {detail}", scenario.name),
        )
    })?;
    if !input.add {
        session.end_scenarios();
    }
    if let Some(base) = base {
        let mode = scenario.world.clock.unwrap_or(session.world.mode());
        session.world.restart(base, mode);
    }
    let (name, title) = (scenario.name.clone(), scenario.title.clone());
    session.begin_scenario(scenario);
    if grown {
        session.world.begins_here();
    }
    Ok(Plain(Loaded { name, title, regrown: grown, now: session.world.now() }))
}

/// The ended scenarios.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "EndedScenarios")]
pub(crate) struct Ended {
    /// Names of the scenarios that were running.
    ended: Vec<String>,
}

fn end_scenario(session: &mut Session<'_>, _: Nothing) -> Result<Plain<Ended>> {
    let name = |scenario: &Arc<Scenario>| scenario.name.clone();
    let ended = session.tester.scenarios.iter().map(name).collect();
    session.end_scenarios();
    Ok(Plain(Ended { ended }))
}

/// What the running scenarios have done so far.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Coverage {
    /// Names of the running scenarios.
    scenarios: Vec<String>,
    /// The rows, in the order of evaluation.
    rows: Vec<RowCoverage>,
    /// Number of rows that have acted.
    hit: u64,
    /// Total number of rows.
    total: u64,
}

/// The counters of one row.
#[derive(Serialize, JsonSchema)]
pub(crate) struct RowCoverage {
    /// The table of the row.
    kind: &'static str,
    /// Its file and line.
    source: String,
    /// What the row applies to.
    on: String,
    /// Number of times that it was applied.
    hits: u64,
    /// Why its last action was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<String>,
}

fn get_coverage(session: &mut Session<'_>, _: Nothing) -> Result<Plain<Coverage>> {
    let rows = session.coverage();
    let names = session.tester.scenarios.iter().map(|scenario| scenario.name.clone());
    Ok(Plain(Coverage {
        scenarios: names.collect(),
        hit: rows.iter().filter(|row| row.hits > 0).count() as u64,
        total: rows.len() as u64,
        rows,
    }))
}

impl Session<'_> {
    /// Runs a scenario in addition to the running ones.
    pub(crate) fn begin_scenario(&mut self, scenario: Arc<Scenario>) {
        self.world.load(&scenario);
        self.tester.scenarios.push(scenario);
        self.tester.follow_scenarios(self.world.base());
    }

    pub(crate) fn end_scenarios(&mut self) {
        self.world.unload();
        self.tester.scenarios.clear();
        self.tester.follow_scenarios(self.world.base());
    }

    fn coverage(&self) -> Vec<RowCoverage> {
        let script = self.world.script();
        let row = |kind, source: &str, on: &str, hits| RowCoverage {
            kind,
            source: source.to_owned(),
            on: on.to_owned(),
            hits,
            refused: None,
        };
        let outcomes = script.outcomes.iter().map(|state| {
            let kind = if state.rule.is_some() { "rule" } else { "outcome" };
            row(kind, &state.row.source, &state.row.on, state.hits)
        });
        let webhooks = self.tester.outbox.shaping().hits();
        let webhooks = webhooks.map(|(shape, hits)| row("webhook", &shape.source, &shape.on, hits));
        let faults = self.tester.wire.rows().iter();
        let faults = faults.map(|armed| row("fault", &armed.row.source, &armed.row.on, armed.hits));
        let timeline = script.timeline.iter().map(|state| RowCoverage {
            refused: state.refused.clone(),
            ..row("timeline", &state.row.source, state.row.does.name(), state.hits)
        });
        outcomes.chain(webhooks).chain(faults).chain(timeline).collect()
    }
}
