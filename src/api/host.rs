//! The access of control rows beyond the world: the state of the tester, the other worlds and the process.
//!
//! The engine implements [`Host`].

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use crate::api::operation::Operation;
use crate::tester::Tester;
use crate::tester::inputs::Inputs;
use crate::tester::snapshots::TesterPart;
use crate::value::{ApiError, Timestamp};
use crate::world::World;
use crate::world::script::Scenario;
use crate::world::situation::Situation;

/// One key's world and tester state, locked, and the host around them.
pub(crate) struct Session<'a> {
    pub(crate) world: &'a mut World,
    pub(crate) tester: &'a mut Tester,
    pub(crate) host: &'a dyn Host,
}

/// The access of a control row beyond its own key; the engine implements it.
pub(crate) trait Host {
    /// Every scenario that can be loaded, ordered by name.
    fn scenarios(&self) -> Vec<Arc<Scenario>>;

    /// The scenario with that name; the error suggests the nearest one.
    fn scenario(&self, name: &str) -> Result<Arc<Scenario>, ApiError>;

    /// The scenario that a text describes; the error lists all of its mistakes.
    fn read_scenario(&self, name: &str, text: &str) -> Result<Arc<Scenario>, ApiError>;

    /// The import of these TOML files and of the files that they name, and the world after it. The error lists all mistakes.
    fn read_import(
        &self,
        paths: &[String],
        files: &BTreeMap<String, String>,
        world: &World,
    ) -> Result<(Arc<Scenario>, World), ApiError>;

    /// The situations for an event of that type: those that it requires, then its own. Empty if there is none.
    fn situation_showing(&self, event: &str) -> Vec<Arc<Situation>>;

    /// Every operation: those of the product, then those of the control API.
    fn operations(&self) -> Vec<&'static Operation>;

    /// Opens another key with that world and tester state. The key must be permitted and must not have a world yet.
    fn open(&self, key: &str, world: World, part: TesterPart) -> Result<(), ApiError>;

    /// This world after the step that caused an event, with its tester state. `inputs` are those that led to it.
    fn past(
        &self,
        world: &World,
        inputs: &Inputs,
        sequence: u64,
    ) -> Result<(World, TesterPart), ApiError>;

    /// The state of every open world, without waiting for any of them.
    fn worlds(&self) -> Vec<OpenWorld>;
}

/// The state of an open world after its last change.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenWorld {
    /// The tag of its key in the log.
    pub(crate) tag: u32,
    /// Position among the worlds that this process has opened, from 1.
    pub(crate) opened: u64,
    pub(crate) seed: u64,
    pub(crate) now: Timestamp,
    pub(crate) version: u64,
    pub(crate) events: u64,
    pub(crate) records: u64,
    pub(crate) snapshots: u64,
}

impl OpenWorld {
    /// The current state of a world.
    pub(crate) fn of(world: &World, tag: u32, opened: u64) -> Self {
        Self {
            tag,
            opened,
            seed: world.base().seed(),
            now: world.now(),
            version: world.version(),
            events: world.log().len(),
            records: world.record_count(),
            snapshots: 0,
        }
    }
}

/// The state of the write-ahead log.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[schemars(rename = "JournalHealth")]
pub(crate) struct Stored {
    /// Number of stored inputs.
    pub(crate) inputs: u64,
    /// Number of worlds with stored inputs. A world is replayed when its key first arrives.
    pub(crate) worlds: u64,
    /// Whether inputs can be stored now. If not, requests that change a world are refused with `log_unavailable`.
    pub(crate) writable: bool,
    /// Number of inputs of the worlds that are being replayed now.
    pub(crate) to_replay: u64,
    /// How many of these were replayed.
    pub(crate) replayed: u64,
}

/// A number about a store that several processes share, for the metrics.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Figure {
    pub(crate) name: &'static str,
    pub(crate) help: &'static str,
    pub(crate) value: u64,
    /// Whether it only grows.
    pub(crate) is_count: bool,
}

/// The data about the process that an open row can return.
#[derive(Clone, Debug)]
pub(crate) struct Process {
    /// The seed and shape of a new key's world.
    pub(crate) seed: u64,
    pub(crate) shape: crate::world::Shape,
    pub(crate) mode: crate::world::ClockMode,
    /// Number of open worlds.
    pub(crate) worlds: u64,
    /// The most events that each world keeps; all of them if none.
    pub(crate) max_events: Option<u64>,
    /// The name of the header with an idempotency key; none if the contract switches it off.
    pub(crate) idempotency_key: Option<String>,
    /// What the write-ahead log contains; none without one.
    pub(crate) stored: Option<Stored>,
    /// Numbers about the store; none without one.
    pub(crate) figures: Vec<Figure>,
}
