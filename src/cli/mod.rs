//! The command line: one file a subcommand.
//!
//! May import everything. Exit codes: 0, 1 (could not do it), 2 (wrong usage).

mod ask;
mod bundle;
mod completions;
mod contract;
pub mod gross_to_net;
mod healthcheck;
mod listen;
mod openapi;
mod persist;
mod replay;
mod scenario;
mod scripts;
mod serve;
mod trigger;
mod webhook_test;
mod webhooks;
mod world;

use std::ffi::OsString;
use std::fmt::Display;
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use crate::value::Timestamp;
use crate::world::Shape;

/// A seeded, in-memory simulator of a financial-infrastructure API: payroll, payments, accounting, compliance,
/// identity and capital. No real money moves.
///
/// Without a subcommand it serves. Every key you send as `Authorization: Bearer KEY` is a world of its own, grown from the seed:
/// the same seed and the same calls give the same bytes.
#[derive(Debug, Parser)]
#[command(
    name = "sandbox",
    version,
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  \
        sandbox --seed 42                              serve on the default port\n  \
        sandbox --seed 42 --port 0 --quiet             on a free port; the ready line on stdout names it\n  \
        sandbox --clock manual --countries NG,KE       time moves when you say so\n  \
        sandbox world --seed 42 --digest               one hash of the grown world\n  \
        sandbox gross-to-net --country GB --gross 3000.00\n\n\
        Exit codes: 0 done, 1 could not do it, 2 wrong usage."
)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    serve: serve::ServeArgs,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve the simulated API (what happens without a subcommand)
    Serve(Box<serve::ServeArgs>),
    /// Print the world that a seed grows into, as JSON or as one hash
    World(world::PrintWorldArgs),
    /// Print the OpenAPI document
    Openapi(openapi::OpenapiArgs),
    /// List every assumption about the real service, or check a file that overrides some
    Contract(contract::ContractArgs),
    /// Reckon net pay from gross by the tax tables of a country
    GrossToNet(Box<gross_to_net::Args>),
    /// Play a recording again: the same replies and digests, or the first input that differs
    Replay(replay::ReplayArgs),
    /// Pack seed, scenarios and recording into one file for a bug report
    Bundle(bundle::BundleArgs),
    /// List, check, test and write scenarios: scripts of what the outside world does
    Scenario(scenario::ScenarioArgs),
    /// Ask a running sandbox whether it serves: exit code 0 or 1
    Healthcheck(healthcheck::HealthcheckArgs),
    /// Make an event happen in a running sandbox, by the real calls that cause it
    Trigger(trigger::TriggerArgs),
    /// Receive webhooks: check their signatures and print them as they come
    Listen(listen::ListenArgs),
    /// Play hostile deliveries against your own webhook receiver, and print what it did wrong
    WebhookTest(webhook_test::WebhookTestArgs),
    /// Print a completion script for a shell
    Completions(completions::CompletionsArgs),
}

/// What a world is grown from.
#[derive(Args, Clone, Debug)]
struct WorldArgs {
    /// The seed: the same one grows the same world
    #[arg(long, env = "SANDBOX_SEED", default_value_t = 42, value_name = "N")]
    seed: u64,
    /// Companies of each world
    #[arg(long, env = "SANDBOX_COMPANIES", default_value_t = 3, value_name = "N")]
    companies: u64,
    /// Employees of each company
    #[arg(long, env = "SANDBOX_EMPLOYEES_PER_COMPANY", default_value_t = 25, value_name = "N")]
    employees_per_company: u64,
    /// Countries of the companies in turn, ISO 3166-1 alpha-2
    #[arg(
        long,
        env = "SANDBOX_COUNTRIES",
        default_value = "NG,GB,US,KE,ZA,CA",
        value_delimiter = ',',
        value_name = "NG,GB,…"
    )]
    countries: Vec<String>,
    /// Where virtual time begins; twelve months of history lie before it
    #[arg(
        long,
        env = "SANDBOX_START",
        default_value = "2026-01-01T00:00:00Z",
        value_name = "INSTANT"
    )]
    start: Timestamp,
}

impl WorldArgs {
    fn shape(&self) -> Result<Shape, Failure> {
        let countries =
            self.countries.iter().map(|code| code.trim().to_ascii_uppercase()).collect();
        let shape = Shape {
            companies: self.companies,
            employees_per_company: self.employees_per_company,
            countries,
            start: self.start,
        };
        shape.check().map_err(Failure::Usage)?;
        Ok(shape)
    }
}

/// Why a command did not do what it was asked.
#[derive(Debug)]
enum Failure {
    /// It was asked wrongly: exit code 2.
    Usage(String),
    /// It could not be done: exit code 1.
    Impossible(String),
    /// A file is wrong: exit code 1, after a report that stands for itself.
    Report(String),
}

impl Failure {
    fn impossible(error: impl Display) -> Self {
        Self::Impossible(error.to_string())
    }

    /// A reader that has seen enough closes its end; that is no failure.
    fn of_output(error: &io::Error) -> Result<(), Self> {
        if error.kind() == io::ErrorKind::BrokenPipe {
            Ok(())
        } else {
            Err(Self::impossible(error))
        }
    }
}

/// Runs the program with these arguments, the first being its own name.
#[must_use]
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are "errors" that go to stdout with code 0. A closed stdout leaves nobody to tell.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    let done = match cli.command {
        None => serve::run(&cli.serve),
        Some(Command::Serve(args)) => serve::run(&args),
        Some(Command::World(args)) => world::run(&args),
        Some(Command::Openapi(args)) => openapi::run(&args),
        Some(Command::Contract(args)) => contract::run(&args),
        Some(Command::GrossToNet(args)) => return gross_to_net_exit(&args),
        Some(Command::Replay(args)) => replay::run(&args),
        Some(Command::Bundle(args)) => bundle::run(&args),
        Some(Command::Scenario(args)) => scenario::run(&args),
        Some(Command::Healthcheck(args)) => healthcheck::run(&args),
        Some(Command::Trigger(args)) => trigger::run(&args),
        Some(Command::Listen(args)) => listen::run(&args),
        Some(Command::WebhookTest(args)) => return webhook_test::run(&args),
        Some(Command::Completions(args)) => completions::run(&args),
    };
    done.map_or_else(|failure| failed(&failure), |()| ExitCode::SUCCESS)
}

/// Says why a command failed, and its exit code.
fn failed(failure: &Failure) -> ExitCode {
    match failure {
        Failure::Usage(message) => complain(message, 2),
        Failure::Impossible(message) => complain(message, 1),
        Failure::Report(report) => {
            // A closed stderr leaves nobody to tell.
            let _ = io::stderr().write_all(report.as_bytes());
            ExitCode::from(1)
        }
    }
}

fn gross_to_net_exit(args: &gross_to_net::Args) -> ExitCode {
    match gross_to_net::run(args, io::stdin().lock(), BufWriter::new(io::stdout().lock())) {
        Ok(gross_to_net::CasesOutcome::Computed) => ExitCode::SUCCESS,
        Ok(gross_to_net::CasesOutcome::SomeRefused) => ExitCode::from(1),
        Err(error @ gross_to_net::Error::Usage(_)) => complain(&error.to_string(), 2),
        Err(error) => complain(&error.to_string(), 1),
    }
}

fn complain(message: &str, code: u8) -> ExitCode {
    // A closed stderr leaves nobody to tell.
    let _ = writeln!(io::stderr(), "error: {message}");
    ExitCode::from(code)
}
