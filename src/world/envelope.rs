//! An event as a webhook carries it, and filters over types of events.

use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::model::business::Company;
use crate::model::decision::Decision;
use crate::model::{Kind, Record};
use crate::value::id::encode_to_string;
use crate::value::{Id, Span, Timestamp};
use crate::world::{Decided, Event, Why};

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
    /// The company it happened to; null where it is nobody's: a subject without one.
    company_id: Option<Id<Company>>,
    /// Always false: no real money moves here.
    livemode: bool,
    /// The request behind it; null where the clock did it.
    request: Option<EventRequest>,
    /// What the outside world decided just before; absent where it was not asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<DecisionShape>,
    /// What it is about.
    data: EventData,
}

/// What the outside world decided, and why.
#[derive(Clone, Serialize, JsonSchema)]
#[schemars(rename = "Decision")]
pub(crate) struct DecisionShape {
    /// The decision's place among those of the world, from 1.
    sequence: u64,
    /// When it was taken, in virtual time.
    at: Timestamp,
    /// Its name: `payout.settle`.
    decision: String,
    /// What it was about.
    subject_id: String,
    /// Every answer that there could have been.
    choices: Vec<&'static str>,
    /// The answer.
    chosen: String,
    /// The return code that it carries.
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<String>,
    /// The time that was named instead of the normal one.
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<Span>,
    /// Why it is this one.
    why: Why,
    /// The row, header or value that decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
}

impl DecisionShape {
    /// A decision as it is shown.
    pub(crate) fn of(decided: &Decided) -> Self {
        let choices = Decision::find(&decided.decision).map_or(&[][..], |row| row.choices);
        Self {
            sequence: decided.sequence,
            at: decided.at,
            decision: decided.decision.to_string(),
            subject_id: decided.subject.to_string(),
            choices: choices.iter().map(|choice| choice.name).collect(),
            chosen: decided.chosen.to_string(),
            code: decided.code.map(|code| code.to_string()),
            after: decided.after,
            why: decided.why,
            source: decided.source.clone(),
        }
    }
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
    #[schemars(with = "Value")]
    object: Wired,
    /// Members that the event changed, as they were before; empty for a new resource.
    previous: Value,
}

/// A resource in the form in which callers see it, written when it is needed.
struct Wired(Record);

impl Serialize for Wired {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.write_wire(serializer)
    }
}

impl EventShape {
    /// The event as a webhook carries it.
    pub(crate) fn of(event: &Event) -> Self {
        let object = Wired(event.object.clone());
        let previous = previous(event);
        Self {
            id: event_id(event),
            name: event.name.to_string(),
            timestamp: event.at,
            sequence: event.sequence,
            api_version: API_VERSION,
            company_id: event.company_id(),
            livemode: false,
            request: event.request.as_ref().map(|request| EventRequest {
                id: request.id.clone(),
                idempotency_key: request.idempotency_key.clone(),
            }),
            decision: event.decision.as_deref().map(DecisionShape::of),
            data: EventData { object, previous },
        }
    }
}

/// The event's id, the same on every delivery.
pub(crate) fn event_id(event: &Event) -> String {
    format!("{}_{}", Kind::Event.prefix(), encode_to_string(event.id))
}

/// Members that differ from what stood before.
fn previous(event: &Event) -> Value {
    let subject = |record: &Record| record.bits() == event.subject.bits;
    let change = event
        .changes
        .iter()
        .find(|change| change.kind == event.subject.kind && subject(&change.after));
    let before = change.and_then(|change| change.before.as_ref()).map(Record::to_wire);
    let Some(Value::Object(before)) = before else {
        return Value::Object(serde_json::Map::new()); // nothing stood there: most events are of this kind
    };
    let object = event.object.to_wire();
    Value::Object(
        before.into_iter().filter(|(name, value)| object.get(name) != Some(value)).collect(),
    )
}

/// Whether a filter names that type of event.
pub(crate) fn named(filter: &str, name: &str) -> bool {
    match filter.strip_suffix(".*") {
        Some(resource) => name.split_once('.').is_some_and(|(of, _)| of == resource),
        None => filter == "*" || filter == name,
    }
}
