//! The list of assumptions: an existing test shows every row, and the document in `docs/` has the same list.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::harness::contract::printed;

pub(super) fn list() -> Vec<Value> {
    printed(&["contract", "--json"]).as_array().unwrap().clone()
}

fn text<'a>(row: &'a Value, member: &str) -> &'a str {
    row[member].as_str().unwrap()
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The names of the test functions, here and in the sources.
fn tests() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    sources(&root.join("tests/it"), &mut files);
    sources(&root.join("src"), &mut files);
    let mut names = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(file).unwrap();
        let mut lines = text.lines().map(str::trim);
        while let Some(line) = lines.next() {
            if line == "#[test]" {
                let name = lines.find_map(|line| line.strip_prefix("fn "));
                let name = name.and_then(|name| name.split('(').next());
                names.extend(name.map(str::to_owned));
            }
        }
    }
    names
}

#[test]
fn every_assumption_is_shown_by_a_test_that_exists() {
    let (tests, list) = (tests(), list());
    assert!(tests.len() > 200 && list.len() > 50, "{} {}", tests.len(), list.len());
    let untested: Vec<&str> = list
        .iter()
        .map(|row| text(row, "proof"))
        .filter(|proof| !tests.iter().any(|test| test == proof))
        .collect();
    assert_eq!(untested, Vec::<&str>::new());
    assert!(!tests.iter().any(|test| test == "no_such_test"));
}

/// Every section of the specification that says "not shown" has its rows.
#[test]
fn every_section_that_leaves_something_open_is_listed() {
    let list = list();
    for section in ["§1", "§2", "§3", "§4.1", "§4.2", "§4.3", "§5", "§6", "§7", "§8", "§9"]
    {
        assert!(list.iter().any(|row| row["section"] == section), "{section}");
    }
}

#[test]
fn the_page_of_the_contract_has_the_printed_list() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/contract.md");
    let page = std::fs::read_to_string(page).unwrap();
    let rows: Vec<&str> = page
        .lines()
        .skip_while(|line| !line.starts_with("| § |"))
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .collect();
    let expected: Vec<String> = list()
        .iter()
        .map(|row| {
            let keys: Vec<String> = row["overridden_by"]
                .as_array()
                .unwrap()
                .iter()
                .map(|key| format!("`{}`", key.as_str().unwrap()))
                .collect();
            let setting = row["setting"].as_str().map(str::to_owned);
            let fixed = row["fixed"].as_str().map(|why| format!("fixed: {why}"));
            let ways: Vec<String> = Some(keys.join(", "))
                .filter(|it| !it.is_empty())
                .into_iter()
                .chain(setting)
                .chain(fixed)
                .collect();
            let keys = ways.join("; ");
            let section = text(row, "section").trim_start_matches('§');
            let (question, answer) = (text(row, "question"), text(row, "answer"));
            format!("| {section} | {question} | {answer} | {keys} |")
        })
        .collect();
    assert_eq!(rows, expected);
}

#[test]
fn the_example_of_the_page_is_a_contract() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/contract.md");
    let page = std::fs::read_to_string(page).unwrap();
    let blocks: Vec<&str> =
        page.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(!blocks.is_empty());
    for block in blocks {
        let file = super::file(block);
        let name = file.path().to_str().unwrap();
        let output =
            crate::harness::finish(&mut crate::harness::command(&["contract", "check", name]));
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}
