//! Scenarios of one world: which can be loaded, which run, and which rows have acted.

use crate::api::check::suggestion;
use crate::api::control::import;
use crate::api::control::intervene::remove_added;
use crate::api::prelude::*;
use crate::world::script::{Scenario, imports};
use crate::world::{Base, ClockMode};

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
        path: "/_sandbox/scenarios",
        summary: "Add a scenario",
        description: "Adds a scenario, given as the text of a file, for this key only, and runs it \
            like a load. A reset keeps it. A text with mistakes is refused with the report of \
            `sandbox scenario check`, and changes nothing. It can include shipped scenarios only. \
            A key can add at most 100 scenarios. A scenario of the same name is replaced.",
        example: r#"{"name":"refused-payouts","text":"title = \"Every payout fails\"\n\n[[outcome]]\non = \"payout.settle\"\nthen = \"failed\"\n"}"#,
        success: 201,
        long: true,
        ..operation!(tester add_scenario)
    },
    Operation {
        method: Method::Post,
        path: "/_sandbox/scenarios/{name}/load",
        summary: "Load a scenario",
        description: "Runs a scenario in this key's world and ends the running ones. If the \
            scenario defines its world, that world replaces the current one, unless `keep_world` \
            is true. A refused load changes nothing.",
        example: r#"{"name":"partial-failure"}"#,
        errors: &[ErrorCode::ResourceNotFound],
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
        description: "Lists every row of the running scenarios with its counters. A row with zero hits had no effect so far.",
        long: true,
        ..operation!(tester get_coverage)
    },
]);

/// A scenario.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ScenarioSummary {
    /// The name to load it with.
    name: String,
    /// The title of the scenario.
    title: String,
    /// What happens in the scenario, in a few sentences.
    about: String,
    /// Whether the scenario is running in this key's world.
    running: bool,
    /// Whether it defines a world, so that loading it replaces the current one unless `keep_world` is true.
    sets_world: bool,
}

fn list_scenarios(session: &mut Session<'_>, _: Nothing) -> Result<List<ScenarioSummary>> {
    let running = |name: &str| session.tester.scenarios.iter().any(|other| other.name == name);
    let mut all = session.tester.own.clone();
    let others = session.host.scenarios();
    let is_new = |other: &Arc<Scenario>| all.iter().all(|own| own.name != other.name);
    let others: Vec<_> = others.into_iter().filter(is_new).collect();
    all.extend(others);
    let scenarios = all.iter().map(|scenario| ScenarioSummary {
        name: scenario.name.clone(),
        title: scenario.title.clone(),
        about: scenario.about.clone(),
        running: running(&scenario.name),
        sets_world: !scenario.world.is_empty(),
    });
    Ok(List::whole(scenarios.collect()))
}

/// Maximum number of scenarios that one key can add.
const MOST_OWN: usize = 100;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct AddScenario {
    /// The name with which the scenario can be loaded again.
    #[schemars(regex(pattern = r"^[a-z0-9][a-z0-9_-]*$"), length(min = 1, max = 64))]
    name: Text<64>,
    /// The text of a scenario file, in TOML.
    #[schemars(length(min = 1, max = 1_048_576))]
    text: String,
    /// Run it at once. Default: true.
    run: Option<bool>,
    /// Keep the current world, even if the scenario defines one.
    #[serde(default)]
    keep_world: bool,
    /// Keep the running scenarios; the new rows are evaluated after theirs. A running scenario cannot be added again.
    #[serde(default)]
    add: bool,
}

/// A scenario that was added.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AddedScenario")]
pub(crate) struct Added {
    /// The name of the scenario.
    name: String,
    /// The title of the scenario.
    title: String,
    /// Whether the scenario is running in this key's world.
    running: bool,
    /// Whether the world was replaced.
    regrown: bool,
    /// The current virtual time of the world.
    now: Timestamp,
}

