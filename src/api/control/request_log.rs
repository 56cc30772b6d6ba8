//! The request log: what came in, what went out, and the events in between.

#![expect(
    clippy::cast_possible_truncation,
    reason = "places within a journal and a log that are held in memory"
)]

use serde_json::Value;

use crate::api;
use crate::api::control::faults::Removed;
use crate::api::prelude::*;
use crate::tester::request_log::{Body, Entry, KeyOutcome};
use crate::tester::wire::is_id_of;
use crate::world::Event;
use crate::world::envelope::event_id;

pub(crate) const OPERATIONS: &[Operation] = &[
    Operation {
        method: Method::Get,
        path: "/_sandbox/requests",
        domain: Domain::Sandbox,
        contract: Contract::Control,
        summary: "List requests",
        description: "The last requests to the product with this key, oldest first, refused and faulted ones too. How many are kept is \
            said when the sandbox is started, by `--max-requests`.",
        ..operation!(tester list_requests)
    },
    Operation {
        method: Method::Get,
        path: "/_sandbox/requests/{request_id}",
        domain: Domain::Sandbox,
        contract: Contract::Control,
        summary: "Read a request",
        description: "By the `Request-Id` of its reply, with the events that it caused. Equal reads of an unchanged world share an id: \
            the last of them is shown.",
        errors: &[ErrorCode::ResourceNotFound],
        ..operation!(tester get_request)
    },
    Operation {
        method: Method::Delete,
        path: "/_sandbox/requests",
        domain: Domain::Sandbox,
        contract: Contract::Control,
        summary: "Clear the journal",
        description: "Forgets every request, and that any had to go: what is verified afterwards is whole.",
        ..operation!(tester clear_requests)
    },
];

/// A request and what came of it.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Request")]
pub(crate) struct RequestShape {
    /// Its place among all requests of this key, from 1.
    number: u64,
    /// `Request-Id` of its reply.
    request_id: String,
    /// Virtual time at which its turn came.
    at: Timestamp,
    /// What was called; null where no route was found.
    operation: Option<String>,
    /// The method.
    method: String,
    /// The path, without the query.
    path: String,
    /// The query, without the question mark; null without one.
    query: Option<String>,
    /// The reply's status; null where the request was lost on purpose and nobody answered.
    status: Option<u16>,
    /// The code of a refusal; null for a success.
    error: Option<&'static str>,
    /// Its `Idempotency-Key`; null without one.
    idempotency_key: Option<String>,
    /// What became of the key: null where there is none, or the request was refused before its turn.
    idempotency: Option<KeyOutcome>,
    /// The fault that acted; null where none did.
    fault: Option<FaultMark>,
    /// The body as JSON, or as text where it is none; null without one, or if it was not kept.
    body: Value,
    /// Bytes of a body that is not kept because it is large; null for others.
    body_bytes: Option<u64>,
    /// The single resource that it made or changed; null for others.
    resource_id: Option<String>,
    /// The first event that it caused itself, by its place in the log; null if it caused none.
    first_event: Option<u64>,
    /// The last of them.
    last_event: Option<u64>,
}

/// A fault that acted.
#[derive(Serialize, JsonSchema)]
struct FaultMark {
    /// Where it stands.
    source: String,
    /// What it did, as the header `Sandbox-Fault` would ask for it.
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
            request_id: entry.request_id.as_str().to_owned(),
            at: entry.at,
            operation: entry.operation.map(operation_id),
            method: entry.method.as_str().to_owned(),
            path: path.to_owned(),
            query,
            status: entry.status,
            error: entry.error,
            idempotency_key: entry.key.as_ref().map(|key| key.text.clone()),
            idempotency: entry.key.as_ref().and_then(|key| key.outcome),
            fault,
            body,
            body_bytes,
            resource_id: entry.resource.clone(),
            first_event: entry.events.map(|(first, _)| first),
            last_event: entry.events.map(|(_, last)| last),
        }
    }
}

/// A body as JSON where it is, as text where it is not.
fn shown(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes)
        .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(bytes).into_owned()))
}

