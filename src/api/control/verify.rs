//! Verification of requests, events and deliveries: pass, fail with the nearest miss, or unknown.

use serde_json::{Map, Value, json};

use crate::api::check::suggestion;
use crate::api::control::deliveries;
use crate::api::control::request_log::RequestShape;
use crate::api::control::trigger::unknown_event;
use crate::api::prelude::*;
use crate::api::{product, system};
use crate::tester::outbox::delivery::Delivery;
use crate::tester::request_log::Body;
use crate::tester::verify::{self, ANY, Candidate, VerifyResult, first_out_of_order};
use crate::value::json_sink;
use crate::world::envelope::{event_id, named};
use crate::world::{Event, EventShape};

pub(crate) const OPERATIONS: &[Operation] = &Domain::Sandbox.table([
    Operation {
        method: Method::Post,
        path: "/_sandbox/requests/verify",
        summary: "Verify requests",
        description: "Checks whether the expected number of requests match a pattern. A failure \
            shows the nearest miss and its differences. If requests dropped from the log could \
            change the result, it is `unknown`, never `pass`.",
        example: r#"{"operation":"runPayroll","match":{"status":201},"times":0}"#,
        long: true,
        ..operation!(tester verify_requests)
    },
    Operation {
        method: Method::Post,
        path: "/_sandbox/events/verify",
        summary: "Verify events",
        description: "Checks whether the expected number of events match a pattern, and whether \
            event types occurred in an order.",
        example: r#"{"type":"payroll_run.created","times":{"at_most":10}}"#,
        long: true,
        ..operation!(tester verify_events)
    },
    Operation {
        method: Method::Post,
        path: "/_sandbox/deliveries/verify",
        summary: "Verify deliveries",
        description: "Checks whether the expected number of deliveries match a pattern. The result \
            is `unknown`, never `pass`, if deliveries that are no longer kept could change it.",
        example: r#"{"match":{"status":"delivered"},"times":{"at_least":0}}"#,
        long: true,
        ..operation!(tester verify_deliveries)
    },
]);

/// Members of a request that a pattern may name.
const REQUEST_MEMBERS: &[&str] = &[
    "number",
    "request_id",
    "at",
    "operation",
    "method",
    "path",
    "query",
    "status",
    "error",
    "idempotency_key",
    "idempotency",
    "fault",
    "body",
    "body_bytes",
    "resource_id",
    "first_event",
    "last_event",
];

/// Members of an event that a pattern may name.
const EVENT_MEMBERS: &[&str] = &[
    "id",
    "type",
    "timestamp",
    "sequence",
    "api_version",
    "company_id",
    "livemode",
    "request",
    "data",
];

/// Members of a delivery that a pattern may name.
const DELIVERY_MEMBERS: &[&str] = &[
    "id",
    "object",
    "endpoint_id",
    "event_id",
    "event_type",
    "sequence",
    "request_id",
    "status",
    "reason",
    "shaped",
    "next_at",
    "attempts",
];

/// The expected number of matches.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "ExpectedCount")]
pub(crate) enum Times {
    /// Exactly this number.
    Exactly(u64),
    /// Between two bounds.
    Between(Bounds),
}

/// Bounds of a number.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[schemars(rename = "CountBounds")]
pub(crate) struct Bounds {
    /// Minimum number; 0 if absent.
    at_least: Option<u64>,
    /// Maximum number of times; unlimited if absent.
    at_most: Option<u64>,
}

