//! Webhook signatures: Standard Webhooks, version 1. This module creates signatures, and verifies them for `sandbox
//! listen`.
//!
//! Deliberately absent: asymmetric signatures (`v1a`), which no receiver of this simulator needs.

use core::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::value::Key;

/// The prefix of every secret.
pub(crate) const PREFIX: &str = "whsec_";
/// Number of bytes of a generated secret.
const OWN_BYTES: usize = 24;
/// Maximum difference between a timestamp and the receiver's clock, in seconds.
pub(crate) const TOLERANCE_SECONDS: i64 = 5 * 60;

/// A secret shared by sender and receiver. The keyed state is created once, because creating it costs as much as signing a short message.
#[derive(Clone)]
pub(crate) struct Secret {
    text: Arc<str>,
    keyed: Hmac<Sha256>,
}

impl fmt::Debug for Secret {
    /// A secret never appears in a log.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Secret(whsec_…)")
    }
}

impl Secret {
    /// Parses `whsec_` and base64 of 24 to 64 bytes. The error does not repeat the input.
    pub(crate) fn parse(text: &str) -> Result<Self, &'static str> {
        const EXPECTED: &str = "expected whsec_ followed by base64 of 24 to 64 bytes";
        let coded = text.strip_prefix(PREFIX).ok_or(EXPECTED)?;
        let bytes = STANDARD.decode(coded).map_err(|_| EXPECTED)?;
        if (OWN_BYTES..=64).contains(&bytes.len()) {
            Ok(Self::of_bytes(&bytes))
        } else {
            Err(EXPECTED)
        }
    }

    /// The secret for that key: the same in every run.
    pub(crate) fn drawn(key: Key) -> Self {
        let words = (0..).map(|word| key.at(word).hash().to_be_bytes());
        let bytes: Vec<u8> = words.flatten().take(OWN_BYTES).collect();
        Self::of_bytes(&bytes)
    }

    fn of_bytes(bytes: &[u8]) -> Self {
        Self {
            text: format!("{PREFIX}{}", STANDARD.encode(bytes)).into(),
            keyed: Hmac::new_from_slice(bytes).expect("HMAC takes a key of any length"),
        }
    }

    /// The secret as text; it is shown once.
    pub(crate) fn reveal(&self) -> &str {
        &self.text
    }

    /// The signature `v1,…` of a message.
    pub(crate) fn sign(&self, id: &str, timestamp: i64, body: &[u8]) -> String {
        let made = self.message(id, timestamp, body).finalize().into_bytes();
        format!("v1,{}", STANDARD.encode(made))
    }

    fn message(&self, id: &str, timestamp: i64, body: &[u8]) -> Hmac<Sha256> {
        let mut mac = self.keyed.clone();
        mac.update(id.as_bytes());
        mac.update(b".");
        mac.update(timestamp.to_string().as_bytes());
        mac.update(b".");
        mac.update(body);
        mac
    }

    /// Whether a signature in the header matches this secret. Compared in constant time.
    fn matches(&self, signatures: &str, id: &str, timestamp: i64, body: &[u8]) -> bool {
        signatures
            .split(' ')
            .filter_map(|one| one.strip_prefix("v1,"))
            .filter_map(|coded| STANDARD.decode(coded).ok())
            .any(|made| self.message(id, timestamp, body).verify_slice(&made).is_ok())
    }
}

/// The three headers of a delivery as received.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Signed<'a> {
    pub(crate) id: Option<&'a str>,
    pub(crate) timestamp: Option<&'a str>,
    pub(crate) signatures: Option<&'a str>,
}

/// The result of a verification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SignatureCheck {
    Valid,
    /// The signature is valid, but the timestamp is too old or too new; it may be a replay.
    Stale,
    /// Not signed with this secret.
    Invalid,
    /// A header is missing or malformed.
    Unsigned,
}

