//! `--record FILE`, `--journal DIR` and `--store URL`: the inputs that a server stores.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;

use crate::cli::failure::Failure;
#[cfg(feature = "postgres")]
use crate::cli::shared::Shared;
use crate::engine::recording::{Header, Recorder};
use crate::engine::{Archive, Config, Engine};
#[cfg(feature = "postgres")]
use crate::io::store::writer::Running;
use crate::io::wal::durable::Durable;
use crate::io::wal::file::{Held, WriteAheadLog};
use crate::io::wal::log::Log;
use crate::io::wal::writer::Writer;
use crate::io::wal::{salt, text};
use crate::world::script::Scenario;

/// The maximum time that a start waits for the lock of a write-ahead log. A killed process can hold the lock for some
/// time.
const LOCKED: Duration = Duration::from_secs(5);

/// The lease of a process without `--store-lease`.
#[cfg(feature = "postgres")]
const LEASE: Duration = Duration::from_secs(5);

/// The flags `--record`, `--journal` and `--store`.
#[derive(Args, Debug)]
pub(super) struct PersistArgs {
    /// Write every input that changes a world to this file, for `sandbox replay`; it must be new or empty
    #[arg(long, env = "SANDBOX_RECORD", value_name = "FILE", conflicts_with = "journal")]
    record: Option<PathBuf>,
    /// Keep the worlds in this folder; no acknowledged write is lost, even if the process is killed
    #[arg(long, env = "SANDBOX_JOURNAL", value_name = "DIR")]
    journal: Option<PathBuf>,
    /// Keep the worlds in a PostgreSQL database that several processes share, `postgres://USER:PASSWORD@HOST/DATABASE`
    #[arg(
        long,
        env = "SANDBOX_STORE",
        hide_env_values = true,
        value_name = "URL",
        conflicts_with_all = ["journal", "record"]
    )]
    store: Option<String>,
    /// Seconds after which other processes take over the worlds of a process that does not answer, 1 to 3600
    /// [default: 5]; only with --store
    #[arg(
        long,
        env = "SANDBOX_STORE_LEASE",
        value_name = "SECONDS",
        value_parser = clap::value_parser!(u64).range(1..=3_600)
    )]
    store_lease: Option<u64>,
}

impl PersistArgs {
    /// Refuses a lease without a store, and a recording on the standard output.
    fn check(&self) -> Result<(), Failure> {
        if self.store_lease.is_some() && self.store.is_none() {
            let why = "--store-lease needs --store: only worlds of a database have a lease";
            return Err(Failure::Usage(why.to_owned()));
        }
        if self.record.as_deref() == Some(Path::new("-")) {
            let why = "--record -: a recording is written to a file, because the server prints its address on the standard output; name a file";
            return Err(Failure::Usage(why.to_owned()));
        }
        Ok(())
    }
}

/// The opened log, before its worlds are restored.
pub(super) enum Persist {
    Nothing,
    Record {
        file: PathBuf,
        header: Header,
        log: Arc<Log>,
    },
    WriteAheadLog {
        wal: Box<WriteAheadLog>,
        header: Header,
        log: Arc<Log>,
    },
    #[cfg(feature = "postgres")]
    Shared(Box<Shared>),
}

/// Resources that end with the server.
enum Ending {
    Nothing,
    Log(Writer),
    #[cfg(feature = "postgres")]
    Shared(Running),
}

/// The log that receives the inputs.
pub(super) struct Persisting {
    ending: Ending,
    /// The part of the log that replies wait for.
    pub(super) durable: Option<Durable>,
    /// The text about restored worlds, for the banner.
    pub(super) banner: String,
}

