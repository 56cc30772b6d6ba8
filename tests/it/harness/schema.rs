//! A checker for the JSON Schema 2020-12 keywords of the served documents. Any other keyword is an error, so
//! that nothing stays unchecked.
//! It shares no code with the server's checker.

use serde_json::{Map, Value};

/// Every violation of `schema` by `value`, as sentences that begin with a JSON pointer. `$ref`s point into
/// `document`.
pub(crate) fn violations(document: &Value, schema: &Value, value: &Value) -> Vec<String> {
    let mut checker = Checker { document, found: Vec::new() };
    checker.check(schema, value, "");
    checker.found
}

struct Checker<'a> {
    document: &'a Value,
    found: Vec<String>,
}

impl<'a> Checker<'a> {
    fn check(&mut self, schema: &'a Value, value: &Value, at: &str) {
        match schema {
            Value::Bool(true) => {}
            Value::Bool(false) => self.report(at, "nothing is allowed here"),
            Value::Object(schema) => {
                for (keyword, rule) in schema {
                    self.keyword(schema, keyword, rule, value, at);
                }
            }
            _ => self.report(at, "the schema is no schema"),
        }
    }

    fn report(&mut self, at: &str, what: impl Into<String>) {
        let what = what.into();
        self.found.push(format!("{at}: {what}"));
    }

    fn require(&mut self, holds: bool, at: &str, what: impl FnOnce() -> String) {
        if !holds {
            self.report(at, what());
        }
    }

    fn accepts(&self, schema: &'a Value, value: &Value) -> bool {
        violations(self.document, schema, value).is_empty()
    }

    fn keyword(
        &mut self,
        schema: &'a Map<String, Value>,
        keyword: &str,
        rule: &'a Value,
        value: &Value,
        at: &str,
    ) {
        match keyword {
            // Annotations do not restrict a value.
            "title" | "discriminator" | "description" | "examples" | "default" | "deprecated"
            | "readOnly" | "$schema" | "$defs" => {}
            keyword if keyword.starts_with("x-") => {}
            "$ref" => match self.target(rule) {
                Some(target) => self.check(target, value, at),
                None => self.report(at, format!("{rule} has no target")),
            },
            "type" => self.require(is_type(rule, value), at, || format!("{value} is no {rule}")),
            "const" => self.require(rule == value, at, || format!("{value} is not {rule}")),
            "enum" => {
                let known = rule.as_array().is_some_and(|all| all.contains(value));
                self.require(known, at, || format!("{value} is none of {rule}"));
            }
            "allOf" => {
                for schema in array(rule) {
                    self.check(schema, value, at);
                }
            }
            "anyOf" => {
                let any = array(rule).iter().any(|schema| self.accepts(schema, value));
                self.require(any, at, || format!("{value} fits none of anyOf"));
            }
            "oneOf" => {
                let fits = array(rule).iter().filter(|schema| self.accepts(schema, value));
                let fits = fits.count();
                self.require(fits == 1, at, || format!("{value} fits {fits} of oneOf"));
            }
            "not" => self.require(!self.accepts(rule, value), at, || "not allowed".to_owned()),
            "properties"
            | "required"
            | "additionalProperties"
            | "propertyNames"
            | "maxProperties"
            | "minProperties" => {
                if let Value::Object(members) = value {
                    self.object_keyword(schema, keyword, rule, members, at);
                }
            }
            "items" | "minItems" | "maxItems" | "uniqueItems" => {
                if let Value::Array(items) = value {
                    self.array_keyword(keyword, rule, items, at);
                }
            }
            "minLength" | "maxLength" | "pattern" | "format" => {
                if let Value::String(text) = value {
                    self.text_keyword(keyword, rule, text, at);
                }
            }
            "minimum" | "maximum" => {
                if let Some(number) =
                    value.as_i64().map(i128::from).or(value.as_u64().map(i128::from))
                {
                    let bound = i128::from(rule.as_i64().unwrap_or(i64::MAX));
                    let holds =
                        if keyword == "minimum" { number >= bound } else { number <= bound };
                    self.require(holds, at, || format!("{number} breaks {keyword} {bound}"));
                }
            }
            unknown => self.report(at, format!("the keyword {unknown} is not known to the tests")),
        }
    }

    fn object_keyword(
        &mut self,
        schema: &'a Map<String, Value>,
        keyword: &str,
        rule: &'a Value,
        members: &Map<String, Value>,
        at: &str,
    ) {
        match keyword {
            "properties" => {
                for (name, schema) in rule.as_object().into_iter().flatten() {
                    if let Some(value) = members.get(name) {
                        self.check(schema, value, &format!("{at}/{name}"));
                    }
                }
            }
            "required" => {
                for name in array(rule).iter().filter_map(Value::as_str) {
                    self.require(members.contains_key(name), at, || format!("{name} is missing"));
                }
            }
            "additionalProperties" => {
                let known = schema.get("properties").and_then(Value::as_object);
                for (name, value) in members {
                    if known.is_none_or(|known| !known.contains_key(name)) {
                        self.check(rule, value, &format!("{at}/{name}"));
                    }
                }
            }
            "propertyNames" => {
                for name in members.keys() {
                    self.check(rule, &Value::String(name.clone()), &format!("{at}/{name}"));
                }
            }
            "maxProperties" => self.bound(members.len(), rule, at, |count, most| count <= most),
            _ => self.bound(members.len(), rule, at, |count, least| count >= least),
        }
    }

