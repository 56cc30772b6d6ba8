//! `--record FILE` and `--journal DIR`: what a server keeps of its inputs.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;

use crate::cli::Failure;
use crate::engine::recording::{Header, Recorder};
use crate::engine::{Config, Engine};
use crate::io::wal::file::{Held, WriteAheadLog};
use crate::io::wal::log::{Durable, Log, Writer};
use crate::io::wal::replay::Stopped;
use crate::io::wal::{replay, salt, text};
use crate::scenario;
use crate::world::script::Scenario;

/// What to keep.
#[derive(Args, Debug)]
pub(super) struct PersistArgs {
    /// Write every input that changes a world to this file, for `sandbox replay`; it must be new or empty
    #[arg(long, env = "SANDBOX_RECORD", value_name = "FILE", conflicts_with = "journal")]
    record: Option<PathBuf>,
    /// Persist the worlds in this folder: nothing that was answered is lost, whatever ends the process
    #[arg(long, env = "SANDBOX_JOURNAL", value_name = "DIR")]
    journal: Option<PathBuf>,
}

/// Where inputs will go.
pub(super) enum Persist {
    Nothing,
    Record { file: PathBuf, header: Header, log: Arc<Log> },
    WriteAheadLog { journal: Box<WriteAheadLog>, folder: PathBuf, header: Header, log: Arc<Log> },
}

/// Where inputs go.
pub(super) struct Persisting {
    writer: Option<Writer>,
    /// What replies wait for.
    pub(super) durable: Option<Durable>,
    /// What there is to tell of worlds that came back.
    pub(super) told: String,
}

impl Persist {
    /// Opens a journal, and gives the configuration its recorder.
    pub(super) fn open(
        args: &PersistArgs,
        config: &mut Config,
        started: &[Arc<Scenario>],
    ) -> Result<Self, Failure> {
        let mut header = Header::new(config.seed, config.shape.clone(), config.mode, salt());
        let shipped = scenario::shipped();
        let own = config.scenarios.iter();
        header.scenarios = own.filter(|own| !shipped.contains(own)).cloned().collect();
        header.started = started.iter().map(|scenario| scenario.name.clone()).collect();
        let keep = match (&args.record, &args.journal) {
            (None, None) => Self::Nothing,
            (Some(file), _) => Self::Record {
                file: file.clone(),
                log: Arc::new(Log::playing(header.salt)),
                header,
            },
            (None, Some(folder)) => {
                let journal = WriteAheadLog::open(folder).map_err(Failure::Impossible)?;
                if let Some(held) = &journal.held {
                    same_worlds(&held.header, &header, folder)?;
                    header = held.header.clone();
                }
                Self::WriteAheadLog {
                    journal: Box::new(journal),
                    folder: folder.clone(),
                    log: Arc::new(Log::playing(header.salt)),
                    header,
                }
            }
        };
        config.recorder = match &keep {
            Self::Nothing => None,
            Self::Record { log, .. } | Self::WriteAheadLog { log, .. } => {
                Some(Arc::clone(log) as Arc<dyn Recorder>)
            }
        };
        Ok(keep)
    }

    /// Plays what the journal holds, and begins to write.
    pub(super) fn start(self, engine: &Engine) -> Result<Persisting, Failure> {
        let mut told = String::new();
        let (log, sink, waits) = match self {
            Self::Nothing => {
                return Ok(Persisting { writer: None, durable: None, told });
            }
            Self::Record { file, header, log } => {
                let sink = text::create(&file, &header).map_err(Failure::Impossible)?;
                (log, sink, false)
            }
            Self::WriteAheadLog { journal, folder, header, log } => {
                if let Some(held) = &journal.held {
                    told = restore(held, engine, &log).map_err(|why| {
                        Failure::Impossible(format!("{}: {why}", folder.display()))
                    })?;
                }
                let sink = journal.into_sink(&header).map_err(Failure::Impossible)?;
                (log, sink, true)
            }
        };
        let writer = log.start(sink).map_err(Failure::impossible)?;
        Ok(Persisting { writer: Some(writer), durable: waits.then(|| log.durable()), told })
    }
}

impl Persisting {
    /// Writes what is left, with the digests of all worlds.
    pub(super) fn finish(self, engine: &Engine) -> Result<(), Failure> {
        let Some(writer) = self.writer else {
            return Ok(());
        };
        writer
            .finish(engine)
            .map_err(|why| Failure::Impossible(format!("the recording ends before its end: {why}")))
    }
}

fn restore(held: &Held, engine: &Engine, log: &Log) -> Result<String, String> {
    let played =
        replay::play(engine, log, held.entries(), None).map_err(|stopped| match stopped {
            Stopped::Wrong(why) => why,
            Stopped::Differs(difference) => format!(
                "the journal does not lead where it led before; the file was left as it is\n{}",
                difference.text()
            ),
        })?;
    if let Some(wall) = played.wall {
        engine.resume_wall(wall);
    }
    let torn = match held.torn {
        0 => String::new(),
        torn => format!("; {torn} bytes at its end were torn off before anybody was answered"),
    };
    Ok(format!(
        "  back from the journal: inputs {}, worlds {}{torn}\n\n",
        played.inputs,
        played.worlds()
    ))
}

/// A journal goes on with the worlds it began with.
fn same_worlds(held: &Header, asked: &Header, folder: &std::path::Path) -> Result<(), Failure> {
    let mut differs = Vec::new();
    let mut compare = |flag: &str, held: String, asked: String| {
        if held != asked {
            differs.push(format!("{flag} {held} (asked for: {asked})"));
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
    compare("--countries", held_shape.countries.join(","), shape.countries.join(","));
    compare("--start", held_shape.start.to_string(), shape.start.to_string());
    if held.scenarios != asked.scenarios || held.started != asked.started {
        let names = |header: &Header| {
            let names = header.scenarios.iter().map(|scenario| scenario.name.clone());
            names.collect::<Vec<_>>().join(", ")
        };
        let (held, asked) = (names(held), names(asked));
        differs.push(format!("scenario files as they were then: {held:?} (now: {asked:?})"));
    }
    if differs.is_empty() {
        return Ok(());
    }
    Err(Failure::Impossible(format!(
        "the journal in {} holds other worlds, and was left as it is: start with {}, or name another folder",
        folder.display(),
        differs.join(", ")
    )))
}
