//! API keys: how a request sends one, and which of them can open a world.

use std::fmt;
use std::str::FromStr;

use http::HeaderMap;
use http::header::AUTHORIZATION;

use crate::value::error::{ApiError, ErrorCode};

/// The key of `Authorization: Bearer KEY` (specification, §5).
pub(crate) fn bearer(headers: &HeaderMap) -> Result<&str, ApiError> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let Some(value) = values.next() else {
        return Err(unauthorized(
            ErrorCode::MissingCredentials,
            "send Authorization: Bearer <API_KEY>; every test key opens a world, unless the server was started with --api-key or --key-space",
        ));
    };
    let malformed = || {
        unauthorized(
            ErrorCode::InvalidApiKey,
            "expected one header, Authorization: Bearer <API_KEY>, with 1 to 255 visible ASCII characters",
        )
    };
    let (scheme, key) = value.as_bytes().split_at_checked(SCHEME.len()).ok_or_else(malformed)?;
    let spaces = key.iter().take_while(|byte| **byte == b' ').count();
    let key = str::from_utf8(&key[spaces..]).map_err(|_| malformed())?;
    let good = spaces > 0
        && scheme.eq_ignore_ascii_case(SCHEME)
        && is_well_formed(key)
        && values.next().is_none();
    if good { Ok(key) } else { Err(malformed()) }
}

const SCHEME: &[u8] = b"bearer";

/// Whether a request can send this key.
pub(super) fn is_well_formed(key: &str) -> bool {
    (1..=255).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Whether a request with this key could open a world.
pub(crate) fn is_usable_key(key: &str, refuse_live: bool) -> bool {
    is_well_formed(key) && !(refuse_live && looks_live(key))
}

/// The keys of a team: all that begin with its secret and a dot.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct KeySpace {
    /// The name of the team, which is no secret.
    name: String,
    secret: String,
}

impl KeySpace {
    /// Whether the key belongs to the team.
    pub(super) fn contains(&self, key: &str) -> bool {
        let rest = key.strip_prefix(self.secret.as_str()).and_then(|rest| rest.strip_prefix('.'));
        rest.is_some_and(|rest| !rest.is_empty())
    }

    /// Reads the values of `--key-space`. No message repeats a secret.
    pub(crate) fn list(given: &[String]) -> Result<Vec<Self>, String> {
        let mut spaces: Vec<Self> = Vec::with_capacity(given.len());
        for text in given {
            let space: Self = text.parse().map_err(|why| format!("--key-space: {why}"))?;
            let same = |other: &Self| other.name == space.name || other.secret == space.secret;
            if spaces.iter().any(same) {
                return Err("--key-space: two teams have the same name or secret".to_owned());
            }
            spaces.push(space);
        }
        Ok(spaces)
    }
}

/// `NAME=SECRET`.
impl FromStr for KeySpace {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const EXPECTED: &str = "expected NAME=SECRET: NAME has 1 to 32 letters, digits, `-` and \
            `_`; SECRET has 8 to 128 visible ASCII characters without a dot, and does not look \
            like a live key";
        let (name, secret) = text.split_once('=').ok_or(EXPECTED)?;
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
        let is_name = (1..=32).contains(&name.len()) && name.bytes().all(is_word);
        let is_secret = (8..=128).contains(&secret.len())
            && secret.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'.')
            && !looks_live(secret);
        if is_name && is_secret {
            Ok(Self { name: name.to_owned(), secret: secret.to_owned() })
        } else {
            Err(EXPECTED)
        }
    }
}

/// Without the secret.
impl fmt::Debug for KeySpace {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "KeySpace({})", self.name)
    }
}

/// The usual forms of live keys.
pub(crate) fn looks_live(key: &str) -> bool {
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
