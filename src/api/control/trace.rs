//! The chain of a call: its request, the events that it caused at once and later, and their deliveries.

use std::collections::BTreeSet;

use crate::api::control::request_log::operation_id;
use crate::api::prelude::*;
use crate::tester::Tester;
use crate::tester::outbox::delivery::{Delivery, Status};
use crate::tester::request_log::Entry;
use crate::value::id::parse;
use crate::value::trace::TraceId;
use crate::world::envelope::{DecisionShape, event_id};
use crate::world::{Changed, Event, RequestRef};

pub(crate) const OPERATIONS: &[Operation] = &Domain::Sandbox.table([Operation {
    path: "/_sandbox/trace/{id}",
    summary: "Read the chain of a trace",
    description: "Returns the requests, the events that they caused at once and later, and the \
        attempts to deliver these events, in the order of virtual time. `id` is the trace id of a \
        `traceparent`, or the id of a request, an event, a delivery or a resource.",
    errors: &[ErrorCode::ResourceNotFound],
    long: true,
    ..operation!(tester get_trace)
}]);

#[derive(Deserialize, JsonSchema)]
pub(crate) struct GetTrace {
    #[serde(flatten)]
    paging: Paging,
    /// A trace id of 32 hexadecimal digits, or the id of a request, an event, a delivery or a resource.
    id: Text<64>,
}

/// What a step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum TraceStepType {
    Request,
    Event,
    Delivery,
}

/// A step of a chain.
#[derive(Serialize, JsonSchema)]
pub(crate) struct TraceStep {
    /// Whether the step is a request, an event or a delivery.
    #[serde(rename = "type")]
    step: TraceStepType,
    /// When the step happened, in virtual time.
    at: Timestamp,
    /// `Request-Id` of the reply, or the id of the event or delivery.
    id: String,
    /// The operation of a request, or the type of an event. Null if no route matched.
    name: Option<String>,
    /// The request that caused the event, or the event that is delivered; null for a request.
    cause_id: Option<String>,
    /// Whether a timer caused the event after its request; null for others.
    later: Option<bool>,
    /// The resource of the event, or the single resource that the request wrote; null otherwise.
    subject_id: Option<String>,
    /// Status of the reply to the request, or of the receiver's answer; null without one, or if it is no longer known.
    http_status: Option<u16>,
    /// The request's `Idempotency-Key`; null without one.
    idempotency_key: Option<String>,
    /// The decision of the outside world that led to the event; null if there was none.
    decision: Option<DecisionShape>,
    /// The journal entries of the event.
    journal_entry_ids: Vec<String>,
    /// The receiving endpoint of a delivery; null for others.
    endpoint_id: Option<String>,
    /// Status of the delivery; null for others.
    delivery_status: Option<Status>,
    /// Number of the attempt, from 1; null before the first one.
    attempt: Option<u64>,
}

/// A step and its place among those of one instant: the position of an event in the log, then the type, then the order of deliveries.
struct Placed<'a> {
    place: (Timestamp, u64, TraceStepType, u64),
    of: Of<'a>,
}

