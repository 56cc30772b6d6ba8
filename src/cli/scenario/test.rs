//! `sandbox scenario test`: runs the steps of scenarios, each twice in a fresh world, and prints the results.

use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use serde_json::{Value, json};

use crate::cli::counted::counted;
use crate::cli::failure::{Failure, print};
use crate::cli::import::files;
use crate::cli::junit::{self, Case, Verdict};
use crate::cli::offered::Offered;
use crate::cli::report_file::ReportFile;
use crate::cli::scenario::check;
use crate::cli::scenario::server::Served;
use crate::scenario::{self, RunReport};
use crate::world::script::Scenario;
use crate::world::{Base, ClockMode, Shape, World};

/// The seed of a scenario that names none.
const SEED: u64 = 42;

/// The arguments of `sandbox scenario test`.
#[derive(Args, Debug)]
pub(super) struct TestArgs {
    /// Scenario files, or names of shipped scenarios
    #[arg(required = true, value_name = "FILE|NAME", value_parser = Offered::SCENARIOS, hide_possible_values = true)]
    scenarios: Vec<String>,
    /// Start the world with companies and people of your own: an import file, or a folder of them; repeatable
    #[arg(long, value_name = "FILE|DIR")]
    import: Vec<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Write the results to this file as JUnit XML, for CI services: one test case for each scenario
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
}

/// One scenario's run.
struct Tested {
    name: String,
    outcome: RunReport,
    /// The first event in which a second run differs.
    differing: Option<usize>,
}

impl Tested {
    fn passed(&self) -> bool {
        self.outcome.passed() && self.differing.is_none()
    }
}

/// Runs all scenarios, also after a failure.
pub(super) fn run(args: &TestArgs) -> Result<(), Failure> {
    let junit = args.junit.as_deref();
    let junit = junit.map(|path| ReportFile::check("--junit", path)).transpose()?;
    let mut tested = Vec::new();
    let done = run_all(args, &mut tested);
    if let Some(junit) = junit {
        let cases = cases(args, &tested, done.as_ref().err());
        junit.write(&junit::document("sandbox scenario test", &cases))?;
    }
    done?;
    match (tested.iter().filter(|tested| !tested.passed()).count(), tested.len()) {
        (0, _) => Ok(()),
        (_, 1) => Err(Failure::Impossible("the result differs from the expected one".to_owned())),
        (failed, all) => {
            Err(Failure::Impossible(format!("{failed} of {all} scenarios have a different result")))
        }
    }
}

/// Runs the scenarios, until one cannot be run.
fn run_all(args: &TestArgs, all: &mut Vec<Tested>) -> Result<(), Failure> {
    for wanted in &args.scenarios {
        let scenario = Arc::new(find(wanted)?);
        let imports = imports(args, &scenario)?;
        let tested = test(&scenario, &imports)
            .map_err(|why| Failure::Impossible(format!("{}: {why}", scenario.name)))?;
        if !args.json {
            print(&as_text(&tested))?;
        }
        all.push(tested);
    }
    if args.json {
        print(&format!("{:#}\n", Value::Array(all.iter().map(as_json).collect())))?;
    }
    Ok(())
}

/// The imports, checked in the world of the scenario.
fn imports(args: &TestArgs, scenario: &Scenario) -> Result<Vec<Arc<Scenario>>, Failure> {
    let base =
        Base::new(scenario.world.seed.unwrap_or(SEED), scenario.world.shape(Shape::default()));
    let mode = scenario.world.clock.unwrap_or(ClockMode::Instant);
    let (mut world, mut imports) = (World::new(base.into(), mode), Vec::new());
    for path in &args.import {
        let (import, after) = files::load(path, &world)?;
        imports.push(import);
        world = after;
    }
    Ok(imports)
}

/// A case for each scenario: those that ran, the one that could not be run, those after it.
fn cases(args: &TestArgs, tested: &[Tested], error: Option<&Failure>) -> Vec<Case> {
    let ran = tested.iter().map(|tested| {
        let verdict = match first_difference(tested) {
            None => Verdict::Passed,
            Some(first) => Verdict::Failed { kind: None, message: first, report: as_text(tested) },
        };
        Case { class: "scenario".to_owned(), name: tested.name.clone(), verdict }
    });
    let rest = args.scenarios.iter().skip(tested.len()).enumerate().map(|(place, wanted)| {
        let verdict = match error {
            Some(error) if place == 0 => Verdict::Error(error.to_string()),
            _ => Verdict::Skipped(None),
        };
        Case { class: "scenario".to_owned(), name: wanted.clone(), verdict }
    });
    ran.chain(rest).collect()
}

