//! Webhook endpoints: what stands in for a vendor's dashboard.

use crate::api::prelude::*;
use crate::tester::address::Target;
use crate::tester::outbox::lane::Lane;
use crate::tester::outbox::schedule::Pace;
use crate::tester::outbox::{MOST_ENDPOINTS, NewEndpoint};
use crate::tester::signature::Secret;

pub(crate) const OPERATIONS: &[Operation] = &[
    Operation {
        method: Method::Post,
        path: "/_sandbox/webhook-endpoints",
        domain: Domain::Sandbox,
        contract: Contract::Control,
        summary: "Create a webhook endpoint",
        description: "From now on every event that it listens to is sent there, signed as Standard Webhooks want it. The secret is \
            shown here and never again. Only http, and only to addresses that a sandbox may reach.",
        example: r#"{"url":"http://127.0.0.1:9/webhooks","events":["payroll_run.*"]}"#,
        success: 201,
        errors: &[ErrorCode::LimitExceeded],
        ..operation!(tester create_webhook_endpoint)
    },
    Operation {
        method: Method::Get,
        path: "/_sandbox/webhook-endpoints",
        domain: Domain::Sandbox,
        contract: Contract::Control,
        summary: "List webhook endpoints",
        description: "Those of this key's world, in the order of their creation.",
        ..operation!(tester list_webhook_endpoints)
    },
    Operation {
        method: Method::Get,
        path: "/_sandbox/webhook-endpoints/{endpoint_id}",
        domain: Domain::Sandbox,
        contract: Contract::Control,
        summary: "Get a webhook endpoint",
        description: "With counts of what became of its deliveries, and without its secret.",
        errors: &[ErrorCode::ResourceNotFound],
        ..operation!(tester get_webhook_endpoint)
    },
    Operation {
        method: Method::Patch,
        path: "/_sandbox/webhook-endpoints/{endpoint_id}",
        domain: Domain::Sandbox,
        contract: Contract::Control,
        summary: "Change a webhook endpoint",
        description: "Members that are absent stay as they are. Disabling cancels what waits; enabling again brings nothing of it back.",
        example: r#"{"status":"enabled"}"#,
        errors: &[ErrorCode::ResourceNotFound],
        ..operation!(tester update_webhook_endpoint)
    },
    Operation {
        method: Method::Delete,
        path: "/_sandbox/webhook-endpoints/{endpoint_id}",
        domain: Domain::Sandbox,
        contract: Contract::Control,
        summary: "Delete a webhook endpoint",
        description: "With its deliveries; what waits is not sent any more.",
        errors: &[ErrorCode::ResourceNotFound],
        ..operation!(tester delete_webhook_endpoint)
    },
    Operation {
        method: Method::Post,
        path: "/_sandbox/webhook-endpoints/{endpoint_id}/rotate-secret",
        domain: Domain::Sandbox,
        contract: Contract::Control,
        summary: "Rotate a webhook endpoint's secret",
        description: "The new secret is shown here and never again. For 24 virtual hours deliveries carry two signatures, one of each.",
        example: "{}",
        errors: &[ErrorCode::ResourceNotFound],
        ..operation!(tester rotate_webhook_secret)
    },
];

/// Whether an endpoint gets events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum EndpointStatus {
    Enabled,
    Disabled,
}

/// Which kind of resource it is.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum EndpointObject {
    WebhookEndpoint,
}

/// Who receives webhooks.
#[derive(Serialize, JsonSchema)]
pub(crate) struct WebhookEndpoint {
    /// Its id.
    id: String,
    /// Always `webhook_endpoint`.
    object: EndpointObject,
    /// Where deliveries go.
    url: String,
    /// Types of events it listens to; `payroll_run.*` for all of a resource. All events if empty.
    events: Vec<String>,
    /// What it is for.
    description: Option<String>,
    /// Whether it gets events.
    status: EndpointStatus,
    /// Why it is disabled.
    disabled_reason: Option<String>,
    /// Whether a delivery waits for the one before it; otherwise up to four are in flight, and one that fails holds up no other.
    ordered: bool,
    /// The schedule of its retries, and the clock that it follows.
    retries: Pace,
    /// Until when the secret before the last rotation signs, too, in virtual time.
    previous_secret_until: Option<Timestamp>,
    /// What became of its deliveries.
    deliveries: Counts,
    /// When it was made, in virtual time.
    created_at: Timestamp,
}

/// Deliveries by where they stand.
#[derive(Serialize, JsonSchema)]
struct Counts {
    /// Wait for an attempt, or for the answer to one.
    waiting: u64,
    /// Were answered with 2xx.
    delivered: u64,
    /// Failed ten times.
    exhausted: u64,
    /// Were never sent.
    dropped: u64,
    /// Have ended and are no longer remembered.
    evicted: u64,
}

