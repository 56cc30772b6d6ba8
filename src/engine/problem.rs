//! Refusals as RFC 9457 problem documents.

use bytes::Bytes;
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderValue, Response, StatusCode};
use serde::Serialize;

use crate::engine::headers::{REQUEST_ID, error_header};
use crate::value::error::{ApiError, ErrorCode, Violation};

/// A problem document; absent members are left out.
#[derive(Serialize)]
struct Problem<'a> {
    #[serde(rename = "type")]
    kind: String,
    title: &'a str,
    status: u16,
    detail: &'a str,
    instance: String,
    code: &'a str,
    request_id: &'a str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    errors: &'a [Violation],
    #[serde(skip_serializing_if = "Option::is_none")]
    resource_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    current: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    allowed: Option<&'a [&'static str]>,
    retryable: bool,
}

/// The reply to a refused request.
pub(super) fn reply(error: &ApiError, request_id: &HeaderValue) -> Response<Bytes> {
    reply_with(error, error.code.status(), request_id)
}

/// The reply with a status set by a fault, instead of the code's.
pub(super) fn reply_with(
    error: &ApiError,
    status: u16,
    request_id: &HeaderValue,
) -> Response<Bytes> {
    let id = request_id.to_str().unwrap_or_default();
    let problem = Problem {
        kind: format!("urn:sandbox:problem:{}", error.code.code()),
        title: error.code.title(),
        status,
        detail: &error.detail,
        instance: format!("/requests/{id}"),
        code: error.code.code(),
        request_id: id,
        errors: &error.errors,
        resource_id: error.resource_id.as_deref(),
        current: error.current,
        allowed: error.allowed.as_deref(),
        retryable: error.retryable(),
    };
    let body = serde_json::to_vec(&problem).expect("a problem document serialises");
    let mut response = Response::new(Bytes::from(body));
    *response.status_mut() =
        StatusCode::from_u16(status).expect("codes and faults have HTTP statuses");
    response.extensions_mut().insert(error.code);
    if matches!(
        error.code,
        ErrorCode::Overloaded | ErrorCode::LogUnavailable | ErrorCode::WorldMoving
    ) {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
    }
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
    headers.insert(REQUEST_ID, request_id.clone());
    if let Some((name, value)) = &error.header
        && let Ok(value) = HeaderValue::try_from(value.as_str())
    {
        headers.insert(error_header(name), value);
    }
    response
}
