//! What goes with a reply beside its bytes, and pages that are no operation.

use std::time::Duration;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::request::Parts;
use http::{HeaderValue, Response};

use crate::engine::contract::Overlay;
use crate::engine::headers::TRACEPARENT;

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

/// A short hash that names the world in the log, in a reply's extensions. The key cannot be guessed from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WorldTag(pub(crate) u32);

/// A page that is not an operation: the documents and the viewer.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    pub(crate) content_type: &'static str,
    pub(crate) body: Bytes,
    /// Whether the body is gzip.
    pub(crate) gzip: bool,
    /// `Content-Security-Policy`.
    pub(crate) csp: &'static str,
}

/// Finds a page by its path. The caller passes it in, because pages are rendered to the right of the engine.
pub(crate) type Pages = fn(&str, &Overlay) -> Option<Page>;

/// Every reply returns the caller's trace.
pub(super) fn echo_trace(head: &Parts, response: &mut Response<Bytes>) {
    if let Some(trace) = head.headers.get(TRACEPARENT) {
        response.headers_mut().insert(TRACEPARENT, trace.clone());
    }
}

pub(super) fn page_reply(page: Page) -> Response<Bytes> {
    let mut response = Response::new(page.body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(page.content_type));
    headers.insert(http::header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(page.csp));
    headers.insert(http::header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    if page.gzip {
        headers.insert(http::header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    response
}
