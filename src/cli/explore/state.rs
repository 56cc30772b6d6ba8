//! The file of finished outcomes, from which an exploration continues.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::cli::explore::outcome::{Rule, Site};
use crate::cli::explore::trial::Broken;
use crate::cli::failure::Failure;

/// Identifies the exploration of a file. A file with another header is refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Header {
    pub(super) format: u32,
    pub(super) seed: Option<u64>,
    /// Identifies the run without outcomes: the world, its version and the effects of the command.
    pub(super) usual: String,
    /// A hash of the decision table.
    pub(super) decisions: String,
    /// A hash of the command, the check and the depth.
    pub(super) command: String,
}

/// A finished outcome.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Finished {
    pub(super) rules: Vec<Rule>,
    pub(super) result: Outcome,
    /// The node of the run; see `trial`.
    pub(super) node: String,
    /// A hash of its effects.
    pub(super) effects: String,
    /// The decisions after those of its rules.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) sites: Vec<Site>,
}

/// The result of an outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Outcome {
    Passed,
    /// A rule of the outcome never acted.
    NotReached,
    /// The run failed once, but not again.
    NotStable {
        how: String,
    },
    Failed(Finding),
}

/// A failure, as small as possible.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Finding {
    pub(super) rules: Vec<Rule>,
    pub(super) broken: Broken,
    /// The scenario file.
    pub(super) text: String,
    /// The last lines that the command and the check printed.
    pub(super) printed: String,
}

/// The file, and the finished outcomes that it had.
pub(super) struct State {
    file: Option<(PathBuf, File)>,
    pub(super) known: VecDeque<Finished>,
}

impl State {
    pub(super) const fn none() -> Self {
        Self { file: None, known: VecDeque::new() }
    }

    /// Reads the file, or creates it. A torn last line is cut.
    pub(super) fn open(path: &Path, header: &Header) -> Result<Self, Failure> {
        let shown = path.display();
        let cannot = |error| Failure::Usage(format!("--state {shown}: {error}"));
        let mut file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(cannot)?;
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(cannot)?;
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        let mut lines = text[..whole].lines();
        let mut known = VecDeque::new();
        let mut end = 0;
        let refuse = || {
            let why = "it belongs to another command, world or version, or is no state file";
            Err(Failure::Usage(format!("--state {shown}: {why}")))
        };
        let begin = serde_json::to_string(header).map_err(Failure::impossible)?;
        if whole == 0 && !begin.starts_with(&text) {
            return refuse();
        }
        if let Some(first) = lines.next() {
            let found: Option<Header> = serde_json::from_str(first).ok();
            if found.as_ref() != Some(header) {
                return refuse();
            }
            end = first.len() + 1;
            for line in lines {
                let Ok(finished) = serde_json::from_str(line) else { break };
                known.push_back(finished);
                end += line.len() + 1;
            }
        }
        file.set_len(end as u64).map_err(cannot)?;
        file.seek(SeekFrom::End(0)).map_err(cannot)?;
        let mut state = Self { file: Some((path.to_owned(), file)), known };
        if end == 0 {
            state.write(header)?;
        }
        Ok(state)
    }

    pub(super) fn write(&mut self, line: &impl Serialize) -> Result<(), Failure> {
        let Some((path, file)) = &mut self.file else { return Ok(()) };
        let text = serde_json::to_string(line).map_err(Failure::impossible)? + "\n";
        file.write_all(text.as_bytes()).map_err(|error| {
            Failure::Impossible(format!("cannot write --state {}: {error}", path.display()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> Header {
        let text = || "x".to_owned();
        Header { format: 1, seed: Some(42), usual: text(), decisions: text(), command: text() }
    }

    fn finished(nth: u64) -> Finished {
        let rule = Rule { on: "a".into(), then: "b".into(), nth: Some(nth), after: None };
        Finished {
            rules: vec![rule],
            result: Outcome::Passed,
            node: String::new(),
            effects: String::new(),
            sites: Vec::new(),
        }
    }

    #[test]
    fn a_torn_last_line_is_cut_and_the_others_are_known() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("state.jsonl");
        let mut state = State::open(&path, &header()).expect("a new file");
        state.write(&finished(1)).expect("a line");
        state.write(&finished(2)).expect("a line");
        let whole = std::fs::read(&path).expect("a file");
        std::fs::write(&path, &whole[..whole.len() - 5]).expect("a torn file");
        let mut state = State::open(&path, &header()).expect("a torn file");
        assert_eq!(state.known.len(), 1);
        state.write(&finished(2)).expect("a line");
        assert_eq!(std::fs::read(&path).expect("a file"), whole);
    }

    #[test]
    fn another_header_is_refused_and_the_file_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("state.jsonl");
        State::open(&path, &header()).expect("a new file");
        let before = std::fs::read(&path).expect("a file");
        let other = Header { seed: Some(7), ..header() };
        assert!(matches!(State::open(&path, &other), Err(Failure::Usage(_))));
        assert_eq!(std::fs::read(&path).expect("a file"), before);
        for text in ["no state\n", "no state"] {
            std::fs::write(&path, text).expect("a file");
            assert!(matches!(State::open(&path, &header()), Err(Failure::Usage(_))));
            assert_eq!(std::fs::read_to_string(&path).expect("a file"), text);
        }
    }
}
