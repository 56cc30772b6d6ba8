//! Webhook endpoints, which a real service manages in its dashboard.

use crate::api::control::webhook_endpoint::{
    EndpointObject, EndpointStatus, WebhookEndpoint, not_found, shown,
};
use crate::api::prelude::*;
use crate::tester::address::Target;
use crate::tester::outbox::lane::Lane;
use crate::tester::outbox::schedule::Pace;
use crate::tester::outbox::{MOST_ENDPOINTS, NewEndpoint};
use crate::tester::signature::Secret;

pub(crate) const OPERATIONS: &[Operation] = &Domain::Sandbox.table([
    Operation {
        method: Method::Post,
        path: "/_sandbox/webhook-endpoints",
        summary: "Create a webhook endpoint",
        description: "Creates an endpoint that receives every selected event from now on, signed \
            according to Standard Webhooks. The secret is shown only in this response. Only http \
            URLs with permitted addresses are accepted. A world can have at most 64 endpoints.",
        example: r#"{"url":"http://127.0.0.1:9/webhooks","events":["payroll_run.*"]}"#,
        success: 201,
        errors: &[ErrorCode::LimitExceeded],
        ..operation!(tester create_webhook_endpoint)
    },
    Operation {
        path: "/_sandbox/webhook-endpoints",
        summary: "List webhook endpoints",
        description: "Lists the endpoints of this key's world, in creation order.",
        ..operation!(tester list_webhook_endpoints)
    },
    Operation {
        path: "/_sandbox/webhook-endpoints/{endpoint_id}",
        summary: "Read a webhook endpoint",
        description: "Returns an endpoint with the number of its deliveries by status, without its \
            secret.",
        ..operation!(tester get_webhook_endpoint)
    },
    Operation {
        method: Method::Patch,
        path: "/_sandbox/webhook-endpoints/{endpoint_id}",
        summary: "Update a webhook endpoint",
        description: "Changes the given members; absent members stay. Disabling an endpoint \
            cancels its waiting deliveries, and enabling it does not bring them back.",
        example: r#"{"status":"enabled"}"#,
        ..operation!(tester update_webhook_endpoint)
    },
    Operation {
        method: Method::Delete,
        path: "/_sandbox/webhook-endpoints/{endpoint_id}",
        summary: "Delete a webhook endpoint",
        description: "Deletes an endpoint and its deliveries. Waiting deliveries are cancelled.",
        ..operation!(tester delete_webhook_endpoint)
    },
    Operation {
        method: Method::Post,
        path: "/_sandbox/webhook-endpoints/{endpoint_id}/rotate-secret",
        summary: "Rotate a webhook endpoint's secret",
        description: "Creates a new secret, which is shown only in this response. For 24 hours of \
            virtual time, deliveries have two signatures, one per secret.",
        example: "{}",
        ..operation!(tester rotate_webhook_secret)
    },
]);

/// An endpoint with its current secret.
#[derive(Serialize, JsonSchema)]
pub(crate) struct WebhookSecret {
    /// The secret that verifies signatures. It is not shown again.
    secret: String,
    /// The endpoint of the secret.
    endpoint: WebhookEndpoint,
}

fn with_secret(lane: &Lane, retries: Pace, now: Timestamp) -> Plain<WebhookSecret> {
    Plain(WebhookSecret {
        secret: lane.endpoint.secret.reveal().to_owned(),
        endpoint: shown(lane, retries, now),
    })
}

/// A new endpoint.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct CreateWebhookEndpoint {
    /// The receiving URL: http, with a host that is this machine or another permitted one.
    url: Text<2_048>,
    /// Event types to send; `payroll_run.*` for all types of a resource, `*` for all. Default: `["*"]`.
    #[schemars(length(min = 1, max = 50))]
    events: Option<Vec<Text<64>>>,
    /// A description of the endpoint.
    description: Option<Text<255>>,
    /// Whether a delivery waits for the previous one. Default: true.
    ordered: Option<bool>,
    /// `whsec_` followed by base64 of 24 to 64 bytes. Default: drawn from the seed.
    secret: Option<Text<128>>,
}

