//! Keys are secrets: a recording contains their hashes, which also identify the worlds.

use core::fmt;
use core::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha2::{Digest, Sha256};

/// The name of a world whose key is unknown. A key of this form opens only replayed worlds.
const RECORDED: &str = "recorded_";

/// Random for each recording, so that hashes of two recordings cannot be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Salt(pub(crate) [u8; 16]);

/// SHA-256 of salt and key, cut to 128 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct KeyHash([u8; 16]);

impl KeyHash {
    #[cfg(test)]
    pub(crate) const EMPTY: Self = Self([0; 16]);

    /// The hash of a key. For a key that was made from a hash, this hash.
    pub(crate) fn of(salt: Salt, key: &str) -> Self {
        Self::recorded(key).unwrap_or_else(|| {
            let digest = Sha256::new().chain_update(salt.0).chain_update(key).finalize();
            let mut hash = [0; 16];
            hash.copy_from_slice(&digest[..16]);
            Self(hash)
        })
    }

    /// A hash that was stored as bytes.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// Its bytes.
    pub(crate) const fn bytes(self) -> [u8; 16] {
        self.0
    }

    /// The hash from which a key was made.
    pub(crate) fn recorded(key: &str) -> Option<Self> {
        key.strip_prefix(RECORDED)?.parse().ok()
    }

    /// The key that represents a hash.
    pub(crate) fn as_key(self) -> String {
        format!("{RECORDED}{self}")
    }
}

fn write_hex(bytes: [u8; 16], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
}

fn read_hex(text: &str) -> Result<[u8; 16], &'static str> {
    const EXPECTED: &str = "expected 32 hexadecimal digits";
    let mut bytes = [0; 16];
    if text.len() != 32 || !text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')) {
        return Err(EXPECTED);
    }
    for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
        let pair = core::str::from_utf8(pair).map_err(|_| EXPECTED)?;
        *byte = u8::from_str_radix(pair, 16).map_err(|_| EXPECTED)?;
    }
    Ok(bytes)
}

macro_rules! hexadecimal {
    ($type:ident) => {
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write_hex(self.0, f)
            }
        }

        impl FromStr for $type {
            type Err = &'static str;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                read_hex(text).map(Self)
            }
        }

        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                text.parse().map_err(de::Error::custom)
            }
        }
    };
}

hexadecimal!(Salt);
hexadecimal!(KeyHash);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_made_from_a_hash_has_that_hash() {
        let hash = KeyHash::of(Salt([7; 16]), "test_key");
        assert_ne!(hash, KeyHash::of(Salt([8; 16]), "test_key"));
        assert_ne!(hash, KeyHash::of(Salt([7; 16]), "test_kex"));
        assert_eq!(hash, KeyHash::of(Salt([9; 16]), &hash.as_key()));
        assert_eq!(hash.to_string().parse(), Ok(hash));
        assert_eq!(KeyHash::recorded("recorded_of_yesterday"), None);
    }
}