fn add_scenario(session: &mut Session<'_>, input: AddScenario) -> Result<Plain<Added>> {
    let name = input.name.as_str();
    let scenario = session.host.read_scenario(name, &input.text)?;
    let own = &session.tester.own;
    if own.len() >= MOST_OWN && own.iter().all(|other| other.name != name) {
        let detail =
            format!("a key can add at most {MOST_OWN} scenarios: replace one, or delete the world");
        return Err(ApiError::of_member("/name", "too_many", detail));
    }
    let runs = input.run.unwrap_or(true);
    let regrown = if runs { run(session, &scenario, input.keep_world, input.add)? } else { false };
    let own = &mut session.tester.own;
    own.retain(|other| other.name != scenario.name);
    own.push(Arc::clone(&scenario));
    Ok(Plain(Added {
        name: scenario.name.clone(),
        title: scenario.title.clone(),
        running: runs,
        regrown,
        now: session.world.now(),
    }))
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct LoadScenario {
    /// The scenario's name.
    name: Text<128>,
    /// Keep the current world, even if the scenario defines one.
    #[serde(default)]
    keep_world: bool,
    /// Keep the running scenarios; the new rows are evaluated after theirs. A running scenario cannot be added again.
    #[serde(default)]
    add: bool,
}

/// A scenario that was loaded.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "LoadedScenario")]
pub(crate) struct Loaded {
    /// The name of the scenario.
    name: String,
    /// The title of the scenario.
    title: String,
    /// Whether the world was replaced.
    regrown: bool,
    /// The current virtual time of the world.
    now: Timestamp,
}

fn load_scenario(session: &mut Session<'_>, input: LoadScenario) -> Result<Plain<Loaded>> {
    let name = input.name.as_str();
    let scenario = session.scenario(name).map_err(|_| not_found(session, name))?;
    let regrown = run(session, &scenario, input.keep_world, input.add)?;
    let (name, title) = (scenario.name.clone(), scenario.title.clone());
    Ok(Plain(Loaded { name, title, regrown, now: session.world.now() }))
}

/// The 404 of a scenario, with similar names.
fn not_found(session: &Session<'_>, name: &str) -> ApiError {
    let known = session.tester.own.iter().cloned().chain(session.host.scenarios());
    let known: Vec<String> = known.map(|scenario| scenario.name.clone()).collect();
    let near = suggestion(name, known.iter().map(String::as_str));
    let detail = format!("there is no scenario {name:?}{near}; GET /_sandbox/scenarios lists all");
    ApiError::new(ErrorCode::ResourceNotFound, detail)
}

/// Runs a scenario in the world. Returns whether the world was replaced.
fn run(
    session: &mut Session<'_>,
    scenario: &Arc<Scenario>,
    keep_world: bool,
    add: bool,
) -> Result<bool> {
    let mut running = session.tester.scenarios.iter().filter(|other| !other.is_import());
    if add && running.any(|other| other.name == scenario.name) {
        let detail = format!(
            "the scenario {:?} is running: omit `add` to end all running ones and start it again",
            scenario.name
        );
        return Err(ApiError::of_member("/add", "already_running", detail));
    }
    let grown = !keep_world && !scenario.world.is_empty();
    let base = grown.then(|| scenario.world.base(session.world.base()));
    let base = base.transpose().map_err(|detail| {
        ApiError::new(
            ErrorCode::ValidationFailed,
            format!("[world] of {}: {detail}", scenario.name),
        )
    })?;
    let mode = scenario.world.clock.unwrap_or(session.world.mode());
    let world = base.map(|base| session.restarted(base, mode)).transpose()?;
    if !add {
        session.end_scenarios();
    }
    if let Some(world) = world {
        session.world.replace(world);
        remove_added(session); // as after a reset
        let running = session.tester.scenarios.iter().filter(|other| !other.is_import());
        running.for_each(|other| session.world.load(other));
    }
    session.begin_scenario(Arc::clone(scenario));
    if grown {
        session.begins_here();
    }
    Ok(grown)
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
    let running = session.tester.scenarios.iter().filter(|scenario| !scenario.is_import());
    let ended = running.map(name).collect();
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
    /// The file and the line of the row.
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
    /// The scenario with that name: one that the key added, or one of the server.
    pub(crate) fn scenario(&self, name: &str) -> Result<Arc<Scenario>> {
        let own = self.tester.own.iter().find(|own| own.name == name);
        own.map_or_else(|| self.host.scenario(name), |own| Ok(Arc::clone(own)))
    }

    /// Runs a scenario in addition to the running ones.
    pub(crate) fn begin_scenario(&mut self, scenario: Arc<Scenario>) {
        self.world.load(&scenario);
        self.tester.scenarios.push(scenario);
        self.tester.follow_scenarios(self.world.base());
    }

    /// Ends all scenarios except imports, which belong to the start of the world.
    pub(crate) fn end_scenarios(&mut self) {
        self.world.unload();
        self.tester.scenarios.retain(|scenario| scenario.is_import());
        for import in &self.tester.scenarios {
            self.world.load(import);
        }
        self.tester.follow_scenarios(self.world.base());
    }

    /// A new world with that base, with its imports but without other scenarios.
    pub(crate) fn restarted(&self, base: Arc<Base>, mode: ClockMode) -> Result<World> {
        let mut world = self.world.clone();
        world.restart(base, mode);
        import::begin(&mut world, &self.tester.scenarios)?;
        Ok(world)
    }

    /// The imports and the loaded scenarios are the world's start.
    pub(crate) fn begins_here(&mut self) {
        self.world.begins_here(imports(&self.tester.scenarios));
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
