//! `sandbox replay`: repeats a recording and reports whether the results are the same.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use serde_json::json;

use crate::cli::counted::counted;
use crate::cli::failure::Failure;
use crate::cli::serve;
use crate::cli::world_args;
use crate::engine::recording::{Header, Recorder};
use crate::engine::{Config, Engine};
use crate::io::input_file;
use crate::io::wal::log::Log;
use crate::io::wal::replay::{Difference, Played, Stopped};
use crate::io::wal::text::Recording;
use crate::io::wal::{replay, text};
use crate::render::pages;
use crate::scenario;

/// The arguments of `sandbox replay`.
#[derive(Args, Debug)]
pub(super) struct ReplayArgs {
    /// A recording (--record), a file of a write-ahead log (--journal), or a bundle
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Stop after the input with this number
    #[arg(long, value_name = "SEQ")]
    until: Option<u64>,
    /// Then serve the worlds, each under its own key; further inputs are not recorded
    #[arg(long)]
    serve: bool,
    /// Port to serve on, 0 for a free one
    #[arg(long, short, value_name = "P", value_parser = world_args::port, requires = "serve", default_value_t = world_args::DEFAULT_PORT)]
    port: u16,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Replays the inputs, prints the result, and serves with `--serve`.
pub(super) fn run(args: &ReplayArgs) -> Result<(), Failure> {
    let recording = read(&args.file)?;
    for note in &recording.notes {
        let _ = writeln!(io::stderr(), "note: {note}"); // if stderr is closed, the note is lost
    }
    let Recording { header, entries, .. } = recording;
    let has_inputs = !entries.is_empty();
    let log = Arc::new(Log::new(header.salt));
    let engine = Arc::new(engine(&header, &log));
    match replay::play(&engine, entries, args.until) {
        Ok(played) => {
            print(args, has_inputs, &engine, &played)?;
            if let Some(wall) = played.wall {
                engine.resume_wall(wall);
            }
            if args.serve {
                return serve::serve_replayed(args.port, &header, (engine, None));
            }
            Ok(())
        }
        Err(Stopped::Wrong(why)) => {
            Err(Failure::Impossible(format!("{}, {why}", args.file.display())))
        }
        Err(Stopped::Differs(difference)) => Err(differs(args, &header, &difference)),
    }
}

/// Replays a file. Returns its worlds, by keys that open them.
pub(super) fn worlds(file: &Path) -> Result<(Engine, Vec<String>), Failure> {
    let Recording { header, entries, .. } = read(file)?;
    let log = Arc::new(Log::new(header.salt));
    let engine = engine(&header, &log).opening_recorded();
    match replay::play(&engine, entries, None) {
        Ok(played) => Ok((engine, played.keys())),
        Err(Stopped::Wrong(why)) => Err(Failure::Impossible(format!("{}, {why}", file.display()))),
        Err(Stopped::Differs(difference)) => Err(Failure::Impossible(difference.text())),
    }
}

/// Reads a recording, a file of a write-ahead log, or a bundle.
pub(super) fn read(file: &Path) -> Result<Recording, Failure> {
    let failed = |why: String| Failure::Impossible(format!("{}, {why}", file.display()));
    let unreadable =
        |why: String| Failure::Impossible(format!("cannot read {}: {why}", file.display()));
    let opened = input_file::open(file).map_err(unreadable)?;
    let size = opened.metadata().map_err(|error| unreadable(error.to_string()))?.len();
    text::read(io::BufReader::new(opened), size).map_err(failed)
}

fn engine(header: &Header, log: &Arc<Log>) -> Engine {
    let own = |name: &str| header.scenarios.iter().find(|scenario| scenario.name == name).cloned();
    let named = |name: &String| own(name).or_else(|| scenario::find(name).ok());
    let started = header.started.iter().filter_map(named).collect();
    let engine = Engine::new(Config {
        seed: header.seed,
        shape: header.shape.clone(),
        mode: header.clock,
        contract: crate::engine::contract::Overlay::default(),
        api_keys: Vec::new(),
        max_worlds: usize::MAX,
        max_events: header.max_events,
        pages: pages::page,
        scenarios: header.scenarios.clone(),
        library: scenario::LIBRARY,
        recorder: Some(Arc::clone(log) as Arc<dyn Recorder>),
    });
    engine.with_started(started)
}

fn print(
    args: &ReplayArgs,
    has_inputs: bool,
    engine: &Engine,
    played: &Played,
) -> Result<(), Failure> {
    let ends = played.ends(engine);
    let mut out = io::stdout().lock();
    let printed = if args.json {
        let report = json!({
            "ok": true,
            "inputs": played.inputs,
            "complete": played.is_complete,
            "worlds": ends,
        });
        writeln!(out, "{report}")
    } else {
        let end = if played.is_complete {
            "so do the digests at its end"
        } else if args.until.is_some_and(|until| until <= played.inputs) {
            "stopped at --until"
        } else {
            "the recording has no end: its process was killed, or the log was compacted"
        };
        let inputs = counted(played.inputs, "input", "inputs");
        let mut text = if has_inputs || played.is_complete {
            format!("{inputs} replayed, every reply and check agrees; {end}\n")
        } else {
            "nothing was replayed: the file has no recorded inputs\n".to_owned()
        };
        for end in ends {
            let _ =
                writeln!(text, "world {}: {} events, digest {}", end.world, end.log, end.digest);
        }
        out.write_all(text.as_bytes())
    };
    printed.and_then(|()| out.flush()).or_else(|error| Failure::of_output(&error))
}

fn differs(args: &ReplayArgs, header: &Header, difference: &Difference) -> Failure {
    if args.json {
        let report = json!({"ok": false, "difference": difference});
        // If stdout is closed, the report is lost; the exit code is the same.
        let _ = writeln!(io::stdout(), "{report}");
    }
    let mut text = difference.text();
    let here = env!("CARGO_PKG_VERSION");
    if header.engine != here {
        let _ = write!(text, "\n  recorded by sandbox {}, replayed by {here}", header.engine);
    }
    Failure::Impossible(text)
}
