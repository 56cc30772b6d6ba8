//! Names that exist once in memory, such as those of events and operations.

use core::fmt;
use core::ops::Deref;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A name of a fixed set.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Interned(&'static str);

impl Interned {
    /// The name with this text. It stays in memory until the process ends, so the set of names must be small.
    pub(crate) fn of(text: &str) -> Self {
        static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
        let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = names.get(text) {
            return Self(known);
        }
        let name: &'static str = text.to_owned().leak();
        names.insert(name);
        Self(name)
    }
}

impl From<&'static str> for Interned {
    fn from(name: &'static str) -> Self {
        Self(name)
    }
}

impl Deref for Interned {
    type Target = str;

    fn deref(&self) -> &str {
        self.0
    }
}

impl PartialEq<str> for Interned {
    fn eq(&self, other: &str) -> bool {
        self.0 == other
    }
}

impl PartialEq<&str> for Interned {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}

impl fmt::Display for Interned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl fmt::Debug for Interned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.0, f)
    }
}

impl Serialize for Interned {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0)
    }
}

impl<'de> Deserialize<'de> for Interned {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::of(&Cow::<'de, str>::deserialize(deserializer)?))
    }
}
