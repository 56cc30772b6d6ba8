//! What a header is for, by its name or its value.

use crate::cli::learn::call::{Headers, Shape};

/// `Idempotency-Key`, `X-Idem`, `idempotency_key_invalid`.
pub(super) fn is_idempotency(name: &str) -> bool {
    words(name).any(|word| word.starts_with("idem"))
}

/// `Api-Version`, `X-Ver`, `X-Acme-Version`.
pub(super) fn is_version(name: &str) -> bool {
    words(name).any(|word| ["ver", "version", "apiversion"].contains(&word.as_str()))
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
        assert!(["Api-Version", "X-Ver", "version"].into_iter().all(is_version));
        assert!(
            ["Request-Id", "x-requestid", "X-Correlation-Id", "X-Rid"]
                .into_iter()
                .all(is_request_id)
        );
        for other in
            ["If-Match", "Server", "Content-Type", "Location", "Retry-After", "X-Over", "Hybrid"]
        {
            assert!(
                ![is_idempotency, is_version, is_request_id].iter().any(|fits| fits(other)),
                "{other}"
            );
        }
    }
}
