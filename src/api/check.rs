//! Validation with the JSON Schema that the document publishes.
//!
//! A schema is compiled once, when the table is built. An unsupported keyword stops the process, so all published
//! rules are enforced. A check finds every violation with its JSON pointer, and allocates nothing if there is none.
//! May import `value` and `json`. Deliberately absent: `serde`; a test checks for every input that accepted values
//! decode.
//!
//! The dialect is the part of JSON Schema 2020-12 that schemars 1.2 emits. No input needs fractions, tuples, `not`,
//! or members beside `$ref`, `oneOf` or `anyOf` (closing such an object would need `unevaluatedProperties`), so they
//! are unsupported.

mod close;
mod compile;
#[cfg(test)]
mod tests;
mod vocabulary;
mod walk;
mod words;

use regex_lite::Regex;
use serde_json::Value;

use crate::value::text::NO_CONTROL;

pub(crate) use self::close::close;
pub(crate) use self::walk::Faults;
pub(crate) use self::words::{came, near_events, suggestion};

/// A compiled schema.
pub(crate) struct Checker {
    nodes: Vec<Node>,
    root: NodeId,
}

/// Index of a node in [`Checker::nodes`]. Schemas may refer to each other and to themselves.
type NodeId = usize;

impl Checker {
    /// How to read a member in a path or query; `None` if the schema does not have it.
    pub(crate) fn carried(&self, name: &str) -> Option<Carried> {
        let member = self.member(self.root, name)?;
        let types = self.types(member.node);
        let list = types.contains(Types::ARRAY) && !types.contains(Types::STRING);
        Some(if list {
            Carried { types: self.items(member.node), list }
        } else {
            Carried { types, list }
        })
    }

    /// The names of the members of the root object, in the schema's order.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.members(self.root).map(|member| &*member.name)
    }

    /// Whether `{}` passes.
    pub(crate) fn accepts_empty(&self) -> bool {
        self.requires_only(&[])
    }

    /// Whether only those members are required. With the names in the path, the result shows whether the body is
    /// optional.
    pub(crate) fn requires_only(&self, given: &[&str]) -> bool {
        self.is_whole(self.root, given)
    }

    fn is_whole(&self, id: NodeId, given: &[&str]) -> bool {
        let node = &self.nodes[id];
        let object = node.object.as_ref().is_none_or(|object| {
            let mut required = object.members.iter().filter(|member| member.bit != 0);
            *object.size.start() <= given.len()
                && required.all(|member| given.contains(&&*member.name))
        });
        object && node.forms.is_none() && node.also.iter().all(|&also| self.is_whole(also, given))
    }

    fn member(&self, id: NodeId, name: &str) -> Option<&Member> {
        let node = &self.nodes[id];
        let own = node
            .object
            .iter()
            .flat_map(|object| &*object.members)
            .find(|member| *member.name == *name);
        let tagged = match &node.forms {
            Some(Forms::Tagged { forms, .. }) => forms.as_slice(),
            _ => &[],
        };
        let elsewhere = node.also.iter().chain(tagged.iter().map(|(_, form)| form));
        own.or_else(|| {
            let mut elsewhere = elsewhere.copied();
            elsewhere.find_map(|other| self.member(other, name))
        })
    }

    fn members(&self, id: NodeId) -> Box<dyn Iterator<Item = &Member> + '_> {
        let node = &self.nodes[id];
        let own = node.object.iter().flat_map(|object| &*object.members);
        Box::new(own.chain(node.also.iter().flat_map(|&also| self.members(also))))
    }

    /// The possible types of a value at that node.
    fn types(&self, id: NodeId) -> Types {
        let node = &self.nodes[id];
        let forms = match &node.forms {
            None => Types::ANY,
            Some(Forms::Nullable(form)) => self.types(*form).or(Types::NULL),
            Some(Forms::Tagged { .. }) => Types::OBJECT,
            Some(Forms::Any { forms, .. }) => {
                forms.iter().fold(Types::NONE, |sum, &form| sum.or(self.types(form)))
            }
        };
        node.also.iter().fold(node.types.and(forms), |types, &also| types.and(self.types(also)))
    }

    /// The types of the items of the array there.
    fn items(&self, id: NodeId) -> Types {
        let node = &self.nodes[id];
        let form = match &node.forms {
            Some(Forms::Nullable(form)) => Some(*form),
            _ => None,
        };
        let own = node.array.as_ref().and_then(|array| array.items).map(|items| self.types(items));
        let elsewhere = node.also.iter().copied().chain(form).map(|other| self.items(other));
        own.into_iter().chain(elsewhere).fold(Types::ANY, Types::and)
    }
}

/// How to read a path or query parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Carried {
    /// The types of the value, or of each item of a list.
    pub(crate) types: Types,
    /// Repeated keys and commas make a list.
    pub(crate) list: bool,
}

