//! Names of headers, and decisions by headers before the body is read.

use std::borrow::Cow;
use std::sync::LazyLock;

use http::header::{ALLOW, AsHeaderName, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Response};

use crate::value::{ApiError, ErrorCode, TraceParent};
use crate::world::{API_VERSION, ClockMode, World};

pub(super) const REQUEST_ID: HeaderName = HeaderName::from_static("request-id");
pub(super) const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
pub(super) const SANDBOX_SCENARIO: HeaderName = HeaderName::from_static("sandbox-scenario");
pub(super) const SANDBOX_TIME: HeaderName = HeaderName::from_static("sandbox-time");
/// The tasks that wait for the clock, on replies to writes in a world with a manual clock.
const WAITING: HeaderName = HeaderName::from_static("sandbox-waiting");
pub(super) const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
pub(super) const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");
pub(crate) const NOSNIFF: HeaderValue = HeaderValue::from_static("nosniff");
pub(super) const JSON: HeaderValue = HeaderValue::from_static("application/json");
/// The header of a read that only observes.
const OBSERVER: HeaderName = HeaderName::from_static("sandbox-observer");
const API_VERSION_HEADER: HeaderName = HeaderName::from_static("api-version");

/// All headers of a request if it has a trace header or a header of this server, and otherwise none. So the look-ups
/// return at once for most requests.
pub(super) fn own(headers: &HeaderMap) -> &HeaderMap {
    let is_own = |name: &HeaderName| {
        let name = name.as_str();
        name.starts_with("sandbox-") || name == TRACEPARENT || name == API_VERSION_HEADER
    };
    own_if(headers.keys().any(is_own), headers)
}

/// Like [`own`], if the caller already knows whether there is such a header.
pub(super) fn own_if(has_own: bool, headers: &HeaderMap) -> &HeaderMap {
    static NONE: LazyLock<HeaderMap> = LazyLock::new(HeaderMap::new);
    if has_own { headers } else { &NONE }
}

/// The value of a header that is a list: all its lines are one list (RFC 9110, §5.3).
pub(super) fn list(headers: &HeaderMap, name: impl AsHeaderName) -> Option<Cow<'_, HeaderValue>> {
    let mut lines = headers.get_all(name).iter();
    let first = Cow::Borrowed(lines.next()?);
    lines.try_fold(first, |all, line| {
        let all = [all.as_bytes(), line.as_bytes()].join(&b", "[..]);
        HeaderValue::from_bytes(&all).ok().map(Cow::Owned)
    })
}

/// The trace of a call. As the standard says, an invalid one is ignored, and so are several.
pub(super) fn trace_of(headers: &HeaderMap) -> Option<TraceParent> {
    let mut values = headers.get_all(TRACEPARENT).iter();
    let value = values.next().filter(|_| values.next().is_none())?;
    TraceParent::parse(value.to_str().ok()?)
}

/// An unknown version of the API is refused, never ignored.
pub(super) fn check_headers(headers: &HeaderMap) -> Result<(), ApiError> {
    if let Some(version) = headers.get(API_VERSION_HEADER)
        && version.as_bytes() != API_VERSION.as_bytes()
    {
        let detail = format!("the Api-Version is unknown: send {API_VERSION} or omit it");
        return Err(ApiError::new(ErrorCode::InvalidHeader, detail));
    }
    Ok(())
}

/// Whether a read only observes: it is not logged, and no fault, limit or counter applies to it. Only a GET can observe.
pub(super) fn observes(method: &Method, headers: &HeaderMap) -> Result<bool, ApiError> {
    let mut values = headers.get_all(OBSERVER).iter();
    let Some(value) = values.next() else { return Ok(false) };
    let refused = |detail: &str| Err(ApiError::new(ErrorCode::InvalidHeader, detail));
    if value.as_bytes() != b"1" || values.next().is_some() {
        return refused("Sandbox-Observer: the only value is 1; omit the header otherwise");
    }
    if method != Method::GET {
        return refused("Sandbox-Observer: only a GET can observe; omit the header");
    }
    Ok(true)
}

/// Says in a successful reply how many tasks wait for a manual clock, and the first of them with its time.
pub(super) fn show_waiting<B>(world: &World, response: &mut Response<B>) {
    if world.mode() != ClockMode::Manual || !response.status().is_success() {
        return;
    }
    let Some(next) = world.timers().next() else { return };
    let (count, task) = (world.timers().len(), next.task.kind().name());
    let text = format!("count={count};next={};task={task}", next.due);
    let text = HeaderValue::try_from(text).ok();
    response.headers_mut().extend(text.map(|text| (WAITING, text)));
}

/// A body must be JSON in UTF-8. Without a body no type is needed.
pub(super) fn check_content_type(headers: &HeaderMap) -> Result<(), ApiError> {
    let unsupported = |detail: &str| Err(ApiError::new(ErrorCode::UnsupportedMediaType, detail));
    let coding = headers.get(http::header::CONTENT_ENCODING).map(HeaderValue::as_bytes);
    if !matches!(coding, None | Some(b"identity")) {
        return unsupported("a Content-Encoding is not supported: send the body without one");
    }
    let mut types = headers.get_all(CONTENT_TYPE).iter();
    let Some(content_type) = types.next() else {
        let length = headers.get(http::header::CONTENT_LENGTH).map(HeaderValue::as_bytes);
        let empty = matches!(length, None | Some(b"0"))
            && !headers.contains_key(http::header::TRANSFER_ENCODING);
        return if empty {
            Ok(())
        } else {
            unsupported("a body requires Content-Type: application/json")
        };
    };
    let text = content_type.to_str().unwrap_or_default().to_ascii_lowercase();
    let mut parts = text.split(';').map(str::trim);
    let json = parts.next() == Some("application/json") && types.next().is_none();
    let utf8 =
        parts.all(|part| part.is_empty() || matches!(part, "charset=utf-8" | "charset=\"utf-8\""));
    if json && utf8 {
        Ok(())
    } else {
        unsupported("the type of the body must be application/json, in UTF-8")
    }
}

/// The headers of an error, such as `Allow`.
pub(super) fn error_header(name: &str) -> HeaderName {
    HeaderName::try_from(name).unwrap_or(ALLOW)
}
