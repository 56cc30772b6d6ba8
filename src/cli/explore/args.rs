//! The flags of `sandbox explore`.

use std::path::PathBuf;
use std::thread::available_parallelism;
use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::cli::failure::Failure;
use crate::cli::lab::LabArgs;
use crate::tester::fault::wall_ms;
use crate::world::ClockMode;

/// The default of `--timeout`.
pub(super) const TIMEOUT: Duration = Duration::from_secs(60);

/// The arguments of `sandbox explore`.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  \
        sandbox explore --check 'python3 check.py' -- python3 pay_suppliers.py\n\n\
        The command gets SANDBOX_URL, SANDBOX_KEY, SANDBOX_NOW (the world's time) and SANDBOX_EXAM_DIR (a folder for its own \
        database), and the check gets the same variables.\n\n\
        Exit codes: 0 nothing was found, 1 an outcome makes the command or the check fail, 2 nothing could be explored or wrong usage.")]
pub(in crate::cli) struct ExploreArgs {
    #[command(flatten)]
    pub(super) lab: LabArgs,
    /// A shell command that must exit with 0 if the state is right. Without --check, the exit code of COMMAND decides
    #[arg(long, value_name = "COMMAND")]
    check: Option<String>,
    /// Stop after this time, or after this number of outcomes
    #[arg(long, default_value = "60s", value_name = "TIME|N", value_parser = budget)]
    budget: Budget,
    /// Maximum number of changed outcomes in one run
    #[arg(long, default_value_t = 2, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=4))]
    depth: u64,
    /// Save the progress in this file; the same command continues from it
    #[arg(long, value_name = "FILE")]
    pub(super) state: Option<PathBuf>,
    /// The folder of the scenario files that are found
    #[arg(long, default_value = "sandbox-findings", value_name = "DIR")]
    pub(super) out: PathBuf,
    /// Runs at the same time [default: the number of processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=64))]
    jobs: Option<u64>,
    /// How long the command and the check may run
    #[arg(long, default_value = "60s", value_name = "TIME", value_parser = time)]
    timeout: Duration,
    /// The clock of the world: with `manual`, the command advances it; with `instant`, money arrives at once
    #[arg(long, value_enum, default_value = "manual", conflicts_with = "url")]
    clock: Clock,
    /// Run the steps of this scenario instead of a command
    #[arg(long, value_name = "FILE", conflicts_with_all = ["command", "url"])]
    steps: Option<PathBuf>,
    /// Run once, with the outcomes of this scenario file, and say whether the failure is still there
    #[arg(long, value_name = "FILE", conflicts_with = "state")]
    pub(super) replay: Option<PathBuf>,
    /// The command that runs the app
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// The clocks that an exploration can have.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Clock {
    Manual,
    Instant,
}

/// When an exploration stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Budget {
    Time(Duration),
    Outcomes(usize),
}

/// The subject of every run: a command or a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Subject {
    Command(Vec<String>),
    Steps(PathBuf),
}

/// The checked flags.
#[derive(Clone, Debug)]
pub(super) struct Options {
    pub(super) subject: Subject,
    pub(super) check: Option<String>,
    pub(super) budget: Budget,
    pub(super) depth: usize,
    pub(super) jobs: usize,
    pub(super) timeout: Duration,
}

fn time(text: &str) -> Result<Duration, &'static str> {
    match wall_ms(text)? {
        0 => Err("expected a time above zero"),
        ms => Ok(Duration::from_millis(ms)),
    }
}

fn budget(text: &str) -> Result<Budget, &'static str> {
    const EXPECTED: &str =
        "expected a duration such as 60s, at most 10m, or a number of outcomes above zero";
    match text.parse() {
        Ok(0) => Err(EXPECTED),
        Ok(outcomes) => Ok(Budget::Outcomes(outcomes)),
        Err(_) => time(text).map(Budget::Time).map_err(|_| EXPECTED),
    }
}

impl ExploreArgs {
    pub(super) const fn clock(&self) -> ClockMode {
        match self.clock {
            Clock::Manual => ClockMode::Manual,
            Clock::Instant => ClockMode::Instant,
        }
    }

    pub(super) fn options(&self) -> Result<Options, Failure> {
        let subject = match &self.steps {
            Some(file) => Subject::Steps(file.clone()),
            None if self.command.is_empty() => {
                let why = "expected a command after --, or --steps FILE";
                return Err(Failure::Usage(why.to_owned()));
            }
            None => Subject::Command(self.command.clone()),
        };
        if self.check.as_ref().is_some_and(|check| check.trim().is_empty()) {
            return Err(Failure::Usage("--check: expected a command".to_owned()));
        }
        let jobs = self.jobs.and_then(|jobs| usize::try_from(jobs).ok());
        Ok(Options {
            subject,
            check: self.check.clone(),
            budget: self.budget,
            depth: usize::try_from(self.depth).unwrap_or(usize::MAX),
            jobs: jobs.unwrap_or_else(|| available_parallelism().map_or(1, usize::from)),
            timeout: self.timeout,
        })
    }
}
