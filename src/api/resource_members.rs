//! The members of each kind of resource, for conditions in `where`. They come from the schemas of the operations that
//! return the resource.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

use crate::api::operation::Operation;
use crate::model::Kind;
use crate::model::decision::Decision;
use crate::value::{Date, Period, Timestamp};
use crate::world::script::Wanted;

/// The refusal of a condition on a list or an object.
pub(crate) const NOT_PLAIN: &str = "a condition needs a member with a single value";

/// The values with which a member of a resource can be compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) number: bool,
    pub(crate) text: bool,
    pub(crate) truth: bool,
    /// The allowed texts, if there is a list of them.
    pub(crate) words: Vec<String>,
    pub(crate) format: Option<String>,
}

impl Member {
    fn of(schema: &Value, definitions: &Map<String, Value>) -> Self {
        let schema = resolved(schema, definitions);
        let types: Vec<&str> = match &schema["type"] {
            Value::String(only) => vec![only],
            Value::Array(many) => many.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        let has = |name| types.contains(&name);
        let mut member = Self {
            number: has("integer"),
            text: has("string"),
            truth: has("boolean"),
            words: words(schema, definitions),
            format: schema["format"].as_str().map(str::to_owned),
        };
        for forms in ["oneOf", "anyOf", "allOf"] {
            for form in schema[forms].as_array().into_iter().flatten() {
                let form = Self::of(form, definitions);
                member.number |= form.number;
                member.text |= form.text;
                member.truth |= form.truth;
                member.format = member.format.or(form.format);
            }
        }
        member.text |= !member.words.is_empty();
        member
    }

    /// Whether it is one value.
    pub(crate) const fn is_plain(&self) -> bool {
        self.number || self.text || self.truth
    }

    /// A text in the form in which the member shows it; the error says what is expected.
    pub(crate) fn spelt(&self, text: &str) -> Result<String, &'static str> {
        match self.format.as_deref() {
            Some("date") => text.parse::<Date>().map(|day| day.to_string()),
            Some("period") => text.parse::<Period>().map(|month| month.to_string()),
            Some("date-time") => text.parse::<Timestamp>().map(|instant| instant.to_string()),
            _ => Ok(text.to_owned()),
        }
    }

    /// A condition in the form in which the member shows its values; the error says why the condition could never hold.
    pub(crate) fn condition(&self, wanted: Wanted) -> Result<Wanted, String> {
        match wanted {
            Wanted::Is(Value::String(text)) if self.text => {
                if !self.words.is_empty() && !self.words.contains(&text) {
                    return Err(format!("expected one of {}", self.words.join(", ")));
                }
                Ok(Wanted::Is(self.spelt(&text)?.into()))
            }
            Wanted::Compare(..) | Wanted::Is(Value::Number(_)) if self.number => Ok(wanted),
            Wanted::Is(Value::Bool(_)) if self.truth => Ok(wanted),
            _ if self.is_plain() => Err(format!("expected {}", self.expected())),
            _ => Err(NOT_PLAIN.to_owned()),
        }
    }

    /// The expected form of a condition on it.
    pub(crate) fn expected(&self) -> &'static str {
        match (self.number, self.text, self.truth) {
            (true, false, _) => "a whole number, or a comparison such as \">= 500000\"",
            (_, _, true) => "true or false",
            (true, true, _) => "a text or a whole number",
            _ => "a text",
        }
    }
}

/// The members of a kind of resource, from the given operations; empty for a kind that no operation returns.
pub(crate) fn members_of<'a>(
    kind: Kind,
    operations: impl IntoIterator<Item = &'a Operation>,
) -> BTreeMap<String, Member> {
    static KNOWN: Mutex<BTreeMap<Kind, BTreeMap<String, Member>>> = Mutex::new(BTreeMap::new());
    // Inserted as a whole, so that a panic leaves nothing incomplete.
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.entry(kind).or_insert_with(|| shown(kind, operations)).clone()
}

