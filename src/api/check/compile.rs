//! Compiles a published schema to nodes. Runs once per operation, when the table is built.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::vocabulary::{
    ANNOTATIONS, FORMATS, OBJECT_KEYWORDS, allowed, count, list, map, regex, shown, text, types,
};
use super::{
    Array, Checker, Forms, Matcher, Member, Node, NodeId, Object, Pattern, Rest, Text, Types, close,
};
use crate::api::json::Place;

impl Checker {
    /// The checker of that schema, with `$ref`s resolved in `definitions`. Both may be as schemars emits them or [closed](close).
    ///
    /// # Panics
    ///
    /// If the schema contains an unsupported keyword; the message names the keyword and its place.
    pub(crate) fn compile(schema: &Value, definitions: &Map<String, Value>) -> Self {
        let mut schema = schema.clone();
        close(&mut schema);
        let mut draft = Draft { definitions, known: BTreeMap::new(), nodes: Vec::new() };
        let root = draft.node(&schema, Place::Root);
        Self { nodes: draft.nodes, root }
    }
}

/// A checker under construction.
struct Draft<'d> {
    definitions: &'d Map<String, Value>,
    /// Definitions that have a node, or will have one.
    known: BTreeMap<String, NodeId>,
    nodes: Vec<Node>,
}

