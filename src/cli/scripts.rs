//! The scenarios that a server starts with. With `--watch`, their files are read again when they change.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use clap::Args;

use crate::cli::failure::Failure;
use crate::cli::import::files;
use crate::cli::offered::Offered;
use crate::cli::scenario::load;
use crate::cli::world_args;
use crate::engine::{Config, Engine};
use crate::scenario;
use crate::world::script::Scenario;
use crate::world::{Base, World};

/// The interval of the check for changed files.
const LOOK: Duration = Duration::from_millis(250);

/// The flags `--scenario`, `--scenario-dir` and `--watch`.
#[derive(Args, Debug)]
pub(super) struct ScriptArgs {
    /// Start every world with a scenario: a shipped one by name, or a file; repeatable. Its `[world]`
    /// overrides the flags
    #[arg(long, env = "SANDBOX_SCENARIO", value_delimiter = ',', value_name = "NAME|FILE", value_parser = Offered::SCENARIOS, hide_possible_values = true)]
    scenario: Vec<String>,
    /// Start every world with companies and people of your own: a TOML file, or a folder of them; repeatable
    #[arg(long, env = "SANDBOX_IMPORT", value_delimiter = ',', value_name = "FILE|DIR")]
    import: Vec<String>,
    /// Make the scenario files (*.toml) of a folder available by name, without running them
    #[arg(long, env = "SANDBOX_SCENARIO_DIR", value_name = "DIR")]
    scenario_dir: Option<PathBuf>,
    /// Read scenario files again when they change; a file with a mistake is reported, and its old version stays active. Cannot be used with
    /// --journal, --record or --store
    #[arg(long, env = "SANDBOX_WATCH", value_parser = world_args::switch, conflicts_with_all = ["record", "journal", "store"])]
    watch: bool,
}

/// The scenarios of the command line.
#[derive(Debug)]
pub(super) struct Scripts {
    pub(super) started: Vec<Arc<Scenario>>,
    /// The paths of the imports.
    imports: Vec<String>,
    /// Scenarios that can only be loaded by name.
    offered: Vec<Arc<Scenario>>,
    /// The paths of the scenarios that are files.
    files: Vec<String>,
    /// The folder whose files can be loaded by name.
    folder: Option<PathBuf>,
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
        let mut offered = Vec::new();
        for file in self.scenario_dir.iter().flat_map(|folder| toml_files(folder)) {
            match file.map_err(Failure::Impossible)? {
                // It already runs.
                file if files.contains(&file) => {}
                file => match load(&file) {
                    Some(scenario) => offered.push(Arc::new(scenario)),
                    None => wrong += 1,
                },
            }
        }
        if wrong > 0 {
            let what = if wrong == 1 { "scenario" } else { "scenarios" };
            return Err(Failure::Impossible(format!("{wrong} {what} cannot be used")));
        }
        if self.watch && files.is_empty() && self.scenario_dir.is_none() {
            let why = "--watch needs a --scenario FILE or a --scenario-dir: there is no file to read again";
            return Err(Failure::Usage(why.to_owned()));
        }
        let folder = self.scenario_dir.clone();
        let imports = self.import.clone();
        Ok(Scripts { started, imports, offered, files, folder, watch: self.watch })
    }
}

/// The scenario files of a folder, by name; an error says why it cannot be read.
fn toml_files(folder: &Path) -> Vec<Result<String, String>> {
    let shown = folder.display();
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => return vec![Err(format!("--scenario-dir {shown}: {error}"))],
    };
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "toml") && file.is_file());
    files.sort();
    let text = |file: PathBuf| {
        let wrong = |file: std::ffi::OsString| format!("{} is no name in UTF-8", file.display());
        file.into_os_string().into_string().map_err(wrong)
    };
    files.into_iter().map(text).collect()
}

/// A name has no dot and no slash, and no file has this name.
fn is_file(asked: &str) -> bool {
    asked.contains(['/', '\\', '.']) || Path::new(asked).is_file()
}

impl Scripts {
    /// Sets seed, shape and clock from the scenarios, and makes the scenarios of files available by name.
    pub(super) fn apply(&mut self, config: &mut Config) -> Result<(), Failure> {
        for scenario in &self.started {
            let part = &scenario.world;
            config.shape = part.shape(config.shape.clone());
            config.seed = part.seed.unwrap_or(config.seed);
            config.mode = part.clock.unwrap_or(config.mode);
        }
        config.shape.check().map_err(Failure::Usage)?;
        if !self.imports.is_empty() {
            let imports = self.read_imports(config)?;
            self.started.splice(0..0, imports);
        }
        let own = self.started.iter().filter(|own| !scenario::is_shipped(own));
        config.scenarios = own.chain(&self.offered).cloned().collect();
        Ok(())
    }

    /// The files of `--import`, each read into a world with those before it.
    fn read_imports(&self, config: &Config) -> Result<Vec<Arc<Scenario>>, Failure> {
        let base = Base::new(config.seed, config.shape.clone());
        let (mut world, mut imports) = (World::new(base.into(), config.mode), Vec::new());
        for path in &self.imports {
            let (import, after) = files::load(path, &world)?;
            if imports.iter().any(|other: &Arc<Scenario>| other.name == import.name) {
                let why = format!(
                    "--import {path}: another import has the same name; give the file another one"
                );
                return Err(Failure::Usage(why));
            }
            imports.push(import);
            world = after;
        }
        Ok(imports)
    }

    /// Whether there are files to watch.
    pub(super) fn is_watching(&self) -> bool {
        self.watch && (!self.files.is_empty() || self.folder.is_some())
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
            let files = self.all_files();
            let is_missing = |file: &&String| std::fs::metadata(file).is_err();
            let missing: Vec<&str> = files.iter().filter(is_missing).map(String::as_str).collect();
            if !missing.is_empty() {
                let missing = missing.join(", ");
                tracing::warn!("{missing} is missing; the old version stays active");
                continue;
            }
            let read: Vec<_> = files.iter().filter_map(|file| load(file)).collect();
            if read.len() == files.len() {
                let has_other_world = |new: &&Scenario| {
                    let old = self.started.iter().find(|old| old.name == new.name);
                    old.is_some_and(|old| old.world != new.world)
                };
                let others = read.iter().filter(has_other_world);
                let others: Vec<String> = others.map(|new| new.name.clone()).collect();
                engine.renew_scenarios(read.into_iter().map(Arc::new).collect());
                tracing::warn!("the scenario files have changed; the new versions are active");
                if !others.is_empty() {
                    let names = others.join(", ");
                    tracing::warn!(
                        "[world] of {names} has changed: start the server again to use it"
                    );
                }
            } else {
                tracing::warn!("a scenario file has a mistake; the old version stays active");
            }
        }
    }

    /// The named files, then those that are in the folder now.
    fn all_files(&self) -> Vec<String> {
        let offered = self.folder.iter().flat_map(|folder| toml_files(folder)).flatten();
        let offered = offered.filter(|file| !self.files.contains(file));
        self.files.iter().cloned().chain(offered).collect()
    }

    fn stamps(&self) -> Vec<(String, Option<(SystemTime, u64)>)> {
        let stamp = |file: &str| {
            let found = std::fs::metadata(file).ok()?;
            Some((found.modified().ok()?, found.len()))
        };
        self.all_files().into_iter().map(|file| (file.clone(), stamp(&file))).collect()
    }
}