/// An endpoint with the secret that it signs with from now on.
#[derive(Serialize, JsonSchema)]
pub(crate) struct WebhookSecret {
    /// What receivers check signatures with. Not shown again.
    secret: String,
    /// The endpoint.
    endpoint: WebhookEndpoint,
}

fn shown(lane: &Lane, retries: Pace) -> WebhookEndpoint {
    let endpoint = &lane.endpoint;
    WebhookEndpoint {
        id: endpoint.id.clone(),
        object: EndpointObject::WebhookEndpoint,
        url: endpoint.target.to_string(),
        events: endpoint.events.clone(),
        description: endpoint.description.clone(),
        status: match endpoint.disabled {
            None => EndpointStatus::Enabled,
            Some(_) => EndpointStatus::Disabled,
        },
        disabled_reason: endpoint.disabled.clone(),
        ordered: endpoint.ordered,
        retries,
        previous_secret_until: endpoint.previous.as_ref().map(|(_, until)| *until),
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

fn with_secret(lane: &Lane, retries: Pace) -> Plain<WebhookSecret> {
    Plain(WebhookSecret {
        secret: lane.endpoint.secret.reveal().to_owned(),
        endpoint: shown(lane, retries),
    })
}

/// The 404 for an endpoint that this world does not have.
pub(super) fn not_found(id: &str) -> ApiError {
    let error = ApiError::not_found("webhook endpoint");
    if crate::value::id::parse("whe", id).is_some() { error.about(id) } else { error }
}

/// What a caller may say about a new endpoint.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct CreateWebhookEndpoint {
    /// Where deliveries go: http, with a host that is this machine or one that the sandbox may reach.
    url: Text<2_048>,
    /// Types of events to listen to; `payroll_run.*` for all of a resource, `*` for all. All if absent.
    #[schemars(length(max = 50))]
    events: Option<Vec<Text<64>>>,
    /// What it is for.
    description: Option<Text<255>>,
    /// Whether a delivery waits for the one before it; true if absent.
    ordered: Option<bool>,
    /// `whsec_` and base64 of 24 to 64 bytes; drawn from the seed if absent.
    secret: Option<Text<128>>,
}

fn create_webhook_endpoint(
    session: &mut Session<'_>,
    input: CreateWebhookEndpoint,
) -> Result<Plain<WebhookSecret>, ApiError> {
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
        let detail = format!("a world has at most {MOST_ENDPOINTS} webhook endpoints: delete one");
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
    Ok(with_secret(outbox.create(session.world, endpoint), retries))
}

/// A part that was read, or a violation more.
fn noted<T>(
    read: Result<T, impl Into<String>>,
    pointer: &str,
    code: &'static str,
    wrong: &mut Vec<Violation>,
) -> Option<T> {
    read.map_err(|detail| wrong.push(Violation::new(pointer, code, detail))).ok()
}

/// The text of a refused secret is not repeated.
fn secret(given: Option<&Text<128>>, wrong: &mut Vec<Violation>) -> Option<Secret> {
    let read = Secret::parse(given?.as_str());
    noted(read, "/secret", "format", wrong)
}

/// Filters over events that there are. One that could never match is a typing mistake.
fn filters(given: Vec<Text<64>>, wrong: &mut Vec<Violation>) -> Vec<String> {
    for (place, filter) in given.iter().enumerate() {
        let checked = check_filter(filter.as_str());
        noted(checked, &format!("/events/{place}"), "unknown_event", wrong);
    }
    given.into_iter().map(Text::into_string).collect()
}

/// Whether a filter names events that the product can cause; an error names those that it can.
pub(crate) fn check_filter(filter: &str) -> Result<(), String> {
    use crate::world::envelope::named;
    let types = crate::api::system::event_types();
    let known = || types.iter().copied();
    if filter == "*" || known().any(|name| named(filter, name)) {
        return Ok(());
    }
    let (wanted, _) = filter.split_once('.').unwrap_or((filter, ""));
    let mut near: Vec<&str> = known()
        .filter(|name| name.split_once('.').is_some_and(|(kind, _)| kind == wanted))
        .collect();
    if near.is_empty() {
        near = known().filter_map(|name| name.split_once('.')).map(|(kind, _)| kind).collect();
    }
    near.sort_unstable();
    near.dedup();
    Err(format!(
        "no event matches {filter:?}: expected *, a resource with .* or a type of event, of: {}",
        near.join(", ")
    ))
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct ListWebhookEndpoints {
    #[serde(flatten)]
    paging: Paging,
}

fn list_webhook_endpoints(
    session: &mut Session<'_>,
    input: ListWebhookEndpoints,
) -> Result<List<WebhookEndpoint>, ApiError> {
    let retries = session.tester.outbox.retries_in(session.world.mode());
    let lanes = session.tester.outbox.lanes();
    let total = lanes.len() as u64;
    let page = input.paging.page_of(lanes);
    Ok(List {
        data: page.iter().map(|lane| shown(lane, retries)).collect(),
        meta: input.paging.meta(total),
    })
}

/// Which endpoint.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct OneWebhookEndpoint {
    /// Its id.
    endpoint_id: Text<64>,
}

fn get_webhook_endpoint(
    session: &mut Session<'_>,
    input: OneWebhookEndpoint,
) -> Result<Plain<WebhookEndpoint>, ApiError> {
    let retries = session.tester.outbox.retries_in(session.world.mode());
    let id = input.endpoint_id.as_str();
    let lane = session.tester.outbox.lane(id).ok_or_else(|| not_found(id))?;
    Ok(Plain(shown(lane, retries)))
}

/// What may change.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct UpdateWebhookEndpoint {
    /// Which endpoint.
    endpoint_id: Text<64>,
    /// Where deliveries go from now on.
    url: Option<Text<2_048>>,
    /// Types of events to listen to from now on; all if empty.
    #[schemars(length(max = 50))]
    events: Option<Vec<Text<64>>>,
    /// What it is for.
    description: Option<Text<255>>,
    /// Whether it gets events.
    status: Option<EndpointStatus>,
    /// Whether a delivery waits for the one before it.
    ordered: Option<bool>,
}

