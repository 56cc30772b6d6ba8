//! Cross-origin reads by browsers: refused, unless `--cors-origin` allows the origin.

use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
    ACCESS_CONTROL_REQUEST_METHOD, HeaderMap, HeaderName, HeaderValue, ORIGIN, VARY,
};
use http::request::Parts;
use http::{Method, Response, StatusCode};

use bytes::Bytes;

/// Reply headers that scripts may read, in addition to the few that they always may.
const EXPOSED: &str = "Request-Id, Sandbox-Time, Sandbox-Decision, Sandbox-Waiting, Idempotent-Replayed, ETag, Location, \
                       Retry-After, RateLimit, RateLimit-Policy, Traceparent, Sandbox-As-Of, Allow, WWW-Authenticate, \
                       Content-Disposition";
const METHODS: &str = "GET, HEAD, POST, PUT, PATCH, DELETE";
const PREFLIGHT_VARY: &str =
    "Origin, Access-Control-Request-Method, Access-Control-Request-Headers";
/// A page from the internet uses this header to ask whether it may reach a loopback address.
const REQUEST_PRIVATE: HeaderName =
    HeaderName::from_static("access-control-request-private-network");
const ALLOW_PRIVATE: HeaderName = HeaderName::from_static("access-control-allow-private-network");

/// The origins that may read replies.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cors {
    origins: Vec<String>,
    /// `*` was given. It opens only the simulated API; control routes require a named origin.
    any: bool,
    /// The headers that scripts may read, if a contract renames some.
    exposed: Option<HeaderValue>,
}

/// The kind of a request, by its head.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Preflight {
    /// An ordinary request, or a preflight that this module does not answer.
    No,
    /// A preflight for [`Cors::answer`].
    Allowed,
}

impl Cors {
    /// The values of `--cors-origin`: origins such as `https://app.test:3000`, or `*`.
    pub(crate) fn new(origins: &[String]) -> Self {
        let plain = |origin: &String| origin.trim_end_matches('/').to_ascii_lowercase();
        Self {
            origins: origins.iter().filter(|origin| *origin != "*").map(plain).collect(),
            any: origins.iter().any(|origin| origin == "*"),
            exposed: None,
        }
    }

    /// Whether a text is an origin as browsers send it, or `*` for all.
    pub(crate) fn is_origin(text: &str) -> bool {
        let is_uri = |uri: http::Uri| {
            uri.scheme().is_some() && uri.authority().is_some() && matches!(uri.path(), "" | "/")
        };
        let has_more = text.contains(['?', '#', '@']);
        matches!(text, "*" | "null") || (!has_more && text.parse().is_ok_and(is_uri))
    }

    /// Adds further headers of replies that scripts may read.
    pub(crate) fn exposing(mut self, names: &[String]) -> Self {
        if !names.is_empty() {
            let all = format!("{EXPOSED}, {}", names.join(", "));
            self.exposed = HeaderValue::try_from(all).ok();
        }
        self
    }

    /// Whether the origin was given by name.
    pub(crate) fn names(&self, origin: &HeaderValue) -> bool {
        let origin = origin.as_bytes();
        self.origins.iter().any(|own| own.as_bytes().eq_ignore_ascii_case(origin))
    }

    /// Whether the head is a preflight of an origin that may call the path.
    pub(crate) fn preflight(&self, head: &Parts, control: bool) -> Preflight {
        if head.method != Method::OPTIONS || self.is_closed() {
            return Preflight::No;
        }
        let asks = head.headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD);
        match head.headers.get(ORIGIN) {
            Some(origin) if asks && (self.names(origin) || (self.any && !control)) => {
                Preflight::Allowed
            }
            _ => Preflight::No,
        }
    }

    /// The answer to an allowed preflight; [`Cors::mark`] adds the origin.
    pub(crate) fn answer(head: &Parts) -> Response<Bytes> {
        let mut response = Response::new(Bytes::new());
        *response.status_mut() = StatusCode::NO_CONTENT;
        let headers = response.headers_mut();
        headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(METHODS));
        headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
        headers.insert(VARY, HeaderValue::from_static(PREFLIGHT_VARY));
        if let Some(names) = head.headers.get(ACCESS_CONTROL_REQUEST_HEADERS) {
            headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, names.clone());
        }
        if head.headers.contains_key(REQUEST_PRIVATE) {
            headers.insert(ALLOW_PRIVATE, HeaderValue::from_static("true"));
        }
        response
    }

    /// Tells the browser that the page may read the reply.
    pub(crate) fn mark(&self, head: &Parts, headers: &mut HeaderMap) {
        if self.is_closed() {
            return;
        }
        if !headers.contains_key(VARY) {
            headers.insert(VARY, HeaderValue::from_static("Origin"));
        } else if !names_origin(headers) {
            headers.append(VARY, HeaderValue::from_static("Origin"));
        }
        let Some(origin) = head.headers.get(ORIGIN) else { return };
        let control = crate::io::guard::is_control(head.uri.path());
        if self.names(origin) || (self.any && !control) {
            headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
            let exposed = self.exposed.clone();
            headers.insert(
                ACCESS_CONTROL_EXPOSE_HEADERS,
                exposed.unwrap_or(HeaderValue::from_static(EXPOSED)),
            );
        }
    }

    fn is_closed(&self) -> bool {
        self.origins.is_empty() && !self.any
    }
}

