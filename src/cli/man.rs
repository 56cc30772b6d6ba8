//! `sandbox man`: the man pages, for packages.

use std::fs;
use std::path::PathBuf;

use clap::{Args, Command};

use crate::cli::failure::Failure;

/// The arguments of `sandbox man`.
#[derive(Args, Debug)]
pub(super) struct ManArgs {
    /// The folder to write to; it is made if it does not exist
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// Writes `sandbox.1` and a page for each subcommand that the help shows.
pub(super) fn run(args: &ManArgs, command: Command) -> Result<(), Failure> {
    fs::create_dir_all(&args.folder)
        .and_then(|()| clap_mangen::generate_to(command, &args.folder))
        .map_err(|error| {
            Failure::Impossible(format!("cannot write to {}: {error}", args.folder.display()))
        })
}