impl Draft<'_> {
    fn node(&mut self, schema: &Value, at: Place<'_>) -> NodeId {
        let id = self.nodes.len();
        self.nodes.push(Node::default());
        self.nodes[id] = match schema {
            Value::Bool(true) => Node::default(),
            Value::Bool(false) => Node { types: Types::NONE, ..Node::default() },
            Value::Object(schema) => self.read(schema, at),
            _ => panic!("no schema at {}", shown(at)),
        };
        id
    }

    fn read(&mut self, schema: &Map<String, Value>, at: Place<'_>) -> Node {
        let mut node = Node::default();
        for (keyword, value) in schema {
            let place = Place::Member(&at, keyword);
            let known = self.common(&mut node, keyword, value, place)
                || integer_rule(&mut node, keyword, value, place)
                || text_rule(&mut node, keyword, value, schema, place)
                || self.array(&mut node, keyword, value, place)
                || OBJECT_KEYWORDS.contains(&keyword.as_str())
                || ANNOTATIONS.contains(&keyword.as_str())
                || keyword.starts_with("x-");
            assert!(known, "the keyword at {} is not enforced", shown(place));
        }
        if OBJECT_KEYWORDS.iter().any(|keyword| schema.contains_key(*keyword)) {
            node.object = Some(Box::new(self.object(schema, at)));
        }
        node
    }

    /// Keywords that apply to every type.
    fn common(&mut self, node: &mut Node, keyword: &str, value: &Value, at: Place<'_>) -> bool {
        match keyword {
            "type" => node.types = types(value, at),
            "enum" => node.allowed = Some(allowed(list(value, at))),
            "const" => node.allowed = Some(allowed(core::slice::from_ref(value))),
            "$ref" => node.also.push(self.reference(text(value, at), at)),
            "allOf" => node.also.extend(self.all(value, at)),
            "oneOf" | "anyOf" => {
                assert!(node.forms.is_none(), "oneOf beside anyOf at {}", shown(at));
                node.forms = Some(self.forms(list(value, at), keyword == "oneOf", at));
            }
            _ => return false,
        }
        true
    }

    fn all(&mut self, value: &Value, at: Place<'_>) -> Vec<NodeId> {
        let schemas = list(value, at).iter().enumerate();
        schemas.map(|(index, schema)| self.node(schema, Place::Item(&at, index))).collect()
    }

    fn definition(&self, reference: &str, at: Place<'_>) -> (String, Value) {
        let name = reference.rsplit('/').next().unwrap_or_default();
        let found = self.definitions.get(name).cloned();
        let mut schema =
            found.unwrap_or_else(|| panic!("no definition for {reference} at {}", shown(at)));
        close(&mut schema);
        (name.to_owned(), schema)
    }

    fn reference(&mut self, reference: &str, at: Place<'_>) -> NodeId {
        let (name, schema) = self.definition(reference, at);
        if let Some(&id) = self.known.get(&name) {
            return id;
        }
        self.known.insert(name.clone(), self.nodes.len()); // the index that `node` will use; the schema can refer to itself
        self.node(&schema, Place::Member(&Place::Root, &name))
    }

    fn forms(&mut self, schemas: &[Value], one: bool, at: Place<'_>) -> Forms {
        let mut forms =
            schemas.iter().filter(|schema| schema.get("type").is_none_or(|name| name != "null"));
        if let (Some(only), None, 2) = (forms.next(), forms.next(), schemas.len()) {
            return Forms::Nullable(self.node(only, at));
        }
        let nodes: Vec<NodeId> = schemas
            .iter()
            .enumerate()
            .map(|(index, schema)| self.node(schema, Place::Item(&at, index)))
            .collect();
        match self.tag(schemas, at) {
            Some((tag, values)) => {
                Forms::Tagged { tag, forms: values.into_iter().zip(nodes).collect() }
            }
            None => Forms::Any { forms: nodes, one },
        }
    }

    /// The required member with a different constant in each form, and those constants.
    fn tag(&self, schemas: &[Value], at: Place<'_>) -> Option<(String, Vec<String>)> {
        let resolved: Vec<Value> = schemas
            .iter()
            .map(|schema| match schema.get("$ref").and_then(Value::as_str) {
                Some(reference) => self.definition(reference, at).1,
                None => schema.clone(),
            })
            .collect();
        let constant = |schema: &Value, name: &str| {
            let required =
                schema.get("required")?.as_array()?.iter().any(|required| required == name);
            let value = schema.get("properties")?.get(name)?.get("const")?.as_str()?.to_owned();
            required.then_some(value)
        };
        let names = resolved.first()?.get("properties")?.as_object()?.keys();
        names.cloned().find_map(|name| {
            let values = resolved
                .iter()
                .map(|schema| constant(schema, &name))
                .collect::<Option<Vec<_>>>()?;
            let distinct =
                values.iter().enumerate().all(|(index, value)| !values[..index].contains(value));
            distinct.then_some((name, values))
        })
    }

    fn array(&mut self, node: &mut Node, keyword: &str, value: &Value, at: Place<'_>) -> bool {
        if !matches!(keyword, "items" | "minItems" | "maxItems" | "uniqueItems") {
            return false;
        }
        let items = (keyword == "items").then(|| self.node(value, at));
        let rules = node.array.get_or_insert_with(|| {
            Box::new(Array { items: None, length: ANY_COUNT, unique: false })
        });
        match keyword {
            "items" => rules.items = items,
            "minItems" => rules.length = count(value, at)..=*rules.length.end(),
            "maxItems" => rules.length = *rules.length.start()..=count(value, at),
            _ => rules.unique = value == true,
        }
        true
    }

    fn object(&mut self, schema: &Map<String, Value>, at: Place<'_>) -> Object {
        let members = self.members(schema, at);
        let mut object = Object {
            required: members.iter().fold(0, |bits, member| bits | member.bit),
            members,
            patterns: Vec::new(),
            rest: Rest::Free,
            names: None,
            size: ANY_COUNT,
        };
        for (keyword, value) in schema {
            let at = Place::Member(&at, keyword);
            match keyword.as_str() {
                "additionalProperties" if value == false => object.rest = Rest::Unknown,
                "additionalProperties" if value == true => object.rest = Rest::Free,
                "additionalProperties" => object.rest = Rest::Checked(self.node(value, at)),
                "propertyNames" => object.names = Some(self.node(value, at)),
                "minProperties" => object.size = count(value, at)..=*object.size.end(),
                "maxProperties" => object.size = *object.size.start()..=count(value, at),
                "patternProperties" => {
                    let patterns = map(value, at).iter();
                    object.patterns = patterns
                        .map(|(pattern, schema)| {
                            (regex(pattern, at), self.node(schema, Place::Member(&at, pattern)))
                        })
                        .collect();
                }
                _ => {}
            }
        }
        object
    }

    fn members(&mut self, schema: &Map<String, Value>, at: Place<'_>) -> Box<[Member]> {
        let Some(properties) = schema.get("properties") else {
            assert!(
                !schema.contains_key("required"),
                "required without properties at {}",
                shown(at)
            );
            return Box::default();
        };
        assert!(
            !["$ref", "oneOf", "anyOf", "allOf"]
                .iter()
                .any(|keyword| schema.contains_key(*keyword)),
            "members beside $ref, oneOf, anyOf or allOf at {}: unknown members could not be \
                detected; give enum variants named fields and flatten structs only",
            shown(at)
        );
        let required = schema.get("required").map_or(&[][..], |names| list(names, at));
        let properties = map(properties, at);
        assert!(required.len() <= 128, "more than 128 required members at {}", shown(at));
        for name in required {
            assert!(
                properties.contains_key(text(name, at)),
                "{name} is required at {} and no member",
                shown(at)
            );
        }
        let at = Place::Member(&at, "properties");
        let member = |(name, schema): (&String, &Value)| Member {
            node: self.node(schema, Place::Member(&at, name)),
            bit: required.iter().position(|required| required == name).map_or(0, |bit| 1 << bit),
            name: name.as_str().into(),
        };
        properties.iter().map(member).collect()
    }
}

