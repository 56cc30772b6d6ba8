//! Detects the purpose of a header from its name or its value.

use crate::cli::learn::call::{Headers, Shape};

/// `Idempotency-Key`, `X-Idem`, `idempotency_key_invalid`.
pub(super) fn is_idempotency(name: &str) -> bool {
    words(name).any(|word| word.starts_with("idem"))
}

/// Words for programs in the names of headers with the version of a program.
const PROGRAMS: [&str; 17] = [
    "agent",
    "android",
    "app",
    "application",
    "browser",
    "build",
    "client",
    "device",
    "frontend",
    "ios",
    "library",
    "mime",
    "mobile",
    "os",
    "platform",
    "sdk",
    "web",
];

/// `Api-Version`, `X-Ver`, `X-Acme-Version`. Others, such as `X-App-Version` and the client hints of a browser, name a version of a program.
pub(super) fn is_version(name: &str) -> bool {
    let (version, others): (Vec<String>, Vec<String>) = words(name)
        .filter(|word| word != "x")
        .partition(|word| ["ver", "version", "apiversion"].contains(&word.as_str()));
    let is_of_api = match others.as_slice() {
        [] => true,
        [one] => !PROGRAMS.contains(&one.as_str()),
        many => many.iter().any(|word| word == "api"),
    };
    !version.is_empty() && is_of_api
}

/// `Request-Id`, `X-Correlation-Id`, `X-Rid`.
pub(super) fn is_request_id(name: &str) -> bool {
    let plain: String = words(name).collect();
    ["requestid", "correlationid"].iter().any(|part| plain.contains(part))
        || words(name).any(|word| ["rid", "reqid"].contains(&word.as_str()))
}

/// The parts of a name, in lower case.
fn words(name: &str) -> impl Iterator<Item = String> {
    name.split(['-', '_']).map(str::to_ascii_lowercase)
}

/// The header that has the id of its request as its value: an id of the sandbox's form, or the one that the error names.
pub(super) fn with_request_id<'h>(headers: &'h Headers, reply: &Shape) -> Option<&'h str> {
    let error = reply.member("error").unwrap_or(reply);
    let named = error.member("request_id").and_then(Shape::text);
    let is_id = |value: &str| value.starts_with("req_") || named == Some(value);
    let mut found = headers.values().filter(|(_, value)| !value.is_empty() && is_id(value));
    found.next().map(|(written, _)| written.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_names_are_known_and_other_headers_are_not() {
        assert!(["Idempotency-Key", "X-Idem", "x-idempotent-key"].into_iter().all(is_idempotency));
        assert!(
            ["Api-Version", "X-Ver", "version", "X-Acme-Version", "X-Acme-Api-Version"]
                .into_iter()
                .all(is_version)
        );
        assert!(
            ["Request-Id", "x-requestid", "X-Correlation-Id", "X-Rid"]
                .into_iter()
                .all(is_request_id)
        );
        let others =
            ["If-Match", "Server", "Content-Type", "Location", "Retry-After", "X-Over", "Hybrid"];
        let programs = ["sec-ch-ua-platform-version", "X-App-Version", "X-Client-Version"];
        for other in others.into_iter().chain(programs) {
            assert!(
                ![is_idempotency, is_version, is_request_id].iter().any(|fits| fits(other)),
                "{other}"
            );
        }
    }
}
