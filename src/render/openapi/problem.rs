//! Refusals: the schema of a problem, and the responses that contain one.

use std::collections::BTreeMap;

use http::StatusCode;
use serde_json::{Map, Value, json};

use crate::api::operation::{Call, Operation};
use crate::engine::idempotency::is_kept;
use crate::engine::recording::is_stored;
use crate::render::openapi::header::{self, REQUEST_ID};
use crate::render::openapi::row::{is_conditional, is_keyed, is_product};
use crate::render::openapi::schemas::reference;
use crate::render::samples::kind_of_member;
use crate::value::{ApiError, ErrorCode};

/// The member of a response that lists the codes of its problems.
const CODES: &str = "x-codes";
/// The media type of a problem, RFC 9457.
const MEDIA_TYPE: &str = "application/problem+json";

/// Responses that many rows share: name, status and codes, in the order of the table of codes.
const SHARED: &[(&str, u16, &[ErrorCode])] = &[
    ("BadRequest", 400, &[ErrorCode::InvalidHeader, ErrorCode::UnknownScenario]),
    (
        "BadBody",
        400,
        &[ErrorCode::MalformedJson, ErrorCode::InvalidHeader, ErrorCode::UnknownScenario],
    ),
    (
        "BadBodyOrKey",
        400,
        &[
            ErrorCode::MalformedJson,
            ErrorCode::InvalidHeader,
            ErrorCode::IdempotencyKeyInvalid,
            ErrorCode::UnknownScenario,
        ],
    ),
    (
        "Unauthorized",
        401,
        &[ErrorCode::MissingCredentials, ErrorCode::InvalidApiKey, ErrorCode::LiveKeyRefused],
    ),
    ("NotFound", 404, &[ErrorCode::ResourceNotFound]),
    ("NotAcceptable", 406, &[ErrorCode::NotAcceptable]),
    ("RequestTimeout", 408, &[ErrorCode::RequestTimeout]),
    ("KeyInUse", 409, &[ErrorCode::RequestInProgress]),
    ("Stale", 412, &[ErrorCode::PreconditionFailed]),
    ("TooLarge", 413, &[ErrorCode::PayloadTooLarge]),
    ("UnsupportedMediaType", 415, &[ErrorCode::UnsupportedMediaType]),
    ("Invalid", 422, &[ErrorCode::ValidationFailed]),
    ("InvalidOrKeyReused", 422, &[ErrorCode::ValidationFailed, ErrorCode::IdempotencyKeyReused]),
    ("TooManyRequests", 429, &[ErrorCode::RateLimited]),
    ("TooManyRequestsOrQuota", 429, &[ErrorCode::RateLimited, ErrorCode::QuotaExceeded]),
    ("InternalError", 500, &[ErrorCode::InternalError]),
    (
        "Unavailable",
        503,
        &[
            ErrorCode::Maintenance,
            ErrorCode::Overloaded,
            ErrorCode::LogUnavailable,
            ErrorCode::WorldMoving,
        ],
    ),
];

/// The name of the response to a read whose answer the caller has.
const NOT_MODIFIED: &str = "NotModified";

/// `components/responses`. Unused ones are removed later.
pub(crate) fn components() -> Map<String, Value> {
    let shared = SHARED.iter().flat_map(|(name, status, codes)| {
        [false, true].map(|keyed| (shared_name(name, keyed), response(*status, codes, keyed)))
    });
    let mut headers = header::common();
    headers.insert("ETag".to_owned(), header::reference("ETag"));
    let unchanged = json!({
        "description": "Not Modified: the header `If-None-Match` of the request has the current `ETag`. The answer has no body.",
        "headers": headers,
    });
    shared.chain([(NOT_MODIFIED.to_owned(), unchanged)]).collect()
}

/// The response to a read whose answer the caller has.
pub(crate) fn not_modified() -> Value {
    json!({ "$ref": format!("#/components/responses/{NOT_MODIFIED}") })
}

/// The name of a shared response; `keyed` if it can be a stored reply.
fn shared_name(name: &str, keyed: bool) -> String {
    if keyed { format!("{name}OfKey") } else { name.to_owned() }
}

/// Whether a refusal with this status is stored, and sent again to the same `Idempotency-Key`.
fn is_stored_reply(row: &Operation, status: u16) -> bool {
    is_keyed(row) && StatusCode::from_u16(status).is_ok_and(is_kept)
}

