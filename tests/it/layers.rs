//! The layers of the architecture: a layer imports only from those to its left, and only `io` and `cli` use
//! sockets, files and clocks.

use std::path::{Path, PathBuf};

/// From left to right. The layers of one entry may not import one another.
const LAYERS: [&[&str]; 10] = [
    &["value"],
    &["model"],
    &["world"],
    &["tester"],
    &["api"],
    &["engine"],
    &["scenario"],
    &["render"],
    &["io"],
    &["cli", "main", "lib"],
];

/// Names that only `io`, `cli` and `main` may use. `Instant` is also a name of this crate
/// (`ClockMode::Instant`), so it counts only if it comes from `std::time`. Clippy's `disallowed-types`
/// finds all other forms.
const OUTSIDE: [&str; 6] =
    ["tokio::", "hyper::", "std::fs", "std::net", "SystemTime", "std::time::Instant"];

fn rank(layer: &str) -> usize {
    LAYERS
        .iter()
        .position(|layers| layers.contains(&layer))
        .unwrap_or_else(|| panic!("src/ has a layer {layer} that the architecture does not know"))
}

/// The fault of one line of code of a layer, if there is one.
fn fault(layer: &str, line: &str) -> Option<String> {
    let code = line.split("//").next().unwrap_or_default();
    for (place, _) in code.match_indices("crate::") {
        if code[..place].ends_with(|before: char| before.is_alphanumeric() || before == '_') {
            continue;
        }
        let named: String =
            code[place + 7..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        let is_module = LAYERS.iter().any(|layers| layers.contains(&named.as_str()));
        if is_module && named != layer && rank(&named) >= rank(layer) {
            return Some(format!("{layer} imports {named}: {}", line.trim()));
        }
    }
    let edge = rank(layer) >= rank("io");
    let outside = |name: &&&str| {
        code.match_indices(**name).any(|(place, _)| {
            let before = code[..place].chars().next_back();
            let after = code[place + name.len()..].chars().next();
            let word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
            !word(before) && (name.ends_with(':') || !word(after))
        })
    };
    let braced = code.contains("std::time::{") && code.contains("Instant");
    let named = OUTSIDE.iter().find(outside).or(braced.then_some(&"Instant")).filter(|_| !edge)?;
    Some(format!("{layer} names {named}: {}", line.trim()))
}

/// The faults of a file, without its modules of tests.
fn faults(layer: &str, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let tests = line.trim_start().starts_with("#[cfg(test)]")
            && lines.peek().is_some_and(|next| next.trim_start().starts_with("mod "));
        if tests {
            let indent = line.len() - line.trim_start().len();
            let head = lines.next().unwrap_or_default();
            if !head.trim_end().ends_with(';') {
                let end = format!("{}}}", " ".repeat(indent));
                let _ = lines.by_ref().find(|line| *line == end);
            }
            continue;
        }
        found.extend(fault(layer, line));
    }
    found
}

/// The files of a folder and those below it, without tests.
pub(crate) fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() && name != "tests" {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") && name != "tests.rs"
        {
            found.push(path);
        }
    }
    found
}

#[test]
fn every_import_points_to_the_left() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let files = sources(&root);
    assert!(files.len() > 50, "only {} files were found", files.len());
    let mut found = Vec::new();
    for path in files {
        let inside = path.strip_prefix(&root).unwrap();
        let first = inside.components().next().unwrap().as_os_str().to_str().unwrap();
        let layer = first.trim_end_matches(".rs");
        let text = std::fs::read_to_string(&path).unwrap();
        found.extend(
            faults(layer, &text).into_iter().map(|fault| format!("{}: {fault}", inside.display())),
        );
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// The control run: bad lines are noticed, valid ones are not.
#[test]
fn an_import_from_the_right_is_noticed() {
    for (layer, line) in [
        ("value", "use crate::model::Kind;"),
        ("model", "    crate::world::World::new()"),
        ("api", "use crate::{value::id::Id, engine::Engine}; use crate::engine::Engine;"),
        ("render", "use crate::io::server::Server;"),
        ("scenario", "use crate::render::pages;"),
        ("world", "use tokio::sync::Mutex;"),
        ("engine", "let now = std::time::Instant::now();"),
        ("engine", "use std::time::{Duration, SystemTime};"),
        ("engine", "use std::time::{Duration, Instant};"),
        ("api", "std::fs::read(path)"),
    ] {
        assert!(fault(layer, line).is_some(), "{layer}: {line}");
    }
    for (layer, line) in [
        ("model", "use crate::value::id::Id;"),
        ("model", "use crate::model::Kind;"),
        ("io", "use tokio::net::TcpListener; use std::time::Instant;"),
        ("cli", "use crate::io::log;"),
        ("world", "// crate::engine in a comment; std::fs is not used"),
        ("world", "ClockMode::Instant"),
        ("engine", "let instant: InstantLike = plain(mode);"),
    ] {
        assert_eq!(fault(layer, line), None);
    }
    let tests = "fn a() {}\n#[cfg(test)]\nmod tests {\n    use crate::engine::Engine;\n}\nuse crate::io::log;\n";
    assert_eq!(faults("model", tests).len(), 1, "what follows a module of tests is read again");
}