fn create_webhook_endpoint(
    session: &mut Session<'_>,
    input: CreateWebhookEndpoint,
) -> Result<Plain<WebhookSecret>> {
    let outbox = &mut session.tester.outbox;
    let mut wrong = Vec::new();
    let target = Target::parse(input.url.as_str(), outbox.policy());
    let target = noted(target, "/url", "address", &mut wrong);
    let events = filters(input.events.unwrap_or_default(), &mut wrong);
    let secret = secret(input.secret.as_ref(), &mut wrong);
    let Some(target) = target.filter(|_| wrong.is_empty()) else {
        return Err(ApiError::invalid(wrong));
    };
    if outbox.lanes().len() >= MOST_ENDPOINTS {
        let detail = format!(
            "a world can have at most {MOST_ENDPOINTS} webhook endpoints: delete \
            one first"
        );
        return Err(ApiError::new(ErrorCode::LimitExceeded, detail));
    }
    let endpoint = NewEndpoint {
        target,
        trusted: false,
        events,
        description: input.description.map(Text::into_string),
        ordered: input.ordered.unwrap_or(true),
        secret,
    };
    let retries = outbox.retries_in(session.world.mode());
    let now = session.world.now();
    Ok(with_secret(outbox.create(session.world, endpoint), retries, now))
}

/// A parsed member, or one more violation.
fn noted<T>(
    read: Result<T, impl Into<String>>,
    pointer: &str,
    code: &'static str,
    wrong: &mut Vec<Violation>,
) -> Option<T> {
    read.map_err(|detail| wrong.push(Violation::new(pointer, code, detail))).ok()
}

/// The error does not repeat the secret.
fn secret(given: Option<&Text<128>>, wrong: &mut Vec<Violation>) -> Option<Secret> {
    let read = Secret::parse(given?.as_str());
    noted(read, "/secret", "format", wrong)
}

/// Filters for existing event types. A filter that never matches is a typing mistake.
fn filters(given: Vec<Text<64>>, wrong: &mut Vec<Violation>) -> Vec<String> {
    for (place, filter) in given.iter().enumerate() {
        let checked = check_filter(filter.as_str());
        noted(checked, &format!("/events/{place}"), "unknown_event", wrong);
    }
    given.into_iter().map(Text::into_string).collect()
}

/// Checks that a filter matches event types of the product; an error lists them.
pub(crate) fn check_filter(filter: &str) -> Result<(), String> {
    use crate::world::envelope::named;
    let types = crate::api::system::event_types();
    let known = || types.iter().copied();
    if filter == "*" || known().any(|name| named(filter, name)) {
        return Ok(());
    }
    let (wanted, _) = filter.split_once('.').unwrap_or((filter, ""));
    let parts = || known().filter_map(|name| name.split_once('.').map(|(kind, _)| (kind, name)));
    let of_kind = parts().filter(|(kind, _)| *kind == wanted).map(|(_, name)| name);
    let (expected, mut near) = ("an event type of that resource", of_kind.collect::<Vec<&str>>());
    let expected = if near.is_empty() {
        near = parts().map(|(kind, _)| kind).collect();
        "an event type such as payout.paid, or RESOURCE.* with one of these resources"
    } else {
        expected
    };
    near.sort_unstable();
    near.dedup();
    Err(format!("no event matches {filter:?}: expected *, {expected}: {}", near.join(", ")))
}

fn list_webhook_endpoints(
    session: &mut Session<'_>,
    paging: Paging,
) -> Result<List<WebhookEndpoint>> {
    let retries = session.tester.outbox.retries_in(session.world.mode());
    let now = session.world.now();
    Ok(paging.list(session.tester.outbox.lanes(), |lane| shown(lane, retries, now)))
}

/// The endpoint.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct OneWebhookEndpoint {
    /// The id of the endpoint.
    endpoint_id: Text<64>,
}

fn get_webhook_endpoint(
    session: &mut Session<'_>,
    input: OneWebhookEndpoint,
) -> Result<Plain<WebhookEndpoint>> {
    let retries = session.tester.outbox.retries_in(session.world.mode());
    let id = input.endpoint_id.as_str();
    let lane = session.tester.outbox.lane(id).ok_or_else(|| not_found(id))?;
    Ok(Plain(shown(lane, retries, session.world.now())))
}

