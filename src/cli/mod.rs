//! The command line, with one file for each subcommand.
//!
//! May import everything. Exit codes: 0 success, 1 failure, 2 wrong usage.

mod ask;
mod bundle;
mod completions;
mod contract;
mod contract_file;
mod counted;
mod events;
mod exam;
mod explain;
mod explore;
mod export;
mod failure;
pub mod gross_to_net;
mod healthcheck;
mod help;
mod import;
mod journal;
mod junit;
mod lab;
mod learn;
mod listen;
mod man;
mod mcp;
mod offered;
mod openapi;
mod persist;
mod port_file;
mod printable;
mod replay;
mod report_file;
mod room;
mod scenario;
mod scripts;
mod serve;
mod share;
#[cfg(feature = "postgres")]
mod shared;
mod trigger;
mod variables;
mod webhook_cases;
mod webhook_test;
mod webhooks;
mod world;
mod world_args;

use std::ffi::OsString;
use std::io::{self, BufWriter};
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::cli::failure::{complain, failed};

/// A seeded, in-memory simulator of a financial-infrastructure API: payroll, payments, accounting, compliance,
/// identity and capital. No real money moves.
///
/// Without a subcommand, the program serves the API. Each API key (`Authorization: Bearer KEY`) has its own world, generated from the seed:
/// the same seed and the same calls return the same bytes.
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

/// The same without subcommands. The declaration of their flags takes longer than the start of the server.
#[derive(Debug, Parser)]
#[command(name = "sandbox", version)]
struct Server {
    #[command(flatten)]
    serve: serve::ServeArgs,
}

