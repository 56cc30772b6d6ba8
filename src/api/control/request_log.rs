//! The request log: requests, replies, and the events between them.

use serde_json::Value;

use crate::api::control::faults::Removed;
use crate::api::prelude::*;
use crate::api::product;
use crate::tester::request_log::{Body, Entry, KeyOutcome, Wall};
use crate::tester::wire::is_id_of;
use crate::world::Event;
use crate::world::envelope::event_id;

pub(crate) const OPERATIONS: &[Operation] = &Domain::Sandbox.table([
    Operation {
        path: "/_sandbox/requests",
        summary: "List requests",
        description: "Lists the latest requests to the product API with this key, oldest first, \
            including refused and faulted ones. `--max-requests` sets how many are kept.",
        ..operation!(tester list_requests)
    },
    Operation {
        path: "/_sandbox/requests/{request_id}",
        summary: "Read a request",
        description: "Returns a request by the `Request-Id` of its reply, with the events that it \
            caused. Equal reads of an unchanged world share an id; the latest one is returned.",
        ..operation!(tester get_request)
    },
    Operation {
        method: Method::Delete,
        path: "/_sandbox/requests",
        summary: "Clear the request log",
        description: "Removes all requests and the count of dropped ones, so later verifications \
            are complete.",
        ..operation!(tester clear_requests)
    },
]);

/// A request and its result.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "LoggedRequest")]
pub(crate) struct RequestShape {
    /// Position among all requests with this key, from 1.
    number: u64,
    /// `Request-Id` of its reply.
    request_id: String,
    /// Virtual time when it was processed.
    at: Timestamp,
    /// The operation; null if no route matched.
    operation: Option<String>,
    /// The HTTP method.
    method: String,
    /// The path, without the query.
    path: String,
    /// The query, without the question mark; null without one.
    query: Option<String>,
    /// The reply's status; null if a fault lost the request.
    status: Option<u16>,
    /// The error code; null for a success.
    error: Option<&'static str>,
    /// Its `Idempotency-Key`; null without one.
    idempotency_key: Option<String>,
    /// The effect of the key; null if there is none, or if the request was refused before the key was checked.
    idempotency: Option<KeyOutcome>,
    /// Its `Sandbox-Scenario`; absent without one. Several headers are joined by commas.
    #[serde(skip_serializing_if = "Option::is_none")]
    sandbox_scenario: Option<String>,
    /// The fault that was applied, or null.
    fault: Option<FaultMark>,
    /// The body as JSON, or as text if it is not JSON; null if there is none or it was not kept.
    body: Value,
    /// Size in bytes of a body that was too large to keep; null for others.
    body_bytes: Option<u64>,
    /// The single resource that it created or changed, or null.
    resource_id: Option<String>,
    /// Position in the log of the first event that it caused directly; null if there is none.
    first_event: Option<u64>,
    /// Position of the last such event.
    last_event: Option<u64>,
    /// Times of the wall clock, if requested with `wall=true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    wall: Option<Wall>,
    /// Its `traceparent`; absent if it had no valid one.
    #[serde(skip_serializing_if = "Option::is_none")]
    traceparent: Option<String>,
}

/// A fault that was applied.
#[derive(Serialize, JsonSchema)]
struct FaultMark {
    /// Current status.
    source: String,
    /// The fault in the format of the `Sandbox-Fault` header.
    does: String,
}

impl RequestShape {
    pub(crate) fn of(entry: &Entry) -> Self {
        let (path, query) = match entry.target.split_once('?') {
            Some((path, query)) => (path, Some(query.to_owned())),
            None => (entry.target.as_str(), None),
        };
        let (body, body_bytes) = match &entry.body {
            Body::None | Body::Unread => (Value::Null, None),
            Body::Kept(bytes) => (shown(bytes), None),
            Body::TooLarge(bytes) => (Value::Null, Some(*bytes as u64)),
        };
        let fault = entry.fault.as_ref().map(|used| FaultMark {
            source: used.source.to_string(),
            does: used.fault.to_string(),
        });
        Self {
            number: entry.number,
            request_id: entry.id_text(),
            at: entry.at,
            operation: entry.operation.map(operation_id),
            method: entry.method.as_str().to_owned(),
            path: path.to_owned(),
            query,
            status: entry.status,
            error: entry.error,
            idempotency_key: entry.key.as_ref().map(|key| key.text.clone()),
            idempotency: entry.key.as_ref().and_then(|key| key.outcome),
            sandbox_scenario: entry.scenario.as_deref().map(str::to_owned),
            fault,
            body,
            body_bytes,
            resource_id: entry.resource.clone(),
            first_event: entry.events.map(|(first, _)| first),
            last_event: entry.events.map(|(_, last)| last),
            wall: None,
            traceparent: entry.trace.as_ref().map(ToString::to_string),
        }
    }

