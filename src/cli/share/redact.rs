//! Replaces what people wrote in calls. Equal texts get equal replacements, so references stay consistent.
//!
//! The input schemas of the operations decide. A text stays only if its schema lists it, or reads it as a date or a time,
//! if it is an id, or if its member is in [`CODES`]. Every other text is replaced, also in members that are added later.

mod schemas;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use self::schemas::{Form, Forms, Schemas};
use crate::cli::share::line::Shared;
use crate::model::identity::document::TOKENS;
use crate::value::text::NO_CONTROL;

/// Members whose texts are words of the program, codes and account numbers. They stay if they have neither spaces nor
/// letters beyond ASCII.
const CODES: [&str; 34] = [
    "account_number",
    "authority",
    "bank_code",
    "chance",
    "code",
    "countries",
    "country",
    "date_format",
    "decision",
    "document_id",
    "earnings",
    "endpoint_id",
    "event",
    "event_type",
    "events",
    "form",
    "in_order",
    "industry",
    "jurisdiction",
    "key", // the keys of forks: the sandbox has replaced them
    "method",
    "milestone_id",
    "nth",
    "on",
    "operation",
    "rate",
    "resource",
    "return_code",
    "scenario",
    "tax_attributes",
    "tax_type",
    "then",
    "to",
    "type",
];

/// Replaces what people wrote in all calls.
pub(super) fn redact(shared: &mut Shared) {
    let mut redaction = Redaction { schemas: Schemas::default(), known: BTreeMap::new() };
    for input in &mut shared.inputs {
        let path = input.path.split('?').next().unwrap_or_default();
        let form = Schemas::of_call(&input.method, path);
        let forms: Forms = form.iter().flat_map(Form::alternatives).collect();
        redaction.value(&mut input.body, "", &forms);
        if let Some((path, query)) = input.path.split_once('?') {
            input.path = format!("{path}?{}", redaction.query(query, &forms));
        }
        if let Some(key) = input.headers.get_mut("idempotency-key") {
            *key = redaction.new_key(key.trim_matches('"'));
        }
    }
}

/// The replacements of a line.
struct Redaction {
    schemas: Schemas,
    /// The number of each text that was replaced.
    known: BTreeMap<String, usize>,
}

impl Redaction {
    /// Replaces the texts in a value whose possible schemas are `forms`. None means that the schema is open.
    fn value(&mut self, value: &mut Value, name: &str, forms: &Forms) {
        match value {
            Value::Object(members) => self.object(members, name, forms),
            Value::Array(rows) => {
                let items = forms.iter().flat_map(Form::items).collect();
                for row in rows {
                    self.value(row, name, &items);
                }
            }
            Value::String(text) => {
                if let Some(new) = self.text(text, name, forms) {
                    *text = new;
                }
            }
            _ => {}
        }
    }

    fn object(&mut self, members: &mut Map<String, Value>, name: &str, forms: &Forms) {
        let is_map = name == "metadata" || forms.iter().any(Form::is_map);
        let replaces_names = is_map && !CODES.contains(&name);
        for (key, mut member) in std::mem::take(members) {
            let below: Forms = forms.iter().flat_map(|form| form.member(&key)).collect();
            self.value(&mut member, if is_map { name } else { &key }, &below);
            members.insert(if replaces_names { self.new_key(&key) } else { key }, member);
        }
    }

    /// The replacement of a text; none if it stays.
    fn text(&mut self, text: &str, name: &str, forms: &Forms) -> Option<String> {
        if forms.is_empty() {
            return self.open_text(text, name);
        }
        if is_id(text) || forms.iter().any(|form| form.lists(text)) || is_kept_code(name, text) {
            return None;
        }
        if forms.iter().any(|form| form.format() == Some("birth-date")) {
            return Some(new_birth_date(text));
        }
        let is_coded = |pattern: &str| pattern != NO_CONTROL && !pattern.contains('@');
        let is_coded = forms.iter().any(|form| form.pattern().is_some_and(is_coded));
        Some(if is_coded && !text.contains('@') { self.new_key(text) } else { self.new_text(text) })
    }

    /// The replacement of a text in an object that any member can be in, such as `where`. A comparison keeps its operator.
    fn open_text(&mut self, text: &str, name: &str) -> Option<String> {
        let operand = text.trim_start_matches(['<', '>', '=', '!', ' ']);
        let name = name.rsplit(['/', '.']).next().unwrap_or(name);
        let is_figure = |byte: u8| byte.is_ascii_digit() || b"-+.:TZ".contains(&byte);
        if operand.bytes().all(is_figure)
            || is_id(operand)
            || ["true", "false"].contains(&operand)
            || (is_code(operand) && self.schemas.is_closed(name))
        {
            return None;
        }
        let operator = &text[..text.len() - operand.len()];
        Some(format!("{operator}{}", self.new_text(operand)))
    }

    fn query(&mut self, query: &str, forms: &Forms) -> String {
        let mut pairs = Vec::new();
        for pair in query.split('&') {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let below: Forms = forms.iter().flat_map(|form| form.member(name)).collect();
            let new = self.text(value, name, &below).map(|_| self.new_key(value));
            pairs.push(format!("{name}={}", new.as_deref().unwrap_or(value)));
        }
        pairs.join("&")
    }

    fn number(&mut self, text: &str) -> usize {
        let next = self.known.len() + 1;
        *self.known.entry(text.to_owned()).or_insert(next)
    }

    fn new_text(&mut self, text: &str) -> String {
        let number = self.number(text);
        if text.contains('@') {
            format!("redacted-{number}@example.com")
        } else {
            format!("Redacted {number}")
        }
    }

    /// A replacement without spaces and capital letters.
    fn new_key(&mut self, text: &str) -> String {
        let number = self.number(text);
        if text.starts_with("tok_") {
            format!("tok_redacted_{number}")
        } else {
            format!("redacted-{number}")
        }
    }
}

/// The first day of the year: ages matter to some answers.
fn new_birth_date(text: &str) -> String {
    let year: String = text.chars().take_while(char::is_ascii_digit).take(4).collect();
    format!("{year}-01-01")
}

/// Whether a text is a code that its member can keep. A region is kept as `ON`, because taxes depend on it.
fn is_kept_code(name: &str, text: &str) -> bool {
    let is_region = || text.len() <= 3 && text.bytes().all(|byte| byte.is_ascii_uppercase());
    match name {
        "region" => is_region(),
        "document_token" => TOKENS.iter().any(|(token, _)| *token == text),
        _ => CODES.contains(&name) && is_code(text),
    }
}

/// Text with spaces, an `@` or letters beyond ASCII is written by a person.
fn is_code(text: &str) -> bool {
    !text.contains([' ', '@']) && text.is_ascii()
}

/// Whether a text is an id, such as `com_bp9fm3zzz4aa5`.
fn is_id(text: &str) -> bool {
    text.rsplit_once('_').is_some_and(|(prefix, code)| {
        (2..=8).contains(&prefix.len())
            && prefix.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
            && code.len() == 13
            && code.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
            && code.bytes().any(|byte| byte.is_ascii_digit())
    })
}
