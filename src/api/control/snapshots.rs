//! Snapshots: taking, listing, restoring, forking and deleting them.

use crate::api::prelude::*;
use crate::tester::snapshots::{Carried, MOST_SNAPSHOTS, Snapshot};

pub(crate) const OPERATIONS: &[Operation] = &Domain::Sandbox.table([
    Operation {
        method: Method::Post,
        path: "/_sandbox/snapshots",
        summary: "Take a snapshot",
        description: "Saves this key's world, to restore, fork or compare later. A snapshot is \
            fast, and needs little memory, at any size of the world. A key can have at most 100 \
            snapshots.",
        example: r#"{"name":"before the run"}"#,
        success: 201,
        ..operation!(tester take_snapshot)
    },
    Operation {
        path: "/_sandbox/snapshots",
        summary: "List snapshots",
        description: "Lists this key's snapshots, oldest first. A reset keeps them.",
        ..operation!(tester list_snapshots)
    },
    Operation {
        method: Method::Post,
        path: "/_sandbox/snapshots/{snapshot_id}/restore",
        summary: "Restore a snapshot",
        description: "Restores this key's world: records, books, log, clock and timers, running \
            scenarios, and stored replies of idempotency keys. The same calls then return the \
            same replies, including ids and `Request-Id`. All snapshots stay.",
        ..operation!(tester restore_snapshot)
    },
    Operation {
        method: Method::Post,
        path: "/_sandbox/snapshots/{snapshot_id}/fork",
        summary: "Fork a snapshot",
        description: "Creates a world for another key as a copy of the snapshot. The two worlds \
            are independent from then on. The new world has no snapshots. `answers` and \
            `endpoints` set whether stored replies and webhook endpoints are copied. The response \
            does not contain the key.",
        example: r#"{"key":"test_fork"}"#,
        success: 201,
        errors: &[ErrorCode::DuplicateReference],
        ..operation!(tester fork_snapshot)
    },
    Operation {
        method: Method::Delete,
        path: "/_sandbox/snapshots/{snapshot_id}",
        summary: "Delete a snapshot",
        description: "Deletes the snapshot and frees its memory. The world does not change.",
        ..operation!(tester delete_snapshot)
    },
]);

/// An earlier state of a world.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Snapshot")]
pub(crate) struct SnapshotShape {
    /// The id of the snapshot.
    id: Id<Snapshot>,
    /// The name given when it was taken.
    name: Option<String>,
    /// Virtual time of the snapshot.
    at: Timestamp,
    /// Number of changes of the world.
    version: u64,
    /// Number of events of the world when the snapshot was taken.
    events: u64,
    /// Number of resources created or changed since growth.
    records: u64,
}

impl SnapshotShape {
    fn of(snapshot: &Snapshot) -> Self {
        let world = &snapshot.world;
        Self {
            id: snapshot.id,
            name: snapshot.name.clone(),
            at: snapshot.at(),
            version: world.version(),
            events: world.log().len(),
            records: world.record_count(),
        }
    }
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct TakeSnapshot {
    /// A name for the snapshot, shown in lists.
    name: Option<Text<64>>,
}

fn take_snapshot(session: &mut Session<'_>, input: TakeSnapshot) -> Result<Plain<SnapshotShape>> {
    let name = input.name.map(Text::into_string);
    let taken = session.tester.take_snapshot(session.world, name);
    let shape = taken.map(SnapshotShape::of).map(Plain);
    shape.ok_or_else(full)
}

/// The error for one snapshot too many.
pub(crate) fn full() -> ApiError {
    let detail = format!("this key has {MOST_SNAPSHOTS} snapshots, the maximum: delete one first");
    ApiError::of_member("", "too_many", detail)
}

fn list_snapshots(session: &mut Session<'_>, _: Nothing) -> Result<List<SnapshotShape>> {
    let data = session.tester.snapshots.iter().map(SnapshotShape::of);
    Ok(List::whole(data.collect()))
}

fn restore_snapshot(
    session: &mut Session<'_>,
    input: One<Snapshot>,
) -> Result<Plain<SnapshotShape>> {
    let id = input.id;
    session.tester.restore_snapshot(id, session.world);
    find(session, id).map(SnapshotShape::of).map(Plain)
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct ForkSnapshot {
    /// The snapshot's id.
    snapshot_id: Id<Snapshot>,
    /// The key to open: a test key in visible ASCII that has no world yet.
    key: Text<255>,
    /// Whether the fork has the replies that were stored under idempotency keys at the snapshot, so that a retry of an earlier call is a
    /// replay there, too. Default: false.
    answers: Option<bool>,
    /// Whether the fork has the current webhook endpoints of this key, with their secrets. It sends later events only. Default: false.
    endpoints: Option<bool>,
}

/// The new key's world. The key itself is not repeated.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Fork {
    /// The snapshot that it starts from.
    snapshot_id: Id<Snapshot>,
    /// The virtual time of the new world.
    now: Timestamp,
    /// Number of changes so far.
    version: u64,
    /// Number of events so far.
    events: u64,
}

fn fork_snapshot(session: &mut Session<'_>, input: ForkSnapshot) -> Result<Plain<Fork>> {
    let snapshot = find(session, input.snapshot_id)?;
    let (world, mut part) = snapshot.fork();
    let snapshot_id = snapshot.id;
    part.carried = Carried {
        answers_of: input.answers.unwrap_or(false).then_some(snapshot_id),
        endpoints: input.endpoints.unwrap_or(false).then(|| session.tester.outbox.kept()),
    };
    let fork =
        Fork { snapshot_id, now: world.now(), version: world.version(), events: world.log().len() };
    session.host.open(input.key.as_str(), world, part)?;
    Ok(Plain(fork))
}

/// The result of a deletion.
#[derive(Serialize, JsonSchema)]
pub(crate) struct DeletedSnapshot {
    /// The id of the deleted resource.
    id: Id<Snapshot>,
    /// Always true.
    deleted: bool,
}

fn delete_snapshot(
    session: &mut Session<'_>,
    input: One<Snapshot>,
) -> Result<Plain<DeletedSnapshot>> {
    let id = input.id;
    if !session.tester.delete_snapshot(id) {
        return Err(unknown(id));
    }
    Ok(Plain(DeletedSnapshot { id, deleted: true }))
}

pub(super) fn find<'a>(session: &'a Session<'_>, id: Id<Snapshot>) -> Result<&'a Snapshot> {
    session.tester.snapshots.get(id).ok_or_else(|| unknown(id))
}

/// The 404 for a snapshot that the key does not have.
pub(crate) fn unknown(id: Id<Snapshot>) -> ApiError {
    let error = ApiError::not_found(Snapshot::NAME);
    if id == Id::UNKNOWN { error } else { error.about(id) }
}
