//! The fork made by a request. Its key opens only after the request is recorded, so that nothing is written to the
//! fork before.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::api::host::{Host, OpenWorld};
use crate::api::operation::Operation;
use crate::engine::lock::lock;
use crate::engine::recording::Ticket;
use crate::engine::slot::{Opening, Slot};
use crate::engine::worlds::{Place, Worlds};
use crate::tester::inputs::Inputs;
use crate::tester::snapshots::TesterPart;
use crate::value::ApiError;
use crate::world::World;
use crate::world::script::Scenario;
use crate::world::situation::Situation;

/// The host of one request.
pub(super) struct Forking<'a> {
    host: &'a dyn Host,
    worlds: &'a Worlds,
    /// The world that is copied.
    source: &'a Slot,
    fork: RefCell<Option<(Place<'a>, Opening)>>,
}

impl<'a> Forking<'a> {
    pub(super) fn new(host: &'a dyn Host, worlds: &'a Worlds, source: &'a Slot) -> Self {
        Self { host, worlds, source, fork: RefCell::default() }
    }

    /// The request succeeded and was recorded: its fork opens.
    pub(super) fn open(self, ticket: Option<&Ticket>) {
        if let Some((place, opening)) = self.fork.into_inner() {
            place.take(opening, ticket);
        }
    }
}

impl Host for Forking<'_> {
    fn scenarios(&self) -> Vec<Arc<Scenario>> {
        self.host.scenarios()
    }

    fn scenario(&self, name: &str) -> Result<Arc<Scenario>, ApiError> {
        self.host.scenario(name)
    }

    fn read_import(
        &self,
        paths: &[String],
        files: &BTreeMap<String, String>,
        world: &World,
    ) -> Result<(Arc<Scenario>, World), ApiError> {
        self.host.read_import(paths, files, world)
    }

    fn read_scenario(&self, name: &str, text: &str) -> Result<Arc<Scenario>, ApiError> {
        self.host.read_scenario(name, text)
    }

    fn situation_showing(&self, event: &str) -> Vec<Arc<Situation>> {
        self.host.situation_showing(event)
    }

    fn operations(&self) -> Vec<&'static Operation> {
        self.host.operations()
    }

    fn open(&self, key: &str, world: World, part: TesterPart) -> Result<(), ApiError> {
        let place = self.worlds.place_for_fork(key)?;
        let answers = self.source.memory().answers_at(part.carried.answers_of);
        *self.fork.borrow_mut() = Some((place, Opening { world, part, answers }));
        Ok(())
    }

    fn past(
        &self,
        world: &World,
        inputs: &Inputs,
        sequence: u64,
    ) -> Result<(World, TesterPart), ApiError> {
        let kept = lock(&self.source.past).find(world, sequence);
        kept.map_or_else(|| self.host.past(world, inputs, sequence), Ok)
    }

    fn worlds(&self) -> Vec<OpenWorld> {
        self.host.worlds()
    }
}
