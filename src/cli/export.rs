//! `sandbox export`: writes companies of a running sandbox in the format of an import.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use crate::cli::ask::WorldOfKeyArgs;
use crate::cli::counted::counted;
use crate::cli::failure::{Failure, print};
use crate::io::private;

/// A large company needs time.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The arguments of `sandbox export`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    sandbox export > acme.toml                     every company created since the start\n  \
    sandbox export --company @ext:bakery           one company, which can be a generated one (com_…)\n\n\
    Exit codes: 0 success, 1 failure, 2 wrong usage.")]
pub(super) struct ExportArgs {
    /// Only this company, by its id or as `@ext:` and your own id
    #[arg(long, value_name = "ID")]
    company: Option<String>,
    /// Write to this file, which must not exist, instead of stdout
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    world: WorldOfKeyArgs,
}

/// Reads the export, and prints or writes it.
pub(super) fn run(args: &ExportArgs) -> Result<(), Failure> {
    let mut path = "/_sandbox/export".to_owned();
    if let Some(company) = &args.company {
        let encoded = utf8_percent_encode(company, NON_ALPHANUMERIC);
        let _ = write!(path, "?company_id={encoded}");
    }
    let answer = args.world.answer(TIMEOUT, ("GET", &path), "")?;
    let data = answer.map_err(Failure::Impossible)?;
    let text = data["text"].as_str().unwrap_or_default();
    let left_out = data["left_out"].as_u64().unwrap_or(0);
    if left_out > 0 {
        let left = counted(left_out, "employee has left and is", "employees have left and are");
        let note = format!("note: {left} not in the export\n");
        let _ = io::stderr().write_all(note.as_bytes()); // if stderr is closed, the note is lost
    }
    let Some(out) = &args.out else { return print(text) };
    let failed =
        |error: io::Error| Failure::Impossible(format!("cannot write {}: {error}", out.display()));
    let file = std::fs::File::create_new(out).map_err(failed)?;
    private::fill(file, out, |file| file.write_all(text.as_bytes())).map_err(failed)
}
