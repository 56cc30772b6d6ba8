//! The input schemas of all operations, as far as they say which texts a person writes.

use std::collections::BTreeMap;
use std::rc::Rc;

use schemars::SchemaGenerator;
use serde_json::{Map, Value};

use crate::api::operation::{Method, Operation};
use crate::api::{control, product};
use crate::cli::share::redact::CODES;
use crate::value::Span;
use crate::value::time::{Date, Period, Timestamp};

/// The schemas that a value can have.
pub(super) type Forms = Vec<Form>;

/// A schema that is an object, with the definitions that it refers to.
#[derive(Clone)]
pub(super) struct Form {
    own: Value,
    definitions: Rc<Map<String, Value>>,
}

impl Form {
    pub(super) fn of(operation: &Operation) -> Self {
        let mut generator = SchemaGenerator::default();
        let own = (operation.input)(&mut generator).to_value();
        Self { own, definitions: Rc::new(generator.take_definitions(true)) }
    }

    fn with(&self, schema: &Value) -> Self {
        Self { own: schema.clone(), definitions: Rc::clone(&self.definitions) }
    }

    /// It and the schemas that it refers to or combines.
    pub(super) fn alternatives(&self) -> Forms {
        let mut found = vec![self.clone()];
        let target = self.own["$ref"].as_str().and_then(|path| path.rsplit('/').next());
        let target = target.and_then(|name| self.definitions.get(name));
        let combined =
            ["allOf", "anyOf", "oneOf"].into_iter().filter_map(|word| self.own[word].as_array());
        for schema in target.into_iter().chain(combined.flatten()) {
            found.extend(self.with(schema).alternatives());
        }
        found
    }

    /// The schemas of a member.
    pub(super) fn member(&self, name: &str) -> Forms {
        let named = self.own["properties"].get(name);
        let named = named.or_else(|| self.rest());
        named.map_or_else(Vec::new, |schema| self.with(schema).alternatives())
    }

    /// The schemas of the rows of a list.
    pub(super) fn items(&self) -> Forms {
        let items = self.own.get("items");
        items.map_or_else(Vec::new, |schema| self.with(schema).alternatives())
    }

    /// Whether callers choose the names of its members.
    pub(super) fn is_map(&self) -> bool {
        self.own.get("properties").is_none() && self.rest().is_some()
    }

    /// The schema of members whose names it does not list.
    fn rest(&self) -> Option<&Value> {
        let patterns = self.own["patternProperties"].as_object();
        let rest = patterns.and_then(|patterns| patterns.values().next());
        rest.or_else(|| self.own.get("additionalProperties")).filter(|rest| rest.is_object())
    }

    pub(super) fn format(&self) -> Option<&str> {
        self.own["format"].as_str()
    }

    pub(super) fn pattern(&self) -> Option<&str> {
        self.own["pattern"].as_str()
    }

    /// Whether it lists that text, or reads it as a date or a time.
    pub(super) fn lists(&self, text: &str) -> bool {
        let is_listed = || {
            let listed = self.own["enum"].as_array();
            self.own["const"] == text || listed.is_some_and(|listed| listed.contains(&text.into()))
        };
        match self.format() {
            Some("date") => text.parse::<Date>().is_ok(),
            Some("date-time") => text.parse::<Timestamp>().is_ok(),
            Some("period") => text.parse::<Period>().is_ok(),
            Some("span") => text.parse::<Span>().is_ok(),
            _ => is_listed(),
        }
    }

    /// Whether it takes text that it neither lists nor reads as a date or a time. Ids have no format and no pattern.
    fn takes_free_text(&self) -> bool {
        let kind = &self.own["type"];
        let is_text = kind == "string"
            || kind.as_array().is_some_and(|kinds| kinds.contains(&"string".into()));
        let is_dated = matches!(self.format(), Some("date" | "date-time" | "period" | "span"));
        let is_listed = self.own.get("enum").is_some() || self.own.get("const").is_some();
        let is_id =
            self.own["maxLength"] == 64 && self.format().is_none() && self.pattern().is_none();
        is_text && !is_dated && !is_listed && !is_id
    }

    /// Notes for each member that takes text whether it takes free text.
    fn note(&self, name: &str, depth: usize, found: &mut BTreeMap<String, bool>) {
        if depth == 0 {
            return; // a condition can contain itself
        }
        let is_text = self.own["type"] != "object";
        if is_text && !name.is_empty() {
            *found.entry(name.to_owned()).or_default() |= self.takes_free_text();
        }
        for (name, member) in self.own["properties"].as_object().into_iter().flatten() {
            let forms = self.with(member).alternatives();
            for form in forms {
                form.note(name, depth - 1, found);
            }
        }
        let below = self.rest().map(|rest| self.with(rest).alternatives());
        for form in self.items().iter().chain(below.iter().flatten()) {
            form.note(name, depth - 1, found);
        }
    }
}

/// The schemas that were needed.
#[derive(Default)]
pub(super) struct Schemas {
    names: Option<BTreeMap<String, bool>>,
}

impl Schemas {
    /// The schema of a call's input; none if no operation has that path.
    pub(super) fn of_call(method: &str, path: &str) -> Option<Form> {
        let is_it = |row: &&Operation| row.method.name() == method && is_at(row.path, path);
        // A path without parameters is found first: `/payroll-runs/preview` is no id.
        let found = control().chain(product()).filter(is_it);
        found.min_by_key(|row| row.path_parameters().count()).map(Form::of)
    }

    /// Whether a member of that name exists in inputs, and takes free text in none of them.
    pub(super) fn is_closed(&mut self, name: &str) -> bool {
        let names = self.names.get_or_insert_with(names);
        CODES.contains(&name) || names.get(name) == Some(&false)
    }
}

/// All members of the inputs of operations that write, and whether they take free text.
pub(super) fn names() -> BTreeMap<String, bool> {
    let mut found = BTreeMap::new();
    for row in control().chain(product()).filter(|row| row.method != Method::Get) {
        for form in Form::of(row).alternatives() {
            form.note("", 12, &mut found);
        }
    }
    found
}

fn is_at(row: &str, path: &str) -> bool {
    let (row, path): (Vec<_>, Vec<_>) = (row.split('/').collect(), path.split('/').collect());
    row.len() == path.len()
        && row.iter().zip(path).all(|(known, sent)| *known == sent || known.starts_with('{'))
}