/// Changes to an endpoint.
#[derive(Deserialize, JsonSchema)]
#[schemars(transform = changes)]
pub(crate) struct UpdateWebhookEndpoint {
    /// The endpoint.
    endpoint_id: Text<64>,
    /// The new receiving URL.
    url: Option<Text<2_048>>,
    /// The new event types; `["*"]` for all.
    #[schemars(length(min = 1, max = 50))]
    events: Option<Vec<Text<64>>>,
    /// A description of the endpoint.
    #[serde(default)]
    description: Change<Text<255>>,
    /// `enabled` to receive events, `disabled` to receive none.
    status: Option<EndpointStatus>,
    /// Whether a delivery waits for the previous one.
    ordered: Option<bool>,
}

fn update_webhook_endpoint(
    session: &mut Session<'_>,
    input: UpdateWebhookEndpoint,
) -> Result<Plain<WebhookEndpoint>> {
    let outbox = &mut session.tester.outbox;
    let retries = outbox.retries_in(session.world.mode());
    let id = input.endpoint_id.as_str();
    outbox.lane(id).ok_or_else(|| not_found(id))?;
    let mut wrong = Vec::new();
    let url = input.url.as_ref();
    let target = url.map(|url| Target::parse(url.as_str(), outbox.policy()));
    let target = target.and_then(|target| noted(target, "/url", "address", &mut wrong));
    let events = input.events.map(|events| filters(events, &mut wrong));
    ApiError::if_any(wrong)?;
    let lane = outbox.lane_mut(id).expect("it was found above");
    if let Some(target) = target {
        lane.endpoint.target = target.into();
        lane.endpoint.trusted = false;
    }
    if let Some(events) = events {
        lane.endpoint.events = events;
    }
    input.description.apply(&mut lane.endpoint.description, Text::into_string);
    if let Some(ordered) = input.ordered {
        lane.reorder(ordered);
    }
    match input.status {
        Some(EndpointStatus::Enabled) => lane.endpoint.disabled = None,
        Some(EndpointStatus::Disabled) => {
            let reason = "disabled by a call";
            lane.endpoint.disabled = Some(reason.to_owned());
            lane.cancel(reason);
        }
        None => {}
    }
    Ok(Plain(shown(lane, retries, session.world.now())))
}

/// A deleted endpoint.
#[derive(Serialize, JsonSchema)]
pub(crate) struct DeletedWebhookEndpoint {
    /// The id of the endpoint.
    id: String,
    /// Always `webhook_endpoint`.
    object: EndpointObject,
    /// Always true.
    deleted: bool,
}

fn delete_webhook_endpoint(
    session: &mut Session<'_>,
    input: OneWebhookEndpoint,
) -> Result<Plain<DeletedWebhookEndpoint>> {
    let id = input.endpoint_id.as_str();
    if !session.tester.outbox.delete(id) {
        return Err(not_found(id));
    }
    Ok(Plain(DeletedWebhookEndpoint {
        id: id.to_owned(),
        object: EndpointObject::WebhookEndpoint,
        deleted: true,
    }))
}

/// An endpoint, and its next secret.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct RotateWebhookSecret {
    /// The endpoint.
    endpoint_id: Text<64>,
    /// `whsec_` followed by base64 of 24 to 64 bytes. Default: drawn from the seed.
    secret: Option<Text<128>>,
}

fn rotate_webhook_secret(
    session: &mut Session<'_>,
    input: RotateWebhookSecret,
) -> Result<Plain<WebhookSecret>> {
    let outbox = &mut session.tester.outbox;
    let retries = outbox.retries_in(session.world.mode());
    let id = input.endpoint_id.as_str();
    outbox.lane(id).ok_or_else(|| not_found(id))?;
    let mut wrong = Vec::new();
    let given = secret(input.secret.as_ref(), &mut wrong);
    ApiError::if_any(wrong)?;
    outbox.rotate(session.world, id, given);
    let lane = outbox.lane(id).expect("it was found above");
    Ok(with_secret(lane, retries, session.world.now()))
}