/// All refusals of this row by status: its own, and those of every row.
pub(crate) fn responses(row: &Operation, input: &Value) -> Map<String, Value> {
    let mut by_status: BTreeMap<u16, Vec<ErrorCode>> = BTreeMap::new();
    // Uses the table's order, so that equal sets are equal lists.
    for &code in ErrorCode::ALL {
        if row.errors.contains(&code) || any_row_may_refuse(row, input, code) {
            by_status.entry(code.status()).or_default().push(code);
        }
    }
    by_status
        .iter()
        .map(|(status, codes)| {
            (status.to_string(), shared_or_own(*status, codes, is_stored_reply(row, *status)))
        })
        .collect()
}

/// Whether the engine, not the handler, may refuse the request with this code.
fn any_row_may_refuse(row: &Operation, input: &Value, code: ErrorCode) -> bool {
    match code {
        ErrorCode::InvalidHeader
        | ErrorCode::InvalidApiKey
        | ErrorCode::LiveKeyRefused
        | ErrorCode::ValidationFailed
        | ErrorCode::RateLimited
        | ErrorCode::InternalError
        | ErrorCode::Maintenance
        | ErrorCode::Overloaded
        | ErrorCode::LogUnavailable
        | ErrorCode::WorldMoving => true,
        // Only a fault causes the last two. A fault can also set any other status, which a document cannot
        // list.
        ErrorCode::UnknownScenario | ErrorCode::UpstreamRailError | ErrorCode::UpstreamTimeout => {
            is_product(row)
        }
        ErrorCode::MissingCredentials => !matches!(row.call, Call::Open(_)),
        ErrorCode::MalformedJson
        | ErrorCode::RequestTimeout
        | ErrorCode::PayloadTooLarge
        | ErrorCode::UnsupportedMediaType => row.method.has_body(),
        ErrorCode::IdempotencyKeyInvalid
        | ErrorCode::IdempotencyKeyReused
        | ErrorCode::RequestInProgress => is_keyed(row),
        ErrorCode::QuotaExceeded => is_stored(row),
        ErrorCode::PreconditionFailed => is_conditional(row),
        ErrorCode::NotAcceptable => row.success != 204,
        ErrorCode::ResourceNotFound => names_a_resource(row, input),
        _ => false,
    }
}

/// Whether the request names a resource that may not exist. A filter of a list does not count, because an
/// unknown id only matches no rows.
fn names_a_resource(row: &Operation, input: &Value) -> bool {
    let in_path = row.path_parameters().next().is_some();
    let members =
        input["properties"].as_object().into_iter().flatten().map(|(name, _)| name.as_str());
    let required = input["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let names = |name: &str| kind_of_member(name).is_some();
    in_path
        || if row.method.has_body() {
            members.into_iter().any(names)
        } else {
            required.into_iter().any(names)
        }
}

fn shared_or_own(status: u16, codes: &[ErrorCode], keyed: bool) -> Value {
    match SHARED.iter().find(|(_, shared, listed)| *shared == status && *listed == codes) {
        Some((name, ..)) => {
            json!({ "$ref": format!("#/components/responses/{}", shared_name(name, keyed)) })
        }
        None => response(status, codes, keyed),
    }
}

fn response(status: u16, codes: &[ErrorCode], keyed: bool) -> Value {
    let named = |code: &ErrorCode| format!("- `{}`: {}", code.code(), code.title());
    let listed: Vec<String> = codes.iter().map(named).collect();
    let mut headers = header::common();
    if matches!(status, 429 | 503) {
        headers.insert("Retry-After".to_owned(), header::reference("Retry-After"));
        let decision = "Sandbox-Decision";
        headers.insert(decision.to_owned(), header::reference(decision));
    }
    let also = [("WWW-Authenticate", status == 401), ("Idempotent-Replayed", keyed)];
    for (name, _) in also.into_iter().filter(|(_, sends)| *sends) {
        headers.insert(name.to_owned(), header::reference(name));
    }
    if status == 429 {
        for name in ["RateLimit-Policy", "RateLimit"] {
            headers.insert(name.to_owned(), header::reference(name));
        }
    }
    let examples: Map<String, Value> =
        codes.iter().map(|code| (code.code().to_owned(), example(*code))).collect();
    json!({
        "description": format!("{}\n\n{}", reason(status), listed.join("\n")),
        "headers": headers,
        // Not beside the reference, because client generators would give the error a separate empty type.
        "content": { MEDIA_TYPE: { "schema": reference("Problem"), "examples": examples } },
        CODES: codes.iter().map(|code| code.code()).collect::<Vec<_>>(),
    })
}

/// The HTTP reason phrase of a status.
pub(crate) fn reason(status: u16) -> &'static str {
    StatusCode::from_u16(status)
        .ok()
        .and_then(|status| status.canonical_reason())
        .unwrap_or("Refused")
}