fn update_webhook_endpoint(
    session: &mut Session<'_>,
    input: UpdateWebhookEndpoint,
) -> Result<Plain<WebhookEndpoint>, ApiError> {
    let outbox = &mut session.tester.outbox;
    let retries = outbox.retries_in(session.world.mode());
    let id = input.endpoint_id.as_str();
    outbox.lane(id).ok_or_else(|| not_found(id))?;
    let mut wrong = Vec::new();
    let url = input.url.as_ref();
    let target = url.map(|url| Target::parse(url.as_str(), outbox.policy()));
    let target = target.and_then(|target| noted(target, "/url", "address", &mut wrong));
    let events = input.events.map(|events| filters(events, &mut wrong));
    if !wrong.is_empty() {
        return Err(ApiError::invalid(wrong));
    }
    let lane = outbox.lane_mut(id).expect("it was found above");
    if let Some(target) = target {
        lane.endpoint.target = target;
        lane.endpoint.trusted = false;
    }
    if let Some(events) = events {
        lane.endpoint.events = events;
    }
    if let Some(description) = input.description {
        lane.endpoint.description = Some(description.into_string());
    }
    if let Some(ordered) = input.ordered {
        lane.reorder(ordered);
    }
    match input.status {
        Some(EndpointStatus::Enabled) => lane.endpoint.disabled = None,
        Some(EndpointStatus::Disabled) => {
            let reason = "disabled by hand";
            lane.endpoint.disabled = Some(reason.to_owned());
            lane.cancel(reason);
        }
        None => {}
    }
    Ok(Plain(shown(lane, retries)))
}

/// An endpoint that is gone.
#[derive(Serialize, JsonSchema)]
pub(crate) struct DeletedWebhookEndpoint {
    /// Its id.
    id: String,
    /// Always `webhook_endpoint`.
    object: EndpointObject,
    /// Always true.
    deleted: bool,
}

fn delete_webhook_endpoint(
    session: &mut Session<'_>,
    input: OneWebhookEndpoint,
) -> Result<Plain<DeletedWebhookEndpoint>, ApiError> {
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

/// Which endpoint, and its next secret.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct RotateWebhookSecret {
    /// Which endpoint.
    endpoint_id: Text<64>,
    /// `whsec_` and base64 of 24 to 64 bytes; drawn from the seed if absent.
    secret: Option<Text<128>>,
}

fn rotate_webhook_secret(
    session: &mut Session<'_>,
    input: RotateWebhookSecret,
) -> Result<Plain<WebhookSecret>, ApiError> {
    let outbox = &mut session.tester.outbox;
    let retries = outbox.retries_in(session.world.mode());
    let id = input.endpoint_id.as_str();
    outbox.lane(id).ok_or_else(|| not_found(id))?;
    let mut wrong = Vec::new();
    let given = secret(input.secret.as_ref(), &mut wrong);
    if !wrong.is_empty() {
        return Err(ApiError::invalid(wrong));
    }
    outbox.rotate(session.world, id, given);
    let lane = outbox.lane(id).expect("it was found above");
    Ok(with_secret(lane, retries))
}
