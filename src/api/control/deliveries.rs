//! Deliveries to webhook endpoints: attempts, answers, and sending again.

use core::cmp::Ordering;

use crate::api::control::delivery::get_delivery;
use crate::api::control::webhook_endpoint::not_found;
use crate::api::prelude::*;
use crate::tester::outbox::delivery::{Delivery, Status};
use crate::tester::outbox::lane::Lane;
use crate::value::id::parse;
use crate::world::envelope::{event_id, named};
use crate::world::script::Shaping;

pub(crate) const OPERATIONS: &[Operation] = &Domain::Sandbox.table([
    Operation {
        path: "/_sandbox/webhook-endpoints/{endpoint_id}/deliveries",
        summary: "List an endpoint's deliveries",
        description: "Lists the deliveries of one endpoint in the order of their events, with \
            every attempt and the receiver's answer. The latest 1,000 ended deliveries are kept.",
        ..operation!(tester list_endpoint_deliveries)
    },
    Operation {
        path: "/_sandbox/deliveries",
        summary: "List deliveries",
        description: "Lists the deliveries of all endpoints, in the order of their events.",
        ..operation!(tester list_deliveries)
    },
    Operation {
        path: "/_sandbox/deliveries/{delivery_id}",
        summary: "Read a delivery",
        description: "Returns a delivery with the messages that were sent: URL, headers with the signature, and the \
            body to the byte. A receiver accepts a signature for five minutes after its `webhook-timestamp`.",
        ..operation!(tester get_delivery)
    },
    Operation {
        method: Method::Post,
        path: "/_sandbox/events/{event_id}/resend",
        summary: "Send an event again",
        description: "Sends an event again at once, with all retries, to one endpoint or to all \
            that receive it. Use it after all attempts failed, or after the receiver was \
            unavailable for days. Returns the new deliveries, which have the event's original id.",
        example: "{}",
        errors: &[ErrorCode::InvalidStateTransition],
        ..operation!(tester resend_event)
    },
]);

/// The type of the resource.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum DeliveryObject {
    WebhookDelivery,
}

/// A delivery: one event for one endpoint.
#[derive(Serialize, JsonSchema)]
pub(crate) struct WebhookDelivery {
    /// The id of the delivery.
    id: String,
    /// Always `webhook_delivery`.
    object: DeliveryObject,
    /// The endpoint that receives the delivery.
    endpoint_id: String,
    /// The event that is delivered.
    event_id: String,
    /// The type of the event, such as `payout.paid`.
    event_type: String,
    /// Position of the event in the world's log, from 1.
    sequence: u64,
    /// `Request-Id` of the request that caused the event; null if a timer caused it.
    request_id: Option<String>,
    /// Current status.
    status: Status,
    /// Why the delivery ended without success; null if it did not.
    reason: Option<String>,
    /// The change that a scenario or a rule makes to the delivery; null if there is none.
    shaped: Option<Shaping>,
    /// When the next attempt can be made, after the attempts of the deliveries before it; null
    /// after the delivery has ended. The time is virtual if retries follow the virtual clock,
    /// otherwise it is wall-clock time.
    next_at: Option<Timestamp>,
    /// All attempts, in order.
    attempts: Vec<DeliveryAttempt>,
}

/// One attempt to send a delivery.
#[derive(Serialize, JsonSchema)]
pub(crate) struct DeliveryAttempt {
    /// Number of the attempt, from 1.
    number: u64,
    /// When the attempt was made, in virtual time.
    at: Timestamp,
    /// When the attempt was made, in wall-clock time.
    wall_at: Timestamp,
    /// The receiver's HTTP status; null without an answer.
    http_status: Option<u16>,
    /// How long the attempt took, in milliseconds of wall-clock time.
    duration_ms: u64,
    /// The first 16 KiB of the receiver's answer; null if there was none or it is no longer kept.
    response: Option<String>,
    /// Why there is no answer, or why the answer counts as a failure.
    error: Option<String>,
}

/// A delivery at that time on the clock for due times.
pub(crate) fn shown(lane: &Lane, delivery: &Delivery, now: Timestamp) -> WebhookDelivery {
    let event = &delivery.event;
    let attempts = delivery.attempts.iter().enumerate();
    let attempts = attempts.map(|(place, attempt)| DeliveryAttempt {
        number: place as u64 + 1,
        at: attempt.at,
        wall_at: attempt.wall_at,
        http_status: attempt.http_status,
        duration_ms: attempt.duration_ms,
        response: lane.text(delivery.order, place).map(str::to_owned),
        error: attempt.error.clone(),
    });
    WebhookDelivery {
        id: delivery.id.clone(),
        object: DeliveryObject::WebhookDelivery,
        endpoint_id: lane.endpoint.id.clone(),
        event_id: event_id(event),
        event_type: event.name.to_string(),
        sequence: event.sequence,
        request_id: event.request.as_ref().map(|request| request.id.to_string()),
        status: delivery.status,
        reason: delivery.reason.clone(),
        shaped: delivery.shaped,
        next_at: (!delivery.has_ended()).then(|| lane.attempt_at(delivery, now)),
        attempts: attempts.collect(),
    }
}

