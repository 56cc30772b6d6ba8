//! API keys: how a request sends one, and which of them can open a world.

use http::HeaderMap;
use http::header::AUTHORIZATION;

use crate::value::error::{ApiError, ErrorCode};

/// The key of `Authorization: Bearer KEY` (specification, §5).
pub(super) fn bearer(headers: &HeaderMap) -> Result<&str, ApiError> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let Some(value) = values.next() else {
        return Err(unauthorized(
            ErrorCode::MissingCredentials,
            "send Authorization: Bearer <API_KEY>; every test key opens a world",
        ));
    };
    let malformed = || {
        unauthorized(
            ErrorCode::InvalidApiKey,
            "expected one header, Authorization: Bearer <API_KEY>, with 1 to 255 visible ASCII characters",
        )
    };
    let text = value.to_str().map_err(|_| malformed())?;
    let (scheme, key) = text.split_once(' ').ok_or_else(malformed)?;
    let key = key.trim_start_matches(' ');
    let good =
        scheme.eq_ignore_ascii_case("bearer") && is_well_formed(key) && values.next().is_none();
    if good { Ok(key) } else { Err(malformed()) }
}

/// Whether a request can send this key.
pub(super) fn is_well_formed(key: &str) -> bool {
    (1..=255).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Whether a request with this key could open a world.
pub(crate) fn is_usable_key(key: &str, refuse_live: bool) -> bool {
    is_well_formed(key) && !(refuse_live && looks_live(key))
}

/// The usual forms of live keys.
pub(super) fn looks_live(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    key.starts_with("live_")
        || key.starts_with("live-")
        || key.contains("_live_")
        || key.contains("-live-")
}

pub(super) fn unauthorized(code: ErrorCode, detail: &str) -> ApiError {
    let mut error = ApiError::new(code, detail);
    error.header = Some(("www-authenticate", "Bearer".to_owned()));
    error
}
