//! `sandbox scenario`: list, show, check, test and write scenario files, without a server.

mod check;
mod list;
#[cfg(test)]
mod lives;
mod new;
mod receiver;
mod server;
mod test;

pub(super) use self::check::load;

use std::io::{self, Write};

use clap::{Args, Subcommand};

use crate::cli::Failure;
use crate::scenario;

/// What to do with scenarios.
#[derive(Args, Debug)]
pub(super) struct ScenarioArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List the shipped scenarios, or the decisions that a scenario can make
    List(list::ListArgs),
    /// Print a shipped scenario's file
    Show(ShowArgs),
    /// Explain everything that is wrong with scenario files: exit code 1 if anything is
    Check(check::CheckArgs),
    /// Run the steps of scenarios and say what came: exit code 1 if it is not what was expected
    Test(test::TestArgs),
    /// Print the JSON Schema of scenario files, for editors
    Schema,
    /// Write a scenario file to begin with
    New(new::NewArgs),
}

#[derive(Args, Debug)]
struct ShowArgs {
    /// A shipped scenario: `sandbox scenario list` lists them
    name: String,
}

/// Does it.
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

fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .or_else(|error| Failure::of_output(&error))
}
