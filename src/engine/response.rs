//! Data of a reply in addition to its bytes, and pages that are not operations.

use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, CONTENT_TYPE, IF_NONE_MATCH};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Response};

use crate::engine::contract::Overlay;
use crate::engine::headers::{TRACEPARENT, list};
use crate::world::Base;

/// How the network layer must send a reply. An injected fault puts it into the reply's extensions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Transport {
    /// Delay the finished reply by this time.
    pub(crate) delay: Duration,
    /// Close the connection instead of replying.
    pub(crate) lost: bool,
    /// How the body is sent.
    pub(crate) body: Delivery,
}

/// How a body is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Delivery {
    #[default]
    Whole,
    /// Its first half, then the end of the connection.
    Truncated,
    /// A few bytes at a time.
    Slow,
}

/// In the extensions of a stored reply to an idempotency key: a contract may rename its header or switch it off.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Replayed;

/// A short hash that names the world in the log. A refusal by a fault has it in its extensions. The key cannot be guessed from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WorldTag(pub(crate) u32);

/// A page that is not an operation: the documents and the viewer.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    pub(crate) content_type: &'static str,
    pub(crate) body: Bytes,
    /// Whether the body is gzip.
    pub(crate) gzip: bool,
    /// The body as gzip, for callers that accept it.
    pub(crate) compressed: Option<Bytes>,
    /// Its version.
    pub(crate) etag: Option<HeaderValue>,
    /// `Content-Security-Policy`.
    pub(crate) csp: &'static str,
}

/// Finds a page by the path of a request. The caller passes it in, because pages are rendered to the right of the engine.
pub(crate) type Pages = fn(&Parts, &Overlay, &Base) -> Option<Page>;

/// Every reply returns the caller's trace.
pub(super) fn echo_trace(headers: &HeaderMap, response: &mut Response<Bytes>) {
    if let Some(trace) = headers.get(TRACEPARENT) {
        response.headers_mut().insert(TRACEPARENT, trace.clone());
    }
}

pub(super) fn page_reply(page: Page, head: &Parts) -> Response<Bytes> {
    let mut response = Response::new(page.body);
    let compressed = page.compressed.as_ref().filter(|_| accepts_gzip(&head.headers)).cloned();
    let gzip = page.gzip || compressed.is_some();
    if let Some(compressed) = compressed {
        *response.body_mut() = compressed;
    }
    if page.etag.as_ref().is_some_and(|etag| is_known(&head.headers, etag)) {
        *response.status_mut() = http::StatusCode::NOT_MODIFIED;
        *response.body_mut() = Bytes::new();
    }
    let headers = response.headers_mut();
    if let Some(etag) = page.etag {
        headers.insert(http::header::ETAG, etag);
        headers.insert(http::header::VARY, HeaderValue::from_static("Accept-Encoding"));
        headers.insert(http::header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    }
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(page.content_type));
    headers.insert(http::header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(page.csp));
    headers.insert(http::header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    if gzip {
        headers.insert(http::header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    response
}

/// Whether the caller has this version, by the weak comparison of RFC 9110 (§13.1.2).
pub(super) fn is_known(headers: &HeaderMap, etag: &HeaderValue) -> bool {
    let strong = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
    let sent = list(headers, IF_NONE_MATCH);
    let sent = sent.as_ref().and_then(|sent| sent.to_str().ok());
    let own = etag.to_str().map(strong).unwrap_or_default();
    sent.is_some_and(|tags| tags.split(',').any(|tag| tag.trim() == "*" || strong(tag) == own))
}

/// Whether `Accept-Encoding` names gzip, with a weight above 0.
fn accepts_gzip(headers: &HeaderMap) -> bool {
    // `*` means only codings that are not named.
    accepts(headers, "gzip").or_else(|| accepts(headers, "*")).unwrap_or(false)
}

/// Whether a coding is accepted; none if it is not named.
fn accepts(headers: &HeaderMap, wanted: &str) -> Option<bool> {
    let values = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).find_map(|coding| {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, ""));
        let refused = weight
            .trim()
            .strip_prefix("q=")
            .is_some_and(|weight| weight.bytes().all(|byte| matches!(byte, b'0' | b'.')));
        name.trim().eq_ignore_ascii_case(wanted).then_some(!refused)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_is_sent_to_those_who_accept_it() {
        let accepts = |text: &'static str| {
            let headers = HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_static(text))]);
            accepts_gzip(&headers)
        };
        assert!(["gzip", "br, GZIP;q=0.5", "*", "deflate , gzip ;q=1.0"].into_iter().all(accepts));
        assert!(
            ![
                "",
                "br",
                "gzip;q=0",
                "gzip; q=0.000",
                "identity",
                "gzip;q=0, *",
                "*, gzip;q=0",
                "*;q=0"
            ]
            .into_iter()
            .any(accepts)
        );
        assert!(!accepts_gzip(&HeaderMap::new()));
    }
}