fn example(code: ErrorCode) -> Value {
    let detail = lower_first(code.title());
    let mut problem = json!({
        "type": format!("urn:sandbox:problem:{}", code.code()),
        "title": code.title(),
        "status": code.status(),
        "detail": detail,
        "instance": format!("/requests/{REQUEST_ID}"),
        "code": code.code(),
        "request_id": REQUEST_ID,
        "retryable": ApiError::new(code, detail).retryable(),
    });
    match code {
        ErrorCode::ValidationFailed => {
            problem["detail"] = json!("/name: is required");
            problem["errors"] =
                json!([{ "pointer": "/name", "code": "required", "detail": "is required" }]);
        }
        ErrorCode::InvalidStateTransition => {
            problem["current"] = json!("paid");
            problem["allowed"] = json!(["reversed"]);
        }
        _ => {}
    }
    json!({ "summary": code.title(), "value": problem })
}

/// Titles begin with a capital letter, details do not.
fn lower_first(title: &str) -> String {
    let mut letters = title.chars();
    letters.next().map(|first| first.to_ascii_lowercase()).into_iter().chain(letters).collect()
}

/// The schema of a problem, RFC 9457.
pub(crate) fn schema() -> Value {
    let codes: Vec<&str> = ErrorCode::ALL.iter().map(|code| code.code()).collect();
    json!({
        "type": "object",
        "description": "Why a request was refused, after RFC 9457. Members without a value are left out.",
        "properties": {
            "type": { "type": "string", "format": "uri", "description": "`urn:sandbox:problem:` and the code." },
            "title": { "type": "string", "description": "A title of the code, the same for every occurrence." },
            "status": { "type": "integer", "format": "int32", "description": "The HTTP status." },
            "detail": { "type": "string", "description": "What is wrong with this request." },
            "instance": { "type": "string", "description": "`/requests/` and the request's id." },
            "code": { "type": "string", "description": "The reason, for programs.", "enum": codes },
            "request_id": { "type": "string", "description": "The same as the `Request-Id` header." },
            "errors": {
                "type": "array",
                "description": "All violations.",
                "items": reference("Violation"),
            },
            "resource_id": { "type": "string", "description": "The resource that the refusal is about." },
            "current": { "type": "string", "description": "The current state of that resource." },
            "allowed": {
                "type": "array",
                "description": "The possible next states.",
                "items": { "type": "string" },
            },
            "retryable": { "type": "boolean", "description": "Whether the same request may succeed later." },
        },
        "required": ["type", "title", "status", "detail", "instance", "code", "request_id", "retryable"],
    })
}

/// The schema of one violation.
pub(crate) fn violation_schema() -> Value {
    json!({
        "type": "object",
        "description": "One violation and its position.",
        "properties": {
            "pointer": {
                "type": "string",
                "description": "JSON pointer into the body; `/name` of a path parameter, a query \
                    parameter or a header.",
            },
            "code": { "type": "string", "description": "The kind of violation, for programs: `required`, `type` …" },
            "detail": { "type": "string", "description": "The expected value, for people." },
        },
        "required": ["pointer", "code", "detail"],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::operation::{BLANK, Method};

    #[test]
    fn shared_responses_list_codes_of_their_status_in_the_tables_order() {
        for (name, status, codes) in SHARED {
            assert!(codes.iter().all(|code| code.status() == *status), "{name}");
            assert!(codes.is_sorted(), "{name}");
        }
    }

    #[test]
    fn responses_list_codes_of_the_row_and_of_the_engine() {
        let errors = &[ErrorCode::QuoteExpired, ErrorCode::InsufficientFunds];
        let row = Operation { method: Method::Post, errors, ..BLANK };
        let found = responses(&row, &json!({}));
        assert_eq!(
            found["422"][CODES],
            json!(["validation_failed", "quote_expired", "idempotency_key_reused"])
        );
        assert!(found.contains_key("402"));
        assert!(!found.contains_key("404"), "the request names no resource that could be missing");
    }
}
