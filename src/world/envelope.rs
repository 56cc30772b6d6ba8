//! An event in the form of a webhook, and filters of event types.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::model::business::Company;
use crate::model::decision::Decision;
use crate::model::{Kind, Record};
use crate::value::id::{Id, encode_to_string};
use crate::value::span::Span;
use crate::value::time::Timestamp;
use crate::world::decided::{Decided, Why};
use crate::world::event::{Event, Previous, RequestRef};

/// The API version of an event.
pub(crate) const API_VERSION: &str = "2026-01-01";

/// An event in the form of a webhook.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Event")]
pub(crate) struct EventShape {
    /// The id of the event, equal for every delivery.
    id: String,
    /// The type of the event, such as `payout.paid`.
    #[serde(rename = "type")]
    name: String,
    /// When the event happened, in virtual time.
    timestamp: Timestamp,
    /// The position in the world's event log, from 1.
    sequence: u64,
    /// The API version: a date, such as `2026-01-01`.
    api_version: &'static str,
    /// The company of the resource; null if it belongs to no company.
    company_id: Option<Id<Company>>,
    /// Always false, because no real money moves.
    livemode: bool,
    /// The request that caused the event directly; null if the clock caused the event.
    request: Option<EventRequest>,
    /// The decision of the outside world that led to the event; absent if there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<DecisionShape>,
    /// The resource of the event.
    data: EventData,
}

/// A decision of the outside world, with its reason.
#[derive(Clone, Serialize, JsonSchema)]
#[schemars(rename = "Decision")]
pub(crate) struct DecisionShape {
    /// The position among the world's decisions, from 1.
    sequence: u64,
    /// The virtual time of the decision.
    at: Timestamp,
    /// The name of the decision, such as `payout.settle`.
    decision: String,
    /// The id of the resource that the decision is about.
    subject_id: String,
    /// The names of all choices of this decision.
    choices: Vec<&'static str>,
    /// The name of the choice that was made.
    chosen: String,
    /// The return code of the choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<String>,
    /// The duration that replaced the normal one.
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<Span>,
    /// What made the choice: a rule, a header, a magic value, or the default.
    why: Why,
    /// The row, header or value that decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
}

impl DecisionShape {
    /// The shown form of a decision.
    pub(crate) fn of(decided: &Decided) -> Self {
        let choices = Decision::find(&decided.decision).map_or(&[][..], |row| row.choices);
        Self {
            sequence: decided.sequence,
            at: decided.at,
            decision: decided.decision.to_string(),
            subject_id: decided.subject.to_string(),
            choices: choices.iter().map(|choice| choice.name).collect(),
            chosen: decided.chosen.to_string(),
            code: decided.code.as_deref().map(str::to_owned),
            after: decided.after,
            why: decided.why,
            source: decided.source.as_deref().map(str::to_owned),
        }
    }
}

/// The request that caused an event.
#[derive(Serialize, JsonSchema)]
struct EventRequest {
    /// The `Request-Id` of the reply to the request.
    #[schemars(with = "String")]
    id: Id<RequestRef>,
    /// The `Idempotency-Key` of the request; null if it had none.
    idempotency_key: Option<Box<str>>,
}

/// The resource of an event.
#[derive(Serialize, JsonSchema)]
struct EventData {
    /// The whole resource after the event.
    #[schemars(with = "Value")]
    object: Wired,
    /// The old values of the members that the event changed; empty for a new resource.
    #[schemars(with = "Map<String, Value>")]
    previous: Previous,
}

/// A resource in the form that callers see, written when it is needed.
struct Wired(Record);

impl Serialize for Wired {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.write_wire(serializer)
    }
}

impl EventShape {
    /// The event in the form of a webhook.
    pub(crate) fn of(event: &Arc<Event>) -> Self {
        let object = Wired(event.object.clone());
        let previous = Previous(Arc::clone(event));
        Self {
            id: event_id(event),
            name: event.name.to_string(),
            timestamp: event.at,
            sequence: event.sequence,
            api_version: API_VERSION,
            company_id: event.company_id(),
            livemode: false,
            request: event.request.as_ref().map(|request| EventRequest {
                id: request.id,
                idempotency_key: request.idempotency_key.clone(),
            }),
            decision: event.decision.as_deref().map(DecisionShape::of),
            data: EventData { object, previous },
        }
    }
}

/// The event's id; it is the same for every delivery.
pub(crate) fn event_id(event: &Event) -> String {
    format!("{}_{}", Kind::Event.prefix(), encode_to_string(event.id))
}

/// Whether a filter matches an event type.
pub(crate) fn named(filter: &str, name: &str) -> bool {
    match filter.strip_suffix(".*") {
        Some(resource) => name.split_once('.').is_some_and(|(of, _)| of == resource),
        None => filter == "*" || filter == name,
    }
}
