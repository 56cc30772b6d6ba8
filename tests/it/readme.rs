//! The commands of the README, of the long tour and of the page about sharing print the answers that these pages show.
//!
//! An `sh` block that is directly followed by a `json` or `text` block is run, in order. White space does not count in `json`;
//! `…` matches anything. Each page has its own servers: port 4747 is a fresh one of seed 42, 4748 one with a manual clock.

use std::process::{Command, Stdio};

use crate::harness::Server;

const README: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md"));
const TOUR: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/tour.md"));

const SHARE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/share.md"));

/// A fenced block: its language, its lines, and whether it directly follows the block before it.
struct Block {
    language: &'static str,
    text: String,
    follows: bool,
}

fn blocks(markdown: &'static str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let (mut inside, mut follows) = (false, false);
    for line in markdown.lines() {
        match (inside, line.strip_prefix("```")) {
            (false, Some(language)) => {
                let text = String::new();
                blocks.push(Block { language, text, follows });
                inside = true;
            }
            (true, Some("")) => (inside, follows) = (false, true),
            (true, _) => {
                let block = blocks.last_mut().expect("a block has begun");
                block.text.push_str(line);
                block.text.push('\n');
            }
            (false, None) => follows &= line.is_empty(),
        }
    }
    blocks
}

/// Whether `actual` is `expected`, where `…` matches anything.
fn fits(expected: &str, actual: &str) -> bool {
    let Some((head, rest)) = expected.split_once('…') else {
        return expected == actual;
    };
    let Some(after) = actual.strip_prefix(head) else {
        return false;
    };
    let mut starts = after.char_indices().map(|(start, _)| start);
    starts.any(|start| fits(rest, &after[start..])) || fits(rest, "")
}

fn comparable(language: &str, text: &str) -> String {
    match language {
        "json" => text.split_whitespace().collect(),
        _ => text.trim().to_owned(),
    }
}

fn run(command: &str) -> String {
    // A plain shell, as readers have it.
    let output = Command::new("sh").args(["-eu", "-c", command]).stdin(Stdio::null()).output();
    let output = output.expect("sh runs");
    assert!(output.status.success(), "{command}\n{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("answers are UTF-8")
}

/// Runs the commands of a page on two fresh servers, and returns the number of checked answers.
fn check(page: &'static str) -> usize {
    let instant = Server::start(&["--seed", "42"]);
    let manual = Server::start(&["--seed", "42", "--clock", "manual"]);
    let here = |command: &str| {
        let command = command.replace("localhost:4747", &format!("127.0.0.1:{}", instant.port()));
        let command = command.replace("localhost:4748", &format!("127.0.0.1:{}", manual.port()));
        let command = command.replace("--port 4747", &format!("--port {}", instant.port()));
        let binary = env!("CARGO_BIN_EXE_sandbox");
        command.replace("cargo run --quiet --release --", &format!("'{binary}'"))
    };
    let blocks = blocks(page);
    let mut checked = 0;
    for pair in blocks.windows(2) {
        let (question, answer) = (&pair[0], &pair[1]);
        if question.language != "sh" {
            continue;
        }
        if !answer.follows || !matches!(answer.language, "json" | "text") {
            if page == SHARE {
                run(&here(&question.text)); // commands that the next ones need
            }
            continue;
        }
        let printed = run(&here(&question.text));
        assert!(
            fits(
                &comparable(answer.language, &answer.text),
                &comparable(answer.language, &printed)
            ),
            "{}\nprints\n{printed}\ninstead of the text of the page:\n{}",
            question.text,
            answer.text
        );
        checked += 1;
    }
    checked
}

#[test]
fn every_answer_of_the_readme_is_printed_by_its_command() {
    assert_eq!(check(README), 7);
}

#[test]
fn every_answer_of_the_long_tour_is_printed_by_its_command() {
    assert_eq!(check(TOUR), 31);
}

#[test]
fn every_answer_of_the_page_about_sharing_is_printed_by_its_command() {
    assert_eq!(check(SHARE), 4);
}

/// A reader has no `sandbox` on the path yet.
#[test]
fn no_block_needs_an_installed_program() {
    for page in [README, TOUR, SHARE] {
        for block in blocks(page).iter().filter(|block| block.language == "sh") {
            let installs = block.text.contains("install");
            let named = block.text.lines().any(|line| line.starts_with("sandbox "));
            assert!(installs || !named, "{}", block.text);
        }
    }
}

/// The control run: the checker must notice a different answer.
#[test]
fn a_different_answer_is_noticed() {
    assert!(fits("a…c", "abbc") && fits("…", "") && fits("ab", "ab"));
    assert!(!fits("a…c", "abb") && !fits("ab", "abc") && !fits("a…b…c", "acb"));
    let noticed = |text| blocks(text).iter().filter(|block| block.follows).count();
    assert_eq!(noticed("```sh\na\n```\n\n```json\n1\n```\n"), 1);
    assert_eq!(noticed("```sh\na\n```\nwords\n```json\n1\n```\n"), 0);
}
