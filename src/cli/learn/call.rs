//! The calls of the real service in one form: recorded calls, and calls described by a document.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::api::operation::Operation;

/// A call and its reply.
pub(super) struct Call {
    /// Its place, for messages: `real.har, entry 4`.
    pub(super) at: String,
    /// Whether the call was recorded. Otherwise a document describes it.
    pub(super) is_seen: bool,
    pub(super) method: String,
    pub(super) host: String,
    /// The complete path. That of a document has `{parameters}`.
    pub(super) path: String,
    pub(super) operation_id: Option<String>,
    pub(super) query: BTreeMap<String, String>,
    /// The request's headers; none if the file does not show them.
    pub(super) sent: Option<Headers>,
    pub(super) key: Key,
    /// The parameters that a document declares.
    pub(super) parameters: Vec<Parameter>,
    pub(super) request: Shape,
    pub(super) status: u16,
    /// The reply's headers; none if the file does not show them.
    pub(super) replied: Option<Headers>,
    pub(super) reply: Shape,
    /// The operation of the sandbox, found later.
    pub(super) row: Option<&'static Operation>,
}

impl Call {
    pub(super) fn new(at: String, method: &str, path: &str, status: u16) -> Self {
        Self {
            at,
            is_seen: true,
            method: method.to_ascii_uppercase(),
            host: String::new(),
            path: path.to_owned(),
            operation_id: None,
            query: BTreeMap::new(),
            sent: None,
            key: Key::Unknown,
            parameters: Vec::new(),
            request: Shape::Unknown,
            status,
            replied: None,
            reply: Shape::Unknown,
            row: None,
        }
    }

    pub(super) const fn succeeds(&self) -> bool {
        matches!(self.status, 200..300)
    }

    /// Whether it proves that its operation exists: a document describes it, or the service executed the call or
    /// refused its content. Refusals of paths or keys, and server errors, prove nothing.
    pub(super) fn shows_its_operation(&self) -> bool {
        let is_about_content = matches!(self.status, 402 | 409 | 412 | 422);
        !self.is_seen || self.succeeds() || is_about_content && self.reply != Shape::Unknown
    }

    pub(super) const fn is_refused(&self) -> bool {
        self.status >= 400
    }

    /// A parameter of the document, in the query.
    pub(super) fn parameter(&self, name: &str) -> Option<&Parameter> {
        self.parameters.iter().find(|it| it.place == "query" && it.name == name)
    }
}

/// The API key of a call. The key itself is never kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    /// The file does not show it.
    Unknown,
    Absent,
    Test,
    Live,
}

/// A parameter of a document.
#[derive(Debug)]
pub(super) struct Parameter {
    pub(super) name: String,
    /// `query`, `header` or `path`.
    pub(super) place: String,
    pub(super) is_required: bool,
    pub(super) default: Option<u64>,
    pub(super) maximum: Option<u64>,
}

/// Headers by their names in lower case: the name as it is written, and the value. Credentials have no value.
pub(super) type Headers = BTreeMap<String, (String, String)>;

/// The form of a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Unknown,
    Null,
    Truth,
    /// With the recorded number.
    Integer(Option<i64>),
    Decimal,
    /// The possible or recorded values, and the format in a document.
    Text(Vec<String>, Option<String>),
    /// The recorded rows. A list of a document has one row for all.
    List(Vec<Self>),
    /// The members, each with whether it is always there.
    Object(BTreeMap<String, (Self, bool)>),
}

impl Shape {
    /// The form of a value that was seen.
    pub(super) fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(_) => Self::Truth,
            Value::Number(number) if number.is_f64() => Self::Decimal,
            Value::Number(number) => Self::Integer(number.as_i64()),
            Value::String(text) => Self::Text(vec![text.clone()], None),
            Value::Array(items) => Self::List(items.iter().map(Self::of).collect()),
            Value::Object(members) => {
                let members = members.iter();
                Self::Object(
                    members.map(|(name, it)| (name.clone(), (Self::of(it), true))).collect(),
                )
            }
        }
    }

    pub(super) fn member(&self, name: &str) -> Option<&Self> {
        let Self::Object(members) = self else { return None };
        members.get(name).map(|(shape, _)| shape)
    }

    /// The recorded number.
    pub(super) const fn number(&self) -> Option<i64> {
        if let Self::Integer(number) = self { *number } else { None }
    }

    /// The recorded text.
    pub(super) fn text(&self) -> Option<&str> {
        if let Self::Text(values, None) = self { values.first().map(String::as_str) } else { None }
    }

    /// The name of its type.
    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Null => "null",
            Self::Truth => "a boolean",
            Self::Integer(_) => "an integer",
            Self::Decimal => "a number with a fraction",
            Self::Text(..) => "a text",
            Self::List(_) => "a list",
            Self::Object(_) => "an object",
        }
    }
}