/// Finds a shipped scenario by its name, or else reads a file.
pub(in crate::cli) fn find(wanted: &str) -> Result<Scenario, Failure> {
    if let Ok(shipped) = scenario::find(wanted) {
        return Ok(Scenario::clone(&shipped));
    }
    let is_file = wanted.contains(['/', '\\', '.']);
    if !is_file && !std::path::Path::new(wanted).exists() {
        return Err(Failure::Impossible(scenario::unknown(wanted)));
    }
    check::load(wanted).ok_or_else(|| Failure::Impossible(format!("{wanted} cannot be used")))
}

fn test(scenario: &Arc<Scenario>, imports: &[Arc<Scenario>]) -> Result<Tested, String> {
    let once = || scenario::run(scenario, &mut Served::start(scenario, imports)?);
    let (outcome, again) = (once()?, once()?);
    // Both runs are compared as text, the bytes that a client reads.
    let lines = |outcome: &RunReport| -> Vec<String> {
        outcome.events.iter().map(Value::to_string).collect()
    };
    let (first, second) = (lines(&outcome), lines(&again));
    let longest = first.len().max(second.len());
    let differing = (0..longest).find(|&place| first.get(place) != second.get(place));
    Ok(Tested { name: scenario.name.clone(), outcome, differing })
}

/// Why a scenario has not passed, in a line.
fn first_difference(tested: &Tested) -> Option<String> {
    let outcome = &tested.outcome;
    let of_a_step = outcome.steps.iter().find_map(|step| {
        let it = step.differences.first()?;
        Some(format!(
            "{} {}: {}: expected {}, got {}",
            step.source, step.step, it.at, it.expected, it.came
        ))
    });
    let of_the_end = || {
        let it = outcome.differences.first()?;
        Some(format!("{}: expected {}, got {}", it.at, it.expected, it.came))
    };
    let of_the_second_run = || {
        let place = ordinal(tested.differing? + 1);
        Some(format!("not deterministic: the {place} event of a second run differs"))
    };
    of_a_step.or_else(of_the_end).or_else(of_the_second_run)
}

fn as_text(tested: &Tested) -> String {
    let outcome = &tested.outcome;
    let mut text = format!("{}\n", tested.name);
    for step in &outcome.steps {
        let verdict = if step.differences.is_empty() { "ok" } else { "NOT" };
        let came = step.came.as_ref().map(|came| format!(" → {came}"));
        let _ = writeln!(
            text,
            "  {verdict:<4}{}  {}{}",
            step.source,
            step.step,
            came.unwrap_or_default()
        );
        for it in &step.differences {
            let _ = writeln!(text, "        {}: expected {}, got {}", it.at, it.expected, it.came);
        }
    }
    for it in &outcome.differences {
        let _ = writeln!(text, "  NOT {}: expected {}", it.at, it.expected);
        let _ = writeln!(text, "        got {}", it.came);
    }
    if let Some(place) = tested.differing {
        let _ = writeln!(
            text,
            "  NOT deterministic: the {} event of a second run differs",
            ordinal(place + 1)
        );
    }
    let hit = outcome.rows.iter().filter(|row| row.hits > 0).count();
    if !outcome.rows.is_empty() {
        let _ = writeln!(text, "  rows that acted: {hit} of {}", outcome.rows.len());
    }
    for row in outcome.rows.iter().filter(|row| row.hits == 0) {
        let _ = writeln!(text, "        {} never acted", row.source);
    }
    for row in &outcome.rows {
        if let Some(why) = &row.refused {
            let _ = writeln!(text, "        {} was refused: {why}", row.source);
        }
    }
    let count = outcome.differences() + usize::from(tested.differing.is_some());
    let verdict = match count {
        0 => "  as expected".to_owned(),
        1 => "  1 difference".to_owned(),
        many => format!("  {many} differences"),
    };
    let events = counted(outcome.events.len() as u64, "event", "events");
    let _ = writeln!(text, "{verdict}, {events}");
    text
}

fn ordinal(place: usize) -> String {
    let ending = match (place % 10, place % 100) {
        (1, last) if last != 11 => "st",
        (2, last) if last != 12 => "nd",
        (3, last) if last != 13 => "rd",
        _ => "th",
    };
    format!("{place}{ending}")
}

fn as_json(tested: &Tested) -> Value {
    let mut value = json!({
        "name": tested.name,
        "passed": tested.passed(),
        "events": tested.outcome.events.len(),
        "first_differing_event": tested.differing.map(|place| place + 1),
    });
    if let (Some(whole), Ok(Value::Object(part))) =
        (value.as_object_mut(), serde_json::to_value(&tested.outcome))
    {
        whole.extend(part);
    }
    value
}
