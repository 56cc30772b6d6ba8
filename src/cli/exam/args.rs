//! The flags of `sandbox exam`.

use std::path::PathBuf;
use std::thread::available_parallelism;
use std::time::Duration;

use clap::Args;

use crate::api;
use crate::api::operation::Operation;
use crate::cli::failure::Failure;
use crate::cli::lab::{Lab, LabArgs};
use crate::tester::fault::wall_ms;
use crate::value::diagnostic::nearest;

/// The arguments of `sandbox exam`.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  \
        sandbox exam -- python3 pay_suppliers.py\n\n\
        The command gets SANDBOX_URL, SANDBOX_KEY, SANDBOX_NOW (the world's time) and SANDBOX_EXAM_DIR (a folder for its own \
        database).\nThe command must exit with 0 if its work is done, with 75 if it must be started again, and with another code if it failed.\n\n\
        Exit codes: 0 no case failed, 1 a case failed, 2 nothing could be judged or wrong usage.")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(in crate::cli) struct ExamArgs {
    #[command(flatten)]
    pub(super) lab: LabArgs,
    /// Only inject failures into calls of this operation, such as `createPayout`; repeatable
    #[arg(long, value_name = "OPERATION")]
    on: Vec<String>,
    /// Only this case, such as `lost_reply`; repeatable
    #[arg(long, value_name = "NAME")]
    case: Vec<String>,
    /// Also inject failures into reads (GET)
    #[arg(long)]
    reads: bool,
    /// Where the command receives webhooks. `{port}` is replaced by a free port in each run
    #[arg(long, value_name = "URL")]
    pub(super) webhook: Option<String>,
    /// How long the command may run
    #[arg(long, default_value = "60s", value_name = "TIME", value_parser = time)]
    timeout: Duration,
    /// The delay of the reply in the case `slow`
    #[arg(long, default_value = "35s", value_name = "TIME", value_parser = time)]
    slow: Duration,
    /// Runs at the same time [default: the number of processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=64))]
    jobs: Option<u64>,
    /// The exit code of the command that means "not known, start me again"
    #[arg(long, default_value_t = 75, value_name = "N", value_parser = clap::value_parser!(i32).range(1..=255))]
    unknown_exit: i32,
    /// Treat warnings as failures
    #[arg(long)]
    strict: bool,
    /// Report an accepted invalid webhook as a warning; for apps that read the state after every webhook
    #[arg(long)]
    hooks_are_hints: bool,
    /// Write the report to this file as JSON; `-` prints it instead of the text
    #[arg(long, value_name = "FILE")]
    pub(super) json: Option<PathBuf>,
    /// Write the report to this file as JUnit XML
    #[arg(long, value_name = "FILE")]
    pub(super) junit: Option<PathBuf>,
    /// Print every case, not only those that failed or were not exercised
    #[arg(long, short)]
    pub(super) verbose: bool,
    /// The command that runs the app
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// The world and the flags.
pub(super) struct Exam {
    pub(super) lab: Lab,
    pub(super) options: Options,
}

/// The checked flags.
#[derive(Clone, Debug)]
pub(super) struct Options {
    pub(super) on: Vec<String>,
    pub(super) cases: Vec<String>,
    pub(super) reads: bool,
    pub(super) webhook: Option<String>,
    pub(super) timeout: Duration,
    pub(super) slow: Duration,
    pub(super) jobs: usize,
    pub(super) unknown_exit: i32,
    pub(super) strict: bool,
    pub(super) hooks_are_hints: bool,
    pub(super) command: Vec<String>,
}

fn time(text: &str) -> Result<Duration, &'static str> {
    match wall_ms(text)? {
        0 => Err("expected a time above zero"),
        ms => Ok(Duration::from_millis(ms)),
    }
}

impl ExamArgs {
    /// Refuses unknown names and flags that do not fit together.
    pub(super) fn check(&self) -> Result<Options, Failure> {
        let known: Vec<String> = api::product().map(Operation::operation_id).collect();
        for name in &self.on {
            check_name("--on", "operation", name, known.iter().map(String::as_str))?;
        }
        let webhook = self.webhook.as_deref();
        if let Some(url) = webhook.filter(|url| !url.starts_with("http://")) {
            return Err(Failure::Usage(format!("--webhook {url}: expected a URL with http://")));
        }
        if self.hooks_are_hints && webhook.is_none() {
            return Err(Failure::Usage("--hooks-are-hints needs --webhook URL".to_owned()));
        }
        let has_fixed_port = webhook.is_some_and(|url| !url.contains("{port}"));
        let processors = available_parallelism().map_or(1, usize::from);
        let jobs = self.jobs.and_then(|jobs| usize::try_from(jobs).ok());
        if has_fixed_port && jobs.is_some_and(|jobs| jobs > 1) {
            let why = "--jobs above 1 needs {port} in the URL of --webhook, so that each run has its own port";
            return Err(Failure::Usage(why.to_owned()));
        }
        Ok(Options {
            on: self.on.clone(),
            cases: self.case.clone(),
            reads: self.reads,
            webhook: self.webhook.clone(),
            timeout: self.timeout,
            slow: self.slow,
            jobs: if has_fixed_port { 1 } else { jobs.unwrap_or(processors) },
            unknown_exit: self.unknown_exit,
            strict: self.strict,
            hooks_are_hints: self.hooks_are_hints,
            command: self.command.clone(),
        })
    }
}

/// The most names that a refusal lists.
const MOST_LISTED: usize = 20;

/// Refuses an unknown name, and names a similar one, or all if they are few.
pub(super) fn check_name<'a>(
    flag: &str,
    what: &str,
    name: &str,
    known: impl Iterator<Item = &'a str> + Clone,
) -> Result<(), Failure> {
    if known.clone().any(|one| one == name) {
        return Ok(());
    }
    let expected = match nearest(name, known.clone()) {
        Some(near) => format!("did you mean {near}?"),
        None if known.clone().count() > MOST_LISTED => {
            "`sandbox openapi` prints all names".to_owned()
        }
        None => format!("expected one of {}", known.collect::<Vec<_>>().join(", ")),
    };
    Err(Failure::Usage(format!("{flag} {name}: no {what} has this name; {expected}")))
}
