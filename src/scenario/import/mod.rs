//! Imports: companies, people, customers and wallets of a caller's own, from TOML and CSV to the calls that create them.
//!
//! `form` describes the file, `rows` and `people` read it, and `plan` makes the calls. A trial in a copy of the world finds what only the
//! rules of the world refuse, so that a check reports all mistakes at once. Deliberately absent: reading files, which the caller does, and
//! writing them (`api::control::export`).

mod at;
mod csv;
mod form;
mod people;
mod plan;
mod rows;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use toml::de::DeTable;

use crate::api::control::import::{Refused, perform};
use crate::api::json::quoted;
use crate::scenario::file::{self, MOST_BYTES, Read, beside, merge, utf8};
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

/// Reads these TOML files and the files that they name, without a check of the whole.
pub(crate) fn read_all<'r>(paths: &[String], read: &'r Read<'r>) -> Gathering<'r> {
    let mut gathering = Gathering {
        read,
        files: Vec::new(),
        rows: Rows::default(),
        scenario: Scenario { name: name_of(paths), ..Scenario::default() },
        is_cut_off: false,
    };
    for path in paths {
        gathering.file(&normal(path));
    }
    gathering
}

/// Reads these TOML files and the files that they name as one import, and tries it in a copy of the world.
pub(crate) fn check(paths: &[String], read: &Read<'_>, world: &World) -> Checked {
    let before = world.version();
    let Gathering { mut files, mut rows, mut scenario, is_cut_off, .. } = read_all(paths, read);
    rows.finish();
    rows.move_found(&mut files);
    let plan = Plan::of(&rows);
    if plan.calls.is_empty() && !files.iter().any(Judged::is_wrong) {
        let why = "it imports nothing: expected at least one [[company]], [[customer]], [[wallet]] or [[employee]]";
        if let Some(first) = files.first_mut() {
            first.refused = Some(why.to_owned());
        }
    }
    if is_cut_off || files.iter().any(|file| file.refused.is_some()) {
        return Checked { imported: None, files };
    }
    // The trial also follows other mistakes, so that one report contains all.
    let mut world = world.clone();
    for Refused { place, error } in perform(&mut world, &plan.calls) {
        for (at, diagnostic) in plan.refusal(place, &error) {
            if !files[at].found.iter().any(|known| known.is_of_same_place(&diagnostic)) {
                files[at].found.push(diagnostic);
            }
        }
    }
    if files.iter().any(Judged::is_wrong) {
        return Checked { imported: None, files };
    }
    // The world is there already.
    scenario.world = WorldPart::default();
    scenario.imports = plan.calls;
    world.load(&scenario);
    world.is_one_change_since(before);
    Checked { imported: Some((Arc::new(scenario), world)), files }
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
    /// Whether a file is no TOML, so that rows and members may be absent.
    is_cut_off: bool,
}

impl Gathering<'_> {
    /// The mistakes that were found while the files were read, as text.
    pub(crate) fn report(&self) -> String {
        Judged::report(&self.files, Look::Plain)
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
            self.is_cut_off = true;
            found = beside(&source, &broken, found);
        }
        self.files[place].found.extend(found);
        self.rows.move_found(&mut self.files);
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