impl Times {
    /// At least once if absent.
    fn of(said: Option<Self>) -> Result<verify::Times> {
        let times = match said {
            None => (1, None),
            Some(Self::Exactly(count)) => (count, Some(count)),
            Some(Self::Between(bounds)) => (bounds.at_least.unwrap_or(0), bounds.at_most),
        };
        let (at_least, at_most) = times;
        if at_most.is_some_and(|most| most < at_least) {
            let detail = "at_most is less than at_least: no number satisfies both";
            let wrong = Violation::new("/times", "contradiction", detail);
            return Err(ApiError::invalid(vec![wrong]));
        }
        Ok(verify::Times { at_least, at_most })
    }
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct VerifyRequests {
    /// Filter by operation. The same as the member `operation` of `match`.
    operation: Option<Text<80>>,
    /// Part of a request as `GET /_sandbox/requests` shows it. Named members must be equal, other members are ignored, and the text `…`
    /// matches any value.
    #[serde(rename = "match")]
    pattern: Option<Map<String, Value>>,
    /// Expected number of matches: a number or bounds. Default: at least one.
    times: Option<Times>,
}

/// A result with its reasons.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "VerificationResult")]
pub(crate) struct Verified {
    /// The result; `unknown` if items that are no longer kept could change it.
    verdict: VerifyResult,
    /// How many items match the pattern.
    matched: u64,
    /// Ids of the matches in order, at most 100.
    ids: Vec<String>,
    /// Number of dropped items, which could not be checked. At least 1 if the number is unknown because the sandbox was restarted or the world
    /// was unloaded: delete the request log to start a complete log.
    evicted: u64,
    /// The item with the fewest differences, if too few match.
    nearest: Option<Nearest>,
    /// The first entry of `in_order` that did not occur in order.
    out_of_order: Option<OutOfOrder>,
}

/// The nearest miss and its differences.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "NearestMiss")]
struct Nearest {
    /// The id of the item.
    id: String,
    /// The differences, at most 20.
    differences: Vec<DifferenceShape>,
}

/// A place where the values differ.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "PatternDifference")]
struct DifferenceShape {
    /// JSON pointer into the item.
    pointer: String,
    /// The value in the pattern.
    expected: Value,
    /// The actual value; null if there is none.
    actual: Value,
}

/// An event type that did not occur in order.
#[derive(Serialize, JsonSchema)]
struct OutOfOrder {
    /// Position in the list, from 0.
    index: u64,
    /// The expected type.
    expected: String,
}

/// Maximum number of ids in a response.
const MOST_IDS: usize = 100;

/// The result of a verification, as callers see it.
pub(crate) fn shown(found: verify::Verification, evicted: u64) -> Verified {
    let difference = |difference: verify::Difference| DifferenceShape {
        pointer: difference.pointer,
        expected: difference.expected,
        actual: difference.actual.unwrap_or(Value::Null),
    };
    let nearest = found.nearest.map(|(id, differences)| Nearest {
        id,
        differences: differences.into_iter().map(difference).collect(),
    });
    let matched = found.matched.len() as u64;
    let mut ids = found.matched;
    ids.truncate(MOST_IDS);
    Verified { verdict: found.verdict, matched, ids, evicted, nearest, out_of_order: None }
}

/// Checks that the members of a pattern exist. A pattern with a misspelt member would never match, which would look
/// like a failure of the tested code.
pub(crate) fn pattern(
    given: Option<Map<String, Value>>,
    known: &[&str],
    short: (&str, Option<&str>),
) -> Result<Map<String, Value>> {
    let mut pattern = given.unwrap_or_default();
    let unknown = pattern.keys().filter(|name| !known.contains(&name.as_str()));
    let mut wrong: Vec<Violation> = unknown
        .map(|name| {
            let near = suggestion(name, known.iter().copied());
            let name = name.replace('~', "~0").replace('/', "~1");
            let detail = format!("unknown member{near}");
            Violation::new(format!("/match/{name}"), "unknown", detail)
        })
        .collect();
    if let (name, Some(value)) = short {
        let other = pattern.insert(name.to_owned(), json!(value));
        if other.is_some_and(|other| other != value) {
            let detail = format!("match.{name} has another value");
            wrong.push(Violation::new(format!("/{name}"), "contradiction", detail));
        }
    }
    if wrong.is_empty() { Ok(pattern) } else { Err(ApiError::invalid(wrong)) }
}

fn verify_requests(session: &mut Session<'_>, input: VerifyRequests) -> Result<Plain<Verified>> {
    let operation = input.operation.as_ref().map(Text::as_str);
    let pattern = pattern(input.pattern, REQUEST_MEMBERS, ("operation", operation))?;
    check_operation(&pattern)?;
    let times = Times::of(input.times)?;
    let requests = &session.tester.requests;
    let candidates = requests.entries().map(|entry| Candidate {
        id: entry.id_text(),
        value: json!(RequestShape::of(entry)),
        hidden: matches!(entry.body, Body::TooLarge(_) | Body::Unread).then_some("body"),
    });
    let evicted = requests.evicted();
    let found = verify::verify(&pattern, times, candidates, requests.missing());
    Ok(Plain(shown(found, evicted)))
}

/// An operation that does not exist is never called, so an error is better than a failed verification.
fn check_operation(pattern: &Map<String, Value>) -> Result<()> {
    let Some(Value::String(id)) = pattern.get("operation") else { return Ok(()) };
    let known: Vec<String> = product().map(Operation::operation_id).collect();
    if id == ANY || known.contains(id) {
        return Ok(());
    }
    let near = suggestion(id, known.iter().map(String::as_str));
    let detail = format!("no operation of the product API has this id{near}");
    let wrong = Violation::new("/operation", "unknown", detail);
    Err(ApiError::invalid(vec![wrong]))
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct VerifyEvents {
    /// Filter by event type; `payroll_run.*` for all types of a resource.
    #[serde(rename = "type")]
    name: Option<Text<64>>,
    /// Part of an event as `GET /_sandbox/events` shows it. Named members must be equal, other members are ignored, and the text `…`
    /// matches any value.
    #[serde(rename = "match")]
    pattern: Option<Map<String, Value>>,
    /// Expected number of matches: a number or bounds. Default: at least one; with only `in_order`, the number that it requires.
    times: Option<Times>,
    /// Event types that must occur in this order, with any events between; `payroll_run.*` for any type of a resource.
    #[schemars(length(min = 1, max = 1_000))]
    in_order: Option<Vec<Text<64>>>,
}

/// A `Tester` row although it only reads: cached reads are keyed by path and query, and this one has a body.
fn verify_events(session: &mut Session<'_>, input: VerifyEvents) -> Result<Plain<Verified>> {
    let world: &World = session.world;
    let known = system::event_types();
    let mut wrong = Vec::new();
    let mut check = |pointer: String, filter: &str| {
        if !known.iter().any(|name| named(filter, name)) {
            wrong.push(Violation::new(pointer, "unknown", unknown_event(filter)));
        }
    };
    if let Some(filter) = &input.name {
        check("/type".to_owned(), filter.as_str());
    }
    let order = input.in_order.unwrap_or_default();
    for (place, filter) in order.iter().enumerate() {
        check(format!("/in_order/{place}"), filter.as_str());
    }
    ApiError::if_any(wrong)?;
    let pattern = pattern(input.pattern, EVENT_MEMBERS, ("type", None))?;
    let counts = input.times.is_some() || !pattern.is_empty() || input.name.is_some();
    let times = if counts || order.is_empty() {
        Times::of(input.times)?
    } else {
        verify::Times { at_least: 0, at_most: None }
    };
    let of_type = |event: &&Arc<Event>| {
        let filter = input.name.as_ref();
        filter.is_none_or(|filter| named(filter.as_str(), &event.name))
    };
    let log = || world.log().iter();
    let candidates = log().filter(of_type).map(|event| Candidate {
        id: event_id(event),
        value: json_sink::to_value(&EventShape::of(event)),
        hidden: None,
    });
    let evicted = world.log().first_sequence() - 1;
    let found = verify::verify(&pattern, times, candidates, evicted);
    let mut verified = shown(found, evicted);
    let meets = |filter: &Text<64>, event: &&Arc<Event>| named(filter.as_str(), &event.name);
    if let Some((index, expected)) = first_out_of_order(&order, log(), meets) {
        // The missing event may have been dropped.
        verified.verdict = if evicted > 0 { VerifyResult::Unknown } else { VerifyResult::Fail };
        verified.out_of_order =
            Some(OutOfOrder { index: index as u64, expected: expected.as_str().to_owned() });
    }
    Ok(Plain(verified))
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct VerifyDeliveries {
    /// Filter by event type. The same as the member `event_type` of `match`.
    event_type: Option<Text<64>>,
    /// Part of a delivery as `GET /_sandbox/deliveries` shows it. Named members must be equal, other members are ignored, and the text `…`
    /// matches any value.
    #[serde(rename = "match")]
    pattern: Option<Map<String, Value>>,
    /// Expected number of matches: a number or bounds. Default: at least one.
    times: Option<Times>,
}

fn verify_deliveries(
    session: &mut Session<'_>,
    input: VerifyDeliveries,
) -> Result<Plain<Verified>> {
    let event_type = input.event_type.as_ref().map(Text::as_str);
    let known = system::event_types();
    if let Some(name) = event_type.filter(|name| !known.contains(name)) {
        let wrong = Violation::new("/event_type", "unknown", unknown_event(name));
        return Err(ApiError::invalid(vec![wrong]));
    }
    let pattern = pattern(input.pattern, DELIVERY_MEMBERS, ("event_type", event_type))?;
    let times = Times::of(input.times)?;
    let lanes = session.tester.outbox.lanes();
    let evicted = lanes.iter().map(|lane| lane.evicted).sum();
    let now = session.tester.outbox.now_in(session.world);
    let shown_of = |lane| {
        move |delivery: &Delivery| {
            (delivery.id.clone(), json!(deliveries::shown(lane, delivery, now)))
        }
    };
    let candidates = lanes.iter().flat_map(|lane| {
        let all: Vec<(String, Value)> = lane.deliveries().into_iter().map(shown_of(lane)).collect();
        all
    });
    let candidates = candidates.map(|(id, value)| Candidate { id, value, hidden: None });
    let found = verify::verify(&pattern, times, candidates, evicted);
    Ok(Plain(shown(found, evicted)))
}
