//! The events of a world, and the check of its ledger.

use serde_json::Value;

use crate::api::check::suggestion;
use crate::api::control::webhooks::check_filter;
use crate::api::prelude::*;
use crate::api::system::event_types;
use crate::value::id::parse;
use crate::world::envelope::named;
use crate::world::{Changed, Event, EventShape};

pub(crate) const OPERATIONS: &[Operation] = &Domain::Sandbox.table([
    Operation {
        path: "/_sandbox/events",
        summary: "List events",
        description: "Lists the events of this key's world as in webhooks, newest first. With \
            `after` they come oldest first. The oldest events of a long log may be dropped; the \
            others keep their position.",
        long: true,
        ..operation!(read list_events)
    },
    Operation {
        path: "/_sandbox/events/{event_id}",
        summary: "Read an event",
        description: "Returns one event with all its changes. `request.id` names the request that \
            caused it.",
        long: true,
        ..operation!(read get_event)
    },
    Operation {
        path: "/_sandbox/ledger/check",
        summary: "Check the ledger",
        description: "Checks the records: every entry balances and has a source, totals and \
            statements equal the sums of the entries, and the log explains every record.",
        long: true,
        ..operation!(read check_ledger)
    },
]);

/// The order of a list of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub(crate) enum EventOrder {
    #[serde(rename = "sequence")]
    OldestFirst,
    #[serde(rename = "-sequence")]
    NewestFirst,
}

list! {
    struct ListEvents of Event;
    with
        /// Only events after this position in the log.
        after: u64,
        /// `-sequence`: newest first, the default. `sequence`: oldest first, the default with `after`.
        sort: EventOrder;
    filter
        company_id: Id<Company> => |company, event| event.company_id() == Some(*company),
        /// Filter by event type; `payroll_run.*` for all types of a resource.
        name as "type": Text<64> => |name, event| named(name.as_str(), &event.name),
        /// Filter by the resource that the event is about.
        subject_id: Text<64> => |id, event| id.accepts(&event.subject());
}

/// Refuses a filter of event types that no event can have.
pub(super) fn check_type(filter: Option<&Text<64>>) -> Result<()> {
    let Some(filter) = filter.map(Text::as_str) else { return Ok(()) };
    check_filter(filter).map_err(|why| {
        let known = event_types();
        let resources = known.iter().filter_map(|name| name.split_once('.'));
        let all: Vec<String> = resources.map(|(resource, _)| format!("{resource}.*")).collect();
        let names = known.iter().copied().chain(all.iter().map(String::as_str));
        let near = suggestion(filter, names);
        let why = if near.is_empty() { why } else { format!("no event matches {filter:?}{near}") };
        ApiError::of_member("/type", "unknown_event", why)
    })
}

fn list_events(world: &World, input: ListEvents) -> Result<List<EventShape>> {
    check_type(input.name.as_ref())?;
    let events = world.log().since(input.after.unwrap_or_default());
    let mut events: Vec<_> = events.filter(|event| input.accepts(event)).collect();
    let order = match (input.sort, input.after) {
        (Some(order), _) => order,
        (None, Some(_)) => EventOrder::OldestFirst,
        (None, None) => EventOrder::NewestFirst,
    };
    if order == EventOrder::NewestFirst {
        events.reverse();
    }
    Ok(input.paging.list(&events, |event| EventShape::of(event)))
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct GetEvent {
    /// The event to read.
    event_id: Text<64>,
}

/// An event with its changes.
#[derive(Serialize, JsonSchema)]
pub(crate) struct EventDetail {
    /// The event, as in webhooks.
    event: EventShape,
    /// Every record that the event wrote, in order.
    changes: Vec<ChangeShape>,
}

/// A record that an event wrote.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "EventChange")]
struct ChangeShape {
    /// The kind of the resource, as in its `object` member.
    kind: String,
    /// The id of the resource.
    id: String,
    /// The changed members before the event; null if the record is new.
    before: Value,
    /// The changed members after the event; the complete record if it is new.
    after: Value,
}

impl ChangeShape {
    fn of(change: Changed<'_>) -> Self {
        let (before, after) = change.differing();
        Self {
            kind: change.kind().name().to_owned(),
            id: change.id().to_string(),
            before: before.map_or(Value::Null, Value::Object),
            after: Value::Object(after),
        }
    }
}

fn get_event(world: &World, input: GetEvent) -> Result<Plain<EventDetail>> {
    let bits = parse(Kind::Event.prefix(), input.event_id.as_str());
    let found = bits.and_then(|bits| world.log().iter().find(|event| event.id == bits));
    let event = found.ok_or_else(|| ApiError::not_found("event"))?;
    Ok(Plain(EventDetail {
        event: EventShape::of(event),
        changes: event.changes().map(ChangeShape::of).collect(),
    }))
}

/// The extent and the findings of a ledger check.
#[derive(Serialize, JsonSchema)]
pub(crate) struct LedgerCheck {
    /// Whether there are no findings.
    ok: bool,
    /// Number of journal entries checked.
    entries: u64,
    /// Number of events checked.
    events: u64,
    /// The first event still in the log, if older ones were dropped. Records without a later change cannot be compared with the log. Absent
    /// if the check is complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    log_begins_at: Option<u64>,
    /// The findings, one sentence each.
    findings: Vec<String>,
}

fn check_ledger(world: &World, _: Nothing) -> Result<Plain<LedgerCheck>> {
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