fn names_origin(headers: &HeaderMap) -> bool {
    let mut names = headers.get_all(VARY).iter().filter_map(|value| value.to_str().ok());
    names.any(|value| value.split(',').any(|name| name.trim().eq_ignore_ascii_case("origin")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(path: &str, origin: &str) -> Parts {
        http::Request::options(path)
            .header(ORIGIN, origin)
            .header(ACCESS_CONTROL_REQUEST_METHOD, "POST")
            .header(ACCESS_CONTROL_REQUEST_HEADERS, "authorization,idempotency-key")
            .body(())
            .expect("the head of a test is valid")
            .into_parts()
            .0
    }

    #[test]
    fn no_origin_given_means_no_header_and_no_preflight() {
        let cors = Cors::default();
        let head = options("/v1", "http://app.test");
        let mut headers = HeaderMap::new();
        cors.mark(&head, &mut headers);
        assert!(headers.is_empty());
        assert_eq!(cors.preflight(&head, false), Preflight::No);
    }

    #[test]
    fn a_named_origin_may_call_and_read() {
        let cors = Cors::new(&["http://App.test/".into()]);
        let head = options("/v1", "http://app.test");
        assert_eq!(cors.preflight(&head, false), Preflight::Allowed);
        let mut answer = Cors::answer(&head);
        cors.mark(&head, answer.headers_mut());
        assert_eq!(answer.headers()[ACCESS_CONTROL_ALLOW_ORIGIN], "http://app.test");
        assert_eq!(answer.headers()[ACCESS_CONTROL_ALLOW_HEADERS], "authorization,idempotency-key");
        assert_eq!(answer.headers().get_all(VARY).iter().count(), 1);
        assert_eq!(cors.preflight(&options("/v1", "http://other.test"), false), Preflight::No);
    }

    #[test]
    fn a_star_opens_the_api_and_not_the_control_plane() {
        let cors = Cors::new(&["*".into()]);
        assert_eq!(cors.preflight(&options("/v1", "https://a.b"), false), Preflight::Allowed);
        assert_eq!(cors.preflight(&options("/_sandbox/x", "https://a.b"), true), Preflight::No);
        let mut headers = HeaderMap::new();
        cors.mark(&options("/_sandbox/x", "https://a.b"), &mut headers);
        assert!(!headers.contains_key(ACCESS_CONTROL_ALLOW_ORIGIN));
    }

    #[test]
    fn a_page_may_read_the_documented_headers() {
        let cors = Cors::new(&["http://app.test".into()]);
        let mut headers = HeaderMap::new();
        cors.mark(&options("/v1", "http://app.test"), &mut headers);
        let exposed = headers[ACCESS_CONTROL_EXPOSE_HEADERS].to_str().expect("names are ASCII");
        for name in ["Sandbox-As-Of", "Allow", "WWW-Authenticate", "Content-Disposition", "ETag"] {
            assert!(exposed.split(", ").any(|exposed| exposed == name), "{name}");
        }
    }

    #[test]
    fn a_page_may_read_the_headers_that_a_contract_names() {
        let cors = Cors::new(&["http://app.test".into()]).exposing(&["X-Request-Id".into()]);
        let mut headers = HeaderMap::new();
        cors.mark(&options("/v1", "http://app.test"), &mut headers);
        let exposed = headers[ACCESS_CONTROL_EXPOSE_HEADERS].to_str().expect("names are ASCII");
        assert!(exposed.starts_with(EXPOSED) && exposed.ends_with(", X-Request-Id"));
    }

    #[test]
    fn replies_vary_by_origin_even_without_one() {
        let cors = Cors::new(&["http://app.test".into()]);
        let mut headers = HeaderMap::from_iter([(VARY, HeaderValue::from_static("Accept"))]);
        cors.mark(&options("/v1", "http://other.test"), &mut headers);
        assert_eq!(headers.get_all(VARY).iter().count(), 2);
        assert!(!headers.contains_key(ACCESS_CONTROL_ALLOW_ORIGIN));
    }
}