const ANY_COUNT: core::ops::RangeInclusive<usize> = 0..=usize::MAX;

/// Keywords of text; integer formats are handled here, too.
fn text_rule(
    node: &mut Node,
    keyword: &str,
    value: &Value,
    schema: &Map<String, Value>,
    at: Place<'_>,
) -> bool {
    if !matches!(keyword, "minLength" | "maxLength" | "pattern" | "format") {
        return false;
    }
    if keyword == "format" && integer_format(node, text(value, at)) {
        return true;
    }
    let rules = node
        .text
        .get_or_insert_with(|| Box::new(Text { length: ANY_COUNT, pattern: None, format: None }));
    match keyword {
        "minLength" => rules.length = count(value, at)..=*rules.length.end(),
        "maxLength" => rules.length = *rules.length.start()..=count(value, at),
        "pattern" => {
            let pattern = text(value, at);
            let example = schema.get("examples").and_then(|examples| examples.get(0)?.as_str());
            let expected = example.map_or_else(
                || format!("text that matches {pattern}"),
                |e| format!("text such as {e}"),
            );
            let matcher =
                Matcher::simple(pattern).unwrap_or_else(|| Matcher::Regex(regex(pattern, at)));
            rules.pattern = Some(Pattern { matcher, expected });
        }
        _ => {
            let row = FORMATS.iter().find(|(name, _)| value == name);
            let (_, format) = row
                .unwrap_or_else(|| panic!("the format {value} at {} is not enforced", shown(at)));
            rules.format = Some(*format);
        }
    }
    true
}

fn integer_rule(node: &mut Node, keyword: &str, value: &Value, at: Place<'_>) -> bool {
    let bound = || {
        let wide = || value.as_u64().map(i128::from);
        value
            .as_i64()
            .map(i128::from)
            .or_else(wide)
            .unwrap_or_else(|| panic!("{} is no integer of 64 bits", shown(at)))
    };
    let (low, high): (i128, i128) = match keyword {
        "minimum" => (bound(), i128::MAX),
        "exclusiveMinimum" => (bound() + 1, i128::MAX),
        "maximum" => (i128::MIN, bound()),
        "exclusiveMaximum" => (i128::MIN, bound() - 1),
        _ => return false,
    };
    narrow(node, low, high);
    true
}

/// Whether it is an integer format, which sets bounds.
fn integer_format(node: &mut Node, format: &str) -> bool {
    match format {
        "int32" => narrow(node, i32::MIN.into(), i32::MAX.into()),
        "int64" => narrow(node, i64::MIN.into(), i64::MAX.into()),
        _ => return false,
    }
    true
}

fn narrow(node: &mut Node, low: i128, high: i128) {
    node.integer = low.max(*node.integer.start())..=high.min(*node.integer.end());
}
