//! `sandbox bundle`: writes a text file with all data that another engineer needs to repeat a run.

use std::fs::OpenOptions;
use std::io::{self, BufWriter, Read};
use std::path::{Path, PathBuf};

use clap::Args;

use crate::cli::contract_file;
use crate::cli::failure::Failure;
use crate::cli::replay;
use crate::cli::scenario;
use crate::cli::world_args::WorldArgs;
use crate::engine::recording::Header;
use crate::io::wal::salt;
use crate::io::wal::text::{Enclosed, Kind, Recording, write_bundle};
use crate::io::{input_file, private};
use crate::world::ClockMode;

/// The most bytes of an enclosed file.
const MOST_BYTES: usize = 1_024 * 1_024;

/// The arguments of `sandbox bundle`.
#[derive(Args, Debug)]
pub(super) struct BundleArgs {
    #[command(flatten)]
    world: WorldArgs,
    /// A recording or a file of a write-ahead log; its seed and shape override those of the flags
    #[arg(long, value_name = "FILE")]
    recording: Option<PathBuf>,
    /// A scenario file; repeatable
    #[arg(long, value_name = "FILE")]
    scenario: Vec<PathBuf>,
    /// A contract file; `sandbox contract` explains them
    #[arg(long, value_name = "FILE")]
    contract: Option<PathBuf>,
    /// The output file, `-` for stdout; it must be new or empty
    #[arg(long, short, value_name = "FILE")]
    out: PathBuf,
}

/// Writes the bundle.
pub(super) fn run(args: &BundleArgs) -> Result<(), Failure> {
    let mut bundle = match &args.recording {
        Some(file) => replay::read(file)?,
        None => Recording {
            header: Header::new(args.world.seed, args.world.shape()?, ClockMode::default(), salt()),
            entries: Vec::new(),
            files: Vec::new(),
            notes: Vec::new(),
        },
    };
    for file in &args.scenario {
        if scenario::load(&file.to_string_lossy()).is_none() {
            return Err(Failure::Impossible(format!("{} is not a valid scenario", file.display())));
        }
        bundle.files.push(enclose(file, Kind::Scenario)?);
    }
    if let Some(file) = &args.contract {
        contract_file::read(file)?;
        bundle.files.push(enclose(file, Kind::Contract)?);
    }
    if args.out == Path::new("-") {
        return write_bundle(bundle, &mut BufWriter::new(io::stdout().lock()))
            .or_else(|error| Failure::of_output(&error));
    }
    let shown = args.out.display();
    let failed = |error: io::Error| Failure::Impossible(format!("cannot write {shown}: {error}"));
    let out = private::open(OpenOptions::new().append(true).create(true), &args.out);
    let out = out.map_err(failed)?;
    if out.metadata().map_err(failed)?.len() > 0 {
        return Err(Failure::Impossible(format!(
            "{shown} exists and is not empty; a bundle never overwrites a file"
        )));
    }
    private::fill(out, &args.out, |out| write_bundle(bundle, out)).map_err(failed)
}

fn enclose(file: &Path, kind: Kind) -> Result<Enclosed, Failure> {
    let failed = |why: String| Failure::Impossible(format!("{}: {why}", file.display()));
    let mut text = String::new();
    let opened = input_file::open(file).map_err(failed)?;
    let read = opened.take(MOST_BYTES as u64 + 1).read_to_string(&mut text);
    read.map_err(|error| failed(error.to_string()))?;
    if text.len() > MOST_BYTES {
        return Err(failed(format!("it has more than {MOST_BYTES} bytes, which is the maximum")));
    }
    let name = file.file_name().unwrap_or(file.as_os_str());
    Ok(Enclosed { kind, name: name.to_string_lossy().into_owned(), text })
}
