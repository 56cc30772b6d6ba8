//! `sandbox completions`: a script for a shell.

use std::io::{self, Write};

use clap::{Args, Command};
use clap_complete::Shell;

use crate::cli::failure::Failure;

/// The arguments of `sandbox completions`.
#[derive(Args, Debug)]
pub(super) struct CompletionsArgs {
    /// bash, elvish, fish, powershell or zsh
    shell: Shell,
}

/// Prints it.
pub(super) fn run(args: &CompletionsArgs, command: &mut Command) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, command, "sandbox", &mut script);
    io::stdout().write_all(&script).or_else(|error| Failure::of_output(&error))
}
