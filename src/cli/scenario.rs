//! `sandbox scenario`: lists, shows, checks, tests and writes scenario files, without a server.

mod check;
mod client;
mod list;
mod new;
mod receiver;
mod server;
mod test;

pub(super) use self::check::load;
pub(super) use self::client::Client;
pub(super) use self::test::find;

use clap::{Args, Subcommand};

use crate::cli::failure::{Failure, print};
use crate::cli::offered::Offered;
use crate::scenario;

/// The arguments of `sandbox scenario`.
#[derive(Args, Debug)]
pub(super) struct ScenarioArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List the shipped scenarios, or the decisions that a scenario can make
    List(list::ListArgs),
    /// Print the file of a shipped scenario
    Show(ShowArgs),
    /// Explain every mistake in scenario files: exit code 1 if there is one
    Check(check::CheckArgs),
    /// Run the steps of scenarios and print the results: exit code 1 if a result differs from the expected
    /// one
    Test(test::TestArgs),
    /// Print the JSON Schema of scenario files, for editors
    Schema,
    /// Write a first scenario file
    New(new::NewArgs),
}

#[derive(Args, Debug)]
struct ShowArgs {
    /// A shipped scenario: `sandbox scenario list` lists them
    #[arg(value_parser = Offered::SCENARIOS, hide_possible_values = true)]
    name: String,
}

/// Runs the subcommand.
pub(super) fn run(args: &ScenarioArgs) -> Result<(), Failure> {
    match &args.command {
        Command::List(args) => list::run(args),
        Command::Show(args) => show(&args.name),
        Command::Check(args) => check::run(args),
        Command::Test(args) => test::run(args),
        Command::Schema => print(&format!("{:#}\n", scenario::schema())),
        Command::New(args) => new::run(args),
    }
}

fn show(name: &str) -> Result<(), Failure> {
    let source =
        scenario::source(name).ok_or_else(|| Failure::Impossible(scenario::unknown(name)))?;
    print(source)
}
