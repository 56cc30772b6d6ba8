//! The open worlds, and fingerprints of a world.

use crate::api::host::OpenWorld;
use crate::api::prelude::*;
use crate::value::long_work;
use crate::world::{Shape, WORLD_VERSION};

pub(crate) const OPERATIONS: &[Operation] = &Domain::Sandbox.table([
    Operation {
        path: "/_sandbox/worlds",
        summary: "List worlds",
        description: "Lists every open world in the order of opening, with the short tag that the \
            log uses for it. Keys are never shown. The call does not wait for running requests.",
        ..operation!(tester list_worlds)
    },
    Operation {
        method: Method::Delete,
        path: "/_sandbox/world",
        summary: "Delete the world",
        description: "Deletes this key's world with its snapshots, endpoints, faults and request log, and frees \
            its memory. The next call with the key opens a fresh world.",
        ..operation!(tester delete_world)
    },
    Operation {
        path: "/_sandbox/fingerprint",
        summary: "Fingerprint the world",
        description: "Returns one hash of the whole world and one of each part, to find where two \
            runs differ. If old events were dropped, only the remaining log is hashed.",
        long: true,
        ..operation!(read get_fingerprint)
    },
]);

/// The state of a world after its last change.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "OpenWorld")]
pub(crate) struct WorldRow {
    /// The tag of its key in the log; different in every process.
    tag: String,
    /// Whether it is the caller's own world.
    yours: bool,
    /// Position among all worlds that this process has opened, from 1.
    opened: u64,
    /// The seed of the world.
    seed: u64,
    /// The current virtual time of the world.
    now: Timestamp,
    /// Number of changes so far.
    version: u64,
    /// Number of events so far.
    events: u64,
    /// Number of resources created or changed since growth.
    records: u64,
    /// Number of its snapshots.
    snapshots: u64,
}

fn list_worlds(session: &mut Session<'_>, _: Nothing) -> Result<List<WorldRow>> {
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
    Ok(long_work::run(|| List::whole(session.host.worlds().into_iter().map(row).collect())))
}

/// A deleted world.
#[derive(Serialize, JsonSchema)]
pub(crate) struct DeletedWorld {
    /// Always true.
    deleted: bool,
}

/// The engine drops the world after the call, and stores that it is deleted.
fn delete_world(_: &mut Session<'_>, _: Nothing) -> Result<Plain<DeletedWorld>> {
    Ok(Plain(DeletedWorld { deleted: true }))
}

/// The hashes of a world.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Fingerprint {
    /// A hash of the whole world: equal for equal worlds.
    digest: String,
    /// Hashes of its parts.
    parts: FingerprintParts,
    /// The seed of the world.
    seed: u64,
    /// Number of companies at growth.
    companies: u64,
    /// Number of employees per company.
    employees_per_company: u64,
    /// Countries of the companies in turn, ISO 3166-1 alpha-2.
    countries: Vec<String>,
    /// Start of virtual time.
    start: Timestamp,
    /// Virtual time after the call.
    now: Timestamp,
    /// Number of changes so far.
    version: u64,
    /// Number of events ever, including dropped ones.
    events: u64,
    /// The first event that is still in the log; null if there are no events.
    log_begins_at: Option<u64>,
    /// The program's version.
    program_version: &'static str,
    /// The version of generated data.
    world_version: u32,
}

/// Hashes of the parts of a world.
#[derive(Serialize, JsonSchema)]
struct FingerprintParts {
    /// Hash of the parameters of growth, the clock, and the number of changes.
    frame: String,
    /// Hashes of the resources created or changed since growth, and of the journal entries, by
    /// kind.
    records: BTreeMap<&'static str, PartOfKind>,
    /// Hash of the event log.
    log: String,
    /// Hash of the waiting timers.
    timers: String,
    /// Hash of the rows that decide, and of the number of decisions made.
    decisions: String,
}

/// The resources of one kind.
#[derive(Serialize, JsonSchema)]
struct PartOfKind {
    /// Number of resources created or changed since growth.
    count: u64,
    /// One hash of all changes of them.
    digest: String,
}

fn get_fingerprint(world: &World, _: Nothing) -> Result<Plain<Fingerprint>> {
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