impl Persist {
    /// Opens the write-ahead log or the recording, and sets the recorder of the configuration.
    pub(super) fn open(
        args: &PersistArgs,
        config: &mut Config,
        started: &[Arc<Scenario>],
        speed: u32,
    ) -> Result<Self, Failure> {
        args.check()?;
        let mut header = Header::new(config.seed, config.shape.clone(), config.mode, salt());
        header.max_events = config.max_events;
        header.scenarios.clone_from(&config.scenarios);
        header.started = started.iter().map(|scenario| scenario.name.clone()).collect();
        if let Some(url) = &args.store {
            return Self::share(url, args, (&header, speed), config);
        }
        let persist = match (&args.record, &args.journal) {
            (None, None) => Self::Nothing,
            (Some(file), _) => {
                Self::Record { file: file.clone(), log: Arc::new(Log::new(header.salt)), header }
            }
            (None, Some(folder)) => {
                let wal = WriteAheadLog::open(folder, LOCKED, &mut reading());
                let wal = wal.map_err(Failure::Impossible)?;
                if let Some(held) = &wal.held {
                    let differs = differences(&held.header, &header);
                    let place = format!("the write-ahead log in {}", folder.display());
                    same_worlds(&place, "name another folder", &differs)?;
                    keep_files(&place, &held.header, &header, config);
                    header = held.header.clone();
                }
                Self::WriteAheadLog {
                    wal: Box::new(wal),
                    log: Arc::new(Log::new(header.salt)),
                    header,
                }
            }
        };
        config.recorder = match &persist {
            Self::Nothing => None,
            #[cfg(feature = "postgres")]
            Self::Shared(_) => None, // it is set above
            Self::Record { log, .. } | Self::WriteAheadLog { log, .. } => {
                Some(Arc::clone(log) as Arc<dyn Recorder>)
            }
        };
        Ok(persist)
    }

    /// Begins to write. The worlds of a write-ahead log are replayed when their keys arrive.
    pub(super) fn start(self, engine: &Engine) -> Result<Persisting, Failure> {
        let mut banner = String::new();
        let (log, sink, waits) = match self {
            Self::Nothing => {
                return Ok(Persisting { ending: Ending::Nothing, durable: None, banner });
            }
            #[cfg(feature = "postgres")]
            Self::Shared(shared) => {
                let (log, banner) = (Arc::clone(&shared.log), shared.banner());
                let running = shared.start(engine)?;
                let (ending, durable) = (Ending::Shared(running), Some(log.durable()));
                return Ok(Persisting { ending, durable, banner });
            }
            Self::Record { file, header, log } => {
                let sink = text::create(&file, &header).map_err(Failure::Impossible)?;
                (log, sink, false)
            }
            Self::WriteAheadLog { wal, header, log } => {
                if let Some(held) = &wal.held {
                    banner = text_of(held);
                    if let Some(wall) = held.index.wall {
                        engine.resume_wall(wall);
                    }
                }
                let sink = wal.into_sink(&header).map_err(Failure::Impossible)?;
                engine.read_from(Arc::clone(&log) as Arc<dyn Archive>);
                (log, sink, true)
            }
        };
        let writer = log.start(sink).map_err(Failure::impossible)?;
        let durable = waits.then(|| log.durable());
        Ok(Persisting { ending: Ending::Log(writer), durable, banner })
    }

    #[cfg(feature = "postgres")]
    fn share(
        url: &str,
        args: &PersistArgs,
        worlds: (&Header, u32),
        config: &mut Config,
    ) -> Result<Self, Failure> {
        let lease = args.store_lease.map_or(LEASE, Duration::from_secs);
        let shared = Shared::open(url, lease, worlds)?;
        keep_files("the store", &shared.header, worlds.0, config);
        config.recorder = Some(Arc::clone(&shared.log) as Arc<dyn Recorder>);
        Ok(Self::Shared(Box::new(shared)))
    }

    #[cfg(not(feature = "postgres"))]
    fn share(_: &str, _: &PersistArgs, _: (&Header, u32), _: &mut Config) -> Result<Self, Failure> {
        let why = "--store: this program was built without the feature postgres";
        Err(Failure::Usage(why.to_owned()))
    }
}

impl Persisting {
    /// Writes the remaining inputs, with the digests of all worlds.
    pub(super) fn finish(self, engine: &Engine) -> Result<(), Failure> {
        let are_refused = self.durable.is_some();
        let finished = match self.ending {
            Ending::Nothing => return Ok(()),
            Ending::Log(writer) => {
                engine.store_checkpoints(true);
                writer.finish(engine)
            }
            #[cfg(feature = "postgres")]
            Ending::Shared(running) => running.finish(),
        };
        finished.map_err(|why| {
            let lost = if are_refused {
                "the last inputs could not be written, and were refused"
            } else {
                "the recording lacks the last inputs, which were accepted"
            };
            Failure::Impossible(format!("{lost}: {why}"))
        })
    }
}

