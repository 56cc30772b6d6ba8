//! The checks of `Host`, `Origin` and the token of the control plane.
//!
//! Keys are easy to guess here, so they do not protect against a web page that rebinds its own name to 127.0.0.1
//! (DNS rebinding). Therefore the `Host` of every request must be a name that a third party cannot own. These
//! are pure functions over a head. Deliberately absent: CORS headers (`cors`), keys of worlds (the engine).

use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use http::header::{HOST, HeaderMap, ORIGIN, TRANSFER_ENCODING};
use http::request::Parts;
use http::uri::Authority;
use http::{HeaderName, Version};

use crate::io::cors::{Cors, Preflight};
use crate::io::quota::Quota;
use crate::value::ErrorCode;
use crate::world::script::Rate;

/// The header with the token of the control plane. It is not `Authorization`, which selects the world on
/// control routes.
pub(crate) const ADMIN_TOKEN: HeaderName = HeaderName::from_static("sandbox-admin-token");

/// The decision of the guard about a head.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum GuardDecision {
    /// Pass it to the engine.
    Pass,
    /// A preflight of a browser; this module answers it.
    Preflight,
    /// Refuse the request.
    Refuse(ErrorCode, &'static str),
    /// Refuse the request: its key may send the next one after this number of seconds.
    Wait(u64),
}

/// The rules of one server.
#[derive(Clone, Debug, Default)]
pub(crate) struct Guard {
    /// Further names this server answers to, in lower case, without port or trailing dot.
    allowed_hosts: Vec<String>,
    /// The token that control routes require, if set.
    admin_token: Option<String>,
    /// Origins that may read replies.
    pub(crate) cors: Cors,
    quota: Option<Arc<Quota>>,
}

impl Guard {
    /// Rules with the values of `--allowed-host`, `--admin-token` and `--cors-origin`.
    pub(crate) fn new(allowed_hosts: &[String], admin_token: Option<String>, cors: Cors) -> Self {
        let plain = |host: &String| host.trim_end_matches('.').to_ascii_lowercase();
        let allowed_hosts = allowed_hosts.iter().map(plain).collect();
        Self { allowed_hosts, admin_token, cors, quota: None }
    }

    /// The guard with the value of `--quota`.
    pub(crate) fn with_quota(self, quota: Option<Rate>) -> Self {
        Self { quota: quota.map(|rate| Arc::new(Quota::new(rate))), ..self }
    }

    /// Checks a head, in the order host, preflight, origin, token, quota.
    pub(crate) fn judge(&self, head: &Parts) -> GuardDecision {
        if let Err((code, detail)) = check_coding(head).and_then(|()| self.check_host(head)) {
            return GuardDecision::Refuse(code, detail);
        }
        let control = is_control(head.uri.path());
        match self.cors.preflight(head, control) {
            Preflight::No => {}
            Preflight::Allowed => return GuardDecision::Preflight,
        }
        if control && let Err((code, detail)) = self.check_control(head) {
            return GuardDecision::Refuse(code, detail);
        }
        let quota = self.quota.as_ref().filter(|_| !WITHOUT_TOKEN.contains(&head.uri.path()));
        match quota.map_or(Ok(()), |quota| quota.take(&head.headers)) {
            Ok(()) => GuardDecision::Pass,
            Err(seconds) => GuardDecision::Wait(seconds),
        }
    }

    /// Requires one valid `Host` with an allowed name. The authority of an absolute target is checked, too.
    /// HTTP/1.0 may omit `Host`.
    fn check_host(&self, head: &Parts) -> Result<(), (ErrorCode, &'static str)> {
        let mut hosts = head.headers.get_all(HOST).iter();
        match (hosts.next(), hosts.next()) {
            (Some(host), None) => {
                let name = host_name(host.as_bytes()).ok_or(MALFORMED_HOST)?;
                self.check_name(name)?;
            }
            (Some(_), Some(_)) => {
                return Err((
                    ErrorCode::InvalidHeader,
                    "the request has more than one Host header",
                ));
            }
            (None, _) if head.version == Version::HTTP_10 => {}
            (None, _) => {
                return Err((ErrorCode::InvalidHeader, "the request has no Host header"));
            }
        }
        match head.uri.authority().map(Authority::as_str) {
            None => Ok(()),
            Some(target) => {
                let bare = target.rsplit_once('@').map_or(target, |(_, host)| host);
                self.check_name(host_name(bare.as_bytes()).ok_or(MALFORMED_HOST)?)
            }
        }
    }

    fn check_name(&self, name: &str) -> Result<(), (ErrorCode, &'static str)> {
        if is_ours(name) || self.is_allowed(name) {
            return Ok(());
        }
        Err((
            ErrorCode::MisdirectedRequest,
            "the Host header names a host that this sandbox does not accept; allow it with --allowed-host HOST",
        ))
    }

    fn is_allowed(&self, name: &str) -> bool {
        let name = name.strip_suffix('.').unwrap_or(name);
        self.allowed_hosts.iter().any(|allowed| allowed.eq_ignore_ascii_case(name))
    }

