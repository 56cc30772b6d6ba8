//! Scenarios that a server starts with, and their files while they are edited.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use clap::Args;
use clap::builder::FalseyValueParser;

use crate::cli::Failure;
use crate::cli::scenario::load;
use crate::engine::{Config, Engine};
use crate::scenario;
use crate::world::script::Scenario;

/// How often files are looked at.
const LOOK: Duration = Duration::from_millis(250);

/// Scenarios of every world.
#[derive(Args, Debug)]
pub(super) struct ScriptArgs {
    /// Run a scenario in every world from its start: a shipped one by name, or a file; may be repeated. What its `[world]` says
    /// comes before the flags
    #[arg(long, env = "SANDBOX_SCENARIO", value_delimiter = ',', value_name = "NAME|FILE")]
    scenario: Vec<String>,
    /// Read scenario files again when they change; a file with a mistake is reported, and what ran goes on
    #[arg(long, env = "SANDBOX_WATCH", value_parser = FalseyValueParser::new(), conflicts_with_all = ["record", "journal"])]
    watch: bool,
}

/// Scenarios that were asked for.
#[derive(Debug)]
pub(super) struct Scripts {
    pub(super) started: Vec<Arc<Scenario>>,
    /// Paths of those that are files.
    files: Vec<String>,
    watch: bool,
}

impl ScriptArgs {
    /// Reads them all; what is wrong with any goes to stderr.
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
        Ok(Scripts { started, files, watch: self.watch })
    }
}

/// A name has no dot and no slash, and no file is called so.
fn is_file(asked: &str) -> bool {
    asked.contains(['/', '\\', '.']) || Path::new(asked).is_file()
}

impl Scripts {
    /// Grows worlds as the scenarios say, and makes those of files known by name.
    pub(super) fn apply(&self, config: &mut Config) -> Result<(), Failure> {
        for scenario in &self.started {
            let part = &scenario.world;
            config.shape = part.shape(config.shape.clone());
            config.seed = part.seed.unwrap_or(config.seed);
            config.mode = part.clock.unwrap_or(config.mode);
        }
        config.shape.check().map_err(Failure::Usage)?;
        config.scenarios = Self::known(&self.started);
        Ok(())
    }

    fn known(own: &[Arc<Scenario>]) -> Vec<Arc<Scenario>> {
        let shipped = scenario::shipped();
        let mut known: Vec<_> = own.iter().filter(|own| !shipped.contains(own)).cloned().collect();
        known.extend(shipped);
        known
    }

    /// Whether there are files to be watched.
    pub(super) fn is_watching(&self) -> bool {
        self.watch && !self.files.is_empty()
    }

    /// Reads files again whenever one changes, for as long as it is polled.
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
                let read: Vec<_> = read.into_iter().map(Arc::new).collect();
                engine.renew_scenarios(Self::known(&read));
                tracing::warn!("scenario files have changed and run in their new form");
            } else {
                tracing::warn!("a scenario file has a mistake; what ran before goes on");
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