    fn with_wall(self, entry: &Entry) -> Self {
        Self { wall: Some(entry.wall), ..self }
    }
}

/// A body as JSON if it is JSON, otherwise as text.
fn shown(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes)
        .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(bytes).into_owned()))
}

/// The operationId of that operation.
pub(crate) fn operation_id(name: &str) -> String {
    let row = product().find(|row| row.name == name);
    row.map_or_else(|| name.to_owned(), Operation::operation_id)
}

list! {
    struct ListRequests of Entry;
    with
        /// Whether to add the times of the wall clock, which differ from run to run. Default: false.
        wall: bool;
    filter
        /// Filter by operation.
        operation: Text<80> => |id, entry| {
            entry.operation.is_some_and(|name| is_id_of(id.as_str(), name))
        },
        /// Filter by the reply's status.
        #[schemars(range(min = 100, max = 599))]
        status: u16,
        /// Filter by the reply's `Request-Id`.
        request_id: Text<64> => |id, entry| entry.request_id == id.as_str().parse().ok(),
        /// Filter by `Idempotency-Key`.
        idempotency_key: Text<255> => |text, entry| {
            entry.key.as_ref().is_some_and(|key| key.text == text.as_str())
        },
        /// Filter by path, without the query.
        path: Text<2_048> => |path, entry| entry.target.split('?').next() == Some(path.as_str()),
        /// Only requests after this position.
        after: u64 => |after, entry| entry.number > *after;
}

fn list_requests(session: &mut Session<'_>, input: ListRequests) -> Result<List<RequestShape>> {
    let entries = session.tester.requests.entries();
    let found: Vec<_> = entries.filter(|entry| input.accepts(entry)).collect();
    let shows_wall = input.wall.unwrap_or(false);
    Ok(input.paging.list(&found, |entry| {
        let shape = RequestShape::of(entry);
        if shows_wall { shape.with_wall(entry) } else { shape }
    }))
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct GetRequest {
    /// `Request-Id` of its reply.
    request_id: Text<64>,
}

/// A request with its events.
#[derive(Serialize, JsonSchema)]
pub(crate) struct RequestDetail {
    /// The request, as in the list.
    request: RequestShape,
    /// Ids of the events that it caused directly, in order.
    events: Vec<String>,
    /// Ids of later events that timers caused because of it, in order.
    followed: Vec<String>,
}

fn get_request(session: &mut Session<'_>, input: GetRequest) -> Result<Plain<RequestDetail>> {
    let found = session.tester.requests.find(input.request_id.as_str());
    let entry = found.ok_or_else(|| {
        let detail = match session.tester.requests.evicted() {
            0 => {
                "no request with this key has this id: GET /_sandbox/requests lists them".to_owned()
            }
            evicted => format!(
                "no request in the log has this id; {evicted} older ones were dropped (see \
                    --max-requests)"
            ),
        };
        ApiError::new(ErrorCode::ResourceNotFound, detail)
    })?;
    Ok(Plain(RequestDetail {
        request: RequestShape::of(entry),
        events: caused(session.world, entry).map(event_id).collect(),
        followed: followed(session.world, entry).map(event_id).collect(),
    }))
}

/// The events that a request caused directly. After a reset of the world, other events have their positions.
fn caused<'a>(world: &'a World, entry: &'a Entry) -> impl Iterator<Item = &'a Event> {
    let (first, last) = entry.events.unwrap_or((1, 0));
    let count = usize::try_from((last + 1).saturating_sub(first)).unwrap_or(usize::MAX);
    let events = world.log().since(first.saturating_sub(1)).take(count);
    let id = entry.request_id;
    let own = move |event: &&Event| {
        let request = event.request.as_ref();
        request.is_some_and(|request| Some(request.id) == id)
    };
    events.map(|event| &**event).filter(own)
}

/// Later events of timers that the request set directly or indirectly.
fn followed<'a>(world: &'a World, entry: &'a Entry) -> impl Iterator<Item = &'a Event> {
    let first = entry.events.map_or(u64::MAX, |(first, _)| first);
    let events = world.log().since(first.saturating_sub(1)).map(|event| &**event);
    let id = entry.request_id;
    events.filter(move |event| {
        let cause = event.cause.as_ref();
        cause.is_some_and(|request| Some(request.id) == id)
    })
}

fn clear_requests(session: &mut Session<'_>, _: Nothing) -> Result<Plain<Removed>> {
    Ok(Removed::of(session.tester.requests.clear()))
}
