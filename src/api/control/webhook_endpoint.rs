//! A webhook endpoint as callers see it.

use crate::api::prelude::*;
use crate::tester::outbox::lane::Lane;
use crate::tester::outbox::schedule::Pace;

/// Whether an endpoint receives events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum EndpointStatus {
    Enabled,
    Disabled,
}

/// The type of the resource.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum EndpointObject {
    WebhookEndpoint,
}

/// A receiver of webhooks.
#[derive(Serialize, JsonSchema)]
pub(crate) struct WebhookEndpoint {
    /// The id of the endpoint.
    id: String,
    /// Always `webhook_endpoint`.
    object: EndpointObject,
    /// The receiving URL.
    url: String,
    /// Event types to send; `payroll_run.*` for all types of a resource, `*` for all.
    events: Vec<String>,
    /// The caller's description of the endpoint.
    description: Option<String>,
    /// `enabled` endpoints receive events, `disabled` endpoints do not.
    status: EndpointStatus,
    /// Why it is disabled.
    disabled_reason: Option<String>,
    /// Whether a delivery waits for the previous one. Otherwise up to four are in flight, and a failed one does not delay the others.
    ordered: bool,
    /// The retry schedule, and the clock that it follows.
    retries: Pace,
    /// Until when the previous secret also signs, in virtual time. Null if there is none, or if it no longer signs.
    previous_secret_until: Option<Timestamp>,
    /// Number of deliveries by status.
    deliveries: Counts,
    /// When it was created, in virtual time.
    created_at: Timestamp,
}

/// Number of deliveries by status.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "DeliveryCounts")]
struct Counts {
    /// Waiting for an attempt or its answer.
    waiting: u64,
    /// Answered with 2xx.
    delivered: u64,
    /// Failed after ten attempts.
    exhausted: u64,
    /// Never sent: a scenario dropped them, or the queue was full.
    dropped: u64,
    /// Ended and no longer kept.
    evicted: u64,
}

/// An endpoint at that virtual time.
pub(super) fn shown(lane: &Lane, retries: Pace, now: Timestamp) -> WebhookEndpoint {
    let endpoint = &lane.endpoint;
    WebhookEndpoint {
        id: endpoint.id.clone(),
        object: EndpointObject::WebhookEndpoint,
        url: endpoint.target.to_string(),
        events: endpoint.shown_events(),
        description: endpoint.description.clone(),
        status: match endpoint.disabled {
            None => EndpointStatus::Enabled,
            Some(_) => EndpointStatus::Disabled,
        },
        disabled_reason: endpoint.disabled.clone(),
        ordered: endpoint.ordered,
        retries,
        previous_secret_until: endpoint.previous_until(now),
        deliveries: Counts {
            waiting: lane.waiting() as u64,
            delivered: lane.delivered,
            exhausted: lane.exhausted,
            dropped: lane.dropped,
            evicted: lane.evicted,
        },
        created_at: endpoint.created_at,
    }
}

/// The 404 for an endpoint that does not exist in this world.
pub(super) fn not_found(id: &str) -> ApiError {
    let error = ApiError::not_found("webhook endpoint");
    if crate::value::id::parse("whe", id).is_some() { error.about(id) } else { error }
}