    /// Control routes affect other clients. Therefore pages of other origins may not call them, and if a token
    /// is set, every caller needs it.
    fn check_control(&self, head: &Parts) -> Result<(), (ErrorCode, &'static str)> {
        let foreign = |origin: &http::HeaderValue| {
            !self.cors.names(origin) && !is_same_origin(origin.as_bytes(), &head.headers)
        };
        if head.headers.get_all(ORIGIN).iter().any(foreign) {
            return Err((
                ErrorCode::Forbidden,
                "control routes refuse pages of other origins; allow the origin with --cors-origin",
            ));
        }
        let Some(token) = &self.admin_token else { return Ok(()) };
        if WITHOUT_TOKEN.contains(&head.uri.path()) {
            return Ok(());
        }
        match head.headers.get(ADMIN_TOKEN) {
            None => Err((
                ErrorCode::MissingCredentials,
                "control routes need the header Sandbox-Admin-Token",
            )),
            Some(given) if same_bytes(given.as_bytes(), token.as_bytes()) => Ok(()),
            Some(_) => Err((ErrorCode::Forbidden, "the header Sandbox-Admin-Token is wrong")),
        }
    }
}

/// Only `chunked` is decoded. A body in another coding would be read as if it was plain (RFC 9112, section 6.1).
fn check_coding(head: &Parts) -> Result<(), (ErrorCode, &'static str)> {
    let is_chunked =
        |value: &http::HeaderValue| value.as_bytes().trim_ascii().eq_ignore_ascii_case(b"chunked");
    if head.headers.get_all(TRANSFER_ENCODING).iter().all(is_chunked) {
        return Ok(());
    }
    Err((ErrorCode::NotImplemented, "the only transfer coding that is implemented is chunked"))
}

/// Paths that a proxy or an orchestrator reads, without a token and without a quota.
const WITHOUT_TOKEN: [&str; 2] = ["/_sandbox/health", "/_sandbox/ready"];

const MALFORMED_HOST: (ErrorCode, &str) =
    (ErrorCode::InvalidHeader, "the Host header is not a host and an optional port");

