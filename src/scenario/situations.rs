//! The library of situations from `fixtures/situations`: each brings a world into a state.
//!
//! `sandbox trigger`, the examples of the OpenAPI document and the tests of coverage and refusals read it.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use toml::de::DeTable;

use crate::api::json::quoted;
use crate::scenario::form::Takes;
use crate::scenario::library_form::LIBRARY;
use crate::scenario::reading::{Fields, Reading};
use crate::value::diagnostic::Diagnostic;
use crate::world::script::{CallStep, Step};
use crate::world::situation::Situation;

/// Embeds `fixtures/situations/NAME.toml` for each name.
macro_rules! embedded {
    ($($name:literal,)*) => {
        &[$((concat!($name, ".toml"), include_str!(concat!("../../fixtures/situations/", $name, ".toml"))),)*]
    };
}

/// Every file. A situation may need those of its own file and of the files before it.
const FILES: &[(&str, &str)] = embedded![
    "companies",
    "employees",
    "payroll",
    "payments",
    "collections",
    "identity",
    "capital",
    "refusals",
];

/// The name under which a step finds values of the world, such as `@world.today`.
const WORLD: &str = "world";

/// The situations by name, and the names that they save.
#[derive(Default)]
struct Library {
    situations: Vec<Arc<Situation>>,
    /// Names that are saved when the situation is done.
    saves: BTreeMap<String, Vec<String>>,
}

fn library() -> &'static Library {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let mut library = Library::default();
        for (file, source) in FILES {
            library.read(file, source);
        }
        library
    })
}

/// The situations for an event of that type: those that it requires, then its own. Empty if there is none.
pub(crate) fn showing(event: &str) -> Vec<Arc<Situation>> {
    library().chain(|situation| situation.events.iter().any(|shown| shown == event))
}

/// The situations before the example of that operation in the document: those that are required, then the
/// one for the example.
pub(crate) fn sampling(operation: &str) -> Vec<Arc<Situation>> {
    library().chain(|situation| situation.samples.iter().any(|sampled| sampled == operation))
}

impl Library {
    fn find(&self, name: &str) -> Option<&Arc<Situation>> {
        self.situations.iter().find(|situation| situation.name == name)
    }

    fn chain(&self, is_wanted: impl Fn(&Situation) -> bool) -> Vec<Arc<Situation>> {
        let mut chain = Vec::new();
        let mut next = self.situations.iter().find(|situation| is_wanted(situation));
        while let Some(situation) = next {
            chain.insert(0, Arc::clone(situation));
            next = situation.needs.as_ref().and_then(|name| self.find(name));
        }
        chain
    }

    /// Adds the situations of a file, and returns its mistakes.
    fn read(&mut self, file: &str, source: &str) -> Vec<Diagnostic> {
        let (document, broken) = DeTable::parse_recoverable(source);
        let mut reading = Reading::new(file, source);
        let fields = reading.table(document.get_ref(), 0..0, &LIBRARY);
        reading.text(&fields, "title");
        reading.text(&fields, "about");
        for row in reading.rows(&fields, "situation") {
            self.add(&mut reading, &row);
        }
        let syntax = broken
            .iter()
            .map(|error| Diagnostic::new(error.span().unwrap_or(0..0), error.message()));
        syntax.chain(reading.found).collect()
    }

    fn add<'a>(&mut self, reading: &mut Reading<'a>, row: &Fields<'a>) {
        let Some(name) = reading.text(row, "name") else {
            return;
        };
        if self.find(name.value).is_some() {
            let message = format!("a second situation is called {}", quoted(name.value));
            reading
                .note(Diagnostic::new(name.span.clone(), message).expected("give it another name"));
        }
        let needs = reading.text(row, "needs");
        let mut saves = vec![WORLD.to_owned()];
        if let Some(needs) = &needs {
            if let Some(names) = self.saves.get(needs.value) {
                saves.clone_from(names);
            } else {
                let known: Vec<String> = self.saves.keys().cloned().collect();
                let message =
                    format!("no situation before this one is called {}", quoted(needs.value));
                reading.unknown_name(needs.span.clone(), message, needs.value, &known);
            }
        }
        reading.names(row, "states"); // only tests read them
        let outcomes = reading.rows(row, "outcome");
        let outcomes = outcomes.iter().filter_map(|outcome| reading.outcome(outcome)).collect();
        let steps = reading.rows(row, "step");
        let steps = reading.steps(&steps, &mut saves);
        self.saves.insert(name.value.to_owned(), saves);
        self.situations.push(Arc::new(Situation {
            name: name.value.to_owned(),
            needs: needs.map(|needs| needs.value.to_owned()),
            events: reading.names(row, "events"),
            samples: reading.names(row, "samples"),
            outcomes,
            steps: steps.into_iter().filter_map(call).collect(),
        }));
    }
}

impl<'a> Reading<'a> {
    /// A list of names that the form lists.
    pub(crate) fn names(&mut self, fields: &Fields<'a>, name: &str) -> Vec<String> {
        let Takes::List(Takes::Name(known)) = fields.takes(name) else {
            unreachable!("{name} takes no list of names")
        };
        let known = known();
        let mut names = Vec::new();
        for item in self.list(fields, name).into_iter().flatten() {
            let Some(word) = self.text_of(name, item) else {
                continue;
            };
            if known.iter().any(|known| known == word.value) {
                names.push(word.value.to_owned());
            } else {
                let what = format!("`{name}` cannot have {}", quoted(word.value));
                self.unknown_name(word.span, what, word.value, &known);
            }
        }
        names
    }
}

/// A situation never moves the clock, because all effects of a call happen before the next call.
fn call(step: Step) -> Option<CallStep> {
    match step {
        Step::Call(call) => Some(*call),
        Step::Advance { .. } | Step::Idle { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::value::diagnostic::{Look, report};

    #[test]
    fn every_situation_file_is_valid() {
        let mut library = Library::default();
        for (file, source) in FILES {
            let found = library.read(file, source);
            assert!(found.is_empty(), "{}", report(file, source, &found, Look::Plain));
        }
        for situation in &library.situations {
            assert!(!situation.steps.is_empty(), "{} does nothing", situation.name);
            // A trigger sends no headers.
            let is_plain = situation.steps.iter().all(|step| step.headers.is_empty());
            assert!(situation.events.is_empty() || is_plain, "{} has headers", situation.name);
        }
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test looks at the repository")]
    fn the_list_is_the_folder() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/situations");
        let files = std::fs::read_dir(folder).expect("the folder is part of the repository");
        let files =
            files.map(|entry| entry.expect("an entry").path()).filter(|path| path.is_file());
        let name = |path: &Path| path.file_name().and_then(|it| it.to_str()).map(str::to_owned);
        let mut files: Vec<String> = files.map(|path| name(&path).expect("UTF-8")).collect();
        files.sort_unstable();
        let mut listed: Vec<&str> = FILES.iter().map(|(file, _)| *file).collect();
        listed.sort_unstable();
        assert_eq!(files, listed);
    }
}
