//! Imports a caller's own companies, people, customers and wallets: converts TOML and CSV into the calls that create
//! them.
//!
//! `form` describes the file, `rows` and `people` read it, and `plan` makes the calls. A trial in a copy of the world
//! finds the mistakes that only calls can show, so that a check reports all mistakes at once. Deliberately absent:
//! reading files, which the caller does, and writing them (`api::control::export`).

mod at;
mod csv;
mod form;
mod people;
mod plan;
mod rows;
#[cfg(test)]
mod tests;
mod trial;

use std::collections::BTreeMap;
use std::sync::Arc;

use toml::de::DeTable;

use crate::api::control::import::perform;
use crate::api::json::quoted;
use crate::scenario::file::{self, Broken, MOST_BYTES, Read, beside, merge, utf8};
use crate::scenario::import::form::FILE;
use crate::scenario::import::plan::Plan;
use crate::scenario::import::rows::Rows;
use crate::scenario::judged::Judged;
use crate::scenario::origin::{Missing, Origin, normal, target};
use crate::scenario::reading::{Reading, meant};
use crate::scenario::shipped;
use crate::value::{ApiError, Diagnostic, Look};
use crate::world::World;
use crate::world::script::{Scenario, WorldPart};

/// The largest allowed CSV file.
pub(crate) const MOST_CSV_BYTES: usize = 16 << 20;

/// The result for the files of an import.
pub(crate) struct Checked {
    /// The import, and the world after it, if there is no mistake.
    pub(crate) imported: Option<(Arc<Scenario>, World)>,
    files: Vec<Judged>,
}

impl Checked {
    /// All mistakes and warnings, as text; empty if there are none.
    pub(crate) fn report(&self, look: Look) -> String {
        Judged::report(&self.files, look)
    }
}

/// Reads these TOML files and the files that they name, without the rules of a world.
pub(crate) fn read_all<'r>(paths: &[String], read: &'r Read<'r>) -> Gathering<'r> {
    let mut gathering = Gathering {
        read,
        files: Vec::new(),
        rows: Rows::default(),
        scenario: Scenario { name: name_of(paths), ..Scenario::default() },
        broken: BTreeMap::new(),
    };
    for path in paths {
        gathering.file(&normal(path));
    }
    gathering.rows.finish();
    gathering.take_found();
    gathering
}

/// Reads these TOML files and the files that they name as one import, and tries it in a copy of the world.
pub(crate) fn check(paths: &[String], read: &Read<'_>, world: &World) -> Checked {
    read_all(paths, read).tried(world, true)
}

/// The import of these texts, and the world after it. The refusal contains the report.
pub(crate) fn of_texts(
    paths: &[String],
    texts: &BTreeMap<String, String>,
    world: &World,
) -> Result<(Arc<Scenario>, World), ApiError> {
    let texts: BTreeMap<String, &String> =
        texts.iter().map(|(path, text)| (normal(path), text)).collect();
    let read = |path: &str| {
        let text = texts.get(path).ok_or_else(|| "is not a member of `files`".to_owned())?;
        Ok(text.as_bytes().to_vec())
    };
    let checked = check(paths, &read, world);
    checked.imported.ok_or_else(|| Judged::refusal(&checked.files, "import"))
}

/// `import:acme` for `acme.toml` or `acme/`: no file of a scenario has such a name.
fn name_of(paths: &[String]) -> String {
    let first = paths.first().map_or("", String::as_str);
    let file = first.rsplit(['/', '\\']).next().unwrap_or(first);
    format!("import:{}", file.strip_suffix(".toml").unwrap_or(file))
}

/// The rows of all files so far.
pub(crate) struct Gathering<'r> {
    read: &'r Read<'r>,
    files: Vec<Judged>,
    rows: Rows,
    /// The rows of the scenarios that the files name.
    scenario: Scenario,
    /// The tables with invalid syntax, by file.
    broken: BTreeMap<usize, Broken>,
}

