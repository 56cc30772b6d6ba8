//! The sources of coverage: the situations of the library, the stories and the shipped scenarios.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

/// A source of coverage.
pub(super) struct Source {
    /// `loans.toml`, `payments.toml escrow_funded`.
    pub(super) name: String,
    /// The text of a scenario file, for a server of its own; none for a situation.
    pub(super) text: Option<String>,
    /// `[world]` of that file, as a file of its own.
    pub(super) world: String,
    /// Steps in order.
    pub(super) steps: Vec<Step>,
    /// The place of the first step that does not come from another situation.
    pub(super) own: usize,
    /// Events and states that a situation names: its own steps must show them.
    pub(super) events: Vec<String>,
    pub(super) states: Vec<String>,
    /// Whether forbidden moves and calls are tried on its resources. Faults and limits would count such calls.
    pub(super) is_probed: bool,
}

/// A step, with the answers of the outside world.
pub(super) struct Step {
    pub(super) does: Value,
    pub(super) outcomes: Vec<Value>,
}

impl Source {
    pub(super) const fn is_story(&self) -> bool {
        self.text.is_some()
    }
}

/// All sources.
pub(super) fn sources() -> Vec<Source> {
    let stories = files("fixtures/situations/stories").into_iter().map(|it| story(it, true));
    let shipped = files("scenarios").into_iter().map(|it| story(it, false));
    stories.chain(shipped).chain(situations().iter().map(Situation::source)).collect()
}

/// Name and text of every file of a folder.
fn files(folder: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let paths = entries.filter(|path| path.extension().is_some_and(|it| it == "toml"));
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    let mut files: Vec<_> =
        paths.map(|path| (name(&path), fs::read_to_string(&path).unwrap())).collect();
    files.sort();
    files
}

fn story((name, text): (String, String), is_probed: bool) -> Source {
    let file: Value = toml::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
    let steps = list(&file, "step").into_iter();
    let world = match &file["world"] {
        Value::Null => json!({}),
        world => json!({ "world": world }),
    };
    Source {
        world: toml::to_string(&world).unwrap(),
        steps: steps.map(|does| Step { does, outcomes: Vec::new() }).collect(),
        own: 0,
        events: Vec::new(),
        states: Vec::new(),
        name,
        text: Some(text),
        is_probed,
    }
}

/// A situation after those that it needs.
pub(crate) struct Situation {
    file: String,
    chain: Vec<Value>,
}

/// Every situation of the library.
pub(crate) fn situations() -> Vec<Situation> {
    let mut rows = Vec::new();
    for (file, text) in files("fixtures/situations") {
        let library: Value = toml::from_str(&text).unwrap();
        rows.extend(list(&library, "situation").into_iter().map(|row| (file.clone(), row)));
    }
    let named = |name: &Value| rows.iter().find(|(_, row)| row["name"] == *name);
    let chain = |row: &Value| {
        let mut chain = vec![row.clone()];
        while let Some((_, needed)) = named(&chain[0]["needs"]) {
            chain.insert(0, needed.clone());
        }
        chain
    };
    rows.iter().map(|(file, row)| Situation { file: file.clone(), chain: chain(row) }).collect()
}

impl Situation {
    fn last(&self) -> &Value {
        self.chain.last().unwrap()
    }

    /// Operation and code of the refusal that its last step expects.
    pub(crate) fn refusal(&self) -> Option<(String, String)> {
        let step = list(self.last(), "step").pop()?;
        let code = step["expect"]["body"]["code"].as_str()?.to_owned();
        Some((step["call"].as_str()?.to_owned(), code))
    }

    /// Texts of a list, such as `events`.
    pub(super) fn names(&self, list: &str) -> Vec<String> {
        let names = self::list(self.last(), list).into_iter();
        names.map(|name| name.as_str().unwrap().to_owned()).collect()
    }

    /// The steps of the whole chain of situations, to run in a separate world.
    pub(super) fn source(&self) -> Source {
        let steps = self.chain.iter().flat_map(|row| {
            let outcomes = list(row, "outcome");
            let steps = list(row, "step").into_iter();
            steps.map(move |does| Step { does, outcomes: outcomes.clone() })
        });
        let steps: Vec<Step> = steps.collect();
        Source {
            name: format!("{} {}", self.file, self.last()["name"]),
            text: None,
            world: String::new(),
            own: steps.len() - list(self.last(), "step").len(),
            steps,
            events: self.names("events"),
            states: self.names("states"),
            is_probed: true,
        }
    }
}

fn list(table: &Value, name: &str) -> Vec<Value> {
    table[name].as_array().cloned().unwrap_or_default()
}
