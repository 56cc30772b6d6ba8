//! Combines the parts of a request into the value that a handler's input is decoded from.
//!
//! Values in the path and the query are text; the schema's type of the member defines how to read them. Path, query
//! and body are validated together, so that one response lists all violations. May import `value`, `json` and
//! `check`. Deliberately absent: routes and headers.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

use crate::api::check::{Carried, Checker, Faults, Types, came, suggestion};
use crate::api::json::Place;
use crate::value::ApiError;

/// The validated input of an operation.
///
/// `path` contains the names and raw, percent-encoded texts of the path parameters; `query` is raw, too. `body` is
/// `Some` on routes with a body, and `{}` if it was empty; such routes have no query parameters. Members named by the
/// path must not be in the body or query.
///
/// # Errors
///
/// `validation_failed` with every violation; a parameter's pointer is `/name`.
pub(crate) fn bind(
    checker: &Checker,
    path: &[(&str, &str)],
    query: Option<&str>,
    body: Option<Value>,
) -> Result<Value, ApiError> {
    let query = query.unwrap_or_default();
    if path.is_empty() && query.is_empty() && body.is_none() && checker.accepts_empty() {
        return Ok(Value::Object(Map::new()));
    }
    let mut binding = Binding { checker, path, members: Map::new(), faults: Faults::default() };
    let takes_query = body.is_none();
    let whole = body.is_none_or(|body| binding.body(body));
    binding.path();
    if takes_query {
        binding.query(query);
    } else {
        binding.no_query(query);
    }
    binding.finish(whole)
}

/// An input under construction.
struct Binding<'r> {
    checker: &'r Checker,
    path: &'r [(&'r str, &'r str)],
    members: Map<String, Value>,
    faults: Faults,
}

impl Binding<'_> {
    /// Adds the members of the body. Returns whether the body is an object.
    fn body(&mut self, body: Value) -> bool {
        match body {
            Value::Object(members) => self.members = members,
            other => {
                self.faults.add(Place::Root, "type", || {
                    format!("expected an object, got {}", came(&other))
                });
                return false;
            }
        }
        true
    }

    fn path(&mut self) {
        for (name, raw) in self.path {
            if self.members.contains_key(*name) {
                self.parameter(name, "unknown_member", || {
                    "this value is given in the path and must not be in the body".to_owned()
                });
            }
            if let Some(text) = self.decoded(name, Cow::Borrowed(raw)) {
                let value = match self.checker.carried(name) {
                    Some(carried) => carried.value(text),
                    None => Value::from(text), // which the check calls unknown: the row's mistake
                };
                self.members.insert((*name).to_owned(), value);
            }
        }
    }

    fn query(&mut self, query: &str) {
        for (name, raw) in pairs(query) {
            let of_path = self.path.iter().any(|(path, _)| *path == name);
            let Some(carried) = self.checker.carried(&name).filter(|_| !of_path) else {
                let path = self.path;
                let others =
                    self.checker.names().filter(|known| path.iter().all(|(path, _)| path != known));
                self.parameter(&name, "unknown_parameter", || {
                    format!("unknown query parameter{}", suggestion(&name, others))
                });
                continue;
            };
            let Some(text) = self.decoded(&name, spaced(raw)) else {
                continue;
            };
            let value = carried.value(text);
            match (self.members.get_mut(&*name), value) {
                (None, value) => {
                    self.members.insert(name.into_owned(), value);
                }
                (Some(Value::Array(items)), Value::Array(more)) => items.extend(more),
                (Some(_), _) => {
                    self.parameter(&name, "duplicate", || {
                        "this parameter accepts one value but is given more than once".to_owned()
                    });
                }
            }
        }
    }

    fn no_query(&mut self, query: &str) {
        for (name, _) in pairs(query) {
            self.parameter(&name, "unknown_parameter", || {
                "this operation accepts no query parameters: send the input in the body".to_owned()
            });
        }
    }

    fn parameter(&mut self, name: &str, code: &'static str, detail: impl FnOnce() -> String) {
        self.faults.add(Place::Member(&Place::Root, name), code, detail);
    }

    fn decoded<'t>(&mut self, name: &str, raw: Cow<'t, str>) -> Option<Cow<'t, str>> {
        if !raw.contains('%') {
            return Some(raw);
        }
        let decoded = percent_decode_str(&raw).decode_utf8().map(Cow::into_owned);
        let decoded = decoded.ok().filter(|_| every_percent_is_encoded(&raw));
        if decoded.is_none() {
            self.parameter(name, "encoding", || "expected percent-encoded UTF-8".to_owned());
        }
        decoded.map(Cow::Owned)
    }

    /// The input, if it has no violations. If the body is not an object, only the path is validated in addition.
    fn finish(self, whole: bool) -> Result<Value, ApiError> {
        let Self { checker, path, members, mut faults } = self;
        let input = Value::Object(members);
        let of_path = |pointer: &str| {
            path.iter().any(|(name, _)| Place::Member(&Place::Root, name).pointer() == pointer)
        };
        let found = checker.check(&input);
        faults.extend(found.into_iter().filter(|violation| whole || of_path(&violation.pointer)));
        match faults.into_violations() {
            none if none.is_empty() => Ok(input),
            violations => Err(ApiError::invalid(violations)),
        }
    }
}

impl Carried {
    /// The value of a text. Text that does not parse stays text, and the validation refuses it with a message.
    fn value(self, text: Cow<'_, str>) -> Value {
        if self.list {
            return text.split(',').map(|item| scalar(self.types, Cow::Borrowed(item))).collect();
        }
        scalar(self.types, text)
    }
}

fn scalar(types: Types, text: Cow<'_, str>) -> Value {
    let read = match &*text {
        _ if types.contains(Types::STRING) => None,
        "true" if types.contains(Types::BOOLEAN) => Some(Value::Bool(true)),
        "false" if types.contains(Types::BOOLEAN) => Some(Value::Bool(false)),
        // An integer as in JSON, so `1e3`, `+5` and `007` are not integers.
        text if types.contains(Types::INTEGER)
            && is_digits(text.strip_prefix('-').unwrap_or(text)) =>
        {
            serde_json::from_str(text).ok()
        }
        _ => None,
    };
    read.unwrap_or_else(|| Value::String(text.into_owned()))
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// Decoded names with raw texts. A name that is not UTF-8 is unknown.
fn pairs(query: &str) -> impl Iterator<Item = (Cow<'_, str>, &str)> {
    query.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
        let (name, text) = pair.split_once('=').unwrap_or((pair, ""));
        if !name.contains(['%', '+']) {
            return (Cow::Borrowed(name), text);
        }
        let name = percent_decode_str(&spaced(name)).decode_utf8_lossy().into_owned();
        (Cow::Owned(name), text)
    })
}

/// Whether two hexadecimal digits follow each `%`. The decoder leaves another `%` as it is.
fn every_percent_is_encoded(raw: &str) -> bool {
    raw.split('%').skip(1).all(|rest| {
        let digits = rest.as_bytes().get(..2);
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    })
}

fn spaced(raw: &str) -> Cow<'_, str> {
    if raw.contains('+') { Cow::Owned(raw.replace('+', " ")) } else { Cow::Borrowed(raw) }
}

#[cfg(test)]
mod tests;