fn text_of(held: &Held) -> String {
    let torn = match held.torn {
        0 => String::new(),
        torn => format!(
            "; {torn} incomplete bytes at its end were removed; no reply had acknowledged them"
        ),
    };
    format!(
        "  the write-ahead log has inputs {}, worlds {}; each is restored when its key arrives{torn}\n\n",
        held.index.inputs,
        held.index.count()
    )
}

/// Reports once a second how much of a large file was read.
fn reading() -> impl FnMut(u64, u64) {
    let mut reported = Instant::now();
    move |done, of| {
        if reported.elapsed() >= Duration::from_secs(1) {
            reported = Instant::now();
            tracing::warn!(done_bytes = done, of_bytes = of, "the write-ahead log is being read");
        }
    }
}

/// The flags that would lead to worlds other than the stored ones.
pub(super) fn differences(held: &Header, asked: &Header) -> Vec<String> {
    if held.started != asked.started {
        // A scenario sets flags, too. So the flags are compared only if the scenarios are the same.
        let names = |names: &[String]| match names {
            [] => "none".to_owned(),
            names => names.join(", "),
        };
        let (held, asked) = (names(&held.started), names(&asked.started));
        return vec![format!("the former scenarios and imports: {held} (now: {asked})")];
    }
    let mut differs = Vec::new();
    let mut compare = |flag: &str, held: String, asked: String| {
        if held != asked {
            differs.push(format!("{flag} {held} (given: {asked})"));
        }
    };
    compare("--seed", held.seed.to_string(), asked.seed.to_string());
    compare("--clock", held.clock.name().into(), asked.clock.name().into());
    let (held_shape, shape) = (&held.shape, &asked.shape);
    let number = |number: u64| number.to_string();
    compare("--companies", number(held_shape.companies), number(shape.companies));
    compare(
        "--employees-per-company",
        number(held_shape.employees_per_company),
        number(shape.employees_per_company),
    );
    let events = |header: &Header| header.max_events.unwrap_or_default();
    compare("--max-events", number(events(held)), number(events(asked)));
    compare("--countries", held_shape.countries.join(","), shape.countries.join(","));
    compare("--start", held_shape.start.to_string(), shape.start.to_string());
    differs.extend(other_texts(held, asked));
    differs
}

/// The scenario file with this name.
fn file_of<'a>(header: &'a Header, name: &str) -> Option<&'a Arc<Scenario>> {
    header.scenarios.iter().find(|scenario| scenario.name == name)
}

/// The scenarios and imports with which every world starts, and whose texts are not the stored ones.
fn other_texts(held: &Header, asked: &Header) -> Vec<String> {
    let mut differs = Vec::new();
    for name in &held.started {
        let (held, asked) = (file_of(held, name), file_of(asked, name));
        if held != asked {
            let is_import = held.or(asked).is_some_and(|scenario| scenario.is_import());
            let kind = if is_import { "import" } else { "scenario" };
            differs.push(format!("the former text of the {kind} {name:?} (its text has changed)"));
        }
    }
    differs
}

/// Offers the stored scenario files: a stored world can have loaded each of them, so its replay needs the same text.
/// Reports the files of the folder that are not offered.
pub(super) fn keep_files(place: &str, held: &Header, asked: &Header, config: &mut Config) {
    let differs = |one: &Header, other: &Header| -> String {
        let differing = one.scenarios.iter().filter(|scenario| {
            let name = &scenario.name;
            !one.started.contains(name) && file_of(other, name) != Some(*scenario)
        });
        differing.map(|scenario| scenario.name.as_str()).collect::<Vec<_>>().join(", ")
    };
    let files = differs(asked, held);
    if !files.is_empty() {
        tracing::warn!(
            %files,
            "these scenario files are new or have changed, and are not offered: {place} keeps the files of its first start. \
             Add their texts with POST /_sandbox/scenarios"
        );
    }
    config.scenarios.clone_from(&held.scenarios);
}

/// Stored worlds continue as they began.
pub(super) fn same_worlds(place: &str, or: &str, differs: &[String]) -> Result<(), Failure> {
    if differs.is_empty() {
        return Ok(());
    }
    Err(Failure::Impossible(format!(
        "{place} has other worlds and is unchanged: start with {}, or {or}",
        differs.join(", ")
    )))
}