    fn array_keyword(&mut self, keyword: &str, rule: &'a Value, items: &[Value], at: &str) {
        match keyword {
            "items" => {
                for (place, item) in items.iter().enumerate() {
                    self.check(rule, item, &format!("{at}/{place}"));
                }
            }
            "minItems" => self.bound(items.len(), rule, at, |count, least| count >= least),
            "maxItems" => self.bound(items.len(), rule, at, |count, most| count <= most),
            _ => {
                let unique = (1..items.len()).all(|end| !items[..end].contains(&items[end]));
                self.require(unique || *rule == Value::Bool(false), at, || {
                    "items repeat".to_owned()
                });
            }
        }
    }

    fn text_keyword(&mut self, keyword: &str, rule: &Value, text: &str, at: &str) {
        let length = text.chars().count();
        match keyword {
            "minLength" => self.bound(length, rule, at, |count, least| count >= least),
            "maxLength" => self.bound(length, rule, at, |count, most| count <= most),
            "pattern" => {
                let pattern = regex_lite::Regex::new(rule.as_str().unwrap_or_default());
                let holds = pattern.as_ref().is_ok_and(|pattern| pattern.is_match(text));
                self.require(holds, at, || format!("{text:?} does not match {rule}"));
            }
            _ => {
                let holds = match rule.as_str() {
                    Some("date") => text.parse::<jiff::civil::Date>().is_ok() && length == 10,
                    Some("date-time") => {
                        text.ends_with('Z') && text.parse::<jiff::Timestamp>().is_ok()
                    }
                    Some("email") => text.contains('@'),
                    Some("uri") => text.contains(':'),
                    // Formats of numbers and of the sandbox's ids are annotations.
                    _ => true,
                };
                self.require(holds, at, || format!("{text:?} is no {rule}"));
            }
        }
    }

    fn bound(&mut self, count: usize, rule: &Value, at: &str, holds: impl Fn(u64, u64) -> bool) {
        let bound = rule.as_u64().unwrap_or_default();
        self.require(holds(count as u64, bound), at, || format!("{count} against {bound}"));
    }

    fn target(&self, reference: &Value) -> Option<&'a Value> {
        self.document.pointer(reference.as_str()?.strip_prefix('#')?)
    }
}

fn array(rule: &Value) -> &[Value] {
    rule.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn is_type(rule: &Value, value: &Value) -> bool {
    match rule {
        Value::Array(any) => any.iter().any(|rule| is_type(rule, value)),
        _ => match rule.as_str() {
            Some("null") => value.is_null(),
            Some("boolean") => value.is_boolean(),
            Some("object") => value.is_object(),
            Some("array") => value.is_array(),
            Some("string") => value.is_string(),
            Some("integer") => value.is_i64() || value.is_u64(),
            Some("number") => value.is_number(),
            _ => false,
        },
    }
}

mod tests {
    use super::violations;
    use serde_json::json;

    /// The control run: each keyword refuses something.
    #[test]
    fn the_schema_checker_notices_every_kind_of_violation() {
        let document =
            json!({"components": {"schemas": {"Id": {"type": "string", "pattern": "^a_"}}}});
        for (schema, good, bad) in [
            (json!({"type": "integer"}), json!(1), json!(1.5)),
            (json!({"type": ["string", "null"]}), json!(null), json!(1)),
            (json!({"$ref": "#/components/schemas/Id"}), json!("a_1"), json!("b_1")),
            (json!({"const": 1}), json!(1), json!(2)),
            (json!({"enum": ["a"]}), json!("a"), json!("b")),
            (json!({"anyOf": [{"type": "null"}, {"type": "string"}]}), json!("a"), json!(1)),
            (json!({"oneOf": [{"const": 1}, {"type": "integer"}]}), json!(2), json!(1)),
            (json!({"allOf": [{"minimum": 1}, {"maximum": 3}]}), json!(2), json!(4)),
            (json!({"not": {"const": 1}}), json!(2), json!(1)),
            (json!({"properties": {"a": {"type": "string"}}}), json!({"a": "b"}), json!({"a": 1})),
            (json!({"required": ["a"]}), json!({"a": 1}), json!({})),
            (
                json!({"properties": {"a": {}}, "additionalProperties": false}),
                json!({"a": 1}),
                json!({"b": 1}),
            ),
            (
                json!({"additionalProperties": {"type": "string"}}),
                json!({"a": "b"}),
                json!({"a": 1}),
            ),
            (json!({"propertyNames": {"maxLength": 1}}), json!({"a": 1}), json!({"ab": 1})),
            (json!({"maxProperties": 0}), json!({}), json!({"a": 1})),
            (json!({"items": {"type": "string"}, "minItems": 1}), json!(["a"]), json!([])),
            (json!({"items": {"type": "string"}}), json!(["a"]), json!([1])),
            (json!({"uniqueItems": true}), json!([1, 2]), json!([1, 1])),
            (json!({"minLength": 2, "maxLength": 3}), json!("ab"), json!("a")),
            (json!({"format": "date"}), json!("2026-01-31"), json!("2026-02-31")),
            (
                json!({"format": "date-time"}),
                json!("2026-01-31T00:00:00.000Z"),
                json!("2026-01-31"),
            ),
        ] {
            assert_eq!(violations(&document, &schema, &good), [""; 0], "{schema}");
            assert!(!violations(&document, &schema, &bad).is_empty(), "{schema} took {bad}");
        }
        for broken in [json!({"$ref": "#/nowhere"}), json!({"madeUp": 1}), json!(false)] {
            assert!(!violations(&document, &broken, &json!(1)).is_empty(), "{broken}");
        }
    }
}
