//! The code of a country.

use core::fmt;
use core::ops::Deref;
use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The two letters of a country, ISO 3166-1 alpha-2.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct CountryCode([u8; 2]);

impl CountryCode {
    /// None if the text is not two ASCII letters.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let letters: [u8; 2] = text.as_bytes().try_into().ok()?;
        letters.iter().all(u8::is_ascii_alphabetic).then_some(Self(letters))
    }
}

impl Deref for CountryCode {
    type Target = str;

    fn deref(&self) -> &str {
        core::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl fmt::Display for CountryCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

impl fmt::Debug for CountryCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl Serialize for CountryCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

impl<'de> Deserialize<'de> for CountryCode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<'de, str>::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| de::Error::custom("a country has two letters"))
    }
}
