//! The schemas of all rows, and `components/schemas` with the referenced definitions.
//!
//! A type may differ between input (an absent `Option` is allowed) and output (it exists, perhaps null), so
//! inputs and answers have separate
//! generators. An equal definition is published once. A different one of the inputs gets the suffix `Input`.

use std::collections::{BTreeMap, BTreeSet};

use schemars::generate::{Contract, SchemaSettings};
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Value, json};

use crate::api::check::close;
use crate::api::operation::Operation;
use crate::model::capital::DueDiligenceCase;
use crate::world::EventShape;

/// The position of definitions in the document.
const DEFINITIONS: &str = "#/components/schemas/";

/// The input and the answer of every row, in the rows' order, and the referenced definitions.
pub(crate) struct Schemas {
    pub(crate) rows: Vec<RowSchemas>,
    /// The envelope of events.
    pub(crate) event: Value,
    pub(crate) definitions: BTreeMap<String, Value>,
}

/// The input and the answer of one row.
pub(crate) struct RowSchemas {
    pub(crate) input: Value,
    pub(crate) output: Value,
}

impl Schemas {
    /// The schemas of these rows.
    pub(crate) fn of(rows: &[&Operation]) -> Self {
        let mut inputs = generator(Contract::Deserialize);
        let mut outputs = generator(Contract::Serialize);
        let mut rows: Vec<RowSchemas> = rows
            .iter()
            .map(|row| RowSchemas {
                input: closed((row.input)(&mut inputs).to_value()),
                output: closed((row.output)(&mut outputs).to_value()),
            })
            .collect();
        let event = closed(EventShape::json_schema(&mut outputs).to_value());
        // Only events contain this type. Reads return the case with its requests.
        outputs.subschema_for::<DueDiligenceCase>();
        let inputs = closed_definitions(&mut inputs);
        let mut definitions = closed_definitions(&mut outputs);
        let differing = differing(&inputs, &definitions);
        for row in &mut rows {
            rename(&mut row.input, &differing);
        }
        for (name, mut schema) in inputs {
            rename(&mut schema, &differing);
            let name = if differing.contains(&name) { input_name(&name) } else { name };
            define(&mut definitions, name, schema);
        }
        Self { rows, event, definitions }
    }

    /// Publishes a schema under a name and returns the reference to it.
    pub(crate) fn define(&mut self, name: String, schema: Value) -> Value {
        let reference = reference(&name);
        define(&mut self.definitions, name, schema);
        reference
    }
}

/// `{"$ref": …}` to a definition.
pub(crate) fn reference(name: &str) -> Value {
    json!({ "$ref": format!("{DEFINITIONS}{name}") })
}

/// The definition of a schema that is only a reference.
pub(crate) fn referred(schema: &Value) -> Option<&str> {
    schema.get("$ref")?.as_str()?.strip_prefix(DEFINITIONS)
}

fn generator(contract: Contract) -> SchemaGenerator {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = DEFINITIONS.into();
        settings.contract = contract;
    });
    settings.into_generator()
}

fn closed(mut schema: Value) -> Value {
    close(&mut schema);
    schema
}

fn closed_definitions(generator: &mut SchemaGenerator) -> BTreeMap<String, Value> {
    generator
        .take_definitions(true)
        .into_iter()
        .map(|(name, schema)| (name, closed(schema)))
        .collect()
}

fn define(definitions: &mut BTreeMap<String, Value>, name: String, schema: Value) {
    if let Some(other) = definitions.get(&name) {
        assert_eq!(*other, schema, "two schemas have the name {name}");
        return;
    }
    definitions.insert(name, schema);
}

fn input_name(name: &str) -> String {
    format!("{name}Input")
}

/// The names of input definitions that differ in the answers, directly or in a referenced definition.
fn differing(
    inputs: &BTreeMap<String, Value>,
    outputs: &BTreeMap<String, Value>,
) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    loop {
        let more: Vec<String> = inputs
            .iter()
            .filter(|(name, _)| !found.contains(*name))
            .filter(|(name, schema)| {
                outputs
                    .get(*name)
                    .is_some_and(|other| other != *schema || refers_to_any(schema, &found))
            })
            .map(|(name, _)| name.clone())
            .collect();
        if more.is_empty() {
            return found;
        }
        found.extend(more);
    }
}

fn refers_to_any(schema: &Value, names: &BTreeSet<String>) -> bool {
    match schema {
        Value::Array(items) => items.iter().any(|item| refers_to_any(item, names)),
        Value::Object(members) => {
            referred(schema).is_some_and(|name| names.contains(name))
                || members.values().any(|member| refers_to_any(member, names))
        }
        _ => false,
    }
}

fn rename(schema: &mut Value, differing: &BTreeSet<String>) {
    if let Some(name) = referred(schema).filter(|name| differing.contains(*name)) {
        schema["$ref"] = reference(&input_name(name))["$ref"].take();
    }
    match schema {
        Value::Array(items) => items.iter_mut().for_each(|item| rename(item, differing)),
        Value::Object(members) => members.values_mut().for_each(|member| rename(member, differing)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_to_a_different_definition_differs_too() {
        let map = |leaf: &str| {
            BTreeMap::from([
                ("Leaf".to_owned(), json!({ "type": leaf })),
                ("Branch".to_owned(), json!({ "items": reference("Leaf") })),
                ("Same".to_owned(), json!({ "type": "string" })),
            ])
        };
        let found = differing(&map("string"), &map("integer"));
        assert_eq!(found.iter().collect::<Vec<_>>(), ["Branch", "Leaf"]);
        assert!(differing(&map("string"), &map("string")).is_empty());

        let mut branch = map("string").remove("Branch").expect("it is there");
        rename(&mut branch, &found);
        assert_eq!(branch, json!({ "items": reference("LeafInput") }));
    }

    #[test]
    #[should_panic(expected = "two schemas have the name Leaf")]
    fn one_name_for_two_schemas_is_refused() {
        let mut definitions = BTreeMap::from([("Leaf".to_owned(), json!({ "type": "string" }))]);
        define(&mut definitions, "Leaf".to_owned(), json!({ "type": "integer" }));
    }
}