/// The id of the operation of that name.
fn operation_id(name: &'static str) -> String {
    let row = api::product().find(|row| row.name == name);
    row.map_or_else(|| name.to_owned(), Operation::operation_id)
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct ListRequests {
    #[serde(flatten)]
    paging: Paging,
    /// Only calls of that operation.
    operation: Option<Text<80>>,
    /// Only replies with that status.
    #[schemars(range(min = 100, max = 599))]
    status: Option<u16>,
    /// Only replies with that `Request-Id`.
    request_id: Option<Text<64>>,
    /// Only requests with that `Idempotency-Key`.
    idempotency_key: Option<Text<255>>,
    /// Only requests to that path, the query left out.
    path: Option<Text<2_048>>,
    /// Only requests after that place.
    after: Option<u64>,
}

fn list_requests(
    session: &mut Session<'_>,
    input: ListRequests,
) -> Result<List<RequestShape>, ApiError> {
    let is = |wanted: Option<&str>, actual: Option<&str>| wanted.is_none_or(|_| wanted == actual);
    let operation = input.operation.as_ref().map(Text::as_str);
    let matches = |entry: &&Entry| {
        operation.is_none_or(|id| entry.operation.is_some_and(|name| is_id_of(id, name)))
            && input.status.is_none_or(|_| input.status == entry.status)
            && is(input.request_id.as_ref().map(Text::as_str), Some(entry.request_id.as_str()))
            && is(
                input.idempotency_key.as_ref().map(Text::as_str),
                entry.key.as_ref().map(|key| key.text.as_str()),
            )
            && is(input.path.as_ref().map(Text::as_str), entry.target.split('?').next())
            && input.after.is_none_or(|after| entry.number > after)
    };
    let found: Vec<_> = session.tester.requests.entries().filter(matches).collect();
    let total = found.len() as u64;
    let range = input.paging.range(total);
    let page = &found[range.start as usize..range.end as usize];
    Ok(List {
        data: page.iter().map(|entry| RequestShape::of(entry)).collect(),
        meta: input.paging.meta(total),
    })
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct GetRequest {
    /// `Request-Id` of its reply.
    request_id: Text<64>,
}

/// A request, and the events that it caused.
#[derive(Serialize, JsonSchema)]
pub(crate) struct RequestDetail {
    /// The request.
    request: RequestShape,
    /// Ids of the events that it caused itself, in order.
    events: Vec<String>,
    /// Ids of the events that the clock brought about because of it, in order.
    followed: Vec<String>,
}

fn get_request(
    session: &mut Session<'_>,
    input: GetRequest,
) -> Result<Plain<RequestDetail>, ApiError> {
    let found = session.tester.requests.find(input.request_id.as_str());
    let entry = found.ok_or_else(|| {
        let detail = match session.tester.requests.evicted() {
            0 => "no request with this key has this id: GET /_sandbox/requests lists them".to_owned(),
            evicted => format!(
                "no request that is still in the journal has this id; {evicted} older ones had to go (--max-requests)"
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

/// The events that a request caused itself. A world that has started again has others at their places.
fn caused<'a>(world: &'a World, entry: &'a Entry) -> impl Iterator<Item = &'a Event> {
    let (first, last) = entry.events.unwrap_or((1, 0));
    let count = usize::try_from((last + 1).saturating_sub(first)).unwrap_or(usize::MAX);
    let events = world.log().since(first.saturating_sub(1)).take(count);
    let own = |event: &&Event| {
        let request = event.request.as_ref();
        request.is_some_and(|request| request.id == entry.request_id.as_str())
    };
    events.map(|event| &**event).filter(own)
}

/// The events that followed from it later: those of the clock whose timers it set, directly or by what it set going.
fn followed<'a>(world: &'a World, entry: &'a Entry) -> impl Iterator<Item = &'a Event> {
    let first = entry.events.map_or(u64::MAX, |(first, _)| first);
    let events = world.log().since(first.saturating_sub(1)).map(|event| &**event);
    events.filter(|event| {
        let cause = event.cause.as_ref();
        cause.is_some_and(|request| request.id == entry.request_id.as_str())
    })
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct ClearRequests {}

fn clear_requests(session: &mut Session<'_>, _: ClearRequests) -> Result<Plain<Removed>, ApiError> {
    Ok(Removed::of(session.tester.requests.clear()))
}