impl Gathering<'_> {
    /// Whether the files alone have a mistake.
    pub(crate) fn is_wrong(&self) -> bool {
        self.files.iter().any(Judged::is_wrong)
    }

    /// Tries the import in a copy of the world. `is_whole`: the world has all companies that the import refers to.
    pub(crate) fn tried(mut self, world: &World, is_whole: bool) -> Checked {
        let plan = Plan::of(&self.rows, is_whole);
        if plan.calls.is_empty() && !self.is_wrong() {
            let why = "it imports nothing: expected at least one [[company]], [[customer]], [[wallet]] or [[employee]]";
            if let Some(first) = self.files.first_mut() {
                first.refused = Some(why.to_owned());
            }
        }
        let mut refused = Vec::new();
        if !self.is_wrong() {
            let mut after = world.clone();
            refused = perform(&mut after, &plan.calls, &mut |_, _, _| None);
            if refused.is_empty() {
                let mut scenario = self.scenario;
                // The world already exists.
                scenario.world = WorldPart::default();
                scenario.imports = plan.calls;
                after.load(&scenario);
                after.is_one_change_since(world.version());
                return Checked { imported: Some((Arc::new(scenario), after)), files: self.files };
            }
        }
        let refused = refused.iter().flat_map(|it| plan.refusal(it.place, &it.error));
        for mistake in refused.map(|it| it.mistake).chain(trial::mistakes(&plan, world)) {
            if !mistake.is_known(&self.files[mistake.file].found) {
                self.add(mistake.file, mistake.diagnostic);
            }
        }
        Checked { imported: None, files: self.files }
    }

    /// Adds a mistake, unless invalid syntax may have caused it.
    fn add(&mut self, file: usize, mistake: Diagnostic) {
        if !self.broken.get(&file).is_some_and(|broken| broken.hides(&mistake)) {
            self.files[file].found.push(mistake);
        }
    }

    /// Takes the mistakes of the rows.
    fn take_found(&mut self) {
        for (file, mistake) in self.rows.take_found() {
            self.add(file, mistake);
        }
    }

    /// The text of a file, whose place is the last one of `files`.
    fn open(&mut self, path: &str, most: usize) -> Result<String, String> {
        let bytes = (self.read)(path)?;
        if bytes.len() > most {
            return Err(format!("is larger than {} KiB, the most for this file", most >> 10));
        }
        let mut judged = Judged::new(path.to_owned(), String::from_utf8_lossy(&bytes).into_owned());
        let text = utf8(&bytes).map(str::to_owned);
        let text = text.map_err(|wrong| judged.found.push(wrong)).unwrap_or_default();
        self.files.push(judged);
        Ok(text)
    }

    fn file(&mut self, path: &str) {
        let source = match self.open(path, MOST_BYTES) {
            Ok(source) => source,
            Err(why) => {
                let refused = Some(why);
                self.files.push(Judged { refused, ..Judged::new(path.to_owned(), String::new()) });
                return;
            }
        };
        let place = self.files.len() - 1;
        let (document, broken) = DeTable::parse_recoverable(&source);
        let mut reading = Reading::new(path, &source);
        let fields = reading.table(document.get_ref(), 0..0, &FILE);
        if let Some(title) = reading.text(&fields, "title") {
            title.value.clone_into(&mut self.scenario.title);
        }
        if let Some(about) = reading.text(&fields, "about") {
            about.value.clone_into(&mut self.scenario.about);
        }
        for item in reading.list(&fields, "scenario").into_iter().flatten() {
            if let Some(wanted) = reading.text_of("scenario", item)
                && let Err(wrong) = self.scenario(path, wanted.value, wanted.span)
            {
                reading.note(wrong);
            }
        }
        self.rows.read(&mut reading, &fields, place);
        for part in reading.rows(&fields, "people") {
            self.people(&mut reading, &part, (path, place));
        }
        let mut found = reading.found;
        if !broken.is_empty() {
            self.broken.insert(place, Broken::of(&source, &broken));
            found = beside(&source, &broken, found);
        }
        self.files[place].found.extend(found);
        self.take_found();
    }

    /// The rows of a shipped scenario or of a file.
    fn scenario(
        &mut self,
        path: &str,
        wanted: &str,
        span: core::ops::Range<usize>,
    ) -> Result<(), Diagnostic> {
        let origin = Origin::File(path.to_owned());
        let found = match target(&origin, wanted) {
            Ok(Origin::Shipped(name)) => shipped::find(name).ok().map(|it| (*it).clone()),
            Ok(Origin::File(file)) => {
                let (scenario, files) = file::check(&file, self.read).parts();
                self.files.extend(files);
                scenario
            }
            Err(Missing::Shipped | Missing::FileOfShipped) => {
                let message = format!("there is no shipped scenario {}", quoted(wanted));
                let wrong = Diagnostic::new(span, message).expected("unknown name");
                let known: Vec<String> = shipped::names().map(str::to_owned).collect();
                return Err(meant(wrong, wanted, &known));
            }
        };
        if let Some(found) = found {
            merge(&mut self.scenario, found);
        }
        Ok(())
    }
}
