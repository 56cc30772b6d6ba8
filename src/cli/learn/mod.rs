//! `sandbox contract learn`: compares recordings and documents of the real service with every assumption, and writes
//! the resulting contract file.
//!
//! [`files`] reads each kind of file as calls, [`matching`] finds their operations, [`checks`] and [`compare`] compare them with the
//! contract in force. Each check belongs to an assumption of `fixtures/assumptions.toml`. Credentials are dropped while a file is read.

mod call;
mod checks;
mod compare;
mod document;
mod files;
mod har;
mod learned;
mod matching;
mod names;
mod report;

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::cli::contract_file;
use crate::cli::failure::{Failure, print};
use crate::cli::learn::files::Shown;
use crate::cli::learn::learned::Learned;
use crate::io::private;
use crate::render::assumptions;

/// The arguments of `sandbox contract learn`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    sandbox contract learn real.har                            report the differences\n  \
    sandbox contract learn real.har api.json --out real.toml   and write them as a contract file\n  \
    sandbox --contract real.toml                               serve the real contract\n  \
    sandbox contract learn --contract real.toml real.har       nothing is different now\n\n\
    Exit codes: 0 no difference, or all of them written with --out; 1 a difference remains, or a file is wrong; 2 wrong usage.")]
pub(super) struct LearnArgs {
    /// HAR 1.2, an OpenAPI 3 document in JSON, or a recording (--record), which shows what your application uses
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Write the contract file to this path, which must not exist
    #[arg(long, value_name = "OVERLAY")]
    out: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Compare with this contract instead of the assumed one
    #[arg(long, env = "SANDBOX_CONTRACT", value_name = "FILE|published")]
    contract: Option<PathBuf>,
}

/// Prints the report, writes the contract, and returns whether a difference remains.
pub(super) fn run(args: &LearnArgs) -> Result<bool, Failure> {
    let mut learned = Learned::new(contract_file::overlay(args.contract.as_deref())?);
    if args.out.as_deref() == Some(Path::new("-")) {
        let why = "--out - is not a file: the report is printed, so name a file for the contract";
        return Err(Failure::Usage(why.to_owned()));
    }
    let (mut calls, mut own, mut left_out) = (Vec::new(), Vec::new(), 0);
    for file in &args.files {
        match files::calls(file)? {
            Shown::Service(more, no_calls) => {
                calls.extend(more);
                left_out += no_calls;
            }
            Shown::Own(more) => own.extend(more),
        }
    }
    let read = calls.len() + own.len();
    matching::find(&mut calls, &mut learned);
    let used = matching::used(&own, &mut learned);
    if calls.is_empty() && used == 0 {
        let why = format!("none of the {read} calls is an operation of the product");
        return Err(Failure::Impossible(why));
    }
    checks::all(&calls, &mut learned);
    compare::replies(&calls, &mut learned);
    let overlay = assumptions::file(learned.contract());
    if let Some(out) = &args.out {
        let failed = |error: std::io::Error| {
            Failure::Impossible(format!("cannot write {}: {error}", out.display()))
        };
        let file = File::create_new(out).map_err(failed)?;
        private::fill(file, out, |file| file.write_all(overlay.as_bytes())).map_err(failed)?;
    }
    let counts = report::Counts { read, compared: calls.len(), left_out };
    if args.json {
        print(&report::json(&learned, &counts, &overlay))?;
    } else {
        print(&report::text(&learned, &counts, args.out.as_deref()))?;
    }
    Ok(learned.different().any(|it| it.key.is_none() || args.out.is_none()))
}
