//! The scenarios that a server starts with. With `--watch`, their files are read again when they change.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use clap::Args;
use clap::builder::FalseyValueParser;

use crate::cli::failure::Failure;
use crate::cli::scenario::load;
use crate::engine::{Config, Engine};
use crate::scenario;
use crate::world::script::Scenario;

/// How often the files are checked for changes.
const LOOK: Duration = Duration::from_millis(250);

/// The flags `--scenario` and `--watch`.
#[derive(Args, Debug)]
pub(super) struct ScriptArgs {
    /// Start every world with a scenario: a shipped one by name, or a file; repeatable. Its `[world]`
    /// overrides the flags
    #[arg(long, env = "SANDBOX_SCENARIO", value_delimiter = ',', value_name = "NAME|FILE")]
    scenario: Vec<String>,
    /// Read scenario files again when they change; a file with a mistake is reported and the old one stays
    /// active
    #[arg(long, env = "SANDBOX_WATCH", value_parser = FalseyValueParser::new(), conflicts_with_all = ["record", "journal"])]
    watch: bool,
}

/// The scenarios of the command line.
#[derive(Debug)]
pub(super) struct Scripts {
    pub(super) started: Vec<Arc<Scenario>>,
    /// The paths of the scenarios that are files.
    files: Vec<String>,
    watch: bool,
}

impl ScriptArgs {
    /// Reads all scenarios, and prints their mistakes to stderr.
    pub(super) fn read(&self) -> Result<Scripts, Failure> {
        let (mut started, mut files, mut wrong) = (Vec::new(), Vec::new(), 0);
        for asked in &self.scenario {
            if is_file(asked) {
                files.push(asked.clone());
                match load(asked) {
                    Some(scenario) => started.push(Arc::new(scenario)),
                    None => wrong += 1,
                }
            } else {
                let found = scenario::find(asked);
                started.push(found.map_err(|error| Failure::Impossible(error.detail))?);
            }
        }
        if wrong > 0 {
            let what = if wrong == 1 { "scenario" } else { "scenarios" };
            return Err(Failure::Impossible(format!("{wrong} {what} cannot be used")));
        }
        if self.watch && files.is_empty() {
            let why = "--watch needs a --scenario FILE: there is no file to read again";
            return Err(Failure::Usage(why.to_owned()));
        }
        Ok(Scripts { started, files, watch: self.watch })
    }
}

/// A name has no dot and no slash, and no file has this name.
fn is_file(asked: &str) -> bool {
    asked.contains(['/', '\\', '.']) || Path::new(asked).is_file()
}

impl Scripts {
    /// Sets seed, shape and clock from the scenarios, and makes the scenarios of files available by name.
    pub(super) fn apply(&self, config: &mut Config) -> Result<(), Failure> {
        for scenario in &self.started {
            let part = &scenario.world;
            config.shape = part.shape(config.shape.clone());
            config.seed = part.seed.unwrap_or(config.seed);
            config.mode = part.clock.unwrap_or(config.mode);
        }
        config.shape.check().map_err(Failure::Usage)?;
        let own = self.started.iter().filter(|own| !scenario::is_shipped(own));
        config.scenarios = own.cloned().collect();
        Ok(())
    }

    /// Whether there are files to watch.
    pub(super) fn is_watching(&self) -> bool {
        self.watch && !self.files.is_empty()
    }

    /// Reads the files again when one changes. Runs until it is dropped.
    pub(super) async fn follow(self, engine: Arc<Engine>) {
        let mut seen = self.stamps();
        loop {
            tokio::time::sleep(LOOK).await;
            let stamps = self.stamps();
            if stamps == seen {
                continue;
            }
            seen = stamps;
            let read: Vec<_> = self.files.iter().filter_map(|file| load(file)).collect();
            if read.len() == self.files.len() {
                engine.renew_scenarios(read.into_iter().map(Arc::new).collect());
                tracing::warn!("the scenario files have changed; the new versions are active");
            } else {
                tracing::warn!("a scenario file has a mistake; the old version stays active");
            }
        }
    }

    fn stamps(&self) -> Vec<Option<(SystemTime, u64)>> {
        let stamp = |file: &String| {
            let found = std::fs::metadata(file).ok()?;
            Some((found.modified().ok()?, found.len()))
        };
        self.files.iter().map(stamp).collect()
    }
}