/// Whether the path belongs to the control plane.
pub(crate) fn is_control(path: &str) -> bool {
    path.strip_prefix("/_sandbox").is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The host of `host[:port]`, an IPv6 address with its brackets; `None` if it is malformed.
fn host_name(value: &[u8]) -> Option<&str> {
    let value = std::str::from_utf8(value).ok()?;
    let end = if value.starts_with('[') {
        value.find(']')? + 1
    } else {
        value.find(':').unwrap_or(value.len())
    };
    let (name, port) = value.split_at(end);
    let port = match port.strip_prefix(':') {
        None if port.is_empty() => "",
        None => return None,
        Some(digits) => digits,
    };
    let is_port = port.len() <= 5 && port.bytes().all(|byte| byte.is_ascii_digit());
    (is_port && is_host(name)).then_some(name)
}

/// Whether a `Host` header can have this name.
pub(crate) fn is_host(name: &str) -> bool {
    if let Some(inner) = name.strip_prefix('[') {
        let inner = inner.strip_suffix(']').unwrap_or(inner);
        return inner.bytes().all(|byte| byte.is_ascii_hexdigit() || b":.%".contains(&byte));
    }
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~%!$&'()*+,;=".contains(&byte);
    !name.is_empty() && name != "." && name.bytes().all(allowed)
}

/// Whether a third party cannot own the name: it is an address, a name without a public top level, or a reserved
/// name. Names under `local` do not count, because every machine of the network can own one.
fn is_ours(name: &str) -> bool {
    if let Some(inner) = name.strip_prefix('[') {
        return inner.strip_suffix(']').is_some_and(|text| text.parse::<Ipv6Addr>().is_ok());
    }
    let name = name.strip_suffix('.').unwrap_or(name);
    if !name.contains('.') || name.parse::<Ipv4Addr>().is_ok() {
        return true;
    }
    let top = name.rsplit('.').next().unwrap_or(name);
    ["localhost", "internal", "test"].iter().any(|own| top.eq_ignore_ascii_case(own))
}

/// Whether this server served the page; its `Host` was checked before.
fn is_same_origin(origin: &[u8], headers: &HeaderMap) -> bool {
    let authority = origin.strip_prefix(b"http://").or_else(|| origin.strip_prefix(b"https://"));
    match (authority, headers.get(HOST)) {
        (Some(authority), Some(host)) => authority.eq_ignore_ascii_case(host.as_bytes()),
        _ => false,
    }
}

/// Comparison whose time reveals only the length.
fn same_bytes(left: &[u8], right: &[u8]) -> bool {
    let differing = left.iter().zip(right).fold(0, |bits, (one, other)| bits | (one ^ other));
    left.len() == right.len() && differing == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(path: &str, headers: &[(&str, &str)]) -> Parts {
        let mut request = http::Request::builder().uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(()).expect("the head of a test is valid").into_parts().0
    }

    fn code(verdict: GuardDecision) -> Option<ErrorCode> {
        match verdict {
            GuardDecision::Refuse(code, _) => Some(code),
            GuardDecision::Wait(_) => Some(ErrorCode::RateLimited),
            GuardDecision::Pass | GuardDecision::Preflight => None,
        }
    }

    #[test]
    fn host_names_that_no_third_party_can_own_are_accepted() {
        let guard = Guard::new(&["api.example.com".into()], None, Cors::default());
        for host in [
            "127.0.0.1",
            "127.0.0.1:8080",
            "10.1.2.3:1",
            "[::1]",
            "[::1]:8080",
            "[fe80::1]:80",
            "localhost",
            "LocalHost:8080",
            "localhost.",
            "app.localhost:3000",
            "sandbox",
            "sandbox:8080",
            "x.internal",
            "a.TEST.",
            "api.example.com",
            "API.example.com.:443",
            "localhost:",
        ] {
            assert_eq!(guard.judge(&head("/v1", &[("host", host)])), GuardDecision::Pass, "{host}");
        }
    }

    #[test]
    fn host_names_that_a_third_party_can_own_are_refused() {
        let guard = Guard::new(&["api.example.com".into()], None, Cors::default());
        for host in [
            "evil.com",
            "evil.com:8080",
            "localhost.evil.com",
            "127.0.0.1.evil.com",
            "evillocal.com",
            "printer.local",
            "api.example.com.evil.com",
            "www.api.example.com",
            "a.b.nottest",
            "[::g]",
            "256.1.1.1",
        ] {
            let verdict = guard.judge(&head("/v1", &[("host", host)]));
            let expected = if host == "[::g]" {
                ErrorCode::InvalidHeader
            } else {
                ErrorCode::MisdirectedRequest
            };
            assert_eq!(code(verdict), Some(expected), "{host}");
        }
    }

    #[test]
    fn malformed_hosts_are_refused() {
        let guard = Guard::default();
        for host in [
            "",
            ":80",
            "a b",
            "a/b",
            "a@b",
            "localhost:80a",
            "localhost:123456",
            "[::1",
            "[::1]x",
            ".",
        ] {
            let verdict = guard.judge(&head("/v1", &[("host", host)]));
            assert_eq!(code(verdict), Some(ErrorCode::InvalidHeader), "{host:?}");
        }
    }

    #[test]
    fn the_authority_of_an_absolute_target_is_checked_too() {
        let guard = Guard::default();
        let judge = |target| code(guard.judge(&head(target, &[("host", "localhost")])));
        assert_eq!(judge("http://127.0.0.1:8080/v1"), None);
        assert_eq!(judge("http://evil.com/v1"), Some(ErrorCode::MisdirectedRequest));
        assert_eq!(judge("http://localhost@evil.com/v1"), Some(ErrorCode::MisdirectedRequest));
    }

    #[test]
    fn a_body_in_an_unknown_transfer_coding_is_refused() {
        let guard = Guard::default();
        let judge = |coding| {
            let headers = [("host", "localhost"), ("transfer-encoding", coding)];
            code(guard.judge(&head("/v1", &headers)))
        };
        assert_eq!(judge("Chunked"), None);
        for unknown in ["gzip, chunked", "gzip", "identity", "chunked, chunked"] {
            assert_eq!(judge(unknown), Some(ErrorCode::NotImplemented), "{unknown}");
        }
    }

    #[test]
    fn control_routes_refuse_foreign_pages() {
        let guard = Guard::new(&[], None, Cors::new(&["http://app.test".into(), "*".into()]));
        let judge = |path, origin| {
            code(guard.judge(&head(path, &[("host", "localhost:8080"), ("origin", origin)])))
        };
        assert_eq!(judge("/_sandbox/reset", "http://localhost:8080"), None);
        assert_eq!(judge("/_sandbox/reset", "http://app.test"), None);
        for foreign in ["http://evil.com", "null", "http://localhost:9090", "localhost:8080"] {
            assert_eq!(judge("/_sandbox/reset", foreign), Some(ErrorCode::Forbidden), "{foreign}");
        }
        assert_eq!(judge("/_sandboxes", "http://evil.com"), None);
        assert_eq!(judge("/v1/payroll", "http://evil.com"), None);
    }

    #[test]
    fn control_routes_need_the_token_if_one_is_set() {
        let guard = Guard::new(&[], Some("s3cret".into()), Cors::default());
        let judge = |path, name, token| {
            code(guard.judge(&head(path, &[("host", "localhost"), (name, token)])))
        };
        assert_eq!(judge("/_sandbox/worlds", "sandbox-admin-token", "s3cret"), None);
        assert_eq!(judge("/v1/payroll", "x", "y"), None);
        assert_eq!(judge("/_sandbox/health", "x", "y"), None);
        assert_eq!(judge("/_sandbox/ready", "x", "y"), None);
        let wrong = [
            ("x", "y", ErrorCode::MissingCredentials),
            ("sandbox-admin-token", "s3cre", ErrorCode::Forbidden),
            ("sandbox-admin-token", "s3creT", ErrorCode::Forbidden),
        ];
        for (name, token, expected) in wrong {
            assert_eq!(judge("/_sandbox", name, token), Some(expected), "{name}: {token}");
        }
    }
}
