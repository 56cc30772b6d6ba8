//! Samples: every row called once, in the table's order, in a fresh world of the default seed. The inputs and the
//! answers are the examples of the documents, so that examples are real and current.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::SchemaGenerator;
use serde_json::{Map, Value};

use crate::api::control::situation::Saves;
use crate::api::control::trigger;
use crate::api::host::{Host, OpenWorld, Process};
use crate::api::operation::{Call, Method, Operation};
use crate::api::{host, system};
use crate::model::Kind;
use crate::model::business::PayrollItem;
use crate::render::openapi::header::REQUEST_ID;
use crate::tester::Tester;
use crate::tester::inputs::Inputs;
use crate::tester::snapshots::TesterPart;
use crate::value::{ApiError, Id};
use crate::world::script::Scenario;
use crate::world::situation::Situation;
use crate::world::{Base, ClockMode, MAX_EVENTS, RequestRef, Shape, World};
use crate::{api, scenario};

mod ids;

/// The seed of the sampled world.
const SEED: u64 = 42;

/// Maximum number of resources on which a row is tried.
const TRIES: u64 = 40;

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
    tester: Tester,
}

/// A host with one key and the shipped scenarios.
struct Alone;

impl Host for Alone {
    fn scenarios(&self) -> Vec<Arc<Scenario>> {
        scenario::shipped()
    }

    fn scenario(&self, name: &str) -> Result<Arc<Scenario>, ApiError> {
        scenario::find(name)
    }

    fn read_scenario(&self, name: &str, text: &str) -> Result<Arc<Scenario>, ApiError> {
        (scenario::LIBRARY.read)(name, text)
    }

    fn read_import(
        &self,
        paths: &[String],
        files: &BTreeMap<String, String>,
        world: &World,
    ) -> Result<(Arc<Scenario>, World), ApiError> {
        (scenario::LIBRARY.import)(paths, files, world)
    }

    fn operations(&self) -> Vec<&'static Operation> {
        api::product().chain(api::control()).collect()
    }

    fn situation_showing(&self, event: &str) -> Vec<Arc<Situation>> {
        scenario::showing(event)
    }

    fn open(&self, _: &str, _: World, _: TesterPart) -> Result<(), ApiError> {
        Ok(())
    }

    fn past(&self, world: &World, _: &Inputs, _: u64) -> Result<(World, TesterPart), ApiError> {
        Ok((world.clone(), TesterPart::default()))
    }

    fn worlds(&self) -> Vec<OpenWorld> {
        let base = Arc::new(Base::new(SEED, Shape::default()));
        vec![OpenWorld::of(&World::new(base, ClockMode::Instant), 0, 1)]
    }
}

impl Session {
    /// A fresh one.
    pub(crate) fn new() -> Self {
        let base = Arc::new(Base::new(SEED, Shape::default()));
        Self { world: World::new(base, ClockMode::Instant), tester: Tester::default() }
    }

    /// The base of its world.
    pub(crate) fn base(&self) -> &Arc<Base> {
        self.world.base()
    }

    /// Calls a row with its example, on the first resource whose state allows it.
    pub(crate) fn sample(&mut self, row: &Operation) -> Sample {
        self.prepare(row);
        self.set_scene(row);
        let mut sample = Sample::default();
        for nth in 0..TRIES {
            let Some(input) = self.input(row, nth) else {
                break;
            };
            let answer = self.answer(row, input.clone());
            if answer.is_some() || sample.input.is_none() {
                sample = Sample { input: Some(input), answer };
            }
            if sample.answer.is_some() {
                break;
            }
        }
        sample
    }

    /// Brings the world into the situation that the row's example needs.
    fn set_scene(&mut self, row: &Operation) {
        let mut saves = Saves::default();
        let origin = Arc::new(RequestRef {
            id: REQUEST_ID.parse().unwrap_or(Id::UNKNOWN),
            operation: row.name.into(),
            idempotency_key: None,
            trace: None,
        });
        for situation in scenario::sampling(&row.operation_id()) {
            for step in &situation.steps {
                let (row, outcomes) = (trigger::row(&step.call), &situation.outcomes);
                let called = (&step.with, step.save.as_deref());
                let done =
                    saves.perform(&mut self.world, row, called, &Map::new(), outcomes, &origin);
                if let Err(error) = done {
                    panic!("{} has no example: {}: {}", row.name, step.source, error.detail);
                }
                system::settle(&mut self.world);
            }
        }
    }

    /// Creates the resource in a row's path if no world generates it, such as a webhook endpoint or a rule.
    fn prepare(&mut self, row: &Operation) {
        let needs = |member: &str| row.path_parameters().any(|name| name == member);
        if needs("endpoint_id") && self.tester.outbox.is_empty() {
            let creates = |row: &&Operation| row.name == "create_webhook_endpoint";
            api::control().find(creates).map(|row| self.sample(row));
        }
        if needs("delivery_id") {
            let creates = |row: &&Operation| row.name == "create_webhook_endpoint";
            api::control().find(creates).map(|row| self.sample(row));
            self.happen();
            let endpoint = self.tester.outbox.lanes().first().map(|lane| lane.endpoint.id.clone());
            let event = self.world.log().last().cloned();
            event.map(|event| self.tester.outbox.resend(&event, endpoint.as_deref()));
        }
        if needs("rule_id") {
            let creates = |row: &&Operation| row.name == "create_rule";
            api::control().find(creates).map(|row| self.sample(row));
        }
    }

