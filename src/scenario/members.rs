//! The content of `with`, `body` and `where`: JSON written as TOML, with references.

use serde_json::{Map, Value};
use toml::de::DeValue;

use crate::api::json::quoted;
use crate::scenario::reading::{Found, Reading, meant};
use crate::scenario::vocabulary::{Callable, vocabulary};
use crate::value::Diagnostic;
use crate::world::facts::EXTERNAL;

/// A text that refers to a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reference {
    /// `@employee:2`: the second of the list, from 1.
    Nth { kind: String, place: u64 },
    /// `@run.data.id`: a value that an earlier step saved.
    Saved { name: String, path: Vec<String> },
    /// `@ext:E-17`: the resource with the caller's own id.
    External(String),
    /// `@@text`: the text `@text` itself.
    Literal(String),
}

impl Reference {
    /// The reference of a text that begins with `@`; an error describes its mistake.
    pub(crate) fn read(text: &str) -> Option<Result<Self, String>> {
        let rest = text.strip_prefix('@')?;
        if rest.starts_with('@') {
            return Some(Ok(Self::Literal(rest.to_owned())));
        }
        if let Some((kind, place)) = rest.split_once(':') {
            if kind == EXTERNAL {
                let expected = "expected an id of your own, such as @ext:E-17";
                let id = (!place.is_empty()).then(|| Self::External(place.to_owned()));
                return Some(id.ok_or_else(|| expected.to_owned()));
            }
            let digits = !place.is_empty() && place.bytes().all(|byte| byte.is_ascii_digit());
            let place = digits.then(|| place.parse().ok()).flatten();
            return Some(match place {
                Some(place) if place > 0 => Ok(Self::Nth { kind: kind.to_owned(), place }),
                _ => Err(format!("expected a position from 1, such as @{kind}:1")),
            });
        }
        let mut parts = rest.split('.').map(str::to_owned);
        let name = parts.next().unwrap_or_default();
        let path: Vec<String> = parts.collect();
        if name.is_empty() || path.iter().any(String::is_empty) {
            let expected = "expected @kind:n, @saved.data.id, or @@ for a literal @";
            return Some(Err(expected.to_owned()));
        }
        Some(Ok(Self::Saved { name, path }))
    }
}

/// The allowed references of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Refers<'s> {
    /// Kinds, and the names that these earlier steps saved.
    ToSaves(&'s [String]),
    /// Only kinds, because no step comes before.
    ToKinds,
}

impl<'a> Reading<'a> {
    /// The table of a key as JSON; an empty one if it is absent.
    pub(crate) fn members(
        &mut self,
        name: &str,
        found: Option<Found<'a>>,
        refers: Refers<'_>,
    ) -> Value {
        let Some(found) = found else {
            return Value::Object(Map::new());
        };
        if self.entries(name, found).is_none() {
            return Value::Object(Map::new());
        }
        self.json(found, refers)
    }

    /// A value as JSON; its references are checked and kept.
    pub(crate) fn json(&mut self, found: Found<'a>, refers: Refers<'_>) -> Value {
        match found.get_ref() {
            DeValue::String(text) => {
                self.reference(found, text, refers);
                Value::from(text.as_ref())
            }
            DeValue::Integer(number) => {
                let value = i64::from_str_radix(number.as_str(), number.radix());
                if value.is_err() {
                    self.note(
                        Diagnostic::new(found.span(), format!("{number} is too large"))
                            .expected("expected a number of 64 bits"),
                    );
                }
                Value::from(value.unwrap_or_default())
            }
            DeValue::Float(number) => {
                self.note(
                    Diagnostic::new(
                        found.span(),
                        format!("{} is not a whole number", number.as_str()),
                    )
                    .expected("expected a whole number")
                    .help("amounts are whole minor units, without fractions"),
                );
                Value::from(0)
            }
            DeValue::Boolean(truth) => Value::from(*truth),
            DeValue::Datetime(instant) => Value::from(instant.to_string()),
            DeValue::Array(items) => items.iter().map(|item| self.json(item, refers)).collect(),
            DeValue::Table(entries) => {
                // The parser sorts names, but users expect the order of the file.
                let mut entries: Vec<_> = entries.iter().collect();
                entries.sort_by_key(|(key, _)| key.span().start);
                let members = entries
                    .into_iter()
                    .map(|(key, value)| (key.get_ref().to_string(), self.json(value, refers)));
                Value::Object(members.collect())
            }
        }
    }

