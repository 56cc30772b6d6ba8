//! In what two states of a world differ, resource by resource and field by field.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::api::control::snapshots::find;
use crate::api::json::differing_pointers;
use crate::api::prelude::*;
use crate::api::reply::Meta;
use crate::model::Record;
use crate::world::diff::{Difference, Differences, common_events, differences};

pub(crate) const OPERATIONS: &[Operation] = &[Operation {
    method: Method::Get,
    path: "/_sandbox/diff",
    domain: Domain::Sandbox,
    contract: Contract::Control,
    summary: "Compare two states of the world",
    description: "What was created, changed or undone between a snapshot and another, or now: resource by resource and field by field, \
            wallets with their balances; and the events in between.",
    errors: &[ErrorCode::ResourceNotFound],
    ..operation!(tester get_diff)
}];

#[derive(Deserialize, JsonSchema)]
pub(crate) struct GetDiff {
    #[serde(flatten)]
    paging: Paging,
    /// A snapshot, `start` for the world as it was grown, or `now`; `start` if absent.
    from: Option<Text<64>>,
    /// The same; `now` if absent.
    to: Option<Text<64>>,
}

/// What two states of a world differ in.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Diff {
    /// The state that differences are seen from.
    from: DiffEnd,
    /// The other one.
    to: DiffEnd,
    /// How many resources differ, by kind.
    kinds: BTreeMap<&'static str, DiffCount>,
    /// What happened in between.
    events: DiffEvents,
    /// Resources that differ, ordered by kind and id: a page of them.
    data: Vec<DiffRow>,
    /// How many there are, and which page this is.
    meta: Meta,
}

/// One of the two states.
#[derive(Serialize, JsonSchema)]
struct DiffEnd {
    /// The snapshot's id; null where it is none.
    snapshot_id: Option<String>,
    /// Virtual time.
    at: Timestamp,
    /// How often the world had changed.
    version: u64,
    /// How many events there had been.
    events: u64,
    /// Timers that waited for the clock.
    timers: u64,
}

/// Resources of one kind that differ.
#[derive(Default, Serialize, JsonSchema)]
struct DiffCount {
    /// There in `to` only.
    created: u64,
    /// There in both, and not alike.
    changed: u64,
    /// There in `from` only: the two states lie on different ways, or `to` is the earlier one.
    removed: u64,
}

/// Events between the two states.
#[derive(Serialize, JsonSchema)]
struct DiffEvents {
    /// How many both have before their histories part: `GET /_sandbox/events?after=` it lists the rest.
    common: u64,
    /// How many only `to` has.
    added: u64,
    /// How many only `from` has.
    removed: u64,
    /// Those of `to` by type, as far as the log still has them.
    types: BTreeMap<String, u64>,
}

/// A resource that differs.
#[derive(Serialize, JsonSchema)]
struct DiffRow {
    /// Its kind.
    kind: &'static str,
    /// Its id.
    id: String,
    /// Where it is there.
    change: DiffChange,
    /// Members that differ; for one that is there in one state only, none.
    fields: Vec<DiffField>,
    /// The whole resource, where it is there in one state only.
    resource: Option<Value>,
}

/// Where a resource is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum DiffChange {
    Created,
    Changed,
    Removed,
}

/// A member that differs.
#[derive(Serialize, JsonSchema)]
struct DiffField {
    /// JSON pointer into the resource.
    field: String,
    /// Its value in `from`.
    before: Value,
    /// Its value in `to`.
    after: Value,
}

fn get_diff(session: &mut Session<'_>, input: GetDiff) -> Result<Plain<Diff>, ApiError> {
    let grown = World::new(session.world.base().clone(), session.world.mode());
    let end = |name: Option<&Text<64>>, otherwise| match name.map_or(otherwise, Text::as_str) {
        "start" => Ok((&grown, None)),
        "now" => Ok((&*session.world, None)),
        id => find(session, id.parse().unwrap_or(Id::UNKNOWN))
            .map(|snapshot| (&snapshot.world, Some(snapshot.id.to_string()))),
    };
    let (before, from) = end(input.from.as_ref(), "start")?;
    let (after, to) = end(input.to.as_ref(), "now")?;
    check_growth(before, after)?;
    let found = differences(before, after);
    let total = found.len() as u64;
    let range = input.paging.range(total);
    let size = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
    let page = found.iter().skip(size(range.start));
    let page = page.take(size(range.end - range.start));
    Ok(Plain(Diff {
        from: DiffEnd::of(before, from),
        to: DiffEnd::of(after, to),
        kinds: counts(&found),
        events: DiffEvents::of(before, after),
        data: page.map(|(id, difference)| DiffRow::of(*id, difference)).collect(),
        meta: input.paging.meta(total),
    }))
}

/// Worlds of different growth have nothing to compare.
fn check_growth(before: &World, after: &World) -> Result<(), ApiError> {
    let (one, other) = (before.base(), after.base());
    if one.seed() == other.seed() && one.shape() == other.shape() {
        return Ok(());
    }
    let detail = "the two states were grown from different seeds or shapes: every resource differs";
    Err(ApiError::invalid(vec![Violation::new("/from", "other_growth", detail)]))
}

impl DiffEnd {
    fn of(world: &World, snapshot_id: Option<String>) -> Self {
        Self {
            snapshot_id,
            at: world.now(),
            version: world.version(),
            events: world.log().len(),
            timers: world.timers().len() as u64,
        }
    }
}

impl DiffEvents {
    fn of(before: &World, after: &World) -> Self {
        let common = common_events(before, after);
        let mut types: BTreeMap<String, u64> = BTreeMap::new();
        for event in after.log().since(common) {
            *types.entry(event.name.to_string()).or_default() += 1;
        }
        Self {
            common,
            added: after.log().len() - common,
            removed: before.log().len() - common,
            types,
        }
    }
}

fn counts(found: &Differences) -> BTreeMap<&'static str, DiffCount> {
    let mut counts: BTreeMap<&'static str, DiffCount> = BTreeMap::new();
    for (id, difference) in found {
        let count = counts.entry(id.kind.name()).or_default();
        match change(difference) {
            DiffChange::Created => count.created += 1,
            DiffChange::Changed => count.changed += 1,
            DiffChange::Removed => count.removed += 1,
        }
    }
    counts
}

const fn change(difference: &Difference) -> DiffChange {
    match (&difference.before, &difference.after) {
        (None, _) => DiffChange::Created,
        (_, None) => DiffChange::Removed,
        _ => DiffChange::Changed,
    }
}

impl DiffRow {
    fn of(id: AnyId, difference: &Difference) -> Self {
        let before = difference.before.as_ref().map(Record::to_wire);
        let after = difference.after.as_ref().map(Record::to_wire);
        let (fields, resource) = match (before, after) {
            (Some(before), Some(after)) => (fields(&before, &after), None),
            (before, after) => (Vec::new(), before.or(after)),
        };
        Self {
            kind: id.kind.name(),
            id: id.to_string(),
            change: change(difference),
            fields,
            resource,
        }
    }
}

fn fields(before: &Value, after: &Value) -> Vec<DiffField> {
    let at = |value: &Value, pointer: &str| value.pointer(pointer).cloned().unwrap_or_default();
    let pointers = differing_pointers(before, after).into_iter();
    let field =
        |field: String| DiffField { before: at(before, &field), after: at(after, &field), field };
    pointers.map(field).collect()
}
