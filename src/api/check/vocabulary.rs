//! The supported keywords, and how each is read. Any other keyword stops the process.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use regex_lite::Regex;
use serde_json::{Map, Value};

use super::{Allowed, Format, Types};
use crate::api::json::Place;
use crate::value::{BirthDate, Span, text, time};

/// The supported text formats, each with the parser that reads the value later.
pub(super) const FORMATS: &[(&str, Format)] = &[
    ("date", |text| text.parse::<time::Date>().map(|_| ())),
    ("birth-date", |text| text.parse::<BirthDate>().map(|_| ())),
    ("date-time", |text| text.parse::<time::Timestamp>().map(|_| ())),
    ("text", text::plain),
    ("period", |text| text.parse::<time::Period>().map(|_| ())),
    ("span", |text| text.parse::<Span>().map(|_| ())),
];

/// Keywords for readers that the checker ignores.
pub(super) const ANNOTATIONS: &[&str] =
    &["title", "description", "default", "examples", "deprecated", "$defs"];

pub(super) const OBJECT_KEYWORDS: &[&str] = &[
    "properties",
    "required",
    "additionalProperties",
    "patternProperties",
    "propertyNames",
    "minProperties",
    "maxProperties",
];

/// The value of `type`.
pub(super) fn types(value: &Value, at: Place<'_>) -> Types {
    let names = match value {
        Value::Array(names) => names.as_slice(),
        name => core::slice::from_ref(name),
    };
    names.iter().fold(Types::NONE, |types, name| {
        let row = Types::NAMES.iter().find(|(_, known, _)| name == known);
        let (found, ..) =
            row.unwrap_or_else(|| panic!("the type {name} at {} is not enforced", shown(at)));
        types.or(*found)
    })
}

/// The value of `enum`.
pub(super) fn allowed(values: &[Value]) -> Allowed {
    let texts: Vec<String> = values.iter().filter_map(Value::as_str).map(str::to_owned).collect();
    let others = values.iter().filter(|value| !value.is_string()).cloned().collect();
    Allowed { sorted: texts.is_sorted(), texts, others }
}

/// The compiled pattern, cached per process: a few patterns are in nearly every schema, and each takes half a millisecond.
pub(super) fn regex(pattern: &str, at: Place<'_>) -> Regex {
    static COMPILED: Mutex<BTreeMap<String, Regex>> = Mutex::new(BTreeMap::new());
    let mut compiled = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(regex) = compiled.get(pattern) {
        return regex.clone();
    }
    let regex = Regex::new(&as_ecma(pattern))
        .unwrap_or_else(|error| panic!("pattern at {}: {error}", shown(at)));
    compiled.insert(pattern.to_owned(), regex.clone());
    regex
}

/// The pattern with the meaning of ECMAScript, JSON Schema's dialect. There `\d`, `\w` and `\s` are fixed classes; in
/// Rust's `regex` they follow Unicode.
fn as_ecma(pattern: &str) -> String {
    const CLASSES: &[(char, &str)] = &[
        ('d', "0-9"),
        ('w', "0-9A-Za-z_"),
        ('s', r"\x09-\x0d\x20\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"),
    ];
    let mut out = String::with_capacity(pattern.len());
    let mut in_class = false;
    let mut characters = pattern.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => {
                let escaped = characters.next().unwrap_or('\\');
                match CLASSES.iter().find(|(letter, _)| *letter == escaped) {
                    Some((_, class)) if in_class => out.push_str(class),
                    Some((_, class)) => out.extend(["[", class, "]"]),
                    None => out.extend(['\\', escaped]),
                }
            }
            other => {
                in_class = other == '[' || in_class && other != ']';
                out.push(other);
            }
        }
    }
    out
}

pub(super) fn text<'v>(value: &'v Value, at: Place<'_>) -> &'v str {
    value.as_str().unwrap_or_else(|| panic!("no text at {}", shown(at)))
}

pub(super) fn list<'v>(value: &'v Value, at: Place<'_>) -> &'v [Value] {
    value.as_array().unwrap_or_else(|| panic!("no list at {}", shown(at)))
}

pub(super) fn map<'v>(value: &'v Value, at: Place<'_>) -> &'v Map<String, Value> {
    value.as_object().unwrap_or_else(|| panic!("no map at {}", shown(at)))
}

pub(super) fn count(value: &Value, at: Place<'_>) -> usize {
    let count = value.as_u64().and_then(|count| count.try_into().ok());
    count.unwrap_or_else(|| panic!("no count at {}", shown(at)))
}

pub(super) fn shown(at: Place<'_>) -> String {
    format!("#{}", at.pointer())
}
