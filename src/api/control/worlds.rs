//! Worlds from outside: which are open, and what one holds in a few hashes.

use std::collections::BTreeMap;

use crate::api::control::process::WORLD_VERSION;
use crate::api::operation::OpenWorld;
use crate::api::prelude::*;
use crate::world::Shape;

pub(crate) const OPERATIONS: &[Operation] = &[
    Operation {
        method: Method::Get,
        path: "/_sandbox/worlds",
        domain: Domain::Sandbox,
        contract: Contract::Control,
        summary: "List worlds",
        description: "Every world that is open, in the order in which they were opened, by the short tag that the log names it by. Keys are \
            never shown. Waits for no step of any world.",
        ..operation!(tester list_worlds)
    },
    Operation {
        method: Method::Get,
        path: "/_sandbox/fingerprint",
        domain: Domain::Sandbox,
        contract: Contract::Control,
        summary: "Fingerprint the world",
        description: "One hash of the whole world, and one of each part: where two runs differ shows which part to look into. A log that \
            has lost its oldest events hashes those that are left.",
        ..operation!(read get_fingerprint)
    },
];

#[derive(Deserialize, JsonSchema)]
pub(crate) struct ListWorlds {}

/// The worlds that are open.
#[derive(Serialize, JsonSchema)]
pub(crate) struct WorldList {
    /// In the order in which they were opened.
    data: Vec<WorldRow>,
}

/// Where a world stood after its last change.
#[derive(Serialize, JsonSchema)]
struct WorldRow {
    /// What the log names its key by; another in every process.
    tag: String,
    /// Whether it is the world of the key that asks.
    yours: bool,
    /// Its place among all worlds that this process has opened, from 1.
    opened: u64,
    /// The seed it was grown from.
    seed: u64,
    /// Virtual time.
    now: Timestamp,
    /// How often it has changed.
    version: u64,
    /// How many events there have been.
    events: u64,
    /// Resources created or changed since growth.
    records: u64,
    /// Its snapshots.
    snapshots: u64,
}

fn list_worlds(session: &mut Session<'_>, _: ListWorlds) -> Result<Plain<WorldList>, ApiError> {
    let yours = session.tester.tag;
    let row = |world: OpenWorld| WorldRow {
        tag: format!("{:08x}", world.tag),
        yours: world.tag == yours,
        opened: world.opened,
        seed: world.seed,
        now: world.now,
        version: world.version,
        events: world.events,
        records: world.records,
        snapshots: world.snapshots,
    };
    let data = session.host.worlds().into_iter().map(row).collect();
    Ok(Plain(WorldList { data }))
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct GetFingerprint {}

/// A world in a few hashes.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Fingerprint {
    /// One hash of all of it: equal for equal worlds.
    digest: String,
    /// Hashes of its parts.
    parts: FingerprintParts,
    /// The seed it was grown from.
    seed: u64,
    /// Companies it was grown with.
    companies: u64,
    /// Employees of each.
    employees_per_company: u64,
    /// Countries of the companies in turn, ISO 3166-1 alpha-2.
    countries: Vec<String>,
    /// Where virtual time began.
    start: Timestamp,
    /// Virtual time now.
    now: Timestamp,
    /// How often it has changed.
    version: u64,
    /// Events there ever were.
    events: u64,
    /// The first event that is still in the log; null where nothing has happened.
    log_begins_at: Option<u64>,
    /// The program's version.
    program_version: &'static str,
    /// The version of what seeds grow into.
    world_version: u32,
}

/// Hashes of the parts of a world.
#[derive(Serialize, JsonSchema)]
struct FingerprintParts {
    /// What it was grown from, the clock and how often it has changed.
    frame: String,
    /// Resources created or changed since growth, by kind.
    records: BTreeMap<&'static str, PartOfKind>,
    /// The order in which they were created.
    order: String,
    /// Journals, totals and statements.
    books: String,
    /// Events.
    log: String,
    /// What waits for the clock.
    timers: String,
    /// Rows that decide, and what was decided.
    decisions: String,
}

/// The resources of one kind.
#[derive(Serialize, JsonSchema)]
struct PartOfKind {
    /// How many.
    count: u64,
    /// One hash of all of them.
    digest: String,
}

fn get_fingerprint(world: &World, _: GetFingerprint) -> Result<Plain<Fingerprint>, ApiError> {
    let parts = world.parts();
    let records = parts.records.into_iter();
    let records =
        records.map(|(kind, (count, digest))| (kind.name(), PartOfKind { count, digest }));
    let Shape { companies, employees_per_company, countries, start, .. } =
        world.base().shape().clone();
    Ok(Plain(Fingerprint {
        digest: world.digest(),
        parts: FingerprintParts {
            frame: parts.frame,
            records: records.collect(),
            order: parts.order,
            books: parts.books,
            log: parts.log,
            timers: parts.timers,
            decisions: parts.decisions,
        },
        seed: world.base().seed(),
        companies,
        employees_per_company,
        countries,
        start,
        now: world.now(),
        version: world.version(),
        events: world.log().len(),
        log_begins_at: world.log().last().map(|_| world.log().first_sequence()),
        program_version: env!("CARGO_PKG_VERSION"),
        world_version: WORLD_VERSION,
    }))
}
