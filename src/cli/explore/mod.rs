//! `sandbox explore`: runs a command with every possible outcome of the outside world, alone and combined, each on a
//! fork of one world. The smallest outcome that makes it fail is written to a scenario file.
//!
//! | file | content |
//! |---|---|
//! | `args` | the flags |
//! | `outcome` | decisions that are made otherwise, their order, and their scenario file |
//! | `findings` | the scenario files, and the lines that report them |
//! | `trial` | one run in a fork, and what it left |
//! | `search` | all outcomes in order, without those that lead to the same |
//! | `shrink` | the smallest outcome that fails in the same way |
//! | `state` | the file from which an exploration continues |

mod args;
mod findings;
mod outcome;
mod search;
mod shrink;
mod state;
mod trial;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

pub(super) use self::args::ExploreArgs;

use crate::cli::explore::args::{Options, Subject};
use crate::cli::explore::findings::Folder;
use crate::cli::explore::search::Search;
use crate::cli::explore::state::{Header, State};
use crate::cli::explore::trial::Explored;
use crate::cli::failure::{Failure, complain, print};
use crate::cli::lab::{self, Site};
use crate::cli::scenario;
use crate::model::decision::DECISIONS;
use crate::world::log_hashes;
use crate::world::script::Scenario;

/// Explores: 0 without a failure, 1 with one, 2 if nothing could be explored.
pub(super) fn run(args: &ExploreArgs) -> ExitCode {
    match explore(args) {
        Ok(false) => ExitCode::SUCCESS,
        Ok(true) => ExitCode::from(1),
        Err(Failure::Report(report)) => {
            eprintln!("{}", report.trim_end());
            ExitCode::from(2)
        }
        Err(failure) => complain(&failure.to_string(), 2),
    }
}

/// Whether an outcome makes the command fail.
fn explore(args: &ExploreArgs) -> Result<bool, Failure> {
    let options = args.options()?;
    let folder = args.replay.is_none().then(|| Folder::open(&args.out)).transpose()?;
    lab::end_with_us();
    let mut site = args.lab.site(args.clock())?;
    let steps = match &options.subject {
        Subject::Steps(file) => Some(steps(file, &mut site)?),
        Subject::Command(_) => None,
    };
    if let Some(file) = &args.replay {
        return replay(file, site, &options, steps.as_ref());
    }
    let explored = Explored::open(&site, &options, steps.as_ref())?;
    if explored.sites.is_empty() {
        let why = "the outside world decided nothing in the run, so there is nothing to explore";
        return Err(Failure::Usage(why.to_owned()));
    }
    let state = match &args.state {
        Some(path) => State::open(path, &header(&explored))?,
        None => State::none(),
    };
    let mut search = Search::new(&explored, steps.as_ref(), state);
    search.run()?;
    let written = folder.map_or(Ok(()), |folder| folder.report(&search.findings, args, &options));
    print(&search.summary())?;
    written?;
    Ok(!search.findings.is_empty())
}

/// The scenario of the steps. Its rows and its world are those of every run.
fn steps(file: &Path, site: &mut Site) -> Result<Arc<Scenario>, Failure> {
    let found = Arc::new(scenario::find(&file.display().to_string())?);
    let refuse = |why| Err(Failure::Usage(format!("--steps {}: {why}", file.display())));
    if found.steps.is_empty() {
        return refuse("the scenario has no steps");
    }
    if !found.expect.deliveries.is_empty() {
        return refuse("expected deliveries need `sandbox scenario test`, which has a receiver");
    }
    if let Site::Own(growth) = site {
        growth.add(Arc::clone(&found))?;
    }
    Ok(found)
}

/// Runs once with the outcomes of a file. True if the failure still occurs.
fn replay(
    file: &Path,
    mut site: Site,
    options: &Options,
    steps: Option<&Arc<Scenario>>,
) -> Result<bool, Failure> {
    let found = scenario::find(&file.display().to_string())?;
    if found.outcomes.is_empty() {
        let why = "the scenario has no [[outcome]]";
        return Err(Failure::Usage(format!("--replay {}: {why}", file.display())));
    }
    let text = std::fs::read_to_string(file)
        .map_err(|error| Failure::Usage(format!("--replay {}: {error}", file.display())))?;
    if let Site::Own(growth) = &mut site {
        growth.take_world(&found.world)?;
    }
    let explored = Explored::open(&site, options, steps)?;
    let Some(seen) = explored.run_scenario(&found, &text)? else {
        let why = "no outcome of it was reached, so nothing is known";
        return Err(Failure::Usage(format!("--replay {}: {why}", file.display())));
    };
    let says = match &seen.broken {
        Some(broken) => format!("{}: {}\n{}", found.title, broken.words(), seen.printed),
        None => format!("{}: the failure is gone\n", found.title),
    };
    print(&says)?;
    Ok(seen.broken.is_some())
}

fn header(explored: &Explored) -> Header {
    let options = &explored.options;
    let decisions: Vec<_> = DECISIONS
        .iter()
        .map(|row| (row.name, row.choices.iter().map(|choice| choice.name).collect::<Vec<_>>()))
        .collect();
    let command = format!("{:?} {:?} {}", options.subject, options.check, options.depth);
    Header {
        format: 1,
        seed: explored.growth.as_ref().map(|growth| growth.seed),
        usual: explored.usual_effects(),
        decisions: log_hashes::of(&decisions),
        command: log_hashes::of(&command),
    }
}
