//! `sandbox journal`: inspects a write-ahead log, compacts it, and writes it as a recording. No server may use the
//! folder at the same time.

use std::fs::OpenOptions;
use std::io::{BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Subcommand};
use serde_json::json;

use crate::cli::counted::counted;
use crate::cli::failure::{Failure, print};
use crate::cli::replay;
use crate::io::private;
use crate::io::wal::checkpoint;
use crate::io::wal::compact::compact;
use crate::io::wal::file::{Held, NAME, WriteAheadLog, check_folder, unfinished};
use crate::io::wal::text::write_bundle;

/// The arguments of `sandbox journal`.
#[derive(Args, Debug)]
pub(super) struct JournalArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Print what a write-ahead log contains
    Inspect {
        /// The folder of --journal
        #[arg(value_name = "DIR")]
        folder: PathBuf,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Rewrite the log without deleted worlds and without entries that are no longer needed. The worlds stay the same
    Compact {
        /// The folder of --journal
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
    /// Write the log as a recording for `sandbox replay`, without the secrets of webhook endpoints
    Export {
        /// The folder of --journal
        #[arg(value_name = "DIR")]
        folder: PathBuf,
        /// The output file; it must not exist
        #[arg(long, short, value_name = "FILE")]
        out: PathBuf,
    },
}

/// Runs the subcommand.
pub(super) fn run(args: &JournalArgs) -> Result<(), Failure> {
    match &args.command {
        Command::Inspect { folder, json } => inspect(folder, *json),
        Command::Compact { folder } => smaller(folder),
        Command::Export { folder, out } => export(folder, out),
    }
}

/// The path of the log of a folder that has one.
fn path(folder: &Path) -> Result<PathBuf, Failure> {
    check_folder(folder).map_err(Failure::Impossible)?;
    let path = folder.join(NAME);
    match std::fs::metadata(&path) {
        Ok(known) if known.is_file() => Ok(path),
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(Failure::Impossible(format!("cannot read {}: {error}", path.display())))
        }
        _ => Err(Failure::Impossible(format!("{} has no write-ahead log", folder.display()))),
    }
}

/// The log of a folder that has one, locked for reading.
fn open(folder: &Path) -> Result<(WriteAheadLog, PathBuf), Failure> {
    let path = path(folder)?;
    Ok((WriteAheadLog::open_to_read(folder).map_err(Failure::Impossible)?, path))
}

fn held<'a>(log: &'a WriteAheadLog, folder: &Path) -> Result<&'a Held, Failure> {
    let nothing = || Failure::Impossible(format!("{} contains nothing yet", folder.display()));
    log.held.as_ref().ok_or_else(nothing)
}

fn size(path: &Path) -> Result<u64, Failure> {
    std::fs::metadata(path).map(|known| known.len()).map_err(Failure::impossible)
}

fn inspect(folder: &Path, as_json: bool) -> Result<(), Failure> {
    let (log, path) = open(folder)?;
    let held = held(&log, folder)?;
    let (header, index, bytes) = (&held.header, &held.index, size(&path)?);
    let forks = index.iter().filter(|(_, _, is_fork)| *is_fork).count();
    let (checkpoints, checkpoint_bytes) = checkpoint::count(&path);
    let largest = index.iter().map(|(_, inputs, _)| inputs).max().unwrap_or(0);
    if as_json {
        let report = json!({
            "format": header.format, "engine": header.engine, "world_version": header.world_version,
            "seed": header.seed, "clock": header.clock, "bytes": bytes, "torn_bytes": held.torn,
            "inputs": index.inputs, "worlds": index.count(), "forks": forks, "largest_world": largest,
            "checkpoints": checkpoints, "checkpoint_bytes": checkpoint_bytes,
        });
        return print(&format!("{report}\n"));
    }
    print(&format!(
        "{}\nformat {}, sandbox {}, world version {}, seed {}, clock {}\nbytes {bytes}, of which {} incomplete at the end\n\
         inputs {}, worlds {}, of which {forks} forks; the largest world has {}\n\
         checkpoints {checkpoints}, bytes {checkpoint_bytes}\n",
        path.display(),
        header.format,
        header.engine,
        header.world_version,
        header.seed,
        header.clock.name(),
        held.torn,
        index.inputs,
        index.count(),
        counted(largest as u64, "entry", "entries"),
    ))
}

fn smaller(folder: &Path) -> Result<(), Failure> {
    let path = path(folder)?;
    let log = WriteAheadLog::open(folder, Duration::ZERO, &mut |_, _| {});
    let log = log.map_err(Failure::Impossible)?;
    let held = held(&log, folder)?;
    let (before, new) = (size(&path)?, unfinished(&path));
    let compacted = compact(&path, &held.header, &held.index, &new).and_then(|after| {
        checkpoint::remove_all(&path).map_err(|error| error.to_string())?;
        // The old file is complete until this single step replaces it.
        std::fs::rename(&new, &path).map_err(|error| error.to_string())?;
        Ok(after)
    });
    let after = compacted.map_err(|why| {
        std::fs::remove_file(&new).ok(); // the log needs the space
        Failure::Impossible(why)
    })?;
    if let Ok(folder) = std::fs::File::open(folder) {
        let _ = folder.sync_all(); // some systems cannot sync a folder, and do not need it
    }
    print(&format!("{}: {before} bytes before, {after} bytes now\n", path.display()))
}

fn export(folder: &Path, out: &Path) -> Result<(), Failure> {
    let (_log, path) = open(folder)?;
    let recording = replay::read(&path)?;
    let failed = |error: std::io::Error| {
        Failure::Impossible(format!("cannot write {}: {error}", out.display()))
    };
    if out == Path::new("-") {
        let mut stdout = BufWriter::new(std::io::stdout().lock());
        let written = write_bundle(recording, &mut stdout).and_then(|()| stdout.flush());
        return written.or_else(|error| Failure::of_output(&error));
    }
    let file = private::open(OpenOptions::new().write(true).create_new(true), out);
    let file = file.map_err(failed)?;
    private::fill(file, out, |file| write_bundle(recording, file)).map_err(failed)
}