/// A set of JSON types. A number is an integer; a fraction is only in [`Types::ANY`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Types(u8);

impl Types {
    pub(crate) const NONE: Self = Self(0);
    pub(crate) const NULL: Self = Self(1);
    pub(crate) const BOOLEAN: Self = Self(2);
    pub(crate) const INTEGER: Self = Self(4);
    pub(crate) const STRING: Self = Self(8);
    pub(crate) const ARRAY: Self = Self(16);
    pub(crate) const OBJECT: Self = Self(32);
    const FRACTION: Self = Self(64);
    pub(crate) const ANY: Self = Self(127);

    /// Names in schemas and in messages.
    const NAMES: [(Self, &'static str, &'static str); 6] = [
        (Self::STRING, "string", "a string"),
        (Self::INTEGER, "integer", "an integer"),
        (Self::BOOLEAN, "boolean", "true or false"),
        (Self::ARRAY, "array", "an array"),
        (Self::OBJECT, "object", "an object"),
        (Self::NULL, "null", "null"),
    ];

    /// The type of that value.
    fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::NULL,
            Value::Bool(_) => Self::BOOLEAN,
            Value::Number(number) if number.is_f64() => Self::FRACTION,
            Value::Number(_) => Self::INTEGER,
            Value::String(_) => Self::STRING,
            Value::Array(_) => Self::ARRAY,
            Value::Object(_) => Self::OBJECT,
        }
    }

    pub(crate) const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// The rules of one schema. As in JSON Schema, the rules of a type apply only to values of that type.
struct Node {
    types: Types,
    allowed: Option<Allowed>,
    integer: core::ops::RangeInclusive<i128>,
    text: Option<Box<Text>>,
    array: Option<Box<Array>>,
    object: Option<Box<Object>>,
    /// `$ref` and `allOf`.
    also: Vec<NodeId>,
    forms: Option<Forms>,
}

impl Default for Node {
    fn default() -> Self {
        Self {
            types: Types::ANY,
            allowed: None,
            integer: i128::MIN..=i128::MAX,
            text: None,
            array: None,
            object: None,
            also: Vec::new(),
            forms: None,
        }
    }
}

/// `enum` and `const`.
struct Allowed {
    texts: Vec<String>,
    /// Whether `texts` is sorted and can be searched, as the long lists are.
    sorted: bool,
    others: Vec<Value>,
}

struct Text {
    /// In characters, never bytes.
    length: core::ops::RangeInclusive<usize>,
    pattern: Option<Pattern>,
    format: Option<Format>,
}

struct Pattern {
    matcher: Matcher,
    /// The expectation in messages: an example if the schema has one, else the pattern.
    expected: String,
}

/// Decides whether text matches a pattern.
enum Matcher {
    /// `NO_CONTROL`, the pattern of nearly every text. A regular expression takes 40 times as long.
    NoControl,
    /// `^[A-Z]{2}$`, the pattern of a country: that many capitals.
    Capitals(usize),
    Regex(Regex),
}

impl Matcher {
    /// None if the pattern is not one that is decided without a regular expression.
    fn simple(pattern: &str) -> Option<Self> {
        if pattern == NO_CONTROL {
            return Some(Self::NoControl);
        }
        let count = pattern.strip_prefix("^[A-Z]{")?.strip_suffix("}$")?;
        count.parse().ok().map(Self::Capitals)
    }

    fn is_match(&self, text: &str) -> bool {
        match self {
            Self::NoControl => !text.chars().any(char::is_control),
            Self::Capitals(count) => {
                text.len() == *count && text.bytes().all(|byte| byte.is_ascii_uppercase())
            }
            Self::Regex(regex) => regex.is_match(text),
        }
    }
}

/// A parser that refuses invalid text, with a sentence that says what is expected.
type Format = fn(&str) -> Result<(), &'static str>;

struct Array {
    items: Option<NodeId>,
    length: core::ops::RangeInclusive<usize>,
    unique: bool,
}

struct Object {
    members: Box<[Member]>,
    /// The bits of the required members.
    required: u128,
    patterns: Vec<(Regex, NodeId)>,
    /// The schema of members that are in neither `members` nor `patterns`.
    rest: Rest,
    /// The schema of every name.
    names: Option<NodeId>,
    size: core::ops::RangeInclusive<usize>,
}

struct Member {
    name: Box<str>,
    node: NodeId,
    /// Its bit in [`Object::required`]; none if it is optional.
    bit: u128,
}

enum Rest {
    Unknown,
    Free,
    Checked(NodeId),
}

/// `oneOf` and `anyOf`.
enum Forms {
    /// Null or this: an `Option` of a type with its own definition.
    Nullable(NodeId),
    /// Objects that differ in one constant member, so that violations refer to the intended form.
    Tagged { tag: String, forms: Vec<(String, NodeId)> },
    /// Other alternatives; `one` if exactly one must match.
    Any { forms: Vec<NodeId>, one: bool },
}