/// The content of a step.
enum Of<'a> {
    Logged(&'a Entry),
    /// A request that is no longer in the request log.
    Named(&'a RequestRef),
    Event(&'a Event),
    Delivery {
        endpoint: &'a str,
        delivery: &'a Delivery,
        attempt: Option<usize>,
    },
}

/// The object that the id identifies.
enum Sought {
    Trace(TraceId),
    Request(Id<RequestRef>),
    Event(u64),
    Resource(String),
}

impl Sought {
    fn event(&self, event: &Event) -> bool {
        match self {
            Self::Trace(id) => event.trace().is_some_and(|trace| trace.trace == *id),
            Self::Request(id) => event.origin().is_some_and(|request| request.id == *id),
            Self::Event(id) => event.id == *id,
            Self::Resource(id) => {
                let of = |change: Changed<'_>| {
                    id.starts_with(change.kind().prefix()) && change.id().to_string() == *id
                };
                event.changes().any(of)
            }
        }
    }

    fn request(&self, entry: &Entry) -> bool {
        match self {
            Self::Trace(id) => entry.trace.as_ref().is_some_and(|trace| trace.trace == *id),
            Self::Request(id) => entry.request_id == Some(*id),
            Self::Event(_) => false,
            Self::Resource(id) => entry.resource.as_ref() == Some(id),
        }
    }
}

fn get_trace(session: &mut Session<'_>, input: GetTrace) -> Result<List<TraceStep>> {
    let (world, tester) = (&*session.world, &*session.tester);
    let sought = sought(world, tester, input.id.as_str());
    let events: Vec<&Event> =
        world.log().iter().map(|event| &**event).filter(|event| sought.event(event)).collect();
    let mut steps = requests(tester, &sought, &events);
    steps.extend(events.iter().map(|event| Placed {
        place: (event.at, event.sequence, TraceStepType::Event, 0),
        of: Of::Event(event),
    }));
    add_deliveries(tester, &events, &mut steps);
    if steps.is_empty() {
        let detail = "no request, event or delivery of this key's world has this id or trace; GET \
            /_sandbox/requests and GET /_sandbox/events list the known ids";
        return Err(ApiError::new(ErrorCode::ResourceNotFound, detail));
    }
    steps.sort_by_key(|step| step.place);
    Ok(input.paging.list(&steps, shown))
}

/// The object that an id identifies. An event is replaced by its request, and a delivery by its event.
fn sought(world: &World, tester: &Tester, id: &str) -> Sought {
    if let Some(trace) = TraceId::parse(id) {
        return Sought::Trace(trace);
    }
    let of_event = |event: &Event| match event.origin() {
        Some(request) => Sought::Request(request.id),
        None => Sought::Event(event.id),
    };
    if id.split('_').next() == Some(Kind::Request.prefix()) {
        return Sought::Request(id.parse().unwrap_or(Id::UNKNOWN));
    }
    if let Some(bits) = parse(Kind::Event.prefix(), id) {
        let found = world.log().iter().find(|event| event.id == bits);
        return found.map_or(Sought::Event(bits), |event| of_event(event));
    }
    let mut deliveries = tester.outbox.lanes().iter().flat_map(|lane| lane.deliveries());
    let found = deliveries.find(|delivery| delivery.id == id);
    found.map_or_else(|| Sought::Resource(id.to_owned()), |delivery| of_event(&delivery.event))
}

/// The requests of the chain. The log of requests may be shorter than that of events.
fn requests<'a>(tester: &'a Tester, sought: &Sought, events: &[&'a Event]) -> Vec<Placed<'a>> {
    let mut named: BTreeMap<Id<RequestRef>, (&RequestRef, &Event)> = BTreeMap::new();
    for event in events {
        if let Some(request) = event.origin() {
            named.entry(request.id).or_insert((request, *event));
        }
    }
    let mut logged = BTreeSet::new();
    let mut steps = Vec::new();
    for entry in tester.requests.entries() {
        let id = entry.request_id;
        let first = id.and_then(|id| named.get(&id)).map(|(_, event)| event.sequence);
        if sought.request(entry) || first.is_some() {
            logged.insert(id);
            let place = (entry.at, first.unwrap_or_default(), TraceStepType::Request, entry.number);
            steps.push(Placed { place, of: Of::Logged(entry) });
        }
    }
    let others = named.into_iter().filter(|(id, _)| !logged.contains(&Some(*id)));
    steps.extend(others.map(|(_, (request, event))| Placed {
        place: (event.at, event.sequence, TraceStepType::Request, 0),
        of: Of::Named(request),
    }));
    steps
}

/// The deliveries of the events: a step for each attempt.
fn add_deliveries<'a>(tester: &'a Tester, events: &[&Event], steps: &mut Vec<Placed<'a>>) {
    let events: BTreeSet<u64> = events.iter().map(|event| event.sequence).collect();
    let mut order = 0;
    for lane in tester.outbox.lanes() {
        for delivery in lane.deliveries() {
            let event = &delivery.event;
            if !events.contains(&event.sequence) {
                continue;
            }
            let attempts = delivery.attempts.iter().enumerate();
            let mut attempts: Vec<_> =
                attempts.map(|(number, attempt)| (attempt.at, Some(number))).collect();
            if attempts.is_empty() {
                attempts.push((event.at, None));
            }
            for (at, attempt) in attempts {
                order += 1;
                let place = (at, event.sequence, TraceStepType::Delivery, order);
                let of = Of::Delivery { endpoint: &lane.endpoint.id, delivery, attempt };
                steps.push(Placed { place, of });
            }
        }
    }
}

fn shown(step: &Placed<'_>) -> TraceStep {
    let (at, _, kind, _) = step.place;
    let blank = |id: String, name: Option<String>| TraceStep {
        step: kind,
        at,
        id,
        name,
        cause_id: None,
        later: None,
        subject_id: None,
        http_status: None,
        idempotency_key: None,
        decision: None,
        journal_entry_ids: Vec::new(),
        endpoint_id: None,
        delivery_status: None,
        attempt: None,
    };
    match &step.of {
        Of::Logged(entry) => TraceStep {
            subject_id: entry.resource.clone(),
            http_status: entry.status,
            idempotency_key: entry.key.as_ref().map(|key| key.text.clone()),
            ..blank(entry.id_text(), entry.operation.map(operation_id))
        },
        Of::Named(request) => TraceStep {
            idempotency_key: request.idempotency_key.as_deref().map(str::to_owned),
            ..blank(request.id.to_string(), Some(operation_id(&request.operation)))
        },
        Of::Event(event) => TraceStep {
            cause_id: event.origin().map(|request| request.id.to_string()),
            later: Some(event.request.is_none()),
            subject_id: Some(event.subject().to_string()),
            decision: event.decision.as_deref().map(DecisionShape::of),
            journal_entry_ids: entries(event),
            ..blank(event_id(event), Some(event.name.to_string()))
        },
        Of::Delivery { endpoint, delivery, attempt } => TraceStep {
            cause_id: Some(event_id(&delivery.event)),
            http_status: attempt.and_then(|number| delivery.attempts[number].http_status),
            endpoint_id: Some((*endpoint).to_owned()),
            delivery_status: Some(delivery.status),
            attempt: attempt.map(|number| number as u64 + 1),
            ..blank(delivery.id.clone(), Some(delivery.event.name.to_string()))
        },
    }
}

/// The ids of the journal entries that an event posted.
fn entries(event: &Event) -> Vec<String> {
    let entries = event.changes().filter(|change| change.kind() == Kind::JournalEntry);
    entries.map(|entry| entry.id().to_string()).collect()
}
