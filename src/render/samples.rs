//! Samples: every row called once, in the table's order, in a fresh world of the default seed. What
//! it was asked and what it answered are the examples of the documents, so that they are never made
//! up and never out of date.

use std::sync::Arc;

use schemars::SchemaGenerator;
use serde_json::{Map, Value};

use crate::api::operation::{Call, Method, Operation, Process};
use crate::api::system;
use crate::model::{AnyId, Kind};
use crate::world::base::{Base, Shape};
use crate::world::{ClockMode, World};

/// The seed of the sampled world.
const SEED: u64 = 42;

/// Rows of a sampled page: enough to see its form.
const ROWS: u64 = 2;

/// A call of one row.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sample {
    /// Members of the input, those of the path and the query included.
    pub(crate) input: Option<Value>,
    /// The answer's body; none where the call was refused.
    pub(crate) answer: Option<Value>,
}

/// The world in which rows are sampled.
pub(crate) struct Session {
    world: World,
}

impl Session {
    /// A fresh one.
    pub(crate) fn new() -> Self {
        let base = Arc::new(Base::new(SEED, Shape::default()));
        Self {
            world: World::new(base, ClockMode::Instant),
        }
    }

    /// Calls a row as its example says.
    pub(crate) fn sample(&mut self, row: &Operation) -> Sample {
        let Some(input) = self.input(row) else {
            return Sample::default();
        };
        let answer = self.answer(row, input.clone());
        Sample {
            input: Some(input),
            answer,
        }
    }

    fn answer(&mut self, row: &Operation, input: Value) -> Option<Value> {
        let reply = match row.call {
            Call::Read(call) => call(&self.world, input).ok()?,
            Call::Open(call) => call(&self.process(), Some(&self.world)),
            Call::Drive(call) => call(&mut self.world, input).ok()?,
            Call::Write(call) => {
                self.world.begin(None);
                let Ok(reply) = call(&mut self.world, input) else {
                    self.world.roll_back();
                    return None;
                };
                self.world.commit();
                system::settle(&mut self.world);
                reply
            }
        };
        serde_json::from_slice(&reply.into_bytes()).ok()
    }

    fn process(&self) -> Process {
        let shape = self.world.base().shape().clone();
        Process {
            seed: SEED,
            shape,
            mode: self.world.mode(),
            worlds: 1,
        }
    }

    /// The row's example with real ids, and what its path and query need besides.
    fn input(&self, row: &Operation) -> Option<Value> {
        let schema = (row.input)(&mut SchemaGenerator::default()).to_value();
        let mut input = match row.example {
            "" => Map::new(),
            example => serde_json::from_str(example).ok()?,
        };
        input.values_mut().for_each(|member| self.fill_in(member));
        let required = schema["required"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str);
        let in_query = required.filter(|_| !row.method.has_body());
        let needed: Vec<&str> = in_query
            .chain(row.path_parameters().map(|name: &str| name))
            .collect();
        for name in needed {
            if !input.contains_key(name) {
                input.insert(name.to_owned(), self.find(name)?.into());
            }
        }
        if row.method == Method::Get && schema["properties"].get("per_page").is_some() {
            input.insert("per_page".to_owned(), ROWS.into());
        }
        Some(input.into())
    }

    /// Replaces `@company:1` by the id of the first company that was grown, wherever it stands.
    fn fill_in(&self, part: &mut Value) {
        match part {
            Value::String(text) => {
                let named = text.strip_prefix('@').and_then(|name| name.split_once(':'));
                let id = named
                    .and_then(|(kind, place)| self.grown(self::kind(kind)?, place.parse().ok()?));
                if let Some(id) = id {
                    *text = id;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.fill_in(item)),
            Value::Object(members) => members.values_mut().for_each(|member| self.fill_in(member)),
            _ => {}
        }
    }

    /// An id for a member such as `company_id`: of the first that was grown, or else of one that
    /// was made since.
    fn find(&self, member: &str) -> Option<String> {
        let kind = kind_of_member(member)?;
        self.grown(kind, 1).or_else(|| {
            let mut made = self.world.records().filter(|(other, ..)| *other == kind);
            made.next()
                .map(|(_, bits, _)| AnyId { kind, bits }.to_string())
        })
    }

    fn grown(&self, kind: Kind, place: u64) -> Option<String> {
        let index = place
            .checked_sub(1)
            .filter(|index| *index < self.world.base().count(kind))?;
        Some(self.world.base().any_at(kind, index).to_string())
    }
}

/// The kind whose id a member of that name holds: `company_id`, and not `tax_id`.
pub(crate) fn kind_of_member(member: &str) -> Option<Kind> {
    kind(member.strip_suffix("_id")?)
}

fn kind(name: &str) -> Option<Kind> {
    serde_json::from_value(name.into()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::{control, product};

    #[test]
    fn every_row_answers_to_its_example() {
        for rows in [product().collect::<Vec<_>>(), control().collect()] {
            let mut session = Session::new();
            for row in rows {
                let sample = session.sample(row);
                assert!(
                    sample.answer.is_some(),
                    "{} was refused: {:?}",
                    row.name,
                    sample.input
                );
            }
        }
    }

    #[test]
    fn samples_name_what_is_there() {
        let session = Session::new();
        let mut value = serde_json::json!({ "a": ["@company:1"], "b": "@company:999", "c": "@" });
        session.fill_in(&mut value);
        let company = session.world.base().any_at(Kind::Company, 0).to_string();
        assert_eq!(
            value,
            serde_json::json!({ "a": [company], "b": "@company:999", "c": "@" })
        );
    }
}
