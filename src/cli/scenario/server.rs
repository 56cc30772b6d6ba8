//! A fresh server for one run of a scenario. Steps call it over loopback HTTP, as any client would. A
//! receiver counts its webhooks.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::api::operation::Operation;
use crate::cli::scenario::client::{Client, encoded};
use crate::cli::scenario::receiver::Receiver;
use crate::io::embed::Sandbox;
use crate::scenario::{Came, Places, RowHits, Runner};
use crate::value::Span;
use crate::world::script::{Limits, Scenario};

/// The key of the world in which the steps act.
const KEY: &str = "scenario_test";
/// The maximum wait for a due delivery.
const DELIVERY: Duration = Duration::from_secs(5);
/// A running server with the scenario loaded.
pub(super) struct Served {
    client: Client,
    /// Keeps the server running.
    _sandbox: Sandbox,
    receiver: Option<Receiver>,
    /// Whether the scenario has rows.
    acts: bool,
}

impl Served {
    /// Starts a server whose worlds begin with these imports.
    pub(super) fn start(
        scenario: &Arc<Scenario>,
        imports: &[Arc<Scenario>],
    ) -> Result<Self, String> {
        let world = &scenario.world;
        let mut builder = Sandbox::builder().known(Arc::clone(scenario));
        for import in imports {
            builder = builder.started(Arc::clone(import));
        }
        if let Some(seed) = world.seed {
            builder = builder.seed(seed);
        }
        if let Some(companies) = world.companies {
            builder = builder.companies(companies);
        }
        if let Some(employees) = world.employees_per_company {
            builder = builder.employees_per_company(employees);
        }
        if let Some(countries) = &world.countries {
            builder = builder.countries(countries.iter().map(String::as_str));
        }
        if let Some(start) = world.start {
            builder = builder.start_at(start);
        }
        if let Some(mode) = world.clock {
            builder = builder.clock(mode);
        }
        let sandbox = builder.start().map_err(|error| error.to_string())?;
        let authority = sandbox.url().trim_start_matches("http://");
        let mut served = Self {
            client: Client::of(authority, KEY)?,
            _sandbox: sandbox,
            receiver: None,
            acts: has_rows(scenario),
        };
        if served.acts {
            let name = encoded(&scenario.name);
            let path = format!("/_sandbox/scenarios/{name}/load");
            served.client.control("POST", &path, Some(&json!({})))?;
        }
        if !scenario.webhooks.is_empty() || !scenario.expect.deliveries.is_empty() {
            let receiver = Receiver::start().map_err(|error| error.to_string())?;
            let endpoint = json!({ "url": receiver.url() });
            served.client.control("POST", "/_sandbox/webhook-endpoints", Some(&endpoint))?;
            served.receiver = Some(receiver);
        }
        Ok(served)
    }
}

/// Whether the scenario has rows to load.
fn has_rows(scenario: &Scenario) -> bool {
    let limits = &scenario.limits;
    !scenario.outcomes.is_empty()
        || !scenario.webhooks.is_empty()
        || !scenario.faults.is_empty()
        || !scenario.timeline.is_empty()
        || *limits != Limits::default()
}

impl Runner for Served {
    fn call(
        &mut self,
        operation: &'static Operation,
        input: &Map<String, Value>,
        headers: &BTreeMap<String, String>,
    ) -> Result<Came, String> {
        self.client.call(operation, input, headers)
    }

    fn nth(&mut self, kind: &str, places: Places, place: u64) -> Result<Option<String>, String> {
        self.client.nth(kind, places, place)
    }

    fn external(&mut self, name: &str) -> Result<Result<String, String>, String> {
        self.client.external(name)
    }

    fn advance(&mut self, by: Span) -> Result<(), String> {
        self.client.advance(by)
    }

    fn idle(&mut self) -> Result<(), String> {
        self.client.idle()
    }

    fn events(&mut self) -> Result<Vec<Value>, String> {
        self.client.events()
    }

    fn deliveries(
        &mut self,
        wanted: &BTreeMap<String, u64>,
    ) -> Result<BTreeMap<String, u64>, String> {
        if self.receiver.is_none() {
            return Ok(BTreeMap::new());
        }
        // Returns when the due deliveries were attempted. The receiver then waits for those in progress.
        self.advance(Span::Millis(0))?;
        let receiver = self.receiver.as_ref();
        Ok(receiver.map_or_else(BTreeMap::new, |receiver| receiver.wait(wanted, DELIVERY)))
    }

    fn coverage(&mut self) -> Result<Vec<RowHits>, String> {
        if self.acts { self.client.coverage() } else { Ok(Vec::new()) }
    }
}
