//! The dialect of the server: the names of headers and the form of refusals.
//!
//! Internally, headers have the default names and a refusal is a problem document. Headers of a request are
//! renamed before any other code reads them, and headers of a reply after all other code has written them.
//! So no layer, including the network layer, can answer in the wrong dialect.

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderName, HeaderValue, Response};
use serde_json::{Map, Value, json};

use crate::engine::headers::REQUEST_ID;

/// The request's id for the log, in a reply's extensions, because its header may be renamed or off.
#[derive(Clone, Debug)]
pub(crate) struct LoggedId(pub(crate) HeaderValue);

/// The form of refusals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ErrorFormat {
    /// RFC 9457.
    #[default]
    Problem,
    /// `{"error": {…}}`, as `application/json`.
    Envelope,
}

/// A header that the specification does not mention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// The name in the overlay.
    pub(crate) key: &'static str,
    /// The default name, as documents write it.
    pub(crate) name: &'static str,
    /// The default name in the form for comparison.
    lower: &'static str,
    /// Whether it is a header of requests; otherwise it is one of replies.
    pub(crate) of_requests: bool,
}

impl Header {
    const fn new(
        key: &'static str,
        name: &'static str,
        lower: &'static str,
        of_requests: bool,
    ) -> Self {
        Self { key, name, lower, of_requests }
    }

    /// Every header that an overlay may rename or switch off.
    pub(crate) const ALL: [Self; 6] = [
        Self::new("request_id", "Request-Id", "request-id", false),
        Self::new("sandbox_time", "Sandbox-Time", "sandbox-time", false),
        Self::new("sandbox_decision", "Sandbox-Decision", "sandbox-decision", false),
        Self::new("idempotent_replayed", "Idempotent-Replayed", "idempotent-replayed", false),
        Self::new("idempotency_key", "Idempotency-Key", "idempotency-key", true),
        Self::new("api_version", "Api-Version", "api-version", true),
    ];

    /// The default name on the wire.
    pub(crate) fn own(self) -> HeaderName {
        HeaderName::from_static(self.lower)
    }
}

/// The name of a header; `None` if it is off.
pub(crate) type Renamed = (Header, Option<Name>);

/// A header's name, as written and in the form for comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Name {
    pub(crate) written: String,
    pub(crate) wire: HeaderName,
}

/// The names of headers and the form of refusals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Dialect {
    pub(crate) errors: ErrorFormat,
    /// Only the headers with other names than the default.
    pub(crate) headers: Vec<Renamed>,
}

impl Dialect {
    /// Whether it equals the default.
    pub(crate) fn is_own(&self) -> bool {
        self.errors == ErrorFormat::Problem && self.headers.is_empty()
    }

    /// The reply headers with other names than the default.
    pub(crate) fn reply_headers(&self) -> Vec<String> {
        let names = self.renames(false).filter_map(|(_, name)| name.as_ref());
        names.map(|name| name.written.clone()).collect()
    }

    /// The name of the request header with an idempotency key; none if it is off.
    pub(crate) fn idempotency_key(&self) -> Option<String> {
        let key = "idempotency_key";
        match self.headers.iter().find(|(header, _)| header.key == key) {
            Some((_, name)) => name.as_ref().map(|name| name.written.clone()),
            None => Header::ALL.iter().find(|it| it.key == key).map(|it| it.name.to_owned()),
        }
    }

    /// The headers, of requests or of replies, with other names than ours.
    fn renames(&self, of_requests: bool) -> impl Iterator<Item = &Renamed> {
        self.headers.iter().filter(move |(header, _)| header.of_requests == of_requests)
    }

    /// Gives the headers of a request their default names. A header that is renamed or off is not accepted
    /// under its default name.
    pub(crate) fn enter(&self, path: &str, headers: &mut HeaderMap) {
        if self.headers.is_empty() || is_control(path) {
            return;
        }
        // All are removed before the first is added again, because two headers may have swapped their names.
        let taken: Vec<(HeaderName, Vec<HeaderValue>)> = self
            .renames(true)
            .filter_map(|(header, name)| {
                let values = headers.get_all(&name.as_ref()?.wire).iter().cloned();
                Some((header.own(), values.collect()))
            })
            .collect();
        for (header, name) in self.renames(true) {
            headers.remove(header.own());
            if let Some(name) = name {
                headers.remove(&name.wire);
            }
        }
        for (own, values) in taken {
            for value in values {
                headers.append(own.clone(), value);
            }
        }
    }

    /// Translates a reply into this dialect.
    pub(crate) fn leave(&self, path: &str, mut response: Response<Bytes>) -> Response<Bytes> {
        if self.is_own() || is_control(path) {
            return response;
        }
        let is_problem = response
            .headers()
            .get(CONTENT_TYPE)
            .is_some_and(|kind| kind == "application/problem+json");
        if is_problem && let Ok(problem) = serde_json::from_slice(response.body()) {
            let refusal = self.refusal(problem);
            *response.body_mut() = Bytes::from(refusal.to_string());
            if self.errors == ErrorFormat::Envelope {
                let json = HeaderValue::from_static("application/json");
                response.headers_mut().insert(CONTENT_TYPE, json);
            }
        }
        if let Some(id) = response.headers().get(REQUEST_ID).cloned() {
            response.extensions_mut().insert(LoggedId(id));
        }
        let headers = response.headers_mut();
        let taken: Vec<(&Option<Name>, Option<HeaderValue>)> = self
            .renames(false)
            .map(|(header, name)| (name, headers.remove(header.own())))
            .collect();
        for (name, value) in taken {
            if let (Some(name), Some(value)) = (name, value) {
                headers.insert(name.wire.clone(), value);
            }
        }
        response
    }

    /// A problem document in the form of this dialect's refusals, with its header names.
    pub(crate) fn refusal(&self, mut problem: Value) -> Value {
        for member in ["title", "detail"] {
            if let Some(Value::String(text)) = problem.get_mut(member) {
                *text = self.words(text);
            }
        }
        match self.errors {
            ErrorFormat::Problem => problem,
            ErrorFormat::Envelope => envelope(problem),
        }
    }

    /// A sentence with the header names of this dialect.
    pub(crate) fn words(&self, text: &str) -> String {
        let mut words = text.to_owned();
        for (header, name) in &self.headers {
            if let Some(name) = name {
                words = words.replace(header.name, &name.written);
            }
        }
        words
    }
}

/// `{"error": {code, message, status, request_id, …}}`: the content of a problem document without its links.
fn envelope(mut problem: Value) -> Value {
    let mut error = Map::new();
    let mut member = |from: &str, to: &str| {
        if let Some(value) = problem.get_mut(from) {
            error.insert(to.to_owned(), value.take());
        }
    };
    for (from, to) in ENVELOPE {
        member(from, to);
    }
    json!({ "error": error })
}

/// Members of a problem document and their names in an envelope, in its order.
pub(crate) const ENVELOPE: [(&str, &str); 9] = [
    ("code", "code"),
    ("detail", "message"),
    ("status", "status"),
    ("request_id", "request_id"),
    ("errors", "errors"),
    ("resource_id", "resource_id"),
    ("current", "current"),
    ("allowed", "allowed"),
    ("retryable", "retryable"),
];

/// The control plane is not part of the product. It keeps the default dialect, so that test tools work with
/// any overlay.
fn is_control(path: &str) -> bool {
    path.strip_prefix("/_sandbox").is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
