//! The list of assumptions, for people and for programs.

use core::fmt::Write as _;

use serde::Serialize;

use crate::engine::contract::assumptions::{Assumption, all};
use crate::engine::contract::{ErrorFormat, Header, Overlay, Paging};

/// The width of a line of text.
const WIDTH: usize = 100;

/// One assumption with a contract.
#[derive(Serialize)]
struct Row<'a> {
    id: &'a str,
    section: &'a str,
    question: &'a str,
    answer: &'a str,
    /// The keys of the contract file; empty if it has none.
    overridden_by: Vec<&'a str>,
    /// Another setting that changes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    setting: Option<&'a str>,
    /// The reason why no setting changes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    fixed: Option<&'a str>,
    /// The keys that this contract sets.
    overrides: Vec<String>,
    proof: &'a str,
}

impl Row<'static> {
    fn of(one: &'static Assumption, differences: &[(String, String)]) -> Self {
        let own = differences.iter().filter(|(key, _)| {
            let general = general(key);
            one.keys().contains(&general.as_str())
        });
        Self {
            id: &one.id,
            section: &one.section,
            question: &one.question,
            answer: &one.answer,
            overridden_by: one.keys(),
            setting: one.setting.as_deref(),
            fixed: one.fixed.as_deref(),
            overrides: own.map(|(key, value)| format!("{key} = {value}")).collect(),
            proof: &one.proof,
        }
    }
}

/// `operations.*.status` for `operations.runPayroll.status`.
fn general(key: &str) -> String {
    match key.split('.').collect::<Vec<_>>().as_slice() {
        ["operations", _, name] => format!("operations.*.{name}"),
        _ => key.to_owned(),
    }
}

/// The list as one array of JSON.
pub(crate) fn json(overlay: &Overlay) -> String {
    let differences = differences(overlay);
    let rows: Vec<Row<'_>> = all().map(|one| Row::of(one, &differences)).collect();
    let mut text = serde_json::to_string_pretty(&rows).expect("texts are written as JSON");
    text.push('\n');
    text
}

/// The list for people.
pub(crate) fn text(overlay: &Overlay) -> String {
    let differences = differences(overlay);
    let mut text = String::new(); // a string accepts every character
    for one in all() {
        let row = Row::of(one, &differences);
        let _ = writeln!(text, "{:<5} {}", row.section, row.question);
        for line in wrapped(row.answer, WIDTH - 6) {
            let _ = writeln!(text, "      {line}");
        }
        let key = match (row.overridden_by.as_slice(), row.setting) {
            ([], None) => format!("fixed: {}", row.fixed.unwrap_or_default()),
            ([], Some(setting)) => format!("set by {setting}"),
            (keys, None) => format!("override: {}", keys.join(", ")),
            (keys, Some(setting)) => format!("override: {}; set by {setting}", keys.join(", ")),
        };
        let _ = writeln!(text, "      [{}; {key}]", row.id);
        for over in row.overrides {
            let _ = writeln!(text, "      > {over}");
        }
        text.push('\n');
    }
    let _ = writeln!(text, "{} assumptions", all().count());
    text
}

/// The replacements of a contract, as the end of a sentence.
pub(crate) fn overridden(overlay: &Overlay) -> String {
    let differences = differences(overlay);
    if differences.is_empty() {
        return "nothing".to_owned();
    }
    let keys: Vec<&str> = differences.iter().map(|(key, _)| key.as_str()).collect();
    keys.join(", ")
}

/// A contract as a file, without its API keys.
pub(crate) fn file(overlay: &Overlay) -> String {
    let (mut text, mut section) = (String::new(), "");
    let differences = differences(overlay);
    if differences.is_empty() {
        return "# The assumed contract: nothing is different.\n".to_owned();
    }
    for (key, value) in &differences {
        let (own, name) = key.rsplit_once('.').unwrap_or(("", key));
        if key == "auth.keys" {
            continue;
        }
        if own != section {
            let _ = writeln!(text, "{}[{own}]", if text.is_empty() { "" } else { "\n" });
            section = own;
        }
        let _ = writeln!(text, "{name} = {value}");
    }
    text
}

/// The differences of a contract, key by key in the form of its file. API keys are counted, not shown.
pub(crate) fn differences(overlay: &Overlay) -> Vec<(String, String)> {
    let mut differences = Vec::new();
    let mut say = |key: &str, value: String| differences.push((key.to_owned(), value));
    if overlay.rows.published_only {
        say("serve", "\"published\"".to_owned());
    }
    if !overlay.base_path.as_str().is_empty() {
        say("base_path", format!("{:?}", overlay.base_path.as_str()));
    }
    for row in crate::api::product() {
        let Some(changed) = overlay.rows.changed.get(row.name) else { continue };
        let id = row.operation_id();
        if let Some(status) = changed.status {
            say(&format!("operations.{id}.status"), status.to_string());
        }
        if !changed.aliases.is_empty() {
            say(&format!("operations.{id}.aliases"), format!("{:?}", changed.aliases));
        }
        if changed.disabled {
            say(&format!("operations.{id}.enabled"), "false".to_owned());
        }
    }
    if overlay.dialect.errors == ErrorFormat::Envelope {
        say("errors.format", "\"envelope\"".to_owned());
    }
    let (paging, ours) = (overlay.rows.paging, Paging::default());
    if paging.default != ours.default {
        say("paging.per_page_default", paging.default.to_string());
    }
    if paging.most != ours.most {
        say("paging.per_page_max", paging.most.to_string());
    }
    if !overlay.auth.keys.is_empty() {
        say("auth.keys", format!("({})", overlay.auth.keys.len()));
    }
    if !overlay.auth.refuse_live {
        say("auth.refuse_live", "false".to_owned());
    }
    if overlay.rows.key_required {
        say("idempotency.required", "true".to_owned());
    }
    if let Some(path) = &overlay.rows.webhook_endpoints {
        say("webhooks.endpoints", format!("{path:?}"));
    }
    for Header { key, name, .. } in Header::ALL {
        match overlay.called(key) {
            None => say(&format!("headers.{key}"), "false".to_owned()),
            Some(called) if called != name => say(&format!("headers.{key}"), format!("{called:?}")),
            Some(_) => {}
        }
    }
    differences
}

/// A text in lines of limited width, broken at spaces.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is a first line");
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(word.to_owned());
            continue;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines
}
