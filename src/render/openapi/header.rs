//! The headers of requests and of replies.

use serde_json::{Map, Value, json};

use crate::world::API_VERSION;

/// A `Request-Id`, for examples.
pub(crate) const REQUEST_ID: &str = "req_09nq3t8c5ywka";

/// The security scheme's name.
pub(super) const BEARER: &str = "bearer";

pub(crate) fn parameter(name: &str) -> Value {
    json!({ "$ref": format!("#/components/parameters/{name}") })
}

/// The reply header with this name.
pub(crate) fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/headers/{name}") })
}

/// The headers of every reply.
pub(crate) fn common() -> Map<String, Value> {
    ["Request-Id", "Sandbox-Time"]
        .map(|name| (name.to_owned(), reference(name)))
        .into_iter()
        .collect()
}

/// A header: its name, whether it is required, its description and its schema.
type Row = (&'static str, bool, &'static str, Value);

/// `components/parameters`: headers of requests, and of webhooks.
pub(crate) fn parameters() -> Map<String, Value> {
    let object = |(name, required, description, schema): Row| {
        let parameter = json!({ "name": name, "in": "header", "required": required, "description": description, "schema": schema });
        (name.to_owned(), parameter)
    };
    of_requests().into_iter().chain(of_webhooks()).map(object).collect()
}

/// The schema of a text with at most that many characters.
fn text(most: u32) -> Value {
    json!({ "type": "string", "minLength": 1, "maxLength": most })
}

fn of_requests() -> [Row; 8] {
    [
        (
            "Idempotency-Key",
            false,
            "Makes a retry safe: within 24 virtual hours, the same key and body get the first \
                answer again, with `Idempotent-Replayed: true`. A key has 1 to 255 visible ASCII \
                characters.",
            json!({ "type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[\\x21-\\x7e]+$" }),
        ),
        (
            "If-Match",
            false,
            "The `ETag` of the version that was read. The write is refused with 412 if the resource has changed since.",
            text(255),
        ),
        (
            "Sandbox-Scenario",
            false,
            "How the outside world answers this request, such as `payout.settle=returned;code=R02`. An unknown name is \
             refused with 400.",
            text(255),
        ),
        (
            "Sandbox-Fault",
            false,
            "A fault to inject into this exchange: `status=503;retry_after=1s`, \
             `status=500;after_commit=true`, `lose=request`, `lose=reply`, `latency=2s`, \
             `body=truncated`, `body=garbage` or `body=slow`. An unknown one is refused with 400.",
            text(255),
        ),
        (
            "Api-Version",
            false,
            "The version that the client was written for. An unknown one is refused with 400.",
            json!({ "type": "string", "enum": [API_VERSION] }),
        ),
        (
            "Sandbox-Observer",
            false,
            "`1`: the read only observes. It is not logged, no fault, limit or rate applies to it, and no verification counts it. Any \
             other value, and any other method than GET, is refused with 400.",
            json!({ "type": "string", "enum": ["1"] }),
        ),
        (
            "Sandbox-As-Of",
            false,
            "The id or the sequence of a past event: the answer shows the world after the step \
             that caused it. A reply header of the same name has the number of events up to there. \
             An unknown event is refused with 422, and so is an event whose state can no longer be \
             reproduced.",
            text(64),
        ),
        (
            "Last-Event-ID",
            false,
            "Continues after this event: the `id` of the last frame, or the id of an event.",
            text(64),
        ),
    ]
}

fn of_webhooks() -> [Row; 3] {
    [
        ("webhook-id", true, "The event's id, the same on every attempt.", text(64)),
        (
            "webhook-timestamp",
            true,
            "Seconds since 1970 by the wall clock, when this attempt was signed.",
            json!({ "type": "integer", "format": "int64", "minimum": 0 }),
        ),
        (
            "webhook-signature",
            true,
            "`v1,` and the base64 of HMAC-SHA256 over `id.timestamp.body` (Standard Webhooks). \
             While a secret is being rotated, the header has two signatures with a space between \
             them.",
            text(1_024),
        ),
    ]
}

/// `components/headers`: headers of replies.
pub(crate) fn components() -> Map<String, Value> {
    let text = |example: &str| json!({ "type": "string", "examples": [example] });
    let rows = [
        (
            "Request-Id",
            "Identifies the request, here and on the events it caused.",
            text(REQUEST_ID),
        ),
        (
            "Sandbox-Time",
            "The virtual time of this key's world.",
            json!({ "type": "string", "format": "date-time", "examples": ["2026-01-05T09:00:00.000Z"] }),
        ),
        ("ETag", "This version of the resource, for `If-Match`.", text("\"09nq3t8c5ywka\"")),
        (
            "Content-Disposition",
            "The name of the file; only if the answer is PDF, CSV or NDJSON.",
            text("attachment; filename=\"payouts.csv\""),
        ),
        (
            "Sandbox-As-Of",
            "The number of events up to the state that the answer shows; only if the request has this header.",
            text("17"),
        ),
        ("WWW-Authenticate", "How to send the key.", text("Bearer")),
        (
            "Location",
            "The path of the new resource.",
            json!({ "type": "string", "format": "uri-reference" }),
        ),
        (
            "Idempotent-Replayed",
            "`true` if this reply is the stored reply to an earlier request with the same `Idempotency-Key`.",
            json!({ "type": "string", "enum": ["true"] }),
        ),
        (
            "Sandbox-Decision",
            "The decisions of the outside world about this request, each with its reason. If a \
             fault was applied: `fault=` and the source of the fault.",
            text("fault=rule flt_09nq3t8c5ywka"),
        ),
        (
            "Sandbox-Waiting",
            "The number of tasks that wait for the clock, with the time and the name of the first one; only if the clock is manual.",
            text("count=2;next=2026-01-05T09:00:02.000Z;task=calculate_run"),
        ),
        (
            "RateLimit-Policy",
            "The allowed requests in a window of seconds; only if a limit is set.",
            text("\"default\";q=100;w=60"),
        ),
        (
            "RateLimit",
            "The remaining requests, and the seconds until the window ends; only if a limit is set.",
            text("\"default\";r=99;t=60"),
        ),
        (
            "Retry-After",
            "Seconds to wait before the next attempt.",
            json!({ "type": "integer", "format": "int32", "minimum": 0 }),
        ),
    ];
    let object = |(name, description, schema): (&str, &str, Value)| {
        (name.to_owned(), json!({ "description": description, "schema": schema }))
    };
    rows.into_iter().map(object).collect()
}