    fn answer(&mut self, row: &Operation, input: Value) -> Option<Value> {
        let reply = match row.call {
            Call::Read(call) => call(&self.world, input).ok()?,
            Call::Open(call) => call(&self.process(), Some(&self.world)),
            Call::Drive(call) => call(&mut self.world, input).ok()?,
            Call::Tester(call) => {
                let mut session = host::Session {
                    world: &mut self.world,
                    tester: &mut self.tester,
                    host: &Alone,
                };
                call(&mut session, input).ok()?
            }
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
            stored: None,
            figures: Vec::new(),
            seed: SEED,
            shape,
            mode: self.world.mode(),
            worlds: 1,
            max_events: Some(MAX_EVENTS),
            idempotency_key: Some("Idempotency-Key".to_owned()),
        }
    }

    /// The row's example with real ids, and with the path and query members that it needs. `nth`, from 0, selects
    /// among possible resources.
    fn input(&mut self, row: &Operation, nth: u64) -> Option<Value> {
        let schema = (row.input)(&mut SchemaGenerator::default()).to_value();
        let mut input = match row.example {
            "" => Map::new(),
            example => serde_json::from_str(example).ok()?,
        };
        input.values_mut().for_each(|member| self.fill_in(member));
        let required =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let without_example = required.filter(|_| !row.method.has_body() || row.example.is_empty());
        let needed: Vec<&str> =
            without_example.chain(row.path_parameters().map(|name: &str| name)).collect();
        for name in needed {
            if !input.contains_key(name) {
                input.insert(name.to_owned(), self.find(name, nth)?.into());
            }
        }
        // The run in a path is the run of the item.
        let item = input.get("payroll_item_id").cloned();
        let item = item.and_then(|id| serde_json::from_value::<Id<PayrollItem>>(id).ok());
        if let Some(item) = item.and_then(|id| self.world.find(id)) {
            let run = item.payroll_run_id.to_string();
            input.insert("payroll_run_id".to_owned(), run.into());
        }
        if row.method == Method::Get && schema["properties"].get("per_page").is_some() {
            input.insert("per_page".to_owned(), ROWS.into());
        }
        Some(input.into())
    }

    /// Replaces `@company:1` by the id of the first grown company. If the kind is never grown, by the first that a call created.
    fn fill_in(&self, part: &mut Value) {
        match part {
            Value::String(text) => {
                let named = text.strip_prefix('@').and_then(|name| name.split_once(':'));
                let id = named
                    .and_then(|(kind, place)| self.named(self::kind(kind)?, place.parse().ok()?));
                if let Some(id) = id {
                    *text = id;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.fill_in(item)),
            Value::Object(members) => members.values_mut().for_each(|member| self.fill_in(member)),
            _ => {}
        }
    }

    /// Causes an event by a logged request, so that there is an event to read.
    fn happen(&mut self) -> Option<()> {
        if self.tester.requests.find(REQUEST_ID).is_some() && self.world.log().len() > 0 {
            return Some(());
        }
        let row = crate::api::product().find(|row| row.name == "run_payroll")?;
        self.sample(row).answer?;
        let entry = self.tester.requests.next(self.world.now())?;
        entry.request_id = REQUEST_ID.parse().ok();
        entry.operation = Some(row.name);
        entry.method = http::Method::POST;
        entry.target.push_str(row.path);
        entry.status = Some(row.success);
        Some(())
    }

    fn named(&self, kind: Kind, place: u64) -> Option<String> {
        let made = || Some(self.world.at_place(kind, place)?.to_string());
        self.grown(kind, place).or_else(made)
    }

    fn grown(&self, kind: Kind, place: u64) -> Option<String> {
        let index = place.checked_sub(1).filter(|index| *index < self.world.base().count(kind))?;
        Some(self.world.base().any_at(kind, index).to_string())
    }
}

/// The kind of the id in a member of that name: for `company_id`, but not for `tax_id`.
pub(crate) fn kind_of_member(member: &str) -> Option<Kind> {
    let name = member.strip_suffix("_id")?;
    let ends = |long: &str, short: &str| {
        let rest = long.strip_suffix(short);
        rest.is_some_and(|rest| rest.ends_with('_'))
    };
    kind(name).or_else(|| {
        let alike = |kind: &&Kind| ends(name, kind.name()) || ends(kind.name(), name);
        Kind::ALL.iter().find(alike).copied()
    })
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
                assert!(sample.answer.is_some(), "{} was refused: {:?}", row.name, sample.input);
            }
        }
    }

    #[test]
    fn samples_replace_only_references_to_existing_resources() {
        let session = Session::new();
        let mut value = serde_json::json!({ "a": ["@company:1"], "b": "@company:999", "c": "@" });
        session.fill_in(&mut value);
        let company = session.world.base().any_at(Kind::Company, 0).to_string();
        assert_eq!(value, serde_json::json!({ "a": [company], "b": "@company:999", "c": "@" }));
    }
}
