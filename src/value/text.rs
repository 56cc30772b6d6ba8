//! Text from callers: the type limits its length and excludes control characters.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize, Serializer};

/// Between 1 and `MAX` characters, without control characters.
///
/// The limits are in the schema, which validates them. NUL in particular breaks C strings, terminals and databases of the caller.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Text<const MAX: usize>(String);

impl<const MAX: usize> Text<MAX> {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text, owned.
    #[must_use]
    pub fn into_string(self) -> String {
        self.0
    }
}

impl<const MAX: usize> JsonSchema for Text<MAX> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Text{MAX}").into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "minLength": 1, "maxLength": MAX, "format": "text", "pattern": NO_CONTROL })
    }
}

/// Whether text can be a name or a title: no control characters, and not only white space. The length limits cover empty text.
pub(crate) fn plain(text: &str) -> Result<(), &'static str> {
    if text.contains(char::is_control) {
        return Err("expected text without control characters");
    }
    if !text.is_empty() && text.trim().is_empty() {
        return Err("expected more than white space");
    }
    Ok(())
}

/// Bytes as text. Those that are not UTF-8 become U+FFFD.
pub(crate) fn lossy(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// `listEmployees` for `list_employees`.
pub(crate) fn camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let mut camel = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut letters = word.chars();
        camel.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        camel.push_str(letters.as_str());
    }
    camel
}

/// No C0 or C1 control character and no DEL.
pub(crate) const NO_CONTROL: &str = "^[^\\u0000-\\u001f\\u007f-\\u009f]*$";

/// Up to 50 key-value pairs set by the caller: keys up to 40 characters, values up to 500.
///
/// Most resources have none, and every version of a resource is stored, so none takes one word. The versions share
/// the others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "BTreeMap<String, String>")]
pub struct Metadata(Option<Arc<BTreeMap<String, String>>>);

impl Metadata {
    /// The pairs, by key.
    #[must_use]
    pub fn pairs(&self) -> &BTreeMap<String, String> {
        static NONE: BTreeMap<String, String> = BTreeMap::new();
        self.0.as_deref().unwrap_or(&NONE)
    }
}

impl From<BTreeMap<String, String>> for Metadata {
    fn from(pairs: BTreeMap<String, String>) -> Self {
        Self((!pairs.is_empty()).then(|| Arc::new(pairs)))
    }
}

impl Serialize for Metadata {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.pairs().serialize(serializer)
    }
}

impl JsonSchema for Metadata {
    fn schema_name() -> Cow<'static, str> {
        "Metadata".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "description": "Up to 50 key-value pairs set by the caller: keys up to 40 characters, \
                values up to 500.",
            "maxProperties": 50,
            "propertyNames": { "minLength": 1, "maxLength": 40, "pattern": NO_CONTROL },
            "additionalProperties": { "type": "string", "maxLength": 500 },
        })
    }
}

/// An e-mail address; only its format is checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Email(String);

impl Email {
    /// The address.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl JsonSchema for Email {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Email".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "maxLength": 254, "pattern": "^[^@\\s\\u0000-\\u001f]+@[^@\\s\\u0000-\\u001f]+$" })
    }
}