    fn reference(&mut self, found: Found<'a>, text: &str, refers: Refers<'_>) {
        let refused = |what: &str| {
            Diagnostic::new(found.span(), format!("{} refers to {what}", quoted(text)))
        };
        match Reference::read(text) {
            None | Some(Ok(Reference::Literal(_) | Reference::External(_))) => {}
            Some(Err(expected)) => self.note(refused("nothing").expected(expected)),
            Some(Ok(Reference::Nth { kind, .. })) => {
                let known = &vocabulary().kinds;
                if !known.contains_key(kind.as_str()) {
                    let known: Vec<String> = known.keys().map(|&kind| kind.to_owned()).collect();
                    let diagnostic = refused("an unknown kind").expected("unknown kind");
                    self.note(meant(diagnostic, &kind, &known));
                }
            }
            Some(Ok(Reference::Saved { name, .. })) => match refers {
                Refers::ToSaves(saves) if saves.contains(&name) => {}
                Refers::ToSaves([]) => self.note(
                    refused("an unsaved name")
                        .expected(format!("no earlier step has save = \"{name}\"")),
                ),
                Refers::ToSaves(saves) => {
                    let diagnostic = refused("an unsaved name")
                        .expected(format!("no earlier step has save = \"{name}\""));
                    self.note(meant(diagnostic, &name, saves));
                }
                Refers::ToKinds => self.note(
                    refused("a saved reply")
                        .expected("only later steps can use a saved reply")
                        .help("refer to a resource by its kind and position: \"@company:1\""),
                ),
            },
        }
    }

    /// Checks an input with the schema of the operation, without its references.
    pub(crate) fn check_input(
        &mut self,
        name: &str,
        callable: &Callable,
        found: Option<Found<'a>>,
        head: core::ops::Range<usize>,
        input: &Value,
    ) {
        for violation in callable.checker().check(input) {
            let value = input.pointer(&violation.pointer);
            if value.and_then(Value::as_str).is_some_and(is_reference) {
                continue;
            }
            let span = found.map_or_else(
                || head.clone(),
                |found| place_of(found, &violation.pointer, violation.code == "unknown_member"),
            );
            let member = violation.pointer.trim_start_matches('/').replace('/', ".");
            let what = match (member.is_empty(), violation.code) {
                (true, _) => format!("{name} does not take this input"),
                (false, "required") => format!("{name} needs `{member}`"),
                (false, _) => format!("{name} does not take this `{member}`"),
            };
            self.note(Diagnostic::new(span, what).expected(violation.detail));
        }
    }
}

/// Whether a text is a reference.
pub(crate) fn is_reference(text: &str) -> bool {
    matches!(Reference::read(text), Some(Ok(reference)) if !matches!(reference, Reference::Literal(_)))
}

/// The position in the file of a JSON pointer: of its deepest existing part.
fn place_of(found: Found<'_>, pointer: &str, of_key: bool) -> core::ops::Range<usize> {
    let (mut at, mut span) = (found, found.span());
    for part in pointer.split('/').skip(1) {
        let part = part.replace("~1", "/").replace("~0", "~");
        let next = match at.get_ref() {
            DeValue::Table(entries) => entries
                .iter()
                .find(|(key, _)| *key.get_ref() == *part)
                .map(|(key, value)| (key.span(), value)),
            DeValue::Array(items) => part
                .parse()
                .ok()
                .and_then(|place: usize| items.get(place))
                .map(|item| (item.span(), item)),
            _ => None,
        };
        let Some((key, value)) = next else {
            return span;
        };
        at = value;
        span = if of_key { key } else { value.span() };
    }
    span
}
