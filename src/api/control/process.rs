//! The process: its health and its configuration.

use crate::api::host::{Process, Stored};
use crate::api::prelude::*;
use crate::world::{ClockMode, WORLD_VERSION};

pub(crate) const OPERATIONS: &[Operation] = &Domain::Sandbox.table([
    Operation {
        path: "/_sandbox/health",
        summary: "Health",
        description: "Returns `ok` while the process is running, and with `--journal` the state of the \
            write-ahead log. Needs no key and no token.",
        ..operation!(open get_health)
    },
    Operation {
        path: "/_sandbox/ready",
        summary: "Readiness",
        description: "Returns `ready` while the process serves requests, for a proxy or an orchestrator. Needs no \
            key and no token.",
        ..operation!(open get_ready)
    },
    Operation {
        path: "/_sandbox/info",
        summary: "Info",
        description: "Returns the configuration of this process and, with a key, the state of that \
            key's world. Needs no key.",
        long: true,
        ..operation!(open get_info)
    },
]);

/// The health of the process.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Health {
    /// Always `ok`.
    status: HealthStatus,
    /// What the write-ahead log contains; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    journal: Option<Stored>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum HealthStatus {
    Ok,
}

fn get_health(process: &Process, _: Option<&World>) -> Plain<Health> {
    Plain(Health { status: HealthStatus::Ok, journal: process.stored })
}

/// Whether the process serves requests.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Ready {
    /// Always `ready`.
    status: ReadyStatus,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ReadyStatus {
    Ready,
}

fn get_ready(_: &Process, _: Option<&World>) -> Plain<Ready> {
    Plain(Ready { status: ReadyStatus::Ready })
}

/// The configuration of the process.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ProcessInfo")]
pub(crate) struct Info {
    /// Always `sandbox`.
    name: &'static str,
    /// The program's version.
    version: &'static str,
    /// The version of generated data. Seed 42 gives the same world as long as it does not change.
    world_version: u32,
    /// The seed of a new world.
    seed: u64,
    /// The clock mode of a new world.
    clock: ClockMode,
    /// Number of companies of a new world.
    companies: u64,
    /// Number of employees per company.
    employees_per_company: u64,
    /// Number of open worlds.
    worlds: u64,
    /// The most events that each world keeps: the value of `--max-events`. The oldest are dropped. Null if all are kept.
    max_events: Option<u64>,
    /// Name of the request header with an idempotency key. Null if the contract switches it off.
    idempotency_key_header: Option<String>,
    /// The state of the key's world; absent without a key.
    #[serde(skip_serializing_if = "Option::is_none")]
    world: Option<WorldInfo>,
}

/// The state of a world.
#[derive(Serialize, JsonSchema)]
struct WorldInfo {
    /// The seed of the world.
    seed: u64,
    /// The current virtual time of the world.
    now: Timestamp,
    /// Number of changes so far.
    version: u64,
    /// Number of events so far, including those that the log has dropped.
    events: u64,
    /// Number of events in its log, at most `max_events`.
    events_kept: u64,
    /// A hash of the whole world: equal for equal worlds.
    digest: String,
}

fn get_info(process: &Process, world: Option<&World>) -> Plain<Info> {
    Plain(Info {
        name: "sandbox",
        version: env!("CARGO_PKG_VERSION"),
        world_version: WORLD_VERSION,
        seed: process.seed,
        clock: process.mode,
        companies: process.shape.companies,
        employees_per_company: process.shape.employees_per_company,
        worlds: process.worlds,
        max_events: process.max_events,
        idempotency_key_header: process.idempotency_key.clone(),
        world: world.map(|world| WorldInfo {
            seed: world.base().seed(),
            now: world.now(),
            version: world.version(),
            events: world.log().len(),
            events_kept: world.log().count(),
            digest: world.digest(),
        }),
    })
}