fn shown<'a>(
    kind: Kind,
    operations: impl IntoIterator<Item = &'a Operation>,
) -> BTreeMap<String, Member> {
    let names = [format!("get_{}", kind.name()), format!("list_{}", plural(kind.name()))];
    let mut operations = operations.into_iter();
    let Some(row) = operations.find(|row| names.iter().any(|name| name == row.name)) else {
        return BTreeMap::new();
    };
    let mut generator = SchemaGenerator::new(SchemaSettings::draft2020_12());
    let schema = Value::from((row.output)(&mut generator));
    let definitions = generator.take_definitions(true);
    let data = resolved(&resolved(&schema, &definitions)["properties"]["data"], &definitions);
    let one = match data.get("items") {
        Some(items) => resolved(items, &definitions),
        None => data,
    };
    let mut found = BTreeMap::new();
    collect(one, &definitions, &mut found);
    found
}

fn collect(schema: &Value, definitions: &Map<String, Value>, found: &mut BTreeMap<String, Member>) {
    for part in schema["allOf"].as_array().into_iter().flatten() {
        collect(resolved(part, definitions), definitions, found);
    }
    for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
        found.insert(name.clone(), Member::of(schema, definitions));
    }
}

/// Kinds that a resource names: `employee` for a resource with an `employee_id`.
pub(crate) fn named_by<'a>(
    kind: Kind,
    operations: impl IntoIterator<Item = &'a Operation>,
) -> Vec<Kind> {
    let members = members_of(kind, operations);
    let named = |other: &Kind| members.contains_key(&format!("{}_id", other.name()));
    [Kind::Employee, Kind::Company].into_iter().filter(named).collect()
}

/// The kinds of the resources that a decision is about, the nearest first.
pub(crate) fn kinds_of(decision: &Decision) -> Vec<Kind> {
    [decision.subject].into_iter().chain(decision.related.iter().copied()).collect()
}

/// The kind of the resource of events of this type.
pub(crate) fn subject_of(on: &str) -> Option<Kind> {
    let resource = on.split_once('.')?.0;
    Kind::ALL.iter().find(|kind| kind.name() == resource).copied()
}

/// `companies`.
pub(crate) fn plural(noun: &str) -> String {
    match noun.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None => format!("{noun}s"),
    }
}

/// The words that a text schema allows: `enum`, or one variant for each word with its own description.
pub(crate) fn words(schema: &Value, definitions: &Map<String, Value>) -> Vec<String> {
    let schema = resolved(schema, definitions);
    let own = schema["enum"].as_array().into_iter().flatten();
    let alone = schema.get("const").into_iter();
    let mut found: Vec<String> =
        own.chain(alone).filter_map(|word| word.as_str().map(str::to_owned)).collect();
    for forms in ["oneOf", "anyOf"] {
        let forms = schema[forms].as_array().into_iter().flatten();
        found.extend(forms.flat_map(|form| words(form, definitions)));
    }
    found
}

/// The schema behind a `$ref`.
pub(crate) fn resolved<'a>(schema: &'a Value, definitions: &'a Map<String, Value>) -> &'a Value {
    let mut schema = schema;
    // A chain of references longer than the list of definitions is a cycle.
    for _ in 0..=definitions.len() {
        let name = schema["$ref"].as_str().and_then(|target| target.strip_prefix("#/$defs/"));
        match name.and_then(|name| definitions.get(name)) {
            Some(target) => schema = target,
            None => break,
        }
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api;

    #[test]
    fn members_come_from_the_published_schemas() {
        let payout = members_of(Kind::Payout, api::product());
        assert!(payout["amount"].number && !payout["amount"].text);
        assert!(payout["rail"].words.iter().any(|word| word == "instant"));
        assert!(!payout["recipient"].is_plain());
        let item = members_of(Kind::PayrollItem, api::product());
        assert_eq!(item["period"].format.as_deref(), Some("period"));
        assert!(members_of(Kind::Employee, api::product())["department"].text);
        assert!(members_of(Kind::Event, api::product()).is_empty());
    }
}
