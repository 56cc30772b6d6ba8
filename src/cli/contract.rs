//! `sandbox contract`: lists every assumption about the real service, and checks the files that replace some.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::cli::contract_file::{overlay, read};
use crate::cli::failure::{Failure, print};
use crate::cli::learn::{self, LearnArgs};
use crate::render::assumptions;

/// The arguments of `sandbox contract`.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct ContractArgs {
    #[command(subcommand)]
    command: Option<ContractCommand>,
    /// Print JSON, one object for each assumption
    #[arg(long)]
    json: bool,
    /// Show which assumptions this file replaces; or `published`
    #[arg(long, env = "SANDBOX_CONTRACT", value_name = "FILE|published")]
    contract: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum ContractCommand {
    /// Check a contract file without serving it: prints every mistake; exit code 1 if there is one
    Check {
        /// The file
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Compare the assumptions with traffic or an OpenAPI document of the real service; --out writes the differences as a contract file
    Learn(LearnArgs),
}

/// Prints the assumptions, checks a file or learns from files. Returns whether a difference remains.
pub(super) fn run(args: &ContractArgs) -> Result<bool, Failure> {
    if let Some(ContractCommand::Learn(args)) = &args.command {
        return learn::run(args);
    }
    let text = if let Some(ContractCommand::Check { file }) = &args.command {
        let overlay = read(file)?;
        format!(
            "{} is a contract: it overrides {}\n",
            file.display(),
            assumptions::overridden(&overlay)
        )
    } else {
        let overlay = overlay(args.contract.as_deref())?;
        if args.json { assumptions::json(&overlay) } else { assumptions::text(&overlay) }
    };
    print(&text).map(|()| false)
}
