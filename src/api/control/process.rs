//! The process: is it alive, and what does it serve.

use crate::api::operation::Process;
use crate::api::prelude::*;
use crate::world::ClockMode;

pub(crate) const OPERATIONS: &[Operation] = &[
    Operation {
        method: Method::Get,
        path: "/_sandbox/health",
        domain: Domain::Sandbox,
        contract: Contract::Control,
        summary: "Health",
        description: "Answers as long as the process serves. Needs no key.",
        ..operation!(open get_health)
    },
    Operation {
        method: Method::Get,
        path: "/_sandbox/info",
        domain: Domain::Sandbox,
        contract: Contract::Control,
        summary: "Info",
        description: "What this process serves; with a key, where that key's world stands. Needs no key.",
        ..operation!(open get_info)
    },
];

/// The process serves.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Health {
    /// Always `ok`.
    status: HealthStatus,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum HealthStatus {
    Ok,
}

fn get_health(_: &Process, _: Option<&World>) -> Plain<Health> {
    Plain(Health { status: HealthStatus::Ok })
}

/// What the process serves.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Info {
    /// Always `sandbox`.
    name: &'static str,
    /// The program's version.
    version: &'static str,
    /// The version of what seeds grow into: seed 42 looks the same as long as this stays.
    world_version: u32,
    /// The seed of a new key's world.
    seed: u64,
    /// How time passes in a new key's world.
    clock: ClockMode,
    /// Companies of a new key's world.
    companies: u64,
    /// Employees of each.
    employees_per_company: u64,
    /// Worlds that are open.
    worlds: u64,
    /// Where the key's world stands; absent without a key.
    #[serde(skip_serializing_if = "Option::is_none")]
    world: Option<WorldInfo>,
}

/// Where a world stands.
#[derive(Serialize, JsonSchema)]
struct WorldInfo {
    /// The seed it was grown from.
    seed: u64,
    /// Virtual time.
    now: Timestamp,
    /// How often it has changed.
    version: u64,
    /// Events in its log.
    events: u64,
    /// One hash of all of it: equal for equal worlds.
    digest: String,
}

/// Changes with whatever changes what a seed grows into.
pub(crate) const WORLD_VERSION: u32 = 3;

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
        world: world.map(|world| WorldInfo {
            seed: world.base().seed(),
            now: world.now(),
            version: world.version(),
            events: world.log().len(),
            digest: world.digest(),
        }),
    })
}