impl Cli {
    fn parse_all(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, clap::Error> {
        let arguments: Vec<OsString> = arguments.into_iter().collect();
        let server = variables::without_empty(Server::command()).try_get_matches_from(&arguments);
        let server = server.and_then(|mut given| Server::from_arg_matches_mut(&mut given));
        if let Ok(Server { serve }) = server {
            return Ok(Self { command: None, serve });
        }
        let mut whole = variables::without_empty(command());
        let given = whole.try_get_matches_from_mut(&arguments);
        given
            .and_then(|mut given| Self::from_arg_matches_mut(&mut given))
            .map_err(|error| variables::named(error, &whole, &arguments))
    }
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve the simulated API (the default without a subcommand)
    Serve(Box<serve::ServeArgs>),
    /// Print the world that a seed produces, as JSON or as one hash
    World(world::PrintWorldArgs),
    /// Print the OpenAPI document
    Openapi(openapi::OpenapiArgs),
    /// List every assumption about the real service, or check a file that replaces some of them
    Contract(contract::ContractArgs),
    /// Calculate net pay from gross pay by the tax tables of a country
    GrossToNet(Box<gross_to_net::Args>),
    /// Repeat a recording, compare replies and digests, and print the first difference
    Replay(replay::ReplayArgs),
    /// Pack seed, scenarios and recording into one file for a bug report
    Bundle(bundle::BundleArgs),
    /// Print the world of a key as one line, from which `sandbox open` makes the same world
    Share(share::ShareArgs),
    /// Serve the world of a line that `sandbox share` printed
    Open(share::open::OpenArgs),
    /// Compare two keys, recordings, bundles or shared lines, and print the difference in words
    Diff(share::diff::DiffArgs),
    /// Inspect a write-ahead log (--journal), make it smaller, or convert it to a recording
    Journal(journal::JournalArgs),
    /// List, check, test and write scenarios: files that set how banks, authorities and others respond
    Scenario(scenario::ScenarioArgs),
    /// Run your app's command with injected failures and invalid webhooks, and check its effects on the ledger
    Exam(Box<exam::ExamArgs>),
    /// Run an app with every answer that banks, authorities and others can give, and write a
    /// scenario file with the fewest answers that make the app fail
    Explore(Box<explore::ExploreArgs>),
    /// Serve tools for language models (Model Context Protocol) over standard input and output
    Mcp(mcp::McpArgs),
    /// Import companies and people of your own into a running sandbox, or check the files
    Import(Box<import::ImportArgs>),
    /// Write the companies of a running sandbox in the format of an import
    Export(export::ExportArgs),
    /// Check whether a running sandbox serves requests: exit code 0 or 1
    Healthcheck(ask::SandboxArgs),
    /// Cause an event in a running sandbox by making the API calls that lead to the event
    Trigger(trigger::TriggerArgs),
    /// Print the events of a running sandbox; with --follow, as they happen
    Events(events::EventsArgs),
    /// Print how an amount of a running sandbox is calculated: net pay, a balance or a score
    Explain(explain::ExplainArgs),
    /// Receive webhooks, check their signatures and print them
    Listen(listen::ListenArgs),
    /// Send valid and invalid deliveries to your webhook receiver, and print which it handled wrongly
    WebhookTest(webhook_test::WebhookTestArgs),
    /// Print a completion script for a shell
    Completions(completions::CompletionsArgs),
    /// Write the man pages, one for each subcommand, for packages
    #[command(hide = true)]
    Man(man::ManArgs),
}

/// Runs the program. The first argument is the name of the program.
#[must_use]
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::parse_all(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are "errors" that go to stdout with code 0. If stdout is closed, the text is lost.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    let done = match cli.command {
        None => serve::run(&cli.serve),
        Some(Command::Serve(args)) => serve::run(&args),
        Some(Command::World(args)) => world::run(&args),
        Some(Command::Openapi(args)) => openapi::run(&args),
        Some(Command::Contract(args)) => return compared(contract::run(&args)),
        Some(Command::GrossToNet(args)) => return gross_to_net_exit(&args),
        Some(Command::Replay(args)) => replay::run(&args),
        Some(Command::Bundle(args)) => bundle::run(&args),
        Some(Command::Share(args)) => share::run(&args),
        Some(Command::Open(args)) => share::open::run(&args),
        Some(Command::Diff(args)) => return compared(share::diff::run(&args)),
        Some(Command::Journal(args)) => journal::run(&args),
        Some(Command::Scenario(args)) => scenario::run(&args),
        Some(Command::Exam(args)) => return exam::run(&args),
        Some(Command::Explore(args)) => return explore::run(&args),
        Some(Command::Mcp(args)) => mcp::run(&args),
        Some(Command::Import(args)) => import::run(&args),
        Some(Command::Export(args)) => export::run(&args),
        Some(Command::Healthcheck(args)) => healthcheck::run(&args),
        Some(Command::Trigger(args)) => trigger::run(&args),
        Some(Command::Events(args)) => events::run(&args),
        Some(Command::Explain(args)) => explain::run(&args),
        Some(Command::Listen(args)) => listen::run(&args),
        Some(Command::WebhookTest(args)) => return webhook_test::run(&args),
        Some(Command::Completions(args)) => completions::run(&args, &mut command()),
        Some(Command::Man(args)) => man::run(&args, command()),
    };
    done.map_or_else(|failure| failed(&failure), |()| ExitCode::SUCCESS)
}

/// The program with all of its helps.
fn command() -> clap::Command {
    help::with_ends(Cli::command())
}

/// The exit code of a comparison: 1 for a difference.
fn compared(differs: Result<bool, failure::Failure>) -> ExitCode {
    differs.map_or_else(|failure| failed(&failure), |differs| ExitCode::from(u8::from(differs)))
}

fn gross_to_net_exit(args: &gross_to_net::Args) -> ExitCode {
    match gross_to_net::run(args, io::stdin().lock(), BufWriter::new(io::stdout().lock())) {
        Ok(gross_to_net::CasesOutcome::Computed) => ExitCode::SUCCESS,
        Ok(gross_to_net::CasesOutcome::SomeRefused) => ExitCode::from(1),
        Err(error @ gross_to_net::Error::Usage(_)) => complain(&error.to_string(), 2),
        Err(error) => complain(&error.to_string(), 1),
    }
}
