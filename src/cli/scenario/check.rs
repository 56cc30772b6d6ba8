//! `sandbox scenario check`: what is wrong with files, as a compiler would say it.

use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};

use clap::Args;

use crate::cli::Failure;
use crate::scenario;
use crate::value::Look;
use crate::world::script::Scenario;

/// Which files.
#[derive(Args, Debug)]
pub(super) struct CheckArgs {
    /// Scenario files
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
}

/// Checks them all, whatever the first ones are like.
pub(super) fn run(args: &CheckArgs) -> Result<(), Failure> {
    let sound = args.files.iter().filter(|file| load(file).is_some());
    match args.files.len() - sound.count() {
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

/// The scenario of that file; what is wrong or doubtful goes to stderr.
pub(in crate::cli) fn load(file: &str) -> Option<Scenario> {
    let checked = scenario::check(file, &read);
    let mut err = io::stderr().lock();
    let coloured = err.is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let look = if coloured { Look::Coloured } else { Look::Plain };
    // A closed stderr leaves nobody to tell; the exit code still says it.
    let _ = err.write_all(checked.report(look).as_bytes());
    checked.scenario
}

/// The file's bytes; of one that is too large no more than shows it.
pub(super) fn read(path: &str) -> Result<Vec<u8>, String> {
    let file = File::open(path).map_err(|error| error.to_string())?;
    let mut bytes = Vec::new();
    let most = scenario::MOST_BYTES as u64 + 1;
    file.take(most).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    Ok(bytes)
}
