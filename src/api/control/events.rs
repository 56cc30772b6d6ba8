//! The log as a list of events, and the proof that the books are right.

#![expect(
    clippy::cast_possible_truncation,
    reason = "places within a log that is held in memory"
)]

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::api::crud::Paging;
use crate::api::operation::{Contract, Domain, Method, Operation, operation};
use crate::api::reply::{List, Plain};
use crate::model::{Kind, Record};
use crate::value::error::ApiError;
use crate::value::id::encode_to_string;
use crate::value::text::Text;
use crate::value::time::Timestamp;
use crate::world::World;
use crate::world::event::Event;

pub(crate) const OPERATIONS: &[Operation] = &[
    Operation {
        method: Method::Get,
        path: "/_sandbox/events",
        domain: Domain::Sandbox,
        contract: Contract::Control,
        summary: "List events",
        description: "Everything that happened in this key's world, in order, as a webhook would carry it.",
        ..operation!(read list_events)
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

/// Where an event stands in the API's versions.
pub(crate) const API_VERSION: &str = "2026-01-01";

/// An event, as a webhook carries it.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Event")]
pub(crate) struct EventShape {
    /// The event's id, the same on every delivery.
    id: String,
    /// What happened.
    #[serde(rename = "type")]
    name: String,
    /// When, in virtual time.
    timestamp: Timestamp,
    /// Its place in the world's log, from 1.
    sequence: u64,
    /// The version of the API that shaped it.
    api_version: &'static str,
    /// The company it happened to.
    company_id: String,
    /// Always false: no real money moves here.
    livemode: bool,
    /// The request behind it; null where the clock did it.
    request: Option<EventRequest>,
    /// What it is about.
    data: EventData,
}

/// The request behind an event.
#[derive(Serialize, JsonSchema)]
struct EventRequest {
    /// `Request-Id` of its reply.
    id: String,
    /// Its `Idempotency-Key`.
    idempotency_key: Option<String>,
}

/// What an event is about.
#[derive(Serialize, JsonSchema)]
struct EventData {
    /// The whole resource as the event left it.
    object: Value,
    /// Members that the event changed, as they were before; empty for a new resource.
    previous: Value,
}

impl EventShape {
    /// The event as a webhook carries it.
    pub(crate) fn of(event: &Event) -> Self {
        let object = event.object.to_wire();
        let previous = previous(event, &object);
        Self {
            id: format!("{}_{}", Kind::Event.prefix(), encode_to_string(event.id)),
            name: event.name.to_string(),
            timestamp: event.at,
            sequence: event.sequence,
            api_version: API_VERSION,
            company_id: format!(
                "{}_{}",
                Kind::Company.prefix(),
                encode_to_string(event.company)
            ),
            livemode: false,
            request: event.request.as_ref().map(|request| EventRequest {
                id: request.id.clone(),
                idempotency_key: request.idempotency_key.clone(),
            }),
            data: EventData { object, previous },
        }
    }
}

/// Members that differ from what stood before.
fn previous(event: &Event, object: &Value) -> Value {
    let subject = |record: &Record| record.bits() == event.subject.bits;
    let change = event
        .changes
        .iter()
        .find(|change| change.kind == event.subject.kind && subject(&change.after));
    let before = change
        .and_then(|change| change.before.as_ref())
        .map(Record::to_wire);
    let (Some(Value::Object(before)), Value::Object(object)) = (before, object) else {
        return Value::Object(serde_json::Map::new());
    };
    Value::Object(
        before
            .into_iter()
            .filter(|(name, value)| object.get(name) != Some(value))
            .collect(),
    )
}

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
        input
            .name
            .as_ref()
            .is_none_or(|name| named(name.as_str(), &event.name))
            && input
                .subject_id
                .as_ref()
                .is_none_or(|id| event.subject.to_string() == id.as_str())
            && input.after.is_none_or(|after| event.sequence > after)
    };
    let events: Vec<_> = world.log().iter().filter(matches).collect();
    let total = events.len() as u64;
    let range = input.paging.range(total);
    let page = &events[range.start as usize..range.end as usize];
    Ok(List {
        data: page.iter().map(|event| EventShape::of(event)).collect(),
        meta: input.paging.meta(total),
    })
}

/// Whether a filter names that type of event.
fn named(filter: &str, name: &str) -> bool {
    match filter.strip_suffix(".*") {
        Some(resource) => name.split_once('.').is_some_and(|(of, _)| of == resource),
        None => filter == "*" || filter == name,
    }
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
        findings: audit.findings,
    }))
}
