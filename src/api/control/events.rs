//! The log as a list of events, and the proof that the books are right.

#![expect(clippy::cast_possible_truncation, reason = "places within a log that is held in memory")]

use serde_json::Value;

use crate::api::prelude::*;
use crate::value::id::parse;
use crate::world::envelope::named;
use crate::world::{Change, Event, EventShape};

pub(crate) const OPERATIONS: &[Operation] = &[
    Operation {
        method: Method::Get,
        path: "/_sandbox/events",
        domain: Domain::Sandbox,
        contract: Contract::Control,
        summary: "List events",
        description: "Everything that happened in this key's world, in order, as a webhook would carry it. Of a long log the oldest \
            events may be gone; each keeps its place.",
        ..operation!(read list_events)
    },
    Operation {
        method: Method::Get,
        path: "/_sandbox/events/{event_id}",
        domain: Domain::Sandbox,
        contract: Contract::Control,
        summary: "Read an event",
        description: "One thing that happened, with everything that it changed. The request behind it is found under `request.id`.",
        errors: &[ErrorCode::ResourceNotFound],
        ..operation!(read get_event)
    },
    Operation {
        method: Method::Get,
        path: "/_sandbox/ledger/check",
        domain: Domain::Sandbox,
        contract: Contract::Control,
        summary: "Check the ledger",
        description: "Proves from the records that every entry balances and has a source, that totals and statements are folds of \
            the entries, and that the log explains every record.",
        ..operation!(read check_ledger)
    },
];

#[derive(Deserialize, JsonSchema)]
pub(crate) struct ListEvents {
    #[serde(flatten)]
    paging: Paging,
    /// Only events of that type; `payroll_run.*` for all of a resource.
    #[serde(rename = "type")]
    name: Option<Text<64>>,
    /// Only events about that resource.
    subject_id: Option<Text<64>>,
    /// Only events after that place in the log.
    after: Option<u64>,
}

fn list_events(world: &World, input: ListEvents) -> Result<List<EventShape>, ApiError> {
    let matches = |event: &&std::sync::Arc<Event>| {
        input.name.as_ref().is_none_or(|name| named(name.as_str(), &event.name))
            && input.subject_id.as_ref().is_none_or(|id| event.subject.to_string() == id.as_str())
    };
    let after = input.after.unwrap_or_default();
    let events: Vec<_> = world.log().since(after).filter(matches).collect();
    let total = events.len() as u64;
    let range = input.paging.range(total);
    let page = &events[range.start as usize..range.end as usize];
    Ok(List {
        data: page.iter().map(|event| EventShape::of(event)).collect(),
        meta: input.paging.meta(total),
    })
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct GetEvent {
    /// The event.
    event_id: Text<64>,
}

/// An event with what it changed.
#[derive(Serialize, JsonSchema)]
pub(crate) struct EventDetail {
    /// The event, as a webhook carries it.
    event: EventShape,
    /// Every record that it wrote, in order.
    changes: Vec<ChangeShape>,
}

/// One record that an event wrote.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Change")]
struct ChangeShape {
    /// What it is, as in its `object` member.
    kind: String,
    /// Its id.
    id: String,
    /// The members that changed, as they were; null for what is new.
    before: Value,
    /// The same members as they are since; the whole record if it is new.
    after: Value,
}

impl ChangeShape {
    fn of(change: &Change) -> Self {
        let id = AnyId { kind: change.kind, bits: change.after.bits() };
        let (before, after) = change.differing();
        Self {
            kind: change.kind.name().to_owned(),
            id: id.to_string(),
            before: before.map_or(Value::Null, Value::Object),
            after: Value::Object(after),
        }
    }
}

fn get_event(world: &World, input: GetEvent) -> Result<Plain<EventDetail>, ApiError> {
    let bits = parse(Kind::Event.prefix(), input.event_id.as_str());
    let found = bits.and_then(|bits| world.log().iter().find(|event| event.id == bits));
    let event = found.ok_or_else(|| ApiError::not_found("event"))?;
    Ok(Plain(EventDetail {
        event: EventShape::of(event),
        changes: event.changes.iter().map(ChangeShape::of).collect(),
    }))
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct CheckLedger {}

/// What an audit looked at, and what it found wrong.
#[derive(Serialize, JsonSchema)]
pub(crate) struct LedgerCheck {
    /// Whether nothing is wrong.
    ok: bool,
    /// Journal entries looked at.
    entries: u64,
    /// Events looked at.
    events: u64,
    /// The first event that is still in the log, where older ones were dropped: records that nothing has changed since then
    /// cannot be held against the log. Absent where the check is whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    log_begins_at: Option<u64>,
    /// What is wrong, in sentences.
    findings: Vec<String>,
}

fn check_ledger(world: &World, _: CheckLedger) -> Result<Plain<LedgerCheck>, ApiError> {
    let audit = world.audit();
    let ok = audit.findings.is_empty();
    Ok(Plain(LedgerCheck {
        ok,
        entries: audit.entries,
        events: audit.events,
        log_begins_at: audit.begins,
        findings: audit.findings,
    }))
}
