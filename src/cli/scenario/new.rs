//! `sandbox scenario new`: writes a first file, which passes `check`.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::Path;

use clap::Args;

use crate::cli::failure::{Failure, print};
use crate::scenario;

/// A file with comments that shows every table.
const STARTER: &str = include_str!("starter.toml");

/// The arguments of `sandbox scenario new`.
#[derive(Args, Debug)]
pub(super) struct NewArgs {
    /// The scenario's name, or the path of its file
    name: String,
    /// A shipped scenario to copy
    #[arg(long, value_name = "SHIPPED")]
    from: Option<String>,
}

/// Writes the file, unless it exists.
pub(super) fn run(args: &NewArgs) -> Result<(), Failure> {
    let text = match &args.from {
        None => STARTER,
        Some(name) => {
            scenario::source(name).ok_or_else(|| Failure::Impossible(scenario::unknown(name)))?
        }
    };
    let path = match args.name.strip_suffix(".toml") {
        Some(_) => args.name.clone(),
        None => format!("{}.toml", args.name),
    };
    let name = Path::new(&path).file_name().map(|name| name.to_string_lossy());
    if name.is_none_or(|name| name.trim_start_matches('.') == "toml") {
        return Err(Failure::Usage("a scenario needs a name".to_owned()));
    }
    let file = OpenOptions::new().write(true).create_new(true).open(&path);
    let mut file = file.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => {
            Failure::Impossible(format!("{path} exists and is unchanged; give another name"))
        }
        _ => Failure::Impossible(format!("cannot write {path}: {error}")),
    })?;
    file.write_all(text.as_bytes())
        .map_err(|error| Failure::Impossible(format!("cannot write {path}: {error}")))?;
    print(&format!("wrote {path}; next: sandbox scenario check {path}\n"))
}
