//! The differences between two states of a world, by resource and member.

use serde_json::Value;

use crate::api::control::canonical::{Canonical, MOST_OBJECTS, is_balance};
use crate::api::control::snapshots::find;
use crate::api::json::differing_pointers;
use crate::api::prelude::*;
use crate::model::Record;
use crate::world::diff::{Difference, Differences, common_events, differences};

pub(crate) const OPERATIONS: &[Operation] = &Domain::Sandbox.table([Operation {
    method: Method::Get,
    path: "/_sandbox/diff",
    summary: "Compare two states of the world",
    description: "Compares two states of the world: a snapshot, the start, or the current state. Returns the \
        resources that were created, changed or removed, with the changed members, ordered by kind \
        and id. Wallets are shown with their balances. `meta` counts the differences, and the \
        events between the two states. A key without a world returns 404; the call does not create \
        a world.",
    errors: &[ErrorCode::ResourceNotFound],
    existing: true,
    long: true,
    ..operation!(tester get_diff)
}]);

#[derive(Deserialize, JsonSchema)]
pub(crate) struct GetDiff {
    #[serde(flatten)]
    paging: Paging,
    /// A snapshot id, `start` for the fresh world, or `now`. Default: `start`.
    from: Option<Text<64>>,
    /// A snapshot id, `start`, or `now`. Default: `now`.
    to: Option<Text<64>>,
    /// Whether to add the effects in canonical form, to compare two runs of one program. At most 20,000 resources can be different. Default: false.
    canonical: Option<bool>,
}

/// The compared states, and the numbers of differences.
#[derive(Serialize, JsonSchema)]
pub(crate) struct DiffMeta {
    /// Total number of different resources.
    total: u64,
    /// Page number, from 1.
    page: u64,
    /// The state to compare from.
    from: DiffEnd,
    /// The state to compare to.
    to: DiffEnd,
    /// Number of different resources, by kind.
    kinds: BTreeMap<&'static str, DiffCount>,
    /// The events between the states.
    events: DiffEvents,
    /// The effects in canonical form; absent if not requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    canonical: Option<Canonical>,
}

/// One of the two states.
#[derive(Serialize, JsonSchema)]
struct DiffEnd {
    /// The snapshot's id; null if the state is not a snapshot.
    snapshot_id: Option<String>,
    /// The virtual time of the state.
    at: Timestamp,
    /// Number of changes of the world.
    version: u64,
    /// Number of events until then.
    events: u64,
    /// Number of waiting timers.
    timers: u64,
}

/// Number of different resources of one kind.
#[derive(Default, Serialize, JsonSchema)]
struct DiffCount {
    /// Exist only in `to`.
    created: u64,
    /// Exist in both states, with differences.
    changed: u64,
    /// Exist only in `from`: the two states diverged, or `to` is earlier.
    removed: u64,
}

/// Events between the two states.
#[derive(Serialize, JsonSchema)]
struct DiffEvents {
    /// Number of common events before the histories diverge. `GET /_sandbox/events?after=` with this number lists the others.
    common: u64,
    /// Number of events only in `to`.
    added: u64,
    /// Number of events only in `from`.
    removed: u64,
    /// Number of these events of `to` by type, if still in the log.
    types: BTreeMap<String, u64>,
}

/// A resource that is different.
#[derive(Serialize, JsonSchema)]
pub(crate) struct DiffRow {
    /// The kind of the resource, as in its `object` member.
    kind: &'static str,
    /// The id of the resource.
    id: String,
    /// Whether the resource was created, changed or removed.
    change: DiffChange,
    /// The members with differences; empty if the resource exists in only one state.
    fields: Vec<DiffField>,
    /// The complete resource, if it exists in only one state.
    resource: Option<Value>,
}

/// Whether a resource was created, changed or removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum DiffChange {
    Created,
    Changed,
    Removed,
}

/// A member that is different.
#[derive(Serialize, JsonSchema)]
struct DiffField {
    /// JSON pointer into the resource.
    field: String,
    /// The value of the member in `from`.
    before: Value,
    /// The value of the member in `to`.
    after: Value,
}

fn get_diff(session: &mut Session<'_>, input: GetDiff) -> Result<List<DiffRow, DiffMeta>> {
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
    let is_canonical = input.canonical.unwrap_or(false);
    let objects = found.keys().filter(|id| !is_balance(id.kind)).count();
    if is_canonical && objects > MOST_OBJECTS {
        let detail = format!(
            "{objects} resources are different, and the canonical form has at most {MOST_OBJECTS}: compare nearer states"
        );
        return Err(ApiError::of_member("/canonical", "too_many", detail));
    }
    let total = found.len() as u64;
    let range = input.paging.range(total);
    let size = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
    let page = found.iter().skip(size(range.start));
    let page = page.take(size(range.end - range.start));
    Ok(List {
        data: page.map(|(id, difference)| DiffRow::of(*id, difference)).collect(),
        meta: DiffMeta {
            total,
            page: input.paging.meta(total).page,
            from: DiffEnd::of(before, from),
            to: DiffEnd::of(after, to),
            kinds: counts(&found),
            events: DiffEvents::of(before, after),
            canonical: is_canonical.then(|| Canonical::of(after, &found)),
        },
    })
}

/// Worlds of different growth cannot be compared.
fn check_growth(before: &World, after: &World) -> Result<()> {
    let (one, other) = (before.base(), after.base());
    if one.seed() == other.seed() && one.shape() == other.shape() {
        return Ok(());
    }
    let detail = "the two states were grown from different seeds or shapes: every resource differs";
    Err(ApiError::of_member("/from", "other_growth", detail))
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