/// Verifies a delivery as a receiver should; `now` is its own clock in seconds.
pub(crate) fn verify(secret: &Secret, signed: Signed<'_>, body: &[u8], now: i64) -> SignatureCheck {
    let (Some(id), Some(timestamp), Some(signatures)) =
        (signed.id, signed.timestamp, signed.signatures)
    else {
        return SignatureCheck::Unsigned;
    };
    let Ok(timestamp) = timestamp.parse::<i64>() else { return SignatureCheck::Unsigned };
    if !secret.matches(signatures, id, timestamp, body) {
        return SignatureCheck::Invalid;
    }
    if timestamp.abs_diff(now) > TOLERANCE_SECONDS.unsigned_abs() {
        return SignatureCheck::Stale;
    }
    SignatureCheck::Valid
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
    const ID: &str = "msg_27UH4WbU6Z5A5EzD8u03UvzRbpk";
    const AT: i64 = 1_649_367_553;
    const BODY: &[u8] = br#"{"email":"test@example.com","username":"test_user"}"#;
    const SIGNATURE: &str = "v1,tZ1I4/hDygAJgO5TYxiSd6Sd0kDW6hPenDe+bTa3Kkw=";

    fn signed<'a>(timestamp: &'a str, signatures: &'a str) -> Signed<'a> {
        Signed { id: Some(ID), timestamp: Some(timestamp), signatures: Some(signatures) }
    }

    #[test]
    fn the_published_vector_is_signed_as_published() {
        let secret = Secret::parse(SECRET).unwrap();
        assert_eq!(secret.sign(ID, AT, BODY), SIGNATURE);
        assert_eq!(secret.reveal(), SECRET);
    }

    #[test]
    fn a_receiver_takes_one_good_signature_of_several_and_nothing_else() {
        let secret = Secret::parse(SECRET).unwrap();
        let check = |timestamp: &str, signatures: &str, body: &[u8], now| {
            verify(&secret, signed(timestamp, signatures), body, now)
        };
        let (at, two) = (AT.to_string(), format!("v1,AAAA v1a,zzz {SIGNATURE}"));
        assert_eq!(check(&at, &two, BODY, AT + 300), SignatureCheck::Valid);
        assert_eq!(check(&at, &two, BODY, AT + 301), SignatureCheck::Stale);
        assert_eq!(check(&at, &two, BODY, AT - 301), SignatureCheck::Stale);
        assert_eq!(check(&at, &two, b"{}", AT), SignatureCheck::Invalid);
        assert_eq!(check("1649367554", &two, BODY, AT), SignatureCheck::Invalid);
        assert_eq!(check(&at, "v1,AAAA", BODY, AT), SignatureCheck::Invalid);
        assert_eq!(check("now", &two, BODY, AT), SignatureCheck::Unsigned);
        let nothing = verify(&secret, Signed::default(), BODY, AT);
        assert_eq!(nothing, SignatureCheck::Unsigned);
    }

    #[test]
    fn a_malformed_secret_is_refused_without_being_repeated() {
        for text in ["", "whsec_", "whsec_AAAA", "C2FVsBQI", "whsec_!!!!"] {
            let error = Secret::parse(text).unwrap_err();
            assert!(error.contains("whsec_") && (text.len() < 7 || !error.contains(text)));
        }
    }

    #[test]
    fn a_drawn_secret_is_that_of_its_seed_and_reads_back() {
        let key = Key::new(42).with("secret");
        let secret = Secret::drawn(key);
        assert_eq!(secret.reveal(), Secret::drawn(key).reveal());
        assert_ne!(secret.reveal(), Secret::drawn(key.at(1)).reveal());
        let read = Secret::parse(secret.reveal()).unwrap();
        assert_eq!(read.sign("a", 1, b"b"), secret.sign("a", 1, b"b"));
        assert!(!format!("{secret:?}").contains(&secret.reveal()[6..]));
    }
}
