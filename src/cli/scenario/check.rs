//! `sandbox scenario check`: prints the mistakes of files, in the form of compiler messages.

use std::io::{self, IsTerminal, Read, Write};
use std::path::Path;

use clap::Args;

use crate::cli::failure::{Failure, print};
use crate::io::input_file;
use crate::scenario;
use crate::value::Look;
use crate::world::script::Scenario;

/// The arguments of `sandbox scenario check`.
#[derive(Args, Debug)]
pub(super) struct CheckArgs {
    /// Scenario files
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
}

/// Checks all files, also after a mistake in one.
pub(super) fn run(args: &CheckArgs) -> Result<(), Failure> {
    let sound: Vec<&String> = args.files.iter().filter(|file| load(file).is_some()).collect();
    for file in &sound {
        print(&format!("{file}: no mistakes\n"))?;
    }
    match args.files.len() - sound.len() {
        0 => Ok(()),
        1 if args.files.len() == 1 => {
            Err(Failure::Impossible(format!("{} cannot be used", args.files[0])))
        }
        wrong => Err(Failure::Impossible(format!(
            "{wrong} of {} files cannot be used",
            args.files.len()
        ))),
    }
}

/// Reads the scenario of a file, and prints its mistakes and warnings to stderr.
pub(in crate::cli) fn load(file: &str) -> Option<Scenario> {
    let checked = scenario::check(file, &read);
    let mut err = io::stderr().lock();
    let coloured = err.is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let look = if coloured { Look::Coloured } else { Look::Plain };
    // If stderr is closed, the report is lost; the exit code is the same.
    let _ = err.write_all(checked.report(look).as_bytes());
    checked.scenario
}

/// Reads the bytes of the file, at most one more than the limit.
pub(super) fn read(path: &str) -> Result<Vec<u8>, String> {
    let file = input_file::open(Path::new(path))?;
    let mut bytes = Vec::new();
    let most = scenario::MOST_BYTES as u64 + 1;
    file.take(most).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    Ok(bytes)
}
