//! The command line, with one file for each subcommand.
//!
//! May import everything. Exit codes: 0 success, 1 failure, 2 wrong usage.

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
/// Without a subcommand it serves. Each API key (`Authorization: Bearer KEY`) has its own world, generated
/// from the seed: the same seed and
/// the same calls return the same bytes.
#[derive(Debug, Parser)]
#[command(
    name = "sandbox",
    version,
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  \
        sandbox --seed 42                              serve on the default port\n  \
        sandbox --seed 42 --port 0 --quiet             on a free port; the ready line on stdout names it\n  \
        sandbox --clock manual --countries NG,KE       time moves when you advance it\n  \
        sandbox world --seed 42 --digest               one hash of the generated world\n  \
        sandbox gross-to-net --country GB --gross 3000.00\n\n\
        Exit codes: 0 success, 1 failure, 2 wrong usage."
)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    serve: serve::ServeArgs,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve the simulated API (the default without a subcommand)
    Serve(Box<serve::ServeArgs>),
    /// Print the world that a seed produces, as JSON or as one hash
    World(world::PrintWorldArgs),
    /// Print the OpenAPI document
    Openapi(openapi::OpenapiArgs),
    /// List every assumption about the real service, or check a file that replaces some
    Contract(contract::ContractArgs),
    /// Calculate net pay from gross pay by the tax tables of a country
    GrossToNet(Box<gross_to_net::Args>),
    /// Repeat a recording: it reaches the same replies and digests, or names the first input that differs
    Replay(replay::ReplayArgs),
    /// Pack seed, scenarios and recording into one file for a bug report
    Bundle(bundle::BundleArgs),
    /// List, check, test and write scenarios: files that decide what the outside world does
    Scenario(scenario::ScenarioArgs),
    /// Check that a running sandbox serves: exit code 0 or 1
    Healthcheck(healthcheck::HealthcheckArgs),
    /// Make an event happen in a running sandbox, with the real calls that cause it
    Trigger(trigger::TriggerArgs),
    /// Receive webhooks, check their signatures and print them
    Listen(listen::ListenArgs),
    /// Send hostile deliveries to your own webhook receiver, and print which it handled wrongly
    WebhookTest(webhook_test::WebhookTestArgs),
    /// Print a completion script for a shell
    Completions(completions::CompletionsArgs),
}

/// The seed and the shape of a world.
#[derive(Args, Clone, Debug)]
struct WorldArgs {
    /// The seed; the same seed produces the same world
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
    /// Start of the virtual time; twelve months of history come before it
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

/// Why a command failed.
#[derive(Debug)]
enum Failure {
    /// The arguments are wrong: exit code 2.
    Usage(String),
    /// The command failed: exit code 1.
    Impossible(String),
    /// A file has a mistake: exit code 1. The text is a complete report.
    Report(String),
}

impl Failure {
    fn impossible(error: impl Display) -> Self {
        Self::Impossible(error.to_string())
    }

    /// A reader that closes its end early, such as `head`, is no failure.
    fn of_output(error: &io::Error) -> Result<(), Self> {
        if error.kind() == io::ErrorKind::BrokenPipe {
            Ok(())
        } else {
            Err(Self::impossible(error))
        }
    }
}

/// Runs the program. The first argument is the name of the program.
#[must_use]
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            // Clap returns help and version as errors that go to stdout with code 0. If stdout is closed, the
            // text is lost.
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

/// Prints why a command failed, and returns its exit code.
fn failed(failure: &Failure) -> ExitCode {
    match failure {
        Failure::Usage(message) => complain(message, 2),
        Failure::Impossible(message) => complain(message, 1),
        Failure::Report(report) => {
            // If stderr is closed, the message is lost.
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
    // If stderr is closed, the message is lost.
    let _ = writeln!(io::stderr(), "error: {message}");
    ExitCode::from(code)
}