list! {
    struct ListEndpointDeliveries of Delivery;
    in
        /// The endpoint.
        endpoint_id: Text<64>;
    filter
        status: Status,
        /// Filter by event type; `payroll_run.*` for all types of a resource.
        event_type: Text<64> => |name, delivery| named(name.as_str(), &delivery.event.name),
        event_id: Text<64> => |id, delivery| bits(id.as_str()) == Some(delivery.event.id);
}

fn list_endpoint_deliveries(
    session: &mut Session<'_>,
    input: ListEndpointDeliveries,
) -> Result<List<WebhookDelivery>> {
    let id = input.endpoint_id.as_str();
    let lane = session.tester.outbox.lane(id).ok_or_else(|| not_found(id))?;
    let now = session.tester.outbox.now_in(session.world);
    Ok(listed(core::iter::once(lane), &input, input.paging, now))
}

list! {
    struct ListDeliveries of Delivery;
    with
        /// Filter by endpoint.
        endpoint_id: Text<64>;
    filter
        status: Status,
        /// Filter by event type; `payroll_run.*` for all types of a resource.
        event_type: Text<64> => |name, delivery| named(name.as_str(), &delivery.event.name),
        event_id: Text<64> => |id, delivery| bits(id.as_str()) == Some(delivery.event.id);
}

fn list_deliveries(
    session: &mut Session<'_>,
    input: ListDeliveries,
) -> Result<List<WebhookDelivery>> {
    let lanes = session.tester.outbox.lanes().iter().filter(|lane| {
        let wanted = input.endpoint_id.as_ref();
        wanted.is_none_or(|id| lane.endpoint.id == id.as_str())
    });
    let now = session.tester.outbox.now_in(session.world);
    Ok(listed(lanes, &input, input.paging, now))
}

/// The bits of an event id.
fn bits(id: &str) -> Option<u64> {
    parse(Kind::Event.prefix(), id)
}

fn listed<'a>(
    lanes: impl Iterator<Item = &'a Lane>,
    filter: &impl Filters<Row = Delivery>,
    paging: Paging,
    now: Timestamp,
) -> List<WebhookDelivery> {
    let mut rows: Vec<(&Lane, &Delivery)> = lanes
        .flat_map(|lane| lane.deliveries().into_iter().map(move |row| (lane, row)))
        .filter(|(_, delivery)| filter.accepts(delivery))
        .collect();
    // A stable sort: deliveries of one event stay in the order of the endpoints and of sending.
    rows.sort_by(|(_, one), (_, other)| order(one, other));
    paging.list(&rows, |(lane, delivery)| shown(lane, delivery, now))
}

fn order(one: &Delivery, other: &Delivery) -> Ordering {
    one.event.sequence.cmp(&other.event.sequence)
}

/// The event to send again, and the endpoint.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct ResendEvent {
    /// The event to send.
    event_id: Text<64>,
    /// The endpoint to send to, even if it does not receive this type. Default: all enabled endpoints that receive it.
    endpoint_id: Option<Text<64>>,
}

fn resend_event(session: &mut Session<'_>, input: ResendEvent) -> Result<List<WebhookDelivery>> {
    let wanted = bits(input.event_id.as_str());
    let event = wanted.and_then(|bits| {
        let log = session.world.log();
        log.iter().find(|event| event.id == bits).cloned()
    });
    let event = event.ok_or_else(|| {
        let error = ApiError::not_found("event");
        match wanted {
            Some(_) => error.about(input.event_id.as_str()),
            None => error,
        }
    })?;
    let outbox = &mut session.tester.outbox;
    let endpoint = input.endpoint_id.as_ref().map(Text::as_str);
    if let Some(id) = endpoint {
        let Some(lane) = outbox.lane(id) else {
            let detail = "no webhook endpoint with this id exists in this key's world";
            let violation = Violation::new("/endpoint_id", "not_found", detail);
            return Err(ApiError::invalid(vec![violation]));
        };
        if let Some(reason) = &lane.endpoint.disabled {
            let detail = format!("the endpoint is disabled ({reason}): enable it and send again");
            let mut error = ApiError::new(ErrorCode::InvalidStateTransition, detail).about(id);
            error.current = Some("disabled");
            error.allowed = Some(vec!["enabled"]);
            return Err(error);
        }
    }
    let sent = outbox.resend(&event, endpoint);
    let now = outbox.now_in(session.world);
    let deliveries = sent.into_iter().filter_map(|(place, order)| {
        let lane = &outbox.lanes()[place];
        lane.find(order).map(|delivery| shown(lane, delivery, now))
    });
    Ok(List::whole(deliveries.collect()))
}
