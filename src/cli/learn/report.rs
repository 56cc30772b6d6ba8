//! The report, for people and for programs.

use core::fmt::Write as _;
use std::path::Path;

use serde::Serialize;

use crate::cli::counted::counted;
use crate::cli::learn::learned::{Difference, Learned};
use crate::cli::printable::printable;

/// Numbers of calls.
#[derive(Serialize)]
pub(super) struct Counts {
    /// In all files.
    pub(super) read: usize,
    /// Calls of operations of the sandbox.
    pub(super) compared: usize,
    /// Entries of HAR files without a URL of HTTP, or without a reply.
    pub(super) left_out: usize,
}

#[derive(Serialize)]
struct Report<'a> {
    calls: &'a Counts,
    assumptions: Vec<Row<'a>>,
    /// The text of the contract file.
    overlay: &'a str,
}

/// One assumption.
#[derive(Serialize)]
struct Row<'a> {
    id: &'a str,
    question: &'a str,
    answer: &'a str,
    /// The reason why no setting changes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    fixed: Option<&'a str>,
    result: &'static str,
    confirmed_at: &'a [String],
    /// Calls of a recording that depend on it.
    used_at: &'a [String],
    differences: Vec<Shown<'a>>,
}

/// One difference.
#[derive(Serialize)]
struct Shown<'a> {
    what: &'a str,
    at: &'a [String],
    /// The key of the contract file that covers it.
    key: Option<&'a str>,
    /// The key's new value, in TOML.
    value: Option<String>,
}

fn rows(learned: &Learned) -> Vec<Row<'_>> {
    let changes = learned.changes();
    let shown = |it: &'_ Difference| -> Option<String> { changes.get(it.key.as_ref()?).cloned() };
    let rows = learned.rows().map(|(one, seen)| {
        let different = seen.map_or(&[][..], |seen| &seen.different);
        let confirmed = seen.map_or(&[][..], |seen| &seen.confirmed);
        let differences = different.iter().map(|it| Shown {
            what: &it.what,
            at: &it.at,
            key: it.key.as_deref(),
            value: shown(it),
        });
        Row {
            id: &one.id,
            question: &one.question,
            answer: &one.answer,
            fixed: one.fixed.as_deref(),
            result: match (different.is_empty(), confirmed.is_empty()) {
                (false, _) => "different",
                (true, false) => "confirmed",
                (true, true) => "not_seen",
            },
            confirmed_at: confirmed,
            used_at: seen.map_or(&[][..], |seen| &seen.used),
            differences: differences.collect(),
        }
    });
    rows.collect()
}

pub(super) fn json(learned: &Learned, counts: &Counts, overlay: &str) -> String {
    let report = Report { calls: counts, assumptions: rows(learned), overlay };
    let mut text = serde_json::to_string_pretty(&report).expect("texts are written as JSON");
    text.push('\n');
    text
}

pub(super) fn text(learned: &Learned, counts: &Counts, out: Option<&Path>) -> String {
    let rows = rows(learned);
    let mut text = String::new(); // a string accepts every character
    let of = |result: &str| rows.iter().filter(|row| row.result == result).collect::<Vec<_>>();
    let _ = writeln!(
        text,
        "{} read, {} compared with {} assumptions",
        counted(counts.read as u64, "call", "calls"),
        counts.compared,
        rows.len()
    );
    if counts.left_out > 0 {
        let entries = counted(counts.left_out as u64, "entry", "entries");
        let _ = writeln!(text, "{entries} left out: without a URL of HTTP, or without a reply");
    }
    for row in of("different") {
        let _ = writeln!(
            text,
            "\ndifferent: {} [{}]\n  sandbox:  {}",
            row.question, row.id, row.answer
        );
        for shown in &row.differences {
            let _ = writeln!(
                text,
                "  service:  {} ({})",
                printable(shown.what),
                printable(&shown.at.join("; "))
            );
            let _ = match (shown.key, &shown.value) {
                (Some(key), Some(value)) => writeln!(text, "  contract: {key} = {value}"),
                _ => match row.fixed {
                    Some(why) => writeln!(text, "  contract: no key changes this, because {why}"),
                    None => writeln!(text, "  contract: no key changes this"),
                },
            };
        }
    }
    let (different, confirmed, unseen) = (of("different"), of("confirmed"), of("not_seen"));
    for (what, rows) in [("confirmed", &confirmed), ("not seen", &unseen)] {
        let ids: Vec<&str> = rows.iter().map(|row| row.id).collect();
        let _ = writeln!(
            text,
            "\n{what}: {}",
            if ids.is_empty() { "none".into() } else { ids.join(", ") }
        );
    }
    let used: Vec<&str> =
        unseen.iter().filter(|row| !row.used_at.is_empty()).map(|row| row.id).collect();
    if !used.is_empty() {
        let _ = writeln!(text, "\nnot seen, and used by the recording: {}", used.join(", "));
    }
    let covered = learned.different().filter(|it| it.key.is_some()).count();
    let _ = writeln!(
        text,
        "\n{} confirmed, {} different, {} not seen; keys of the contract cover {covered} of {} differences",
        confirmed.len(),
        different.len(),
        unseen.len(),
        learned.different().count()
    );
    match out {
        Some(out) => {
            let _ = writeln!(text, "wrote {}: serve it with --contract", out.display());
        }
        None if learned.different().any(|it| it.key.is_some()) => {
            text.push_str("--out FILE writes the contract\n");
        }
        None => {}
    }
    text
}
